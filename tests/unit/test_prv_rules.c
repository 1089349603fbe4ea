/* SPDX-License-Identifier: MIT */
/* Made-up traces, sensible and not: what is written keeps the format's rules, whatever is fed. */
#include "test_prv_files.h"

/* A word of a Java thread, virtual ones 50 to 53 among them, or a system call: in any order. */
static void java_noise(struct feed *f, uint32_t tid, uint32_t cpu, uint64_t t, unsigned int *seed)
{
	uint64_t java_tid = tid == 101 ? 2 : 50 + (uint64_t)rand_r(seed) % 4;

	FEED(f, FEED_SLOT(0), t, thread_bind, .tid = tid);
	switch (rand_r(seed) % 8) {
	case 0:
		FEED(f, FEED_SLOT(0), t, monitor_contended_enter, .java_tid = java_tid,
		     .class_name = 1, .hash = (uint32_t)rand_r(seed), .owner_tid = 100,
		     .owner_java_tid = 50 + (uint64_t)rand_r(seed) % 6);
		break;
	case 1:
		FEED(f, FEED_SLOT(0), t, monitor_contended_entered, .java_tid = java_tid);
		break;
	case 2:
		FEED(f, FEED_SLOT(0), t, park_begin, .java_tid = java_tid, .class_name = 1);
		break;
	case 3:
		FEED(f, FEED_SLOT(0), t, unpark, .java_tid = 2, .target_java_tid = java_tid);
		break;
	case 4:
		FEED(f, FEED_SLOT(0), t, vthread_mount, .java_tid = java_tid);
		break;
	case 5:
		FEED(f, FEED_SLOT(0), t, vthread_unmount, .java_tid = java_tid);
		break;
	case 6:
		FEED(f, cpu, t, syscall_io, .tid = tid, .nr = rand_r(seed) % 2, .fd = 3);
		break;
	case 7:
		FEED(f, cpu, t, syscall_exit, .tid = tid, .nr = rand_r(seed) % 2);
		break;
	}
}

/* A trace of which no record fits the other must still give files that keep all rules. */
static void nonsense(struct feed *f, unsigned int seed)
{
	static const uint32_t tids[] = {0, 7, 100, 101, 200};
	static const uint32_t states[] = {R, S, D, R | JIS_TASK_PREEMPTED, JIS_TASK_STOPPED};

	for (uint64_t t = 0; t < 200000; t += (uint64_t)rand_r(&seed) % 20) {
		uint32_t cpu = (uint32_t)rand_r(&seed) % FEED_CPUS;
		uint32_t prev = tids[rand_r(&seed) % 5], next = tids[rand_r(&seed) % 5];

		switch (rand_r(&seed) % 8) {
		case 6:
		case 7:
			java_noise(f, rand_r(&seed) % 2 ? 100 : 101, cpu, t, &seed);
			break;
		case 0:
			feed_wake(f, cpu, t, prev, next, t);
			break;
		case 1:
			feed_packet(f, FEED_SLOT(0), t, t, 0, 0, prev);
			FEED(f, FEED_SLOT(0), t, marker, .type = prev, .value = (int64_t)t);
			break;
		default:
			feed_switch(f, cpu, t, prev, states[rand_r(&seed) % 5], next);
		}
		if (rand_r(&seed) % 1000 == 0)
			feed_packet(f, cpu, t + 5, t + 6, t, 0, 0);
	}
}

/* A little scheduler: two CPUs of ours, threads that block, wake each other and are preempted. */
struct scheduler {
	uint32_t on[FEED_CPUS]; /* tid, 0 idle */
	bool asleep[3], ready[3];
	unsigned int seed;
};

static const uint32_t scheduled[] = {100, 101, 200};

static void schedule_wake(struct feed *f, struct scheduler *s, uint32_t cpu, uint64_t t)
{
	uint32_t i = (uint32_t)rand_r(&s->seed) % 3;

	if (!s->asleep[i])
		return;
	feed_wake(f, cpu, t, s->on[cpu] ? s->on[cpu] : 0, scheduled[i], t + 1);
	s->asleep[i] = false;
	s->ready[i] = true;
}

