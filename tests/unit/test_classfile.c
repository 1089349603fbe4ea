/* SPDX-License-Identifier: MIT */
/*
 * Class file reader and rewriter, on a class made by hand that has each table the rewriter must
 * move; then on damaged copies of it. That the JVM takes the results is tests/e2e/200 and 201.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/classfile.h"

#define U2(v) (unsigned char)((v) >> 8), (unsigned char)(v)

enum { /* constant pool of the class made by class_make() */
       C_THIS_NAME = 1,
       C_THIS,
       C_SUPER_NAME,
       C_SUPER,
       C_METHOD,
       C_DESCRIPTOR,
       C_CODE,
       C_STACKMAP,
       C_LINES,
       C_VARIABLES,
       C_OTHER,
       C_LONG,
       C_LONG_SECOND,
       C_INIT,
       C_COUNT
};

/* A tableswitch at 1 (padding 2), so that the alignment matters; at 24 a new. Then nops. */
static const unsigned char code[] = {3, 0xaa, 0, 0, 0, 0,  0, 23, 0, 0, 0,    0, 0, 0,
				     0, 0,    0, 0, 0, 23, 0, 0,  0, 0, 0xbb, 0, 2, 0x57};
#define LENGTH 64

static void utf8(struct jis_bytes *b, const char *text)
{
	jis_bytes_u1(b, 1);
	jis_bytes_u2(b, (unsigned int)strlen(text));
	jis_bytes_put(b, text, strlen(text));
}

static void attribute(struct jis_bytes *b, unsigned int name, const void *data, size_t size)
{
	jis_bytes_u2(b, name);
	jis_bytes_u4(b, (uint32_t)size);
	jis_bytes_put(b, data, size);
}

/* The content of the Code attribute, code @length bytes long. */
static void code_make(struct jis_bytes *b, unsigned int length)
{
	static const unsigned char frames[] = {U2(7),
					       24 /* same, at 24 */,
					       64 + 9,
					       8,
					       U2(24) /* at 34 */,
					       247,
					       U2(9),
					       7,
					       U2(C_THIS) /* at 44 */,
					       253,
					       U2(9),
					       1,
					       8,
					       U2(24) /* at 54 */,
					       250,
					       U2(2),
					       251,
					       U2(2),
					       255,
					       U2(2),
					       U2(1),
					       8,
					       U2(24),
					       U2(1),
					       5};
	static const unsigned char lines[] = {U2(2), U2(0), U2(10), U2(24), U2(11)};
	static const unsigned char variables[] = {U2(2), U2(0),	 U2(LENGTH), U2(5), U2(6), U2(0),
						  U2(1), U2(63), U2(5),	     U2(6), U2(1)};
	unsigned int i;

	jis_bytes_u2(b, 1);
	jis_bytes_u2(b, 3);
	jis_bytes_u4(b, length);
	for (i = 0; i < length; i++)
		jis_bytes_u1(b, i < sizeof(code) ? code[i] : 0);
	jis_bytes_u2(b, 1);
	jis_bytes_u2(b, 0);
	jis_bytes_u2(b, 24);
	jis_bytes_u2(b, 24);
	jis_bytes_u2(b, 0);
	jis_bytes_u2(b, 4);
	attribute(b, C_STACKMAP, frames, sizeof(frames));
	attribute(b, C_LINES, lines, sizeof(lines));
	attribute(b, C_VARIABLES, variables, sizeof(variables));
	attribute(b, C_OTHER, "\0\0", 2);
}

