/* SPDX-License-Identifier: MIT */
/*
 * A clock told by another from calls between the two: simulated, with a true clock that the fit
 * does not see.
 */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hosts/clock_fit.h"

#define S 1000000000ll

static uint64_t seed;

static uint64_t rnd(uint64_t below)
{
	uint64_t z = seed += 0x9e3779b97f4a7c15ull; /* splitmix64 */

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return (z ^ z >> 31) % below;
}

/* This clock when the other one says @y: ahead by @offset, gaining @ppb, and set by @step at @at.
 */
struct truth {
	int64_t offset;
	double ppb;
	int64_t at, step;
};

static int64_t own(const struct truth *t, int64_t y)
{
	return y + t->offset + llround((double)y * t->ppb / 1e9) +
	       (t->step && y >= t->at ? t->step : 0);
}

/*
 * @n calls of @length ns in all, begun by either side, each with ways of 20 us to 120 us, now and
 * then of ms, and 30 us to @served ns at the other end.
 */
static size_t calls_served(const struct truth *t, struct clock_bound *b, size_t n, int64_t begin,
			   int64_t length, uint64_t served)
{
	size_t nr = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t send = begin + (int64_t)rnd((uint64_t)length), there, answer, back;

		there = send + 20000 + (int64_t)rnd(rnd(50) ? 100000 : 5000000);
		answer = there + 30000 + (int64_t)rnd(served);
		back = answer + 20000 + (int64_t)rnd(rnd(50) ? 100000 : 5000000);
		if (rnd(2)) { /* the other one calls this one */
			b[nr++] = (struct clock_bound){own(t, there), send, false};
			b[nr++] = (struct clock_bound){own(t, answer), back, true};
		} else {
			b[nr++] = (struct clock_bound){own(t, send), there, true};
			b[nr++] = (struct clock_bound){own(t, back), answer, false};
		}
	}
	return nr;
}

static size_t calls(const struct truth *t, struct clock_bound *b, size_t n, int64_t begin,
		    int64_t length)
{
	return calls_served(t, b, n, begin, length, 1000000);
}

/* How often the truth is not within the error; every ms. */
static unsigned int outside(const struct clock_fit *fit, const struct truth *t, int64_t begin,
			    int64_t length)
{
	unsigned int n = 0;

	for (int64_t y = begin; y < begin + length; y += S / 1000) {
		int64_t x = own(t, y), told = clock_fit_at(fit, x);

		n += (uint64_t)llabs(told - y) > clock_fit_error(fit, x);
	}
	return n;
}

static unsigned int violated(const struct clock_fit *fit, const struct clock_bound *b, size_t nr)
{
	unsigned int n = 0;

	for (size_t i = 0; i < nr; i++) {
		int64_t y = clock_fit_at(fit, b[i].x);

		n += b[i].upper ? y > b[i].y + 1 : y < b[i].y - 1;
	}
	return n;
}

static const struct {
	struct truth truth;
	int64_t begin;
} clocks[] = {
	{{0, 0, 0, 0}, 0},
	{{S, -20000, 0, 0}, 0},
	{{-7 * 86400 * S, 30000, 0, 0}, 5 * S},
	{{123456789, 400000, 0, 0}, 1000 * S},
	{{-1, -450000, 0, 0}, 0},
	{{1ll << 58, 5, 0, 0}, 0},
};

START_TEST(offset_and_drift_are_found)
{
	const struct truth *t = &clocks[_i].truth;
	int64_t begin = clocks[_i].begin;
	struct clock_bound *b = calloc(40000, sizeof(*b));
	struct clock_fit fit;
	size_t nr;

	seed = (uint64_t)_i + 1;
	nr = calls(t, b, 20000, begin, 10 * S);
	ck_assert_int_eq(clock_fit_make(&fit, b, nr, own(t, begin - S), own(t, begin + 12 * S)), 0);
	ck_assert_uint_eq(fit.nr_steps, 0);
	ck_assert_uint_eq(fit.nr_bends, 0);
	ck_assert_uint_eq(violated(&fit, b, nr), 0);
	ck_assert_uint_eq(outside(&fit, t, begin - S, 13 * S), 0);
	/* The least way is 20 us, the least round trip 70 us. */
	ck_assert_uint_le(fit.error, 35000);
	ck_assert_double_eq_tol(fit.drift * 1e9, t->ppb, 2000);
	clock_fit_fini(&fit);
	free(b);
}
END_TEST

