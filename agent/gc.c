/* SPDX-License-Identifier: MIT */
/*
 * Stop-the-world collections. The callbacks run inside the pause, on the thread that collects: they
 * may use neither JNI nor JVMTI, and write two words.
 */
#include "agent.h"

static __u32 collections;

void JNICALL on_gc_start(jvmtiEnv *jvmti)
{
	struct jis_ev_gc_start record;

	record.number = __atomic_add_fetch(&collections, 1, __ATOMIC_RELAXED);
	agent_write(JIS_EV_gc_start, &record, sizeof(record));
}

void JNICALL on_gc_finish(jvmtiEnv *jvmti)
{
	struct jis_ev_gc_finish record;

	record.number = __atomic_load_n(&collections, __ATOMIC_RELAXED);
	agent_write(JIS_EV_gc_finish, &record, sizeof(record));
}
