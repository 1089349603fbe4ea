// SPDX-License-Identifier: MIT

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.NetworkChannel;
import java.nio.channels.Pipe;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes waits that the kernel alone sees, each kind in a thread of its own, a known number of times: reads and writes of a
 * socket, reads of a pipe, accepts, connects, polls, and a file forced to the disk.
 *
 * <p>Arguments: COUNT MILLISECONDS FILE. Output: lines "KERNEL kind key=value...", java_tid the thread's, count how
 * often it waited, ns how long at least each time (0: as long as the disk takes), took how long it found all to last,
 * switches how often it gave up its CPU meanwhile, as the kernel counts it, asleep=LEAST,MOST for how long it was asleep
 * by the kernel's books, waker what ends its waits: the Java thread of that number, softirq, timer, or ? for who knows,
 * object a part of what was waited for.
 */
public final class WaitsKernel {
	private final int count;
	private final int ms;
	private volatile int waiting;
	private volatile Path task;
	private volatile long took;
	private volatile long switches;
	private volatile String asleep;

	private WaitsKernel(int count, int ms) {
		this.count = count;
		this.ms = ms;
	}

	/** A turn of the thread that waits, or of the one that ends its wait. */
	interface Part {
		void run(int turn) throws IOException;
	}

	private void subject(long ns, Part waits) {
		try {
			task = KernelBooks.task();
			KernelBooks.switches(task); // once before, so that its classes are there
			KernelBooks then = new KernelBooks();
			long before = KernelBooks.switches(task);
			long began = System.nanoTime();
			for (int i = 0; i < count; i++) {
				waits.run(i);
			}
			took = System.nanoTime() - began;
			switches = KernelBooks.switches(task) - before;
			KernelBooks now = new KernelBooks();
			asleep = now.leastAsleep(then) + "," + now.mostAsleep(then, ns);
		} catch (IOException e) {
			throw new IllegalStateException(e);
		}
	}

	/** One kind: a thread waits, main lets time pass before it ends the wait. */
	private void kind(String name, String object, String waker, long ns, Part waits, Part ends)
		throws InterruptedException, IOException {
		waiting = -1;
		Thread thread = new Thread(() -> subject(ns, i -> {
			waiting = i;
			waits.run(i);
		}), name);
		thread.start();
		for (int i = 0; i < count && ends != null; i++) {
			while (waiting < i || !KernelBooks.sleeps(task)) {
				KernelBooks.rest();
			}
			KernelBooks.rest(ns);
			ends.run(i);
		}
		thread.join();
		System.out.println("KERNEL " + name + " java_tid=" + Waits.id(thread) + " count=" + count + " ns=" + ns + " took=" + took
			+ " switches=" + switches + " asleep=" + asleep + " waker=" + waker + " object=" + object);
	}

	private static String main() {
		return Long.toString(Waits.id(Thread.currentThread()));
	}

	static ServerSocketChannel listen(int backlog) throws IOException {
		return ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), backlog);
	}

	static int port(NetworkChannel channel) throws IOException {
		return ((InetSocketAddress) channel.getLocalAddress()).getPort();
	}

	private void sockets() throws Exception {
		try (ServerSocketChannel server = listen(50);
			SocketChannel client = SocketChannel.open(server.getLocalAddress());
			SocketChannel served = server.accept()) {
			ByteBuffer one = ByteBuffer.allocateDirect(1);
			ByteBuffer other = ByteBuffer.allocateDirect(1);
			kind("socket-read", ":" + port(client), "softirq", ms * 1_000_000L, i -> served.read(one.clear()), i -> client.write(other.clear()));
			SocketChannel[] clients = new SocketChannel[count];
			kind("accept", "port" + port(server), "softirq", ms * 1_000_000L, i -> server.accept().close(),
				i -> clients[i] = SocketChannel.open(server.getLocalAddress()));
			for (SocketChannel c : clients) {
				c.close();
			}
		}
	}

	/** As much as no buffers take: it waits until main reads, and again and again as main does. */
	private void write() throws Exception {
		try (ServerSocketChannel server = listen(50);
			SocketChannel client = SocketChannel.open().setOption(StandardSocketOptions.SO_RCVBUF, 65536)) {
			client.connect(server.getLocalAddress());
			try (SocketChannel served = server.accept().setOption(StandardSocketOptions.SO_SNDBUF, 65536)) {
				ByteBuffer many = ByteBuffer.allocateDirect(1 << 20);
				ByteBuffer other = ByteBuffer.allocateDirect(1 << 20);
				kind("socket-write", ":" + port(client), "softirq", ms * 1_000_000L, i -> {
					many.clear();
					while (many.hasRemaining()) {
						served.write(many);
					}
				}, i -> {
					other.clear();
					while (other.hasRemaining()) {
						client.read(other);
					}
				});
			}
		}
	}

	/** Connects to a server that has as many clients waiting as it lets: each accept lets in one more. */
	private void connect(String name, String object, String waker, ServerSocketChannel server, SocketAddress address) throws Exception {
		List<SocketChannel> all = new ArrayList<>();

		for (int i = 0; i < 2; i++) { // a backlog of one has room for two
			all.add(SocketChannel.open(address));
		}
		kind(name, object, waker, ms * 1_000_000L, i -> all.add(SocketChannel.open(address)), i -> server.accept().close());
		for (SocketChannel c : all) {
			c.close();
		}
	}

	private void connects() throws Exception {
		Path path = Files.createTempDirectory("jis").resolve("socket");
		UnixDomainSocketAddress unix = UnixDomainSocketAddress.of(path);

		try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(unix, 1)) {
			connect("connect-unix", "", main(), server, unix);
		} finally {
			Files.deleteIfExists(path);
			Files.deleteIfExists(path.getParent());
		}
		// Once: the kernel tries again after a second.
		try (ServerSocketChannel server = listen(1)) {
			new WaitsKernel(1, ms).connect("connect", ":" + port(server), "softirq", server, server.getLocalAddress());
		}
	}

	private void pipe() throws Exception {
		Pipe pipe = Pipe.open();
		ByteBuffer one = ByteBuffer.allocateDirect(1);
		ByteBuffer other = ByteBuffer.allocateDirect(1);
		kind("pipe", "pipe", main(), ms * 1_000_000L, i -> pipe.source().read(one.clear()), i -> pipe.sink().write(other.clear()));
		pipe.source().close();
		pipe.sink().close();
	}

	private void poll() throws Exception {
		try (Selector selector = Selector.open()) {
			kind("poll", "", "timer", ms * 1_000_000L, i -> selector.select(ms), null);
		}
	}

	private void disk(Path path) throws Exception {
		try (FileChannel file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
			ByteBuffer bytes = ByteBuffer.allocateDirect(1 << 23); // for more than the 2 ms a wait's time may be wrong by
			// Once before, so that its classes are there: to read one is a wait for another file.
			file.write(bytes.clear().limit(1), 0);
			file.force(true);
			kind("fsync", path.toString(), "?", 0, i -> {
				file.write(bytes.clear(), (long) i << 23);
				file.force(true);
			}, null);
		} finally {
			Files.deleteIfExists(path);
		}
	}

	public static void main(String[] args) throws Exception {
		Waits.ready();
		WaitsKernel waits = new WaitsKernel(Integer.parseInt(args[0]), Integer.parseInt(args[1]));
		waits.sockets();
		waits.write();
		waits.connects();
		waits.pipe();
		waits.poll();
		waits.disk(Path.of(args[2]));
		System.out.println("END");
	}
}
