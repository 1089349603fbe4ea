/* SPDX-License-Identifier: MIT */
/*
 * A flight recorder's dictionary: what is left is what records that are kept need, at its own
 * times.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libjisctl/dict_trim.h"
#include "libjisctl/packet_walk.h"
#include "trace/write.h"

#define SLOT 5u
#define TID(java_tid) ((uint32_t)(java_tid) + 100)
#define FAR 1000000000ull /* more than a compact time has */

static const uint8_t uuid[16];
static struct packet_builder dict, user, kernel;
static struct history *process, *cpus;
static uint64_t slack;
static char told[65536];

static void set_up(void)
{
	slack = 0;
	ck_assert_int_eq(packet_builder_init(&dict, 65536, JIS_STREAM_DICT, 0, uuid), 0);
	ck_assert_int_eq(packet_builder_init(&user, 4096, JIS_STREAM_USER, SLOT, uuid), 0);
	ck_assert_int_eq(packet_builder_init(&kernel, 4096, JIS_STREAM_KERNEL, 0, uuid), 0);
	process = history_new(300); /* of the user's, two */
	cpus = history_new(300);
	ck_assert(process && cpus);
}

static void tear_down(void)
{
	packet_builder_fini(&dict);
	packet_builder_fini(&user);
	packet_builder_fini(&kernel);
	history_free(process);
	history_free(cpus);
}

#define SAY(b, event, time, string, ...)                                                           \
	do {                                                                                       \
		const struct jis_ev_##event ev_ = {__VA_ARGS__};                                   \
		const char *text_ = (string);                                                      \
                                                                                                   \
		ck_assert_int_eq(packet_builder_add(&(b), JIS_EV_##event, time, &ev_,              \
						    sizeof(ev_) - (text_ ? 4 : 0), text_),         \
				 0);                                                               \
	} while (0)

static void close_dict(bool open)
{
	ck_assert_int_eq(history_add(process, 0, packet_builder_close(&dict, 0), open, true), 0);
}

/* A packet of a slot, with a record of thread @java_tid at @from and one at @to. */
static void used_by(uint64_t java_tid, uint64_t from, uint64_t to)
{
	SAY(user, thread_bind, from, NULL, .tid = TID(java_tid));
	SAY(user, thread_bind, to, NULL, .tid = TID(java_tid));
	ck_assert_int_eq(history_add(process, SLOT, packet_builder_close(&user, 0), false, false),
			 0);
}

static void used(uint64_t from, uint64_t to)
{
	used_by(1000, from, to);
}

static void switched(uint64_t from, uint64_t to)
{
	SAY(kernel, cpu_idle, from, NULL, .state = 1);
	SAY(kernel, cpu_idle, to, NULL, .state = 1);
	ck_assert_int_eq(history_add(cpus, 0, packet_builder_close(&kernel, 0), false, false), 0);
}

static void on_record(void *ctx, uint32_t id, uint64_t time, const uint8_t *payload, uint32_t size)
{
	const struct jis_ev_java_thread_start *start = (const void *)payload;
	const struct jis_ev_java_thread_name *name = (const void *)payload;
	const struct jis_ev_java_thread_end *end = (const void *)payload;
	const struct jis_ev_string_def *def = (const void *)payload;
	size_t n = strlen(told);
	char *at = told + n;

	(void)ctx;
	(void)size;
	if (id == JIS_EV_java_thread_start)
		snprintf(at, sizeof(told) - n, "S%d@%d %s|", (int)start->java_tid, (int)time,
			 start->name);
	else if (id == JIS_EV_java_thread_name)
		snprintf(at, sizeof(told) - n, "N%d@%d %s|", (int)name->java_tid, (int)time,
			 name->name);
	else if (id == JIS_EV_java_thread_end)
		snprintf(at, sizeof(told) - n, "E%d@%d|", (int)end->java_tid, (int)time);
	else if (id == JIS_EV_class_waited)
		snprintf(at, sizeof(told) - n, "W@%d|", (int)time);
	else
		snprintf(at, sizeof(told) - n, "D@%lld %s|", (long long)time, def->text);
}

static uint64_t next_seq;

static int on_packet(void *ctx, uint32_t stream, const struct jis_packet_header *packet)
{
	struct packet_walk walk;

	(void)ctx;
	(void)stream;
	if (packet->stream_class != JIS_STREAM_DICT)
		return 0;
	ck_assert_uint_eq(packet->packet_seq, next_seq++);
	packet_walk_begin(&walk, packet, packet->timestamp_end);
	walk.record = on_record;
	ck_assert_int_eq(packet_walk_run(&walk, packet, (uint32_t)(packet->content_size / 8), NULL),
			 0);
	ck_assert_uint_eq(walk.offset, packet->content_size / 8);
	return 0;
}

/* The dictionary is @expected, in packets without a gap. */
static void has(const char *expected)
{
	told[0] = '\0';
	next_seq = 0;
	ck_assert_int_eq(history_each(process, 0, on_packet, NULL), 0);
	ck_assert_str_eq(told, expected);
}

