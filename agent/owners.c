/* SPDX-License-Identifier: MIT */
/*
 * Who holds the monitor a thread is about to wait for: JavaThread::_current_pending_monitor ->
 * ObjectMonitor::_owner, from HotSpot's own tables. JVMTI could tell it too, at the price of a
 * safepoint an event.
 *
 * The owner is a JavaThread, or from JDK 24 on the number of a Java thread. Where the monitor has
 * become a heavy one only by this contention, it may also be a place on the owner's stack (the old
 * way of light locks), or "somebody" (the new way): then the owner is who has the object among the
 * light locks it holds. The layout is tried at the start on a contention with a known owner; what
 * does not fit in the end is unknown, not guessed.
 */
#include "compat.h"

#include <signal.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "class_waits.h"
#include "waits.h"

#define OWNER_SOMEBODY 1u /* ObjectMonitor::ANONYMOUS_OWNER */
#define OWNER_IDS_FROM 3u
#define LOCK_STACK_MAX 8u
#define LOCK_STACKS_AT_ONCE 64u

static long pending_offset = -1, owner_offset = -1;
static long lock_stack_offset = -1, lock_stack_top_offset = -1, lock_stack_base_offset = -1;
static long collections_offset = -1;
static __u64 heap; /* CollectedHeap * */
static int owner_is_number;
static int known; /* the layout was tried */

__u32 owners_trial_tid;

static void layout_find(void)
{
	const void *address;
	long unused;

	vm_field("JavaThread", "_current_pending_monitor", &pending_offset);
	vm_field("ObjectMonitor", "_owner", &owner_offset);
	vm_field("JavaThread", "_monitor_owner_id", &unused);
	owner_is_number = unused >= 0;
	vm_field("JavaThread", "_lock_stack", &lock_stack_offset);
	vm_field("LockStack", "_top", &lock_stack_top_offset);
	vm_field("LockStack", "_base[0]", &lock_stack_base_offset);
	vm_field("CollectedHeap", "_total_collections", &collections_offset);
	address = vm_field("Universe", "_collectedHeap", &unused);
	/* Where objects move while the program runs, their addresses are no names of them. */
	if (!address || vm_flag("UseZGC") == 1 || vm_flag("UseShenandoahGC") == 1 ||
	    vm_read((__u64)(uintptr_t)address, &heap, sizeof(heap)) < 0)
		heap = 0;
}

/* Light locks -------------------------------------------------------------------------------- */

/* The owner whose stack has @address; light locks before JDK 23. */
static struct peer *peer_of_stack(__u64 address)
{
	struct peer *peer;
	__u32 i;

	for (i = 0; (peer = peer_at(i)); i++)
		if (peer->java_tid && address >= peer->stack_low && address < peer->stack_high)
			return peer;
	return NULL;
}

static __u32 collections_now(void)
{
	__u32 n = 0;

	if (heap && collections_offset >= 0)
		vm_read(heap + (__u64)collections_offset, &n, sizeof(n));
	return n;
}

struct lock_stacks {
	struct peer *peers[LOCK_STACKS_AT_ONCE];
	unsigned char copies[LOCK_STACKS_AT_ONCE][64 + 8 * LOCK_STACK_MAX];
	struct iovec local[LOCK_STACKS_AT_ONCE], remote[LOCK_STACKS_AT_ONCE];
	unsigned int n;
};

/* Whether a copied lock stack has @oop in it. _top is where the next goes, from the JavaThread on.
 */
static int lock_stack_has(const unsigned char *copy, __u64 oop)
{
	__u64 entry;
	__u32 top, i, n;
	long base = lock_stack_offset + lock_stack_base_offset;

	memcpy(&top, copy + lock_stack_top_offset, sizeof(top));
	if ((long)top < base || (top - (__u32)base) % 8 || (top - (__u32)base) / 8 > LOCK_STACK_MAX)
		return 0;
	n = (top - (__u32)base) / 8;
	for (i = 0; i < n; i++) {
		memcpy(&entry, copy + lock_stack_base_offset + 8 * i, sizeof(entry));
		if (entry == oop)
			return 1;
	}
	return 0;
}

/* Reads those gathered; the one thread that has @oop, or NULL (none, or more than one). */
static struct peer *lock_stacks_look(struct lock_stacks *s, __u64 oop, struct peer *found)
{
	unsigned int i;

	vm_read_each(s->local, s->remote, s->n); /* not of a thread that has ended meanwhile */
	for (i = 0; i < s->n; i++)
		if (s->local[i].iov_len && lock_stack_has(s->copies[i], oop))
			found = s->peers[i];
	s->n = 0;
	return found;
}

