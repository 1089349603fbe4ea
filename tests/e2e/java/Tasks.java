// SPDX-License-Identifier: MIT

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Gives tasks to executors of each kind and says for each pool what must be in the recording.
 *
 * <p>Arguments: COUNT MILLISECONDS [KIND...]. Output: lines "POOL name class= hash= submitted= begun= rejected=
 * queue=", queue the longest a task found when it was submitted, or -1 where the program does not know; then
 * for each task that ran "TASK name from= to= wait= run=": Java threads that submitted and ran it, and ns of
 * System.nanoTime between submission and begin, begin and end. With -Dwait=true it waits for a line first.
 */
public final class Tasks {
	private final int count;
	private final int ms;

	private Tasks(int count, int ms) {
		this.count = count;
		this.ms = ms;
	}

	/** What a pool was given, and what came of it. */
	private static final class Book {
		final String name;
		final Object pool;
		final ConcurrentLinkedQueue<String> ran = new ConcurrentLinkedQueue<>();
		final AtomicInteger submitted = new AtomicInteger();
		final AtomicInteger begun = new AtomicInteger();
		int rejected;
		int queue = -1;

		Book(String name, Object pool) {
			this.name = name;
			this.pool = pool;
		}

		/** A task made now, to be submitted at once by this thread. */
		Runnable task(int ms, Runnable rest) {
			long from = Waits.id(Thread.currentThread());
			submitted.incrementAndGet();
			long[] given = {System.nanoTime()};
			return () -> {
				long begin = System.nanoTime();
				long to = Waits.id(Thread.currentThread());
				begun.incrementAndGet();
				spend(ms);
				try {
					rest.run();
				} finally {
					ran.add("TASK " + name + " from=" + from + " to=" + to + " wait=" + (begin - given[0]) + " run="
							+ (System.nanoTime() - begin));
				}
			};
		}

		Runnable task(int ms) {
			return task(ms, () -> { });
		}

		void say() {
			System.out.println("POOL " + name + " class=" + pool.getClass().getName() + " hash=0x"
					+ Integer.toHexString(System.identityHashCode(pool)) + " submitted=" + submitted + " begun=" + begun
					+ " rejected=" + rejected + " queue=" + queue);
			ran.forEach(System.out::println);
		}
	}

	private static void spend(int ms) {
		try {
			Thread.sleep(ms);
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	private static void end(ExecutorService pool) throws InterruptedException {
		pool.shutdown();
		if (!pool.awaitTermination(5, TimeUnit.MINUTES)) {
			throw new IllegalStateException("a pool does not end");
		}
	}

	private static void all(List<Future<?>> futures) throws Exception {
		for (Future<?> future : futures) {
			future.get();
		}
	}

	/** Two workers, a queue that grows; by submit and by execute. */
	private void fixed() throws Exception {
		ThreadPoolExecutor pool = new ThreadPoolExecutor(2, 2, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>());
		Book book = new Book("fixed", pool);
		CountDownLatch done = new CountDownLatch(count);
		List<Future<?>> futures = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			futures.add(pool.submit(book.task(ms)));
			pool.execute(book.task(ms, done::countDown));
		}
		book.queue = 2 * count - 3;
		all(futures);
		done.await();
		end(pool);
		book.say();
	}

	/** One worker that idles between tasks: main gives it the next one when it has been without for a time. */
	private void idle() throws Exception {
		ThreadPoolExecutor pool = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(10));
		Book book = new Book("idle", pool);
		long[] worker = {0, 0, 0}; /* its number; when its last task ended; how long it had none */
		for (int i = 0; i <= count; i++) {
			book.submitted.incrementAndGet();
			pool.submit(() -> {
				worker[2] += worker[1] == 0 ? 0 : System.nanoTime() - worker[1];
				worker[0] = Waits.id(Thread.currentThread());
				book.begun.incrementAndGet();
				worker[1] = System.nanoTime();
			}).get();
			spend(ms);
		}
		worker[2] += System.nanoTime() - worker[1];
		end(pool);
		book.queue = 0;
		book.say();
		System.out.println("IDLE idle java_tid=" + worker[0] + " count=" + (count + 1) + " ns=" + worker[2]);
	}

