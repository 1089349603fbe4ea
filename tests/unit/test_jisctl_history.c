/* SPDX-License-Identifier: MIT */
/*
 * What a flight recorder keeps in memory: the newest, in order, each packet once, names for ever.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "libjisctl/history.h"

#define BYTES 1000u /* of a packet */

static struct history *h;

struct seen {
	uint32_t stream[1000];
	uint64_t seq[1000];
	uint8_t tag[1000];
	int nr, stop_at;
};

static int add(uint32_t stream, uint64_t seq, uint64_t end, bool open, bool forever, uint8_t tag)
{
	uint8_t *bytes = calloc(1, BYTES);
	struct jis_packet_header *p = (struct jis_packet_header *)bytes;
	int err;

	p->content_size = BYTES * 8;
	p->packet_seq = seq;
	p->timestamp_end = end;
	bytes[BYTES - 1] = tag;
	err = history_add(h, stream, p, open, forever);
	free(bytes);
	return err;
}

static int see(void *ctx, uint32_t stream, const struct jis_packet_header *packet)
{
	struct seen *s = ctx;

	s->stream[s->nr] = stream;
	s->seq[s->nr] = packet->packet_seq;
	s->tag[s->nr] = ((const uint8_t *)packet)[BYTES - 1];
	s->nr++;
	return s->stop_at && s->nr == s->stop_at ? -5 : 0;
}

static struct seen look(uint64_t from)
{
	struct seen s = {.nr = 0};

	ck_assert_int_eq(history_each(h, from, see, &s), 0);
	return s;
}

static void set_up(void)
{
	h = history_new(10 * BYTES);
}

static void tear_down(void)
{
	history_free(h);
}

START_TEST(the_newest_stay_in_order)
{
	struct seen s;

	for (uint32_t i = 0; i < 100; i++)
		ck_assert_int_eq(add(i % 3, i, i, false, false, 0), 0);
	s = look(0);
	ck_assert_int_eq(s.nr, 10);
	for (int i = 0; i < 10; i++) {
		ck_assert_uint_eq(s.seq[i], 90 + (uint64_t)i);
		ck_assert_uint_eq(s.stream[i], (90 + (uint32_t)i) % 3);
	}
	ck_assert_uint_eq(history_dropped(h), 90);
	ck_assert_uint_eq(history_bytes(h), 10 * BYTES);
}
END_TEST

START_TEST(names_stay_for_ever_and_come_first)
{
	struct seen s;

	for (uint32_t i = 0; i < 50; i++) {
		ck_assert_int_eq(add(0, i, i, false, true, 1), 0);
		ck_assert_int_eq(add(1, i, i, false, false, 2), 0);
	}
	s = look(49);
	ck_assert_int_eq(s.nr, 51);
	for (int i = 0; i < 50; i++)
		ck_assert_uint_eq(s.tag[i], 1);
	ck_assert_uint_eq(s.seq[50], 49);
}
END_TEST

START_TEST(a_packet_that_grows_counts_once)
{
	struct seen s;

	add(1, 7, 10, true, false, 1);
	add(2, 7, 11, true, false, 9);
	add(1, 7, 12, true, false, 2);
	add(1, 7, 13, false, false, 3);
	add(1, 8, 14, true, false, 4);
	s = look(0);
	ck_assert_int_eq(s.nr, 3);
	ck_assert_uint_eq(s.tag[0], 9);
	ck_assert_uint_eq(s.tag[1], 3);
	ck_assert_uint_eq(s.tag[2], 4);
	ck_assert_uint_eq(history_dropped(h), 0);
}
END_TEST

