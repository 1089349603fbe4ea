/* SPDX-License-Identifier: MIT */
/* Virtual threads: rows of their own, from mount to mount. */
#include <malloc.h>
#include <poll.h>
#include <sys/socket.h>

#include "test_model_why.h"

enum { VIRTUAL = JIS_JTHREAD_VIRTUAL };

/* Virtual threads 50 to 50 + @n - 1 are in the tables, born at 1; carriers 104, 105 on CPUs 2, 3.
 */
static struct feed *start(uint32_t n, const struct model_options *options)
{
	struct feed *f = why_new();

	ck_assert_int_eq(model_new(&f->man, options, f->cursors, FEED_STREAMS, &f->m), 0);
	for (uint32_t i = 0; i < n; i++)
		ck_assert_int_eq(vthread_add(f->m, 0, 50 + i, i ? "" : "first", 1 + i), 0);
	ck_assert_int_eq(model_begin(f->m, f->sinks, f->nr_sinks), 0);
	for (uint32_t i = 0; i < 8; i++)
		vstate_end[i] = f->m->info.begin;
	FEED_TEXT(f, DICT, 0, string_def, text, "Lock", .id = NAME_LOCK);
	java_starts(f, 0, 2, 101, 0);
	java_starts(f, 0, 14, 104, 0);
	java_starts(f, 0, 15, 105, 0);
	feed_switch(f, 1, 0, 0, R, 101);
	feed_switch(f, 2, 0, 0, R, 104);
	feed_switch(f, 3, 0, 0, R, 105);
	return f;
}

static void end(struct feed *f)
{
	feed_end(f);
	for (uint32_t i = 0; i < f->m->info.nr_vthreads; i++)
		ck_assert_uint_eq(vstate_end[i], f->m->info.end);
}

static void mount(struct feed *f, uint64_t t, uint32_t carrier, uint64_t java_tid)
{
	writes(f, t, carrier);
	FEED(f, SLOT, t, vthread_mount, .java_tid = java_tid);
}

static void unmount(struct feed *f, uint64_t t, uint32_t carrier, uint64_t java_tid)
{
	writes(f, t, carrier);
	FEED(f, SLOT, t, vthread_unmount, .java_tid = java_tid);
}

static void no_errors(const struct feed *f)
{
	for (int i = 0; i < MODEL_NR_ERRORS; i++)
		ck_assert_msg(!f->counts.errors[i], "%s", model_error_name(i));
}

START_TEST(a_parked_one_waits_until_it_is_unparked_and_then_for_a_carrier)
{
	struct feed *f = start(1, NULL);

	mount(f, 10, 104, 50);
	java_starts(f, 11, 50, 0, VIRTUAL);
	FEED(f, SLOT, 20, park_begin, .java_tid = 50, .class_name = NAME_LOCK, .hash = 7,
	     .owner_java_tid = 2, .timeout = -1);
	unmount(f, 22, 104, 50);
	writes(f, 40, 101);
	FEED(f, SLOT, 40, unpark, .java_tid = 2, .target_java_tid = 50);
	FEED(f, SLOT, 41, unpark, .java_tid = 2, .target_java_tid = 50);
	mount(f, 45, 105, 50);
	FEED(f, SLOT, 46, park_end, .java_tid = 50);
	unmount(f, 60, 105, 50); /* a yield */
	mount(f, 70, 104, 50);
	java_ends(f, 80, 50, 0);
	writes(f, 81, 104);
	FEED(f, SLOT, 81, vthread_unmount, .java_tid = 50);
	end(f);
	ck_assert_str_eq(vstates[0],
			 "none 0-10, run on T104 10-22, sleep park Lock@7 of T101 #2 22-40 <- #2, "
			 "ready ready to mount 40-45, run on T105 45-60, "
			 "ready ready to mount 60-70, run on T104 70-80, exited 80-1000");
	ck_assert_str_eq(java_waits, "V50 park Lock@7 of T101 #2 20-46 (18)");
	no_errors(f);
	feed_free(f);
}
END_TEST

