// SPDX-License-Identifier: MIT

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that wait, each in its own way, again and again; their names say how. Ends when all have waited
 * as often as the argument says.
 */
public final class VmStates {
	private static final Object lock = new Object();
	private static final Object monitor = new Object();

	private interface Step {
		void run() throws Exception;
	}

	private static Thread start(String name, int times, Step step) {
		Thread t = new Thread(() -> {
			try {
				for (int i = 0; i < times; i++)
					step.run();
			} catch (Exception e) {
				e.printStackTrace();
				System.exit(1);
			}
		}, name);
		t.start();
		return t;
	}

	public static void main(String[] args) throws Exception {
		int times = Integer.parseInt(args[0]);
		ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
		Socket out = new Socket(server.getInetAddress(), server.getLocalPort());
		Socket in = server.accept();
		Thread[] threads = {
			start("st-park", times, () -> LockSupport.parkNanos(3_000_000)),
			start("st-sleep", times, () -> Thread.sleep(3)),
			start("st-wait", times, () -> {
				synchronized (lock) {
					lock.wait(3);
				}
			}),
			start("st-native", times, () -> {
				if (in.getInputStream().read() < 0)
					throw new IllegalStateException("end of file");
			}),
			start("st-holder", times, () -> {
				synchronized (monitor) {
					Thread.sleep(3);
				}
				Thread.sleep(1);
			}),
			start("st-monitor", times, () -> {
				synchronized (monitor) {
				}
				Thread.sleep(1);
			}),
		};
		for (int i = 0; i < times; i++) {
			Thread.sleep(3);
			out.getOutputStream().write(i);
		}
		for (Thread t : threads)
			t.join();
		System.out.println("done");
	}
}
