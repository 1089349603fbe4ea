// SPDX-License-Identifier: MIT

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Links, and so verifies, each class below a directory of class files, and prints "NAME ok" or
 * "NAME ERROR". What they refer to comes from there and from jars. Usage: VerifyClasses DIRECTORY [JAR...]
 */
public class VerifyClasses {
	private static String link(ClassLoader loader, String name) {
		try {
			Class.forName(name, false, loader).getDeclaredMethods();
			return "ok";
		} catch (ClassNotFoundException | LinkageError e) {
			return e.getClass().getName() + " " + String.valueOf(e.getMessage()).replace('\n', ' ');
		}
	}

	public static void main(String[] args) throws IOException {
		Path base = Path.of(args[0]);
		URL[] urls = new URL[args.length];
		for (int i = 0; i < args.length; i++) {
			urls[i] = Path.of(args[i]).toUri().toURL();
		}
		List<String> names;
		try (var files = Files.walk(base)) {
			names = files.map(p -> base.relativize(p).toString()).filter(p -> p.endsWith(".class"))
					.map(p -> p.substring(0, p.length() - 6).replace('/', '.')).sorted().collect(Collectors.toList());
		}
		try (URLClassLoader loader = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader())) {
			for (String name : names) {
				System.out.println(name + " " + link(loader, name));
			}
		}
	}
}
