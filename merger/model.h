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

#include "calls.h"
#include "links.h"
#include "remote.h"
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

/*
 * Why a thread is in the state it is in: a closed list, the words are model_reason_name()'s. What
 * runs what: known of the VM's own threads by their names; of Java threads only what the VM's words
 * said at the switch away (struct model_reason.sampled). docs/model.md says from what each is told.
 */
enum model_reason_kind {
	MODEL_REASON_NONE = 0, /* unknown, not created, exited: there is nothing to explain */
	/* MODEL_RUNNING */
	MODEL_RUN,	   /* no more is known */
	MODEL_RUN_SYSCALL, /* in a recorded system call */
	MODEL_RUN_JAVA,
	MODEL_RUN_NATIVE, /* a Java thread in native code */
	MODEL_RUN_VM,	  /* a Java thread in the VM */
	MODEL_RUN_GC,	  /* the VM's own threads */
	MODEL_RUN_JIT,
	MODEL_RUN_VM_OPERATION,
	MODEL_RUN_VM_OTHER,
	/* MODEL_READY */
	MODEL_READY_WOKEN,
	MODEL_READY_PREEMPTED,
	MODEL_READY_YIELDED, /* in sched_yield, which Thread.yield is */
	MODEL_READY_THROTTLED,
	MODEL_READY_TO_MOUNT, /* a virtual thread that waits for a carrier */
	/* MODEL_BLOCKED_*, MODEL_STOPPED */
	MODEL_WAIT_UNKNOWN,
	MODEL_WAIT_MONITOR,	/* class, hash, owner */
	MODEL_WAIT_OBJECT,	/* Object.wait; class, hash */
	MODEL_WAIT_PARK,	/* class, hash: of the blocker; owner */
	MODEL_WAIT_SLEEP,	/* Thread.sleep */
	MODEL_WAIT_JOIN,	/* owner: whom */
	MODEL_WAIT_SOCKET_READ, /* fd, name: the peer; so in all that follow up to EVENTFD */
	MODEL_WAIT_SOCKET_WRITE,
	MODEL_WAIT_ACCEPT,
	MODEL_WAIT_CONNECT,
	MODEL_WAIT_POLL, /* poll, select, epoll */
	MODEL_WAIT_FILE, /* name: the path */
	MODEL_WAIT_PIPE,
	MODEL_WAIT_EVENTFD,    /* eventfd, timerfd, signalfd, inotify */
	MODEL_WAIT_DISK,       /* a disk, for a file that is not known; value: the device */
	MODEL_WAIT_PAGE_FAULT, /* address */
	MODEL_WAIT_MEMORY,     /* a call that changes the address space */
	MODEL_WAIT_TIMER,      /* nanosleep and its kin */
	MODEL_WAIT_PROCESS,    /* for a child process */
	MODEL_WAIT_SIGNAL,     /* for a signal */
	MODEL_WAIT_GC,	       /* a Java thread, stopped for a collection; name: VM operation */
	MODEL_WAIT_SAFEPOINT,  /* ... for another reason of the VM; name as before */
	MODEL_WAIT_VM,	       /* a Java thread, by a lock inside of the VM */
	MODEL_WAIT_VM_IDLE,    /* a thread of the VM itself, mostly for work */
	MODEL_WAIT_FUTEX,      /* a futex of which no more is known: a lock of native code */
	MODEL_WAIT_STOPPED,    /* by a signal or a debugger */
	MODEL_WAIT_EXIT,       /* while it exits */
	MODEL_WAIT_SYSCALL,    /* any other system call */
	MODEL_WAIT_UNMOUNTED,  /* a virtual thread on no carrier, not known why */
	MODEL_WAIT_POOL,       /* a worker of a pool, for a task; class, hash: of the pool */
	MODEL_NR_REASONS
};

