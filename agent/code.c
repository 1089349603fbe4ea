/* SPDX-License-Identifier: MIT */
/*
 * What happens to code: methods that the JIT compilers have finished, and exceptions that are
 * thrown. Both name methods as stacks do.
 */
#include "doings.h"

int compilations_capabilities(const jvmtiCapabilities *potential, jvmtiCapabilities *wanted)
{
	wanted->can_generate_compiled_method_load_events = 1;
	wanted->can_get_source_file_name = potential->can_get_source_file_name;
	return potential->can_generate_compiled_method_load_events ? 0 : -ENOTSUP;
}

/* The JVM gives it only before it lives, not to an agent that is attached. */
int exceptions_capabilities(const jvmtiCapabilities *potential, jvmtiCapabilities *wanted)
{
	wanted->can_generate_exception_events = 1;
	wanted->can_get_line_numbers = potential->can_get_line_numbers;
	wanted->can_get_source_file_name = potential->can_get_source_file_name;
	return potential->can_generate_exception_events ? 0 : -ENOTSUP;
}

int code_enable(JNIEnv *env)
{
	return threads_enable(env);
}

/* On a thread of the JVM's own, some time after the compiler was done. */
void JNICALL on_compiled(jvmtiEnv *jvmti, jmethodID method, jint size, const void *address,
			 jint map_length, const jvmtiAddrLocationMap *map, const void *info)
{
	struct jis_ev_compiled_method record;
	JNIEnv *env = NULL;

	if (!enter_for(JIS_EV_compiled_method))
		return;
	if ((*agent.vm)->GetEnv(agent.vm, (void **)&env, JNI_VERSION_10) == JNI_OK) {
		record.method = method_place(env, method, 0, NULL);
		record.size = (__u32)size;
		record.address = (__u64)(uintptr_t)address;
		agent_write(JIS_EV_compiled_method, &record, sizeof(record));
	}
	agent_leave();
}

void JNICALL on_exception(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jmethodID method,
			  jlocation at, jobject exception, jmethodID catcher, jlocation caught_at)
{
	struct jis_ev_exception record;
	jclass class;

	if (!enter_for_doing(JIS_EV_exception))
		return;
	class = (*env)->GetObjectClass(env, exception);
	record.java_tid = java_tid_of(env, thread);
	record.class_name = class ? class_name_id(class) : 0;
	record.line = -1;
	record.method = method_place(env, method, at, &record.line);
	record.caught = catcher != NULL;
	if (class)
		(*env)->DeleteLocalRef(env, class);
	agent_write(JIS_EV_exception, &record, sizeof(record));
	agent_leave();
}
