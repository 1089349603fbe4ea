/* SPDX-License-Identifier: MIT */
/* The tables of threads that follow from events, whatever the order in which streams are fed. */
#include <check.h>

#include "libjisctl/packet_walk.h"
#include "test_trace_gen.h"
#include "trace/event_info.h"

#define NR 3 /* streams: CPU, recorder, dictionary */

static struct packet_builder b[NR];
static const uint32_t classes[NR] = {JIS_STREAM_KERNEL, JIS_STREAM_RECORDER, JIS_STREAM_DICT};
static uint64_t now;

static void setup(void)
{
	static const uint8_t uuid[16];

	now = 100;
	for (int i = 0; i < NR; i++)
		ck_assert_int_eq(packet_builder_init(&b[i], 1 << 22, classes[i], 0, uuid), 0);
}

static void teardown(void)
{
	for (int i = 0; i < NR; i++)
		packet_builder_fini(&b[i]);
}

#define SAY(stream, event, string, ...)                                                            \
	do {                                                                                       \
		const struct jis_ev_##event payload_ = {__VA_ARGS__};                              \
		const char *text_ = (string);                                                      \
                                                                                                   \
		now += 10;                                                                         \
		ck_assert_int_eq(packet_builder_add(&b[stream], JIS_EV_##event, now, &payload_,    \
						    sizeof(payload_) - (text_ ? 4 : 0), text_),    \
				 0);                                                               \
	} while (0)

static void target(uint32_t pid, uint32_t flags, const char *comm)
{
	SAY(1, target_added, comm, .pid = pid, .flags = flags);
}

static void dump(uint32_t tid, uint32_t pid, const char *comm)
{
	SAY(0, thread_state, comm, .tid = tid, .pid = pid, .ns_tid = tid - 100, .state = 1,
	    .start_time = tid);
}

static void fork_(uint32_t parent, uint32_t tid, uint32_t pid, const char *comm)
{
	SAY(0, sched_process_fork, comm, .parent_tid = parent, .tid = tid, .pid = pid,
	    .ns_tid = tid - 100, .start_time = now);
}

static void exit_(uint32_t tid, uint32_t pid)
{
	SAY(0, sched_process_exit, NULL, .tid = tid, .pid = pid);
}

static void dead(uint32_t tid)
{
	SAY(0, sched_switch, NULL, .prev_tid = tid, .prev_state = JIS_TASK_DEAD);
}

static void free_(uint32_t tid, uint32_t pid)
{
	SAY(0, sched_process_free, NULL, .tid = tid, .pid = pid);
}

static void java(uint32_t tid, uint64_t java_tid, uint32_t group, const char *name)
{
	SAY(2, java_thread_start, name, .java_tid = java_tid, .tid = tid, .group = group);
}

static char *text_of(const struct manifest *m)
{
	size_t size = 0;
	char *text = NULL;
	FILE *f = open_memstream(&text, &size);

	for (uint32_t i = 0; i < m->nr_processes; i++)
		fprintf(f, "P%u %s%s%s\n", m->processes[i].pid, m->processes[i].name,
			m->processes[i].vm ? " " : "",
			m->processes[i].vm ? m->processes[i].vm : "");
	for (uint32_t i = 0; i < m->nr_threads; i++) {
		const struct thread_entry *t = &m->threads[i];

		fprintf(f, "%u/%u %d..%d %s", t->pid, t->tid,
			t->birth == TIME_NONE ? -1 : (int)t->birth,
			t->death == TIME_NONE ? -1 : (int)t->death, t->name);
		if (t->java_tid)
			fprintf(f, " J%d", (int)t->java_tid);
		if (t->group)
			fprintf(f, " in %s", t->group);
		fputc('\n', f);
	}
	for (uint32_t i = 0; i < m->nr_foreigners; i++)
		fprintf(f, "F%u %s\n", m->foreigners[i].tid, m->foreigners[i].comm);
	fclose(f);
	return text;
}

