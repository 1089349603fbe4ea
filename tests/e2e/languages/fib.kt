// SPDX-License-Identifier: MIT

/** fib says itself how often it was called. */
object Told {
	var calls = 0

	fun fib(n: Int): Int {
		calls++
		return when (n) {
			0, 1 -> n
			else -> fib(n - 1) + fib(n - 2)
		}
	}

	fun caught(n: Int): Int {
		calls++
		try {
			return if (n == 0) throw IllegalStateException("bottom") else caught(n - 1)
		} finally {
			fib(1)
		}
	}
}

fun main(args: Array<String>) {
	val result = Told.fib(12)
	try {
		Told.caught(9)
	} catch (e: IllegalStateException) {
		println("RESULT $result ${e.message}")
	}
	println("CALLS ${Told.calls}")
}