	/** A thread for each, taken again; no queue. */
	private void cached() throws Exception {
		ThreadPoolExecutor pool = new ThreadPoolExecutor(0, 1000, 60, TimeUnit.SECONDS, new SynchronousQueue<>());
		Book book = new Book("cached", pool);
		List<Future<?>> futures = new ArrayList<>();
		book.queue = 0;
		for (int i = 0; i < count; i++) {
			futures.add(pool.submit(book.task(ms)));
		}
		all(futures);
		for (int i = 0; i < count; i++) {
			pool.submit(book.task(0)).get();
		}
		end(pool);
		book.say();
	}

	/** The very same object is submitted again and again; full pools refuse it. */
	private void rejecting() throws Exception {
		CountDownLatch go = new CountDownLatch(1);
		ThreadPoolExecutor pool = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(2));
		Book book = new Book("rejecting", pool);
		AtomicInteger left = new AtomicInteger(3);
		Runnable same = () -> {
			try {
				go.await();
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
			book.begun.incrementAndGet();
			left.decrementAndGet();
		};
		for (int i = 0; i < 3 + count; i++) {
			book.submitted.incrementAndGet();
			try {
				pool.execute(same);
			} catch (RejectedExecutionException e) {
				book.rejected++;
			}
		}
		go.countDown();
		while (left.get() > 0 || pool.getActiveCount() > 0) {
			Thread.sleep(1);
		}
		for (int i = 0; i < count; i++) {
			left.set(1);
			book.submitted.incrementAndGet();
			pool.execute(same);
			while (left.get() > 0 || pool.getActiveCount() > 0) {
				Thread.sleep(1);
			}
		}
		book.queue = 2;
		end(pool);
		book.say();
	}

