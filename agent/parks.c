/* SPDX-License-Identifier: MIT */
/*
 * Parks: all that LockSupport, the pools of java.util.concurrent and a pinned virtual thread do
 * ends in Unsafe.park and Unsafe.unpark, natives of the JVM that are wrapped (natives.c). The
 * blocker is where LockSupport leaves it, in Thread.parkBlocker. A thread of a server parks for the
 * same object over and over: that one is known again, and the JVM asked for its owner alone.
 */
#include <time.h>

#include "families.h"
#include "waits.h"

static void (*park_original)(JNIEnv *env, jobject unsafe, jboolean absolute, jlong time);
static void (*unpark_original)(JNIEnv *env, jobject unsafe, jobject thread);
static jfieldID park_blocker;
static jclass thread_class; /* global reference, for good */
static jmethodID current_thread;

__u32 vthread_hooks;

/* Relative: ns, 0 for ever. Absolute: ms of the wall clock. */
static __s64 park_timeout(jboolean absolute, jlong time)
{
	struct timespec now;
	__s64 left;

	if (!absolute)
		return time > 0 ? time : -1;
	clock_gettime(CLOCK_REALTIME, &now);
	if (time <= now.tv_sec * 1000)
		return 0;
	left = ns_of_ms(time - now.tv_sec * 1000);
	return left > now.tv_nsec ? left - now.tv_nsec : 0;
}

static void weak_drop(JNIEnv *env, jweak *weak)
{
	if (*weak)
		(*env)->DeleteWeakGlobalRef(env, *weak);
	*weak = NULL;
}

void parker_drop(JNIEnv *env, struct parker *parker)
{
	weak_drop(env, &parker->thread);
	weak_drop(env, &parker->blocker);
	weak_drop(env, &parker->lock);
	parker->seen = 0;
}

/* NULL also where there is no object, or no room. */
static jweak weak_of(JNIEnv *env, jobject object)
{
	jweak weak = object ? (*env)->NewWeakGlobalRef(env, object) : NULL;

	exception_clear(env);
	return weak;
}

/* Keeps what the thread parks for, the second time in turn: for others that would be in vain. */
static void parker_keep(JNIEnv *env, struct parker *parker, jthread thread, jobject blocker,
			const struct object *what)
{
	int is_condition = what->kind == OBJECT_CONDITION;
	jobject lock;

	if (parker->seen != what->hash || !what->hash || !what->class_name) {
		parker->seen = what->hash;
		return;
	}
	weak_drop(env, &parker->blocker);
	weak_drop(env, &parker->lock);
	if (!parker->thread)
		parker->thread = weak_of(env, thread);
	lock = is_condition ? object_lock(env, blocker) : NULL;
	parker->lock = weak_of(env, lock);
	if (lock)
		(*env)->DeleteLocalRef(env, lock);
	parker->what = *what;
	parker->seen = 0;
	if (parker->lock || !is_condition)
		parker->blocker = weak_of(env, blocker);
}

/* The calling thread's, if it is the platform thread itself that parks; else NULL. */
static struct parker *parker_of(const struct current *current)
{
	return current->peer && !current->is_virtual ? &current->peer->parker : NULL;
}

/* What the calling thread parks for, and who has it. */
static void blocker_describe(JNIEnv *env, const struct current *current, struct object *what,
			     struct owner *owner)
{
	struct parker *parker = parker_of(current);
	jthread thread = current->thread ? current->thread : parker ? parker->thread : NULL;
	jobject blocker = NULL;

