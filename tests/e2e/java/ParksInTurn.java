// SPDX-License-Identifier: MIT
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.AbstractOwnableSynchronizer;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that park for one object many times in turn, for others in between, for none, for new ones of a class seen
 * before, and for one whose owner changes. Each prints what it parked for: "PARK PHASE NAME CLASS HASH OWNER", OWNER the
 * number of a thread, 0 none. With -Dwait=true it waits for a line before each of -Dphases.
 */
public final class ParksInTurn {
	static final class Owned extends AbstractOwnableSynchronizer {
		private static final long serialVersionUID = 1;

		void give(Thread owner) {
			setExclusiveOwnerThread(owner);
		}
	}

	static final class Plain {
	}

	static final class Other {
	}

	private static final Owned owned = new Owned(); // shared by both threads
	private static final ReentrantLock held = new ReentrantLock();
	private static final Condition ofHeld = held.newCondition(), ofFree = new ReentrantLock().newCondition();
	private static final int PHASES = Integer.getInteger("phases", 1);
	private static Thread holder;
	private static volatile int phase; // begun

	private static final class Parker extends Thread {
		private final List<String> told = new ArrayList<>();
		private final Plain plain = new Plain();
		private final Other other = new Other();
		private final int rounds, from, to;
		private volatile int done; // phases

		Parker(String name, int rounds, int from, int to) {
			super(name);
			this.rounds = rounds;
			this.from = from;
			this.to = to;
			done = from;
		}

		private void park(Object blocker, Thread owner) {
			told.add(phase + " " + getName() + " " + (blocker == null ? "- 0 0" : blocker.getClass().getName() + " " +
					Integer.toUnsignedString(System.identityHashCode(blocker)) + " " + (owner == null ? 0 : owner.getId())));
			if (blocker == null)
				LockSupport.parkNanos(1);
			else
				LockSupport.parkNanos(blocker, 1);
		}

		private void often(Object blocker, Thread owner, int times) {
			for (int i = 0; i < times; i++)
				park(blocker, owner);
		}

		/* Two of a kind, then the other: what was kept is given up for another. */
		private void round(int n) {
			Owned mine = new Owned();

			often(plain, null, 3 + n % 3);
			often(other, null, 1 + n % 2);
			often(plain, null, 1 + n % 4);
			park(null, null);
			often(ofHeld, holder, 3);
			park(plain, null);
			often(ofHeld, holder, 2);
			often(ofFree, null, 3);
			often(ofHeld, holder, 1 + n % 3);
			for (Thread owner : new Thread[] {null, this, holder, null, holder}) {
				mine.give(owner);
				often(mine, owner, 1 + n % 2);
			}
			often(owned, holder, 3);
			often(new Plain(), null, 3); // of which nothing is left soon
			if (n % 10 == 9)
				System.gc();
			often(new Plain(), null, 3);
			park(null, null);
		}

		@Override
		public void run() {
			for (int p = from; p < to; p++) {
				while (phase <= p)
					rest();
				for (int n = 0; n < rounds; n++)
					round(n);
				done = p + 1;
			}
		}
	}

	private static void rest() {
		try {
			Thread.sleep(1);
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	public static void main(String[] args) throws Exception {
		int rounds = Integer.parseInt(args[0]);
		CountDownLatch begun = new CountDownLatch(1), over = new CountDownLatch(1);
		List<Parker> parkers = new ArrayList<>();

		holder = new Thread(() -> {
			held.lock();
			owned.give(Thread.currentThread());
			begun.countDown();
			try {
				over.await();
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
			held.unlock();
		}, "holder");
		holder.start();
		begun.await();
		/* Here, so that threads do not wait for one another where this links what it calls. */
		new Parker("first", 1, -1, 0).run();
		for (int i = 0; i < 2; i++) {
			parkers.add(new Parker("parker-" + i, rounds, 0, PHASES));
			parkers.get(i).start();
		}
		for (int p = 0; p < PHASES; p++) {
			if (Boolean.getBoolean("wait")) {
				System.out.println("READY");
				System.in.read();
			}
			phase = p + 1;
			/* Its place among the threads is taken by others, which must not inherit what was known of it. */
			for (int i = 0; i < rounds; i++) {
				Parker brief = new Parker("brief-" + p + "-" + i, 1, p, p + 1);

				brief.start();
				brief.join();
				parkers.add(brief);
			}
			while (parkers.get(0).done <= p || parkers.get(1).done <= p)
				rest();
		}
		for (Parker parker : parkers)
			parker.join();
		over.countDown();
		holder.join();
		for (Parker parker : parkers)
			for (String line : parker.told)
				System.out.println("PARK " + line);
		System.out.println("END");
	}
}
