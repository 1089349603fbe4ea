// SPDX-License-Identifier: MIT
// fib says itself how often it was called.
class Told {
	static int calls = 0

	static int fib(int n) {
		calls++
		n < 2 ? n : fib(n - 1) + fib(n - 2)
	}

	static int caught(int n) {
		calls++
		try {
			if (n == 0) {
				throw new IllegalStateException('bottom')
			}
			return caught(n - 1)
		} finally {
			fib(1)
		}
	}
}

int result = Told.fib(12)
try {
	Told.caught(9)
} catch (IllegalStateException e) {
	println "RESULT $result $e.message"
}
println "CALLS $Told.calls"
