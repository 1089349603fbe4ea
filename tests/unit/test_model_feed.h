/* SPDX-License-Identifier: MIT */
/*
 * Feeds a model event by event from a table in the test, without files, and writes down what it
 * tells as text: for thread i "kind@cpu begin-end, ...". One tick is one nanosecond.
 */
#ifndef TEST_MODEL_FEED_H
#define TEST_MODEL_FEED_H

#include <check.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "merger/model_int.h"

#define FEED_CPUS 4
#define FEED_RECORDER FEED_CPUS
#define FEED_SLOT(process) (FEED_CPUS + 1 + (process))
#define FEED_DICT(process) (FEED_CPUS + 5 + (process))
#define FEED_STREAMS (FEED_CPUS + 9)
#define FEED_LOG 8192
#define ALIVE TIME_NONE
#define S JIS_TASK_INTERRUPTIBLE
#define D JIS_TASK_UNINTERRUPTIBLE
#define R JIS_TASK_RUNNING
#define X JIS_TASK_DEAD

struct feed {
	struct manifest man;
	struct process_entry processes[4];
	struct thread_entry threads[16];
	struct foreign_entry foreigners[8];
	struct stream_cursor cursors[FEED_STREAMS];
	uint64_t sequence[FEED_STREAMS];
	struct model *m;
	struct model_sink sink;
	const struct model_sink *sinks[4];
	uint32_t nr_sinks;
	struct model_counts counts;
	char thread_log[16][FEED_LOG], cpu_log[FEED_CPUS][FEED_LOG], wakeups[FEED_LOG],
		events[FEED_LOG], damages[FEED_LOG], running[FEED_LOG];
	uint64_t thread_end[16], cpu_end[FEED_CPUS];
};

__attribute__((format(printf, 2, 3))) static inline void feed_log(char *log, const char *fmt, ...)
{
	size_t used = strlen(log);
	va_list args;

	va_start(args, fmt);
	vsnprintf(log + used, FEED_LOG - used, fmt, args);
	va_end(args);
}

static inline int feed_on_state(void *ctx, const struct model_state *s)
{
	static const char *const short_name[] = {"unknown", "none", "run",     "ready",
						 "sleep",   "disk", "stopped", "exited"};
	struct feed *f = ctx;
	char *log = f->thread_log[s->thread];

	/* Complete cover, in order: holds whatever is fed. */
	ck_assert_uint_eq(s->begin, f->thread_end[s->thread]);
	ck_assert_uint_lt(s->begin, s->end);
	f->thread_end[s->thread] = s->end;
	feed_log(log, "%s%s%s", *log ? ", " : "", short_name[s->kind], s->preempted ? "!" : "");
	if (s->kind == MODEL_RUNNING)
		feed_log(log, "@%u", s->cpu);
	else
		ck_assert_uint_eq(s->cpu, MODEL_NO_CPU);
	feed_log(log, " %" PRIu64 "-%" PRIu64, s->begin, s->end);
	return 0;
}

static inline int feed_on_cpu(void *ctx, const struct model_cpu *c)
{
	static const char *const short_name[] = {"unknown", "idle", "target", "foreign"};
	struct feed *f = ctx;
	char *log = f->cpu_log[c->cpu];

	ck_assert_uint_eq(c->begin, f->cpu_end[c->cpu]);
	ck_assert_uint_lt(c->begin, c->end);
	f->cpu_end[c->cpu] = c->end;
	feed_log(log, "%s%s", *log ? ", " : "", short_name[c->occupant]);
	if (c->tid)
		feed_log(log, "=%u", c->tid);
	feed_log(log, " %" PRIu64 "-%" PRIu64, c->begin, c->end);
	return 0;
}

static inline int feed_on_wakeup(void *ctx, const struct model_wakeup *w)
{
	struct feed *f = ctx;
	char *log = f->wakeups;

	feed_log(log, "%s%u<-", *log ? ", " : "", f->threads[w->thread].tid);
	if (w->waker != MODEL_NO_THREAD)
		ck_assert_uint_eq(f->threads[w->waker].tid, w->waker_tid);
	else if (w->waker_foreign != MODEL_NO_THREAD)
		feed_log(log, "%s ", f->foreigners[w->waker_foreign].comm);
	feed_log(log, "%u%s@%u %" PRIu64 "-%" PRIu64, w->waker_tid, w->context ? "irq" : "",
		 w->waker_cpu, w->waking, w->ready);
	return 0;
}

