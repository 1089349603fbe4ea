/* SPDX-License-Identifier: MIT */
/* What is missing is UNKNOWN: lost records, missing packets, pauses. One behaviour a test. */
#include "test_model_feed.h"
#include "trace/decode.h"
#include "trace/write.h"

/* 100 runs on CPU 0, 101 sleeps, 200 is ready, all known at 10. */
static struct feed *feed_three(void)
{
	struct feed *f = feed_usual(false);

	feed_start(f, NULL);
	feed_packet(f, 0, 0, 40, 0, 0, 0);
	feed_packet(f, 1, 0, 40, 0, 0, 0);
	feed_dump(f, 10, 101, S, 0);
	feed_dump(f, 10, 200, S, 0);
	feed_switch(f, 0, 10, 0, R, 100);
	feed_wake(f, 1, 10, 7, 200, 10);
	return f;
}

START_TEST(after_a_loss_all_is_unknown_until_evidence)
{
	struct feed *f = feed_three();

	/* The merge steps into the next packet of CPU 0 after its last event, at 40. */
	FEED(f, 0, 40, sched_waking, .tid = 1);
	feed_packet(f, 0, 60, 90, 5, 0, 0);
	FEED(f, 1, 50, sched_wakeup, .tid = 101);
	FEED(f, 0, 60, lost_records, .type = 1, .count = 5, .first = 42, .last = 58);
	feed_switch(f, 0, 70, 100, S, 101);
	feed_end(f);
	ck_assert_str_eq(f->thread_log[0],
			 "unknown 0-10, run@0 10-40, unknown 40-70, sleep 70-1000");
	ck_assert_str_eq(f->thread_log[1],
			 "unknown 0-10, sleep 10-40, unknown 40-70, run@0 70-1000");
	ck_assert_str_eq(f->thread_log[2], "unknown 0-10, ready 10-40, unknown 40-1000");
	ck_assert_str_eq(f->cpu_log[0],
			 "unknown 0-10, target=100 10-40, unknown 40-70, target=101 70-1000");
	ck_assert_str_eq(f->damages, "0 40-60 5");
	ck_assert_uint_eq(f->counts.lost, 5);
	ck_assert_uint_eq(f->counts.contradictions, 0);
	ck_assert_str_eq(f->running, "10:1 40:0 70:1");
	feed_free(f);
}
END_TEST

START_TEST(a_thread_on_another_cpu_goes_on_running)
{
	struct feed *f = feed_three();

	feed_packet(f, 1, 60, 90, 1, 0, 0);
	feed_switch(f, 0, 70, 100, S, 0);
	feed_end(f);
	ck_assert_str_eq(f->thread_log[0], "unknown 0-10, run@0 10-70, sleep 70-1000");
	ck_assert_str_eq(f->thread_log[1], "unknown 0-10, sleep 10-40, unknown 40-1000");
	feed_free(f);
}
END_TEST

/* That CPU 0 lost records is told at 90 only; what 100 did on it at 60 stays true. */
START_TEST(a_thread_found_elsewhere_ran_until_it_was_last_seen)
{
	struct feed *f = feed_three();

	FEED(f, 0, 60, sched_waking, .tid = 101, .waker_tid = 100);
	feed_switch(f, 1, 80, 0, R, 100);
	FEED(f, 0, 90, lost_records, .type = 1, .count = 3, .first = 62, .last = 90);
	feed_end(f);
	ck_assert_str_eq(f->thread_log[0],
			 "unknown 0-10, run@0 10-60, unknown 60-80, run@1 80-1000");
	ck_assert_str_eq(f->cpu_log[0],
			 "unknown 0-10, target=100 10-60, unknown 60-62, unknown 62-1000");
	ck_assert_uint_eq(f->counts.contradictions, 1);
	feed_free(f);
}
END_TEST

