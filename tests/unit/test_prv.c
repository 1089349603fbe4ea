/* SPDX-License-Identifier: MIT */
/* The Paraver files of tiny traces, compared to the letter. */
#include "test_prv_files.h"

static struct feed *tiny(void)
{
	struct feed *f = feed_usual(false);

	f->man.nr_cpus = 2;
	f->man.realtime_offset = 1763690400ll * 1000000000; /* 2025-11-21 02:00 UTC */
	f->threads[1].name = (char *)"http-nio-8080\nexec-1 \xc3\xa9";
	return f;
}

static void tiny_story(struct feed *f)
{
	begin(f);
	feed_dump(f, 10, 100, S, 0);
	feed_dump(f, 10, 101, D, 0);
	FEED_TEXT(f, FEED_DICT(0), 11, string_def, text, "get /", .id = 1);
	feed_wake(f, 1, 20, 7, 100, 30);
	feed_switch(f, 0, 40, 0, R, 100);
	feed_packet(f, FEED_SLOT(0), 45, 60, 0, 0, 100);
	FEED(f, FEED_SLOT(0), 45, span_begin, .name = 1);
	feed_wake(f, 0, 50, 100, 101, 50);
	FEED(f, FEED_SLOT(0), 55, span_end, .name = 1);
	FEED(f, FEED_SLOT(0), 56, marker, .type = 3, .value = -1);
	FEED(f, FEED_SLOT(0), 57, marker, .type = 4000000000u, .value = 1);
	feed_switch(f, 0, 60, 100, R | JIS_TASK_PREEMPTED, 101);
	feed_packet(f, FEED_SLOT(0), 65, 80, 0, 0, 101);
	FEED(f, FEED_SLOT(0), 65, gc_start, .number = 1);
	FEED(f, FEED_SLOT(0), 70, gc_finish, .number = 1);
	feed_switch(f, 0, 80, 101, S, 9);
}

static const char tiny_row[] = "LEVEL CPU SIZE 2\nCPU 0\nCPU 1\n\nLEVEL NODE SIZE 1\nhost\n\n"
			       "LEVEL THREAD SIZE 3\nmain [100]\n"
			       "http-nio-8080\\nexec-1 \xc3\xa9 [101]\nother [200]\n\n"
			       "LEVEL TASK SIZE 2\njava [100]\nother [200]\n\n"
			       "LEVEL APPL SIZE 1\ntraced processes\n";

static const char tiny_pcf[] =
	"DEFAULT_OPTIONS\n\nLEVEL THREAD\nUNITS NANOSEC\nLOOK_BACK 100\nSPEED 1\n"
	"FLAG_ICONS ENABLED\nNUM_OF_STATE_COLORS 1000\nYMAX_SCALE 37\n\n"
	"DEFAULT_SEMANTIC\n\nTHREAD_FUNC State As Is\n\n"
	"STATES\n0 Idle\n1 Running\n2 Not created or exited\n7 Ready, waits for a CPU\n9 Blocked\n"
	"34 Unknown\n35 CPU held by a thread that was not traced\n36 CPU held by a traced thread\n"
	"37 Ready, but the cgroup's CPU quota is used up\n"
	"\nSTATES_COLOR\n0 {117,195,255}\n1 {0,0,255}\n2 {255,255,255}\n7 {255,255,0}\n"
	"9 {0,162,0}\n34 {128,128,128}\n35 {210,180,140}\n36 {70,70,200}\n37 {255,105,0}\n"
	"\nEVENT_TYPE\n0 77000001 Kind of wait\nVALUES\n0 none, or interruptible\n"
	"2 uninterruptible\n3 stopped\n"
	"\nEVENT_TYPE\n0 48000001 Garbage collection\nVALUES\n0 none\n"
	"1 collection, the JVM stands still\n"
	"\nEVENT_TYPE\n0 77000010 Span\nVALUES\n0 none\n1 get /\n"
	"\nEVENT_TYPE\n0 77010003 Marker 3\n"
	"\nEVENT_TYPE\n0 77060000 Marker 4000000000\n";

