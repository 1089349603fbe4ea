// SPDX-License-Identifier: MIT

import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;

/**
 * Times its own calls. Two threads call each method of Work a known number of times; of each call its clock and its CPU
 * time are read before and after it, and at its begin and its end: what a recorder says lies in between. The kernel's
 * books say how long it slept and waited for a CPU. They call those of Graph, too, and count by which ways.
 *
 * <p>Arguments: COUNT MILLISECONDS [virtual]: the two are virtual threads, of whose CPU nobody keeps books. Output: a line "TIMES thread method KEY=VALUE..." in ns for each thread and method; "WAY
 * thread method>method... calls"; "LOADER class loader's-class"; "END".
 */
public final class CallTimes {
	private static final ThreadMXBean BEAN = ManagementFactory.getThreadMXBean();

	private static boolean virtual;

	private CallTimes() {
	}

	/** Of a virtual thread the JVM does not say it. */
	private static long cpuTime() {
		return virtual ? 0 : BEAN.getCurrentThreadCpuTime();
	}

	/** Clock and CPU time at the begin and the end of a call. */
	private static final class Moments {
		long begin, end, cpuBegin, cpuEnd;

		void first() {
			begin = System.nanoTime();
			cpuBegin = cpuTime();
		}

		void last() {
			cpuEnd = cpuTime();
			end = System.nanoTime();
		}
	}

	private interface Call {
		void run(Moments in) throws Exception;
	}

	/** Each waits, or computes, once. */
	static final class Work {
		private Work() {
		}

		static void sleeps(Moments in, long ms) throws InterruptedException {
			in.first();
			Thread.sleep(ms);
			in.last();
		}

		static void parks(Moments in, long ms) {
			in.first();
			for (long end = System.nanoTime() + ms * 1_000_000, left; (left = end - System.nanoTime()) > 0;) {
				LockSupport.parkNanos(left);
			}
			in.last();
		}

		static void waits(Moments in, Object lock, long ms) throws InterruptedException {
			in.first();
			synchronized (lock) {
				lock.wait(ms);
			}
			in.last();
		}

		static void enters(Moments in, Object lock) {
			in.first();
			synchronized (lock) {
				in.last();
			}
		}

		static void reads(Moments in, InputStream from) throws IOException {
			in.first();
			from.read();
			in.last();
		}

		static int spins(Moments in, long ms) {
			int n = 0;
			in.first();
			for (long end = System.nanoTime() + ms * 1_000_000; System.nanoTime() < end; n++) {
				n ^= n << 1;
			}
			in.last();
			return n;
		}
	}

	/** Calls that go known ways, which each call tells the books. */
	static final class Graph {
		private final Books books;

		Graph(Books books) {
			this.books = books;
		}

		void top(int n) {
			books.enter("top");
			for (int i = 0; i < n; i++) {
				left(i);
			}
			right(n);
			books.leave();
		}

		void left(int n) {
			books.enter("left");
			bottom(n);
			right(n);
			books.leave();
		}

		void right(int n) {
			books.enter("right");
			if (n > 0) {
				down(n);
			}
			books.leave();
		}

		/** Recursive, and by way of another one too. */
		int down(int n) {
			books.enter("down");
			int sum = n > 1 ? down(n - 1) : bottom(n);
			if (n == 3) {
				left(0);
			}
			books.leave();
			return sum;
		}

		int bottom(int n) {
			books.enter("bottom");
			books.leave();
			return n + 1;
		}
	}

	/** What a thread has done. */
	private static final class Books {
		final Map<String, List<long[]>> calls = new TreeMap<>();
		final Map<String, Integer> ways = new TreeMap<>();
		private final ArrayDeque<String> way = new ArrayDeque<>();

		void enter(String method) {
			way.addLast(method);
			ways.merge(String.join(">", way), 1, Integer::sum);
		}

		void leave() {
			way.removeLast();
		}

		void time(String method, long made, Call call) throws Exception {
			Moments in = new Moments();
			KernelBooks then = new KernelBooks();
			long cpu = cpuTime(), begin = System.nanoTime();
			call.run(in);
			long end = System.nanoTime();
			cpu = cpuTime() - cpu;
			KernelBooks now = new KernelBooks();
			long beside = now.time(then) - (end - begin); // it may have slept then, too
			calls.computeIfAbsent(method, m -> new ArrayList<>())
				.add(new long[] {in.end - in.begin, end - begin, in.cpuEnd - in.cpuBegin, cpu,
					now.leastAsleep(then) - beside, now.mostAsleep(then, made > 0 ? made : Long.MAX_VALUE),
					now.waited() - then.waited(), made});
		}

		private static long least(List<long[]> all, int column) {
			return all.stream().mapToLong(c -> c[column]).min().getAsLong();
		}

		private static long most(List<long[]> all, int column) {
			return all.stream().mapToLong(c -> c[column]).max().getAsLong();
		}

