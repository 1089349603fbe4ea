/* SPDX-License-Identifier: MIT */
/*
 * Tasks of executors: given to a pool, begun, over. Natives of JProbe$ that the hooks of
 * task_hooks.c call. A worker of a ThreadPoolExecutor ends its task where it asks for the next one,
 * so no exception and no overridden method can hide an end; one of a ForkJoinPool, or of an
 * executor with a thread for each task, where the task's own method ends.
 *
 * What a thread works on is kept with the thread: of platform threads in struct peer, of virtual
 * ones, which move from carrier to carrier, in a table by their number.
 */
#include <stdlib.h>

#include "tasks.h"

#define PROBE(name) Java_java_lang_JProbe_00024_##name

#define QUEUE INT32_MIN

enum worker_forks { WORKER_UNASKED, WORKER_FORKS_NOT, WORKER_FORKS, WORKER_CARRIES };

#define WORKERS_MAX 16384u
static struct map_entry worker_entries[WORKERS_MAX];
static struct map workers = MAP_INITIALIZER(worker_entries);

/* Global references and what is in their classes; NULL: this JVM has it not. */
static jclass worker_class;
static jfieldID worker_task;
/* Of ForkJoinPool and what is found when it is first used. */
static jclass fork_thread_class, async_class, adapted_class[6], runner_class, bound_class;
static jfieldID fork_thread_pool, execute_runnable, action_runnable, runner_executor,
	bound_executor;
static struct foreign foreign_tasks = {.lock = PTHREAD_MUTEX_INITIALIZER};
static jobject scheduler; /* of virtual threads: its tasks are their continuations */

/* Classes and fields ------------------------------------------------------------------------- */

/* Only classes whose initialisation does nothing: ForkJoinPool's reads the program's properties. */
static void classes_find(JNIEnv *env)
{
	worker_class = class_find(env, CONCURRENT "ThreadPoolExecutor$Worker");
	worker_task = field_find(env, worker_class, "firstTask", "Ljava/lang/Runnable;");
	if (agent.vm_version < 21)
		return;
	runner_class = class_find(env, CONCURRENT "ThreadPerTaskExecutor$TaskRunner");
	runner_executor =
		field_find(env, runner_class, "executor", "L" CONCURRENT "ThreadPerTaskExecutor;");
	bound_class = class_find(env, CONCURRENT "ThreadPerTaskExecutor$ThreadBoundFuture");
	bound_executor =
		field_find(env, bound_class, "executor", "L" CONCURRENT "ThreadPerTaskExecutor;");
}

/* When a ForkJoinPool is in use; threads that find them at once find the same. */
static void fork_classes_find(JNIEnv *env)
{
	static const char *const names[] = {"RunnableExecuteAction",	    "AdaptedRunnable",
					    "AdaptedRunnableAction",	    "AdaptedCallable",
					    "AdaptedInterruptibleCallable", "InterruptibleTask"};
	static int found;
	char name[96];
	unsigned int i;

	if (__atomic_load_n(&found, __ATOMIC_ACQUIRE))
		return;
	fork_thread_class = class_find(env, CONCURRENT "ForkJoinWorkerThread");
	fork_thread_pool =
		field_find(env, fork_thread_class, "pool", "L" CONCURRENT "ForkJoinPool;");
	async_class = class_find(env, CONCURRENT "CompletableFuture$AsynchronousCompletionTask");
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(name, sizeof(name), CONCURRENT "ForkJoinTask$%s", names[i]);
		adapted_class[i] = class_find(env, name);
	}
	execute_runnable = field_find(env, adapted_class[0], "runnable", "Ljava/lang/Runnable;");
	action_runnable = field_find(env, adapted_class[2], "runnable", "Ljava/lang/Runnable;");
	__atomic_store_n(&found, 1, __ATOMIC_RELEASE);
}

int tasks_enable(JNIEnv *env)
{
	if (!worker_class)
		classes_find(env);
	pools_enable(env);
	vthread_class_find(env);
	return objects_enable(env);
}

void tasks_forget(void)
{
	unsigned int i;

	for (i = 0; i < WORKERS_MAX; i++)
		if (worker_entries[i].key)
			free((void *)(uintptr_t)map_take(&workers, worker_entries[i].key));
}

/* Submissions -------------------------------------------------------------------------------- */

/* A task and its pool; of hashes that are not known, 0. */
struct handed {
	jobject task, pool, queue;
	jint task_hash, task_class, pool_hash, queue_hash;
};

