/* SPDX-License-Identifier: MIT */
/* The critical path of stories whose chains are known. */
#include "test_path_story.h"

/* 100 waits for the lock of 101, which waits for 103, which waits for a timer. */
START_TEST(a_waits_for_b_which_waits_for_c)
{
	struct feed *f = story();

	comes(f, 0, 0, 100);
	comes(f, 1, 0, 101);
	leaves(f, 1, 20, 101, S, "read", 4, 2);
	comes(f, 1, 30, 103);
	contended(f, 100, 100, 1, 101);
	leaves(f, 0, 102, 100, S, "futex", 10, 3);
	leaves(f, 1, 110, 103, S, "nanosleep", 4, 2);
	FEED(f, 1, 140, sched_waking, .tid = 103, .waker_tid = 0, .context = JIS_WAKER_TIMER);
	FEED(f, 1, 140, sched_wakeup, .tid = 103);
	comes(f, 1, 145, 103);
	feed_wake(f, 1, 150, 103, 101, 152);
	comes(f, 0, 155, 101);
	feed_wake(f, 0, 170, 101, 100, 171);
	leaves(f, 0, 172, 101, S, "read", 4, 2);
	comes(f, 0, 172, 100);
	entered(f, 180, 100, 1);
	feed_end(f);
	path_is(f, 0, 90, 200,
		"T100 run 90-102, T100 sleep:monitor Lock 102-171 <holder T101, "
		".T101 sleep:system call 102-152 <- T103, "
		"..T103 run 102-110, ..T103 sleep:timer 110-140 timer, ..T103 ready 140-145, "
		"..T103 run 145-150, ..T101 ready 150-152, "
		".T101 ready 152-155, .T101 run 155-170, .T100 ready 170-171, "
		"T100 ready 171-172, T100 run 172-200");
	/* Cut at both ends: in the middle of the waits. */
	path_is(f, 0, 120, 148,
		"T100 sleep:monitor Lock 120-148 <holder T101, "
		".T101 sleep:system call 120-148 <- T103, "
		"..T103 sleep:timer 120-140 timer, ..T103 ready 140-145, ..T103 run 145-148");
	/* Not deeper than asked for. */
	path_is_of(f, (struct path_who){0, MODEL_NO_THREAD}, 90, 200, 1,
		   "T100 run 90-102, T100 sleep:monitor Lock 102-171 <holder T101, "
		   ".T101 sleep:system call 102-152 deep T103, "
		   ".T101 ready 152-155, .T101 run 155-170, .T100 ready 170-171, "
		   "T100 ready 171-172, T100 run 172-200");
	path_is_of(f, (struct path_who){0, MODEL_NO_THREAD}, 90, 200, 0,
		   "T100 run 90-102, T100 sleep:monitor Lock 102-171 deep T101, "
		   "T100 ready 171-172, T100 run 172-200");
	story_ends(f);
}
END_TEST

START_TEST(timers_interrupts_and_strangers_end_a_branch)
{
	struct feed *f = begin_in(all);

	f->foreigners[f->man.nr_foreigners++] =
		(struct foreign_entry){.tid = 900, .pid = 900, .comm = (char *)"nginx"};
	start_story(f, false);
	comes(f, 0, 0, 100);
	leaves(f, 0, 10, 100, S, "epoll_wait", 4, 2);
	FEED(f, 2, 20, sched_waking, .tid = 100, .waker_tid = 0, .context = JIS_WAKER_SOFTIRQ);
	FEED(f, 2, 20, sched_wakeup, .tid = 100);
	comes(f, 0, 20, 100);
	leaves(f, 0, 30, 100, D, "fsync", 4, 2);
	FEED(f, 2, 40, sched_waking, .tid = 100, .waker_tid = 0, .context = JIS_WAKER_HARDIRQ);
	FEED(f, 2, 40, sched_wakeup, .tid = 100);
	comes(f, 0, 40, 100);
	leaves(f, 0, 50, 100, S, "read", 4, 2);
	feed_wake(f, 2, 60, 900, 100, 60);
	comes(f, 0, 60, 100);
	leaves(f, 0, 70, 100, S, "futex", 4, 2);
	/* Where timers are not told from other interrupts: nothing else wakes from a futex. */
	FEED(f, 2, 80, sched_waking, .tid = 100, .waker_tid = 0, .context = JIS_WAKER_HARDIRQ);
	FEED(f, 2, 80, sched_wakeup, .tid = 100);
	comes(f, 0, 80, 100);
	leaves(f, 0, 90, 100, S, "futex", 4, 2);
	feed_end(f);
	path_is(f, 0, 0, 100,
		"T100 run 0-10, T100 sleep:poll 10-20 softirq, T100 run 20-30, "
		"T100 disk:file 30-40 irq, T100 run 40-50, T100 sleep:system call 50-60 foreign, "
		"T100 run 60-70, T100 sleep:futex 70-80 timer, T100 run 80-90, "
		"T100 sleep:futex 90-100 open");
	story_ends(f);
}
END_TEST

