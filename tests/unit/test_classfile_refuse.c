/* SPDX-License-Identifier: MIT */
/*
 * What the rewriter leaves as it is, and the reason it gives: limits of the class file and of the
 * JVM, code that is damaged or not clear, calls that do not fit, methods that are never rewritten.
 */
#include "test_classfile_made.h"

START_TEST(constructors_that_are_not_clear_are_refused)
{
	struct spec never = {.constructor = 1, .code = "b1"};
	struct spec twice = {.constructor = 1, .code = "2a b7 000f 2a b7 000f b1"};
	/* The frame at 4, which the code falls into, says the opposite of it. */
	struct spec other = {.constructor = 1, .code = "2a b7 000f b1", .frames = "00 01 04"};
	struct spec monitor = {.constructor = 1, .code = "2a c2 2a b7 000f b1"};
	struct spec store = {.constructor = 1, .code = "2a b7 000f 01 4b b1"};
	struct made m = {.nr_calls = 0};

	calls_both(&m);
	must_refuse(&m, &never, "not certain");
	must_refuse(&m, &twice, "not certain");
	must_refuse(&m, &other, "not certain");
	must_refuse(&m, &store, "overwrites this");
	call(&m, JIS_AT_LOCKED, "locked", "()V");
	must_refuse(&m, &monitor, "before super()");
	made_free(&m);
}
END_TEST

/* A branch over @distance bytes, forwards or backwards, with one return in between. */
static int far_branch(unsigned int distance, int backwards, const char **why)
{
	struct made m = {.nr_calls = 0};
	struct spec s = {.flags = 8, .major = 49, .length = distance + 4};
	unsigned char *code = calloc(1, s.length);
	unsigned int at = backwards ? distance : 0;
	int n;

	ck_assert_ptr_nonnull(code);
	code[at] = 167;
	code[at + 1] = (unsigned char)((backwards ? 65536 - distance : distance) >> 8);
	code[at + 2] = (unsigned char)(backwards ? 65536 - distance : distance);
	code[10] = 177;
	code[s.length - 1] = 177;
	s.long_code = code;
	calls_both(&m);
	n = rewrite(&m, &s);
	*why = m.why;
	free(code);
	made_free(&m);
	return n;
}

START_TEST(branches_that_get_too_long_are_refused)
{
	const char *why;

	ck_assert_int_eq(far_branch(32762, 0, &why), 1);
	ck_assert_int_eq(far_branch(32763, 0, &why), 0);
	ck_assert_ptr_nonnull(strstr(why, "branch"));
	ck_assert_int_eq(far_branch(32763, 1, &why), 1);
	ck_assert_int_eq(far_branch(32764, 1, &why), 0);
	ck_assert_ptr_nonnull(strstr(why, "branch"));
}
END_TEST

/* Rewrites a method of @length bytes, nops and a return. */
static int long_method(struct made *m, uint32_t length)
{
	struct spec s = {.flags = 8, .length = length};
	unsigned char *code = calloc(1, length);
	int n;

	ck_assert_ptr_nonnull(code);
	code[length - 1] = 177;
	s.long_code = code;
	n = rewrite(m, &s);
	free(code);
	return n;
}

START_TEST(methods_do_not_grow_over_the_limits)
{
	struct made m = {.nr_calls = 0};

	calls_both(&m); /* 16 bytes */
	ck_assert_int_eq(long_method(&m, 7984), 1);
	ck_assert_uint_eq(m.length, 8000);
	ck_assert_int_eq(long_method(&m, 7985), 0);
	ck_assert_ptr_nonnull(strstr(m.why, "8000"));
	ck_assert_int_eq(long_method(&m, 8001), 1); /* never compiled anyway */
	m.options = JIS_PLAN_HUGE;
	ck_assert_int_eq(long_method(&m, 7985), 1);
	ck_assert_int_eq(long_method(&m, 65519), 1);
	ck_assert_uint_eq(m.length, 65535);
	ck_assert_int_eq(long_method(&m, 65520), 0);
	ck_assert_ptr_nonnull(strstr(m.why, "65535"));
	made_free(&m);
}
END_TEST

START_TEST(a_full_constant_pool_leaves_the_method)
{
	struct spec s = {.flags = 8, .code = "03 57 b1"};
	struct made m = {.nr_calls = 0};
	unsigned int room;

	/* Six for each of the two methods, Throwable and its name, StackMapTable: 15. */
	calls_both(&m);
	for (room = 13; room <= 17; room++) {
		s.padding = 65535 - C_END - room;
		if (room < 15)
			must_refuse(&m, &s, "constant pool");
		else
			ck_assert_int_eq(rewrite(&m, &s), 1);
	}
	/* A large number is one more, for all calls of the method together. */
	m.calls[0].args[0].value = m.calls[1].args[0].value = 100000;
	s.padding = 65535 - C_END - 15;
	must_refuse(&m, &s, "constant pool");
	s.padding--;
	ck_assert_int_eq(rewrite(&m, &s), 1);
	made_free(&m);
}
END_TEST

