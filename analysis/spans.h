/* SPDX-License-Identifier: MIT */
/*
 * The spans and markers of a trace: names, how often, how long, and each instance with its thread.
 * A marker lasts from a value that is not 0 to the next marker of its type of the same thread.
 */
#ifndef JIS_ANALYSIS_SPANS_H
#define JIS_ANALYSIS_SPANS_H

#include "merger/model.h"

/* So many instances are kept; others are only counted. */
#define SPANS_MAX (1u << 22)

struct span_options {
	const char *name;   /* keep the instances of this one: a span, or a marker as TYPE or
			       TYPE=VALUE;   NULL: of all spans */
	const char *thread; /* ... on threads whose name contains this, or that have this number */
};

struct span {
	uint64_t begin, end; /* ns */
	uint64_t java_tid;   /* 0: none */
	uint32_t thread;     /* it began on */
	uint32_t process;
	uint32_t name; /* index in spans.names */
	bool virtual;
};

struct span_name {
	char *text;
	bool marker;
	uint64_t count, total, longest;
};

struct spans {
	struct span *list; /* complete ones, in the order of their ends */
	uint32_t nr;
	uint64_t too_many;  /* complete, and not kept */
	uint64_t strangers; /* their thread at the end is another, and it has no row of its own */
	uint64_t open;	    /* without end */
	uint64_t lost;	    /* the same, because records of their thread are missing */
	/* All there are, kept or not. */
	struct span_name *names;
	uint32_t nr_names;
	uint64_t folded; /* markers that are in @names by their type alone: there are too many */
};

struct spans_run;

/* spans_new - @options: copied, its texts are not. NULL: no memory. Free with spans_free(). */
struct spans_run *spans_new(const struct span_options *options);
/* The sink for the model @m that is to run it. */
const struct model_sink *spans_sink(struct spans_run *r, const struct model *m);
/* Valid after the run, until spans_free(). */
const struct spans *spans_get(const struct spans_run *r);
void spans_free(struct spans_run *r);

#endif /* JIS_ANALYSIS_SPANS_H */