/* @queued: unless that is to be asked for, QUEUE. */
static void submit_tell(JNIEnv *env, const struct handed *h, __s32 queued)
{
	struct jis_ev_task_submit record = {.queued = queued};
	struct worker *worker, none = {0};
	struct pool_told told;
	struct current current;
	struct object what;

	current_number(env, &current);
	worker = current.peer ? &current.peer->worker : &none;
	record.java_tid = current.java_tid;
	object_describe_hashed(env, h->task, h->task_hash, h->task_class, &worker->given_class,
			       &what);
	record.class_name = what.class_name;
	record.hash = what.hash;
	pool_get_hashed(env, h->pool, h->pool_hash, h->queue, h->queue_hash, &worker->pool_hint,
			&told);
	record.pool_class = told.class_name;
	record.pool_hash = told.hash;
	if (queued == QUEUE)
		record.queued = told.queued;
	agent_write(JIS_EV_task_submit, &record, sizeof(record));
}

JNIEXPORT void JNICALL PROBE(taskSubmit)(JNIEnv *env, jclass class, jobject pool, jobject task);
JNIEXPORT void JNICALL PROBE(taskGivenHashed)(JNIEnv *env, jclass class, jobject pool, jobject task,
					      jobject queue, jint pool_hash, jint task_hash,
					      jint task_class, jint queue_hash);
JNIEXPORT void JNICALL PROBE(taskReject)(JNIEnv *env, jclass class, jobject pool, jobject task);
JNIEXPORT void JNICALL PROBE(threadSubmit)(JNIEnv *env, jclass class, jobject pool, jobject task);
JNIEXPORT void JNICALL PROBE(forkSubmit)(JNIEnv *env, jclass class, jobject pool, jobject task);

JNIEXPORT void JNICALL PROBE(taskSubmit)(JNIEnv *env, jclass class, jobject pool, jobject task)
{
	if (!pool || !task || !enter_for(JIS_EV_task_submit))
		return;
	submit_tell(env, &(struct handed){.task = task, .pool = pool}, QUEUE);
	agent_leave();
}

JNIEXPORT void JNICALL PROBE(taskGivenHashed)(JNIEnv *env, jclass class, jobject pool, jobject task,
					      jobject queue, jint pool_hash, jint task_hash,
					      jint task_class, jint queue_hash)
{
	struct handed handed = {task, pool, queue, task_hash, task_class, pool_hash, queue_hash};

	if (!pool || !task || !enter_for(JIS_EV_task_submit))
		return;
	submit_tell(env, &handed, QUEUE);
	agent_leave();
}

/* To an executor that starts a thread for it. */
JNIEXPORT void JNICALL PROBE(threadSubmit)(JNIEnv *env, jclass class, jobject pool, jobject task)
{
	if (!pool || !task || !enter_for(JIS_EV_task_submit))
		return;
	submit_tell(env, &(struct handed){.task = task, .pool = pool}, 0);
	agent_leave();
}

JNIEXPORT void JNICALL PROBE(taskReject)(JNIEnv *env, jclass class, jobject pool, jobject task)
{
	struct jis_ev_task_reject record = {0};
	struct current current;
	struct object what;

	if (!pool || !task || !enter_for(JIS_EV_task_reject))
		return;
	current_number(env, &current);
	record.java_tid = current.java_tid;
	object_describe(env, task, &what);
	record.class_name = what.class_name;
	record.hash = what.hash;
	object_describe(env, pool, &what);
	record.pool_class = what.class_name;
	record.pool_hash = what.hash;
	agent_write(JIS_EV_task_reject, &record, sizeof(record));
	agent_leave();
}

/* Is the task a virtual thread's continuation? Then its pool is their scheduler. */
static int is_continuation(JNIEnv *env, jobject pool, jobject task)
{
	static const char prefix[] = "java.lang.VirtualThread";
	char name[NAME_UTF8_MAX];
	jobject runnable = NULL;
	jclass class = NULL;
	int found = 0;

	if (agent.vm_version < 21)
		return 0;
	if (is(env, task, adapted_class[0]))
		runnable = object_of(env, task, execute_runnable);
	else if (is(env, task, adapted_class[2]))
		runnable = object_of(env, task, action_runnable);
	if (runnable)
		class = (*env)->GetObjectClass(env, runnable);
	if (class)
		found = class_name_text(class, name) >= sizeof(prefix) - 1 &&
			!memcmp(name, prefix, sizeof(prefix) - 1);
	if (found && !__atomic_load_n(&scheduler, __ATOMIC_ACQUIRE))
		__atomic_store_n(&scheduler, (*env)->NewGlobalRef(env, pool), __ATOMIC_RELEASE);
	if (class)
		(*env)->DeleteLocalRef(env, class);
	if (runnable)
		(*env)->DeleteLocalRef(env, runnable);
	return found;
}

