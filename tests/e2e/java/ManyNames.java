// SPDX-License-Identifier: MIT

/** Has many threads in turn, each with a long name, then calls last() a hundred times. Usage: ManyNames THREADS [wait] */
public final class ManyNames {
	private static int sum;

	static void last(int i) {
		sum += i;
	}

	public static void main(String[] args) throws Exception {
		int n = Integer.parseInt(args[0]);
		boolean wait = args.length > 1;
		if (wait) {
			System.out.println("READY");
			System.in.read();
		}
		for (int i = 0; i < n; i++) {
			Thread thread = new Thread(() -> {}, "n".repeat(180) + " " + i);
			thread.start();
			thread.join();
		}
		for (int i = 0; i < 100; i++)
			last(i);
		System.out.println("DONE");
		if (wait)
			while (System.in.read() >= 0)
				;
	}
}