/* The tables are @expected in every order of feeding, also in growing pieces. */
static void tables_are(const char *expected)
{
	static const int orders[][NR] = {{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {2, 0, 1}};
	const struct jis_packet_header *packets[NR];

	for (int i = 0; i < NR; i++)
		packets[i] = packet_builder_close(&b[i], 0);
	for (int k = 0; k < 4; k++) {
		struct thread_table *t = thread_table_new();
		struct manifest *m = manifest_new();
		char *text;

		for (int i = 0; i < NR; i++)
			if (packets[orders[k][i]])
				ck_assert_int_eq(thread_table_add_packet(t, 200,
									 packets[orders[k][i]], 0),
						 0);
		ck_assert_int_eq(thread_table_fill(t, m), 0);
		text = text_of(m);
		ck_assert_str_eq(text, expected);
		free(text);
		manifest_free(m);
		thread_table_free(t);
	}
}

START_TEST(threads_come_and_go)
{
	target(200, 0, "java");
	dump(200, 200, "java");
	dump(201, 200, "GC");
	fork_(200, 202, 200, "java");
	SAY(0, task_rename, "worker", .tid = 202, .pid = 200);
	exit_(202, 200);
	dead(202);
	free_(202, 200);
	SAY(0, task_name, "kworker/0:1", .tid = 9, .pid = 9);
	tables_are("P200 java\n"
		   "200/200 -1..-1 java\n"
		   "200/201 -1..-1 GC\n"
		   "200/202 140..170 worker\n"
		   "F9 kworker/0:1\n");
}
END_TEST

/* The dead thread leaves the CPU, and is freed, when its TID lives again. */
START_TEST(ends_find_the_life_they_belong_to)
{
	target(200, 0, "java");
	dump(200, 200, "java");
	fork_(200, 202, 200, "first");	/* 130 */
	exit_(202, 200);		/* 140 */
	fork_(200, 202, 200, "second"); /* 150 */
	dead(202);			/* 160: the first */
	free_(202, 200);		/* 170: the first */
	exit_(202, 200);		/* 180: the second */
	dead(202);			/* 190 */
	fork_(200, 202, 200, "third");	/* 200 */
	tables_are("P200 java\n"
		   "200/200 -1..-1 java\n"
		   "200/202 130..160 first\n"
		   "200/202 150..190 second\n"
		   "200/202 200..-1 third\n");
}
END_TEST

START_TEST(a_lost_end_does_not_take_the_next_ones)
{
	target(200, 0, "java");
	dump(200, 200, "java");
	fork_(200, 202, 200, "first");	/* 130 */
	exit_(202, 200);		/* 140; its last switch is lost */
	fork_(200, 202, 200, "second"); /* 150 */
	exit_(202, 200);		/* 160 */
	dead(202);			/* 170 */
	fork_(200, 202, 200, "third");	/* 180: all of its end is lost */
	fork_(200, 202, 200, "fourth"); /* 190 */
	dead(202);			/* 200 */
	tables_are("P200 java\n"
		   "200/200 -1..-1 java\n"
		   "200/202 130..140 first\n"
		   "200/202 150..170 second\n"
		   "200/202 180..190 third\n"
		   "200/202 190..200 fourth\n");
}
END_TEST

/* Each kind of record in a packet of its own: those that a walk says concern the table, and no
 * others, add to it. */
START_TEST(packets_that_concern_nobody_may_be_left_out)
{
	struct jis_ev_sched_switch off = {.prev_tid = 202};
	uint64_t stored[JIS_MAX_EVENT_ID] = {0};
	uint8_t payload[256] = {0};

	for (uint32_t id = 1; id < JIS_MAX_EVENT_ID; id++) {
		for (uint32_t state = 0; state <= JIS_TASK_DEAD; state++) {
			const struct event_info *info = event_info_get(JIS_STREAM_KERNEL, id);
			const struct jis_packet_header *h;
			struct thread_table *t;
			struct packet_walk walk;
			bool text;

			if (!info || (state && id != JIS_EV_sched_switch))
				continue;
			text = info->has_string;
			off.prev_state = state;
			memcpy(payload, &off, id == JIS_EV_sched_switch ? sizeof(off) : 0);
			ck_assert_int_eq(packet_builder_add(&b[0], id, now += 10, payload,
							    info->fixed_size - (text ? 4 : 0),
							    text ? "text" : NULL),
					 0);
			h = packet_builder_close(&b[0], 0);
			packet_walk_begin(&walk, h, UINT64_MAX);
			ck_assert_int_eq(packet_walk_run(&walk, h, (uint32_t)(h->content_size / 8),
							 stored),
					 0);
			ck_assert_uint_eq(walk.records, 1);
			t = thread_table_new();
			ck_assert_int_eq(thread_table_add_packet(t, 0, h, 0), 0);
			ck_assert_msg(walk.lives || !thread_table_items(t), "event %u", id);
			ck_assert_msg(!walk.lives || thread_table_items(t), "event %u", id);
			thread_table_free(t);
			memset(payload, 0, sizeof(payload));
		}
	}
}
END_TEST

START_TEST(filling_twice_replaces)
{
	struct thread_table *t = thread_table_new();
	struct manifest *m = manifest_new();

	target(200, 0, "java");
	dump(200, 200, "java");
	SAY(0, task_name, "other", .tid = 9, .pid = 9);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(thread_table_add_packet(t, 0, packet_builder_close(&b[i], 0), 0),
				 0);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(thread_table_fill(t, m), 0);
		ck_assert_uint_eq(m->nr_threads, 1);
		ck_assert_uint_eq(m->nr_foreigners, 1);
		ck_assert_uint_eq(m->nr_processes, 1);
	}
	manifest_free(m);
	thread_table_free(t);
}
END_TEST

