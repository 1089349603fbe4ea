/* SPDX-License-Identifier: MIT */
/* The critical path through connections and virtual threads; and the spans it can be asked of. */
#include "analysis/spans.h"
#include "test_path_story.h"

/* Ports of this host's own order, both of the loopback. */
static void socket_is(struct feed *f, uint64_t t, int32_t fd, uint32_t local, uint32_t peer)
{
	FEED(f, 0, t, fd_socket, .pid = 100, .fd = fd, .family = AF_INET, .type = SOCK_STREAM,
	     .local_port = local, .peer_port = peer, .peer0 = 0x0100007f);
}

static void reads_and_is_sent(struct feed *f, uint64_t t, int32_t fd)
{
	FEED(f, 0, t, syscall_io, .tid = 100, .nr = nr("read"), .fd = 6);
	leaves(f, 0, t + 2, 100, S, "read", 4, 2);
	FEED(f, 1, t + 10, syscall_io, .tid = 101, .nr = nr("write"), .fd = fd);
	FEED(f, 1, t + 12, sched_waking, .tid = 100, .waker_tid = 101,
	     .context = JIS_WAKER_SOFTIRQ);
	FEED(f, 1, t + 12, sched_wakeup, .tid = 100);
	comes(f, 0, t + 12, 100);
	FEED(f, 0, t + 14, syscall_exit, .tid = 100, .nr = nr("read"));
	FEED(f, 1, t + 14, syscall_exit, .tid = 101, .nr = nr("write"));
}

START_TEST(a_sender_has_the_other_end_of_the_connection)
{
	struct feed *f = story();

	comes(f, 0, 0, 100);
	comes(f, 1, 0, 101);
	socket_is(f, 1, 6, 8080, 45000);
	socket_is(f, 1, 5, 45000, 8080);
	socket_is(f, 1, 7, 45001, 3306);
	reads_and_is_sent(f, 10, 5);
	reads_and_is_sent(f, 50, 7);
	feed_end(f);
	path_is(f, 0, 10, 24,
		"T100 run 10-12, T100 sleep:socket read 12-22 <sender T101, .T101 run 12-20, "
		".T101 run 20-22, T100 run 22-24");
	/* It writes to another: what came while it did so is not from it. */
	path_is(f, 0, 50, 64,
		"T100 run 50-52, T100 sleep:socket read 52-62 softirq, T100 run 62-64");
	story_ends(f);
}
END_TEST

/* 50 parks; 51, on another carrier, wakes it after a sleep. */
START_TEST(virtual_threads_are_followed_over_their_carriers)
{
	struct feed *f = begin_in(all);

	start_story(f, true);
	feed_switch(f, 2, 0, 0, R, 104);
	feed_switch(f, 3, 0, 0, R, 105);
	writes(f, 10, 104);
	FEED(f, SLOT, 10, vthread_mount, .java_tid = 50);
	FEED(f, SLOT, 20, park_begin, .java_tid = 50, .class_name = NAME_SYNC, .hash = 7);
	FEED(f, SLOT, 22, vthread_unmount, .java_tid = 50);
	writes(f, 24, 105);
	FEED(f, SLOT, 24, vthread_mount, .java_tid = 51);
	FEED(f, SLOT, 26, sleep_begin, .java_tid = 51, .timeout = 20);
	FEED(f, SLOT, 28, vthread_unmount, .java_tid = 51);
	writes(f, 50, 104);
	FEED(f, SLOT, 50, vthread_mount, .java_tid = 51);
	FEED(f, SLOT, 52, sleep_end, .java_tid = 51);
	leaves(f, 2, 54, 104, S, "read", 4, 2);
	feed_wake(f, 3, 58, 105, 104, 58);
	comes(f, 2, 59, 104);
	writes(f, 60, 104);
	FEED(f, SLOT, 60, unpark, .java_tid = 51, .target_java_tid = 50);
	writes(f, 66, 105);
	FEED(f, SLOT, 66, vthread_mount, .java_tid = 50);
	FEED(f, SLOT, 67, park_end, .java_tid = 50);
	feed_end(f);
	path_is_of(f, (struct path_who){MODEL_NO_THREAD, lanes_vthread(lanes, 0, 50)}, 12, 80, 16,
		   "V50 run 12-22, V50 sleep:park Sync 22-60 <- V51, "
		   ".V51 none 22-24, .V51 run 24-28, .V51 sleep:sleep 28-50 timer, .V51 run 50-54, "
		   ".V51 sleep:system call 54-58 <- T105, ..T105 run 54-58, "
		   ".V51 ready 58-59, .V51 run 59-60, V50 ready 60-66, V50 run 66-80");
	story_ends(f);
}
END_TEST

