// SPDX-License-Identifier: MIT

import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Runs OldCalls of the class path and compares its own counts with those of java.lang.JProbe$. Usage: OldMain
 * LIST, which has lines "number class method descriptor" and "refused class method descriptor : why". Prints
 * "result N methods N calls N"; exit status 1 when anything differs.
 */
public class OldMain {
	private static boolean differs;

	private static long probe(String method, int number) throws ReflectiveOperationException {
		return (long) Class.forName("java.lang.JProbe$").getMethod(method, int.class).invoke(null, number);
	}

	private static void check(boolean good, String what) {
		if (!good) {
			System.out.println("differs: " + what);
			differs = true;
		}
	}

	public static void main(String[] args) throws Exception {
		Class<?> old = Class.forName("OldCalls");
		Method run = old.getMethod("run");
		int result = 0;
		for (int i = 0; i < 100; i++) {
			result = (int) run.invoke(null);
		}
		Map<?, ?> own = (Map<?, ?>) old.getField("COUNTS").get(null);
		Set<String> refused = new HashSet<>();
		var lines = Files.readAllLines(Path.of(args[0]));
		for (String line : lines) {
			String[] word = line.split(" ");
			if (word[0].equals("refused")) {
				refused.add(word[1] + word[2] + word[3]);
			}
		}
		int methods = 0;
		long calls = 0;
		for (String line : lines) {
			String[] word = line.split(" ");
			if (word[0].equals("refused")) {
				continue;
			}
			int number = Integer.parseInt(word[0]);
			long entered = probe("entered", number);
			String key = word[1].startsWith("OldCalls$") ? word[1].substring(9) + " " + word[2] : word[2];
			boolean isRefused = refused.contains(word[1] + word[2] + word[3]);
			int[] n = (int[]) own.get(key);
			if (n != null && !isRefused && !key.equals("Derived <init>")) { // it counts behind super()
				check(entered == n[0], key + " entered " + entered + " own " + n[0]);
			}
			check(isRefused ? entered == 0 : entered == probe("left", number), key + " entered " + entered
					+ " left " + probe("left", number) + (isRefused ? " refused" : ""));
			methods += entered > 0 ? 1 : 0;
			calls += entered;
		}
		check(probe("errors", 0) == 0, "errors " + probe("errors", 0));
		System.out.println("result " + result + " methods " + methods + " calls " + calls);
		System.exit(differs ? 1 : 0);
	}
}
