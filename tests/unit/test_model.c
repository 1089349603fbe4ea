/* SPDX-License-Identifier: MIT */
/* The rules of the model's state machine, one behaviour a test. */
#include "test_model_feed.h"

START_TEST(states_follow_switches_and_wakeups)
{
	struct feed *f = feed_usual(false);

	feed_start(f, NULL);
	feed_dump(f, 10, 100, S, 0);
	feed_wake(f, 1, 50, 999, 100, 60);
	feed_switch(f, 0, 70, 0, R, 100);
	feed_switch(f, 0, 100, 100, R | JIS_TASK_PREEMPTED, 101);
	feed_switch(f, 0, 200, 101, D, 100);
	feed_switch(f, 0, 300, 100, JIS_TASK_STOPPED, 0);
	feed_end(f);
	ck_assert_str_eq(f->thread_log[0],
			 "unknown 0-10, sleep 10-60, ready 60-70, run@0 70-100, ready! 100-200, "
			 "run@0 200-300, stopped 300-1000");
	ck_assert_str_eq(f->thread_log[1], "unknown 0-100, run@0 100-200, disk 200-1000");
	ck_assert_str_eq(f->thread_log[2], "unknown 0-1000");
	ck_assert_str_eq(f->wakeups, "100<-999@1 50-60");
	ck_assert_str_eq(f->running, "70:1 100:0 100:1 200:0 200:1 300:0");
	ck_assert_uint_eq(f->counts.contradictions, 0);
	ck_assert_uint_eq(f->counts.switches, 4);
	ck_assert_uint_eq(f->counts.wakeups, 1);
	feed_free(f);
}
END_TEST

START_TEST(a_runnable_thread_of_the_dump_was_running_if_a_switch_out_is_next)
{
	struct feed *f = feed_usual(false);

	feed_start(f, NULL);
	feed_dump(f, 10, 100, R, 0);
	feed_dump(f, 10, 101, R, 1);
	feed_dump(f, 10, 200, R, 2);
	feed_switch(f, 0, 100, 100, S, 0);
	feed_switch(f, 1, 200, 0, R, 101);
	feed_end(f);
	ck_assert_str_eq(f->thread_log[0], "unknown 0-10, run@0 10-100, sleep 100-1000");
	ck_assert_str_eq(f->thread_log[1], "unknown 0-10, ready 10-200, run@1 200-1000");
	ck_assert_str_eq(f->thread_log[2], "unknown 0-1000");
	ck_assert_str_eq(f->cpu_log[0], "unknown 0-10, target=100 10-100, unknown 100-1000");
	feed_free(f);
}
END_TEST

START_TEST(a_dump_is_older_than_what_was_recorded_before_it)
{
	struct feed *f = feed_usual(false);

	feed_start(f, NULL);
	feed_switch(f, 0, 5, 0, R, 100);
	feed_dump(f, 10, 100, S, 0);
	feed_end(f);
	ck_assert_str_eq(f->thread_log[0], "unknown 0-5, run@0 5-1000");
	feed_free(f);
}
END_TEST

START_TEST(a_forked_thread_is_not_created_until_its_first_wakeup)
{
	struct feed *f = feed_new(false);

	feed_process(f, 100, "java");
	feed_thread(f, 100, 100, ALIVE, ALIVE, "main");
	feed_thread(f, 101, 100, 20, 60, "child");
	feed_start(f, NULL);
	feed_fork(f, 0, 20, 100, 101);
	FEED(f, 0, 25, sched_wakeup_new, .tid = 101);
	feed_switch(f, 1, 30, 0, R, 101);
	feed_switch(f, 1, 60, 101, X, 0);
	FEED(f, 1, 70, sched_process_free, .tid = 101);
	feed_end(f);
	/* Who forks runs. */
	ck_assert_str_eq(f->thread_log[0], "unknown 0-20, run@0 20-1000");
	ck_assert_str_eq(f->thread_log[1], "none 0-25, ready 25-30, run@1 30-60, exited 60-1000");
	ck_assert_uint_eq(f->counts.contradictions, 0);
	feed_free(f);
}
END_TEST