/* Four packets of the slot, of which the last two are kept: all that ended until 2000 went. */
static void old_ones_go(void)
{
	used(1000, 1100);
	used(1900, 2000);
	used(2010, 2900);
	used(3000, 3100);
	ck_assert_uint_eq(history_since(process), 2000);
}

static void life(uint64_t java_tid, uint64_t from, uint64_t to, const char *name)
{
	SAY(dict, java_thread_start, from, name, .java_tid = java_tid, .tid = TID(java_tid));
	if (to)
		SAY(dict, java_thread_end, to, NULL, .java_tid = java_tid, .tid = TID(java_tid));
}

START_TEST(threads_that_ended_before_go)
{
	SAY(dict, string_def, 10, "one", .id = 1);
	life(1, 100, 0, "lives");
	life(2, 200, 300, "over");
	close_dict(false);
	life(3, 400, 500, "over too");
	SAY(dict, class_waited, 510, NULL, .java_tid = 3, .tid = 7);
	close_dict(false);
	SAY(dict, class_waited, 600, NULL, .java_tid = 1, .tid = 7);
	life(4, 700, 2000, "still needed");
	life(5, 2100, 2200, "later");
	close_dict(false);
	old_ones_go();
	ck_assert_int_eq(dict_trim(process, cpus, slack), 0);
	has("D@10 one|S1@100 lives|W@600|S4@700 still needed|E4@2000|S5@2100 later|E5@2200|");
	ck_assert_int_eq(dict_trim(process, cpus, slack), 0); /* again: the same */
	has("D@10 one|S1@100 lives|W@600|S4@700 still needed|E4@2000|S5@2100 later|E5@2200|");
	SAY(dict, string_def, 3000, "two", .id = 2); /* and it goes on */
	close_dict(false);
	has("D@10 one|S1@100 lives|W@600|S4@700 still needed|E4@2000|S5@2100 later|E5@2200|"
	    "D@3000 two|");
}
END_TEST

START_TEST(names_given_up_go)
{
	life(1, 100, 0, "first");
	SAY(dict, java_thread_name, 200, "a", .java_tid = 1);
	SAY(dict, java_thread_name, 300, "b", .java_tid = 1);
	SAY(dict, java_thread_name, 400, "c", .java_tid = 1);
	SAY(dict, java_thread_name, 2500, "d", .java_tid = 1);
	close_dict(false);
	old_ones_go();
	ck_assert_int_eq(dict_trim(process, cpus, slack), 0);
	has("S1@100 first|N1@400 c|N1@2500 d|");
}
END_TEST

START_TEST(what_the_kernel_still_has_counts)
{
	life(1, 100, 200, "over");
	life(2, 300, 1500, "over for the process");
	close_dict(false);
	old_ones_go();
	switched(900, 1000);
	switched(1100, 1200);
	switched(1300, 1400);
	ck_assert_uint_eq(history_since(cpus), 1000);
	ck_assert_int_eq(dict_trim(process, cpus, slack), 0);
	has("S2@300 over for the process|E2@1500|");
}
END_TEST

/* An idle thread's packet that began long ago is still there: whoever is in its records stays, with
 * the name of then. */
START_TEST(records_of_long_ago_keep_their_threads)
{
	life(1, 100, 200, "before");
	life(2, 210, 230, "then, another");
	life(3, 240, 260, "waited for");
	life(4, 270, 0, "named");
	SAY(dict, java_thread_name, 280, "x", .java_tid = 4);
	SAY(dict, java_thread_name, 600, "y", .java_tid = 4);
	SAY(dict, java_thread_name, 700, "z", .java_tid = 4);
	SAY(dict, java_thread_name, 800, "last", .java_tid = 4);
	life(5, 810, 820, "the slot's before");
	close_dict(false);
	used(1000, 1100);
	used(1900, 2000);
	user.last = 0; /* another thread's */
	user.proto.owner = TID(5);
	SAY(user, park_end, 815, NULL, .java_tid = 0);
	SAY(user, thread_bind, 816, NULL, .tid = TID(4));
	ck_assert_int_eq(history_add(process, SLOT, packet_builder_close(&user, 0), false, false),
			 0);
	user.last = 0;
	SAY(user, join_begin, 250, NULL, .java_tid = 4, .target_java_tid = 3);
	SAY(user, join_end, 620, NULL, .java_tid = 4);
	ck_assert_int_eq(history_add(process, SLOT, packet_builder_close(&user, 0), false, false),
			 0);
	ck_assert_int_eq(dict_trim(process, cpus, slack), 0);
	has("S3@240 waited for|E3@260|S4@270 named|N4@600 y|N4@800 last|S5@810 the slot's before|"
	    "E5@820|");
}
END_TEST

