/* SPDX-License-Identifier: MIT */
/*
 * The legal transitions of Java threads: a table of orders of records, possible and impossible, and
 * the error that each is. Every error there is must have an order that shows it.
 */
#include "test_model_why.h"

#define NO_ERROR (-1)

/* Steps of an order, one letter each; java thread 2 is on 101 unless said. */
struct order {
	const char *steps;
	int error; /* NO_ERROR: possible */
};

/*
 * M m  contended enter, entered        W w  Object.wait, waited         P p  park
 * S s  sleep                           J j  join                        T t  task
 * i    waited on a class's lock             101 is on CPU 1 when it begins
 * k    wait_stack                      o    entered on another object   B    records on 100
 * A a  virtual thread 50 starts, ends  U u  is mounted on 104, unmounted
 * V v  the same on 105                 Q    50 parks on 104             X x  51 mounted, unmounted
 * G g  collection                      E    thread 2 ends               D    starts again
 * C c  call entered, left              d    another call left           L    records of 101 are
 * lost Z    the agent finds thread 2 running    1 2 3 4  method 1, 2 entered, left
 * K l  101 gets CPU 1, leaves it to wait        N O  the same of CPU 2         R    ends on CPU 1
 * H e  waits for a descriptor
 * y    101 is woken            Y    wakes 100 on CPU 1         r    104 leaves CPU 1
 */
