// SPDX-License-Identifier: MIT

import java.rmi.Remote;
import java.rmi.RemoteException;

/** What a BeaconServer offers. */
public interface Beacon extends Remote {
	/** How many servers it went through, those before included. */
	int remoteFoo(int passed) throws RemoteException;
}
