// SPDX-License-Identifier: MIT

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A load like that of SURGE (Barford and Crovella, 1998): users who ask for a page and the files in
 * it in a burst, with short times between files (active off-time, Weibull) and long ones between pages
 * (inactive off-time, Pareto); popularity of pages by Zipf's law. Beside them, users of a servlet, a
 * JSP and the LU servlet. Bounded in time; prints what was answered.
 */
public final class SurgeLoad {
	private static final int PAGES = 50;
	private static final String[] DYNAMIC = {
		"/examples/servlets/servlet/HelloWorldExample", "/examples/jsp/dates/date.jsp", "/demo/lu?n=220",
	};

	private final String base;
	private final long end;
	private final AtomicLong ok = new AtomicLong();
	private final AtomicLong failed = new AtomicLong();
	private final AtomicLong bytes = new AtomicLong();

	private SurgeLoad(String base, long end) {
		this.base = base;
		this.end = end;
	}

	public static void main(String[] args) throws InterruptedException {
		if (args.length != 3) {
			System.err.println("usage: SurgeLoad BASE-URL SECONDS USERS");
			System.exit(2);
		}
		long seconds = Long.parseLong(args[1]);
		int users = Integer.parseInt(args[2]);
		SurgeLoad load = new SurgeLoad(args[0], System.nanoTime() + seconds * 1_000_000_000L);
		Thread[] threads = new Thread[users + DYNAMIC.length];
		for (int i = 0; i < threads.length; i++) {
			int user = i;
			threads[i] = new Thread(
				user < users ? () -> load.browse(new Random(user)) : () -> load.use(DYNAMIC[user - users]));
			threads[i].start();
		}
		for (Thread thread : threads)
			thread.join();
		System.out.printf("requests %d failed %d bytes %d%n", load.ok.get(), load.failed.get(), load.bytes.get());
		System.exit(load.ok.get() > 0 && load.failed.get() == 0 ? 0 : 1);
	}

	private boolean running() {
		return System.nanoTime() < end;
	}

	private void browse(Random random) {
		while (running()) {
			int page = zipf(random);
			get("/demo/page" + page + ".html");
			for (int file = 0; file < 1 + page % 6 && running(); file++) {
				sleep(weibull(random, 1.46, 0.382));
				get("/demo/file" + (page * 7 + file) % PAGES + ".bin");
			}
			sleep(pareto(random, 0.2, 1.5, 3.0));
		}
	}

	private void use(String path) {
		Random random = new Random(path.hashCode());
		while (running()) {
			get(path);
			sleep(0.02 + 0.08 * random.nextDouble());
		}
	}

	/** Page number with P(i) proportional to 1/(i+1). */
	private static int zipf(Random random) {
		double sum = 0;
		for (int i = 1; i <= PAGES; i++)
			sum += 1.0 / i;
		double u = random.nextDouble() * sum;
		for (int i = 1; i <= PAGES; i++) {
			u -= 1.0 / i;
			if (u <= 0)
				return i - 1;
		}
		return PAGES - 1;
	}

	/** Seconds, scaled down tenfold so that a short demonstration has many bursts. */
	private static double weibull(Random random, double scale, double shape) {
		return Math.min(0.5, scale * Math.pow(-Math.log(1 - random.nextDouble()), 1 / shape) / 10);
	}

	private static double pareto(Random random, double least, double shape, double most) {
		return Math.min(most, least / Math.pow(1 - random.nextDouble(), 1 / shape));
	}

	private void sleep(double seconds) {
		try {
			Thread.sleep((long) (seconds * 1000));
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
		}
	}

	private void get(String path) {
		try {
			HttpURLConnection c = (HttpURLConnection) URI.create(base + path).toURL().openConnection();
			c.setConnectTimeout(10_000);
			c.setReadTimeout(60_000);
			try (InputStream in = c.getInputStream()) {
				bytes.addAndGet(in.transferTo(java.io.OutputStream.nullOutputStream()));
			}
			if (c.getResponseCode() == 200)
				ok.incrementAndGet();
			else
				failed.incrementAndGet();
		} catch (IOException e) {
			failed.incrementAndGet();
			System.err.println("SurgeLoad: " + path + ": " + e);
		}
	}
}
