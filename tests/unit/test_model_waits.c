/* SPDX-License-Identifier: MIT */
/* Why a ready thread does not run: who has its CPU, its cgroup's quota, stolen time. */
#include "test_model_feed.h"

static char waits[FEED_LOG];
static uint64_t waited_until[16];

static int on_wait(void *ctx, const struct model_wait *w)
{
	static const char *const names[] = {"?", "idle", "target", "foreign"};
	struct feed *f = ctx;

	/* In time order for each thread, without overlap. */
	ck_assert_uint_ge(w->begin, waited_until[w->thread]);
	ck_assert_uint_lt(w->begin, w->end);
	ck_assert_int_ne(w->occupant, MODEL_CPU_UNKNOWN);
	waited_until[w->thread] = w->end;
	feed_log(waits, "%s%u@%u %s=%u%s %" PRIu64 "-%" PRIu64, *waits ? ", " : "",
		 f->threads[w->thread].tid, w->cpu, names[w->occupant], w->tid,
		 w->throttled ? " throttled" : "", w->begin, w->end);
	return 0;
}

static int on_state(void *ctx, const struct model_state *s)
{
	if (s->throttled)
		ck_assert_int_eq(s->kind, MODEL_READY);
	feed_on_state(ctx, s);
	if (s->throttled)
		feed_log(((struct feed *)ctx)->thread_log[s->thread], "t");
	return 0;
}

static uint64_t stolen, stolen_from_100;

static int on_steal(void *ctx, const struct model_steal *s)
{
	(void)ctx;
	stolen += s->stolen;
	if (s->thread == 0)
		stolen_from_100 += s->stolen;
	return 0;
}

static struct feed *feed_waits(const char *backend)
{
	struct feed *f = feed_usual(false);

	memset(waits, 0, sizeof(waits));
	memset(waited_until, 0, sizeof(waited_until));
	stolen = stolen_from_100 = 0;
	f->man.backend = (char *)backend;
	f->sink.wait = on_wait;
	f->sink.state = on_state;
	f->sink.steal = on_steal;
	feed_start(f, NULL);
	return f;
}

static void wakeup(struct feed *f, uint64_t time, uint32_t tid, uint32_t cpu)
{
	FEED(f, 3, time, sched_wakeup, .tid = tid, .target_cpu = cpu);
}

START_TEST(a_preempted_thread_waits_behind_each_that_has_its_cpu)
{
	struct feed *f = feed_waits("kmod");

	feed_switch(f, 0, 10, 0, R, 100);
	feed_switch(f, 0, 20, 100, R | JIS_TASK_PREEMPTED, 55);
	feed_switch(f, 0, 30, 55, S, 56);
	feed_switch(f, 0, 40, 56, S, 101);
	feed_switch(f, 0, 50, 101, S, 100);
	feed_switch(f, 0, 60, 100, S, 55);
	feed_end(f);
	ck_assert_str_eq(waits, "100@0 foreign=55 20-30, 100@0 foreign=56 30-40, "
				"100@0 target=101 40-50");
	ck_assert_str_eq(f->cpu_log[0],
			 "unknown 0-10, target=100 10-20, foreign=55 20-30, foreign=56 30-40, "
			 "target=101 40-50, target=100 50-60, unknown=55 60-1000");
	ck_assert_uint_eq(f->counts.contradictions, 0);
	ck_assert_uint_eq(f->counts.unknown_threads, 0);
	feed_free(f);
}
END_TEST

START_TEST(the_first_switch_after_a_wakeup_says_who_had_the_cpu_since)
{
	struct feed *f = feed_waits("kmod");

	feed_switch(f, 0, 10, 0, R, 100);
	feed_switch(f, 0, 20, 100, S, 55); /* who may leave unseen */
	wakeup(f, 100, 100, 0);
	feed_switch(f, 0, 130, 77, S, 0);
	feed_switch(f, 0, 140, 0, R, 100);
	feed_end(f);
	ck_assert_str_eq(waits, "100@0 foreign=77 100-130, 100@0 idle=0 130-140");
	ck_assert_str_eq(f->cpu_log[0],
			 "unknown 0-10, target=100 10-20, unknown=55 20-100, foreign=77 100-130, "
			 "idle 130-140, target=100 140-1000");
	feed_free(f);
}
END_TEST

START_TEST(a_moved_thread_waits_where_it_is)
{
	struct feed *f = feed_waits("kmod");

	feed_switch(f, 0, 10, 0, R, 100);
	feed_switch(f, 0, 20, 100, R | JIS_TASK_PREEMPTED, 55);
	FEED(f, 1, 30, sched_migrate_task, .tid = 100, .orig_cpu = 0, .dest_cpu = 1);
	feed_switch(f, 1, 50, 66, S, 100);
	feed_end(f);
	ck_assert_str_eq(waits, "100@0 foreign=55 20-30, 100@1 foreign=66 30-50");
	/* Nobody waits for CPU 0 any more: what happens there is not recorded. */
	ck_assert_str_eq(f->cpu_log[0],
			 "unknown 0-10, target=100 10-20, foreign=55 20-30, unknown=55 30-1000");
	ck_assert_str_eq(f->cpu_log[1], "unknown 0-30, foreign=66 30-50, target=100 50-1000");
	ck_assert_str_eq(f->thread_log[0],
			 "unknown 0-10, run@0 10-20, ready! 20-50, run@1 50-1000");
	feed_free(f);
}
END_TEST

