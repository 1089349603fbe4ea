/* SPDX-License-Identifier: MIT */
/* Connections, and links by kind, by class of lock and by pair of threads. Private to the report.
 */
#ifndef JIS_ANALYSIS_REPORT_LINKS_H
#define JIS_ANALYSIS_REPORT_LINKS_H

#include "report.h"
#include "report_reasons.h"

struct links_run {
	struct tally pairs, classes;
	struct report_links sums;
	struct report_connections connections;
	struct report_connection *heap; /* the least on top, when it is full */
	uint32_t nr_heap, room_heap;
};

void links_begin(struct links_run *r);
/* Both return 0 or -ENOMEM, as does links_end(). */
int links_add(struct links_run *r, const struct model_link *link);
int links_connection(struct links_run *r, const struct model_connection *c);
int links_end(struct links_run *r, struct report *report);
void links_fini(struct links_run *r);

#endif /* JIS_ANALYSIS_REPORT_LINKS_H */
