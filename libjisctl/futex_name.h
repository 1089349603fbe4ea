/* SPDX-License-Identifier: MIT */
/*
 * Whose locks futexes of a JVM are: read from the memory of its process. Private to libjisctl.
 */
#ifndef JISCTL_FUTEX_NAME_H
#define JISCTL_FUTEX_NAME_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "jis/events.h"

#define FUTEX_NAME_MAX 64u /* with the 0 behind it */

#define FUTEX_LIBRARIES_MAX 6u

/* Where a process has the data of JIS's agent, the C library and HotSpot; {0} at first. */
struct futex_libraries {
	struct futex_library {
		uint64_t from, to;
		char name[FUTEX_NAME_MAX];
		enum jis_futex_of of;
	} all[FUTEX_LIBRARIES_MAX];
	uint32_t nr;
	uint64_t looked_ns; /* CLOCK_MONOTONIC; 0: never */
	uint64_t *pointers; /* what words of HotSpot's data hold that may be addresses */
	size_t nr_pointers;
};

/* Gives back what was read of the process; @libraries itself is the caller's. */
void futex_libraries_fini(struct futex_libraries *libraries);

/**
 * futex_name_read - whose lock is waited for on the futex at @address?
 * @tid: a thread of the process. @libraries: of the process; looked for again, at most once a
 * second, for what is in none of them. Nothing that is read is trusted: what does not look like a
 * lock of HotSpot's is none. Returns enum jis_futex_of with @name, 0: that of a lock of which
 * nothing is known, or -errno: the memory cannot be read.
 */
int futex_name_read(pid_t tid, struct futex_libraries *libraries, uint64_t address,
		    char name[FUTEX_NAME_MAX]);

#endif /* JISCTL_FUTEX_NAME_H */
