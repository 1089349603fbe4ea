/* SPDX-License-Identifier: MIT */
/*
 * Allocations: the JVM's own samples, one for about each so many bytes a thread has allocated.
 */
#include "doings.h"

int allocations_capabilities(const jvmtiCapabilities *potential, jvmtiCapabilities *wanted)
{
	wanted->can_generate_sampled_object_alloc_events = 1;
	return potential->can_generate_sampled_object_alloc_events ? 0 : -ENOTSUP;
}

int allocations_enable(JNIEnv *env)
{
	jint interval =
		agent.allocation_interval > INT32_MAX ? INT32_MAX : (jint)agent.allocation_interval;
	jvmtiError error = (*agent.jvmti)->SetHeapSamplingInterval(agent.jvmti, interval);

	if (error)
		recorder_note("the interval of allocation samples cannot be set: JVMTI error %d",
			      error);
	return threads_enable(env);
}

void JNICALL on_allocation(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object,
			   jclass class, jlong size)
{
	struct jis_ev_allocation record;

	if (!enter_for_doing(JIS_EV_allocation))
		return;
	record.java_tid = java_tid_of(env, thread);
	record.class_name = class_name_id(class);
	record.size = (__u64)size;
	record.stack = stack_take(env);
	agent_write(JIS_EV_allocation, &record, sizeof(record));
	agent_leave();
}