static inline int feed_on_event(void *ctx, const struct model_event *e)
{
	static const char *const short_name[] = {"marker", "begin",   "end",   "gc",   "gc-end",
						 "phase",  "rename",  "java",  "exec", "session",
						 "mount",  "unmount", "enter", "exit"};
	struct feed *f = ctx;
	char *log = f->events;

	feed_log(log, "%s%" PRIu64 " %s", *log ? ", " : "", e->time,
		 (size_t)e->kind < sizeof(short_name) / sizeof(*short_name) ? short_name[e->kind]
									    : "other");
	if (e->thread != MODEL_NO_THREAD)
		feed_log(log, " T%u", f->threads[e->thread].tid);
	if (e->cpu != MODEL_NO_CPU)
		feed_log(log, "@%u", e->cpu);
	if (e->kind == MODEL_EVENT_MARKER)
		feed_log(log, " %u", e->type);
	if (e->name)
		feed_log(log, " '%s'", model_name(f->m, e->name));
	if (e->outer)
		feed_log(log, " in '%s'", model_name(f->m, e->outer));
	if (e->left != MODEL_NO_THREAD)
		feed_log(log, " left T%u", f->threads[e->left].tid);
	if (e->vthread != MODEL_NO_THREAD)
		feed_log(log, " V%" PRIu64, e->java_tid);
	feed_log(log, " %" PRId64, e->value);
	return 0;
}

static inline int feed_on_damage(void *ctx, const struct model_damage *d)
{
	struct feed *f = ctx;

	feed_log(f->damages, "%s%d %" PRIu64 "-%" PRIu64 " %" PRIu64, *f->damages ? ", " : "",
		 (int)d->cpu, d->begin, d->end, d->lost);
	return 0;
}

static inline int feed_on_running(void *ctx, uint64_t time, uint32_t nr)
{
	struct feed *f = ctx;

	feed_log(f->running, "%s%" PRIu64 ":%u", *f->running ? " " : "", time, nr);
	return 0;
}

static inline int feed_on_end(void *ctx, const struct model_counts *counts)
{
	((struct feed *)ctx)->counts = *counts;
	return 0;
}

/* A session of 1000 ns with FEED_CPUS CPUs; to be freed with feed_fini(). */
static inline struct feed *feed_new(bool all_switches)
{
	struct feed *f = calloc(1, sizeof(*f));

	ck_assert_ptr_nonnull(f);
	f->man.frequency = 1000000000;
	f->man.end = 1000;
	f->man.nr_cpus = FEED_CPUS;
	f->man.all_switches = all_switches;
	f->man.processes = f->processes;
	f->man.threads = f->threads;
	f->man.foreigners = f->foreigners;
	f->man.hostname = (char *)"host";
	for (uint32_t i = 0; i < FEED_STREAMS; i++) {
		struct stream_cursor *c = &f->cursors[i];

		c->instance = i < FEED_CPUS ? i : 0;
		c->stream_class = i < FEED_CPUS	       ? JIS_STREAM_KERNEL
				  : i == FEED_RECORDER ? JIS_STREAM_RECORDER
				  : i < FEED_DICT(0)   ? JIS_STREAM_USER
						       : JIS_STREAM_DICT;
		c->trace = i < FEED_SLOT(0) ? 0 : 1 + (i - FEED_SLOT(0)) % 4;
	}
	f->sink = (struct model_sink){.state = feed_on_state,
				      .cpu = feed_on_cpu,
				      .wakeup = feed_on_wakeup,
				      .event = feed_on_event,
				      .running = feed_on_running,
				      .damage = feed_on_damage,
				      .end = feed_on_end,
				      .ctx = f};
	f->sinks[f->nr_sinks++] = &f->sink;
	return f;
}

static inline void feed_process(struct feed *f, uint32_t pid, const char *name)
{
	f->processes[f->man.nr_processes++] =
		(struct process_entry){.pid = pid, .name = (char *)name};
}

static inline void feed_thread(struct feed *f, uint32_t tid, uint32_t pid, uint64_t birth,
			       uint64_t death, const char *name)
{
	f->threads[f->man.nr_threads++] = (struct thread_entry){
		.tid = tid,
		.pid = pid,
		.birth = birth,
		.first_seen = birth == TIME_NONE ? 0 : birth,
		.death = death,
		.name = (char *)name,
		.comm = (char *)name,
	};
}

