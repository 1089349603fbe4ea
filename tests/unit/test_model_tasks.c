/* SPDX-License-Identifier: MIT */
/* Tasks of executors: which submission a begin is, who gave it to whom, workers without a task. */
#include <malloc.h>

#include "analysis/report.h"
#include "test_model_why.h"

static char told[FEED_LOG];

static int log_task(void *ctx, const struct model_task *t)
{
	static const char *const phases[] = {"submit", "reject", "begin", "end"};
	struct feed *f = ctx;

	feed_log(told, "%s%s %s@%x", *told ? ", " : "", phases[t->phase],
		 model_name(f->m, t->class_name), t->hash);
	if (t->pool != MODEL_NO_POOL)
		feed_log(told, " in %u %s@%x", t->pool, model_name(f->m, t->pool_class),
			 t->pool_hash);
	feed_log(told, " at %" PRIu64, t->time);
	if (t->submit != TIME_NONE)
		feed_log(told, " from T%u#%" PRIu64 " %" PRIu64 " behind %u%s",
			 t->submitter == MODEL_NO_THREAD ? 0 : f->threads[t->submitter].tid,
			 t->submitter_java_tid, t->submit, t->queued, t->counted ? "c" : "");
	if (t->worker != MODEL_NO_THREAD)
		feed_log(told, " on T%u#%" PRIu64 " %" PRIu64, f->threads[t->worker].tid,
			 t->worker_java_tid, t->begin);
	if (t->outer)
		feed_log(told, " in task %s", model_name(f->m, t->outer));
	return 0;
}

enum { POOL = 4, TASK, FORK_POOL };

static struct feed *begin(const struct model_sink *more)
{
	static struct model_sink sink;
	struct feed *f = why_new();

	told[0] = 0;
	sink = (struct model_sink){.task = log_task, .ctx = f};
	f->sinks[f->nr_sinks++] = &sink;
	if (more)
		f->sinks[f->nr_sinks++] = more;
	f->man.end = 10000;
	why_start(f);
	FEED_TEXT(f, DICT, 0, string_def, text, "Pool", .id = POOL);
	FEED_TEXT(f, DICT, 0, string_def, text, "Task", .id = TASK);
	FEED_TEXT(f, DICT, 0, string_def, text, "java.util.concurrent.ForkJoinPool",
		  .id = FORK_POOL);
	return f;
}

static void submits(struct feed *f, uint64_t t, uint32_t hash, uint32_t pool, int32_t queued)
{
	writes(f, t, 100);
	FEED(f, SLOT, t, task_submit, .java_tid = 1, .class_name = TASK, .hash = hash,
	     .pool_class = pool ? POOL : 0, .pool_hash = pool, .queued = queued);
}

static void rejects(struct feed *f, uint64_t t, uint32_t hash, uint32_t pool)
{
	writes(f, t, 100);
	FEED(f, SLOT, t, task_reject, .java_tid = 1, .class_name = TASK, .hash = hash,
	     .pool_class = POOL, .pool_hash = pool);
}

static void runs(struct feed *f, uint64_t t, uint32_t hash, uint32_t pool)
{
	writes(f, t, 101);
	FEED(f, SLOT, t, task_begin, .java_tid = 2, .class_name = TASK, .hash = hash,
	     .pool_class = pool ? POOL : 0, .pool_hash = pool, .queued = 0);
}

static void ends(struct feed *f, uint64_t t, uint32_t hash)
{
	writes(f, t, 101);
	FEED(f, SLOT, t, task_end, .java_tid = 2, .class_name = TASK, .hash = hash);
}

static void finish(struct feed *f, const char *expected)
{
	feed_end(f);
	ck_assert_str_eq(told, expected);
}

/* Timeouts that are cancelled never begin: neither memory nor a false match may come of them. */
START_TEST(submissions_that_never_begin_are_forgotten)
{
	static const struct model_sink none;
	struct feed *f = begin(&none);
	const uint32_t n = (1u << 18) + 2000;
	size_t before = 0;

	for (uint32_t i = 0; i < n; i++) {
		submits(f, 100, i, 1, 0);
		memset(told, 0, 8);
		if (i == (1u << 18) + 1)
			before = mallinfo2().uordblks;
	}
	ck_assert_uint_eq(before, mallinfo2().uordblks);
	told[0] = 0;
	runs(f, 200, 0, 1);
	runs(f, 300, n - (1u << 18), 1);
	feed_end(f);
	ck_assert_str_eq(told, "begin Task@0 in 0 Pool@1 at 200 on T101#2 200, "
			       "begin Task@7d0 in 0 Pool@1 at 300 from T100#1 100 behind 0 on "
			       "T101#2 300");
	ck_assert_uint_eq(f->counts.forgotten_tasks, n - (1u << 18));
	feed_free(f);
}
END_TEST