START_TEST(a_pinned_one_waits_with_its_carrier)
{
	struct feed *f = start(1, NULL);

	java_starts(f, 5, 50, 0, VIRTUAL);
	mount(f, 10, 104, 50);
	FEED(f, SLOT, 20, monitor_contended_enter, .java_tid = 50, .class_name = NAME_LOCK,
	     .hash = 7, .owner_tid = 101, .owner_java_tid = 2);
	leaves(f, 2, 22, 104, S, "futex", 10, 3);
	feed_wake(f, 1, 40, 101, 104, 40);
	comes(f, 2, 45, 104);
	FEED(f, SLOT, 46, monitor_contended_entered, .java_tid = 50, .class_name = NAME_LOCK,
	     .hash = 7);
	leaves(f, 2, 50, 104, R | JIS_TASK_PREEMPTED, NULL, 8, 2);
	comes(f, 2, 60, 104);
	unmount(f, 70, 104, 50);
	leaves(f, 2, 80, 104, S, "futex", 10, 4);
	end(f);
	ck_assert_str_eq(vstates[0], "none 0-5, ready ready to mount 5-10, run on T104 10-22, "
				     "sleep on T104 monitor Lock@7 of T101 #2 pinned 22-40, "
				     "ready on T104 woken 40-45, run on T104 45-50, "
				     "ready on T104 preempted 50-60, run on T104 60-70, "
				     "sleep unmounted 70-1000");
	/* The carrier's row keeps what the kernel says of it. */
	ck_assert_str_eq(reasons[4], "in the VM? 0-22, monitor Lock@7 of T101 #2 pinned 22-40, "
				     "woken 40-45, in Java? 45-50, preempted 50-60, "
				     "in the VM? 60-80, park? 80-1000");
	ck_assert_str_eq(java_waits, "V50 monitor Lock@7 of T101 #2 20-46 (18)");
	no_errors(f);
	feed_free(f);
}
END_TEST

START_TEST(what_the_carrier_does_for_itself_is_its_own)
{
	struct feed *f = start(1, NULL);

	java_starts(f, 5, 50, 0, VIRTUAL);
	mount(f, 10, 104, 50);
	/* To schedule its wake-up the virtual thread works as its carrier for a while. */
	FEED(f, SLOT, 20, sleep_begin, .java_tid = 50, .timeout = 100);
	FEED(f, SLOT, 21, park_begin, .java_tid = 14, .class_name = NAME_LOCK, .hash = 9);
	leaves(f, 2, 22, 104, S, "futex", 10, 4);
	feed_wake(f, 1, 30, 101, 104, 30);
	comes(f, 2, 30, 104);
	FEED(f, SLOT, 31, park_end, .java_tid = 14);
	unmount(f, 35, 104, 50);
	mount(f, 90, 105, 50);
	FEED(f, SLOT, 91, sleep_end, .java_tid = 50);
	end(f);
	ck_assert_str_eq(vstates[0], "none 0-5, ready ready to mount 5-10, run on T104 10-22, "
				     "sleep on T104 park Lock@9 pinned 22-30, run on T104 30-35, "
				     "sleep sleep 35-90, run on T105 90-1000");
	ck_assert_str_eq(java_waits, "T104 park Lock@9 21-31 (8), V50 sleep 20-91 (55)");
	no_errors(f);
	feed_free(f);
}
END_TEST

/* It is Java code that parks a virtual thread, and may load a class from a file first. */
START_TEST(a_file_read_on_the_way_to_a_park_is_no_contradiction)
{
	struct feed *f = start(1, NULL);

	java_starts(f, 5, 50, 0, VIRTUAL);
	mount(f, 10, 104, 50);
	FEED(f, SLOT, 20, park_begin, .java_tid = 50, .class_name = NAME_LOCK, .hash = 9);
	leaves(f, 2, 22, 104, S, "read", 4, 2);
	feed_wake(f, 1, 30, 0, 104, 30);
	comes(f, 2, 30, 104);
	unmount(f, 35, 104, 50);
	mount(f, 90, 105, 50);
	FEED(f, SLOT, 91, park_end, .java_tid = 50);
	end(f);
	ck_assert_str_eq(vstates[0], "none 0-5, ready ready to mount 5-10, run on T104 10-22, "
				     "sleep on T104 system call pinned 22-30, run on T104 30-35, "
				     "sleep park Lock@9 35-90, run on T105 90-1000");
	ck_assert_uint_eq(f->counts.conflicts[MODEL_CONFLICT_CALL], 0);
	no_errors(f);
	feed_free(f);
}
END_TEST

static void call(struct feed *f, uint64_t t, const char *name, int fd)
{
	FEED(f, 2, t, syscall_io, .tid = 104, .nr = nr(name), .fd = fd);
	FEED(f, 2, t + 1, syscall_exit, .tid = 104, .nr = nr(name), .result = -11);
}

