// SPDX-License-Identifier: MIT
/** Calls what compilers may replace, Math.max and String.equals, and what they may not: each so many times. */
public final class Intrinsics {
	private static int own(int a, int b) {
		return Math.max(a, b) + ("a" + a).compareTo("a" + b);
	}

	public static void main(String[] args) {
		int n = Integer.parseInt(args[0]), sum = 0;
		for (int i = 0; i < n; i++)
			sum += own(i, n - i);
		System.out.println("called " + n + " " + sum);
	}
}
