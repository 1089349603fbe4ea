// SPDX-License-Identifier: MIT

/** Fills the young generation N times over, then collects M times. */
public final class AgentGc {
	static Object keep;

	public static void main(String[] args) {
		for (int i = 0; i < Integer.parseInt(args[0]) * 1024; i++) {
			keep = new byte[16 * 1024];
		}
		for (int i = 0; i < Integer.parseInt(args[1]); i++) {
			System.gc();
		}
		System.out.println("END");
	}
}
