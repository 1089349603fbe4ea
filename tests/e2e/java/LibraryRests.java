// SPDX-License-Identifier: MIT

import java.util.ArrayList;
import java.util.List;

/** Virtual threads that leave their carrier inside of a call, while others make theirs. Usage: THREADS ROUNDS. */
public class LibraryRests {
	static class Lib {
		static int inner() {
			return 1;
		}

		static int outer() throws InterruptedException {
			int n = inner();
			Thread.sleep(1);
			return n + inner();
		}

		static int top() {
			return inner();
		}
	}

	private static void work(int rounds) {
		try {
			for (int i = 0; i < rounds; i++) {
				Lib.outer();
				Lib.top();
			}
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	public static void main(String[] args) throws Exception {
		Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
		List<Thread> threads = new ArrayList<>();
		int rounds = Integer.parseInt(args[1]);

		for (int i = 0; i < Integer.parseInt(args[0]); i++) {
			threads.add((Thread) Class.forName("java.lang.Thread$Builder").getMethod("start", Runnable.class)
					.invoke(builder, (Runnable) () -> work(rounds)));
		}
		for (Thread t : threads) {
			t.join();
		}
	}
}
