/* SPDX-License-Identifier: MIT */
/*
 * Tasks that tasks fork: RecursiveTask and its kin, those of parallel streams and of parallel
 * sorts. Told on request only, as there may be millions. Such a task is given to the pool by its
 * fork(), and run in doExec(), by a worker or by who waits for it. Natives of JProbe$; those tasks
 * whose own class has hooks (task_hooks.c) are left to these.
 */
#include "families.h"
#include "waits.h"

#define PROBE(name) Java_java_lang_JProbe_00024_##name
#define TASK "java/util/concurrent/ForkJoinTask"
#define POOL "java/util/concurrent/ForkJoinPool"

static jclass pool_class; /* global reference, for good */
static jfieldID pool_common;

/*
 * Who forks and is no worker gives to the common pool. Its class is initialised by this: it would
 * be so by the fork itself, a moment later.
 */
static jobject common_pool(JNIEnv *env)
{
	jobject pool;
	jclass class;

	if (!__atomic_load_n(&pool_common, __ATOMIC_ACQUIRE)) {
		class = (*env)->FindClass(env, POOL);
		exception_clear(env);
		if (!class)
			return NULL;
		pool_class = (*env)->NewGlobalRef(env, class);
		__atomic_store_n(&pool_common,
				 (*env)->GetStaticFieldID(env, class, "common", "L" POOL ";"),
				 __ATOMIC_RELEASE);
		exception_clear(env);
		(*env)->DeleteLocalRef(env, class);
		if (!pool_class || !pool_common)
			return NULL;
	}
	pool = (*env)->GetStaticObjectField(env, pool_class, pool_common);
	exception_clear(env);
	return pool;
}

int forks_enable(JNIEnv *env)
{
	return tasks_enable(env);
}

JNIEXPORT void JNICALL PROBE(forked)(JNIEnv *env, jclass class, jobject task);
JNIEXPORT void JNICALL PROBE(innerBegin)(JNIEnv *env, jclass class, jobject task);
JNIEXPORT void JNICALL PROBE(innerEnd)(JNIEnv *env, jclass class, jobject task);

JNIEXPORT void JNICALL PROBE(forked)(JNIEnv *env, jclass class, jobject task)
{
	struct current current;
	jobject pool = NULL;

	if (!task || !enter_for(JIS_EV_task_submit))
		return;
	if (task_is_inner(env, task)) {
		current_get(env, &current);
		pool = task_pool_of_worker(env, &current);
		current_put(env, &current);
		if (!pool)
			pool = common_pool(env);
	}
	if (pool) {
		task_forked(env, pool, task);
		(*env)->DeleteLocalRef(env, pool);
	}
	agent_leave();
}

JNIEXPORT void JNICALL PROBE(innerBegin)(JNIEnv *env, jclass class, jobject task)
{
	if (!task || !enter_for(JIS_EV_task_begin))
		return;
	if (task_is_inner(env, task))
		task_fork_begins(env, task);
	agent_leave();
}

JNIEXPORT void JNICALL PROBE(innerEnd)(JNIEnv *env, jclass class, jobject task)
{
	if (!task || !enter_for(JIS_EV_task_end))
		return;
	if (task_is_inner(env, task))
		task_fork_ends(env, task);
	agent_leave();
}

#define HOOK(name, native)                                                                         \
	.class_name = TASK, .method = name, .probe = native,                                       \
	.probe_descriptor = "(Ljava/lang/Object;)V", .nr_locals = 1, .locals = {0}

const struct agent_hook fork_hooks[] = {
	{HOOK("fork", "forked")},
	{HOOK("doExec", "innerBegin")},
	{HOOK("doExec", "innerEnd"), .places = JIS_AT_EXIT},
	{.class_name = NULL},
};