/* The same where its running is told in parts, as reasons have it: the CPU's row says so, too. */
START_TEST(of_a_run_told_in_parts_the_cpu_keeps_its_own)
{
	struct feed *f = feed_usual(false);

	f->sink.wants_reasons = true;
	feed_start(f, NULL);
	feed_switch(f, 0, 10, 0, R, 100);
	FEED(f, 0, 50, syscall_enter, .tid = 100, .nr = 39);
	feed_switch(f, 1, 80, 0, R, 100);
	feed_end(f);
	ck_assert_str_eq(f->thread_log[0],
			 "unknown 0-10, run@0 10-50, unknown 50-80, run@1 80-1000");
	ck_assert_str_eq(f->cpu_log[0], "unknown 0-10, target=100 10-50, unknown 50-1000");
	feed_free(f);
}
END_TEST

/* A packet of CPU 0 from @begin on, whose header and whose LOST records, @n, tell of losses. */
static void feed_lost(struct feed *f, uint64_t begin, uint64_t discarded,
		      const struct jis_ev_lost_records *lost, uint32_t n)
{
	static const uint8_t uuid[16];
	struct stream_cursor *c = &f->cursors[0];
	struct packet_builder b = {0};
	struct jis_packet_header *h;

	ck_assert_int_eq(packet_builder_init(&b, 4096, JIS_STREAM_KERNEL, 0, uuid), 0);
	for (uint32_t i = 0; i < n; i++)
		packet_builder_add(&b, JIS_EV_lost_records, begin, &lost[i], sizeof(lost[i]), NULL);
	h = packet_builder_close(&b, 0);
	ck_assert_ptr_nonnull(h);
	c->base = begin;
	c->sizes = record_sizes[JIS_STREAM_KERNEL];
	c->next = (const uint8_t *)(h + 1);
	c->end = (const uint8_t *)h + h->content_size / 8;
	feed_packet(f, 0, begin, begin + 10, discarded, 0, 0);
	c->next = c->end = NULL;
	for (uint32_t i = 0; i < n; i++)
		feed_event(f, 0, begin, JIS_EV_lost_records, &lost[i], sizeof(lost[i]));
	packet_builder_fini(&b);
}

/* A record of all that the header counts says when; it comes after its time and is known before. */
START_TEST(the_first_record_tells_when)
{
	const struct jis_ev_lost_records lost = {.count = 5, .first = 44, .last = 60};
	struct feed *f = feed_three();

	feed_lost(f, 60, 5, &lost, 1);
	feed_end(f);
	ck_assert_str_eq(f->damages, "0 44-60 5");
	ck_assert_str_eq(f->thread_log[0], "unknown 0-10, run@0 10-44, unknown 44-1000");
	feed_free(f);
}
END_TEST

/* Of several, none tells of all; and one that is behind the packet's begin tells of another. */
START_TEST(records_that_tell_of_a_part_do_not)
{
	const struct jis_ev_lost_records two[] = {{.type = 1, .count = 3, .first = 44, .last = 50},
						  {.type = 2, .count = 2, .first = 46, .last = 60}};
	const struct jis_ev_lost_records late = {.count = 5, .first = 44, .last = 61};
	struct feed *f = feed_three();

	feed_lost(f, 60, 5, two, 2);
	feed_end(f);
	ck_assert_str_eq(f->damages, "0 40-60 5");
	feed_free(f);
	f = feed_three();
	feed_lost(f, 60, 5, &late, 1);
	feed_end(f);
	ck_assert_int_eq(strncmp(f->damages, "0 40-60 5", 9), 0);
	feed_free(f);
}
END_TEST