START_TEST(ends_without_an_exit)
{
	target(200, 0, "java");
	dump(200, 200, "java");
	dump(201, 200, "a");
	dump(202, 200, "b");
	dead(201);
	free_(202, 200);
	dead(999);
	exit_(998, 998);
	tables_are("P200 java\n"
		   "200/200 -1..-1 java\n"
		   "200/201 -1..150 a\n"
		   "200/202 -1..160 b\n");
}
END_TEST

START_TEST(exec_by_another_thread_than_the_leader)
{
	target(200, 0, "sh");
	dump(200, 200, "sh");
	fork_(200, 205, 200, "sh"); /* 130 */
	exit_(200, 200);	    /* 140 */
	SAY(0, sched_process_exec, "/usr/bin/java", .tid = 200, .old_tid = 205,
	    .pid = 200); /* 150 */
	dead(200);	 /* 160: the old leader, late */
	fork_(200, 206, 200, "java");
	exit_(200, 200); /* 180 */
	dead(200);	 /* 190 */
	tables_are("P200 java\n"
		   "200/200 -1..160 sh\n"
		   "200/205 130..150 sh\n"
		   "200/200 150..190 java\n"
		   "200/206 170..-1 java\n");
}
END_TEST

START_TEST(before_its_exec_a_thread_and_the_dead_leader_exchange_tids)
{
	target(200, 0, "sh");
	dump(200, 200, "sh");
	fork_(200, 205, 200, "sh");			     /* 130 */
	exit_(200, 200);				     /* 140 */
	dead(205);					     /* 150: the leader */
	free_(205, 200);				     /* 160: the leader */
	SAY(0, task_rename, "java", .tid = 200, .pid = 200); /* 170: the thread */
	SAY(0, sched_process_exec, "/usr/bin/java", .tid = 200, .old_tid = 205,
	    .pid = 200); /* 180 */
	fork_(200, 205, 200, "java");
	exit_(200, 200);
	dead(200); /* 210 */
	tables_are("P200 java\n"
		   "200/200 -1..150 sh\n"
		   "200/205 130..180 sh\n"
		   "200/200 180..210 java\n"
		   "200/205 190..-1 java\n");
}
END_TEST