/* Class t/C with one method, of name @name and flags @flags. */
static void class_make(struct jis_bytes *b, unsigned int major, unsigned int name,
		       unsigned int flags, unsigned int length)
{
	struct jis_bytes c = {0};

	jis_bytes_u4(b, 0xcafebabe);
	jis_bytes_u4(b, major);
	jis_bytes_u2(b, C_COUNT);
	utf8(b, "t/C");
	jis_bytes_put(b, "\7\0\1", 3);
	utf8(b, "java/lang/Object");
	jis_bytes_put(b, "\7\0\3", 3);
	utf8(b, "method");
	utf8(b, "(Ljava/lang/String;JI[D)V");
	utf8(b, "Code");
	utf8(b, "StackMapTable");
	utf8(b, "LineNumberTable");
	utf8(b, "LocalVariableTable");
	utf8(b, "RuntimeVisibleTypeAnnotations");
	jis_bytes_put(b, "\5\0\0\0\0\0\0\0\1", 9);
	utf8(b, "<init>");
	jis_bytes_u2(b, 0x21);
	jis_bytes_u2(b, C_THIS);
	jis_bytes_u2(b, C_SUPER);
	jis_bytes_u4(b, 0);
	jis_bytes_u2(b, 1);
	jis_bytes_u2(b, flags);
	jis_bytes_u2(b, name);
	jis_bytes_u2(b, C_DESCRIPTOR);
	jis_bytes_u2(b, 1);
	code_make(&c, length);
	attribute(b, C_CODE, c.data, c.size);
	jis_bytes_free(&c);
	jis_bytes_u2(b, 0);
}

static struct jis_entry_hook hook_on(unsigned int nr_locals, uint8_t first, uint8_t second)
{
	static const char *const descriptors[] = {"()V", "(Ljava/lang/Object;)V",
						  "(Ljava/lang/Object;Ljava/lang/Object;)V"};
	struct jis_entry_hook hook = {.probe_class = "p/P",
				      .probe_method = "hook",
				      .probe_descriptor = descriptors[nr_locals],
				      .nr_locals = nr_locals,
				      .locals = {first, second}};

	return hook;
}

/* What the rewritten class must contain. */
static const unsigned char *find(const struct jis_bytes *b, const void *what, size_t size)
{
	const unsigned char *p = memmem(b->data, b->size, what, size);

	ck_assert_ptr_nonnull(p);
	return p;
}

START_TEST(tables_move_with_the_code)
{
	/* aload_0, aload_1, invokestatic, then the old code, with one byte less in the switch. */
	static const unsigned char moved[] = {3, 0xaa, 0, 0, 0,	 0, 22, 0, 0, 0,    0, 0, 0,   0,
					      0, 0,    0, 0, 22, 0, 0,	0, 0, 0xbb, 0, 2, 0x57};
	static const unsigned char frames[] = {U2(7),	   28 /* still same */,
					       64 + 9,	   8,
					       U2(28),	   247,
					       U2(9),	   7,
					       U2(C_THIS), 253,
					       U2(9),	   1,
					       8,	   U2(28),
					       250,	   U2(2),
					       251,	   U2(2),
					       255,	   U2(2),
					       U2(1),	   8,
					       U2(28),	   U2(1),
					       5};
	static const unsigned char lines[] = {U2(2), U2(0), U2(10), U2(28), U2(11)};
	static const unsigned char variables[] = {U2(2), U2(0), U2(LENGTH + 4), U2(5),
						  U2(6), U2(0), U2(6),		U2(62),
						  U2(5), U2(6), U2(1)};
	static const unsigned char exceptions[] = {U2(1), U2(5), U2(28), U2(28), U2(0), U2(4)};
	struct jis_bytes in = {0}, out = {0};
	struct jis_entry_hook hook = hook_on(2, 0, 1);
	const unsigned char *p;

	class_make(&in, 61, C_METHOD, 1, LENGTH);
	ck_assert_int_eq(jis_class_hook_entries(in.data, in.size, &hook, &out), 1);
	p = find(&out, moved, sizeof(moved));
	ck_assert_mem_eq(p - 5, "\x2a\x2b\xb8", 3);
	ck_assert_mem_eq(p - 13, "\0\2\0\3\0\0\0\x44", 8);
	ck_assert_mem_eq(p - 5 + LENGTH + 4, exceptions, sizeof(exceptions));
	find(&out, frames, sizeof(frames));
	find(&out, lines, sizeof(lines));
	find(&out, variables, sizeof(variables));
	jis_bytes_free(&in);
	jis_bytes_free(&out);
}
END_TEST

/* Refusals: @why is part of the reason, the class stays as it is. */
static void refused(unsigned int name, unsigned int flags, unsigned int length,
		    struct jis_entry_hook hook, const char *why)
{
	struct jis_bytes in = {0}, out = {0};

