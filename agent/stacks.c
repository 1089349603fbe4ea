/* SPDX-License-Identifier: MIT */
/*
 * Java stacks of long waits: taken by the thread itself, in the callback or wrapper that ends its
 * wait, and written as nodes of a tree, each told once. A budget a second and a bound on methods
 * and nodes keep the cost down; what is left out is counted.
 */
#include <stdlib.h>
#include <time.h>

#include "waits.h"

#define FRAMES_MAX 64
#define STACKS_PER_SECOND 1000u
#define BUCKETS 262144u
#define METHODS_MAX 16777215u /* readers take ids below 2^24 */
#define CLASS_MARKS 4096u
#define NODES_MAX 524288u
#define NS_PER_S 1000000000ull

struct method {
	struct method *next;
	jmethodID method;
	__u32 mark, generation; /* of its class, when it was asked for */
	__u32 id;
	jint nr_lines; /* -1: not known, -2: native */
	jvmtiLineNumberEntry *lines;
};

struct node {
	struct node *next;
	__u32 id, caller, method;
	__s32 line;
};

/* Written under the lock with release, read with acquire; entries live as long as the recording. */
static struct method *methods[BUCKETS];
static struct node *nodes[BUCKETS];
static __u32 nr_methods, nr_nodes;
static pthread_mutex_t tree_lock = PTHREAD_MUTEX_INITIALIZER;
/* How often classes have been redefined, by their identity hashes; some share a count. */
static __u32 generations[CLASS_MARKS];

static __u64 budget_second, budget_used;
static __u64 left_out;
static __u64 not_timed; /* waits of virtual threads whose begin found no room: long or not, they
			   have none */

static struct map_entry since_entries[16384];
static struct map since = MAP_INITIALIZER(since_entries);

/* Methods ------------------------------------------------------------------------------------ */

static __u32 class_mark(jclass class)
{
	jint hash = 0;

	(*agent.jvmti)->GetObjectHashCode(agent.jvmti, class, &hash);
	return (__u32)hash % CLASS_MARKS;
}

void stacks_redefined(jclass class)
{
	__atomic_fetch_add(&generations[class_mark(class)], 1, __ATOMIC_RELEASE);
}

static __u32 method_bucket(jmethodID method)
{
	return (__u32)(((__u64)(uintptr_t)method * 0x9e3779b97f4a7c15ull) >> 40) % BUCKETS;
}

static const struct method *method_find(jmethodID method)
{
	const struct method *m = __atomic_load_n(&methods[method_bucket(method)], __ATOMIC_ACQUIRE);

	while (m && (m->method != method ||
		     m->generation != __atomic_load_n(&generations[m->mark], __ATOMIC_ACQUIRE)))
		m = m->next;
	return m;
}

static __u32 file_name(jclass class)
{
	char *file = NULL;
	__u32 id = 0;

	if (!(*agent.jvmti)->GetSourceFileName(agent.jvmti, class, &file) && file) {
		id = name_intern_modified(file);
		(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)file);
	}
	return id;
}

static __u32 name_take(char *text)
{
	__u32 id = text ? name_intern_modified(text) : 0;

	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)text);
	return id;
}

/* What is told of a method, gathered without the lock: the JVM may stop us while we ask. */
struct method_text {
	struct jis_ev_method_def fixed;
	char text[NAME_UTF8_MAX];
	size_t length;
};

/* Sets the mark of @m, too. */
static int method_ask(JNIEnv *env, struct method *m, struct method_text *out)
{
	jmethodID method = m->method;
	char *name = NULL, *type = NULL;
	jclass class = NULL;

	if ((*agent.jvmti)->GetMethodName(agent.jvmti, method, &name, &type, NULL))
		return -ENOENT;
	out->fixed.name = name_take(name);
	out->fixed.descriptor = name_take(type);
	out->fixed.file = 0;
	out->length = 0;
	if (!(*agent.jvmti)->GetMethodDeclaringClass(agent.jvmti, method, &class) && class) {
		m->mark = class_mark(class);
		m->generation = __atomic_load_n(&generations[m->mark], __ATOMIC_ACQUIRE);
		out->fixed.file = file_name(class);
		out->length = class_name_text(class, out->text);
		(*env)->DeleteLocalRef(env, class);
	}
	return 0;
}

static void method_lines(struct method *m)
{
	jboolean native = JNI_FALSE;

	m->lines = NULL;
	m->nr_lines = -1;
	if (!(*agent.jvmti)->IsMethodNative(agent.jvmti, m->method, &native) && native)
		m->nr_lines = -2;
	else if ((*agent.jvmti)
			 ->GetLineNumberTable(agent.jvmti, m->method, &m->nr_lines, &m->lines))
		m->nr_lines = -1;
}

