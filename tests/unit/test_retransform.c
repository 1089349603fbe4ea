/* SPDX-License-Identifier: MIT */
/*
 * Requests for classes' bytes anew, with a JVM of our own that refuses chosen classes: all others
 * get theirs, and the number of requests is that of a search by halves. Within requests there are
 * no local references, but of classes for which there is no room among the global ones.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "agent/retransform.h"

#define CLASSES 128

struct agent agent;

/* Local references to the classes, and global ones. */
static struct _jobject {
	char unused;
} objects[CLASSES], globals[CLASSES];
static int local[CLASSES], global[CLASSES]; /* how many of each there are */
static int no_room;			    /* for global references to every so manieth class */
static int bad[CLASSES], rewritten[CLASSES], alone[CLASSES];
static unsigned int requests;

void agent_debug(const char *format, ...)
{
	(void)format;
}

static int number(const struct _jobject *reference)
{
	int is_global = reference >= globals && reference < globals + CLASSES;
	int i = (int)(reference - (is_global ? globals : objects));

	ck_assert_int_eq(is_global ? global[i] : local[i], 1);
	return i;
}

static jobject JNICALL fake_new_global(JNIEnv *env, jobject reference)
{
	int i = number(reference);

	(void)env;
	if (no_room && i % no_room == 0)
		return NULL;
	global[i]++;
	return &globals[i];
}

static void JNICALL fake_delete_local(JNIEnv *env, jobject reference)
{
	(void)env;
	local[reference - objects]--;
}

static void JNICALL fake_delete_global(JNIEnv *env, jobject reference)
{
	(void)env;
	global[reference - globals]--;
}

static jobjectRefType JNICALL fake_type(JNIEnv *env, jobject reference)
{
	(void)env;
	return reference >= globals && reference < globals + CLASSES ? JNIGlobalRefType
								     : JNILocalRefType;
}

static jvmtiError JNICALL fake_retransform(jvmtiEnv *jvmti, jint n, const jclass *classes)
{
	jint i;

	(void)jvmti;
	requests++;
	for (i = 0; i < CLASSES; i++)
		ck_assert(!local[i] || (no_room && i % no_room == 0));
	for (i = 0; i < n; i++)
		if (bad[number(classes[i])])
			return JVMTI_ERROR_INVALID_CLASS;
	for (i = 0; i < n; i++)
		rewritten[number(classes[i])]++;
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
		alone[number(classes[0])]++;
}

/* Returns how many were done; @bads: numbers of those that are refused, ends with -1. */
static jint run(jint n, const int *bads, jvmtiError *error)
{
	static struct jvmtiInterface_1_ jvmti;
	static struct JNINativeInterface_ jni;
	static jvmtiEnv jvmti_env = &jvmti;
	static JNIEnv jni_env = &jni;
	jclass classes[CLASSES];
	jint i, done;

	jvmti.RetransformClasses = fake_retransform;
	jni.ExceptionCheck = fake_check;
	jni.NewGlobalRef = fake_new_global;
	jni.DeleteLocalRef = fake_delete_local;
	jni.DeleteGlobalRef = fake_delete_global;
	jni.GetObjectRefType = fake_type;
	agent.jvmti = &jvmti_env;
	memset(bad, 0, sizeof(bad));
	memset(rewritten, 0, sizeof(rewritten));
	memset(alone, 0, sizeof(alone));
	memset(local, 0, sizeof(local));
	requests = 0;
	for (; *bads >= 0; bads++)
		bad[*bads] = 1;
	for (i = 0; i < n; i++) {
		classes[i] = &objects[i];
		local[i] = 1;
	}
	done = retransform(&jni_env, classes, n, told, error);
	for (i = 0; i < CLASSES; i++) {
		ck_assert_int_eq(global[i], 0);
		ck_assert_int_eq(local[i], i < n && no_room && i % no_room == 0);
	}
	return done;
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

START_TEST(without_room_for_global_references)
{
	const int bads[] = {5, 6, -1};
	jvmtiError error;

	no_room = 5;
	ck_assert_int_eq(run(CLASSES, bads, &error), CLASSES - 2);
	no_room = 1;
	ck_assert_int_eq(run(CLASSES, bads, &error), CLASSES - 2);
	no_room = 0;
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
	tcase_add_test(t, without_room_for_global_references);
	suite_add_tcase(suite, t);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
