/* SPDX-License-Identifier: MIT */
/*
 * A library that misuses JNI once, for the test of -Xcheck:jni: it calls a function while an
 * exception that another call threw is pending. Does no harm beyond that.
 */
#include <jvmti.h>

static void JNICALL vm_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	jclass none = (*jni)->FindClass(jni, "no/such/Class");

	if (!none)
		(*jni)->FindClass(jni, "java/lang/String");
	(*jni)->ExceptionClear(jni);
}

__attribute__((visibility("default"))) JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm,
									   char *options,
									   void *reserved)
{
	jvmtiEventCallbacks callbacks = {.VMInit = vm_init};
	jvmtiEnv *jvmti;

	if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11) != JNI_OK)
		return JNI_ERR;
	if ((*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof(callbacks)) ||
	    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL))
		return JNI_ERR;
	return JNI_OK;
}
