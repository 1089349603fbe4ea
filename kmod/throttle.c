// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cgroup whose quota of CPU time is used up is taken out of run queues, and put back when the
 * next period gives it more. No tracepoint says so: probes are put on the scheduler's functions
 * that do it, where the kernel has them and lets us.
 *
 * They are handed a struct cfs_rq, a cgroup's part of one CPU's run queue, and nothing of it is
 * public. But the threads in it lead there: beside the chain of a thread's scheduling entities, up
 * to the run queue's root, runs that of its cpu controller's cgroups. What was seen so is kept in a
 * table. One that is throttled before any of its threads was seen is told when one is.
 *
 * All of this runs with interrupts off and the lock held of the run queue that it is about: what
 * one entry says does not change beside it. Entries are made under the table's lock, which is
 * inside of that one; nothing is locked inside of it. A probe that stands on a breakpoint counts as
 * an NMI, where no lock is to be waited for: the one of those that would takes none. It may record,
 * as no such probe stands on anything that runs while a record is written.
 */
#include <linux/cgroup.h>
#include <linux/kprobes.h>
#include <linux/slab.h>

#include "cgroups.h"
#include "throttle.h"

#ifdef JIS_HAS_THROTTLE

#define QUEUE_BITS_MIN 12
#define QUEUE_BITS_MAX 18
#define QUEUES_PER_CPU 64u

struct queue {
	/* NULL: empty. Those that are gone stay, until their memory is one again. */
	const void *cfs_rq;
	u32 cgroup;	    /* 0: not known yet */
	u32 cpu;
	u8 throttled;
};

struct jis_throttle {
	struct kretprobe throttle;
	struct kprobe unthrottle;
	struct jis_session *session;
	bool on;
	raw_spinlock_t lock; /* entries are made */
	u32 used;
	u32 bits, mask;
	u64 refused; /* times */
	struct queue queues[];
};

static bool throttle_works;

/* The entry of a run queue; NULL: there is none. Ends because a part of them is always empty. */
static notrace struct queue *queue_find(struct jis_throttle *t, const void *cfs_rq)
{
	u32 i = hash_ptr(cfs_rq, t->bits);
	const void *there;

	while ((there = READ_ONCE(t->queues[i].cfs_rq))) {
		if (there == cfs_rq)
			return &t->queues[i];
		i = (i + 1) & t->mask;
	}
	return NULL;
}

/* The most entries there are; the rest is empty, so that a search ends. */
static u32 queue_room(const struct jis_throttle *t)
{
	return t->mask - t->mask / 4;
}

/*
 * The same, or a new one; NULL: no room, which is counted. Under the lock. What is nobody's we know
 * and not throttled says nothing: it makes room.
 */
static notrace struct queue *queue_make(struct jis_throttle *t, const void *cfs_rq)
{
	struct queue *q = queue_find(t, cfs_rq);
	u32 i = hash_ptr(cfs_rq, t->bits);

	if (q)
		return q;
	while ((q = &t->queues[i])->cfs_rq && (q->cgroup || READ_ONCE(q->throttled)))
		i = (i + 1) & t->mask;
	if (!q->cfs_rq) {
		if (t->used >= queue_room(t)) {
			t->refused++;
			return NULL;
		}
		t->used++;
	}
	WRITE_ONCE(q->cfs_rq, cfs_rq);
	return q;
}

static notrace void record_throttle(struct jis_session *s, const struct queue *q)
{
	struct jis_ev_cgroup_throttle *ev;
	unsigned long irq;

	ev = jis_record_begin(s, JIS_EV_cgroup_throttle, sizeof(*ev), &irq);
	if (ev) {
		ev->cgroup = q->cgroup;
		ev->cpu = q->cpu;
		ev->throttled = READ_ONCE(q->throttled);
	}
	jis_record_end(irq);
}

