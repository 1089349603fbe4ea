// SPDX-License-Identifier: MIT
import java.nio.file.Path;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Two threads that hand locks to one another a known number of times: "giver" holds until "taker" surely sleeps for
 * it, then lets go. A monitor, a ReentrantLock, Object.wait and notify, a condition; each as often as is asked for.
 */
public final class LockHandOver {
	static final class Shared {
	}

	static final class Bell {
		int rung;
	}

	private interface Action {
		void run() throws InterruptedException;
	}

	private static final Shared shared = new Shared();
	private static final Bell bell = new Bell();
	private static final ReentrantLock lock = new ReentrantLock();
	private static final Condition condition = lock.newCondition();
	private static final Semaphore begin = new Semaphore(0), done = new Semaphore(0);
	private static Thread taker;
	private static volatile Path takerTask;
	private static int signalled, taken;
	/* The taker has had its permit, which it sleeps for, too. */
	private static volatile boolean comes;
	/* The giver is about to give; and a stop may be under way. */
	private static volatile boolean giving, stopping;

	/*
	 * Asleep by the kernel's word, and not only about to be. Who waits for a monitor looks at it again by itself, spinning,
	 * after 1, 8, 64, 512 ms: one that has slept for 70 ms has some hundred before it.
	 */
	private static void untilSleeps(Thread.State state) throws InterruptedException {
		long switches;

		do {
			while (taker.getState() != state || !KernelBooks.sleeps(takerTask))
				Thread.sleep(1);
			switches = KernelBooks.switches(takerTask);
			Thread.sleep(state == Thread.State.BLOCKED ? 70 : 20);
		} while (stopping || taker.getState() != state || !KernelBooks.sleeps(takerTask) ||
				KernelBooks.switches(takerTask) != switches);
		giving = true;
		while (!stopping && Boolean.getBoolean("stops"))
			Thread.sleep(1);
	}

	/*
	 * Stops of all threads, one after the other, from before the taker is given something until it says that it has it: it
	 * comes into one in between. None while it goes to sleep: in a stop it sleeps, too, but not for the lock.
	 */
	private static void stops() {
		Thread stopper = new Thread(() -> {
			while (true) {
				stopping = giving;
				if (stopping)
					System.gc();
				else
					LockSupport.parkNanos(1_000_000);
			}
		}, "stopper");

		stopper.setDaemon(true);
		stopper.start();
	}

	private static Thread repeat(String name, int n, Action action) {
		return new Thread(() -> {
			if (name.equals("taker"))
				takerTask = KernelBooks.task();
			try {
				for (int i = 0; i < n; i++)
					action.run();
			} catch (InterruptedException e) {
				throw new AssertionError(e);
			}
		}, name);
	}

	private static void rounds(int n, Action give, Action take) throws InterruptedException {
		taker = repeat("taker", n, () -> {
			begin.acquire();
			comes = true;
			take.run();
			comes = giving = false;
			done.release();
		});
		Thread giver = repeat("giver", n, () -> {
			give.run();
			done.acquire();
		});
		takerTask = null;
		taker.start();
		while (takerTask == null)
			Thread.sleep(1);
		giver.start();
		taker.join();
		giver.join();
	}

	public static void main(String[] args) throws Exception {
		Waits.ready();
		int n = Integer.parseInt(args[0]);

		if (Boolean.getBoolean("stops"))
			stops();

		rounds(n, () -> {
			synchronized (shared) {
				begin.release();
				untilSleeps(Thread.State.BLOCKED);
			}
		}, () -> {
			synchronized (shared) {
				taken++;
			}
		});
		rounds(n, () -> {
			lock.lock();
			begin.release();
			while (!lock.hasQueuedThread(taker))
				Thread.sleep(1);
			untilSleeps(Thread.State.WAITING);
			lock.unlock();
		}, () -> {
			lock.lock();
			taken++;
			lock.unlock();
		});
		rounds(n, () -> {
			begin.release();
			while (!comes)
				Thread.sleep(1);
			untilSleeps(Thread.State.WAITING);
			synchronized (bell) {
				bell.rung++;
				bell.notify();
			}
		}, () -> {
			synchronized (bell) {
				while (bell.rung == 0)
					bell.wait();
				bell.rung--;
			}
			taken++;
		});
		rounds(n, () -> {
			begin.release();
			while (!comes)
				Thread.sleep(1);
			untilSleeps(Thread.State.WAITING);
			lock.lock();
			signalled++;
			condition.signal();
			lock.unlock();
		}, () -> {
			lock.lock();
			while (signalled == 0)
				condition.await();
			signalled--;
			taken++;
			lock.unlock();
		});
		if (taken != 4 * n)
			throw new AssertionError();
		System.out.println("rounds " + n);
	}
}