START_TEST(a_million_names_take_no_memory_and_the_last_one_counts)
{
	struct thread_table *t = thread_table_new();
	struct manifest *m = manifest_new();
	char name[16];

	target(200, 0, "sh");
	dump(200, 200, "sh");
	dump(201, 200, "sh");
	for (uint32_t i = 0; i < 100000; i++) {
		snprintf(name, sizeof(name), "name-%u", i / 3);
		SAY(0, task_rename, name, .tid = 201, .pid = 200);
		if (i == 50000) { /* the tid's next life has names of its own */
			exit_(201, 200);
			dead(201);
			fork_(200, 201, 200, "young");
		}
		if (i % 1000 && i != 50000)
			continue;
		ck_assert_int_eq(thread_table_add_packet(t, 0, packet_builder_close(&b[0], 0), 0),
				 0);
	}
	ck_assert_int_eq(thread_table_add_packet(t, 0, packet_builder_close(&b[0], 0), 0), 0);
	ck_assert_int_eq(thread_table_add_packet(t, 0, packet_builder_close(&b[1], 0), 0), 0);
	ck_assert_uint_lt(thread_table_items(t), 100);
	ck_assert_uint_gt(thread_table_dropped(t), 99900);
	ck_assert_int_eq(thread_table_fill(t, m), 0);
	ck_assert_uint_eq(m->nr_threads, 3);
	ck_assert_str_eq(m->threads[0].comm, "sh");
	ck_assert_str_eq(m->threads[1].comm, "name-16666");
	ck_assert_str_eq(m->threads[2].comm, "name-33333");
	manifest_free(m);
	thread_table_free(t);
}
END_TEST

START_TEST(exec_by_the_leader_renames_the_process)
{
	target(200, 0, "sh");
	dump(200, 200, "sh");
	SAY(0, sched_process_exec, "/opt/jdk/bin/java", .tid = 200, .old_tid = 200, .pid = 200);
	SAY(0, task_rename, "java", .tid = 200, .pid = 200);
	tables_are("P200 java\n200/200 -1..-1 java\n");
}
END_TEST

START_TEST(children_are_targets_on_request)
{
	target(200, JIS_TARGET_CHILDREN, "sh");
	dump(200, 200, "sh");
	fork_(200, 300, 300, "child");	    /* 130 */
	fork_(300, 400, 400, "grandchild"); /* 140 */
	fork_(300, 301, 300, "thread");	    /* 150 */
	tables_are("P200 sh\nP300 child\nP400 grandchild\n"
		   "200/200 -1..-1 sh\n"
		   "300/300 130..-1 child\n"
		   "300/301 150..-1 thread\n"
		   "400/400 140..-1 grandchild\n");
}
END_TEST

START_TEST(whose_birth_is_told_is_one_of_ours)
{
	target(200, 0, "sh"); /* its children are covered by another rule, as of a cgroup */
	dump(200, 200, "sh");
	fork_(200, 300, 300, "child");
	fork_(300, 301, 300, "thread");
	tables_are("P200 sh\nP300 child\n200/200 -1..-1 sh\n"
		   "300/300 130..-1 child\n300/301 140..-1 thread\n");
}
END_TEST

