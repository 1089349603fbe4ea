/* SPDX-License-Identifier: MIT */
/*
 * The Java threads that live, as the JVM's own data and other threads name them: by number, by
 * JavaThread. Filled at their start or when the agent comes, emptied at their end. What is read of
 * another thread here is a snapshot.
 */
#include <stdlib.h>

#include "waits.h"

#define PEERS_MAX 16384u
#define PEERS_CHUNK 256u

/* Twice as large, so that a key hardly ever finds no place near its own. */
static struct map_entry by_java_tid_entries[2 * PEERS_MAX], by_vm_thread_entries[2 * PEERS_MAX];
static struct map by_java_tid = MAP_INITIALIZER(by_java_tid_entries);
static struct map by_vm_thread = MAP_INITIALIZER(by_vm_thread_entries);

static struct peer *chunks[PEERS_MAX / PEERS_CHUNK];
static __u32 nr_peers; /* ever used at once; grows only */
static pthread_mutex_t peers_lock = PTHREAD_MUTEX_INITIALIZER;

static long stack_base_offset = -1, stack_size_offset = -1;
static __u64 env_offset;       /* JNIEnv * - JavaThread *, 0 not known */
static __u32 peers_generation; /* of the recording they are of */
static __u32 complete_generation;

static int peers_wanted(void)
{
	return __atomic_load_n(&peers_generation, __ATOMIC_ACQUIRE) == agent.generation;
}

struct peer *peer_at(__u32 n)
{
	if (n >= __atomic_load_n(&nr_peers, __ATOMIC_ACQUIRE))
		return NULL;
	return &chunks[n / PEERS_CHUNK][n % PEERS_CHUNK];
}

void peers_init(JNIEnv *env, jthread current)
{
	__u64 vm_thread = vm_thread_read(env, current);

	if (vm_thread && (__u64)(uintptr_t)env > vm_thread &&
	    (__u64)(uintptr_t)env - vm_thread < 65536)
		env_offset = (__u64)(uintptr_t)env - vm_thread;
	vm_field("JavaThread", "_stack_base", &stack_base_offset);
	vm_field("JavaThread", "_stack_size", &stack_size_offset);
	__atomic_store_n(&peers_generation, agent.generation, __ATOMIC_RELEASE);
}

void peers_complete(void)
{
	__atomic_store_n(&complete_generation, agent.generation, __ATOMIC_RELEASE);
}

int peers_are_complete(void)
{
	return __atomic_load_n(&complete_generation, __ATOMIC_ACQUIRE) == agent.generation;
}

void peers_forget(JNIEnv *env)
{
	struct peer *peer;
	__u32 i;

	memset(by_java_tid_entries, 0, sizeof(by_java_tid_entries));
	memset(by_vm_thread_entries, 0, sizeof(by_vm_thread_entries));
	for (i = 0; (peer = peer_at(i)); i++) {
		parker_drop(env, &peer->parker);
		peer->java_tid = peer->carried = 0;
	}
}

__u64 vm_thread_of(JNIEnv *env)
{
	return env_offset ? (__u64)(uintptr_t)env - env_offset : 0;
}

/* An unused one; the lock is held. */
static struct peer *peer_new(void)
{
	static __u32 hint;
	__u32 i, n = nr_peers;

	for (i = 0; i < n && i < PEERS_CHUNK; i++, hint++)
		if (!peer_at(hint % n)->java_tid)
			return peer_at(hint % n);
	if (n == PEERS_MAX)
		return NULL;
	if (n % PEERS_CHUNK == 0) {
		chunks[n / PEERS_CHUNK] = calloc(PEERS_CHUNK, sizeof(struct peer));
		if (!chunks[n / PEERS_CHUNK])
			return NULL;
	}
	__atomic_store_n(&nr_peers, n + 1, __ATOMIC_RELEASE);
	return peer_at(n);
}

static void stack_find(struct peer *peer)
{
	__u64 base = 0, size = 0;

	if (!peer->vm_thread || stack_base_offset < 0 || stack_size_offset < 0 ||
	    vm_read(peer->vm_thread + (__u64)stack_base_offset, &base, sizeof(base)) < 0 ||
	    vm_read(peer->vm_thread + (__u64)stack_size_offset, &size, sizeof(size)) < 0 ||
	    size > base)
		return;
	peer->stack_low = base - size;
	peer->stack_high = base;
}

/* Makes @peer, set but for its number, be found; or it is none. The lock is held. */
static void peer_publish(struct peer *peer, __u64 java_tid)
{
	if (map_set(&by_java_tid, java_tid, (__u64)(uintptr_t)peer) < 0)
		return;
	if (peer->vm_thread &&
	    map_set(&by_vm_thread, peer->vm_thread, (__u64)(uintptr_t)peer) < 0) {
		map_take(&by_java_tid, java_tid);
		return;
	}
	__atomic_store_n(&peer->java_tid, java_tid, __ATOMIC_RELEASE);
}

