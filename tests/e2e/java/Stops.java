// SPDX-License-Identifier: MIT

import java.io.IOException;
import java.nio.file.Path;

/**
 * A thread called spinner that computes and never waits by itself.
 *
 * <p>Arguments: COUNT: as often main has the garbage collected, and then the stacks of all threads taken, and that is what
 * the spinner is stopped for. Or "spin MILLISECONDS": it says "TID N" and computes after the next line it is sent, until
 * it has had a CPU for so long. Output: "SPINNER java_tid=N count=N switches=N cpu=NS waited=NS asleep=LEAST,MOST", switches
 * how often it gave up its CPU as it computed; cpu and waited, in its life, how long it had one, and had none
 * though it wanted one.
 */
public final class Stops {
	private static volatile boolean begun;
	private static volatile boolean over;
	private static KernelBooks then;
	private static KernelBooks now;
	private static long switches;
	private static long sum;

	private Stops() {
	}

	private static long compute() {
		long sum = 0;
		for (int i = 0; i < 10_000; i++) {
			sum = sum * 31 + i;
		}
		return sum;
	}

	/** For so many ns of CPU time, or until it is over. What it read is told by main: no more is done here, it would count. */
	private static void spin(long cpu) {
		Path task = KernelBooks.task();
		KernelBooks.switches(task); // once before, so that its classes are there
		if (cpu > 0) {
			System.out.println("TID " + task.getFileName());
			try {
				System.in.read();
			} catch (IOException e) {
				throw new IllegalStateException(e);
			}
		}
		then = new KernelBooks();
		long before = KernelBooks.switches(task);
		begun = true;
		while (cpu == 0 ? !over : new KernelBooks().cpu() - then.cpu() < cpu) {
			for (int i = 0; i < 100; i++) {
				sum += compute();
			}
		}
		switches = KernelBooks.switches(task) - before;
		now = new KernelBooks();
	}

	public static void main(String[] args) throws Exception {
		Waits.ready();
		new KernelBooks(); // here, and not in the spinner, classes are loaded
		boolean alone = args[0].equals("spin");
		int count = alone ? 0 : Integer.parseInt(args[0]);
		Thread spinner = new Thread(() -> spin(alone ? Long.parseLong(args[1]) * 1_000_000 : 0), "spinner");
		long id = Waits.id(spinner);
		spinner.start();
		while (!begun) {
			KernelBooks.rest();
		}
		for (int i = 0; i < count; i++) {
			System.gc();
			KernelBooks.rest(5_000_000);
		}
		for (int i = 0; i < count; i++) {
			Thread.getAllStackTraces();
			KernelBooks.rest(5_000_000);
		}
		over = true;
		spinner.join();
		System.out.println("SPINNER java_tid=" + id + " count=" + count + " switches=" + switches
			+ " cpu=" + now.cpu() + " waited=" + now.waited() + " asleep=" + now.leastAsleep(then) + ","
			+ now.mostAsleep(then) + (sum == 0 ? " " : ""));
		System.out.println("END");
	}
}
