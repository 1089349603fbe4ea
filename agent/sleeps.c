/* SPDX-License-Identifier: MIT */
/*
 * Thread.sleep, Thread.start and Thread.join. Sleeps and starts of platform threads pass natives of
 * the JVM, which are wrapped (natives.c); what has no native is seen by hooks.
 */
#include "families.h"
#include "waits.h"

static void (*sleep_original)(JNIEnv *env, jclass class, jlong time);
static void (*start_original)(JNIEnv *env, jobject thread);
static int sleep_in_ns;
static jfieldID duration_seconds, duration_nanos;

static void sleep_tell(__u64 java_tid, __s64 timeout)
{
	struct jis_ev_sleep_begin record = {java_tid, timeout};

	agent_write(JIS_EV_sleep_begin, &record, sizeof(record));
}

static void sleep_before(JNIEnv *env, struct told *told, jlong time)
{
	struct current current;

	told->generation = 0;
	if (time < 0 || !enter_as(JIS_EV_sleep_begin, env, &current))
		return;
	sleep_tell(current.java_tid, sleep_in_ns ? time : ns_of_ms(time));
	told->generation = agent.generation;
	told->java_tid = current.java_tid;
	told->since = stack_clock();
	agent_leave();
}

/* There may be an InterruptedException: nothing is asked that minds. */
static void sleep_after(JNIEnv *env, const struct told *told)
{
	struct jis_ev_sleep_end record = {told->java_tid};

	if (!told->generation || !agent_enter())
		return;
	if (told->generation == agent.generation) {
		stack_after(env, told->java_tid, told->since);
		agent_write(JIS_EV_sleep_end, &record, sizeof(record));
	}
	agent_leave();
}

static void JNICALL sleep_wrapper(JNIEnv *env, jclass class, jlong time)
{
	struct told told;

	sleep_before(env, &told, time);
	sleep_original(env, class, time);
	sleep_after(env, &told);
}

static void start_tell(JNIEnv *env, jthread thread)
{
	struct jis_ev_thread_start_call record;
	struct current current;

	if (!thread || !enter_as(JIS_EV_thread_start_call, env, &current))
		return;
	record.java_tid = current.java_tid;
	record.child_java_tid = java_tid_of(env, thread);
	record.stack = stack_take(env);
	agent_write(JIS_EV_thread_start_call, &record, sizeof(record));
	agent_leave();
}

static void JNICALL start_wrapper(JNIEnv *env, jobject thread)
{
	start_tell(env, thread);
	start_original(env, thread);
}

/* The native has had three names. */
static struct native sleeps[] = {
	{"java/lang/Thread", "sleepNanos0", "(J)V", 1, "JVM_SleepNanos", (void *)sleep_wrapper,
	 (void **)&sleep_original, 0},
	{"java/lang/Thread", "sleep0", "(J)V", 1, "JVM_Sleep", (void *)sleep_wrapper,
	 (void **)&sleep_original, 0},
	{"java/lang/Thread", "sleep", "(J)V", 1, "JVM_Sleep", (void *)sleep_wrapper,
	 (void **)&sleep_original, 0},
};

static struct native starts[] = {
	{"java/lang/Thread", "start0", "()V", 0, "JVM_StartThread", (void *)start_wrapper,
	 (void **)&start_original, 0},
};

static struct native *sleep_native;

static void sleep_find(JNIEnv *env)
{
	jclass class = (*env)->FindClass(env, "java/lang/Thread");
	unsigned int i;

	for (i = 0; class && !sleep_native && i < sizeof(sleeps) / sizeof(sleeps[0]); i++) {
		if ((*env)->GetStaticMethodID(env, class, sleeps[i].name, sleeps[i].descriptor))
			sleep_native = &sleeps[i];
		exception_clear(env);
	}
	if (class)
		(*env)->DeleteLocalRef(env, class);
	sleep_in_ns = agent.vm_version >= 21;
}

/* Before the hooks that use them are on. */
static void duration_find(JNIEnv *env)
{
	jclass class = duration_nanos ? NULL : (*env)->FindClass(env, "java/time/Duration");

	if (class) {
		duration_seconds = (*env)->GetFieldID(env, class, "seconds", "J");
		duration_nanos = (*env)->GetFieldID(env, class, "nanos", "I");
		(*env)->DeleteLocalRef(env, class);
	}
	exception_clear(env);
}

int sleeps_enable(JNIEnv *env)
{
	duration_find(env);
	vthread_class_find(env);
	return 0;
}

