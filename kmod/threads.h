/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a session notes of each target thread and of each CPU while it records: what was told of the
 * thread last, and on which CPU it waits for one. Probes look notes up without locks.
 *
 * An entry never moves. It is found by tid and start time, so that of a tid's former owner is never
 * taken for its own; nobody but the thread's own scheduling writes to it, so what is in it are
 * plain words. The ready counts are exact under any race, see jis_thread_ready().
 */
#ifndef JIS_THREADS_H
#define JIS_THREADS_H

#include <linux/atomic.h>
#include <linux/kernel_stat.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#include "jis.h"

/* A page fault that has not been told. */
struct jis_fault {
	u64 since, address, ip;
	u32 error;
	bool pending;
};

struct jis_thread {
	u32 tid;   /* 0 empty, tombstone, or the thread's */
	u32 ready; /* 1 + the CPU on which it is counted as ready; 0: on none */
	u64 start; /* start_boottime */

	/* Told in thread_attributes; policy is U32_MAX when nothing was. */
	u64 cpus; /* jis_cpus_digest() */
	u32 policy;
	s32 prio, static_prio;
	u32 nr_cpus;

	const void *cfs_rq; /* the one its cgroup has on its CPU, as mapped last; see throttle.c */
};

struct jis_threads {
	raw_spinlock_t lock; /* entries come and go */
	u32 count;
	u32 used;    /* slots that are not empty: entries and tombstones */
	u32 refused; /* threads there was no room for */
	u32 bits, mask;
	struct jis_fault *faults; /* one for each slot, or NULL: not asked for */
	struct jis_thread slots[];
};

/* One CPU's notes. */
struct jis_cpu {
	atomic_t ready; /* targets that wait in its run queue */
	/* What the CPU is at; written there only. Which of [2]: JIS_AT_*. */
	bool timer[2]; /* a timer's function runs */
	u32 irq;       /* 1 + number of the interrupt whose handler runs, or 0 */
	u32 softirq;   /* 1 + vector, or 0 */
	bool told[2];  /* an irq_entry was recorded whose exit must be */
	u64 stolen;    /* ns, as told; U64_MAX: not yet */
};

enum { JIS_AT_SOFTIRQ = 0, JIS_AT_HARDIRQ = 1 };

static __always_inline u32 jis_thread_slot(const struct jis_threads *t, u32 tid)
{
	return (tid * 0x9e3779b1u) >> (32 - t->bits);
}

static __always_inline bool jis_threads_full(const struct jis_threads *t)
{
	return jis_count(t->count) > t->mask / 2;
}

/* The thread's entry, or NULL. Ends because a part of the slots is always empty. */
static __always_inline struct jis_thread *jis_thread_find(const struct jis_session *s,
							  const struct task_struct *task)
{
	struct jis_threads *t = s->threads;
	u32 i = jis_thread_slot(t, task->pid);
	u32 tid;

	while ((tid = READ_ONCE(t->slots[i].tid)) != 0) {
		if (tid == task->pid)
			return READ_ONCE(t->slots[i].start) == task->start_boottime ? &t->slots[i]
										    : NULL;
		i = (i + 1) & t->mask;
	}
	return NULL;
}

/**
 * jis_thread_ready - notes that the thread waits on @cpu (1 + number; 0: that it does not wait).
 *
 * A CPU's count is raised before the entry says so and lowered after it no longer does, once for
 * each exchange: so it is never below the entries that name the CPU, nor negative, and when all is
 * quiet it is their number. Callers hold the lock of the thread's run queue, which gives their
 * order; one that does not can make an entry wrong until the thread's next switch, but no count.
 */
static __always_inline void jis_thread_ready(struct jis_session *s, struct jis_thread *n, u32 cpu)
{
	u32 old;

	if (READ_ONCE(n->ready) == cpu)
		return;
	if (cpu)
		atomic_inc(&per_cpu_ptr(s->cpus, cpu - 1)->ready);
	old = xchg(&n->ready, cpu);
	if (old)
		atomic_dec(&per_cpu_ptr(s->cpus, old - 1)->ready);
}

/* Does any target wait for this CPU? With preemption off. */
static __always_inline bool jis_ready_here(const struct jis_session *s)
{
	return atomic_read(&this_cpu_ptr(s->cpus)->ready) > 0;
}

/* The CPUs it may run on: the same for the same ones, and on up to 64 CPUs their mask. */
static __always_inline u64 jis_cpus_digest(const struct task_struct *task)
{
	const unsigned long *bits = cpumask_bits(&task->cpus_mask);
	u64 digest = READ_ONCE(bits[0]);
	u32 i;

	for (i = 1; i < BITS_TO_LONGS(nr_cpu_ids); i++)
		digest = digest * 0x9e3779b97f4a7c15ull + READ_ONCE(bits[i]);
	return digest;
}

/*
 * Is what was told of its attributes still so? A dump may write the notes meanwhile: at worst they
 * are told again.
 */
static __always_inline bool jis_attributes_hold(const struct jis_thread *n,
						const struct task_struct *task)
{
	return READ_ONCE(n->prio) == READ_ONCE(task->prio) &&
	       READ_ONCE(n->policy) == READ_ONCE(task->policy) &&
	       READ_ONCE(n->static_prio) == READ_ONCE(task->static_prio) &&
	       READ_ONCE(n->nr_cpus) == READ_ONCE(task->nr_cpus_allowed) &&
	       READ_ONCE(n->cpus) == jis_cpus_digest(task);
}

static __always_inline struct jis_fault *jis_thread_fault(const struct jis_session *s,
							  const struct jis_thread *n)
{
	return &s->threads->faults[n - s->threads->slots];
}

int jis_threads_create(struct jis_session *s, bool faults);
void jis_threads_free(struct jis_session *s);
unsigned long jis_threads_pages(bool faults);
void jis_threads_begin(struct jis_session *s);
struct jis_thread *jis_thread_add(struct jis_session *s, struct task_struct *task);
void jis_thread_remove(struct jis_session *s, u32 tid, u64 start);
struct jis_thread *jis_thread_first(struct jis_session *s, struct task_struct *task);
void jis_thread_queued(struct jis_session *s, struct task_struct *task, int cpu);
void jis_record_attributes(struct jis_session *s, struct jis_thread *n, struct task_struct *task);
void jis_record_steal(struct jis_session *s, u64 stolen);

/* Tells what the hypervisor has taken of this CPU, when that has grown. With interrupts off. */
static __always_inline void jis_steal_look(struct jis_session *s)
{
	u64 stolen = READ_ONCE(kcpustat_this_cpu->cpustat[CPUTIME_STEAL]);

	if (unlikely(stolen != this_cpu_ptr(s->cpus)->stolen))
		jis_record_steal(s, stolen);
}

/**
 * jis_thread_note - the thread's entry, made if it is seen for the first time; NULL: there is no
 * room. What has changed of its attributes is told.
 */
static __always_inline struct jis_thread *jis_thread_note(struct jis_session *s,
							  struct task_struct *task)
{
	struct jis_thread *n = jis_thread_find(s, task);

	/* A full table is not asked again by each switch. */
	if (unlikely(!n))
		return jis_threads_full(s->threads) ? NULL : jis_thread_first(s, task);
	if (unlikely(!jis_attributes_hold(n, task)))
		jis_record_attributes(s, n, task);
	return n;
}

#endif /* JIS_THREADS_H */
