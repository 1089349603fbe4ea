// SPDX-License-Identifier: MIT

import java.io.IOException;
import java.net.InetAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/**
 * Virtual threads wait for sockets and a pipe, each kind in a thread of its own, a known number of times; needs JDK 21 and is
 * compiled for 17.
 *
 * <p>Arguments: COUNT MILLISECONDS. Output: lines "SOCKET kind key=value...", java_tid the thread's, count how often it
 * waited, ns how long at least each time, took how long it found all to last, object a part of what was waited for.
 */
public final class WaitsSockets {
	private final int count;
	private final int ms;
	private volatile int waiting;
	private volatile long took;

	private WaitsSockets(int count, int ms) {
		this.count = count;
		this.ms = ms;
	}

	private void subject(WaitsKernel.Part waits) {
		try {
			for (int i = 0; i < count; i++) {
				waiting = i;
				long began = System.nanoTime();
				waits.run(i);
				took += System.nanoTime() - began;
			}
		} catch (IOException e) {
			throw new IllegalStateException(e);
		}
	}

	/** One kind: a virtual thread waits, main lets time pass before it ends the wait. */
	private void kind(String name, String object, WaitsKernel.Part waits, WaitsKernel.Part ends) throws Exception {
		waiting = -1;
		took = 0;
		Thread thread = WaitsVirtual.start(name, () -> subject(waits));
		for (int i = 0; i < count; i++) {
			while (waiting < i || thread.getState() != Thread.State.WAITING) {
				Thread.sleep(1);
			}
			Thread.sleep(ms);
			ends.run(i);
		}
		thread.join();
		System.out.println("SOCKET " + name + " java_tid=" + Waits.id(thread) + " count=" + count + " ns=" + ms * 1_000_000L
			+ " took=" + took + " object=" + object);
	}

	private void sockets() throws Exception {
		try (ServerSocketChannel server = WaitsKernel.listen(50);
			SocketChannel client = SocketChannel.open(server.getLocalAddress());
			SocketChannel served = server.accept()) {
			ByteBuffer one = ByteBuffer.allocateDirect(1);
			ByteBuffer other = ByteBuffer.allocateDirect(1);
			SocketChannel[] clients = new SocketChannel[count];
			kind("read", ":" + WaitsKernel.port(client), i -> served.read(one.clear()), i -> client.write(other.clear()));
			kind("accept", "port" + WaitsKernel.port(server), i -> server.accept().close(),
				i -> clients[i] = SocketChannel.open(server.getLocalAddress()));
			for (SocketChannel c : clients) {
				c.close();
			}
		}
	}

	/** The same through java.net, whose sockets have a way of their own to wait. */
	private void streams() throws Exception {
		try (java.net.ServerSocket server = new java.net.ServerSocket(0, 50, InetAddress.getLoopbackAddress());
			java.net.Socket client = new java.net.Socket(server.getInetAddress(), server.getLocalPort());
			java.net.Socket served = server.accept()) {
			kind("stream-read", ":" + client.getLocalPort(), i -> served.getInputStream().read(), i -> client.getOutputStream().write(1));
		}
	}

	/** As much as no buffers take: it waits until main reads, and again and again as main does. */
	private void write() throws Exception {
		try (ServerSocketChannel server = WaitsKernel.listen(50);
			SocketChannel client = SocketChannel.open().setOption(StandardSocketOptions.SO_RCVBUF, 65536)) {
			client.connect(server.getLocalAddress());
			try (SocketChannel served = server.accept().setOption(StandardSocketOptions.SO_SNDBUF, 65536)) {
				ByteBuffer many = ByteBuffer.allocateDirect(1 << 20);
				ByteBuffer other = ByteBuffer.allocateDirect(1 << 20);
				kind("write", ":" + WaitsKernel.port(client), i -> {
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

	/** Once, as the kernel tries again after a second: the server has as many clients waiting as it lets. */
	private void connect() throws Exception {
		List<SocketChannel> all = new ArrayList<>();
		try (ServerSocketChannel server = WaitsKernel.listen(1)) {
			for (int i = 0; i < 2; i++) { // a backlog of one has room for two
				all.add(SocketChannel.open(server.getLocalAddress()));
			}
			kind("connect", ":" + WaitsKernel.port(server), i -> all.add(SocketChannel.open(server.getLocalAddress())), i -> server.accept().close());
		}
		for (SocketChannel c : all) {
			c.close();
		}
	}

	private void pipe() throws Exception {
		Pipe pipe = Pipe.open();
		ByteBuffer one = ByteBuffer.allocateDirect(1);
		ByteBuffer other = ByteBuffer.allocateDirect(1);
		kind("pipe", "pipe", i -> pipe.source().read(one.clear()), i -> pipe.sink().write(other.clear()));
		pipe.source().close();
		pipe.sink().close();
	}

	public static void main(String[] args) throws Exception {
		Waits.ready();
		WaitsSockets waits = new WaitsSockets(Integer.parseInt(args[0]), Integer.parseInt(args[1]));
		waits.sockets();
		waits.streams();
		waits.write();
		new WaitsSockets(1, Integer.parseInt(args[1])).connect();
		waits.pipe();
		System.out.println("END");
	}
}
