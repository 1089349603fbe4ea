/* SPDX-License-Identifier: MIT */
/* Calls of methods: stacks that stay right, and where each call's time went. */
#include "test_model_calls.h"

static void finish(struct feed *f)
{
	feed_end(f);
	for (int i = 0; i < MODEL_NR_ERRORS; i++)
		ck_assert_msg(!f->counts.errors[i], "%s", model_error_name(i));
	feed_free(f);
}

START_TEST(calls_nest_and_own_time_is_what_is_left)
{
	struct feed *f = start();

	enter(f, 10, A);
	enter(f, 20, B);
	leave(f, 25, B);
	enter(f, 30, B);
	enter(f, 31, C);
	leave(f, 36, C);
	leave(f, 40, B);
	leave(f, 50, A);
	ck_assert_uint_eq(last_calls, 3);
	finish(f);
	ck_assert_str_eq(calls, "a>b 20-25 (cpu 5), a>b>c 31-36 (cpu 5), "
				"a>b 30-40 (cpu 10; own cpu 5), a 10-50 (cpu 40; own cpu 25)");
	ck_assert_str_eq(begins, "10:a/1 20:a>b/2 30:a>b/2 31:a>b>c/3");
}
END_TEST

START_TEST(the_schedulers_states_are_shared_out)
{
	struct feed *f = start();

	enter(f, 10, A);
	enter(f, 20, B);
	FEED(f, SLOT, 22, monitor_contended_enter, .java_tid = 1, .class_name = NAME_LOCK,
	     .hash = 7);
	leaves(f, 0, 25, 100, S, "futex", 10, 3);
	feed_wake(f, 1, 60, 101, 100, 65);
	comes(f, 0, 70, 100);
	FEED(f, SLOT, 72, monitor_contended_entered, .java_tid = 1, .class_name = NAME_LOCK,
	     .hash = 7);
	leave(f, 80, B);
	feed_switch(f, 0, 85, 100, R | JIS_TASK_PREEMPTED, 0);
	comes(f, 0, 95, 100);
	leave(f, 100, A);
	finish(f);
	ck_assert_str_eq(calls, "a>b 20-80 (cpu 15 ready 5 blocked 40; woken 5; monitor 40), "
				"a 10-100 (cpu 35 ready 15 blocked 40; own cpu 20 ready 10; "
				"woken 5; preempted 10; monitor 40)");
}
END_TEST

START_TEST(recursion_is_told_apart_by_depth)
{
	struct feed *f = start();
	const struct model_context *c;

	enter(f, 10, A);
	enter(f, 20, A);
	enter(f, 30, B);
	enter(f, 40, A);
	leave(f, 50, A);
	leave(f, 60, B);
	leave(f, 70, A);
	leave(f, 80, A);
	c = model_context(f->m, 4);
	ck_assert(c->recursive && !c->pair_recursive && c->depth == 4);
	ck_assert(model_context(f->m, 2)->recursive && !model_context(f->m, 1)->recursive);
	finish(f);
	ck_assert_str_eq(calls, "a>a>b>a 40-50 (cpu 10), a>a>b 30-60 (cpu 30; own cpu 20), "
				"a>a 20-70 (cpu 50; own cpu 20), a 10-80 (cpu 70; own cpu 20)");
}
END_TEST

START_TEST(an_exception_leaves_several_calls)
{
	struct feed *f = start();

	enter(f, 10, A);
	enter(f, 20, B);
	enter(f, 30, C);
	leave(f, 40, C | THROWN);
	leave(f, 41, B | THROWN);
	/* The exit of a constructor whose super() threw is not recorded. */
	enter(f, 50, B);
	enter(f, 51, NEW);
	enter(f, 52, C);
	leave(f, 55, C | THROWN);
	leave(f, 60, B | THROWN);
	leave(f, 70, A);
	finish(f);
	ck_assert_str_eq(calls, "a>b>c 30-40x (cpu 10), a>b 20-41x (cpu 21; own cpu 11), "
				"a>b><init>>c 52-55x (cpu 3), "
				"a>b><init> 51-60xr (cpu 9; own cpu 6), "
				"a>b 50-60x (cpu 10; own cpu 1), a 10-70 (cpu 60; own cpu 29)");
}
END_TEST

