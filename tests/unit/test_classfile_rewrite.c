/* SPDX-License-Identifier: MIT */
/*
 * The rewriter on methods made by hand: what comes out is compared with bytes worked out by hand
 * from the JVM specification. That the JVM takes it is tests/e2e/200 to 205.
 */
#include "test_classfile_made.h"

START_TEST(exits_of_both_kinds_are_seen)
{
	/* static int method(int): iload_0; ifeq 6; iconst_1; ireturn; 6: iconst_2; ireturn */
	struct spec s = {.flags = 8,
			 .descriptor = "(I)I",
			 .code = "1a 99 00 05 04 ac 05 ac",
			 .frames = "00 01 06",
			 .exceptions = "0000 0005 0006 0000"};
	struct made m = {.nr_calls = 0};

	calls_both(&m);
	ck_assert_int_eq(rewrite(&m, &s), 1);
	same_code(&m, "10 07 b8 xxxx 1a 99 00 0a 04 10 07 b8 xxxx ac 05 10 07 b8 xxxx ac 10 07 b8 "
		      "xxxx bf");
	ck_assert_uint_eq(m.max_stack, 4); /* one more than it was */
	ck_assert_uint_eq(m.nr_exceptions, 3);
	/* Its own, then ours: neither the exit calls nor the returns. */
	same_exceptions(&m, "0005 000a 0010 0000 0005 000a 0017 0000 0010 0011 0017 0000");
	same_frames(&m, "00 02 10 ff 0006 00 00 00 01 07 xxxx");
	made_free(&m);
}
END_TEST

START_TEST(old_classes_get_no_stack_maps)
{
	struct spec s = {.code = "03 57 b1"};
	struct made m = {.nr_calls = 0};
	unsigned int major;

	calls_both(&m);
	for (major = 45; major <= 69; major++) {
		s.major = major;
		ck_assert_int_eq(rewrite(&m, &s), 1);
		same_code(&m, "10 07 b8 xxxx 03 57 10 07 b8 xxxx b1 10 07 b8 xxxx bf");
		ck_assert_uint_eq(m.nr_attributes, major >= 50);
		if (major >= 50)
			same_frames(&m, "00 01 ff 000d 00 00 00 01 07 xxxx");
	}
	made_free(&m);
}
END_TEST

START_TEST(constructors_have_two_handlers)
{
	/* new C; dup; invokespecial C.<init>; pop; aload_0; invokespecial super.<init>; nop; return
	 */
	struct spec s = {.constructor = 1, .code = "bb 0002 59 b7 000e 57 2a b7 000f 00 b1"};
	struct made m = {.nr_calls = 0};

	calls_both(&m);
	ck_assert_int_eq(rewrite(&m, &s), 1);
	same_code(&m, "10 07 b8 xxxx bb 0002 59 b7 000e 57 2a b7 000f 00 10 07 b8 xxxx b1 10 07 b8 "
		      "xxxx bf 10 07 b8 xxxx bf");
	ck_assert_uint_eq(m.nr_exceptions, 2);
	/* The call of super() at 14 to 17 is not covered. */
	same_exceptions(&m, "0005 000e 001e 0000 0011 0012 0018 0000");
	same_frames(&m, "00 02 ff 0018 00 00 00 01 07 xxxx ff 0005 00 01 06 00 01 07 xxxx");
	made_free(&m);
}
END_TEST

START_TEST(two_calls_of_super_are_both_left_uncovered)
{
	/* iload_1; ifeq 9; aload_0; invokespecial this; return; 9: aload_0; invokespecial super;
	 * return */
	struct spec s = {.constructor = 1,
			 .descriptor = "(I)V",
			 .code = "1b 99 0008 2a b7 000e b1 2a b7 000f b1",
			 .frames = "00 01 09"};
	struct made m = {.nr_calls = 0};
	int old;

	calls_both(&m);
	for (old = 0; old < 2; old++) { /* without stack maps branches tell the state */
		s.major = old ? 49 : 61;
		ck_assert_int_eq(rewrite(&m, &s), 1);
		same_code(&m, "10 07 b8 xxxx 1b 99 000d 2a b7 000e 10 07 b8 xxxx b1 2a b7 000f 10 "
			      "07 b8 xxxx b1 10 07 b8 xxxx bf");
		ck_assert_uint_eq(m.nr_exceptions, 2);
		same_exceptions(&m, "0005 000a 001d 0000 0013 0014 001d 0000");
	}
	made_free(&m);
}
END_TEST