/* The kernel may know the threads under other numbers. */
START_TEST(records_of_the_kernel_keep_whoever_lived)
{
	life(1, 100, 200, "before");
	life(2, 210, 230, "then");
	life(3, 240, 260, "after");
	close_dict(false);
	old_ones_go();
	switched(900, 1000);
	switched(1100, 1200);
	kernel.last = 0;
	switched(220, 3000);
	ck_assert_int_eq(dict_trim(process, cpus, slack), 0);
	has("S2@210 then|E2@230|");
}
END_TEST

/* A thread goes on for a moment when it has said that it ends, and has begun before it says so. */
START_TEST(threads_have_records_behind_their_end)
{
	slack = 50;
	life(1, 100, 200, "long over");
	life(2, 210, 230, "waits at its end");
	life(3, 500, 520, "begins late");
	life(4, 600, 610, "over");
	life(5, 3000, 3040, "over too");
	life(6, 3050, 3060, "just over");
	close_dict(false);
	old_ones_go();
	user.last = 0;
	used_by(2, 270, 271);
	user.last = 0;
	used_by(3, 460, 3000);
	ck_assert_uint_eq(history_since(process), 3100);
	ck_assert_int_eq(dict_trim(process, cpus, slack), 0);
	has("S2@210 waits at its end|E2@230|S3@500 begins late|E3@520|"
	    "S6@3050 just over|E6@3060|");
}
END_TEST

/* The time between two records that are left may be more than a compact header tells. */
START_TEST(times_stay)
{
	uint64_t i, far = 10 * FAR;
	char expected[512];

	SAY(dict, string_def, 10, "one", .id = 1);
	for (i = 1; i < 200; i++)
		life(i, 20 + i * 50000000, 21 + i * 50000000, "");
	SAY(dict, string_def, far, "two", .id = 2);
	SAY(dict, string_def, far + 5, "three", .id = 3);
	close_dict(false);
	used(1000, 1100);
	used(1900, far);
	used(far + 1, far + 2);
	used(far + 3, far + 4);
	ck_assert_int_eq(dict_trim(process, cpus, slack), 0);
	snprintf(expected, sizeof(expected), "D@10 one|D@%lld two|D@%lld three|", (long long)far,
		 (long long)far + 5);
	has(expected);
}
END_TEST

/* The packet that is still written to has all again when it comes again, grown, and goes then. */
START_TEST(open_packet_stays_in_place)
{
	life(1, 100, 200, "over");
	close_dict(false);
	life(2, 300, 400, "over too");
	ck_assert_int_eq(packet_builder_add(&dict, JIS_EV_string_def, 500,
					    &(struct jis_ev_string_def){.id = 1}, 4, "one"),
			 0);
	close_dict(true);
	old_ones_go();
	ck_assert_int_eq(dict_trim(process, cpus, slack), 0);
	has("D@500 one|");
	dict.sequence = 1; /* the same packet once more */
	dict.last = 0;
	life(2, 300, 400, "over too");
	SAY(dict, string_def, 500, "one", .id = 1);
	SAY(dict, string_def, 2600, "two", .id = 2);
	close_dict(false);
	has("S2@300 over too|E2@400|D@500 one|D@2600 two|");
	ck_assert_int_eq(dict_trim(process, cpus, slack), 0);
	has("D@500 one|D@2600 two|");
}
END_TEST

START_TEST(open_packet_left_empty_is_found_again)
{
	life(1, 100, 200, "over");
	close_dict(true);
	old_ones_go();
	ck_assert_int_eq(dict_trim(process, cpus, slack), 0);
	has("");
	ck_assert_uint_eq(next_seq, 1);
	dict.sequence = 0;
	dict.last = 0;
	life(1, 100, 200, "over");
	SAY(dict, string_def, 2600, "two", .id = 2);
	close_dict(false);
	has("S1@100 over|E1@200|D@2600 two|");
	SAY(dict, string_def, 2700, "three", .id = 3);
	close_dict(false);
	has("S1@100 over|E1@200|D@2600 two|D@2700 three|");
}
END_TEST

START_TEST(nothing_goes_while_all_is_there)
{
	life(1, 100, 200, "over");
	close_dict(false);
	used(1000, 1100);
	ck_assert_int_eq(dict_trim(process, cpus, slack), -EAGAIN);
	has("S1@100 over|E1@200|");
	old_ones_go();
	switched(900, 1000);
	ck_assert_int_eq(dict_trim(process, cpus, slack), -EAGAIN); /* not of the kernel's */
	has("S1@100 over|E1@200|");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("jisctl_dict_trim");
	TCase *tc = tcase_create("dict_trim");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, threads_that_ended_before_go);
	tcase_add_test(tc, names_given_up_go);
	tcase_add_test(tc, what_the_kernel_still_has_counts);
	tcase_add_test(tc, records_of_long_ago_keep_their_threads);
	tcase_add_test(tc, records_of_the_kernel_keep_whoever_lived);
	tcase_add_test(tc, threads_have_records_behind_their_end);
	tcase_add_test(tc, times_stay);
	tcase_add_test(tc, open_packet_stays_in_place);
	tcase_add_test(tc, open_packet_left_empty_is_found_again);
	tcase_add_test(tc, nothing_goes_while_all_is_there);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