static struct peer *lock_stacks_search(__u64 oop, __u64 except)
{
	size_t size = (size_t)lock_stack_base_offset + 8 * LOCK_STACK_MAX;
	struct peer *peer, *found = NULL;
	struct lock_stacks s;
	__u32 i;

	s.n = 0;
	for (i = 0; !found && (peer = peer_at(i)); i++) {
		if (!peer->java_tid || !peer->vm_thread || peer->vm_thread == except)
			continue;
		s.peers[s.n] = peer;
		s.local[s.n] = (struct iovec){s.copies[s.n], size};
		s.remote[s.n].iov_base =
			(void *)(uintptr_t)(peer->vm_thread + (__u64)lock_stack_offset);
		s.remote[s.n++].iov_len = size;
		if (s.n == LOCK_STACKS_AT_ONCE)
			found = lock_stacks_look(&s, oop, found);
	}
	return found ? found : lock_stacks_look(&s, oop, found);
}

/*
 * Objects move in collections only: a call of the JVM before and after, which waits for the end of
 * one, and the number of collections between them, tell whether the addresses were good.
 */
static struct peer *peer_of_light_lock(JNIEnv *env, jobject object)
{
	const __u64 *handle = (const __u64 *)(const void *)object;
	struct peer *found;
	__u32 before;
	__u64 oop;

	if (lock_stack_offset < 0 || lock_stack_top_offset < 0 || lock_stack_base_offset < 0 ||
	    lock_stack_base_offset > 64 || !heap || collections_offset < 0 ||
	    (__u64)(uintptr_t)object % 8)
		return NULL;
	if ((*env)->GetObjectRefType(env, object) != JNILocalRefType)
		return NULL;
	before = collections_now();
	oop = __atomic_load_n(handle, __ATOMIC_ACQUIRE);
	found = lock_stacks_search(oop, vm_thread_of(env));
	(*env)->GetObjectRefType(env, object);
	if (before != collections_now() || oop != __atomic_load_n(handle, __ATOMIC_ACQUIRE))
		return NULL;
	return found;
}

/* Owners ------------------------------------------------------------------------------------- */

static void owner_is(const struct peer *peer, struct owner *out)
{
	__u64 carried;

	if (!peer)
		return;
	carried = __atomic_load_n(&peer->carried, __ATOMIC_RELAXED);
	out->tid = peer->tid;
	out->java_tid = carried ? carried : __atomic_load_n(&peer->java_tid, __ATOMIC_RELAXED);
}

/* The raw owner of the monitor the calling thread waits for; 0: none, or not known. */
static __u64 owner_read(JNIEnv *env)
{
	__u64 vm_thread = vm_thread_of(env), monitor, owner;

	/* Our own thread's data, and a monitor that lives as long as we wait for it. */
	if (!vm_thread || pending_offset < 0 || owner_offset < 0)
		return 0;
	monitor = *(const volatile __u64 *)(uintptr_t)(vm_thread + (__u64)pending_offset);
	if (!monitor)
		return 0;
	owner = *(const volatile __u64 *)(uintptr_t)(monitor + (__u64)owner_offset);
	return owner;
}

void owner_of_pending(JNIEnv *env, jobject object, struct owner *out)
{
	struct peer *peer;
	__u64 owner;

	out->tid = 0;
	out->java_tid = 0;
	if (!__atomic_load_n(&known, __ATOMIC_ACQUIRE))
		return;
	owner = owner_read(env);
	if (owner == OWNER_SOMEBODY) {
		owner_is(peer_of_light_lock(env, object), out);
	} else if (owner_is_number) {
		if (owner < OWNER_IDS_FROM)
			return;
		out->java_tid = owner;
		out->tid = peer_tid(owner);
	} else if (owner) {
		peer = peer_of_vm_thread(owner);
		owner_is(peer ? peer : peer_of_stack(owner), out);
	}
}

/* The trial ---------------------------------------------------------------------------------- */

static struct trial {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	jobject object; /* global reference */
	jfieldID tid;
	__u64 vm_thread, java_tid; /* of who holds it */
	int held, seen, over, right;
	__u64 by; /* JavaThread of who tries */
} trial = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* Waits until *@flag, two seconds at most; the lock is held. */
static void trial_wait(const int *flag)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 2;
	while (!*flag)
		if (pthread_cond_timedwait(&trial.changed, &trial.lock, &until))
			return;
}

static void trial_say(int *flag)
{
	pthread_mutex_lock(&trial.lock);
	*flag = 1;
	pthread_cond_broadcast(&trial.changed);
	pthread_mutex_unlock(&trial.lock);
}