/* What is known beside the kind; what is not is 0, or as said here. */
struct model_reason {
	enum model_reason_kind kind;
	bool sampled;	 /* true when the thread left its CPU; before that it is inferred */
	bool from_java;	 /* the Java thread itself said so */
	bool pinned;	 /* a virtual thread waits and keeps its carrier */
	int32_t syscall; /* the call it is in, JIS_SYSCALL_NONE, or JIS_SYSCALL_UNKNOWN */
	int32_t fd;	 /* -1 not known */
	uint32_t name;	 /* model_name(): what fd is, or a path; a stop's VM operation */
	uint32_t class_name, hash; /* model_name(), identity hash: of the object waited for */
	uint32_t owner;		   /* thread that had it when the wait began, or MODEL_NO_THREAD */
	uint32_t owner_vthread;	   /* virtual thread that had it, or MODEL_NO_THREAD */
	uint64_t owner_java_tid;
	uint64_t java_tid; /* from_java: who waits */
	int64_t timeout;   /* ns; -1 none or not known */
	uint64_t value;
};

/* A target thread: index in model_info.threads is its number everywhere below. */
struct model_thread {
	const struct thread_entry *entry;
	uint32_t process; /* index in model_info.processes */
	uint64_t birth,
		death; /* ns; birth 0: before the recording; death TIME_NONE: alive at its end */
	bool selected; /* passes --thread and --process */
};

/* A virtual thread: index in model_info.vthreads is its number. */
struct model_vthread {
	uint64_t java_tid;
	uint32_t process;
	uint32_t name;	       /* model_name(): the last one it had */
	uint64_t birth, death; /* ns, as in struct model_thread */
	bool selected;
};

struct model_info {
	const struct manifest *manifest;
	const struct model_thread *threads;
	uint32_t nr_threads;
	const struct process_entry *processes;
	uint32_t nr_processes;
	uint32_t nr_cpus;
	/* Those alive in the window, by process, then birth; not more than were asked for. */
	const struct model_vthread *vthreads;
	uint32_t nr_vthreads;
	uint64_t other_vthreads; /* alive in the window, but one too many */
	uint64_t begin, end;	 /* the window, ns */
	/* Who has a CPU for which a target waits was recorded; so model_wait is told. */
	bool waits_known;
};

/* A thread was in @kind during [begin, end). Never empty; told for selected threads only. */
struct model_state {
	uint32_t thread;
	enum model_state_kind kind;
	uint32_t cpu; /* MODEL_RUNNING: where; else MODEL_NO_CPU */
	uint64_t begin, end;
	/* MODEL_RUNNING: the target thread that takes the CPU at @end; @thread itself where that is
	 * not known, but may be one; else MODEL_NO_THREAD. */
	uint32_t successor;
	bool preempted; /* MODEL_READY: because it was taken off the CPU, not because it was woken
			 */
	/* MODEL_READY: kept from its CPU by its cgroup's quota, not by who had the CPU. */
	bool throttled;
	bool more;    /* MODEL_RUNNING: it runs on at @end, for another reason */
	bool in_task; /* a task of an executor was under way on it */
	/* Valid during the call; NULL unless a sink wants_reasons. */
	const struct model_reason *reason;
};

/*
 * A virtual thread was in @kind during [begin, end): complete cover as with threads. While it is
 * mounted, its carrier's state is its own; else it is MODEL_BLOCKED_INTERRUPTIBLE or MODEL_READY
 * (to mount). Told for selected ones of model_info.vthreads.
 */
struct model_vstate {
	uint32_t vthread;
	enum model_state_kind kind;
	uint32_t carrier; /* thread it is mounted on, or MODEL_NO_THREAD */
	uint32_t cpu;	  /* MODEL_RUNNING: where; else MODEL_NO_CPU */
	uint64_t begin, end;
	const struct model_reason *reason; /* as in struct model_state */
	/* Not mounted: who ended this by an unpark: kernel thread, virtual thread (index) and Java
	 * thread; MODEL_NO_THREAD, 0: nobody. */
	uint32_t waker, waker_vthread;
	uint64_t waker_java_tid;
};

