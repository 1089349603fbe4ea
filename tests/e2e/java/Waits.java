// SPDX-License-Identifier: MIT

import java.lang.reflect.Field;
import java.nio.file.Path;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.IntConsumer;

/**
 * Makes one kind of wait after the other, a known number of times, and says for each what must be in
 * the recording. A thread called subject waits, main makes it wait: they keep step by a counter, which the
 * subject looks at without waiting in any way that is recorded.
 *
 * <p>Arguments: COUNT MILLISECONDS [KIND...]. Output: lines "EXPECT kind key=value...", java_tid the
 * subject's, class and hash the object's, owner the Java thread that holds it, ns how long each wait
 * lasts at least, waker who ends it (the last of a wait's sleeps), took how long the subject found all of them to last, with what it did around them; asleep for
 * how long of that the kernel's own books have it without a CPU and not waiting for one, at least and at most.
 */
public final class Waits {
	private final int count;
	private final int ms;
	private volatile int asked;
	private volatile int answered;
	private volatile long took;
	private volatile long leastAsleep;
	private volatile long mostAsleep;
	private volatile Path task;
	private volatile Thread subject;

	private Waits(int count, int ms) {
		this.count = count;
		this.ms = ms;
	}

	/** What to be waited for; its class is what the recording names. */
	private static final class Thing {
	}

	private static final class Blocker {
	}

	private static String object(Object object) {
		return " class=" + object.getClass().getName() + " hash=0x" + Integer.toHexString(System.identityHashCode(object));
	}

	@SuppressWarnings("deprecation")
	static long id(Thread thread) {
		return thread.getId();
	}

	private void expect(String kind, String rest) {
		System.out.println("EXPECT " + kind + " java_tid=" + id(subject) + " count=" + count + rest + " took=" + took
			+ " asleep=" + leastAsleep + "," + mostAsleep);
	}

	/** What it waited for, and who ended each of the waits: Java threads by number, or a timer. */
	private void expectWait(String kind, String waker, String rest) {
		expect(kind, rest + " ns=" + ns() + " waker=" + waker);
	}

	private static String here() {
		return Long.toString(id(Thread.currentThread()));
	}

	/** Starts the subject, which does its part of each turn when it has been asked to. */
	private void begin(String name, IntConsumer part) {
		asked = 0;
		answered = 0;
		took = 0;
		leastAsleep = 0;
		mostAsleep = 0;
		task = null;
		subject = new Thread(() -> {
			task = KernelBooks.task();
			for (int i = 1; i <= count; i++) {
				while (asked < i) {
					Thread.yield();
				}
				turn(part, i);
				answered = i;
			}
		}, name);
		subject.start();
	}

	private void turn(IntConsumer part, int turn) {
		KernelBooks before = new KernelBooks();
		long began = System.nanoTime();
		part.accept(turn);
		took += System.nanoTime() - began;
		KernelBooks after = new KernelBooks();
		leastAsleep += after.leastAsleep(before);
		mostAsleep += after.mostAsleep(before, ns());
	}

	private void ask(int turn) {
		asked = turn;
	}

	/** Until the subject is said to be in one of these states, and the kernel has it asleep. */
	private void until(Thread.State... states) {
		for (;; KernelBooks.rest()) {
			Thread.State now = subject.getState();
			for (Thread.State state : states) {
				if (now == state && KernelBooks.sleeps(task)) {
					return;
				}
			}
		}
	}

	private void untilAnswered(int turn) {
		while (answered < turn) {
			KernelBooks.rest();
		}
	}

	private void pass() {
		KernelBooks.rest(ns());
	}

	private void end() throws InterruptedException {
		subject.join();
	}

	private long ns() {
		return ms * 1_000_000L;
	}

	private void monitor() throws InterruptedException {
		Thing thing = new Thing();
		begin("monitor", i -> {
			synchronized (thing) {
				Thread.onSpinWait();
			}
		});
		for (int i = 1; i <= count; i++) {
			synchronized (thing) {
				ask(i);
				until(Thread.State.BLOCKED);
				pass();
			}
			untilAnswered(i);
		}
		end();
		expectWait("monitor", here(), object(thing) + " owner=" + here());
	}

