// SPDX-License-Identifier: MIT

import java.util.concurrent.locks.LockSupport;

/** Parks while it is initialised, for as many ms as system property pinned.ms says: there is a frame of the VM's below. */
public final class PinnedPark {
	static {
		LockSupport.parkNanos(Long.getLong("pinned.ms") * 1_000_000);
	}

	private PinnedPark() {
	}
}
