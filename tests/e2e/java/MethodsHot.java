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
		sink += n;
	}

	static void warm() {
		warmCalls++;
		for (int i = 0; i < 20000; i++) {
			hot(i);
		}
	}

	public static void main(String[] args) throws InterruptedException {
		long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
		while (System.nanoTime() < end) {
			warm();
			Thread.sleep(2); // no CPU time: the share is the same, of fewer records
		}
		System.out.println("CALLS MethodsHot hot (I)V " + hotCalls);
		System.out.println("CALLS MethodsHot warm ()V " + warmCalls);
	}
}