static int32_t s4(const unsigned char *p)
{
	return (int32_t)((uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]);
}

/* A switch behind @before nops; its three targets are returns, which then begin with exit calls. */
static void switch_check(int table, unsigned int before, int32_t number)
{
	struct made m = {.nr_calls = 0};
	struct spec s = {.flags = 8};
	struct jis_bytes b = {0};
	unsigned int i, at, end, entry;
	const unsigned char *p;

	for (i = 0; i < before; i++)
		jis_bytes_u1(&b, 0);
	jis_bytes_u1(&b, 3);
	at = (unsigned int)b.size;
	end = (at + 4) / 4 * 4 + (table ? 20 : 24); /* behind the switch: three returns */
	jis_bytes_u1(&b, table ? 170 : 171);
	while (b.size % 4)
		jis_bytes_u1(&b, 0);
	jis_bytes_u4(&b, end + 2 - at);
	jis_bytes_u4(&b, table ? 5 : 2); /* low, or number of pairs */
	jis_bytes_u4(&b, table ? 6 : (uint32_t)-70000);
	jis_bytes_u4(&b, end - at);
	if (!table)
		jis_bytes_u4(&b, 70000);
	jis_bytes_u4(&b, end + 1 - at);
	for (i = 0; i < 3; i++)
		jis_bytes_u1(&b, 177);
	s.long_code = b.data;
	s.length = (uint32_t)b.size;
	s.major = 49;
	calls_both(&m);
	m.calls[0].args[0].value = number;
	ck_assert_int_eq(rewrite(&m, &s), 1);
	entry = number > 127 ? 6 : 5;
	ck_assert_uint_eq(m.code[entry + at], table ? 170 : 171);
	p = m.code + (entry + at + 4) / 4 * 4;
	for (i = entry + at + 1; m.code + i < p; i++)
		ck_assert_uint_eq(m.code[i], 0);
	end = (unsigned int)(p - m.code) + (table ? 20 : 24);
	ck_assert_int_eq(s4(p), (int)(end + 12 - entry - at));
	ck_assert_int_eq(s4(p + 4), table ? 5 : 2);
	ck_assert_int_eq(s4(p + 8), table ? 6 : -70000);
	ck_assert_int_eq(s4(p + 12), (int)(end - entry - at));
	if (!table)
		ck_assert_int_eq(s4(p + 16), 70000);
	ck_assert_int_eq(s4(p + (table ? 16 : 20)), (int)(end + 6 - entry - at));
	for (i = 0; i < 3; i++) {
		ck_assert_uint_eq(m.code[end + 6 * i], 16);
		ck_assert_uint_eq(m.code[end + 6 * i + 5], 177);
	}
	jis_bytes_free(&b);
	made_free(&m);
}

START_TEST(switches_are_padded_anew)
{
	unsigned int before;

	for (before = 0; before < 8; before++) {
		switch_check(0, before, 1);
		switch_check(1, before, 1);
		switch_check(0, before, 1000);
		switch_check(1, before, 1000);
	}
}
END_TEST

START_TEST(wide_instructions_stay_whole)
{
	/* wide iinc 258 by -177 (0xff4f); wide aload 177; pop; multianewarray; goto_w +6; nop;
	 * return */
	struct spec s = {
		.flags = 8,
		.major = 49,
		.code = "c4 84 01 02 ff 4f c4 19 00 b1 57 c5 0002 01 c8 00 00 00 06 00 b1"};
	struct made m = {.nr_calls = 0};

	calls_both(&m);
	ck_assert_int_eq(rewrite(&m, &s), 1);
	same_code(&m, "10 07 b8 xxxx c4 84 01 02 ff 4f c4 19 00 b1 57 c5 0002 01 c8 00 00 00 06 00 "
		      "10 07 b8 xxxx b1 10 07 b8 xxxx bf");
	made_free(&m);
}
END_TEST