static const struct order orders[] = {
	{"MmWwPpSsJjTtk", MODEL_ERROR_STACK},
	{"MkmWkwPkp", NO_ERROR},
	{"JWwj", NO_ERROR},
	{"JPpPpj", NO_ERROR},
	{"JMmWMmwj", NO_ERROR},
	{"WMmw", NO_ERROR},
	{"SPps", NO_ERROR},
	{"iMmiWwi", NO_ERROR}, /* classes that other threads initialise: the VM tells no begin */
	{"JiPpj", NO_ERROR},
	{"iw", MODEL_ERROR_WAIT_END},
	{"TTtt", NO_ERROR},
	{"m", MODEL_ERROR_MONITOR_END},
	{"Mmm", MODEL_ERROR_MONITOR_END},
	{"w", MODEL_ERROR_WAIT_END},
	{"p", MODEL_ERROR_PARK_END},
	{"s", MODEL_ERROR_SLEEP_END},
	{"j", MODEL_ERROR_JOIN_END},
	{"e", MODEL_ERROR_DESCRIPTOR_END},
	{"HPpHMmHe", MODEL_ERROR_NESTED},
	{"HMmPpe", NO_ERROR},
	{"HPe", MODEL_ERROR_UNENDED},
	{"HWwe", MODEL_ERROR_NESTED},
	{"Jpj", MODEL_ERROR_PARK_END},
	{"t", MODEL_ERROR_TASK_END},
	{"Ttt", MODEL_ERROR_TASK_END},
	{"WWww", MODEL_ERROR_NESTED},
	{"PPpp", MODEL_ERROR_NESTED},
	{"SSss", MODEL_ERROR_NESTED},
	{"MMmm", MODEL_ERROR_NESTED},
	{"JJjj", MODEL_ERROR_NESTED},
	{"PWwp", MODEL_ERROR_NESTED},
	{"MPpm", MODEL_ERROR_NESTED},
	{"WPpw", MODEL_ERROR_NESTED},
	{"WSsw", MODEL_ERROR_NESTED},
	{"PMmp", MODEL_ERROR_NESTED},
	{"JSsj", MODEL_ERROR_NESTED},
	{"SJjs", MODEL_ERROR_NESTED},
	{"JWj", MODEL_ERROR_UNENDED},
	{"SPs", MODEL_ERROR_UNENDED},
	{"WMw", MODEL_ERROR_UNENDED},
	{"Mo", MODEL_ERROR_OBJECT},
	{"ME", MODEL_ERROR_DIED_WAITING},
	{"MmE", NO_ERROR},
	{"ED", NO_ERROR},
	{"D", MODEL_ERROR_STARTED_TWICE},
	{"BPpB", MODEL_ERROR_WRONG_THREAD},
	{"k", MODEL_ERROR_STACK},
	{"134212", NO_ERROR},
	{"212", NO_ERROR}, /* it was under way */
	{"1L4212", NO_ERROR},
	{"1342", NO_ERROR},
	{"142", MODEL_ERROR_METHOD_EXIT},
	{"132", MODEL_ERROR_METHOD_UNENDED},
	{"1E", MODEL_ERROR_METHOD_UNENDED},
	/* Virtual threads */
	{"AUQuUquVva", NO_ERROR},
	{"UAQuUqa", NO_ERROR}, /* the mount may be told before the start */
	{"AUau", NO_ERROR},    /* ... and the unmount after the end */
	{"AUUu", MODEL_ERROR_MOUNTED_TWICE},
	{"AUVv", MODEL_ERROR_MOUNTED_TWICE},
	{"AUXx", MODEL_ERROR_CARRIER_TAKEN},
	{"AUuu", MODEL_ERROR_NOT_MOUNTED},
	{"AUv", MODEL_ERROR_NOT_MOUNTED},
	{"AUuQ", MODEL_ERROR_NOT_MOUNTED},
	{"AVQ", MODEL_ERROR_NOT_MOUNTED},
	{"AUau"
	 "u",
	 MODEL_ERROR_NOT_MOUNTED},
	/* The virtual machine and the kernel */
	{"GgGg", NO_ERROR},
	{"g", NO_ERROR}, /* under way when recording began */
	{"Ggg", MODEL_ERROR_GC_FINISH},
	{"GG", MODEL_ERROR_GC_START},
	{"FhfFhf", NO_ERROR},
	{"hf", NO_ERROR},
	{"FhF", MODEL_ERROR_SAFEPOINT_BEGIN},
	{"Fhff", MODEL_ERROR_SAFEPOINT_END},
	{"Fhfh", MODEL_ERROR_SAFEPOINT_END},
	{"CcCc", NO_ERROR},
	{"c", NO_ERROR},
	{"CCc", MODEL_ERROR_CALL_ENTER},
	{"Cd", MODEL_ERROR_CALL_EXIT},
	/* The scheduler */
	{"lyKlyNO", NO_ERROR},
	{"YlyKR", NO_ERROR},
	{"O", MODEL_ERROR_NOT_THERE},
	{"N", MODEL_ERROR_ELSEWHERE},
	{"r", MODEL_ERROR_CPU_TAKEN},
	{"lK", MODEL_ERROR_NOT_READY},
	{"RN", MODEL_ERROR_NOT_READY},
	{"lY", MODEL_ERROR_WAKER},
	{"Ry", MODEL_ERROR_WOKEN},
	/* What was lost, or came before the agent, is no error */
	{"Lm", NO_ERROR},
	{"LpsPp", NO_ERROR},
	{"Lpj", NO_ERROR},
	{"Lpp", MODEL_ERROR_PARK_END},
	{"Lsp", MODEL_ERROR_PARK_END},
	{"LPpj", NO_ERROR},
	{"LMmwj", NO_ERROR},
	{"LMmp", MODEL_ERROR_PARK_END},
	{"Ltt", NO_ERROR},
	{"Lk", NO_ERROR},
	{"PLp", NO_ERROR},
	{"PLE", NO_ERROR},
	{"AUQLq", NO_ERROR},
	{"Zm", NO_ERROR},
	{"Zwj", NO_ERROR},
	{"Zpp", MODEL_ERROR_PARK_END},
	{"ZMmm", MODEL_ERROR_MONITOR_END},
};

static void wait_step(struct feed *f, char step, uint64_t t)
{
	switch (step) {
	case 'M':
		FEED(f, SLOT, t, monitor_contended_enter, .java_tid = 2, .class_name = NAME_LOCK,
		     .hash = 1);
		break;
	case 'm':
		FEED(f, SLOT, t, monitor_contended_entered, .java_tid = 2, .class_name = NAME_LOCK,
		     .hash = 1);
		break;
	case 'o':
		FEED(f, SLOT, t, monitor_contended_entered, .java_tid = 2, .class_name = NAME_OTHER,
		     .hash = 1);
		break;
	case 'W':
		FEED(f, SLOT, t, monitor_wait, .java_tid = 2, .class_name = NAME_LOCK, .hash = 1);
		break;
	case 'w':
		FEED(f, SLOT, t, monitor_waited, .java_tid = 2, .class_name = NAME_LOCK, .hash = 1);
		break;
	case 'i':
		FEED(f, SLOT, t, monitor_waited, .java_tid = 2, .class_name = NAME_INTS, .hash = 9);
		break;
	case 'P':
		FEED(f, SLOT, t, park_begin, .java_tid = 2);
		break;
	case 'p':
		FEED(f, SLOT, t, park_end, .java_tid = 2);
		break;
	case 'S':
		FEED(f, SLOT, t, sleep_begin, .java_tid = 2);
		break;
	case 's':
		FEED(f, SLOT, t, sleep_end, .java_tid = 2);
		break;
	case 'J':
		FEED(f, SLOT, t, join_begin, .java_tid = 2, .target_java_tid = 1);
		break;
	case 'j':
		FEED(f, SLOT, t, join_end, .java_tid = 2);
		break;
	case 'H':
		FEED(f, SLOT, t, descriptor_begin, .java_tid = 2, .fd = 5);
		break;
	case 'e':
		FEED(f, SLOT, t, descriptor_end, .java_tid = 2);
		break;
	}
}

