/* SPDX-License-Identifier: MIT */
/* Tasks by pool, and who gave whom how many. Private to the report. */
#ifndef JIS_ANALYSIS_REPORT_TASKS_H
#define JIS_ANALYSIS_REPORT_TASKS_H

#include "report_reasons.h"

struct tasks_run {
	struct tally pools, handovers;
	struct report_inside inside;
	const struct model_info *info;
};

void pools_begin(struct tasks_run *r, const struct model_info *info);
int pools_task(struct tasks_run *r, const struct model_task *t);
int pools_java_wait(struct tasks_run *r, const struct model_java_wait *w);
void pools_state(struct tasks_run *r, const struct model_state *s);
/* Sorts, and fills in what @report shows of it. */
int pools_end(struct tasks_run *r, struct report *report);
void pools_fini(struct tasks_run *r);

#endif /* JIS_ANALYSIS_REPORT_TASKS_H */
