// SPDX-License-Identifier: MIT

/** Calls the first of a chain of BeaconServers: PORT NAME. Output: "SERVERS N". */
public final class BeaconClient {
	private BeaconClient() {
	}

	public static void main(String[] args) throws Exception {
		Beacon first = BeaconServer.find(BeaconServer.url(args[0], args[1]));
		System.out.println("SERVERS " + first.remoteFoo(0));
	}
}