START_TEST(a_task_is_told_at_each_step)
{
	struct feed *f = begin(NULL);

	submits(f, 100, 0xa, 1, 3);
	runs(f, 200, 0xa, 1);
	ends(f, 300, 0xa);
	finish(f, "submit Task@a in 0 Pool@1 at 100 from T100#1 100 behind 3, "
		  "begin Task@a in 0 Pool@1 at 200 from T100#1 100 behind 3 on T101#2 200, "
		  "end Task@a in 0 Pool@1 at 300 from T100#1 100 behind 3 on T101#2 200");
	ck_assert_uint_eq(f->m->counts.errors[MODEL_ERROR_TASK_END], 0);
	feed_free(f);
}
END_TEST

/* The same object again and again, in two pools: the oldest of its pool. Helpers have none. */
START_TEST(the_oldest_submission_begins)
{
	struct feed *f = begin(NULL);

	submits(f, 100, 0xa, 1, -1);
	submits(f, 110, 0xa, 2, -1);
	submits(f, 120, 0xa, 1, -1);
	told[0] = 0;
	runs(f, 200, 0xa, 2);
	ends(f, 201, 0xa);
	runs(f, 202, 0xa, 0);
	ends(f, 203, 0xa);
	runs(f, 204, 0xa, 1);
	ends(f, 205, 0xa);
	runs(f, 206, 0xa, 1);
	finish(f, "begin Task@a in 1 Pool@2 at 200 from T100#1 110 behind 0c on T101#2 200, "
		  "end Task@a in 1 Pool@2 at 201 from T100#1 110 behind 0c on T101#2 200, "
		  "begin Task@a in 0 Pool@1 at 202 from T100#1 100 behind 0c on T101#2 202, "
		  "end Task@a in 0 Pool@1 at 203 from T100#1 100 behind 0c on T101#2 202, "
		  "begin Task@a in 0 Pool@1 at 204 from T100#1 120 behind 1c on T101#2 204, "
		  "end Task@a in 0 Pool@1 at 205 from T100#1 120 behind 1c on T101#2 204, "
		  "begin Task@a in 0 Pool@1 at 206 on T101#2 206");
	feed_free(f);
}
END_TEST

/* The newest is what was refused; it may be taken in after all. */
START_TEST(rejected_ones_do_not_begin)
{
	struct feed *f = begin(NULL);

	submits(f, 100, 0xa, 1, 0);
	submits(f, 110, 0xa, 1, 1);
	rejects(f, 111, 0xa, 1);
	rejects(f, 112, 0xb, 1);
	runs(f, 200, 0xa, 1);
	ends(f, 201, 0xa);
	runs(f, 300, 0xa, 1);
	finish(f, "submit Task@a in 0 Pool@1 at 100 from T100#1 100 behind 0, "
		  "submit Task@a in 0 Pool@1 at 110 from T100#1 110 behind 1, "
		  "reject Task@a in 0 Pool@1 at 111 from T100#1 110 behind 1, "
		  "begin Task@a in 0 Pool@1 at 200 from T100#1 100 behind 0 on T101#2 200, "
		  "end Task@a in 0 Pool@1 at 201 from T100#1 100 behind 0 on T101#2 200, "
		  "begin Task@a in 0 Pool@1 at 300 from T100#1 110 behind 1 on T101#2 300");
	feed_free(f);
}
END_TEST

START_TEST(tasks_nest_and_a_loss_forgets_them)
{
	struct feed *f = begin(NULL);

	runs(f, 100, 0xa, 1);
	runs(f, 110, 0xb, 0);
	ends(f, 120, 0xb);
	submits(f, 130, 0xc, 1, 0);
	told[0] = 0;
	feed_packet(f, SLOT, 135, 3, 0, 7, 101);
	FEED(f, SLOT, 140, task_end, .java_tid = 2, .class_name = TASK, .hash = 0xa);
	FEED(f, SLOT, 150, task_begin, .java_tid = 2, .class_name = TASK, .hash = 0xc,
	     .pool_class = POOL, .pool_hash = 1);
	finish(f, "begin Task@c in 0 Pool@1 at 150 on T101#2 150");
	ck_assert_uint_eq(f->m->counts.errors[MODEL_ERROR_TASK_END], 0);
	feed_free(f);
}
END_TEST

/* From the end of one task to the begin of the next it waits for its pool, whatever it parks for.
 */
