/* SPDX-License-Identifier: MIT */
/*
 * Where in the program threads waited long, and started others: by the first frame of the stack
 * that is not the JDK's. Private to the report.
 */
#ifndef JIS_ANALYSIS_REPORT_PLACES_H
#define JIS_ANALYSIS_REPORT_PLACES_H

#include "report_reasons.h"

struct places_run {
	struct tally stacks; /* sums by reason, class and stack */
	struct tally starts; /* by stack and who */
	struct report_stack *out;
	struct report_start *out_starts;
};

void places_begin(struct places_run *r);
/* MODEL_EVENT_THREAD_START. Returns 0 or -ENOMEM. */
int places_start(struct places_run *r, const struct model_event *e);
int places_java_wait(struct places_run *r, const struct model_java_wait *w);
/* Puts what is left into @report. */
int places_end(struct places_run *r, struct report *report);
void places_fini(struct places_run *r);

#endif /* JIS_ANALYSIS_REPORT_PLACES_H */
