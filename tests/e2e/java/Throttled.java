// SPDX-License-Identifier: MIT

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A thread, called subject, that spins in a cgroup with a quota, which it goes into and leaves by itself: what keeps it
 * from a CPU there is, but for other threads of this machine, the quota. Waits for a line with -Dwait=true.
 *
 * <p>Arguments: CGROUP (its folder, threaded, in the folder of one this process is in) MILLISECONDS of its CPU time.
 * Output: "SPUN java_tid=N cpu=NS wall=NS", of its time in there.
 */
public final class Throttled {
	private static long sink;

	private static void enter(Path cgroup, String tid) throws IOException {
		Files.writeString(cgroup.resolve("cgroup.threads"), tid);
	}

	private static void spin(Path cgroup, long cpu) {
		try {
			String tid = KernelBooks.task().getFileName().toString();
			enter(cgroup, tid);
			long begin = System.nanoTime();
			KernelBooks before = new KernelBooks();
			KernelBooks after = before;
			for (long x = 1; after.cpu() - before.cpu() < cpu; after = new KernelBooks()) {
				for (long end = System.nanoTime() + 2_000_000; System.nanoTime() < end;) {
					x = x * 6364136223846793005L + 1;
				}
				sink += x;
			}
			enter(cgroup.getParent(), tid);
			long wall = System.nanoTime() - begin;
			System.out.println("SPUN java_tid=" + Waits.id(Thread.currentThread()) + " cpu=" + (after.cpu() - before.cpu())
				+ " wall=" + wall);
		} catch (IOException e) {
			throw new IllegalStateException(e);
		}
	}

	public static void main(String[] args) throws Exception {
		if (Boolean.getBoolean("wait")) {
			System.out.println("READY");
			System.in.read();
		}
		Path cgroup = Path.of(args[0]);
		long cpu = Long.parseLong(args[1]) * 1_000_000;
		Thread subject = new Thread(() -> spin(cgroup, cpu), "subject");
		subject.start();
		subject.join();
	}
}