/* From JDK 24 on: 50 waits for the monitor of 101 unmounted; who releases it wakes the unblocker.
 */
START_TEST(a_monitor_is_released_when_the_unblocker_is_woken)
{
	struct feed *f = begin_in(all);

	feed_thread(f, 106, 100, ALIVE, ALIVE, "VirtualThread-unblocker");
	start_story(f, true);
	comes(f, 1, 0, 101);
	comes(f, 0, 0, 106);
	leaves(f, 0, 5, 106, S, "futex", 4, 2);
	feed_switch(f, 2, 0, 0, R, 104);
	writes(f, 10, 104);
	FEED(f, SLOT, 10, vthread_mount, .java_tid = 50);
	contended(f, 20, 104, 50, 101);
	FEED(f, SLOT, 22, vthread_unmount, .java_tid = 50);
	feed_wake(f, 1, 40, 101, 106, 41);
	comes(f, 0, 42, 106);
	writes(f, 60, 104);
	FEED(f, SLOT, 60, vthread_mount, .java_tid = 50);
	entered(f, 61, 104, 50);
	feed_end(f);
	path_is_of(f, (struct path_who){MODEL_NO_THREAD, lanes_vthread(lanes, 0, 50)}, 12, 70, 16,
		   "V50 run 12-22, V50 sleep:monitor Lock 22-60 <holder T101, .T101 run 22-40, "
		   ".V50 ready 40-60, V50 run 60-70");
	/* What is asked for may begin after the release. */
	path_is_of(f, (struct path_who){MODEL_NO_THREAD, lanes_vthread(lanes, 0, 50)}, 50, 70, 16,
		   "V50 sleep:monitor Lock 50-60 <holder T101, .V50 ready 50-60, V50 run 60-70");
	story_ends(f);
}
END_TEST

/* 101 had it when 50 began to wait, and 51 after that. */
START_TEST(who_got_a_monitor_last_has_released_it)
{
	struct feed *f = begin_in(all);

	feed_thread(f, 106, 100, ALIVE, ALIVE, "VirtualThread-unblocker");
	start_story(f, true);
	comes(f, 1, 0, 101);
	comes(f, 0, 0, 106);
	leaves(f, 0, 5, 106, S, "futex", 4, 2);
	feed_switch(f, 2, 0, 0, R, 104);
	feed_switch(f, 3, 0, 0, R, 105);
	writes(f, 10, 104);
	FEED(f, SLOT, 10, vthread_mount, .java_tid = 50);
	contended(f, 20, 104, 50, 101);
	FEED(f, SLOT, 22, vthread_unmount, .java_tid = 50);
	writes(f, 24, 105);
	FEED(f, SLOT, 24, vthread_mount, .java_tid = 51);
	contended(f, 26, 105, 51, 101);
	FEED(f, SLOT, 28, vthread_unmount, .java_tid = 51);
	feed_wake(f, 1, 40, 101, 106, 41);
	comes(f, 0, 42, 106);
	leaves(f, 0, 45, 106, S, "futex", 4, 2);
	writes(f, 60, 105);
	FEED(f, SLOT, 60, vthread_mount, .java_tid = 51);
	entered(f, 61, 105, 51);
	feed_wake(f, 3, 76, 105, 106, 76);
	comes(f, 0, 77, 106);
	writes(f, 90, 104);
	FEED(f, SLOT, 90, vthread_mount, .java_tid = 50);
	entered(f, 91, 104, 50);
	feed_end(f);
	path_is_of(f, (struct path_who){MODEL_NO_THREAD, lanes_vthread(lanes, 0, 50)}, 12, 95, 16,
		   "V50 run 12-22, V50 sleep:monitor Lock 22-90 <- V51, .T101 run 22-28, "
		   ".V51 sleep:monitor Lock 28-60 <holder T101, ..T101 run 28-40, "
		   "..V51 ready 40-60, .V51 run 60-76, .V50 ready 76-90, V50 run 90-95");
	story_ends(f);
}
END_TEST

