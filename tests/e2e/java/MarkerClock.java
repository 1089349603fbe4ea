// SPDX-License-Identifier: MIT

import java.time.Instant;
import jis.Jis;

/** Marks a number each millisecond or so for some seconds and prints it with the time: "NUMBER EPOCH-NS". */
public final class MarkerClock {
	public static void main(String[] args) throws InterruptedException {
		long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
		for (long number = 0; System.nanoTime() < end; number++) {
			Instant now = Instant.now();
			Jis.event(78, number);
			System.out.println(number + " " + (now.getEpochSecond() * 1_000_000_000L + now.getNano()));
			Thread.sleep(1);
		}
		System.out.println("END");
	}
}
