// SPDX-License-Identifier: MIT
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

/**
 * Threads that wait for classes that others initialise: for the very class they ask for, for what it is derived from, and
 * for the interface that a field is of.
 *
 * <p>Arguments: ROUNDS MS, for how long each is made to wait at least. With -Dwait=true it waits for a line first. Output:
 * "EXPECT CLASS ROUNDS LEAST MOST" for each, in ns: what all of them have slept at least, and measured themselves; "END".
 */
public final class ClassWaits {
	public static final class Plain {
		static {
			hold();
		}

		private Plain() {}
	}

	public static class Base {
		static {
			hold();
		}
	}

	public static final class Derived extends Base {}

	public interface Constants {
		Object VALUE = hold();
	}

	public static final class Uses implements Constants {}

	private interface Way {
		void go() throws ReflectiveOperationException;
	}

	/** All of them anew. */
	private static final class Loader extends ClassLoader {
		@Override
		protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
			if (!name.startsWith("ClassWaits$"))
				return super.loadClass(name, resolve);
			Class<?> c = findLoadedClass(name);
			if (c != null)
				return c;
			try (InputStream in = ClassWaits.class.getResourceAsStream(name + ".class")) {
				byte[] bytes = in.readAllBytes();
				return defineClass(name, bytes, 0, bytes.length);
			} catch (IOException e) {
				throw new ClassNotFoundException(name, e);
			}
		}
	}

	private static volatile CountDownLatch begun;
	private static volatile String going; // who is about to wait
	private static volatile long waited;
	private static int ms;

	private ClassWaits() {}

	/** Until the other thread has been about to wait, sleeps, and has done so for a while. */
	public static Object hold() {
		begun.countDown();
		try {
			while (going == null)
				Thread.sleep(1);
			do
				Thread.sleep(ms);
			while (!Files.readString(Path.of("/proc/self/task/" + going + "/stat")).contains(") S "));
			Thread.sleep(ms);
		} catch (InterruptedException | IOException e) {
			throw new IllegalStateException(e);
		}
		return new Object();
	}

	private static String tid() {
		try {
			return Path.of("/proc/thread-self").toRealPath().getFileName().toString();
		} catch (IOException e) {
			throw new IllegalStateException(e);
		}
	}

	private static Thread start(String name, Way way) {
		Thread t = new Thread(() -> {
			try {
				way.go();
			} catch (ReflectiveOperationException e) {
				throw new IllegalStateException(e);
			}
		}, name);
		t.start();
		return t;
	}

	private static long round(String held, String by) throws InterruptedException {
		Loader loader = new Loader();
		begun = new CountDownLatch(1);
		going = null;
		Thread first = start("initialises", () -> Class.forName("ClassWaits$" + held, true, loader));
		begun.await();
		Thread second = start("waits", () -> {
			Class<?> c = Class.forName("ClassWaits$" + by, false, loader);
			Field field = by.equals("Uses") ? c.getField("VALUE") : null;
			String tid = tid();
			long begin = System.nanoTime();
			going = tid;
			if (field != null)
				field.get(null);
			else
				Class.forName(c.getName(), true, loader);
			waited = System.nanoTime() - begin;
		});
		first.join();
		second.join();
		return waited;
	}

	public static void main(String[] args) throws InterruptedException, IOException {
		int rounds = Integer.parseInt(args[0]);
		ms = Integer.parseInt(args[1]);
		Waits.ready();
		String[][] all = {{"Plain", "Plain"}, {"Base", "Derived"}, {"Constants", "Uses"}};
		for (String[] one : all) {
			long ns = 0;
			for (int i = 0; i < rounds; i++)
				ns += round(one[0], one[1]);
			System.out.println("EXPECT ClassWaits$" + one[0] + " " + rounds + " " + 1000000L * ms * rounds + " " + ns);
		}
		System.out.println("END");
	}
}