START_TEST(the_waker_was_preempted_and_behind_whom)
{
	struct feed *f = begin_in(all);

	f->man.all_switches = true;
	start_story(f, false);
	comes(f, 0, 0, 100);
	comes(f, 1, 0, 101);
	contended(f, 10, 100, 1, 101);
	leaves(f, 0, 10, 100, S, "futex", 10, 3);
	FEED(f, 1, 20, sched_switch, .prev_tid = 101, .prev_state = R | JIS_TASK_PREEMPTED,
	     .next_tid = 103, .prev_syscall = JIS_SYSCALL_NONE);
	FEED(f, 1, 60, sched_switch, .prev_tid = 103, .prev_state = S, .next_tid = 101,
	     .prev_syscall = JIS_SYSCALL_NONE);
	feed_wake(f, 1, 70, 101, 100, 70);
	comes(f, 0, 72, 100);
	entered(f, 75, 100, 1);
	feed_end(f);
	path_is(f, 0, 0, 80,
		"T100 run 0-10, T100 sleep:monitor Lock 10-70 <holder T101, .T101 run 10-20, "
		".T101 ready 20-60 behind T103, .T101 run 60-70, T100 ready 70-72 behind idle, "
		"T100 run 72-80");
	story_ends(f);
}
END_TEST

/* 101 has the lock and gives it to 103, that to 104, that to 100: each of them waits for it. */
START_TEST(a_convoy_is_followed_from_owner_to_owner)
{
	struct feed *f = story();

	comes(f, 0, 0, 100);
	comes(f, 1, 0, 101);
	comes(f, 2, 0, 105);
	comes(f, 3, 0, 104);
	contended(f, 10, 104, 14, 101);
	leaves(f, 3, 10, 104, S, "futex", 10, 3);
	contended(f, 20, 105, 15, 101);
	leaves(f, 2, 20, 105, S, "futex", 10, 3);
	contended(f, 30, 100, 1, 101);
	leaves(f, 0, 30, 100, S, "futex", 10, 3);
	feed_wake(f, 1, 50, 101, 104, 50);
	comes(f, 3, 51, 104);
	entered(f, 52, 104, 14);
	feed_wake(f, 3, 70, 104, 105, 70);
	comes(f, 2, 71, 105);
	entered(f, 72, 105, 15);
	feed_wake(f, 2, 90, 105, 100, 90);
	comes(f, 0, 91, 100);
	entered(f, 92, 100, 1);
	feed_end(f);
	path_is(f, 0, 25, 100,
		"T100 run 25-30, T100 sleep:monitor Lock 30-90 <- T105, "
		".T105 sleep:monitor Lock 30-70 <- T104, "
		"..T104 sleep:monitor Lock 30-50 <holder T101, ...T101 run 30-50, "
		"..T104 ready 50-51, ..T104 run 51-70, "
		".T105 ready 70-71, .T105 run 71-90, T100 ready 90-91, T100 run 91-100");
	story_ends(f);
}
END_TEST

/* 105 comes for the lock only when 100 waits already: until then 101 is what 100 waits for. */
START_TEST(who_came_late_is_no_cause_before)
{
	struct feed *f = story();

	comes(f, 0, 0, 100);
	comes(f, 1, 0, 101);
	comes(f, 2, 0, 105);
	contended(f, 10, 100, 1, 101);
	leaves(f, 0, 10, 100, S, "futex", 10, 3);
	contended(f, 40, 105, 15, 101);
	leaves(f, 2, 40, 105, S, "futex", 10, 3);
	feed_wake(f, 1, 60, 101, 105, 60);
	comes(f, 2, 60, 105);
	entered(f, 62, 105, 15);
	feed_wake(f, 2, 80, 105, 100, 80);
	comes(f, 0, 80, 100);
	entered(f, 82, 100, 1);
	feed_end(f);
	path_is(f, 0, 0, 90,
		"T100 run 0-10, T100 sleep:monitor Lock 10-80 <- T105, .T101 run 10-40, "
		".T105 sleep:monitor Lock 40-60 <holder T101, ..T101 run 40-60, "
		".T105 run 60-80, T100 run 80-90");
	story_ends(f);
}
END_TEST