START_TEST(while_records_are_missing_only_running_is_believed)
{
	struct feed *f = feed_three();

	feed_packet(f, 1, 60, 90, 1, 0, 0);
	feed_switch(f, 0, 45, 100, S, 200);
	feed_switch(f, 0, 50, 200, S, 0);
	feed_switch(f, 0, 65, 0, R, 101);
	feed_switch(f, 0, 80, 101, S, 0);
	feed_end(f);
	ck_assert_str_eq(f->thread_log[0], "unknown 0-10, run@0 10-45, unknown 45-1000");
	ck_assert_str_eq(f->thread_log[2],
			 "unknown 0-10, ready 10-40, unknown 40-45, run@0 45-50, unknown 50-1000");
	ck_assert_str_eq(f->thread_log[1], "unknown 0-10, sleep 10-40, unknown 40-65, "
					   "run@0 65-80, sleep 80-1000");
	feed_free(f);
}
END_TEST

START_TEST(a_missing_packet_is_a_loss)
{
	struct feed *f = feed_three();

	feed_packet(f, 0, 60, 90, 0, 1, 0);
	feed_end(f);
	ck_assert_str_eq(f->damages, "0 40-60 0");
	ck_assert_str_eq(f->thread_log[0], "unknown 0-10, run@0 10-40, unknown 40-1000");
	feed_free(f);
}
END_TEST

START_TEST(a_loss_that_no_header_told_cuts_what_is_open)
{
	struct feed *f = feed_three();

	FEED(f, 0, 60, lost_records, .type = 0, .count = 3, .first = 42, .last = 58);
	feed_switch(f, 0, 70, 0, R, 101);
	feed_end(f);
	ck_assert_str_eq(f->thread_log[0], "unknown 0-10, run@0 10-42, unknown 42-1000");
	ck_assert_str_eq(f->thread_log[1],
			 "unknown 0-10, sleep 10-42, unknown 42-70, run@0 70-1000");
	ck_assert_str_eq(f->damages, "0 42-58 3");
	feed_free(f);
}
END_TEST

START_TEST(what_was_told_before_a_loss_was_known_stays_true)
{
	struct feed *f = feed_three();

	/* 100 wakes 101 on CPU 0 within the time in which records were lost, as is told later. */
	feed_wake(f, 0, 50, 100, 101, 51);
	FEED(f, 0, 60, lost_records, .type = 0, .count = 3, .first = 42, .last = 58);
	feed_end(f);
	ck_assert_str_eq(f->thread_log[0], "unknown 0-10, run@0 10-50, unknown 50-1000");
	ck_assert_str_eq(f->cpu_log[0], "unknown 0-10, target=100 10-50, unknown 50-1000");
	feed_free(f);
}
END_TEST

START_TEST(a_thread_born_after_a_loss_did_not_exist_before)
{
	struct feed *f = feed_new(false);

	feed_process(f, 100, "java");
	feed_thread(f, 101, 100, 70, ALIVE, "late");
	feed_thread(f, 102, 100, 50, ALIVE, "in the gap");
	feed_start(f, NULL);
	feed_packet(f, 0, 0, 40, 0, 0, 0);
	feed_packet(f, 0, 60, 90, 1, 0, 0);
	feed_fork(f, 1, 50, 7, 102);
	feed_fork(f, 1, 70, 7, 101);
	FEED(f, 1, 71, sched_wakeup_new, .tid = 101);
	feed_end(f);
	ck_assert_str_eq(f->thread_log[0], "none 0-71, ready 71-1000");
	ck_assert_str_eq(f->thread_log[1], "none 0-50, unknown 50-1000");
	feed_free(f);
}
END_TEST

