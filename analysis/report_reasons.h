/* SPDX-License-Identifier: MIT */
/* Where time went by reason, by lock, by peer and by virtual thread. Private to the report. */
#ifndef JIS_ANALYSIS_REPORT_REASONS_H
#define JIS_ANALYSIS_REPORT_REASONS_H

#include <stddef.h>

#include "report.h"

/* Records by key: open addressing over an array in order of first use. */
struct tally {
	void *items;	 /* each begins with its key, of key_size bytes */
	uint32_t *table; /* index + 1 */
	uint32_t nr, room, mask;
	size_t size, key_size;
};

/* The record of @key, with zeros when it is new; NULL: no memory. */
void *tally_get(struct tally *t, const void *key);
void tally_fini(struct tally *t);

struct reasons_run {
	struct report_reason *threads; /* [thread * MODEL_NR_REASONS + kind] */
	struct report_reason total[MODEL_NR_REASONS];
	struct tally locks, owners, wakers, peers;
	struct report_vthread *vthreads;
	struct report_reason *vthread_reasons; /* as of threads */
	struct report_virtual virtuals;
	const struct model_info *info;
};

int reasons_begin(struct reasons_run *r, const struct model_info *info);
int reasons_state(struct reasons_run *r, const struct model_state *s);
int reasons_java_wait(struct reasons_run *r, const struct model_java_wait *w);
int reasons_wakeup(struct reasons_run *r, const struct model_wakeup *w);
int reasons_vstate(struct reasons_run *r, const struct model_vstate *s);
/* Sorts, and fills in what @report shows of it. */
int reasons_end(struct reasons_run *r, struct report *report);
void reasons_fini(struct reasons_run *r);

#endif /* JIS_ANALYSIS_REPORT_REASONS_H */
