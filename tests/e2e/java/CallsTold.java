// SPDX-License-Identifier: MIT

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/**
 * Runs the methods of Calls, and says how often each was called by its own count: lines "CALLS class method
 * descriptor number", and "LOST number" of exits that no handler can see. Usage: CallsTold ROUNDS THREADS [virtual];
 * then READY, waits for a line on its input where one is to come (wait), and runs.
 */
public class CallsTold {
	static final LongAdder NAPS = new LongAdder();

	/** Gives up its carrier inside of calls, in all depths. */
	static class Napper {
		static int nap(int depth) throws InterruptedException {
			NAPS.increment();
			if (depth == 0) {
				Thread.sleep(1);
				return 0;
			}
			Thread.yield();
			return 1 + nap(depth - 1);
		}
	}

	private static Thread thread(boolean virtual, Runnable work) throws ReflectiveOperationException {
		if (!virtual) {
			return new Thread(work);
		}
		Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
		return (Thread) Class.forName("java.lang.Thread$Builder").getMethod("unstarted", Runnable.class)
				.invoke(builder, work);
	}

	private static void work(int rounds) {
		try {
			for (int i = 0; i < rounds; i++) {
				Calls.all();
				Napper.nap(5);
			}
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	public static void main(String[] args) throws Exception {
		int rounds = Integer.parseInt(args[0]);
		boolean virtual = args.length > 2 && args[2].equals("virtual");
		List<Thread> threads = new ArrayList<>();
		for (int i = 0; i < Integer.parseInt(args[1]); i++) {
			threads.add(thread(virtual, () -> work(rounds)));
		}
		System.out.println("READY");
		if (args.length > 2 && args[2].equals("wait")) {
			System.in.read();
		}
		for (Thread t : threads) {
			t.start();
		}
		for (Thread t : threads) {
			t.join();
		}
		Calls.Own.CALLS.forEach((k, n) -> System.out.println("CALLS " + k + " " + n));
		System.out.println("CALLS CallsTold$Napper nap (I)I " + NAPS);
		System.out.println("LOST " + Calls.Own.FAILED_SUPERS);
	}
}
