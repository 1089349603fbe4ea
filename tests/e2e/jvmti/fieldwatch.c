/* SPDX-License-Identifier: MIT */
/*
 * An agent that watches a field, the first of CallsTold, and so has each thread interpret all it
 * runs from the moment that class is prepared: HotSpot's events of fields come from its interpreter
 * alone.
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#include <jvmti.h>
#pragma GCC diagnostic pop
#include <string.h>

static void JNICALL on_prepare(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jclass class)
{
	jfieldID *fields;
	char *name;
	jint n;

	if ((*jvmti)->GetClassSignature(jvmti, class, &name, NULL) != JVMTI_ERROR_NONE)
		return;
	if (!strcmp(name, "LCallsTold;") &&
	    (*jvmti)->GetClassFields(jvmti, class, &n, &fields) == JVMTI_ERROR_NONE) {
		if (n > 0)
			(*jvmti)->SetFieldAccessWatch(jvmti, class, fields[0]);
		(*jvmti)->Deallocate(jvmti, (unsigned char *)fields);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)name);
}

static void JNICALL on_access(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jmethodID method,
			      jlocation at, jclass class, jobject object, jfieldID field)
{
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	const jvmtiCapabilities wanted = {.can_generate_field_access_events = 1};
	const jvmtiEventCallbacks callbacks = {.ClassPrepare = on_prepare,
					       .FieldAccess = on_access};
	jvmtiEnv *jvmti;

	if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) != JNI_OK ||
	    (*jvmti)->AddCapabilities(jvmti, &wanted) ||
	    (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof(callbacks)) ||
	    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_PREPARE,
					       NULL) ||
	    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_FIELD_ACCESS, NULL))
		return JNI_ERR;
	return JNI_OK;
}
