// SPDX-License-Identifier: MIT

import java.util.concurrent.CountDownLatch;
import jis.Jis;

/** Threads with names to be found in the trace. Arguments: names | burst N | churn N | rename. */
public final class AgentThreads {
	private static void run(String name, Runnable body) throws InterruptedException {
		Thread t = new Thread(body, name);
		t.start();
		t.join();
	}

	private static void names() throws InterruptedException {
		ThreadGroup group = new ThreadGroup("group \"g\"");
		String[] names = {"plain", "with \"quotes\" and \\", "two\nlines\tand a tab", "h\u00e9 \u20ac \ud834\udd1e",
			"", "nul\0inside", "lone \ud834 surrogate", "x".repeat(300), "y".repeat(1023), "y".repeat(1024),
			"\u20ac".repeat(1000)};
		for (String name : names) {
			Thread t = new Thread(group, () -> { }, name);
			t.setDaemon(true);
			t.start();
			t.join();
		}
	}

	private static void burst(int n) throws InterruptedException {
		CountDownLatch all = new CountDownLatch(n);
		Thread[] threads = new Thread[n];
		for (int i = 0; i < n; i++) {
			int number = i;
			threads[i] = new Thread(null, () -> {
				Jis.event(1, number);
				all.countDown();
				try {
					all.await();
				} catch (InterruptedException e) {
					throw new IllegalStateException(e);
				}
				Jis.event(2, number);
			}, "burst-" + i, 128 * 1024);
			threads[i].start();
		}
		for (Thread t : threads) {
			t.join();
		}
	}

	private static void churn(int n) throws InterruptedException {
		Thread[] ring = new Thread[8];
		for (int i = 0; i < n; i++) {
			int number = i;
			Thread old = ring[i % ring.length];
			if (old != null) {
				old.join();
			}
			ring[i % ring.length] = new Thread(null, () -> Jis.event(3, number), "churn-" + i, 128 * 1024);
			ring[i % ring.length].start();
		}
		for (Thread t : ring) {
			t.join();
		}
	}

	private static void rename() throws InterruptedException {
		CountDownLatch renamed = new CountDownLatch(1);
		Thread t = new Thread(() -> {
			Thread.currentThread().setName("second, by itself");
			try {
				renamed.await();
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
			Thread.currentThread().setName("fourth, by itself");
			try {
				Thread.currentThread().setName(null);
			} catch (NullPointerException e) {
				System.out.println("null refused");
			}
		}, "first");
		t.start();
		t.setName("third, by main");
		renamed.countDown();
		t.join();
		for (int i = 0; i < 100; i++) {
			Thread.currentThread().setName("task-" + i);
		}
		run("last", () -> { });
	}

	public static void main(String[] args) throws InterruptedException {
		switch (args[0]) {
		case "names" -> names();
		case "burst" -> burst(Integer.parseInt(args[1]));
		case "churn" -> churn(Integer.parseInt(args[1]));
		default -> rename();
		}
		System.out.println("END");
	}
}