static const struct {
	int64_t step;
	bool found;
} steps[] = {
	{50000000, true}, {-50000000, true}, {1000000, true}, {-3600 * S, true}, {2000, false}};

START_TEST(a_step_is_found)
{
	struct truth t = {5 * S, 20000, 6 * S, steps[_i].step};
	struct clock_bound *b = calloc(40000, sizeof(*b));
	struct clock_fit fit;
	size_t nr;

	seed = (uint64_t)_i + 77;
	nr = calls(&t, b, 20000, 0, 10 * S);
	ck_assert_int_eq(clock_fit_make(&fit, b, nr, own(&t, 0), own(&t, 10 * S)), 0);
	if (steps[_i].step > 0) {
		ck_assert_uint_eq(fit.nr_steps, steps[_i].found);
		ck_assert_uint_eq(violated(&fit, b, nr), 0);
		ck_assert_uint_eq(outside(&fit, &t, 0, 10 * S), 0);
	} else {
		/* A clock that goes back says the same twice: that there is something is all. */
		ck_assert_uint_ge(fit.nr_steps, 1);
	}
	if (steps[_i].step > 0 && steps[_i].found) {
		ck_assert_int_ge(steps[_i].step, fit.steps[0].by - (int64_t)fit.steps[0].error);
		ck_assert_int_le(steps[_i].step, fit.steps[0].by + (int64_t)fit.steps[0].error);
		ck_assert_int_le(fit.steps[0].from, own(&t, t.at));
		ck_assert_int_ge(fit.steps[0].to, own(&t, t.at - 1));
		ck_assert_int_le(fit.steps[0].to - fit.steps[0].from, steps[_i].step + S / 10);
	}
	for (uint32_t i = 1; i < fit.nr; i++) {
		ck_assert_int_lt(fit.knots[i - 1].x, fit.knots[i].x);
		ck_assert_int_le(fit.knots[i - 1].y, fit.knots[i].y);
	}
	clock_fit_fini(&fit);
	free(b);
}
END_TEST

/* Long after the step there are bounds of one kind only: answers take their time. */
START_TEST(a_step_among_few_bounds)
{
	struct truth t = {5 * S, 20000, 6 * S, 50000000};
	struct clock_bound *b = calloc(4000, sizeof(*b));
	struct clock_fit fit;

	for (int round = 0; round < 50; round++) {
		size_t nr, n = 0;

		seed = (uint64_t)round + 1000;
		nr = calls_served(&t, b, 500, 0, 10 * S, 300000000);
		/* Only such that this one serves. */
		for (size_t i = 0; i < nr; i += 2) {
			if (!b[i].upper) {
				b[n++] = b[i];
				b[n++] = b[i + 1];
			}
		}
		ck_assert_int_eq(clock_fit_make(&fit, b, n, own(&t, 0), own(&t, 10 * S)), 0);
		ck_assert_uint_eq(fit.nr_steps, 1);
		ck_assert_uint_eq(violated(&fit, b, n), 0);
		ck_assert_uint_eq(outside(&fit, &t, 0, 10 * S), 0);
		clock_fit_fini(&fit);
	}
	free(b);
}
END_TEST

/*
 * Steps of all sizes among few bounds and many, of one direction and both: what is recorded right
 * behind a step may agree with the clock before it, too, and must not count as its. Rounds 953 and
 * 3474 once had the truth outside of the error, and a bound wrong by 49 ms.
 */
START_TEST(what_may_be_of_either_side_of_a_step_is_in_doubt)
{
	int round = _i < 400 ? _i : _i == 400 ? 953 : 3474;
	struct clock_bound *b = calloc(8000, sizeof(*b));
	struct clock_fit fit;
	struct truth t;
	size_t n, nr;

	seed = (uint64_t)round * 7919 + 13;
	t.offset = 5 * S;
	t.ppb = (double)rnd(80000) - 40000;
	t.at = 3 * S + (int64_t)rnd(4 * S);
	t.step = rnd(3) ? 50000000 : 300000 + (int64_t)rnd(3000000);
	n = 50 + rnd(1500);
	nr = calls_served(&t, b, n, 0, 10 * S, rnd(2) ? 1000000 : 30000000);
	if (rnd(2)) { /* only such that this one serves */
		n = 0;
		for (size_t i = 0; i < nr; i += 2) {
			if (!b[i].upper) {
				b[n++] = b[i];
				b[n++] = b[i + 1];
			}
		}
		nr = n;
	}
	ck_assert_int_eq(clock_fit_make(&fit, b, nr, own(&t, 0), own(&t, 10 * S)), 0);
	ck_assert_uint_eq(fit.nr_steps, 1);
	ck_assert_uint_eq(violated(&fit, b, nr), 0);
	ck_assert_uint_eq(outside(&fit, &t, 0, 10 * S), 0);
	clock_fit_fini(&fit);
	free(b);
}
END_TEST