static inline void feed_start(struct feed *f, const struct model_options *options)
{
	ck_assert_int_eq(model_new(&f->man, options, f->cursors, FEED_STREAMS, &f->m), 0);
	ck_assert_int_eq(model_begin(f->m, f->sinks, f->nr_sinks), 0);
	for (uint32_t i = 0; i < 16; i++)
		f->thread_end[i] = f->m->info.begin;
	for (uint32_t i = 0; i < FEED_CPUS; i++)
		f->cpu_end[i] = f->m->info.begin;
}

/* The usual two processes: 100 with threads 100 and 101, 200 with thread 200, all there before. */
static inline struct feed *feed_usual(bool all_switches)
{
	struct feed *f = feed_new(all_switches);

	feed_process(f, 100, "java");
	feed_process(f, 200, "other");
	feed_thread(f, 100, 100, ALIVE, ALIVE, "main");
	feed_thread(f, 101, 100, ALIVE, ALIVE, "worker");
	feed_thread(f, 200, 200, ALIVE, ALIVE, "other");
	return f;
}

static inline void feed_event(struct feed *f, uint32_t stream, uint64_t time, uint32_t id,
			      const void *payload, uint32_t size)
{
	struct stream_cursor *c = &f->cursors[stream];

	c->time = time;
	c->id = id;
	c->payload = payload;
	c->payload_size = size;
	ck_assert_int_eq(model_feed(f->m, c), 0);
}

#define FEED(f, stream, time, event, ...)                                                          \
	do {                                                                                       \
		struct jis_ev_##event ev_ = {__VA_ARGS__};                                         \
		feed_event(f, stream, time, JIS_EV_##event, &ev_, sizeof(ev_));                    \
	} while (0)

/* An event whose last field is a string. */
#define FEED_TEXT(f, stream, time, event, field, string, ...)                                      \
	do {                                                                                       \
		union {                                                                            \
			struct jis_ev_##event ev;                                                  \
			char room[128];                                                            \
		} text_ = {.ev = {__VA_ARGS__}};                                                   \
		text_.ev.field##_length = 64;                                                      \
		memset(text_.room + sizeof(text_.ev), 0, 64);                                      \
		strcpy(text_.room + sizeof(text_.ev), string);                                     \
		feed_event(f, stream, time, JIS_EV_##event, &text_, sizeof(text_.ev) + 64);        \
	} while (0)

static inline void feed_switch(struct feed *f, uint32_t cpu, uint64_t time, uint32_t prev,
			       uint32_t state, uint32_t next)
{
	FEED(f, cpu, time, sched_switch, .prev_tid = prev, .prev_state = state, .next_tid = next,
	     .prev_syscall = JIS_SYSCALL_UNKNOWN);
}

static inline void feed_wake(struct feed *f, uint32_t cpu, uint64_t time, uint32_t waker,
			     uint32_t tid, uint64_t ready)
{
	FEED(f, cpu, time, sched_waking, .tid = tid, .waker_tid = waker);
	FEED(f, cpu, ready, sched_wakeup, .tid = tid);
}

static inline void feed_dump(struct feed *f, uint64_t time, uint32_t tid, uint32_t state,
			     uint32_t cpu)
{
	FEED_TEXT(f, cpu, time, thread_state, comm, "comm", .tid = tid, .state = state, .cpu = cpu);
}

static inline void feed_fork(struct feed *f, uint32_t cpu, uint64_t time, uint32_t parent,
			     uint32_t tid)
{
	FEED_TEXT(f, cpu, time, sched_process_fork, comm, "child", .parent_tid = parent,
		  .tid = tid);
}

/* The stream's next packet; @skip packets are missing before it. */
static inline void feed_packet(struct feed *f, uint32_t stream, uint64_t begin, uint64_t end,
			       uint64_t discarded, uint32_t skip, uint32_t owner)
{
	struct jis_packet_header h = {.timestamp_begin = begin,
				      .timestamp_end = end,
				      .packet_seq = f->sequence[stream] + skip,
				      .events_discarded = discarded,
				      .owner = owner};

	f->sequence[stream] += skip + 1;
	model_packet(f->m, &f->cursors[stream], &h);
}

static inline void feed_end(struct feed *f)
{
	ck_assert_int_eq(model_finish(f->m), 0);
	for (uint32_t i = 0; i < f->man.nr_threads; i++) {
		if (f->m->threads[i].selected)
			ck_assert_uint_eq(f->thread_end[i], f->m->info.end);
	}
	for (uint32_t i = 0; i < FEED_CPUS; i++)
		ck_assert_uint_eq(f->cpu_end[i], f->m->info.end);
}

static inline void feed_free(struct feed *f)
{
	model_free(f->m);
	free(f);
}

#endif /* TEST_MODEL_FEED_H */
