// SPDX-License-Identifier: MIT
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/**
 * A server whose every connection has a virtual thread, and a client of platform threads, in one JVM; needs JDK 21 and
 * is compiled for 17. Each of CONNECTIONS connections makes REQUESTS requests of 100 bytes, answered by 200, with a pause
 * in between, so that the server's thread has to wait for each.
 */
public final class VirtualServer {
	private static Thread virtual(String name, Runnable body) throws ReflectiveOperationException {
		Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
		Class<?> type = Class.forName("java.lang.Thread$Builder");
		builder = type.getMethod("name", String.class).invoke(builder, name);
		return (Thread) type.getMethod("start", Runnable.class).invoke(builder, body);
	}

	private static void serve(Socket socket) {
		byte[] request = new byte[100];
		byte[] answer = new byte[200];
		try (socket; InputStream in = socket.getInputStream(); OutputStream out = socket.getOutputStream()) {
			while (in.readNBytes(request, 0, request.length) == request.length)
				out.write(answer);
		} catch (java.io.IOException e) {
			throw new AssertionError(e);
		}
	}

	private static void use(int port, int requests) {
		byte[] request = new byte[100];
		byte[] answer = new byte[200];
		try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
			for (int i = 0; i < requests; i++) {
				Thread.sleep(20);
				socket.getOutputStream().write(request);
				if (socket.getInputStream().readNBytes(answer, 0, answer.length) != answer.length)
					throw new AssertionError();
			}
		} catch (Exception e) {
			throw new AssertionError(e);
		}
	}

	public static void main(String[] args) throws Exception {
		Waits.ready();
		int connections = Integer.parseInt(args[0]);
		int requests = Integer.parseInt(args[1]);
		ServerSocket listener = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
		Thread[] handlers = new Thread[connections];
		Thread acceptor = virtual("acceptor", () -> {
			try {
				for (int i = 0; i < connections; i++) {
					Socket socket = listener.accept();
					handlers[i] = virtual("handler " + i, () -> serve(socket));
				}
			} catch (Exception e) {
				throw new AssertionError(e);
			}
		});
		Thread[] clients = new Thread[connections];
		for (int i = 0; i < connections; i++) {
			clients[i] = new Thread(() -> use(listener.getLocalPort(), requests), "client " + i);
			clients[i].start();
		}
		for (Thread client : clients)
			client.join();
		acceptor.join();
		for (Thread handler : handlers)
			handler.join();
		System.out.println("connections " + connections + " requests " + requests);
	}
}
