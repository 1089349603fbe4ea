/* SPDX-License-Identifier: MIT */
/* Who woke whom how often: a hash table of pairs. Private to the report. */
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

/* Counts one wake-up of the pair in @key. Returns 0 or -ENOMEM. */
int pairs_count(struct pairs *p, const struct pair *key);
/* Puts the most frequent waker of each thread into @threads. */
void pairs_top(const struct pairs *p, struct report_thread *threads);
void pairs_fini(struct pairs *p);

#endif /* JIS_ANALYSIS_REPORT_PAIRS_H */
