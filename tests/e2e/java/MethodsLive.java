// SPDX-License-Identifier: MIT

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.Scanner;

/**
 * Does what its input says: "call N" calls methods of all kinds N times each and prints "CALLS class method
 * descriptor N" for each of them, then "done". The classes are loaded by the first call.
 */
public class MethodsLive {
	@Retention(RetentionPolicy.CLASS)
	@interface Traced {
	}

	interface Service {
		int serve(int n);

		default int helped(int n) {
			return n + 1;
		}
	}

	abstract static class Half implements Service {
	}

	static class Whole extends Half {
		@Override
		public int serve(int n) {
			return outer(n) + helped(n);
		}

		int outer(int n) {
			return inner(n) + 1;
		}

		int inner(int n) {
			return n * 2;
		}
	}

	static class Other {
		@Traced
		static int marked(int n) {
			return n - 1;
		}

		static int plain(int n) {
			return n + 3;
		}
	}

	@Traced
	static class All {
		static int one(int n) {
			return n / 2;
		}

		static int two(int n) {
			return one(n) / 2;
		}
	}

	private static void told(String method, int n) {
		System.out.println("CALLS MethodsLive$" + method + " (I)I " + n);
	}

	private static void call(int n) {
		Service service = new Whole();
		for (int i = 0; i < n; i++) {
			service.serve(i);
			Other.marked(i);
			Other.plain(i);
			All.two(i);
		}
		told("Whole serve", n);
		told("Whole outer", n);
		told("Whole inner", n);
		told("Service helped", n);
		told("Other marked", n);
		told("Other plain", n);
		told("All one", n);
		told("All two", n);
	}

	public static void main(String[] args) {
		Scanner in = new Scanner(System.in);
		System.out.println("READY");
		while (in.hasNext()) {
			in.next();
			int n = in.nextInt();
			call(n);
			System.out.println("done " + n);
		}
	}
}
