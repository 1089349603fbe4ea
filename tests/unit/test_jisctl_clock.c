/* SPDX-License-Identifier: MIT */
/* The session's clock: choice, base, readings, frequency. */
#include <check.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "libjisctl/clock.h"

START_TEST(base_is_in_the_past_and_round)
{
	uint64_t base = clock_base(JIS_CLOCK_RAW), now = clock_now(JIS_CLOCK_RAW);

	ck_assert_uint_eq(base & JIS_TIME_MASK, 0);
	ck_assert_uint_le(base, now);
	ck_assert_uint_le(now - base, 2ull << JIS_TIME_BITS);
}
END_TEST

START_TEST(raw_is_there_and_counts_nanoseconds)
{
	struct clock_sample a = {.ticks = 5, .monotonic_raw = 0}, b = {.ticks = 6};
	uint32_t kind;
	char why[256];

	ck_assert_int_eq(clock_choose(JISCTL_CLOCK_RAW, &kind, why, sizeof(why)), 0);
	ck_assert_uint_eq(kind, JIS_CLOCK_RAW);
	ck_assert_uint_eq(clock_frequency(JIS_CLOCK_RAW, &a, &b), 1000000000u);
}
END_TEST

START_TEST(readings_are_of_one_instant)
{
	uint64_t before = clock_ns(CLOCK_MONOTONIC), base = clock_base(JIS_CLOCK_RAW);
	struct clock_reading r;

	clock_read_all(JIS_CLOCK_RAW, base, &r);
	ck_assert_uint_ge(r.sample.monotonic, before);
	ck_assert_uint_le(r.sample.monotonic, clock_ns(CLOCK_MONOTONIC));
	ck_assert_uint_ge(r.sample.monotonic_raw, base);
	/* the session's clock is RAW itself: the two readings lie within the uncertainty */
	ck_assert_uint_le(llabs((long long)(r.sample.ticks + base - r.sample.monotonic_raw)),
			  r.sample.uncertainty);
}
END_TEST

START_TEST(frequency_is_a_ratio)
{
	struct clock_sample a = {.ticks = 1000, .monotonic_raw = 500};
	struct clock_sample b = {.ticks = 1000 + 2596000000ull * 100000,
				 .monotonic_raw = 500 + 1000000000ull * 100000};

	ck_assert_uint_eq(clock_frequency(JIS_CLOCK_TSC, &a, &b), 2596000000u); /* over a day */
	ck_assert_uint_eq(clock_frequency(JIS_CLOCK_TSC, &a, &a), 0);
	ck_assert_uint_eq(clock_frequency(JIS_CLOCK_TSC, &b, &a), 0);
}
END_TEST

START_TEST(real_time_of_tick_zero)
{
	struct clock_sample s = {.ticks = 2500000000ull, .realtime = 1700000000000000000ull};

	ck_assert_int_eq(clock_realtime_offset(&s, 2500000000ull), 1699999999000000000ll);
	ck_assert_int_eq(clock_realtime_offset(&s, 0), 1700000000000000000ll);
}
END_TEST

START_TEST(tsc_never_steps_back_where_it_is_used)
{
	char why[256];

	if (!clock_tsc_usable(why, sizeof(why)))
		return;
	ck_assert_int_eq(clock_handoff_test(500), 0);
}
END_TEST

static void *spin(void *arg)
{
	while (!__atomic_load_n((int *)arg, __ATOMIC_RELAXED))
		;
	return NULL;
}

/* On a busy machine a token may go round very slowly: a recording begins all the same. */
START_TEST(hand_off_test_ends_in_any_case)
{
	pthread_t threads[64];
	int end = 0;
	size_t i;

	for (i = 0; i < 64; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, spin, &end), 0);
	ck_assert_int_ge(clock_handoff_test(UINT_MAX), 0);
	__atomic_store_n(&end, 1, __ATOMIC_RELAXED);
	for (i = 0; i < 64; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("jisctl_clock");
	TCase *tc = tcase_create("clock");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, hand_off_test_ends_in_any_case);
	tcase_add_test(tc, base_is_in_the_past_and_round);
	tcase_add_test(tc, raw_is_there_and_counts_nanoseconds);
	tcase_add_test(tc, readings_are_of_one_instant);
	tcase_add_test(tc, frequency_is_a_ratio);
	tcase_add_test(tc, real_time_of_tick_zero);
	tcase_add_test(tc, tsc_never_steps_back_where_it_is_used);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
