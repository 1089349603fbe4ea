/* SPDX-License-Identifier: MIT */
/*
 * The summary of a session: where each thread's time went, who woke it, how many ran at once,
 * collections, losses; what was waited for, for how long, by reason, lock and peer. A sink of the
 * model that only counts; printing is the caller's. Memory: threads, plus pairs of threads that
 * woke one another, or waited behind one another, plus classes of locks, their owners and peers,
 * plus a bounded number of connections.
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
	uint64_t throttled; /* part of it too: its cgroup's quota was used up */
	uint64_t behind[4]; /* part of it, by enum model_occupant of the CPU it waited for; [0] 0 */
	uint64_t stolen;    /* by the hypervisor, at most, while it had a CPU */
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
	REPORT_WAKER_TIMER,
};

/* The first of a ranking; of equals, who came first. */
struct report_top {
	enum report_waker who;
	uint32_t index, tid;
	uint64_t count;
	uint64_t first; /* rank in order of first use */
};

/* States of one reason. */
struct report_reason {
	uint64_t time, count, longest;
	uint64_t sampled; /* of the time: true when the thread left its CPU, before that inferred */
};

/* Who had a lock when others began to wait for it, or who woke them. */
struct report_owner {
	uint32_t thread;   /* index, or MODEL_NO_THREAD */
	uint32_t process;  /* of java_tid */
	uint64_t java_tid; /* 0 not known; both: nobody knows */
	uint64_t count, time;
};

#define REPORT_OWNERS 3

/* All locks of one class: monitors, Object.wait, or what threads parked for. */
struct report_lock {
	enum model_reason_kind kind;
	uint32_t class_name; /* model_name(), 0: not known */
	uint64_t count;	     /* waits, as the threads themselves told of them */
	uint64_t time, longest;
	uint64_t blocked;	  /* part of it off the CPU */
	uint64_t pinned;	  /* part of that on its carrier, of virtual threads */
	uint64_t work, work_time; /* those that began in a span, a task, or a request */
	uint64_t incomplete;	  /* waits whose end was not seen */
	uint64_t timed_out;
	/* Who had them longest, as known when the waits began; count 0: no more. */
	struct report_owner owners[REPORT_OWNERS];
	/* Threads that ended the longest waits; exact. count: wake-ups. */
	struct report_owner wakers[REPORT_OWNERS];
};

/* Waits with the same stack (model_stack()), for the same. */
struct report_stack {
	uint32_t process, stack;
	enum model_reason_kind kind;
	uint32_t class_name;
	uint64_t count, time, longest, work_time, pinned;
};

/* Waits in the same method of the program, for the same. */
struct report_place {
	char *place; /* Class.method */
	enum model_reason_kind kind;
	uint32_t class_name; /* model_name(), 0: not known */
	uint64_t count, time, longest, work_time, pinned;
};

/* Threads that were started by the same thread with the same stack. */
struct report_start {
	struct model_who by;
	uint32_t process, stack;
	uint64_t count;
};

/* Threads that were started in the same method of the program. */
struct report_start_place {
	char *place; /* Class.method */
	uint64_t count;
	struct report_starter {
		struct model_who by;
		uint64_t count; /* 0: no further one */
	} by[REPORT_OWNERS];	/* the most first */
};

/* What a descriptor or path is that was waited for: a peer, a file. */
struct report_peer {
	enum model_reason_kind kind;
	uint32_t name; /* model_name() */
	struct report_reason waits;
};

/* How long things lasted, ns; half and most of them (50 and 95 of 100) no longer than that, to 1 %.
 */
struct report_spread {
	uint64_t count, time, longest, half, most;
};

/* The tasks of an executor. */
struct report_pool {
	uint32_t process, class_name, hash; /* class_name 0: run by who is in no pool */
	uint64_t submitted, rejected;
	uint64_t begun, linked;		   /* linked: their submission was seen */
	uint64_t queue_longest, queue_sum; /* tasks found waiting by those submitted */
	struct report_spread wait, run;	   /* submission to begin; begin to end */
	uint64_t idle, idles;		   /* workers without a task: ns, how often */
};

/* Tasks that one thread submitted and another ran. */
struct report_handover {
	uint32_t process, pool_class, pool_hash;
	uint32_t from, to; /* threads; MODEL_NO_THREAD: not known, or some virtual thread */
	bool from_virtual, to_virtual;
	uint64_t count, wait, longest; /* ns from submission to begin */
};

/*
 * Off the CPU inside of tasks, not for want of a CPU: with a reason and what it was waited for (its
 * object, peer, file, the VM's operation), or not. Time of which nothing is known, not even whether
 * the thread ran, is among the others.
 */
struct report_inside {
	uint64_t blocked, explained;
	uint64_t known[MODEL_NR_REASONS]; /* explained, by kind */
	uint64_t rest[MODEL_NR_REASONS];  /* the others; MODEL_REASON_NONE: nothing is known */
	uint64_t ready;			  /* beside them: it waited for a CPU, a quota */
};

enum report_doing_kind {
	REPORT_SAFEPOINT,   /* name: the VM operation */
	REPORT_EXCEPTION,   /* name: class; place, line: where it was thrown */
	REPORT_ALLOCATION,  /* name: class */
	REPORT_COMPILATION, /* name: method */
	REPORT_MONITOR,	    /* name: class of monitors of which every enter is told */
};