	if (thread && park_blocker)
		blocker = (*env)->GetObjectField(env, thread, park_blocker);
	if (!blocker) {
		if (parker)
			parker->seen = 0;
		return;
	}
	if (parker && parker->blocker && (*env)->IsSameObject(env, parker->blocker, blocker)) {
		*what = parker->what;
		parker->seen = 0;
		/* The condition, held here, holds its lock. */
		if (parker->lock)
			object_owner(env, parker->lock, OBJECT_LOCK, owner);
		else
			object_owner(env, blocker, what->kind, owner);
	} else {
		object_describe(env, blocker, what);
		object_owner(env, blocker, what->kind, owner);
		if (parker)
			parker_keep(env, parker, thread, blocker, what);
	}
	(*env)->DeleteLocalRef(env, blocker);
}

static void park_tell(JNIEnv *env, const struct current *current, __s64 timeout)
{
	struct jis_ev_park_begin record = {.java_tid = current->java_tid, .timeout = timeout};
	struct object what = {0};
	struct owner owner = {0};

	blocker_describe(env, current, &what, &owner);
	record.class_name = what.class_name;
	record.hash = what.hash;
	record.owner_tid = owner.tid;
	record.owner_java_tid = owner.java_tid;
	agent_write(JIS_EV_park_begin, &record, sizeof(record));
}

/* Is the park of a virtual thread told by its hooks? Then what it does when pinned is not. */
static int by_hooks(const struct current *current)
{
	return current->is_virtual &&
	       __atomic_load_n(&vthread_hooks, __ATOMIC_RELAXED) == agent.generation;
}

/*
 * JVMTI gives the virtual thread also where the carrier does something of its own with it mounted
 * (its timer, a queue): then Java's current thread is the carrier, and it is the one that parks.
 */
static void current_java(JNIEnv *env, struct current *current)
{
	jthread thread = NULL;

	if (!current->is_virtual || !thread_class || !current_thread)
		return;
	thread = (*env)->CallStaticObjectMethod(env, thread_class, current_thread);
	exception_clear(env);
	if (!thread)
		return;
	current_put(env, current);
	current->thread = thread;
	current->java_tid = java_tid_of(env, thread);
	current->is_virtual = current->java_tid != current->peer->java_tid;
}

/* The thread that parks: without a call into the JVM where its last park has left what that needs.
 */
static void parking_get(JNIEnv *env, struct current *current)
{
	if (current_uncarried(env, current) && current->peer->parker.thread)
		return;
	current_get(env, current);
	current_java(env, current);
}

static void park_before(JNIEnv *env, struct told *told, jboolean absolute, jlong time)
{
	struct current current;

	told->generation = 0;
	if (!enter_for(JIS_EV_park_begin))
		return;
	parking_get(env, &current);
	if (!by_hooks(&current)) {
		park_tell(env, &current, park_timeout(absolute, time));
		told->generation = agent.generation;
		told->java_tid = current.java_tid;
		told->since = stack_clock();
	}
	current_put(env, &current);
	agent_leave();
}

static void park_after(JNIEnv *env, const struct told *told)
{
	struct jis_ev_park_end record = {told->java_tid};

	if (!told->generation || !agent_enter())
		return;
	if (told->generation == agent.generation) {
		stack_after(env, told->java_tid, told->since);
		agent_write(JIS_EV_park_end, &record, sizeof(record));
	}
	agent_leave();
}

static void JNICALL park_wrapper(JNIEnv *env, jobject unsafe, jboolean absolute, jlong time)
{
	struct told told;

	park_before(env, &told, absolute, time);
	park_original(env, unsafe, absolute, time);
	park_after(env, &told);
}

static void unpark_tell(JNIEnv *env, jobject thread)
{
	struct jis_ev_unpark record;
	struct current current;

	if (!thread || !enter_as(JIS_EV_unpark, env, &current))
		return;
	record.java_tid = current.java_tid;
	record.target_java_tid = java_tid_of(env, thread);
	agent_write(JIS_EV_unpark, &record, sizeof(record));
	agent_leave();
}

static void JNICALL unpark_wrapper(JNIEnv *env, jobject unsafe, jobject thread)
{
	unpark_tell(env, thread);
	unpark_original(env, unsafe, thread);
}

