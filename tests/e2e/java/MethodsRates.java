// SPDX-License-Identifier: MIT

/**
 * Calls methods of three classes at known rates, for some seconds: each turn three of them 6,000 times, the others 100, 40,
 * 10 times and once, beside work that is no call. Says how often each was called. Usage: MethodsRates SECONDS.
 */
public final class MethodsRates {
	private static volatile long sink;

	private MethodsRates() {
	}

	static final class A {
		static int a(int n, String[] unused) {
			return n * 31 + 1;
		}

		static int c(int n) {
			return n * 17 + 1;
		}
	}

	static final class B {
		static int b(int n) {
			return n * 13 + 1;
		}

		static int e(int n) {
			return n * 11 + 1;
		}
	}

	static final class C {
		static int d(int n) {
			return n * 7 + 1;
		}

		static int f(int n) {
			return n * 5 + 1;
		}

		static int g(int n) {
			return n * 3 + 1;
		}
	}

	private static void work() {
		long x = 1, end = System.nanoTime() + 200_000;
		while (System.nanoTime() < end) {
			x = x * 6364136223846793005L + 1;
		}
		sink += x;
	}

	public static void main(String[] args) throws InterruptedException {
		long turns = 0, end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
		int x = 1;
		for (; System.nanoTime() < end; turns++) {
			for (int i = 0; i < 6000; i++) {
				x = A.a(B.b(A.c(x)), null);
			}
			for (int i = 0; i < 100; i++) {
				x = C.d(x);
			}
			for (int i = 0; i < 40; i++) {
				x = B.e(x);
			}
			for (int i = 0; i < 10; i++) {
				x = C.f(x);
			}
			x = C.g(x);
			work();
			Thread.sleep(3); // no CPU time: the shares are the same, of fewer records
		}
		sink += x;
		String[] names = {"A.a", "B.b", "A.c", "C.d", "B.e", "C.f", "C.g"};
		long[] each = {6000, 6000, 6000, 100, 40, 10, 1};
		for (int i = 0; i < names.length; i++) {
			System.out.println("CALLS MethodsRates$" + names[i] + " " + each[i] * turns);
		}
	}
}
