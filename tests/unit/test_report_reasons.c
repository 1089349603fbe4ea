/* SPDX-License-Identifier: MIT */
/* Sums by reason, lock, peer and virtual thread, and collapsed stacks: of a story that is known. */
#include "analysis/collapsed.h"
#include "analysis/report.h"
#include "test_model_why.h"

/* Thread 101 waits for a Lock of 100 twice, in a call for a file, and parks with a stack; virtual
 * thread 50 parks unmounted and waits for a Lock while it is mounted. */
static void story(struct feed *f)
{
	FEED_TEXT(f, DICT, 0, method_def, class_name, "app.Worker", .id = 1, .name = NAME_OTHER);
	FEED_TEXT(f, DICT, 0, method_def, class_name, "a;b\n", .id = 2, .name = NAME_SYNC);
	FEED(f, DICT, 0, stack_def, .id = 1, .method = 1, .line = 10);
	FEED(f, DICT, 0, stack_def, .id = 2, .caller = 1, .method = 2, .line = 5);
	for (uint64_t t = 100; t <= 200; t += 100) {
		writes(f, t, 101);
		FEED(f, SLOT, t, monitor_contended_enter, .java_tid = 2, .class_name = NAME_LOCK,
		     .hash = 0xab, .owner_tid = 100, .owner_java_tid = 1);
		leaves(f, 1, t + 2, 101, S, "futex", 10, 3);
		feed_wake(f, 0, t + t / 5, 100, 101, t + t / 5);
		comes(f, 1, t + 50, 101);
		FEED(f, SLOT, t + 55, monitor_contended_entered, .java_tid = 2,
		     .class_name = NAME_LOCK, .hash = 0xab);
	}
	FEED_TEXT(f, 1, 290, fd_file, path, "/data", .pid = 100, .fd = 5, .type = JIS_FD_FILE);
	FEED(f, 1, 300, syscall_io, .tid = 101, .nr = nr("read"), .fd = 5);
	leaves(f, 1, 310, 101, D, "read", 4, 2);
	feed_wake(f, 0, 330, 0, 101, 330);
	comes(f, 1, 330, 101);
	FEED(f, 1, 340, syscall_exit, .tid = 101, .nr = nr("read"));
	FEED(f, SLOT, 400, park_begin, .java_tid = 2, .class_name = NAME_SYNC, .hash = 1);
	leaves(f, 1, 410, 101, S, "futex", 10, 4);
	feed_wake(f, 0, 450, 100, 101, 450);
	comes(f, 1, 450, 101);
	FEED(f, SLOT, 455, wait_stack, .java_tid = 2, .stack = 2);
	FEED(f, SLOT, 460, park_end, .java_tid = 2);
	feed_switch(f, 2, 500, 0, R, 104);
	java_starts(f, 500, 50, 0, JIS_JTHREAD_VIRTUAL);
	writes(f, 500, 104);
	FEED(f, SLOT, 500, vthread_mount, .java_tid = 50);
	FEED(f, SLOT, 510, park_begin, .java_tid = 50);
	FEED(f, SLOT, 520, vthread_unmount, .java_tid = 50);
	FEED(f, SLOT, 550, vthread_mount, .java_tid = 50);
	FEED(f, SLOT, 560, park_end, .java_tid = 50);
	FEED(f, SLOT, 570, monitor_contended_enter, .java_tid = 50, .class_name = NAME_LOCK,
	     .hash = 0xcd, .owner_java_tid = 2);
	leaves(f, 2, 580, 104, S, "futex", 10, 3);
	feed_wake(f, 1, 600, 101, 104, 600);
	comes(f, 2, 600, 104);
	FEED(f, SLOT, 610, monitor_contended_entered, .java_tid = 50, .class_name = NAME_LOCK,
	     .hash = 0xcd);
	java_ends(f, 700, 50, 0);
}

static struct feed *start(const struct model_sink *sink, struct model **model)
{
	struct feed *f = why_new();

	f->nr_sinks = 0;
	if (sink)
		f->sinks[f->nr_sinks++] = sink;
	ck_assert_int_eq(model_new(&f->man, NULL, f->cursors, FEED_STREAMS, &f->m), 0);
	ck_assert_int_eq(vthread_add(f->m, 0, 50, "virtual", 500), 0);
	*model = f->m;
	return f;
}

static void run(struct feed *f)
{
	static const char *const names[] = {"", "Lock", "Other", "Sync"};

	ck_assert_int_eq(model_begin(f->m, f->sinks, f->nr_sinks), 0);
	for (uint32_t i = 1; i < 4; i++)
		FEED_TEXT(f, DICT, 0, string_def, text, names[i], .id = i);
	java_starts(f, 0, 1, 100, 0);
	java_starts(f, 0, 2, 101, 0);
	java_starts(f, 0, 14, 104, 0);
	feed_switch(f, 0, 0, 0, R, 100);
	feed_switch(f, 1, 0, 0, R, 101);
	story(f);
	ck_assert_int_eq(model_finish(f->m), 0);
}

