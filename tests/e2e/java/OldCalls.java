// SPDX-License-Identifier: MIT

import java.util.Hashtable;

/**
 * Methods in the Java of 1998, for compilers that still write its class files. They count their calls
 * themselves: COUNTS, by method.
 */
public class OldCalls {
	public static final Hashtable COUNTS = new Hashtable();
	private final Object lock = new Object();
	private int total;

	static void count(String method) {
		int[] n = (int[]) COUNTS.get(method);
		if (n == null) {
			n = new int[1];
			COUNTS.put(method, n);
		}
		n[0]++;
	}

	static class Base {
		int n;

		Base(int n) {
			count("Base <init>");
			if (n < 0) {
				throw new IllegalArgumentException();
			}
			this.n = n;
		}
	}

	static class Derived extends Base {
		Derived(int n, boolean nested) {
			super(nested ? new Base(n).n + 1 : n < 10 ? n : new Derived(n - 1, true).n);
			count("Derived <init>");
			if (this.n == 5) {
				throw new IllegalStateException();
			}
		}
	}

	int finallyReturns(int n) {
		count("finallyReturns");
		try {
			if (n == 1) {
				return n;
			}
			if (n == 2) {
				throw new IllegalStateException();
			}
			n += 10;
		} finally {
			total++; // a subroutine, in those days
		}
		return n;
	}

	int locks(int n) {
		count("locks");
		synchronized (lock) {
			if (n > 3) {
				throw new IllegalStateException();
			}
			return choose(n);
		}
	}

	static int choose(int n) {
		count("choose");
		switch (n) {
		case 0:
			return 1;
		case 1:
		case 2:
			return 5;
		case 70000:
			return -1;
		default:
			while (n > 0) {
				n -= 2;
			}
			return n;
		}
	}

	static synchronized long ofClass(long l, double d) {
		count("ofClass");
		return l + (long) d;
	}

	static int thrower(int depth) {
		count("thrower");
		if (depth == 0) {
			throw new IllegalStateException();
		}
		return thrower(depth - 1) + 1;
	}

	static void tries(int i) {
		count("tries");
		OldCalls c = new OldCalls();
		try {
			switch (i) {
			case 0:
				thrower(5);
				break;
			case 1:
				new Derived(-1, true);
				break;
			case 2:
				new Derived(5, false);
				break;
			case 3:
				c.locks(9);
				break;
			case 4:
				c.finallyReturns(2);
				break;
			default:
				throw new IllegalStateException();
			}
		} catch (RuntimeException e) {
			return;
		}
		throw new Error("nothing was thrown: " + i);
	}

	/** Returns the same each time. */
	public static int run() {
		count("run");
		OldCalls c = new OldCalls();
		int sum = 0;
		int i;
		for (i = 0; i < 6; i++) {
			tries(i);
		}
		for (i = 0; i < 4; i++) {
			sum += c.finallyReturns(i == 2 ? 7 : i) + c.locks(i) + choose(70000 * i);
		}
		sum += new Derived(3, true).n + new Derived(12, false).n + new Derived(1, false).n;
		return sum + (int) ofClass(1L << 40, 3.5) + c.total;
	}
}
