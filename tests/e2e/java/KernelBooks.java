// SPDX-License-Identifier: MIT

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What the kernel has in its books of a thread, read by the thread itself: how long it had a CPU, how long it was kept
 * waiting for one, how often it gave one up. Of the time between two readings the rest was spent asleep, or the
 * hypervisor had the CPU: what is stolen from a thread that runs is in nobody's books but those of the whole machine.
 */
final class KernelBooks {
	private static final long SHORT = 1_000_000;
	private static final long TICK = 10_000_000; // USER_HZ
	private long before;
	private long after;
	private long cpu;
	private long delay;
	private long stolen;

	/** Of this thread, now: again, where it lost its CPU while it read. It never sleeps for that. */
	KernelBooks() {
		for (int tries = 0; tries == 0 || after - before > SHORT && tries < 20; tries++) {
			Thread.yield(); // else the time on the CPU is as old as the last tick
			before = System.nanoTime();
			String[] words = read(Path.of("/proc/thread-self/schedstat")).split(" ");
			cpu = Long.parseLong(words[0]);
			delay = Long.parseLong(words[1]);
			after = System.nanoTime();
		}
		// After "cpu", two blanks; no regular expression, whose classes would be loaded here, with locks of their own.
		stolen = Long.parseLong(read(Path.of("/proc/stat")).split(" ", 11)[9]);
	}

	/** What may have been stolen from the thread from then to these: the machine's books are kept in ticks. */
	private long stolen(KernelBooks then) {
		return stolen > then.stolen ? (stolen - then.stolen + 1) * TICK : 0;
	}

	private long awake(KernelBooks then) {
		return cpu - then.cpu + delay - then.delay;
	}

	/** How long the thread was asleep from then to these, at least. */
	long leastAsleep(KernelBooks then) {
		return before - then.after - awake(then) - stolen(then);
	}

	/** What lies between the two readings. */
	long time(KernelBooks then) {
		return before - then.after;
	}

	/** And at most: it may have slept for a part of what the readings took. */
	long mostAsleep(KernelBooks then) {
		return after - then.before - awake(then);
	}

	/**
	 * The same of a thread that was made to sleep for so long: Linux 6.12 now and then books the whole of a sleep as
	 * being kept waiting for a CPU, to the millisecond. (Likely of a thread that falls asleep having had more than its
	 * share: it stays in the run queue for a moment, and may be moved to another CPU's meanwhile.)
	 */
	long mostAsleep(KernelBooks then, long made) {
		long kept = delay - then.delay;
		return mostAsleep(then) + (kept > made / 2 ? kept : 0);
	}

	/** How long it has had a CPU, in ns of its life. */
	long cpu() {
		return cpu;
	}

	/** How long it was kept waiting for one. */
	long waited() {
		return delay;
	}

	private static String read(Path file) {
		try {
			return Files.readString(file);
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		}
	}

	/** The directory of this thread, for others to look into. */
	static Path task() {
		try {
			return Path.of("/proc").resolve(Files.readSymbolicLink(Path.of("/proc/thread-self")));
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		}
	}

	/** How often a thread has given up its CPU. */
	static long switches(Path task) {
		for (String line : read(task.resolve("status")).split("\n")) {
			if (line.startsWith("voluntary_ctxt_switches:")) {
				return Long.parseLong(line.substring(line.indexOf(':') + 1).trim());
			}
		}
		throw new IllegalStateException("no switches in " + task);
	}

	/** Is the thread asleep? */
	static boolean sleeps(Path task) {
		String stat = read(task.resolve("stat"));
		return stat.charAt(stat.lastIndexOf(')') + 2) == 'S';
	}

	/**
	 * Lets a moment pass. Asleep, so that another thread of this process has the CPU: one that spins for what the
	 * caller holds leaves an emulated CPU to the others with each pause.
	 */
	static void rest() {
		try {
			Thread.sleep(1);
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	/** Lets so much time pass. */
	static void rest(long ns) {
		long end = System.nanoTime() + ns;
		while (System.nanoTime() < end) {
			rest();
		}
	}
}