START_TEST(the_report_has_each_wait_once)
{
	struct report_run *r = report_new();
	const struct report *rep = report_get(r);
	const struct report_reason *of_101;
	struct report_place *places;
	uint64_t words = 0;
	struct model *m;
	struct feed *f = start(report_sink(r), &m);

	run(f);
	of_101 = &rep->thread_reasons[1 * MODEL_NR_REASONS];
	ck_assert_uint_eq(of_101[MODEL_WAIT_MONITOR].count, 2);
	ck_assert_uint_eq(of_101[MODEL_WAIT_MONITOR].time, 18 + 38);
	ck_assert_uint_eq(of_101[MODEL_WAIT_MONITOR].longest, 38);
	ck_assert_uint_eq(of_101[MODEL_WAIT_PARK].time, 40);
	ck_assert_uint_eq(of_101[MODEL_WAIT_FILE].time, 20);
	ck_assert_uint_eq(of_101[MODEL_RUN_SYSCALL].time, 10 + 10);
	/* What the VM's words said at a switch is told as sampled, and nothing else is. */
	ck_assert_uint_eq(of_101[MODEL_RUN_SYSCALL].sampled, 0);
	ck_assert_uint_eq(of_101[MODEL_WAIT_MONITOR].sampled, 0);
	ck_assert_uint_eq(of_101[MODEL_WAIT_PARK].sampled, 0);
	for (int k = MODEL_RUN_JAVA; k <= MODEL_RUN_VM; k++) {
		ck_assert_uint_eq(of_101[k].sampled, of_101[k].time);
		words += of_101[k].time;
	}
	ck_assert_uint_gt(words, 0);
	/* The carrier's wait is in the sums of threads, too. */
	ck_assert_uint_eq(rep->reasons[MODEL_WAIT_MONITOR].time, 18 + 38 + 20);

	ck_assert_uint_eq(rep->nr_locks, 3);
	ck_assert_int_eq(rep->locks[0].kind, MODEL_WAIT_MONITOR);
	ck_assert_str_eq(model_name(m, rep->locks[0].class_name), "Lock");
	ck_assert_uint_eq(rep->locks[0].count, 3);
	ck_assert_uint_eq(rep->locks[0].time, 55 + 55 + 40);
	ck_assert_uint_eq(rep->locks[0].longest, 55);
	ck_assert_uint_eq(rep->locks[0].blocked, 18 + 38 + 20);
	ck_assert_uint_eq(rep->locks[0].owners[0].thread, 0);
	ck_assert_uint_eq(rep->locks[0].owners[0].count, 2);
	ck_assert_uint_eq(rep->locks[0].owners[1].thread, 1); /* where Java thread 2 is */
	ck_assert_uint_eq(rep->locks[0].owners[1].time, 40);
	ck_assert_uint_eq(rep->locks[0].owners[2].count, 0);
	ck_assert_uint_eq(rep->locks[0].wakers[0].thread, 0);
	ck_assert_uint_eq(rep->locks[0].wakers[0].time, 18 + 38);
	ck_assert_uint_eq(rep->locks[0].wakers[1].thread, 1);

	ck_assert_uint_eq(rep->nr_stacks, 1);
	ck_assert_int_eq(report_places(m, rep, &places), 1);
	ck_assert_str_eq(places[0].place, "a;b\n.Sync");
	ck_assert_int_eq(places[0].kind, MODEL_WAIT_PARK);
	ck_assert_uint_eq(places[0].time, 60);
	report_places_free(places, 1);

	ck_assert_uint_eq(rep->nr_peers, 1);
	ck_assert_str_eq(model_name(m, rep->peers[0].name), "/data");
	ck_assert_uint_eq(rep->peers[0].waits.time, 20);

	ck_assert_uint_eq(rep->vthreads[0].running, 20 + 30 + 100);
	ck_assert_uint_eq(rep->vthreads[0].waited, 30 + 20);
	ck_assert_uint_eq(rep->vthreads[0].pinned, 20);
	ck_assert_uint_eq(rep->vthreads[0].mounts, 2);
	ck_assert_uint_eq(rep->virtuals->reasons[MODEL_WAIT_PARK].time, 30);
	report_free(r);
	feed_free(f);
}
END_TEST

