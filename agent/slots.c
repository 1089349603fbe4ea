/* SPDX-License-Identifier: MIT */
/*
 * The calling thread's slot: taken at its first record, given back at its end (ThreadEnd for Java
 * threads, the destructor of a thread-specific key for all others). Not for signal handlers.
 */
#include "compat.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent.h"

__thread struct jis_slot *agent_slot;
static pthread_key_t slot_key;

__u32 agent_tid(void)
{
	return (__u32)syscall(SYS_gettid);
}

static void slot_destructor(void *slot)
{
	if (agent_slot == slot)
		slot_give_back();
}

/* A forked child has no pool (MADV_DONTFORK): it must not write. */
static void after_fork(void)
{
	agent_slot = NULL;
	jis_writer_off(&agent.writer);
}

int slots_init(void)
{
	int error = pthread_key_create(&slot_key, slot_destructor);

	return error ? -error : -pthread_atfork(NULL, NULL, after_fork);
}

struct jis_slot *slot_of_thread(void)
{
	if (!agent_slot) {
		agent_slot = jis_slot_take(&agent.writer, agent_tid());
		if (agent_slot)
			pthread_setspecific(slot_key, agent_slot);
	}
	return agent_slot;
}

void slot_give_back(void)
{
	struct jis_slot *slot = agent_slot;

	if (!slot)
		return;
	agent_slot = NULL;
	pthread_setspecific(slot_key, NULL);
	jis_slot_give(&agent.writer, slot);
}