/*
 * A Java thread waited, as it said itself: told at the wait's end. Waits nest: a join has waits
 * inside of it.
 */
struct model_java_wait {
	uint32_t process;
	uint32_t thread;  /* kernel thread it began on, or MODEL_NO_THREAD */
	uint32_t vthread; /* index, or MODEL_NO_THREAD: no virtual thread, or one that has none */
	/* MODEL_WAIT_MONITOR to MODEL_WAIT_JOIN, or MODEL_WAIT_POOL: from one task to the next */
	const struct model_reason *reason;
	uint64_t begin, end;
	uint64_t blocked; /* ns of it off the CPU for this reason; 0 unless wants_reasons */
	uint64_t pinned;  /* part of that during which a virtual thread kept its carrier */
	bool complete;	  /* false: its end was not seen */
	bool timed_out;	  /* MODEL_WAIT_OBJECT */
	bool inside;	  /* of another wait of the same thread */
	bool in_work;	  /* began in a span, a task, or a request it serves */
	uint32_t stack;	  /* for model_stack(), 0: none */
};

enum model_task_phase {
	MODEL_TASK_SUBMITTED,
	MODEL_TASK_REJECTED, /* by its pool */
	MODEL_TASK_BEGUN,
	MODEL_TASK_ENDED,
	MODEL_NR_TASK_PHASES
};

#define MODEL_NO_POOL UINT32_MAX

/*
 * A task of an executor, told at each step of its way; @time is that of the step. What is not known
 * is MODEL_NO_THREAD, 0 or TIME_NONE: the submitter and @submit where no submission was seen (or
 * none of this task: tasks are known by class and identity hash), the worker before it begins.
 */
struct model_task {
	enum model_task_phase phase;
	uint32_t process;
	/* Number, from 0, the same for all tasks of a pool; MODEL_NO_POOL: whoever helps ran it. */
	uint32_t pool;
	uint32_t pool_class, pool_hash;	       /* model_name(), identity hash */
	uint32_t class_name, hash;	       /* of the task */
	uint32_t submitter, submitter_vthread; /* kernel thread, virtual thread (index) */
	uint32_t worker, worker_vthread;
	uint64_t submitter_java_tid, worker_java_tid;
	uint32_t outer, outer_pool; /* ENDED: class of the task around it and of that one's pool */
	uint64_t time, submit, begin;
	/* Tasks that waited in the pool's queue when it was submitted; where the pool does not tell
	 * (@counted), those that had been submitted and had not begun. */
	uint32_t queued;
	bool counted;
};

enum model_occupant { MODEL_CPU_UNKNOWN, MODEL_CPU_IDLE, MODEL_CPU_TARGET, MODEL_CPU_FOREIGN };

/*
 * A CPU was held by @occupant during [begin, end). Complete cover, in time order per CPU.
 * Unless all switches were recorded, a CPU that went from a target to another thread, and for which
 * no target waits, is UNKNOWN from then on: how soon that one left it was not recorded.
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
 * @thread was MODEL_READY, in the run queue of @cpu, while @occupant had that CPU. For each thread
 * in time order; together not more than its ready time: who had the CPU is not always known.
 */
struct model_wait {
	uint32_t thread;
	uint32_t cpu;
	enum model_occupant occupant; /* never MODEL_CPU_UNKNOWN */
	uint32_t occupant_index, tid; /* thread and tid as in struct model_cpu */
	bool throttled;		      /* as in struct model_state */
	uint64_t begin, end;
};

/*
 * The hypervisor took @cpu away for @stolen ns, some time since this was told last of it. @thread
 * had the CPU when it was told, or MODEL_NO_THREAD: that it is what it lost is an upper bound.
 */
struct model_steal {
	uint32_t cpu, thread;
	uint64_t time, stolen;
};

/*
 * @thread was woken from a wait: sched_waking at @waking; it became runnable at @ready. Told when
 * it is certain that a wait ended; a wake-up whose sched_waking is missing has no link.
 */
