// SPDX-License-Identifier: MIT

import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Everything at once, so that whatever a JVM does meets whatever else it does: garbage of all ages, classes that come
 * and go with their loaders, two threads that initialise the same class, waits of all kinds that begin and end while the
 * collector stops the threads, short-lived threads, executors, virtual threads where there are any.
 *
 * <p>Arguments: ROUNDS. Output: "END rounds=N initialised=N threw=N virtual=N".
 */
public final class Churn {
	/** Is initialised by two threads in each loader: one of them waits for the other. */
	public static final class Initialised {
		static final long AT = slowly();

		private static long slowly() {
			try {
				Thread.sleep(2);
			} catch (InterruptedException e) {
				Thread.currentThread().interrupt();
			}
			return System.nanoTime();
		}

		private Initialised() {}
	}

	private static final class Loader extends ClassLoader {
		private final byte[] bytes;

		Loader(byte[] bytes) {
			super(Churn.class.getClassLoader());
			this.bytes = bytes;
		}

		Class<?> define() {
			return defineClass("Churn$Initialised", bytes, 0, bytes.length);
		}
	}

	private static final Object LOCK = new Object();
	private static final ReentrantLock REENTRANT = new ReentrantLock();
	private static final ArrayDeque<byte[]> OLD = new ArrayDeque<>();
	private static final List<WeakReference<Object>> WEAK = new ArrayList<>();
	private static int initialised, threw, virtual;
	private static boolean turn;

	private Churn() {}

	private static byte[] classFile() throws IOException {
		try (InputStream in = Churn.class.getResourceAsStream("Churn$Initialised.class")) {
			return in.readAllBytes();
		}
	}

	private static void garbage(int blocks) {
		for (int i = 0; i < blocks; i++) {
			byte[] block = new byte[8192];
			if (i % 16 == 0) {
				synchronized (OLD) {
					OLD.add(block);
					if (OLD.size() > 1000)
						OLD.remove();
				}
			}
		}
	}

	private static void initialise(Class<?> c, CountDownLatch go) {
		try {
			go.await();
			Class.forName(c.getName(), true, c.getClassLoader());
		} catch (ReflectiveOperationException | InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	/** One class in many loaders; each sixth is initialised, by two threads at once. */
	private static void classes(byte[] bytes, int loaders) throws InterruptedException {
		for (int i = 0; i < loaders; i++) {
			Class<?> c = new Loader(bytes).define();
			synchronized (WEAK) {
				WEAK.add(new WeakReference<>(c));
			}
			if (i % 6 != 0)
				continue;
			CountDownLatch go = new CountDownLatch(1);
			Thread[] both = new Thread[2];
			for (int j = 0; j < 2; j++) {
				both[j] = new Thread(() -> initialise(c, go), "initialises");
				both[j].start();
			}
			go.countDown();
			for (Thread t : both)
				t.join();
			initialised++;
		}
	}

	private static void turns(boolean mine, int count) {
		try {
			for (int i = 0; i < count; i++) {
				synchronized (LOCK) {
					while (turn != mine)
						LOCK.wait(1000);
					turn = !mine;
					garbage(20);
					LOCK.notifyAll();
				}
				REENTRANT.lock();
				try {
					garbage(20);
				} finally {
					REENTRANT.unlock();
				}
				if (i % 10 == 0)
					Thread.sleep(1);
			}
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	/** A wait without the monitor, which JVMTI tells the begin of, and no end. */
	private static void throwing() {
		try {
			new Object().wait();
		} catch (IllegalMonitorStateException e) {
			threw++;
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	/** An interrupted sleep and wait. */
	private static void interrupted() throws InterruptedException {
		Thread t = new Thread(() -> {
			for (int i = 0; i < 2; i++) {
				try {
					synchronized (Churn.class) {
						if (i == 0)
							Churn.class.wait();
						else
							Thread.sleep(10000);
					}
				} catch (InterruptedException e) {
					garbage(1);
				}
			}
		}, "interrupted");
		t.start();
		while (t.isAlive()) {
			t.interrupt();
			t.join(1);
		}
	}

	/** Virtual threads by reflection: this is compiled for 17. */
	private static ThreadFactory virtualThreads() {
		try {
			Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
			return (ThreadFactory)Class.forName("java.lang.Thread$Builder").getMethod("factory").invoke(builder);
		} catch (ReflectiveOperationException e) {
			return null;
		}
	}

	private static void pool(ThreadFactory threads, int tasks) throws InterruptedException {
		ExecutorService pool = threads == null ? Executors.newFixedThreadPool(4)
						       : Executors.newFixedThreadPool(tasks, threads);
		LinkedBlockingQueue<Integer> queue = new LinkedBlockingQueue<>(2);
		for (int i = 0; i < tasks; i++) {
			int n = i;
			pool.execute(() -> {
				try {
					garbage(30);
					if (n % 2 == 0)
						queue.put(n);
					else
						queue.take();
					synchronized (LOCK) {
						garbage(1);
					}
					Thread.sleep(1);
				} catch (InterruptedException e) {
					throw new IllegalStateException(e);
				}
			});
		}
		pool.shutdown();
		if (!pool.awaitTermination(60, TimeUnit.SECONDS))
			throw new IllegalStateException("tasks are stuck");
	}

	public static void main(String[] args) throws Exception {
		int rounds = Integer.parseInt(args[0]);
		byte[] bytes = classFile();
		ThreadFactory threads = virtualThreads();
		for (int i = 0; i < rounds; i++) {
			Thread one = new Thread(() -> turns(false, 50), "one");
			Thread other = new Thread(() -> turns(true, 50), "other");
			one.start();
			other.start();
			classes(bytes, 600);
			pool(null, 100);
			if (threads != null) {
				pool(threads, 100);
				virtual += 100;
			}
			interrupted();
			throwing();
			garbage(20000);
			if (i % 3 == 2)
				System.gc();
			one.join();
			other.join();
		}
		System.out.println("END rounds=" + rounds + " initialised=" + initialised + " threw=" + threw + " virtual=" + virtual);
	}
}