static void schedule_switch(struct feed *f, struct scheduler *s, uint32_t cpu, uint64_t t)
{
	uint32_t prev = s->on[cpu], next = 0, state = R;

	for (uint32_t i = 0; i < 3 && !next; i++) {
		if (s->ready[i])
			next = scheduled[i];
	}
	if (!prev && !next)
		return;
	for (uint32_t i = 0; i < 3; i++) {
		if (scheduled[i] == next)
			s->ready[i] = false;
		if (scheduled[i] != prev)
			continue;
		state = rand_r(&s->seed) % 3 ? S : R | JIS_TASK_PREEMPTED;
		s->asleep[i] = state == S;
		s->ready[i] = state != S;
	}
	feed_switch(f, cpu, t, prev, state, next);
	s->on[cpu] = next;
}

/* Also with losses on CPU 0: nothing of it is fed while they last. */
static void sense(struct feed *f, unsigned int seed)
{
	struct scheduler s = {.asleep = {true, true, true}, .seed = seed};
	uint64_t lost_until = 0, next_loss = 1000, lost = 0;

	feed_packet(f, 0, 0, next_loss, 0, 0, 0);
	for (uint64_t t = 10; t < 199000; t += 2 + (uint64_t)rand_r(&s.seed) % 20) {
		uint32_t cpu = t <= lost_until ? 1 : (uint32_t)rand_r(&s.seed) % 2;

		if (rand_r(&s.seed) % 2)
			schedule_wake(f, &s, cpu, t);
		else
			schedule_switch(f, &s, cpu, t);
		/* Who speaks is on its CPU. */
		if (s.on[cpu] == 100 || s.on[cpu] == 101)
			java_noise(f, s.on[cpu], cpu, t, &s.seed);
		if (t + 30 < next_loss)
			continue;
		t = next_loss;
		lost_until = next_loss + 50;
		next_loss += 50 + (uint64_t)rand_r(&s.seed) % 5000;
		feed_packet(f, 0, lost_until, next_loss, ++lost, 0, 0);
		s.on[0] = 0; /* ran somewhere and is gone again, nobody knows how */
		for (uint32_t i = 0; i < 3; i++)
			s.asleep[i] = s.on[1] != scheduled[i];
		memset(s.ready, 0, sizeof(s.ready));
	}
}

START_TEST(the_independent_checker_finds_nothing)
{
	static const char checker[] = "tests/e2e/checkers/prv_check.py";
	struct files x = files_new();
	struct feed *f = feed_usual(_i & 1);
	char command[256];

	if (access(checker, R_OK))
		return;
	f->man.end = 200000;
	f->man.machine = (char *)"x86_64";
	start(f, &x, &(struct paraver_options){.wakeups = PARAVER_WAKEUPS_ALL, .sort = _i & 2});
	for (uint64_t i = 50; i < 53; i++)
		ck_assert_int_eq(vthread_add(f->m, 0, i, i > 50 ? "v" : "", (i - 50) * 1000), 0);
	begin(f);
	FEED_TEXT(f, FEED_DICT(0), 0, string_def, text, "Lock", .id = 1);
	FEED_TEXT(f, FEED_DICT(0), 0, java_thread_start, name, "worker", .java_tid = 2, .tid = 101);
	FEED_TEXT(f, 0, 0, fd_file, path, "/data", .pid = 100, .fd = 3, .type = JIS_FD_FILE);
	if (_i & 4)
		nonsense(f, (unsigned int)_i);
	else
		sense(f, (unsigned int)_i);
	ck_assert_int_eq(f->m->counts.contradictions > 0, (_i & 4) > 0);
	finish(f, &x);
	snprintf(command, sizeof(command), "python3 %s %s %s.prv", checker,
		 _i & 4 ? "--contradictions" : "", x.base);
	ck_assert_int_eq(system(command), 0);
	feed_free(f);
	files_free(&x);
}
END_TEST

