// SPDX-License-Identifier: MIT

/**
 * Calls one method as often as it can, and another now and then, for some seconds; says how often each was called.
 * Usage: MethodsHot SECONDS.
 */
public class MethodsHot {
	static long hotCalls, warmCalls;
	static volatile int sink;

	static void hot(int n) {
		hotCalls++;
		for (int i = 0; i < 30; i++) { // else there are more records than a disk wants to have
			n = n * 31 + i;
		}
		sink += n;
	}

	static void warm() {
		warmCalls++;
		for (int i = 0; i < 20000; i++) {
			hot(i);
		}
	}

	public static void main(String[] args) {
		long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
		while (System.nanoTime() < end) {
			warm();
		}
		System.out.println("CALLS MethodsHot hot (I)V " + hotCalls);
		System.out.println("CALLS MethodsHot warm ()V " + warmCalls);
	}
}