	class_make(&in, 61, name, flags, length);
	ck_assert_int_eq(jis_class_hook_entries(in.data, in.size, &hook, &out), 0);
	ck_assert_uint_eq(out.size, 0);
	ck_assert_uint_eq(hook.refused, 1);
	ck_assert_ptr_nonnull(strstr(hook.why, why));
	jis_bytes_free(&in);
}

START_TEST(what_is_not_safe_is_refused)
{
	refused(C_INIT, 1, LENGTH, hook_on(1, 0, 0), "not initialized");
	refused(C_METHOD, 1, LENGTH, hook_on(1, 2, 0), "not the type"); /* long */
	refused(C_METHOD, 1, LENGTH, hook_on(1, 3, 0), "no such parameter");
	refused(C_METHOD, 1, LENGTH, hook_on(1, 4, 0), "not the type"); /* int */
	refused(C_METHOD, 1, LENGTH, hook_on(1, 6, 0), "no such parameter");
	refused(C_METHOD, 9, LENGTH, hook_on(1, 5, 0), "no such parameter");
	refused(C_METHOD, 1, 65532, hook_on(1, 0, 0), "65535");
}
END_TEST

START_TEST(parameters_are_found_behind_wide_ones)
{
	static const unsigned char is_static[] = {0x2a, 0x19, 4, 0xb8};
	static const unsigned char is_not[] = {0x2b, 0x19, 5, 0xb8};
	struct jis_entry_hook hook;
	struct jis_bytes in, out;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		memset(&in, 0, sizeof(in));
		memset(&out, 0, sizeof(out));
		hook = i ? hook_on(2, 0, 4) : hook_on(2, 1, 5);
		class_make(&in, 61, C_METHOD, i ? 9 : 1, 65000);
		ck_assert_int_eq(jis_class_hook_entries(in.data, in.size, &hook, &out), 1);
		find(&out, i ? is_static : is_not, 4);
		jis_bytes_free(&in);
		jis_bytes_free(&out);
	}
}
END_TEST

START_TEST(numbers_are_pushed_short_or_from_the_pool)
{
	struct jis_entry_hook hook = hook_on(0, 0, 0);
	struct jis_bytes in = {0}, out = {0};

	hook.numbered = 1;
	hook.probe_descriptor = "(I)V";
	hook.next_number = 32767;
	class_make(&in, 61, C_INIT, 1, LENGTH);
	ck_assert_int_eq(jis_class_hook_entries(in.data, in.size, &hook, &out), 1);
	find(&out, "\0\0\0\x44\x11\x7f\xff\xb8", 8);
	ck_assert_int_eq(hook.next_number, 32768);
	jis_bytes_free(&out);
	ck_assert_int_eq(jis_class_hook_entries(in.data, in.size, &hook, &out), 1);
	find(&out, "\0\0\0\x44\x13", 5);
	find(&out, "\3\0\0\x80\0", 5);
	jis_bytes_free(&out);
	hook.next_number = -128;
	ck_assert_int_eq(jis_class_hook_entries(in.data, in.size, &hook, &out), 1);
	find(&out, "\0\0\0\x44\x10\x80\xb8", 7);
	jis_bytes_free(&out);
	jis_bytes_free(&in);
}
END_TEST

START_TEST(only_the_chosen_method_changes)
{
	struct jis_entry_hook hook = hook_on(1, 0, 0);
	struct jis_bytes in = {0}, out = {0};

	class_make(&in, 61, C_METHOD, 1, LENGTH);
	hook.method = "metho";
	ck_assert_int_eq(jis_class_hook_entries(in.data, in.size, &hook, &out), 0);
	hook.method = "method";
	hook.descriptor = "()V";
	ck_assert_int_eq(jis_class_hook_entries(in.data, in.size, &hook, &out), 0);
	ck_assert_ptr_null(out.data);
	hook.descriptor = "(Ljava/lang/String;JI[D)V";
	ck_assert_int_eq(jis_class_hook_entries(in.data, in.size, &hook, &out), 1);
	jis_bytes_free(&out);
	jis_bytes_free(&in);
}
END_TEST

