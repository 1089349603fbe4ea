// SPDX-License-Identifier: MIT

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Starts many threads, all at once and one after the other, some with strange names; each prints its kernel
 * thread id and its name as a JSON string. Usage: ManyThreads AT-ONCE IN-TURN
 */
public final class ManyThreads {
	private static final String[] STRANGE = {
		"quotes \" and ' and \\ backslash", "two\nlines", "tab\there", "Zürich 東京 \uD83D\uDE80", "x".repeat(300),
		"[42]", "", "end with space ", "a: b, c; {d} #e",
	};
	private static PrintStream out;

	public static void main(String[] args) throws Exception {
		out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
		int atOnce = Integer.parseInt(args[0]);
		int inTurn = Integer.parseInt(args[1]);
		CountDownLatch all = new CountDownLatch(atOnce);
		List<Thread> threads = new ArrayList<>();
		for (int i = 0; i < atOnce; i++) {
			String name = i < STRANGE.length ? STRANGE[i] : "at once " + i;
			Thread thread = new Thread(() -> {
				say();
				all.countDown();
				try {
					all.await();
				} catch (InterruptedException e) {
					Thread.currentThread().interrupt();
				}
			}, name);
			threads.add(thread);
			thread.start();
		}
		for (Thread thread : threads)
			thread.join();
		for (int i = 0; i < inTurn; i++) {
			Thread thread = new Thread(ManyThreads::say, "in turn " + i);
			thread.start();
			thread.join();
		}
		out.flush();
	}

	private static void say() {
		String line;
		try {
			line = Path.of("/proc/thread-self").toRealPath().getFileName() + " " + json(Thread.currentThread().getName());
		} catch (IOException e) {
			throw new IllegalStateException(e);
		}
		synchronized (out) {
			out.println(line);
		}
	}

	private static String json(String text) {
		StringBuilder b = new StringBuilder("\"");
		for (char c : text.toCharArray()) {
			if (c == '"' || c == '\\')
				b.append('\\').append(c);
			else if (c < 0x20)
				b.append(String.format("\\u%04x", (int) c));
			else
				b.append(c);
		}
		return b.append('"').toString();
	}
}
