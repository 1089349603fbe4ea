// SPDX-License-Identifier: GPL-2.0-only
/*
 * Notes of target threads: an open-addressed hash of their tids, all of its memory there from the
 * session's set-up. Entries come with a thread's birth, its state dump, or its first switch, and go
 * when it is freed. Only that takes the table's spinlock; it is the innermost of all locks.
 */
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/vmalloc.h>

#include "threads.h"

#define TOMBSTONE 0xffffffffu
#define MIN_BITS 12
#define MAX_BITS 16 /* half of them: 32,768 threads */

/* A slot for each 128 KiB of memory: a thread needs more than that of it. */
static u32 threads_bits(void)
{
	u64 slots = ((u64)totalram_pages() << PAGE_SHIFT) >> 17;

	return clamp_t(u32, ilog2(slots | 1), MIN_BITS, MAX_BITS);
}

static size_t threads_size(u32 bits)
{
	return sizeof(struct jis_threads) + (sizeof(struct jis_thread) << bits);
}

/**
 * jis_threads_pages - what jis_threads_create() will take.
 */
unsigned long jis_threads_pages(bool faults)
{
	u32 bits = threads_bits();
	size_t bytes = threads_size(bits) + num_possible_cpus() * sizeof(struct jis_cpu);

	return PFN_UP(bytes) + (faults ? PFN_UP(sizeof(struct jis_fault) << bits) : 0);
}

/**
 * jis_threads_create - the session's notes, empty. What it made before an error jis_threads_free()
 * takes.
 * @faults: with room for page faults.
 */
int jis_threads_create(struct jis_session *s, bool faults)
{
	u32 bits = threads_bits();

	s->cpus = alloc_percpu_gfp(struct jis_cpu, JIS_GFP | __GFP_ZERO);
	s->threads = kvzalloc(threads_size(bits), JIS_GFP);
	if (!s->cpus || !s->threads)
		return -ENOMEM;
	raw_spin_lock_init(&s->threads->lock);
	s->threads->bits = bits;
	s->threads->mask = (1u << bits) - 1;
	if (!faults)
		return 0;
	s->threads->faults =
			kvzalloc(sizeof(struct jis_fault) << bits, JIS_GFP);
	return s->threads->faults ? 0 : -ENOMEM;
}

void jis_threads_free(struct jis_session *s)
{
	if (s->threads)
		kvfree(s->threads->faults);
	kvfree(s->threads);
	free_percpu(s->cpus);
	s->threads = NULL;
	s->cpus = NULL;
}

/**
 * jis_threads_begin - before records begin, or begin again: nobody is known to wait, no CPU to be
 * at anything, and all attributes are to be told. No probe that switches uses the notes meanwhile.
 */
void jis_threads_begin(struct jis_session *s)
{
	struct jis_threads *t = s->threads;
	u32 i;
	int cpu;

	for (i = 0; i <= t->mask; i++) {
		jis_thread_ready(s, &t->slots[i], 0); /* one may be removed meanwhile */
		t->slots[i].policy = U32_MAX;
		t->slots[i].cfs_rq = NULL;
		if (t->faults)
			t->faults[i].pending = false;
	}
	for_each_possible_cpu(cpu) {
		struct jis_cpu *c = per_cpu_ptr(s->cpus, cpu);

		memset(c->timer, 0, sizeof(c->timer));
		memset(c->told, 0, sizeof(c->told));
		c->irq = 0;
		c->softirq = 0;
		c->stolen = U64_MAX; /* where it stands is told first */
	}
}

/* The entry of @tid; or the one it would take; or NULL: the table is full. */
static struct jis_thread *threads_place(struct jis_threads *t, u32 tid)
{
	struct jis_thread *room = NULL;
	u32 i;

	for (i = jis_thread_slot(t, tid); t->slots[i].tid; i = (i + 1) & t->mask) {
		if (t->slots[i].tid == tid)
			return &t->slots[i];
		if (t->slots[i].tid == TOMBSTONE && !room)
			room = &t->slots[i];
	}
	if (jis_threads_full(t))
		return NULL;
	if (room)
		return room;
	/* Tombstones included: lookups must come to an empty slot soon. */
	return t->used <= t->mask / 4 * 3 ? &t->slots[i] : NULL;
}

/* An entry that is there with another start time is what the tid's former owner left. */
static void thread_init(struct jis_session *s, struct jis_thread *n, struct task_struct *task)
{
	struct jis_threads *t = s->threads;

	if (n->tid == task->pid) {
		WRITE_ONCE(n->start, 0);
		jis_thread_ready(s, n, 0);
	} else {
		t->count++;
		t->used += !n->tid;
	}
	n->policy = U32_MAX;
	n->cfs_rq = NULL;
	if (t->faults)
		jis_thread_fault(s, n)->pending = false;
	WRITE_ONCE(n->start, task->start_boottime);
	smp_store_release(&n->tid, task->pid); /* the entry is whole before it is found */
}