START_TEST(a_worker_without_a_task_is_idle)
{
	struct feed *f = begin(NULL);

	runs(f, 100, 0xa, 1);
	FEED(f, SLOT, 100, pool_worker, .java_tid = 2, .pool_class = POOL, .pool_hash = 1);
	FEED(f, SLOT, 110, park_begin, .java_tid = 2, .class_name = NAME_SYNC, .hash = 5);
	leaves(f, 1, 120, 101, S, "futex", 10, 4);
	feed_wake(f, 0, 150, 100, 101, 150);
	comes(f, 1, 150, 101);
	FEED(f, SLOT, 160, park_end, .java_tid = 2);
	ends(f, 200, 0xa);
	FEED(f, SLOT, 210, park_begin, .java_tid = 2, .class_name = NAME_SYNC, .hash = 5);
	leaves(f, 1, 220, 101, S, "futex", 10, 4);
	feed_wake(f, 0, 270, 100, 101, 270);
	comes(f, 1, 270, 101);
	FEED(f, SLOT, 280, park_end, .java_tid = 2);
	runs(f, 300, 0xb, 1);
	ends(f, 400, 0xb);
	java_ends(f, 500, 2, 101);
	feed_end(f);
	ck_assert_str_eq(java_waits, "T101 park Sync@5 110-160 (30) in work, "
				     "T101 park Sync@5 210-280 inside, "
				     "T101 idle in pool Pool@1 200-300 (50), "
				     "T101 idle in pool Pool@1 400-500");
	ck_assert_ptr_nonnull(strstr(reasons[1], "park Sync@5 120-150"));
	ck_assert_ptr_nonnull(strstr(reasons[1], "idle in pool Pool@1 220-270"));
	for (int i = 0; i < MODEL_NR_ERRORS; i++)
		ck_assert_uint_eq(f->m->counts.errors[i], 0);
	feed_free(f);
}
END_TEST

/* A worker of a ForkJoinPool parks with the pool as its blocker. */
START_TEST(a_pool_as_blocker_is_idle)
{
	struct feed *f = begin(NULL);

	writes(f, 100, 101);
	FEED(f, SLOT, 110, park_begin, .java_tid = 2, .class_name = FORK_POOL, .hash = 5);
	leaves(f, 1, 120, 101, S, "futex", 10, 4);
	feed_wake(f, 0, 150, 100, 101, 150);
	comes(f, 1, 150, 101);
	FEED(f, SLOT, 160, park_end, .java_tid = 2);
	submits(f, 200, 0xa, 1, -1);
	writes(f, 210, 101);
	FEED(f, SLOT, 210, park_begin, .java_tid = 2, .class_name = POOL, .hash = 1);
	FEED(f, SLOT, 220, park_end, .java_tid = 2);
	FEED(f, SLOT, 230, park_begin, .java_tid = 2, .class_name = POOL, .hash = 2);
	FEED(f, SLOT, 240, park_end, .java_tid = 2);
	feed_end(f);
	ck_assert_str_eq(java_waits,
			 "T101 idle in pool java.util.concurrent.ForkJoinPool@5 110-160 (30), "
			 "T101 idle in pool Pool@1 210-220, T101 park Pool@2 230-240");
	feed_free(f);
}
END_TEST

