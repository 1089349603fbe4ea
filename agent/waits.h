/* SPDX-License-Identifier: MIT */
/*
 * Why a Java thread waits: what the files of that part of the agent share. Callbacks and wrappers
 * run on the thread that waits; they take no lock of ours on their way, allocate only what is known
 * again the next time, run no Java code, and leave no local reference behind them but where they
 * say so.
 */
#ifndef JIS_AGENT_WAITS_H
#define JIS_AGENT_WAITS_H

#include <pthread.h>

#include "agent.h"

/* Families that need to know which threads there are. */
#define JIS_FEATURES_WAITS                                                                         \
	(JIS_FEATURE_MONITORS | JIS_FEATURE_PARKS | JIS_FEATURE_SLEEPS | JIS_FEATURE_VTHREADS |    \
	 JIS_FEATURE_STARTS | JIS_FEATURE_ALL_MONITORS | JIS_FEATURE_TASKS | JIS_FEATURE_RMI)

/* Of jvmti.h from JDK 21 on. */
#define EVENT_VIRTUAL_THREAD_START ((jvmtiEvent)87)
#define EVENT_VIRTUAL_THREAD_END ((jvmtiEvent)88)

#define NS_PER_MS 1000000ll

/* Milliseconds, not negative, in ns; the longest there is when that is too long. */
static inline __s64 ns_of_ms(__s64 ms)
{
	return ms > INT64_MAX / NS_PER_MS ? INT64_MAX : ms * NS_PER_MS;
}

/* agent_enter() for who is about to write record @id. */
static inline int enter_for(unsigned int id)
{
	if (!agent_enter())
		return 0;
	if (agent_wants(id))
		return 1;
	agent_leave();
	return 0;
}

static inline void exception_clear(JNIEnv *env)
{
	if ((*env)->ExceptionCheck(env))
		(*env)->ExceptionClear(env);
}

/* map.c: numbers by number, found without a lock */
#define MAP_WINDOW 32u

struct map_entry {
	__u64 key; /* 0: none */
	__u64 value;
};

struct map {
	struct map_entry *entries; /* a power of two of them, zeroed */
	__u32 mask;
	pthread_mutex_t lock; /* writers' */
};

#define MAP_INITIALIZER(storage)                                                                   \
	{                                                                                          \
		.entries = (storage), .mask = sizeof(storage) / sizeof((storage)[0]) - 1,          \
		.lock = PTHREAD_MUTEX_INITIALIZER                                                  \
	}

/* Sets what belongs to @key (not 0); 0, or -ENOSPC. */
int map_set(struct map *map, __u64 key, __u64 value);
/* Takes @key out; its value, or 0. */
__u64 map_take(struct map *map, __u64 key);
/* What belongs to @key; 0: nothing. */
__u64 map_get(const struct map *map, __u64 key);

/* objects.c: what an object is called */
enum object_kind {
	OBJECT_PLAIN,
	OBJECT_LOCK,	  /* AbstractOwnableSynchronizer: has an owner */
	OBJECT_CONDITION, /* of such a lock */
	OBJECT_TASK,	  /* FutureTask: somebody runs it */
};

struct object {
	__u32 class_name; /* string_def id */
	__u32 hash;
	enum object_kind kind;
};

/* A class whose name is known; it lives as long as the recording. */
struct known_class;

/* peers.c: the Java threads that live */
enum wait { WAIT_ENTER, WAIT_OBJECT, WAIT_PARK, WAIT_SLEEP, NR_WAITS };

/* What tasks.c keeps of a thread that runs tasks; the thread itself only. */
struct worker {
	__u32 pool_class, pool_hash; /* of its pool, where it is told or forks is WORKER_FORKS */
	__u32 task_class, task_hash; /* open: the task under way */
	__u32 pool_hint;	     /* pools.c: where the pool was found that it used last */
	const struct known_class *given_class, *begun_class; /* of the tasks that were so last */
	__u8 told; /* it is one of a ThreadPoolExecutor, and that has been told */
	__u8 open;
	__u8 forks; /* enum worker_forks */
};

/* What parks.c knows again of a platform thread; the thread itself only. */
struct parker {
	jweak thread;	    /* itself */
	jweak blocker;	    /* what it parked for, twice in a row; NULL: none yet */
	jweak lock;	    /* of that, where it is a condition; else NULL */
	struct object what; /* that is called */
	__u32 seen;	    /* hash of what it parked for last, if it is not that; else 0 */
};

/* Does a platform thread carry virtual ones? Once it has, it may again. */
enum carries { CARRIES_UNASKED, CARRIES_NOT, CARRIES };

struct peer {
	__u64 java_tid;	 /* of the platform thread */
	__u64 carried;	 /* the virtual thread on it, 0 none */
	__u64 vm_thread; /* JavaThread *, 0 not known */
	__u64 stack_low, stack_high;
	__u32 tid;
	__u32 carries;	       /* enum carries */
	__u64 since[NR_WAITS]; /* ns; stacks.c */
	struct worker worker;
	struct parker parker;
};

