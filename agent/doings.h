/* SPDX-License-Identifier: MIT */
/*
 * What the JVM does besides running threads: classes that come and go, compilations, exceptions and
 * allocations, by JVMTI's own events. Callbacks run on the thread that does it; they are cheap as
 * names are interned, and leave no local reference behind.
 */
#ifndef JIS_AGENT_DOINGS_H
#define JIS_AGENT_DOINGS_H

#include "waits.h"

/* enter_for() for what a thread does, unless it is one of the agent's own. */
static inline int enter_for_doing(unsigned int id)
{
	__u32 tid;

	if (!enter_for(id))
		return 0;
	if (!agent_control_tid && !owners_trial_tid)
		return 1;
	tid = agent_tid();
	if (tid != agent_control_tid && tid != owners_trial_tid)
		return 1;
	agent_leave();
	return 0;
}

/* classes.c */
void classes_enabled(JNIEnv *env);
void classes_disable(JNIEnv *env);
/* A class was prepared. */
void class_tell(JNIEnv *env, jthread thread, jclass class);

/* code.c */
int compilations_capabilities(const jvmtiCapabilities *potential, jvmtiCapabilities *wanted);
int exceptions_capabilities(const jvmtiCapabilities *potential, jvmtiCapabilities *wanted);
int code_enable(JNIEnv *env);
void JNICALL on_compiled(jvmtiEnv *jvmti, jmethodID method, jint size, const void *address,
			 jint map_length, const jvmtiAddrLocationMap *map, const void *info);
void JNICALL on_exception(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jmethodID method,
			  jlocation at, jobject exception, jmethodID catcher, jlocation caught_at);

/* allocations.c */
int allocations_capabilities(const jvmtiCapabilities *potential, jvmtiCapabilities *wanted);
int allocations_enable(JNIEnv *env);
void JNICALL on_allocation(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object,
			   jclass class, jlong size);

#endif /* JIS_AGENT_DOINGS_H */