/* release_task() runs before the last switch-out: the tid lives again on another CPU by then. */
START_TEST(a_dead_switch_out_ends_the_old_owner_of_a_reused_tid)
{
	struct feed *f = feed_new(false);

	feed_process(f, 100, "java");
	feed_thread(f, 100, 100, ALIVE, ALIVE, "main");
	feed_thread(f, 101, 100, ALIVE, 50, "old");
	feed_thread(f, 101, 100, 40, ALIVE, "new");
	feed_start(f, NULL);
	feed_switch(f, 1, 10, 0, R, 101);
	feed_fork(f, 0, 40, 100, 101);
	FEED(f, 0, 41, sched_wakeup_new, .tid = 101);
	feed_switch(f, 0, 45, 100, S, 101);
	feed_switch(f, 1, 50, 101, X, 0);
	FEED(f, 1, 60, sched_process_free, .tid = 101);
	feed_switch(f, 0, 70, 101, S, 0);
	feed_end(f);
	ck_assert_str_eq(f->thread_log[1], "unknown 0-10, run@1 10-50, exited 50-1000");
	ck_assert_str_eq(f->thread_log[2], "none 0-41, ready 41-45, run@0 45-70, sleep 70-1000");
	ck_assert_uint_eq(f->counts.contradictions, 0);
	feed_free(f);
}
END_TEST

START_TEST(a_new_owner_of_a_tid_can_follow_the_old_one_on_the_same_cpu)
{
	struct feed *f = feed_new(false);

	feed_process(f, 100, "java");
	feed_thread(f, 101, 100, ALIVE, 50, "old");
	feed_thread(f, 101, 100, 40, ALIVE, "new");
	feed_start(f, NULL);
	feed_switch(f, 1, 10, 0, R, 101);
	feed_fork(f, 0, 40, 100, 101);
	FEED(f, 0, 41, sched_wakeup_new, .tid = 101);
	feed_switch(f, 1, 50, 101, X, 101);
	feed_end(f);
	ck_assert_str_eq(f->thread_log[0], "unknown 0-10, run@1 10-50, exited 50-1000");
	ck_assert_str_eq(f->thread_log[1], "none 0-41, ready 41-50, run@1 50-1000");
	ck_assert_uint_eq(f->counts.contradictions, 0);
	feed_free(f);
}
END_TEST

START_TEST(a_wakeup_of_a_thread_on_its_cpu_changes_nothing)
{
	struct feed *f = feed_usual(false);

	feed_start(f, NULL);
	feed_switch(f, 0, 10, 0, R, 100);
	feed_wake(f, 1, 20, 101, 100, 21);
	feed_switch(f, 0, 30, 100, R | JIS_TASK_PREEMPTED, 0);
	feed_wake(f, 1, 40, 101, 100, 41);
	feed_switch(f, 0, 50, 0, R, 100);
	feed_end(f);
	ck_assert_str_eq(f->thread_log[0],
			 "unknown 0-10, run@0 10-30, ready! 30-50, run@0 50-1000");
	ck_assert_str_eq(f->wakeups, "");
	ck_assert_uint_eq(f->counts.wakings_on_cpu, 2);
	ck_assert_uint_eq(f->counts.wakeups, 0);
	ck_assert_uint_eq(f->counts.contradictions, 0);
	feed_free(f);
}
END_TEST

START_TEST(a_waking_before_the_switch_out_ends_the_wait_that_follows)
{
	struct feed *f = feed_usual(false);

	feed_start(f, NULL);
	feed_switch(f, 0, 10, 0, R, 100);
	FEED(f, 1, 20, sched_waking, .tid = 100, .waker_tid = 0, .context = JIS_WAKER_HARDIRQ);
	feed_switch(f, 0, 25, 100, S, 0);
	FEED(f, 0, 30, sched_wakeup, .tid = 100);
	feed_end(f);
	ck_assert_str_eq(f->thread_log[0], "unknown 0-10, run@0 10-25, sleep 25-30, ready 30-1000");
	ck_assert_str_eq(f->wakeups, "100<-0irq@1 20-30");
	feed_free(f);
}
END_TEST

START_TEST(wakers_are_named)
{
	struct feed *f = feed_usual(false);

	f->foreigners[0] = (struct foreign_entry){.tid = 7, .time = 5, .comm = (char *)"ksoft"};
	f->foreigners[1] = (struct foreign_entry){.tid = 7, .time = 50, .comm = (char *)"later"};
	f->man.nr_foreigners = 2;
	feed_start(f, NULL);
	feed_dump(f, 1, 100, S, 0);
	feed_dump(f, 1, 101, S, 0);
	feed_dump(f, 1, 200, S, 0);
	feed_wake(f, 1, 20, 7, 100, 21);
	feed_wake(f, 1, 60, 7, 101, 61);
	feed_switch(f, 2, 70, 0, R, 100);
	feed_wake(f, 2, 80, 100, 200, 85);
	feed_end(f);
	ck_assert_str_eq(f->wakeups,
			 "100<-ksoft 7@1 20-21, 101<-later 7@1 60-61, 200<-100@2 80-85");
	feed_free(f);
}
END_TEST

