/* SPDX-License-Identifier: MIT */
/* The critical path through remote calls: into the JVM that serves one, and on from there. */
#include "test_path_story.h"

enum { CLIENT, ONE, TWO };
enum { NAME_OUTER = 10, NAME_INNER };

/* Thread 100 of the JVM of the other stories calls 201 of a second one, that 301 of a third. */
static struct feed *remote_story_in(struct lanes_window window, bool virtual,
				    const struct model_options *options)
{
	struct feed *f = begin_in(window);

	if (options)
		f->nr_sinks = 0; /* the feed's own expects states from 0 on */
	feed_process(f, 200, "one");
	feed_process(f, 300, "two");
	feed_thread(f, 201, 200, ALIVE, ALIVE, "server");
	feed_thread(f, 301, 300, ALIVE, ALIVE, "server");
	start_story_in(f, virtual, options);
	FEED_TEXT(f, FEED_DICT(ONE), 0, string_def, text, "Outer", .id = NAME_OUTER);
	FEED_TEXT(f, FEED_DICT(TWO), 0, string_def, text, "Inner", .id = NAME_INNER);
	return f;
}

static struct feed *remote_story(void)
{
	return remote_story_in(all, false, NULL);
}

static uint32_t row_of(const struct feed *f, uint32_t tid)
{
	uint32_t i = 0;

	while (f->threads[i].tid != tid)
		i++;
	return i;
}

static uint64_t java_of(uint32_t tid)
{
	return tid == 100 ? 1 : tid;
}

