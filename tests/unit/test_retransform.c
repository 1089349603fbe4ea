/* SPDX-License-Identifier: MIT */
/*
 * Requests for classes' bytes anew, with a JVM of our own that refuses chosen classes: all others
 * get theirs, and the number of requests is that of a search by halves.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "agent/retransform.h"

#define CLASSES 128

struct agent agent;

static struct _jobject {
	char unused;
} objects[CLASSES];
static int bad[CLASSES], rewritten[CLASSES], alone[CLASSES];
static unsigned int requests;

void agent_debug(const char *format, ...)
{
	(void)format;
}

static jvmtiError JNICALL fake_retransform(jvmtiEnv *jvmti, jint n, const jclass *classes)
{
	jint i;

	(void)jvmti;
	requests++;
	for (i = 0; i < n; i++)
		if (bad[classes[i] - objects])
			return JVMTI_ERROR_INVALID_CLASS;
	for (i = 0; i < n; i++)
		rewritten[classes[i] - objects]++;
	return JVMTI_ERROR_NONE;
}

static jboolean JNICALL fake_check(JNIEnv *env)
{
	(void)env;
	return JNI_FALSE;
}

static void told(JNIEnv *env, jclass *classes, jint n, jvmtiError error)
{
	(void)env;
	if (error && n == 1)
		alone[classes[0] - objects]++;
}

/* Returns how many were done; @bads: numbers of those that are refused, ends with -1. */
static jint run(jint n, const int *bads, jvmtiError *error)
{
	static struct jvmtiInterface_1_ jvmti;
	static struct JNINativeInterface_ jni;
	static jvmtiEnv jvmti_env = &jvmti;
	static JNIEnv jni_env = &jni;
	jclass classes[CLASSES];
	jint i;

	jvmti.RetransformClasses = fake_retransform;
	jni.ExceptionCheck = fake_check;
	agent.jvmti = &jvmti_env;
	memset(bad, 0, sizeof(bad));
	memset(rewritten, 0, sizeof(rewritten));
	memset(alone, 0, sizeof(alone));
	requests = 0;
	for (; *bads >= 0; bads++)
		bad[*bads] = 1;
	for (i = 0; i < n; i++)
		classes[i] = &objects[i];
	return retransform(&jni_env, classes, n, told, error);
}

START_TEST(all_are_one_request)
{
	const int none[] = {-1};
	jvmtiError error = JVMTI_ERROR_INTERNAL;

	ck_assert_int_eq(run(CLASSES, none, &error), CLASSES);
	ck_assert_int_eq(error, JVMTI_ERROR_NONE);
	ck_assert_uint_eq(requests, 1);
	ck_assert_int_eq(run(0, none, &error), 0);
	ck_assert_uint_eq(requests, 0);
}
END_TEST

START_TEST(one_that_is_refused_costs_a_search)
{
	const int where[] = {0, 1, 63, 64, 99, 127};
	unsigned int i;
	int k;

	for (i = 0; i < sizeof(where) / sizeof(where[0]); i++) {
		const int bads[] = {where[i], -1};
		jvmtiError error;

		ck_assert_int_eq(run(CLASSES, bads, &error), CLASSES - 1);
		ck_assert_int_eq(error, JVMTI_ERROR_INVALID_CLASS);
		ck_assert_uint_eq(requests, 2 * 7 + 1); /* 128 is 2 to the 7th */
		for (k = 0; k < CLASSES; k++) {
			ck_assert_int_eq(rewritten[k], k != where[i]);
			ck_assert_int_eq(alone[k], k == where[i]);
		}
	}
}
END_TEST

START_TEST(several_that_are_refused)
{
	const int bads[] = {3, 4, 50, 99, -1};
	int k;

	ck_assert_int_eq(run(100, bads, NULL), 96);
	for (k = 0; k < 100; k++)
		ck_assert_int_eq(rewritten[k], !bad[k]);
	ck_assert_uint_lt(requests, 60);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("retransform");
	TCase *t = tcase_create("requests");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(t, all_are_one_request);
	tcase_add_test(t, one_that_is_refused_costs_a_search);
	tcase_add_test(t, several_that_are_refused);
	suite_add_tcase(suite, t);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
