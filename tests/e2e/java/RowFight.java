// SPDX-License-Identifier: MIT

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import jis.Jis;
import jis.Span;

/**
 * Clients of a database server that fight for one row: each updates it, thinks while its transaction is open, and commits.
 * The server is a process of its own, started here.
 *
 * <p>Arguments: URL CLIENTS ROUNDS MILLISECONDS SERVER-COMMAND... Output: "EXPECT rows updates=N waited=N wait_ns=NS
 * update_ns=NS held_ns=NS": how many updates there were, how many had to wait, for how long in all (what an update takes
 * that has not to wait is measured before, and taken off), how long all updates of the fight took, and how long the row was
 * held.
 */
public final class RowFight {
	private static final int ALONE = 60;

	private final String url;
	private final int rounds;
	private final int ms;
	private final CyclicBarrier start;
	private long alone;
	private long updates;
	private long waited;
	private long waitNs;
	private long updateNs;
	private long heldNs;

	private RowFight(String url, int clients, int rounds, int ms) {
		this.url = url;
		this.rounds = rounds;
		this.ms = ms;
		this.start = new CyclicBarrier(clients);
	}

	/** As soon as the server answers. */
	private Connection connect() throws InterruptedException, SQLException {
		long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(90);
		while (true) {
			try {
				Connection c = DriverManager.getConnection(url, "sa", "sa");
				c.setAutoCommit(false);
				return c;
			} catch (SQLException e) {
				if (System.nanoTime() > end) {
					throw e;
				}
				Thread.sleep(100);
			}
		}
	}

	/** The row, and what an update takes without a fight: the median of many. */
	private void prepare() throws InterruptedException, SQLException {
		try (Connection c = connect()) {
			try (Statement s = c.createStatement()) {
				s.execute("CREATE TABLE stock (id INT PRIMARY KEY, n INT)");
				s.execute("INSERT INTO stock VALUES (1, 0)");
			}
			c.commit();
			long[] took = new long[ALONE];
			try (PreparedStatement s = c.prepareStatement("UPDATE stock SET n = n + 1 WHERE id = 1")) {
				for (int i = 0; i < ALONE; i++) {
					long begin = System.nanoTime();
					s.executeUpdate();
					took[i] = System.nanoTime() - begin;
					c.commit();
				}
			}
			Arrays.sort(took);
			alone = took[ALONE / 2];
		}
	}

	private synchronized void add(long took, long held) {
		updates++;
		updateNs += took;
		heldNs += held;
		if (took > TimeUnit.MILLISECONDS.toNanos(ms) / 4) {
			waited++;
			waitNs += took - alone;
		}
	}

	private void fight() {
		try (Connection c = connect();
				PreparedStatement s = c.prepareStatement("UPDATE stock SET n = n + 1 WHERE id = 1")) {
			start.await();
			for (int i = 0; i < rounds; i++) {
				long begin = System.nanoTime();
				try (Span span = Jis.begin("update")) {
					s.executeUpdate();
				}
				long got = System.nanoTime();
				Thread.sleep(ms);
				c.commit();
				add(got - begin, System.nanoTime() - got);
			}
		} catch (Exception e) {
			e.printStackTrace();
			System.exit(1);
		}
	}

	private void result() throws InterruptedException, SQLException {
		try (Connection c = connect();
				Statement s = c.createStatement();
				java.sql.ResultSet r = s.executeQuery("SELECT n FROM stock")) {
			if (!r.next() || r.getInt(1) != updates + ALONE) {
				throw new IllegalStateException("the row has not been updated " + updates + " times");
			}
			c.rollback();
		}
		System.out.println("EXPECT rows updates=" + updates + " waited=" + waited + " wait_ns=" + waitNs
				+ " update_ns=" + updateNs + " held_ns=" + heldNs);
	}

	public static void main(String[] args) throws Exception {
		int clients = Integer.parseInt(args[1]);
		RowFight fight = new RowFight(args[0], clients, Integer.parseInt(args[2]), Integer.parseInt(args[3]));
		Process server = new ProcessBuilder(Arrays.asList(args).subList(4, args.length))
				.redirectOutput(ProcessBuilder.Redirect.DISCARD)
				.redirectError(ProcessBuilder.Redirect.INHERIT).start();
		Runtime.getRuntime().addShutdownHook(new Thread(server::destroyForcibly));
		fight.prepare();
		Thread[] threads = new Thread[clients];
		for (int i = 0; i < clients; i++) {
			threads[i] = new Thread(fight::fight, "client " + i);
			threads[i].start();
		}
		for (Thread t : threads) {
			t.join();
		}
		fight.result();
		server.destroy();
		server.waitFor();
	}
}