		private static long sum(List<long[]> all, int column) {
			return all.stream().mapToLong(c -> c[column]).sum();
		}

		void tell(String thread) {
			calls.forEach((method, all) -> System.out.println("TIMES " + thread + " " + method + " calls=" + all.size()
				+ " within=" + sum(all, 0) + " around=" + sum(all, 1)
				+ " least_within=" + least(all, 0) + " least_around=" + least(all, 1)
				+ " most_within=" + most(all, 0) + " most_around=" + most(all, 1)
				+ " cpu_within=" + sum(all, 2) + " cpu_around=" + sum(all, 3)
				+ " asleep_least=" + sum(all, 4) + " asleep_most=" + sum(all, 5) + " waited=" + sum(all, 6) + " made=" + sum(all, 7)));
			ways.forEach((path, n) -> System.out.println("WAY " + thread + " " + path + " " + n));
		}
	}

	/** Holds the lock, and sends a byte, each as long after it was asked to. */
	private static Thread helper(Thread worker, Object lock, Semaphore ask, Semaphore held, Socket to, int count, long ms) {
		return new Thread(() -> {
			try {
				for (int i = 0; i < count; i++) {
					ask.acquire();
					synchronized (lock) {
						held.release();
						while (worker.getState() != Thread.State.BLOCKED) {
							Thread.sleep(1);
						}
						Thread.sleep(ms);
					}
					ask.acquire();
					Thread.sleep(ms);
					to.getOutputStream().write(1);
				}
			} catch (IOException | InterruptedException e) {
				throw new IllegalStateException(e);
			}
		});
	}

	/** Loaded by a loader of the program's own. */
	public static final class Other {
		private Other() {
		}

		public static int other(int n) {
			int twice = 2 * n;
			return twice
				+ 1;
		}
	}

	private static final class Own extends URLClassLoader {
		Own(URL where) {
			super(new URL[] {where}, null);
		}
	}

	private static void loaders() throws Exception {
		Own own = new Own(CallTimes.class.getProtectionDomain().getCodeSource().getLocation());
		Class<?> other = own.loadClass(CallTimes.class.getName() + "$Other");

		other.getMethod("other", int.class).invoke(null, 1);
		for (Class<?> c : new Class<?>[] {Work.class, Graph.class, other}) {
			System.out.println("LOADER " + c.getName() + " " + c.getClassLoader().getClass().getName());
		}
	}

	private static void work(Books books, int count, long ms) throws Exception {
		Object lock = new Object(), own = new Object();
		Semaphore ask = new Semaphore(0), held = new Semaphore(0);
		Graph graph = new Graph(books);

		try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
			Socket to = new Socket(server.getInetAddress(), server.getLocalPort());
			Socket from = server.accept()) {
			InputStream in = from.getInputStream();
			Thread helper = helper(Thread.currentThread(), lock, ask, held, to, count, ms);
			helper.start();
			for (int i = 0; i < count; i++) {
				long longer = ms + i; // so that the least and the most are of one call each
				books.time("sleeps", longer * 1_000_000, m -> Work.sleeps(m, longer));
				books.time("parks", longer * 1_000_000, m -> Work.parks(m, longer));
				books.time("waits", longer * 1_000_000, m -> Work.waits(m, own, longer));
				ask.release();
				held.acquire();
				books.time("enters", ms * 1_000_000, m -> Work.enters(m, lock));
				ask.release();
				books.time("reads", ms * 1_000_000, m -> Work.reads(m, in));
				books.time("spins", 0, m -> Work.spins(m, longer));
				graph.top(i);
				graph.down(count);
			}
			helper.join();
		}
	}

	private static Thread worker(String name, Runnable run) throws ReflectiveOperationException {
		if (!virtual) {
			return new Thread(run, name);
		}
		Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
		Class<?> type = Class.forName("java.lang.Thread$Builder");
		type.getMethod("name", String.class).invoke(builder, name);
		return (Thread) type.getMethod("unstarted", Runnable.class).invoke(builder, run);
	}

	public static void main(String[] args) throws Exception {
		int count = Integer.parseInt(args[0]);
		long ms = Long.parseLong(args[1]);
		List<Thread> threads = new ArrayList<>();
		List<Books> all = new ArrayList<>();

		BEAN.getCurrentThreadCpuTime();
		virtual = args.length > 2;
		for (int t = 0; t < 2; t++) {
			Books books = new Books();
			int mine = count + t;
			all.add(books);
			threads.add(worker("worker-" + t, () -> {
				try {
					work(books, mine, ms);
				} catch (Exception e) {
					throw new IllegalStateException(e);
				}
			}));
			threads.get(t).start();
		}
		for (int t = 0; t < 2; t++) {
			threads.get(t).join();
			all.get(t).tell("worker-" + t);
		}
		loaders();
		System.out.println("END");
	}
}
