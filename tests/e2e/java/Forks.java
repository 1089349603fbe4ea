/* SPDX-License-Identifier: MIT */
import java.util.ArrayList;
import java.util.List;
import java.util.Spliterator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.StreamSupport;

/**
 * Tasks that tasks fork, counted by the program itself. Prints "TASK CLASS GIVEN RUN": how many of a class were given to a
 * pool and how many were run; "LATE HASH LEAST MOST": the longest time, in ns, that a task waited in the pool of that hash.
 */
public class Forks {
	static final AtomicLong forked = new AtomicLong(), ran = new AtomicLong();

	static class Node extends RecursiveTask<Long> {
		final int depth;

		Node(int depth) {
			this.depth = depth;
		}

		@Override
		protected Long compute() {
			if (depth == 0)
				return 1L;
			Node left = new Node(depth - 1), right = new Node(depth - 1);
			forked.incrementAndGet();
			left.fork();
			return right.compute() + left.join();
		}
	}

	static class Part extends RecursiveAction {
		@Override
		protected void compute() {
			ran.incrementAndGet();
		}
	}

	static class All extends RecursiveAction {
		final List<Part> parts = new ArrayList<>();

		@Override
		protected void compute() {
			ForkJoinTask.invokeAll(parts);
		}
	}

	static class Late extends RecursiveAction {
		final long asked = System.nanoTime();
		volatile long waited;

		@Override
		protected void compute() {
			waited = System.nanoTime() - asked;
		}
	}

	static class Keeper extends RecursiveTask<Long> {
		@Override
		protected Long compute() {
			Late late = new Late();
			late.fork();
			try {
				Thread.sleep(60);
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
			late.join();
			return late.waited;
		}
	}

	/** Numbers, of which each half that is split off is forked as a task. */
	static class Halves implements Spliterator<Integer> {
		int at;
		final int end;

		Halves(int at, int end) {
			this.at = at;
			this.end = end;
		}

		@Override
		public boolean tryAdvance(Consumer<? super Integer> action) {
			if (at == end)
				return false;
			action.accept(at++);
			return true;
		}

		@Override
		public Spliterator<Integer> trySplit() {
			int from = at, middle = (at + end) >>> 1;
			if (middle == from)
				return null;
			at = middle;
			forked.incrementAndGet();
			return new Halves(from, middle);
		}

		@Override
		public long estimateSize() {
			return end - at;
		}

		@Override
		public int characteristics() {
			return SIZED | SUBSIZED | CONCURRENT;
		}
	}

	static void say(String type, long given, long run) {
		System.out.println("TASK " + type + " " + given + " " + run);
	}

	public static void main(String[] args) throws Exception {
		Waits.ready();
		ForkJoinPool pool = new ForkJoinPool(3);
		if (pool.invoke(new Node(8)) != 256)
			throw new IllegalStateException("the tree is wrong");
		say("Forks$Node", forked.get() + 1, forked.get() + 1);

		All all = new All();
		for (int i = 0; i < 50; i++)
			all.parts.add(new Part());
		pool.submit(all).get();
		say("Forks$All", 1, 1);
		/* The first of them is run by who invokes them. */
		say("Forks$Part", 49, ran.get());

		forked.set(0);
		AtomicLong seen = new AtomicLong();
		StreamSupport.stream(new Halves(0, 1 << 12), true).forEach(i -> seen.incrementAndGet());
		if (seen.get() != 1 << 12)
			throw new IllegalStateException("the stream is wrong");
		/* The first is run by who calls. */
		say("java.util.stream.ForEachOps$ForEachTask", forked.get(), forked.get() + 1);

		List<CompletableFuture<Integer>> futures = new ArrayList<>();
		for (int i = 0; i < 20; i++)
			futures.add(CompletableFuture.supplyAsync(() -> 1, pool));
		for (CompletableFuture<Integer> f : futures)
			f.get();
		say("java.util.concurrent.CompletableFuture$AsyncSupply", 20, 20);
		pool.shutdown();

		ForkJoinPool one = new ForkJoinPool(1);
		long begin = System.nanoTime();
		one.invoke(new Keeper());
		System.out.println("LATE " + System.identityHashCode(one) + " 60000000 " + (System.nanoTime() - begin));
		say("Forks$Keeper", 1, 1);
		say("Forks$Late", 1, 1);
		one.shutdown();
		System.out.println("END");
	}
}
