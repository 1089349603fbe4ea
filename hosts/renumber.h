/* SPDX-License-Identifier: MIT */
/*
 * Events of one host made events of a trace of several: threads, CPUs, cgroups and times in their
 * fields get the numbers they have there. What a field is, its name says.
 */
#ifndef JIS_HOSTS_RENUMBER_H
#define JIS_HOSTS_RENUMBER_H

#include "align.h"
#include "calltree/map64.h"
#include "trace/event_info.h"

enum field_role {
	ROLE_PLAIN, /* stays as it is */
	ROLE_TID,   /* of the kernel: thread or process; 0 stays */
	ROLE_CPU,
	ROLE_CGROUP,   /* 0 stays */
	ROLE_TIME,     /* ticks since the session's first */
	ROLE_DURATION, /* ticks */
};

/* What the fields of @info are. @kernel: its class is the kernel's or the recorder's; in other ones
 * threads are called what their process calls them. */
enum field_role field_role(const struct field_info *field, bool kernel);

/* Of one host. */
struct renumber {
	uint32_t host;
	uint32_t first_cpu, nr_cpus;
	struct tick_map *map;
	int64_t shift;	       /* to be added to what the map says */
	struct map64 *cgroups; /* host and number: the new one; of all hosts */
	uint64_t before;       /* times that would lie before the trace's first tick */
};

uint32_t renumber_tid(const struct renumber *r, uint32_t tid);
uint64_t renumber_time(struct renumber *r, uint64_t ticks); /* TIME_NONE stays */

/**
 * renumber_event - changes @payload, which is aligned to 4 bytes, in place.
 * @at: the event's own time, as it was.
 * Returns 0 or -ENOMEM.
 */
int renumber_event(struct renumber *r, uint32_t stream_class, uint32_t id, uint64_t at,
		   uint8_t *payload);
/* Does such an event have anything to change? */
bool renumber_wanted(uint32_t stream_class, uint32_t id);

#endif /* JIS_HOSTS_RENUMBER_H */
