// SPDX-License-Identifier: MIT

import java.io.IOException;
import java.io.InputStream;
import java.util.Scanner;

/**
 * Loads a class by a loader that is held up on the way: when the class file of Late has been handed to the JVM, and
 * the class above it is asked for, it prints "PARKED" and waits for a line. Then calls Late's methods, each as often
 * as its argument says, and prints "done".
 */
public class MethodsRace {
	public static class Base {
	}

	public static class Late extends Base implements Runnable {
		static int called;

		static void count() {
			called++;
		}

		@Override
		public void run() {
			count();
		}
	}

	static class Loader extends ClassLoader {
		private final Scanner in;

		Loader(Scanner in) {
			super(MethodsRace.class.getClassLoader());
			this.in = in;
		}

		@Override
		protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
			if (!name.equals("MethodsRace$Base") && !name.equals("MethodsRace$Late")) {
				return super.loadClass(name, resolve);
			}
			if (name.endsWith("Base")) {
				System.out.println("PARKED");
				in.nextLine();
			}
			try (InputStream file = getParent().getResourceAsStream(name + ".class")) {
				byte[] bytes = file.readAllBytes();
				return defineClass(name, bytes, 0, bytes.length);
			} catch (IOException e) {
				throw new ClassNotFoundException(name, e);
			}
		}
	}

	public static void main(String[] args) throws Exception {
		Class<?> late = new Loader(new Scanner(System.in)).loadClass("MethodsRace$Late");
		Runnable object = (Runnable) late.getConstructor().newInstance();
		for (int i = 0; i < Integer.parseInt(args[0]); i++) {
			object.run();
		}
		System.out.println("done");
	}
}