/* Adds @m, which is new, to the table, or not; the lock is held. Returns 0 or -errno. */
static int method_add(struct method *m, struct method_text *told)
{
	struct method **bucket = &methods[method_bucket(m->method)];
	int error;

	if (nr_methods >= METHODS_MAX) {
		dict_lose(JIS_EV_method_def);
		return -ENOSPC;
	}
	told->fixed.id = nr_methods + 1;
	error = dict_write(JIS_EV_method_def, &told->fixed,
			   offsetof(struct jis_ev_method_def, class_name_length), told->text,
			   told->length);
	if (error)
		return error;
	m->id = ++nr_methods;
	m->next = *bucket;
	__atomic_store_n(bucket, m, __ATOMIC_RELEASE);
	return 0;
}

__u32 method_define(struct jis_ev_method_def *fixed, const char *text, size_t length)
{
	__u32 id = 0;

	pthread_mutex_lock(&tree_lock);
	fixed->id = nr_methods + 1;
	if (nr_methods >= METHODS_MAX)
		dict_lose(JIS_EV_method_def);
	else if (dict_write(JIS_EV_method_def, fixed,
			    offsetof(struct jis_ev_method_def, class_name_length), text,
			    length) == 0)
		id = ++nr_methods;
	pthread_mutex_unlock(&tree_lock);
	return id;
}

static void method_free(struct method *m)
{
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)m->lines);
	free(m);
}

static const struct method *method_get(JNIEnv *env, jmethodID method)
{
	const struct method *found = method_find(method);
	struct method_text told;
	struct method *m;

	if (found)
		return found;
	m = malloc(sizeof(*m));
	if (!m)
		return NULL;
	*m = (struct method){.method = method};
	if (method_ask(env, m, &told) < 0)
		goto out;
	method_lines(m);
	pthread_mutex_lock(&tree_lock);
	found = method_find(method);
	if (!found && method_add(m, &told) == 0)
		found = m;
	pthread_mutex_unlock(&tree_lock);
out:
	if (found != m)
		method_free(m);
	return found;
}

/* Line of a place in a method: that of the last entry of the table that begins at it or before. */
static __s32 line_of(const struct method *m, jlocation at)
{
	jlocation best = -1;
	__s32 line = -1;
	jint i;

	if (m->nr_lines < 0)
		return m->nr_lines;
	for (i = 0; i < m->nr_lines; i++) {
		if (m->lines[i].start_location > at || m->lines[i].start_location < best)
			continue;
		best = m->lines[i].start_location;
		line = m->lines[i].line_number;
	}
	return line;
}

__u32 method_place(JNIEnv *env, jmethodID method, jlocation at, __s32 *line)
{
	const struct method *m = method_get(env, method);

	if (m && line)
		*line = line_of(m, at);
	return m ? m->id : 0;
}

/* Nodes -------------------------------------------------------------------------------------- */

static __u32 node_bucket(__u32 caller, __u32 method, __s32 line)
{
	__u64 key = ((__u64)caller << 32 | method) ^ (__u64)(__u32)line << 20;

	return (__u32)((key * 0x9e3779b97f4a7c15ull) >> 40) % BUCKETS;
}

static __u32 node_find(__u32 bucket, __u32 caller, __u32 method, __s32 line)
{
	const struct node *n = __atomic_load_n(&nodes[bucket], __ATOMIC_ACQUIRE);

	while (n && (n->caller != caller || n->method != method || n->line != line))
		n = n->next;
	return n ? n->id : 0;
}

/* Adds one that is new; the lock is held. Its id, or 0. */
static __u32 node_add(__u32 bucket, __u32 caller, __u32 method, __s32 line)
{
	struct jis_ev_stack_def record = {nr_nodes + 1, caller, method, line};
	struct node *n = nr_nodes < NODES_MAX ? malloc(sizeof(*n)) : NULL;

	if (!n)
		return 0;
	if (dict_write(JIS_EV_stack_def, &record, sizeof(record), NULL, 0) < 0) {
		free(n);
		return 0;
	}
	nr_nodes++;
	*n = (struct node){nodes[bucket], record.id, caller, method, line};
	__atomic_store_n(&nodes[bucket], n, __ATOMIC_RELEASE);
	return n->id;
}

static __u32 node_get(__u32 caller, __u32 method, __s32 line)
{
	__u32 bucket = node_bucket(caller, method, line);
	__u32 id = node_find(bucket, caller, method, line);

	if (id)
		return id;
	pthread_mutex_lock(&tree_lock);
	id = node_find(bucket, caller, method, line);
	if (!id)
		id = node_add(bucket, caller, method, line);
	pthread_mutex_unlock(&tree_lock);
	return id;
}

/* Stacks ------------------------------------------------------------------------------------- */

__u64 stack_clock(void)
{
	struct timespec t;

	if (!(agent.features & JIS_FEATURE_STACKS))
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (__u64)t.tv_sec * NS_PER_S + (__u64)t.tv_nsec;
}

