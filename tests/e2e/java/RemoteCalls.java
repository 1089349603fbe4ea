// SPDX-License-Identifier: MIT

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.Serializable;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.rmi.MarshalException;
import java.rmi.Remote;
import java.rmi.RemoteException;
import java.rmi.registry.LocateRegistry;
import java.rmi.registry.Registry;
import java.rmi.server.RMIClientSocketFactory;
import java.rmi.server.RMIServerSocketFactory;
import java.rmi.server.UnicastRemoteObject;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import javax.rmi.ssl.SslRMIClientSocketFactory;
import javax.rmi.ssl.SslRMIServerSocketFactory;
import jis.Jis;
import jis.Span;

/**
 * Remote calls that say themselves which they are: each passes a number of its own, and both ends tell it by a marker, the
 * client (type 1) before it calls, the server (type 2) in the method that is called.
 *
 * <p>Arguments: SOCKETS HOPS THREADS CALLS [virtual] [mixed] [back] [broken] [hang] [hold] [killed] [time]. SOCKETS: tcp, ssl or
 * unix, or several with commas, of the hops in turn. The program starts HOPS further JVMs like itself, "SERVERS PID...", the last
 * one first: each calls the next one, the last one with "back" the client. THREADS threads, with "mixed" every other one virtual, make
 * CALLS calls each, and now and then one that throws; with "broken" then some that cannot be sent, and some whose server dies in
 * them; with "time" at first some to be timed: "MEAN NS".
 * "hang": in a call that is in the last JVM the first one ends itself, and the last but one is killed. "hold": the same with a call that is
 * let go after a line, "READY" when it is there. "killed": in the end all threads call on until the last JVM has been killed meanwhile.
 * The last one has the registry, at the address "registry"; with "own", an address, each has its own there. "server SOCKETS NAME - 0" is such a last one alone; it says "PORT N". Properties: java, the command
 * that runs a JVM; sockets, a directory; port: the JVMs run already, and the registry has that port; sleep, spin: how many milliseconds
 * the last server does so in each call, which is then in a span "call" of the client's, and in the end that JVM says "WORKED pid=N calls=N
 * sleep_ns=N spin_ns=N" on the error output; wait: it makes some calls, says "READY", and goes on after a line; untraced: hops, with
 * commas, whose JVM gets no agent. Output, without calls that waited: "CALLS returned=N thrown=N broken=N unsent=N registry=N" over
 * all JVMs, of "hang" "HUNG N", its calls at all hops, of "killed" "CUT N", the client's that failed for it, "END".
 */
public final class RemoteCalls {
	private static final int THROW_EVERY = 20;
	private static final String REGISTRY = System.getProperty("registry", "127.0.0.1");
	private static final String OWN = System.getProperty("own");
	private static final int SLEEP = Integer.getInteger("sleep", 0);
	private static final int SPIN = Integer.getInteger("spin", 0);
	private static final AtomicLong WORKED = new AtomicLong();
	private static final AtomicLong SLEPT = new AtomicLong();
	private static final AtomicLong SPUN = new AtomicLong();
	private static final AtomicLong NUMBERS = new AtomicLong(ProcessHandle.current().pid() << 32);

	private RemoteCalls() {
	}

	/** What the client offers. */
	public interface Back extends Remote {
		/** Comes back. */
		long back(long number) throws RemoteException;
	}

	/** What a server offers. */
	public interface Chain extends Remote {
		/** Calls the next one; how many were called. */
		long call(long number, Back back) throws RemoteException;

		/** Throws. */
		void fail(long number) throws RemoteException;

		/** Takes what cannot be sent. */
		void take(long number, Object what) throws RemoteException;

		/** Ends the JVM. */
		void die(long number) throws RemoteException;

		/** Calls back from the last one and stays there until somebody lets go. */
		void hang(long number, Back back) throws RemoteException;

		/** Lets go. */
		void letGo(long number) throws RemoteException;
	}

	/** Unix-domain sockets that look like others. */
	static final class UnixSockets implements RMIClientSocketFactory, RMIServerSocketFactory, Serializable {
		private static final long serialVersionUID = 1;
		private final String path;

		UnixSockets(String path) {
			this.path = path;
		}

		@Override
		public Socket createSocket(String host, int port) throws IOException {
			return new UnixSocket(SocketChannel.open(UnixDomainSocketAddress.of(path)));
		}