	/** Each time another object, that nobody ever fought for or asked the hash of. */
	private void light() throws InterruptedException {
		Object[] things = new Object[count];
		for (int i = 0; i < count; i++) {
			things[i] = new Thing();
		}
		begin("light", i -> {
			synchronized (things[i - 1]) {
				Thread.onSpinWait();
			}
		});
		for (int i = 1; i <= count; i++) {
			synchronized (things[i - 1]) {
				ask(i);
				until(Thread.State.BLOCKED);
				pass();
			}
			untilAnswered(i);
		}
		end();
		expectWait("monitor", here(), " class=" + Thing.class.getName() + " owner=" + here());
	}

	private void timedWait() throws InterruptedException {
		Thing thing = new Thing();
		begin("timedWait", i -> {
			synchronized (thing) {
				try {
					thing.wait(ms);
				} catch (InterruptedException e) {
					throw new IllegalStateException(e);
				}
			}
		});
		ask(count);
		end();
		expectWait("wait", "timer", object(thing) + " timeout=" + ns() + " timed_out=1");
	}

	private void notifiedWait() throws InterruptedException {
		Thing thing = new Thing();
		begin("notifiedWait", i -> {
			synchronized (thing) {
				try {
					thing.wait();
				} catch (InterruptedException e) {
					throw new IllegalStateException(e);
				}
			}
		});
		for (int i = 1; i <= count; i++) {
			ask(i);
			until(Thread.State.WAITING);
			pass();
			synchronized (thing) {
				thing.notifyAll();
			}
			untilAnswered(i);
		}
		end();
		expectWait("wait", here(), object(thing) + " timeout=-1 timed_out=0");
	}

	private void park(String name, Object blocker, String timeout, IntConsumer how) throws InterruptedException {
		begin(name, how);
		for (int i = 1; i <= count; i++) {
			ask(i);
			until(Thread.State.WAITING, Thread.State.TIMED_WAITING);
			pass();
			LockSupport.unpark(subject);
			untilAnswered(i);
		}
		end();
		expectWait("park", here(), (blocker == null ? " class= hash=0" : object(blocker)) + " owner=0 timeout=" + timeout);
		expect("unpark", " by=" + here());
	}

	private void parks() throws InterruptedException {
		Blocker blocker = new Blocker();
		long hour = 3_600_000_000_000L;
		park("park", blocker, "-1", i -> LockSupport.park(blocker));
		park("parkNone", null, "-1", i -> LockSupport.park());
		park("parkNanos", blocker, Long.toString(hour), i -> LockSupport.parkNanos(blocker, hour));
		park("parkUntil", blocker, "hour", i -> LockSupport.parkUntil(blocker, System.currentTimeMillis() + 3_600_000));
		begin("parkOver", i -> LockSupport.parkNanos(blocker, ns()));
		ask(count);
		end();
		expectWait("park", "timer", object(blocker) + " owner=0 timeout=" + ns());
	}

	/** The part of a lock that is the blocker. Needs --add-opens java.base/java.util.concurrent.locks=ALL-UNNAMED. */
	private static Object sync(Object lock) throws ReflectiveOperationException {
		Field field = lock.getClass().getDeclaredField("sync");
		field.setAccessible(true);
		return field.get(lock);
	}

	private void lock() throws Exception {
		ReentrantLock lock = new ReentrantLock();
		begin("lock", i -> {
			lock.lock();
			lock.unlock();
		});
		for (int i = 1; i <= count; i++) {
			lock.lock();
			ask(i);
			until(Thread.State.WAITING);
			pass();
			lock.unlock();
			untilAnswered(i);
		}
		end();
		expectWait("park", here(), object(sync(lock)) + " owner=" + here() + " timeout=-1");
	}

	private void readLock() throws Exception {
		ReentrantReadWriteLock lock = new ReentrantReadWriteLock(true);
		begin("readLock", i -> {
			lock.readLock().lock();
			lock.readLock().unlock();
		});
		for (int i = 1; i <= count; i++) {
			lock.writeLock().lock();
			ask(i);
			until(Thread.State.WAITING);
			pass();
			lock.writeLock().unlock();
			untilAnswered(i);
		}
		end();
		expectWait("park", here(), object(sync(lock)) + " owner=" + here() + " timeout=-1");
	}

	private void condition() throws InterruptedException {
		ReentrantLock lock = new ReentrantLock();
		Condition condition = lock.newCondition();
		begin("condition", i -> {
			lock.lock();
			condition.awaitUninterruptibly();
			lock.unlock();
		});
		for (int i = 1; i <= count; i++) {
			ask(i);
			until(Thread.State.WAITING);
			pass();
			while (!lock.tryLock()) {
				KernelBooks.rest();
			}
			condition.signal();
			lock.unlock();
			untilAnswered(i);
		}
		end();
		expectWait("park", here(), object(condition) + " owner=0 timeout=-1");
	}

