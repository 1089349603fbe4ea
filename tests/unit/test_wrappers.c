/* SPDX-License-Identifier: MIT */
/*
 * The patching of the JVM's code for natives, on a code cache made here: what it knows it patches,
 * so that a call in Java's convention reaches the leaf, and what that leaves to it, the native, and
 * gives back; what differs in any byte, or in what leads to it, stays as it is.
 */
#include <check.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/methods.h"
#include "agent/waits.h"

#define NATIVES 4u
#define AREA 1024u /* of each native's code */
#define ENTRY 256u /* from nmethod to entry */
#define CACHE (NATIVES * AREA)

/* Stands for HotSpot's: what wrappers.c reads of it. */
struct method {
	__u64 flags, code, from_compiled;
	void *function; /* behind its end */
};

struct agent agent;
static unsigned char *cache;
static struct method methods[NATIVES];
static struct method *ids[NATIVES];
static __u64 low, high, method_size;
static int calls_until_code, nr_calls, use_compiler;
static int reached[NATIVES], last;

static void native(void)
{
}

/* This number it leaves to the native. Not with what a sanitizer has it do at its end. */
#define LEFT ((jint)JIS_METHOD_UNWOUND)
#define LEAF(n)                                                                                    \
	static void (*on_##n)(long, jint);                                                         \
	static __attribute__((no_sanitize("thread"))) void leaf_##n(long unused, jint number)      \
	{                                                                                          \
		if (number == LEFT) {                                                              \
			on_##n(unused, number);                                                    \
			return;                                                                    \
		}                                                                                  \
		reached[n]++;                                                                      \
		last = number;                                                                     \
	}
LEAF(0)
LEAF(1)
LEAF(2)
LEAF(3)

#define WRAPPER(n)                                                                                 \
	{                                                                                          \
		.name = "n" #n, .leaf = leaf_##n, .leaf_on = &on_##n, .jni = (const void *)native, \
	}
static struct wrapper wrappers[NATIVES] = {WRAPPER(0), WRAPPER(1), WRAPPER(2), WRAPPER(3)};

/* Of the agent and the JVM ----------------------------------------------------------------------
 */

int vm_read(__u64 address, void *out, size_t size)
{
	if (!address)
		return -EFAULT;
	memcpy(out, (const void *)(uintptr_t)address, size);
	return 0;
}

const void *vm_field(const char *type, const char *field, long *offset)
{
	*offset = -1;
	if (!strcmp(field, "_low_bound"))
		return &low;
	if (!strcmp(field, "_high_bound"))
		return &high;
	if (!strcmp(field, "_code"))
		*offset = offsetof(struct method, code);
	if (!strcmp(field, "_from_compiled_entry"))
		*offset = offsetof(struct method, from_compiled);
	return NULL;
}

__u64 vm_type_size(const char *type)
{
	return strcmp(type, "Method") ? 0 : method_size;
}

int vm_flag(const char *name)
{
	return strcmp(name, "UseCompiler") ? -1 : use_compiler;
}

static jclass JNICALL find_class(JNIEnv *env, const char *name)
{
	return (jclass)&cache;
}

static jmethodID JNICALL method_id(JNIEnv *env, jclass class, const char *name,
				   const char *signature)
{
	return (jmethodID)&ids[name[1] - '0'];
}

static jboolean JNICALL no_exception(JNIEnv *env)
{
	return JNI_FALSE;
}

static void JNICALL delete_local(JNIEnv *env, jobject object)
{
}

static __u64 entry(unsigned int n)
{
	return (__u64)(uintptr_t)(cache + (size_t)n * AREA + ENTRY);
}

/* Makes code after some calls, as the JVM does. */
static void JNICALL call(JNIEnv *env, jclass class, jmethodID id, ...)
{
	unsigned int n = (unsigned int)((struct method **)id - ids);

	if (++nr_calls % calls_until_code == 0) {
		methods[n].code = entry(n) - ENTRY;
		methods[n].from_compiled = entry(n);
	}
}

static struct JNINativeInterface_ jni;
static JNIEnv env = &jni;

#define CODE_RETURNS 77
#define CODE_RETURNS_AT 16

/* As HotSpot begins it; then returns, with our function's address behind. */
static const unsigned char code[] = {0x89,	   0x84, 0x24, 0,    0xc0, 0xfe, 0xff, 0x55,
				     0x48,	   0x8b, 0xec, 0x48, 0x83, 0xec, 0x10, 0xb8,
				     CODE_RETURNS, 0,	 0,    0,    0xc9, 0xc3, 0x49, 0xba};

static void code_write(unsigned int n, size_t shift)
{
	unsigned char *p = cache + (size_t)n * AREA + ENTRY + shift;
	const void *function = (const void *)native;

	memset(cache + (size_t)n * AREA, 0xcc, AREA);
	memcpy(p, code, sizeof(code));
	memcpy(p + sizeof(code), &function, sizeof(function));
}

static void cache_make(void *wanted)
{
	cache = mmap(wanted, CACHE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);
	ck_assert_ptr_ne(cache, MAP_FAILED);
}

static void setup(void)
{
	unsigned int n;

	cache_make(NULL);
	low = (__u64)(uintptr_t)cache;
	high = low + CACHE;
	method_size = offsetof(struct method, function);
	for (n = 0; n < NATIVES; n++) {
		code_write(n, 0);
		methods[n] = (struct method){.function = (void *)native};
		ids[n] = &methods[n];
	}
	calls_until_code = 300;
	use_compiler = 1;
	agent.hotspot = agent.recording = 1;
	jni.FindClass = find_class;
	jni.GetStaticMethodID = method_id;
	jni.DeleteLocalRef = delete_local;
	jni.ExceptionCheck = no_exception;
	jni.CallStaticVoidMethod = call;
}

/* Returns what the native's code does, if that is reached. */
static int java_call(unsigned int n, int number)
{
	return ((int (*)(long, int))(uintptr_t)entry(n))(0, number);
}

/* Nothing is patched, and no byte has changed. */
static void refused(void)
{
	unsigned char *before = malloc(CACHE);

	memcpy(before, cache, CACHE);
	ck_assert_int_lt(wrappers_patch(&env, wrappers, NATIVES), 0);
	ck_assert_mem_eq(before, cache, CACHE);
	free(before);
}

#if defined(__x86_64__)

START_TEST(a_call_reaches_the_leaf_and_not_after_restoring)
{
	unsigned int n;

	ck_assert_int_eq(wrappers_patch(&env, wrappers, NATIVES), 0);
	for (n = 0; n < NATIVES; n++) {
		java_call(n, 1000 + (int)n);
		ck_assert_int_eq(reached[n], 1);
		ck_assert_int_eq(last, 1000 + (int)n);
		ck_assert_mem_eq(cache + n * AREA + ENTRY + 5, code + 5, sizeof(code) - 5);
	}
	ck_assert_int_eq(wrappers_patch(&env, wrappers, NATIVES), 0); /* again */
	wrappers_restore();
	for (n = 0; n < NATIVES; n++) {
		java_call(n, 1);
		ck_assert_int_eq(reached[n], 1);
		ck_assert_mem_eq(cache + n * AREA + ENTRY, code, sizeof(code));
	}
}
END_TEST

START_TEST(what_a_leaf_leaves_to_it_the_native_does)
{
	unsigned int n;

	ck_assert_int_eq(wrappers_patch(&env, wrappers, NATIVES), 0);
	for (n = 0; n < NATIVES; n++) {
		ck_assert_int_eq(java_call(n, LEFT), CODE_RETURNS);
		ck_assert_int_eq(reached[n], 0);
		java_call(n, 5);
		ck_assert_int_eq(reached[n], 1);
	}
	ck_assert_int_eq(wrappers_patch(&env, wrappers, NATIVES), 0); /* again */
	ck_assert_int_eq(java_call(3, LEFT), CODE_RETURNS);
	wrappers_restore();
	on_2(0, LEFT); /* by a thread that was in the leaf */
	ck_assert_int_eq(java_call(2, LEFT), CODE_RETURNS);
	ck_assert_int_eq(wrappers_patch(&env, wrappers, NATIVES), 0);
	ck_assert_int_eq(java_call(2, LEFT), CODE_RETURNS);
	ck_assert_int_eq(reached[2], 1);
}
END_TEST

/* The JVM makes new code, elsewhere and with another first instruction. */
START_TEST(a_leaf_goes_on_in_new_code)
{
	unsigned char *anew = cache + AREA + ENTRY + 64;
	const void *function = (const void *)native;

	ck_assert_int_eq(wrappers_patch(&env, wrappers, NATIVES), 0);
	memcpy(anew, code, sizeof(code));
	memcpy(anew + sizeof(code), &function, sizeof(function));
	anew[5] -= 1;
	anew[CODE_RETURNS_AT] = CODE_RETURNS + 1;
	methods[1].from_compiled = (__u64)(uintptr_t)anew;
	ck_assert_int_eq(wrappers_patch(&env, wrappers, NATIVES), 0);
	ck_assert_int_eq(((int (*)(long, int))(uintptr_t)anew)(0, LEFT), CODE_RETURNS + 1);
	ck_assert_int_eq(java_call(2, LEFT), CODE_RETURNS);
}
END_TEST

/* Comes back to do something. */
static void leaf_that_calls(long unused, jint number)
{
	on_0(unused, number);
	last = number;
}

START_TEST(a_leaf_that_does_not_jump_is_refused)
{
	wrappers[0].leaf = leaf_that_calls;
	refused();
}
END_TEST

static __s64 way_to_leaf(unsigned int n)
{
	return (__s64)((__u64)(uintptr_t)wrappers[n].leaf - entry(n) - 5);
}

static int jump_of(unsigned int n)
{
	int distance;

	ck_assert_uint_eq(cache[n * AREA + ENTRY], 0xe9);
	memcpy(&distance, cache + n * AREA + ENTRY + 1, sizeof(distance));
	return distance;
}

START_TEST(a_leaf_is_jumped_to_at_once_where_that_reaches)
{
	const __u64 gib = 1ull << 30;
	unsigned int n;

	cache_make(
		(void *)(uintptr_t)(((__u64)(uintptr_t)wrappers[0].leaf & ~(gib - 1)) - gib / 2));
	low = (__u64)(uintptr_t)cache;
	high = low + CACHE;
	for (n = 0; n < NATIVES; n++)
		code_write(n, 0);
	ck_assert_int_eq(wrappers_patch(&env, wrappers, NATIVES), 0);
	for (n = 0; n < NATIVES; n++) {
		ck_assert_int_eq(jump_of(n), way_to_leaf(n));
		java_call(n, 1000 + (int)n);
		ck_assert_int_eq(reached[n], 1);
		ck_assert_int_eq(last, 1000 + (int)n);
	}
	wrappers_restore();
	ck_assert_mem_eq(cache + ENTRY, code, sizeof(code));
}
END_TEST

START_TEST(a_leaf_that_is_far_is_reached_all_the_same)
{
	ck_assert_int_ne(way_to_leaf(0), (int)way_to_leaf(0));
	ck_assert_int_eq(wrappers_patch(&env, wrappers, NATIVES), 0);
	java_call(0, 7);
	ck_assert_int_eq(reached[0], 1);
	ck_assert_int_eq(last, 7);
}
END_TEST

START_TEST(what_the_jvm_wrote_over_it_stays)
{
	static const unsigned char jump[] = {0xe9, 1, 2, 3, 4};

	ck_assert_int_eq(wrappers_patch(&env, wrappers, NATIVES), 0);
	memcpy(cache + ENTRY, jump, sizeof(jump)); /* not entrant */
	wrappers_restore();
	ck_assert_mem_eq(cache + ENTRY, jump, sizeof(jump));
	ck_assert_mem_eq(cache + AREA + ENTRY, code, sizeof(code));
}
END_TEST

/* Byte 5 says how many pages below: another number is fine. */
START_TEST(another_byte_is_refused)
{
	size_t at = (size_t)_i;

	cache[ENTRY + at] ^= 0x05;
	refused();
}
END_TEST

START_TEST(code_at_an_odd_place_is_refused)
{
	unsigned int n;

	for (n = 4; n < 8; n++) {
		code_write(3, n);
		methods[3].code = entry(3) - ENTRY;
		methods[3].from_compiled = entry(3) + n;
		refused();
	}
}
END_TEST

START_TEST(code_that_calls_another_function_is_refused)
{
	cache[ENTRY + sizeof(code)] ^= 1;
	refused();
}
END_TEST

START_TEST(code_outside_of_the_cache_is_refused)
{
	low += AREA;
	refused();
}
END_TEST

START_TEST(a_method_of_another_layout_is_refused)
{
	methods[2].function = (void *)setup;
	refused();
	methods[2].function = (void *)native;
	method_size -= 8;
	refused();
}
END_TEST

START_TEST(code_that_cannot_be_written_is_refused)
{
	mprotect(cache, CACHE, PROT_READ | PROT_EXEC);
	refused();
	mprotect(cache, CACHE, PROT_READ | PROT_WRITE);
	refused();
}
END_TEST

START_TEST(a_jvm_that_makes_no_code_is_refused)
{
	calls_until_code = 10000000;
	refused();
	ck_assert_int_gt(nr_calls, 1000);
	nr_calls = use_compiler = 0;
	refused();
	ck_assert_int_eq(nr_calls, 0);
}
END_TEST

#endif

static Suite *suite(void)
{
	Suite *s = suite_create("wrappers");
	TCase *t = tcase_create("patch");

	tcase_add_checked_fixture(t, setup, NULL);
#if defined(__x86_64__)
	tcase_add_test(t, a_call_reaches_the_leaf_and_not_after_restoring);
	tcase_add_test(t, what_a_leaf_leaves_to_it_the_native_does);
	tcase_add_test(t, a_leaf_goes_on_in_new_code);
	tcase_add_test(t, a_leaf_that_does_not_jump_is_refused);
	tcase_add_test(t, a_leaf_is_jumped_to_at_once_where_that_reaches);
	tcase_add_test(t, a_leaf_that_is_far_is_reached_all_the_same);
	tcase_add_test(t, what_the_jvm_wrote_over_it_stays);
	tcase_add_loop_test(t, another_byte_is_refused, 0, 5);
	tcase_add_loop_test(t, another_byte_is_refused, 6, 15);
	tcase_add_test(t, code_at_an_odd_place_is_refused);
	tcase_add_test(t, code_that_calls_another_function_is_refused);
	tcase_add_test(t, code_outside_of_the_cache_is_refused);
	tcase_add_test(t, a_method_of_another_layout_is_refused);
	tcase_add_test(t, code_that_cannot_be_written_is_refused);
	tcase_add_test(t, a_jvm_that_makes_no_code_is_refused);
#else
	(void)refused, (void)java_call;
#endif
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	SRunner *runner = srunner_create(suite());
	int failed;

	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
