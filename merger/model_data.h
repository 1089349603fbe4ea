/* SPDX-License-Identifier: MIT */
/*
 * What the model keeps: its structs, without the functions that work on them. Nothing but
 * model_int.h includes this.
 *
 * Invariant: life L is MODEL_RUNNING on CPU c exactly when cpus[c] is MODEL_CPU_TARGET with thread
 * L. So no two threads run on a CPU at once, whatever the trace says.
 */
#ifndef JIS_MERGER_MODEL_DATA_H
#define JIS_MERGER_MODEL_DATA_H

#include <stddef.h>

#include "model.h"
#include "merge.h"
#include "trace/read.h"

#define NONE UINT32_MAX
/* Kept out of the way of the few events that are nearly all of a trace. */
#define SELDOM __attribute__((noinline, cold))
#define TID_PAGE_BITS 12
#define MAX_TID (1u << 22) /* kernel tids are below that */
#define MAX_SPAN_DEPTH 1024u
#define MAX_CPUS 65535u
/* No times are beyond this, so that sums do not wrap. */
#define TIME_MAX (UINT64_MAX / 4)

enum life_flags {
	LIFE_SELECTED = 1,
	LIFE_PREEMPTED = 2, /* READY: taken off the CPU */
	LIFE_RUNNABLE =
		4, /* UNKNOWN, but on a CPU or ready since runnable_since, and not switched yet */
	LIFE_WOKEN =
		8, /* LIFE_RUNNABLE because of a wake-up: it ended a wait if a switch-in is next */
	LIFE_WAKING = 16,      /* waking holds a sched_waking that no sched_wakeup has taken */
	LIFE_BORN = 32,	       /* its fork was seen, or it was there before */
	LIFE_KNOWN = 64,       /* in model.known */
	LIFE_FREED = 128,      /* its sched_process_free was seen */
	LIFE_EXITING = 256,    /* its sched_process_exit was seen */
	LIFE_SWAPPED = 512,    /* its tid means life.other */
	LIFE_QUEUED = 1024,    /* READY, and in its CPU's list of those */
	LIFE_THROTTLED = 2048, /* LIFE_QUEUED, and its cgroup may not run there */
};

struct waking {
	uint64_t time;
	uint32_t waker, foreign, tid, context, cpu;
	bool running;
};

/* One life of a thread: the state it is in now. */
struct life {
	uint64_t since; /* ns: begin of the open state */
	uint8_t kind;
	uint8_t host;
	uint16_t flags;
	uint32_t cpu;
	uint64_t runnable_since;
	uint64_t first;	       /* ns: from here on the tid means this life */
	uint64_t next_first;   /* first of the tid's next life, TIME_NONE: this is the last */
	uint32_t next, former; /* the tid's next and former life, or NONE */
	uint32_t next_ns;      /* the next of the same process with the same tid inside of it */
	uint32_t other;	       /* LIFE_SWAPPED: the life this one has exchanged tids with */
	struct waking waking;
	uint32_t queue;	 /* the CPU in whose run queue it waits when it is READY, or NONE */
	uint32_t cgroup; /* index in model.groups, or NONE */
	uint32_t queue_next, queue_former; /* LIFE_QUEUED */
	uint64_t waited;		   /* LIFE_QUEUED: until then its waiting has been told */
};

/* A cgroup. */
struct group {
	uint32_t number;
	uint32_t above;	    /* index, or NONE */
	uint8_t host;	    /* whose path it is */
	char *path;	    /* or NULL: not told */
	uint8_t *throttled; /* bit for each CPU, or NULL: never was */
};

struct cpu_run {
	uint64_t since;
	uint64_t last_switch;
	uint64_t told; /* when a thread was last told to run here, by a wake-up or an event */
	enum model_occupant occupant;
	uint32_t thread, tid; /* as in struct model_cpu */
	uint32_t queue;	      /* first life that is LIFE_QUEUED here, or NONE */
	uint64_t queued;      /* since when there is one: since then no switch is missing */
	uint64_t stolen;      /* as told last */
	bool steal_told;
	uint8_t host;
	bool waits_known; /* as in struct model_info, of its host */
};

/* A host of the trace. */
struct host_run {
	uint64_t doubt_until; /* records are missing on some CPU of it until then */
	uint32_t machine;     /* the first host that is the same one */
	bool paused;
	bool stopped; /* for good; then it is paused too */
};