void sleeps_enabled(JNIEnv *env)
{
	sleep_find(env);
	if (!sleep_native || natives_wrap(env, sleep_native, 1) != 1)
		recorder_note("Thread.sleep is not recorded: unknown native of this JVM");
}

void sleeps_disable(JNIEnv *env)
{
	if (env && sleep_native)
		natives_unwrap(env, sleep_native, 1);
}

int starts_enable(JNIEnv *env)
{
	vthread_class_find(env);
	return 0;
}

void starts_enabled(JNIEnv *env)
{
	if (natives_wrap(env, starts, 1) != 1)
		recorder_note("Thread.start is not recorded: unknown native of this JVM");
}

void starts_disable(JNIEnv *env)
{
	if (env)
		natives_unwrap(env, starts, 1);
}

/* Hooks -------------------------------------------------------------------------------------- */

#define PROBE(name) Java_java_lang_JProbe_00024_##name

JNIEXPORT void JNICALL PROBE(sleepBegin)(JNIEnv *env, jclass class, jlong nanos);
JNIEXPORT void JNICALL PROBE(sleepEnd)(JNIEnv *env, jclass class);
JNIEXPORT void JNICALL PROBE(joinBegin)(JNIEnv *env, jclass class, jthread thread, jlong ms);
JNIEXPORT void JNICALL PROBE(joinNanosBegin)(JNIEnv *env, jclass class, jthread thread, jlong ms,
					     jint ns);
JNIEXPORT void JNICALL PROBE(joinDurationBegin)(JNIEnv *env, jclass class, jthread thread,
						jobject duration);
JNIEXPORT void JNICALL PROBE(joinEnd)(JNIEnv *env, jclass class, jthread thread);
JNIEXPORT void JNICALL PROBE(joinVirtualEnd)(JNIEnv *env, jclass class, jthread thread);

/* Virtual threads sleep without a native, between two calls of Thread.sleep's own. */
JNIEXPORT void JNICALL PROBE(sleepBegin)(JNIEnv *env, jclass class, jlong nanos)
{
	struct current current;

	if (!enter_as(JIS_EV_sleep_begin, env, &current))
		return;
	if (current.is_virtual) {
		__atomic_store_n(&vthread_hooks, agent.generation, __ATOMIC_RELAXED);
		sleep_tell(current.java_tid, nanos);
		stack_wait_begins(env, current.java_tid, WAIT_SLEEP);
	}
	agent_leave();
}

JNIEXPORT void JNICALL PROBE(sleepEnd)(JNIEnv *env, jclass class)
{
	struct jis_ev_sleep_end record;
	struct current current;

	if (!enter_as(JIS_EV_sleep_end, env, &current))
		return;
	if (current.is_virtual) {
		record.java_tid = current.java_tid;
		stack_wait_ends(env, current.java_tid, WAIT_SLEEP);
		agent_write(JIS_EV_sleep_end, &record, sizeof(record));
	}
	agent_leave();
}

static void join_begin(JNIEnv *env, jthread thread, __s64 timeout)
{
	struct jis_ev_join_begin record;
	struct current current;

	if (!thread || !enter_as(JIS_EV_join_begin, env, &current))
		return;
	record.java_tid = current.java_tid;
	record.target_java_tid = java_tid_of(env, thread);
	record.timeout = timeout > 0 ? timeout : -1;
	agent_write(JIS_EV_join_begin, &record, sizeof(record));
	agent_leave();
}

static void join_end(JNIEnv *env)
{
	struct jis_ev_join_end record;
	struct current current;

	if (!enter_as(JIS_EV_join_end, env, &current))
		return;
	record.java_tid = current.java_tid;
	agent_write(JIS_EV_join_end, &record, sizeof(record));
	agent_leave();
}

JNIEXPORT void JNICALL PROBE(joinBegin)(JNIEnv *env, jclass class, jthread thread, jlong ms)
{
	join_begin(env, thread, ms > 0 ? ns_of_ms(ms) : 0);
}

JNIEXPORT void JNICALL PROBE(joinEnd)(JNIEnv *env, jclass class, jthread thread)
{
	if (thread)
		join_end(env);
}

/* The other two joins end in the first one, unless the thread joined is a virtual one. */
JNIEXPORT void JNICALL PROBE(joinNanosBegin)(JNIEnv *env, jclass class, jthread thread, jlong ms,
					     jint ns)
{
	__s64 timeout = ms > 0 ? ns_of_ms(ms) : 0;

	if (thread && vthread_is(env, thread))
		join_begin(env, thread, timeout < INT64_MAX - ns ? timeout + ns : timeout);
}

