/* SPDX-License-Identifier: MIT */
/* What the two kinds of collapsed stacks share: sums by line, and the texts of lines. */
#ifndef JIS_ANALYSIS_COLLAPSED_INT_H
#define JIS_ANALYSIS_COLLAPSED_INT_H

#include "collapsed.h"

/* What makes a line; compared as bytes. */
struct line_key {
	uint32_t thread, vthread; /* indexes, or MODEL_NO_THREAD */
	uint32_t process;
	uint32_t path; /* the stack, or the calling context */
	uint32_t kind; /* of the reason, 0: none is written */
	uint32_t name; /* model_name() of the reason's class or peer, or 0 */
};

struct line {
	struct line_key key;
	uint64_t time;
};

struct collapsed {
	const struct model *model;
	struct collapsed_options options;
	struct model_sink sink;
	/* Writes the frames of @key's path, a semicolon before each. Returns 0 or -ENOMEM. */
	int (*put_path)(const struct collapsed *c, const struct line_key *key, FILE *out);
	struct line *table; /* open addressing; time 0: empty */
	uint32_t nr, mask;
};

/* Adds @time to the line of @key, with options.together to that of all threads. Returns 0 or
 * -ENOMEM. */
int collapsed_add(struct collapsed *c, struct line_key key, uint64_t time);

/* Texts of others' choice: a semicolon or the end of the line would make two of one frame. */
void collapsed_put_text(FILE *out, const char *text);

/* Set the sink's callbacks and put_path. */
void collapsed_waits_init(struct collapsed *c);
void collapsed_calls_init(struct collapsed *c);

#endif /* JIS_ANALYSIS_COLLAPSED_INT_H */
