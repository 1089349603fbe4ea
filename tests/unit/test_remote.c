/* SPDX-License-Identifier: MIT */
/* Sums over remote calls: lines, times, parts, and how far those between hosts may be off. */
#include <check.h>

#include "analysis/remote.h"
#include "jis/events.h"

/* Moments from invoke to return, each with the gap to the one before. */
static struct model_remote_call call_of(uint64_t begin, const uint64_t gaps[REMOTE_NR_PARTS])
{
	struct model_remote_call c = {
		.match = MODEL_REMOTE_BY_UID,
		.client = {.known = true, .process = 0, .method = 5},
		.server = {.known = true, .process = 1, .method = 5},
		.gone_on = TIME_NONE,
		.over = TIME_NONE,
	};

	c.at[0] = begin;
	for (int i = 0; i < REMOTE_NR_PARTS; i++)
		c.at[i + 1] = c.at[i] + gaps[i];
	return c;
}

static const uint64_t even[REMOTE_NR_PARTS] = {10, 20, 30, 40, 50, 60, 70, 80};
/* Parts as those, and the answer goes back by 5. */
static const uint64_t back[REMOTE_NR_PARTS] = {10, 20, 30, 40, 50, 60, UINT64_MAX - 4, 80};

static void add(struct remote *r, const struct model_remote_call *c)
{
	const struct model_sink *s = remote_sink(r);

	ck_assert_int_eq(s->remote(s->ctx, c), 0);
}

static const struct remote_line *only_line(struct remote *r)
{
	uint32_t nr;
	const struct remote_line *l = remote_lines(r, &nr);

	ck_assert_uint_eq(nr, 1);
	return l;
}

START_TEST(parts_add_up_to_the_time_of_the_calls)
{
	struct remote *r = remote_new(false);
	const struct remote_line *l;
	uint64_t sum = 0;

	for (uint64_t i = 0; i < 3; i++) {
		struct model_remote_call c = call_of(1000 * i, even);

		add(r, &c);
	}
	l = only_line(r);
	ck_assert_uint_eq(l->calls, 3);
	ck_assert_uint_eq(l->whole, 3);
	ck_assert_uint_eq(l->total, 3 * 360);
	ck_assert_uint_eq(l->min, 360);
	ck_assert_uint_eq(l->max, 360);
	for (int i = 0; i < REMOTE_NR_PARTS; i++) {
		ck_assert_uint_eq(remote_line_mean(l, i), even[i]);
		sum += l->part[i];
	}
	ck_assert_uint_eq(sum, l->total);
	ck_assert_uint_eq(remote_line_error(l), 0);
	ck_assert_uint_eq(histogram_percentile(&l->histogram, l->timed, 0.99, l->min, l->max), 360);
	remote_delete(r);
}
END_TEST

START_TEST(percentiles_are_those_of_the_calls)
{
	struct remote *r = remote_new(false);
	const struct remote_line *l;
	uint64_t p50, p99;

	for (uint64_t i = 1; i <= 1000; i++) {
		struct model_remote_call c = call_of(10, even);

		c.at[MODEL_REMOTE_RETURN] = 10 + i * 1000;
		add(r, &c);
	}
	l = only_line(r);
	p50 = histogram_percentile(&l->histogram, l->timed, 0.5, l->min, l->max);
	p99 = histogram_percentile(&l->histogram, l->timed, 0.99, l->min, l->max);
	ck_assert_uint_ge(p50, 492000);
	ck_assert_uint_le(p50, 508000);
	ck_assert_uint_ge(p99, 974000);
	ck_assert_uint_le(p99, 1000000);
	ck_assert_uint_eq(l->max, 1000000);
	remote_delete(r);
}
END_TEST

START_TEST(lines_are_of_a_method_a_client_and_a_server)
{
	struct remote *r = remote_new(false);
	struct model_remote_call c = call_of(10, even);
	uint32_t nr;

	add(r, &c);
	c.server.method = 6;
	add(r, &c);
	c.client.process = 1;
	add(r, &c);
	c.server.known = false;
	c.match = MODEL_REMOTE_FAILED;
	add(r, &c);
	c.internal = true;
	add(r, &c);
	remote_lines(r, &nr);
	ck_assert_uint_eq(nr, 4);
	ck_assert_uint_eq(remote_summary(r)->calls, 5);
	ck_assert_uint_eq(remote_summary(r)->internal, 1);
	ck_assert_uint_eq(remote_summary(r)->matches[MODEL_REMOTE_BY_UID], 3);
	remote_delete(r);
}
END_TEST

START_TEST(between_hosts_request_and_answer_have_an_error)
{
	struct remote *r = remote_new(false);
	struct model_remote_call c = call_of(10, even);
	const struct remote_line *l;

	c.error = 3;
	add(r, &c);
	c.error = 8;
	add(r, &c);
	l = only_line(r);
	ck_assert_uint_eq(remote_line_error(l), 5);
	ck_assert_uint_eq(remote_line_mean(l, MODEL_REMOTE_SEND), 30);
	ck_assert_uint_eq(l->clockless, 0);
	remote_delete(r);
}
END_TEST

START_TEST(what_goes_back_counts_as_nothing_and_is_told_beyond_the_error)
{
	for (uint64_t error = 4; error < 6; error++) {
		struct remote *r = remote_new(false);
		struct model_remote_call c = call_of(10, back);
		const struct remote_line *l;

		c.error = error;
		add(r, &c);
		l = only_line(r);
		ck_assert_uint_eq(remote_summary(r)->backward, error < 5);
		ck_assert_uint_eq(l->part[MODEL_REMOTE_ANSWER], 0);
		ck_assert_uint_eq(l->whole, 1);
		remote_delete(r);
	}
}
END_TEST

START_TEST(by_time_of_day_request_and_answer_are_not_known)
{
	struct remote *r = remote_new(false);
	struct model_remote_call c = call_of(10, back);
	const struct remote_line *l;

	c.error = UINT64_MAX;
	add(r, &c);
	l = only_line(r);
	ck_assert_uint_eq(l->clockless, 1);
	ck_assert_uint_eq(remote_summary(r)->clockless, 1);
	ck_assert_uint_eq(remote_summary(r)->backward, 0);
	for (int i = 0; i < REMOTE_NR_PARTS; i++)
		ck_assert_uint_eq(remote_line_mean(l, i),
				  i == MODEL_REMOTE_SEND || i == MODEL_REMOTE_ANSWER ? UINT64_MAX
										     : back[i]);
	ck_assert_uint_eq(remote_line_error(l), UINT64_MAX);
	remote_delete(r);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("remote calls in numbers");
	TCase *t = tcase_create("remote");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, parts_add_up_to_the_time_of_the_calls);
	tcase_add_test(t, percentiles_are_those_of_the_calls);
	tcase_add_test(t, lines_are_of_a_method_a_client_and_a_server);
	tcase_add_test(t, between_hosts_request_and_answer_have_an_error);
	tcase_add_test(t, what_goes_back_counts_as_nothing_and_is_told_beyond_the_error);
	tcase_add_test(t, by_time_of_day_request_and_answer_are_not_known);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? 1 : 0;
}
