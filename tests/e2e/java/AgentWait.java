// SPDX-License-Identifier: MIT

import jis.Jis;

/** Marks and collects until its standard input ends; shows that a JVM lives on whatever the recorder does. */
public final class AgentWait {
	public static void main(String[] args) throws Exception {
		System.out.println("READY");
		Thread worker = new Thread(() -> {
			for (long i = 0; ; i++) {
				Jis.event(1, i);
				Jis.begin("wait " + i % 10).close();
			}
		});
		worker.setDaemon(true);
		worker.start();
		while (System.in.read() >= 0) {
			Thread t = new Thread(() -> { }, "tick");
			t.setName("tock");
			t.start();
			t.join();
			System.gc();
		}
		System.out.println("END");
	}
}