static notrace void queue_throttled(struct jis_throttle *t, const void *cfs_rq)
{
	struct jis_session *s = t->session;
	struct queue *q;
	unsigned long irq;

	if (!READ_ONCE(s->recording))
		return;
	raw_spin_lock_irqsave(&t->lock, irq);
	q = queue_make(t, cfs_rq);
	if (q) {
		/* Pairs with queue_unthrottled(): who sees it throttled sees whose it is. */
		smp_store_release(&q->throttled, true);
		if (q->cgroup)
			record_throttle(s, q);
	}
	raw_spin_unlock_irqrestore(&t->lock, irq);
}

/*
 * Without the lock. An entry that is throttled stays its run queue's; one that is not may become
 * another's meanwhile, and throttled as that: its name tells.
 */
static notrace void queue_unthrottled(struct jis_throttle *t, const void *cfs_rq)
{
	struct jis_session *s = t->session;
	struct queue *q;
	u32 cgroup;

	if (!READ_ONCE(s->recording))
		return;
	q = queue_find(t, cfs_rq);
	/* Pairs with queue_throttled(). */
	if (!q || !smp_load_acquire(&q->throttled) || READ_ONCE(q->cfs_rq) != cfs_rq)
		return;
	cgroup = q->cgroup;
	/* Behind the reading: without a name the entry may go to another run queue now. */
	smp_store_release(&q->throttled, false);
	if (cgroup)
		record_throttle(s, q);
}

static notrace void queue_name(struct jis_throttle *t, const void *cfs_rq, u32 cgroup, u32 cpu)
{
	struct queue *q;
	unsigned long irq;

	raw_spin_lock_irqsave(&t->lock, irq);
	q = queue_make(t, cfs_rq);
	if (q && (q->cgroup != cgroup || q->cpu != cpu)) {
		/* The memory was another cgroup's before. */
		if (q->cgroup)
			WRITE_ONCE(q->throttled, false);
		q->cgroup = cgroup;
		q->cpu = cpu;
		if (READ_ONCE(q->throttled) && READ_ONCE(t->session->recording))
			record_throttle(t->session, q);
	}
	raw_spin_unlock_irqrestore(&t->lock, irq);
}

/**
 * jis_throttle_map - notes whose the run queues are that @task is in. Its run queue is locked.
 */
notrace void jis_throttle_map(struct jis_session *s, struct task_struct *task)
{
	struct cgroup_subsys_state *css = rcu_dereference_raw(task->cgroups)->subsys[cpu_cgrp_id];
	struct sched_entity *se = &task->se;

	/*
	 * A task group begins with its css. It is another than the thread's while the thread is
	 * being moved, or is in an autogroup, which has no quota: then the chains do not match.
	 */
	if ((void *)css != (void *)task->sched_task_group || css->cgroup->root != &cgrp_dfl_root)
		return;
	for (; se && css; se = se->parent, css = css->parent)
		queue_name(s->throttle, se->cfs_rq, jis_cgroup_number(css->cgroup), task_cpu(task));
}

static notrace int throttle_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	*(unsigned long *)ri->data = regs_get_kernel_argument(regs, 0);
	return 0;
}

NOKPROBE_SYMBOL(throttle_entry);

/* It returns whether it did throttle, or found some quota after all. */
static notrace int throttle_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *probe = compat_kretprobe(ri);
	struct jis_throttle *t;

	if (!probe || !(bool)(regs_return_value(regs) & 0xff))
		return 0;
	t = container_of(probe, struct jis_throttle, throttle);
	queue_throttled(t, *(const void **)ri->data);
	return 0;
}

NOKPROBE_SYMBOL(throttle_return);

static notrace int unthrottle_entry(struct kprobe *probe, struct pt_regs *regs)
{
	struct jis_throttle *t = container_of(probe, struct jis_throttle, unthrottle);

	queue_unthrottled(t, (const void *)regs_get_kernel_argument(regs, 0));
	return 0;
}

NOKPROBE_SYMBOL(unthrottle_entry);