/* Begins a recording, when vmstructs_init() has been. */
void peers_init(JNIEnv *env, jthread current);
/* All threads that live have been added. */
void peers_complete(void);
/* Has that been said in this recording? Before, a thread without a peer may get one yet. */
int peers_are_complete(void);
/* Forgets all of them. Nobody may be inside. */
void peers_forget(JNIEnv *env);
/* A thread starts, or ran already: @tid may be 0, not known. */
void peer_add(JNIEnv *env, jthread thread, __u32 tid);
void peer_remove(JNIEnv *env, jthread thread);
/* The calling kernel thread's; NULL: not known. */
struct peer *peer_self(JNIEnv *env);
struct peer *peer_of_vm_thread(__u64 vm_thread);
/* The n-th of all, in no order; NULL: behind the last. What has ended has java_tid 0. */
struct peer *peer_at(__u32 n);
/* Kernel thread of Java thread @java_tid, virtual ones included while one carries them; 0 unknown.
 */
__u32 peer_tid(__u64 java_tid);
/* JavaThread of the calling thread, 0 not known. */
__u64 vm_thread_of(JNIEnv *env);

/* The thread that Java code would call the current one: its number, and a local reference to it. */
struct current {
	jthread thread; /* NULL: not to be had */
	__u64 java_tid;
	struct peer *peer;
	int is_virtual;
};

void current_get(JNIEnv *env, struct current *out);
void current_put(JNIEnv *env, struct current *current);
/* The same without asking the JVM, and without the reference; 0: that cannot be, as the thread may
 * carry virtual ones or is not known yet. */
int current_uncarried(JNIEnv *env, struct current *out);
/* Is it one of the threads that the JDK has for virtual ones? Told by its class. */
int thread_is_carrier(JNIEnv *env, jthread thread);
/* Without the reference to it: a tenth of the time on a thread that carries no virtual ones. */
void current_number(JNIEnv *env, struct current *out);
/* enter_for() who will write of the calling thread: without the reference to it. */
static inline int enter_as(unsigned int id, JNIEnv *env, struct current *out)
{
	if (!enter_for(id))
		return 0;
	current_number(env, out);
	return 1;
}

__u64 java_tid_of(JNIEnv *env, jthread thread);

/* owners.c: who holds a monitor, from the JVM's own data */
struct owner {
	__u32 tid;
	__u64 java_tid;
};

/* Tries the layout on a real contention with a known owner; a note when owners are not known. */
void owners_enabled(JNIEnv *env);
/* The kernel thread that helps with it; 0: none. */
extern __u32 owners_trial_tid;
/* Who holds the monitor of @object, which the calling thread is about to wait for. */
void owner_of_pending(JNIEnv *env, jobject object, struct owner *out);
/* For the trial: return whether this contention is it; at its begin, and after it. */
int owners_trial(JNIEnv *env);
int owners_trial_is(JNIEnv *env);

/* objects.c */
int objects_enable(JNIEnv *env);
/* Names are of one recording, so the classes that are known by them are too. Nobody may be inside.
 */
void objects_forget(JNIEnv *env);
/* NULL describes none. */
void object_describe(JNIEnv *env, jobject object, struct object *out);
/* The same where objects of one class are likely to follow each other: @last is the class of the
 * one before, NULL at first, and is set. */
void object_describe_after(JNIEnv *env, jobject object, const struct known_class **last,
			   struct object *out);
/* The same of an object whose hash and whose class's hash (as System.identityHashCode() has them)
 * are known: without asking the JVM where they are those of @last. */
void object_describe_hashed(JNIEnv *env, jobject object, jint hash, jint class_hash,
			    const struct known_class **last, struct object *out);
/* Are there hashes to tell objects by? Not so with -XX:hashCode=2. */
int objects_hashed(void);
/* Owner of an object of java.util.concurrent, where its kind has one. */
void object_owner(JNIEnv *env, jobject object, enum object_kind kind, struct owner *out);
/* The lock of a condition, a local reference; NULL: its owner cannot be known. */
jobject object_lock(JNIEnv *env, jobject condition);
/* Name of a class as Class.getName() has it; its length, 0 not to be had. */
size_t class_name_text(jclass class, char out[NAME_UTF8_MAX]);
/* The same as a string_def id, 0 none. */
__u32 class_name_id(jclass class);

/* natives.c: the JVM's native methods, with a function of ours around them */
struct native {
	const char *class_name, *name, *descriptor;
	int is_static;
	const char *symbol; /* the JVM exports it under this name; NULL: it does not */
	void *wrapper;
	void **original; /* what the wrapper calls */
	int wrapped;
};

