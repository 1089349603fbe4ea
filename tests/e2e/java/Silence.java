// SPDX-License-Identifier: MIT

import java.io.File;

/** Does nothing until file FILE is there, then collects N times. Output: "SILENT pid" when it begins to do nothing. */
public final class Silence {
	private Silence() {}

	public static void main(String[] args) throws InterruptedException {
		System.out.println("SILENT " + ProcessHandle.current().pid());
		while (!new File(args[0]).exists())
			Thread.sleep(100);
		for (int i = 0; i < Integer.parseInt(args[1]); i++)
			System.gc();
	}
}