/* Without that the owner of the wait's begin is all that is known. */
START_TEST(an_unmounted_wait_for_a_monitor_has_an_owner)
{
	struct feed *f = begin_in(all);

	start_story(f, true);
	comes(f, 1, 0, 101);
	feed_switch(f, 2, 0, 0, R, 104);
	writes(f, 10, 104);
	FEED(f, SLOT, 10, vthread_mount, .java_tid = 50);
	contended(f, 20, 104, 50, 101);
	FEED(f, SLOT, 22, vthread_unmount, .java_tid = 50);
	writes(f, 60, 104);
	FEED(f, SLOT, 60, vthread_mount, .java_tid = 50);
	entered(f, 61, 104, 50);
	feed_end(f);
	path_is_of(f, (struct path_who){MODEL_NO_THREAD, lanes_vthread(lanes, 0, 50)}, 12, 70, 16,
		   "V50 run 12-22, V50 sleep:monitor Lock 22-60 <owner T101, .T101 run 22-60, "
		   "V50 run 60-70");
	story_ends(f);
}
END_TEST

/* Something comes for @tid on CPU @cpu on top of a write of @sender; it runs there at once. */
static void poller_gets(struct feed *f, uint64_t t, uint32_t cpu, uint32_t tid, uint32_t sender)
{
	FEED(f, sender == 100 ? 0 : 1, t - 1, syscall_io, .tid = sender, .nr = nr("write"),
	     .fd = -1);
	FEED(f, sender == 100 ? 0 : 1, t, sched_waking, .tid = tid, .waker_tid = sender,
	     .context = JIS_WAKER_SOFTIRQ);
	FEED(f, cpu, t, sched_wakeup, .tid = tid);
	comes(f, cpu, t, tid);
	FEED(f, sender == 100 ? 0 : 1, t + 1, syscall_exit, .tid = sender, .nr = nr("write"));
}

/* 50 parks on the carrier 104 from 22 on. */
static void parks_for_a_poller(struct feed *f)
{
	comes(f, 0, 0, 100);
	comes(f, 1, 0, 101);
	feed_switch(f, 2, 0, 0, R, 104);
	writes(f, 10, 104);
	FEED(f, SLOT, 10, vthread_mount, .java_tid = 50);
	FEED(f, SLOT, 20, park_begin, .java_tid = 50);
	FEED(f, SLOT, 22, vthread_unmount, .java_tid = 50);
}

/* 50 waits for what 101 sends it at 60; what 100 sends at 40 is for another. */
START_TEST(what_a_poller_polled_before_was_for_others)
{
	struct feed *f = begin_in(all);

	feed_thread(f, 106, 100, ALIVE, ALIVE, "Read-Poller");
	start_story(f, true);
	java_starts(f, 0, 16, 106, 0);
	comes(f, 3, 1, 106);
	parks_for_a_poller(f);
	leaves(f, 3, 23, 106, S, "epoll_wait", 4, 2);
	poller_gets(f, 40, 3, 106, 100);
	leaves(f, 3, 44, 106, S, "epoll_wait", 4, 2);
	poller_gets(f, 60, 3, 106, 101);
	writes(f, 62, 106);
	FEED(f, SLOT, 62, unpark, .java_tid = 16, .target_java_tid = 50);
	writes(f, 66, 104);
	FEED(f, SLOT, 66, vthread_mount, .java_tid = 50);
	FEED(f, SLOT, 67, park_end, .java_tid = 50);
	feed_end(f);
	path_is_of(f, (struct path_who){MODEL_NO_THREAD, lanes_vthread(lanes, 0, 50)}, 12, 80, 16,
		   "V50 run 12-22, V50 sleep:park 22-62 <- T106, "
		   ".T106 sleep:poll 22-60 <sender T101, ..T101 run 22-59, ..T101 run 59-60, "
		   ".T106 run 60-62, V50 ready 62-66, V50 run 66-80");
	/* Which wait was the last one is no question of what is asked for. */
	path_is_of(f, (struct path_who){MODEL_NO_THREAD, lanes_vthread(lanes, 0, 50)}, 30, 50, 16,
		   "V50 sleep:park 30-50 <- T106, .T106 sleep:poll 30-50 <sender T101, "
		   "..T101 run 30-50");
	path_is_of(f, (struct path_who){MODEL_NO_THREAD, lanes_vthread(lanes, 0, 50)}, 61, 64, 16,
		   "V50 sleep:park 61-62 <- T106, .T106 run 61-62, V50 ready 62-64");
	story_ends(f);
}
END_TEST

