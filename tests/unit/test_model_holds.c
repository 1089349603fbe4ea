/* SPDX-License-Identifier: MIT */
/* Monitors that threads have, from every enter and exit; and texts that the recorder tells. */
#include "test_model_feed.h"

#define SLOT FEED_SLOT(0)
#define DICT FEED_DICT(0)
enum { LOCK = 1, OTHER };

static char held[FEED_LOG];
static int quiet;

/* "Lock", "Lock!" where it had to wait; "-Lock 12", "-Lock again". */
static int on_event(void *ctx, const struct model_event *e)
{
	const struct feed *f = ctx;
	const char *name = model_name(f->m, e->name);

	if (quiet)
		return 0;
	ck_assert_uint_ne(e->java_tid, 0);
	if (e->kind == MODEL_EVENT_MONITOR_ENTER)
		feed_log(held, " %s%s", name, e->type ? "!" : "");
	else if (e->kind == MODEL_EVENT_MONITOR_EXIT && e->type)
		feed_log(held, " -%s again", name);
	else if (e->kind == MODEL_EVENT_MONITOR_EXIT)
		feed_log(held, " -%s %" PRId64, name, e->value);
	return 0;
}

static struct feed *start(void)
{
	struct feed *f = feed_usual(true);

	f->sink.event = on_event;
	held[0] = 0;
	feed_start(f, NULL);
	FEED_TEXT(f, DICT, 0, string_def, text, "Lock", .id = LOCK);
	FEED_TEXT(f, DICT, 0, string_def, text, "Other", .id = OTHER);
	feed_packet(f, SLOT, 1, 900, 0, 0, 101);
	return f;
}

static void end(struct feed *f, const char *expected)
{
	feed_end(f);
	ck_assert_str_eq(held, expected);
	feed_free(f);
}

static void enter(struct feed *f, uint64_t t, uint64_t who, uint32_t name, uint32_t hash)
{
	FEED(f, SLOT, t, monitor_enter, who, name, hash);
}

static void leave(struct feed *f, uint64_t t, uint64_t who, uint32_t name, uint32_t hash)
{
	FEED(f, SLOT, t, monitor_exit, who, name, hash);
}

START_TEST(each_is_had_from_its_enter_to_its_exit)
{
	struct feed *f = start();

	enter(f, 10, 1, LOCK, 7);
	enter(f, 12, 1, OTHER, 7);
	enter(f, 13, 2, LOCK, 8);
	leave(f, 15, 1, OTHER, 7);
	leave(f, 20, 2, LOCK, 8);
	leave(f, 30, 1, LOCK, 7);
	end(f, " Lock Other Lock -Other 3 -Lock 7 -Lock 20");
}
END_TEST

START_TEST(the_outermost_of_the_same_has_the_time)
{
	struct feed *f = start();

	enter(f, 10, 1, LOCK, 7);
	enter(f, 12, 1, LOCK, 7);
	enter(f, 13, 1, LOCK, 7);
	leave(f, 14, 1, LOCK, 7);
	leave(f, 15, 1, LOCK, 7);
	leave(f, 30, 1, LOCK, 7);
	end(f, " Lock Lock Lock -Lock again -Lock again -Lock 20");
}
END_TEST

START_TEST(waits_on_it_are_not_part_of_it)
{
	struct feed *f = start();

	enter(f, 10, 1, LOCK, 7);
	enter(f, 11, 1, LOCK, 7);
	enter(f, 12, 1, OTHER, 9);
	FEED(f, SLOT, 20, monitor_wait, 1, LOCK, 7, -1);
	FEED(f, SLOT, 90, monitor_waited, 1, LOCK, 7, 0);
	leave(f, 100, 1, OTHER, 9);
	leave(f, 101, 1, LOCK, 7);
	leave(f, 110, 1, LOCK, 7);
	end(f, " Lock Lock Other -Other 88 -Lock again -Lock 30");
}
END_TEST

