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

/* Where a process has the data of JIS's agent; {0} at first. */
struct futex_agent {
	uint64_t from, to;
	uint64_t looked_ns; /* CLOCK_MONOTONIC; 0: never */
};

/**
 * futex_name_read - whose lock is waited for on the futex at @address?
 * @tid: a thread of the process. @agent: of the process; looked for where it is not known. Nothing
 * that is read is trusted: what does not look like a lock of HotSpot's is none.
 * Returns enum jis_futex_of with @name, 0: that of a lock of which nothing is known, or -errno: the
 * memory cannot be read.
 */
int futex_name_read(pid_t tid, struct futex_agent *agent, uint64_t address,
		    char name[FUTEX_NAME_MAX]);

#endif /* JISCTL_FUTEX_NAME_H */
