/* SPDX-License-Identifier: MIT */
/* Waits on futexes of which it is told whose locks they are. */
#include "merger/model_futexes.h"
#include "test_model_why.h"

#define ADDRESS 0x7f0000001000u

/* What the VM's words say, as in test_model_reason.c. */
enum { NATIVE = 4, IN_VM = 6, BLOCKED = 10 };
enum { RUNNABLE = 2, CONDITION = 4 };

static void named(struct feed *f, uint64_t address, uint32_t from, const char *name, uint64_t t)
{
	struct {
		struct jis_ev_futex_name ev;
		char text[64];
	} told = {.ev = {.address = address, .from = from}};

	snprintf(told.text, sizeof(told.text), "%s", name);
	told.ev.name_length = (uint32_t)strlen(name);
	futex_ahead(f->m, 0, &told.ev, t);
}

/* 101 waits on the futex from 10 to 30, woken by another Java thread, in a wait of Java's or not.
 */
static void waits(uint32_t from, const char *name, bool parks, uint32_t vm, uint32_t os,
		  const char *why)
{
	struct feed *f = why_new();

	why_start(f);
	if (name)
		named(f, ADDRESS, from, name, 500);
	named(f, ADDRESS + 64, JIS_FUTEX_VM, "Other_lock", 5);
	feed_packet(f, SLOT, 2, 9, 0, 0, 101);
	FEED(f, SLOT, 2, park_begin, .java_tid = 2, .class_name = NAME_SYNC, .hash = 0x5,
	     .timeout = -1);
	if (!parks)
		FEED(f, SLOT, 3, park_end, .java_tid = 2);
	FEED(f, 1, 9, syscall_futex, .tid = 101, .nr = nr("futex"), .address = ADDRESS,
	     .timeout = -1);
	leaves(f, 1, 10, 101, S, "futex", vm, os);
	feed_wake(f, 0, 30, 100, 101, 30);
	comes(f, 1, 30, 101);
	FEED(f, 1, 31, syscall_exit, .tid = 101, .nr = nr("futex"));
	if (parks)
		FEED(f, SLOT, 33, park_end, .java_tid = 2);
	feed_end(f);
	ck_assert_msg(strstr(reasons[1], why), "%s instead of %s", reasons[1], why);
	feed_free(f);
}

START_TEST(a_lock_of_the_vm_has_its_name)
{
	static const char lock[] = "lock of the VM 'Heap_lock' 10-30";

	/* Whatever the words say, and without. */
	waits(JIS_FUTEX_VM, "Heap_lock", false, BLOCKED, RUNNABLE, lock);
	waits(JIS_FUTEX_VM, "Heap_lock", false, BLOCKED, CONDITION, lock);
	waits(JIS_FUTEX_VM, "Heap_lock", false, IN_VM, RUNNABLE, lock);
	waits(JIS_FUTEX_VM, "Heap_lock", false, NATIVE, RUNNABLE, lock);
	waits(JIS_FUTEX_VM, "Heap_lock", false, 0, 0, lock);
	/* On its way to a park. */
	waits(JIS_FUTEX_VM, "Heap_lock", true, BLOCKED, CONDITION, lock);
	waits(JIS_FUTEX_VM, "Heap_lock", true, 0, 0, lock);
	waits(JIS_FUTEX_AGENT, "JIS agent", true, NATIVE, RUNNABLE,
	      "lock of the VM 'JIS agent' 10-30");
	/* Of the one that is waited on nothing is told. */
	waits(0, NULL, true, BLOCKED, CONDITION, "park Sync@5 10-30");
	waits(0, NULL, true, 0, 0, "park Sync@5 10-30");
	waits(0, NULL, false, NATIVE, RUNNABLE, "futex 10-30");
	waits(JIS_FUTEX_MEMORY, "malloc arena", false, IN_VM, RUNNABLE,
	      "lock of the VM 'malloc arena' 10-30");
}
END_TEST

/* Memory is used again: what is told last before the wait ends holds, else what is told first. */
START_TEST(a_futex_may_become_anothers)
{
	static const struct {
		uint64_t time;
		const char *name;
	} expected[] = {{5, "First_lock"},   {10, "First_lock"},  {19, "First_lock"},
			{20, "Second_lock"}, {29, "Second_lock"}, {30, "Third_lock"},
			{900, "Third_lock"}};
	struct feed *f = why_new();

	why_start(f);
	named(f, ADDRESS, JIS_FUTEX_VM, "Third_lock", 30);
	named(f, ADDRESS, JIS_FUTEX_VM, "First_lock", 10);
	named(f, ADDRESS, JIS_FUTEX_VM, "Second_lock", 20);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		ck_assert_str_eq(model_name(f->m,
					    futex_of(f->m, 0, ADDRESS, expected[i].time)->name),
				 expected[i].name);
	ck_assert_ptr_null(futex_of(f->m, 0, ADDRESS + 4, 15));
	ck_assert_ptr_null(futex_of(f->m, 0, ADDRESS - 4, 15));
	ck_assert_ptr_null(futex_of(f->m, 1, ADDRESS, 15));
	feed_end(f);
	feed_free(f);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("futexes");
	Suite *s = suite_create("model_futexes");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, a_lock_of_the_vm_has_its_name);
	tcase_add_test(t, a_futex_may_become_anothers);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
