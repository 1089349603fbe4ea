/* SPDX-License-Identifier: MIT */
/*
 * Which calls tell a method's values: the right native with the right local variable for each
 * parameter of a descriptor, in order, and what there is not is told to the user once.
 */
#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/values.h"
#include "agent/waits.h"

#define STATIC 0x0008u

struct agent agent;
__thread struct agent_thread *agent_self __attribute__((tls_model("initial-exec")));

static char notes[4096]; /* one a line */

void recorder_note(const char *format, ...)
{
	size_t used = strlen(notes);
	va_list list;

	va_start(list, format);
	used += (size_t)vsnprintf(notes + used, sizeof(notes) - used, format, list);
	va_end(list);
	snprintf(notes + used, sizeof(notes) - used, "\n");
}

/* What natives use, which no test here calls. */
int library_inside(void)
{
	abort();
}
struct agent_thread *slot_thread(void)
{
	abort();
}

struct jis_slot *slot_of_thread(struct agent_thread *self)
{
	(void)self;
	abort();
}

void object_describe(JNIEnv *env, jobject object, struct object *out)
{
	(void)env;
	(void)object;
	(void)out;
	abort();
}

int objects_enable(JNIEnv *env)
{
	(void)env;
	return 0;
}

size_t utf8_of_modified(char *out, const char *in, size_t length)
{
	(void)out;
	(void)in;
	(void)length;
	abort();
}

/* Appends Utf8 constant @text, whose offset is returned. */
static uint32_t put(uint8_t *bytes, size_t *used, const char *text, size_t length)
{
	uint32_t at = (uint32_t)*used;

	bytes[at] = 1;
	bytes[at + 1] = (uint8_t)(length >> 8);
	bytes[at + 2] = (uint8_t)length;
	memcpy(bytes + at + 3, text, length);
	*used += 3 + length;
	return at;
}

/* The calls as "probe(kind argument|this=local|...)", of method acme.A.@name@descriptor. */
static const char *calls_n(unsigned int flags, const char *name, const char *descriptor,
			   size_t length, const struct choice_values *v, int library)
{
	static char out[1024];
	uint32_t constants[5] = {0};
	struct jis_class class = {.constants = constants, .nr_original = 5, .this_class = 4};
	const struct jis_method m = {.class = &class, .flags = flags, .name = 1, .descriptor = 2};
	struct traced *t = calloc(1, sizeof(*t) + 256);
	struct jis_call calls[CHOICE_VALUES_MAX];
	size_t used = 1, at = 0; /* offset 0 is none */
	/* The descriptor last, so that tools that watch memory see what is read behind it. */
	uint8_t *bytes = malloc(1 + 3 + strlen(name) + 9 + 3 + 3 + length);
	unsigned int i, n;

	ck_assert(t && bytes);
	class.bytes = bytes;
	constants[1] = put(bytes, &used, name, strlen(name));
	constants[3] = put(bytes, &used, "acme/A", 6);
	constants[4] = (uint32_t)used;
	memcpy(bytes + used, "\7\0\3", 3);
	used += 3;
	constants[2] = put(bytes, &used, descriptor, length);
	t->number = 77;
	t->name_length = strlen(name);
	strcpy(t->text, name);
	memcpy(t->text + t->name_length + 1, descriptor, length);
	notes[0] = out[0] = 0;
	n = values_calls(&m, v, t, library, calls);
	ck_assert_uint_le(n, CHOICE_VALUES_MAX);
	for (i = 0; i < n; i++) {
		const struct jis_call *c = &calls[i];
		unsigned int what = (unsigned int)c->args[1].value;

		ck_assert_uint_eq(c->places, JIS_AT_ENTRY);
		ck_assert_uint_eq(c->nr_args, 3);
		ck_assert_int_eq(c->args[0].kind, JIS_ARG_NUMBER);
		ck_assert_int_eq(c->args[0].value, 77);
		ck_assert_int_eq(c->args[1].kind, JIS_ARG_NUMBER);
		ck_assert_int_eq(!!(what & 0x10000), library);
		at += (size_t)snprintf(out + at, sizeof(out) - at, "%s%s%s:%u:%d", i ? " " : "",
				       c->method, c->descriptor, what >> 8 & 0xff,
				       (int)(what & 0xff));
		if (c->args[2].kind == JIS_ARG_THIS)
			at += (size_t)snprintf(out + at, sizeof(out) - at, "=this");
		else
			at += (size_t)snprintf(out + at, sizeof(out) - at, "=%d", c->args[2].value);
	}
	/* Whatever it could not tell of is told once a method. */
	strcpy(out + sizeof(out) / 2, notes);
	values_calls(&m, v, t, library, calls);
	ck_assert_str_eq(notes, out + sizeof(out) / 2);
	free(t);
	free(bytes);
	return out;
}

static const char *calls_of(unsigned int flags, const char *name, const char *descriptor,
			    const struct choice_values *v)
{
	return calls_n(flags, name, descriptor, strlen(descriptor), v, 0);
}

