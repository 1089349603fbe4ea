/* SPDX-License-Identifier: MIT */
/*
 * Keeps a JVM in its start phase, in which HotSpot can be attached to and gives nobody a JVMTI
 * environment, until the file that its option names is there; says on stderr when the phase has
 * begun.
 */
#include <jvmti.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static char path[4096];

static void JNICALL vm_start(jvmtiEnv *jvmti, JNIEnv *jni)
{
	const struct timespec step = {0, 10000000};

	fprintf(stderr, "starting\n");
	while (access(path, F_OK))
		nanosleep(&step, NULL);
}

__attribute__((visibility("default"))) JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm,
									   char *options,
									   void *reserved)
{
	jvmtiEventCallbacks callbacks = {.VMStart = vm_start};
	jvmtiEnv *jvmti;

	if (!options || (size_t)snprintf(path, sizeof(path), "%s", options) >= sizeof(path))
		return JNI_ERR;
	if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11) != JNI_OK)
		return JNI_ERR;
	if ((*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof(callbacks)) ||
	    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_START, NULL))
		return JNI_ERR;
	return JNI_OK;
}
