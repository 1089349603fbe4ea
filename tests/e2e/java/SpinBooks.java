// SPDX-License-Identifier: MIT
/**
 * A method that spins for some time by the wall's clock, while others want the same CPU; and the time that its thread had
 * the CPU meanwhile by the kernel's own books. Spins as often as a line of the standard input says, for milliseconds.
 */
public final class SpinBooks {
	private static long sink;

	private static native long rusage();

	private static void spin(long ns) {
		long begin = System.nanoTime(), x = 1;
		while (System.nanoTime() - begin < ns)
			for (int i = 0; i < 1000; i++)
				x = x * 6364136223846793005L + i;
		sink += x;
	}

	public static void main(String[] args) throws java.io.IOException {
		System.load(args[0]);
		spin(200_000_000); // compiled by then, where it is to be
		System.out.println("READY");
		var in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
		for (String line; (line = in.readLine()) != null;) {
			String[] words = line.split(" ");
			for (int i = 0; i < Integer.parseInt(words[0]); i++) {
				long wall = System.nanoTime(), before = rusage();
				spin(Long.parseLong(words[1]) * 1_000_000);
				System.out.println("SPUN " + (rusage() - before) + " " + (System.nanoTime() - wall));
			}
			System.out.println("done");
		}
	}
}
