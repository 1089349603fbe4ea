/* SPDX-License-Identifier: MIT */
/*
 * Java threads: their start and end, on which kernel thread, under which name and in which group;
 * and those that ran before the agent could see their start. Names are those the thread has then;
 * later ones come from the hook on Thread.setName.
 */
#include "families.h"
#include "waits.h"

/*
 * In JVMTI's thread-local storage of a thread whose start has been written, and of one at its end:
 * marks of a recording, those of a former one mean nothing.
 */
enum { MARK_ANNOUNCED = 1, MARK_ENDED = 2 };

/* Of marks, and of what is said by them: a thread's start is told once, and before its end. */
static pthread_mutex_t marks_lock = PTHREAD_MUTEX_INITIALIZER;

static void *mark(unsigned int which)
{
	return (void *)((uintptr_t)agent.generation << 2 | which);
}

/* Which of them the thread has; -1: it is gone. */
static int mark_of(jthread thread)
{
	void *seen = NULL;

	if ((*agent.jvmti)->GetThreadLocalStorage(agent.jvmti, thread, &seen))
		return -1;
	return seen == mark(MARK_ANNOUNCED) ? MARK_ANNOUNCED
	       : seen == mark(MARK_ENDED)   ? MARK_ENDED
					    : 0;
}

static int thread_ended(jthread thread)
{
	int seen = mark_of(thread);

	return seen < 0 || seen == MARK_ENDED;
}

/* Says where the thread's states are, until its end. */
static void states_publish(JNIEnv *env, jthread thread, __u32 tid)
{
	struct vm_states states;

	if (!(agent.features & JIS_FEATURE_VM_STATES) || !tid ||
	    vmstructs_states(env, thread, &states) < 0)
		return;
	pthread_mutex_lock(&marks_lock);
	if (!thread_ended(thread))
		jis_words_set(&agent.writer, tid, states.vm, states.os);
	pthread_mutex_unlock(&marks_lock);
}

static void states_withdraw(jthread thread, __u32 tid)
{
	pthread_mutex_lock(&marks_lock);
	(*agent.jvmti)->SetThreadLocalStorage(agent.jvmti, thread, mark(MARK_ENDED));
	if (agent.features & JIS_FEATURE_VM_STATES)
		jis_words_clear(&agent.writer, tid);
	pthread_mutex_unlock(&marks_lock);
}

int threads_enable(JNIEnv *env)
{
	jclass class = agent.thread_tid ? NULL : (*env)->FindClass(env, "java/lang/Thread");

	if (class)
		agent.thread_tid = (*env)->GetFieldID(env, class, "tid", "J");
	if ((*env)->ExceptionCheck(env))
		(*env)->ExceptionClear(env);
	if (class)
		(*env)->DeleteLocalRef(env, class);
	if (agent.thread_tid)
		return 0;
	recorder_note("java.lang.Thread has no field tid: threads are not recorded");
	return -ENOENT;
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

	if (mark_of(thread))
		return;
	if ((*agent.jvmti)->GetThreadInfo(agent.jvmti, thread, &info))
		return;
	fixed.java_tid = (__u64)(*env)->GetLongField(env, thread, agent.thread_tid);
	fixed.tid = tid;
	fixed.flags = flags | (info.is_daemon ? JIS_JTHREAD_DAEMON : 0);
	fixed.group = group_name(env, info.thread_group);
	pthread_mutex_lock(&marks_lock);
	if (!mark_of(thread)) {
		(*agent.jvmti)->SetThreadLocalStorage(agent.jvmti, thread, mark(MARK_ANNOUNCED));
		dict_write_modified(JIS_EV_java_thread_start, &fixed,
				    offsetof(struct jis_ev_java_thread_start, name_length),
				    info.name ? info.name : "");
	}
	pthread_mutex_unlock(&marks_lock);
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)info.name);
	if (info.thread_group)
		(*env)->DeleteLocalRef(env, info.thread_group);
	if (info.context_class_loader)
		(*env)->DeleteLocalRef(env, info.context_class_loader);
}

void JNICALL on_thread_start(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	__u32 tid;

	if (!agent_enter())
		return;
	tid = agent_tid();
	if (tid != agent_control_tid && tid != owners_trial_tid) {
		peer_add(env, thread, tid);
		/* Of its first tasks nothing is told while threads are still being looked for. */
		thread_announce(env, thread, tid, peers_are_complete() ? 0 : JIS_JTHREAD_RUNNING);
		states_publish(env, thread, tid);
	}
	agent_leave();
}

void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	struct jis_ev_java_thread_end record;

	if (!agent_enter())
		return;
	record.tid = agent_tid();
	if (record.tid != agent_control_tid && record.tid != owners_trial_tid) {
		states_withdraw(thread, record.tid);
		peer_remove(env, thread);
		record.java_tid = (__u64)(*env)->GetLongField(env, thread, agent.thread_tid);
		dict_write(JIS_EV_java_thread_end, &record, sizeof(record), NULL, 0);
	}
	slot_give_back();
	agent_leave();
}

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
	if (agent.features & JIS_FEATURES_WAITS)
		peers_init(env, current);
	if ((*agent.jvmti)->GetAllThreads(agent.jvmti, &n, &threads))
		goto out;
	if ((*env)->EnsureLocalCapacity(env, n + 16) < 0) {
		(*env)->ExceptionClear(env);
		goto out;
	}
	for (i = 0; i < n; i++) {
		int mine = (*env)->IsSameObject(env, threads[i], current);
		__u32 tid = mine ? agent_tid() : vmstructs_tid(env, threads[i]);

		if (mine && tid == agent_control_tid)
			continue;
		states_publish(env, threads[i], tid);
		peer_add(env, threads[i], tid);
		if (thread_ended(threads[i]))
			peer_remove(env, threads[i]);
		thread_announce(env, threads[i], tid, JIS_JTHREAD_RUNNING);
	}
	peers_complete();
out:
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)threads);
	(*env)->PopLocalFrame(env, NULL);
}

/* The hook on Thread.setName ------------------------------------------------------------------- */

JNIEXPORT void JNICALL Java_java_lang_JProbe_00024_setName(JNIEnv *env, jclass class,
							   jthread thread, jstring string);

JNIEXPORT void JNICALL Java_java_lang_JProbe_00024_setName(JNIEnv *env, jclass class,
							   jthread thread, jstring string)
{
	struct jis_ev_java_thread_name fixed;
	char name[NAME_UTF8_MAX];
	int length;

	if (!thread || !string || !agent_enter())
		return;
	length = name_of_string(env, string, name);
	fixed.java_tid = (__u64)(*env)->GetLongField(env, thread, agent.thread_tid);
	fixed.by_tid = agent_tid();
	if ((*env)->ExceptionCheck(env))
		(*env)->ExceptionClear(env);
	if (length >= 0)
		dict_write(JIS_EV_java_thread_name, &fixed,
			   offsetof(struct jis_ev_java_thread_name, name_length), name,
			   (size_t)length);
	agent_leave();
}

const struct agent_hook thread_name_hooks[] = {
	{
		.class_name = "java/lang/Thread",
		.method = "setName",
		.descriptor = "(Ljava/lang/String;)V",
		.probe = "setName",
		.probe_descriptor = "(Ljava/lang/Thread;Ljava/lang/String;)V",
		.nr_locals = 2,
		.locals = {0, 1},
	},
	{.class_name = NULL},
};