/* From JDK 22 on a virtual thread polls, and the master for that one. */
START_TEST(a_virtual_poller_has_a_master)
{
	struct feed *f = begin_in(all);

	feed_thread(f, 106, 100, ALIVE, ALIVE, "MasterPoller");
	start_story(f, true);
	java_starts(f, 0, 16, 106, 0);
	comes(f, 3, 1, 106);
	parks_for_a_poller(f);
	writes(f, 24, 104);
	FEED(f, SLOT, 24, vthread_mount, .java_tid = 52);
	FEED(f, SLOT, 25, park_begin, .java_tid = 52);
	FEED(f, SLOT, 26, vthread_unmount, .java_tid = 52);
	leaves(f, 3, 27, 106, S, "epoll_wait", 4, 2);
	poller_gets(f, 40, 3, 106, 100);
	writes(f, 41, 106);
	FEED(f, SLOT, 41, unpark, .java_tid = 16, .target_java_tid = 52);
	leaves(f, 3, 42, 106, S, "epoll_wait", 4, 2);
	writes(f, 43, 104);
	FEED(f, SLOT, 43, vthread_mount, .java_tid = 52);
	FEED(f, SLOT, 44, park_end, .java_tid = 52);
	FEED(f, SLOT, 45, park_begin, .java_tid = 52);
	FEED(f, SLOT, 46, vthread_unmount, .java_tid = 52);
	poller_gets(f, 60, 3, 106, 101);
	writes(f, 62, 106);
	FEED(f, SLOT, 62, unpark, .java_tid = 16, .target_java_tid = 52);
	writes(f, 64, 104);
	FEED(f, SLOT, 64, vthread_mount, .java_tid = 52);
	FEED(f, SLOT, 65, park_end, .java_tid = 52);
	FEED(f, SLOT, 66, unpark, .java_tid = 52, .target_java_tid = 50);
	FEED(f, SLOT, 67, park_begin, .java_tid = 52);
	FEED(f, SLOT, 68, vthread_unmount, .java_tid = 52);
	writes(f, 70, 104);
	FEED(f, SLOT, 70, vthread_mount, .java_tid = 50);
	FEED(f, SLOT, 71, park_end, .java_tid = 50);
	feed_end(f);
	path_is_of(f, (struct path_who){MODEL_NO_THREAD, lanes_vthread(lanes, 0, 50)}, 12, 80, 16,
		   "V50 run 12-22, V50 sleep:park 22-66 <- V52, "
		   ".V52 sleep:park 22-62 <- T106, ..T106 sleep:poll 22-60 <sender T101, "
		   "...T101 run 22-59, ...T101 run 59-60, ..T106 run 60-62, "
		   ".V52 ready 62-64, .V52 run 64-66, V50 ready 66-70, V50 run 70-80");
	story_ends(f);
}
END_TEST

START_TEST(a_carrier_wakes_for_whom_it_carries)
{
	struct feed *f = begin_in(all);

	start_story(f, true);
	comes(f, 0, 0, 100);
	feed_switch(f, 2, 0, 0, R, 104);
	leaves(f, 0, 10, 100, S, "futex", 4, 2);
	writes(f, 20, 104);
	FEED(f, SLOT, 20, vthread_mount, .java_tid = 50);
	feed_wake(f, 2, 40, 104, 100, 40);
	writes(f, 45, 104);
	FEED(f, SLOT, 45, vthread_unmount, .java_tid = 50);
	comes(f, 0, 50, 100);
	leaves(f, 0, 60, 100, S, "futex", 4, 2);
	feed_wake(f, 2, 70, 104, 100, 70);
	comes(f, 0, 70, 100);
	feed_end(f);
	path_is(f, 0, 0, 80,
		"T100 run 0-10, T100 sleep:futex 10-40 <- V50, .V50 none 10-20, .V50 run 20-40, "
		"T100 ready 40-50, T100 run 50-60, T100 sleep:futex 60-70 <- T104, "
		".T104 run 60-70, T100 run 70-80");
	story_ends(f);
}
END_TEST

