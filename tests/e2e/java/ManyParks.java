// SPDX-License-Identifier: MIT

import java.util.concurrent.locks.LockSupport;

/**
 * Threads that park for 200 microseconds, again and again. Says how many parks there were. Usage: ManyParks THREADS PARKS.
 */
public final class ManyParks {
	private ManyParks() {
	}

	public static void main(String[] args) throws InterruptedException {
		int parks = Integer.parseInt(args[1]);
		Thread[] threads = new Thread[Integer.parseInt(args[0])];
		for (int i = 0; i < threads.length; i++) {
			threads[i] = new Thread(() -> {
				for (int n = 0; n < parks; n++) {
					LockSupport.parkNanos(ManyParks.class, 200_000);
				}
			}, "parks-" + i);
		}
		for (Thread t : threads) {
			t.start();
		}
		for (Thread t : threads) {
			t.join();
		}
		System.out.println("PARKS " + threads.length * parks);
	}
}