/**
 * natives_wrap - has the JVM call the wrappers instead; each may be called before it returns.
 * Returns how many were wrapped; the others' wrapped stays 0.
 */
int natives_wrap(JNIEnv *env, struct native *natives, unsigned int n);
void natives_unwrap(JNIEnv *env, struct native *natives, unsigned int n);
/* Does the JVM find the natives of classes that the agent defines? Waits until it does, a while. */
int natives_callable(JNIEnv *env);

/* stacks.c */
int stacks_capabilities(const jvmtiCapabilities *potential, jvmtiCapabilities *wanted);
void stacks_disable(JNIEnv *env);
/* ns of a clock for lengths of waits; 0 when no stacks are wanted. */
__u64 stack_clock(void);
/* Writes the calling thread's stack if the wait that began at @since (0: never) was long; inside of
 * that wait, before its end is told. */
void stack_after(JNIEnv *env, __u64 java_tid, __u64 since);
/* The same where begin and end are told in different callbacks, and maybe on different carriers. */
void stack_wait_begins(JNIEnv *env, __u64 java_tid, enum wait wait);
void stack_wait_ends(JNIEnv *env, __u64 java_tid, enum wait wait);
/* The calling thread's stack; a stack_def id, 0 none (no stacks wanted, budget used up). */
__u32 stack_take(JNIEnv *env);
/* Forgets methods, stacks and waits under way: ids are of one recording. Nobody may be inside. */
void stacks_forget(void);
/* A method as a method_def id, 0 none; @line: of place @at in it, may be NULL. */
__u32 method_place(JNIEnv *env, jmethodID method, jlocation at, __s32 *line);
/* Defines one that the JVM does not have yet; all but @fixed->id is set. Its id, 0: cannot be. */
__u32 method_define(struct jis_ev_method_def *fixed, const char *text, size_t length);
/* Methods of @class may have other lines from now on. */
void stacks_redefined(jclass class);

/* monitors.c */
int monitors_capabilities(const jvmtiCapabilities *potential, jvmtiCapabilities *wanted);
void JNICALL on_contended_enter(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object);
void JNICALL on_contended_entered(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object);
void JNICALL on_wait(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object, jlong timeout);
void JNICALL on_waited(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object,
		       jboolean timed_out);

/* A wait that begins and ends in one function. */
struct told {
	__u32 generation; /* of the recording that its begin was told to, 0: to none */
	__u64 java_tid;
	__u64 since; /* stack_clock() */
};

/* Recording in which the hooks of virtual threads' parks and sleeps have been called: they work. */
extern __u32 vthread_hooks;

/* parks.c, sleeps.c */
int parks_enable(JNIEnv *env);
void parks_enabled(JNIEnv *env);
void parks_disable(JNIEnv *env);
/* Gives back its references. The thread is none any more, or nobody is inside. */
void parker_drop(JNIEnv *env, struct parker *parker);
int sleeps_enable(JNIEnv *env);
void sleeps_enabled(JNIEnv *env);
void sleeps_disable(JNIEnv *env);
int starts_enable(JNIEnv *env);
void starts_enabled(JNIEnv *env);
void starts_disable(JNIEnv *env);

/* tasks.c, queues.c */
int tasks_enable(JNIEnv *env);
/* Forgets who works on what. Nobody may be inside. */
void tasks_forget(void);
int queues_enable(JNIEnv *env);

/* tasks.c for forks.c, inside of the agent: tasks of a ForkJoinPool. Is it one without hooks of its
 * own class? */
int task_is_inner(JNIEnv *env, jobject task);
/* The pool the thread is a worker of, a local reference, or NULL. */
jobject task_pool_of_worker(JNIEnv *env, const struct current *current);
void task_forked(JNIEnv *env, jobject pool, jobject task);
void task_fork_begins(JNIEnv *env, jobject task);
void task_fork_ends(JNIEnv *env, jobject task);
int forks_enable(JNIEnv *env);

/* vthreads.c */
int vthreads_capabilities(const jvmtiCapabilities *potential, jvmtiCapabilities *wanted);
int vthreads_enable(JNIEnv *env);
void vthreads_enabled(JNIEnv *env);
void vthreads_disable(JNIEnv *env);
/* For vthread_is(), which knows no virtual thread before. */
void vthread_class_find(JNIEnv *env);
/* Is it a virtual thread? */
int vthread_is(JNIEnv *env, jthread thread);
void JNICALL on_vthread_start(jvmtiEnv *jvmti, JNIEnv *env, jthread thread);
void JNICALL on_vthread_end(jvmtiEnv *jvmti, JNIEnv *env, jthread thread);
/* Number of the extension event called @id; 0: this JVM has none. */
jint extension_event_find(const char *id);
/* Switches it on with a callback, off with NULL. */
jvmtiError extension_event(jint event, jvmtiExtensionEvent callback);

#endif /* JIS_AGENT_WAITS_H */
