// SPDX-License-Identifier: MIT

import java.io.PrintStream;
import jis.Jis;

/** Marks a number, then prints it, for ever, from two threads: whoever kills it can check what was kept. */
public final class MarkerVictim {
	private static long next;

	public static void main(String[] args) {
		PrintStream out = new PrintStream(new java.io.FileOutputStream(java.io.FileDescriptor.out), false);
		Runnable body = () -> {
			while (true) {
				long number;
				synchronized (MarkerVictim.class) {
					number = next++;
				}
				Jis.event(77, number);
				synchronized (out) {
					out.print(number + "\n");
					out.flush();
				}
			}
		};
		new Thread(body, "victim 0").start();
		new Thread(body, "victim 1").start();
	}
}