static struct native natives[] = {
	{"jdk/internal/misc/Unsafe", "park", "(ZJ)V", 0, NULL, (void *)park_wrapper,
	 (void **)&park_original, 0},
	{"jdk/internal/misc/Unsafe", "unpark", "(Ljava/lang/Object;)V", 0, NULL,
	 (void *)unpark_wrapper, (void **)&unpark_original, 0},
};

#define NR_NATIVES (sizeof(natives) / sizeof(natives[0]))

int parks_enable(JNIEnv *env)
{
	jclass class = (*env)->FindClass(env, "java/lang/Thread");

	if (class) {
		park_blocker = (*env)->GetFieldID(env, class, "parkBlocker", "Ljava/lang/Object;");
		exception_clear(env);
		current_thread = (*env)->GetStaticMethodID(env, class, "currentThread",
							   "()Ljava/lang/Thread;");
		if (!thread_class)
			thread_class = (*env)->NewGlobalRef(env, class);
		(*env)->DeleteLocalRef(env, class);
	}
	exception_clear(env);
	return objects_enable(env);
}

void parks_enabled(JNIEnv *env)
{
	if (natives_wrap(env, natives, NR_NATIVES) != NR_NATIVES)
		recorder_note("parks are not recorded: unknown layout of this JVM");
}

void parks_disable(JNIEnv *env)
{
	if (env)
		natives_unwrap(env, natives, NR_NATIVES);
}

/*
 * Virtual threads park without a native, by a method of java.lang.System's inner class that serves
 * LockSupport. Natives of JProbe$, called at its start and end; they do nothing on platform
 * threads.
 */
#define PROBE(name) Java_java_lang_JProbe_00024_##name

JNIEXPORT void JNICALL PROBE(descriptorBegin)(JNIEnv *env, jclass class, jint fd, jint events,
					      jlong nanos);
JNIEXPORT void JNICALL PROBE(descriptorEnd)(JNIEnv *env, jclass class);
JNIEXPORT void JNICALL PROBE(parkVirtual)(JNIEnv *env, jclass class);
JNIEXPORT void JNICALL PROBE(parkVirtualNanos)(JNIEnv *env, jclass class, jlong nanos);
JNIEXPORT void JNICALL PROBE(parkVirtualEnd)(JNIEnv *env, jclass class);
JNIEXPORT void JNICALL PROBE(unparkVirtual)(JNIEnv *env, jclass class, jthread thread);

static void park_virtual(JNIEnv *env, __s64 timeout)
{
	struct current current;

	if (!enter_for(JIS_EV_park_begin))
		return;
	current_get(env, &current);
	if (current.is_virtual) {
		__atomic_store_n(&vthread_hooks, agent.generation, __ATOMIC_RELAXED);
		park_tell(env, &current, timeout);
		stack_wait_begins(env, current.java_tid, WAIT_PARK);
	}
	current_put(env, &current);
	agent_leave();
}

JNIEXPORT void JNICALL PROBE(parkVirtual)(JNIEnv *env, jclass class)
{
	park_virtual(env, -1);
}

JNIEXPORT void JNICALL PROBE(parkVirtualNanos)(JNIEnv *env, jclass class, jlong nanos)
{
	park_virtual(env, nanos > 0 ? nanos : 0);
}

/* It runs before an exception leaves, too. */
JNIEXPORT void JNICALL PROBE(parkVirtualEnd)(JNIEnv *env, jclass class)
{
	struct jis_ev_park_end record;
	struct current current;

	if (!enter_as(JIS_EV_park_end, env, &current))
		return;
	if (current.is_virtual) {
		record.java_tid = current.java_tid;
		stack_wait_ends(env, current.java_tid, WAIT_PARK);
		agent_write(JIS_EV_park_end, &record, sizeof(record));
	}
	agent_leave();
}