struct model_wakeup {
	uint32_t thread;
	uint32_t waker;			/* a target thread, or MODEL_NO_THREAD */
	uint32_t waker_foreign;		/* index in manifest->foreigners, or MODEL_NO_THREAD */
	uint32_t waker_vthread;		/* index of the virtual thread on it, or MODEL_NO_THREAD */
	uint32_t waker_tid;		/* 0: the idle task */
	enum jis_waker_context context; /* not JIS_WAKER_TASK: waker is only who was interrupted */
	uint32_t waker_cpu;
	bool waker_running; /* the waker is a target and was MODEL_RUNNING on waker_cpu */
	uint64_t waking, ready;
	/* The wait that ended: its begin, and as in struct model_state; NULL also where that state
	 * was not known. */
	uint64_t wait_begin;
	const struct model_reason *reason;
};

enum model_event_kind {
	MODEL_EVENT_MARKER,	/* type, value */
	MODEL_EVENT_SPAN_BEGIN, /* name, java_tid; value: depth after it, 1 = outermost */
	MODEL_EVENT_SPAN_END,	/* name: the one that ended; value: depth after it */
	MODEL_EVENT_GC_START,	/* value: number */
	MODEL_EVENT_GC_FINISH,
	MODEL_EVENT_VM_PHASE,	   /* value: enum jis_vm_phase */
	MODEL_EVENT_RENAME,	   /* text: new comm */
	MODEL_EVENT_JAVA_NAME,	   /* text: new Java name */
	MODEL_EVENT_EXEC,	   /* text: file */
	MODEL_EVENT_SESSION,	   /* value: enum jis_session_mark; thread MODEL_NO_THREAD */
	MODEL_EVENT_MOUNT,	   /* java_tid: virtual thread that is on @thread from now on */
	MODEL_EVENT_UNMOUNT,	   /* java_tid: the one that leaves it */
	MODEL_EVENT_SYSCALL_ENTER, /* value: nr; name: what its descriptor is, or path */
	MODEL_EVENT_SYSCALL_EXIT,  /* value: nr */
	/* name: the VM operation, 0 not known; value: enum jis_safepoint_source */
	MODEL_EVENT_SAFEPOINT_BEGIN,
	MODEL_EVENT_SAFEPOINT_REACHED,
	MODEL_EVENT_SAFEPOINT_END,
	MODEL_EVENT_HEAP_USED, /* value: bytes; type: 0 before a collection, 1 after it */
	MODEL_EVENT_HEAP_COMMITTED,
	MODEL_EVENT_CLASS_LOAD, /* name: class, also in those that follow */
	MODEL_EVENT_CLASS_UNLOAD,
	MODEL_EVENT_EXCEPTION,	 /* place: method; value: line; type: 1 caught */
	MODEL_EVENT_ALLOCATION,	 /* value: bytes of the sampled object */
	MODEL_EVENT_COMPILATION, /* name: method; value: bytes of code */
	/* name: class of the monitor; type: 1: it had to wait for it */
	MODEL_EVENT_MONITOR_ENTER,
	/* value: ns it had it, without Object.wait; type: 1: it still has it, value is 0 */
	MODEL_EVENT_MONITOR_EXIT,
	/* value: number of the connection the thread uses from now on, as far as is recorded; 0:
	 * the one it used is closed */
	MODEL_EVENT_CONNECTION,
	/* Methods are traced from now on, or no more: value: pause it took, ns; type: enum
	 * jis_methods_asked */
	MODEL_EVENT_METHODS,
	/* value: what recording the enter and exit of a call costs, ps; type: enum jis_method_way
	 */
	MODEL_EVENT_PROBE,
	/* Records are missing; told when it matters. The spans and markers of java_tid (0: of the
	 * thread) have no known end; value: how many spans. */
	MODEL_EVENT_SPANS_LOST,
	MODEL_EVENT_GC_LOST, /* the same of the collection or safepoint under way */
	MODEL_EVENT_SAFEPOINT_LOST,
	/* java_tid: who calls Thread.start; type: 1 a virtual thread; value: where, for
	 * model_stack(), 0: not taken */
	MODEL_EVENT_THREAD_START,
};