START_TEST(a_tiny_trace_is_written_to_the_letter)
{
	struct files x = files_new();
	struct feed *f = tiny();

	start(f, &x, &(struct paraver_options){0});
	tiny_story(f);
	ck_assert_uint_eq(paraver_stats(x.p)->rows, 3);
	finish(f, &x);
	files_are(&x, ".prv",
		  "#Paraver (21/11/2025 at 02:00):1000_ns:1(2):1:2(2:1,1:1)\n"
		  "1:0:1:1:1:0:10:34\n"
		  "1:0:1:1:2:0:10:34\n"
		  "1:0:1:1:1:10:30:9\n"
		  "1:0:1:1:1:30:40:7\n"
		  "2:1:1:1:1:45:77000010:1\n"
		  "2:0:1:1:2:10:77000001:2\n"
		  "2:0:1:1:2:50:77000001:0\n"
		  "1:0:1:1:2:10:50:9\n"
		  "3:1:1:1:1:50:50:0:1:1:2:50:50:0:0\n"
		  "2:1:1:1:1:55:77000010:0\n"
		  "2:1:1:1:1:56:77010003:-1\n"
		  "2:1:1:1:1:57:77060000:1\n"
		  "1:1:1:1:1:40:59:1\n" /* hands the CPU over: 1 ns early */
		  "1:0:1:1:2:50:60:7\n"
		  "2:1:1:1:2:65:48000001:1\n"
		  "2:1:1:1:2:70:48000001:0\n"
		  "1:1:1:1:2:60:80:1\n" /* nobody of ours follows: exact */
		  "1:0:1:1:1:59:1000:7\n"
		  "1:0:1:1:2:80:1000:9\n"
		  "1:0:1:2:1:0:1000:34\n");
	files_are(&x, ".row", tiny_row);
	files_are(&x, ".pcf", tiny_pcf);
	feed_free(f);
	files_free(&x);
}
END_TEST

