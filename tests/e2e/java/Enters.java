// SPDX-License-Identifier: MIT

/**
 * Enters monitors of each class a known number of times, and has them for a time it measures. Prints one line
 * "EXPECT class enters contended held-ns" for each class.
 */
public final class Enters {
	static final class Free {
	}

	static final class Slow {
	}

	static final class Fought {
	}

	static final class Waited {
	}

	static final class Method {
		int sum;

		synchronized int outer(int i) {
			return inner(i) + 1;
		}

		private synchronized int inner(int i) {
			sum += i;
			return sum;
		}
	}

	static final class Thrown {
		synchronized void enter(int i) {
			if (i >= 0)
				throw new IllegalStateException();
		}
	}

	static volatile long sum;

	static void expect(Class<?> c, long enters, long contended, long held) {
		System.out.println("EXPECT " + c.getName() + " " + enters + " " + contended + " " + held);
	}

	static void free(int n) {
		Free f = new Free();
		for (int i = 0; i < n; i++) {
			synchronized (f) {
				sum += i;
			}
		}
		expect(Free.class, n, 0, -1);
	}

	static void methods(int n) {
		Method m = new Method();
		Thrown t = new Thrown();
		for (int i = 0; i < n; i++) {
			sum += m.outer(i);
			try {
				t.enter(i);
			} catch (IllegalStateException e) {
				sum++;
			}
		}
		expect(Method.class, 2L * n, 0, -1);
		expect(Thrown.class, n, 0, -1);
	}

	static synchronized void still(int i) {
		sum += i;
	}

	static void slow(int n) throws InterruptedException {
		Slow s = new Slow();
		long held = 0, begin;
		for (int i = 0; i < n; i++) {
			synchronized (s) {
				begin = System.nanoTime();
				Thread.sleep(20);
				synchronized (s) { // has it already
					Thread.sleep(10);
				}
				held += System.nanoTime() - begin;
			}
		}
		expect(Slow.class, 2L * n, 0, held);
	}

	static volatile boolean has;

	static void fought(int n) throws InterruptedException {
		Fought f = new Fought();
		long[] held = new long[1];
		for (int i = 0; i < n; i++) {
			has = false;
			Thread other = new Thread(() -> {
				while (!has)
					Thread.onSpinWait();
				synchronized (f) {
					long begin = System.nanoTime();
					sum++;
					held[0] += System.nanoTime() - begin;
				}
			}, "fighter-" + i);
			other.start();
			synchronized (f) {
				long begin = System.nanoTime();
				has = true;
				while (other.getState() != Thread.State.BLOCKED)
					Thread.sleep(1);
				Thread.sleep(10);
				held[0] += System.nanoTime() - begin;
			}
			other.join();
		}
		expect(Fought.class, 2L * n, n, held[0]);
	}

	static void waited(int n) throws InterruptedException {
		Waited w = new Waited();
		long held = 0, begin;
		for (int i = 0; i < n; i++) {
			synchronized (w) {
				begin = System.nanoTime();
				Thread.sleep(5);
				held += System.nanoTime() - begin;
				w.wait(30);
				begin = System.nanoTime();
				Thread.sleep(5);
				held += System.nanoTime() - begin;
			}
		}
		expect(Waited.class, n, 0, held);
	}

	static void all(int n) throws InterruptedException {
		free(100 * n);
		methods(10 * n);
		for (int i = 0; i < n; i++)
			still(i);
		expect(Class.class, n, 0, -1);
		slow(n);
		fought(n);
		waited(n);
	}

	/* With the code of a class as the JVM has it; then waits for a line. */
	static void ready() throws Exception {
		System.out.println("READY " + Long.toHexString(AttachServer.digest(Method.class)));
		System.in.read();
	}

	public static void main(String[] args) throws Exception {
		int n = Integer.parseInt(args[0]);
		String witness = System.getProperty("witness");
		if (witness == null) {
			all(n);
		} else {
			System.load(witness);
			new Method().outer(1);
			for (int i = 0; i < 20_000; i++) // compiled as it is before it is rewritten
				still(i);
			ready();
			all(n);
			ready();
			ready();
			still(1);
		}
		System.out.println("END");
	}
}