/* One stream's packets so far. */
struct stream_run {
	uint64_t sequence, discarded, end; /* of the last packet */
	uint64_t gap_begin, gap_end;	   /* ticks: the last interval told as lost */
	bool seen;
	bool damaged;	/* what the reader found before the next packet's header */
	bool gap;	/* records before this packet are missing, maybe some of its owner */
	uint32_t owner; /* USER: life that writes, or NONE */
};

/* What a system call can wait for. */
enum call_class {
	CALL_NONE, /* not in a call */
	CALL_UNKNOWN,
	CALL_OTHER,
	CALL_READ, /* what its descriptor is says what for */
	CALL_WRITE,
	CALL_RECEIVE,
	CALL_SEND,
	CALL_ACCEPT,
	CALL_CONNECT,
	CALL_POLL,
	CALL_FILE,
	CALL_FUTEX,
	CALL_SLEEP,
	CALL_MEMORY,
	CALL_PROCESS,
	CALL_SIGNAL,
	CALL_EXEC, /* its exit may have another number */
	CALL_YIELD,
	CALL_LAST, /* has no exit */
};

/* What a thread of a JVM does that has no Java code to run. */
enum role { ROLE_NONE, ROLE_GC, ROLE_JIT, ROLE_VM_OPERATION, ROLE_VM_OTHER };

enum why_flags {
	WHY_LEFT = 1, /* syscall and words are those of its last switch-out, it was not on since */
	WHY_IOWAIT = 2,	 /* it left its CPU for I/O */
	WHY_FAULT = 4,	 /* for a page fault, at address */
	WHY_FAULTED = 8, /* the next switch-out is for a page fault */
	WHY_DISK = 16,	 /* it gave a request to disk dev since it came on its CPU */
};

/* What is known of a life beside its state: for reasons. */
struct why {
	int32_t syscall; /* at the last switch-out */
	int32_t call;	 /* recorded one it is in, or JIS_SYSCALL_NONE */
	int32_t fd;	 /* of call, or -1 */
	uint32_t name;	 /* of call: what its descriptor is, or a path; 0 not known */
	uint8_t vm_state, os_state, flags, role;
	uint8_t waited; /* enum model_reason_kind of its last wait */
	uint32_t dev;
	uint64_t address;
	struct jthread *java;	 /* the Java thread of this kernel thread, or NULL */
	struct jthread *mounted; /* the virtual thread on it, or NULL */
	uint64_t entered;	 /* when call began */
	uint64_t awake;		 /* when its last wait ended */
	uint64_t size;		 /* of call, as in syscall_io; of a futex its address */
	uint64_t connection;	 /* number of the one call is on, 0: none */
	uint64_t uses; /* the one told last by MODEL_EVENT_CONNECTION, and of which virtual thread
			*/
	uint32_t uses_vthread;
	uint64_t ended;	 /* virtual thread that ended here last */
	uint32_t losses; /* of records it wrote, or pauses */

	struct callstack *calls; /* of the thread itself; NULL: none yet */
};

/* The waits of Java threads, as they begin: bits of jthread.unseen. */
enum jwait_kind {
	JWAIT_MONITOR,
	JWAIT_OBJECT,
	JWAIT_PARK,
	JWAIT_SLEEP,
	JWAIT_JOIN,
	JWAIT_DESCRIPTOR, /* a virtual thread: the park lies inside */
	JWAIT_POOL,	  /* a worker has no task: what it waits in lies inside */
	NR_JWAITS
};
#define UNSEEN_TASK (1u << NR_JWAITS)
#define UNSEEN_MOUNT (1u << (NR_JWAITS + 1))
#define UNSEEN_ALL (UNSEEN_MOUNT * 2 - 1)

/* A wait of a Java thread that has begun. */
struct jwait {
	struct jwait *outer; /* or NULL */
	/* Of those whose owner has not been told of: the others. */
	struct jwait *next, **link; /* link: what points to it, or NULL */
	uint64_t begin, owner_java_tid, blocked, pinned;
	int64_t timeout;
	uint32_t class_name, hash, owner, thread, stack;
	uint32_t process;   /* of its owner, where that has not been told of */
	int32_t fd;	    /* JWAIT_DESCRIPTOR: which */
	uint32_t name;	    /* ... what that is */
	uint8_t descriptor; /* ... enum model_reason_kind */
	uint8_t kind;
	bool pool; /* JWAIT_PARK: its blocker is a pool that has nothing to do for the thread */
	bool in_work;
	struct model_who waker; /* who woke it from this wait last, at woken; thread NONE: nobody */
	uint64_t woken;
};