/* Nor is that of one around which nothing was seen to begin. */
START_TEST(constructors_fail_in_what_was_under_way)
{
	struct feed *f = start();

	enter(f, 10, NEW);
	leave(f, 20, B | THROWN);
	leave(f, 30, A);
	enter(f, 40, NEW);
	enter(f, 45, C);
	leave(f, 50, A); /* C must end first */
	leave(f, 60, C);
	leave(f, 70, NEW);
	feed_end(f);
	ck_assert_str_eq(calls, "<init> 10-20xr (cpu 10), b 0-20ux (cpu 20; own cpu 10), "
				"a 0-30u (cpu 30; own cpu 10), <init>>c 45-60 (cpu 15), "
				"<init> 40-70 (cpu 30; own cpu 15)");
	ck_assert_uint_eq(f->counts.errors[MODEL_ERROR_METHOD_EXIT], 1);
	ck_assert_uint_eq(f->counts.errors[MODEL_ERROR_METHOD_UNENDED], 0);
	feed_free(f);
}
END_TEST

START_TEST(constructors_fail_in_what_a_loss_hides)
{
	struct feed *f = start();

	enter(f, 10, A);
	lose(f, 20, 30);
	enter(f, 40, NEW);
	enter(f, 45, NEW);
	leave(f, 50, B | THROWN);
	leave(f, 60, C);
	leave(f, 70, A);
	finish(f);
	ck_assert_str_eq(calls, "a><init>><init> 45-50xr (cpu 5), "
				"a><init> 40-50xrd (cpu 10; own cpu 5), "
				"a>b 20-50uxd (cpu 30; own cpu 20), "
				"a>c 20-60ud (cpu 40; own cpu 10), a 10-70g (cpu 60; own cpu 10)");
}
END_TEST

START_TEST(a_missing_exit_is_repaired_and_counted)
{
	struct feed *f = start();

	enter(f, 10, A);
	enter(f, 20, B);
	leave(f, 30, A);
	enter(f, 40, B);
	leave(f, 45, C);
	leave(f, 50, B);
	feed_end(f);
	ck_assert_str_eq(calls, "a>b 20-30r (cpu 10), a 10-30 (cpu 20; own cpu 10), "
				"b 40-50 (cpu 10)");
	ck_assert_uint_eq(f->counts.errors[MODEL_ERROR_METHOD_UNENDED], 1);
	ck_assert_uint_eq(f->counts.errors[MODEL_ERROR_METHOD_EXIT], 1);
	feed_free(f);
}
END_TEST

START_TEST(calls_that_were_under_way_have_an_exit_only)
{
	struct feed *f = start();

	enter(f, 10, C);
	leave(f, 20, C);
	leave(f, 30, B);
	leaves(f, 0, 40, 100, S, "futex", 0, 0);
	feed_wake(f, 1, 60, 101, 100, 60);
	comes(f, 0, 60, 100);
	leave(f, 70, A);
	enter(f, 80, A);
	leave(f, 90, A);
	finish(f);
	ck_assert_str_eq(begins, "10:c/1 80:a/1");
	ck_assert_str_eq(calls, "c 10-20 (cpu 10), b 0-30u (cpu 30; own cpu 20), "
				"a 0-70u (cpu 50 blocked 20; own cpu 20 blocked 20; futex 20), "
				"a 80-90 (cpu 10)");
}
END_TEST

START_TEST(calls_go_on_at_the_end)
{
	struct feed *f = start();

	enter(f, 10, A);
	enter(f, 20, B);
	leaves(f, 0, 100, 100, S, "futex", 4, 0);
	finish(f);
	ck_assert_str_eq(calls, "a>b 20-1000o (cpu 80 blocked 900; futex 900), "
				"a 10-1000o (cpu 90 blocked 900; own cpu 10; futex 900)");
}
END_TEST

START_TEST(a_thread_that_ends_leaves_its_calls)
{
	struct feed *f = start();

	enter(f, 10, A);
	leave(f, 20, A);
	enter(f, 25, B);
	java_ends(f, 30, 1, 100);
	java_starts(f, 35, 7, 100, 0);
	enter(f, 40, B);
	leave(f, 50, B);
	feed_end(f);
	ck_assert_uint_eq(f->counts.errors[MODEL_ERROR_METHOD_UNENDED], 1);
	ck_assert_str_eq(calls, "a 10-20 (cpu 10), b 25-30r (cpu 5), b 40-50 (cpu 10)");
	feed_free(f);
}
END_TEST