START_TEST(subroutines_are_refused)
{
	struct spec jsr = {.major = 48, .flags = 8, .code = "a8 0004 b1 4b a9 00"};
	struct spec jsr_w = {.major = 48, .flags = 8, .code = "c9 00 00 00 05 b1"};
	struct spec ret = {.major = 48, .flags = 8, .code = "c4 a9 00 00"};
	struct made m = {.nr_calls = 0};

	calls_both(&m);
	must_refuse(&m, &jsr, "jsr");
	must_refuse(&m, &jsr_w, "jsr");
	must_refuse(&m, &ret, "jsr");
	made_free(&m);
}
END_TEST

START_TEST(damaged_code_is_refused)
{
	static const struct spec specs[] = {
		{.code = "a7 0001 b1"},		     /* into its operands */
		{.code = "a7 0004 b1"},		     /* behind the end */
		{.code = "a7 ffff b1"},		     /* before the start */
		{.code = "cb"},			     /* no instruction */
		{.code = "11 00"},		     /* cut off */
		{.code = "c4 03 00 00"},	     /* wide iconst */
		{.code = "aa 00 00 00 00 00 00 00"}, /* a switch without operands */
		{.code = "aa 00 00 00 00 00 00 00 00 00 00 02 00 00 00 01"}, /* low > high */
		{.code = "ab 00 00 00 00 00 00 00 ff ff ff ff"},
		{.code = "03 b1", .frames = "00 01 02"},
		{.code = "11 00 00 b1", .frames = "00 01 01"},
		{.code = "03 b1", .frames = "00 01 c8"},
		{.code = "03 b1", .frames = "00 01 41 08 0001"}, /* no instruction there */
		{.code = "03 b1", .exceptions = "0000 0003 0001 0000"},
		{.code = "11 00 00 b1", .exceptions = "0000 0001 0003 0000"},
		{.code = "03 b1", .exceptions = "0000 0001 0002 0000"},
	};
	struct made m = {.nr_calls = 0};
	unsigned int i;

	calls_both(&m);
	for (i = 0; i < sizeof(specs) / sizeof(*specs); i++)
		must_refuse(&m, &specs[i], "damaged");
	made_free(&m);
}
END_TEST

START_TEST(frames_that_forget_a_parameter_are_seen)
{
	/* goto 5; 3: nop; athrow (dead, a frame without locals); 5: return */
	struct spec s = {.code = "a7 0005 00 bf b1",
			 .frames = "00 02 ff 0003 00 00 00 01 07 0004 ff 0001 00 01 07 0002 00 00"};
	/* The return itself lies behind a frame without locals. */
	struct spec lost = {.code = "00 b1", .frames = "00 01 ff 0001 00 00 00 00"};
	struct made m = {.nr_calls = 0};

	call(&m, JIS_AT_EXIT, "exit", "(Ljava/lang/Object;)V");
	arg(&m, JIS_ARG_THIS, 0);
	ck_assert_int_eq(rewrite(&m, &s), 1);
	/* Two handlers: the second, for the dead code, passes null. */
	same_code(&m, "a7 0005 00 bf 2a b8 xxxx b1 2a b8 xxxx bf 01 b8 xxxx bf");
	ck_assert_uint_eq(m.nr_exceptions, 2);
	same_exceptions(&m, "0000 0003 000a 0000 0003 0005 000f 0000");
	must_refuse(&m, &lost, "not kept by the stack maps");
	made_free(&m);
}
END_TEST

START_TEST(calls_that_do_not_fit_are_refused)
{
	struct spec s = {.descriptor = "(I)V", .code = "00 b1"};
	static const struct {
		const char *descriptor, *why;
		enum jis_arg_kind kind;
		int32_t value;
	} cases[] = {
		{"()V", "descriptor", JIS_ARG_NUMBER, 1},
		{"(II)V", "descriptor", JIS_ARG_NUMBER, 1},
		{"(I)I", "descriptor", JIS_ARG_NUMBER, 1},
		{"", "descriptor", JIS_ARG_NUMBER, 1},
		{"(J)V", "no int", JIS_ARG_NUMBER, 1},
		{"(J)V", "not the type", JIS_ARG_LOCAL, 1},
		{"(Ljava/lang/String;)V", "not the type", JIS_ARG_THIS, 0},
		{"(I)V", "no such parameter", JIS_ARG_LOCAL, 2},
		{"(I)V", "no such parameter", JIS_ARG_LOCAL, -1},
		{"(I)V", "only be the first", JIS_ARG_RESULT, 0},
		{"(Ljava/lang/Object;)V", "no monitor", JIS_ARG_OBJECT, 0},
	};
	struct made m = {.nr_calls = 0};
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		m.nr_calls = 0;
		call(&m, JIS_AT_EXIT, "exit", cases[i].descriptor);
		arg(&m, cases[i].kind, cases[i].value);
		must_refuse(&m, &s, cases[i].why);
	}
	made_free(&m);
}
END_TEST