START_TEST(a_full_constant_pool_is_refused)
{
	struct jis_bytes in = {0};
	struct jis_class c;
	int i, index = 0;

	class_make(&in, 61, C_METHOD, 1, LENGTH);
	ck_assert_int_eq(jis_class_parse(&c, in.data, in.size), 0);
	for (i = C_COUNT; i < 65535; i++) {
		index = jis_class_add_integer(&c, i);
		if (index != i)
			ck_abort_msg("index %d", index);
	}
	ck_assert_int_eq(jis_class_add_integer(&c, 1), -ENOSPC);
	ck_assert_int_eq(jis_class_add_utf8(&c, "x"), -ENOSPC);
	ck_assert_int_eq(jis_class_add_methodref(&c, "a", "b", "()V"), -ENOSPC);
	jis_class_free(&c);
	jis_bytes_free(&in);
}
END_TEST

START_TEST(versions_are_checked)
{
	static const unsigned int majors[] = {44, 45, 49, 52, 65, 69, 70};
	struct jis_bytes in;
	struct jis_class c;
	unsigned int i;
	int want;

	for (i = 0; i < 7; i++) {
		memset(&in, 0, sizeof(in));
		class_make(&in, majors[i], C_METHOD, 1, LENGTH);
		want = i == 0 || i == 6 ? -ENOTSUP : 0;
		ck_assert_int_eq(jis_class_parse(&c, in.data, in.size), want);
		jis_class_free(&c);
		jis_bytes_free(&in);
	}
}
END_TEST

/* The methods of a class file whose constants are all known: names, and whether they have code. */
static unsigned int methods_list(const struct jis_bytes *b, const char *const *names,
				 const char *const *types, const unsigned int *flags)
{
	struct jis_class c;
	size_t at;
	unsigned int i, n;

	ck_assert_int_eq(jis_class_parse(&c, b->data, b->size), 0);
	at = c.methods;
	n = (unsigned int)b->data[at] << 8 | b->data[at + 1];
	at += 2;
	for (i = 0; i < n; i++) {
		const uint8_t *m = b->data + at;

		ck_assert_uint_eq((unsigned int)m[0] << 8 | m[1], flags[i]);
		ck_assert(jis_class_utf8_is(&c, (unsigned int)m[2] << 8 | m[3], names[i]));
		ck_assert(jis_class_utf8_is(&c, (unsigned int)m[4] << 8 | m[5], types[i]));
		at += 8;
		if (m[7])
			at += 6 + ((size_t)m[12] << 8 | m[13]);
	}
	jis_class_free(&c);
	return n;
}

START_TEST(a_class_of_natives_parses)
{
	static const struct jis_native_method natives[] = {
		{"a", "()V", NULL},
		{"b", "(Ljava/lang/Object;Ljava/lang/String;)V", "0h1h1c"},
		{"c", "(I)V", NULL}};
	static const char *const names[] = {"a", "b", "bHashed", "c"};
	static const char *const types[] = {"()V", "(Ljava/lang/Object;Ljava/lang/String;)V",
					    "(Ljava/lang/Object;Ljava/lang/String;III)V", "(I)V"};
	static const unsigned int flags[] = {0x109, 0x9, 0x109, 0x109};
	struct jis_bytes b = {0};

	jis_class_of_natives(&b, "java/lang/JProbe$", natives, 3);
	ck_assert_int_eq(b.failed, 0);
	ck_assert_uint_eq(methods_list(&b, names, types, flags), 4);
	jis_bytes_free(&b);
}
END_TEST

START_TEST(hashes_are_those_of_objects)
{
	static const struct jis_native_method native = {"a", "(Ljava/lang/Object;I)V", "0h"};
	struct jis_bytes b = {0};

	jis_class_of_natives(&b, "java/lang/JProbe$", &native, 1);
	ck_assert_int_ne(b.failed, 0);
	jis_bytes_free(&b);
}
END_TEST

