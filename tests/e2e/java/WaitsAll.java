// SPDX-License-Identifier: MIT

/**
 * Waits, WaitsKernel and, where there are virtual threads, WaitsVirtual and WaitsSockets in one JVM.
 *
 * <p>Arguments: COUNT MILLISECONDS FILE. Output: that of all of them.
 */
public final class WaitsAll {
	private WaitsAll() {
	}

	public static void main(String[] args) throws Exception {
		if (Runtime.version().feature() >= 21) {
			// The first, as one of its threads runs when the agent comes.
			WaitsVirtual.main(args);
		}
		Waits.main(new String[] {args[0], args[1]});
		WaitsKernel.main(args);
		if (Runtime.version().feature() >= 21) {
			WaitsSockets.main(args);
		}
	}
}
