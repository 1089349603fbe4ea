/* SPDX-License-Identifier: MIT */
/*
 * Feeds a JVM of three Java threads and writes down the reasons of their states, their waits and
 * their wake-ups as text. Process 100 is the JVM: 100 and 101 are Java threads 1 and 2, 102 is its
 * "VM Thread", 103 a thread of native code, 104 and 105 are carriers (Java threads 14 and 15).
 */
#ifndef TEST_MODEL_WHY_H
#define TEST_MODEL_WHY_H

#include <sys/socket.h>

#include "jis/abi.h"
#include "test_model_feed.h"
#include "trace/syscall_name.h"

#define SLOT FEED_SLOT(0)
#define DICT FEED_DICT(0)
/* string_def ids */
enum { NAME_LOCK = 1, NAME_OTHER, NAME_SYNC, NAME_INTS };

static char reasons[16][FEED_LOG], java_waits[FEED_LOG], woken[FEED_LOG], vstates[8][FEED_LOG];
static uint64_t vstate_end[8];

static inline void log_reason(char *log, const struct model *m, const struct model_reason *r)
{
	feed_log(log, "%s%s", model_reason_name(r->kind), r->sampled ? "?" : "");
	if (r->class_name)
		feed_log(log, " %s@%x", model_name(m, r->class_name), r->hash);
	if (r->owner != MODEL_NO_THREAD)
		feed_log(log, " of T%u", m->threads[r->owner].entry->tid);
	if (r->owner_java_tid)
		feed_log(log, " #%" PRIu64, r->owner_java_tid);
	if (r->fd >= 0)
		feed_log(log, " fd %d", r->fd);
	if (r->name)
		feed_log(log, " '%s'", model_name(m, r->name));
	if (r->value)
		feed_log(log, " %" PRIx64, r->value);
	if (r->pinned)
		feed_log(log, " pinned");
}

static inline int why_on_state(void *ctx, const struct model_state *s)
{
	struct feed *f = ctx;
	char *log = reasons[s->thread];

	ck_assert_ptr_nonnull(s->reason);
	if (s->reason->kind == MODEL_REASON_NONE) {
		ck_assert(s->kind == MODEL_UNKNOWN || s->kind == MODEL_EXITED ||
			  s->kind == MODEL_NOT_CREATED);
		return 0;
	}
	feed_log(log, "%s", *log ? ", " : "");
	log_reason(log, f->m, s->reason);
	feed_log(log, " %" PRIu64 "-%" PRIu64 "%s", s->begin, s->end, s->more ? "+" : "");
	return 0;
}

static inline int why_on_wakeup(void *ctx, const struct model_wakeup *w)
{
	struct feed *f = ctx;

	feed_log(woken, "%s%u<-%u ", *woken ? ", " : "", f->threads[w->thread].tid, w->waker_tid);
	if (w->reason)
		log_reason(woken, f->m, w->reason);
	feed_log(woken, " %" PRIu64, w->wait_begin);
	return 0;
}

static inline int why_on_java_wait(void *ctx, const struct model_java_wait *w)
{
	struct feed *f = ctx;

	feed_log(java_waits, "%s", *java_waits ? ", " : "");
	if (w->vthread != MODEL_NO_THREAD)
		feed_log(java_waits, "V%" PRIu64 " ", f->m->info.vthreads[w->vthread].java_tid);
	else if (w->thread != MODEL_NO_THREAD)
		feed_log(java_waits, "T%u ", f->threads[w->thread].tid);
	log_reason(java_waits, f->m, w->reason);
	feed_log(java_waits, " %" PRIu64 "-%" PRIu64 "%s", w->begin, w->end,
		 w->complete ? "" : "...");
	if (w->blocked)
		feed_log(java_waits, " (%" PRIu64 ")", w->blocked);
	if (w->timed_out)
		feed_log(java_waits, " timed out");
	if (w->inside)
		feed_log(java_waits, " inside");
	if (w->in_work)
		feed_log(java_waits, " in work");
	if (w->stack)
		feed_log(java_waits, " stack %u", w->stack);
	return 0;
}

static inline int why_on_vstate(void *ctx, const struct model_vstate *s)
{
	static const char *const short_name[] = {"unknown", "none", "run",     "ready",
						 "sleep",   "disk", "stopped", "exited"};
	struct feed *f = ctx;
	char *log = vstates[s->vthread];

	/* Complete cover, in order, here too. */
	ck_assert_uint_eq(s->begin, vstate_end[s->vthread]);
	ck_assert_uint_lt(s->begin, s->end);
	vstate_end[s->vthread] = s->end;
	feed_log(log, "%s%s", *log ? ", " : "", short_name[s->kind]);
	if (s->carrier != MODEL_NO_THREAD)
		feed_log(log, " on T%u", f->threads[s->carrier].tid);
	if (s->reason && s->kind >= MODEL_READY && s->kind != MODEL_EXITED) {
		feed_log(log, " ");
		log_reason(log, f->m, s->reason);
	}
	feed_log(log, " %" PRIu64 "-%" PRIu64, s->begin, s->end);
	if (s->waker_java_tid)
		feed_log(log, " <- #%" PRIu64, s->waker_java_tid);
	return 0;
}