static int is_scheduler(JNIEnv *env, jobject pool)
{
	jobject known = __atomic_load_n(&scheduler, __ATOMIC_ACQUIRE);

	return known && (*env)->IsSameObject(env, pool, known);
}

/* Are begin and end of such a task told by hooks of its class? Those that tasks fork are not. */
static int is_told(JNIEnv *env, jobject task)
{
	unsigned int i;

	if (is(env, task, async_class))
		return 1;
	for (i = 0; i < sizeof(adapted_class) / sizeof(adapted_class[0]); i++)
		if (is(env, task, adapted_class[i]))
			return 1;
	return 0;
}

JNIEXPORT void JNICALL PROBE(forkSubmit)(JNIEnv *env, jclass class, jobject pool, jobject task)
{
	if (!pool || !task || is_scheduler(env, pool) || !enter_for(JIS_EV_task_submit))
		return;
	fork_classes_find(env);
	if ((is_told(env, task) || agent.features & JIS_FEATURE_FORKS) &&
	    !is_continuation(env, pool, task))
		submit_tell(env, &(struct handed){.task = task, .pool = pool}, -1);
	agent_leave();
}

int task_is_inner(JNIEnv *env, jobject task)
{
	fork_classes_find(env);
	return !is_told(env, task);
}

jobject task_pool_of_worker(JNIEnv *env, const struct current *current)
{
	return current->thread && is(env, current->thread, fork_thread_class)
		       ? object_of(env, current->thread, fork_thread_pool)
		       : NULL;
}

void task_forked(JNIEnv *env, jobject pool, jobject task)
{
	if (!is_scheduler(env, pool))
		submit_tell(env, &(struct handed){.task = task, .pool = pool}, -1);
}

/* Workers of a ThreadPoolExecutor ------------------------------------------------------------ */

/*
 * What is kept of the calling thread; NULL: there is nothing, or no room for it, or the recording
 * has just begun and it is not known yet where that is to be kept.
 */
static struct worker *worker_of(const struct current *current, int make)
{
	struct worker *worker;

	if (!peers_are_complete())
		return NULL;
	if (current->peer && !current->is_virtual)
		return &current->peer->worker;
	worker = (struct worker *)(uintptr_t)map_get(&workers, current->java_tid);
	if (worker || !make || !current->java_tid)
		return worker;
	worker = calloc(1, sizeof(*worker));
	if (worker && map_set(&workers, current->java_tid, (__u64)(uintptr_t)worker) < 0) {
		free(worker);
		worker = NULL;
	}
	return worker;
}

static void task_ends(struct worker *worker, __u64 java_tid)
{
	struct jis_ev_task_end record = {java_tid, worker->task_class, worker->task_hash};

	if (!worker->open)
		return;
	worker->open = 0;
	agent_write(JIS_EV_task_end, &record, sizeof(record));
}

static void worker_pool(JNIEnv *env, struct worker *worker, jobject pool)
{
	struct object what;

	if (worker->told)
		return;
	object_describe(env, pool, &what);
	worker->pool_class = what.class_name;
	worker->pool_hash = what.hash;
}

/* After the begin of a first task, so that it does not seem to have waited for it. */
static void worker_tell(struct worker *worker, __u64 java_tid)
{
	struct jis_ev_pool_worker record = {java_tid, worker->pool_class, worker->pool_hash};

	if (worker->told)
		return;
	worker->told = 1;
	agent_write(JIS_EV_pool_worker, &record, sizeof(record));
}

