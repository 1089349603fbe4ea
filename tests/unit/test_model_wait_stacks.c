/* SPDX-License-Identifier: MIT */
/* Stacks of long waits, and waits that are left without. */
#include "test_model_why.h"

START_TEST(stacks_of_waits_are_found)
{
	struct feed *f = why_new();
	struct model_frame frames[4];

	why_start(f);
	FEED_TEXT(f, DICT, 1, method_def, class_name, "Worker", .id = 1, .name = NAME_OTHER);
	FEED(f, DICT, 1, stack_def, .id = 1, .method = 1, .line = 10);
	FEED(f, DICT, 1, stack_def, .id = 2, .caller = 1, .method = 1, .line = -2);
	FEED(f, DICT, 1, stack_def, .id = 3, .caller = 3, .method = 1); /* goes round */
	writes(f, 5, 101);
	PARK(f, 5, 2);
	FEED(f, SLOT, 6, wait_stack, .java_tid = 2, .stack = 2);
	FEED(f, SLOT, 7, park_end, .java_tid = 2);
	ck_assert_str_eq(java_waits, "T101 park Sync@5 5-7 stack 2");
	ck_assert_uint_eq(model_stack(f->m, 0, 2, frames, 4), 2);
	ck_assert_str_eq(frames[0].class_name, "Worker");
	ck_assert_str_eq(frames[0].method, "Other");
	ck_assert_int_eq(frames[0].line, -2);
	ck_assert_int_eq(frames[1].line, 10);
	ck_assert_uint_eq(model_stack(f->m, 0, 2, frames, 1), 1);
	ck_assert_uint_eq(model_stack(f->m, 0, 3, frames, 4), 0);
	ck_assert_uint_eq(model_stack(f->m, 0, 77, frames, 4), 0);
	feed_end(f);
	feed_free(f);
}
END_TEST

/* Those of the window count. */
START_TEST(stacks_that_are_left_out_are_counted)
{
	const struct model_options window = {.from = 20, .to = 40};
	static const uint32_t stacks[] = {0, 0, 2, 0, 0, 0};
	struct feed *f = why_new();

	why_start_with(f, &window);
	writes(f, 5, 101);
	for (uint64_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
		uint64_t t = 10 + 8 * i; /* 10, 18, 26, 34, 42, 50 */

		PARK(f, t, 2);
		FEED(f, SLOT, t + 1, wait_stack, .java_tid = 2, .stack = stacks[i]);
		FEED(f, SLOT, t + 2, park_end, .java_tid = 2);
	}
	feed_end(f);
	ck_assert_uint_eq(f->counts.stacks_left_out, 1);
	feed_free(f);
	f = why_new();
	why_start(f);
	writes(f, 5, 101);
	PARK(f, 10, 2);
	FEED(f, SLOT, 11, wait_stack, .java_tid = 2);
	FEED(f, SLOT, 12, park_end, .java_tid = 2);
	feed_end(f);
	ck_assert_uint_eq(f->counts.stacks_left_out, 1);
	feed_free(f);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("wait stacks");
	Suite *s = suite_create("model_wait_stacks");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, stacks_of_waits_are_found);
	tcase_add_test(t, stacks_that_are_left_out_are_counted);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