START_TEST(a_loss_is_no_ones_own_time)
{
	struct feed *f = start();

	enter(f, 10, A);
	enter(f, 20, B);
	lose(f, 30, 40);
	enter(f, 50, C); /* by b, or by what b called meanwhile */
	leave(f, 60, C);
	leave(f, 70, B);
	leave(f, 80, A);
	finish(f);
	ck_assert_str_eq(calls, "a>b>c 50-60d (cpu 10), a>b 20-70g (cpu 50; own cpu 10), "
				"a 10-80g (cpu 70; own cpu 20)");
}
END_TEST

START_TEST(what_began_in_a_loss_has_an_exit_only)
{
	struct feed *f = start();

	enter(f, 10, A);
	lose(f, 30, 40);
	leave(f, 50, C);
	leave(f, 60, B);
	leave(f, 80, A);
	ck_assert_uint_eq(last_calls, 2);
	ck_assert_uint_eq(last_lost, 20);
	finish(f);
	ck_assert_str_eq(calls, "a>c 30-50ud (cpu 20), a>b 30-60ud (cpu 30; own cpu 10), "
				"a 10-80g (cpu 70; own cpu 20)");
}
END_TEST

/* In no call when records were lost: a thread whose begin is known has entered nothing before that.
 */
START_TEST(what_began_in_a_loss_began_no_earlier)
{
	struct feed *f = start();

	enter(f, 10, A);
	leave(f, 20, A);
	lose(f, 30, 40);
	leave(f, 50, C);
	enter(f, 52, A);
	leave(f, 54, A);
	lose(f, 60, 70);
	leave(f, 80, B); /* in which of the two is not known */
	finish(f);
	ck_assert_str_eq(calls, "a 10-20 (cpu 10), c 30-50u (cpu 20), a 52-54 (cpu 2), "
				"b 30-80u (cpu 50; own cpu 28)");
}
END_TEST

START_TEST(what_a_loss_hides_may_have_begun_before_the_first_record)
{
	struct feed *f = start();

	java_starts(f, 5, 1, 100, JIS_JTHREAD_RUNNING);
	enter(f, 10, A);
	leave(f, 20, A);
	lose(f, 30, 40);
	leave(f, 50, C);
	finish(f);
	ck_assert_str_eq(calls, "a 10-20 (cpu 10), c 0-50u (cpu 50; own cpu 40)");
}
END_TEST

START_TEST(what_ended_in_a_loss_ends_at_its_begin)
{
	struct feed *f = start();

	enter(f, 10, A);
	enter(f, 20, B);
	enter(f, 25, C);
	lose(f, 30, 40);
	leave(f, 60, A);
	ck_assert_uint_eq(last_lost, 30);
	finish(f);
	ck_assert_str_eq(calls, "a>b>c 25-30rg (cpu 5), a>b 20-30rg (cpu 10; own cpu 5), "
				"a 10-60g (cpu 50; own cpu 10)");
}
END_TEST

START_TEST(a_loop_goes_on_after_a_loss)
{
	struct feed *f = start();

	enter(f, 10, RUN);
	for (uint64_t t = 20; t < 500; t += 20) {
		if (t == 60)
			continue; /* the entry of one ... */
		enter(f, t, A);
		enter(f, t + 2, B);
		if (t == 40) /* ... and the exits of the one before are lost */
			lose(f, 45, 75);
		if (t == 40)
			continue;
		leave(f, t + 8, B);
		leave(f, t + 10, A);
	}
	leave(f, 600, RUN);
	ck_assert_uint_eq(last_calls, 46);
	finish(f);
	ck_assert_ptr_nonnull(strstr(calls,
				     "run>a>b 42-45rg (cpu 3), run>a 40-45rg (cpu 5; own cpu 2), "
				     "run>a>b 82-88 (cpu 6), "));
	ck_assert_ptr_nonnull(strstr(calls, "run 10-600g (cpu 590;"));
	ck_assert_ptr_null(strstr(calls, "a>a"));
	ck_assert_ptr_null(strstr(calls, "b>a"));
}
END_TEST

