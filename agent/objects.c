/* SPDX-License-Identifier: MIT */
/*
 * What objects are called in records: the name of their class and their identity hash; and who owns
 * those of java.util.concurrent. A class is found by the identity hash of its mirror, so that its
 * name is asked for once.
 */
#include <stdlib.h>

#include "waits.h"

#define CLASSES_BUCKETS 4096u
#define CLASSES_MAX 65536u

struct known_class {
	struct known_class *next;
	jweak class;
	jint hash; /* of the mirror */
	int twin;  /* another class has that hash, too */
	__u32 name;
	enum object_kind kind;
};

/* Written under the lock with release, read with acquire; entries live as long as the recording. */
static struct known_class *buckets[CLASSES_BUCKETS];
static __u32 nr_classes;
static pthread_mutex_t classes_lock = PTHREAD_MUTEX_INITIALIZER;

/* Global references, NULL where this JVM has no such class. */
static jclass synchronizer_class, condition_class, task_class;
static jfieldID exclusive_owner, condition_lock, task_runner;
static int hashed;

static jclass class_global(JNIEnv *env, const char *name)
{
	jclass class = (*env)->FindClass(env, name), global = NULL;

	if (class) {
		global = (*env)->NewGlobalRef(env, class);
		(*env)->DeleteLocalRef(env, class);
	}
	exception_clear(env);
	return global;
}

static jfieldID field_of(JNIEnv *env, jclass class, const char *name, const char *type)
{
	jfieldID field = class ? (*env)->GetFieldID(env, class, name, type) : NULL;

	exception_clear(env);
	return field;
}

#define LOCKS "java/util/concurrent/locks/"

void objects_forget(JNIEnv *env)
{
	struct known_class *known;
	unsigned int i;

	for (i = 0; i < CLASSES_BUCKETS; i++) {
		while ((known = buckets[i])) {
			buckets[i] = known->next;
			(*env)->DeleteWeakGlobalRef(env, known->class);
			free(known);
		}
	}
	nr_classes = 0;
}

static int hashes_differ(void)
{
	jclass classes[] = {condition_class, task_class, synchronizer_class};
	jint hashes[3];
	unsigned int i;

	for (i = 0; i < 3; i++)
		if (!classes[i] ||
		    (*agent.jvmti)->GetObjectHashCode(agent.jvmti, classes[i], &hashes[i]))
			return 0;
	return hashes[0] != hashes[1] && hashes[1] != hashes[2] && hashes[0] != hashes[2];
}

int objects_enable(JNIEnv *env)
{
	if (synchronizer_class)
		return 0;
	condition_class = class_global(env, LOCKS "AbstractQueuedSynchronizer$ConditionObject");
	condition_lock =
		field_of(env, condition_class, "this$0", "L" LOCKS "AbstractQueuedSynchronizer;");
	task_class = class_global(env, "java/util/concurrent/FutureTask");
	task_runner = field_of(env, task_class, "runner", "Ljava/lang/Thread;");
	synchronizer_class = class_global(env, LOCKS "AbstractOwnableSynchronizer");
	exclusive_owner =
		field_of(env, synchronizer_class, "exclusiveOwnerThread", "Ljava/lang/Thread;");
	hashed = hashes_differ();
	return 0;
}

int objects_hashed(void)
{
	return hashed;
}

/* "Ljava/lang/Object;" becomes "java.lang.Object", in place; "[I" stays, "[Lx/Y;" gets its dots. In
 * hidden classes' signatures the last part stands behind a '.', in their names behind a '/'. */
static const char *name_of_signature(char *signature)
{
	size_t length = strlen(signature), i;

	for (i = 0; i < length; i++) {
		if (signature[i] == '/')
			signature[i] = '.';
		else if (signature[i] == '.')
			signature[i] = '/';
	}
	if (signature[0] == 'L' && signature[length - 1] == ';') {
		signature[length - 1] = 0;
		return signature + 1;
	}
	return signature;
}

size_t class_name_text(jclass class, char out[NAME_UTF8_MAX])
{
	char *signature = NULL;
	const char *name;
	size_t length = 0;

	if ((*agent.jvmti)->GetClassSignature(agent.jvmti, class, &signature, NULL) || !signature)
		return 0;
	if (signature[0]) {
		name = name_of_signature(signature);
		length = utf8_of_modified(out, name, strlen(name));
	}
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)signature);
	return length;
}

__u32 class_name_id(jclass class)
{
	char text[NAME_UTF8_MAX];
	size_t length = class_name_text(class, text);

	return length ? name_intern(text, length) : 0;
}

static enum object_kind kind_of(JNIEnv *env, jobject object)
{
	if (exclusive_owner && (*env)->IsInstanceOf(env, object, synchronizer_class))
		return OBJECT_LOCK;
	if (condition_lock && (*env)->IsInstanceOf(env, object, condition_class))
		return OBJECT_CONDITION;
	if (task_runner && (*env)->IsInstanceOf(env, object, task_class))
		return OBJECT_TASK;
	return OBJECT_PLAIN;
}

static const struct known_class *class_find(JNIEnv *env, jclass class, jint hash)
{
	const struct known_class *known =
		__atomic_load_n(&buckets[(__u32)hash % CLASSES_BUCKETS], __ATOMIC_ACQUIRE);

	while (known && (known->hash != hash || !(*env)->IsSameObject(env, known->class, class)))
		known = known->next;
	return known;
}

