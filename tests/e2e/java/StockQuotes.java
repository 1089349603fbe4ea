// SPDX-License-Identifier: MIT

import java.net.ServerSocket;
import java.rmi.Remote;
import java.rmi.RemoteException;
import java.rmi.registry.LocateRegistry;
import java.rmi.registry.Registry;
import java.rmi.server.UnicastRemoteObject;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A server of stock quotes, which calls its clients back for each quote; a client orders at every tenth, from within that call.
 *
 * <p>Arguments: server CLIENTS QUOTES: says "PORT N", and in the end "QUOTES N ORDERS N". client PORT QUOTES: in the end "GOT N
 * ORDERED N".
 */
public final class StockQuotes {
	private static final int ORDER_EVERY = 10;

	private StockQuotes() {
	}

	/** What a client offers. */
	public interface Listener extends Remote {
		/** There is a new price. */
		void quote(int number, long price) throws RemoteException;
	}

	/** What the server offers. */
	public interface Stocks extends Remote {
		/** Quotes go to that client, too, when all have come. */
		void register(Listener listener) throws RemoteException;

		/** How many orders there were. */
		int order(int number) throws RemoteException;
	}

	private static final class Server extends UnicastRemoteObject implements Stocks {
		private static final long serialVersionUID = 1;
		private final transient List<Listener> listeners = new ArrayList<>();
		private final transient AtomicInteger orders = new AtomicInteger();
		private final transient CountDownLatch missing;

		Server(int clients) throws RemoteException {
			missing = new CountDownLatch(clients);
		}

		@Override
		public synchronized void register(Listener listener) {
			listeners.add(listener);
			missing.countDown();
		}

		@Override
		public int order(int number) {
			return orders.incrementAndGet();
		}
	}

	private static final class Client extends UnicastRemoteObject implements Listener {
		private static final long serialVersionUID = 1;
		private final transient Stocks stocks;
		private final transient CountDownLatch missing;
		private transient int ordered;

		Client(Stocks stocks, int quotes) throws RemoteException {
			this.stocks = stocks;
			missing = new CountDownLatch(quotes);
		}

		@Override
		public synchronized void quote(int number, long price) throws RemoteException {
			if (number % ORDER_EVERY == 0) {
				stocks.order(number);
				ordered++;
			}
			missing.countDown();
		}
	}

	private static void serve(int clients, int quotes) throws Exception {
		int port;
		try (ServerSocket socket = new ServerSocket(0)) {
			port = socket.getLocalPort();
		}
		Registry registry = LocateRegistry.createRegistry(port);
		Server server = new Server(clients);
		registry.rebind("stocks", server);
		System.out.println("PORT " + port);
		server.missing.await();
		List<Thread> threads = new ArrayList<>();
		for (Listener listener : server.listeners) {
			Thread t = new Thread(() -> {
				try {
					for (int i = 0; i < quotes; i++)
						listener.quote(i, i * 17L % 1000);
				} catch (RemoteException e) {
					e.printStackTrace();
				}
			}, "quotes");
			threads.add(t);
			t.start();
		}
		for (Thread t : threads)
			t.join();
		System.out.println("QUOTES " + clients * quotes + " ORDERS " + server.orders.get());
	}

	private static void listen(int port, int quotes) throws Exception {
		Stocks stocks = (Stocks) LocateRegistry.getRegistry("127.0.0.1", port).lookup("stocks");
		Client client = new Client(stocks, quotes);
		stocks.register(client);
		client.missing.await();
		Thread.sleep(200); // the last call's answer goes out
		System.out.println("GOT " + quotes + " ORDERED " + client.ordered);
	}

	public static void main(String[] args) throws Exception {
		if (args[0].equals("server"))
			serve(Integer.parseInt(args[1]), Integer.parseInt(args[2]));
		else
			listen(Integer.parseInt(args[1]), Integer.parseInt(args[2]));
		System.exit(0);
	}
}
