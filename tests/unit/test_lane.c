/* SPDX-License-Identifier: MIT */
/* Rows of parts: found by their times, put in order in place. */
#include <check.h>
#include <stdlib.h>

#include "analysis/lane.h"

struct part {
	uint64_t begin, end;
	uint32_t what, more;
};

static struct spill spill;
static struct lane lane;

static void setup(void)
{
	spill_init(&spill, 1 << 20);
	lane = (struct lane){.nr = 0};
}

static void teardown(void)
{
	free(lane.chunks);
	spill_fini(&spill);
}

static void add(uint64_t begin, uint64_t end)
{
	const struct part part = {begin, end, (uint32_t)begin * 3, 7};

	ck_assert_int_eq(lane_add(&lane, &spill, &part, sizeof(part)), 0);
}

static void is_sorted(uint64_t nr)
{
	uint64_t last = 0;

	ck_assert_uint_eq(lane.nr, nr);
	for (uint64_t i = 0; i < nr; i++) {
		const struct part *p = lane_part(&lane, sizeof(*p), i);

		ck_assert_uint_ge(p->begin, last);
		ck_assert_uint_eq(p->what, (uint32_t)p->begin * 3);
		last = p->begin;
	}
}

START_TEST(parts_are_found_by_their_times)
{
	ck_assert_ptr_null(lane_last(&lane, sizeof(struct part)));
	ck_assert_uint_eq(lane_first(&lane, sizeof(struct part), 5), 0);
	for (uint64_t i = 0; i < 100; i++)
		add(10 * i, 10 * i + 5);
	ck_assert_uint_eq(lane_first(&lane, sizeof(struct part), 4), 0);
	ck_assert_uint_eq(lane_first(&lane, sizeof(struct part), 5), 1);
	ck_assert_uint_eq(lane_first_begun(&lane, sizeof(struct part), 0), 1);
	ck_assert_uint_eq(lane_first_begun(&lane, sizeof(struct part), 989), 99);
	ck_assert_uint_eq(lane_first_begun(&lane, sizeof(struct part), 990), 100);
	ck_assert_ptr_null(lane_part(&lane, sizeof(struct part), 100));
}
END_TEST

START_TEST(any_order_becomes_that_of_the_begins)
{
	uint32_t seed = (uint32_t)_i + 1;
	uint64_t sum = 0, sorted = 0;

	for (int i = 0; i < _i * 37; i++) {
		seed = seed * 1664525u + 1013904223u;
		/* Some in order, some alike, some anyhow. */
		add(_i % 3 == 0 ? seed >> 8 : _i % 3 == 1 ? (uint64_t)i : seed >> 28, seed);
		sum += ((struct part *)lane_last(&lane, sizeof(struct part)))->begin;
	}
	lane_sort(&lane, sizeof(struct part));
	is_sorted((uint64_t)_i * 37);
	for (uint64_t i = 0; i < lane.nr; i++)
		sorted += ((struct part *)lane_part(&lane, sizeof(struct part), i))->begin;
	ck_assert_uint_eq(sorted, sum);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lane");
	TCase *t = tcase_create("lane");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, parts_are_found_by_their_times);
	tcase_add_loop_test(t, any_order_becomes_that_of_the_begins, 0, 30);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