/**
 * jis_thread_add - an entry for a thread; the one it has, if it has one.
 *
 * Returns NULL when there is no room, which is counted.
 */
notrace struct jis_thread *jis_thread_add(struct jis_session *s, struct task_struct *task)
{
	struct jis_threads *t = s->threads;
	struct jis_thread *n;
	unsigned long irq;

	raw_spin_lock_irqsave(&t->lock, irq);
	n = threads_place(t, task->pid);
	if (!n)
		t->refused++;
	else if (n->tid != task->pid || n->start != task->start_boottime)
		thread_init(s, n, task);
	raw_spin_unlock_irqrestore(&t->lock, irq);
	return n;
}

/* Nothing can lie behind a tombstone that an empty slot follows. */
static void threads_sweep(struct jis_threads *t, u32 i)
{
	while (t->slots[i].tid == TOMBSTONE && !t->slots[(i + 1) & t->mask].tid) {
		WRITE_ONCE(t->slots[i].tid, 0);
		t->used--;
		i = (i - 1) & t->mask;
	}
}

/**
 * jis_thread_remove - takes a thread's entry away, if there is one.
 * @start: its start time; 0: whatever it is.
 */
notrace void jis_thread_remove(struct jis_session *s, u32 tid, u64 start)
{
	struct jis_threads *t = s->threads;
	struct jis_thread *n;
	unsigned long irq;

	raw_spin_lock_irqsave(&t->lock, irq);
	n = threads_place(t, tid);
	if (n && n->tid == tid && (!start || n->start == start)) {
		jis_thread_ready(s, n, 0);
		WRITE_ONCE(n->tid, TOMBSTONE);
		t->count--;
		threads_sweep(t, n - t->slots);
	}
	raw_spin_unlock_irqrestore(&t->lock, irq);
}

/**
 * jis_thread_first - notes a thread and tells its attributes. Returns its entry or NULL.
 */
notrace struct jis_thread *jis_thread_first(struct jis_session *s, struct task_struct *task)
{
	struct jis_thread *n = jis_thread_add(s, task);

	if (n)
		jis_record_attributes(s, n, task);
	return n;
}

/**
 * jis_thread_queued - a look at a thread found it waiting in @cpu's run queue, which is this CPU's,
 * without its lock: whatever else was noted meanwhile is newer.
 */
void jis_thread_queued(struct jis_session *s, struct task_struct *task, int cpu)
{
	struct jis_thread *n = jis_thread_find(s, task);
	atomic_t *count = &per_cpu_ptr(s->cpus, cpu)->ready;

	if (!n)
		return;
	atomic_inc(count);
	if (cmpxchg(&n->ready, 0, cpu + 1) != 0) {
		atomic_dec(count);
		return;
	}
	/* It moved, and perhaps ran, in between. */
	if (task_cpu(task) != cpu && cmpxchg(&n->ready, cpu + 1, 0) == cpu + 1)
		atomic_dec(count);
}

notrace void jis_record_steal(struct jis_session *s, u64 stolen)
{
	struct jis_ev_cpu_steal *ev;
	unsigned long irq;

	ev = jis_record_begin(s, JIS_EV_cpu_steal, sizeof(*ev), &irq);
	if (ev) {
		ev->stolen = stolen;
		this_cpu_ptr(s->cpus)->stolen = stolen;
	}
	jis_record_end(irq);
}

/**
 * jis_record_attributes - tells how the thread may be scheduled. Noted as told only when that is in
 * the trace: what was lost is told again.
 */
notrace void jis_record_attributes(struct jis_session *s, struct jis_thread *n,
				   struct task_struct *task)
{
	struct jis_ev_thread_attributes *ev;
	struct jis_thread now = {
		.policy = READ_ONCE(task->policy),
		.prio = READ_ONCE(task->prio),
		.static_prio = READ_ONCE(task->static_prio),
		.nr_cpus = READ_ONCE(task->nr_cpus_allowed),
		.cpus = jis_cpus_digest(task),
	};
	unsigned long irq;

	ev = jis_record_begin(s, JIS_EV_thread_attributes, sizeof(*ev), &irq);
	if (ev) {
		ev->tid = task->pid;
		ev->policy = now.policy;
		ev->prio = now.prio;
		ev->nice = now.static_prio - DEFAULT_PRIO;
		ev->nr_cpus = now.nr_cpus;
		ev->cpus = READ_ONCE(cpumask_bits(&task->cpus_mask)[0]);
		WRITE_ONCE(n->policy, now.policy);
		WRITE_ONCE(n->prio, now.prio);
		WRITE_ONCE(n->static_prio, now.static_prio);
		WRITE_ONCE(n->nr_cpus, now.nr_cpus);
		WRITE_ONCE(n->cpus, now.cpus);
	}
	jis_record_end(irq);
}