START_TEST(a_class_calls_its_own_native)
{
	struct jis_bytes b = {0}, out = {0};
	struct jis_entry_hook hook = hook_on(0, 0, 0);
	unsigned int class, name;
	struct jis_class c;

	jis_class_calling_native(&b, "java/lang/JProbe$Own", "bind", "bind0");
	ck_assert_int_eq(jis_class_parse(&c, b.data, b.size), 0);
	ck_assert_int_eq(jis_class_methodref(&c, 9, &class, &name), 0);
	ck_assert(jis_class_utf8_is(&c, name, "bind0"));
	ck_assert(jis_class_utf8_is(&c, 1, "java/lang/JProbe$Own"));
	ck_assert_uint_eq(class, 2);
	jis_class_free(&c);
	hook.method = "bind0"; /* has no code */
	ck_assert_int_eq(jis_class_hook_entries(b.data, b.size, &hook, &out), 0);
	hook.method = "bind";
	ck_assert_int_eq(jis_class_hook_entries(b.data, b.size, &hook, &out), 1);
	jis_bytes_free(&out);
	jis_bytes_free(&b);
}
END_TEST

/* Hostile bytes: from memory of exactly their size, so that a sanitizer sees any step outside. */
static int rewrite_copy(const unsigned char *bytes, size_t size)
{
	unsigned char *copy = malloc(size ? size : 1);
	struct jis_entry_hook hook = hook_on(1, 0, 0);
	struct jis_bytes out = {0};
	int n;

	memcpy(copy, bytes, size);
	hook.numbered = 1;
	hook.probe_descriptor = "(Ljava/lang/Object;I)V";
	n = jis_class_hook_entries(copy, size, &hook, &out);
	if ((n <= 0) != !out.size)
		ck_abort_msg("result %d with %zu bytes", n, out.size);
	jis_bytes_free(&out);
	free(copy);
	return n;
}

START_TEST(truncated_classes_are_refused)
{
	struct jis_bytes in = {0};
	size_t size;

	class_make(&in, 61, C_METHOD, 1, LENGTH);
	ck_assert_int_eq(rewrite_copy(in.data, in.size), 1);
	for (size = 0; size < in.size; size++)
		if (rewrite_copy(in.data, size) >= 0)
			ck_abort_msg("%zu bytes taken", size);
	jis_bytes_u1(&in, 0);
	ck_assert_int_lt(rewrite_copy(in.data, in.size), 0);
	jis_bytes_free(&in);
}
END_TEST

START_TEST(damaged_classes_do_not_crash)
{
	struct jis_bytes in = {0};
	unsigned char old, *p;
	size_t at;
	int i, k;

	srand(1);
	class_make(&in, 61, C_METHOD, 1, LENGTH);
	for (at = 0; at < in.size; at++) { /* each byte, each value */
		old = in.data[at];
		for (i = 0; i < 256; i++) {
			in.data[at] = (unsigned char)i;
			rewrite_copy(in.data, in.size);
		}
		in.data[at] = old;
	}
	p = malloc(in.size);
	for (i = 0; i < 200000; i++) {
		memcpy(p, in.data, in.size);
		for (k = rand() % 8; k >= 0; k--)
			p[(size_t)rand() % in.size] = (unsigned char)rand();
		rewrite_copy(p, in.size);
	}
	free(p);
	jis_bytes_free(&in);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("class files");
	TCase *tc = tcase_create("class files");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, tables_move_with_the_code);
	tcase_add_test(tc, what_is_not_safe_is_refused);
	tcase_add_test(tc, parameters_are_found_behind_wide_ones);
	tcase_add_test(tc, numbers_are_pushed_short_or_from_the_pool);
	tcase_add_test(tc, only_the_chosen_method_changes);
	tcase_add_test(tc, a_full_constant_pool_is_refused);
	tcase_add_test(tc, versions_are_checked);
	tcase_add_test(tc, a_class_of_natives_parses);
	tcase_add_test(tc, hashes_are_those_of_objects);
	tcase_add_test(tc, a_class_calls_its_own_native);
	tcase_add_test(tc, truncated_classes_are_refused);
	tcase_add_test(tc, damaged_classes_do_not_crash);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