START_TEST(a_pause_is_a_loss)
{
	struct feed *f = start();

	enter(f, 10, A);
	FEED(f, FEED_RECORDER, 20, session_mark, .mark = JIS_MARK_PAUSE);
	FEED(f, FEED_RECORDER, 40, session_mark, .mark = JIS_MARK_RESUME);
	leave(f, 50, B);
	leave(f, 60, A);
	finish(f);
	ck_assert_str_eq(calls,
			 "a>b 20-50ud (unknown 30), a 10-60g (cpu 10 unknown 40; own cpu 10)");
}
END_TEST

START_TEST(a_virtual_thread_takes_its_calls_along)
{
	struct feed *f = start_virtual();

	writes(f, 5, 104);
	enter(f, 5, RUN); /* the carrier's own */
	java_starts(f, 8, 50, 0, VIRTUAL);
	mount(f, 10, 104, 50);
	enter(f, 12, A);
	FEED(f, SLOT, 20, park_begin, .java_tid = 50, .class_name = NAME_LOCK, .timeout = -1);
	unmount(f, 22, 104, 50);
	java_starts(f, 23, 51, 0, VIRTUAL);
	mount(f, 24, 104, 51);
	enter(f, 25, B);
	writes(f, 40, 101);
	FEED(f, SLOT, 40, unpark, .java_tid = 2, .target_java_tid = 50);
	mount(f, 45, 105, 50);
	FEED(f, SLOT, 46, park_end, .java_tid = 50);
	enter(f, 50, C);
	leave(f, 55, C);
	leave(f, 60, A);
	java_ends(f, 61, 50, 0);
	writes(f, 61, 105);
	FEED(f, SLOT, 61, vthread_unmount, .java_tid = 50);
	writes(f, 65, 104);
	leave(f, 65, B);
	java_ends(f, 70, 51, 0);
	writes(f, 70, 104);
	FEED(f, SLOT, 70, vthread_unmount, .java_tid = 51);
	leave(f, 80, RUN);
	finish(f);
	ck_assert_str_eq(calls,
			 "a>c 50-55 (cpu 5), "
			 "a 12-60 (cpu 25 ready 5 blocked 18; own cpu 20 ready 5 blocked 18; "
			 "ready to mount 5; park 18), b 25-65 (cpu 40), "
			 "run 5-80 (cpu 17 carrying 58)");
}
END_TEST

START_TEST(a_pinned_virtual_thread_waits_with_its_carrier)
{
	struct feed *f = start_virtual();

	java_starts(f, 8, 50, 0, VIRTUAL);
	mount(f, 10, 104, 50);
	enter(f, 12, A);
	FEED(f, SLOT, 20, park_begin, .java_tid = 50, .class_name = NAME_LOCK, .timeout = -1);
	leaves(f, 2, 30, 104, S, "futex", 0, 0);
	feed_wake(f, 1, 60, 101, 104, 60);
	comes(f, 2, 65, 104);
	leave(f, 70, A);
	feed_end(f);
	ck_assert_str_eq(calls, "a 12-70 (cpu 23 ready 5 blocked 30; woken 5; park 30)");
	feed_free(f);
}
END_TEST

/* A loss of one carrier's records leaves those on other carriers what they are. */
START_TEST(a_loss_touches_those_that_may_have_been_there)
{
	struct feed *f = start_virtual();

	java_starts(f, 8, 50, 0, VIRTUAL);
	java_starts(f, 8, 51, 0, VIRTUAL);
	mount(f, 10, 104, 50);
	enter(f, 12, A);
	mount(f, 14, 105, 51);
	enter(f, 16, B);
	f->m->streams[SLOT].owner = 4; /* 104's */
	f->m->streams[SLOT].end = 20;
	f->m->streams[SLOT].seen = true;
	feed_packet(f, SLOT, 30, 40, 5, 0, 104);
	writes(f, 40, 105);
	leave(f, 50, B);
	mount(f, 60, 105, 50);
	leave(f, 70, A);
	feed_end(f);
	ck_assert_str_eq(calls, "b 16-50 (cpu 34), a 12-70g (cpu 18 unknown 40; own cpu 8)");
	feed_free(f);
}
END_TEST