START_TEST(monitors_are_told_with_their_object)
{
	/* aload_0; monitorenter; 2: nop; aload_0; monitorexit; 5: return; handler at 6: athrow */
	struct spec s = {.major = 49,
			 .code = "2a c2 00 2a c3 b1 bf",
			 .exceptions = "0002 0005 0006 0000"};
	struct made m = {.nr_calls = 0};

	call(&m, JIS_AT_LOCKED, "locked", "(Ljava/lang/Object;I)V");
	arg(&m, JIS_ARG_OBJECT, 0);
	arg(&m, JIS_ARG_NUMBER, 7);
	call(&m, JIS_AT_UNLOCK, "unlock", "(Ljava/lang/Object;I)V");
	arg(&m, JIS_ARG_OBJECT, 0);
	arg(&m, JIS_ARG_NUMBER, 7);
	ck_assert_int_eq(rewrite(&m, &s), 1);
	same_code(&m, "2a 59 c2 10 07 b8 xxxx 00 2a 59 10 07 b8 xxxx c3 b1 bf");
	/* The call behind monitorenter is covered by what gives the monitor back. */
	ck_assert_uint_eq(m.nr_exceptions, 1);
	same_exceptions(&m, "0003 0011 0012 0000");
	ck_assert_uint_eq(m.max_stack, 3 + 3); /* the object's copy and two arguments */
	made_free(&m);
}
END_TEST

START_TEST(synchronized_methods_tell_their_monitor)
{
	struct spec s = {.flags = 0x20, .code = "00 b1"};
	struct made m = {.nr_calls = 0};

	call(&m, JIS_AT_LOCKED, "locked", "(Ljava/lang/Object;)V");
	arg(&m, JIS_ARG_OBJECT, 0);
	call(&m, JIS_AT_UNLOCK, "unlock", "(Ljava/lang/Object;)V");
	arg(&m, JIS_ARG_OBJECT, 0);
	ck_assert_int_eq(rewrite(&m, &s), 1);
	same_code(&m, "2a b8 xxxx 00 2a b8 xxxx b1 2a b8 xxxx bf");
	/* The handler's frame has `this`, as an Object: a constant of its own. */
	same_frames(&m, "00 01 ff 000a 00 01 07 xxxx 00 01 07 xxxx");
	s.flags = 0x28;
	ck_assert_int_eq(rewrite(&m, &s), 1);
	same_code(&m, "13 0002 b8 xxxx 00 13 0002 b8 xxxx b1 13 0002 b8 xxxx bf");
	same_frames(&m, "00 01 ff 000e 00 00 00 01 07 xxxx");
	s.major = 48;
	must_refuse(&m, &s, "name its class");
	s.flags = 0; /* no monitor at all: nothing to put in */
	ck_assert_int_eq(rewrite(&m, &s), 0);
	ck_assert_ptr_null(m.why);
	made_free(&m);
}
END_TEST

START_TEST(parameters_are_passed_on_at_exits)
{
	/* void method(long, String): locals this 0, long 1, String 3 */
	struct spec s = {.descriptor = "(JLjava/lang/String;)V", .code = "00 b1"};
	static const char *const stores[] = {"4b b1",	    "40 b1",	"3f b1",
					     "3a 03 b1",    "37 02 b1", "c4 3a 0003 b1",
					     "84 01 01 b1", "39 00 b1"};
	struct made m = {.nr_calls = 0};
	unsigned int i;

	call(&m, JIS_AT_EXIT, "exit", "(Ljava/lang/String;JLjava/lang/Object;)V");
	arg(&m, JIS_ARG_LOCAL, 3);
	arg(&m, JIS_ARG_LOCAL, 1);
	arg(&m, JIS_ARG_THIS, 0);
	ck_assert_int_eq(rewrite(&m, &s), 1);
	same_code(&m, "00 2d 1f 2a b8 xxxx b1 2d 1f 2a b8 xxxx bf");
	same_frames(&m, "00 01 ff 0008 00 03 07 xxxx 04 07 xxxx 00 01 07 xxxx");
	ck_assert_uint_eq(m.max_stack, 3 + 4);
	for (i = 0; i < sizeof(stores) / sizeof(*stores); i++) {
		s.code = stores[i];
		must_refuse(&m, &s, "overwritten");
	}
	/* Behind the parameters any store will do. */
	s.code = "3a 04 b1";
	ck_assert_int_eq(rewrite(&m, &s), 1);
	made_free(&m);
}
END_TEST

