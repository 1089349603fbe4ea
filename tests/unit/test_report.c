/* SPDX-License-Identifier: MIT */
/* The report's sums: they must agree with what was fed and with each other. */
#include "analysis/report.h"
#include "test_model_feed.h"

static struct report_run *start(struct feed *f)
{
	struct report_run *r = report_new();

	ck_assert_ptr_nonnull(r);
	f->sinks[f->nr_sinks++] = report_sink(r);
	feed_start(f, NULL);
	return r;
}

START_TEST(times_switches_and_wakers_add_up)
{
	struct feed *f = feed_usual(false);
	struct report_run *r = start(f);
	const struct report *rep = report_get(r);
	const struct report_times *t;

	feed_dump(f, 10, 100, S, 0);
	feed_dump(f, 10, 101, S, 0);
	feed_wake(f, 1, 20, 7, 100, 25);
	feed_switch(f, 0, 40, 0, R, 100);
	feed_wake(f, 0, 50, 100, 101, 50);
	feed_switch(f, 1, 60, 0, R, 101);
	feed_switch(f, 0, 70, 100, R | JIS_TASK_PREEMPTED, 0);
	feed_switch(f, 0, 90, 0, R, 100);
	feed_switch(f, 0, 100, 100, D, 0);
	FEED(f, 1, 110, sched_waking, .tid = 100, .context = JIS_WAKER_SOFTIRQ, .waker_tid = 101);
	FEED(f, 1, 110, sched_wakeup, .tid = 100);
	feed_switch(f, 0, 120, 0, R, 100);
	feed_switch(f, 0, 130, 100, S, 0);
	FEED(f, 1, 140, sched_waking, .tid = 100, .context = JIS_WAKER_SOFTIRQ, .waker_tid = 101);
	FEED(f, 1, 140, sched_wakeup, .tid = 100);
	feed_end(f);
	t = &rep->threads[0].times;
	ck_assert_uint_eq(t->state[MODEL_UNKNOWN], 10);
	ck_assert_uint_eq(t->state[MODEL_RUNNING], 30 + 10 + 10);
	ck_assert_uint_eq(t->state[MODEL_READY], 15 + 20 + 10 + 860);
	ck_assert_uint_eq(t->preempted, 20);
	ck_assert_uint_eq(t->state[MODEL_BLOCKED_INTERRUPTIBLE], 15 + 10);
	ck_assert_uint_eq(t->state[MODEL_BLOCKED_UNINTERRUPTIBLE], 10);
	ck_assert_uint_eq(t->voluntary, 2);
	ck_assert_uint_eq(t->involuntary, 1);
	ck_assert_uint_eq(t->wakeups, 3);
	ck_assert_uint_eq(t->wake_time, 5);
	ck_assert_uint_eq(t->woke, 1);
	ck_assert_int_eq(rep->threads[0].waker.who, REPORT_WAKER_SOFTIRQ);
	ck_assert_uint_eq(rep->threads[0].waker.count, 2);
	ck_assert_int_eq(rep->threads[1].waker.who, REPORT_WAKER_THREAD);
	ck_assert_uint_eq(rep->threads[1].waker.index, 0);
	ck_assert_int_eq(rep->threads[2].waker.who, REPORT_WAKER_NONE);
	/* 101 runs from 60 to the end. */
	ck_assert_uint_eq(rep->total.state[MODEL_RUNNING], 50 + 940);
	ck_assert_uint_eq(rep->at_once[2], 10 + 10 + 10);
	ck_assert_uint_eq(rep->at_once[1], 20 + 910);
	ck_assert_uint_eq(rep->at_once[0], 40);
	ck_assert_uint_eq(rep->cpus[1].occupant[MODEL_CPU_TARGET], 940);
	ck_assert_uint_eq(rep->processes[0].times.state[MODEL_RUNNING], 990);
	ck_assert_uint_eq(rep->processes[0].nr_threads, 2);
	report_free(r);
	feed_free(f);
}
END_TEST

