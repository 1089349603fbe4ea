/* SPDX-License-Identifier: MIT */
/* What `jis stats` prints. */
#ifndef JIS_CLI_STATS_H
#define JIS_CLI_STATS_H

#include "analysis/stats.h"

enum stats_format { STATS_TEXT, STATS_CSV, STATS_JSON };

struct stats_view {
	const struct model *model;
	struct stats *stats;
	enum stats_by by;
	int32_t argument;   /* BY_ARGUMENT: that one alone, -1: all */
	const char *sort;   /* a field's name, or "name" */
	const char *method; /* only lines whose method's text contains or matches this; NULL: all */
	uint32_t top;	    /* at most so many lines, 0: all */
};

/* Is there a field of that name to sort by? */
bool stats_sortable(const char *name);
/* All print to standard output and return 0 or -ENOMEM. */
int stats_print_text(const struct stats_view *v);
int stats_print_csv(const struct stats_view *v);
int stats_print_json(const struct stats_view *v);

#endif /* JIS_CLI_STATS_H */