/* @50 tries @name of @fd at @t, and parks until the poller wakes it 10 later. */
static void waits_for(struct feed *f, uint64_t t, const char *name, int fd, uint32_t events)
{
	if (name)
		call(f, t, name, fd);
	writes(f, t + 2, 104);
	FEED(f, SLOT, t + 2, descriptor_begin, .java_tid = 50, .fd = fd, .events = events,
	     .timeout = -1);
	/* Another thread has the descriptor watched, too. */
	leaves(f, 2, t + 3, 104, S, "futex", 10, 3);
	feed_wake(f, 1, t + 4, 101, 104, t + 4);
	comes(f, 2, t + 4, 104);
	FEED(f, SLOT, t + 5, park_begin, .java_tid = 50, .timeout = -1);
	unmount(f, t + 6, 104, 50);
	writes(f, t + 16, 101);
	FEED(f, SLOT, t + 16, unpark, .java_tid = 2, .target_java_tid = 50);
	mount(f, t + 17, 104, 50);
	FEED(f, SLOT, t + 18, park_end, .java_tid = 50);
	FEED(f, SLOT, t + 19, descriptor_end, .java_tid = 50);
}

START_TEST(a_park_for_a_descriptor_is_what_the_call_could_not_do)
{
	struct feed *f = start(1, NULL);
	const char *said;

	java_starts(f, 5, 50, 0, VIRTUAL);
	mount(f, 6, 104, 50);
	FEED(f, 2, 7, fd_socket, .pid = 100, .fd = 3, .family = AF_INET, .type = SOCK_STREAM,
	     .local_port = 80);
	FEED(f, 2, 7, fd_socket, .pid = 100, .fd = 4, .family = AF_INET, .type = SOCK_STREAM,
	     .local_port = 80, .peer_port = 81, .peer0 = 0x0100007f);
	waits_for(f, 100, "accept4", 3, POLLIN);
	FEED(f, 2, 7, fd_socket, .pid = 100, .fd = 5, .family = AF_INET, .type = SOCK_STREAM);
	FEED(f, 2, 200, syscall_address, .tid = 104, .nr = nr("connect"), .fd = 5,
	     .family = AF_INET, .port = 81, .address0 = 0x0100007f);
	FEED(f, 2, 201, syscall_exit, .tid = 104, .nr = nr("connect"), .result = -115);
	waits_for(f, 200, NULL, 5, POLLOUT);
	waits_for(f, 300, "write", 4, POLLOUT);
	waits_for(f, 400, "read", 4, POLLIN);
	waits_for(f, 500, NULL, 9, POLLIN);
	end(f);
	said = vstates[0];

	ck_assert_ptr_nonnull(strstr(said, "sleep socket accept fd 3 'port 80' 106-116 <- #2, "
					   "ready ready to mount 116-117"));
	ck_assert_ptr_nonnull(
		strstr(said, "sleep socket connect fd 5 '127.0.0.1:81' 206-216 <- #2"));
	ck_assert_ptr_nonnull(strstr(said, "sleep socket write fd 4 '127.0.0.1:81' 306-316 <- #2"));
	ck_assert_ptr_nonnull(strstr(said, "sleep socket read fd 4 '127.0.0.1:81' 406-416 <- #2"));
	ck_assert_ptr_nonnull(strstr(said, "sleep poll fd 9 506-516 <- #2"));
	/* On the way there it waits for other things. */
	ck_assert_ptr_nonnull(strstr(said, "sleep on T104 monitor? pinned 403-404"));
	ck_assert_ptr_null(strstr(said, "park"));
	ck_assert_ptr_nonnull(strstr(java_waits,
				     "V50 park 405-418 inside, "
				     "V50 socket read fd 4 '127.0.0.1:81' 402-419 (10)"));
	no_errors(f);
	feed_free(f);
}
END_TEST

START_TEST(those_that_were_there_before_begin_unknown)
{
	struct feed *f = why_new();

	ck_assert_int_eq(model_new(&f->man, NULL, f->cursors, FEED_STREAMS, &f->m), 0);
	vthread_add(f->m, 0, 50, "mounted", 0);
	vthread_add(f->m, 0, 51, NULL, 0);
	vthread_add(f->m, 0, 52, NULL, 500);
	ck_assert_int_eq(model_begin(f->m, f->sinks, f->nr_sinks), 0);
	feed_switch(f, 2, 0, 0, R, 104);
	java_starts(f, 0, 14, 104, JIS_JTHREAD_RUNNING);
	java_starts(f, 10, 50, 104, VIRTUAL | JIS_JTHREAD_RUNNING);
	unmount(f, 20, 104, 50);
	mount(f, 30, 104, 51);
	FEED(f, SLOT, 40, park_end, .java_tid = 51);
	unmount(f, 50, 104, 51);
	feed_end(f);
	ck_assert_str_eq(vstates[0], "unknown 0-10, run on T104 10-20, sleep unmounted 20-1000");
	ck_assert_str_eq(vstates[1],
			 "unknown 0-30, run on T104 30-50, ready ready to mount 50-1000");
	/* Never heard of. */
	ck_assert_str_eq(vstates[2], "none 0-1000");
	ck_assert_str_eq(model_name(f->m, f->m->info.vthreads[1].name), "virtual-51");
	no_errors(f);
	feed_free(f);
}
END_TEST