/* HotSpot looks now and then whether the monitor is free. */
START_TEST(a_look_at_the_monitor_is_no_end_of_the_wait)
{
	struct feed *f = story();

	comes(f, 0, 0, 100);
	comes(f, 1, 0, 101);
	contended(f, 10, 100, 1, 101);
	for (uint64_t t = 10; t < 50; t += 20) {
		leaves(f, 0, t, 100, S, "futex", 10, 3);
		FEED(f, 2, t + 15, sched_waking, .tid = 100, .context = JIS_WAKER_TIMER);
		FEED(f, 2, t + 15, sched_wakeup, .tid = 100);
		comes(f, 0, t + 16, 100);
	}
	leaves(f, 0, 50, 100, S, "futex", 10, 3);
	feed_wake(f, 1, 80, 101, 100, 80);
	comes(f, 0, 80, 100);
	entered(f, 82, 100, 1);
	feed_end(f);
	path_is(f, 0, 0, 90,
		"T100 run 0-10, T100 sleep:monitor Lock 10-80 <holder T101, .T101 run 10-80, "
		"T100 run 80-90");
	/* Also where the interval begins in a look. */
	path_is(f, 0, 27, 60,
		"T100 run 27-30, T100 sleep:monitor Lock 30-60 <holder T101, .T101 run 30-60");
	story_ends(f);
}
END_TEST

START_TEST(an_owner_stands_in_where_nobody_woke)
{
	struct feed *f = story();

	comes(f, 0, 0, 100);
	comes(f, 1, 0, 101);
	contended(f, 10, 100, 1, 101);
	leaves(f, 0, 10, 100, S, "futex", 10, 3);
	leaves(f, 1, 30, 101, S, "nanosleep", 4, 2);
	feed_end(f);
	path_is(f, 0, 0, 60,
		"T100 run 0-10, T100 sleep:monitor Lock 10-60 <owner T101, .T101 run 10-30, "
		".T101 sleep:timer 30-60 open");
	story_ends(f);
}
END_TEST

/* 100 and 101 wait for each other's lock, for ever. */
START_TEST(a_cycle_ends)
{
	struct feed *f = story();

	comes(f, 0, 0, 100);
	comes(f, 1, 0, 101);
	contended(f, 10, 100, 1, 101);
	leaves(f, 0, 10, 100, S, "futex", 10, 3);
	contended(f, 20, 101, 2, 100);
	leaves(f, 1, 20, 101, S, "futex", 10, 3);
	feed_end(f);
	path_is(f, 0, 0, 60,
		"T100 run 0-10, T100 sleep:monitor Lock 10-60 <owner T101, .T101 run 10-20, "
		".T101 sleep:monitor Lock 20-60 open");
	story_ends(f);
}
END_TEST

/* Records that cannot be: 101 woke 100 while it waited for it itself. */
START_TEST(wake_ups_in_a_circle_end_and_are_told)
{
	struct feed *f = story();

	comes(f, 0, 0, 100);
	comes(f, 1, 0, 101);
	leaves(f, 0, 10, 100, S, "futex", 4, 2);
	leaves(f, 1, 20, 101, S, "futex", 4, 2);
	FEED(f, 1, 40, sched_waking, .tid = 101, .waker_tid = 100);
	FEED(f, 1, 40, sched_wakeup, .tid = 101);
	comes(f, 1, 41, 101);
	FEED(f, 1, 50, sched_waking, .tid = 100, .waker_tid = 101);
	FEED(f, 1, 50, sched_wakeup, .tid = 100);
	comes(f, 0, 51, 100);
	feed_end(f);
	path_is(f, 0, 0, 60,
		"T100 run 0-10, T100 sleep:futex 10-50 <- T101, .T101 run 10-20, "
		".T101 sleep:futex 20-40 cycle T100, .T101 ready 40-41, .T101 run 41-50, "
		"T100 ready 50-51, T100 run 51-60");
	story_ends(f);
}
END_TEST