START_TEST(contradictions_are_counted_and_the_newer_evidence_wins)
{
	struct feed *f = feed_usual(false);

	feed_start(f, NULL);
	feed_switch(f, 0, 10, 0, R, 100);
	/* On CPU 1 without having left CPU 0. */
	feed_switch(f, 1, 20, 0, R, 100);
	feed_switch(f, 1, 30, 100, S, 0);
	/* Without a wake-up. */
	feed_switch(f, 1, 40, 0, R, 100);
	/* Another one leaves the CPU. */
	feed_switch(f, 1, 50, 101, S, 0);
	feed_end(f);
	ck_assert_str_eq(
		f->thread_log[0],
		"unknown 0-10, unknown 10-20, run@1 20-30, unknown 30-40, unknown 40-1000");
	ck_assert_str_eq(f->thread_log[1], "unknown 0-50, sleep 50-1000");
	ck_assert_str_eq(f->cpu_log[0], "unknown 0-10, unknown 10-1000");
	ck_assert_uint_eq(f->counts.contradictions, 3);
	feed_free(f);
}
END_TEST

START_TEST(switches_that_were_not_told_are_counted_as_such)
{
	struct feed *f = feed_usual(false);

	feed_start(f, NULL);
	feed_switch(f, 0, 10, 0, R, 100);
	feed_switch(f, 0, 20, 100, S, 0);
	feed_wake(f, 1, 30, 0, 100, 31);
	/* It wakes others, as often as it likes: it is on CPU 1 since some time. */
	feed_wake(f, 1, 40, 100, 101, 41);
	feed_wake(f, 1, 42, 100, 101, 43);
	feed_switch(f, 1, 50, 100, S, 0);
	/* Nor is it told that it was woken; that it was about to be is. */
	FEED(f, 0, 60, sched_waking, .tid = 100, .waker_tid = 0, .context = JIS_WAKER_HARDIRQ);
	feed_switch(f, 1, 70, 100, S, 0);
	feed_end(f);
	ck_assert_str_eq(f->thread_log[0],
			 "unknown 0-10, run@0 10-20, sleep 20-31, unknown 31-40, run@1 40-50, "
			 "sleep 50-60, unknown 60-70, sleep 70-1000");
	ck_assert_str_eq(f->wakeups, "100<-0@1 30-31, 100<-0irq@0 60-60");
	ck_assert_uint_eq(f->counts.unseen_switches, 2);
	ck_assert_uint_eq(f->counts.contradictions, 0);
	feed_free(f);
}
END_TEST

START_TEST(an_idle_cpu_that_a_thread_leaves_was_switched_unseen)
{
	struct feed *f = feed_usual(true);

	feed_start(f, NULL);
	feed_switch(f, 0, 10, 100, S, 0);
	feed_wake(f, 1, 20, 0, 100, 21);
	feed_switch(f, 0, 30, 100, S, 0);
	feed_switch(f, 0, 40, 7, R, 0);
	feed_end(f);
	ck_assert_str_eq(f->thread_log[0],
			 "unknown 0-10, sleep 10-21, unknown 21-30, sleep 30-1000");
	ck_assert_str_eq(f->cpu_log[0], "unknown 0-10, unknown 10-30, unknown 30-40, idle 40-1000");
	ck_assert_uint_eq(f->counts.unseen_switches, 2);
	ck_assert_uint_eq(f->counts.contradictions, 0);
	feed_free(f);
}
END_TEST

START_TEST(who_works_where_another_thread_runs_contradicts)
{
	struct feed *f = feed_usual(false);

	feed_start(f, NULL);
	feed_switch(f, 0, 10, 0, R, 100);
	feed_switch(f, 1, 10, 101, S, 0);
	feed_wake(f, 1, 20, 0, 101, 21);
	feed_wake(f, 0, 30, 101, 200, 31);
	/* Nobody has woken it. */
	feed_switch(f, 1, 40, 200, S, 0);
	feed_switch(f, 1, 50, 200, S, 0);
	feed_end(f);
	ck_assert_uint_eq(f->counts.unseen_switches, 0);
	ck_assert_uint_eq(f->counts.contradictions, 2);
	feed_free(f);
}
END_TEST

