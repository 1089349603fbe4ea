/* SPDX-License-Identifier: MIT */
/*
 * Executors: their names, and how many tasks wait in their queues. Each is looked at once and then
 * known again by a weak reference, of which a thread remembers where it found its last one: to ask
 * the JVM for class, hash and kind of queue takes several times as long. Some programs put another
 * queue in a pool's final field, by reflection; such a pool is looked at each time.
 */
#include "tasks.h"

#define POOLS_MAX 64u
#define POOLS_TRIED 8u /* a thread that has another one each time looks at no more */

/* Global references and what is in their classes; NULL: this JVM has it not. */
static jclass pool_class, linked_class, array_class, delayed_class, priority_class,
	synchronous_class, deque_class, atomic_class;
static jfieldID pool_queue, linked_count, array_count, delayed_size, priority_size, deque_count,
	atomic_value;

static struct foreign foreign_queues = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Written once, under the lock, before they are counted. */
static struct pool {
	jweak object, queue;
	jfieldID queue_field; /* of @object; NULL: it has no queue */
	/* What has the number of tasks: a counter of its own, a global reference, or the queue. */
	jobject counter;
	jfieldID field; /* of that; NULL: the number is @told.queued */
	struct pool_told told;
	jint queue_hash; /* 0: it has no queue */
	int twin;	 /* another pool has its hash, too */
} pools[POOLS_MAX];
static unsigned int nr_pools;
static pthread_mutex_t pools_lock = PTHREAD_MUTEX_INITIALIZER;

/* Classes and fields ------------------------------------------------------------------------- */

jclass class_find(JNIEnv *env, const char *name)
{
	jclass class = (*env)->FindClass(env, name), global = NULL;

	exception_clear(env);
	if (class) {
		global = (*env)->NewGlobalRef(env, class);
		(*env)->DeleteLocalRef(env, class);
	}
	return global;
}

jfieldID field_find(JNIEnv *env, jclass class, const char *name, const char *type)
{
	jfieldID field = class ? (*env)->GetFieldID(env, class, name, type) : NULL;

	exception_clear(env);
	return field;
}

static void foreign_add(JNIEnv *env, struct foreign *f, jclass class, jfieldID field)
{
	jweak weak = NULL;

	if (__atomic_load_n(&f->nr, __ATOMIC_RELAXED) < FOREIGN_MAX)
		weak = (*env)->NewWeakGlobalRef(env, class);
	exception_clear(env);
	if (!weak)
		return;
	pthread_mutex_lock(&f->lock);
	if (f->nr < FOREIGN_MAX) {
		f->fields[f->nr] = (struct foreign_field){weak, field};
		__atomic_store_n(&f->nr, f->nr + 1, __ATOMIC_RELEASE);
		weak = NULL;
	}
	pthread_mutex_unlock(&f->lock);
	if (weak)
		(*env)->DeleteWeakGlobalRef(env, weak);
}

jfieldID foreign_field(JNIEnv *env, struct foreign *f, jobject object, const char *name,
		       const char *type)
{
	unsigned int i, n = __atomic_load_n(&f->nr, __ATOMIC_ACQUIRE);
	jclass class = (*env)->GetObjectClass(env, object);
	jfieldID field = NULL;

	for (i = 0; i < n; i++)
		if ((*env)->IsSameObject(env, f->fields[i].class, class))
			break;
	if (i < n) {
		field = f->fields[i].field;
	} else if (class) {
		field = field_find(env, class, name, type);
		foreign_add(env, f, class, field);
	}
	if (class)
		(*env)->DeleteLocalRef(env, class);
	return field;
}

jobject object_of(JNIEnv *env, jobject object, jfieldID field)
{
	return object && field ? (*env)->GetObjectField(env, object, field) : NULL;
}

int is(JNIEnv *env, jobject object, jclass class)
{
	return class && (*env)->IsInstanceOf(env, object, class);
}

