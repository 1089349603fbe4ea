// SPDX-License-Identifier: MIT

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;
import jis.Jis;
import jis.Span;

/**
 * Chains of waits of known length, each in spans of its own: thread asker wants what holder has, and holder
 * waits for writer, which sleeps before it writes.
 *
 * <p>Arguments: COUNT MILLISECONDS [virtual]. Output: lines "EXPECT span count=N span_ns=NS writer_ns=NS": how long the spans
 * lasted in all, and for how long of that writer had not written yet.
 */
public final class Why {
	/** What there is a fight for. */
	private static final class Stock {
	}

	/** How holder learns that writer is done. */
	private interface Link {
		void await() throws IOException, InterruptedException;

		void tell() throws IOException;
	}

	private final int count;
	private final int ms;
	private final boolean virtual;
	private volatile int turn;
	private volatile int held;
	private volatile int done;
	/** By turn, of System.nanoTime(). */
	private final long[] spanBegin;
	private final long[] spanEnd;
	private final long[] written;

	private Why(int count, int ms, boolean virtual) {
		this.count = count;
		this.ms = ms;
		this.virtual = virtual;
		spanBegin = new long[count + 1];
		spanEnd = new long[count + 1];
		written = new long[count + 1];
	}

	private static Link pipe() throws IOException {
		Pipe pipe = Pipe.open();
		return new Link() {
			@Override
			public void await() throws IOException {
				pipe.source().read(ByteBuffer.allocate(1));
			}

			@Override
			public void tell() throws IOException {
				pipe.sink().write(ByteBuffer.wrap(new byte[1]));
			}
		};
	}

	private static Link socket() throws IOException {
		ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
		Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
		Socket accepted = server.accept();
		InputStream in = accepted.getInputStream();
		OutputStream out = client.getOutputStream();
		return new Link() {
			@Override
			public void await() throws IOException {
				in.read();
			}

			@Override
			public void tell() throws IOException {
				out.write(1);
			}
		};
	}

	private static Link latch(CountDownLatch[] latches) {
		return new Link() {
			private int awaited;
			private int told;

			@Override
			public void await() throws InterruptedException {
				latches[awaited++].await();
			}

			@Override
			public void tell() {
				latches[told++].countDown();
			}
		};
	}

	private static CountDownLatch[] latches(int n) {
		CountDownLatch[] latches = new CountDownLatch[n];
		for (int i = 0; i < n; i++) {
			latches[i] = new CountDownLatch(1);
		}
		return latches;
	}

	private interface Lock {
		void with(Body body) throws IOException, InterruptedException;
	}

	private interface Body {
		void run() throws IOException, InterruptedException;
	}

	private static Lock monitor() {
		Stock stock = new Stock();
		return body -> {
			synchronized (stock) {
				body.run();
			}
		};
	}

	private static Lock lock() {
		ReentrantLock lock = new ReentrantLock();
		return body -> {
			lock.lock();
			try {
				body.run();
			} finally {
				lock.unlock();
			}
		};
	}

	/** Virtual threads by reflection: this is compiled for 17. */
	private Thread start(String name, Body body) {
		Runnable task = () -> {
			try {
				body.run();
			} catch (IOException | InterruptedException e) {
				throw new IllegalStateException(e);
			}
		};
		Thread thread;
		if (virtual) {
			try {
				Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
				Class<?> type = Class.forName("java.lang.Thread$Builder");
				builder = type.getMethod("name", String.class).invoke(builder, name);
				thread = (Thread) type.getMethod("unstarted", Runnable.class).invoke(builder, task);
			} catch (ReflectiveOperationException e) {
				throw new IllegalStateException(e);
			}
		} else {
			thread = new Thread(task, name);
		}
		thread.start();
		return thread;
	}

	private void holds(Lock lock, Link link) throws IOException, InterruptedException {
		for (int i = 1; i <= count; i++) {
			while (turn < i) {
				Thread.yield();
			}
			int now = i;
			lock.with(() -> {
				held = now;
				link.await();
			});
			done = now;
		}
	}

	private void writes(Link link) throws IOException, InterruptedException {
		for (int i = 1; i <= count; i++) {
			while (held < i) {
				Thread.yield();
			}
			Thread.sleep(ms);
			written[i] = System.nanoTime();
			link.tell();
			while (done < i) {
				Thread.yield();
			}
		}
	}

	private void chain(String name, Lock lock, Link link) throws InterruptedException {
		turn = held = done = 0;
		long spans = 0;
		long unwritten = 0;
		Thread holder = start("holder", () -> holds(lock, link));
		Thread writer = start("writer", () -> writes(link));
		Thread asker = start("asker", () -> {
			for (int i = 1; i <= count; i++) {
				turn = i;
				while (held < i) {
					Thread.yield();
				}
				spanBegin[i] = System.nanoTime();
				try (Span span = Jis.begin(name)) {
					lock.with(() -> { });
				}
				spanEnd[i] = System.nanoTime();
				while (done < i) {
					Thread.yield();
				}
			}
		});
		asker.join();
		holder.join();
		writer.join();
		for (int i = 1; i <= count; i++) {
			spans += spanEnd[i] - spanBegin[i];
			unwritten += Math.max(0, Math.min(written[i], spanEnd[i]) - spanBegin[i]);
		}
		System.out.println("EXPECT " + name + " count=" + count + " span_ns=" + spans + " writer_ns=" + unwritten);
	}

	public static void main(String[] args) throws Exception {
		Waits.ready();
		Why why = new Why(Integer.parseInt(args[0]), Integer.parseInt(args[1]), args.length > 2);
		/* The first span of all takes as long as loading its classes does. */
		try (Span span = Jis.begin("first")) {
			why.turn = 0;
		}
		why.chain("monitor-pipe", monitor(), pipe());
		why.chain("lock-latch", lock(), latch(latches(why.count)));
		why.chain("monitor-latch", monitor(), latch(latches(why.count)));
		why.chain("monitor-socket", monitor(), socket());
	}
}
