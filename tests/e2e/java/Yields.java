// SPDX-License-Identifier: MIT

/**
 * Threads that do nothing but yield to one another.
 *
 * <p>Arguments: THREADS COUNT. Output: "END".
 */
public final class Yields {
	private Yields() {}

	public static void main(String[] args) throws InterruptedException {
		Thread[] all = new Thread[Integer.parseInt(args[0])];
		int count = Integer.parseInt(args[1]);
		for (int i = 0; i < all.length; i++) {
			all[i] = new Thread(() -> {
				for (int n = 0; n < count; n++)
					Thread.yield();
			}, "yields-" + i);
		}
		for (Thread t : all)
			t.start();
		for (Thread t : all)
			t.join();
		System.out.println("END");
	}
}