/* The JVM is asked without the lock: it may stop us meanwhile. */
void peer_add(JNIEnv *env, jthread thread, __u32 tid)
{
	struct peer new = {.tid = tid}, *peer;
	struct parker before = {0}; /* of the thread that had its place */
	__u64 java_tid = java_tid_of(env, thread);

	if (!peers_wanted() || !java_tid)
		return;
	new.vm_thread = vm_thread_read(env, thread);
	stack_find(&new);
	pthread_mutex_lock(&peers_lock);
	peer = map_get(&by_java_tid, java_tid) ? NULL : peer_new();
	if (peer) {
		before = peer->parker;
		*peer = new;
		peer_publish(peer, java_tid);
	} else if (!map_get(&by_java_tid, java_tid)) {
		map_take(&by_vm_thread, new.vm_thread); /* who had it before is not this thread */
	}
	pthread_mutex_unlock(&peers_lock);
	parker_drop(env, &before);
}

void peer_remove(JNIEnv *env, jthread thread)
{
	__u64 java_tid = peers_wanted() ? java_tid_of(env, thread) : 0;
	struct peer *peer =
		java_tid ? (struct peer *)(uintptr_t)map_take(&by_java_tid, java_tid) : NULL;

	if (!peer)
		return;
	if (peer->vm_thread && map_get(&by_vm_thread, peer->vm_thread) == (__u64)(uintptr_t)peer)
		map_take(&by_vm_thread, peer->vm_thread);
	__atomic_store_n(&peer->java_tid, 0, __ATOMIC_RELEASE);
}

struct peer *peer_of_vm_thread(__u64 vm_thread)
{
	return (struct peer *)(uintptr_t)map_get(&by_vm_thread, vm_thread);
}

struct peer *peer_self(JNIEnv *env)
{
	struct agent_thread *self = agent_self;

	if (self->peer_generation != agent.generation || !self->peer || !self->peer->java_tid ||
	    self->peer->vm_thread != vm_thread_of(env)) {
		self->peer = peers_wanted() ? peer_of_vm_thread(vm_thread_of(env)) : NULL;
		self->peer_generation = agent.generation;
	}
	return self->peer;
}

__u32 peer_tid(__u64 java_tid)
{
	const struct peer *peer = (const struct peer *)(uintptr_t)map_get(&by_java_tid, java_tid);
	__u32 i;

	if (peer)
		return peer->tid;
	for (i = 0; java_tid && (peer = peer_at(i)); i++)
		if (__atomic_load_n(&peer->carried, __ATOMIC_RELAXED) == java_tid)
			return peer->tid;
	return 0;
}

__u64 java_tid_of(JNIEnv *env, jthread thread)
{
	return thread && agent.thread_tid
		       ? (__u64)(*env)->GetLongField(env, thread, agent.thread_tid)
		       : 0;
}

int thread_is_carrier(JNIEnv *env, jthread thread)
{
	static const char carrier[] = "jdk.internal.misc.CarrierThread";
	jclass class = agent.vm_version < 21 ? NULL : (*env)->GetObjectClass(env, thread);
	char name[NAME_UTF8_MAX];
	int is;

	if (!class)
		return 0;
	is = class_name_text(class, name) == sizeof(carrier) - 1 &&
	     !memcmp(name, carrier, sizeof(carrier) - 1);
	(*env)->DeleteLocalRef(env, class);
	return is;
}

/* Asked once a thread. Others than the JDK's own are told to carry by a mount, where mounts are
 * told. */
static void carries_ask(JNIEnv *env, const struct current *current)
{
	__u32 unasked = CARRIES_UNASKED;
	__u32 found;

	if (__atomic_load_n(&current->peer->carries, __ATOMIC_RELAXED) != CARRIES_UNASKED)
		return;
	found = thread_is_carrier(env, current->thread) ? CARRIES : CARRIES_NOT;
	__atomic_compare_exchange_n(&current->peer->carries, &unasked, found, 0, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
}

void current_get(JNIEnv *env, struct current *out)
{
	out->thread = NULL;
	out->peer = peer_self(env);
	/* Refused where a virtual thread is just being mounted: that is its carrier's doing. */
	if ((*agent.jvmti)->GetCurrentThread(agent.jvmti, &out->thread))
		out->thread = NULL;
	out->java_tid = out->thread ? java_tid_of(env, out->thread)
			: out->peer ? out->peer->java_tid
				    : 0;
	out->is_virtual = out->peer && out->java_tid != out->peer->java_tid;
	if (out->peer && out->thread && !out->is_virtual)
		carries_ask(env, out);
}

void current_put(JNIEnv *env, struct current *current)
{
	if (current->thread)
		(*env)->DeleteLocalRef(env, current->thread);
	current->thread = NULL;
}

int current_uncarried(JNIEnv *env, struct current *out)
{
	struct peer *peer = peer_self(env);

	if (!peer || __atomic_load_n(&peer->carries, __ATOMIC_RELAXED) != CARRIES_NOT)
		return 0;
	if (agent.vm_version >= 21 && !(agent.features & JIS_FEATURE_VTHREADS))
		return 0;
	*out = (struct current){NULL, peer->java_tid, peer, 0};
	return 1;
}

void current_number(JNIEnv *env, struct current *out)
{
	if (current_uncarried(env, out))
		return;
	current_get(env, out);
	current_put(env, out);
}
