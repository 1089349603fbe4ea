// SPDX-License-Identifier: MIT

import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.concurrent.locks.LockSupport;

/**
 * Waits of virtual threads, a known number of times; needs JDK 21 and is compiled for 17, so what is
 * new is called by reflection. Output as that of Waits; mounts how often it gets a carrier; pinned how long, at least, it
 * waits each time on a carrier that it keeps.
 *
 * <p>Arguments: COUNT MILLISECONDS.
 */
public final class WaitsVirtual {
	private final int count;
	private final int ms;
	private volatile int asked;
	private volatile int answered;
	private volatile long took;

	private WaitsVirtual(int count, int ms) {
		this.count = count;
		this.ms = ms;
	}

	private static final class Blocker {
	}

	private static final class Thing {
	}

	private interface Part {
		void run(int turn) throws Exception;
	}

	static Thread start(String name, Runnable body) throws ReflectiveOperationException {
		Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
		Class<?> type = Class.forName("java.lang.Thread$Builder");
		if (name != null) {
			builder = type.getMethod("name", String.class).invoke(builder, name);
		}
		return (Thread) type.getMethod("start", Runnable.class).invoke(builder, body);
	}

	private void expect(String kind, Thread thread, String rest) {
		System.out.println("EXPECT " + kind + " java_tid=" + Waits.id(thread) + " count=" + count + rest + " took=" + took);
	}

	private Thread subject(String name, Part part) throws ReflectiveOperationException {
		took = 0;
		return start(name, () -> {
			try {
				for (int i = 1; i <= count; i++) {
					long began = System.nanoTime();
					part.run(i);
					took += System.nanoTime() - began;
				}
			} catch (Exception e) {
				throw new IllegalStateException(e);
			}
		});
	}

	private long ns() {
		return ms * 1_000_000L;
	}

	private void until(Thread thread, Thread.State... states) {
		for (;; KernelBooks.rest()) {
			Thread.State now = thread.getState();
			for (Thread.State state : states) {
				if (now == state) {
					return;
				}
			}
		}
	}

	private void pass() {
		KernelBooks.rest(ns());
	}

	private static String object(Object object) {
		return " class=" + object.getClass().getName() + " hash=0x" + Integer.toHexString(System.identityHashCode(object));
	}

	private void sleep() throws Exception {
		Thread t = subject("sleeps", i -> Thread.sleep(ms));
		t.join();
		expect("sleep", t, " timeout=" + ns() + " ns=" + ns());
		expect("vthread", t, " name=sleeps mounts_least=" + (count + 1));
	}

	private void park() throws Exception {
		Blocker blocker = new Blocker();
		answered = 0;
		Thread t = subject("parks", i -> {
			LockSupport.park(blocker);
			answered = i;
		});
		for (int i = 1; i <= count; i++) {
			until(t, Thread.State.WAITING);
			pass();
			LockSupport.unpark(t);
			while (answered < i) {
				KernelBooks.rest();
			}
		}
		t.join();
		String here = Long.toString(Waits.id(Thread.currentThread()));
		expect("park", t, object(blocker) + " owner=0 timeout=-1 ns=" + ns() + " waker=" + here);
		expect("unpark", t, " by=" + here);
		expect("vthread", t, " name=parks mounts=" + (count + 1));
	}

	private void parkNanos() throws Exception {
		Blocker blocker = new Blocker();
		Thread t = subject(null, i -> LockSupport.parkNanos(blocker, ns()));
		t.join();
		expect("park", t, object(blocker) + " owner=0 timeout=" + ns() + " ns=" + ns());
		expect("vthread", t, " name= mounts=" + (count + 1));
	}

	/** It keeps its carrier before JDK 24, which the monitor does not make it since: the park is told once all the same. */
	private void pinned() throws Exception {
		Blocker blocker = new Blocker();
		Method park = WaitsVirtual.class.getDeclaredMethod("parkOnce", Blocker.class, long.class);
		Thread t = subject("pinned", i -> {
			synchronized (blocker) {
				park.invoke(null, blocker, ns());
			}
		});
		t.join();
		expect("park", t, object(blocker) + " owner=0 timeout=" + ns() + " ns=" + ns());
		expect("pinned", t, " ns=" + (Runtime.version().feature() < 24 ? ns() : 0));
	}