START_TEST(a_cpu_is_unknown_after_a_foreign_switch)
{
	struct feed *f = feed_usual(false);

	feed_start(f, NULL);
	feed_switch(f, 0, 10, 0, R, 100);
	feed_switch(f, 0, 20, 100, S, 55);
	feed_switch(f, 0, 40, 55, S, 101);
	feed_switch(f, 0, 50, 101, S, 0);
	feed_end(f);
	ck_assert_str_eq(f->cpu_log[0], "unknown 0-10, target=100 10-20, unknown=55 20-40, "
					"target=101 40-50, unknown 50-1000");
	feed_free(f);
}
END_TEST

START_TEST(with_all_switches_a_cpu_is_known)
{
	struct feed *f = feed_usual(true);

	feed_start(f, NULL);
	feed_switch(f, 0, 10, 0, R, 100);
	feed_switch(f, 0, 20, 100, S, 55);
	feed_switch(f, 0, 30, 55, S, 0);
	feed_switch(f, 0, 40, 0, S, 101);
	feed_end(f);
	ck_assert_str_eq(f->cpu_log[0], "unknown 0-10, target=100 10-20, foreign=55 20-30, "
					"idle 30-40, target=101 40-1000");
	ck_assert_uint_eq(f->counts.switches, 3);
	feed_free(f);
}
END_TEST

START_TEST(a_selection_leaves_wakers_and_cpus_told)
{
	const struct model_options options = {.thread = "work", .process = "100"};
	struct feed *f = feed_usual(false);

	feed_start(f, &options);
	feed_dump(f, 1, 101, S, 0);
	feed_dump(f, 1, 200, S, 0);
	feed_switch(f, 0, 10, 0, R, 100);
	feed_wake(f, 0, 20, 100, 101, 21);
	feed_wake(f, 0, 30, 100, 200, 31);
	feed_end(f);
	ck_assert_str_eq(f->thread_log[0], "");
	ck_assert_str_eq(f->thread_log[1], "unknown 0-1, sleep 1-21, ready 21-1000");
	ck_assert_str_eq(f->thread_log[2], "");
	ck_assert_str_eq(f->wakeups, "101<-100@0 20-21");
	ck_assert_str_eq(f->cpu_log[0], "unknown 0-10, target=100 10-1000");
	ck_assert_str_eq(f->running, "");
	feed_free(f);
}
END_TEST

START_TEST(states_are_cut_to_the_window)
{
	const struct model_options options = {.from = 15, .to = 25};
	struct feed *f = feed_usual(false);

	feed_start(f, &options);
	feed_switch(f, 0, 10, 0, R, 100);
	feed_switch(f, 0, 20, 100, S, 0);
	feed_switch(f, 0, 30, 0, R, 101);
	feed_end(f);
	ck_assert_str_eq(f->thread_log[0], "run@0 15-20, sleep 20-25");
	ck_assert_str_eq(f->thread_log[1], "unknown 15-25");
	ck_assert_str_eq(f->cpu_log[0], "target=100 15-20, unknown 20-25");
	feed_free(f);
}
END_TEST

START_TEST(a_thread_that_calls_exec_takes_the_leaders_tid)
{
	struct feed *f = feed_usual(false);

	feed_start(f, NULL);
	feed_switch(f, 0, 5, 0, R, 100);
	feed_switch(f, 0, 10, 100, X, 0);
	feed_switch(f, 1, 15, 0, R, 101);
	FEED_TEXT(f, 1, 20, sched_process_exec, filename, "/bin/x", .tid = 100, .old_tid = 101,
		  .pid = 100);
	feed_switch(f, 1, 30, 100, S, 0);
	feed_end(f);
	ck_assert_str_eq(f->thread_log[0],
			 "unknown 0-5, run@0 5-10, exited 10-20, run@1 20-30, sleep 30-1000");
	ck_assert_str_eq(f->thread_log[1], "unknown 0-15, run@1 15-20, exited 20-1000");
	ck_assert_str_eq(f->events, "20 exec T100@1 '/bin/x' 0");
	feed_free(f);
}
END_TEST

