// SPDX-License-Identifier: MIT

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that wait on futexes: those of a program, which are nobody's lock by name, and main on the VM's own, as it starts
 * them.
 *
 * <p>Arguments: THREADS MILLISECONDS. Threads called Parked, Waits, Sleeps and Enters wait in their way for as long. With
 * -Dwait=true all of that begins with a line of input.
 */
public final class FutexNames {
	private static final Object NEVER = new Object();
	private static final Object HELD = new Object();

	private FutexNames() {
	}

	private static void parks(long until) {
		while (System.nanoTime() < until) {
			LockSupport.parkNanos(NEVER, until - System.nanoTime());
		}
	}

	private static void waits(long until) {
		synchronized (NEVER) {
			for (long now; (now = System.nanoTime()) < until;) {
				try {
					NEVER.wait((until - now) / 1_000_000 + 1);
				} catch (InterruptedException e) {
					return;
				}
			}
		}
	}

	private static void sleeps(long until) {
		try {
			Thread.sleep(Math.max(0, until - System.nanoTime()) / 1_000_000);
		} catch (InterruptedException e) {
			return;
		}
	}

	private static void enters() {
		synchronized (HELD) {
			HELD.notifyAll();
		}
	}

	public static void main(String[] args) throws Exception {
		int threads = Integer.parseInt(args[0]);
		List<Thread> all = new ArrayList<>();

		if (Boolean.getBoolean("wait")) {
			System.out.println("READY");
			System.in.read();
		}
		long until = System.nanoTime() + Long.parseLong(args[1]) * 1_000_000;
		synchronized (HELD) {
			all.add(new Thread(() -> parks(until), "Parked"));
			all.add(new Thread(() -> waits(until), "Waits"));
			all.add(new Thread(() -> sleeps(until), "Sleeps"));
			all.add(new Thread(FutexNames::enters, "Enters"));
			for (int i = 0; i < threads; i++) {
				all.add(new Thread(() -> sleeps(until), "Started"));
			}
			for (Thread thread : all) {
				thread.start();
			}
			sleeps(until);
		}
		for (Thread thread : all) {
			thread.join();
		}
		System.out.println("END");
	}
}