struct model_event {
	uint32_t thread; /* or MODEL_NO_THREAD: of the process as a whole */
	uint32_t process;
	uint32_t cpu; /* where the thread runs then, or MODEL_NO_CPU */
	enum model_event_kind kind;
	uint64_t time;
	uint64_t java_tid;
	uint32_t vthread; /* that java_tid is, or MODEL_NO_THREAD */
	uint32_t type;
	int64_t value;
	/* Index for model_name(), 0: none; the same for equal text in all processes. Also of @text.
	 */
	uint32_t name;
	uint32_t outer;	  /* SPAN_END: name of the span that goes on, 0: none */
	uint32_t place;	  /* EXCEPTION: model_name(), Class.method */
	uint32_t left;	  /* SPAN_*: the nest's former thread when it moved to another, or
			     MODEL_NO_THREAD */
	const char *text; /* or NULL; valid during the call */
};

/* Events were lost or a packet is damaged: what happened on @cpu or in @process then is not known.
 * Cut to the window, which it touches. */
struct model_damage {
	uint32_t cpu;	  /* kernel stream, or MODEL_NO_CPU */
	uint32_t process; /* user stream: index, or UINT32_MAX */
	uint64_t begin, end;
	uint64_t lost; /* records, also those before and behind the window; 0: not known */
	bool known;    /* the manifest has it */
	const char *reason;
};

/* Orders of records that cannot be: each is an error of the trace, counted by kind. */
enum model_error {
	MODEL_ERROR_MONITOR_END, /* of a monitor's contended enter, without begin */
	MODEL_ERROR_WAIT_END,
	MODEL_ERROR_PARK_END,
	MODEL_ERROR_SLEEP_END,
	MODEL_ERROR_JOIN_END,
	MODEL_ERROR_DESCRIPTOR_END,
	MODEL_ERROR_NESTED,	   /* a wait begins inside of one that can hold none such */
	MODEL_ERROR_UNENDED,	   /* a wait ends while one inside of it has not */
	MODEL_ERROR_OBJECT,	   /* a wait ends on another object than it began on */
	MODEL_ERROR_DIED_WAITING,  /* a Java thread ends inside of a wait */
	MODEL_ERROR_STARTED_TWICE, /* a Java thread starts that has started and not ended */
	MODEL_ERROR_WRONG_THREAD,  /* a Java thread writes on another's kernel thread */
	MODEL_ERROR_MOUNTED_TWICE, /* a virtual thread is mounted that is */
	MODEL_ERROR_CARRIER_TAKEN, /* ... on a carrier that has another */
	MODEL_ERROR_NOT_MOUNTED,   /* it is unmounted, or writes, and is not mounted there */
	MODEL_ERROR_TASK_END,
	MODEL_ERROR_STACK,	     /* a stack of a wait, and there is no wait */
	MODEL_ERROR_GC_START,	     /* a collection inside of another */
	MODEL_ERROR_GC_FINISH,	     /* without start */
	MODEL_ERROR_SAFEPOINT_BEGIN, /* a safepoint inside of another */
	MODEL_ERROR_SAFEPOINT_END,   /* one is reached or ends, without begin */
	MODEL_ERROR_CALL_ENTER,	     /* a system call inside of another */
	MODEL_ERROR_CALL_EXIT,	     /* of another call than the one it is in */
	MODEL_ERROR_METHOD_EXIT,     /* of a method it is not in */
	MODEL_ERROR_METHOD_UNENDED,  /* a method ends while one inside of it has not */
	/* Switches and wake-ups that contradict those before; also counted as contradictions. */
	MODEL_ERROR_NOT_THERE, /* a thread leaves a CPU that it was not on */
	MODEL_ERROR_CPU_TAKEN, /* a thread leaves a CPU that another one was on */
	MODEL_ERROR_NOT_READY, /* a thread gets a CPU that waited, unwoken, or has ended */
	MODEL_ERROR_ELSEWHERE, /* a thread gets a CPU while it runs on another */
	MODEL_ERROR_WAKER,     /* a thread wakes another where it does not run */
	MODEL_ERROR_WOKEN,     /* a thread is woken that has ended, or that was not made */
	MODEL_NR_ERRORS
};

