// SPDX-License-Identifier: MIT

import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.invoke.MethodHandles;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.util.function.IntUnaryOperator;
import java.util.stream.Stream;

/**
 * Loads what is never rewritten: classes of java.base with methods marked for the VM, whose files it
 * copies into the folder it is given (without one: none of them), hidden classes, a lambda. As an agent it
 * lets no one retransform Refused and Kept, whose bytes it then damages.
 */
public class MethodsLeft {
	static class Hidden implements IntUnaryOperator {
		private int calls;

		@Override
		public int applyAsInt(int n) {
			return more(n) + ++calls;
		}

		private int more(int n) {
			return n * 3 + 1;
		}
	}

	static class Refused {
		static int refused(int n) {
			return n + 4;
		}
	}

	static class Kept {
		static int kept(int n) {
			return more(n) + 5;
		}

		static int more(int n) {
			return n + 6;
		}
	}

	private static class Damage implements ClassFileTransformer {
		@Override
		public byte[] transform(ClassLoader loader, String name, Class<?> old, ProtectionDomain domain, byte[] bytes) {
			return old != null && (name.endsWith("$Refused") || name.endsWith("$Kept")) ? new byte[10] : null;
		}
	}

	public static void premain(String arguments, Instrumentation instrumentation) {
		instrumentation.addTransformer(new Damage(), true);
	}

	private static final String[] MARKS = {"Ljdk/internal/vm/annotation/", "ScopedMemoryAccess$Scoped;"};
	private static final String[] NAMED = {"java.lang.Object", "java.lang.VirtualThread", "jdk.internal.vm.Continuation"};

	/** Loads a class file of java.base, and keeps a copy. */
	private static void take(Path file, Path folder) {
		try {
			byte[] bytes = Files.readAllBytes(file);
			String text = new String(bytes, StandardCharsets.ISO_8859_1);
			String name = file.subpath(2, file.getNameCount()).toString().replace('/', '.').replaceAll("\\.class$", "");
			boolean taken = false;

			for (String mark : MARKS)
				taken |= text.contains(mark);
			for (String named : NAMED)
				taken |= name.equals(named);
			if (!taken)
				return;
			Class.forName(name, false, null).getDeclaredConstructors(); // which links it
			Files.write(folder.resolve(name + ".class"), bytes);
		} catch (IOException | ReflectiveOperationException e) {
			throw new IllegalStateException(e);
		}
	}

	private static void takeAll(Path folder) throws IOException {
		try (Stream<Path> files = Files.walk(FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules/java.base"))) {
			files.filter(f -> f.toString().endsWith(".class")).forEach(f -> take(f, folder));
		}
	}

	public static void main(String[] args) throws Exception {
		if (args.length > 0) {
			takeAll(Path.of(args[0]));
		}
		byte[] template;
		try (InputStream in = MethodsLeft.class.getResourceAsStream("MethodsLeft$Hidden.class")) {
			template = in.readAllBytes();
		}
		Class<?> hidden = MethodHandles.lookup().defineHiddenClass(template, true).lookupClass();
		var made = hidden.getDeclaredConstructor();
		made.setAccessible(true);
		int offset = args.length, sum = ((IntUnaryOperator) made.newInstance()).applyAsInt(offset);
		IntUnaryOperator lambda = n -> n + offset;

		sum += lambda.applyAsInt(sum) + Refused.refused(sum) + Kept.kept(sum);
		// Of the boot loader.
		System.out.println("LOADER jdk.internal.misc.Unsafe ");
		System.out.println("HIDDEN " + hidden.getName());
		System.out.println("LAMBDA " + lambda.getClass().getName());
		System.out.println("READY " + sum);
		System.in.read();
		Kept.kept(sum);
	}
}
