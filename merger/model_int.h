/* SPDX-License-Identifier: MIT */
/*
 * The inside of the model: what its files share, and the way for tests to feed it event by event.
 * Nothing outside of merger/ and its unit tests includes this.
 *
 * Invariant: life L is MODEL_RUNNING on CPU c exactly when cpus[c] is MODEL_CPU_TARGET with thread
 * L. So no two threads run on a CPU at once, whatever the trace says.
 */
#ifndef JIS_MERGER_MODEL_INT_H
#define JIS_MERGER_MODEL_INT_H

#include <stddef.h>

#include "model.h"
#include "merge.h"
#include "trace/read.h"

#define NONE UINT32_MAX
/* Kept out of the way of the few events that are nearly all of a trace. */
#define SELDOM __attribute__((noinline, cold))
#define TID_PAGE_BITS 12
#define TID_PAGES 1024u /* kernel tids are below 2^22 */
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
	LIFE_WAKING = 16,   /* waking holds a sched_waking that no sched_wakeup has taken */
	LIFE_BORN = 32,	    /* its fork was seen, or it was there before */
	LIFE_KNOWN = 64,    /* in model.known */
	LIFE_FREED = 128,   /* its sched_process_free was seen */
	LIFE_EXITING = 256, /* its sched_process_exit was seen */
	LIFE_SWAPPED = 512, /* its tid means life.other */
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
	uint16_t flags;
	uint32_t cpu;
	uint64_t runnable_since;
	uint64_t first;	       /* ns: from here on the tid means this life */
	uint64_t next_first;   /* first of the tid's next life, TIME_NONE: this is the last */
	uint32_t next, former; /* the tid's next and former life, or NONE */
	uint32_t next_ns;      /* the next of the same process with the same tid inside of it */
	uint32_t other;	       /* LIFE_SWAPPED: the life this one has exchanged tids with */
	struct waking waking;
};

struct cpu_run {
	uint64_t since;
	uint64_t last_switch;
	uint64_t told; /* when a thread was last told to run here, by a wake-up or an event */
	enum model_occupant occupant;
	uint32_t thread, tid; /* as in struct model_cpu */
};

/* One stream's packets so far. */
struct stream_run {
	uint64_t sequence, discarded, end; /* of the last packet */
	uint64_t gap_begin, gap_end;	   /* ticks: the last interval told as lost */
	bool seen;
	bool damaged;	/* what the reader found before the next packet's header */
	uint32_t owner; /* USER: life that writes, or NONE */
};

/* An interval of a kernel CPU, or of another stream, in which records are missing. */
struct loss {
	uint64_t begin, end, lost; /* ns */
	uint32_t cpu, process;	   /* MODEL_NO_CPU: no kernel stream; NONE: no user stream */
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
	uint32_t thread; /* life that had its last span event */
	uint32_t on;	 /* life the Java thread runs on, from the dictionary, or NONE */
};

struct nests {
	struct nest *table; /* open addressing; used: process != NONE */
	uint32_t nr, mask;
};

/* string_def ids of one process -> names. */
struct strings {
	uint32_t *name;
	uint32_t room;
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
	bool paused, ran;
	bool to_given;

	uint64_t now;	      /* ns; never steps back */
	uint64_t next_due;    /* begin of the earliest loss still to come */
	uint64_t doubt_until; /* records are missing on some CPU until then */

	struct life *lives;
	struct cpu_run *cpus;
	struct model_thread *threads;
	struct process_entry *processes;
	uint32_t *tid_pages[TID_PAGES];
	uint32_t *ns_table; /* (process, tid inside of it) -> first life */
	uint32_t ns_mask;
	uint32_t *foreign_of; /* foreigners sorted by tid, then time */
	uint32_t *known;      /* lives a loss can make unknown */
	uint32_t nr_known;
	uint32_t nr_running; /* selected */

	struct stream_run *streams;
	const struct stream_cursor *stream_base;
	uint32_t nr_streams;
	struct loss *losses; /* still to come, no order */
	uint32_t nr_losses, room_losses;

