/* SPDX-License-Identifier: MIT */
/*
 * The model: what the merged events mean. Turns them into states of threads, occupants of CPUs,
 * wake-ups and Java events, and hands each to the sinks as soon as it is complete. This header is
 * all that a sink (Paraver, reports, call trees) may know of a trace.
 *
 * All times here are ns since the session's begin. For each thread the states cover the window
 * without gap or overlap, in time order. A state is what the evidence says: before a thread's first
 * evidence and where events were lost it is UNKNOWN, never a guess.
 */
#ifndef JIS_MERGER_MODEL_H
#define JIS_MERGER_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/manifest.h"

enum model_state_kind {
	MODEL_UNKNOWN = 0,
	MODEL_NOT_CREATED,
	MODEL_RUNNING,
	MODEL_READY,
	MODEL_BLOCKED_INTERRUPTIBLE,
	MODEL_BLOCKED_UNINTERRUPTIBLE,
	MODEL_STOPPED,
	MODEL_EXITED,
	MODEL_NR_STATES
};

#define MODEL_NO_CPU UINT32_MAX
#define MODEL_NO_THREAD UINT32_MAX

/* A target thread: index in model_info.threads is its number everywhere below. */
struct model_thread {
	const struct thread_entry *entry;
	uint32_t process; /* index in model_info.processes */
	uint64_t birth,
		death; /* ns; birth 0: before the recording; death TIME_NONE: alive at its end */
	bool selected; /* passes --thread and --process */
};

struct model_info {
	const struct manifest *manifest;
	const struct model_thread *threads;
	uint32_t nr_threads;
	const struct process_entry *processes;
	uint32_t nr_processes;
	uint32_t nr_cpus;
	uint64_t begin, end; /* the window, ns */
};

/* A thread was in @kind during [begin, end). Never empty; told for selected threads only. */
struct model_state {
	uint32_t thread;
	enum model_state_kind kind;
	uint32_t cpu; /* MODEL_RUNNING: where; else MODEL_NO_CPU */
	uint64_t begin, end;
	/* MODEL_RUNNING: the target thread that takes the CPU at @end, else MODEL_NO_THREAD. */
	uint32_t successor;
	bool preempted; /* MODEL_READY: because it was taken off the CPU, not because it was woken
			 */
};

enum model_occupant { MODEL_CPU_UNKNOWN, MODEL_CPU_IDLE, MODEL_CPU_TARGET, MODEL_CPU_FOREIGN };

/*
 * A CPU was held by @occupant during [begin, end). Complete cover, in time order per CPU.
 * Unless all switches were recorded, a CPU that went from a target to another thread is UNKNOWN
 * from then on: how soon that one left it was not recorded.
 */
struct model_cpu {
	uint32_t cpu;
	enum model_occupant occupant;
	/* TARGET: thread; FOREIGN: index in manifest->foreigners, or MODEL_NO_THREAD. */
	uint32_t thread;
	/* Of the occupant; UNKNOWN: of the thread that had the CPU at @begin, 0 where not known. */
	uint32_t tid;
	uint64_t begin, end;
};

/*
 * @thread was woken from a wait: sched_waking at @waking; it became runnable at @ready. Told when
 * it is certain that a wait ended; a wake-up whose sched_waking is missing has no link.
 */
struct model_wakeup {
	uint32_t thread;
	uint32_t waker;			/* a target thread, or MODEL_NO_THREAD */
	uint32_t waker_foreign;		/* index in manifest->foreigners, or MODEL_NO_THREAD */
	uint32_t waker_tid;		/* 0: the idle task */
	enum jis_waker_context context; /* not JIS_WAKER_TASK: waker is only who was interrupted */
	uint32_t waker_cpu;
	bool waker_running; /* the waker is a target and was MODEL_RUNNING on waker_cpu */
	uint64_t waking, ready;
};

enum model_event_kind {
	MODEL_EVENT_MARKER,	/* type, value */
	MODEL_EVENT_SPAN_BEGIN, /* name, java_tid; value: depth after it, 1 = outermost */
	MODEL_EVENT_SPAN_END,	/* name: the one that ended; value: depth after it */
	MODEL_EVENT_GC_START,	/* value: number */
	MODEL_EVENT_GC_FINISH,
	MODEL_EVENT_VM_PHASE,  /* value: enum jis_vm_phase */
	MODEL_EVENT_RENAME,    /* text: new comm */
	MODEL_EVENT_JAVA_NAME, /* text: new Java name */
	MODEL_EVENT_EXEC,      /* text: file */
	MODEL_EVENT_SESSION,   /* value: enum jis_session_mark; thread MODEL_NO_THREAD */
};

