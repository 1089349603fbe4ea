/* SPDX-License-Identifier: MIT */
/* The part of the report that counts what JVMs do besides running threads. */
#ifndef JIS_ANALYSIS_REPORT_DOINGS_H
#define JIS_ANALYSIS_REPORT_DOINGS_H

#include "report.h"
#include "report_reasons.h"

struct doings_run {
	struct tally tally;
	const struct model_info *info;
	/* Of each process: the safepoint that is under way. */
	struct doings_open {
		bool open;
		uint32_t name;
		uint64_t begin, reached;
	} * open;
	struct report_heap *heaps; /* [process] */
	struct report_classes *classes;
};

int doings_begin(struct doings_run *r, const struct model_info *info);
/* Returns 0 or -ENOMEM; events of other kinds are none of its own. */
int doings_event(struct doings_run *r, const struct model_event *e);
/* Sorts, and fills in what @report shows of it. */
int doings_end(struct doings_run *r, struct report *report);
void doings_fini(struct doings_run *r);

#endif /* JIS_ANALYSIS_REPORT_DOINGS_H */