START_TEST(a_thread_is_called_where_it_is_started)
{
	struct feed *f = start();

	enter(f, 10, A);
	enter(f, 15, B);
	FEED(f, SLOT, 20, thread_start_call, .java_tid = 1, .child_java_tid = 15);
	leave(f, 25, B);
	feed_switch(f, 3, 30, 0, R, 105);
	writes(f, 40, 105);
	enter(f, 40, RUN);
	enter(f, 42, B);
	leave(f, 44, B);
	leave(f, 50, RUN);
	writes(f, 60, 100);
	leave(f, 60, A);
	finish(f);
	ck_assert_str_eq(calls,
			 "a>b 15-25 (cpu 10), a>b=>run>b 42-44 (cpu 2), "
			 "a>b=>run 40-50s (cpu 10; own cpu 8), a 10-60 (cpu 50; own cpu 40)");
	ck_assert_str_eq(begins, "10:a/1 15:a>b/2 40:a>b=>run/1 42:a>b=>run>b/2");
}
END_TEST

/* Some kernels do not tell of every switch: a thread that writes is not asleep. */
START_TEST(who_writes_is_not_off_its_cpu)
{
	struct feed *f = start();

	enter(f, 10, A);
	leaves(f, 0, 20, 100, S, "futex", 0, 0);
	enter(f, 50, B);
	leave(f, 60, B);
	feed_wake(f, 1, 70, 101, 100, 70);
	comes(f, 0, 75, 100);
	leave(f, 80, A);
	feed_end(f);
	ck_assert_str_eq(calls,
			 "a>b 50-60 (unknown 10), "
			 "a 10-80 (cpu 15 ready 5 unknown 50; own cpu 15 ready 5 unknown 40; "
			 "woken 5)");
	ck_assert_uint_eq(f->counts.conflicts[MODEL_CONFLICT_OFF_CPU], 1);
	feed_free(f);
}
END_TEST

START_TEST(calls_are_cut_to_the_window)
{
	const struct model_options window = {.from = 30, .to = 60};
	struct feed *f = why_new();

	f->nr_sinks = 0;
	start_as(f, &window);
	enter(f, 10, A);
	enter(f, 12, C);
	leave(f, 14, C);
	enter(f, 20, B);
	leave(f, 40, B);
	enter(f, 50, B);
	leave(f, 70, B);
	ck_assert_int_eq(model_finish(f->m), 0);
	ck_assert_str_eq(begins, "50:a>b/2");
	ck_assert_str_eq(calls, "a>b 30-40c (cpu 10), a>b 50-60o (cpu 10), "
				"a 30-60oc (cpu 30; own cpu 10)");
	feed_free(f);
}
END_TEST

START_TEST(only_selected_threads_are_told_of)
{
	const struct model_options options = {.thread = "worker"};
	struct feed *f = why_new();

	f->nr_sinks = 0;
	start_as(f, &options);
	enter(f, 10, A);
	leave(f, 20, A);
	writes(f, 30, 101);
	enter(f, 30, B);
	leave(f, 35, B);
	ck_assert_int_eq(model_finish(f->m), 0);
	ck_assert_str_eq(calls, "b 30-35 (cpu 5)");
	feed_free(f);
}
END_TEST

START_TEST(contexts_have_a_limit)
{
	const struct model_options options = {.max_contexts = 2};
	struct feed *f = why_new();

	f->nr_sinks = 0;
	start_as(f, &options);
	enter(f, 10, A);
	enter(f, 20, B);
	enter(f, 30, C);
	leave(f, 40, C);
	leave(f, 50, B);
	leave(f, 60, A);
	ck_assert_int_eq(model_finish(f->m), 0);
	ck_assert_str_eq(calls, "? 30-40 (cpu 10), a>b 20-50 (cpu 30; own cpu 20), "
				"a 10-60 (cpu 50; own cpu 20)");
	feed_free(f);
}
END_TEST

