// SPDX-License-Identifier: MIT

import java.rmi.Remote;
import java.rmi.RemoteException;
import java.rmi.server.UnicastRemoteObject;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.locks.LockSupport;
import jis.Jis;
import jis.Span;

/**
 * Something of each family of events, a few times. Prints "DONE family times" for each: how often, at least, its records
 * must be there.
 */
public final class Families {
	private static final int TIMES = 4;
	private static final Object LOCK = new Object();
	private static long sum;

	interface Adder extends Remote {
		int add(int a, int b) throws RemoteException;
	}

	static final class AdderHere implements Adder {
		@Override
		public int add(int a, int b) {
			return a + b;
		}
	}

	static final class Fork extends RecursiveAction {
		private static final long serialVersionUID = 1;
		private final int depth;

		Fork(int depth) {
			this.depth = depth;
		}

		@Override
		protected void compute() {
			if (depth > 0) {
				invokeAll(new Fork(depth - 1), new Fork(depth - 1));
			}
		}
	}

	static final class Task implements Runnable {
		@Override
		public void run() {
			sum++;
		}
	}

	static final class Thrown extends Exception {
		private static final long serialVersionUID = 1;
	}

	/** A contended monitor, and a wait for it with a timeout. */
	private static void monitors() throws InterruptedException {
		for (int i = 0; i < TIMES; i++) {
			Thread t;
			synchronized (LOCK) {
				t = new Thread(() -> {
					synchronized (LOCK) {
						sum++;
					}
				}, "contender");
				t.start();
				while (t.getState() != Thread.State.BLOCKED) {
					Thread.onSpinWait();
				}
			}
			t.join();
			synchronized (LOCK) {
				LOCK.wait(3);
			}
		}
	}

	private static void hotLoop() {
		for (int i = 0; i < 200_000; i++) {
			sum += hot(i);
		}
	}

	private static int hot(int i) {
		return i * 31 ^ i >> 3;
	}

	private static void exceptions() {
		for (int i = 0; i < TIMES; i++) {
			try {
				throw new Thrown();
			} catch (Thrown e) {
				sum++;
			}
		}
	}

	private static void tasks() throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(2);
		for (int i = 0; i < TIMES; i++) {
			pool.submit(new Task()).get();
		}
		pool.shutdown();
		ForkJoinPool forks = new ForkJoinPool(2);
		forks.invoke(new Fork(3));
		forks.shutdown();
	}

	private static void queues() throws InterruptedException {
		BlockingQueue<String> queue = new ArrayBlockingQueue<>(1);
		Thread taker = new Thread(() -> {
			try {
				for (int i = 0; i < TIMES; i++) {
					sum += queue.take().length();
				}
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
		}, "taker");
		taker.start();
		for (int i = 0; i < TIMES; i++) {
			queue.put("element");
		}
		taker.join();
	}

	private static void rmi() throws RemoteException {
		AdderHere here = new AdderHere();
		Adder stub = (Adder) UnicastRemoteObject.exportObject(here, 0);
		for (int i = 0; i < TIMES; i++) {
			sum += stub.add(i, 1);
		}
		UnicastRemoteObject.unexportObject(here, true);
	}

	private static void virtual() throws Exception {
		for (int i = 0; i < TIMES; i++) {
			Runnable nap = () -> LockSupport.parkNanos(1_000_000);
			((Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, nap)).join();
		}
	}

	@SuppressWarnings("try")
	private static void markers() {
		for (int i = 0; i < TIMES; i++) {
			try (Span span = Jis.begin("span")) {
				Jis.event(1, i);
			}
		}
	}

	private Families() {
	}

	public static void main(String[] args) throws Exception {
		boolean virtual = Runtime.version().feature() >= 21;
		for (int i = 0; i < TIMES; i++) {
			Thread.currentThread().setName("renamed-" + i);
			LockSupport.parkNanos(5_000_000);
			Thread.sleep(2);
			System.gc();
		}
		markers();
		monitors();
		exceptions();
		hotLoop();
		tasks();
		queues();
		rmi();
		if (virtual) {
			virtual();
		}
		byte[][] all = new byte[64][];
		for (int i = 0; i < 4096; i++) {
			all[i % all.length] = new byte[8192];
		}
		String[] once = {"threads", "names", "gc", "markers", "monitors", "enters", "parks", "sleeps", "starts", "tasks", "forks",
				"queues", "rmi", "stacks", "safepoints", "heap", "classes", "compilations", "exceptions", "allocations"};
		for (String family : once) {
			System.out.println("DONE " + family + " " + TIMES);
		}
		if (virtual) {
			System.out.println("DONE virtual " + TIMES);
		}
	}
}
