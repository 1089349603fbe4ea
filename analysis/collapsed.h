/* SPDX-License-Identifier: MIT */
/*
 * Collapsed stacks, as flame graph tools read them: a line each thread, stack and reason,
 * "thread;outermost;...;innermost;[reason: class] NS". A sink of the model; memory grows with
 * different lines, not with waits or calls.
 */
#ifndef JIS_ANALYSIS_COLLAPSED_H
#define JIS_ANALYSIS_COLLAPSED_H

#include <stdio.h>

#include "merger/model.h"

/* What is summed. */
enum collapsed_of {
	/* Time off the CPU: waits of which the thread told have the stack that was taken in them,
	   others have none. */
	COLLAPSED_WAITS,
	/* Own time of calls of traced methods, all of it, that on a CPU, and that off it, which
	   has the reason as its last frame. */
	COLLAPSED_CALLS_WALL,
	COLLAPSED_CALLS_CPU,
	COLLAPSED_CALLS_OFF_CPU,
};

struct collapsed_options {
	enum collapsed_of of;
	/* All threads of a process under its name; calls of one that was started by another under
	   what started it. */
	bool together;
};

struct collapsed;

/* Returns NULL without memory; @model outlives it. Free with collapsed_free(). */
struct collapsed *collapsed_new(const struct model *model, const struct collapsed_options *options);
/* The sink to hand to model_run(), which may return -ENOMEM from it. */
const struct model_sink *collapsed_sink(const struct collapsed *c);
/* Writes the lines to @out, most time first. Returns how many, or -EIO, -ENOMEM. */
int64_t collapsed_write(const struct collapsed *c, FILE *out);
void collapsed_free(struct collapsed *c);

#endif /* JIS_ANALYSIS_COLLAPSED_H */