/* A worker has a task in its hands; nothing where that has been told. */
static void task_begins(JNIEnv *env, struct worker *worker, __u64 java_tid, const struct handed *h)
{
	struct jis_ev_task_begin record = {.java_tid = java_tid};
	struct pool_told told;
	struct object what;

	pool_get_hashed(env, h->pool, h->pool_hash, h->queue, h->queue_hash, &worker->pool_hint,
			&told);
	worker->pool_class = told.class_name;
	worker->pool_hash = told.hash;
	object_describe_hashed(env, h->task, h->task_hash, h->task_class, &worker->begun_class,
			       &what);
	worker->task_class = what.class_name;
	worker->task_hash = what.hash;
	worker->open = 1;
	record.class_name = what.class_name;
	record.hash = what.hash;
	record.pool_class = worker->pool_class;
	record.pool_hash = worker->pool_hash;
	record.queued = told.queued;
	agent_write(JIS_EV_task_begin, &record, sizeof(record));
	worker_tell(worker, java_tid);
}

JNIEXPORT void JNICALL PROBE(workerRun)(JNIEnv *env, jclass class, jobject pool, jobject self);
JNIEXPORT void JNICALL PROBE(workerAsks)(JNIEnv *env, jclass class, jobject pool);
JNIEXPORT void JNICALL PROBE(workerTakesHashed)(JNIEnv *env, jclass class, jobject task,
						jobject pool, jobject queue, jint task_hash,
						jint task_class, jint pool_hash, jint queue_hash);
JNIEXPORT void JNICALL PROBE(workerExit)(JNIEnv *env, jclass class, jobject pool);

static struct worker *worker_enter(JNIEnv *env, jobject pool, struct current *current)
{
	struct worker *worker = NULL;

	if (!pool || !enter_as(JIS_EV_task_begin, env, current))
		return NULL;
	worker = worker_of(current, 1);
	if (!worker)
		agent_leave();
	return worker;
}

/* The same for a worker whose task is over. */
static struct worker *worker_rests(JNIEnv *env, jobject pool, struct current *current)
{
	struct worker *worker = worker_enter(env, pool, current);

	if (worker)
		task_ends(worker, current->java_tid);
	return worker;
}

/* A worker begins; it may have its first task with it. */
JNIEXPORT void JNICALL PROBE(workerRun)(JNIEnv *env, jclass class, jobject pool, jobject self)
{
	struct current current;
	struct worker *worker = worker_enter(env, pool, &current);
	jobject task;

	if (!worker)
		return;
	task = object_of(env, self,
			 !self ? NULL
			 : is(env, self, worker_class)
				 ? worker_task
				 : foreign_field(env, &foreign_tasks, self, "firstTask",
						 "Ljava/lang/Runnable;"));
	if (task && !worker->open)
		task_begins(env, worker, current.java_tid,
			    &(struct handed){.task = task, .pool = pool});
	agent_leave();
}

/* It asks for the next task. */
JNIEXPORT void JNICALL PROBE(workerAsks)(JNIEnv *env, jclass class, jobject pool)
{
	struct current current;
	struct worker *worker = worker_rests(env, pool, &current);

	if (!worker)
		return;
	worker_pool(env, worker, pool);
	worker_tell(worker, current.java_tid);
	agent_leave();
}

JNIEXPORT void JNICALL PROBE(workerTakesHashed)(JNIEnv *env, jclass class, jobject task,
						jobject pool, jobject queue, jint task_hash,
						jint task_class, jint pool_hash, jint queue_hash)
{
	struct handed handed = {task, pool, queue, task_hash, task_class, pool_hash, queue_hash};
	struct current current;
	struct worker *worker = task ? worker_enter(env, pool, &current) : NULL;

	if (!worker)
		return;
	/* getTask() and beforeExecute() both tell of it. */
	if (!worker->open)
		task_begins(env, worker, current.java_tid, &handed);
	agent_leave();
}

JNIEXPORT void JNICALL PROBE(workerExit)(JNIEnv *env, jclass class, jobject pool)
{
	struct current current;
	struct worker *worker = worker_rests(env, pool, &current);

	if (!worker)
		return;
	worker->told = 0;
	if (current.is_virtual || !current.peer)
		free((void *)(uintptr_t)map_take(&workers, current.java_tid));
	agent_leave();
}

/* Tasks whose own method is hooked ----------------------------------------------------------- */

static void run_tell(JNIEnv *env, __u64 java_tid, jobject task, __u32 pool, __u32 pool_hash)
{
	struct jis_ev_task_begin record = {.java_tid = java_tid,
					   .pool_class = pool,
					   .pool_hash = pool_hash,
					   .queued = -1};
	struct object what;

	object_describe(env, task, &what);
	record.class_name = what.class_name;
	record.hash = what.hash;
	agent_write(JIS_EV_task_begin, &record, sizeof(record));
}