/* As the tables have it: the exec at 40 begins another life of the leader's tid. */
static struct feed *exec_tables(void)
{
	struct feed *f = feed_new(false);

	feed_process(f, 100, "java");
	feed_thread(f, 100, 100, ALIVE, 22, "main");
	feed_thread(f, 101, 100, ALIVE, 40, "worker");
	feed_thread(f, 100, 100, 40, ALIVE, "sleep");
	feed_start(f, NULL);
	feed_switch(f, 0, 5, 0, R, 100);
	feed_switch(f, 1, 10, 0, R, 101);
	feed_switch(f, 1, 12, 101, S, 0); /* waits for the leader to die */
	FEED(f, 0, 15, sched_process_exit, .tid = 100, .pid = 100);
	feed_wake(f, 0, 16, 100, 101, 17);
	return f;
}

static void exec_at_40(struct feed *f, uint32_t cpu)
{
	FEED_TEXT(f, cpu, 40, sched_process_exec, filename, "/bin/x", .tid = 100, .old_tid = 101,
		  .pid = 100);
}

START_TEST(the_tid_a_thread_has_between_taking_the_lead_and_its_exec_is_its_own)
{
	struct feed *f = exec_tables();

	feed_switch(f, 1, 20, 0, R, 101);
	feed_switch(f, 0, 22, 100, X, 0);
	feed_switch(f, 1, 25, 100, D, 0); /* under the leader's tid, reading the program */
	feed_wake(f, 0, 27, 0, 100, 28);
	feed_switch(f, 0, 30, 0, R, 100);
	feed_switch(f, 0, 33, 100, R, 0);
	feed_switch(f, 1, 35, 0, R, 100);
	exec_at_40(f, 1);
	feed_switch(f, 1, 50, 100, S, 0);
	feed_wake(f, 0, 60, 0, 100, 61);
	feed_switch(f, 0, 70, 0, R, 100);
	feed_end(f);
	ck_assert_str_eq(f->thread_log[0], "unknown 0-5, run@0 5-22, exited 22-1000");
	ck_assert_str_eq(f->thread_log[1],
			 "unknown 0-10, run@1 10-12, sleep 12-17, ready 17-20, run@1 20-25, "
			 "disk 25-28, ready 28-30, run@0 30-33, ready! 33-35, run@1 35-40, exited "
			 "40-1000");
	ck_assert_str_eq(f->thread_log[2],
			 "none 0-40, run@1 40-50, sleep 50-61, ready 61-70, run@0 70-1000");
	ck_assert_uint_eq(f->counts.contradictions, 0);
	feed_free(f);
}
END_TEST

START_TEST(a_leader_may_leave_its_cpu_under_the_tid_of_the_thread_that_executes)
{
	struct feed *f = exec_tables();

	feed_switch(f, 1, 20, 0, R, 101);
	feed_switch(f, 0, 22, 101, X, 0);
	exec_at_40(f, 1);
	feed_switch(f, 1, 50, 100, S, 0);
	feed_end(f);
	ck_assert_str_eq(f->thread_log[0], "unknown 0-5, run@0 5-22, exited 22-1000");
	ck_assert_str_eq(f->thread_log[1],
			 "unknown 0-10, run@1 10-12, sleep 12-17, ready 17-20, run@1 20-40, exited "
			 "40-1000");
	ck_assert_str_eq(f->thread_log[2], "none 0-40, run@1 40-50, sleep 50-1000");
	ck_assert_uint_eq(f->counts.contradictions, 0);
	feed_free(f);
}
END_TEST

START_TEST(a_leader_may_leave_its_cpu_after_the_exec)
{
	struct feed *f = exec_tables();

	feed_switch(f, 1, 20, 0, R, 101);
	feed_switch(f, 0, 30, 100, R, 0); /* preempted on its last way... */
	exec_at_40(f, 1);
	feed_switch(f, 0, 42, 0, R, 101); /* ...which it ends with the other tid */
	feed_switch(f, 0, 44, 101, X, 0);
	FEED(f, 0, 45, sched_process_free, .tid = 101);
	feed_switch(f, 1, 50, 100, S, 0);
	feed_end(f);
	ck_assert_str_eq(f->thread_log[0],
			 "unknown 0-5, run@0 5-30, ready! 30-42, run@0 42-44, exited 44-1000");
	ck_assert_str_eq(f->thread_log[2], "none 0-40, run@1 40-50, sleep 50-1000");
	ck_assert_uint_eq(f->counts.contradictions, 0);
	feed_free(f);
}
END_TEST