static void thread_step(struct feed *f, char step, uint64_t t)
{
	switch (step) {
	case 'T':
		FEED(f, SLOT, t, task_begin, .java_tid = 2);
		break;
	case 't':
		FEED(f, SLOT, t, task_end, .java_tid = 2);
		break;
	case 'k':
		FEED(f, SLOT, t, wait_stack, .java_tid = 2, .stack = 1);
		break;
	case 'B':
		writes(f, t, 100);
		break;
	case 'E':
		java_ends(f, t, 2, 101);
		break;
	case 'D':
		java_starts(f, t, 2, 101, 0);
		break;
	case 'Z':
		java_starts(f, t, 2, 101, JIS_JTHREAD_RUNNING);
		break;
	case 'L':
		feed_packet(f, SLOT, t, t, f->m->streams[SLOT].discarded + 1, 0, 101);
		break;
	case 'C':
		FEED(f, 1, t, syscall_enter, .tid = 101, .nr = nr("getpid"));
		break;
	case 'c':
		FEED(f, 1, t, syscall_exit, .tid = 101, .nr = nr("getpid"));
		break;
	case 'd':
		FEED(f, 1, t, syscall_exit, .tid = 101, .nr = nr("getppid"));
		break;
	case 'G':
		FEED(f, SLOT, t, gc_start, .number = 1);
		break;
	case 'g':
		FEED(f, SLOT, t, gc_finish, .number = 1);
		break;
	case 'F':
		FEED(f, SLOT, t, safepoint_begin, .source = JIS_SAFEPOINT_LOG);
		break;
	case 'h':
		FEED(f, SLOT, t, safepoint_reached, .source = JIS_SAFEPOINT_LOG);
		break;
	case 'f':
		FEED(f, SLOT, t, safepoint_end, .source = JIS_SAFEPOINT_LOG);
		break;
	}
}

static void virtual_step(struct feed *f, char step, uint64_t t)
{
	bool second = step == 'V' || step == 'v';

	writes(f, t, second ? 105 : 104);
	switch (step) {
	case 'A':
		java_starts(f, t, 50, 0, JIS_JTHREAD_VIRTUAL);
		break;
	case 'a':
		java_ends(f, t, 50, 0);
		break;
	case 'U':
	case 'V':
		FEED(f, SLOT, t, vthread_mount, .java_tid = 50);
		break;
	case 'u':
	case 'v':
		FEED(f, SLOT, t, vthread_unmount, .java_tid = 50);
		break;
	case 'X':
		FEED(f, SLOT, t, vthread_mount, .java_tid = 51);
		break;
	case 'x':
		FEED(f, SLOT, t, vthread_unmount, .java_tid = 51);
		break;
	case 'Q':
		FEED(f, SLOT, t, park_begin, .java_tid = 50);
		break;
	case 'q':
		FEED(f, SLOT, t, park_end, .java_tid = 50);
		break;
	}
	writes(f, t, 101);
}

static void method_step(struct feed *f, char step, uint64_t t)
{
	uint32_t method = strchr("12", step) ? 1 : 2;

	writes(f, t, 101);
	if (strchr("13", step))
		FEED(f, SLOT, t, method_enter, .method = method);
	else
		FEED(f, SLOT, t, method_exit, .method = method);
}