struct model_event {
	uint32_t thread; /* or MODEL_NO_THREAD: of the process as a whole */
	uint32_t process;
	uint32_t cpu; /* where the thread runs then, or MODEL_NO_CPU */
	enum model_event_kind kind;
	uint64_t time;
	uint64_t java_tid;
	uint32_t type;
	int64_t value;
	/* Index for model_name(), 0: none; the same for equal text in all processes. Also of @text.
	 */
	uint32_t name;
	uint32_t outer;	  /* SPAN_END: name of the span that goes on, 0: none */
	uint32_t left;	  /* SPAN_*: the nest's former thread when it moved to another, or
			     MODEL_NO_THREAD */
	const char *text; /* or NULL; valid during the call */
};

/* Events were lost or a packet is damaged: what happened on @cpu or to @thread then is not known.
 */
struct model_damage {
	uint32_t cpu;	  /* kernel stream, or MODEL_NO_CPU */
	uint32_t process; /* user stream: index, or UINT32_MAX */
	uint64_t begin, end;
	uint64_t lost; /* records, 0: not known */
	const char *reason;
};

/* What did not fit: each count is an error of the trace or of a rule, shown by info and report. */
struct model_counts {
	uint64_t events;
	uint64_t switches;	 /* sched_switch that touch a target */
	uint64_t wakeups;	 /* of targets, that ended a wait */
	uint64_t wakings_on_cpu; /* wake-ups of threads that had not left the CPU: no transition */
	uint64_t contradictions; /* evidence against the modelled state; the newer evidence wins */
	uint64_t unbalanced_spans;
	uint64_t backward_steps;
	uint64_t lost;
	uint64_t unknown_threads; /* records of threads the tables do not know */
};

/* A sink. Any member may be NULL. Each returns 0, or a negative errno that ends the run. */
struct model_sink {
	int (*begin)(void *ctx, const struct model_info *info);
	int (*state)(void *ctx, const struct model_state *state);
	int (*cpu)(void *ctx, const struct model_cpu *cpu);
	int (*wakeup)(void *ctx, const struct model_wakeup *wakeup);
	int (*event)(void *ctx, const struct model_event *event);
	/* From @time on @nr selected threads are known to run at once; each change, in time order.
	 */
	int (*running)(void *ctx, uint64_t time, uint32_t nr);
	int (*damage)(void *ctx, const struct model_damage *damage);
	int (*end)(void *ctx, const struct model_counts *counts);
	void *ctx;
};

struct model_options {
	uint64_t from, to; /* ns since begin; to 0 = to the end. States are cut to the window */
	/* Select threads whose name contains this, or whose tid it is; NULL: all. The others get no
	 * states, wake-ups or events; as occupants of CPUs and as wakers they are told. */
	const char *thread;
	const char *process; /* the same for processes, by name or pid */
	/* Called every 2^20 events with bytes read and in all; non-zero ends the run with -EINTR.
	 */
	int (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *progress_ctx;
};

struct model;

/**
 * model_open - opens the session in directory @path.
 * @options: may be NULL: everything. Copied; its strings must live as long as the model.
 * Returns 0 or the errors of trace_open(). Close with model_close().
 */
int model_open(const char *path, const struct model_options *options, struct model **out);

/**
 * model_run - reads the whole trace once and feeds the sinks; once per model.
 * Returns 0 or the first error, a sink's included. Memory: O(threads + streams + open spans).
 */
int model_run(struct model *m, const struct model_sink *const *sinks, uint32_t nr_sinks);

/* The threads, processes and CPUs; valid from model_open() to model_close(). */
const struct model_info *model_info(const struct model *m);
/* Text of a span name or marker name. "" for 0. */
const char *model_name(const struct model *m, uint32_t name);
uint32_t model_nr_names(const struct model *m); /* names are 1..nr; grows while running */
void model_close(struct model *m);

/* "running", "ready", ... */
const char *model_state_name(enum model_state_kind kind);

#endif /* JIS_MERGER_MODEL_H */
