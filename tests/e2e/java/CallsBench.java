// SPDX-License-Identifier: MIT

import java.util.Arrays;

/**
 * What recording a call costs: methods that are traced, the same that are not, and the limit in C, in turn in one JVM.
 * Usage: CallsBench LIBRARY ROUNDS [whole]; prints each round's ratio and additions, then the medians in ns, and the median
 * of the ratios. Whole: of what a call takes in all, where all methods are traced; else an untraced one is subtracted. The
 * additions a ns are of a loop that does nothing else: they are fewer where the core has less to give.
 */
public class CallsBench {
	static final int PAIRS = 80000;

	static native long cpu();

	static native void limit(int pairs);

	static native void additions(int n);

	static class Traced {
		static int a(int n) {
			return n + 1;
		}

		static int b(int n) {
			return n * 3;
		}

		static int c(int n) {
			return n ^ 5;
		}

		static int d(int n) {
			return n - 7;
		}
	}

	static class Plain {
		static int a(int n) {
			return n + 1;
		}

		static int b(int n) {
			return n * 3;
		}

		static int c(int n) {
			return n ^ 5;
		}

		static int d(int n) {
			return n - 7;
		}
	}

	static int sink;

	private static void traced(int pairs) {
		int n = sink;
		for (int i = 0; i < pairs; i += 4) {
			n = Traced.d(Traced.c(Traced.b(Traced.a(n))));
		}
		sink = n;
	}

	private static void plain(int pairs) {
		int n = sink;
		for (int i = 0; i < pairs; i += 4) {
			n = Plain.d(Plain.c(Plain.b(Plain.a(n))));
		}
		sink = n;
	}

	private static double median(double[] values) {
		double[] sorted = values.clone();
		Arrays.sort(sorted);
		return sorted[sorted.length / 2];
	}

	public static void main(String[] args) throws InterruptedException {
		System.load(args[0]);
		int rounds = Integer.parseInt(args[1]);
		double[] traced = new double[rounds];
		double[] limit = new double[rounds];
		double[] ratio = new double[rounds];
		double[] additions = new double[rounds];
		boolean whole = args.length > 2 && args[2].equals("whole");
		for (int i = -100; i < rounds; i++) {
			long t0 = cpu();
			limit(PAIRS);
			long t1 = cpu();
			plain(PAIRS);
			long t2 = cpu();
			traced(PAIRS);
			long t3 = cpu();
			additions(16 * PAIRS);
			long t4 = cpu();
			Thread.sleep(30); // the recorder frees packets
			if (i < 0) {
				continue;
			}
			limit[i] = (double) (t1 - t0) / PAIRS;
			traced[i] = (double) (t3 - t2 - (whole ? 0 : t2 - t1)) / PAIRS;
			additions[i] = 16.0 * PAIRS / (t4 - t3);
			ratio[i] = traced[i] / limit[i];
		}
		for (int i = 0; i < rounds; i++) { // not before all are done: it would be in the next one's way
			System.out.printf("round: %.2f additions a ns, ratio %.3f%n", additions[i], ratio[i]);
		}
		System.out.printf("traced call %.1f ns, two clock reads and stores %.1f ns, %.1f additions a ns, ratio %.2f%n",
				median(traced), median(limit), median(additions), median(ratio));
	}
}