/* 100 wakes 101 and waits for it, and only then 101 is ready: that is no circle. */
START_TEST(a_wake_up_takes_its_time)
{
	struct feed *f = story();

	comes(f, 0, 0, 100);
	comes(f, 1, 0, 101);
	leaves(f, 1, 5, 101, S, "futex", 4, 2);
	FEED(f, 0, 18, sched_waking, .tid = 101, .waker_tid = 100);
	leaves(f, 0, 20, 100, S, "futex", 4, 2);
	FEED(f, 1, 30, sched_wakeup, .tid = 101);
	comes(f, 1, 31, 101);
	feed_wake(f, 1, 50, 101, 100, 50);
	comes(f, 0, 51, 100);
	feed_end(f);
	path_is(f, 0, 0, 60,
		"T100 run 0-20, T100 sleep:futex 20-50 <- T101, .T101 ready 20-30, "
		".T101 ready 30-31, .T101 run 31-50, T100 ready 50-51, T100 run 51-60");
	story_ends(f);
}
END_TEST

START_TEST(what_was_lost_is_unknown)
{
	struct feed *f = story();

	for (uint32_t i = 0; i < 2; i++)
		feed_packet(f, i, 0, 25, 0, 0, 0);
	comes(f, 0, 0, 100);
	comes(f, 1, 0, 101);
	leaves(f, 0, 10, 100, S, "futex", 4, 2);
	feed_packet(f, 1, 40, 1000, 5, 0, 0);
	comes(f, 1, 60, 101);
	feed_wake(f, 1, 80, 101, 100, 80);
	comes(f, 0, 80, 100);
	feed_end(f);
	/* That 100 was blocked until 80 is not known, nor what 101 did until 60. */
	path_is(f, 0, 0, 90,
		"T100 run 0-10, T100 sleep:futex 10-25 open, T100 unknown 25-80, "
		"T100 run 80-90");
	path_is(f, 1, 0, 90, "T101 run 0-25, T101 unknown 25-60, T101 run 60-90");
	story_ends(f);
}
END_TEST

START_TEST(a_hole_in_the_wakers_time_is_unknown)
{
	struct feed *f = story();

	comes(f, 0, 0, 100);
	leaves(f, 0, 10, 100, S, "futex", 4, 2);
	/* Of 101 nothing is known before. */
	feed_switch(f, 1, 50, 0, R, 101);
	feed_wake(f, 1, 80, 101, 100, 80);
	comes(f, 0, 80, 100);
	feed_end(f);
	path_is(f, 0, 0, 90,
		"T100 run 0-10, T100 sleep:futex 10-80 <- T101, .T101 unknown 10-50, "
		".T101 run 50-80, T100 run 80-90");
	story_ends(f);
}
END_TEST

START_TEST(before_a_thread_there_was_its_parent)
{
	struct feed *f = begin_in(all);

	feed_thread(f, 106, 100, 30, ALIVE, "child");
	f->threads[f->man.nr_threads - 1].parent_tid = 101;
	start_story(f, false);
	comes(f, 0, 0, 100);
	comes(f, 1, 0, 101);
	leaves(f, 0, 10, 100, S, "futex", 4, 2);
	feed_fork(f, 1, 30, 101, 106);
	FEED(f, 2, 32, sched_wakeup_new, .tid = 106);
	comes(f, 2, 33, 106);
	feed_wake(f, 2, 50, 106, 100, 50);
	comes(f, 0, 50, 100);
	feed_end(f);
	path_is(f, 0, 0, 60,
		"T100 run 0-10, T100 sleep:futex 10-50 <- T106, .T106 none 10-32 <parent T101, "
		"..T101 run 10-32, .T106 ready 32-33, .T106 run 33-50, T100 run 50-60");
	story_ends(f);
}
END_TEST

/* What comes over the loopback is told in a softirq on top of the sender's call. */
START_TEST(the_sender_is_followed_into_its_call)
{
	struct feed *f = story();

	comes(f, 0, 0, 100);
	comes(f, 1, 0, 101);
	leaves(f, 0, 10, 100, S, "read", 4, 2);
	FEED(f, 1, 40, syscall_io, .tid = 101, .nr = nr("write"), .fd = -1);
	FEED(f, 1, 42, sched_waking, .tid = 100, .waker_tid = 101, .context = JIS_WAKER_SOFTIRQ);
	FEED(f, 1, 42, sched_wakeup, .tid = 100);
	FEED(f, 1, 45, syscall_exit, .tid = 101, .nr = nr("write"));
	comes(f, 0, 43, 100);
	leaves(f, 0, 50, 100, S, "read", 4, 2);
	/* On top of a thread that does something else: just an interrupt. */
	FEED(f, 1, 60, sched_waking, .tid = 100, .waker_tid = 101, .context = JIS_WAKER_SOFTIRQ);
	FEED(f, 1, 60, sched_wakeup, .tid = 100);
	comes(f, 0, 60, 100);
	feed_end(f);
	path_is(f, 0, 0, 70,
		"T100 run 0-10, T100 sleep:system call 10-42 <sender T101, .T101 run 10-40, "
		".T101 run 40-42, T100 ready 42-45, T100 run 45-50, "
		"T100 sleep:system call 50-60 softirq, T100 run 60-70");
	story_ends(f);
}
END_TEST