	/** Tasks that throw end their worker; a pool that calls none of the methods it overrides. */
	private void throwing() throws Exception {
		ThreadFactory quiet = r -> {
			Thread t = new Thread(r);
			t.setUncaughtExceptionHandler((thread, e) -> { });
			return t;
		};
		ThreadPoolExecutor pool = new ThreadPoolExecutor(2, 2, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), quiet) {
			@Override
			protected void beforeExecute(Thread t, Runnable r) {
				Thread.onSpinWait();
			}

			@Override
			protected void afterExecute(Runnable r, Throwable t) {
				Thread.onSpinWait();
			}
		};
		Book book = new Book("throwing", pool);
		for (int i = 0; i < count; i++) {
			pool.execute(book.task(1, () -> {
				throw new IllegalStateException("meant to be");
			}));
			pool.execute(book.task(1));
		}
		end(pool);
		book.say();
	}

	private void scheduled() throws Exception {
		ScheduledThreadPoolExecutor pool = new ScheduledThreadPoolExecutor(2);
		Book book = new Book("scheduled", pool);
		List<Future<?>> futures = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			futures.add(pool.schedule(book.task(0), ms, TimeUnit.MILLISECONDS));
		}
		all(futures);
		CountDownLatch rounds = new CountDownLatch(count);
		ScheduledFuture<?>[] again = new ScheduledFuture<?>[1];
		Runnable round = () -> {
			book.begun.incrementAndGet();
			rounds.countDown();
			if (rounds.getCount() == 0) {
				again[0].cancel(false);
			}
		};
		book.submitted.addAndGet(count); /* the first, and after each but the last */
		synchronized (again) {
			again[0] = pool.scheduleAtFixedRate(round, ms, ms, TimeUnit.MILLISECONDS);
		}
		rounds.await();
		end(pool);
		book.say();
	}

	private void forkJoin() throws Exception {
		ForkJoinPool pool = new ForkJoinPool(2);
		Book book = new Book("forkJoin", pool);
		List<Future<?>> futures = new ArrayList<>();
		CountDownLatch done = new CountDownLatch(count);
		for (int i = 0; i < count; i++) {
			futures.add(pool.submit(book.task(ms)));
			Callable<Object> callable = Executors.callable(book.task(ms));
			futures.add(pool.submit(callable));
			pool.execute(book.task(ms, done::countDown));
		}
		done.await();
		all(futures);
		for (int i = 0; i < count; i++) {
			CompletableFuture<Integer> first = CompletableFuture.supplyAsync(supply(book.task(ms)), pool);
			CompletableFuture<Void> second = first.thenRunAsync(dependent(book), pool);
			while (!second.isDone()) {
				Thread.sleep(1);
			}
			CompletableFuture<Void> third = CompletableFuture.runAsync(book.task(0), pool);
			while (!third.isDone()) {
				Thread.sleep(1);
			}
		}
		/* What tasks fork is their own affair. */
		if (pool.invoke(new Fibonacci(12)) != 144) {
			throw new IllegalStateException("wrong sum");
		}
		end(pool);
		book.say();
	}

	private static java.util.function.Supplier<Integer> supply(Runnable task) {
		return () -> {
			task.run();
			return 1;
		};
	}

	/** Its worker submits it, when what it depends on is done. */
	private static Runnable dependent(Book book) {
		return () -> {
			book.submitted.incrementAndGet();
			book.begun.incrementAndGet();
		};
	}

	private static final class Fibonacci extends RecursiveTask<Integer> {
		private static final long serialVersionUID = 1;
		private final int n;

		Fibonacci(int n) {
			this.n = n;
		}

		@Override
		protected Integer compute() {
			if (n < 2) {
				return n;
			}
			Fibonacci other = new Fibonacci(n - 1);
			other.fork();
			return new Fibonacci(n - 2).compute() + other.join();
		}
	}

	private static Object call(String name, Object... args) throws Exception {
		for (Method method : Executors.class.getMethods()) {
			if (method.getName().equals(name) && method.getParameterCount() == args.length) {
				return method.invoke(null, args);
			}
		}
		throw new IllegalStateException("this JDK has no " + name);
	}

	private static ThreadFactory virtualFactory() throws Exception {
		Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
		return (ThreadFactory) Class.forName("java.lang.Thread$Builder").getMethod("factory").invoke(builder);
	}

	/** A thread for each task, virtual and not; and virtual threads as workers of a pool. */
	private void virtual() throws Exception {
		ExecutorService each = (ExecutorService) callQuiet("newVirtualThreadPerTaskExecutor");
		perTask("virtual", each);
		ThreadFactory plain = Thread::new;
		perTask("perTask", (ExecutorService) callQuiet("newThreadPerTaskExecutor", plain));
		ThreadPoolExecutor pool = new ThreadPoolExecutor(2, 2, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(),
				virtualFactory());
		Book book = new Book("virtualWorkers", pool);
		List<Future<?>> futures = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			futures.add(pool.submit(book.task(ms)));
		}
		all(futures);
		end(pool);
		book.say();
	}

	private static Object callQuiet(String name, Object... args) {
		try {
			return call(name, args);
		} catch (Exception e) {
			throw new IllegalStateException(e);
		}
	}

	private void perTask(String name, ExecutorService pool) throws Exception {
		Book book = new Book(name, pool);
		List<Future<?>> futures = new ArrayList<>();
		CountDownLatch done = new CountDownLatch(count);
		for (int i = 0; i < count; i++) {
			futures.add(pool.submit(book.task(ms)));
			pool.execute(book.task(ms, done::countDown));
		}
		all(futures);
		done.await();
		end(pool);
		book.say();
	}

	private void run(String kind) throws Exception {
		switch (kind) {
		case "fixed" -> fixed();
		case "idle" -> idle();
		case "cached" -> cached();
		case "rejecting" -> rejecting();
		case "throwing" -> throwing();
		case "scheduled" -> scheduled();
		case "forkJoin" -> forkJoin();
		case "virtual" -> virtual();
		default -> throw new IllegalArgumentException(kind);
		}
	}

	public static void main(String[] args) throws Exception {
		Tasks tasks = new Tasks(Integer.parseInt(args[0]), Integer.parseInt(args[1]));
		List<String> kinds = new ArrayList<>(List.of("fixed", "idle", "cached", "rejecting", "throwing", "scheduled",
				"forkJoin"));
		if (Runtime.version().feature() >= 21) {
			kinds.add("virtual");
		}
		new Book("warm", tasks).task(0).run(); /* what runs first takes long: it is linked */
		/* Pools with a worker that waits already when an agent comes: its first task is told, too. */
		ThreadPoolExecutor early = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>());
		early.submit(() -> { }).get();
		Waits.ready();
		Book book = new Book("early", early);
		for (int i = 0; i < tasks.count; i++) {
			early.submit(book.task(1)).get();
		}
		end(early);
		if (Boolean.getBoolean("wait")) {
			book.say();
		}
		for (String kind : args.length > 2 ? List.of(args).subList(2, args.length) : kinds) {
			tasks.run(kind);
		}
		System.out.println("END");
	}
}