static const struct model_sink *why_sink(struct feed *f)
{
	static struct model_sink sink;

	memset(reasons, 0, sizeof(reasons));
	memset(vstates, 0, sizeof(vstates));
	memset(vstate_end, 0, sizeof(vstate_end));
	java_waits[0] = woken[0] = 0;
	sink = (struct model_sink){.state = why_on_state,
				   .wakeup = why_on_wakeup,
				   .java_wait = why_on_java_wait,
				   .vstate = why_on_vstate,
				   .ctx = f,
				   .wants_reasons = true};
	return &sink;
}

static inline void why_thread(struct feed *f, uint32_t tid, const char *name, uint64_t java_tid)
{
	feed_thread(f, tid, 100, ALIVE, ALIVE, name);
	f->threads[f->man.nr_threads - 1].java_tid = java_tid;
}

static inline struct feed *why_new(void)
{
	struct feed *f = feed_new(false);

	f->man.machine = (char *)"x86_64";
	feed_process(f, 100, "java");
	f->processes[0].vm_version = 21;
	why_thread(f, 100, "main", 1);
	why_thread(f, 101, "worker", 2);
	why_thread(f, 102, "VM Thread", 0);
	why_thread(f, 103, "native", 0);
	why_thread(f, 104, "ForkJoinPool-1-worker-1", 14);
	why_thread(f, 105, "ForkJoinPool-1-worker-2", 15);
	f->sinks[f->nr_sinks++] = why_sink(f);
	return f;
}

/* Java thread @java_tid is told of: on @tid, ... */
static inline void java_starts(struct feed *f, uint64_t t, uint64_t java_tid, uint32_t tid,
			       uint32_t flags)
{
	FEED_TEXT(f, DICT, t, java_thread_start, name, "name", .java_tid = java_tid, .tid = tid,
		  .flags = flags);
}

static inline void java_ends(struct feed *f, uint64_t t, uint64_t java_tid, uint32_t tid)
{
	FEED(f, DICT, t, java_thread_end, .java_tid = java_tid, .tid = tid);
}

/* Begins the model; the Java threads started with it, and 100 and 101 run on CPUs 0 and 1. */
static inline void why_start_with(struct feed *f, const struct model_options *options)
{
	static const char *const names[] = {"", "Lock", "Other", "Sync", "[I"};

	feed_start(f, options);
	for (uint32_t i = 1; i < 5; i++)
		FEED_TEXT(f, DICT, 0, string_def, text, names[i], .id = i);
	java_starts(f, 0, 1, 100, 0);
	java_starts(f, 0, 2, 101, 0);
	java_starts(f, 0, 14, 104, 0);
	java_starts(f, 0, 15, 105, 0);
	feed_switch(f, 0, 0, 0, R, 100);
	feed_switch(f, 1, 0, 0, R, 101);
}

static inline void why_start(struct feed *f)
{
	why_start_with(f, NULL);
}

/* The records that follow in the slot are @tid's. */
#define PARK(f, t, id)                                                                             \
	FEED(f, SLOT, t, park_begin, .java_tid = id, .class_name = NAME_SYNC, .hash = 0x5,         \
	     .timeout = -1)

static inline void writes(struct feed *f, uint64_t t, uint32_t tid)
{
	FEED(f, SLOT, t, thread_bind, .tid = tid);
}

static inline int32_t nr(const char *call)
{
	const char *const *names = syscall_names("x86_64", false);

	for (int32_t i = 0; i < (int32_t)JIS_MAX_SYSCALL; i++) {
		if (names[i] && !strcmp(names[i], call))
			return i;
	}
	ck_abort_msg("no call %s", call);
	return -1;
}

/* @tid leaves CPU @cpu for @state, in @call (NULL: none), with the VM's words. */
static inline void leaves(struct feed *f, uint32_t cpu, uint64_t t, uint32_t tid, uint32_t state,
			  const char *call, uint32_t vm, uint32_t os)
{
	FEED(f, cpu, t, sched_switch, .prev_tid = tid, .prev_state = state, .next_tid = 0,
	     .prev_syscall = call ? nr(call) : JIS_SYSCALL_NONE, .prev_vm_state = vm,
	     .prev_os_state = os);
}

static inline void comes(struct feed *f, uint32_t cpu, uint64_t t, uint32_t tid)
{
	FEED(f, cpu, t, sched_switch, .prev_tid = 0, .next_tid = tid,
	     .prev_syscall = JIS_SYSCALL_UNKNOWN);
}

#endif /* TEST_MODEL_WHY_H */