START_TEST(an_exit_is_final_and_known_from_the_tables)
{
	struct feed *f = feed_new(false);

	feed_process(f, 100, "java");
	feed_thread(f, 101, 100, ALIVE, 30, "gone");
	feed_thread(f, 102, 100, ALIVE, 50, "lost its end");
	feed_thread(f, 103, 100, ALIVE, 80, "freed");
	feed_start(f, NULL);
	feed_switch(f, 0, 10, 0, R, 101);
	feed_switch(f, 0, 30, 101, X, 102);
	feed_packet(f, 0, 0, 40, 0, 0, 0);
	feed_packet(f, 0, 60, 90, 1, 0, 0);
	FEED(f, 1, 80, sched_process_free, .tid = 103);
	feed_end(f);
	ck_assert_str_eq(f->thread_log[0], "unknown 0-10, run@0 10-30, exited 30-1000");
	/* Its last switch-out was lost; the tables know of its end from elsewhere. */
	ck_assert_str_eq(f->thread_log[1],
			 "unknown 0-30, run@0 30-40, unknown 40-50, exited 50-1000");
	ck_assert_str_eq(f->thread_log[2], "unknown 0-80, exited 80-1000");
	feed_free(f);
}
END_TEST

START_TEST(between_pause_and_the_dump_after_resume_all_is_unknown)
{
	struct feed *f = feed_three();

	FEED(f, FEED_RECORDER, 50, session_mark, .mark = JIS_MARK_PAUSE);
	feed_switch(f, 0, 51, 100, S, 101);
	FEED(f, FEED_RECORDER, 80, session_mark, .mark = JIS_MARK_RESUME);
	feed_dump(f, 85, 100, S, 0);
	feed_dump(f, 86, 101, R, 0);
	feed_switch(f, 0, 90, 101, S, 0);
	feed_end(f);
	ck_assert_str_eq(f->thread_log[0],
			 "unknown 0-10, run@0 10-50, unknown 50-85, sleep 85-1000");
	ck_assert_str_eq(f->thread_log[1], "unknown 0-10, sleep 10-50, unknown 50-86, run@0 86-90, "
					   "sleep 90-1000");
	ck_assert_str_eq(f->thread_log[2], "unknown 0-10, ready 10-50, unknown 50-1000");
	ck_assert_str_eq(f->cpu_log[0], "unknown 0-10, target=100 10-50, unknown 50-86, "
					"target=101 86-90, unknown 90-1000");
	ck_assert_str_eq(f->events, "50 session 2, 80 session 3");
	feed_free(f);
}
END_TEST

START_TEST(threads_of_a_removed_target_are_unknown)
{
	struct feed *f = feed_three();

	FEED(f, FEED_RECORDER, 50, target_removed, .pid = 100);
	feed_end(f);
	ck_assert_str_eq(f->thread_log[0], "unknown 0-10, run@0 10-50, unknown 50-1000");
	ck_assert_str_eq(f->thread_log[1], "unknown 0-10, sleep 10-50, unknown 50-1000");
	ck_assert_str_eq(f->thread_log[2], "unknown 0-10, ready 10-1000");
	ck_assert_str_eq(f->cpu_log[0], "unknown 0-10, target=100 10-50, unknown 50-1000");
	feed_free(f);
}
END_TEST

START_TEST(damages_of_the_manifest_count)
{
	struct damage_entry damage = {.path = (char *)"kernel/cpu-1",
				      .begin = 40,
				      .end = TIME_NONE,
				      .reason = (char *)"cut off"};
	struct stream_entry stream = {.path = (char *)"kernel/cpu-1", .instance = 1};
	struct feed *f = feed_usual(false);

	f->man.damages = &damage;
	f->man.nr_damages = 1;
	f->man.streams = &stream;
	f->man.nr_streams = 1;
	feed_start(f, NULL);
	feed_dump(f, 10, 100, S, 0);
	feed_switch(f, 0, 60, 0, R, 101);
	feed_switch(f, 0, 70, 101, S, 0);
	feed_end(f);
	ck_assert_str_eq(f->thread_log[0], "unknown 0-10, sleep 10-40, unknown 40-1000");
	ck_assert_str_eq(f->thread_log[1], "unknown 0-60, run@0 60-70, unknown 70-1000");
	ck_assert_str_eq(f->damages, "1 40-1000 0");
	feed_free(f);
}
END_TEST