void pools_enable(JNIEnv *env)
{
	if (pool_class)
		return;
	pool_class = class_find(env, CONCURRENT "ThreadPoolExecutor");
	pool_queue = field_find(env, pool_class, "workQueue", "L" CONCURRENT "BlockingQueue;");
	atomic_class = class_find(env, CONCURRENT "atomic/AtomicInteger");
	atomic_value = field_find(env, atomic_class, "value", "I");
	linked_class = class_find(env, CONCURRENT "LinkedBlockingQueue");
	linked_count =
		field_find(env, linked_class, "count", "L" CONCURRENT "atomic/AtomicInteger;");
	array_class = class_find(env, CONCURRENT "ArrayBlockingQueue");
	array_count = field_find(env, array_class, "count", "I");
	deque_class = class_find(env, CONCURRENT "LinkedBlockingDeque");
	deque_count = field_find(env, deque_class, "count", "I");
	priority_class = class_find(env, CONCURRENT "PriorityBlockingQueue");
	priority_size = field_find(env, priority_class, "size", "I");
	delayed_class = class_find(env, CONCURRENT "ScheduledThreadPoolExecutor$DelayedWorkQueue");
	delayed_size = field_find(env, delayed_class, "size", "I");
	synchronous_class = class_find(env, CONCURRENT "SynchronousQueue");
}

/* Looking at one ----------------------------------------------------------------------------- */

/*
 * Finds which field has the length of @queue, and the counter it is in where that is no field of
 * the queue itself, a local reference. size() would be code of the program, and may lock.
 */
static jobject queue_look(JNIEnv *env, jobject queue, struct pool *pool)
{
	const struct {
		jclass class;
		jfieldID field;
	} known[] = {{delayed_class, delayed_size},
		     {array_class, array_count},
		     {deque_class, deque_count},
		     {priority_class, priority_size}};
	unsigned int i;
	jobject counter;

	if (is(env, queue, linked_class)) {
		counter = atomic_value ? object_of(env, queue, linked_count) : NULL;
		pool->field = counter ? atomic_value : NULL;
		return counter;
	}
	if (is(env, queue, synchronous_class))
		pool->told.queued = 0;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].field && is(env, queue, known[i].class))
			pool->field = known[i].field;
	return NULL;
}

/* What stays the same: names, fields, and a counter, a local reference. */
static void pool_look(JNIEnv *env, jobject object, struct pool *pool, jobject *queue)
{
	struct object what;

	object_describe(env, object, &what);
	pool->told = (struct pool_told){what.class_name, what.hash, -1};
	pool->queue_field = is(env, object, pool_class)
				    ? pool_queue
				    : foreign_field(env, &foreign_queues, object, "workQueue",
						    "L" CONCURRENT "BlockingQueue;");
	*queue = object_of(env, object, pool->queue_field);
	if (!*queue)
		return;
	pool->counter = queue_look(env, *queue, pool);
	if ((*agent.jvmti)->GetObjectHashCode(agent.jvmti, *queue, &pool->queue_hash))
		pool->queue_hash = 0;
}

static void pool_drop(JNIEnv *env, struct pool *pool)
{
	if (pool->object)
		(*env)->DeleteWeakGlobalRef(env, pool->object);
	if (pool->queue)
		(*env)->DeleteWeakGlobalRef(env, pool->queue);
	if (pool->counter)
		(*env)->DeleteGlobalRef(env, pool->counter);
}

/*
 * Looks at those from @from to @end that have the hash of @kept. Returns the index of @object's, or
 * @end: there is none, and those of other objects are twins.
 */
static unsigned int pool_twins(JNIEnv *env, unsigned int from, unsigned int end, jobject object,
			       struct pool *kept)
{
	for (; from < end; from++) {
		if (pools[from].told.hash != kept->told.hash)
			continue;
		if ((*env)->IsSameObject(env, pools[from].object, object))
			break;
		kept->twin = 1;
		__atomic_store_n(&pools[from].twin, 1, __ATOMIC_RELAXED);
	}
	return from;
}

/* Adds it, if it is not there by now: an older one, or another thread's. Returns where it is, or
 * POOLS_MAX: there is no room. */