/* Spans -------------------------------------------------------------------------------------- */

START_TEST(spans_and_markers_are_found)
{
	const struct span_options options = {.name = "Other"};
	const struct span_options markers = {.name = "7"};
	struct spans_run *r = spans_new(&options), *q = spans_new(&markers);
	struct feed *f = begin_in(all);
	const struct spans *s = spans_get(r);

	ck_assert_int_eq(model_new(&f->man, NULL, f->cursors, FEED_STREAMS, &f->m), 0);
	f->sinks[f->nr_sinks++] = spans_sink(r, f->m);
	f->sinks[f->nr_sinks++] = spans_sink(q, f->m);
	ck_assert_int_eq(model_begin(f->m, f->sinks, f->nr_sinks), 0);
	FEED_TEXT(f, DICT, 0, string_def, text, "Lock", .id = NAME_LOCK);
	FEED_TEXT(f, DICT, 0, string_def, text, "Other", .id = NAME_OTHER);
	java_starts(f, 0, 1, 100, 0);
	java_starts(f, 0, 2, 101, 0);
	writes(f, 10, 100);
	FEED(f, SLOT, 10, span_begin, .java_tid = 1, .name = NAME_OTHER);
	FEED(f, SLOT, 12, span_begin, .java_tid = 1, .name = NAME_OTHER);
	FEED(f, SLOT, 20, span_end, .java_tid = 1, .name = NAME_OTHER);
	FEED(f, SLOT, 22, java_marker, .java_tid = 1, .type = 7, .value = 3);
	FEED(f, SLOT, 25, span_begin, .java_tid = 1, .name = NAME_LOCK);
	writes(f, 30, 101);
	FEED(f, SLOT, 30, span_begin, .java_tid = 2, .name = NAME_OTHER);
	writes(f, 40, 100);
	FEED(f, SLOT, 40, span_end, .java_tid = 1, .name = NAME_LOCK);
	FEED(f, SLOT, 45, java_marker, .java_tid = 1, .type = 7, .value = 0);
	FEED(f, SLOT, 50, span_end, .java_tid = 1, .name = NAME_OTHER);
	feed_end(f);
	ck_assert_uint_eq(s->nr, 2);
	ck_assert_uint_eq(s->list[0].begin, 12);
	ck_assert_uint_eq(s->list[0].end, 20);
	ck_assert_uint_eq(s->list[1].begin, 10);
	ck_assert_uint_eq(s->list[1].end, 50);
	ck_assert_uint_eq(s->list[1].thread, 0);
	ck_assert_uint_eq(s->open, 1);
	ck_assert_uint_eq(s->nr_names, 3);
	ck_assert_str_eq(s->names[0].text, "Other");
	ck_assert_uint_eq(s->names[0].count, 2);
	ck_assert_uint_eq(s->names[0].longest, 40);
	s = spans_get(q);
	ck_assert_uint_eq(s->nr, 1);
	ck_assert_str_eq(s->names[s->list[0].name].text, "7=3");
	ck_assert_uint_eq(s->list[0].begin, 22);
	ck_assert_uint_eq(s->list[0].end, 45);
	spans_free(r);
	spans_free(q);
	story_ends(f);
}
END_TEST

static void marks(struct feed *f, uint64_t t, uint32_t type, int64_t value)
{
	FEED(f, SLOT, t, java_marker, .java_tid = 1, .type = type, .value = value);
}

