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

/* Where there is no room, it stays a local reference. */
static jclass global_of(JNIEnv *env, jclass class)
{
	jclass global = (*env)->NewGlobalRef(env, class);

	if ((*env)->ExceptionCheck(env))
		(*env)->ExceptionClear(env);
	if (!global)
		return class;
	(*env)->DeleteLocalRef(env, class);
	return global;
}

/*
 * The JVM calls the hook of class files within the request. Up to JDK 19 -Xcheck:jni holds all
 * local references of the thread against the few that such a callback's own frame may have
 * (JDK-8297106), so meanwhile there are none.
 */
jint retransform(JNIEnv *env, jclass *classes, jint n, retransform_told told, jvmtiError *error)
{
	jvmtiError last = JVMTI_ERROR_NONE;
	jint done = 0, i;

	for (i = 0; i < n; i++)
		classes[i] = global_of(env, classes[i]);
	if (n > 0)
		done = halves(env, classes, n, told, &last);
	for (i = 0; i < n; i++)
		if ((*env)->GetObjectRefType(env, classes[i]) == JNIGlobalRefType)
			(*env)->DeleteGlobalRef(env, classes[i]);
	if (error)
		*error = last;
	return done;
}