/* A descriptor: what it is as far as is known. */
struct fd {
	uint32_t process; /* NONE: an empty place */
	int32_t fd;
	uint32_t type; /* enum jis_fd_type */
	uint32_t name;
	bool inet;
	uint8_t call;	/* enum call_class: of the last one begun on it, but for CALL_OTHER */
	uint32_t tried; /* ... the name it had of its own: an address; 0: none */
	bool told;	/* by the kernel, which tells again when it is something else */
	uint8_t sock;	/* SOCK_*, 0 not known */
	uint16_t family;
	uint64_t since; /* ns: it is that at least since */
	struct conn *conn;
	uint64_t polled; /* epoll: when a thread last came back from it with something */
	struct model_who poller;
};

enum jthread_state { /* of a virtual thread that is not mounted */
		     JTHREAD_UNKNOWN,
		     JTHREAD_WAITS,
		     JTHREAD_TO_MOUNT,
};

/* A Java thread, from its first sign of life to its end. */
struct jthread {
	uint64_t java_tid;
	struct jwait *waits; /* innermost first */
	uint32_t process;
	uint32_t on;	     /* life it is on, or NONE */
	uint32_t row;	     /* virtual: index in info.vthreads, or NONE */
	uint32_t epoch;	     /* of its process when it was last looked at */
	struct jtask *tasks; /* open ones, innermost first */
	uint64_t request;    /* number of the connection whose request it serves, 0: of none */
	uint32_t pool;	     /* index + 1 in model.tasks: it is a worker of that */
	uint16_t unseen;     /* what may have begun without having been seen */
	uint8_t state;	     /* virtual, not mounted: enum jthread_state */
	bool virtual, started;
	bool born; /* its begin was told: it had entered nothing before */

	struct remote_half *remote; /* ends of remote calls under way, innermost first */
	struct callstack *calls;    /* virtual: its own; NULL: none yet */
	uint64_t start_call;	    /* call in which it was started, 0: not known */
	uint32_t start_context;	    /* ... and where that is */
};

/*
 * Ids of definitions come in order, but for what is lost. One far above the number of definitions
 * so far is refused, so that a table grows with the records there are: @told is that number, with
 * this one.
 */
static inline bool id_plausible(uint32_t id, uint32_t *told)
{
	*told += *told != UINT32_MAX;
	return id < (1u << 24) && id < (1u << 16) + 64ull * *told;
}

/* What reasons need to know of a process. */
struct process_run {
	uint8_t host;
	uint32_t epoch;		   /* counts losses that touch all of its Java threads */
	uint32_t vepoch;	   /* ... its virtual ones */
	uint64_t lost;		   /* when one of them grew last */
	uint32_t losses;	   /* as in struct why, of all of its threads */
	uint64_t gc_begin, gc_end; /* the last collection; gc_end TIME_NONE: it goes on */
	uint64_t safepoint_begin, safepoint_end; /* the same of the last safepoint */
	uint32_t safepoint_name;
	uint32_t gc_number, gc_life, safepoint_life; /* which collection; who told of it, or NONE */
	bool gc_seen, mounts_seen, safepoint_seen;
	uint16_t told;	    /* bits of enum jwait_kind: such waits are recorded here */
	uint64_t end;	    /* death of its last thread, TIME_NONE: none */
	struct conn *conns; /* the open ones */
	/* stack_defs and method_defs by id */
	struct stack_frame {
		uint32_t caller, method;
		int32_t line;
	} * stacks;
	struct method {
		uint32_t class_name, name, descriptor, file; /* model_name() */
		uint32_t whole; /* Class.method, 0: not asked for yet */
	} * methods;
	uint32_t room_stacks, room_methods;
	uint32_t told_stacks, told_methods, told_traced; /* definitions so far */
	uint32_t *traced;				 /* traced_method id -> model_method() */
	uint32_t room_traced;
};

/* Where the states of a virtual thread have got to. */
struct vrow {
	uint64_t since;
	bool begun, ended;
};

/* An interval of a kernel CPU, or of another stream, in which records are missing. */
struct loss {
	uint64_t begin, end, lost; /* ns */
	uint32_t cpu, process;	   /* MODEL_NO_CPU: no kernel stream; NONE: no user stream */
	bool known;		   /* by the manifest */
	uint32_t owner;		   /* user stream: life whose records are missing, or NONE */
	uint32_t host;		   /* nothing is missing: this host's recording ends; or NONE */
	uint64_t number;	   /* of equal begins the one noted first is first */
	const char *reason;
};

struct names {
	char *text; /* all texts, one after the other */
	size_t used, size;
	size_t *offset; /* [1..nr] */
	uint32_t nr, room;
	uint32_t *table; /* open addressing, 0: empty */
	uint32_t mask;
};

