/* SPDX-License-Identifier: MIT */
/* Ids of strings, methods and stacks that a writer chose: what they may cost. */
#include <malloc.h>

#include "test_model_why.h"

static size_t heap(void)
{
	const struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static void define(struct feed *f, uint32_t id)
{
	FEED_TEXT(f, DICT, 1, string_def, text, "x", .id = id);
	FEED_TEXT(f, DICT, 1, method_def, class_name, "C", .id = id, .name = id);
	FEED(f, DICT, 1, stack_def, .id = id, .method = id);
	FEED(f, DICT, 1, traced_method, .id = id, .method = id);
}

START_TEST(a_few_records_take_little_memory_whatever_their_ids)
{
	static const uint32_t ids[] = {0xffffff, 0x800000, 0x100000, 0x1000000, UINT32_MAX};
	struct feed *f = why_new();
	size_t before;

	why_start(f);
	before = heap();
	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++)
		define(f, ids[i]);
	ck_assert_uint_lt(heap() - before, 1u << 20);
	feed_end(f);
	feed_free(f);
}
END_TEST

/* 60,000 definitions may be lost, and all the same the next one has a meaning. */
START_TEST(ids_behind_a_loss_are_taken)
{
	struct feed *f = why_new();
	struct model_frame frame;

	why_start(f);
	define(f, 1);
	define(f, 60000);
	ck_assert_uint_eq(model_stack(f->m, 0, 60000, &frame, 1), 1);
	ck_assert_str_eq(frame.class_name, "C");
	ck_assert_str_eq(frame.method, "x");
	feed_end(f);
	feed_free(f);
}
END_TEST

START_TEST(there_may_be_many)
{
	struct feed *f = why_new();
	struct model_frame frame;

	why_start(f);
	for (uint32_t id = 1; id <= 100000; id++)
		define(f, id);
	ck_assert_uint_eq(model_stack(f->m, 0, 100000, &frame, 1), 1);
	ck_assert_str_eq(frame.method, "x");
	feed_end(f);
	feed_free(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model_ids");
	TCase *t = tcase_create("model_ids");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_test(t, a_few_records_take_little_memory_whatever_their_ids);
	tcase_add_test(t, ids_behind_a_loss_are_taken);
	tcase_add_test(t, there_may_be_many);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
