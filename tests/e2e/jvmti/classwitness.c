/* SPDX-License-Identifier: MIT */
/*
 * What the JVM itself holds of a class's code, for tests: a sum over the bytecodes of all methods
 * as GetBytecodes tells them. Shares nothing with the agent. Loaded by System.load().
 */
#include <stdint.h>
#include <string.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#include <jvmti.h>
#pragma GCC diagnostic pop

static jvmtiEnv *jvmti;

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved);
JNIEXPORT jlong JNICALL Java_AttachServer_digest(JNIEnv *env, jclass self, jclass class);

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
	jvmtiCapabilities wanted;

	memset(&wanted, 0, sizeof(wanted));
	wanted.can_get_bytecodes = 1;
	if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) != JNI_OK ||
	    (*jvmti)->AddCapabilities(jvmti, &wanted))
		return JNI_ERR;
	return JNI_VERSION_10;
}

static uint64_t add(uint64_t sum, const unsigned char *bytes, jint n)
{
	while (n-- > 0)
		sum = (sum ^ *bytes++) * 0x100000001b3ull;
	return sum;
}

/* The same whatever order the methods come in. -1: it cannot be told. */
JNIEXPORT jlong JNICALL Java_AttachServer_digest(JNIEnv *env, jclass self, jclass class)
{
	jmethodID *methods = NULL;
	unsigned char *code;
	uint64_t sum = 0, one;
	char *name, *type;
	jint n = 0, i, size;

	if ((*jvmti)->GetClassMethods(jvmti, class, &n, &methods))
		return -1;
	for (i = 0; i < n; i++) {
		if ((*jvmti)->GetMethodName(jvmti, methods[i], &name, &type, NULL))
			continue;
		one = add(0xcbf29ce484222325ull, (unsigned char *)name, (jint)strlen(name));
		one = add(one, (unsigned char *)type, (jint)strlen(type));
		(*jvmti)->Deallocate(jvmti, (unsigned char *)name);
		(*jvmti)->Deallocate(jvmti, (unsigned char *)type);
		size = 0;
		code = NULL;
		if (!(*jvmti)->GetBytecodes(jvmti, methods[i], &size, &code))
			one = add(one, code, size);
		(*jvmti)->Deallocate(jvmti, code);
		sum += one;
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
	return (jlong)sum;
}
