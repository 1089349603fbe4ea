/* SPDX-License-Identifier: MIT */
/* A JVM whose threads call methods, fed to a model, and what that tells of the calls as text. */
#ifndef TEST_MODEL_CALLS_H
#define TEST_MODEL_CALLS_H

#include <errno.h>

#include "merger/callstack.h"
#include "test_model_why.h"

enum { A = 1, B, C, NEW, RUN, NR_METHODS };
enum { THROWN = JIS_METHOD_UNWOUND, VIRTUAL = JIS_JTHREAD_VIRTUAL };

static char calls[FEED_LOG], begins[FEED_LOG];
static uint64_t last_number, last_calls, last_lost;

static inline void log_path(char *log, const struct model *m, uint32_t context)
{
	const struct model_context *c = model_context(m, context);
	char text[64];

	if (context == MODEL_NO_CONTEXT || !context) {
		feed_log(log, "?");
		return;
	}
	if (c->parent) {
		log_path(log, m, c->parent);
		feed_log(log, c->started ? "=>" : ">");
	}
	model_method_text(m, c->method, text, sizeof(text));
	feed_log(log, "%s", text + (strncmp(text, "T.", 2) ? 0 : 2));
}

static inline void log_times(const uint64_t *time)
{
	static const char *const names[] = {"cpu", "ready", "blocked", "carrying", "unknown"};
	bool first = true;

	for (int i = 0; i < MODEL_NR_CALL_TIMES; i++) {
		if (time[i])
			feed_log(calls, "%s%s %" PRIu64, first ? "" : " ", names[i], time[i]);
		first &= !time[i];
	}
}

static inline uint64_t sum(const uint64_t *v, uint32_t n)
{
	uint64_t s = 0;

	for (uint32_t i = 0; v && i < n; i++)
		s += v[i];
	return s;
}

/* What holds for any call. */
static inline void check(const struct model_call *c)
{
	ck_assert_uint_le(c->begin, c->end);
	ck_assert_uint_eq(sum(c->time, MODEL_NR_CALL_TIMES), c->end - c->begin);
	ck_assert_uint_eq(sum(c->by_reason, MODEL_NR_REASONS),
			  c->time[MODEL_CALL_READY] + c->time[MODEL_CALL_BLOCKED]);
	ck_assert_uint_eq(sum(c->own_by_reason, MODEL_NR_REASONS),
			  c->own[MODEL_CALL_READY] + c->own[MODEL_CALL_BLOCKED]);
	for (int i = 0; i < MODEL_NR_CALL_TIMES; i++)
		ck_assert_uint_le(c->own[i], c->time[i]);
	ck_assert_uint_le(sum(c->own, MODEL_NR_CALL_TIMES) + c->lost, c->end - c->begin);
	ck_assert_uint_ge(c->depth, 1);
	ck_assert_uint_ne(c->number, c->caller);
}

static inline int on_call_end(void *ctx, const struct model_call *c)
{
	static const char flags[] = "uocxrds"; /* as enum model_call_flag */
	struct feed *f = ctx;

	check(c);
	feed_log(calls, "%s", *calls ? ", " : "");
	log_path(calls, f->m, c->context);
	feed_log(calls, " %" PRIu64 "-%" PRIu64 "", c->begin, c->end);
	for (int i = 0; i < 7; i++)
		if (c->flags & 1u << i)
			feed_log(calls, "%c", flags[i]);
	if (c->flags & MODEL_CALL_GAP)
		feed_log(calls, "g");
	feed_log(calls, " (");
	log_times(c->time);
	if (memcmp(c->time, c->own, sizeof(c->time))) {
		feed_log(calls, "; own ");
		log_times(c->own);
	}
	for (int i = 0; c->by_reason && i < MODEL_NR_REASONS; i++)
		if (c->by_reason[i])
			feed_log(calls, "; %s %" PRIu64, model_reason_name(i), c->by_reason[i]);
	feed_log(calls, ")");
	last_number = c->number;
	last_calls = c->calls;
	last_lost = c->lost;
	return 0;
}

