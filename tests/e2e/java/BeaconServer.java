// SPDX-License-Identifier: MIT

import java.rmi.Naming;
import java.rmi.RemoteException;
import java.rmi.registry.LocateRegistry;
import java.rmi.server.UnicastRemoteObject;

/**
 * A server that forwards a call to the next one, after JaViz's example.
 *
 * <p>Arguments: registry: makes a registry and says "PORT N". PORT NAME NEXT: binds NAME, and forwards calls to NEXT, or to none
 * where that is "end"; says "BOUND". Goes on until its input ends.
 */
public final class BeaconServer extends UnicastRemoteObject implements Beacon {
	private static final long serialVersionUID = 1;
	private final transient String next;

	private BeaconServer(String next) throws RemoteException {
		this.next = next;
	}

	@Override
	public int remoteFoo(int passed) throws RemoteException {
		return next == null ? here(passed) : forward(here(passed));
	}

	private static int here(int passed) {
		return passed + 1;
	}

	private int forward(int passed) throws RemoteException {
		return find(next).remoteFoo(passed);
	}

	static Beacon find(String url) {
		try {
			return (Beacon) Naming.lookup(url);
		} catch (Exception e) {
			throw new IllegalStateException(e);
		}
	}

	static String url(String port, String name) {
		return "//127.0.0.1:" + port + "/" + name;
	}

	private static void bind(String port, String name, String next) throws Exception {
		Naming.rebind(url(port, name), new BeaconServer(next.equals("end") ? null : url(port, next)));
		System.out.println("BOUND");
	}

	public static void main(String[] args) throws Exception {
		if (args[0].equals("registry")) {
			int port;
			try (var socket = new java.net.ServerSocket(0)) {
				port = socket.getLocalPort();
			}
			LocateRegistry.createRegistry(port);
			System.out.println("PORT " + port);
		} else {
			bind(args[0], args[1], args[2]);
		}
		while (System.in.read() >= 0)
			;
		System.exit(0);
	}
}
