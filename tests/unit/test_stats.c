/* SPDX-License-Identifier: MIT */
/* Sums over calls where numbers are large, and where there are more contexts than may be. */
#include <math.h>

#include "analysis/stats.h"
#include "test_model_why.h"

enum { A = 1, B = 2 };

static void enter(struct feed *f, uint64_t t, uint32_t method)
{
	FEED(f, SLOT, t, method_enter, .method = method);
}

static void leave(struct feed *f, uint64_t t, uint32_t method)
{
	FEED(f, SLOT, t, method_exit, .method = method);
}

/* A calls B, which calls A, which calls itself and B: from 10 to 100. */
static struct stats *recursion(struct feed *f, enum stats_by by, uint32_t most)
{
	const struct model_options options = {.max_contexts = most};
	struct stats *st;

	ck_assert_int_eq(model_new(&f->man, &options, f->cursors, FEED_STREAMS, &f->m), 0);
	st = stats_new(f->m, by, -1);
	f->sinks[0] = stats_sink(st);
	f->nr_sinks = 1;
	ck_assert_int_eq(model_begin(f->m, f->sinks, f->nr_sinks), 0);
	for (uint32_t id = A; id <= B; id++) {
		FEED_TEXT(f, DICT, 0, string_def, text, id == A ? "a" : "b", .id = id);
		FEED_TEXT(f, DICT, 0, method_def, class_name, "C", .id = id, .name = id);
		FEED(f, DICT, 0, traced_method, .id = id, .method = id);
	}
	java_starts(f, 0, 1, 100, 0);
	FEED(f, SLOT, 5, thread_bind, .tid = 100);
	enter(f, 10, A);
	enter(f, 20, B);
	enter(f, 30, A);
	enter(f, 40, A);
	enter(f, 50, B);
	leave(f, 60, B);
	leave(f, 70, A);
	leave(f, 80, A);
	leave(f, 90, B);
	leave(f, 100, A);
	ck_assert_int_eq(model_finish(f->m), 0);
	return st;
}

static uint64_t total_of(struct stats *st, uint32_t method, uint32_t caller)
{
	uint32_t nr;
	const struct stats_line *l = stats_lines(st, &nr);

	for (uint32_t i = 0; i < nr; i++) {
		if (l[i].method == method && l[i].caller == caller)
			return l[i].total;
	}
	return 0;
}

START_TEST(recursion_counts_once_where_contexts_are_too_many)
{
	for (uint32_t most = 1; most <= 8; most++) {
		struct feed *f = why_new();
		struct stats *st = recursion(f, STATS_BY_METHOD, most);

		ck_assert_uint_eq(total_of(st, A, 0), 90);
		ck_assert_uint_eq(total_of(st, B, 0), 70);
		ck_assert_uint_eq(stats_summary(st)->no_context, most < 5 ? 5 - most : 0);
		stats_free(st);
		feed_free(f);

		f = why_new();
		st = recursion(f, STATS_BY_PAIR, most);
		ck_assert_uint_eq(total_of(st, A, 0), 90);
		ck_assert_uint_eq(total_of(st, B, A), 70);
		ck_assert_uint_eq(total_of(st, A, B), 50);
		ck_assert_uint_eq(total_of(st, A, A), 30);
		stats_free(st);
		feed_free(f);
	}
}
END_TEST

START_TEST(calls_without_a_context_are_one_line_that_counts_once)
{
	struct feed *f = why_new();
	struct stats *st = recursion(f, STATS_BY_CONTEXT, 2);
	uint32_t nr;
	const struct stats_line *l = stats_lines(st, &nr);
	uint64_t total = 0;

	ck_assert_uint_eq(nr, 3);
	for (uint32_t i = 0; i < nr; i++) {
		if (l[i].context == MODEL_NO_CONTEXT)
			total += l[i].total;
	}
	ck_assert_uint_eq(total, 50);
	stats_free(st);
	feed_free(f);
}
END_TEST

/* Two calls of 2^40 - 1 and 2^40 + 1 ns, a million times. */
START_TEST(a_deviation_is_exact_however_long_the_calls)
{
	const uint64_t half = 1000000, base = 1ull << 40;
	struct stats_line l = {.calls = 2 * half};

	for (int i = -1; i <= 1; i += 2) {
		uint64_t ns = base + (uint64_t)(int64_t)i;

		l.sum += (unsigned __int128)ns * half;
		l.squares += (unsigned __int128)ns * ns * half;
	}
	ck_assert(fabs(stats_deviation(&l) - 1) < 1e-9);
	/* One more, in the middle. */
	l.calls++;
	l.sum += base;
	l.squares += (unsigned __int128)base * base;
	ck_assert(fabs(stats_deviation(&l) - sqrt(2 * half / (2 * half + 1.0))) < 1e-9);
}
END_TEST

/* More calls than 32 bits can count: most of them short. */
START_TEST(a_percentile_of_many_calls_is_that_of_most)
{
	uint64_t counts[2] = {6000000000ull, 1};
	struct stats_line l = {.calls = 6000000001ull,
			       .min = 10,
			       .max = 11,
			       .histogram = {.count = counts, .first = 10, .nr = 2}};

	ck_assert_uint_eq(stats_percentile(&l, 0.5), 10);
	ck_assert_uint_eq(stats_percentile(&l, 0.99), 10);
	ck_assert_uint_eq(stats_percentile(&l, 1), 11);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("stats");
	TCase *t = tcase_create("stats");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, recursion_counts_once_where_contexts_are_too_many);
	tcase_add_test(t, calls_without_a_context_are_one_line_that_counts_once);
	tcase_add_test(t, a_deviation_is_exact_however_long_the_calls);
	tcase_add_test(t, a_percentile_of_many_calls_is_that_of_most);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