		@Override
		public ServerSocket createServerSocket(int port) throws IOException {
			return new UnixServer(path);
		}

		@Override
		public boolean equals(Object other) {
			return other instanceof UnixSockets && ((UnixSockets) other).path.equals(path);
		}

		@Override
		public int hashCode() {
			return path.hashCode();
		}
	}

	private static final class UnixServer extends ServerSocket {
		private final ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);

		UnixServer(String path) throws IOException {
			Files.deleteIfExists(Path.of(path));
			channel.bind(UnixDomainSocketAddress.of(path));
		}

		@Override
		public Socket accept() throws IOException {
			return new UnixSocket(channel.accept());
		}

		@Override
		public int getLocalPort() {
			return 1;
		}

		@Override
		public void close() throws IOException {
			channel.close();
		}
	}

	private static final class UnixSocket extends Socket {
		private final SocketChannel channel;

		UnixSocket(SocketChannel channel) {
			this.channel = channel;
		}

		@Override
		public InputStream getInputStream() {
			return Channels.newInputStream(channel);
		}

		@Override
		public OutputStream getOutputStream() {
			return Channels.newOutputStream(channel);
		}

		@Override
		public void setSoTimeout(int timeout) {
		}

		@Override
		public int getSoTimeout() {
			return 0;
		}

		@Override
		public void setTcpNoDelay(boolean on) {
		}

		@Override
		public boolean isClosed() {
			return !channel.isOpen();
		}

		@Override
		public void close() throws IOException {
			channel.close();
		}
	}

	private static <T extends Remote> T export(T object, String sockets, String name) throws RemoteException {
		switch (sockets) {
		case "ssl":
			UnicastRemoteObject.exportObject(object, 0, new SslRMIClientSocketFactory(), new SslRMIServerSocketFactory());
			break;
		case "unix":
			UnixSockets unix = new UnixSockets(System.getProperty("sockets") + "/" + name);
			UnicastRemoteObject.exportObject(object, 0, unix, unix);
			break;
		default:
			UnicastRemoteObject.exportObject(object, 0);
		}
		return object;
	}

	private static long number() {
		long n = NUMBERS.incrementAndGet();
		Jis.event(1, n);
		return n;
	}

	/** Sleeps and spins, and counts for how long it did. */
	private static void work() {
		long begun = System.nanoTime();
		try {
			Thread.sleep(SLEEP);
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
		long slept = System.nanoTime();
		long now = slept;
		while (now - slept < SPIN * 1000000L) {
			now = System.nanoTime();
		}
		SLEPT.addAndGet(slept - begun);
		SPUN.addAndGet(now - slept);
		WORKED.incrementAndGet();
	}

	private static final class Link implements Chain {
		private final Chain next;
		private final CountDownLatch free = new CountDownLatch(1);

		Link(Chain next) {
			this.next = next;
		}

		@Override
		public long call(long number, Back back) throws RemoteException {
			Jis.event(2, number);
			if (next != null) {
				return 1 + next.call(number(), back);
			}
			if (SLEEP + SPIN > 0) {
				work();
			}
			return 1 + (back == null ? 0 : back.back(number()));
		}

		@Override
		public void fail(long number) {
			Jis.event(2, number);
			throw new IllegalStateException("as it should");
		}

		@Override
		public void take(long number, Object what) {
			Jis.event(2, number);
		}

		@Override
		public void die(long number) {
			Jis.event(2, number);
			Runtime.getRuntime().halt(0);
		}

		@Override
		public void hang(long number, Back back) throws RemoteException {
			Jis.event(2, number);
			if (next != null) {
				next.hang(number(), back);
				return;
			}
			back.back(number());
			try {
				free.await();
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
		}

		@Override
		public void letGo(long number) throws RemoteException {
			Jis.event(2, number);
			if (next != null) {
				next.letGo(number());
			}
			free.countDown();
		}
	}

	private static int registry() throws Exception {
		while (true) {
			int port;
			try (ServerSocket free = new ServerSocket(0)) {
				port = free.getLocalPort();
			}
			try {
				LocateRegistry.createRegistry(port);
				return port;
			} catch (java.rmi.server.ExportException e) {
				continue; // somebody has taken it meanwhile
			}
		}
	}

	/** Arguments: SOCKETS NAME NEXT PORT; NEXT "-": none, it makes the registry and says its port. */
	private static void server(String[] args) throws Exception {
		boolean last = args[2].equals("-");
		int port = Integer.parseInt(args[3]);
		Link link = new Link(last ? null : (Chain) LocateRegistry.getRegistry(REGISTRY, port).lookup(args[2]));
		boolean own = last || OWN != null;
		port = own ? registry() : port;
		// By the wire, in its own JVM, too.
		LocateRegistry.getRegistry(own && OWN != null ? OWN : REGISTRY, port).rebind(args[1], export(link, args[0], args[1]));
		System.out.println("PORT " + port);
		while (System.in.read() >= 0) {
			continue;
		}
		if (last && SLEEP + SPIN > 0) {
			System.err.println("WORKED pid=" + ProcessHandle.current().pid() + " calls=" + WORKED + " sleep_ns=" + SLEPT + " spin_ns=" + SPUN);
		}
		System.exit(0);
	}

	private static Process start(List<Process> all, boolean traced, String... args) throws IOException {
		List<String> command = new ArrayList<>(List.of(System.getProperty("java")));
		for (String option : java.lang.management.ManagementFactory.getRuntimeMXBean().getInputArguments()) {
			if (!option.startsWith("-agentpath")) {
				command.add(option);
			}
		}
		command.addAll(List.of("-cp", System.getProperty("java.class.path"), "RemoteCalls", "server"));
		command.addAll(Arrays.asList(args));
		ProcessBuilder builder = new ProcessBuilder(command).redirectError(new File("/dev/stderr"));
		if (!traced) {
			builder.environment().remove("JAVA_TOOL_OPTIONS");
		}
		Process p = builder.start();
		all.add(p);
		return p;
	}

	private static int port(Process p) throws IOException {
		BufferedReader out = new BufferedReader(new InputStreamReader(p.getInputStream()));
		for (String line = out.readLine(); line != null; line = out.readLine()) {
			if (line.startsWith("PORT ")) {
				return Integer.parseInt(line.substring(5));
			}
		}
		throw new IOException("a server has not begun");
	}

	private static Thread thread(boolean virtual, Runnable runnable) throws Exception {
		Thread thread = new Thread(runnable);
		if (virtual) {
			return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, runnable);
		}
		thread.start();
		return thread;
	}

	private static long call(Chain chain, Back back) throws RemoteException {
		if (SLEEP + SPIN == 0) {
			return chain.call(number(), back);
		}
		try (Span span = Jis.begin("call")) {
			return chain.call(number(), back);
		}
	}

	private static void calls(Chain chain, Back back, int calls, long expected, AtomicLong returned, AtomicLong thrown) {
		try {
			for (int i = 0; i < calls; i++) {
				long n = call(chain, back);
				if (n != expected) {
					throw new IllegalStateException(n + " calls");
				}
				returned.addAndGet(n);
				if (i % THROW_EVERY == 0) {
					try {
						chain.fail(number());
						throw new IllegalArgumentException("it has not failed");
					} catch (IllegalStateException e) {
						thrown.incrementAndGet();
					}
				}
			}
		} catch (Exception e) {
			e.printStackTrace();
			Runtime.getRuntime().halt(1);
		}
	}

	/** Says how long a call of the whole chain takes, on average of the second half of so many. */
	private static void time(Chain chain, int calls) throws RemoteException {
		long begun = 0;
		for (int i = 0; i < calls; i++) {
			if (i == calls / 2) {
				begun = System.nanoTime();
			}
			chain.call(i, null);
		}
		System.out.println("MEAN " + (System.nanoTime() - begun) / (calls - calls / 2));
	}

	/** A call that is in the last JVM, and its thread. */
	private static Thread hang(Chain chain, String sockets) throws Exception {
		CountDownLatch there = new CountDownLatch(1);
		Back back = export(number -> {
			Jis.event(2, number);
			there.countDown();
			return 1;
		}, sockets, "hung");
		Thread thread = new Thread(() -> {
			try {
				chain.hang(number(), back);
			} catch (RemoteException e) {
				return; // its JVM has died
			}
		});
		thread.setDaemon(true);
		thread.start();
		there.await();
		return thread;
	}

	/** Threads that call until the last JVM, which is killed meanwhile, is no more; how many calls failed. */
	private static int killed(Chain chain, Back back, int threads, Process last, AtomicLong returned) throws Exception {
		AtomicLong failed = new AtomicLong();
		CountDownLatch begun = new CountDownLatch(threads);
		List<Thread> all = new ArrayList<>();
		for (int i = 0; i < threads; i++) {
			all.add(thread(false, () -> {
				for (boolean first = true; ; first = false) {
					try {
						returned.addAndGet(chain.call(number(), back));
					} catch (RemoteException e) {
						failed.incrementAndGet();
						return;
					}
					if (first) {
						begun.countDown();
					}
				}
			}));
		}
		begun.await();
		last.destroyForcibly().waitFor();
		for (Thread t : all) {
			t.join();
		}
		return failed.intValue();
	}

	private static int unsent(Chain chain) throws RemoteException {
		int n = 0;
		for (int i = 0; i < 3; i++) {
			try {
				chain.take(number(), new Object());
			} catch (MarshalException e) {
				n++;
			}
		}
		return n;
	}

	public static void main(String[] args) throws Exception {
		if (args[0].equals("server")) {
			server(Arrays.copyOfRange(args, 1, args.length));
			return;
		}
		List<String> more = Arrays.asList(args).subList(4, args.length);
		int hops = Integer.parseInt(args[1]);
		int threads = Integer.parseInt(args[2]);
		int calls = Integer.parseInt(args[3]);
		List<Process> servers = new ArrayList<>();
		int port = Integer.getInteger("port", 0);
		String[] sockets = args[0].split(",");
		List<String> untraced = Arrays.asList(System.getProperty("untraced", "").split(","));
		for (int i = port == 0 ? hops : 0; i > 0; i--) {
			port = port(start(servers, !untraced.contains("" + i), sockets[(i - 1) % sockets.length], "s" + i,
				i == hops ? "-" : "s" + (i + 1), "" + port));
		}
		StringBuilder pids = new StringBuilder("SERVERS");
		for (Process p : servers) {
			pids.append(' ').append(p.pid());
		}
		System.out.println(pids);
		Chain chain = (Chain) LocateRegistry.getRegistry(REGISTRY, port).lookup("s1");
		Back back = null;
		if (more.contains("back")) {
			back = export(number -> {
				Jis.event(2, number);
				return 1;
			}, sockets[0], "back");
		}
		Back call = back;
		if (Boolean.getBoolean("wait")) { // with calls, and connections, before there is an agent
			for (int i = 0; i < 5; i++) {
				chain.call(number(), back);
			}
			Waits.ready();
		}
		AtomicLong returned = new AtomicLong();
		AtomicLong thrown = new AtomicLong();
		List<Thread> all = new ArrayList<>();
		long expected = hops + (back == null ? 0 : 1);
		if (more.contains("time")) {
			time(chain, calls);
		}
		for (int i = 0; i < threads; i++) {
			boolean virtual = more.contains("virtual") || (more.contains("mixed") && i % 2 == 1);
			all.add(thread(virtual, () -> calls(chain, call, calls, expected, returned, thrown)));
		}
		for (Thread t : all) {
			t.join();
		}
		if (more.contains("killed")) {
			System.out.println("CUT " + killed(chain, call, threads, servers.get(0), returned));
		}
		int unsent = 0;
		int broken = 0;
		if (more.contains("broken")) {
			unsent = unsent(chain);
			try {
				chain.die(number());
			} catch (RemoteException e) {
				broken++;
			}
		}
		if (more.contains("hold")) {
			Thread holding = hang(chain, sockets[0]);
			System.out.println("READY");
			System.in.read();
			chain.letGo(number());
			holding.join();
		}
		if (more.contains("hang")) {
			Thread hanging = hang(chain, sockets[0]);
			try {
				chain.die(number());
			} catch (RemoteException e) {
				hanging.join();
				servers.get(hops - 2).destroyForcibly().waitFor();
				System.out.println("HUNG " + (hops + 2));
			}
		}
		System.out.println("CALLS returned=" + returned + " thrown=" + thrown + " broken=" + broken + " unsent=" + unsent
			+ " registry=" + 2 * hops);
		System.out.println("END");
		for (Process p : servers) {
			p.getOutputStream().close();
			p.waitFor();
		}
		System.exit(0);
	}
}
