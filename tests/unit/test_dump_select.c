/* SPDX-License-Identifier: MIT */
/* Which records are a thread's, where the host and the process number it differently. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "cli/dump_select.h"

/*
 * Two containers, in each a process 1 with a thread 7. On the host the first one's threads are 5001
 * and 5007, the second's 6001 and 6007; and there is a process 7 of the host's own.
 */
static struct process_entry processes[] = {
	{.pid = 5001, .ns_pid = 1, .name = (char *)"shop"},
	{.pid = 6001, .ns_pid = 1, .name = (char *)"bank"},
	{.pid = 7, .ns_pid = 7, .name = (char *)"init"},
};
static struct thread_entry threads[] = {
	{.tid = 7, .pid = 7, .name = (char *)"init"}, /* what it is inside is not known */
	{.tid = 5001, .pid = 5001, .ns_tid = 1, .name = (char *)"main", .java_tid = 1},
	{.tid = 5007, .pid = 5001, .ns_tid = 7, .name = (char *)"worker", .java_tid = 30},
	{.tid = 6001, .pid = 6001, .ns_tid = 1, .name = (char *)"main", .java_tid = 1},
	{.tid = 6007, .pid = 6001, .ns_tid = 7, .name = (char *)"worker", .java_tid = 31},
};
static const struct manifest manifest = {.processes = processes,
					 .nr_processes = 3,
					 .threads = threads,
					 .nr_threads = 5};

enum { HOST, SHOP, BANK, INIT }; /* traces */

static bool has(const char *thread, const char *process, uint32_t class, uint32_t trace,
		uint32_t id, const void *payload, uint32_t owner)
{
	const struct stream_cursor c = {.stream_class = class,
					.trace = trace,
					.id = id,
					.payload = payload};
	struct dump_select *s = dump_select_new(&manifest, thread, process);
	bool answer;

	ck_assert_ptr_nonnull(s);
	answer = dump_select_has(s, &c, owner);
	dump_select_free(s);
	return answer;
}

static bool marker_of(const char *thread, const char *process, uint32_t trace, uint32_t owner)
{
	const struct jis_ev_java_marker marker = {.java_tid = 999};

	return has(thread, process, JIS_STREAM_USER, trace, JIS_EV_java_marker, &marker, owner);
}

START_TEST(a_processs_own_records_go_by_its_own_numbers)
{
	ck_assert(marker_of("5007", NULL, SHOP, 7));
	ck_assert(!marker_of("5007", NULL, SHOP, 1));
	ck_assert(!marker_of("5007", NULL, BANK, 7));
	ck_assert(!marker_of("5007", NULL, INIT, 7));
	ck_assert(!marker_of("5007", NULL, SHOP, 5007));
	/* "7" is the host's number of another thread. */
	ck_assert(!marker_of("7", NULL, SHOP, 7));
	ck_assert(marker_of("7", NULL, INIT, 7));
	ck_assert(marker_of("worker", "bank", BANK, 7));
	ck_assert(!marker_of("worker", "bank", SHOP, 7));
	ck_assert(marker_of(NULL, "6001", BANK, 1));
	ck_assert(marker_of(NULL, "6001", BANK, 7));
	ck_assert(!marker_of(NULL, "6001", SHOP, 7));
	ck_assert(!marker_of(NULL, "1", SHOP, 1));
	ck_assert(marker_of(NULL, NULL, SHOP, 12345));
}
END_TEST

START_TEST(the_kernels_records_go_by_the_hosts_numbers)
{
	struct jis_ev_sched_switch ev = {.prev_tid = 0, .next_tid = 5007};
	/* Its number inside, 7, is no thread of the host's that is meant. */
	struct jis_ev_sched_process_fork fork = {.parent_tid = 5001, .tid = 5007, .ns_tid = 7};

#define SWITCH(thread, process)                                                                    \
	has(thread, process, JIS_STREAM_KERNEL, HOST, JIS_EV_sched_switch, &ev, 0)
#define FORK(thread) has(thread, NULL, JIS_STREAM_KERNEL, HOST, JIS_EV_sched_process_fork, &fork, 0)
	ck_assert(SWITCH("5007", NULL));
	ck_assert(SWITCH(NULL, "shop"));
	ck_assert(!SWITCH("5001", NULL));
	ck_assert(!SWITCH(NULL, "bank"));
	ck_assert(FORK("5007"));
	ck_assert(FORK("5001"));
	ck_assert(!FORK("7"));
	ev.next_tid = 7;
	ck_assert(SWITCH("7", NULL));
	ck_assert(!SWITCH("5007", NULL));
	ck_assert(!SWITCH(NULL, "shop"));
}
END_TEST

