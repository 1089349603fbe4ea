// SPDX-License-Identifier: MIT

import java.io.IOException;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Gives the JVM rewritten classes of the JDK from a directory, also for those already loaded, then makes
 * it link, and so verify, all of them. As -javaagent with the directory as its argument, and as program
 * with the names of modules.
 * Prints each VerifyError or ClassFormatError, then "retransformed N served N linked N failed N fired N", the
 * last how often probes of theirs were called.
 */
public class AgentVerifyAll implements ClassFileTransformer {
	private static final Map<String, byte[]> REWRITTEN = new HashMap<>();
	private static int retransformed;
	private static int served;
	private static int failed;

	private static boolean isOfTheJdk(ClassLoader loader) {
		return loader == null || loader == ClassLoader.getPlatformClassLoader()
				|| loader == ClassLoader.getSystemClassLoader();
	}

	@Override
	public byte[] transform(ClassLoader loader, String name, Class<?> old, ProtectionDomain domain, byte[] bytes) {
		byte[] rewritten = isOfTheJdk(loader) ? REWRITTEN.get(name) : null;
		if (rewritten != null) {
			served++;
		}
		return rewritten;
	}

	private static List<String> namesBelow(Path base) throws IOException {
		try (var files = Files.walk(base)) {
			return files.map(p -> base.relativize(p).toString()).filter(p -> p.endsWith(".class"))
					.map(p -> p.substring(0, p.length() - 6)).collect(Collectors.toList());
		}
	}

	public static void premain(String directory, Instrumentation instrumentation) throws Exception {
		Path base = Path.of(directory);
		for (String name : namesBelow(base)) {
			REWRITTEN.put(name, Files.readAllBytes(base.resolve(name + ".class")));
		}
		List<Class<?>> loaded = new ArrayList<>();
		for (Class<?> c : instrumentation.getAllLoadedClasses()) {
			if (isOfTheJdk(c.getClassLoader()) && instrumentation.isModifiableClass(c)
					&& REWRITTEN.containsKey(c.getName().replace('.', '/'))) {
				loaded.add(c);
			}
		}
		instrumentation.addTransformer(new AgentVerifyAll(), true);
		for (Class<?> c : loaded) {
			try {
				instrumentation.retransformClasses(c);
				retransformed++;
			} catch (VerifyError | ClassFormatError e) {
				failed++;
				System.out.println(c.getName() + ": " + e);
			}
		}
	}

	/** Links all classes of a module; returns their number. */
	private static int linkAll(String module) throws IOException {
		ClassLoader loader = ModuleLayer.boot().findModule(module).orElseThrow().getClassLoader();
		int linked = 0;
		for (String name : namesBelow(FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules/" + module))) {
			if (name.equals("module-info")) {
				continue;
			}
			try {
				Class.forName(name.replace('/', '.'), false, loader).getDeclaredMethods();
				linked++;
			} catch (VerifyError | ClassFormatError e) {
				failed++;
				System.out.println(name + ": " + e);
			} catch (ClassNotFoundException | LinkageError e) {
				linked++; // a class it refers to is not there: not ours to mend
			}
		}
		return linked;
	}

	public static void main(String[] modules) throws IOException, ReflectiveOperationException {
		int linked = 0;
		for (String module : modules) {
			linked += linkAll(module);
		}
		System.out.println("retransformed " + retransformed + " served " + served + " linked " + linked + " failed " + failed
			+ " fired " + Class.forName("java.lang.JProbe$").getField("calls").getLong(null));
	}
}