	/** With a frame of the VM's below, it keeps its carrier on each JDK. */
	private void pinnedByVm() throws Exception {
		System.setProperty("pinned.ms", Integer.toString(ms));
		URL[] here = {WaitsVirtual.class.getProtectionDomain().getCodeSource().getLocation()};
		Thread t = subject("pinnedByVm", i -> {
			try (URLClassLoader loader = new URLClassLoader(here, null)) {
				Class.forName("PinnedPark", true, loader);
			}
		});
		t.join();
		expect("park", t, " class= hash=0 owner=0 timeout=" + ns() + " ns=" + ns());
		expect("pinned", t, " ns=" + ns());
	}

	private static void parkOnce(Blocker blocker, long ns) {
		LockSupport.parkNanos(blocker, ns);
	}

	private void monitor() throws Exception {
		Thing thing = new Thing();
		asked = 0;
		answered = 0;
		Thread t = subject("fights", i -> {
			while (asked < i) {
				Thread.onSpinWait();
			}
			synchronized (thing) {
				answered = i;
			}
		});
		for (int i = 1; i <= count; i++) {
			synchronized (thing) {
				asked = i;
				until(t, Thread.State.BLOCKED);
				KernelBooks.rest(10_000_000); // it is so a little before the JVM tells the agent
				pass();
			}
			while (answered < i) {
				KernelBooks.rest();
			}
		}
		t.join();
		expect("monitor", t, object(thing) + " owner=" + Waits.id(Thread.currentThread()) + " ns=" + ns());
	}

	private void objectWait() throws Exception {
		Thing thing = new Thing();
		Thread t = subject("waits", i -> {
			synchronized (thing) {
				thing.wait(ms);
			}
		});
		t.join();
		expect("wait", t, object(thing) + " timeout=" + ns() + " timed_out=1 ns=" + ns());
	}

	private void joins() throws Exception {
		Thread[] joined = new Thread[count];
		Thread t = subject("joins", i -> {
			joined[i - 1] = start("joined", () -> LockSupport.parkNanos(ns()));
			joined[i - 1].join();
		});
		t.join();
		StringBuilder ids = new StringBuilder();
		for (Thread thread : joined) {
			ids.append(ids.length() == 0 ? "" : ",").append(Waits.id(thread));
		}
		expect("join", t, " targets=" + ids + " timeout=-1 ns=0");
	}

	/** Virtual threads started by one. */
	private void starts() throws Exception {
		Thread[] children = new Thread[count];
		Thread t = subject("starts", i -> children[i - 1] = start("child", () -> { }));
		t.join();
		StringBuilder ids = new StringBuilder();
		for (Thread child : children) {
			ids.append(ids.length() == 0 ? "" : ",").append(Waits.id(child));
			child.join();
		}
		expect("start", t, " virtual=1 children=" + ids);
	}

	/** One that is on its carrier, and stays there, when the agent comes. */
	private static void carried() throws Exception {
		boolean[] over = {false};
		boolean[] begun = {false};
		Thread t = start("carried", () -> {
			for (boolean end = false; !end; Thread.onSpinWait()) {
				synchronized (over) {
					begun[0] = true;
					end = over[0];
				}
			}
		});
		for (boolean begin = false; !begin; KernelBooks.rest()) {
			synchronized (over) {
				begin = begun[0];
			}
		}
		Waits.ready();
		synchronized (over) {
			over[0] = true;
		}
		t.join();
		System.out.println("EXPECT " + (Boolean.getBoolean("wait") ? "carried" : "vthread") + " java_tid=" + Waits.id(t)
			+ " name=carried");
	}

	public static void main(String[] args) throws Exception {
		carried();
		WaitsVirtual waits = new WaitsVirtual(Integer.parseInt(args[0]), Integer.parseInt(args[1]));
		waits.sleep();
		waits.park();
		waits.parkNanos();
		waits.pinned();
		waits.pinnedByVm();
		waits.monitor();
		waits.objectWait();
		waits.joins();
		waits.starts();
		System.out.println("END");
	}
}
