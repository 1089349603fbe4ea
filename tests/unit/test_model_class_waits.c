/* SPDX-License-Identifier: MIT */
/* Waits for classes that other threads initialise, which their threads tell afterwards; yields. */
#include "merger/model_class_waits.h"
#include "test_model_why.h"

/* What the VM's words say: in native code, blocked; of the OS thread. */
enum { NATIVE = 4, BLOCKED = 10 };
enum { OBJECT = 5 };

/* Thread 101 is woken at 30 and tells later, or another thread does, that it has waited for a
 * class. */
static void waited_for_class(uint32_t vm, uint32_t tid, uint64_t told, const char *why)
{
	const struct jis_ev_class_waited waited = {2, tid, NAME_LOCK};
	struct feed *f = why_new();

	why_start(f);
	class_wait_ahead(f->m, 0, &waited, 5);
	class_wait_ahead(f->m, 0, &waited, told);
	feed_packet(f, SLOT, 2, 9, 0, 0, 101);
	FEED(f, SLOT, 2, park_begin, .java_tid = 2, .class_name = NAME_SYNC, .hash = 0x5,
	     .timeout = -1);
	FEED(f, SLOT, 3, park_end, .java_tid = 2);
	leaves(f, 1, 10, 101, S, "futex", vm, OBJECT);
	feed_wake(f, 0, 30, 100, 101, 30);
	comes(f, 1, 30, 101);
	feed_end(f);
	ck_assert_msg(strstr(reasons[1], why), "%s instead of %s", reasons[1], why);
	for (int i = 0; i < MODEL_NR_CONFLICTS; i++)
		ck_assert_uint_eq(f->counts.conflicts[i], 0);
	feed_free(f);
}

START_TEST(a_wait_for_a_class_names_it)
{
	static const char named[] = "lock of the VM? 'class initialisation: Lock' 10-30";

	waited_for_class(BLOCKED, 101, 40, named);
	waited_for_class(0, 101, 40, named);
	/* Another thread's; one that was woken for it later; before. */
	waited_for_class(0, 103, 40, "futex 10-30");
	waited_for_class(0, 101, 30 + 200000000, named);
	waited_for_class(0, 101, 31 + 200000000, "futex 10-30");
	waited_for_class(BLOCKED, 101, 31 + 200000000, "Object.wait? 10-30");
	waited_for_class(0, 101, 29, "futex 10-30");
	/* In native code it cannot be one. */
	waited_for_class(NATIVE, 101, 40, "futex 10-30");
}
END_TEST

START_TEST(who_yields_is_not_preempted)
{
	struct feed *f = why_new();

	why_start(f);
	leaves(f, 1, 10, 101, R, "sched_yield", 0, 0);
	comes(f, 1, 20, 101);
	leaves(f, 1, 30, 101, R, "futex", 0, 0);
	comes(f, 1, 40, 101);
	/* Recorded calls say it too. */
	FEED(f, 1, 50, syscall_enter, .tid = 101, .nr = nr("sched_yield"));
	feed_switch(f, 1, 60, 101, R, 0);
	comes(f, 1, 70, 101);
	FEED(f, 1, 80, syscall_exit, .tid = 101, .nr = nr("sched_yield"));
	feed_switch(f, 1, 90, 101, R, 0);
	feed_end(f);
	ck_assert_msg(strstr(reasons[1], "yielded 10-20") &&
			      strstr(reasons[1], "preempted 30-40") &&
			      strstr(reasons[1], "yielded 60-70") &&
			      strstr(reasons[1], "preempted 90-"),
		      "%s", reasons[1]);
	feed_free(f);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("class waits");
	Suite *s = suite_create("model_class_waits");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, a_wait_for_a_class_names_it);
	tcase_add_test(t, who_yields_is_not_preempted);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