/* Lanes that keep a window only tell the same in it. */
START_TEST(what_is_outside_of_the_windows_is_not_needed)
{
	struct feed *f = begin_in((struct lanes_window){100, 140});

	start_story(f, false);
	comes(f, 0, 0, 100);
	comes(f, 1, 0, 101);
	for (uint64_t t = 10; t < 900; t += 20) {
		leaves(f, 0, t, 100, S, "futex", 4, 2);
		feed_wake(f, 1, t + 10, 101, 100, t + 10);
		comes(f, 0, t + 10, 100);
	}
	feed_end(f);
	path_is(f, 0, 100, 140,
		"T100 run 100-110, T100 sleep:futex 110-120 <- T101, .T101 run 110-120, "
		"T100 run 120-130, T100 sleep:futex 130-140 <- T101, .T101 run 130-140");
	ck_assert_uint_lt(lanes_first(lanes, 0, UINT64_MAX), 8);
	story_ends(f);
}
END_TEST

/* Random switches and wake-ups, some of them impossible: leaves cover each interval, whatever
 * comes. */
START_TEST(any_story_is_covered)
{
	struct feed *f = story();
	uint32_t seed = (uint32_t)_i * 2654435761u + 1, on[FEED_CPUS] = {0};

	for (uint64_t t = 1; t < 990; t++) {
		uint32_t r = seed = seed * 1664525u + 1013904223u;
		uint32_t cpu = r >> 30, tid = 100 + (r >> 20) % 6, other = 100 + (r >> 10) % 6;

		if ((r >> 8) % 3 == 0) {
			feed_wake(f, cpu, t, on[cpu], other, t);
			continue;
		}
		for (uint32_t i = 0; (r >> 5) % 8 && i < FEED_CPUS; i++)
			tid = on[i] == tid ? 0 : tid;
		FEED(f, cpu, t, sched_switch, .prev_tid = on[cpu],
		     .prev_state = (r >> 6) % 3 ? S : R, .next_tid = tid,
		     .prev_syscall = JIS_SYSCALL_UNKNOWN);
		on[cpu] = tid;
	}
	feed_end(f);
	for (uint32_t i = 0; i < 6; i++) {
		struct walked x = {.f = f, .l = lanes, .rows = path_rows_new(f->m, lanes, i % 2)};

		path_log[0] = 0;
		path_at = 100 + i;
		ck_assert_int_eq(path_walk(lanes, (struct path_who){i, MODEL_NO_THREAD}, 100 + i,
					   900, i * 12, on_step, &x),
				 0);
		ck_assert_uint_eq(path_at, 900);
		check_rows(x.rows, 800 - i);
		path_rows_free(x.rows);
	}
	story_ends(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("path");
	TCase *t = tcase_create("path");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, a_waits_for_b_which_waits_for_c);
	tcase_add_test(t, timers_interrupts_and_strangers_end_a_branch);
	tcase_add_test(t, the_waker_was_preempted_and_behind_whom);
	tcase_add_test(t, a_convoy_is_followed_from_owner_to_owner);
	tcase_add_test(t, who_came_late_is_no_cause_before);
	tcase_add_test(t, a_look_at_the_monitor_is_no_end_of_the_wait);
	tcase_add_test(t, an_owner_stands_in_where_nobody_woke);
	tcase_add_test(t, a_cycle_ends);
	tcase_add_test(t, wake_ups_in_a_circle_end_and_are_told);
	tcase_add_test(t, a_wake_up_takes_its_time);
	tcase_add_test(t, what_was_lost_is_unknown);
	tcase_add_test(t, a_hole_in_the_wakers_time_is_unknown);
	tcase_add_test(t, before_a_thread_there_was_its_parent);
	tcase_add_test(t, the_sender_is_followed_into_its_call);
	tcase_add_test(t, what_is_outside_of_the_windows_is_not_needed);
	tcase_add_loop_test(t, any_story_is_covered, 0, 60);
	tcase_set_timeout(t, 120);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
