/* SPDX-License-Identifier: MIT */
/* What threads tell of themselves: whose record it is, spans that nest, collections, names. */
#include "test_model_feed.h"

START_TEST(a_slot_speaks_for_the_thread_it_is_bound_to)
{
	struct feed *f = feed_usual(false);

	f->threads[1].ns_tid = 7;
	feed_start(f, NULL);
	feed_packet(f, FEED_SLOT(0), 10, 20, 0, 0, 100);
	FEED(f, FEED_SLOT(0), 10, marker, .type = 5, .value = -3);
	FEED(f, FEED_SLOT(0), 15, thread_bind, .tid = 7);
	FEED(f, FEED_SLOT(0), 16, java_marker, .java_tid = 9, .type = 6, .value = 4);
	feed_packet(f, FEED_SLOT(0), 30, 40, 0, 0, 101);
	FEED(f, FEED_SLOT(0), 30, marker, .type = 1, .value = 1);
	feed_end(f);
	ck_assert_str_eq(f->events, "10 marker T100 5 -3, 16 marker T101 6 4, 30 marker 1 1");
	feed_free(f);
}
END_TEST

START_TEST(a_tid_inside_of_a_process_means_who_has_it_at_the_time)
{
	struct feed *f = feed_new(false);

	feed_process(f, 100, "java");
	feed_thread(f, 101, 100, ALIVE, 50, "old");
	feed_thread(f, 101, 100, 60, ALIVE, "new");
	feed_start(f, NULL);
	feed_packet(f, FEED_SLOT(0), 10, 20, 0, 0, 101);
	FEED(f, FEED_SLOT(0), 10, gc_start, .number = 1);
	FEED(f, FEED_SLOT(0), 70, thread_bind, .tid = 101);
	FEED(f, FEED_SLOT(0), 71, gc_finish, .number = 1);
	ck_assert_uint_eq(f->m->streams[FEED_SLOT(0)].owner, 1);
	feed_free(f);
}
END_TEST

static void define(struct feed *f, uint32_t process, uint32_t id, const char *text)
{
	FEED_TEXT(f, FEED_DICT(process), 0, string_def, text, text, .id = id);
}

static void span(struct feed *f, uint64_t time, bool begins, uint64_t java_tid, uint32_t name)
{
	if (begins)
		FEED(f, FEED_SLOT(0), time, span_begin, .java_tid = java_tid, .name = name);
	else
		FEED(f, FEED_SLOT(0), time, span_end, .java_tid = java_tid, .name = name);
}

START_TEST(spans_nest)
{
	struct feed *f = feed_usual(false);

	feed_start(f, NULL);
	define(f, 0, 1, "request");
	define(f, 0, 200, "query");
	feed_packet(f, FEED_SLOT(0), 10, 20, 0, 0, 100);
	span(f, 10, true, 0, 1);
	span(f, 11, true, 0, 200);
	span(f, 12, false, 0, 200);
	span(f, 13, false, 0, 1);
	feed_end(f);
	ck_assert_str_eq(f->events, "10 begin T100 'request' 1, 11 begin T100 'query' 2, "
				    "12 end T100 'query' in 'request' 1, 13 end T100 'request' 0");
	ck_assert_uint_eq(f->counts.unbalanced_spans, 0);
	feed_free(f);
}
END_TEST

START_TEST(unbalanced_spans_are_counted)
{
	struct feed *f = feed_usual(false);

	feed_start(f, NULL);
	define(f, 0, 1, "a");
	define(f, 0, 2, "b");
	feed_packet(f, FEED_SLOT(0), 10, 20, 0, 0, 100);
	span(f, 10, false, 0, 1); /* never began: 1 */
	span(f, 11, true, 0, 1);
	span(f, 12, true, 0, 2); /* never ends: 2 */
	span(f, 13, false, 0, 1);
	span(f, 14, true, 3, 1); /* open at the end: 3 */
	feed_end(f);
	ck_assert_str_eq(f->events, "11 begin T100 'a' 1, 12 begin T100 'b' 2, 13 end T100 'a' 0, "
				    "14 begin T100 'a' 1");
	ck_assert_uint_eq(f->counts.unbalanced_spans, 3);
	feed_free(f);
}
END_TEST

