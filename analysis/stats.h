/* SPDX-License-Identifier: MIT */
/*
 * Sums over calls: how many, how long, and where their time went, by method, by caller and callee,
 * by full context, by thread, or by values of the calls. A sink of the model; memory grows with
 * lines, not with calls.
 */
#ifndef JIS_ANALYSIS_STATS_H
#define JIS_ANALYSIS_STATS_H

#include "histogram.h"
#include "merger/model.h"

enum stats_by {
	STATS_BY_METHOD,
	STATS_BY_PAIR,
	STATS_BY_CONTEXT,
	STATS_BY_THREAD,
	STATS_BY_ARGUMENT, /* of methods of which arguments are told */
	STATS_BY_RECEIVER,
};

struct stats_line {
	uint32_t method;	  /* model_method() */
	uint32_t caller;	  /* BY_PAIR: model_method(), 0: none; a started thread has none */
	uint32_t context;	  /* BY_CONTEXT: model_context() */
	uint32_t thread, vthread; /* BY_THREAD, one of them; else MODEL_NO_THREAD */
	uint32_t process;	  /* BY_THREAD */
	uint32_t nr_values;	  /* BY_ARGUMENT, BY_RECEIVER: what the calls have in common */
	struct model_value values[MODEL_MAX_VALUES]; /* zeros behind them */
	uint64_t calls;
	uint64_t parts;	   /* of calls: MODEL_CALL_PART. They are in the sums alone */
	uint64_t thrown;   /* ended by an exception */
	uint64_t repaired; /* without exit */
	uint64_t doubtful; /* in whose caller records were lost */
	/*
	 * ns. total: without calls inside of another call of the same method (BY_PAIR: made by the
	 * same caller), so that recursion counts once; own: of all.
	 */
	uint64_t total, own;
	uint64_t time[MODEL_NR_CALL_TIMES], own_time[MODEL_NR_CALL_TIMES]; /* of total, of own */
	uint64_t lost;		 /* model_call.lost, of all */
	uint64_t inside;	 /* calls made in those of total, at any depth */
	uint64_t *by_reason;	 /* of total, by enum model_reason_kind; NULL: none */
	uint64_t *own_by_reason; /* of own */
	/* Of whole calls, each for itself. */
	uint64_t min, max;
	unsigned __int128 sum, squares;
	struct histogram histogram;
};

struct stats_summary {
	uint64_t calls;
	uint64_t told;	     /* calls in lines: by argument or receiver, those that have one */
	uint64_t no_context; /* calls: there were too many contexts */
	uint64_t probe;	     /* ps a call's enter and exit cost, 0: not told */
	uint64_t changes;    /* times that methods were chosen anew */
	uint64_t pause;	     /* ns all of them took */
	struct model_counts counts;
};

struct stats;

/* Returns NULL without memory; @model outlives it. Free with stats_free(). @argument: by that one
 * alone, -1 by all that are told of a call. */
struct stats *stats_new(const struct model *model, enum stats_by by, int32_t argument);
/* The sink to hand to model_run(), which may return -ENOMEM from it. */
const struct model_sink *stats_sink(const struct stats *s);
/* The lines, in no order; may be sorted in place. */
struct stats_line *stats_lines(struct stats *s, uint32_t *nr);
const struct stats_summary *stats_summary(const struct stats *s);
void stats_free(struct stats *s);

/* Of the durations of whole calls, ns; 0 where there are none. @share: 0 to 1. */
double stats_mean(const struct stats_line *line);
double stats_deviation(const struct stats_line *line); /* of all of them: divided by their number */
uint64_t stats_percentile(const struct stats_line *line, double share);

#endif /* JIS_ANALYSIS_STATS_H */