JNIEXPORT void JNICALL PROBE(joinDurationBegin)(JNIEnv *env, jclass class, jthread thread,
						jobject duration)
{
	__s64 s;

	if (!thread || !duration || !vthread_is(env, thread))
		return;
	s = duration_seconds ? (*env)->GetLongField(env, duration, duration_seconds) : 0;
	if (s < 0 || s > INT64_MAX / 1000000000 - 1)
		s = s < 0 ? 0 : INT64_MAX / 1000000000 - 1;
	s *= 1000000000;
	if (duration_nanos)
		s += (*env)->GetIntField(env, duration, duration_nanos);
	join_begin(env, thread, s);
}

JNIEXPORT void JNICALL PROBE(joinVirtualEnd)(JNIEnv *env, jclass class, jthread thread)
{
	if (thread && vthread_is(env, thread))
		join_end(env);
}

#define THREAD "java/lang/Thread"
#define JOIN_DURATION "(Ljava/time/Duration;)Z"

JNIEXPORT void JNICALL PROBE(startVirtual)(JNIEnv *env, jclass class, jthread thread);

/* Virtual threads start without a native: what they belong to is told of them first. */
JNIEXPORT void JNICALL PROBE(startVirtual)(JNIEnv *env, jclass class, jthread thread)
{
	if (thread && vthread_is(env, thread))
		start_tell(env, thread);
}

#define START(class)                                                                               \
	{                                                                                          \
		.class_name = class, .method = "onStart", .descriptor = "(Ljava/lang/Thread;)V",   \
		.probe = "startVirtual", .probe_descriptor = "(Ljava/lang/Thread;)V",              \
		.nr_locals = 1, .locals = {1}, .vm_min = 21, .optional = 1                         \
	}

const struct agent_hook start_hooks[] = {
	START("jdk/internal/vm/ThreadContainers$RootContainer$TrackingRootContainer"),
	START("jdk/internal/vm/ThreadContainers$RootContainer$CountingRootContainer"),
	START("jdk/internal/vm/SharedThreadContainer"),
	START("jdk/internal/misc/ThreadFlock$ThreadContainerImpl"),
	{.class_name = NULL},
};

const struct agent_hook sleep_hooks[] = {
	{.class_name = THREAD,
	 .method = "beforeSleep",
	 .probe = "sleepBegin",
	 .probe_descriptor = "(J)V",
	 .nr_locals = 1,
	 .locals = {0},
	 .vm_min = 21},
	{.class_name = THREAD,
	 .method = "afterSleep",
	 .probe = "sleepEnd",
	 .probe_descriptor = "()V",
	 .vm_min = 21},
	{.class_name = THREAD,
	 .method = "join",
	 .descriptor = "(J)V",
	 .probe = "joinBegin",
	 .probe_descriptor = "(Ljava/lang/Thread;J)V",
	 .nr_locals = 2,
	 .locals = {0, 1}},
	{.class_name = THREAD,
	 .method = "join",
	 .descriptor = "(J)V",
	 .probe = "joinEnd",
	 .probe_descriptor = "(Ljava/lang/Thread;)V",
	 .places = JIS_AT_EXIT,
	 .nr_locals = 1,
	 .locals = {0}},
	{.class_name = THREAD,
	 .method = "join",
	 .descriptor = "(JI)V",
	 .probe = "joinNanosBegin",
	 .probe_descriptor = "(Ljava/lang/Thread;JI)V",
	 .nr_locals = 3,
	 .locals = {0, 1, 3},
	 .vm_min = 21},
	{.class_name = THREAD,
	 .method = "join",
	 .descriptor = "(JI)V",
	 .probe = "joinVirtualEnd",
	 .probe_descriptor = "(Ljava/lang/Thread;)V",
	 .places = JIS_AT_EXIT,
	 .nr_locals = 1,
	 .locals = {0},
	 .vm_min = 21},
	{.class_name = THREAD,
	 .method = "join",
	 .descriptor = JOIN_DURATION,
	 .probe = "joinDurationBegin",
	 .probe_descriptor = "(Ljava/lang/Thread;Ljava/time/Duration;)V",
	 .nr_locals = 2,
	 .locals = {0, 1},
	 .vm_min = 21},
	{.class_name = THREAD,
	 .method = "join",
	 .descriptor = JOIN_DURATION,
	 .probe = "joinVirtualEnd",
	 .probe_descriptor = "(Ljava/lang/Thread;)V",
	 .places = JIS_AT_EXIT,
	 .nr_locals = 1,
	 .locals = {0},
	 .vm_min = 21},
	{.class_name = NULL},
};
