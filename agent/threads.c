/* SPDX-License-Identifier: MIT */
/*
 * Java threads: their start and end, on which kernel thread, under which name and in which group;
 * and those that ran before the agent could see their start. Names are those the thread has then;
 * later ones come from the hook on Thread.setName (hooks.c).
 */
#include "agent.h"

/* In JVMTI's thread-local storage of a thread whose start has been written. */
static char announced;

int threads_init(JNIEnv *env)
{
	jclass class = (*env)->FindClass(env, "java/lang/Thread");

	if (class)
		agent.thread_tid = (*env)->GetFieldID(env, class, "tid", "J");
	if ((*env)->ExceptionCheck(env))
		(*env)->ExceptionClear(env);
	if (class)
		(*env)->DeleteLocalRef(env, class);
	return agent.thread_tid ? 0 : -ENOENT;
}

static __u32 group_name(JNIEnv *env, jthreadGroup group)
{
	jvmtiThreadGroupInfo info = {0};
	__u32 id = 0;

	if (!group || (*agent.jvmti)->GetThreadGroupInfo(agent.jvmti, group, &info))
		return 0;
	if (info.name) {
		id = name_intern_modified(info.name);
		(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)info.name);
	}
	if (info.parent)
		(*env)->DeleteLocalRef(env, info.parent);
	return id;
}

static void thread_announce(JNIEnv *env, jthread thread, __u32 tid, __u32 flags)
{
	jvmtiThreadInfo info = {0};
	struct jis_ev_java_thread_start fixed;
	void *seen = NULL;

	if ((*agent.jvmti)->GetThreadLocalStorage(agent.jvmti, thread, &seen) || seen)
		return;
	if ((*agent.jvmti)->GetThreadInfo(agent.jvmti, thread, &info))
		return;
	(*agent.jvmti)->SetThreadLocalStorage(agent.jvmti, thread, &announced);
	fixed.java_tid = (__u64)(*env)->GetLongField(env, thread, agent.thread_tid);
	fixed.tid = tid;
	fixed.flags = flags | (info.is_daemon ? JIS_JTHREAD_DAEMON : 0);
	fixed.group = group_name(env, info.thread_group);
	dict_write_modified(JIS_EV_java_thread_start, &fixed,
			    offsetof(struct jis_ev_java_thread_start, name_length),
			    info.name ? info.name : "");
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)info.name);
	if (info.thread_group)
		(*env)->DeleteLocalRef(env, info.thread_group);
	if (info.context_class_loader)
		(*env)->DeleteLocalRef(env, info.context_class_loader);
}

void JNICALL on_thread_start(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	if (!agent_is_dormant())
		thread_announce(env, thread, agent_tid(), 0);
}

void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	struct jis_ev_java_thread_end record;

	if (!agent_is_dormant()) {
		record.java_tid = (__u64)(*env)->GetLongField(env, thread, agent.thread_tid);
		record.tid = agent_tid();
		dict_write(JIS_EV_java_thread_end, &record, sizeof(record), NULL, 0);
	}
	slot_give_back();
}

/* Announces the threads that run already; the calling thread is one of them. */
void threads_running(JNIEnv *env)
{
	jthread *threads = NULL, current = NULL;
	jint n = 0, i;

	if ((*env)->PushLocalFrame(env, 16) < 0) {
		(*env)->ExceptionClear(env);
		return;
	}
	if ((*agent.jvmti)->GetCurrentThread(agent.jvmti, &current) || !current)
		goto out;
	vmstructs_init(env, current);
	if ((*agent.jvmti)->GetAllThreads(agent.jvmti, &n, &threads))
		goto out;
	if ((*env)->EnsureLocalCapacity(env, n + 16) < 0) {
		(*env)->ExceptionClear(env);
		goto out;
	}
	for (i = 0; i < n; i++)
		thread_announce(env, threads[i],
				(*env)->IsSameObject(env, threads[i], current)
					? agent_tid()
					: vmstructs_tid(env, threads[i]),
				JIS_JTHREAD_RUNNING);
out:
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)threads);
	(*env)->PopLocalFrame(env, NULL);
}
