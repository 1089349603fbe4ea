/* SPDX-License-Identifier: MIT */
/*
 * Events of Paraver that only the module gives: what a thread ran by the VM's words when it left
 * its CPU, and 32-bit system calls.
 */
#include "test_prv_files.h"
/* after it, as it has names of its own */
#include "test_model_why.h"

enum { NATIVE = 4, IN_VM = 6, JAVA = 8, RUNNABLE = 2 };

static struct feed *jvm(struct files *x)
{
	struct feed *f = why_new();

	start(f, x, &(struct paraver_options){0});
	begin(f);
	java_starts(f, 0, 1, 100, 0);
	java_starts(f, 0, 2, 101, 0);
	feed_switch(f, 0, 0, 0, R, 102);
	feed_switch(f, 1, 0, 0, R, 101);
	return f;
}

/* The lines of events of @type, without what comes before their time. */
static void events_are(const char *text, uint32_t type, const char *expected)
{
	char found[1024] = "", want[16];

	snprintf(want, sizeof(want), ":%" PRIu32 ":", type);
	for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
		const char *end = strchr(line, '\n'), *at = strstr(line, want);

		if (*line != '2' || !at || at > end)
			continue;
		while (at > line && at[-1] != ':')
			at--;
		strncat(found, at, (size_t)(end - at) + 1);
	}
	ck_assert_str_eq(found, expected);
}

START_TEST(what_a_thread_runs_is_told_when_it_changes)
{
	struct files x = files_new();
	struct feed *f = jvm(&x);
	char *text, want[256];

	leaves(f, 1, 10, 101, R | JIS_TASK_PREEMPTED, NULL, JAVA, RUNNABLE);
	comes(f, 1, 20, 101);
	leaves(f, 1, 30, 101, R | JIS_TASK_PREEMPTED, NULL, NATIVE, RUNNABLE);
	comes(f, 1, 40, 101);
	leaves(f, 1, 50, 101, R | JIS_TASK_PREEMPTED, NULL, IN_VM, RUNNABLE);
	comes(f, 1, 60, 101);
	leaves(f, 1, 70, 101, R | JIS_TASK_PREEMPTED, NULL, IN_VM, RUNNABLE);
	comes(f, 1, 80, 101);
	leaves(f, 1, 90, 101, R | JIS_TASK_PREEMPTED, NULL, JAVA, RUNNABLE);
	feed_switch(f, 0, 95, 102, S, 0); /* by its name */
	finish(f, &x);
	text = content(&x, ".prv");
	snprintf(want, sizeof(want),
		 "0:77000006:%d\n20:77000006:%d\n40:77000006:%d\n80:77000006:%d\n0:77000006:%d\n",
		 MODEL_RUN_JAVA, MODEL_RUN_NATIVE, MODEL_RUN_VM, MODEL_RUN_JAVA,
		 MODEL_RUN_VM_OPERATION);
	events_are(text, 77000006, want);
	free(text);
	text = content(&x, ".pcf");
	snprintf(want, sizeof(want), "\n%d in Java (sampled)\n%d in native code (sampled)\n",
		 MODEL_RUN_JAVA, MODEL_RUN_NATIVE);
	ck_assert_ptr_nonnull(strstr(text, want));
	snprintf(want, sizeof(want), "\n%d VM operation\n", MODEL_RUN_VM_OPERATION);
	ck_assert_ptr_nonnull(strstr(text, want));
	free(text);
	feed_free(f);
	files_free(&x);
}
END_TEST

START_TEST(what_always_leaves_its_cpu_in_a_call_runs_something_too)
{
	struct files x = files_new();
	struct feed *f = jvm(&x);
	char *text, want[64];

	FEED(f, 0, 10, syscall_enter, .tid = 102, .nr = nr("futex"));
	leaves(f, 0, 12, 102, S, "futex", 0, 0);
	feed_wake(f, 1, 30, 101, 102, 30);
	comes(f, 0, 40, 102);
	FEED(f, 0, 41, syscall_exit, .tid = 102, .nr = nr("futex"));
	FEED(f, 0, 50, syscall_enter, .tid = 102, .nr = nr("futex"));
	leaves(f, 0, 52, 102, S, "futex", 0, 0);
	finish(f, &x);
	text = content(&x, ".prv");
	snprintf(want, sizeof(want), "0:77000006:%d\n", MODEL_RUN_VM_OPERATION);
	events_are(text, 77000006, want);
	free(text);
	feed_free(f);
	files_free(&x);
}
END_TEST

START_TEST(calls_of_32_bit_have_numbers_of_their_own)
{
	struct files x = files_new();
	struct feed *f = jvm(&x);
	char *text;

	FEED(f, 1, 20, syscall_enter, .tid = 101, .nr = 4);
	FEED(f, 1, 25, syscall_exit, .tid = 101, .nr = 4);
	FEED(f, 1, 30, syscall_enter, .tid = 101, .nr = 4 | JIS_SYSCALL_COMPAT);
	FEED(f, 1, 35, syscall_exit, .tid = 101, .nr = 4 | JIS_SYSCALL_COMPAT);
	FEED(f, 1, 40, syscall_enter, .tid = 101, .nr = 700);
	FEED(f, 1, 45, syscall_exit, .tid = 101, .nr = 700);
	finish(f, &x);
	text = content(&x, ".prv");
	events_are(text, 77000007,
		   "20:77000007:5\n25:77000007:0\n30:77000007:517\n"
		   "35:77000007:0\n40:77000007:1025\n45:77000007:0\n");
	free(text);
	/* 4 is stat, and write of the 32-bit ones. */
	text = content(&x, ".pcf");
	ck_assert_ptr_nonnull(strstr(text, "0 77000007 System call\nVALUES\n0 none\n5 stat\n"
					   "517 write (32-bit)\n1025 another\n"));
	free(text);
	feed_free(f);
	files_free(&x);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("prv_words");
	TCase *t = tcase_create("prv_words");
	SRunner *r;
	int failed;

	tcase_add_test(t, what_a_thread_runs_is_told_when_it_changes);
	tcase_add_test(t, what_always_leaves_its_cpu_in_a_call_runs_something_too);
	tcase_add_test(t, calls_of_32_bit_have_numbers_of_their_own);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
