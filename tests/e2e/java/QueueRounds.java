// SPDX-License-Identifier: MIT

import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Pairs of threads that hand objects over by queues of each kind: "maker N" puts them in, "user N" takes them out, some time
 * later. An executor's own queue is in use besides.
 *
 * <p>Arguments: PAIRS OBJECTS. Output: lines "EXPECT queue class=NAME pairs=N objects=N wait_ns=NS": for each class of queue how many
 * objects went through, and how long they were in it in all, from before they were put in until after they were taken out.
 */
public final class QueueRounds {
	private static final class Linked extends LinkedBlockingQueue<Parcel> {
		private static final long serialVersionUID = 1;
	}

	private static final class Array extends ArrayBlockingQueue<Parcel> {
		private static final long serialVersionUID = 1;

		Array() {
			super(4);
		}
	}

	private static final class Priority extends PriorityBlockingQueue<Parcel> {
		private static final long serialVersionUID = 1;
	}

	private static final class Concurrent extends ConcurrentLinkedQueue<Parcel> {
		private static final long serialVersionUID = 1;
	}

	private static final class Parcel implements Comparable<Parcel> {
		final int number;
		long put;

		Parcel(int number) {
			this.number = number;
		}

		@Override
		public int compareTo(Parcel other) {
			return Integer.compare(number, other.number);
		}
	}

	private static long waited;

	private static synchronized void add(long ns) {
		waited += ns;
	}

	private static void make(Queue<Parcel> queue, int objects) throws InterruptedException {
		for (int i = 0; i < objects; i++) {
			Parcel parcel = new Parcel(i);
			parcel.put = System.nanoTime();
			if (queue instanceof BlockingQueue && i % 2 == 0) {
				((BlockingQueue<Parcel>) queue).put(parcel);
			} else {
				while (!queue.offer(parcel)) {
					Thread.sleep(1);
					parcel.put = System.nanoTime();
				}
			}
		}
	}

	private static Parcel take(Queue<Parcel> queue, int i) throws InterruptedException {
		if (queue instanceof BlockingQueue) {
			BlockingQueue<Parcel> blocking = (BlockingQueue<Parcel>) queue;
			return i % 2 == 0 ? blocking.take() : blocking.poll(1, TimeUnit.MINUTES);
		}
		Parcel parcel;
		while ((parcel = queue.poll()) == null) {
			Thread.sleep(1);
		}
		return parcel;
	}

	private static void use(Queue<Parcel> queue, int objects) throws InterruptedException {
		long sum = 0;
		for (int i = 0; i < objects; i++) {
			Thread.sleep(2);
			Parcel parcel = take(queue, i);
			sum += System.nanoTime() - parcel.put;
		}
		add(sum);
	}

	private interface Body {
		void run() throws InterruptedException;
	}

	private static Thread start(String name, Body body) {
		Thread thread = new Thread(() -> {
			try {
				body.run();
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
		}, name);
		thread.start();
		return thread;
	}

	private static Queue<Parcel> queue(int kind) {
		return kind == 0 ? new Linked() : kind == 1 ? new Array() : kind == 2 ? new Priority() : new Concurrent();
	}

	public static void main(String[] args) throws Exception {
		int pairs = Integer.parseInt(args[0]);
		int objects = Integer.parseInt(args[1]);
		ExecutorService pool = Executors.newFixedThreadPool(2);
		for (int kind = 0; kind < 4; kind++) {
			Thread[] threads = new Thread[2 * pairs];
			String name = "";
			waited = 0;
			for (int i = 0; i < pairs; i++) {
				Queue<Parcel> queue = queue(kind);
				name = queue.getClass().getName();
				threads[2 * i] = start("maker " + i, () -> make(queue, objects));
				threads[2 * i + 1] = start("user " + i, () -> use(queue, objects));
				pool.submit(() -> 1).get();
			}
			for (Thread thread : threads) {
				thread.join();
			}
			System.out.println("EXPECT queue class=" + name + " pairs=" + pairs + " objects=" + pairs * objects + " wait_ns="
					+ waited);
		}
		pool.shutdown();
	}
}
