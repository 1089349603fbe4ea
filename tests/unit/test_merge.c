/* SPDX-License-Identifier: MIT */
/* The merge against a sort: any number of streams, ties, streams that end, the clock's scale. */
#include <check.h>

#include "merger/merge.h"
#include "test_trace_gen.h"

struct expected {
	uint64_t time;
	uint32_t stream, nr;
};

static int work_dir;
static char dir[] = "/tmp/jis-merge-XXXXXX";
static struct expected *all;
static uint32_t nr_all;

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	work_dir = open(dir, O_RDONLY | O_DIRECTORY);
	nr_all = 0;
	all = calloc(2000000, sizeof(*all));
}

static void teardown(void)
{
	close(work_dir);
	gen_remove(AT_FDCWD, dir);
	free(all);
}

static struct stream_identity identity(uint32_t stream)
{
	return (struct stream_identity){"merge-test-uuid-", JIS_STREAM_USER, stream};
}

/* A stream file with @nr markers whose value is their number in the stream. */
static void stream_make(uint32_t stream, uint32_t nr, uint64_t *random, uint32_t gap)
{
	struct stream_identity id = identity(stream);
	struct packet_builder b;
	struct stream_writer *w;
	char name[16];
	uint64_t now = 0;

	snprintf(name, sizeof(name), "s-%u", stream);
	ck_assert_int_eq(stream_writer_create(work_dir, name, &w), 0);
	ck_assert_int_eq(packet_builder_init(&b, 4096, id.stream_class, stream, id.uuid), 0);
	for (uint32_t i = 0; i < nr; i++) {
		struct jis_ev_marker m = {.type = stream, .value = i};

		now += gen_random(random, gap);
		if (packet_builder_add(&b, JIS_EV_marker, now, &m, sizeof(m), NULL)) {
			ck_assert_int_eq(stream_writer_append(w, packet_builder_close(&b, 0)), 0);
			packet_builder_add(&b, JIS_EV_marker, now, &m, sizeof(m), NULL);
		}
		all[nr_all++] = (struct expected){now, stream, i};
	}
	if (b.used)
		ck_assert_int_eq(stream_writer_append(w, packet_builder_close(&b, 0)), 0);
	ck_assert_int_eq(stream_writer_close(w), 0);
	packet_builder_fini(&b);
}

static int by_time(const void *a, const void *b)
{
	const struct expected *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	return x->nr < y->nr ? -1 : 1;
}

/* @n streams of up to @most events; those whose number divides by @empty have none. */
static void merge_is_a_sort(uint32_t n, uint32_t most, uint32_t gap, uint32_t empty)
{
	struct stream_cursor *cursors = calloc(n + 1, sizeof(*cursors)), *c;
	struct merge *m;
	uint64_t random = n * 3 + gap;
	uint32_t i;

	for (i = 0; i < n; i++) {
		struct stream_identity id = identity(i);
		char name[16];

		snprintf(name, sizeof(name), "s-%u", i);
		stream_make(i, i % empty ? gen_random(&random, most) : 0, &random, gap);
		ck_assert_int_eq(stream_cursor_open(&cursors[i], work_dir, name, &id, NULL), 0);
	}
	qsort(all, nr_all, sizeof(*all), by_time);
	ck_assert_int_eq(merge_open(cursors, n, &m), 0);
	for (i = 0; i < nr_all; i++) {
		const struct jis_ev_marker *p;

		c = merge_next(m);
		ck_assert_ptr_nonnull(c);
		p = (const void *)c->payload;
		ck_assert_uint_eq(c->time, all[i].time);
		ck_assert_uint_eq(p->type, all[i].stream);
		ck_assert_int_eq(p->value, all[i].nr);
		ck_assert_ptr_eq(c, &cursors[all[i].stream]);
	}
	ck_assert_ptr_null(merge_next(m));
	ck_assert_ptr_null(merge_next(m));
	ck_assert_uint_eq(merge_backward_steps(m), 0);
	merge_close(m);
	for (i = 0; i < n; i++)
		stream_cursor_close(&cursors[i]);
	free(cursors);
}

static const struct {
	uint32_t n, most, gap, empty;
} cases[] = {{0, 1, 1, 2},	  {1, 5000, 10, 2}, {2, 5000, 3, 7},
	     {3, 5000, 2, 7},	  {5, 3000, 1, 9},  {7, 3000, 1000, 3},
	     {64, 1000, 100, 5},  {65, 1000, 2, 1}, {1000, 200, 1u << 29, 11},
	     {1000, 500, 50, 100}};

START_TEST(merging_is_sorting)
{
	merge_is_a_sort(cases[_i].n, cases[_i].most, cases[_i].gap, cases[_i].empty);
}
END_TEST

START_TEST(the_last_tick_is_a_time_like_any_other)
{
	struct stream_identity id = identity(1);
	struct jis_ev_marker p = {.type = 1};
	struct stream_cursor c;
	struct packet_builder b;
	struct stream_writer *w;
	struct merge *m;

	ck_assert_int_eq(stream_writer_create(work_dir, "s", &w), 0);
	ck_assert_int_eq(packet_builder_init(&b, 4096, id.stream_class, 1, id.uuid), 0);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(packet_builder_add(&b, JIS_EV_marker, UINT64_MAX, &p, sizeof(p),
						    NULL),
				 0);
	ck_assert_int_eq(stream_writer_append(w, packet_builder_close(&b, 0)), 0);
	ck_assert_int_eq(stream_writer_close(w), 0);
	packet_builder_fini(&b);
	ck_assert_int_eq(stream_cursor_open(&c, work_dir, "s", &id, NULL), 0);
	ck_assert_int_eq(merge_open(&c, 1, &m), 0);
	for (int i = 0; i < 3; i++)
		ck_assert_ptr_eq(merge_next(m), &c);
	ck_assert_ptr_null(merge_next(m));
	merge_close(m);
	stream_cursor_close(&c);
}
END_TEST

START_TEST(the_scale_is_exact_to_a_nanosecond_over_100_days)
{
	static const uint64_t frequencies[] = {1000000,	   19200000,   24000000,    1000000000,
					       2994000000, 3000000001, 999999999999};
	const uint64_t begin = 1ull << 27;

	for (size_t i = 0; i < sizeof(frequencies) / sizeof(*frequencies); i++) {
		struct clock_scale s;
		uint64_t f = frequencies[i], day = f * 86400;

		clock_scale_init(&s, f, begin);
		ck_assert_uint_eq(clock_scale_ns(&s, 0), 0);
		ck_assert_uint_eq(clock_scale_ns(&s, begin), 0);
		for (uint64_t ticks = 1; ticks < 100 * day && ticks < 1ull << 62;
		     ticks = ticks * 3 + 1) {
			uint64_t exact = (uint64_t)((unsigned __int128)ticks * 1000000000 / f);
			uint64_t ns = clock_scale_ns(&s, begin + ticks);

			ck_assert_uint_le(ns, exact);
			ck_assert_uint_le(exact - ns, 1);
		}
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("merge");
	TCase *t = tcase_create("all");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, merging_is_sorting, 0, (int)(sizeof(cases) / sizeof(*cases)));
	tcase_add_test(t, the_last_tick_is_a_time_like_any_other);
	tcase_add_test(t, the_scale_is_exact_to_a_nanosecond_over_100_days);
	suite_add_tcase(suite, t);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
