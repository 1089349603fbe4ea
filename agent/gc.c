/* SPDX-License-Identifier: MIT */
/*
 * Stop-the-world collections. The callbacks run inside the pause, on the thread that collects: they
 * may use neither JNI nor JVMTI, and write two words. HotSpot may tell of a collection inside of
 * one: of both the request for room in the metaspace and the pause that G1 has for it. It is one
 * stop, and told as one.
 */
#include "agent.h"

static __u32 collections;
static __u32 depth; /* of the collections under way; all come from one thread at a time */

int gc_capabilities(const jvmtiCapabilities *potential, jvmtiCapabilities *wanted)
{
	depth = 0; /* between recordings ends may have been missed */
	wanted->can_generate_garbage_collection_events = 1;
	return potential->can_generate_garbage_collection_events ? 0 : -ENOTSUP;
}

void JNICALL on_gc_start(jvmtiEnv *jvmti)
{
	struct jis_ev_gc_start record;

	if (__atomic_fetch_add(&depth, 1, __ATOMIC_RELAXED))
		return;
	record.number = __atomic_add_fetch(&collections, 1, __ATOMIC_RELAXED);
	agent_write(JIS_EV_gc_start, &record, sizeof(record));
}

void JNICALL on_gc_finish(jvmtiEnv *jvmti)
{
	struct jis_ev_gc_finish record;
	__u32 open = __atomic_load_n(&depth, __ATOMIC_RELAXED);

	/* 0: it began before the recording, and is told all the same. */
	if (open)
		__atomic_store_n(&depth, open - 1, __ATOMIC_RELAXED);
	if (open > 1)
		return;
	record.number = __atomic_load_n(&collections, __ATOMIC_RELAXED);
	agent_write(JIS_EV_gc_finish, &record, sizeof(record));
}
