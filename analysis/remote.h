/* SPDX-License-Identifier: MIT */
/*
 * Sums over remote calls: by method, client and server how many and how long, and where the time of
 * those went of which both ends are known. A sink of the model; memory grows with lines.
 */
#ifndef JIS_ANALYSIS_REMOTE_H
#define JIS_ANALYSIS_REMOTE_H

#include "histogram.h"
#include "merger/model.h"

/* A part of a call lies between two moments that follow one another. */
#define REMOTE_NR_PARTS (MODEL_NR_REMOTE_MOMENTS - 1)
#define REMOTE_NO_PROCESS UINT32_MAX

/* remote_part_crosses - does @part lie between the two ends, so that two clocks tell it? */
static inline bool remote_part_crosses(int part)
{
	return part == MODEL_REMOTE_SEND || part == MODEL_REMOTE_ANSWER;
}

struct remote_line {
	uint32_t method;	 /* model_name(); 0: not known */
	uint32_t client, server; /* processes, REMOTE_NO_PROCESS: not known */
	bool internal;
	uint64_t calls;
	uint64_t thrown;			   /* of them: the server's exceptions */
	uint64_t failed;			   /* of them: without an answer */
	uint64_t matches[MODEL_NR_REMOTE_MATCHES]; /* of them */
	/* ns, as the client has it, from its first moment to its last, of calls that have both; as
	 * the server has it where there is no client. */
	uint64_t timed, total, min, max;
	struct histogram histogram;
	/* ns, of calls with all moments from CALL on, part[INVOKE] of those that have it. */
	uint64_t whole, part[REMOTE_NR_PARTS];
	/* Of whole calls: of how many it is not known how their hosts' clocks differ, so that what
	 * crosses is not in part[]; ns that it may be wrong of the others, in sum. */
	uint64_t clockless, error;
};

struct remote_summary {
	uint64_t calls, internal;
	uint64_t matches[MODEL_NR_REMOTE_MATCHES]; /* of all */
	uint64_t disagreements;
	uint64_t clockless; /* as in the lines */
	/* Parts that would be below 0 count as 0; these are by more than clocks may differ. */
	uint64_t backward;
	struct model_counts counts;
};

struct remote;

/* remote_line_mean - average of @part in ns; UINT64_MAX: not known. */
uint64_t remote_line_mean(const struct remote_line *l, int part);
/* remote_line_error - how many ns that may be wrong of parts that cross, plus or minus; UINT64_MAX:
 * not known. */
uint64_t remote_line_error(const struct remote_line *l);

/* @internal: with calls of the registry and the like. NULL without memory; free with
 * remote_delete(). */
struct remote *remote_new(bool internal);
/* The sink to hand to model_run(), which may return -ENOMEM from it. */
const struct model_sink *remote_sink(const struct remote *r);
/* The lines, in no order; may be sorted in place. */
struct remote_line *remote_lines(struct remote *r, uint32_t *nr);
const struct remote_summary *remote_summary(const struct remote *r);
void remote_delete(struct remote *r);

#endif /* JIS_ANALYSIS_REMOTE_H */