START_TEST(results_are_passed_on)
{
	struct spec reference = {.flags = 8, .descriptor = "()[I", .major = 49, .code = "01 b0"};
	struct spec number = {.flags = 8, .descriptor = "()J", .major = 49, .code = "09 ad"};
	struct made m = {.nr_calls = 0};

	call(&m, JIS_AT_EXIT, "exit", "(Ljava/lang/Object;)V");
	arg(&m, JIS_ARG_RESULT, 0);
	ck_assert_int_eq(rewrite(&m, &reference), 1);
	same_code(&m, "01 59 b8 xxxx b0 01 b8 xxxx bf");
	ck_assert_int_eq(rewrite(&m, &number), 1);
	same_code(&m, "09 01 b8 xxxx ad 01 b8 xxxx bf");
	made_free(&m);
}
END_TEST

START_TEST(fields_and_hashes_are_passed_on)
{
	struct spec s = {.descriptor = "(Ljava/lang/String;)V", .field = 1, .code = "00 b1"};
	struct made m = {.nr_calls = 0};

	call(&m, JIS_AT_ENTRY, "enter", "(Ljava/lang/Object;La/Mark;II)V");
	field(&m, "method", "La/Mark;", 0);
	field(&m, "method", "La/Mark;", 0);
	field(&m, "method", "La/Mark;", 1);
	arg(&m, JIS_ARG_LOCAL, 1);
	m.calls[0].args[3].hash = 1;
	ck_assert_int_eq(rewrite(&m, &s), 1);
	same_code(&m, "2a b4 xxxx 2a b4 xxxx 2a b4 xxxx b8 xxxx 2b b8 xxxx b8 xxxx 00 b1");
	ck_assert_uint_eq(m.max_stack, 4);
	made_free(&m);
}
END_TEST

START_TEST(fields_are_passed_on_at_exits)
{
	struct spec s = {.major = 49, .field = 1, .code = "00 b1"};
	struct made m = {.nr_calls = 0};

	call(&m, JIS_AT_EXIT, "exit", "(Ljava/lang/Object;)V");
	field(&m, "method", "La/Mark;", 0);
	ck_assert_int_eq(rewrite(&m, &s), 1);
	same_code(&m, "00 2a b4 xxxx b8 xxxx b1 2a b4 xxxx b8 xxxx bf");
	made_free(&m);
}
END_TEST

START_TEST(a_field_that_may_be_missing_is_null)
{
	struct spec s = {.field = 1, .code = "00 b1"};
	struct made m = {.nr_calls = 0};

	call(&m, JIS_AT_ENTRY, "enter", "(Ljava/lang/Object;Ljava/lang/Object;)V");
	field(&m, "method", "La/Mark;", 0);
	field(&m, "other", "La/Mark;", 0);
	m.calls[0].args[0].optional = m.calls[0].args[1].optional = 1;
	ck_assert_int_eq(rewrite(&m, &s), 1);
	same_code(&m, "2a b4 xxxx 01 b8 xxxx 00 b1");
	made_free(&m);
}
END_TEST

START_TEST(calls_nest)
{
	struct spec s = {.flags = 8, .major = 49, .code = "00 b1"};
	struct made m = {.nr_calls = 0};
	unsigned int i;

	for (i = 1; i <= 2; i++) {
		call(&m, JIS_AT_ENTRY, "enter", "(I)V");
		arg(&m, JIS_ARG_NUMBER, (int32_t)i);
		call(&m, JIS_AT_EXIT, "exit", "(I)V");
		arg(&m, JIS_ARG_NUMBER, (int32_t)i);
	}
	ck_assert_int_eq(rewrite(&m, &s), 1);
	same_code(&m, "10 01 b8 xxxx 10 02 b8 xxxx 00 10 02 b8 xxxx 10 01 b8 xxxx b1 10 02 b8 xxxx "
		      "10 01 b8 xxxx bf");
	made_free(&m);
}
END_TEST