static void doings(struct feed *f)
{
	static const char *const names[] = {"", "Lock", "Other", "Sync"};

	for (uint32_t i = 1; i < 4; i++)
		FEED_TEXT(f, DICT, 0, string_def, text, names[i], .id = i);
	FEED_TEXT(f, DICT, 0, method_def, class_name, "app.Worker", .id = 1, .name = NAME_OTHER);
	java_starts(f, 0, 2, 101, 0);
	writes(f, 0, 101);
	for (uint64_t t = 100; t <= 200; t += 100) {
		FEED(f, SLOT, t, safepoint_begin, .operation = NAME_SYNC);
		FEED(f, SLOT, t + t / 50, safepoint_reached, .operation = NAME_SYNC);
		FEED(f, SLOT, t + t / 10, safepoint_end, .operation = NAME_SYNC);
	}
	FEED(f, SLOT, 250, heap, .number = 7, .used = 50 << 20, .committed = 80 << 20);
	FEED(f, SLOT, 260, heap, .number = 7, .after = 1, .used = 20 << 20, .committed = 60 << 20);
	FEED(f, SLOT, 300, class_prepare, .java_tid = 2, .class_name = NAME_LOCK);
	FEED(f, SLOT, 301, class_prepare, .java_tid = 2, .class_name = NAME_SYNC);
	FEED(f, SLOT, 302, class_unload, .class_name = NAME_SYNC);
	for (uint64_t t = 310; t < 313; t++)
		FEED(f, SLOT, t, exception, .java_tid = 2, .class_name = NAME_LOCK, .method = 1,
		     .line = 12, .caught = t != 311);
	FEED(f, SLOT, 320, exception, .java_tid = 2, .class_name = NAME_LOCK, .method = 1,
	     .line = 13);
	FEED(f, SLOT, 330, allocation, .java_tid = 2, .class_name = NAME_LOCK, .size = 24);
	FEED(f, SLOT, 331, allocation, .java_tid = 2, .class_name = NAME_LOCK, .size = 16);
	FEED(f, SLOT, 340, compiled_method, .method = 1, .size = 700);
}

START_TEST(the_report_counts_what_jvms_do_besides)
{
	struct report_run *r = report_new();
	const struct report *rep = report_get(r);
	const struct report_doing *d;
	struct model *m;
	struct feed *f = start(report_sink(r), &m);

	ck_assert_int_eq(model_begin(f->m, f->sinks, f->nr_sinks), 0);
	doings(f);
	ck_assert_int_eq(model_finish(f->m), 0);
	ck_assert_uint_eq(rep->nr_doings, 5);
	d = rep->doings;
	ck_assert_int_eq(d[0].kind, REPORT_SAFEPOINT);
	ck_assert_str_eq(model_name(m, d[0].name), "Sync");
	ck_assert_uint_eq(d[0].count, 2);
	ck_assert_uint_eq(d[0].amount, 10 + 20);
	ck_assert_uint_eq(d[0].longest, 20);
	ck_assert_uint_eq(d[0].reaching, 2 + 4);
	ck_assert_uint_eq(d[0].longest_reaching, 4);
	ck_assert_int_eq(d[1].kind, REPORT_EXCEPTION);
	ck_assert_str_eq(model_name(m, d[1].place), "app.Worker.Other");
	ck_assert_int_eq(d[1].line, 12);
	ck_assert_uint_eq(d[1].count, 3);
	ck_assert_uint_eq(d[1].caught, 2);
	ck_assert_int_eq(d[2].line, 13);
	ck_assert_uint_eq(d[2].caught, 0);
	ck_assert_int_eq(d[3].kind, REPORT_ALLOCATION);
	ck_assert_uint_eq(d[3].count, 2);
	ck_assert_uint_eq(d[3].amount, 40);
	ck_assert_int_eq(d[4].kind, REPORT_COMPILATION);
	ck_assert_str_eq(model_name(m, d[4].name), "app.Worker.Other");
	ck_assert_uint_eq(d[4].amount, 700);
	ck_assert_uint_eq(rep->heaps[0].count, 1);
	ck_assert_uint_eq(rep->heaps[0].most_before, 50 << 20);
	ck_assert_uint_eq(rep->heaps[0].after, 20 << 20);
	ck_assert_uint_eq(rep->heaps[0].committed, 60 << 20);
	ck_assert_uint_eq(rep->heaps[0].freed, 30 << 20);
	ck_assert_uint_eq(rep->classes[0].loaded, 2);
	ck_assert_uint_eq(rep->classes[0].unloaded, 1);
	report_free(r);
	feed_free(f);
}
END_TEST

static void collapsed_is(bool together, const char *expected)
{
	const struct collapsed_options options = {.of = COLLAPSED_WAITS, .together = together};
	struct model *m;
	struct feed *f = start(NULL, &m);
	struct collapsed *c = collapsed_new(m, &options);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	f->sinks[f->nr_sinks++] = collapsed_sink(c);
	run(f);
	ck_assert_int_ge(collapsed_write(c, out), 1);
	fclose(out);
	ck_assert_str_eq(text, expected);
	free(text);
	collapsed_free(c);
	feed_free(f);
}

START_TEST(collapsed_lines_have_stack_and_reason)
{
	collapsed_is(false, "worker;[monitor: Lock] 56\n"
			    "worker;app.Worker.Other;a_b_.Sync;[park: Sync] 40\n"
			    "virtual;[park] 30\n"
			    "worker;[file: /data] 20\n"
			    "virtual;[monitor: Lock] 20\n");
	collapsed_is(true, "java;[monitor: Lock] 76\n"
			   "java;app.Worker.Other;a_b_.Sync;[park: Sync] 40\n"
			   "java;[park] 30\n"
			   "java;[file: /data] 20\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("report_reasons");
	TCase *t = tcase_create("report_reasons");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, the_report_has_each_wait_once);
	tcase_add_test(t, the_report_counts_what_jvms_do_besides);
	tcase_add_test(t, collapsed_lines_have_stack_and_reason);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