/* What JVMs did besides running threads, by name. */
struct report_doing {
	enum report_doing_kind kind;
	uint32_t name, place; /* model_name() */
	int32_t line;
	uint64_t count;
	/* safepoints: ns from request to end; allocations, compilations: bytes; monitors: ns they
	 * were held */
	uint64_t amount;
	uint64_t longest;		     /* of safepoints and monitors, ns */
	uint64_t reaching, longest_reaching; /* of safepoints, ns */
	uint64_t contended;		     /* of enters of monitors: those that had to wait */
	uint64_t caught;		     /* of exceptions */
};

/* Bytes of a process's heap, as seen at collections. */
struct report_heap {
	uint64_t count; /* collections with an end */
	uint64_t before, after, committed;
	uint64_t most_before, most_after;
	uint64_t freed;
};

struct report_classes {
	uint64_t loaded, unloaded;
};

/* Links of one kind; of one class of lock; or from one thread to another. */
struct report_link {
	enum model_link_kind kind;
	uint32_t class_name; /* model_name(); of pairs and kinds 0 */
	struct model_who from, to;
	uint64_t count, bytes;
	uint64_t time, longest; /* from begin to end */
};

struct report_links {
	struct report_link kinds[MODEL_NR_LINKS];
	/* By kind, then the most frequent first; wake-ups are in none. */
	const struct report_link *classes, *pairs;
	uint32_t nr_classes, nr_pairs;
};

#define REPORT_CONNECTIONS 16384 /* kept; the others are in the sums */
#define REPORT_SERVED 16	 /* threads named of each */

struct report_connection {
	struct model_connection c; /* c.threads: at most REPORT_SERVED */
	struct model_who threads[REPORT_SERVED];
};

/* Ends of connections in traced processes. */
struct report_connections {
	uint64_t count, origins[MODEL_NR_ORIGINS];
	uint64_t closed, incomplete;
	uint64_t shared;	 /* read or written by more threads than one */
	uint64_t no_address;	 /* the backend tells none */
	uint64_t requests, kept; /* of those that were not connected by the process itself */
	uint64_t answers;	 /* of those that were */
	uint64_t handovers;
	uint64_t bytes_in, bytes_out;
	const struct report_connection *largest; /* by bytes */
	uint32_t nr_largest;
};

struct report_vthread {
	uint64_t running, ready; /* ready: its carrier was */
	uint64_t to_mount, waited, pinned, unknown;
	uint64_t mounts;
};

/* Virtual threads together; those beyond the limit of rows are counted only. */
struct report_virtual {
	struct report_vthread times;
	struct report_reason reasons[MODEL_NR_REASONS]; /* while not mounted, or pinned */
	uint64_t others;
};

struct report_thread {
	struct report_times times;
	struct report_top waker;  /* who woke it most often; count: wake-ups */
	struct report_top behind; /* who had the CPU longest it waited for; count: ns */
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
	/* By reason: of each thread, [thread * MODEL_NR_REASONS + kind], and of all. */
	const struct report_reason *thread_reasons, *reasons;
	/* Longest waited for in work first, then in all. */
	const struct report_lock *locks;
	uint32_t nr_locks;
	const struct report_stack *stacks; /* of waits that have one */
	uint32_t nr_stacks;
	const struct report_start *starts;
	uint32_t nr_starts;
	const struct report_peer *peers;
	uint32_t nr_peers;
	const struct report_pool *pools; /* longest waits together first */
	uint32_t nr_pools;
	const struct report_handover *handovers; /* most first */
	uint32_t nr_handovers;
	const struct report_inside *inside_tasks;
	const struct report_doing *doings; /* by kind, the most first */
	uint32_t nr_doings;
	const struct report_heap *heaps;      /* [info->nr_processes] */
	const struct report_classes *classes; /* [info->nr_processes] */
	const struct report_links *links;
	const struct report_connections *connections;
	const struct report_vthread *vthreads; /* [info->nr_vthreads] */
	/* [vthread * MODEL_NR_REASONS + kind]: as in report_virtual */
	const struct report_reason *vthread_reasons;
	const struct report_virtual *virtuals;
	const struct model_cpu_time {
		uint64_t occupant[4]; /* ns, by enum model_occupant */
	} * cpus;		      /* [info->nr_cpus] */
	uint64_t stolen;	      /* from all CPUs */
	/* Intervals in which something is missing, of the kernel's and recorder's streams, and of
	 * processes' own; time: their sum, overlaps counted once for each CPU or stream. */
	struct report_damage {
		uint64_t intervals, time;
	} damage, user_damage;
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

/**
 * report_places - the places of @r's stacks: the innermost method that is not the JDK's, else the
 * outermost below the thread itself. Longest waited for in work first, then in all.
 * @out: free with report_places_free(). Returns how many, or -ENOMEM.
 */
int report_places(const struct model *m, const struct report *r, struct report_place **out);
void report_places_free(struct report_place *places, uint32_t nr);

/**
 * report_start_places - where the threads of report.starts were started, most first.
 * Returns how many, or -ENOMEM. Free with report_start_places_free().
 */
int report_start_places(const struct model *m, const struct report *r,
			struct report_start_place **out);
void report_start_places_free(struct report_start_place *places, uint32_t nr);

#endif /* JIS_ANALYSIS_REPORT_H */