START_TEST(a_loss_on_any_carrier_makes_them_unknown)
{
	struct feed *f = start(2, NULL);

	feed_packet(f, SLOT, 1, 25, 0, 0, 104);
	java_starts(f, 5, 50, 0, VIRTUAL);
	java_starts(f, 5, 51, 0, VIRTUAL);
	mount(f, 10, 104, 50);
	FEED(f, SLOT, 11, park_begin, .java_tid = 50);
	unmount(f, 12, 104, 50);
	mount(f, 20, 104, 51);
	feed_packet(f, SLOT, 40, 50, 3, 0, 104);
	FEED(f, SLOT, 45, vthread_unmount, .java_tid = 51);
	mount(f, 60, 105, 50);
	end(f);
	ck_assert_str_eq(vstates[0], "none 0-5, ready ready to mount 5-10, run on T104 10-12, "
				     "sleep park 12-25, unknown 25-60, run on T105 60-1000");
	ck_assert_str_eq(vstates[1], "none 0-5, ready ready to mount 5-20, run on T104 20-25, "
				     "unknown 25-45, sleep unmounted 45-1000");
	no_errors(f);
	feed_free(f);
}
END_TEST

START_TEST(not_more_rows_than_asked_for)
{
	const struct model_options options = {.max_vthreads = 3};
	struct feed *f = start(8, &options);

	ck_assert_uint_eq(f->m->info.nr_vthreads, 3);
	ck_assert_uint_eq(f->m->info.other_vthreads, 5);
	for (uint64_t i = 0; i < 8; i++)
		java_starts(f, 10 + i, 50 + i, 0, VIRTUAL);
	mount(f, 30, 104, 57);
	unmount(f, 40, 104, 57);
	mount(f, 50, 104, 52);
	end(f);
	ck_assert_str_eq(vstates[2], "none 0-12, ready ready to mount 12-50, run on T104 50-1000");
	ck_assert_str_eq(vstates[3], "");
	no_errors(f);
	feed_free(f);
}
END_TEST