	private void future() throws InterruptedException {
		FutureTask<?>[] tasks = new FutureTask<?>[count];
		for (int i = 0; i < count; i++) {
			int turn = i + 1;
			tasks[i] = new FutureTask<Void>(() -> {
				ask(turn);
				until(Thread.State.WAITING);
				pass();
			}, null);
		}
		begin("future", i -> {
			try {
				tasks[i - 1].get();
			} catch (Exception e) {
				throw new IllegalStateException(e);
			}
		});
		for (int i = 1; i <= count; i++) {
			tasks[i - 1].run();
			untilAnswered(i);
		}
		end();
		expectWait("park", here(), " class=java.util.concurrent.FutureTask owner=" + here() + " timeout=-1");
	}

	private void sleep() throws InterruptedException {
		begin("sleep", i -> {
			try {
				Thread.sleep(ms);
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
		});
		ask(count);
		end();
		expectWait("sleep", "timer", " timeout=" + ns());
	}

	private void interruptedSleep() throws InterruptedException {
		begin("interruptedSleep", i -> {
			try {
				Thread.sleep(3_600_000);
				throw new IllegalStateException("slept an hour");
			} catch (InterruptedException e) {
				Thread.onSpinWait();
			}
		});
		for (int i = 1; i <= count; i++) {
			ask(i);
			until(Thread.State.TIMED_WAITING);
			pass();
			subject.interrupt();
			untilAnswered(i);
		}
		end();
		expectWait("sleep", here(), " timeout=3600000000000");
	}

	private void joins() throws InterruptedException {
		Thread[] joined = new Thread[count];
		begin("joins", i -> {
			try {
				joined[i - 1].join();
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
		});
		for (int i = 1; i <= count; i++) {
			joined[i - 1] = new Thread(() -> {
				until(Thread.State.WAITING);
				pass();
			}, "joined-" + i);
			joined[i - 1].start();
			ask(i);
			untilAnswered(i);
		}
		end();
		StringBuilder ids = new StringBuilder();
		for (Thread thread : joined) {
			ids.append(ids.length() == 0 ? "" : ",").append(id(thread));
		}
		expectWait("join", ids.toString(), " targets=" + ids + " timeout=-1");
	}

	private void starts() throws InterruptedException {
		Thread[] children = new Thread[count];
		begin("starts", i -> {
			children[i - 1] = new Thread(() -> { }, "child-" + i);
			children[i - 1].start();
		});
		ask(count);
		end();
		StringBuilder ids = new StringBuilder();
		for (Thread child : children) {
			ids.append(ids.length() == 0 ? "" : ",").append(id(child));
			child.join();
		}
		expect("start", " children=" + ids);
	}

	private void run(String kind) throws Exception {
		switch (kind) {
		case "monitor" -> monitor();
		case "light" -> light();
		case "timedWait" -> timedWait();
		case "notifiedWait" -> notifiedWait();
		case "parks" -> parks();
		case "lock" -> lock();
		case "readLock" -> readLock();
		case "condition" -> condition();
		case "future" -> future();
		case "sleep" -> sleep();
		case "interruptedSleep" -> interruptedSleep();
		case "joins" -> joins();
		case "starts" -> starts();
		default -> throw new IllegalArgumentException(kind);
		}
	}

	private static boolean isReady;

	/** With -Dwait=true: until somebody writes a line, so that an agent can be attached before. Once. */
	static void ready() throws java.io.IOException {
		if (Boolean.getBoolean("wait") && !isReady) {
			isReady = true;
			System.out.println("READY");
			System.in.read();
		}
	}

	public static void main(String[] args) throws Exception {
		ready();
		new KernelBooks(); // once before, so that its classes are there
		Waits waits = new Waits(Integer.parseInt(args[0]), Integer.parseInt(args[1]));
		String[] kinds = {"monitor", "light", "timedWait", "notifiedWait", "parks", "lock", "readLock", "condition",
			"future", "sleep", "interruptedSleep", "joins", "starts"};
		if (args.length > 2) {
			kinds = java.util.Arrays.copyOfRange(args, 2, args.length);
		}
		for (String kind : kinds) {
			waits.run(kind);
		}
		System.out.println("END");
	}
}
