/* SPDX-License-Identifier: MIT */
/*
 * What the agent keeps of each thread: its slot, taken at its first record, given back at its end
 * (ThreadEnd for Java threads, the destructor of a thread-specific key for all others), and whether
 * it is inside of the agent just now, so that the pool goes only when nobody is. Not for signal
 * handlers.
 */
#include "compat.h"

#include <errno.h>
#include <limits.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"

struct jis_slot agent_no_words;
__thread struct jis_slot *agent_words = &agent_no_words;
__thread struct agent_thread *agent_self;
static __thread unsigned int ends; /* rounds of destructors this thread has had */
static pthread_key_t self_key;
static pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER;
static struct agent_thread *threads; /* under the lock */

__u32 agent_tid(void)
{
	return (__u32)syscall(SYS_gettid);
}

/* The thread's end: it writes no more. */
static void self_destructor(void *value)
{
	struct agent_thread *self = agent_self;

	if (++ends < PTHREAD_DESTRUCTOR_ITERATIONS)
		pthread_setspecific(self_key, &ends); /* called in each round, to count them */
	if (!self)
		return;
	slot_give_back();
	agent_words = &agent_no_words;
	agent_self = NULL;
	pthread_mutex_lock(&threads_lock);
	*self->link = self->next;
	if (self->next)
		self->next->link = self->link;
	pthread_mutex_unlock(&threads_lock);
	free(self);
}

static void before_fork(void)
{
	pthread_mutex_lock(&threads_lock);
}

static void after_fork_parent(void)
{
	pthread_mutex_unlock(&threads_lock);
}

/* A forked child has no pool (MADV_DONTFORK): it must not write. */
static void after_fork_child(void)
{
	pthread_mutex_unlock(&threads_lock);
	agent_recording_set(0);
	jis_writer_off(&agent.writer);
	if (agent_self) {
		agent_self->slot = NULL;
		slot_words(agent_self);
	}
}

int slots_init(void)
{
	static int done;
	int error;

	if (done)
		return 0;
	error = pthread_key_create(&self_key, self_destructor);
	if (error)
		return -error;
	done = 1;
	syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
	return -pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

struct agent_thread *slot_thread(void)
{
	struct agent_thread *self;

	/* Other destructors may call the agent after its own, but not when it runs no more: who is
	 * listed must have an agent_words. */
	if (ends >= PTHREAD_DESTRUCTOR_ITERATIONS)
		return NULL;
	self = calloc(1, sizeof(*self));
	if (!self)
		return NULL;
	self->words = &agent_words;
	if (pthread_setspecific(self_key, self)) {
		free(self);
		return NULL;
	}
	pthread_mutex_lock(&threads_lock);
	self->next = threads;
	self->link = &threads;
	if (threads)
		threads->link = &self->next;
	threads = self;
	pthread_mutex_unlock(&threads_lock);
	agent_self = self;
	return self;
}

void slot_words(struct agent_thread *self)
{
	if (self->on_trial)
		return;
	*self->words = self->slot && self->generation == agent.generation &&
				       agent.writer.clock == JIS_CLOCK_TSC
			       ? self->slot
			       : &agent_no_words;
}

void slots_forget_words(void)
{
	struct agent_thread *t;

	pthread_mutex_lock(&threads_lock);
	for (t = threads; t; t = t->next)
		__atomic_store_n(t->words, &agent_no_words, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&threads_lock);
}

struct jis_slot *slot_of_thread(struct agent_thread *self)
{
	if (!self->slot || self->generation != agent.generation) {
		self->slot = jis_slot_take(&agent.writer, agent_tid());
		self->generation = agent.generation;
		slot_words(self);
	}
	return self->slot;
}

void slot_give_back(void)
{
	struct agent_thread *self = agent_self;
	struct jis_slot *slot = self ? self->slot : NULL;

	if (!slot)
		return;
	self->slot = NULL;
	slot_words(self);
	if (agent_enter()) {
		if (self->generation == agent.generation)
			jis_slot_give(&agent.writer, slot);
		agent_leave();
	}
}

/* After it each thread sees what was written before it, or has been seen to be inside. */
static void barrier(void)
{
	const struct timespec a_while = {0, 10000000}; /* no store stays in a CPU that long */

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) < 0)
		nanosleep(&a_while, NULL);
}

static int anybody_inside(void)
{
	struct agent_thread *t;
	int inside = 0;

	pthread_mutex_lock(&threads_lock);
	for (t = threads; t; t = t->next)
		inside |= t != agent_self && (__atomic_load_n(&t->writing, __ATOMIC_ACQUIRE) ||
					      __atomic_load_n(&t->inside, __ATOMIC_ACQUIRE));
	pthread_mutex_unlock(&threads_lock);
	return inside;
}

int slots_quiet(int ms)
{
	const struct timespec step = {0, 1000000};

	barrier();
	while (anybody_inside()) {
		if (ms-- <= 0)
			return 0;
		nanosleep(&step, NULL);
	}
	return 1;
}
