// SPDX-License-Identifier: MIT

import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.lang.ref.WeakReference;

/**
 * Does a known number of things of each kind: loads and unloads classes, throws exceptions at known lines, has
 * methods compiled, allocates, collects. Prints one line "EXPECT what count detail" for each.
 */
public final class Doings {
	static final class Loaded {
	}

	static final class Own extends ClassLoader {
		private final byte[] bytes;

		Own(byte[] bytes) {
			super(null);
			this.bytes = bytes;
		}

		Class<?> load() throws Exception {
			Class<?> c = defineClass("Doings$Loaded", bytes, 0, bytes.length);
			resolveClass(c);
			c.getDeclaredConstructors();
			Class.forName(c.getName(), true, this);
			return c;
		}
	}

	@SuppressWarnings("serial")
	static final class Odd extends Exception {
		Odd(int i) {
			super("odd " + i);
		}
	}

	@SuppressWarnings("serial")
	static final class Lost extends RuntimeException {
	}

	static final class Sampled {
		long[] room = new long[1];
	}

	static volatile Object sink;
	static volatile long sum;

	static int line() {
		return StackWalker.getInstance().walk(s -> s.skip(1).findFirst()).get().getLineNumber();
	}

	static int at;

	static void thrower(int i) throws Odd {
		at = line() + 1;
		throw new Odd(i);
	}

	static void exceptions(int n) throws Exception {
		for (int i = 0; i < n; i++) {
			try {
				thrower(i);
			} catch (Odd e) {
				sum += i;
			}
		}
		System.out.println("EXPECT exception " + n + " Doings$Odd Doings.thrower " + at + " 1");
		int[] where = new int[1];
		Thread t = new Thread(() -> {
			where[0] = line() + 1;
			throw new Lost();
		});
		t.setUncaughtExceptionHandler((thread, e) -> sum++);
		t.start();
		t.join();
		System.out.println("EXPECT exception 1 Doings$Lost Doings.lambda$exceptions " + where[0] + " 0");
	}

	static void classes(int n) throws Exception {
		byte[] bytes;
		try (InputStream in = Doings.class.getResourceAsStream("Doings$Loaded.class")) {
			ByteArrayOutputStream out = new ByteArrayOutputStream();
			in.transferTo(out);
			bytes = out.toByteArray();
		}
		WeakReference<?>[] gone = new WeakReference<?>[n];
		for (int i = 0; i < n; i++)
			gone[i] = new WeakReference<Object>(new Own(bytes).load());
		for (WeakReference<?> r : gone)
			while (r.get() != null) {
				System.gc();
				Thread.sleep(5);
			}
		/* Of classes that are gone the JVM tells some time later. */
		System.gc();
		Thread.sleep(300);
		System.out.println("EXPECT class_prepare " + n + " Doings$Loaded");
		System.out.println("EXPECT class_unload " + n + " Doings$Loaded");
	}

	static int hot(int i) {
		return i * 31 + (i >> 3);
	}

	static int warm(int i) {
		return i * 17 + (i >> 5);
	}

	static void compilations() throws Exception {
		int x = 0;
		for (int i = 0; i < 300_000; i++) {
			x += hot(i);
			if (i % 10 == 0)
				x += warm(i);
			if (i % 10_000 == 0)
				Thread.sleep(1);
		}
		sum += x;
	}

	/* Collections of all kinds, with something that stays and something that goes. */
	static void fill(int n) throws Exception {
		byte[][] kept = new byte[64][];
		for (int i = 0; i < n * 256; i++) {
			kept[i % 64] = new byte[64 << 10];
			sink = new byte[32 << 10];
		}
		for (int i = 0; i < n; i++) {
			System.gc();
			Thread.sleep(2);
		}
		sum += kept.length;
	}

	/* A thread that was there before the agent is sampled by a new interval from its next sample on. */
	static void allocations(int n) {
		for (int i = 0; i < 256; i++)
			sink = new byte[64 << 10];
		for (int i = 0; i < n; i++)
			sink = new Sampled();
		System.out.println("EXPECT allocation " + n + " Doings$Sampled");
	}

	static volatile boolean spinning = true;

	/* Threads that run in Java when the others are stopped. */
	static void spin() {
		for (int i = 0; i < 2; i++) {
			Thread t = new Thread(() -> {
				long x = 1;
				while (spinning)
					x = x * 6364136223846793005L + 1;
				sum += x;
			}, "spinner-" + i);
			t.setDaemon(true);
			t.start();
		}
	}

	static void safepoints(int n) throws Exception {
		for (int i = 0; i < n; i++) {
			System.gc();
			sum += Thread.getAllStackTraces().size();
			Thread.sleep(3);
		}
		System.out.println("EXPECT gc " + n);
	}

	public static void main(String[] args) throws Exception {
		int n = Integer.parseInt(args[1]);
		for (String what : args[0].split(",")) {
			switch (what) {
			case "exceptions" -> exceptions(n);
			case "classes" -> classes(n);
			case "compilations" -> compilations();
			case "allocations" -> allocations(n);
			case "safepoints" -> safepoints(n);
			case "spin" -> spin();
			case "fill" -> fill(n);
			case "wait" -> {
				System.out.println("READY");
				System.out.flush();
				System.in.read();
			}
			default -> throw new IllegalArgumentException(what);
			}
		}
		System.out.println("END");
	}
}