START_TEST(who_is_named_by_a_number_of_its_own_process_counts)
{
	struct jis_ev_monitor_contended_enter enter = {.java_tid = 77, .owner_tid = 7};
	const struct jis_ev_unpark unpark = {.java_tid = 77, .target_java_tid = 30};
	struct jis_ev_java_thread_end end = {.java_tid = 31, .tid = 0};

#define ENTER(thread, trace)                                                                       \
	has(thread, NULL, JIS_STREAM_USER, trace, JIS_EV_monitor_contended_enter, &enter, 1234)
#define UNPARK(thread, trace)                                                                      \
	has(thread, NULL, JIS_STREAM_USER, trace, JIS_EV_unpark, &unpark, 1234)
#define END(thread, trace)                                                                         \
	has(thread, NULL, JIS_STREAM_DICT, trace, JIS_EV_java_thread_end, &end, 0)
	ck_assert(ENTER("5007", SHOP));
	ck_assert(!ENTER("5007", BANK));
	ck_assert(ENTER("6007", BANK));
	ck_assert(!ENTER("7", SHOP));
	/* The low half of a Java number is no kernel thread. */
	enter.owner_tid = 0;
	enter.owner_java_tid = 7;
	ck_assert(!ENTER("5007", SHOP));
	ck_assert(UNPARK("5007", SHOP));
	ck_assert(!UNPARK("5007", BANK));
	ck_assert(END("6007", BANK));
	ck_assert(!END("6001", BANK));
	end.tid = 1;
	ck_assert(END("6001", BANK));
	ck_assert(!END("5001", BANK));
}
END_TEST

/* Which need not name a thread, nor be of one that the manifest has. */
START_TEST(all_of_a_processs_own_streams_is_its)
{
	const struct jis_ev_string_def name = {.id = 3};
	const struct jis_ev_clock_sync sync = {.tsc = 5001};

#define NAME(thread, process, trace)                                                               \
	has(thread, process, JIS_STREAM_DICT, trace, JIS_EV_string_def, &name, 0)
	ck_assert(NAME(NULL, "shop", SHOP));
	ck_assert(NAME(NULL, "5001", SHOP));
	ck_assert(!NAME(NULL, "shop", BANK));
	ck_assert(!NAME(NULL, "shop", HOST));
	ck_assert(!NAME(NULL, "shop", INIT + 1));
	ck_assert(!NAME(NULL, "nobody", SHOP));
	ck_assert(NAME(NULL, NULL, SHOP));
	/* Of a thread there is what names it. */
	ck_assert(!NAME("worker", NULL, SHOP));
	ck_assert(!NAME("worker", "shop", SHOP));
	ck_assert(marker_of(NULL, "shop", SHOP, 12345));
	ck_assert(!marker_of(NULL, "shop", BANK, 12345));
	ck_assert(!marker_of("worker", "shop", SHOP, 12345));
	/* The recorder's and the kernel's streams are nobody's. */
	ck_assert(!has(NULL, "shop", JIS_STREAM_RECORDER, HOST, JIS_EV_clock_sync, &sync, 0));
}
END_TEST

/* Each of very many threads is found, and nothing else. */
START_TEST(many_threads_are_told_apart)
{
	const uint32_t nr = 100000;
	struct thread_entry *many = calloc(nr, sizeof(*many));
	struct process_entry one = {.pid = 9, .name = (char *)"many"};
	struct manifest m = {.processes = &one,
			     .nr_processes = 1,
			     .threads = many,
			     .nr_threads = nr};
	struct jis_ev_sched_wakeup ev = {0};
	const struct stream_cursor c = {.stream_class = JIS_STREAM_KERNEL,
					.id = JIS_EV_sched_wakeup,
					.payload = (const void *)&ev};
	struct dump_select *s;

	ck_assert_ptr_nonnull(many);
	for (uint32_t i = 0; i < nr; i++)
		many[i] = (struct thread_entry){.tid = 10 + i,
						.pid = 9,
						.name = i % 2 ? (char *)"odd" : (char *)"even"};
	s = dump_select_new(&m, "odd", NULL);
	ck_assert_ptr_nonnull(s);
	for (uint32_t tid = 0; tid < nr + 20; tid++) {
		ev.tid = tid;
		if (dump_select_has(s, &c, 0) != (tid >= 10 && tid < 10 + nr && tid % 2))
			ck_abort_msg("tid %u", tid);
	}
	dump_select_free(s);
	free(many);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("dump_select");
	TCase *t = tcase_create("select");
	SRunner *runner = srunner_create(s);
	int failed;

	tcase_add_test(t, a_processs_own_records_go_by_its_own_numbers);
	tcase_add_test(t, the_kernels_records_go_by_the_hosts_numbers);
	tcase_add_test(t, who_is_named_by_a_number_of_its_own_process_counts);
	tcase_add_test(t, all_of_a_processs_own_streams_is_its);
	tcase_add_test(t, many_threads_are_told_apart);
	suite_add_tcase(s, t);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