START_TEST(a_backend_that_records_no_others_tells_no_waits)
{
	struct feed *f = feed_waits("ftrace");

	feed_switch(f, 0, 10, 0, R, 100);
	feed_switch(f, 0, 20, 100, R | JIS_TASK_PREEMPTED, 55);
	feed_switch(f, 0, 50, 56, S, 100);
	feed_end(f);
	ck_assert_str_eq(waits, "");
	ck_assert_str_eq(f->cpu_log[0],
			 "unknown 0-10, target=100 10-20, unknown=55 20-50, target=100 50-1000");
	feed_free(f);
}
END_TEST

START_TEST(a_loss_ends_what_is_known_of_a_wait)
{
	struct feed *f = feed_waits("kmod");

	feed_packet(f, 0, 0, 25, 0, 0, 0);
	feed_switch(f, 0, 10, 0, R, 100);
	feed_switch(f, 0, 20, 100, R | JIS_TASK_PREEMPTED, 55);
	feed_packet(f, 0, 60, 90, 3, 0, 0);
	feed_switch(f, 0, 70, 56, S, 100);
	feed_end(f);
	ck_assert_str_eq(waits, "100@0 foreign=55 20-25");
	ck_assert_str_eq(f->cpu_log[0], "unknown 0-10, target=100 10-20, foreign=55 20-25, "
					"unknown 25-70, target=100 70-1000");
	feed_free(f);
}
END_TEST

static void names(struct feed *f)
{
	FEED_TEXT(f, 0, 1, cgroup_name, path, "/a/b", .cgroup = 3);
	FEED_TEXT(f, 0, 1, cgroup_name, path, "/", .cgroup = 1);
	FEED_TEXT(f, 0, 1, cgroup_name, path, "/a", .cgroup = 2);
	FEED_TEXT(f, 0, 1, cgroup_name, path, "/ab", .cgroup = 4);
	FEED(f, 0, 2, cgroup_attach, .tid = 100, .pid = 100, .cgroup = 3);
	FEED(f, 0, 2, cgroup_attach, .tid = 101, .pid = 100, .cgroup = 4);
}

START_TEST(threads_below_a_throttled_cgroup_are_throttled_on_that_cpu)
{
	struct feed *f = feed_waits("kmod");

	names(f);
	feed_switch(f, 0, 10, 0, R, 100);
	feed_switch(f, 1, 10, 0, R, 101);
	FEED(f, 1, 19, cgroup_throttle, .cgroup = 2, .cpu = 0, .throttled = 1);
	feed_switch(f, 0, 20, 100, R | JIS_TASK_PREEMPTED, 0);
	feed_switch(f, 1, 20, 101, R | JIS_TASK_PREEMPTED, 0);
	FEED(f, 1, 30, cgroup_throttle, .cgroup = 2, .cpu = 0, .throttled = 0);
	feed_switch(f, 0, 40, 0, R, 100);
	feed_switch(f, 1, 40, 0, R, 101);
	feed_end(f);
	ck_assert_str_eq(f->thread_log[0], "unknown 0-10, run@0 10-20, ready! 20-30t, "
					   "ready! 30-40, run@0 40-1000");
	ck_assert_str_eq(f->thread_log[1],
			 "unknown 0-10, run@1 10-20, ready! 20-40, run@1 40-1000");
	ck_assert_str_eq(waits, "100@0 idle=0 throttled 20-30, 100@0 idle=0 30-40, "
				"101@1 idle=0 20-40");
	feed_free(f);
}
END_TEST

START_TEST(a_quota_can_run_out_while_a_thread_waits_and_a_move_can_end_it)
{
	struct feed *f = feed_waits("kmod");

	names(f);
	feed_switch(f, 0, 10, 0, R, 100);
	feed_switch(f, 0, 20, 100, R | JIS_TASK_PREEMPTED, 55);
	FEED(f, 0, 25, cgroup_throttle, .cgroup = 3, .cpu = 0, .throttled = 1);
	FEED(f, 1, 30, sched_migrate_task, .tid = 100, .orig_cpu = 0, .dest_cpu = 1);
	feed_switch(f, 1, 50, 0, S, 100);
	feed_end(f);
	ck_assert_str_eq(f->thread_log[0], "unknown 0-10, run@0 10-20, ready! 20-25, "
					   "ready! 25-30t, ready! 30-50, run@1 50-1000");
	feed_free(f);
}
END_TEST