JNIEXPORT void JNICALL PROBE(unparkVirtual)(JNIEnv *env, jclass class, jthread thread)
{
	unpark_tell(env, thread);
}

/*
 * Where a virtual thread would block in a call on a socket, it has a poller of the JDK's watch the
 * descriptor, and parks: for what, only the method around that park knows.
 */
JNIEXPORT void JNICALL PROBE(descriptorBegin)(JNIEnv *env, jclass class, jint fd, jint events,
					      jlong nanos)
{
	struct jis_ev_descriptor_begin record = {.fd = fd, .events = (__u32)events};
	struct current current;

	if (!enter_as(JIS_EV_descriptor_begin, env, &current))
		return;
	if (current.is_virtual) {
		record.java_tid = current.java_tid;
		record.timeout = nanos > 0 ? nanos : -1;
		agent_write(JIS_EV_descriptor_begin, &record, sizeof(record));
	}
	agent_leave();
}

JNIEXPORT void JNICALL PROBE(descriptorEnd)(JNIEnv *env, jclass class)
{
	struct jis_ev_descriptor_end record;
	struct current current;

	if (!enter_as(JIS_EV_descriptor_end, env, &current))
		return;
	if (current.is_virtual) {
		record.java_tid = current.java_tid;
		agent_write(JIS_EV_descriptor_end, &record, sizeof(record));
	}
	agent_leave();
}

#define POLLER "sun/nio/ch/Poller"
#define POLLER_POLL "(IIJLjava/util/function/BooleanSupplier;)V"

/* The number of the inner class is the compiler's affair. */
#define HOOKS(class)                                                                               \
	{.class_name = class,                                                                      \
	 .method = "parkVirtualThread",                                                            \
	 .descriptor = "()V",                                                                      \
	 .probe = "parkVirtual",                                                                   \
	 .probe_descriptor = "()V",                                                                \
	 .vm_min = 21,                                                                             \
	 .optional = 1},                                                                           \
		{.class_name = class,                                                              \
		 .method = "parkVirtualThread",                                                    \
		 .descriptor = "(J)V",                                                             \
		 .probe = "parkVirtualNanos",                                                      \
		 .probe_descriptor = "(J)V",                                                       \
		 .nr_locals = 1,                                                                   \
		 .locals = {1},                                                                    \
		 .vm_min = 21,                                                                     \
		 .optional = 1},                                                                   \
		{.class_name = class,                                                              \
		 .method = "parkVirtualThread",                                                    \
		 .probe = "parkVirtualEnd",                                                        \
		 .probe_descriptor = "()V",                                                        \
		 .places = JIS_AT_EXIT,                                                            \
		 .vm_min = 21,                                                                     \
		 .optional = 1},                                                                   \
		{.class_name = class,                                                              \
		 .method = "unparkVirtualThread",                                                  \
		 .descriptor = "(Ljava/lang/Thread;)V",                                            \
		 .probe = "unparkVirtual",                                                         \
		 .probe_descriptor = "(Ljava/lang/Thread;)V",                                      \
		 .nr_locals = 1,                                                                   \
		 .locals = {1},                                                                    \
		 .vm_min = 21,                                                                     \
		 .optional = 1},

const struct agent_hook park_hooks[] = {
	{.class_name = POLLER,
	 .method = "poll",
	 .descriptor = POLLER_POLL,
	 .probe = "descriptorBegin",
	 .probe_descriptor = "(IIJ)V",
	 .nr_locals = 3,
	 .locals = {0, 1, 2},
	 .vm_min = 21},
	{.class_name = POLLER,
	 .method = "poll",
	 .descriptor = POLLER_POLL,
	 .probe = "descriptorEnd",
	 .probe_descriptor = "()V",
	 .places = JIS_AT_EXIT,
	 .vm_min = 21},
	HOOKS("java/lang/System$1") HOOKS("java/lang/System$2")
		HOOKS("java/lang/System$3"){.class_name = NULL},
};