static void kernel_step(struct feed *f, char step, uint64_t t)
{
	switch (step) {
	case 'K':
	case 'N':
		feed_switch(f, step == 'K' ? 1 : 2, t, 0, R, 101);
		break;
	case 'l':
	case 'O':
		feed_switch(f, step == 'l' ? 1 : 2, t, 101, S, 0);
		break;
	case 'R':
		feed_switch(f, 1, t, 101, X, 0);
		break;
	case 'r':
		feed_switch(f, 1, t, 104, S, 0);
		break;
	case 'Y':
		feed_wake(f, 1, t, 101, 100, t + 1);
		break;
	case 'y':
		feed_wake(f, 3, t, 0, 101, t + 1);
		break;
	}
}

static int no_call(void *ctx, const struct model_call *call)
{
	return 0;
}

static void check_order(const struct order *o)
{
	static const struct model_sink calls = {.call_end = no_call};
	struct feed *f = why_new();
	uint64_t contradictions = 0;

	f->sinks[f->nr_sinks++] = &calls;
	why_start(f);
	feed_packet(f, SLOT, 1, 1, 0, 0, 101);
	for (uint64_t i = 0; o->steps[i]; i++) {
		if (strchr("MmoWwiPpSsJjHe", o->steps[i]))
			wait_step(f, o->steps[i], 10 * (i + 1));
		else if (strchr("AaUuVvXxQq", o->steps[i]))
			virtual_step(f, o->steps[i], 10 * (i + 1));
		else if (strchr("KlNORryY", o->steps[i]))
			kernel_step(f, o->steps[i], 10 * (i + 1));
		else if (strchr("1234", o->steps[i]))
			method_step(f, o->steps[i], 10 * (i + 1));
		else
			thread_step(f, o->steps[i], 10 * (i + 1));
	}
	feed_end(f);
	for (int i = 0; i < MODEL_NR_ERRORS; i++) {
		ck_assert_msg((f->counts.errors[i] != 0) == (i == o->error),
			      "\"%s\": %" PRIu64 " of \"%s\"", o->steps, f->counts.errors[i],
			      model_error_name(i));
		if (i >= MODEL_ERROR_NOT_THERE)
			contradictions += f->counts.errors[i];
	}
	ck_assert_uint_eq(f->counts.contradictions, contradictions);
	feed_free(f);
}

START_TEST(impossible_orders_are_errors_and_possible_ones_are_none)
{
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
		check_order(&orders[i]);
}
END_TEST

START_TEST(the_first_of_each_kind_is_told)
{
	struct feed *f = why_new();

	why_start(f);
	writes(f, 10, 101);
	feed_switch(f, 1, 11, 101, S, 0);
	wait_step(f, 'p', 20); /* a record of a blocked thread, too */
	wait_step(f, 'p', 30);
	feed_switch(f, 1, 40, 0, R, 101); /* nobody has woken it */
	virtual_step(f, 'A', 50);
	virtual_step(f, 'U', 51);
	virtual_step(f, 'V', 60);
	feed_switch(f, 3, 70, 103, S, 0);
	feed_switch(f, 3, 80, 0, R, 103);
	feed_end(f);
	ck_assert_uint_eq(f->counts.errors[MODEL_ERROR_PARK_END], 2);
	ck_assert_uint_eq(f->counts.first_error[MODEL_ERROR_PARK_END].time, 20);
	ck_assert_uint_eq(f->counts.first_error[MODEL_ERROR_PARK_END].who.thread, 1);
	ck_assert_uint_eq(f->counts.first_error[MODEL_ERROR_PARK_END].who.vthread, MODEL_NO_THREAD);
	ck_assert_uint_eq(f->counts.conflicts[MODEL_CONFLICT_OFF_CPU], 2);
	ck_assert_uint_eq(f->counts.first_conflict[MODEL_CONFLICT_OFF_CPU].time, 20);
	ck_assert_uint_eq(f->counts.first_conflict[MODEL_CONFLICT_OFF_CPU].who.thread, 1);
	ck_assert_uint_eq(f->counts.errors[MODEL_ERROR_NOT_READY], 2);
	ck_assert_uint_eq(f->counts.first_error[MODEL_ERROR_NOT_READY].time, 40);
	ck_assert_uint_eq(f->counts.first_error[MODEL_ERROR_NOT_READY].who.thread, 1);
	ck_assert_uint_eq(f->counts.first_error[MODEL_ERROR_MOUNTED_TWICE].time, 60);
	/* Its carrier until then. */
	ck_assert_uint_eq(f->counts.first_error[MODEL_ERROR_MOUNTED_TWICE].who.thread, 4);
	feed_free(f);
}
END_TEST