static size_t heap(void)
{
	const struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* Those that lived are counted, not kept. Births come in no order. */
START_TEST(many_that_lived_take_no_memory)
{
	const struct model_options options = {.max_vthreads = 4};
	struct feed *f = why_new();
	const uint32_t n = 200000;
	size_t before;

	f->man.end = 2000000;
	ck_assert_int_eq(model_new(&f->man, &options, f->cursors, FEED_STREAMS, &f->m), 0);
	before = heap();
	for (uint64_t i = 0; i < n; i++) {
		uint64_t birth = (i * 7919) % n + 1;

		ck_assert_int_eq(vthread_add(f->m, 0, 1000 + birth, "", birth), 0);
		if (i % 2)
			vthread_died(f->m, 0, 1000 + birth, birth + 10);
	}
	ck_assert_uint_lt(heap() - before, 2u << 20);
	/* Once more, and a mount of one that is not kept: they are known. */
	ck_assert_int_eq(vthread_add(f->m, 0, 1000 + n, "", n), 0);
	ck_assert_int_eq(vthread_add(f->m, 0, 1000 + 77, NULL, 0), 0);
	ck_assert_int_eq(model_begin(f->m, f->sinks, f->nr_sinks), 0);
	ck_assert_uint_eq(f->m->info.nr_vthreads, 4);
	ck_assert_uint_eq(f->m->info.other_vthreads, n - 4);
	for (uint32_t i = 0; i < 4; i++) {
		ck_assert_uint_eq(f->m->info.vthreads[i].java_tid, 1001 + i);
		ck_assert_uint_eq(vthread_row(f->m, 0, 1001 + i), i);
	}
	ck_assert_uint_lt(model_nr_names(f->m), 100);
	feed_free(f);
}
END_TEST

/* Only what can be said of them for sure may be dropped before all is read. */
START_TEST(rows_are_for_the_window_and_for_last_names)
{
	const struct model_options options = {.max_vthreads = 2, .from = 500, .thread = "wanted"};
	struct feed *f = why_new();

	ck_assert_int_eq(model_new(&f->man, &options, f->cursors, FEED_STREAMS, &f->m), 0);
	for (uint64_t i = 0; i < 3000; i++)
		ck_assert_int_eq(vthread_add(f->m, 0, 1000 + i, i % 2 ? "wanted" : "no", 1 + i / 3),
				 0);
	for (uint64_t i = 0; i < 1200; i++)
		vthread_died(f->m, 0, 1000 + i, 499);
	vthread_renamed(f->m, 0, 1000 + 1202, "wanted, too");
	vthread_renamed(f->m, 0, 1000 + 1201, "never");
	ck_assert_int_eq(model_begin(f->m, f->sinks, f->nr_sinks), 0);
	ck_assert_uint_eq(f->m->info.nr_vthreads, 2);
	ck_assert_uint_eq(f->m->info.vthreads[0].java_tid, 1000 + 1202);
	ck_assert_str_eq(model_name(f->m, f->m->info.vthreads[0].name), "wanted, too");
	ck_assert_uint_eq(f->m->info.vthreads[1].java_tid, 1000 + 1203);
	ck_assert_uint_eq(f->m->info.other_vthreads, 896);
	feed_free(f);
}
END_TEST

START_TEST(no_virtual_thread_has_the_number_0)
{
	const struct model_options options = {.thread = "0"};
	struct feed *f = why_new();

	ck_assert_int_eq(model_new(&f->man, &options, f->cursors, FEED_STREAMS, &f->m), 0);
	ck_assert_int_eq(vthread_add(f->m, 0, 51, "", 1), 0);
	ck_assert_int_eq(vthread_add(f->m, 0, 52, "worker-10", 1), 0);
	ck_assert_int_eq(model_begin(f->m, f->sinks, f->nr_sinks), 0);
	ck_assert_uint_eq(f->m->info.nr_vthreads, 1);
	ck_assert_uint_eq(f->m->info.vthreads[0].java_tid, 52);
	feed_free(f);
}
END_TEST

START_TEST(events_of_virtual_threads_are_theirs)
{
	struct feed *f = start(1, NULL);

	java_starts(f, 5, 50, 0, VIRTUAL);
	mount(f, 10, 104, 50);
	FEED(f, SLOT, 15, java_marker, .java_tid = 50, .type = 3, .value = 9);
	unmount(f, 20, 104, 50);
	end(f);
	ck_assert_ptr_nonnull(strstr(f->events, "15 marker T104@2 3 V50 9"));
	ck_assert_ptr_nonnull(strstr(f->events, "10 mount T104@2 'first' V50 0"));
	ck_assert_ptr_nonnull(strstr(f->events, "20 unmount T104@2 'first' V50 0"));
	feed_free(f);
}
END_TEST

START_TEST(a_hundred_thousand_come_and_go)
{
	struct feed *f = start(0, NULL);

	f->man.end = 1000;
	for (uint64_t i = 1; i <= 100000; i++) {
		java_starts(f, 10, 1000 + i, 0, VIRTUAL);
		mount(f, 10, 104, 1000 + i);
		FEED(f, SLOT, 10, park_begin, .java_tid = 1000 + i);
		unmount(f, 10, 104, 1000 + i);
	}
	ck_assert_uint_ge(f->m->nests.nr, 100000);
	for (uint64_t i = 1; i <= 100000; i++)
		java_ends(f, 20, 1000 + i, 0);
	ck_assert_uint_lt(f->m->nests.nr, 10);
	feed_end(f);
	ck_assert_uint_eq(f->counts.errors[MODEL_ERROR_DIED_WAITING], 100000);
	feed_free(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model_vthreads");
	TCase *t = tcase_create("model_vthreads");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_test(t, a_parked_one_waits_until_it_is_unparked_and_then_for_a_carrier);
	tcase_add_test(t, a_pinned_one_waits_with_its_carrier);
	tcase_add_test(t, what_the_carrier_does_for_itself_is_its_own);
	tcase_add_test(t, a_file_read_on_the_way_to_a_park_is_no_contradiction);
	tcase_add_test(t, a_park_for_a_descriptor_is_what_the_call_could_not_do);
	tcase_add_test(t, those_that_were_there_before_begin_unknown);
	tcase_add_test(t, a_loss_on_any_carrier_makes_them_unknown);
	tcase_add_test(t, not_more_rows_than_asked_for);
	tcase_add_test(t, many_that_lived_take_no_memory);
	tcase_add_test(t, rows_are_for_the_window_and_for_last_names);
	tcase_add_test(t, no_virtual_thread_has_the_number_0);
	tcase_add_test(t, events_of_virtual_threads_are_theirs);
	tcase_add_test(t, a_hundred_thousand_come_and_go);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