static void end_tell(JNIEnv *env, __u64 java_tid, jobject task)
{
	struct jis_ev_task_end record = {.java_tid = java_tid};
	struct object what;

	object_describe(env, task, &what);
	record.class_name = what.class_name;
	record.hash = what.hash;
	agent_write(JIS_EV_task_end, &record, sizeof(record));
}

/* Which ForkJoinPool the platform thread works for, asked once: it stays. */
static void forks_ask(JNIEnv *env, struct worker *worker, const struct current *current)
{
	jobject pool = task_pool_of_worker(env, current);
	struct object what;

	worker->forks = WORKER_FORKS_NOT;
	if (!pool)
		return;
	worker->forks = is_scheduler(env, pool) || thread_is_carrier(env, current->thread)
				? WORKER_CARRIES
				: WORKER_FORKS;
	object_describe(env, pool, &what);
	worker->pool_class = what.class_name;
	worker->pool_hash = what.hash;
	(*env)->DeleteLocalRef(env, pool);
}

/* A carrier that runs what its scheduler gives it: virtual threads. */
static int carries(JNIEnv *env)
{
	struct peer *peer = peer_self(env);

	return peer && peer->worker.forks == WORKER_CARRIES &&
	       !__atomic_load_n(&peer->carried, __ATOMIC_RELAXED);
}

JNIEXPORT void JNICALL PROBE(forkBegin)(JNIEnv *env, jclass class, jobject task);
JNIEXPORT void JNICALL PROBE(forkEnd)(JNIEnv *env, jclass class, jobject task);
JNIEXPORT void JNICALL PROBE(runnerBegin)(JNIEnv *env, jclass class, jobject task);
JNIEXPORT void JNICALL PROBE(runnerEnd)(JNIEnv *env, jclass class, jobject task);

void task_fork_begins(JNIEnv *env, jobject task)
{
	struct worker *worker = NULL;
	struct current current;

	if (!peers_are_complete() || carries(env))
		return;
	fork_classes_find(env);
	current_get(env, &current);
	if (!current.is_virtual && current.peer)
		worker = &current.peer->worker;
	if (worker && worker->forks == WORKER_UNASKED)
		forks_ask(env, worker, &current);
	if (worker && worker->forks == WORKER_FORKS)
		run_tell(env, current.java_tid, task, worker->pool_class, worker->pool_hash);
	else if (!worker || worker->forks != WORKER_CARRIES)
		run_tell(env, current.java_tid, task, 0, 0);
	current_put(env, &current);
}

void task_fork_ends(JNIEnv *env, jobject task)
{
	struct current current;

	if (!peers_are_complete() || carries(env))
		return;
	current_number(env, &current);
	end_tell(env, current.java_tid, task);
}

JNIEXPORT void JNICALL PROBE(forkBegin)(JNIEnv *env, jclass class, jobject task)
{
	if (!task || !enter_for(JIS_EV_task_begin))
		return;
	task_fork_begins(env, task);
	agent_leave();
}

JNIEXPORT void JNICALL PROBE(forkEnd)(JNIEnv *env, jclass class, jobject task)
{
	if (!task || !enter_for(JIS_EV_task_end))
		return;
	task_fork_ends(env, task);
	agent_leave();
}

/* The executor of a task that has a thread for itself; NULL: it is no such task. */
static jobject runner_pool(JNIEnv *env, jobject task)
{
	if (is(env, task, bound_class))
		return object_of(env, task, bound_executor);
	return is(env, task, runner_class) ? object_of(env, task, runner_executor) : NULL;
}

JNIEXPORT void JNICALL PROBE(runnerBegin)(JNIEnv *env, jclass class, jobject task)
{
	jobject pool = task ? runner_pool(env, task) : NULL;
	struct current current;
	struct object what;

	if (!pool || !enter_for(JIS_EV_task_begin))
		return;
	current_number(env, &current);
	object_describe(env, pool, &what);
	run_tell(env, current.java_tid, task, what.class_name, what.hash);
	agent_leave();
}

JNIEXPORT void JNICALL PROBE(runnerEnd)(JNIEnv *env, jclass class, jobject task)
{
	struct current current;

	if (!task || (!is(env, task, bound_class) && !is(env, task, runner_class)) ||
	    !enter_for(JIS_EV_task_end))
		return;
	current_number(env, &current);
	end_tell(env, current.java_tid, task);
	agent_leave();
}
