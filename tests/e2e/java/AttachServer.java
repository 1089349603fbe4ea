// SPDX-License-Identifier: MIT

import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URL;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import jis.Jis;
import jis.Span;

/**
 * A server under the load of its own clients, which does all that hooks are on: names of threads, monitors, locks,
 * sleeps, joins, spans. It counts requests, and those that failed for whatever reason.
 * Commands on standard input: "counts" (requests, failures), "digest" (of the code of classes of the JDK, as the JVM has
 * it; needs the argument -Dwitness=LIBRARY), "gc", "mark NUMBER", "threads".
 */
public final class AttachServer {
	static final AtomicLong requests = new AtomicLong(), failures = new AtomicLong();
	static final Object monitor = new Object();
	static final ReentrantLock lock = new ReentrantLock();
	static volatile boolean ending;

	static native long digest(Class<?> c);

	/** Classes of each family of hooks, and some that nobody has a hook on. */
	static final String[] CLASSES = {
		"java.lang.Thread", "java.lang.Object", "java.util.concurrent.locks.LockSupport",
		"java.util.concurrent.ThreadPoolExecutor", "java.util.concurrent.ForkJoinPool",
		"java.util.concurrent.FutureTask", "java.util.concurrent.locks.ReentrantLock",
		"java.util.concurrent.LinkedBlockingQueue", "java.util.concurrent.SynchronousQueue",
		"java.util.concurrent.locks.AbstractQueuedSynchronizer", "java.lang.String",
		"java.util.concurrent.TimeUnit", "java.util.concurrent.ArrayBlockingQueue",
		"java.util.concurrent.LinkedTransferQueue", "java.util.concurrent.CompletableFuture",
	};

	static final class Named implements ThreadFactory {
		int n;

		@Override
		public synchronized Thread newThread(Runnable r) {
			Thread t = new Thread(r, "worker-" + n++);
			t.setDaemon(true);
			return t;
		}
	}

	static void work(long n) throws Exception {
		Thread self = Thread.currentThread();
		String name = self.getName();
		self.setName("request-" + n % 100);
		try (Span span = Jis.begin("request")) {
			synchronized (monitor) {
				if (n % 16 == 0)
					monitor.wait(1);
				else
					monitor.notifyAll();
			}
			lock.lock();
			try {
				if (n % 32 == 0)
					Thread.sleep(1);
			} finally {
				lock.unlock();
			}
			LockSupport.parkNanos(1000);
			if (n % 64 == 0) {
				Thread t = new Thread(() -> Jis.event(3, n), "child-" + n);
				t.start();
				t.join();
			}
		} finally {
			self.setName(name);
		}
	}

	static void client(int port) {
		while (!ending) {
			long n = requests.incrementAndGet();
			try {
				HttpURLConnection c = (HttpURLConnection) new URL("http://127.0.0.1:" + port + "/?" + n).openConnection();
				c.setReadTimeout(60000);
				byte[] body = c.getInputStream().readAllBytes();
				if (c.getResponseCode() != 200 || body.length != 100)
					throw new Exception("status " + c.getResponseCode() + ", length " + body.length);
			} catch (Throwable e) {
				if (failures.incrementAndGet() < 10)
					e.printStackTrace();
			}
		}
	}

	static void digests() {
		StringBuilder line = new StringBuilder("digest");
		for (String name : CLASSES) {
			try {
				line.append(' ').append(name).append('=')
					.append(Long.toHexString(digest(Class.forName(name))));
			} catch (ClassNotFoundException e) {
				line.append(' ').append(name).append("=none");
			}
		}
		System.out.println(line);
	}

	public static void main(String[] args) throws Exception {
		String witness = System.getProperty("witness");
		if (witness != null)
			System.load(witness);
		HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0), 0);
		ExecutorService pool = Executors.newFixedThreadPool(4, new Named());
		server.setExecutor(pool);
		server.createContext("/", exchange -> {
			byte[] body = new byte[100];
			try {
				work(Long.parseLong(exchange.getRequestURI().getQuery()));
			} catch (Exception e) {
				body = new byte[0];
				e.printStackTrace();
			}
			exchange.sendResponseHeaders(200, body.length);
			exchange.getResponseBody().write(body);
			exchange.close();
		});
		server.start();
		Thread[] clients = new Thread[3];
		for (int i = 0; i < clients.length; i++) {
			clients[i] = new Thread(() -> client(server.getAddress().getPort()), "client-" + i);
			clients[i].start();
		}
		System.out.println("READY");
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		for (String line = in.readLine(); line != null; line = in.readLine()) {
			String[] words = line.split(" ");
			switch (words[0]) {
			case "counts" -> System.out.println("counts " + requests + " " + failures);
			case "digest" -> digests();
			case "gc" -> System.gc();
			case "mark" -> Jis.event(7, Long.parseLong(words[1]));
			case "threads" -> System.out.println("threads " + Thread.getAllStackTraces().size());
			default -> System.out.println("what?");
			}
			System.out.println("done " + line);
		}
		ending = true;
		for (Thread c : clients)
			c.join();
		server.stop(0);
		System.out.println("END " + requests + " " + failures);
		System.exit(0);
	}
}
