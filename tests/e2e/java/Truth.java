// SPDX-License-Identifier: MIT

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Exchanger;
import jis.Jis;

/**
 * Threads that compute, sleep, fight for a monitor, hand over to each other and do I/O. Each says, just
 * before it ends, what the kernel's own books say of it: run and wait time of schedstat, voluntary and
 * involuntary switches. Markers 9001 and 9002 stand around the reading, so that a trace can be held
 * against exactly that moment. Usage: Truth [SCALE]: 1.0 takes about two seconds.
 */
public final class Truth {
	private static final List<String> reports = new ArrayList<>();
	private static final Object monitor = new Object();
	private static long shared;
	private static double scale = 1.0;
	private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

	private interface Body {
		void run() throws Exception;
	}

	public static void main(String[] args) throws Exception {
		if (args.length > 0)
			scale = Double.parseDouble(args[0]);
		THREADS.getCurrentThreadCpuTime();
		Exchanger<Integer> exchanger = new Exchanger<>();
		List<Thread> threads = new ArrayList<>();
		threads.add(start("busy 0", () -> spin(1000)));
		threads.add(start("busy 1", () -> spin(1000)));
		threads.add(start("busy 2", () -> spin(700)));
		threads.add(start("sleeper", Truth::sleep));
		threads.add(start("monitor a", Truth::fight));
		threads.add(start("monitor b", Truth::fight));
		threads.add(start("monitor c", Truth::fight));
		threads.add(start("hand-over ping", () -> handOver(exchanger)));
		threads.add(start("hand-over pong", () -> handOver(exchanger)));
		threads.add(start("file", Truth::writeFiles));
		threads.add(start("socket", Truth::talk));
		for (Thread thread : threads)
			thread.join();
		for (String report : reports)
			System.out.println(report);
		System.out.println("END " + threads.size());
	}

	private static Thread start(String name, Body body) {
		Thread thread = new Thread(() -> {
			try {
				body.run();
				report();
			} catch (Exception e) {
				e.printStackTrace();
				System.exit(1);
			}
		}, name);
		thread.start();
		return thread;
	}

	private static void report() throws IOException {
		Path self = Path.of("/proc/thread-self").toRealPath();
		int tid = Integer.parseInt(self.getFileName().toString());
		Jis.event(9001, tid);
		// Asking for the CPU time brings the kernel's books up to date, which otherwise lag by a tick.
		long cpu = THREADS.getCurrentThreadCpuTime();
		String[] sched = Files.readString(self.resolve("schedstat")).trim().split(" ");
		long voluntary = 0;
		long involuntary = 0;
		for (String line : Files.readAllLines(self.resolve("status"))) {
			if (line.startsWith("voluntary_ctxt_switches:"))
				voluntary = number(line);
			if (line.startsWith("nonvoluntary_ctxt_switches:"))
				involuntary = number(line);
		}
		Jis.event(9002, tid);
		String name = Thread.currentThread().getName();
		synchronized (reports) {
			reports.add(String.format("THREAD tid=%d run=%s wait=%s cpu=%d voluntary=%d involuntary=%d name=%s", tid,
				sched[0], sched[1], cpu, voluntary, involuntary, name));
		}
	}

	private static long number(String line) {
		return Long.parseLong(line.substring(line.indexOf(':') + 1).trim());
	}

	private static double spin(long milliseconds) {
		long end = System.nanoTime() + (long) (milliseconds * 1_000_000 * scale);
		double x = 1;
		while (System.nanoTime() < end)
			for (int i = 0; i < 1000; i++)
				x = x * 1.0000001 + 1e-9;
		return x;
	}

	private static void sleep() throws InterruptedException {
		for (int i = 0; i < 200 * scale; i++)
			Thread.sleep(3);
	}

	private static void fight() {
		for (int i = 0; i < 300 * scale; i++) {
			synchronized (monitor) {
				shared++;
				spinShort();
			}
			spinShort();
		}
	}

	private static void spinShort() {
		long end = System.nanoTime() + 200_000;
		while (System.nanoTime() < end)
			Thread.onSpinWait();
	}

	private static void handOver(Exchanger<Integer> exchanger) throws InterruptedException {
		int value = 0;
		for (int i = 0; i < 3000 * scale; i++)
			value = exchanger.exchange(value + 1);
	}

	private static void writeFiles() throws IOException {
		Path file = Files.createTempFile("jis-truth", ".dat");
		byte[] block = new byte[65536];
		try (FileOutputStream out = new FileOutputStream(file.toFile())) {
			for (int i = 0; i < 100 * scale; i++) {
				out.write(block);
				if (i % 10 == 9)
					out.getFD().sync();
			}
		}
		Files.delete(file);
	}

	private static void talk() throws Exception {
		try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			Thread echo = new Thread(() -> echo(server), "echo");
			echo.start();
			try (Socket socket = new Socket(server.getInetAddress(), server.getLocalPort())) {
				InputStream in = socket.getInputStream();
				OutputStream out = socket.getOutputStream();
				for (int i = 0; i < 8000 * scale; i++) {
					out.write(i & 0x7f);
					if (in.read() != (i & 0x7f))
						throw new IOException("echo differs");
				}
			}
			echo.join();
		}
	}

	private static void echo(ServerSocket server) {
		try (Socket socket = server.accept()) {
			InputStream in = socket.getInputStream();
			OutputStream out = socket.getOutputStream();
			for (int c = in.read(); c >= 0; c = in.read())
				out.write(c);
			report();
		} catch (IOException e) {
			throw new IllegalStateException(e);
		}
	}
}