START_TEST(sorted_and_compressed_it_is_the_same_lines)
{
	struct files plain = files_new(), sorted = files_new();
	struct feed *f = tiny(), *g = tiny();
	size_t plain_len;
	uint64_t last = 0;
	char *a, *b;

	start(f, &plain, &(struct paraver_options){.wakeups = PARAVER_WAKEUPS_ALL});
	tiny_story(f);
	finish(f, &plain);
	start(g, &sorted,
	      &(struct paraver_options){.wakeups = PARAVER_WAKEUPS_ALL,
					.gzip = true,
					.sort = true});
	tiny_story(g);
	finish(g, &sorted);
	a = content(&plain, ".prv");
	b = content(&sorted, ".prv.gz");
	plain_len = strlen(a);
	ck_assert_uint_eq(plain_len, strlen(b));
	for (char *line = strchr(b, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
		char *end = strchr(line, '\n');

		ck_assert_uint_ge(line_begin(line), last);
		last = line_begin(line);
		*end = '\0';
		ck_assert_ptr_nonnull(strstr(a, line));
		*end = '\n';
	}
	free(a);
	free(b);
	feed_free(f);
	feed_free(g);
	files_free(&plain);
	files_free(&sorted);
}
END_TEST

START_TEST(cpu_rows_show_who_held_the_cpu_and_send_the_other_wakeups)
{
	struct files x = files_new();
	struct feed *f = feed_new(true);
	char *text;

	feed_process(f, 100, "java");
	feed_thread(f, 100, 100, ALIVE, ALIVE, "main");
	f->man.nr_cpus = 1;
	start(f, &x, &(struct paraver_options){.wakeups = PARAVER_WAKEUPS_ALL});
	begin(f);
	feed_dump(f, 5, 100, S, 0);
	feed_wake(f, 0, 10, 7, 100, 11);
	feed_switch(f, 0, 20, 0, R, 100);
	feed_switch(f, 0, 30, 100, S, 55);
	feed_switch(f, 0, 40, 55, S, 0);
	finish(f, &x);
	text = content(&x, ".prv");
	ck_assert_str_eq(strchr(text, '\n'), "\n"
					     "1:0:1:1:1:0:5:34\n"
					     "1:0:1:1:1:5:11:9\n"
					     "3:0:2:1:1:10:10:0:1:1:1:11:11:0:0\n"
					     "1:0:2:1:1:0:11:34\n"
					     "1:0:1:1:1:11:20:7\n"
					     "1:0:2:1:1:11:20:0\n"
					     "1:1:1:1:1:20:30:1\n"
					     "1:0:2:1:1:20:30:36\n"
					     "2:0:2:1:1:20:77000002:100\n"
					     "1:0:2:1:1:30:40:35\n"
					     "2:0:2:1:1:30:77000002:55\n"
					     "1:0:1:1:1:30:1000:9\n"
					     "1:0:2:1:1:40:1000:0\n"
					     "2:0:2:1:1:40:77000002:0\n");
	ck_assert_ptr_nonnull(strstr(text, ":1000_ns:1(1):2:1(1:1):1(1:1)\n"));
	free(text);
	feed_free(f);
	files_free(&x);
}
END_TEST

START_TEST(who_has_the_cpu_that_is_waited_for_is_told)
{
	struct files x = files_new();
	struct feed *f = feed_new(true);
	char *text, *at;

	feed_process(f, 100, "java");
	feed_thread(f, 100, 100, ALIVE, ALIVE, "main");
	feed_thread(f, 101, 100, ALIVE, ALIVE, "worker");
	f->man.nr_cpus = 1;
	start(f, &x, &(struct paraver_options){0});
	begin(f);
	feed_dump(f, 5, 101, S, 0);
	FEED(f, 0, 9, cpu_steal, .stolen = 1000);
	feed_switch(f, 0, 10, 0, R, 100);
	feed_wake(f, 0, 20, 100, 101, 20);
	FEED(f, 0, 30, cpu_steal, .stolen = 1007);
	feed_switch(f, 0, 31, 100, S, 55);
	feed_switch(f, 0, 40, 55, S, 101);
	feed_switch(f, 0, 50, 101, S, 0);
	feed_wake(f, 0, 60, 0, 101, 60); /* an idle CPU is behind nobody */
	feed_switch(f, 0, 70, 0, R, 101);
	finish(f, &x);
	text = content(&x, ".prv");
	ck_assert_ptr_nonnull(strstr(text, "\n2:0:1:1:2:20:77000017:1\n"));
	/* One ends before the next begins, at the same time. */
	at = strstr(text, "\n2:0:1:1:2:31:77000017:0\n");
	ck_assert(at && strstr(at, "\n2:0:1:1:2:31:77000017:3\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n2:0:1:1:2:40:77000017:0\n"));
	ck_assert_ptr_null(strstr(text, ":60:77000017"));
	ck_assert_ptr_nonnull(strstr(text, "\n2:1:1:1:1:30:77000018:7\n"));
	free(text);
	text = content(&x, ".pcf");
	ck_assert_ptr_nonnull(strstr(text, "0 77000017 Has the CPU it waits for\nVALUES\n0 none\n"
					   "1 main [100]\n2 worker [101]\n"
					   "3 a thread that has no row\n"));
	ck_assert_ptr_nonnull(strstr(text, "0 77000018 Taken by the hypervisor, ns\n"));
	free(text);
	feed_free(f);
	files_free(&x);
}
END_TEST

/* A virtual thread that has a carrier from 20 on. */
static struct feed *carried(struct files *x)
{
	struct feed *f = feed_new(true);

	feed_process(f, 100, "java");
	feed_thread(f, 104, 100, ALIVE, ALIVE, "carrier");
	f->man.nr_cpus = 1;
	start_model(f);
	ck_assert_int_eq(vthread_add(f->m, 0, 50, "v50", 1), 0);
	start_export(f, x, &(struct paraver_options){0});
	begin(f);
	feed_switch(f, 0, 10, 0, R, 104);
	FEED(f, FEED_SLOT(0), 20, thread_bind, .tid = 104);
	FEED(f, FEED_SLOT(0), 20, vthread_mount, .java_tid = 50);
	return f;
}

START_TEST(a_virtual_thread_on_a_carrier_that_is_ready_is_not_counted_twice)
{
	struct files x = files_new();
	struct feed *f = carried(&x);
	char *text, *at;

	feed_switch(f, 0, 30, 104, R | JIS_TASK_PREEMPTED, 55);
	feed_switch(f, 0, 40, 55, S, 104);
	FEED(f, FEED_SLOT(0), 50, vthread_unmount, .java_tid = 50);
	finish(f, &x);
	text = content(&x, ".prv");
	/* The carrier is ready, and only it. */
	at = strstr(text, ":30:40:7\n");
	ck_assert(at && !strstr(at + 1, ":30:40:7\n"));
	ck_assert_ptr_nonnull(strstr(text, ":20:30:39\n"));
	ck_assert_ptr_nonnull(strstr(text, ":30:40:40\n"));
	ck_assert_ptr_nonnull(strstr(text, ":40:50:39\n"));
	free(text);
	text = content(&x, ".pcf");
	ck_assert_ptr_nonnull(strstr(text, "\n40 Virtual, its carrier waits for a CPU\n"));
	free(text);
	feed_free(f);
	files_free(&x);
}
END_TEST

/* Nobody said why the carrier left its CPU. */
START_TEST(a_virtual_thread_that_waits_untold_why_is_pinned_too)
{
	struct files x = files_new();
	struct feed *f = carried(&x);
	char *text, *at;
	int rows = 0;

	feed_switch(f, 0, 30, 104, S, 0);
	feed_wake(f, 0, 40, 55, 104, 0);
	feed_switch(f, 0, 45, 0, R, 104);
	FEED(f, FEED_SLOT(0), 50, vthread_unmount, .java_tid = 50);
	finish(f, &x);
	text = content(&x, ".prv");
	for (at = text; (at = strstr(at, ":30:77000016:1\n")); at++)
		rows++;
	ck_assert_int_eq(rows, 2);
	for (at = text; (at = strstr(at, ":40:77000016:0\n")); at++)
		rows--;
	ck_assert_int_eq(rows, 0);
	free(text);
	feed_free(f);
	files_free(&x);
}
END_TEST

START_TEST(each_host_is_a_node)
{
	struct host_entry hosts[] = {
		{.name = (char *)"alpha", .first_cpu = 0, .nr_cpus = 1, .end = 1000},
		{.name = (char *)"b\teta", .first_cpu = 1, .nr_cpus = 3, .end = 1000},
	};
	struct files x = files_new();
	struct feed *f = feed_new(true);
	char *text;

	f->man.hosts = hosts;
	f->man.nr_hosts = 2;
	feed_process(f, 100, "java");
	feed_process(f, 10000100, "java");
	feed_thread(f, 100, 100, ALIVE, ALIVE, "main");
	feed_thread(f, 10000100, 10000100, ALIVE, ALIVE, "main");
	feed_thread(f, 10000101, 10000100, ALIVE, ALIVE, "worker");
	start(f, &x, &(struct paraver_options){.cpu_rows = true});
	begin(f);
	feed_switch(f, 0, 20, 0, R, 100);
	feed_switch(f, 2, 30, 0, R, 10000101);
	finish(f, &x);
	text = content(&x, ".prv");
	ck_assert_str_eq(strstr(text, "_ns:"), "_ns:2(1,3):2:2(1:1,2:2):2(1:1,3:2)\n"
					       "1:0:1:1:1:0:20:34\n"
					       "1:0:2:1:1:0:20:34\n"
					       "1:0:1:2:2:0:30:34\n"
					       "1:0:2:2:2:0:30:34\n"
					       "1:1:1:1:1:20:1000:1\n"
					       "1:0:1:2:1:0:1000:34\n"
					       "1:3:1:2:2:30:1000:1\n"
					       "1:0:2:1:1:20:1000:36\n"
					       "2:0:2:1:1:20:77000002:100\n"
					       "1:0:2:2:1:0:1000:34\n"
					       "1:0:2:2:2:30:1000:36\n"
					       "2:0:2:2:2:30:77000002:10000101\n"
					       "1:0:2:2:3:0:1000:34\n");
	free(text);
	files_are(&x, ".row",
		  "LEVEL CPU SIZE 4\nCPU 0 alpha\nCPU 1 b\\teta\nCPU 2 b\\teta\nCPU 3 b\\teta\n\n"
		  "LEVEL NODE SIZE 2\nalpha\nb\\teta\n\n"
		  "LEVEL THREAD SIZE 7\nmain [100]\nmain [10000100]\nworker [10000101]\n"
		  "CPU 0 alpha\nCPU 1 b\\teta\nCPU 2 b\\teta\nCPU 3 b\\teta\n\n"
		  "LEVEL TASK SIZE 4\njava [100]\njava [10000100]\nCPUs of alpha\n"
		  "CPUs of b\\teta\n\nLEVEL APPL SIZE 2\ntraced processes\nCPUs\n");
	feed_free(f);
	files_free(&x);
}
END_TEST

START_TEST(a_run_of_one_nanosecond_names_no_cpu)
{
	struct files x = files_new();
	struct feed *f = tiny();
	char *text;

	start(f, &x, &(struct paraver_options){.wakeups = PARAVER_WAKEUPS_NONE});
	begin(f);
	feed_switch(f, 0, 40, 0, R, 100);
	feed_switch(f, 0, 41, 100, R, 101);
	feed_switch(f, 0, 43, 101, R, 100);
	finish(f, &x);
	text = content(&x, ".prv");
	ck_assert_ptr_nonnull(strstr(text, "\n1:0:1:1:1:40:41:1\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n1:1:1:1:2:41:42:1\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n1:0:1:1:1:41:43:7\n"));
	free(text);
	feed_free(f);
	files_free(&x);
}
END_TEST

/* It goes on behind the window: in a system call, or with another thread on its CPU. */
START_TEST(what_the_window_cuts_off_is_told_to_its_end)
{
	const struct model_options window = {.from = 5, .to = 25};
	struct files x = files_new();
	struct feed *f = feed_usual(false);
	char *text;

	ck_assert_int_eq(model_new(&f->man, &window, f->cursors, FEED_STREAMS, &f->m), 0);
	start_export(f, &x, &(struct paraver_options){0});
	begin(f);
	feed_switch(f, 0, 10, 0, R, 100);
	if (_i)
		FEED(f, 0, 30, syscall_enter, .tid = 100, .nr = 0);
	else
		feed_switch(f, 0, 30, 100, S, 101);
	finish(f, &x);
	text = content(&x, ".prv");
	ck_assert_ptr_nonnull(strstr(text, "\n1:1:1:1:1:5:20:1\n"));
	free(text);
	feed_free(f);
	files_free(&x);
}
END_TEST

START_TEST(rows_of_dead_threads_are_used_again_when_there_are_too_many)
{
	struct files x = files_new();
	struct feed *f = feed_new(false);
	char *text;

	feed_process(f, 100, "java");
	feed_thread(f, 100, 100, ALIVE, ALIVE, "main");
	feed_thread(f, 101, 100, 10, 30, "a");
	feed_thread(f, 102, 100, 20, ALIVE, "b");
	feed_thread(f, 103, 100, 40, ALIVE, "c");
	start(f, &x, &(struct paraver_options){.max_rows = 3});
	begin(f);
	feed_fork(f, 1, 10, 100, 101);
	FEED(f, 1, 11, sched_wakeup_new, .tid = 101);
	feed_switch(f, 0, 12, 0, R, 101);
	feed_fork(f, 1, 20, 100, 102);
	feed_switch(f, 0, 30, 101, X, 0);
	feed_fork(f, 1, 40, 100, 103);
	FEED(f, 1, 41, sched_wakeup_new, .tid = 103);
	ck_assert_uint_eq(paraver_stats(x.p)->rows, 3);
	ck_assert_uint_eq(paraver_stats(x.p)->shared, 1);
	finish(f, &x);
	text = content(&x, ".prv");
	ck_assert_str_eq(strchr(text, '\n'), "\n"
					     "1:0:1:1:1:0:10:34\n"
					     "1:0:1:1:2:0:11:2\n"
					     "1:0:1:1:2:11:12:7\n"
					     "1:1:1:1:2:12:30:1\n"
					     "1:0:1:1:2:30:41:2\n" /* c's turn */
					     "1:2:1:1:1:10:1000:1\n"
					     "1:0:1:1:3:0:1000:2\n"
					     "1:0:1:1:2:41:1000:7\n");
	free(text);
	text = content(&x, ".row");
	ck_assert_ptr_nonnull(strstr(text, "\na [101] (and 1 later)\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n# row 1:1:2 from 40 ns: c [103]\n"));
	free(text);
	feed_free(f);
	files_free(&x);
}
END_TEST

static void number_is(uint64_t v)
{
	char text[64] = "", expected[32];
	struct prv_number n = number_of(v < NUMBER_MAX ? v : 0);

	*put_u64(text, v) = '\0';
	snprintf(expected, sizeof(expected), "%" PRIu64, v);
	ck_assert_str_eq(text, expected);
	*put_number(text, &n) = '\0';
	if (v < NUMBER_MAX)
		ck_assert_str_eq(text, expected);
	*put_s64(text, -(int64_t)(v / 2)) = '\0';
	snprintf(expected, sizeof(expected), "%" PRId64, -(int64_t)(v / 2));
	ck_assert_str_eq(text, expected);
}

START_TEST(numbers_are_written_as_printf_does)
{
	unsigned int seed = 1;

	for (uint64_t power = 1; power && power <= UINT64_MAX / 10; power *= 10) {
		for (int64_t d = -2; d <= 2; d++)
			number_is(power + (uint64_t)d > power + 2 ? 0 : power + (uint64_t)d);
		for (uint64_t k = 2; k < 10; k++)
			number_is(power * k + (uint64_t)rand_r(&seed) % power);
	}
	number_is(UINT64_MAX);
	number_is(INT64_MAX);
	for (int i = 0; i < 200000; i++)
		number_is(((uint64_t)rand_r(&seed) << 33 | (uint64_t)rand_r(&seed) << 2) >>
			  rand_r(&seed) % 64);
}
END_TEST

START_TEST(what_paraver_cannot_load_is_refused_and_leaves_no_files)
{
	struct files x = files_new();
	struct feed *f = feed_new(false);

	start(f, &x, &(struct paraver_options){0});
	ck_assert_int_eq(model_begin(f->m, f->sinks, f->nr_sinks), -ENODATA);
	paraver_close(x.p);
	feed_free(f);
	files_free(&x);

	x = files_new();
	f = feed_usual(false);
	start(f, &x, &(struct paraver_options){.max_rows = 2, .sort = true});
	ck_assert_int_eq(model_begin(f->m, f->sinks, f->nr_sinks), -E2BIG);
	paraver_close(x.p);
	feed_free(f);
	files_free(&x);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("prv");
	TCase *t = tcase_create("prv");
	SRunner *runner = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_test(t, a_tiny_trace_is_written_to_the_letter);
	tcase_add_test(t, sorted_and_compressed_it_is_the_same_lines);
	tcase_add_test(t, cpu_rows_show_who_held_the_cpu_and_send_the_other_wakeups);
	tcase_add_test(t, who_has_the_cpu_that_is_waited_for_is_told);
	tcase_add_test(t, a_virtual_thread_on_a_carrier_that_is_ready_is_not_counted_twice);
	tcase_add_test(t, a_virtual_thread_that_waits_untold_why_is_pinned_too);
	tcase_add_test(t, each_host_is_a_node);
	tcase_add_test(t, a_run_of_one_nanosecond_names_no_cpu);
	tcase_add_loop_test(t, what_the_window_cuts_off_is_told_to_its_end, 0, 2);
	tcase_add_test(t, rows_of_dead_threads_are_used_again_when_there_are_too_many);
	tcase_add_test(t, numbers_are_written_as_printf_does);
	tcase_add_test(t, what_paraver_cannot_load_is_refused_and_leaves_no_files);
	suite_add_tcase(s, t);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