START_TEST(stolen_time_is_what_the_counter_grew)
{
	struct feed *f = feed_waits("kmod");

	FEED(f, 0, 5, cpu_steal, .stolen = 1000000); /* since boot: where it stands */
	feed_switch(f, 0, 10, 0, R, 100);
	FEED(f, 0, 20, cpu_steal, .stolen = 1000700);
	feed_switch(f, 0, 20, 100, S, 0);
	FEED(f, 0, 30, cpu_steal, .stolen = 1000800);
	feed_end(f);
	ck_assert_uint_eq(stolen, 800);
	ck_assert_uint_eq(stolen_from_100, 700);
	feed_free(f);
}
END_TEST

START_TEST(records_that_make_no_sense_do_no_harm)
{
	struct feed *f = feed_waits("kmod");

	FEED(f, 0, 5, sched_migrate_task, .tid = 100, .orig_cpu = 77, .dest_cpu = 4000000);
	FEED(f, 0, 5, sched_migrate_task, .tid = 9, .orig_cpu = 0, .dest_cpu = 1);
	wakeup(f, 6, 100, 4000000);
	feed_switch(f, 0, 10, 0, R, 100);
	feed_switch(f, 0, 20, 100, S, 0);
	wakeup(f, 25, 100, 4000000);
	FEED(f, 0, 30, sched_migrate_task, .tid = 100, .orig_cpu = 0, .dest_cpu = 4000000);
	FEED(f, 0, 30, cgroup_throttle, .cgroup = 9, .cpu = 4000000, .throttled = 1);
	FEED(f, 0, 30, cgroup_throttle, .cgroup = 9, .cpu = 1, .throttled = 7);
	FEED(f, 0, 30, cgroup_attach, .tid = 9, .pid = 9, .cgroup = 9);
	FEED(f, 0, 31, cpu_steal, .stolen = 100);
	FEED(f, 0, 32, cpu_steal, .stolen = 50);
	feed_switch(f, 0, 40, 0, R, 100);
	feed_end(f);
	ck_assert_uint_eq(stolen, 0);
	feed_free(f);
}
END_TEST

/* 1 is given the name of a cgroup below 2, which was below 1 itself. */
START_TEST(cgroups_that_are_named_anew_are_never_above_themselves)
{
	struct feed *f = feed_waits("kmod");

	FEED_TEXT(f, 0, 1, cgroup_name, path, "/a", .cgroup = 1);
	FEED_TEXT(f, 0, 1, cgroup_name, path, "/a/b", .cgroup = 2);
	FEED_TEXT(f, 0, 1, cgroup_name, path, "/a/b/c", .cgroup = 1);
	FEED(f, 0, 2, cgroup_attach, .tid = 100, .pid = 100, .cgroup = 1);
	FEED(f, 0, 3, cgroup_throttle, .cgroup = 9, .cpu = 0, .throttled = 1);
	feed_switch(f, 0, 10, 0, R, 100);
	feed_switch(f, 0, 20, 100, R | JIS_TASK_PREEMPTED, 55);
	FEED(f, 0, 30, cgroup_throttle, .cgroup = 2, .cpu = 0, .throttled = 1);
	feed_end(f);
	ck_assert_str_eq(f->thread_log[0],
			 "unknown 0-10, run@0 10-20, ready! 20-30, ready! 30-1000t");
	feed_free(f);
}
END_TEST

/* The tables have the second life of a tid begin while the records still tell of the first. */
START_TEST(tables_and_records_that_contradict_give_no_overlap)
{
	struct feed *f = feed_new(true);

	feed_process(f, 100, "java");
	feed_thread(f, 100, 100, ALIVE, ALIVE, "main");
	feed_thread(f, 107, 100, 5, 90, "one");
	feed_thread(f, 107, 100, 90, ALIVE, "two");
	feed_start(f, NULL);
	FEED(f, 0, 6, sched_wakeup_new, .tid = 107, .target_cpu = 0);
	feed_switch(f, 0, 10, 0, R, 107);
	feed_switch(f, 0, 120, 107, R | JIS_TASK_PREEMPTED, 0);
	FEED(f, 1, 130, sched_wakeup_new, .tid = 107, .target_cpu = 1);
	feed_end(f);
	ck_assert_str_eq(f->thread_log[1], "none 0-6, ready 6-10, run@0 10-120, exited 120-1000");
	feed_free(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model_waits");
	TCase *t = tcase_create("model_waits");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, a_preempted_thread_waits_behind_each_that_has_its_cpu);
	tcase_add_test(t, the_first_switch_after_a_wakeup_says_who_had_the_cpu_since);
	tcase_add_test(t, a_moved_thread_waits_where_it_is);
	tcase_add_test(t, a_backend_that_records_no_others_tells_no_waits);
	tcase_add_test(t, a_loss_ends_what_is_known_of_a_wait);
	tcase_add_test(t, threads_below_a_throttled_cgroup_are_throttled_on_that_cpu);
	tcase_add_test(t, a_quota_can_run_out_while_a_thread_waits_and_a_move_can_end_it);
	tcase_add_test(t, stolen_time_is_what_the_counter_grew);
	tcase_add_test(t, records_that_make_no_sense_do_no_harm);
	tcase_add_test(t, cgroups_that_are_named_anew_are_never_above_themselves);
	tcase_add_test(t, tables_and_records_that_contradict_give_no_overlap);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
