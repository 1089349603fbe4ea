// SPDX-License-Identifier: MIT

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Calls methods of three classes at known rates, for some seconds: each turn three of them 6,000 times, the others 30, 20,
 * 10 times and once, beside a millisecond of CPU time for work that is no call: of wall time a busy host would leave it
 * less than the calls are said to cost. Of up to five further ones the first is called 9,000 times a turn from second 3
 * on, each other from 3 seconds after the one before. Says how often each was called.
 * Usage: MethodsRates SECONDS [LATER].
 */
public final class MethodsRates {
	private static final ThreadMXBean BEAN = ManagementFactory.getThreadMXBean();
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

		static int h0(int n) {
			return n * 19 + 1;
		}

		static int h1(int n) {
			return n * 23 + 1;
		}

		static int h2(int n) {
			return n * 29 + 1;
		}

		static int h3(int n) {
			return n * 37 + 1;
		}

		static int h4(int n) {
			return n * 41 + 1;
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
		long x = 1, end = BEAN.getCurrentThreadCpuTime() + 1_000_000;
		while (BEAN.getCurrentThreadCpuTime() < end) {
			for (int i = 0; i < 10_000; i++) {
				x = x * 6364136223846793005L + 1;
			}
		}
		sink += x;
	}

	/** One call each of the further methods that are on by now. */
	private static int later(int n, int x) {
		return switch (n) {
			case 0 -> x;
			case 1 -> A.h0(x);
			case 2 -> A.h1(A.h0(x));
			case 3 -> A.h2(A.h1(A.h0(x)));
			case 4 -> A.h3(A.h2(A.h1(A.h0(x))));
			default -> A.h4(A.h3(A.h2(A.h1(A.h0(x)))));
		};
	}

	public static void main(String[] args) throws InterruptedException {
		long turns = 0, begin = System.nanoTime(), end = begin + Long.parseLong(args[0]) * 1_000_000_000L;
		long most = args.length > 1 ? Long.parseLong(args[1]) : 0;
		long[] laterCalls = new long[5];
		int x = 1;
		for (; System.nanoTime() < end; turns++) {
			for (int i = 0; i < 6000; i++) {
				x = A.a(B.b(A.c(x)), null);
			}
			for (int i = 0; i < 30; i++) {
				x = C.d(x);
			}
			for (int i = 0; i < 20; i++) {
				x = B.e(x);
			}
			for (int i = 0; i < 10; i++) {
				x = C.f(x);
			}
			x = C.g(x);
			int on = (int) Math.min(most, (System.nanoTime() - begin) / 3_000_000_000L);
			for (int i = 0; on > 0 && i < 9000; i++) {
				x = later(on, x);
			}
			for (int i = 0; i < on; i++) {
				laterCalls[i] += 9000;
			}
			work();
			Thread.sleep(3); // no CPU time: the shares are the same, of fewer records
		}
		sink += x;
		String[] names = {"A.a", "B.b", "A.c", "C.d", "B.e", "C.f", "C.g"};
		long[] each = {6000, 6000, 6000, 30, 20, 10, 1};
		for (int i = 0; i < names.length; i++) {
			System.out.println("CALLS MethodsRates$" + names[i] + " " + each[i] * turns);
		}
		for (int i = 0; i < most; i++) {
			System.out.println("CALLS MethodsRates$A.h" + i + " " + laterCalls[i]);
		}
	}
}