/* A thread that runs on another host's CPU: Paraver drops such records. */
START_TEST(the_checker_knows_which_node_a_cpu_is_of)
{
	static const char checker[] = "tests/e2e/checkers/prv_check.py";
	struct host_entry hosts[] = {
		{.name = (char *)"alpha", .first_cpu = 0, .nr_cpus = 1, .end = 1000},
		{.name = (char *)"beta", .first_cpu = 1, .nr_cpus = 3, .end = 1000},
	};
	struct files x = files_new();
	struct feed *f = feed_new(true);
	char command[256];

	f->man.hosts = hosts;
	f->man.nr_hosts = 2;
	feed_process(f, 100, "java");
	feed_process(f, 10000100, "java");
	feed_thread(f, 100, 100, ALIVE, ALIVE, "main");
	feed_thread(f, 10000100, 10000100, ALIVE, ALIVE, "main");
	start(f, &x, &(struct paraver_options){.wakeups = PARAVER_WAKEUPS_ALL});
	begin(f);
	feed_switch(f, 0, 10, 0, R, 100);
	feed_dump(f, 12, 10000100, S, 3);
	feed_wake(f, 3, 15, 7, 10000100, 16);
	feed_switch(f, _i ? 0 : 3, 20, _i ? 100 : 0, S, 10000100);
	finish(f, &x);
	snprintf(command, sizeof(command), "python3 %s %s.prv >/dev/null 2>&1", checker, x.base);
	if (!access(checker, R_OK))
		ck_assert_int_eq(WEXITSTATUS(system(command)), _i);
	feed_free(f);
	files_free(&x);
}
END_TEST

START_TEST(sorting_with_little_memory_gives_all_lines_in_order)
{
	const struct paraver_options options = {.sort = true, .sort_memory = 1 << 20};
	struct files x = files_new();
	struct feed *f = feed_usual(false);
	uint64_t last = 0, lines = 0, wanted;
	char path[128], line[256];
	FILE *in;

	f->man.end = 10000000;
	start(f, &x, &options);
	begin(f);
	for (uint64_t t = 10; t < 2000000; t += 10) {
		feed_switch(f, 0, t, t % 20 ? 100 : 101, S, t % 20 ? 101 : 100);
		feed_wake(f, 1, t + 1, 7, t % 20 ? 100 : 101, t + 2);
	}
	ck_assert_int_eq(model_finish(f->m), 0);
	wanted = paraver_stats(x.p)->lines;
	paraver_close(x.p);
	snprintf(path, sizeof(path), "%s.prv", x.base);
	in = fopen(path, "r");
	ck_assert_ptr_nonnull(in);
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), in));
	for (lines = 1; fgets(line, sizeof(line), in); lines++) {
		ck_assert_uint_ge(line_begin(line), last);
		last = line_begin(line);
	}
	fclose(in);
	ck_assert_uint_eq(lines, wanted);
	ck_assert_uint_gt(lines, 500000);
	feed_free(f);
	files_free(&x);
}
END_TEST

/* The view of waits names the states of all of them. */
START_TEST(the_table_of_waits_has_every_reason)
{
	char line[1024], wanted[32];
	FILE *in = fopen("paraver-export/cfg/wait_time.cfg", "r");
	bool found = false;

	ck_assert_ptr_nonnull(in);
	while (fgets(line, sizeof(line), in)) {
		if (strncmp(line, "window_semantic_module", 22) != 0)
			continue;
		found = true;
		ck_assert_ptr_nonnull(strstr(line, " 9.000000 "));
		for (int i = MODEL_WAIT_UNKNOWN + 1; i < MODEL_NR_REASONS; i++) {
			snprintf(wanted, sizeof(wanted), " %d.000000 ",
				 PARAVER_WAIT + i - MODEL_WAIT_UNKNOWN);
			ck_assert_msg(strstr(line, wanted), "%s", model_reason_name(i));
		}
	}
	ck_assert(found);
	fclose(in);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("prv_rules");
	TCase *t = tcase_create("rules");
	SRunner *runner = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, the_independent_checker_finds_nothing, 0, 16);
	tcase_add_test(t, the_table_of_waits_has_every_reason);
	tcase_add_loop_test(t, the_checker_knows_which_node_a_cpu_is_of, 0, 2);
	tcase_add_test(t, sorting_with_little_memory_gives_all_lines_in_order);
	suite_add_tcase(s, t);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