/* Or it came again with records whose names have gone since. */
START_TEST(what_is_open_stays_beside_the_others)
{
	struct seen s;

	add(2, 7, 11, true, false, 9);
	add(1, 8, 14, true, false, 4);
	for (uint64_t i = 0; i < 20; i++)
		add(3, i, 20 + i, false, false, 5);
	s = look(0);
	ck_assert_int_eq(s.nr, 12);
	ck_assert_uint_eq(s.tag[0], 9);
	ck_assert_uint_eq(s.tag[1], 4);
	ck_assert_uint_eq(history_dropped(h), 10);
	ck_assert_uint_eq(history_since(h), 29);
	/* the one is closed, the other's stream goes on without it: both are as all others */
	add(1, 8, 50, false, false, 6);
	add(2, 8, 51, true, false, 7);
	s = look(0);
	ck_assert_int_eq(s.nr, 11);
	ck_assert_uint_eq(s.seq[0], 11);
	ck_assert_uint_eq(s.tag[9], 6);
	ck_assert_uint_eq(s.tag[10], 7);
	ck_assert_uint_eq(history_dropped(h), 12);
	for (uint64_t i = 20; i < 40; i++)
		add(3, i, 60 + i, false, false, 5);
	s = look(0);
	ck_assert_int_eq(s.nr, 11);
	ck_assert_uint_eq(s.tag[0], 7);
	ck_assert_uint_eq(history_bytes(h), 11 * BYTES);
}
END_TEST

START_TEST(of_a_packet_that_grows_one_copy_is_held)
{
	for (int forever = 0; forever <= 1; forever++) {
		for (uint64_t i = 0; i < 10000; i++)
			ck_assert_int_eq(add((uint32_t)forever, 7, i, true, forever, 0), 0);
		ck_assert_int_eq(look(0).nr, forever + 1);
	}
	ck_assert_uint_eq(history_bytes(h), 2 * BYTES);
	ck_assert_uint_eq(history_dropped(h), 0);
	ck_assert_uint_eq(history_since(h), 0);
}
END_TEST

START_TEST(it_knows_since_when_all_is_there)
{
	for (uint32_t i = 0; i < 25; i++)
		add(0, i, 100 * i, false, false, 0);
	ck_assert_uint_eq(history_since(h), 1400);
	ck_assert_uint_eq(look(0).seq[0], 15);
}
END_TEST

START_TEST(only_what_ends_late_enough_is_handed_out)
{
	struct seen s;

	for (uint32_t i = 0; i < 10; i++)
		add(0, i, 100 * i, false, false, 0);
	s = look(500);
	ck_assert_int_eq(s.nr, 5);
	ck_assert_uint_eq(s.seq[0], 5);
	s = look(901);
	ck_assert_int_eq(s.nr, 0);
}
END_TEST

START_TEST(the_newest_is_kept_however_large)
{
	history_free(h);
	h = history_new(1);
	add(0, 1, 1, false, false, 0);
	add(0, 2, 2, false, false, 0);
	ck_assert_int_eq(look(0).nr, 1);
	ck_assert_uint_eq(look(0).seq[0], 2);
}
END_TEST

START_TEST(errors_end_it)
{
	struct seen s = {.stop_at = 3};

	for (uint32_t i = 0; i < 10; i++)
		add(0, i, i, false, false, 0);
	ck_assert_int_eq(history_each(h, 0, see, &s), -5);
	ck_assert_int_eq(s.nr, 3);
	ck_assert_int_lt(add(UINT32_MAX, 0, 0, false, false, 0), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("jisctl_history");
	TCase *tc = tcase_create("history");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, the_newest_stay_in_order);
	tcase_add_test(tc, names_stay_for_ever_and_come_first);
	tcase_add_test(tc, a_packet_that_grows_counts_once);
	tcase_add_test(tc, what_is_open_stays_beside_the_others);
	tcase_add_test(tc, of_a_packet_that_grows_one_copy_is_held);
	tcase_add_test(tc, it_knows_since_when_all_is_there);
	tcase_add_test(tc, only_what_ends_late_enough_is_handed_out);
	tcase_add_test(tc, the_newest_is_kept_however_large);
	tcase_add_test(tc, errors_end_it);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