static void known_class_free(JNIEnv *env, struct known_class *known)
{
	if (known->class)
		(*env)->DeleteWeakGlobalRef(env, known->class);
	exception_clear(env);
	free(known);
}

/*
 * Looks at those of @bucket, from @from to @end, that have the hash of @known. Returns the one of
 * @class, another thread having added it; NULL: there is none, and those of other classes are
 * twins.
 */
static struct known_class *class_twins(JNIEnv *env, struct known_class *from,
				       const struct known_class *end, jclass class,
				       struct known_class *known)
{
	for (; from != end; from = from->next) {
		if (from->hash != known->hash)
			continue;
		if ((*env)->IsSameObject(env, from->class, class))
			return from;
		known->twin = 1;
		__atomic_store_n(&from->twin, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* NULL: no room. */
static const struct known_class *class_add(JNIEnv *env, jclass class,
					   const struct known_class *what)
{
	struct known_class **bucket = &buckets[(__u32)what->hash % CLASSES_BUCKETS];
	struct known_class *known, *head, *seen = NULL, *other;
	int added = 0;

	if (__atomic_load_n(&nr_classes, __ATOMIC_RELAXED) >= CLASSES_MAX)
		return NULL;
	known = malloc(sizeof(*known));
	if (!known)
		return NULL;
	*known = *what;
	known->class = (*env)->NewWeakGlobalRef(env, class);
	if (!known->class) {
		known_class_free(env, known);
		return NULL;
	}
	while (!added) {
		head = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);
		other = class_twins(env, head, seen, class, known);
		if (other) {
			known_class_free(env, known);
			return other;
		}
		seen = head;
		pthread_mutex_lock(&classes_lock);
		if (*bucket == head) {
			nr_classes++;
			known->next = head;
			__atomic_store_n(bucket, known, __ATOMIC_RELEASE);
			added = 1;
		}
		pthread_mutex_unlock(&classes_lock);
	}
	return known;
}

/* What is known of the class of @object, found or made; @out has it where there is no room. */
static const struct known_class *class_of(JNIEnv *env, jobject object, jclass class,
					  struct known_class *out)
{
	const struct known_class *known;

	if ((*agent.jvmti)->GetObjectHashCode(agent.jvmti, class, &out->hash))
		return NULL;
	known = class_find(env, class, out->hash);
	if (known)
		return known;
	out->name = class_name_id(class);
	out->kind = kind_of(env, object);
	return out->name ? class_add(env, class, out) : NULL;
}

void object_describe_after(JNIEnv *env, jobject object, const struct known_class **last,
			   struct object *out)
{
	const struct known_class *known = *last;
	struct known_class new = {0};
	jclass class;
	jint hash = 0;

	memset(out, 0, sizeof(*out));
	if (!object)
		return;
	if (!(*agent.jvmti)->GetObjectHashCode(agent.jvmti, object, &hash))
		out->hash = (__u32)hash;
	class = (*env)->GetObjectClass(env, object);
	if (!class)
		return;
	if (!known || !(*env)->IsSameObject(env, known->class, class))
		*last = known = class_of(env, object, class, &new);
	if (!known)
		known = &new;
	out->class_name = known->name;
	out->kind = known->kind;
	(*env)->DeleteLocalRef(env, class);
}

/* A class that is not known yet has a known one's hash once in 2^31 times. */
void object_describe_hashed(JNIEnv *env, jobject object, jint hash, jint class_hash,
			    const struct known_class **last, struct object *out)
{
	const struct known_class *known = *last;

	if (!hashed || !known || known->hash != class_hash ||
	    __atomic_load_n(&known->twin, __ATOMIC_RELAXED)) {
		object_describe_after(env, object, last, out);
		return;
	}
	out->hash = (__u32)hash;
	out->class_name = known->name;
	out->kind = known->kind;
}

void object_describe(JNIEnv *env, jobject object, struct object *out)
{
	const struct known_class *none = NULL;

	object_describe_after(env, object, &none, out);
}

static void owner_thread(JNIEnv *env, jobject holder, jfieldID field, struct owner *out)
{
	jthread thread = (*env)->GetObjectField(env, holder, field);

	if (!thread)
		return;
	out->java_tid = java_tid_of(env, thread);
	out->tid = peer_tid(out->java_tid);
	(*env)->DeleteLocalRef(env, thread);
}

jobject object_lock(JNIEnv *env, jobject condition)
{
	return exclusive_owner ? (*env)->GetObjectField(env, condition, condition_lock) : NULL;
}

void object_owner(JNIEnv *env, jobject object, enum object_kind kind, struct owner *out)
{
	jobject lock;

	out->tid = 0;
	out->java_tid = 0;
	if (kind == OBJECT_LOCK) {
		owner_thread(env, object, exclusive_owner, out);
	} else if (kind == OBJECT_TASK) {
		owner_thread(env, object, task_runner, out);
	} else if (kind == OBJECT_CONDITION) {
		lock = object_lock(env, object);
		if (!lock)
			return;
		owner_thread(env, lock, exclusive_owner, out);
		(*env)->DeleteLocalRef(env, lock);
	}
}