START_TEST(java_names_by_the_tid_the_process_knows)
{
	target(200, 0, "java");
	dump(200, 200, "java");
	dump(201, 200, "java");
	SAY(2, string_def, "main", .id = 1);
	SAY(2, vm_info, "VM 21", .pid = 100, .version = 21);
	java(101, 1, 1, "main"); /* tid 201 is 101 in its namespace */
	SAY(2, java_thread_end, NULL, .java_tid = 1, .tid = 101);
	java(101, 30, 1, "DestroyJavaVM"); /* the row stays main's */
	SAY(2, java_thread_name, "main renamed", .java_tid = 1);
	SAY(2, java_thread_name, "nobody", .java_tid = 30);
	java(999, 31, 1, "on no thread that is known");
	SAY(2, java_thread_start, "virtual", .java_tid = 40, .tid = 100,
	    .flags = JIS_JTHREAD_VIRTUAL);
	tables_are("P200 java VM 21\n"
		   "200/200 -1..-1 java\n"
		   "200/201 -1..-1 main renamed J1 in main\n");
}
END_TEST

START_TEST(java_names_after_reuse_of_a_tid)
{
	target(200, 0, "java");
	dump(200, 200, "java");
	fork_(200, 202, 200, "java"); /* 130 */
	java(102, 7, 0, "first");
	exit_(202, 200);
	dead(202);		      /* 160 */
	fork_(200, 202, 200, "java"); /* 170 */
	java(102, 8, 0, "second");
	tables_are("P200 java\n"
		   "200/200 -1..-1 java\n"
		   "200/202 130..160 first J7\n"
		   "200/202 170..-1 second J8\n");
}
END_TEST

/* In a snapshot: the former owner of the tid ended before, and the new one's birth is not there. */
START_TEST(a_later_owner_of_a_tid_has_its_own_java_name)
{
	java(102, 7, 0, "old");
	SAY(2, java_thread_end, NULL, .java_tid = 7, .tid = 102);
	java(103, 8, 0, "old native");
	SAY(2, java_thread_end, NULL, .java_tid = 8, .tid = 103);
	java(104, 9, 0, "old and not told to end");
	java(102, 10, 0, "new");
	now += 3000000000;
	target(200, 0, "java");
	dump(202, 200, "java");
	dump(203, 200, "native");
	dump(204, 200, "still there");
	tables_are("P200 java\n"
		   "200/202 -1..-1 new J10\n"
		   "200/203 -1..-1 native\n"
		   "200/204 -1..-1 old and not told to end J9\n");
}
END_TEST

static void life_at(uint64_t start_ticks, uint32_t tid, const char *comm)
{
	SAY(0, thread_state, comm, .tid = tid, .pid = 200, .ns_tid = tid, .state = 1,
	    .start_time = start_ticks + 5000000000);
}

/* The kernel's start time tells whose a name from before the first sight of a thread is. */
START_TEST(java_names_are_of_the_life_that_had_started)
{
	struct thread_table *t = thread_table_new();
	struct manifest *m = manifest_new();
	const uint64_t s = 1000000000;
	char *text;

	m->clocks = calloc(2, sizeof(*m->clocks));
	m->clocks[0].boottime = 5 * s;
	m->clocks[1] = (struct clock_sample){.ticks = 100 * s, .boottime = 105 * s};
	m->nr_clocks = 2;
	m->frequency = s;
	now = 10 * s;
	java(202, 7, 0, "old");
	java(203, 8, 0, "main");
	SAY(2, java_thread_end, NULL, .java_tid = 8, .tid = 203);
	java(203, 9, 0, "DestroyJavaVM");
	now = 30 * s;
	java(202, 10, 0, "new");
	now = 60 * s;
	target(200, 0, "java");
	life_at(20 * s, 202, "java");
	life_at(9 * s, 203, "java");
	for (int i = 2; i >= 0; i--)
		ck_assert_int_eq(thread_table_add_packet(t, 200, packet_builder_close(&b[i], 0), 0),
				 0);
	ck_assert_int_eq(thread_table_fill(t, m), 0);
	text = text_of(m);
	ck_assert_str_eq(text, "P200 java\n200/202 -1..-1 new J10\n200/203 -1..-1 main J8\n");
	free(text);
	manifest_free(m);
	thread_table_free(t);
}
END_TEST

