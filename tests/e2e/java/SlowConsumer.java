// SPDX-License-Identifier: MIT

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Scanner;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import jis.Jis;
import jis.Span;

/**
 * Producers that a message broker has to keep waiting, because the one consumer is slow: STOMP over plain sockets. The broker is
 * a process of its own, started here.
 *
 * <p>Arguments: PORT PRODUCERS MESSAGES BYTES MILLISECONDS BROKER-COMMAND...: each producer sends so many messages of so many
 * bytes, and asks for a receipt at its end; the consumer thinks that long over each. Output: "EXPECT messages consumed=N
 * thought_ns=NS wait_ns=NS": how many came, how long the consumer thought about them, and for how long the producers
 * had to wait for it, which is all of the time from their first byte to their receipt. Before that each has sent a message over
 * which nobody thinks, so that all of the broker has been used once.
 */
public final class SlowConsumer {
	private static final class Connection implements AutoCloseable {
		private final Socket socket;
		private final InputStream in;
		private final OutputStream out;

		Connection(int port) throws IOException {
			socket = new Socket(InetAddress.getLoopbackAddress(), port);
			socket.setTcpNoDelay(true);
			in = new BufferedInputStream(socket.getInputStream());
			out = socket.getOutputStream();
			send("CONNECT\naccept-version:1.1\nhost:shop\nheart-beat:0,0\n\n", new byte[0]);
			expect("CONNECTED");
		}

		void send(String head, byte[] body) throws IOException {
			byte[] frame = Arrays.copyOf(head.getBytes(StandardCharsets.UTF_8), head.length() + body.length + 1);
			System.arraycopy(body, 0, frame, head.length(), body.length);
			out.write(frame);
		}

		/** The next frame's head; its body, which has no NUL, is read past. */
		String receive() throws IOException {
			StringBuilder frame = new StringBuilder();
			int c;
			while ((c = in.read()) != 0) {
				if (c < 0) {
					throw new IOException("the broker has closed the connection: " + frame);
				}
				if (frame.length() > 0 || c != '\n') {
					frame.append((char) c);
				}
			}
			return frame.substring(0, Math.max(frame.indexOf("\n\n"), 0) + 1);
		}

		String expect(String command) throws IOException {
			String head = receive();
			if (!head.startsWith(command + "\n")) {
				throw new IOException("no " + command + ": " + head);
			}
			return head;
		}

		@Override
		public void close() throws IOException {
			socket.close();
		}
	}

	private final int port;
	private final int messages;
	private final byte[] body;
	private final int ms;
	private final CyclicBarrier start;
	private final AtomicLong waited = new AtomicLong();
	private final AtomicLong thought = new AtomicLong();
	private final AtomicInteger consumed = new AtomicInteger();

	private SlowConsumer(int port, int producers, int messages, int bytes, int ms) {
		this.port = port;
		this.start = new CyclicBarrier(producers);
		this.messages = messages;
		this.body = new byte[bytes];
		this.ms = ms;
		Arrays.fill(body, (byte) 'x');
	}

	private void produce() {
		try (Connection c = new Connection(port)) {
			c.send("SEND\ndestination:/queue/orders\nreceipt:first\n\n", body);
			c.expect("RECEIPT");
			start.await();
			long begin = System.nanoTime();
			try (Span span = Jis.begin("order")) {
				for (int i = 0; i < messages; i++) {
					c.send("SEND\ndestination:/queue/orders\n\n", body);
				}
				c.send("DISCONNECT\nreceipt:end\n\n", new byte[0]);
				c.expect("RECEIPT");
			}
			waited.addAndGet(System.nanoTime() - begin);
		} catch (IOException | InterruptedException | BrokenBarrierException e) {
			e.printStackTrace();
			System.exit(1);
		}
	}

	private void consume(Connection c, int all) throws IOException, InterruptedException {
		while (consumed.get() < all) {
			String head = c.expect("MESSAGE");
			String id = head.lines().filter(l -> l.startsWith("message-id:")).findFirst().get().substring(11);
			if (consumed.get() >= start.getParties()) {
				long begin = System.nanoTime();
				Thread.sleep(ms);
				thought.addAndGet(System.nanoTime() - begin);
			}
			c.send("ACK\nsubscription:1\nmessage-id:" + id + "\n\n", new byte[0]);
			consumed.incrementAndGet();
		}
		c.send("DISCONNECT\nreceipt:end\n\n", new byte[0]);
		c.expect("RECEIPT");
	}

	private void run(int producers) throws Exception {
		Thread[] threads = new Thread[producers];
		try (Connection c = new Connection(port)) {
			c.send("SUBSCRIBE\nid:1\nack:client-individual\nactivemq.prefetchSize:1\ndestination:/queue/orders\n\n",
					new byte[0]);
			Thread consumer = new Thread(() -> {
				try {
					consume(c, producers * (messages + 1));
				} catch (IOException | InterruptedException e) {
					e.printStackTrace();
					System.exit(1);
				}
			}, "slow consumer");
			consumer.start();
			for (int i = 0; i < producers; i++) {
				threads[i] = new Thread(this::produce, "producer " + i);
				threads[i].start();
			}
			for (Thread t : threads) {
				t.join();
			}
			consumer.join();
		}
		System.out.println("EXPECT messages consumed=" + consumed + " thought_ns=" + thought + " wait_ns=" + waited);
	}

	public static void main(String[] args) throws Exception {
		int producers = Integer.parseInt(args[1]);
		SlowConsumer c = new SlowConsumer(Integer.parseInt(args[0]), producers, Integer.parseInt(args[2]),
				Integer.parseInt(args[3]), Integer.parseInt(args[4]));
		Process broker = new ProcessBuilder(Arrays.asList(args).subList(5, args.length))
				.redirectError(ProcessBuilder.Redirect.INHERIT).start();
		Runtime.getRuntime().addShutdownHook(new Thread(broker::destroyForcibly));
		Scanner said = new Scanner(broker.getInputStream(), StandardCharsets.UTF_8);
		while (!said.nextLine().equals("READY")) {
		}
		c.run(producers);
		broker.destroy();
		broker.waitFor();
	}
}