/* Names are for the list of names alone: who asks for a marker gets each. */
START_TEST(a_marker_is_found_among_thousands_of_values)
{
	static const struct {
		const char *name;
		uint32_t nr;
	} cases[] = {{"7=3", 3}, {"7", 3}, {"9=5", 3}, {"9=1095", 3}, {"9=-5", 0}, {"7=3x", 0}};

	for (size_t n = 0; n < sizeof(cases) / sizeof(*cases); n++) {
		const struct span_options options = {.name = cases[n].name};
		struct spans_run *r = spans_new(&options);
		struct feed *f = begin_in(all);
		const struct spans *s = spans_get(r);

		ck_assert_int_eq(model_new(&f->man, NULL, f->cursors, FEED_STREAMS, &f->m), 0);
		f->sinks[f->nr_sinks++] = spans_sink(r, f->m);
		ck_assert_int_eq(model_begin(f->m, f->sinks, f->nr_sinks), 0);
		java_starts(f, 0, 1, 100, 0);
		writes(f, 10, 100);
		for (uint64_t k = 0; k < 300; k += 100) {
			for (int i = 1; i < 1100; i++)
				marks(f, 20 + k + (uint64_t)i / 50, 9, i);
			marks(f, 50 + k, 9, 0);
			marks(f, 60 + k, 7, 3);
			marks(f, 70 + k, 7, 0);
			marks(f, 80 + k, 9, 5);
			marks(f, 81 + k, 9, 0);
			marks(f, 82 + k, 9, 1095);
			marks(f, 83 + k, 9, 0);
		}
		feed_end(f);
		ck_assert_msg(s->nr == cases[n].nr, "%s: %u", cases[n].name, s->nr);
		ck_assert_uint_le(s->nr_names, 1002);
		ck_assert_uint_gt(s->folded, 0);
		spans_free(r);
		story_ends(f);
	}
}
END_TEST

/* So many names were minutes of comparing when each was looked for in a list. */
START_TEST(thousands_of_names_are_told_apart)
{
	struct spans_run *r = spans_new(NULL);
	struct feed *f = begin_in(all);
	const struct spans *s = spans_get(r);
	const uint32_t n = 30000;

	ck_assert_int_eq(model_new(&f->man, NULL, f->cursors, FEED_STREAMS, &f->m), 0);
	f->sinks[f->nr_sinks++] = spans_sink(r, f->m);
	ck_assert_int_eq(model_begin(f->m, f->sinks, f->nr_sinks), 0);
	java_starts(f, 0, 1, 100, 0);
	writes(f, 10, 100);
	for (uint32_t i = 0; i < n; i++) {
		char name[48];

		snprintf(name, sizeof(name), "GET /api/v1/users/%u", i);
		FEED_TEXT(f, DICT, 11, string_def, text, name, .id = 5);
		FEED(f, SLOT, 11, span_begin, .java_tid = 1, .name = 5);
		FEED(f, SLOT, 11, span_end, .java_tid = 1, .name = 5);
	}
	feed_end(f);
	ck_assert_uint_eq(s->nr_names, n);
	for (uint32_t i = 0; i < n; i++)
		ck_assert_uint_eq(s->names[i].count, 1);
	spans_free(r);
	story_ends(f);
}
END_TEST

