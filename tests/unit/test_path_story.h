/* SPDX-License-Identifier: MIT */
/*
 * Stories for the critical path: feeds a model with lanes as its sink, walks, and holds every step
 * against a text; its leaves must be the whole interval, each nanosecond once, and so must the
 * rows.
 */
#ifndef TEST_PATH_STORY_H
#define TEST_PATH_STORY_H

#include "analysis/path_rows.h"
#include "test_model_why.h"

static char path_log[FEED_LOG];
static uint64_t path_at; /* the end of the last leaf */

struct walked {
	struct feed *f;
	const struct lanes *l;
	struct path_rows *rows;
};

static inline void log_who(const struct walked *x, struct path_who who)
{
	if (who.vthread != MODEL_NO_THREAD)
		feed_log(path_log, "V%" PRIu64, x->f->m->info.vthreads[who.vthread].java_tid);
	else if (who.thread != MODEL_NO_THREAD)
		feed_log(path_log, "T%u", x->f->threads[who.thread].tid);
}

static inline int on_step(void *ctx, const struct path_step *s)
{
	static const char *const short_name[] = {"unknown", "none", "run",     "ready",
						 "sleep",   "disk", "stopped", "exited"};
	static const char *const ends[PATH_NR_ENDS] = {"",
						       " <- ",
						       " <holder ",
						       " <owner ",
						       " <sender ",
						       " <remote ",
						       " <parent ",
						       " timer",
						       " softirq",
						       " irq",
						       " nmi",
						       " foreign",
						       " idle",
						       " request ",
						       " answer ",
						       " open",
						       " deep ",
						       " cycle ",
						       " behind ",
						       " behind foreign",
						       " behind idle"};
	struct walked *x = ctx;

	ck_assert_uint_lt(s->begin, s->end);
	if (s->leaf) {
		ck_assert_uint_eq(s->begin, path_at);
		path_at = s->end;
	}
	feed_log(path_log, "%s", *path_log ? ", " : "");
	for (uint32_t i = 0; i < s->depth; i++)
		feed_log(path_log, ".");
	log_who(x, s->who);
	feed_log(path_log, " %s", short_name[s->state]);
	if (s->state >= MODEL_BLOCKED_INTERRUPTIBLE && s->state <= MODEL_STOPPED) {
		const struct lanes_why *why = lanes_why(x->l, s->why);

		feed_log(path_log, ":%s", model_reason_name((enum model_reason_kind)why->kind));
		if (why->class_name)
			feed_log(path_log, " %s", model_name(x->f->m, why->class_name));
	}
	feed_log(path_log, " %" PRIu64 "-%" PRIu64 "%s", s->begin, s->end, ends[s->ended]);
	log_who(x, s->by);
	if (s->call.kind != HOP_NONE)
		feed_log(path_log, " in %s", model_name(x->f->m, s->call.method));
	if (s->call.kind == HOP_ALONE)
		feed_log(path_log, " (%s)", hop_alone_name(&s->call));
	return path_rows_step(x->rows, s);
}

/* The rows of depth 0 sum up to the whole, and those below a row to that. */
static inline void check_rows(const struct path_rows *r, uint64_t whole)
{
	uint32_t nr;
	const struct path_row **list = path_rows_sorted(r, &nr);
	uint64_t top = 0;

	for (uint32_t i = 0; i < nr; i++) {
		uint64_t below = 0;
		uint32_t k = i + 1;

		if (list[i]->key.parent != PATH_NO_ROW)
			continue;
		top += list[i]->time;
		for (; k < nr && list[k]->key.parent != PATH_NO_ROW; k++)
			below += list[k]->time;
		if (k > i + 1)
			ck_assert_uint_eq(below, list[i]->time);
	}
	ck_assert_uint_eq(top, whole);
	ck_assert_uint_eq(path_rows_sum(r), whole);
	free(list);
}

static struct lanes *lanes;
static const struct lanes_window all = {0, 1000};

/* A story: a feed with lanes that keep @window. */
static inline struct feed *begin_in(struct lanes_window window)
{
	struct feed *f = why_new();

	lanes = lanes_new(&window, 1);
	ck_assert_ptr_nonnull(lanes);
	f->nr_sinks = 1; /* without that of reasons */
	return f;
}

static inline void start_story_in(struct feed *f, bool virtual, const struct model_options *options)
{
	static const char *const names[] = {"", "Lock", "Other", "Sync"};

	ck_assert_int_eq(model_new(&f->man, options, f->cursors, FEED_STREAMS, &f->m), 0);
	if (virtual) {
		ck_assert_int_eq(vthread_add(f->m, 0, 50, "first", 1), 0);
		ck_assert_int_eq(vthread_add(f->m, 0, 51, "second", 1), 0);
		ck_assert_int_eq(vthread_add(f->m, 0, 52, "SubPoller-0", 1), 0);
	}
	f->sinks[f->nr_sinks++] = lanes_sink(lanes, f->m);
	ck_assert_int_eq(model_begin(f->m, f->sinks, f->nr_sinks), 0);
	for (uint32_t i = 1; i < 4; i++)
		FEED_TEXT(f, DICT, 0, string_def, text, names[i], .id = i);
	java_starts(f, 0, 1, 100, 0);
	java_starts(f, 0, 2, 101, 0);
	java_starts(f, 0, 14, 104, 0);
	java_starts(f, 0, 15, 105, 0);
}

static inline void start_story(struct feed *f, bool virtual)
{
	start_story_in(f, virtual, NULL);
}

static inline struct feed *story(void)
{
	struct feed *f = begin_in(all);

	start_story(f, false);
	return f;
}

static inline void path_is_of(struct feed *f, struct path_who who, uint64_t begin, uint64_t end,
			      uint32_t depth, const char *expected)
{
	struct walked x = {.f = f, .l = lanes};

	x.rows = path_rows_new(f->m, lanes, false);
	path_log[0] = 0;
	path_at = begin;
	ck_assert_int_eq(path_walk(lanes, who, begin, end, depth, on_step, &x), 0);
	ck_assert_uint_eq(path_at, end);
	check_rows(x.rows, end - begin);
	ck_assert_str_eq(path_log, expected);
	path_rows_free(x.rows);
}

static inline void path_is(struct feed *f, uint32_t thread, uint64_t begin, uint64_t end,
			   const char *expected)
{
	path_is_of(f, (struct path_who){thread, MODEL_NO_THREAD}, begin, end, 16, expected);
}

static inline void story_ends(struct feed *f)
{
	lanes_free(lanes);
	feed_free(f);
}

static inline void contended(struct feed *f, uint64_t t, uint32_t tid, uint64_t java_tid,
			     uint32_t owner)
{
	writes(f, t, tid);
	FEED(f, SLOT, t, monitor_contended_enter, .java_tid = java_tid, .class_name = NAME_LOCK,
	     .hash = 0xab, .owner_tid = owner);
}

static inline void entered(struct feed *f, uint64_t t, uint32_t tid, uint64_t java_tid)
{
	writes(f, t, tid);
	FEED(f, SLOT, t, monitor_contended_entered, .java_tid = java_tid, .class_name = NAME_LOCK,
	     .hash = 0xab);
}

#endif /* TEST_PATH_STORY_H */