static unsigned int pool_add(JNIEnv *env, jobject object, struct pool *kept)
{
	unsigned int seen = 0, nr, at = POOLS_MAX;

	for (;;) {
		nr = __atomic_load_n(&nr_pools, __ATOMIC_ACQUIRE);
		at = pool_twins(env, seen, nr, object, kept);
		if (at < nr || nr == POOLS_MAX)
			return at;
		seen = nr;
		pthread_mutex_lock(&pools_lock);
		if (nr_pools == nr) {
			pools[nr] = *kept;
			*kept = (struct pool){0};
			__atomic_store_n(&nr_pools, nr + 1, __ATOMIC_RELEASE);
		}
		pthread_mutex_unlock(&pools_lock);
		if (!kept->object)
			return nr;
	}
}

/* Keeps it for the next time, where there is room. */
static void pool_keep(JNIEnv *env, jobject object, const struct pool *found, jobject queue,
		      __u32 *hint)
{
	unsigned int at = POOLS_MAX, nr = __atomic_load_n(&nr_pools, __ATOMIC_ACQUIRE);
	struct pool kept = *found;

	if (!kept.told.class_name)
		return;
	if (nr == POOLS_MAX) {
		at = pool_twins(env, 0, nr, object, &kept);
		if (at < nr)
			*hint = at;
		return;
	}
	kept.object = (*env)->NewWeakGlobalRef(env, object);
	exception_clear(env);
	kept.queue = queue ? (*env)->NewWeakGlobalRef(env, queue) : NULL;
	exception_clear(env);
	kept.counter = found->counter ? (*env)->NewGlobalRef(env, found->counter) : NULL;
	exception_clear(env);
	if (kept.object && !kept.queue == !queue && !kept.counter == !found->counter)
		at = pool_add(env, object, &kept);
	if (at < POOLS_MAX)
		*hint = at;
	pool_drop(env, &kept);
}

void pools_forget(JNIEnv *env)
{
	unsigned int i;

	for (i = 0; i < nr_pools; i++)
		pool_drop(env, &pools[i]);
	nr_pools = 0;
}

/* Knowing it again --------------------------------------------------------------------------- */

static const struct pool *pool_find(JNIEnv *env, jobject object, __u32 *hint)
{
	unsigned int nr = __atomic_load_n(&nr_pools, __ATOMIC_ACQUIRE), i;

	if (*hint < nr && (*env)->IsSameObject(env, pools[*hint].object, object))
		return &pools[*hint];
	/* The last ones first: a program that makes pools uses those it has made last. */
	for (i = nr; i-- > 0 && nr - i <= POOLS_TRIED;) {
		if (!(*env)->IsSameObject(env, pools[i].object, object))
			continue;
		*hint = i;
		return &pools[i];
	}
	return NULL;
}

void pool_get(JNIEnv *env, jobject object, __u32 *hint, struct pool_told *out)
{
	const struct pool *known = pool_find(env, object, hint);
	struct pool pool = {0};
	jobject queue;

	if (known) {
		pool = *known;
		queue = object_of(env, object, pool.queue_field);
	}
	if (!known || (queue && !(*env)->IsSameObject(env, pool.queue, queue))) {
		pool = (struct pool){0};
		pool_look(env, object, &pool, &queue);
	}
	*out = pool.told;
	if (pool.field && queue)
		out->queued =
			(*env)->GetIntField(env, pool.counter ? pool.counter : queue, pool.field);
	if (!known)
		pool_keep(env, object, &pool, queue, hint);
}

void pool_get_hashed(JNIEnv *env, jobject object, jint hash, jobject queue, jint queue_hash,
		     __u32 *hint, struct pool_told *out)
{
	const struct pool *known = *hint < POOLS_MAX ? &pools[*hint] : NULL;

	if (!known || *hint >= __atomic_load_n(&nr_pools, __ATOMIC_ACQUIRE) || !queue ||
	    !objects_hashed() || known->told.hash != (__u32)hash ||
	    known->queue_hash != queue_hash || __atomic_load_n(&known->twin, __ATOMIC_RELAXED)) {
		pool_get(env, object, hint, out);
		return;
	}
	*out = known->told;
	if (known->field)
		out->queued = (*env)->GetIntField(env, known->counter ? known->counter : queue,
						  known->field);
}
