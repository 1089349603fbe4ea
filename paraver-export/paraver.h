/* SPDX-License-Identifier: MIT */
/*
 * Writes a session as a Paraver trace: X.prv (or X.prv.gz), X.pcf, X.row. A sink of the model;
 * memory grows with threads and names, not with events. docs/paraver.md says what is shown how.
 *
 * Objects: a node each host, with its CPUs. Application 1 is what was traced: a task each process,
 * a row each thread, then one each virtual thread. Application 2, where asked for, has a task each
 * host and a row each CPU: what held it, and the sender of wake-ups that came from no traced
 * thread.
 */
#ifndef JIS_PARAVER_H
#define JIS_PARAVER_H

#include <stdbool.h>
#include <stdint.h>

#include "merger/model.h"

/* Values of states. 0, 1, 2, 7 and 9 are Paraver's own; 34 and up are free for tools. */
enum paraver_state {
	PARAVER_IDLE = 0, /* CPU rows only */
	PARAVER_RUNNING = 1,
	PARAVER_NOT_CREATED = 2, /* and after the exit */
	PARAVER_READY = 7,
	PARAVER_BLOCKED = 9,
	PARAVER_UNKNOWN = 34,
	PARAVER_CPU_OTHER = 35,	 /* CPU rows: held by a thread that was not traced */
	PARAVER_CPU_TARGET = 36, /* CPU rows: held by a traced thread */
	PARAVER_THROTTLED = 37,	 /* ready, but its cgroup's quota is used up */
	PARAVER_TO_MOUNT = 38,	 /* a virtual thread that waits for a carrier */
	PARAVER_CARRIED = 39,	 /* a virtual thread that runs: the CPU is its carrier's */
	/* Blocked, and why: + enum model_reason_kind - MODEL_WAIT_UNKNOWN, which itself is 9. */
	PARAVER_WAIT = 40,
	PARAVER_CARRIER_READY = PARAVER_WAIT, /* a virtual thread whose carrier waits for a CPU */
};

/* Event types: 77000000-77099999 are used by no other tool; 48000001 is Extrae's. */
enum paraver_type {
	PARAVER_TYPE_GC = 48000001,	 /* 1 collection, 0 none */
	PARAVER_TYPE_METHOD = 60000019,	 /* Extrae's too: method called, 0: the innermost ends */
	PARAVER_TYPE_BLOCKED = 77000001, /* 2 uninterruptible, 3 stopped; 0 other: interruptible */
	PARAVER_TYPE_CPU_THREAD = 77000002, /* CPU rows, where known: tid, 0 none */
	PARAVER_TYPE_VM_PHASE = 77000003,   /* enum jis_vm_phase */
	PARAVER_TYPE_NAME = 77000004,	    /* the thread's name from here on */
	PARAVER_TYPE_EXEC = 77000005,	    /* the program from here on */
	PARAVER_TYPE_RUN = 77000006,	    /* what it runs: enum model_reason_kind */
	PARAVER_TYPE_SYSCALL = 77000007,    /* recorded call it is in: number + 1, 0 none */
	PARAVER_TYPE_SPAN = 77000010,	    /* innermost open span, 0 none */
	PARAVER_TYPE_OBJECT = 77000011,	    /* class of the object waited for, 0 none */
	PARAVER_TYPE_HASH = 77000012,	    /* its identity hash */
	PARAVER_TYPE_OWNER = 77000013,	    /* who had it when the wait began: row, from 1 */
	PARAVER_TYPE_PEER = 77000014,	    /* peer, file, path waited for, 0 none */
	PARAVER_TYPE_MOUNTED = 77000015,    /* virtual thread on this carrier: row, from 1 */
	PARAVER_TYPE_PINNED = 77000016,	    /* 1: a virtual thread waits and keeps its carrier */
	PARAVER_TYPE_BEHIND = 77000017,	    /* who has the CPU it waits for: row, from 1 */
	PARAVER_TYPE_STOLEN = 77000018,	    /* ns the hypervisor took from its CPU since the last */
	PARAVER_TYPE_LOCK_TAKEN = 77000020, /* from its release until the thread has it: class */
	PARAVER_TYPE_SOCKET_FROM = 77000021, /* from poll or accept until it reads: giver's row */
	PARAVER_TYPE_CONNECTION = 77000022,  /* number of the one used last, 0 none */
	PARAVER_TYPE_TASK = 77000030,	     /* class of the executor's task it runs, 0 none */
	PARAVER_TYPE_POOL = 77000031,	     /* class of that task's pool */
	PARAVER_TYPE_SAFEPOINT = 77000040,   /* VM operation threads stand still for; 0 none */
	PARAVER_TYPE_SAFEPOINT_PHASE = 77000041, /* 1 asked for, 2 reached, 0 none */
	PARAVER_TYPE_HEAP_USED = 77000042,	 /* bytes, at collections */
	PARAVER_TYPE_HEAP_COMMITTED = 77000043,
	PARAVER_TYPE_CLASS_LOAD = 77000044, /* class; so the next ones */
	PARAVER_TYPE_CLASS_UNLOAD = 77000045,
	PARAVER_TYPE_EXCEPTION = 77000046,
	PARAVER_TYPE_EXCEPTION_AT = 77000047, /* method that throws it */
	PARAVER_TYPE_ALLOCATION = 77000048,   /* class of a sampled object */
	PARAVER_TYPE_ALLOCATION_SIZE = 77000049,
	PARAVER_TYPE_COMPILED = 77000050,      /* method */
	PARAVER_TYPE_COMPILED_SIZE = 77000051, /* bytes of code */
	PARAVER_TYPE_REMOTE_CALL = 77000060,   /* method that is called in another JVM, 0 none */
	PARAVER_TYPE_REMOTE_SERVED = 77000061, /* the same of a call that is served */
	PARAVER_TYPE_MARKER = 77010000,	       /* + the marker's type, for types below 50000 */
	PARAVER_TYPE_MARKER_HIGH = 77060000,   /* + order of first use, for other types */
	PARAVER_TYPE_MARKER_REST = 77099999,   /* those for which no number was left */
};