/* Is it one of those that are counted as contradictions? */
static inline bool model_error_contradicts(enum model_error error)
{
	return error >= MODEL_ERROR_NOT_THERE;
}

/* Kernel and Java tell different stories of one wait. What is shown is said in docs/model.md. */
enum model_conflict {
	MODEL_CONFLICT_CALL,	   /* Java: in a wait; kernel: in a call that is no part of it */
	MODEL_CONFLICT_WORDS,	   /* Java: in one kind of wait; the VM's words: in another */
	MODEL_CONFLICT_IN_JAVA,	   /* the VM's words: in Java code; kernel: blocked in a futex */
	MODEL_CONFLICT_OFF_CPU,	   /* a record of Java by a thread that was blocked */
	MODEL_CONFLICT_OTHER_CALL, /* at the switch another call than the one it entered */
	MODEL_NR_CONFLICTS
};

/* The first of a kind. */
struct model_first {
	uint64_t time;	      /* of the record that showed it */
	struct model_who who; /* the thread it is of, as far as is known */
};

/* What did not fit: each count is an error of the trace or of a rule, shown by info and report. */
struct model_counts {
	uint64_t events;
	uint64_t switches;	 /* sched_switch that touch a target */
	uint64_t wakeups;	 /* of targets, that ended a wait */
	uint64_t wakings_on_cpu; /* wake-ups of threads that had not left the CPU: no transition */
	/* Evidence against the modelled state; the newer evidence wins. The sum of the errors from
	 * MODEL_ERROR_NOT_THERE on. */
	uint64_t contradictions;
	/* Switches that must have been and that the kernel did not tell of: to threads that were
	 * ready, and then at work on a CPU that was idle or of which nothing was known. */
	uint64_t unseen_switches;
	uint64_t unbalanced_spans;
	uint64_t backward_steps;
	/* Records that are missing; of a window: by losses that touch it. */
	uint64_t lost, lost_user; /* in all; of them what processes wrote */
	uint64_t unknown_threads; /* records of threads the tables do not know */
	uint64_t forgotten_tasks; /* submitted, not begun, and the oldest of too many */
	uint64_t stacks_left_out; /* long waits of the window whose stack the agent did not take:
				     too many a second */
	uint64_t errors[MODEL_NR_ERRORS];
	uint64_t conflicts[MODEL_NR_CONFLICTS]; /* counted when a sink wants_reasons */
	/* Where their count is not 0. */
	struct model_first first_error[MODEL_NR_ERRORS], first_conflict[MODEL_NR_CONFLICTS];
};