START_TEST(who_waited_for_it_is_told)
{
	struct feed *f = start();

	enter(f, 5, 1, OTHER, 1);
	FEED(f, SLOT, 10, monitor_contended_enter, 1, LOCK, 7, 0, 0);
	FEED(f, SLOT, 20, monitor_contended_entered, 1, LOCK, 7);
	enter(f, 21, 1, LOCK, 7);
	enter(f, 22, 1, LOCK, 7);
	/* Of one whose enter is not told: the next of another object did not wait. */
	FEED(f, SLOT, 30, monitor_contended_entered, 1, LOCK, 8);
	enter(f, 31, 1, LOCK, 9);
	end(f, " Other Lock! Lock Lock");
}
END_TEST

START_TEST(what_was_not_seen_is_not_guessed)
{
	struct feed *f = start();

	leave(f, 5, 1, LOCK, 7); /* it had it before */
	enter(f, 10, 1, LOCK, 7);
	enter(f, 11, 1, OTHER, 9); /* whose exit is not told */
	leave(f, 20, 1, LOCK, 7);
	leave(f, 21, 1, OTHER, 9);
	enter(f, 30, 1, LOCK, 7);
	feed_packet(f, SLOT, 50, 900, 3, 1, 101); /* records are missing */
	leave(f, 60, 1, LOCK, 7);
	enter(f, 70, 1, LOCK, 7);
	leave(f, 75, 1, LOCK, 7);
	end(f, " Lock Other -Lock 10 Lock Lock -Lock 5");
}
END_TEST

START_TEST(many_threads_and_deep_nests)
{
	struct feed *f = start();
	uint64_t i;

	quiet = 1;
	for (i = 1; i <= 2000; i++)
		enter(f, 10, i, LOCK, (uint32_t)i);
	for (i = 1; i <= 5000; i++)
		enter(f, 11, 1, OTHER, (uint32_t)i);
	quiet = 0;
	for (i = 2; i <= 2000; i++) {
		held[0] = 0;
		leave(f, 20, i, LOCK, (uint32_t)i);
		ck_assert_str_eq(held, " -Lock 10");
	}
	held[0] = 0;
	leave(f, 30, 1, LOCK, 1);
	end(f, " -Lock 20");
}
END_TEST

START_TEST(the_recorders_texts_are_apart)
{
	struct feed *f = start();

	FEED_TEXT(f, DICT, 1, string_def, text, "Mine", .id = JIS_STRING_RECORDER + LOCK);
	FEED_TEXT(f, DICT, 1, string_def, text, "Last", .id = UINT32_MAX);
	ck_assert_str_eq(model_name(f->m, string_name(f->m, 0, LOCK)), "Lock");
	ck_assert_str_eq(model_name(f->m, string_name(f->m, 0, JIS_STRING_RECORDER + LOCK)),
			 "Mine");
	ck_assert_uint_eq(string_name(f->m, 0, JIS_STRING_RECORDER + OTHER), 0);
	ck_assert_uint_eq(string_name(f->m, 0, JIS_STRING_RECORDER), 0);
	ck_assert_uint_eq(string_name(f->m, 1, JIS_STRING_RECORDER + LOCK), 0);
	ck_assert_uint_eq(string_name(f->m, 0, UINT32_MAX), 0); /* more than there may be */
	end(f, "");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model_holds");
	TCase *t = tcase_create("model_holds");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_test(t, each_is_had_from_its_enter_to_its_exit);
	tcase_add_test(t, the_outermost_of_the_same_has_the_time);
	tcase_add_test(t, waits_on_it_are_not_part_of_it);
	tcase_add_test(t, who_waited_for_it_is_told);
	tcase_add_test(t, what_was_not_seen_is_not_guessed);
	tcase_add_test(t, many_threads_and_deep_nests);
	tcase_add_test(t, the_recorders_texts_are_apart);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