START_TEST(a_wakeup_of_an_unknown_thread_is_a_link_only_if_it_ended_a_wait)
{
	struct feed *f = feed_usual(false);

	feed_start(f, NULL);
	feed_wake(f, 1, 20, 7, 100, 21);
	feed_wake(f, 1, 20, 7, 101, 21);
	feed_switch(f, 0, 30, 0, R, 100);
	feed_switch(f, 2, 40, 101, S, 0);
	feed_end(f);
	ck_assert_str_eq(f->wakeups, "100<-7@1 20-21");
	ck_assert_str_eq(f->thread_log[0], "unknown 0-21, ready 21-30, run@0 30-1000");
	ck_assert_str_eq(f->thread_log[1], "unknown 0-21, run@2 21-40, sleep 40-1000");
	feed_free(f);
}
END_TEST

static struct feed *feed_window(uint64_t from, uint64_t to)
{
	const struct model_options options = {.from = from, .to = to};
	struct feed *f = feed_usual(false);

	feed_start(f, &options);
	return f;
}

START_TEST(losses_are_cut_to_the_window)
{
	struct feed *f = feed_window(300, 600);

	loss_add(f->m, &f->cursors[0], 100, 300, 1, "before");
	loss_add(f->m, &f->cursors[0], 600, 700, 2, "behind");
	loss_add(f->m, &f->cursors[0], 600, TIME_NONE, 4, "behind");
	loss_add(f->m, &f->cursors[1], 200, 301, 8, "over its begin");
	loss_add(f->m, &f->cursors[2], 250, 250, 16, "a moment before");
	loss_add(f->m, &f->cursors[2], 300, 300, 32, "its first moment");
	loss_add(f->m, &f->cursors[3], 400, 500, 64, "inside");
	loss_add(f->m, &f->cursors[FEED_SLOT(0)], 599, 650, 128, "over its end");
	loss_add(f->m, &f->cursors[FEED_SLOT(0)], 10, 290, 256, "before");
	feed_end(f);
	ck_assert_str_eq(f->damages, "1 300-301 8, 2 300-300 32, 3 400-500 64, -1 599-600 128");
	ck_assert_uint_eq(f->counts.lost, 8 + 32 + 64 + 128);
	ck_assert_uint_eq(f->counts.lost_user, 128);
	feed_free(f);
}
END_TEST

START_TEST(a_loss_over_the_whole_window_is_the_windows)
{
	struct feed *f = feed_window(300, 600);

	loss_add(f->m, &f->cursors[0], 100, TIME_NONE, 1, "all of it");
	feed_end(f);
	ck_assert_str_eq(f->damages, "0 300-600 1");
	feed_free(f);
}
END_TEST

/* A writer tells what it lost in its next record, which may come behind the window. */
START_TEST(what_is_told_behind_the_window_and_was_in_it_counts)
{
	const struct jis_ev_lost_records in = {.count = 3, .first = 590, .last = 700},
					 behind = {.count = 5, .first = 601, .last = 700};
	struct feed *f = feed_window(300, 600);

	feed_dump(f, 400, 100, S, 0);
	FEED(f, 3, 600, sched_wakeup, .tid = 7); /* with this the window ends */
	for (uint32_t i = 0; i < 2; i++) {
		struct stream_cursor *c = &f->cursors[1 + i];

		c->time = 710 + i;
		c->id = JIS_EV_lost_records;
		c->payload = (const void *)(i ? &behind : &in);
	}
	losses_behind(f->m);
	feed_end(f);
	ck_assert_str_eq(f->damages, "1 590-600 3");
	ck_assert_uint_eq(f->counts.lost, 3);
	ck_assert_uint_eq(f->counts.lost_user, 0);
	ck_assert_str_eq(f->thread_log[0], "unknown 300-400, sleep 400-590, unknown 590-600");
	feed_free(f);
}
END_TEST

