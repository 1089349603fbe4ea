// SPDX-License-Identifier: MIT

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Of each pair of class files DIRECTORY/was/N and DIRECTORY/is/N: what links as it was must link as it is.
 * Prints those that do not, then "pairs N linked N broken N"; exit status 1 when any is broken.
 */
public class VerifyPairs {
	/** A loader of its own for each class; what the class refers to is asked for as always. */
	private static class Loader extends ClassLoader {
		String link(byte[] bytes) {
			try {
				defineClass(null, bytes, 0, bytes.length).getDeclaredMethods();
				return null;
			} catch (LinkageError | RuntimeException e) {
				return e.toString();
			}
		}
	}

	public static void main(String[] args) throws IOException {
		Path base = Path.of(args[0]);
		int pairs = 0;
		int linked = 0;
		int broken = 0;
		try (var files = Files.newDirectoryStream(base.resolve("was"))) {
			for (Path was : files) {
				pairs++;
				if (new Loader().link(Files.readAllBytes(was)) != null) {
					continue;
				}
				linked++;
				String error = new Loader().link(Files.readAllBytes(base.resolve("is").resolve(was.getFileName())));
				if (error != null) {
					broken++;
					System.out.println(was.getFileName() + ": " + error);
				}
			}
		}
		System.out.println("pairs " + pairs + " linked " + linked + " broken " + broken);
		System.exit(broken > 0 ? 1 : 0);
	}
}
