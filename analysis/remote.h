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
};

struct remote_summary {
	uint64_t calls, internal;
	uint64_t matches[MODEL_NR_REMOTE_MATCHES]; /* of all */
	uint64_t disagreements;
	uint64_t backward; /* parts that would be below 0: counted as 0 */
	struct model_counts counts;
};

struct remote;

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
