/* SPDX-License-Identifier: MIT */
/*
 * Does the TSC ever step back when work moves from one CPU to another? One thread a CPU, a token
 * goes round; who has it must read a TSC that is not before its predecessor's reading. Where that
 * is allowed the threads run before all others for the few milliseconds it takes: a token that
 * waits for a CPU at each step tells little, and on a busy machine would be under way for minutes.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "clock.h"

#define TIME_SPINS 64u /* after how many looks at the token one at the time */

struct handoff {
	uint64_t turn; /* whose turn: turn % nr */
	uint64_t last; /* reading of the last holder; belongs to the holder of the turn */
	uint64_t turns;
	uint64_t nr;
	unsigned int steps;
	uint64_t deadline;
	int stop; /* a runner could not be started, so nobody takes its turn; or time is up */
	pthread_mutex_t gate; /* free once all are there: none keeps the next from being started */
};

struct runner {
	struct handoff *test;
	pthread_t thread;
	uint64_t index;
};

static void *handoff_run(void *arg)
{
	struct runner *r = arg;
	struct handoff *t = r->test;
	uint64_t turn, now;
	uint32_t spins;

	pthread_mutex_lock(&t->gate);
	pthread_mutex_unlock(&t->gate);
	for (spins = 1;; spins++) {
		/* Nobody else may have a CPU to tell us. */
		if (spins % TIME_SPINS == 0 && clock_ns(CLOCK_MONOTONIC) > t->deadline)
			__atomic_store_n(&t->stop, 1, __ATOMIC_RELAXED);
		turn = __atomic_load_n(&t->turn, __ATOMIC_ACQUIRE);
		if (turn >= t->turns || __atomic_load_n(&t->stop, __ATOMIC_RELAXED))
			return NULL;
		if (turn % t->nr != r->index) {
			sched_yield();
			continue;
		}
		now = clock_tsc();
		if (now < t->last)
			t->steps++;
		t->last = now;
		__atomic_store_n(&t->turn, turn + 1, __ATOMIC_RELEASE);
	}
}

static int start_on_cpu(struct runner *r, int cpu)
{
	struct sched_param first = {.sched_priority = sched_get_priority_min(SCHED_FIFO)};
	pthread_attr_t attr;
	cpu_set_t set;
	int err;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	err = pthread_attr_init(&attr);
	if (err)
		return -err;
	err = pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	if (!err && !pthread_attr_setschedpolicy(&attr, SCHED_FIFO) &&
	    !pthread_attr_setschedparam(&attr, &first) &&
	    !pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED) &&
	    !pthread_create(&r->thread, &attr, handoff_run, r)) {
		pthread_attr_destroy(&attr);
		return 0;
	}
	if (!err)
		err = pthread_attr_setinheritsched(&attr, PTHREAD_INHERIT_SCHED);
	if (!err)
		err = pthread_create(&r->thread, &attr, handoff_run, r);
	pthread_attr_destroy(&attr);
	return -err;
}

int clock_handoff_test(unsigned int rounds)
{
	struct handoff test = {.gate = PTHREAD_MUTEX_INITIALIZER};
	struct runner *runners;
	uint64_t started = 0;
	int cpu, err = 0;
	cpu_set_t mine;

	if (sched_getaffinity(0, sizeof(mine), &mine))
		return -errno;
	test.nr = (uint64_t)CPU_COUNT(&mine);
	test.turns = test.nr * rounds;
	runners = calloc(test.nr, sizeof(*runners));
	if (!runners)
		return -ENOMEM;
	pthread_mutex_lock(&test.gate);
	for (cpu = 0; cpu < CPU_SETSIZE && started < test.nr && !err; cpu++) {
		if (!CPU_ISSET(cpu, &mine))
			continue;
		runners[started].test = &test;
		runners[started].index = started;
		err = start_on_cpu(&runners[started], cpu);
		started += !err;
	}
	if (err)
		__atomic_store_n(&test.stop, 1, __ATOMIC_RELAXED);
	test.deadline = clock_ns(CLOCK_MONOTONIC) + CLOCK_HANDOFF_SECONDS * 1000000000ull;
	pthread_mutex_unlock(&test.gate);
	while (started)
		pthread_join(runners[--started].thread, NULL);
	free(runners);
	return err ? err : (int)test.steps;
}
