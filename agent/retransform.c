/* SPDX-License-Identifier: MIT */
/*
 * Requests for classes' bytes anew. The JVM takes or refuses all classes of a request together; it
 * does not say which of them it refuses.
 */
#include "retransform.h"

static jint halves(JNIEnv *env, jclass *classes, jint n, retransform_told told, jvmtiError *error)
{
	jvmtiError refused = (*agent.jvmti)->RetransformClasses(agent.jvmti, n, classes);
	jint done;

	if ((*env)->ExceptionCheck(env))
		(*env)->ExceptionClear(env);
	if (told)
		told(env, classes, n, refused);
	if (!refused)
		return n;
	*error = refused;
	if (n == 1 || refused == JVMTI_ERROR_WRONG_PHASE)
		return 0;
	agent_debug("%d classes cannot be retransformed at once: error %d", n, refused);
	done = halves(env, classes, n / 2, told, error);
	return done + halves(env, classes + n / 2, n - n / 2, told, error);
}

jint retransform(JNIEnv *env, jclass *classes, jint n, retransform_told told, jvmtiError *error)
{
	jvmtiError last = JVMTI_ERROR_NONE;
	jint done = n > 0 ? halves(env, classes, n, told, &last) : 0;

	if (error)
		*error = last;
	return done;
}
