/* SPDX-License-Identifier: MIT */
/* The report's tables of connections and links: sums are of all, what is kept is bounded. */
#include <check.h>
#include <stdlib.h>

#include "analysis/report_links.h"

#define MANY (REPORT_CONNECTIONS + 5000)

/* Bytes in an order that is none: each number below MANY once. */
static uint64_t bytes_of(uint64_t i)
{
	return i * 7919 % MANY;
}

START_TEST(the_largest_connections_are_kept)
{
	struct links_run run = {0};
	struct report report = {0};
	struct model_who served[20];
	uint64_t sum = 0;

	for (uint32_t i = 0; i < 20; i++)
		served[i] = (struct model_who){i, MODEL_NO_THREAD};
	links_begin(&run);
	for (uint64_t i = 0; i < MANY; i++) {
		const struct model_connection c = {
			.number = i + 1,
			.origin = i % 2 ? MODEL_CONNECTION_ACCEPTED : MODEL_CONNECTION_CONNECTED,
			.closed = i % 4 ? TIME_NONE : 5,
			.complete = true,
			.bytes_in = bytes_of(i),
			.requests = 2,
			.kept = 1,
			.threads = served,
			.nr_threads = i % 21,
		};

		sum += c.bytes_in;
		ck_assert_int_eq(links_connection(&run, &c), 0);
	}
	ck_assert_int_eq(links_end(&run, &report), 0);
	ck_assert_uint_eq(report.connections->count, MANY);
	ck_assert_uint_eq(report.connections->bytes_in, sum);
	ck_assert_uint_eq(report.connections->requests, MANY / 2 * 2);
	ck_assert_uint_eq(report.connections->answers, MANY - MANY % 2);
	ck_assert_uint_eq(report.connections->kept, MANY / 2);
	ck_assert_uint_eq(report.connections->closed, (MANY + 3) / 4);
	ck_assert_uint_eq(report.connections->nr_largest, REPORT_CONNECTIONS);
	for (uint32_t i = 0; i < REPORT_CONNECTIONS; i++) {
		const struct report_connection *x = &report.connections->largest[i];
		uint32_t named = x->c.nr_threads < REPORT_SERVED ? x->c.nr_threads : REPORT_SERVED;

		ck_assert_uint_eq(x->c.bytes_in, MANY - 1 - i);
		ck_assert_uint_eq(bytes_of(x->c.number - 1), x->c.bytes_in);
		for (uint32_t k = 0; k < named; k++)
			ck_assert_uint_eq(x->c.threads[k].thread, k);
	}
	links_fini(&run);
}
END_TEST

static struct model_link link_of(enum model_link_kind kind, uint32_t from, uint32_t to,
				 uint32_t class_name, uint64_t length)
{
	return (struct model_link){.kind = kind,
				   .from = {from, MODEL_NO_THREAD},
				   .to = {to, MODEL_NO_THREAD},
				   .begin = 100,
				   .end = 100 + length,
				   .class_name = class_name,
				   .bytes = 3};
}

START_TEST(links_are_summed_by_kind_class_and_pair)
{
	const struct model_link links[] = {
		link_of(MODEL_LINK_MONITOR, 1, 2, 9, 10), link_of(MODEL_LINK_MONITOR, 1, 2, 8, 20),
		link_of(MODEL_LINK_MONITOR, 2, 1, 9, 5),  link_of(MODEL_LINK_SOCKET, 1, 2, 0, 7),
		link_of(MODEL_LINK_WAKEUP, 1, 2, 9, 1),
	};
	struct links_run run = {0};
	struct report report = {0};
	const struct report_link *l;

	links_begin(&run);
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		ck_assert_int_eq(links_add(&run, &links[i]), 0);
	ck_assert_int_eq(links_end(&run, &report), 0);
	ck_assert_uint_eq(report.links->kinds[MODEL_LINK_MONITOR].count, 3);
	ck_assert_uint_eq(report.links->kinds[MODEL_LINK_MONITOR].time, 35);
	ck_assert_uint_eq(report.links->kinds[MODEL_LINK_WAKEUP].count, 1);
	ck_assert_uint_eq(report.links->nr_classes, 2);
	l = report.links->classes;
	ck_assert_uint_eq(l[0].class_name, 9);
	ck_assert_uint_eq(l[0].count, 2);
	ck_assert_uint_eq(l[0].longest, 10);
	ck_assert_uint_eq(l[1].class_name, 8);
	ck_assert_uint_eq(report.links->nr_pairs, 3);
	l = report.links->pairs;
	ck_assert_uint_eq(l[0].count, 2);
	ck_assert_uint_eq(l[0].from.thread, 1);
	ck_assert_uint_eq(l[0].bytes, 6);
	ck_assert_uint_eq(l[1].from.thread, 2);
	ck_assert_int_eq(l[2].kind, MODEL_LINK_SOCKET);
	links_fini(&run);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("report_links");
	TCase *t = tcase_create("links");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, the_largest_connections_are_kept);
	tcase_add_test(t, links_are_summed_by_kind_class_and_pair);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