static inline int on_call_begin(void *ctx, const struct model_call *c)
{
	struct feed *f = ctx;

	feed_log(begins, "%s%" PRIu64 ":", *begins ? " " : "", c->begin);
	log_path(begins, f->m, c->context);
	feed_log(begins, "/%u", c->depth);
	return 0;
}

static const struct model_sink *alone; /* in place of the one that logs */

static inline void start_as(struct feed *f, const struct model_options *options)
{
	static const char *const names[] = {"", "a", "b", "c", "<init>", "run"};
	static struct model_sink sink;

	sink = (struct model_sink){.call_begin = on_call_begin, .call_end = on_call_end, .ctx = f};
	calls[0] = begins[0] = 0;
	f->sinks[f->nr_sinks++] = alone ? alone : &sink;
	if (!f->m)
		feed_start(f, options);
	else
		ck_assert_int_eq(model_begin(f->m, f->sinks, f->nr_sinks), 0);
	FEED_TEXT(f, DICT, 0, string_def, text, "Lock", .id = NAME_LOCK);
	FEED_TEXT(f, DICT, 0, string_def, text, "()V", .id = 60);
	for (uint32_t i = A; i < NR_METHODS; i++) {
		FEED_TEXT(f, DICT, 0, string_def, text, names[i], .id = 60 + i);
		FEED_TEXT(f, DICT, 0, method_def, class_name, "T", .id = 10 + i, .name = 60 + i,
			  .descriptor = 60);
		FEED(f, DICT, 0, traced_method, .id = i, .method = 10 + i,
		     .flags = i == NEW ? JIS_METHOD_CONSTRUCTOR : 0, .first_line = -1,
		     .last_line = -1);
	}
	java_starts(f, 0, 1, 100, 0);
	java_starts(f, 0, 2, 101, 0);
	java_starts(f, 0, 14, 104, 0);
	java_starts(f, 0, 15, 105, 0);
	feed_switch(f, 0, 0, 0, R, 100);
	feed_switch(f, 1, 0, 0, R, 101);
	writes(f, 0, 100);
}

static inline struct feed *start(void)
{
	struct feed *f = why_new();

	start_as(f, NULL);
	return f;
}

static inline void enter(struct feed *f, uint64_t t, uint32_t method)
{
	FEED(f, SLOT, t, method_enter, .method = method);
}

static inline void leave(struct feed *f, uint64_t t, uint32_t method)
{
	FEED(f, SLOT, t, method_exit, .method = method);
}

/* A packet of the slot, before which records were lost from @from on. */
static inline void lose(struct feed *f, uint64_t from, uint64_t to)
{
	f->m->streams[SLOT].end = from;
	f->m->streams[SLOT].seen = true;
	feed_packet(f, SLOT, to, to + 10, f->m->streams[SLOT].discarded + 5, 0, 100);
}

static inline void virtual_as(struct feed *f)
{
	ck_assert_int_eq(model_new(&f->man, NULL, f->cursors, FEED_STREAMS, &f->m), 0);
	ck_assert_int_eq(vthread_add(f->m, 0, 50, "v50", 1), 0);
	ck_assert_int_eq(vthread_add(f->m, 0, 51, "v51", 1), 0);
	for (uint32_t i = 0; i < 8; i++)
		vstate_end[i] = 0;
	start_as(f, NULL);
	feed_switch(f, 2, 0, 0, R, 104);
	feed_switch(f, 3, 0, 0, R, 105);
}

static inline struct feed *start_virtual(void)
{
	struct feed *f = why_new();

	virtual_as(f);
	return f;
}

static inline void mount(struct feed *f, uint64_t t, uint32_t carrier, uint64_t java_tid)
{
	writes(f, t, carrier);
	FEED(f, SLOT, t, vthread_mount, .java_tid = java_tid);
}

static inline void unmount(struct feed *f, uint64_t t, uint32_t carrier, uint64_t java_tid)
{
	writes(f, t, carrier);
	FEED(f, SLOT, t, vthread_unmount, .java_tid = java_tid);
}

#endif /* TEST_MODEL_CALLS_H */