/* Sums that hold for any trace, over a made-up one. */
START_TEST(the_sums_agree_for_any_trace)
{
	struct feed *f = feed_usual(false);
	struct report_run *r;
	const struct report *rep;
	uint64_t sum = 0, weighed = 0;
	unsigned int seed = 42;

	f->man.end = 1000000;
	f->nr_sinks = 0; /* its log is too small */
	r = report_new();
	f->sinks[f->nr_sinks++] = report_sink(r);
	feed_start(f, NULL);
	for (uint64_t t = 0; t < 1000000; t += 1 + (uint64_t)rand_r(&seed) % 20) {
		static const uint32_t tids[] = {0, 7, 100, 101, 200};
		static const uint32_t states[] = {R, S, D, R | JIS_TASK_PREEMPTED};
		uint32_t cpu = (uint32_t)rand_r(&seed) % FEED_CPUS;
		uint32_t prev = tids[rand_r(&seed) % 5], next = tids[rand_r(&seed) % 5];

		if (rand_r(&seed) % 3)
			feed_switch(f, cpu, t, prev, states[rand_r(&seed) % 4], next);
		else
			feed_wake(f, cpu, t, prev, next, t);
		if (rand_r(&seed) % 1000 == 0)
			feed_packet(f, cpu, t + 5, t + 6, t, 0, 0);
	}
	ck_assert_int_eq(model_finish(f->m), 0);
	rep = report_get(r);
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t all = 0;

		for (int k = 0; k < MODEL_NR_STATES; k++)
			all += rep->threads[i].times.state[k];
		ck_assert_uint_eq(all, 1000000);
	}
	for (uint32_t i = 0; i < FEED_CPUS; i++) {
		uint64_t all = 0;

		for (int k = 0; k < 4; k++)
			all += rep->cpus[i].occupant[k];
		ck_assert_uint_eq(all, 1000000);
		weighed += rep->cpus[i].occupant[MODEL_CPU_TARGET];
	}
	/* No two threads ran on a CPU at once. */
	ck_assert_uint_eq(weighed, rep->total.state[MODEL_RUNNING]);
	for (uint32_t i = 0; i < rep->nr_at_once; i++)
		sum += rep->at_once[i];
	ck_assert_uint_eq(sum, 1000000);
	ck_assert_uint_gt(rep->counts.contradictions, 1000);
	report_free(r);
	feed_free(f);
}
END_TEST

START_TEST(collections_are_paired_per_process)
{
	struct feed *f = feed_usual(false);
	struct report_run *r = start(f);
	const struct report_process *p;

	feed_packet(f, FEED_SLOT(0), 0, 1000, 0, 0, 100);
	feed_packet(f, FEED_SLOT(1), 0, 1000, 0, 0, 200);
	FEED(f, FEED_SLOT(0), 5, gc_finish, .number = 0);
	FEED(f, FEED_SLOT(0), 10, gc_start, .number = 1);
	FEED(f, FEED_SLOT(1), 15, gc_start, .number = 1);
	FEED(f, FEED_SLOT(0), 30, gc_finish, .number = 1);
	FEED(f, FEED_SLOT(0), 40, gc_start, .number = 2);
	FEED(f, FEED_SLOT(0), 45, gc_finish, .number = 2);
	feed_end(f);
	p = report_get(r)->processes;
	ck_assert_uint_eq(p[0].gc_count, 2);
	ck_assert_uint_eq(p[0].gc_time, 25);
	ck_assert_uint_eq(p[0].gc_longest, 20);
	ck_assert_uint_eq(p[0].gc_unpaired, 1);
	ck_assert_uint_eq(p[1].gc_count, 1);
	ck_assert_uint_eq(p[1].gc_time, 985);
	report_free(r);
	feed_free(f);
}
END_TEST

START_TEST(damage_of_the_kernel_is_not_that_of_processes)
{
	struct feed *f = feed_usual(false);
	struct report_run *r = start(f);
	const struct report *rep;

	loss_add(f->m, &f->cursors[0], 100, 300, 1, "kernel");
	loss_add(f->m, &f->cursors[FEED_RECORDER], 100, 150, 1, "recorder");
	loss_add(f->m, &f->cursors[FEED_SLOT(0)], 200, 207, 1, "slot");
	loss_add(f->m, &f->cursors[FEED_DICT(1)], 400, 420, 1, "dictionary");
	loss_add(f->m, &f->cursors[FEED_SLOT(1)], 400, 400, 1, "slot");
	feed_end(f);
	rep = report_get(r);
	ck_assert_uint_eq(rep->damage.intervals, 2);
	ck_assert_uint_eq(rep->damage.time, 250);
	ck_assert_uint_eq(rep->user_damage.intervals, 3);
	ck_assert_uint_eq(rep->user_damage.time, 27);
	report_free(r);
	feed_free(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("report");
	TCase *t = tcase_create("report");
	SRunner *runner = srunner_create(s);
	int failed;

	tcase_add_test(t, times_switches_and_wakers_add_up);
	tcase_add_test(t, the_sums_agree_for_any_trace);
	tcase_add_test(t, collections_are_paired_per_process);
	tcase_add_test(t, damage_of_the_kernel_is_not_that_of_processes);
	suite_add_tcase(s, t);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
