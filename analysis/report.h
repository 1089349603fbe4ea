/* SPDX-License-Identifier: MIT */
/*
 * The summary of a session: where each thread's time went, who woke it, how many ran at once,
 * collections, losses. A sink of the model that only counts; printing is the caller's. Memory:
 * threads, plus pairs of threads that woke one another.
 */
#ifndef JIS_ANALYSIS_REPORT_H
#define JIS_ANALYSIS_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "merger/model.h"

/* Times are ns inside of the window. */
struct report_times {
	uint64_t state[MODEL_NR_STATES]; /* time in each */
	uint64_t preempted; /* part of state[MODEL_READY]: after being taken off the CPU */
	/* Switch-outs, as the kernel counts them: voluntary ones wait for something (or exit). */
	uint64_t voluntary, involuntary;
	uint64_t wakeups;   /* that ended a wait and whose waker is known */
	uint64_t woke;	    /* wake-ups it gave to targets */
	uint64_t wake_time; /* sum over wake-ups: from waking to ready */
};

enum report_waker {
	REPORT_WAKER_NONE,
	REPORT_WAKER_THREAD,  /* index in model_info.threads */
	REPORT_WAKER_FOREIGN, /* index in manifest->foreigners, or MODEL_NO_THREAD and tid */
	REPORT_WAKER_IDLE,
	REPORT_WAKER_SOFTIRQ,
	REPORT_WAKER_HARDIRQ,
	REPORT_WAKER_NMI,
};

struct report_thread {
	struct report_times times;
	/* Who woke it most often; of equals, who did so first. */
	enum report_waker waker;
	uint32_t waker_index, waker_tid;
	uint64_t waker_count;
};

struct report_process {
	struct report_times times; /* sums over its selected threads */
	uint32_t nr_threads;	   /* selected and alive in the window */
	uint32_t most_threads;	   /* alive at once */
	uint64_t gc_count;	   /* collections that began in the window */
	uint64_t gc_time; /* between start and finish; an open one counts to the window's end */
	uint64_t gc_longest;
	uint64_t gc_unpaired;	 /* a finish without start, or two starts in a row */
	uint64_t spans, markers; /* records */
};

struct report {
	const struct model_info *info;
	const struct report_thread *threads; /* [info->nr_threads]; those not selected are zero */
	const struct report_process *processes; /* [info->nr_processes] */
	struct report_times total;
	/* at_once[n]: ns during which exactly n selected threads were known to run; n up to
	 * nr_cpus. */
	const uint64_t *at_once;
	uint32_t nr_at_once;
	/* Running time per ns of the window: average number of threads running. Counts also what
	 * was learned later (a thread found to have been running since the dump), which at_once
	 * lacks. */
	double parallelism;
	const struct model_cpu_time {
		uint64_t occupant[4]; /* ns, by enum model_occupant */
	} * cpus;		      /* [info->nr_cpus] */
	uint64_t damages;	      /* intervals in which something is missing */
	uint64_t damaged_time;	      /* their sum, overlaps counted once for each CPU or stream */
	struct model_counts counts;
};

struct report_run;

/**
 * report_new - an empty report. Returns NULL without memory; free with report_free().
 */
struct report_run *report_new(void);
/* The sink to hand to model_run(), which may return -ENOMEM from it. */
const struct model_sink *report_sink(const struct report_run *r);
/* The result; complete after model_run() and valid until report_free() and model_close(). */
const struct report *report_get(const struct report_run *r);
void report_free(struct report_run *r);

#endif /* JIS_ANALYSIS_REPORT_H */