START_TEST(methods_have_names)
{
	struct feed *f = start();
	char text[64];

	FEED_TEXT(f, DICT, 1, string_def, text, "(I[Ljava/lang/String;[[JLa;)Z", .id = 90);
	FEED_TEXT(f, DICT, 1, method_def, class_name, "T", .id = 30, .name = 60 + A,
		  .descriptor = 90);
	FEED(f, DICT, 1, traced_method, .id = 300, .method = 30);
	FEED(f, DICT, 1, traced_method, .id = 301, .method = 30); /* in another loader */
	ck_assert_uint_eq(model_nr_methods(f->m), NR_METHODS);
	model_method_text(f->m, NR_METHODS, text, sizeof(text));
	ck_assert_str_eq(text, "T.a(int, String[], long[][], a)");
	model_method_text(f->m, A, text, sizeof(text));
	ck_assert_str_eq(text, "T.a()");
	model_method_text(f->m, B, text, sizeof(text));
	ck_assert_str_eq(text, "T.b");
	ck_assert_uint_eq(model_method_text(f->m, B, text, 3), 3);
	ck_assert_str_eq(text, "T.");
	model_method_text(f->m, 999, text, sizeof(text));
	ck_assert_str_eq(text, "?");
	/* Records nobody should write. */
	enter(f, 10, 0);
	leave(f, 11, 0);
	enter(f, 12, 0x7fffffff);
	leave(f, 13, 0x7fffffff);
	FEED(f, DICT, 14, traced_method, .id = 0x7fffffff, .method = 30);
	FEED(f, DICT, 14, traced_method, .id = 5, .method = 0xffffffff);
	finish(f);
	ck_assert_str_eq(calls, "? 12-13 (cpu 1)");
}
END_TEST

/* Calls that are too deep are part of the one around them, and counted; a gap has room. */
START_TEST(calls_may_be_too_deep)
{
	struct feed *f = start();

	f->m->methods->depth_max = 4; /* two calls, and a gap below and above them */
	for (uint32_t i = 0; i < 5; i++)
		enter(f, 10 + 10 * i, A + i % 3);
	lose(f, 60, 70);
	enter(f, 80, C);
	ck_assert(f->m->whys[0].calls->depth == 4 && model_deep_calls(f->m) == 4);
	for (uint32_t i = 6; i--;)
		leave(f, 140 - 10 * i, A + i % 3);
	ck_assert_str_eq(calls, "a>b 20-130g (cpu 110; own cpu 40), "
				"a 10-140g (cpu 130; own cpu 20)");
	finish(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model_calls");
	TCase *t = tcase_create("model_calls");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_test(t, calls_nest_and_own_time_is_what_is_left);
	tcase_add_test(t, the_schedulers_states_are_shared_out);
	tcase_add_test(t, recursion_is_told_apart_by_depth);
	tcase_add_test(t, an_exception_leaves_several_calls);
	tcase_add_test(t, constructors_fail_in_what_was_under_way);
	tcase_add_test(t, constructors_fail_in_what_a_loss_hides);
	tcase_add_test(t, a_missing_exit_is_repaired_and_counted);
	tcase_add_test(t, calls_that_were_under_way_have_an_exit_only);
	tcase_add_test(t, calls_go_on_at_the_end);
	tcase_add_test(t, a_thread_that_ends_leaves_its_calls);
	tcase_add_test(t, a_loss_is_no_ones_own_time);
	tcase_add_test(t, what_began_in_a_loss_has_an_exit_only);
	tcase_add_test(t, what_began_in_a_loss_began_no_earlier);
	tcase_add_test(t, what_a_loss_hides_may_have_begun_before_the_first_record);
	tcase_add_test(t, what_ended_in_a_loss_ends_at_its_begin);
	tcase_add_test(t, a_loop_goes_on_after_a_loss);
	tcase_add_test(t, a_pause_is_a_loss);
	tcase_add_test(t, a_virtual_thread_takes_its_calls_along);
	tcase_add_test(t, a_pinned_virtual_thread_waits_with_its_carrier);
	tcase_add_test(t, a_loss_touches_those_that_may_have_been_there);
	tcase_add_test(t, a_thread_is_called_where_it_is_started);
	tcase_add_test(t, who_writes_is_not_off_its_cpu);
	tcase_add_test(t, calls_are_cut_to_the_window);
	tcase_add_test(t, only_selected_threads_are_told_of);
	tcase_add_test(t, contexts_have_a_limit);
	tcase_add_test(t, calls_may_be_too_deep);
	tcase_add_test(t, methods_have_names);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