START_TEST(frames_change_their_form)
{
	/* Six kinds at 63, where one byte is no longer enough for the distance. */
	static const char *const frames[][2] = {{"3f", "fb 0044"},
						{"7f 01", "f7 0044 01"},
						{"f7 003f 01", "f7 0044 01"},
						{"fb 003f", "fb 0044"},
						{"fc 003f 01", "fc 0044 01"},
						{"ff 003f 0000 0000", "ff 0044 0000 0000"}};
	struct spec s = {.flags = 8};
	struct made m = {.nr_calls = 0};
	unsigned char code[80] = {0};
	struct jis_bytes want = {0};
	char text[80];
	unsigned int i;

	code[79] = 177;
	s.long_code = code;
	s.length = sizeof(code);
	calls_both(&m);
	m.nr_calls = 1;		  /* at entry only: five bytes */
	for (i = 0; i < 6; i++) { /* and behind it two whose distance stays: same, chop */
		snprintf(text, sizeof(text), "0003 %s 05 f8 0001", frames[i][0]);
		s.frames = text;
		ck_assert_int_eq(rewrite(&m, &s), 1);
		want.size = 0;
		hex_put(&want, "0003");
		hex_put(&want, frames[i][1]);
		hex_put(&want, "05 f8 0001");
		ck_assert_ptr_nonnull(memmem(m.out.data, m.out.size, want.data, want.size));
	}
	jis_bytes_free(&want);
	made_free(&m);
}
END_TEST

START_TEST(type_annotations_move)
{
	/* new C; pop; return. At the new, for a variable (with a path), a catch, a cast's argument.
	 */
	static const char in[] =
		"0004 44 0000 00 0011 0000 40 0001 0003 0002 0001 01 03 00 0011 0000"
		"42 0000 00 0011 0000 47 0003 01 00 0011 0001 000b 73 0001";
	static const char out[] =
		"0004 44 0005 00 0011 0000 40 0001 0008 0007 0001 01 03 00 0011 0000"
		"42 0000 00 0011 0000 47 0008 01 00 0011 0001 000b 73 0001";
	struct spec s = {.flags = 8, .major = 49, .code = "bb 0002 57 b1", .types = in};
	struct made m = {.nr_calls = 0};
	struct jis_bytes want = {0};

	calls_both(&m);
	ck_assert_int_eq(rewrite(&m, &s), 1);
	hex_put(&want, out);
	ck_assert_ptr_nonnull(memmem(m.out.data, m.out.size, want.data, want.size));
	jis_bytes_free(&want);
	made_free(&m);
}
END_TEST

START_TEST(without_calls_all_stays_the_same)
{
	struct spec s = {.flags = 8,
			 .descriptor = "(I)I",
			 .code = "1a 99 00 05 04 ac 05 ac",
			 .frames = "00 01 06",
			 .exceptions = "0000 0005 0006 0000"};
	struct made m = {.options = JIS_PLAN_ALL};

	ck_assert_int_eq(rewrite(&m, &s), 1);
	ck_assert_uint_eq(m.out.size, m.class.size);
	ck_assert_mem_eq(m.out.data, m.class.data, m.class.size);
	m.options = 0;
	ck_assert_int_eq(rewrite(&m, &s), 0);
	made_free(&m);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("class rewriter");
	TCase *tc = tcase_create("class rewriter");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, exits_of_both_kinds_are_seen);
	tcase_add_test(tc, old_classes_get_no_stack_maps);
	tcase_add_test(tc, constructors_have_two_handlers);
	tcase_add_test(tc, two_calls_of_super_are_both_left_uncovered);
	tcase_add_test(tc, switches_are_padded_anew);
	tcase_add_test(tc, wide_instructions_stay_whole);
	tcase_add_test(tc, monitors_are_told_with_their_object);
	tcase_add_test(tc, synchronized_methods_tell_their_monitor);
	tcase_add_test(tc, parameters_are_passed_on_at_exits);
	tcase_add_test(tc, results_are_passed_on);
	tcase_add_test(tc, fields_and_hashes_are_passed_on);
	tcase_add_test(tc, fields_are_passed_on_at_exits);
	tcase_add_test(tc, a_field_that_may_be_missing_is_null);
	tcase_add_test(tc, calls_nest);
	tcase_add_test(tc, frames_change_their_form);
	tcase_add_test(tc, type_annotations_move);
	tcase_add_test(tc, without_calls_all_stays_the_same);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
