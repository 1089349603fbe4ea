// SPDX-License-Identifier: MIT

import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import jis.Jis;
import jis.Span;

/** Markers. Arguments: count THREADS EVENTS | loaders JAR | spans | off. */
public final class AgentMarkers {
	private static void count(int threads, int events) throws InterruptedException {
		List<Thread> all = new ArrayList<>();
		for (int i = 0; i < threads; i++) {
			int number = i;
			Thread t = new Thread(() -> {
				for (int k = 0; k < events; k++) {
					Jis.event(100 + number, k);
				}
			}, "marker-" + i);
			all.add(t);
			t.start();
		}
		for (Thread t : all) {
			t.join();
		}
	}

	/** Two loaders, each with its own copy of the class, besides the one of the class path. */
	private static void loaders(String jar) throws Exception {
		URL[] urls = {Path.of(jar).toUri().toURL()};
		for (int i = 0; i < 2; i++) {
			try (URLClassLoader loader = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader())) {
				Class<?> copy = loader.loadClass("jis.Jis");
				Method event = copy.getMethod("event", int.class, long.class);
				event.invoke(null, 50 + i, 7L);
				System.out.println((copy == Jis.class) + " " + copy.getMethod("isOn").invoke(null));
			}
		}
		Jis.event(52, 7);
	}

	@SuppressWarnings("try")
	private static void spans() {
		try (Span outer = Jis.begin("outer \"span\" \u20ac")) {
			for (int i = 0; i < 1000; i++) {
				try (Span inner = Jis.begin("inner")) {
					Jis.event(1, i);
				}
			}
			Span other = Jis.begin("other");
			Jis.end(other);
			other.close();
			Jis.end(null);
			Jis.begin(null).close();
		}
		for (int i = 0; i < 500; i++) {
			Jis.begin("name " + i).close();
		}
	}

	public static void main(String[] args) throws Exception {
		switch (args[0]) {
		case "count" -> count(Integer.parseInt(args[1]), Integer.parseInt(args[2]));
		case "loaders" -> loaders(args[1]);
		default -> spans();
		}
		System.out.println("END " + Jis.isOn());
	}
}
