/* SPDX-License-Identifier: MIT */
/*
 * A list of processes by pid and start time; those that have ended are cleaned away when it has
 * grown twice as long as it was after the last cleaning.
 */
#include "agent_askers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proc.h"

/* Each pool leaves a directory. A process has one, and one more for each program it executes. */
#define POOLS_PER_PROCESS 64
#define POOLS_PER_SESSION 16384
#define CLEAN_AT_FIRST 1024

struct asker {
	pid_t pid;
	uint32_t pools;
	uint64_t start_time;
};

/* 0: it has ended. */
static uint64_t start_time_of(pid_t pid)
{
	struct proc_stat st;

	return proc_stat_read(pid, pid, &st) ? 0 : st.start_time;
}

static void clean(struct askers *a)
{
	uint32_t i, n = 0;

	for (i = 0; i < a->nr; i++)
		if (start_time_of(a->list[i].pid) == a->list[i].start_time)
			a->list[n++] = a->list[i];
	a->nr = n;
	a->clean_at = n * 2 > CLEAN_AT_FIRST ? n * 2 : CLEAN_AT_FIRST;
}

/* The books of process @pid, made when it is new; NULL: no memory. */
static struct asker *asker_of(struct askers *a, pid_t pid)
{
	uint64_t start_time = start_time_of(pid);
	struct asker *more;
	uint32_t i;

	for (i = 0; i < a->nr; i++) {
		if (a->list[i].pid != pid)
			continue;
		if (a->list[i].start_time != start_time) /* the pid is another's now */
			a->list[i] = (struct asker){.pid = pid, .start_time = start_time};
		return &a->list[i];
	}
	if (a->nr && a->nr >= a->clean_at)
		clean(a);
	if (a->nr == a->room) {
		more = realloc(a->list, (a->room * 2 + 64) * sizeof(*more));
		if (!more)
			return NULL;
		a->list = more;
		a->room = a->room * 2 + 64;
	}
	a->list[a->nr] = (struct asker){.pid = pid, .start_time = start_time};
	return &a->list[a->nr++];
}

const char *askers_deny(struct askers *a, pid_t pid, uint32_t processes)
{
	struct asker *asker;

	if (processes >= POOLS_PER_SESSION)
		return "too many processes have had a pool";
	asker = asker_of(a, pid);
	if (!asker)
		return strerror(ENOMEM);
	if (asker->pools == POOLS_PER_PROCESS)
		return "it has had too many pools";
	asker->pools++;
	return NULL;
}

bool askers_have(const struct askers *a, pid_t pid)
{
	uint64_t start_time = start_time_of(pid);
	uint32_t i;

	for (i = 0; i < a->nr; i++)
		if (a->list[i].pid == pid && a->list[i].start_time == start_time)
			return true;
	return false;
}

void askers_fini(struct askers *a)
{
	free(a->list);
}