	struct names names;
	struct nests nests;
	struct strings *strings; /* [process] */

	const struct model_sink *const *sinks;
	uint32_t nr_sinks;
	struct callbacks on_state, on_cpu, on_wakeup, on_event, on_running, on_damage;

	struct trace *trace;
	struct model_opening *opening;
	uint64_t bytes_done, bytes_total;
};

/* model_core.c: life of a model, whatever feeds it ------------------------------------------- */

/**
 * model_new - a model over @manifest, which stays the caller's and must outlive it.
 * @streams, @nr: the cursors events will come from; told apart by their address.
 * Returns 0, -ENOMEM or -EINVAL.
 */
int model_new(const struct manifest *manifest, const struct model_options *options,
	      const struct stream_cursor *streams, uint32_t nr, struct model **out);
void model_free(struct model *m);
/* Tells the sinks of the beginning. Returns 0 or a sink's error. */
int model_begin(struct model *m, const struct model_sink *const *sinks, uint32_t nr_sinks);
/* A packet of cursor @c begins: as struct stream_observer. */
void model_packet(struct model *m, const struct stream_cursor *c,
		  const struct jis_packet_header *header);
/* Cursor @c stands on the next event of the merge. Returns 0 or the error that ends the run. */
int model_feed(struct model *m, const struct stream_cursor *c);
/* Ends all open states. Returns 0 or the first error of the run. */
int model_finish(struct model *m);

/* model_threads.c ---------------------------------------------------------------------------- */

int model_threads_init(struct model *m);
void model_threads_fini(struct model *m);
/* The last life of @tid before that of time @t; NONE where the tables have none. */
uint32_t thread_advance(struct model *m, uint32_t life, uint64_t t);
/*
 * exec_swap - the kernel has exchanged the tids of a dying leader and a thread of it that calls
 * exec: until the tables' new life of the leader's tid begins, either's tid means the other.
 */
void exec_swap(struct model *m, uint32_t leader, uint32_t thread);
/* Is @life one that the exec of a thread which was not the leader has begun? */
bool exec_born(const struct model *m, uint32_t life);
/* A record of @tid on a CPU that @here holds under another tid: looks whether an exec is why. */
void exec_notice(struct model *m, uint32_t here, uint32_t tid, uint64_t t);
/* Life of process @process that is @tid inside of it at @t, or NONE. */
uint32_t thread_inside(struct model *m, uint32_t process, uint32_t tid, uint64_t t);
/* Index in manifest->foreigners of @tid at @t, or NONE. */
uint32_t foreign_at(const struct model *m, uint32_t tid, uint64_t t);

/* Life of kernel thread @tid at @t, or NONE when it is no target's. */
static inline uint32_t thread_at(struct model *m, uint32_t tid, uint64_t t)
{
	const uint32_t *page =
		tid >> TID_PAGE_BITS < TID_PAGES ? m->tid_pages[tid >> TID_PAGE_BITS] : NULL;
	uint32_t life = page ? page[tid & ((1u << TID_PAGE_BITS) - 1)] : NONE;

	if (life == NONE)
		return NONE;
	if (m->lives[life].next_first <= t)
		life = thread_advance(m, life, t);
	if (__builtin_expect(m->lives[life].flags & LIFE_SWAPPED, 0))
		return m->lives[life].other;
	return m->lives[life].first <= t ? life : NONE;
}

/* model_states.c ----------------------------------------------------------------------------- */

/* Ends the open state of @life at @t and begins @kind. MODEL_RUNNING goes through life_run(). */
void life_set(struct model *m, uint32_t life, enum model_state_kind kind, bool preempted,
	      uint64_t t);
/* @life runs on @cpu from @t on; its CPU before and the CPU's former thread are seen to. */
void life_run(struct model *m, uint32_t life, uint32_t cpu, uint32_t tid, uint64_t t);
/* @life leaves its CPU at @t for @kind; @successor: the target that takes the CPU, or NONE. */
void life_leave(struct model *m, uint32_t life, enum model_state_kind kind, bool preempted,
		uint32_t successor, uint64_t t);
