// SPDX-License-Identifier: MIT

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.ExecutorService;

/**
 * Pools that live as long as the program, and get tasks at each line of its input: as many more in each round. Output:
 * "ROUND number hash=IDENTITY ran=COUNT" for each pool, then "DONE number". Ends with its input.
 */
public final class TaskRounds {
	private TaskRounds() {
	}

	private static ExecutorService pool(int workers, ThreadFactory threads) {
		return new ThreadPoolExecutor(workers, workers, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), threads);
	}

	private static ThreadFactory virtual() throws ReflectiveOperationException {
		Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
		return (ThreadFactory) Class.forName("java.lang.Thread$Builder").getMethod("factory").invoke(builder);
	}

	private static void round(ExecutorService pool, int tasks) throws Exception {
		List<Future<?>> futures = new ArrayList<>();
		for (int i = 0; i < tasks; i++) {
			futures.add(pool.submit(() -> {
				try {
					Thread.sleep(1);
				} catch (InterruptedException e) {
					throw new IllegalStateException(e);
				}
			}));
		}
		for (Future<?> future : futures) {
			future.get();
		}
	}

	public static void main(String[] args) throws Exception {
		List<ExecutorService> pools = new ArrayList<>();
		pools.add(pool(3, Thread::new));
		pools.add(new ForkJoinPool(2));
		if (Runtime.version().feature() >= 21) {
			pools.add(pool(3, virtual()));
		}
		for (int round = 1; System.in.read() >= 0; round++) {
			for (ExecutorService pool : pools) {
				round(pool, 10 + round);
				System.out.println("ROUND " + round + " hash=0x" + Integer.toHexString(System.identityHashCode(pool)) + " ran="
						+ (10 + round));
			}
			Thread.sleep(100); /* workers tell the end of a task after its future is done */
			System.out.println("DONE " + round);
		}
		for (ExecutorService pool : pools) {
			pool.shutdown();
		}
	}
}