/* Holds the object until the other has been seen waiting for it. */
static void trial_hold(JNIEnv *env)
{
	jthread current = NULL;

	if ((*agent.jvmti)->GetCurrentThread(agent.jvmti, &current) || !current)
		return;
	if ((*env)->MonitorEnter(env, trial.object))
		return;
	trial.vm_thread = vm_thread_of(env);
	trial.java_tid = java_tid_of(env, current);
	trial_say(&trial.held);
	pthread_mutex_lock(&trial.lock);
	trial_wait(&trial.seen);
	pthread_mutex_unlock(&trial.lock);
	(*env)->MonitorExit(env, trial.object);
}

static void *trial_thread(void *unused)
{
	JavaVMAttachArgs args = {JNI_VERSION_10, (char *)"jis-trial", NULL};
	JNIEnv *env;

	owners_trial_tid = agent_tid();
	prctl(PR_SET_NAME, "jis-trial");
	if ((*agent.vm)->AttachCurrentThreadAsDaemon(agent.vm, (void **)&env, &args) == JNI_OK) {
		trial_hold(env);
		class_waits_hold(env);
		(*agent.vm)->DetachCurrentThread(agent.vm);
	}
	owners_trial_tid = 0;
	trial_say(&trial.over);
	return NULL;
}

int owners_trial_is(JNIEnv *env)
{
	__u64 by = __atomic_load_n(&trial.by, __ATOMIC_ACQUIRE);

	return by && by == vm_thread_of(env);
}

int owners_trial(JNIEnv *env)
{
	__u64 owner;

	if (!owners_trial_is(env))
		return 0;
	owner = owner_read(env);
	trial.right = owner && owner == (owner_is_number ? trial.java_tid : trial.vm_thread);
	trial_say(&trial.seen);
	return 1;
}

static void trial_contend(JNIEnv *env, jthread current)
{
	__atomic_store_n(&trial.by, vm_thread_of(env), __ATOMIC_RELEASE);
	if (!(*agent.jvmti)
		     ->SetEventNotificationMode(agent.jvmti, JVMTI_ENABLE,
						JVMTI_EVENT_MONITOR_CONTENDED_ENTER, current)) {
		if (!(*env)->MonitorEnter(env, trial.object))
			(*env)->MonitorExit(env, trial.object);
		(*agent.jvmti)
			->SetEventNotificationMode(agent.jvmti, JVMTI_DISABLE,
						   JVMTI_EVENT_MONITOR_CONTENDED_ENTER, current);
	}
	__atomic_store_n(&trial.by, 0, __ATOMIC_RELEASE);
}

static int trial_start(void)
{
	sigset_t all, old;
	pthread_t thread;
	int error;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old); /* on Linux: of this thread */
	error = pthread_create(&thread, NULL, trial_thread, NULL);
	sigprocmask(SIG_SETMASK, &old, NULL);
	if (!error)
		pthread_detach(thread);
	return -error;
}

static void trial_run(JNIEnv *env, jthread current)
{
	int callable = natives_callable(env); /* may wait for longer than the helper does */

	pthread_mutex_lock(&trial.lock);
	if (trial_start() == 0) {
		trial_wait(&trial.held);
		pthread_mutex_unlock(&trial.lock);
		if (trial.held)
			trial_contend(env, current);
		trial_say(&trial.seen);
		class_waits_try(env, callable);
		pthread_mutex_lock(&trial.lock);
		trial_wait(&trial.over);
	}
	pthread_mutex_unlock(&trial.lock);
}

void owners_enabled(JNIEnv *env)
{
	jclass class = NULL;
	jobject object = NULL;
	jthread current = NULL;

	layout_find();
	if (known || !vm_thread_of(env) || pending_offset < 0 || owner_offset < 0)
		goto out;
	class = (*env)->FindClass(env, "java/lang/Object");
	object = class ? (*env)->AllocObject(env, class) : NULL;
	if (object && !trial.object)
		trial.object = (*env)->NewGlobalRef(env, object);
	if (trial.object && !(*agent.jvmti)->GetCurrentThread(agent.jvmti, &current) && current)
		trial_run(env, current);
	__atomic_store_n(&known, trial.right, __ATOMIC_RELEASE);
out:
	exception_clear(env);
	if (current)
		(*env)->DeleteLocalRef(env, current);
	if (object)
		(*env)->DeleteLocalRef(env, object);
	if (class)
		(*env)->DeleteLocalRef(env, class);
	if (!known)
		recorder_note("owners of monitors are not known: unknown layout of this JVM");
	if (!class_waits_known())
		recorder_note("classes whose initialisation threads wait for are not known: "
			      "no trial of this JVM's layout has found them");
}
