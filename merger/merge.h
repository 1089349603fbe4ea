/* SPDX-License-Identifier: MIT */
/*
 * All streams of a session in one time order: a loser tree over the cursors. Memory grows with the
 * streams, not with the events. Equal times: the stream opened first goes first (kernel CPUs, then
 * recorder, then per process dictionary before slots), so that a name precedes its first use.
 */
#ifndef JIS_MERGER_MERGE_H
#define JIS_MERGER_MERGE_H

#include <stdint.h>

#include "trace/read.h"

struct merge;

/**
 * merge_open - a merge over @n cursors, each opened and not yet stepped. They stay the caller's.
 * Returns 0 or -ENOMEM.
 */
int merge_open(struct stream_cursor *cursors, uint32_t n, struct merge **out);
void merge_close(struct merge *m);

/**
 * merge_next - the next event in time order.
 * Returns the cursor that stands on it (valid until the next call), or NULL at the end. A stream
 * whose time steps back is not reordered: its event comes with the stream's order kept, and
 * merge_backward_steps() counts it.
 */
struct stream_cursor *merge_next(struct merge *m);
uint64_t merge_backward_steps(const struct merge *m);

/* Ticks of the session clock to nanoseconds since its begin, exact to below 1 ns over 100 days. */
struct clock_scale {
	uint64_t begin; /* ticks that are 0 ns */
	uint64_t mult;	/* ns = ((ticks - begin) * mult) >> shift, 128-bit product */
	uint32_t shift;
};

void clock_scale_init(struct clock_scale *s, uint64_t frequency, uint64_t begin);

static inline uint64_t clock_scale_ns(const struct clock_scale *s, uint64_t ticks)
{
	if (ticks <= s->begin)
		return 0;
	return (uint64_t)(((unsigned __int128)(ticks - s->begin) * s->mult) >> s->shift);
}

#endif /* JIS_MERGER_MERGE_H */