START_TEST(the_report_has_each_pool)
{
	struct report_run *r = report_new();
	const struct report *rep = report_get(r);
	const struct report_pool *p;
	struct feed *f = begin(report_sink(r));

	for (uint64_t i = 0; i < 100; i++)
		submits(f, 1000, (uint32_t)i, 1, (int32_t)i);
	rejects(f, 1001, 99, 1);
	for (uint64_t i = 0; i < 99; i++) {
		runs(f, 1010 + 10 * i, (uint32_t)i, 1);
		ends(f, 1015 + 10 * i, (uint32_t)i);
	}
	runs(f, 3000, 7, 2);
	writes(f, 3000, 101);
	FEED(f, SLOT, 3005, park_begin, .java_tid = 2, .class_name = NAME_SYNC, .hash = 5);
	leaves(f, 1, 3010, 101, S, "futex", 10, 4);
	feed_wake(f, 0, 3050, 100, 101, 3050);
	comes(f, 1, 3050, 101);
	FEED(f, SLOT, 3060, park_end, .java_tid = 2);
	leaves(f, 1, 3100, 101, S, "futex", 4, 2);
	feed_wake(f, 0, 3110, 100, 101, 3110);
	comes(f, 1, 3110, 101);
	ends(f, 3200, 7);
	feed_end(f);
	ck_assert_uint_eq(rep->nr_pools, 2);
	p = &rep->pools[0];
	ck_assert_str_eq(model_name(f->m, p->class_name), "Pool");
	ck_assert_uint_eq(p->hash, 1);
	ck_assert_uint_eq(p->submitted, 100);
	ck_assert_uint_eq(p->rejected, 1);
	ck_assert_uint_eq(p->begun, 99);
	ck_assert_uint_eq(p->linked, 99);
	ck_assert_uint_eq(p->queue_longest, 99);
	ck_assert_uint_eq(p->queue_sum, 99 * 100 / 2);
	ck_assert_uint_eq(p->wait.count, 99);
	ck_assert_uint_eq(p->wait.time, 10 * 99 * 100 / 2);
	ck_assert_uint_eq(p->wait.longest, 990);
	ck_assert_uint_ge(p->wait.half, 495);
	ck_assert_uint_le(p->wait.half, 505);
	ck_assert_uint_ge(p->wait.most, 940);
	ck_assert_uint_le(p->wait.most, 960);
	ck_assert_uint_eq(p->run.time, 5 * 99);
	ck_assert_uint_eq(p->run.half, 5);
	p = &rep->pools[1];
	ck_assert_uint_eq(p->begun, 1);
	ck_assert_uint_eq(p->linked, 0);
	ck_assert_uint_eq(p->run.time, 200);
	ck_assert_uint_eq(rep->nr_handovers, 1);
	ck_assert_uint_eq(rep->handovers[0].from, 0);
	ck_assert_uint_eq(rep->handovers[0].to, 1);
	ck_assert_uint_eq(rep->handovers[0].count, 99);
	ck_assert_uint_eq(rep->inside_tasks->blocked, 50);
	ck_assert_uint_eq(rep->inside_tasks->explained, 40);
	ck_assert_uint_eq(rep->inside_tasks->known[MODEL_WAIT_PARK], 40);
	ck_assert_uint_eq(rep->inside_tasks->rest[MODEL_WAIT_FUTEX], 10);
	ck_assert_uint_eq(rep->inside_tasks->rest[MODEL_REASON_NONE], 0);
	ck_assert_uint_eq(rep->inside_tasks->ready, 0);
	feed_free(f);
	report_free(r);
}
END_TEST

START_TEST(what_nothing_is_known_of_is_not_explained)
{
	struct report_run *r = report_new();
	const struct report *rep = report_get(r);
	struct feed *f = begin(report_sink(r));

	runs(f, 3000, 7, 1);
	leaves(f, 1, 3010, 101, S, "futex", 4, 2);
	feed_wake(f, 0, 3030, 100, 101, 3030);
	comes(f, 1, 3037, 101);
	FEED(f, 1, 3150, lost_records, .type = 1, .count = 2, .first = 3100, .last = 3130);
	comes(f, 1, 3160, 101);
	writes(f, 3160, 101);
	ends(f, 3200, 7);
	feed_end(f);
	ck_assert_uint_eq(rep->inside_tasks->rest[MODEL_WAIT_FUTEX], 20);
	ck_assert_uint_eq(rep->inside_tasks->ready, 7);
	ck_assert_uint_eq(rep->inside_tasks->rest[MODEL_REASON_NONE], 60);
	ck_assert_uint_eq(rep->inside_tasks->blocked, 80);
	ck_assert_uint_eq(rep->inside_tasks->explained, 0);
	feed_free(f);
	report_free(r);
}
END_TEST

/* Nothing is known of the thread when its task ends: what comes after that is not inside of it. */
START_TEST(unknown_time_is_inside_of_a_task_to_its_end)
{
	struct report_run *r = report_new();
	const struct report *rep = report_get(r);
	struct feed *f = begin(report_sink(r));

	runs(f, 3000, 7, 1);
	FEED(f, 1, 3150, lost_records, .type = 1, .count = 2, .first = 3100, .last = 3130);
	writes(f, 3160, 101);
	ends(f, 3200, 7);
	writes(f, 3300, 101);
	runs(f, 3300, 8, 1);
	comes(f, 1, 3350, 101);
	ends(f, 3400, 8);
	feed_end(f);
	ck_assert_uint_eq(rep->inside_tasks->rest[MODEL_REASON_NONE], 150);
	ck_assert_uint_eq(rep->inside_tasks->blocked, 150);
	feed_free(f);
	report_free(r);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model_tasks");
	TCase *t = tcase_create("model_tasks");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_test(t, submissions_that_never_begin_are_forgotten);
	tcase_add_test(t, a_task_is_told_at_each_step);
	tcase_add_test(t, the_oldest_submission_begins);
	tcase_add_test(t, rejected_ones_do_not_begin);
	tcase_add_test(t, tasks_nest_and_a_loss_forgets_them);
	tcase_add_test(t, a_worker_without_a_task_is_idle);
	tcase_add_test(t, a_pool_as_blocker_is_idle);
	tcase_add_test(t, the_report_has_each_pool);
	tcase_add_test(t, what_nothing_is_known_of_is_not_explained);
	tcase_add_test(t, unknown_time_is_inside_of_a_task_to_its_end);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
