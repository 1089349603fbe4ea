/* SPDX-License-Identifier: MIT */
/*
 * Queues that a program's threads hand objects over by: natives of JProbe$ that the hooks below
 * call where an object goes in and where it comes out. Both are inside of the queue's own lock
 * where it has one, so that in is always told before out.
 */
#include "families.h"
#include "waits.h"

#define PROBE(name) Java_java_lang_JProbe_00024_##name
#define CONCURRENT "java/util/concurrent/"
#define TWO "(Ljava/lang/Object;Ljava/lang/Object;)V"

/* native(this, what goes in), and native(what comes out, this). */
#define IN(class, name)                                                                            \
	{                                                                                          \
		.class_name = CONCURRENT class, .method = name, .probe = "queuePut",               \
		.probe_descriptor = TWO, .nr_locals = 2, .locals = {0, 1}, .optional = 1           \
	}
#define OUT(class, name, type)                                                                     \
	{                                                                                          \
		.class_name = CONCURRENT class, .method = name, .descriptor = type,                \
		.probe = "queueTake", .probe_descriptor = TWO, .places = JIS_AT_RETURN,            \
		.result = 1, .nr_locals = 1, .locals = {0}, .optional = 1                          \
	}
#define NOTHING_TO_OBJECT "()Ljava/lang/Object;"

const struct agent_hook queue_hooks[] = {
	IN("LinkedBlockingQueue", "enqueue"),
	OUT("LinkedBlockingQueue", "dequeue", NOTHING_TO_OBJECT),
	IN("ArrayBlockingQueue", "enqueue"),
	OUT("ArrayBlockingQueue", "dequeue", NOTHING_TO_OBJECT),
	{.class_name = CONCURRENT "PriorityBlockingQueue",
	 .method = "offer",
	 .descriptor = "(Ljava/lang/Object;)Z",
	 .probe = "queuePut",
	 .probe_descriptor = TWO,
	 .nr_locals = 2,
	 .locals = {0, 1},
	 .optional = 1},
	OUT("PriorityBlockingQueue", "dequeue", NOTHING_TO_OBJECT),
	{.class_name = CONCURRENT "ConcurrentLinkedQueue",
	 .method = "offer",
	 .descriptor = "(Ljava/lang/Object;)Z",
	 .probe = "queuePut",
	 .probe_descriptor = TWO,
	 .nr_locals = 2,
	 .locals = {0, 1},
	 .optional = 1},
	OUT("ConcurrentLinkedQueue", "poll", NOTHING_TO_OBJECT),
	{.class_name = NULL},
};

/* Global reference; a LinkedBlockingQueue is given nodes. */
static jclass node_class;
static jfieldID node_item;

int queues_enable(JNIEnv *env)
{
	jclass class =
		node_class ? NULL : (*env)->FindClass(env, CONCURRENT "LinkedBlockingQueue$Node");

	exception_clear(env);
	if (class) {
		node_item = (*env)->GetFieldID(env, class, "item", "Ljava/lang/Object;");
		exception_clear(env);
		node_class = node_item ? (*env)->NewGlobalRef(env, class) : NULL;
		(*env)->DeleteLocalRef(env, class);
	}
	return objects_enable(env);
}

struct passed {
	__u64 java_tid;
	struct object item, queue;
};

static void passed_get(JNIEnv *env, jobject queue, jobject item, struct passed *out)
{
	struct current current;

	current_number(env, &current);
	out->java_tid = current.java_tid;
	object_describe(env, item, &out->item);
	object_describe(env, queue, &out->queue);
}

static void put_tell(JNIEnv *env, jobject queue, jobject item)
{
	struct jis_ev_queue_put record;
	struct passed what;

	passed_get(env, queue, item, &what);
	record = (struct jis_ev_queue_put){.java_tid = what.java_tid,
					   .class_name = what.item.class_name,
					   .hash = what.item.hash,
					   .queue_class = what.queue.class_name,
					   .queue_hash = what.queue.hash};
	agent_write(JIS_EV_queue_put, &record, sizeof(record));
}

JNIEXPORT void JNICALL PROBE(queuePut)(JNIEnv *env, jclass class, jobject queue, jobject item);
JNIEXPORT void JNICALL PROBE(queueTake)(JNIEnv *env, jclass class, jobject item, jobject queue);

JNIEXPORT void JNICALL PROBE(queuePut)(JNIEnv *env, jclass class, jobject queue, jobject item)
{
	jobject inner = NULL;

	if (!queue || !item || !enter_for(JIS_EV_queue_put))
		return;
	if (node_class && (*env)->IsInstanceOf(env, item, node_class))
		inner = (*env)->GetObjectField(env, item, node_item);
	put_tell(env, queue, inner ? inner : item);
	if (inner)
		(*env)->DeleteLocalRef(env, inner);
	agent_leave();
}

JNIEXPORT void JNICALL PROBE(queueTake)(JNIEnv *env, jclass class, jobject item, jobject queue)
{
	struct jis_ev_queue_take record;
	struct passed what;

	if (!queue || !item || !enter_for(JIS_EV_queue_take))
		return;
	passed_get(env, queue, item, &what);
	record = (struct jis_ev_queue_take){.java_tid = what.java_tid,
					    .class_name = what.item.class_name,
					    .hash = what.item.hash,
					    .queue_class = what.queue.class_name,
					    .queue_hash = what.queue.hash};
	agent_write(JIS_EV_queue_take, &record, sizeof(record));
	agent_leave();
}