/* May one more be taken this second? Threads that meet at its turn may take a few more. */
static int budget_take(__u64 now)
{
	__u64 second = now / NS_PER_S;

	if (__atomic_exchange_n(&budget_second, second, __ATOMIC_RELAXED) != second)
		__atomic_store_n(&budget_used, 0, __ATOMIC_RELAXED);
	if (__atomic_fetch_add(&budget_used, 1, __ATOMIC_RELAXED) < STACKS_PER_SECOND)
		return 1;
	__atomic_fetch_add(&left_out, 1, __ATOMIC_RELAXED);
	return 0;
}

static __u32 stack_intern(JNIEnv *env, const jvmtiFrameInfo *frames, jint n)
{
	const struct method *m;
	__u32 id = 0;

	while (n--) {
		m = method_get(env, frames[n].method);
		id = m ? node_get(id, m->id, line_of(m, frames[n].location)) : 0;
		if (!id) {
			__atomic_fetch_add(&left_out, 1, __ATOMIC_RELAXED);
			return 0;
		}
	}
	return id;
}

/*
 * @back: how far before the innermost frame's place to look for its line. The interpreter stands
 * behind a monitorenter while it waits, compiled code on it: one byte before is on its line anyway.
 */
static __u32 stack_take_from(JNIEnv *env, jlocation back)
{
	jvmtiFrameInfo frames[FRAMES_MAX];
	__u64 now = stack_clock();
	jint n = 0;

	if (!now || !budget_take(now))
		return 0;
	if ((*agent.jvmti)->GetStackTrace(agent.jvmti, NULL, 0, FRAMES_MAX, frames, &n)) {
		__atomic_fetch_add(&left_out, 1, __ATOMIC_RELAXED);
		return 0;
	}
	if (n > 0 && frames[0].location >= back)
		frames[0].location -= back;
	return stack_intern(env, frames, n);
}

__u32 stack_take(JNIEnv *env)
{
	return stack_take_from(env, 0);
}

static void stack_write(JNIEnv *env, __u64 java_tid, __u64 began, jlocation back)
{
	struct jis_ev_wait_stack record = {java_tid, 0};
	__u64 now = began ? stack_clock() : 0;

	if (!now || now - began <= agent.stack_threshold ||
	    !jis_writer_on(&agent.writer, JIS_EV_wait_stack))
		return;
	record.stack = stack_take_from(env, back);
	agent_write(JIS_EV_wait_stack, &record,
		    sizeof(record)); /* left out ones are counted, too */
}

void stack_after(JNIEnv *env, __u64 java_tid, __u64 began)
{
	stack_write(env, java_tid, began, 0);
}

/* A virtual thread may end its wait on another carrier: what began is kept by its number. */
void stack_wait_begins(JNIEnv *env, __u64 java_tid, enum wait wait)
{
	__u64 now = stack_clock();
	struct peer *peer = now ? peer_self(env) : NULL;

	if (!now || !java_tid)
		return;
	if (peer && peer->java_tid == java_tid)
		peer->since[wait] = now;
	else if (map_set(&since, java_tid * NR_WAITS + wait, now))
		__atomic_fetch_add(&not_timed, 1, __ATOMIC_RELAXED);
}

void stack_wait_ends(JNIEnv *env, __u64 java_tid, enum wait wait)
{
	struct peer *peer;
	__u64 began;

	if (!(agent.features & JIS_FEATURE_STACKS) || !java_tid)
		return;
	peer = peer_self(env);
	if (peer && peer->java_tid == java_tid) {
		began = peer->since[wait];
		peer->since[wait] = 0;
	} else {
		began = map_take(&since, java_tid * NR_WAITS + wait);
	}
	stack_write(env, java_tid, began, wait == WAIT_ENTER);
}

int stacks_capabilities(const jvmtiCapabilities *potential, jvmtiCapabilities *wanted)
{
	wanted->can_get_line_numbers = potential->can_get_line_numbers;
	wanted->can_get_source_file_name = potential->can_get_source_file_name;
	return 0;
}

void stacks_forget(void)
{
	struct method *m;
	struct node *n;
	unsigned int i;

	for (i = 0; i < BUCKETS; i++) {
		while ((m = methods[i])) {
			methods[i] = m->next;
			method_free(m);
		}
		while ((n = nodes[i])) {
			nodes[i] = n->next;
			free(n);
		}
	}
	nr_methods = nr_nodes = 0;
	memset(since_entries, 0, sizeof(since_entries));
}

void stacks_disable(JNIEnv *env)
{
	__u64 n = __atomic_exchange_n(&left_out, 0, __ATOMIC_RELAXED);
	__u64 untimed = __atomic_exchange_n(&not_timed, 0, __ATOMIC_RELAXED);

	if (n)
		recorder_note("%llu stacks of long waits were left out: more than %u a second, or "
			      "too many different ones",
			      (unsigned long long)n, STACKS_PER_SECOND);
	if (untimed)
		recorder_note("%llu waits of virtual threads have no stack, however long they "
			      "were: too many waited "
			      "at once",
			      (unsigned long long)untimed);
}