#define RMI(f, t, jvm, on, java, event, ...)                                                       \
	do {                                                                                       \
		FEED(f, FEED_SLOT(jvm), t, thread_bind, .tid = (on));                              \
		FEED(f, FEED_SLOT(jvm), t, event, .java_tid = (java), ##__VA_ARGS__);              \
	} while (0)

/* A call on a connection of that number: it is the object's hash and the UID, too. */
static void sends(struct feed *f, uint64_t t, uint32_t jvm, uint32_t tid, uint32_t number)
{
	RMI(f, t, jvm, tid, java_of(tid), rmi_call, .connection = number, .call = 1,
	    .operation = -1, .object = 77, .space_time = 9);
	RMI(f, t, jvm, tid, java_of(tid), rmi_send, .connection = number, .call = 1,
	    .remote_call = number);
}

static void gets(struct feed *f, uint64_t t, uint32_t jvm, uint32_t tid, uint32_t number)
{
	RMI(f, t, jvm, tid, java_of(tid), rmi_reply, .connection = number, .call = 1);
	RMI(f, t, jvm, tid, java_of(tid), rmi_return, .remote_call = number, .uid_time = number);
}

static void serves(struct feed *f, uint64_t t, uint32_t jvm, uint32_t tid, uint32_t number,
		   uint32_t operation)
{
	RMI(f, t, jvm, tid, java_of(tid), rmi_serve, .connection = 100 + number, .call = 1);
	RMI(f, t, jvm, tid, java_of(tid), rmi_dispatch, .object = 77, .space_time = 9,
	    .operation = operation);
}

static void answers(struct feed *f, uint64_t t, uint32_t jvm, uint32_t tid, uint32_t number)
{
	RMI(f, t, jvm, tid, java_of(tid), rmi_answer, .connection = 100 + number, .call = 1,
	    .uid_time = number);
}

/* Something has come for @tid, at @t, on top of what CPU @cpu did; it runs on CPU @own. */
static void arrives(struct feed *f, uint64_t t, uint32_t cpu, uint32_t waker, uint32_t own,
		    uint32_t tid, uint64_t runs)
{
	FEED(f, cpu, t, sched_waking, .tid = tid, .waker_tid = waker, .context = JIS_WAKER_SOFTIRQ);
	FEED(f, cpu, t, sched_wakeup, .tid = tid);
	comes(f, own, runs, tid);
}

/* 301 serves what came at 36, from 40 to 86, and sleeps meanwhile. */
static void second_hop(struct feed *f)
{
	arrives(f, 36, 1, 0, 2, 301, 36);
	serves(f, 40, TWO, 301, 2, NAME_INNER);
	leaves(f, 2, 50, 301, S, "nanosleep", 4, 2);
	FEED(f, 2, 80, sched_waking, .tid = 301, .context = JIS_WAKER_TIMER);
	FEED(f, 2, 80, sched_wakeup, .tid = 301);
	comes(f, 2, 80, 301);
	answers(f, 86, TWO, 301, 2);
	arrives(f, 88, 2, 301, 1, 201, 90);
}

/* 100 calls at 12, 201 serves it from 24 to 101, and calls 301 at 32. */
static void two_hops(struct feed *f)
{
	comes(f, 0, 0, 100);
	comes(f, 1, 0, 201);
	leaves(f, 1, 5, 201, S, "read", 4, 2);
	comes(f, 2, 0, 301);
	leaves(f, 2, 5, 301, S, "read", 4, 2);
	sends(f, 12, CLIENT, 100, 1);
	leaves(f, 0, 16, 100, S, "read", 4, 2);
	arrives(f, 20, 3, 0, 1, 201, 22);
	serves(f, 24, ONE, 201, 1, NAME_OUTER);
	sends(f, 32, ONE, 201, 2);
	leaves(f, 1, 34, 201, S, "read", 4, 2);
	second_hop(f);
	gets(f, 92, ONE, 201, 2);
	answers(f, 101, ONE, 201, 1);
	/* By its wake-up alone it would be 201 that is followed all the time. */
	FEED(f, 1, 102, syscall_io, .tid = 201, .nr = nr("write"), .fd = -1);
	FEED(f, 1, 104, sched_waking, .tid = 100, .waker_tid = 201, .context = JIS_WAKER_SOFTIRQ);
	FEED(f, 0, 105, sched_wakeup, .tid = 100);
	FEED(f, 1, 106, syscall_exit, .tid = 201, .nr = nr("write"));
	comes(f, 0, 107, 100);
	gets(f, 110, CLIENT, 100, 1);
}

START_TEST(a_call_is_followed_into_two_further_jvms)
{
	struct feed *f = remote_story();

	two_hops(f);
	feed_end(f);
	path_is(f, 0, 0, 120,
		"T100 run 0-16, T100 sleep:system call 16-105 <remote T201 in Outer, "
		".T100 sleep:system call 16-24 request T201 in Outer, .T201 run 24-34, "
		".T201 sleep:system call 34-88 <remote T301 in Inner, "
		"..T201 sleep:system call 34-40 request T301 in Inner, ..T301 run 40-50, "
		"..T301 sleep:timer 50-80 timer, ..T301 run 80-86, "
		"..T201 sleep:system call 86-88 answer T301 in Inner, "
		".T201 ready 88-90, .T201 run 90-101, "
		".T100 sleep:system call 101-104 answer T201 in Outer, .T100 ready 104-105, "
		"T100 ready 105-107, T100 run 107-120");
	/* Not deeper than asked for. */
	path_is_of(f, (struct path_who){0, MODEL_NO_THREAD}, 0, 120, 0,
		   "T100 run 0-16, T100 sleep:system call 16-105 deep T201 in Outer, "
		   "T100 ready 105-107, T100 run 107-120");
	/* The part that is asked for may begin and end anywhere in the call. */
	path_is(f, 0, 20, 60,
		"T100 sleep:system call 20-60 <remote T201 in Outer, "
		".T100 sleep:system call 20-24 request T201 in Outer, .T201 run 24-34, "
		".T201 sleep:system call 34-60 <remote T301 in Inner, "
		"..T201 sleep:system call 34-40 request T301 in Inner, ..T301 run 40-50, "
		"..T301 sleep:timer 50-60 timer");
	path_is(f, 0, 102, 106,
		"T100 sleep:system call 102-105 <remote T201 in Outer, "
		".T100 sleep:system call 102-104 answer T201 in Outer, .T100 ready 104-105, "
		"T100 ready 105-106");
	story_ends(f);
}
END_TEST

START_TEST(a_call_that_reaches_out_of_the_window_is_followed)
{
	static const struct model_options options = {.from = 44, .to = 60};
	struct feed *f = remote_story_in((struct lanes_window){44, 60}, false, &options);

	FEED_TEXT(f, FEED_DICT(CLIENT), 1, rmi_connection, endpoint, "", .id = 1, .family = AF_INET,
		  .local_port = 4000, .local0 = 1, .peer_port = 1, .peer0 = 1);
	FEED_TEXT(f, FEED_DICT(ONE), 1, rmi_connection, endpoint, "", .id = 101, .server = 1,
		  .family = AF_INET, .local_port = 1, .local0 = 1, .peer_port = 4000, .peer0 = 1);
	comes(f, 0, 0, 100);
	comes(f, 1, 0, 201);
	sends(f, 12, CLIENT, 100, 1);
	leaves(f, 0, 16, 100, S, "read", 4, 2);
	serves(f, 24, ONE, 201, 1, NAME_OUTER);
	/* What comes then is not read any more: it is known by its connection. */
	ck_assert_int_eq(model_finish(f->m), 0);
	path_is(f, 0, 44, 60,
		"T100 sleep:system call 44-60 <remote T201 in Outer, .T201 run 44-60");
	story_ends(f);
}
END_TEST

START_TEST(a_call_that_nobody_serves_is_a_wait_as_before)
{
	struct feed *f = remote_story();

	comes(f, 0, 0, 100);
	sends(f, 12, CLIENT, 100, 1);
	leaves(f, 0, 16, 100, S, "read", 4, 2);
	arrives(f, 30, 3, 0, 0, 100, 31);
	gets(f, 32, CLIENT, 100, 1);
	leaves(f, 0, 40, 100, S, "read", 4, 2);
	arrives(f, 50, 3, 0, 0, 100, 50);
	feed_end(f);
	path_is(f, 0, 0, 60,
		"T100 run 0-16, "
		"T100 sleep:system call 16-30 softirq in  (other end not recorded), "
		"T100 ready 30-31, T100 run 31-40, T100 sleep:system call 40-50 softirq, "
		"T100 run 50-60");
	story_ends(f);
}
END_TEST

/* Into another host it is followed where it is known what time it was there. */
START_TEST(a_call_is_followed_to_another_host_whose_clock_is_known)
{
	struct host_entry hosts[] = {
		{.first_cpu = 0, .nr_cpus = 1, .end = 1000},
		{.first_cpu = 1, .nr_cpus = 3, .end = 1000, .clock = HOST_CLOCK_REALTIME},
	};
	struct host_error_entry error = {.host = 1, .error = 3};
	struct feed *f = begin_in(all);

	if (_i)
		hosts[1].clock = HOST_CLOCK_CALLS;
	f->man.hosts = hosts;
	f->man.nr_hosts = 2;
	f->man.host_errors = &error;
	f->man.nr_host_errors = 1;
	feed_process(f, 10000200, "one");
	feed_thread(f, 10000201, 10000200, ALIVE, ALIVE, "server");
	f->threads[f->man.nr_threads - 1].ns_tid = 201;
	start_story_in(f, false, NULL);
	FEED_TEXT(f, FEED_DICT(ONE), 0, string_def, text, "Outer", .id = NAME_OUTER);
	comes(f, 0, 0, 100);
	comes(f, 1, 0, 10000201);
	sends(f, 12, CLIENT, 100, 1);
	leaves(f, 0, 16, 100, S, "read", 4, 2);
	serves(f, 24, ONE, 201, 1, NAME_OUTER);
	answers(f, 28, ONE, 201, 1);
	arrives(f, 30, 0, 0, 0, 100, 31);
	gets(f, 32, CLIENT, 100, 1);
	feed_end(f);
	path_is(f, 0, 0, 60,
		_i ? "T100 run 0-16, T100 sleep:system call 16-30 <remote T10000201 in Outer, "
		     ".T100 sleep:system call 16-24 request T10000201 in Outer, "
		     ".T10000201 run 24-28, "
		     ".T100 sleep:system call 28-30 answer T10000201 in Outer, "
		     "T100 ready 30-31, T100 run 31-60"
		   : "T100 run 0-16, T100 sleep:system call 16-30 softirq in Outer (how its host's "
		     "clock differs is not known), T100 ready 30-31, T100 run 31-60");
	story_ends(f);
}
END_TEST

/* Of what was served nothing is known where the begin was not recorded; nor of what was lost. */
START_TEST(lost_records_leave_the_wait_with_a_reason)
{
	struct feed *f = remote_story();

	comes(f, 0, 0, 100);
	comes(f, 1, 0, 201);
	sends(f, 12, CLIENT, 100, 1);
	leaves(f, 0, 16, 100, S, "read", 4, 2);
	answers(f, 28, ONE, 201, 1);
	arrives(f, 30, 3, 0, 0, 100, 30);
	gets(f, 32, CLIENT, 100, 1);
	sends(f, 40, CLIENT, 100, 2);
	leaves(f, 0, 42, 100, S, "read", 4, 2);
	serves(f, 44, ONE, 201, 2, NAME_OUTER);
	answers(f, 48, ONE, 201, 2);
	arrives(f, 50, 3, 0, 0, 100, 50);
	FEED(f, SLOT, 60, lost_records, .type = 0, .count = 3, .first = 52, .last = 60);
	leaves(f, 0, 70, 100, S, "read", 4, 2);
	arrives(f, 80, 3, 0, 0, 100, 80);
	feed_end(f);
	path_is(f, 0, 0, 90,
		"T100 run 0-16, "
		"T100 sleep:system call 16-30 softirq in  (began before the recording), "
		"T100 run 30-42, T100 sleep:system call 42-50 softirq in  (records are missing), "
		"T100 run 50-70, T100 sleep:system call 70-80 softirq, T100 run 80-90");
	story_ends(f);
}
END_TEST

/* Who serves the next call is in none any more, whatever became of it. */
START_TEST(a_call_that_was_given_up_is_over)
{
	struct feed *f = remote_story();

	comes(f, 1, 0, 201);
	serves(f, 10, ONE, 201, 1, NAME_OUTER);
	sends(f, 12, ONE, 201, 2);
	leaves(f, 1, 14, 201, S, "read", 4, 2);
	arrives(f, 20, 3, 0, 1, 201, 20);
	serves(f, 24, ONE, 201, 3, NAME_OUTER);
	leaves(f, 1, 30, 201, S, "read", 4, 2);
	feed_end(f);
	path_is(f, row_of(f, 201), 10, 40,
		"T201 run 10-14, T201 sleep:system call 14-20 softirq in  (under way at the end), "
		"T201 run 20-30, T201 sleep:system call 30-40 open");
	story_ends(f);
}
END_TEST

START_TEST(a_call_that_hangs_is_followed_to_the_end)
{
	struct feed *f = remote_story();

	FEED_TEXT(f, FEED_DICT(CLIENT), 1, rmi_connection, endpoint, "", .id = 1, .family = AF_INET,
		  .local_port = 4000, .local0 = 1, .peer_port = 1, .peer0 = 1);
	FEED_TEXT(f, FEED_DICT(ONE), 1, rmi_connection, endpoint, "", .id = 101, .server = 1,
		  .family = AF_INET, .local_port = 1, .local0 = 1, .peer_port = 4000, .peer0 = 1);
	comes(f, 0, 0, 100);
	comes(f, 1, 0, 201);
	sends(f, 12, CLIENT, 100, 1);
	leaves(f, 0, 16, 100, S, "read", 4, 2);
	serves(f, 24, ONE, 201, 1, NAME_OUTER);
	leaves(f, 1, 30, 201, S, "futex", 4, 2);
	feed_end(f);
	path_is(f, 0, 10, 900,
		"T100 run 10-16, T100 sleep:system call 16-900 <remote T201 in Outer, "
		".T100 sleep:system call 16-24 request T201 in Outer, .T201 run 24-30, "
		".T201 sleep:futex 30-900 open");
	story_ends(f);
}
END_TEST

/* What a client waits for besides is its own: a monitor, a collection. */
START_TEST(only_waits_for_the_other_end_are_the_call_s)
{
	struct feed *f = remote_story();

	comes(f, 0, 0, 100);
	comes(f, 1, 0, 201);
	comes(f, 2, 0, 101);
	sends(f, 12, CLIENT, 100, 1);
	leaves(f, 0, 14, 100, S, "read", 4, 2);
	serves(f, 16, ONE, 201, 1, NAME_OUTER);
	answers(f, 20, ONE, 201, 1);
	arrives(f, 22, 1, 201, 0, 100, 22);
	contended(f, 24, 100, 1, 101);
	leaves(f, 0, 24, 100, S, "futex", 10, 3);
	feed_wake(f, 2, 30, 101, 100, 30);
	comes(f, 0, 30, 100);
	entered(f, 31, 100, 1);
	gets(f, 32, CLIENT, 100, 1);
	feed_end(f);
	path_is(f, 0, 10, 40,
		"T100 run 10-14, T100 sleep:system call 14-22 <remote T201 in Outer, "
		".T100 sleep:system call 14-16 request T201 in Outer, .T201 run 16-20, "
		".T100 sleep:system call 20-22 answer T201 in Outer, T100 run 22-24, "
		"T100 sleep:monitor Lock 24-30 <holder T101, .T101 run 24-30, T100 run 30-40");
	story_ends(f);
}
END_TEST

/* 50 calls and leaves its carrier, which carries 51 then: the call is 50's all the time. */
START_TEST(a_virtual_client_waits_on_no_carrier)
{
	struct feed *f = remote_story_in(all, true, NULL);

	feed_switch(f, 2, 0, 0, R, 104);
	comes(f, 1, 0, 201);
	writes(f, 10, 104);
	FEED(f, SLOT, 10, vthread_mount, .java_tid = 50);
	RMI(f, 12, CLIENT, 104, 50, rmi_call, .connection = 1, .call = 1, .operation = -1,
	    .object = 77, .space_time = 9);
	RMI(f, 12, CLIENT, 104, 50, rmi_send, .connection = 1, .call = 1, .remote_call = 1);
	FEED(f, SLOT, 14, park_begin, .java_tid = 50);
	FEED(f, SLOT, 15, vthread_unmount, .java_tid = 50);
	writes(f, 16, 104);
	FEED(f, SLOT, 16, vthread_mount, .java_tid = 51);
	serves(f, 20, ONE, 201, 1, NAME_OUTER);
	leaves(f, 2, 22, 104, S, "read", 4, 2); /* pinned, and not in the call */
	arrives(f, 28, 3, 0, 2, 104, 28);
	answers(f, 30, ONE, 201, 1);
	FEED(f, SLOT, 32, vthread_unmount, .java_tid = 51);
	feed_switch(f, 3, 33, 0, R, 105);
	writes(f, 34, 105);
	FEED(f, SLOT, 34, unpark, .java_tid = 15, .target_java_tid = 50);
	writes(f, 36, 105);
	FEED(f, SLOT, 36, vthread_mount, .java_tid = 50);
	FEED(f, SLOT, 37, park_end, .java_tid = 50);
	RMI(f, 38, CLIENT, 105, 50, rmi_reply, .connection = 1, .call = 1);
	RMI(f, 39, CLIENT, 105, 50, rmi_return, .remote_call = 1, .uid_time = 1);
	feed_end(f);
	path_is_of(f, (struct path_who){MODEL_NO_THREAD, lanes_vthread(lanes, 0, 50)}, 11, 40, 16,
		   "V50 run 11-15, V50 sleep:park 15-34 <remote T201 in Outer, "
		   ".V50 sleep:park 15-20 request T201 in Outer, .T201 run 20-30, "
		   ".V50 sleep:park 30-34 answer T201 in Outer, "
		   "V50 ready 34-36, V50 run 36-40");
	path_is_of(f, (struct path_who){row_of(f, 104), MODEL_NO_THREAD}, 20, 30, 16,
		   "T104 run 20-22, T104 sleep:system call 22-28 softirq, T104 run 28-30");
	story_ends(f);
}
END_TEST

/* Calls in any order, answered by anybody: leaves cover each interval, whatever comes. */
START_TEST(any_calls_are_covered)
{
	static const uint32_t tids[] = {100, 201, 301};
	struct feed *f = remote_story();
	uint32_t seed = (uint32_t)_i * 2654435761u + 1;
	bool runs[3] = {false};

	for (uint64_t t = 1; t < 990; t++) {
		uint32_t r = seed = seed * 1664525u + 1013904223u;
		uint32_t who = (r >> 28) % 3, number = 1 + (r >> 20) % 4;

		switch ((r >> 10) % 6) {
		case 0:
			sends(f, t, who, tids[who], number);
			break;
		case 1:
			gets(f, t, who, tids[who], number);
			break;
		case 2:
			serves(f, t, who, tids[who], number, NAME_OUTER);
			break;
		case 3:
			answers(f, t, who, tids[who], number);
			break;
		case 4:
			if (runs[who])
				leaves(f, who, t, tids[who], S, "read", 4, 2);
			runs[who] = false;
			break;
		default:
			if (!runs[who])
				arrives(f, t, (who + 1) % 3, tids[(who + 1) % 3], who, tids[who],
					t);
			runs[who] = true;
		}
	}
	feed_end(f);
	for (uint32_t i = 0; i < 3; i++) {
		struct walked x = {.f = f, .l = lanes, .rows = path_rows_new(f->m, lanes, i % 2)};

		path_log[0] = 0;
		path_at = 100 + i;
		ck_assert_int_eq(path_walk(lanes,
					   (struct path_who){row_of(f, tids[i]), MODEL_NO_THREAD},
					   100 + i, 900, 16, on_step, &x),
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
	Suite *s = suite_create("path_remote");
	TCase *t = tcase_create("remote calls");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, a_call_is_followed_into_two_further_jvms);
	tcase_add_test(t, a_call_that_reaches_out_of_the_window_is_followed);
	tcase_add_test(t, a_call_that_nobody_serves_is_a_wait_as_before);
	tcase_add_loop_test(t, a_call_is_followed_to_another_host_whose_clock_is_known, 0, 2);
	tcase_add_test(t, lost_records_leave_the_wait_with_a_reason);
	tcase_add_test(t, a_call_that_was_given_up_is_over);
	tcase_add_test(t, a_call_that_hangs_is_followed_to_the_end);
	tcase_add_test(t, only_waits_for_the_other_end_are_the_call_s);
	tcase_add_test(t, a_virtual_client_waits_on_no_carrier);
	tcase_add_loop_test(t, any_calls_are_covered, 0, 60);
	tcase_set_timeout(t, 120);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