/* Value of PARAVER_TYPE_METHOD for a method that was never told of. */
#define PARAVER_METHOD_UNKNOWN INT32_MAX

/* Tags of communications; below: wake-ups, by enum jis_waker_context, and 5 unparks. */
enum paraver_tag {
	PARAVER_TAG_UNPARK = 5,
	PARAVER_TAG_TASK = 10, /* a task, from who submitted it to who runs it */
	PARAVER_TAG_LINK = 10, /* + enum model_link_kind, whose first, wake-ups, has none here */
};

enum paraver_wakeups {
	PARAVER_WAKEUPS_TARGETS, /* by traced threads */
	PARAVER_WAKEUPS_ALL,	 /* by whatever: others start at the row of their CPU */
	PARAVER_WAKEUPS_NONE,
};

struct paraver_options {
	const char
		*base; /* path without .prv; existing files are replaced when the export is whole */
	bool gzip;     /* BASE.prv.gz in place of BASE.prv */
	bool sort;     /* lines in order of begin for the whole file, not only per row */
	bool cpu_rows; /* application 2; PARAVER_WAKEUPS_ALL implies it */
	enum paraver_wakeups wakeups;
	uint64_t sort_memory; /* bytes; 0: 64 MiB. What is above goes to unlinked files beside base
			       */
	uint32_t max_rows;    /* 0: 65535, what Paraver's default build can load */
};

struct paraver_stats {
	uint64_t lines, bytes; /* of the .prv, header included; bytes before compression */
	uint64_t no_row;       /* events of threads that have no row: not written */
	uint32_t rows, tasks;
	uint32_t shared; /* threads that share a row with an earlier one, which had ended */
};

struct paraver;

/**
 * paraver_open - prepares the export of a model. Files get their names at the end, all at once;
 * until then they are called .part.
 * @model: gives the names; outlives the export.
 * @options: copied, @base too.
 * Returns 0, -ENOMEM, or what open(2) says. End with paraver_close().
 *
 * model_run() then may return, beside write errors: -ENODATA (no thread is selected or alive in the
 * window: Paraver loads no such trace), -E2BIG (more than max_rows threads alive at once),
 * -EOVERFLOW (a window above 2^53 ns, 104 days).
 */
int paraver_open(const struct model *model, const struct paraver_options *options,
		 struct paraver **out);

/* The sink to hand to model_run(). */
const struct model_sink *paraver_sink(const struct paraver *p);
const struct paraver_stats *paraver_stats(const struct paraver *p);

/**
 * paraver_close - frees the export. Files of an export that did not come to its end are removed.
 */
void paraver_close(struct paraver *p);

/**
 * paraver_copy_views - copies all .cfg files of directory @from into directory @to, which is made
 * when missing. Returns the number of files or -errno.
 */
int paraver_copy_views(const char *from, const char *to);

#endif /* JIS_PARAVER_H */
