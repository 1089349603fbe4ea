/* SPDX-License-Identifier: MIT */
/* Values of calls: which call they are of, and what they are told as. */
#include "test_model_why.h"

enum { A = 1, B, C };

static void enter(struct feed *f, uint64_t t, uint32_t method)
{
	FEED(f, SLOT, t, method_enter, .method = method);
}

static void leave(struct feed *f, uint64_t t, uint32_t method)
{
	FEED(f, SLOT, t, method_exit, .method = method);
}

/* A packet of the slot, before which records were lost from @from on. */
static void lose(struct feed *f, uint64_t from, uint64_t to)
{
	f->m->streams[SLOT].end = from;
	f->m->streams[SLOT].seen = true;
	feed_packet(f, SLOT, to, to + 10, f->m->streams[SLOT].discarded + 5, 0, 100);
}

static void finish(struct feed *f)
{
	feed_end(f);
	for (int i = 0; i < MODEL_NR_ERRORS; i++)
		ck_assert_msg(!f->counts.errors[i], "%s", model_error_name(i));
	feed_free(f);
}

static char told[FEED_LOG];

static int log_values(void *ctx, const struct model_call *c)
{
	const struct feed *f = ctx;

	feed_log(told, "#%" PRIu64 "(", c->number);
	for (uint32_t i = 0; i < c->nr_values; i++)
		feed_log(told, "%s%d %s", i ? "," : "", c->values[i].argument,
			 model_name(f->m, c->values[i].text));
	feed_log(told, ")");
	return 0;
}

#define VALUE(f, t, m, a, k, v)                                                                    \
	FEED_TEXT(f, SLOT, t, method_value, text, "", .method = m, .argument = a, .kind = k,       \
		  .value = (uint64_t)(v))
#define STRING(f, t, n, v, s)                                                                      \
	FEED_TEXT(f, SLOT, t, method_value, text, s, .method = A, .argument = 1,                   \
		  .kind = JIS_VALUE_STRING, .length = n, .value = v)

static struct feed *start_values(void)
{
	static struct model_sink sink;
	struct feed *f = why_new();

	sink = (struct model_sink){.call_end = log_values, .ctx = f};
	f->sinks[f->nr_sinks++] = &sink;
	told[0] = 0;
	feed_start(f, NULL);
	FEED_TEXT(f, DICT, 0, string_def, text, "()V", .id = 60);
	for (uint32_t i = A; i <= C; i++) {
		FEED_TEXT(f, DICT, 0, string_def, text, "m", .id = 60 + i);
		FEED_TEXT(f, DICT, 0, method_def, class_name, "T", .id = 10 + i, .name = 60 + i,
			  .descriptor = 60);
		FEED(f, DICT, 0, traced_method, .id = i, .method = 10 + i);
	}
	java_starts(f, 0, 1, 100, 0);
	feed_switch(f, 0, 0, 0, R, 100);
	writes(f, 0, 100);
	return f;
}

START_TEST(values_are_told_as_text)
{
	struct feed *f = start_values();
	uint64_t t = 10;

	VALUE(f, t, A, -1, JIS_VALUE_OBJECT, 0xbeef);
	VALUE(f, t, A, 0, JIS_VALUE_INT, -5);
	VALUE(f, t, A, 1, JIS_VALUE_BOOLEAN, 1);
	VALUE(f, t, A, 2, JIS_VALUE_CHAR, 0xe9);
	VALUE(f, t, A, 3, JIS_VALUE_CHAR, 0);
	VALUE(f, t, A, 4, JIS_VALUE_FLOAT, 0x3dcccccd);
	VALUE(f, t, A, 5, JIS_VALUE_DOUBLE, 0xc000000000000000ull);
	VALUE(f, t, A, 6, JIS_VALUE_NULL, 0);
	VALUE(f, t, A, 7, JIS_VALUE_INT, 9); /* one too many */
	enter(f, 11, A);
	leave(f, 12, A);
	STRING(f, 20, 3, 0x1234, "");
	enter(f, 21, A);
	leave(f, 22, A);
	STRING(f, 30, 4, 0x1234, "a\"\xf0\x9f\x98\x80"); /* four units: all of it */
	enter(f, 31, A);
	leave(f, 32, A);
	STRING(f, 40, 9, 0x1234, "ab");
	enter(f, 41, A);
	leave(f, 42, A);
	STRING(f, 50, 0, 0x1234, "");
	enter(f, 51, A);
	leave(f, 52, A);
	finish(f);
	ck_assert_str_eq(told,
			 "#1(-1 ?@beef,0 -5,1 true,2 '\xc3\xa9',3 '\\u0000',4 0.1,5 -2.0,6 null)"
			 "#2(1 String(3)#0000000000001234)#3(1 \"a\\\"\xf0\x9f\x98\x80\")"
			 "#4(1 \"ab\"...(9)#0000000000001234)#5(1 \"\")");
}
END_TEST

START_TEST(values_are_of_the_call_that_is_entered_next)
{
	struct feed *f = start_values();

	VALUE(f, 10, A, 0, JIS_VALUE_INT, 1);
	enter(f, 11, A);
	VALUE(f, 12, A, 0, JIS_VALUE_INT, 2); /* recursion, two values */
	VALUE(f, 12, A, 1, JIS_VALUE_INT, 3);
	enter(f, 13, A);
	enter(f, 14, B); /* tells none */
	leave(f, 15, B);
	leave(f, 16, A);
	VALUE(f, 17, C, 0, JIS_VALUE_INT, 4); /* its entry is lost */
	enter(f, 18, B);
	leave(f, 19, B);
	VALUE(f, 20, C, 0, JIS_VALUE_INT, 5); /* likewise: the next one's comes again */
	VALUE(f, 21, C, 0, JIS_VALUE_INT, 6);
	enter(f, 22, C);
	leave(f, 23, C);
	leave(f, 24, A);
	VALUE(f, 25, C, 0, JIS_VALUE_INT, 7);
	lose(f, 26, 30);
	enter(f, 31, C);
	leave(f, 32, C);
	finish(f);
	ck_assert_str_eq(told, "#3()#2(0 2,1 3)#4()#5(0 6)#1(0 1)#6()");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("model_values");
	TCase *t = tcase_create("all");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(t, values_are_told_as_text);
	tcase_add_test(t, values_are_of_the_call_that_is_entered_next);
	suite_add_tcase(suite, t);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