START_TEST(records_that_make_no_sense_do_no_harm)
{
	struct feed *f = feed_usual(false);

	feed_start(f, NULL);
	feed_switch(f, 0, 10, UINT32_MAX, 0x7f, UINT32_MAX - 1);
	feed_switch(f, 0, 11, 100, 0x7f, 100);
	feed_switch(f, 0, 12, 0, 0, 0);
	feed_wake(f, 1, 13, UINT32_MAX, UINT32_MAX, 13);
	f->cursors[0].instance = UINT64_MAX;
	feed_switch(f, 0, 14, 0, R, 101);
	f->cursors[0].instance = 0;
	FEED(f, 1, 15, sched_process_free, .tid = 1 << 30);
	FEED(f, FEED_SLOT(0), 16, thread_bind, .tid = 31337);
	FEED(f, FEED_SLOT(0), 17, span_begin, .name = UINT32_MAX);
	FEED(f, FEED_SLOT(3), 17, span_begin, .name = 1);
	FEED_TEXT(f, FEED_DICT(0), 18, string_def, text, "x", .id = UINT32_MAX);
	feed_end(f);
	ck_assert_uint_gt(f->counts.unknown_threads, 3);
	feed_free(f);
}
END_TEST

START_TEST(every_reason_has_a_name_of_its_own)
{
	for (int i = 0; i < MODEL_NR_REASONS; i++) {
		ck_assert_ptr_nonnull(model_reason_name(i));
		for (int k = 0; k < i; k++)
			ck_assert_str_ne(model_reason_name(i), model_reason_name(k));
	}
	for (int i = 0; i < MODEL_NR_ERRORS; i++)
		ck_assert_ptr_nonnull(model_error_name(i));
	for (int i = 0; i < MODEL_NR_CONFLICTS; i++)
		ck_assert_ptr_nonnull(model_conflict_name(i));
	ck_assert_str_eq(model_reason_name(MODEL_NR_REASONS), "?");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model");
	TCase *t = tcase_create("states");
	SRunner *runner = srunner_create(s);
	int failed;

	tcase_add_test(t, states_follow_switches_and_wakeups);
	tcase_add_test(t, a_runnable_thread_of_the_dump_was_running_if_a_switch_out_is_next);
	tcase_add_test(t, a_dump_is_older_than_what_was_recorded_before_it);
	tcase_add_test(t, a_forked_thread_is_not_created_until_its_first_wakeup);
	tcase_add_test(t, a_dead_switch_out_ends_the_old_owner_of_a_reused_tid);
	tcase_add_test(t, a_new_owner_of_a_tid_can_follow_the_old_one_on_the_same_cpu);
	tcase_add_test(t, a_wakeup_of_a_thread_on_its_cpu_changes_nothing);
	tcase_add_test(t, a_waking_before_the_switch_out_ends_the_wait_that_follows);
	tcase_add_test(t, wakers_are_named);
	tcase_add_test(t, contradictions_are_counted_and_the_newer_evidence_wins);
	tcase_add_test(t, switches_that_were_not_told_are_counted_as_such);
	tcase_add_test(t, an_idle_cpu_that_a_thread_leaves_was_switched_unseen);
	tcase_add_test(t, who_works_where_another_thread_runs_contradicts);
	tcase_add_test(t, a_cpu_is_unknown_after_a_foreign_switch);
	tcase_add_test(t, with_all_switches_a_cpu_is_known);
	tcase_add_test(t, a_selection_leaves_wakers_and_cpus_told);
	tcase_add_test(t, states_are_cut_to_the_window);
	tcase_add_test(t, a_thread_that_calls_exec_takes_the_leaders_tid);
	tcase_add_test(t, the_tid_a_thread_has_between_taking_the_lead_and_its_exec_is_its_own);
	tcase_add_test(t, a_leader_may_leave_its_cpu_under_the_tid_of_the_thread_that_executes);
	tcase_add_test(t, a_leader_may_leave_its_cpu_after_the_exec);
	tcase_add_test(t, records_that_make_no_sense_do_no_harm);
	tcase_add_test(t, every_reason_has_a_name_of_its_own);
	suite_add_tcase(s, t);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
