/* SPDX-License-Identifier: MIT */
/* Who woke whom how often, who waited behind whom how long: a hash table of pairs. Private to the
 * report. */
#ifndef JIS_ANALYSIS_REPORT_PAIRS_H
#define JIS_ANALYSIS_REPORT_PAIRS_H

#include "report.h"

struct pair {
	uint32_t thread;
	enum report_waker waker; /* REPORT_WAKER_NONE: an empty place */
	uint32_t waker_index, waker_tid;
	uint64_t count, first; /* first: order of first use */
};

struct pairs {
	struct pair *table;
	uint64_t nr;
	uint64_t mask;
};

/* Adds @n to the pair in @key: wake-ups, or ns waited. Returns 0 or -ENOMEM. */
int pairs_add(struct pairs *p, const struct pair *key, uint64_t n);
/* Puts the most frequent waker of each thread into @threads, or who kept it waiting longest. */
void pairs_top_wakers(const struct pairs *p, struct report_thread *threads);
void pairs_top_behind(const struct pairs *p, struct report_thread *threads);
void pairs_fini(struct pairs *p);

#endif /* JIS_ANALYSIS_REPORT_PAIRS_H */