/* The birth of the second owner was lost, as was the first one's. */
START_TEST(java_names_where_births_were_lost)
{
	target(200, 0, "java");
	dump(202, 200, "java");
	java(102, 7, 0, "first");
	exit_(202, 200);
	dead(202);
	now += 5000000000;
	dump(202, 200, "native");
	tables_are("P200 java\n"
		   "200/202 -1..150 first J7\n"
		   "200/202 -1..-1 native\n");
}
END_TEST

START_TEST(growing_packets_are_fed_once)
{
	struct thread_table *t = thread_table_new();
	struct manifest *m = manifest_new();
	struct jis_packet_header *p;
	uint32_t fed = 0;

	b[0].proto.packet_seq = 0;
	for (uint32_t i = 0; i < 10; i++) {
		fork_(200, 210 + i, 200, "t");
		p = (struct jis_packet_header *)b[0].buffer;
		p->content_size = b[0].used * 8;
		ck_assert_int_eq(thread_table_add_packet(t, 0, p, fed), 0);
		fed = (uint32_t)b[0].used - JIS_PACKET_HEADER_SIZE;
	}
	ck_assert_int_eq(thread_table_fill(t, m), 0);
	ck_assert_uint_eq(m->nr_threads, 10);
	manifest_free(m);
	thread_table_free(t);
}
END_TEST

/* Twenty thousand named threads: seconds, were there a search in a search. */
START_TEST(many_threads)
{
	struct thread_table *t = thread_table_new();
	struct manifest *m = manifest_new();

	target(200, 0, "java");
	SAY(2, string_def, "pool", .id = 5);
	for (uint32_t i = 0; i < 20000; i++) {
		fork_(200, 1000 + i, 200, "java");
		java(900 + i, 10 + i, 5, "worker");
		SAY(2, java_thread_name, "renamed", .java_tid = 10 + i);
	}
	for (int i = 0; i < NR; i++)
		ck_assert_int_eq(thread_table_add_packet(t, 200, packet_builder_close(&b[i], 0), 0),
				 0);
	ck_assert_int_eq(thread_table_fill(t, m), 0);
	ck_assert_uint_eq(m->nr_threads, 20000);
	for (uint32_t i = 0; i < 20000; i++) {
		ck_assert_str_eq(m->threads[i].name, "renamed");
		ck_assert_str_eq(m->threads[i].group, "pool");
		ck_assert_uint_eq(m->threads[i].java_tid, m->threads[i].tid - 1000 + 10);
	}
	manifest_free(m);
	thread_table_free(t);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trace_threads");
	TCase *t = tcase_create("all");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, threads_come_and_go);
	tcase_add_test(t, ends_find_the_life_they_belong_to);
	tcase_add_test(t, a_lost_end_does_not_take_the_next_ones);
	tcase_add_test(t, packets_that_concern_nobody_may_be_left_out);
	tcase_add_test(t, filling_twice_replaces);
	tcase_add_test(t, ends_without_an_exit);
	tcase_add_test(t, exec_by_another_thread_than_the_leader);
	tcase_add_test(t, before_its_exec_a_thread_and_the_dead_leader_exchange_tids);
	tcase_add_test(t, a_million_names_take_no_memory_and_the_last_one_counts);
	tcase_add_test(t, exec_by_the_leader_renames_the_process);
	tcase_add_test(t, children_are_targets_on_request);
	tcase_add_test(t, whose_birth_is_told_is_one_of_ours);
	tcase_add_test(t, java_names_by_the_tid_the_process_knows);
	tcase_add_test(t, java_names_after_reuse_of_a_tid);
	tcase_add_test(t, a_later_owner_of_a_tid_has_its_own_java_name);
	tcase_add_test(t, java_names_are_of_the_life_that_had_started);
	tcase_add_test(t, java_names_where_births_were_lost);
	tcase_add_test(t, growing_packets_are_fed_once);
	tcase_add_test(t, many_threads);
	suite_add_tcase(suite, t);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
