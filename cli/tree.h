/* SPDX-License-Identifier: MIT */
/* What of a call tree `jis tree` shows, and how. */
#ifndef JIS_CLI_TREE_H
#define JIS_CLI_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "calltree/jta_read.h"
#include "calltree/jta_names.h"

struct tree_view {
	const struct jta *tree;
	const struct jta_names *names;
	uint64_t open, path; /* records; 0: not given */
	const char *find;    /* methods with this text */
	bool breadth;	     /* ... level by level */
	const char *thread, *process;
	uint64_t from, to, longer; /* ns; to 0: to the end */
	uint32_t depth;		   /* levels; 0: all */
	uint32_t lines;		   /* at most; 0: all */
	bool by_begin, internal, incoming, json;
	/* From here on the printer's own. */
	uint64_t printed;
	bool more; /* than were printed */
};

/* Prints it; 0 or -errno as of jta.h, -ENOENT: record open or path is not there. */
int tree_print(struct tree_view *v);

#endif /* JIS_CLI_TREE_H */
