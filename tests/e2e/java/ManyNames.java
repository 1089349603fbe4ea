// SPDX-License-Identifier: MIT

/**
 * Has many threads in turn, each with a long name that begins with its number, then calls last() a hundred times. Usage:
 * ManyNames THREADS [wait | MS]: begins and ends as input says, or has a pause of MS when two thirds of them have been. Once three are there at
 * a time.
 */
public final class ManyNames {
	private static int sum;

	static void last(int i) {
		sum += i;
	}

	/* A thread beside another has records of its own, and nothing comes after them for long. */
	private static void another(String name, int more) {
		Thread thread = new Thread(more > 0 ? () -> another(name, more - 1) : () -> {}, name);
		thread.start();
		try {
			thread.join();
		} catch (InterruptedException e) {
			throw new AssertionError(e);
		}
	}

	public static void main(String[] args) throws Exception {
		int n = Integer.parseInt(args[0]);
		boolean wait = args.length > 1 && args[1].equals("wait");
		int pause = args.length > 1 && !wait ? Integer.parseInt(args[1]) : 0;
		if (wait) {
			System.out.println("READY");
			System.in.read();
		}
		for (int i = 0; i < n; i++) {
			String name = i + " " + "n".repeat(180);
			Thread thread = new Thread(i == n / 20 ? () -> another(name, 1) : () -> {}, name);
			thread.start();
			thread.join();
			if (i == n / 3 * 2)
				Thread.sleep(pause);
		}
		for (int i = 0; i < 100; i++)
			last(i);
		System.out.println("DONE");
		if (wait)
			while (System.in.read() >= 0)
				;
	}
}