START_TEST(what_the_kernel_and_what_processes_lost_is_told_apart)
{
	struct stream_entry streams[] = {
		{.path = (char *)"kernel/cpu-0", .stream_class = JIS_STREAM_KERNEL, .lost[3] = 7},
		{.path = (char *)"jvm/slot-0", .stream_class = JIS_STREAM_USER, .lost[2] = 11},
		{.path = (char *)"jvm/dict", .stream_class = JIS_STREAM_DICT, .lost[2] = 13}};
	struct feed *f = feed_usual(false);

	f->man.streams = streams;
	f->man.nr_streams = 3;
	feed_start(f, NULL);
	feed_end(f);
	ck_assert_uint_eq(f->counts.lost, 7 + 11 + 13);
	ck_assert_uint_eq(f->counts.lost_user, 11 + 13);
	feed_free(f);
}
END_TEST

#define MANY 200000u

/* Losses are told in the order of their begins, of the same begin in that of their being noted. */
static int on_many(void *ctx, const struct model_damage *d)
{
	uint64_t *next = ctx;

	if (d->begin != *next / 2 || d->lost != *next % 2 + 1)
		ck_abort_msg("loss %" PRIu64 " is %" PRIu64 " of %" PRIu64, *next, d->lost,
			     d->begin);
	++*next;
	return 0;
}

START_TEST(very_many_losses_are_told_in_order)
{
	struct feed *f = feed_usual(false);
	uint64_t next = 0;
	const struct model_sink sink = {.damage = on_many, .ctx = &next};

	f->man.end = MANY;
	f->sinks[0] = &sink;
	feed_start(f, NULL);
	/* Noted backwards, all before the first is due. */
	for (uint32_t i = MANY / 2; i--;)
		for (uint32_t twice = 1; twice <= 2; twice++)
			loss_add(f->m, &f->cursors[i % FEED_CPUS], i, i + 10, twice, "test");
	ck_assert_int_eq(model_finish(f->m), 0);
	ck_assert_uint_eq(next, MANY);
	feed_free(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model_loss");
	TCase *t = tcase_create("loss");
	SRunner *runner = srunner_create(s);
	int failed;

	tcase_add_test(t, after_a_loss_all_is_unknown_until_evidence);
	tcase_add_test(t, a_thread_on_another_cpu_goes_on_running);
	tcase_add_test(t, a_thread_found_elsewhere_ran_until_it_was_last_seen);
	tcase_add_test(t, of_a_run_told_in_parts_the_cpu_keeps_its_own);
	tcase_add_test(t, the_first_record_tells_when);
	tcase_add_test(t, records_that_tell_of_a_part_do_not);
	tcase_add_test(t, while_records_are_missing_only_running_is_believed);
	tcase_add_test(t, a_missing_packet_is_a_loss);
	tcase_add_test(t, a_loss_that_no_header_told_cuts_what_is_open);
	tcase_add_test(t, what_was_told_before_a_loss_was_known_stays_true);
	tcase_add_test(t, a_thread_born_after_a_loss_did_not_exist_before);
	tcase_add_test(t, an_exit_is_final_and_known_from_the_tables);
	tcase_add_test(t, between_pause_and_the_dump_after_resume_all_is_unknown);
	tcase_add_test(t, threads_of_a_removed_target_are_unknown);
	tcase_add_test(t, damages_of_the_manifest_count);
	tcase_add_test(t, a_wakeup_of_an_unknown_thread_is_a_link_only_if_it_ended_a_wait);
	tcase_add_test(t, losses_are_cut_to_the_window);
	tcase_add_test(t, a_loss_over_the_whole_window_is_the_windows);
	tcase_add_test(t, what_is_told_behind_the_window_and_was_in_it_counts);
	tcase_add_test(t, what_the_kernel_and_what_processes_lost_is_told_apart);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, very_many_losses_are_told_in_order);
	suite_add_tcase(s, t);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
