/* SPDX-License-Identifier: MIT */
/* How the JVMs of a trace called the natives that record methods, and what that cost. */
#ifndef JIS_CLI_PROBE_WAYS_H
#define JIS_CLI_PROBE_WAYS_H

#include <stdint.h>

#include "trace/read.h"

struct probe_way {
	uint32_t process; /* of the manifest */
	uint32_t way;	  /* enum jis_method_way */
	uint64_t pair;	  /* picoseconds an entry and its exit cost, as measured at start */
};

/* In plain words; "unknown means" for one that this version does not know. */
const char *probe_way_text(uint32_t way);
/* Calls @each with what the streams that have not been read yet tell. */
void probe_ways_each(struct trace *t, void (*each)(void *context, const struct probe_way *p),
		     void *context);

#endif /* JIS_CLI_PROBE_WAYS_H */