/* Its rate wanders by 20 ppm over ten seconds. */
START_TEST(a_rate_that_changes_is_followed)
{
	struct clock_bound *b = calloc(40000, sizeof(*b));
	struct truth t = {0};
	struct clock_fit fit;
	size_t nr = 0;

	seed = 5;
	for (int i = 0; i < 100; i++) {
		t.offset += llround(0.1 * S * 20e-6 * i / 100);
		nr += calls(&t, b + nr, 200, i * S / 10, S / 10);
	}
	ck_assert_int_eq(clock_fit_make(&fit, b, nr, 0, 10 * S), 0);
	ck_assert_uint_eq(violated(&fit, b, nr), 0);
	ck_assert_uint_eq(fit.nr_steps, 0);
	clock_fit_fini(&fit);
	free(b);
}
END_TEST

START_TEST(one_call_says_a_little)
{
	/* Sent at 1000 and answered by 1200 of the other clock; here 5050 to 5100. */
	struct clock_bound b[] = {{5050, 1000, false}, {5100, 1200, true}};
	struct clock_fit fit;

	ck_assert_int_eq(clock_fit_make(&fit, b, 2, 5050, 5050 + S), 0);
	ck_assert_int_ge(clock_fit_at(&fit, 5050), 1074);
	ck_assert_int_le(clock_fit_at(&fit, 5050), 1076);
	ck_assert_uint_ge(fit.knots[0].error, 75);
	ck_assert_uint_le(fit.knots[0].error, 77);
	/* A second later it may have lost or won half a ms. */
	ck_assert_uint_ge(fit.knots[fit.nr - 1].error, 500000);
	ck_assert_uint_le(fit.knots[fit.nr - 1].error, 510000);
	clock_fit_fini(&fit);
}
END_TEST

START_TEST(bounds_of_one_kind_have_no_error)
{
	struct clock_bound b[] = {{5050, 1000, false}, {5100, 1010, false}};
	struct clock_fit fit;

	ck_assert_int_eq(clock_fit_make(&fit, b, 2, 5000, 6000), 0);
	ck_assert_uint_eq(fit.error, CLOCK_FIT_NO_ERROR);
	ck_assert_int_ge(clock_fit_at(&fit, 5050), 1000);
	clock_fit_fini(&fit);
	ck_assert_int_eq(clock_fit_make(&fit, b, 0, 0, 1), -ENODATA);
}
END_TEST

/* Ends of numbers, and bounds that all are at one moment. */
START_TEST(odd_bounds_do_no_harm)
{
	struct clock_bound b[64];
	struct clock_fit fit;

	seed = 9;
	for (int round = 0; round < 2000; round++) {
		size_t nr = 1 + rnd(64);
		int64_t range = 1ll << rnd(62);

		for (size_t i = 0; i < nr; i++)
			b[i] = (struct clock_bound){(int64_t)rnd((uint64_t)range) - range / 2,
						    (int64_t)rnd((uint64_t)range) - range / 2,
						    rnd(2)};
		ck_assert_int_eq(clock_fit_make(&fit, b, nr, -range / 2, range / 2), 0);
		ck_assert_uint_ge(fit.nr, 1);
		for (uint32_t i = 1; i < fit.nr; i++) {
			ck_assert_int_lt(fit.knots[i - 1].x, fit.knots[i].x);
			ck_assert_int_le(fit.knots[i - 1].y, fit.knots[i].y);
		}
		clock_fit_fini(&fit);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("clock_fit");
	TCase *t = tcase_create("clock_fit");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_loop_test(t, offset_and_drift_are_found, 0, sizeof(clocks) / sizeof(*clocks));
	tcase_add_loop_test(t, a_step_is_found, 0, sizeof(steps) / sizeof(*steps));
	tcase_add_test(t, a_step_among_few_bounds);
	tcase_add_loop_test(t, what_may_be_of_either_side_of_a_step_is_in_doubt, 0, 402);
	tcase_add_test(t, a_rate_that_changes_is_followed);
	tcase_add_test(t, one_call_says_a_little);
	tcase_add_test(t, bounds_of_one_kind_have_no_error);
	tcase_add_test(t, odd_bounds_do_no_harm);
	tcase_set_timeout(t, 120);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