/* Open spans of one Java thread (or of one kernel thread, java_tid 0), and who that is. */
struct nest {
	uint64_t java_tid;
	uint32_t process, tid; /* tid: life, for java_tid 0 */
	uint32_t *names;
	uint32_t depth, room;
	uint32_t thread;		 /* life that had its last span event */
	uint32_t last;			 /* life that had its last span event or marker */
	uint32_t losses, process_losses; /* of that life, and of all of the process, by then */
	uint32_t cut;	      /* spans that a loss has ended, and whose ends have not come */
	uint32_t on;	      /* life the Java thread runs on, from the dictionary, or NONE */
	bool marked;	      /* it has told a marker since its last loss */
	struct jthread *java; /* or NULL: nothing but spans and names */
};

struct nests {
	struct nest *table; /* open addressing; used: process != NONE */
	uint32_t nr, mask;
};

/* string_def ids of one process -> names. */
struct strings {
	uint32_t *name;
	uint32_t room, told;
};

struct callbacks {
	const struct model_sink *sinks[16];
	uint32_t nr;
};

struct model {
	struct model_info info;
	struct clock_scale scale;
	struct model_counts counts;
	struct model_options options;
	int error; /* first error of a sink, or -ENOMEM; ends the run */
	bool ran, to_given;
	bool paused; /* of some host */

	uint64_t now;	      /* ns; never steps back */
	uint64_t next_due;    /* begin of the earliest loss still to come */
	uint64_t doubt_until; /* the latest of all hosts */
	struct host_run *hosts;
	uint32_t nr_hosts; /* 1: all is of one */

	struct life *lives;
	struct cpu_run *cpus;
	struct model_thread *threads;
	struct process_entry *processes;
	uint32_t *ns_table; /* (process, tid inside of it) -> first life */
	uint32_t ns_mask;
	uint32_t *foreign_of; /* foreigners sorted by tid, then time */
	struct group *groups;
	uint32_t nr_groups, room_groups;
	bool throttles;	 /* any was told */
	uint32_t *known; /* lives a loss can make unknown */
	uint32_t nr_known;
	uint32_t nr_running; /* selected */

	struct stream_run *streams;
	const struct stream_cursor *stream_base;
	uint32_t nr_streams;
	struct loss *losses; /* still to come: a heap */
	uint32_t nr_losses, room_losses;
	uint64_t told_losses;
	uint64_t window_lost[2]; /* by losses that touch the window; [1]: of user streams */

	struct names names;
	struct nests nests;
	struct strings *strings; /* [2 * process], and behind it the recorder's own of it */

	bool reasons;		  /* a sink wants them */
	bool runs_on;		  /* the state that is told ends, and the thread runs on */
	struct why *whys;	  /* [life] */
	struct process_run *runs; /* [process] */
	struct jwait *free_waits;
	struct jwait *owner_untold; /* open waits for threads that have not been told of */
	struct fds *fds;
	uint8_t *call_classes; /* [2][JIS_MAX_SYSCALL]: own calls, then 32-bit ones */
	uint8_t *conn_ops;     /* likewise */
	struct conns *conns;
	struct model_reason reason; /* the last one made that is not of the plain table */
	const struct model_reason *wait_reason; /* of the state told last */
	struct tasks *tasks;			/* NULL: none was told */
	struct queues *queues;			/* [process]; the same */
	uint32_t nr_queued;			/* in all of them */
	struct remotes *remotes;		/* the same */
	uint64_t remote_ends;			/* numbers given to ends of remote calls */
	struct holds *holds;			/* the same */
	struct class_waits *class_waits;	/* the same */
	struct futexes *futexes;		/* the same */
	struct vthreads *vthreads;
	struct vrow *vrows;	 /* [info.nr_vthreads] */
	struct methods *methods; /* NULL: no sink wants calls */
	struct contexts *contexts;

	const struct model_sink *const *sinks;
	uint32_t nr_sinks;
	struct callbacks on_state, on_cpu, on_wakeup, on_event, on_running, on_damage, on_wait,
		on_steal, on_vstate, on_java_wait, on_task, on_link, on_connection, on_call_begin,
		on_call_end, on_remote, on_remote_begin, on_remote_end;

	struct trace *trace;
	struct model_opening *opening;
	uint64_t bytes_done, bytes_total;

	uint32_t nr_tid_pages;
	uint32_t *tid_pages[]; /* [tid >> TID_PAGE_BITS] -> first life, or NULL */
};

#endif /* JIS_MERGER_MODEL_DATA_H */