/* Evidence against the open state: counted, and what was open is UNKNOWN. */
void life_contradict(struct model *m, uint32_t life, uint64_t t);
/* On a CPU or ready since @t, it is not known which. */
void life_runnable(struct model *m, uint32_t life, bool woken, uint64_t t);
/* What a switch tells of a LIFE_RUNNABLE life: it was READY (@cpu NONE), or running on @cpu. */
void life_resolve(struct model *m, uint32_t life, uint32_t cpu, uint64_t t);
/* @life was seen at work on @cpu: the first evidence of one whose state is UNKNOWN. */
void life_seen(struct model *m, uint32_t life, uint32_t cpu, uint64_t t);
void lives_unknown(struct model *m, uint32_t cpu, uint64_t t);
void lives_finish(struct model *m);

/* model_cpu.c -------------------------------------------------------------------------------- */

void cpu_set(struct model *m, uint32_t cpu, enum model_occupant occupant, uint32_t thread,
	     uint32_t tid, uint64_t t);
/* The open interval turned out to be wrong. */
void cpu_doubt(struct model *m, uint32_t cpu);
void cpus_finish(struct model *m);
void cpu_switch(struct model *m, uint32_t cpu, const struct jis_ev_sched_switch *ev, uint64_t t);

/* The life that is @tid and works on @cpu: the CPU's own thread before the tid's present owner. */
static inline uint32_t thread_on_cpu(struct model *m, uint32_t cpu, uint32_t tid, uint64_t t)
{
	const struct cpu_run *c = &m->cpus[cpu];

	if (c->occupant == MODEL_CPU_TARGET) {
		if (c->tid == tid)
			return c->thread;
		exec_notice(m, c->thread, tid, t);
	}
	return thread_at(m, tid, t);
}

/* model_wakeups.c ---------------------------------------------------------------------------- */

void wakeup_waking(struct model *m, uint32_t cpu, const struct jis_ev_sched_waking *ev, uint64_t t);
void wakeup_ready(struct model *m, uint32_t tid, bool new_thread, uint64_t t);
/* Tells the link of the wake-up that made @life ready at @ready. */
void wakeup_emit(struct model *m, uint32_t life, uint64_t ready);

/* model_kernel.c ----------------------------------------------------------------------------- */

void kernel_event(struct model *m, const struct stream_cursor *c, uint64_t t);
void model_recorder_event(struct model *m, const struct stream_cursor *c, uint64_t t);

/* model_loss.c ------------------------------------------------------------------------------- */

/* Looks at a packet's header for what is missing before it. */
void loss_packet(struct model *m, const struct stream_cursor *c,
		 const struct jis_packet_header *header);
/* Notes an interval (ticks) of cursor @c; it takes effect when the time comes. */
void loss_add(struct model *m, const struct stream_cursor *c, uint64_t begin, uint64_t end,
	      uint64_t lost, const char *reason);
void loss_record(struct model *m, const struct stream_cursor *c, uint64_t t);
/* Applies what is due at @t. */
void loss_due(struct model *m, uint64_t t);
int loss_manifest(struct model *m);

/* model_java.c, model_names.c ---------------------------------------------------------------- */

void user_packet(struct model *m, const struct stream_cursor *c,
		 const struct jis_packet_header *header);
void user_event(struct model *m, const struct stream_cursor *c, uint64_t t);
void dict_event(struct model *m, const struct stream_cursor *c, uint64_t t);
void model_java_fini(struct model *m);
/* Interns @text. Returns its index, or 0 after setting m->error. */
uint32_t name_intern(struct model *m, const char *text, size_t len);
void model_names_fini(struct names *n);

/* Telling the sinks -------------------------------------------------------------------------- */

void emit_state(struct model *m, uint32_t life, enum model_state_kind kind, uint64_t begin,
		uint64_t end, uint32_t successor);
void emit_event(struct model *m, struct model_event *event);
void emit_running(struct model *m, uint64_t t);

#endif /* JIS_MERGER_MODEL_INT_H */
