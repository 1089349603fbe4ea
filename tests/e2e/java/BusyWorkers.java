// SPDX-License-Identifier: MIT
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Many workers of one pool, most of them idle, that get a task each millisecond until input ends;
 * for each line it says when all of them could have had a task more.
 */
public class BusyWorkers {
	static final AtomicLong RAN = new AtomicLong();

	static class First implements Runnable {
		public void run() {
			RAN.incrementAndGet();
		}
	}

	static class Second extends First {
	}

	public static void main(String[] args) throws Exception {
		ThreadPoolExecutor pool =
			(ThreadPoolExecutor)Executors.newFixedThreadPool(Integer.parseInt(args[0]));
		Thread feeder = new Thread(() -> {
			try {
				for (long n = 0;; n++) {
					pool.execute(n % 2 == 0 ? new First() : new Second());
					Thread.sleep(1);
				}
			} catch (InterruptedException | RuntimeException e) {
				return;
			}
		});

		pool.prestartAllCoreThreads();
		feeder.start();
		System.out.println("UP");
		while (System.in.read() >= 0) {
			long goal = RAN.get() + pool.getCorePoolSize();

			while (RAN.get() < goal)
				Thread.sleep(1);
			System.out.println("MORE");
		}
		feeder.interrupt();
		feeder.join();
		pool.shutdownNow();
		System.out.println("RAN " + RAN.get());
	}
}
