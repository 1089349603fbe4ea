// SPDX-License-Identifier: MIT
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * A pool that is given other queues while it works, by reflection, as some programs do to change its capacity; the old
 * ones are garbage then. Before each task is given it prints how many wait, and its class: "QUEUED N CLASS". Tasks of two
 * classes follow each other. Needs --add-opens.
 */
public final class OtherQueue {
	private static Thread worker;

	private static Runnable blocked(CountDownLatch begun, CountDownLatch go) {
		return () -> {
			begun.countDown();
			try {
				go.await();
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
		};
	}

	private static void give(ThreadPoolExecutor pool, Runnable task) {
		System.out.println("QUEUED " + pool.getQueue().size() + " " + task.getClass().getName());
		pool.execute(task);
	}

	/* One at work, four that wait behind it; all done in the end. */
	private static void round(ThreadPoolExecutor pool) throws InterruptedException {
		CountDownLatch begun = new CountDownLatch(1), go = new CountDownLatch(1), done = new CountDownLatch(4);

		give(pool, blocked(begun, go));
		begun.await();
		for (int i = 0; i < 4; i++)
			give(pool, done::countDown);
		go.countDown();
		done.await();
	}

	public static void main(String[] args) throws Exception {
		Field field = ThreadPoolExecutor.class.getDeclaredField("workQueue");
		Supplier<BlockingQueue<Runnable>>[] kinds = kinds();
		ThreadPoolExecutor pool = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, kinds[0].get(),
				task -> worker = new Thread(task, "worker"));

		field.setAccessible(true);
		if (!Modifier.isFinal(field.getModifiers()))
			throw new IllegalStateException("the field is not final any more");
		for (int i = 0; i < 12; i++) {
			if (i % 2 == 0) {
				field.set(pool, kinds[i / 2 % kinds.length].get());
				if (worker != null)
					worker.interrupt(); // it waits in the old one
			}
			System.gc();
			round(pool);
		}
		pool.shutdown();
		pool.awaitTermination(1, TimeUnit.MINUTES);
		System.out.println("END");
	}

	@SuppressWarnings({"unchecked", "rawtypes"})
	private static Supplier<BlockingQueue<Runnable>>[] kinds() {
		return new Supplier[] {() -> new ArrayBlockingQueue<>(10), () -> new LinkedBlockingQueue<>(10)};
	}
}
