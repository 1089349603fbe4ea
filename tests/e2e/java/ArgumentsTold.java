// SPDX-License-Identifier: MIT

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Calls the methods of Target with values it knows, and says which: lines "TOLD method argument kind class length
 * value number", where argument -1 is the receiver, value a number in hex, or x and the UTF-8 of a string in base 64,
 * and number how often. Usage: ArgumentsTold ROUNDS [virtual].
 */
public class ArgumentsTold {
	static final Map<String, LongAdder> TOLD = new ConcurrentHashMap<>();
	static final String SECRET = "the secret of Mr. Sm\u00efth \u2014 \ud83d\ude00";

	static class Target {
		final int made;

		Target(int made, String name) {
			this.made = made + name.length();
		}

		static int numbers(int i, long j, boolean z, char c, byte b, short s) {
			return (int) (i + j + (z ? 1 : 0) + c + b + s);
		}

		static double reals(double d, float f, double d2) {
			return d + f + d2;
		}

		/** Overwrites its arguments. */
		long wide(long a, double b, int c, Object d) {
			a += c;
			c = 17;
			d = null;
			return a + (long) b + c + (d == null ? made : 0);
		}

		String texts(String s, CharSequence c, Object o) {
			return s + c + o;
		}

		int arrays(int[] i, String[][] s, Object o) {
			return (i == null ? 0 : i.length) + (s == null ? 0 : s.length);
		}

		synchronized int fails(int n) {
			if (n % 2 == 0) {
				throw new IllegalArgumentException();
			}
			return n;
		}

		/** Its argument is told of the outermost call only, where it is a library's. */
		int library(int n) {
			return n == 0 ? 0 : 1 + library(n - 1);
		}

		int none(int n) {
			return n;
		}

		/** Lasts as many ms as it says, with a nap. */
		void lasts(int ms, String why) throws InterruptedException {
			Thread.sleep(ms);
		}
	}

	static void told(String method, int argument, String kind, String type, int length, String value) {
		TOLD.computeIfAbsent(method + " " + argument + " " + kind + " " + type + " " + length + " " + value,
				k -> new LongAdder()).increment();
	}

	static void number(String method, int argument, String kind, long value) {
		told(method, argument, kind, "-", 0, Long.toHexString(value));
	}

	static void object(String method, int argument, Object o, int length) {
		if (o == null) {
			number(method, argument, "NULL", 0);
		} else if (o instanceof String) {
			String s = (String) o;
			told(method, argument, "STRING", "-", s.length(),
					"x" + Base64.getEncoder().encodeToString(s.getBytes(StandardCharsets.UTF_8)));
		} else {
			told(method, argument, length < 0 ? "OBJECT" : "ARRAY", o.getClass().getName(), Math.max(length, 0),
					Integer.toHexString(System.identityHashCode(o)));
		}
	}

	static void numbers(int i, long j, boolean z, char c, byte b, short s) {
		number("numbers", 0, "INT", i);
		number("numbers", 1, "LONG", j);
		number("numbers", 2, "BOOLEAN", z ? 1 : 0);
		number("numbers", 3, "CHAR", c);
		number("numbers", 4, "BYTE", b);
		number("numbers", 5, "SHORT", s);
		Target.numbers(i, j, z, c, b, s);
	}

	static void reals(double d, float f, double d2) {
		number("reals", 0, "DOUBLE", Double.doubleToRawLongBits(d));
		number("reals", 1, "FLOAT", Float.floatToRawIntBits(f) & 0xffffffffL);
		number("reals", 2, "DOUBLE", Double.doubleToRawLongBits(d2));
		Target.reals(d, f, d2);
	}

	static void wide(Target t, long a, double b, int c, Object d) {
		object("wide", -1, t, -1);
		number("wide", 2, "INT", c);
		object("wide", 3, d, -1);
		t.wide(a, b, c, d);
	}

	static void texts(Target t, String s, CharSequence c, Object o) {
		object("texts", 0, s, -1);
		object("texts", 1, c, -1);
		object("texts", 2, o, -1);
		t.texts(s, c, o);
	}

	static void arrays(Target t, int[] i, String[][] s, Object o) {
		object("arrays", -1, t, -1);
		object("arrays", 0, i, i == null ? 0 : i.length);
		object("arrays", 1, s, s == null ? 0 : s.length);
		object("arrays", 2, o, -1);
		t.arrays(i, s, o);
	}

	static void round(int n, Target one, Target other, int[] ints) throws InterruptedException {
		String[] texts = {"", "a", "0123456789", "01234567890", "na\u00efve \u4f60\u597d \ud83d\ude00 and more of it",
				"123456789\ud83d\ude00", "quote\" and \\ and\ttab", "x".repeat(70000) + n % 2, SECRET};

		new Target(n % 3, "name");
		number("<init>", 0, "INT", n % 3);
		object("<init>", 1, "name", -1);
		numbers(n, -1L << n % 40, n % 2 == 0, (char) (0xff00 + n % 7), (byte) -n, (short) (-3 * n));
		numbers(Integer.MIN_VALUE, Long.MIN_VALUE, true, '\0', Byte.MIN_VALUE, Short.MIN_VALUE);
		reals(n / 3.0, -n / 7f, Double.NaN);
		reals(-0.0, Float.POSITIVE_INFINITY, Double.MIN_VALUE);
		wide(one, n, 1.5, n % 5 + 100000, other);
		wide(other, Long.MAX_VALUE, -n, -1, null);
		texts(one, texts[n % texts.length], texts[(n + 1) % texts.length], ints);
		texts(one, null, new StringBuilder("built"), texts[n % 3]);
		arrays(other, ints, new String[n % 4][2], ints);
		arrays(other, null, null, null);
		number("fails", 0, "INT", n);
		object("fails", -1, one, -1);
		try {
			one.fails(n);
		} catch (IllegalArgumentException e) {
			one.none(n);
		}
		number("library", 0, "INT", 3);
		one.library(3);
		if (n % 20 == 0) {
			int ms = n % 40 == 0 ? 2 : 9;
			number("lasts", 0, "INT", ms);
			object("lasts", 1, "for " + ms, -1);
			other.lasts(ms, "for " + ms);
		}
	}

	static void run(int rounds) {
		Target one = new Target(1, "one"), other = new Target(2, "other");

		number("<init>", 0, "INT", 1);
		number("<init>", 0, "INT", 2);
		object("<init>", 1, "one", -1);
		object("<init>", 1, "other", -1);
		try {
			for (int n = 0; n < rounds; n++) {
				round(n, one, other, new int[n % 9]);
			}
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	/** Starts threads, whose calls are its children. */
	static class Launcher {
		static Thread launch(int rounds, boolean virtual) throws ReflectiveOperationException {
			Thread t = new Thread(() -> run(rounds));
			if (virtual) {
				Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
				t = (Thread) Class.forName("java.lang.Thread$Builder").getMethod("unstarted", Runnable.class)
						.invoke(builder, (Runnable) () -> run(rounds));
			}
			t.start();
			return t;
		}
	}

	public static void main(String[] args) throws Exception {
		int rounds = Integer.parseInt(args[0]);

		Launcher.launch(rounds, args.length > 1).join();
		Launcher.launch(rounds, args.length > 1).join();
		TOLD.forEach((k, n) -> System.out.println("TOLD " + k + " " + n));
	}
}
