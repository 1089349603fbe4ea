// SPDX-License-Identifier: MIT
import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * Classes that are there and not prepared when a recording begins, one of which never can be (the
 * test takes Missing away), and classes that are chosen by what is far above them.
 */
public class MethodsLate {
	static class Missing extends RuntimeException {
	}

	/** To be verified it needs Missing. */
	static class Broken {
		static Throwable either(boolean which) {
			Throwable t = which ? new Missing() : new Error();
			return t;
		}
	}

	static class C0 { static int m() { return 0; } }
	static class C1 { static int m() { return 1; } }
	static class C2 { static int m() { return 2; } }
	static class C3 { static int m() { return 3; } }
	static class C4 { static int m() { return 4; } }
	static class C5 { static int m() { return 5; } }
	static class C6 { static int m() { return 6; } }
	static class C7 { static int m() { return 7; } }
	static class C8 { static int m() { return 8; } }
	static class C9 { static int m() { return 9; } }

	static class Late { static int m() { return 10; } }

	/** Loaded when they are asked for, the lowest first. */
	static class Base { }
	static class Middle extends Base { }
	static class Deep extends Middle { int deep() { return 11; } }
	static class Other extends Base { int other() { return 12; } }

	static int all() {
		return C0.m() + C1.m() + C2.m() + C3.m() + C4.m() + C5.m() + C6.m() + C7.m() + C8.m() +
			C9.m();
	}

	interface Call {
		int run();
	}

	static void slowly(String name, Call call) throws InterruptedException {
		int n = 0;

		for (; n < 500; n++) {
			call.run();
			Thread.sleep(2);
		}
		System.out.println(name + " " + n);
	}

	public static void main(String[] args) throws Exception {
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		ClassLoader loader = MethodsLate.class.getClassLoader();
		String line;

		all();
		for (String name : new String[] {"Broken", "Late"})
			Class.forName("MethodsLate$" + name, false, loader);
		System.out.println("UP");
		while ((line = in.readLine()) != null) {
			switch (line) {
			case "all":
				all();
				System.out.println("ALL");
				break;
			case "late":
				slowly("LATE", Late::m);
				break;
			case "deep":
				Deep deep = new Deep();
				slowly("DEEP", deep::deep);
				Other other = new Other();
				System.out.println("OTHER " + other.other());
				break;
			case "broken":
				try {
					System.out.println("BROKEN " + Broken.either(false));
				} catch (NoClassDefFoundError e) {
					System.out.println("BROKEN not to be linked");
				}
				break;
			}
		}
	}
}