START_TEST(each_error_is_planted)
{
	for (int error = 0; error < MODEL_NR_ERRORS; error++) {
		bool planted = false;

		for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
			planted |= orders[i].error == error;
		ck_assert_msg(planted, "no order for \"%s\"", model_error_name(error));
	}
}
END_TEST

/* Any order of any records: nothing crashes, and waits are told as often as they begin. */
START_TEST(no_order_does_harm)
{
	static const char steps[] = "MmoWwiPpSsJjTtkBEDZLAaUuVvXxQqGgCcdKlNOYy";
	unsigned int seed = 7;

	for (int round = 0; round < 300; round++) {
		struct feed *f = why_new();

		f->man.end = 100000;
		why_start(f);
		feed_packet(f, SLOT, 1, 1, 0, 0, 101);
		for (uint64_t i = 0; i < 200; i++) {
			char step = steps[(size_t)rand_r(&seed) % (sizeof(steps) - 1)];

			if (strchr("MmoWwiPpSsJj", step))
				wait_step(f, step, 10 * (i + 1));
			else if (strchr("AaUuVvXxQq", step))
				virtual_step(f, step, 10 * (i + 1));
			else if (strchr("KlNOYy", step))
				kernel_step(f, step, 10 * (i + 1));
			else
				thread_step(f, step, 10 * (i + 1));
			if (i % 5 == 0)
				feed_switch(f, i % 4, 10 * (i + 1), i % 2 ? 101 : 104, S, 0);
			if (i % 7 == 0)
				feed_switch(f, i % 4, 10 * (i + 1), 0, S, i % 2 ? 104 : 101);
		}
		feed_end(f);
		feed_free(f);
	}
}
END_TEST

/* Joins of threads that have ended leave nothing behind, however many. */
START_TEST(what_is_joined_late_takes_no_memory)
{
	struct feed *f = why_new();
	uint32_t before;

	why_start(f);
	writes(f, 3, 101);
	java_starts(f, 4, 2, 101, 0);
	before = f->m->nests.nr;
	for (uint64_t t = 10; t < 900; t++) {
		FEED(f, SLOT, t, join_begin, .java_tid = 2, .target_java_tid = 1000 + t);
		FEED(f, SLOT, t, join_end, .java_tid = 2);
	}
	ck_assert_uint_eq(f->m->nests.nr, before);
	ck_assert_ptr_null(f->m->owner_untold);
	feed_end(f);
	feed_free(f);
}
END_TEST

/* Two wait for one that is told of later; a third has ceased to. */
START_TEST(all_who_join_one_know_it_when_it_begins)
{
	struct feed *f = why_new();

	why_start(f);
	writes(f, 3, 101);
	FEED(f, SLOT, 4, join_begin, .java_tid = 2, .target_java_tid = 3, .timeout = -1);
	writes(f, 5, 104);
	FEED(f, SLOT, 5, join_begin, .java_tid = 5, .target_java_tid = 3, .timeout = -1);
	writes(f, 6, 102);
	FEED(f, SLOT, 6, join_begin, .java_tid = 4, .target_java_tid = 3, .timeout = -1);
	writes(f, 7, 104);
	FEED(f, SLOT, 7, join_end, .java_tid = 5);
	java_starts(f, 25, 3, 103, 0);
	java_ends(f, 35, 3, 103);
	writes(f, 40, 102);
	FEED(f, SLOT, 40, join_end, .java_tid = 4);
	writes(f, 41, 101);
	FEED(f, SLOT, 41, join_end, .java_tid = 2);
	feed_end(f);
	ck_assert_str_eq(java_waits, "T104 join #3 5-7, T102 join of T103 #3 6-40, "
				     "T101 join of T103 #3 4-41");
	feed_free(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model_order");
	TCase *t = tcase_create("model_order");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_test(t, impossible_orders_are_errors_and_possible_ones_are_none);
	tcase_add_test(t, the_first_of_each_kind_is_told);
	tcase_add_test(t, each_error_is_planted);
	tcase_add_test(t, no_order_does_harm);
	tcase_add_test(t, what_is_joined_late_takes_no_memory);
	tcase_add_test(t, all_who_join_one_know_it_when_it_begins);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
