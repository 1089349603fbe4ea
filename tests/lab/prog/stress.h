/* SPDX-License-Identifier: MIT */
/*
 * What the programs of the stress test share: sums over all of them and all rounds, in a file they
 * map.
 */
#ifndef STRESS_H
#define STRESS_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "jis/abi.h"

#define MAX_PIDS 16
#define MAX_CPUS 16

/* Sums are added to atomically and survive whoever is killed. */
struct stats {
	unsigned long events;	/* recorded, in all sessions */
	unsigned long lost;	/* found no room */
	unsigned long packets;	/* read */
	unsigned long sessions; /* set up */
	unsigned long ioctls;
	unsigned long failed; /* calls that said ENOMEM */
	unsigned long killed_recorders, killed_targets, offlines, tools;
	unsigned long witnessed,
		exact;	    /* rounds the witness compared; those of them without a loss */
	int pids[MAX_PIDS]; /* targets there are now */
};

static inline void add(unsigned long *sum, unsigned long n)
{
	__atomic_fetch_add(sum, n, __ATOMIC_RELAXED);
}

/* The file $STRESS_STATS, made when it is not there. */
static inline struct stats *stats_map(void)
{
	const char *path = getenv("STRESS_STATS");
	int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	void *m;

	if (fd < 0 || ftruncate(fd, sizeof(struct stats)))
		exit(fprintf(stderr, "STRESS_STATS: %s\n", path ? strerror(errno) : "not set") > 0);
	m = mmap(NULL, sizeof(struct stats), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (m == MAP_FAILED)
		exit(1);
	return m;
}

static inline unsigned long rnd(unsigned long *r)
{
	*r ^= *r << 13;
	*r ^= *r >> 7;
	*r ^= *r << 17;
	return *r;
}

static inline void pause_ms(unsigned long ms)
{
	const struct timespec t = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};

	nanosleep(&t, NULL);
}

/* The calls the loads make: getppid as it is, reads and writes, of sockets too, with size, futexes
 * with all they have. */
static inline void calls_select(struct jis_syscalls *calls)
{
	memset(calls, 0, sizeof(*calls));
	calls->size = sizeof(*calls);
	calls->native[SYS_getppid] = (struct jis_syscall_desc){JIS_SHAPE_PLAIN, JIS_ARG_NONE,
							       JIS_ARG_NONE, JIS_ARG_NONE};
	calls->native[SYS_read] = (struct jis_syscall_desc){JIS_SHAPE_IO, 0, 2, JIS_ARG_NONE};
	calls->native[SYS_write] = calls->native[SYS_read];
	calls->native[SYS_sendto] = calls->native[SYS_read];
	calls->native[SYS_recvfrom] = calls->native[SYS_read];
	calls->native[SYS_futex] = (struct jis_syscall_desc){JIS_SHAPE_FUTEX, 0, 1, 3};
}

#endif /* STRESS_H */
