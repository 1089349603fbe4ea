// SPDX-License-Identifier: MIT

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import jis.Jis;
import jis.Span;

/**
 * The JDK's HTTP server with a virtual thread for each request, and clients of platform threads, in one JVM; needs JDK 21 and is
 * compiled for 17. Every handler needs the one thing there is, and sleeps while it has it.
 *
 * <p>Arguments: lock|monitor CLIENTS REQUESTS MILLISECONDS: guarded by a ReentrantLock, or by a monitor. Output: "EXPECT MODE
 * requests=N waits=N wait_ns=NS slept_ns=NS": how many handlers had to wait for the thing, how long in all, and how
 * long all of them slept having it.
 */
public final class VirtualHandlers {
	/** The thing. */
	private static final class Ledger {
	}

	private final Ledger ledger = new Ledger();
	private final ReentrantLock lock = new ReentrantLock();
	private final boolean monitor;
	private final int ms;
	private final AtomicLong requests = new AtomicLong();
	private final AtomicLong waits = new AtomicLong();
	private final AtomicLong waitNs = new AtomicLong();
	private final AtomicLong sleptNs = new AtomicLong();

	private VirtualHandlers(boolean monitor, int ms) {
		this.monitor = monitor;
		this.ms = ms;
	}

	/** With the thing in hand; it was asked for at @begin. */
	private void use(long begin) {
		long got = System.nanoTime();
		if (got - begin > ms * 250_000L) {
			waits.incrementAndGet();
			waitNs.addAndGet(got - begin);
		}
		try {
			Thread.sleep(ms);
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
		sleptNs.addAndGet(System.nanoTime() - got);
	}

	private void enter() {
		long begin = System.nanoTime();
		if (monitor) {
			synchronized (ledger) {
				use(begin);
			}
			return;
		}
		lock.lock();
		try {
			use(begin);
		} finally {
			lock.unlock();
		}
	}

	private void handle(HttpExchange exchange) throws IOException {
		byte[] answer = "done\n".getBytes(StandardCharsets.US_ASCII);
		if (exchange.getRequestURI().getPath().equals("/book")) {
			try (Span span = Jis.begin("book")) {
				enter();
			}
			requests.incrementAndGet();
		}
		exchange.sendResponseHeaders(200, answer.length);
		try (OutputStream out = exchange.getResponseBody()) {
			out.write(answer);
		}
	}

	private static void get(Socket socket, BufferedReader in, String path) throws IOException {
		socket.getOutputStream().write(
				("GET " + path + " HTTP/1.1\r\nHost: here\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
		String line = in.readLine();
		if (line == null || !line.contains(" 200 ")) {
			throw new IOException("no answer: " + line);
		}
		while (!in.readLine().equals("done")) {
		}
	}

	private static void ask(int port, int requests, CyclicBarrier start) {
		try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
				BufferedReader in = new BufferedReader(
						new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))) {
			get(socket, in, "/");
			start.await();
			for (int i = 0; i < requests; i++) {
				get(socket, in, "/book");
			}
		} catch (Exception e) {
			e.printStackTrace();
			System.exit(1);
		}
	}

	public static void main(String[] args) throws Exception {
		VirtualHandlers handlers = new VirtualHandlers(args[0].equals("monitor"), Integer.parseInt(args[3]));
		int clients = Integer.parseInt(args[1]);
		ExecutorService executor = (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
		HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
		server.createContext("/", handlers::handle);
		server.setExecutor(executor);
		server.start();
		Thread[] threads = new Thread[clients];
		CyclicBarrier start = new CyclicBarrier(clients);
		for (int i = 0; i < clients; i++) {
			threads[i] = new Thread(() -> ask(server.getAddress().getPort(), Integer.parseInt(args[2]), start), "client " + i);
			threads[i].start();
		}
		for (Thread t : threads) {
			t.join();
		}
		server.stop(0);
		executor.shutdown();
		System.out.println("EXPECT " + args[0] + " requests=" + handlers.requests + " waits=" + handlers.waits + " wait_ns="
				+ handlers.waitNs + " slept_ns=" + handlers.sleptNs);
	}
}