/* A sink. Any member may be NULL. Each returns 0, or a negative errno that ends the run. */
struct model_sink {
	int (*begin)(void *ctx, const struct model_info *info);
	int (*state)(void *ctx, const struct model_state *state);
	int (*cpu)(void *ctx, const struct model_cpu *cpu);
	int (*wakeup)(void *ctx, const struct model_wakeup *wakeup);
	int (*wait)(void *ctx, const struct model_wait *wait);
	int (*steal)(void *ctx, const struct model_steal *steal);
	int (*event)(void *ctx, const struct model_event *event);
	/* From @time on @nr selected threads are known to run at once; each change, in time order.
	 */
	int (*running)(void *ctx, uint64_t time, uint32_t nr);
	int (*damage)(void *ctx, const struct model_damage *damage);
	int (*vstate)(void *ctx, const struct model_vstate *state);
	int (*java_wait)(void *ctx, const struct model_java_wait *wait);
	/* Of selected submitters or workers; in time order. */
	int (*task)(void *ctx, const struct model_task *task);
	/* In order of when they were complete. Those of locks, and what was waited for, only when a
	 * sink wants_reasons. */
	int (*link)(void *ctx, const struct model_link *link);
	/* A call of a selected thread begins: not told of those begun before the window, nor of
	 * MODEL_CALL_UNSEEN ones. It ends, or the window does: in order of their ends. */
	int (*call_begin)(void *ctx, const struct model_call *call);
	int (*call_end)(void *ctx, const struct model_call *call);
	/* It is closed, or the recording ends. */
	int (*connection)(void *ctx, const struct model_connection *connection);
	/* A remote call of a selected thread, client or server, wholly within the window; in the
	 * order in which they were complete, those without an other end behind them.
	 * wants_cut_remotes: also those not wholly within it, or outside of it. */
	int (*remote)(void *ctx, const struct model_remote_call *call);
	/* An end of one begins: INVOKE, else the first moment that is known. In time order. */
	int (*remote_begin)(void *ctx, const struct model_remote_call *call);
	/* An end of one is over, whatever is known of the other end: of that, and of the match,
	 * there is nothing here. In time order. */
	int (*remote_end)(void *ctx, const struct model_remote_call *call);
	int (*end)(void *ctx, const struct model_counts *counts);
	void *ctx;
	/* States come with reasons, and running ones end where a recorded system call begins or
	 * ends. Implied by call_end, unless bare_calls. */
	bool wants_reasons;
	/* Of a call only these are told: number, caller, method, whose it is, flags but those of
	 * recursion, begin and end. Where no sink wants more, that takes half the time; but where
	 * calls' records turn out to be missing though the manifest knows of none, the run ends
	 * with -EAGAIN, and options.contexts make the next one succeed. */
	bool bare_calls;
	bool wants_cut_remotes;
};

struct model_options {
	uint64_t from, to; /* ns since begin; to 0 = to the end. States are cut to the window */
	/* Select threads whose name contains this, or whose tid it is; NULL: all. The others get no
	 * states, wake-ups or events; as occupants of CPUs and as wakers they are told. */
	const char *thread;
	const char *process; /* the same for processes, by name or pid */
	/* At most so many virtual threads are told of; 0: 16384. The first born are. */
	uint32_t max_vthreads;
	uint32_t max_contexts; /* of calls; 0: 2^20. Further ones are MODEL_NO_CONTEXT */
	bool contexts;	       /* are kept even where all sinks take bare_calls */
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
/* Calls that had 2^20 others around them: they are not told. Grows while running. */
uint64_t model_deep_calls(const struct model *m);
/* Text of a span name or marker name. "" for 0. */
const char *model_name(const struct model *m, uint32_t name);
uint32_t model_nr_names(const struct model *m); /* names are 1..nr; grows while running */
void model_close(struct model *m);

/* A frame of a stack. */
struct model_frame {
	const char *class_name, *method, *file; /* "" where not known */
	int32_t line;				/* -1 not known, -2 a native method */
};

/**
 * model_stack - frames of stack @stack of process @process, innermost first.
 * @frames: room for @room of them; valid until model_close(), their texts until the next event.
 * Returns how many were stored; 0 for one that is not known.
 */
uint32_t model_stack(const struct model *m, uint32_t process, uint32_t stack,
		     struct model_frame *frames, uint32_t room);

/* Name of system call @nr on the traced machine, or NULL. */
const char *model_syscall_name(const struct model *m, int32_t nr);

/* "monitor", "socket read", ... */
const char *model_reason_name(enum model_reason_kind kind);
/* What is wrong, in words. */
const char *model_error_name(enum model_error error);
const char *model_conflict_name(enum model_conflict conflict);

/* "running", "ready", ... */
const char *model_state_name(enum model_state_kind kind);

#endif /* JIS_MERGER_MODEL_H */