START_TEST(fields_that_do_not_fit_are_refused)
{
	static const struct {
		const char *descriptor, *name, *type, *why;
		unsigned int places, flags;
		int constructor, hash, field;
	} cases[] = {
		{"(Ljava/lang/Object;)V", "method", "La/Mark;", "no object", JIS_AT_ENTRY, 8, 0, 0,
		 1},
		{"(Ljava/lang/Object;)V", "method", "La/Mark;", "no object", JIS_AT_ENTRY, 0, 1, 0,
		 1},
		{"(Lb;)V", "method", "La/Mark;", "not the type", JIS_AT_ENTRY, 0, 0, 0, 1},
		{"(I)V", "method", "I", "not the type", JIS_AT_ENTRY, 0, 0, 0, 1},
		{"(Ljava/lang/Object;)V", "method", "a", "not the type", JIS_AT_ENTRY, 0, 0, 0, 1},
		{"(Ljava/lang/Object;)V", "method", "La/Mark;", "no int", JIS_AT_ENTRY, 0, 0, 1, 1},
		{"(Ljava/lang/Object;)V", "method", "La/Mark;", "not the field", JIS_AT_ENTRY, 0, 0,
		 0, 0},
		{"(Ljava/lang/Object;)V", "method", "La/Mark;", "not the field", JIS_AT_ENTRY, 0, 0,
		 0, 2},
		{"(Ljava/lang/Object;)V", "method", "La/Other;", "not the field", JIS_AT_ENTRY, 0,
		 0, 0, 1},
		{"(Ljava/lang/Object;)V", "other", "La/Mark;", "not the field", JIS_AT_ENTRY, 0, 0,
		 0, 1},
	};
	struct made m = {.nr_calls = 0};
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct spec s = {.flags = cases[i].flags,
				 .constructor = cases[i].constructor,
				 .field = cases[i].field,
				 .code = "00 b1"};

		m.nr_calls = 0;
		call(&m, cases[i].places, "probe", cases[i].descriptor);
		field(&m, cases[i].name, cases[i].type, cases[i].hash);
		must_refuse(&m, &s, cases[i].why);
	}
	made_free(&m);
}
END_TEST

START_TEST(some_are_never_rewritten)
{
	static const char *const classes[] = {"java/lang/Object",
					      "java/lang/JProbe$",
					      "java/lang/invoke/JProbe$",
					      "java/lang/VirtualThread",
					      "java/lang/VirtualThread$VThreadContinuation",
					      "jdk/internal/vm/Continuation",
					      "jdk/internal/vm/Continuation$Pinned"};
	static const char *const marks[] = {"ChangesCurrentThread", "JvmtiMountTransition",
					    "JvmtiHideEvents",	    "Hidden",
					    "ReservedStackAccess",  "IntrinsicCandidate"};
	struct spec s = {.flags = 8, .major = 49, .code = "00 b1"};
	struct made m = {.nr_calls = 0};
	char mark[80];
	unsigned int i;

	calls_both(&m);
	for (i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
		s.class = classes[i];
		must_refuse(&m, &s, "");
	}
	s.class = "java/lang/VirtualThreads"; /* is another one */
	ck_assert_int_eq(rewrite(&m, &s), 1);
	s.class = NULL;
	s.mark = mark;
	for (i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		snprintf(mark, sizeof(mark), "Ljdk/internal/vm/annotation/%s;", marks[i]);
		must_refuse(&m, &s, "");
	}
	m.options = JIS_PLAN_INTRINSICS;
	ck_assert_int_eq(rewrite(&m, &s), 1);
	made_free(&m);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("class rewriter refuses");
	TCase *tc = tcase_create("class rewriter refuses");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, constructors_that_are_not_clear_are_refused);
	tcase_add_test(tc, branches_that_get_too_long_are_refused);
	tcase_add_test(tc, methods_do_not_grow_over_the_limits);
	tcase_add_test(tc, a_full_constant_pool_leaves_the_method);
	tcase_add_test(tc, subroutines_are_refused);
	tcase_add_test(tc, damaged_code_is_refused);
	tcase_add_test(tc, frames_that_forget_a_parameter_are_seen);
	tcase_add_test(tc, calls_that_do_not_fit_are_refused);
	tcase_add_test(tc, fields_that_do_not_fit_are_refused);
	tcase_add_test(tc, some_are_never_rewritten);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