START_TEST(each_type_has_its_native_and_its_local)
{
	const struct choice_values all = {.all = 1};
	char wanted[512];

	snprintf(wanted, sizeof(wanted),
		 "valueI(III)V:%d:0=1 valueJ(IIJ)V:%d:1=2 valueF(IIF)V:%d:2=4 valueD(IID)V:%d:3=5 "
		 "valueL(IILjava/lang/Object;)V:%d:4=7 valueL(IILjava/lang/Object;)V:%d:5=8 "
		 "valueI(III)V:%d:6=9",
		 JIS_VALUE_INT, JIS_VALUE_LONG, JIS_VALUE_FLOAT, JIS_VALUE_DOUBLE, JIS_VALUE_OBJECT,
		 JIS_VALUE_ARRAY, JIS_VALUE_BOOLEAN);
	ck_assert_str_eq(calls_of(0, "m", "(IJFDLjava/lang/String;[[JZ)V", &all), wanted);
	snprintf(wanted, sizeof(wanted),
		 "valueI(III)V:%d:0=0 valueI(III)V:%d:1=1 valueI(III)V:%d:2=2 "
		 "valueL(IILjava/lang/Object;)V:%d:3=3 valueD(IID)V:%d:4=4",
		 JIS_VALUE_BYTE, JIS_VALUE_CHAR, JIS_VALUE_SHORT, JIS_VALUE_ARRAY,
		 JIS_VALUE_DOUBLE);
	ck_assert_str_eq(calls_of(STATIC, "m", "(BCS[[La/B;D)J", &all), wanted);
	ck_assert_str_eq(calls_of(0, "m", "()V", &all), "");
	ck_assert_str_eq(notes, "");
}
END_TEST

START_TEST(those_asked_for_and_no_others)
{
	const struct choice_values two = {.receiver = 1, .nr_arguments = 2, .arguments = {3, 1}};
	char wanted[256];

	snprintf(wanted, sizeof(wanted),
		 "valueL(IILjava/lang/Object;)V:%d:255=this valueJ(IIJ)V:%d:1=3 "
		 "valueI(III)V:%d:3=7",
		 JIS_VALUE_OBJECT, JIS_VALUE_LONG, JIS_VALUE_INT);
	ck_assert_str_eq(calls_of(0, "m", "(JJJI)V", &two), wanted);
	ck_assert_str_eq(calls_n(0, "m", "(JJJI)V", 7, &two, 1), wanted);
	ck_assert_str_eq(notes, "");
	*strrchr(wanted, ' ') = 0; /* there is no fourth */
	ck_assert_str_eq(calls_of(0, "m", "(JJ)V", &two), wanted);
	ck_assert_str_eq(notes,
			 "calls of acme/A.m(JJ)V: there are not as many arguments as asked for; "
			 "the first has number 0\n");
}
END_TEST

START_TEST(no_receiver_where_there_is_none)
{
	const struct choice_values receiver = {.receiver = 1};

	ck_assert_str_eq(calls_of(STATIC, "m", "()V", &receiver), "");
	ck_assert_str_eq(notes, "calls of acme/A.m()V: a static method has no receiver\n");
	ck_assert_str_eq(calls_of(0, "<init>", "()V", &receiver), "");
	ck_assert_ptr_nonnull(strstr(notes, "no object yet"));
}
END_TEST

START_TEST(eight_are_told_and_not_more)
{
	const struct choice_values all = {.all = 1, .receiver = 1};
	const char *told = calls_of(0, "m", "(IIIIIIIII)V", &all), *p;
	int n = 0;

	for (p = told; (p = strstr(p, "value")); p++)
		n++;
	ck_assert_int_eq(n, 8);
	ck_assert_ptr_nonnull(strstr(told, ":6=7"));
	ck_assert_str_eq(notes, "calls of acme/A.m(IIIIIIIII)V: only 8 values are told\n");
}
END_TEST

/* Descriptors of damaged classes, cut anywhere: those parameters that are whole, and an end. */
START_TEST(damaged_descriptors_end)
{
	static const char whole[] = "(I[[La/B;Q[JD)V";
	const struct choice_values all = {.all = 1};
	const char *told;
	size_t n;

	for (n = 0; n < sizeof(whole); n++) {
		told = calls_n(0, "m", whole, n, &all, 0);
		ck_assert_int_eq(strstr(told, ":0=1") != NULL, n >= strlen("(I"));
		ck_assert_int_eq(strstr(told, ":1=2") != NULL, n >= strlen("(I[[La/B;"));
		ck_assert_ptr_null(strstr(told, ":2="));
	}
	ck_assert_str_eq(calls_of(0, "m", "(IQI)V", &all), "valueI(III)V:5:0=1");
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("values");
	Suite *s = suite_create("values of calls");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, each_type_has_its_native_and_its_local);
	tcase_add_test(t, those_asked_for_and_no_others);
	tcase_add_test(t, no_receiver_where_there_is_none);
	tcase_add_test(t, eight_are_told_and_not_more);
	tcase_add_test(t, damaged_descriptors_end);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