static int throttle_register(struct jis_throttle *t)
{
	int err;

	memset(&t->throttle, 0, sizeof(t->throttle));
	memset(&t->unthrottle, 0, sizeof(t->unthrottle));
	t->throttle.kp.symbol_name = "throttle_cfs_rq";
	t->throttle.entry_handler = throttle_entry;
	t->throttle.handler = throttle_return;
	t->throttle.data_size = sizeof(unsigned long);
	t->unthrottle.symbol_name = "unthrottle_cfs_rq";
	t->unthrottle.pre_handler = unthrottle_entry;
	err = register_kretprobe(&t->throttle);
	if (err)
		return err;
	err = register_kprobe(&t->unthrottle);
	if (err)
		unregister_kretprobe(&t->throttle);
	return err;
}

static void throttle_unregister(struct jis_throttle *t)
{
	unregister_kprobe(&t->unthrottle);
	unregister_kretprobe(&t->throttle);
}

/* For so many cgroups whose threads have run on each CPU, three quarters of which find room. */
static u32 queue_bits(void)
{
	return clamp(order_base_2(num_possible_cpus() * QUEUES_PER_CPU), QUEUE_BITS_MIN,
		     QUEUE_BITS_MAX);
}

static size_t throttle_size(u32 bits)
{
	return sizeof(struct jis_throttle) + (sizeof(struct queue) << bits);
}

static struct jis_throttle *throttle_new(struct jis_session *s, u32 bits)
{
	struct jis_throttle *t = kvzalloc(throttle_size(bits), JIS_GFP);

	if (t) {
		raw_spin_lock_init(&t->lock);
		t->session = s;
		t->bits = bits;
		t->mask = (1u << bits) - 1;
	}
	return t;
}

/**
 * jis_throttle_find - does this kernel let us see it? Tried once, when the module is loaded.
 */
void jis_throttle_find(void)
{
	static struct jis_session nobody; /* records nothing */
	struct jis_throttle *t = throttle_new(&nobody, 1);

	if (!t)
		return;
	throttle_works = !throttle_register(t);
	if (throttle_works)
		throttle_unregister(t);
	kvfree(t);
}

u32 jis_throttle_features(void)
{
	return throttle_works ? JIS_FEATURE_THROTTLE : 0;
}

/**
 * jis_throttle_pages - what jis_throttle_create() will take.
 */
unsigned long jis_throttle_pages(void)
{
	return throttle_works ? PFN_UP(throttle_size(queue_bits())) : 0;
}

/**
 * jis_throttle_refused - how often there was no room to note a run queue: what keeps threads from
 * it is not told.
 */
u64 jis_throttle_refused(const struct jis_session *s)
{
	return s->throttle ? jis_count(s->throttle->refused) : 0;
}

int jis_throttle_create(struct jis_session *s)
{
	if (!throttle_works)
		return 0;
	s->throttle = throttle_new(s, queue_bits());
	return s->throttle ? 0 : -ENOMEM;
}

void jis_throttle_free(struct jis_session *s)
{
	kvfree(s->throttle);
	s->throttle = NULL;
}

/**
 * jis_throttle_probe - on or off. Off cannot fail, returns when no probe runs any more, and may be
 * repeated. What is throttled when it goes on is not known until it is throttled again.
 */
int jis_throttle_probe(struct jis_session *s, bool on)
{
	struct jis_throttle *t = s->throttle;
	int err = 0;
	u32 i;

	if (!t || t->on == on)
		return 0;
	if (on) {
		for (i = 0; i <= t->mask; i++)
			WRITE_ONCE(t->queues[i].throttled, false);
		err = throttle_register(t);
	} else {
		throttle_unregister(t);
	}
	if (!err)
		t->on = on;
	return err;
}
#else
void jis_throttle_find(void)
{
}

u32 jis_throttle_features(void)
{
	return 0;
}

unsigned long jis_throttle_pages(void)
{
	return 0;
}

u64 jis_throttle_refused(const struct jis_session *s)
{
	return 0;
}

int jis_throttle_create(struct jis_session *s)
{
	return 0;
}

void jis_throttle_free(struct jis_session *s)
{
}

int jis_throttle_probe(struct jis_session *s, bool on)
{
	return 0;
}
#endif