START_TEST(spans_go_with_a_virtual_thread_to_another_carrier)
{
	struct feed *f = feed_usual(false);

	feed_start(f, NULL);
	define(f, 0, 1, "a");
	feed_packet(f, FEED_SLOT(0), 10, 20, 0, 0, 100);
	span(f, 10, true, 50, 1);
	FEED(f, FEED_SLOT(0), 11, thread_bind, .tid = 101);
	span(f, 12, false, 50, 1);
	span(f, 13, true, 50, 1);
	feed_end(f);
	ck_assert_str_eq(f->events, "10 begin T100 'a' 1, 12 end T101 'a' left T100 0, "
				    "13 begin T101 'a' 1");
	feed_free(f);
}
END_TEST

START_TEST(equal_names_of_all_processes_are_one)
{
	struct feed *f = feed_usual(false);

	feed_start(f, NULL);
	define(f, 0, 1, "a");
	define(f, 1, 1, "b");
	define(f, 1, 9, "a");
	feed_packet(f, FEED_SLOT(0), 10, 20, 0, 0, 100);
	feed_packet(f, FEED_SLOT(1), 10, 20, 0, 0, 200);
	span(f, 10, true, 0, 1);
	FEED(f, FEED_SLOT(1), 11, span_begin, .name = 9);
	feed_end(f);
	ck_assert_uint_eq(model_nr_names(f->m), 2);
	ck_assert_str_eq(f->events, "10 begin T100 'a' 1, 11 begin T200 'a' 1");
	ck_assert_str_eq(model_name(f->m, 0), "");
	ck_assert_str_eq(model_name(f->m, 99), "");
	feed_free(f);
}
END_TEST

START_TEST(thousands_of_java_threads_come_and_go)
{
	struct feed *f = feed_usual(false);

	f->nr_sinks = 0;
	feed_start(f, NULL);
	for (uint64_t i = 1; i <= 20000; i++) {
		FEED_TEXT(f, FEED_DICT(0), 10, java_thread_start, name, "v", .java_tid = i);
		if (i > 100)
			FEED(f, FEED_DICT(0), 10, java_thread_end, .java_tid = i - 100);
	}
	ck_assert_uint_eq(f->m->nests.nr, 100);
	ck_assert_uint_lt(f->m->nests.mask, 1024);
	for (uint64_t i = 1; i <= 100; i++)
		FEED(f, FEED_DICT(0), 10, java_thread_end, .java_tid = 19900 + i);
	ck_assert_uint_eq(f->m->nests.nr, 0);
	feed_free(f);
}
END_TEST

START_TEST(names_have_a_history)
{
	struct feed *f = feed_usual(false);

	feed_start(f, NULL);
	FEED_TEXT(f, FEED_DICT(0), 10, java_thread_start, name, "exec-1", .java_tid = 5,
		  .tid = 101);
	FEED_TEXT(f, FEED_DICT(0), 20, java_thread_name, name, "busy", .java_tid = 5,
		  .by_tid = 100);
	FEED_TEXT(f, 0, 30, task_rename, comm, "x", .tid = 100);
	FEED(f, FEED_SLOT(0), 40, vm_phase, .phase = JIS_VM_DEATH);
	feed_end(f);
	ck_assert_str_eq(f->events, "10 java T101 'exec-1' 0, 20 java T101 'busy' 0, "
				    "30 rename T100 'x' 0, 40 phase 3");
	feed_free(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model_java");
	TCase *t = tcase_create("java");
	SRunner *runner = srunner_create(s);
	int failed;

	tcase_add_test(t, a_slot_speaks_for_the_thread_it_is_bound_to);
	tcase_add_test(t, a_tid_inside_of_a_process_means_who_has_it_at_the_time);
	tcase_add_test(t, spans_nest);
	tcase_add_test(t, unbalanced_spans_are_counted);
	tcase_add_test(t, spans_go_with_a_virtual_thread_to_another_carrier);
	tcase_add_test(t, equal_names_of_all_processes_are_one);
	tcase_add_test(t, thousands_of_java_threads_come_and_go);
	tcase_add_test(t, names_have_a_history);
	suite_add_tcase(s, t);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