/* Two spans of one name may have been one that began before a loss and one that ended after it. */
START_TEST(spans_are_not_followed_over_a_loss_of_their_own_thread)
{
	const struct span_options options = {.name = "Other"};
	struct spans_run *r = spans_new(&options);
	struct feed *f = begin_in(all);
	const struct spans *s = spans_get(r);

	ck_assert_int_eq(model_new(&f->man, NULL, f->cursors, FEED_STREAMS, &f->m), 0);
	f->sinks[f->nr_sinks++] = spans_sink(r, f->m);
	ck_assert_int_eq(model_begin(f->m, f->sinks, f->nr_sinks), 0);
	FEED_TEXT(f, DICT, 0, string_def, text, "Other", .id = NAME_OTHER);
	java_starts(f, 0, 1, 100, 0);
	java_starts(f, 0, 2, 101, 0);
	feed_packet(f, SLOT, 0, 20, 0, 0, 100);
	writes(f, 10, 100);
	FEED(f, SLOT, 10, span_begin, .java_tid = 1, .name = NAME_OTHER);
	FEED(f, SLOT, 11, span_begin, .java_tid = 0, .name = NAME_OTHER);
	FEED(f, SLOT, 12, java_marker, .java_tid = 1, .type = 7, .value = 3);
	writes(f, 13, 101);
	FEED(f, SLOT, 13, span_begin, .java_tid = 2, .name = NAME_OTHER);
	writes(f, 14, 100);
	/* Records of 20 to 500 are missing. */
	feed_packet(f, SLOT, 500, 900, 2, 0, 100);
	FEED(f, SLOT, 510, span_end, .java_tid = 1, .name = NAME_OTHER);
	FEED(f, SLOT, 511, span_end, .java_tid = 0, .name = NAME_OTHER);
	FEED(f, SLOT, 512, java_marker, .java_tid = 1, .type = 7, .value = 0);
	writes(f, 513, 101);
	FEED(f, SLOT, 513, span_end, .java_tid = 2, .name = NAME_OTHER);
	writes(f, 600, 100);
	FEED(f, SLOT, 600, span_begin, .java_tid = 1, .name = NAME_OTHER);
	FEED(f, SLOT, 610, span_end, .java_tid = 1, .name = NAME_OTHER);
	feed_end(f);
	ck_assert_uint_eq(s->nr, 2);
	ck_assert_uint_eq(s->list[0].begin, 13);
	ck_assert_uint_eq(s->list[0].end, 513);
	ck_assert_uint_eq(s->list[1].begin, 600);
	ck_assert_uint_eq(s->list[1].end, 610);
	ck_assert_uint_eq(s->lost, 3);
	ck_assert_uint_eq(s->open, 0);
	ck_assert_uint_eq(f->counts.unbalanced_spans, 2);
	spans_free(r);
	story_ends(f);
}
END_TEST

START_TEST(spans_are_not_followed_over_a_pause)
{
	struct spans_run *r = spans_new(NULL);
	struct feed *f = begin_in(all);
	const struct spans *s = spans_get(r);

	ck_assert_int_eq(model_new(&f->man, NULL, f->cursors, FEED_STREAMS, &f->m), 0);
	f->sinks[f->nr_sinks++] = spans_sink(r, f->m);
	ck_assert_int_eq(model_begin(f->m, f->sinks, f->nr_sinks), 0);
	FEED_TEXT(f, DICT, 0, string_def, text, "Other", .id = NAME_OTHER);
	java_starts(f, 0, 1, 100, 0);
	writes(f, 10, 100);
	FEED(f, SLOT, 10, span_begin, .java_tid = 1, .name = NAME_OTHER);
	FEED(f, SLOT, 10, span_begin, .java_tid = 77, .name = NAME_OTHER);
	FEED(f, FEED_RECORDER, 20, session_mark, .mark = JIS_MARK_PAUSE);
	FEED(f, FEED_RECORDER, 30, session_mark, .mark = JIS_MARK_RESUME);
	FEED(f, SLOT, 40, span_end, .java_tid = 1, .name = NAME_OTHER);
	FEED(f, SLOT, 40, span_end, .java_tid = 77, .name = NAME_OTHER);
	feed_end(f);
	ck_assert_uint_eq(s->nr, 0);
	ck_assert_uint_eq(s->lost, 2);
	ck_assert_uint_eq(f->counts.unbalanced_spans, 2);
	spans_free(r);
	story_ends(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("path_virtual");
	TCase *t = tcase_create("path_virtual");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, a_sender_has_the_other_end_of_the_connection);
	tcase_add_test(t, virtual_threads_are_followed_over_their_carriers);
	tcase_add_test(t, a_monitor_is_released_when_the_unblocker_is_woken);
	tcase_add_test(t, who_got_a_monitor_last_has_released_it);
	tcase_add_test(t, an_unmounted_wait_for_a_monitor_has_an_owner);
	tcase_add_test(t, what_a_poller_polled_before_was_for_others);
	tcase_add_test(t, a_virtual_poller_has_a_master);
	tcase_add_test(t, a_carrier_wakes_for_whom_it_carries);
	tcase_add_test(t, spans_and_markers_are_found);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, spans_are_not_followed_over_a_loss_of_their_own_thread);
	tcase_add_test(t, spans_are_not_followed_over_a_pause);
	tcase_add_test(t, a_marker_is_found_among_thousands_of_values);
	tcase_add_test(t, thousands_of_names_are_told_apart);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
