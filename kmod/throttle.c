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
 * All of this runs with interrupts off and a run queue's lock held. The table's lock is inside of
 * that one; nothing is locked inside of it.
 */
#include <linux/cgroup.h>
#include <linux/kprobes.h>
#include <linux/slab.h>

#include "cgroups.h"
#include "throttle.h"

#ifdef JIS_HAS_THROTTLE

#define QUEUE_BITS 12
#define QUEUES 4096u /* two to the power of QUEUE_BITS */
#define QUEUE_MAX (QUEUES / 4 * 3) /* those that are gone stay, until their memory is one again */

struct queue {
	const void *cfs_rq; /* NULL: empty */
	u32 cgroup;	    /* 0: not known yet */
	u32 cpu;
	bool throttled;
};

struct jis_throttle {
	struct kretprobe throttle;
	struct kprobe unthrottle;
	struct jis_session *session;
	bool on;
	raw_spinlock_t lock;
	u32 used;
	struct queue queues[QUEUES];
};

static bool throttle_works;

/*
 * The entry of a run queue, or with @make a new one. NULL: there is none, or no room. Under the
 * lock. What is nobody's we know and no longer throttled says nothing: it makes room.
 */
static notrace struct queue *queue_get(struct jis_throttle *t, const void *cfs_rq, bool make)
{
	struct queue *q, *room = NULL;
	u32 i;

	for (i = hash_ptr(cfs_rq, QUEUE_BITS); (q = &t->queues[i])->cfs_rq; i = (i + 1) % QUEUES) {
		if (q->cfs_rq == cfs_rq)
			return q;
		if (!room && !q->cgroup && !q->throttled)
			room = q;
	}
	if (!make || (!room && t->used >= QUEUE_MAX))
		return NULL;
	if (!room) {
		t->used++;
		room = q;
	}
	*room = (struct queue){.cfs_rq = cfs_rq};
	return room;
}

static notrace void record_throttle(struct jis_session *s, const struct queue *q)
{
	struct jis_ev_cgroup_throttle *ev;
	unsigned long irq;

	ev = jis_record_begin(s, JIS_EV_cgroup_throttle, sizeof(*ev), &irq);
	if (ev) {
		ev->cgroup = q->cgroup;
		ev->cpu = q->cpu;
		ev->throttled = q->throttled;
	}
	jis_record_end(irq);
}

static notrace void queue_throttled(struct jis_throttle *t, const void *cfs_rq, bool throttled)
{
	struct jis_session *s = t->session;
	struct queue *q;
	unsigned long irq;

	if (!READ_ONCE(s->recording))
		return;
	raw_spin_lock_irqsave(&t->lock, irq);
	q = queue_get(t, cfs_rq, throttled);
	if (q) {
		q->throttled = throttled;
		if (q->cgroup)
			record_throttle(s, q);
	}
	raw_spin_unlock_irqrestore(&t->lock, irq);
}

static notrace void queue_name(struct jis_throttle *t, const void *cfs_rq, u32 cgroup, u32 cpu)
{
	struct queue *q;
	unsigned long irq;

	raw_spin_lock_irqsave(&t->lock, irq);
	q = queue_get(t, cfs_rq, true);
	if (q && (q->cgroup != cgroup || q->cpu != cpu)) {
		/* The memory was another cgroup's before. */
		if (q->cgroup)
			q->throttled = false;
		q->cgroup = cgroup;
		q->cpu = cpu;
		if (q->throttled && READ_ONCE(t->session->recording))
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
	queue_throttled(t, *(const void **)ri->data, true);
	return 0;
}

NOKPROBE_SYMBOL(throttle_return);

static notrace int unthrottle_entry(struct kprobe *probe, struct pt_regs *regs)
{
	struct jis_throttle *t = container_of(probe, struct jis_throttle, unthrottle);

	queue_throttled(t, (const void *)regs_get_kernel_argument(regs, 0), false);
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

static struct jis_throttle *throttle_new(struct jis_session *s)
{
	struct jis_throttle *t = kvzalloc(sizeof(*t), JIS_GFP);

	if (t) {
		raw_spin_lock_init(&t->lock);
		t->session = s;
	}
	return t;
}

/**
 * jis_throttle_find - does this kernel let us see it? Tried once, when the module is loaded.
 */
void jis_throttle_find(void)
{
	static struct jis_session nobody; /* records nothing */
	struct jis_throttle *t = throttle_new(&nobody);

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
	return throttle_works ? PFN_UP(sizeof(struct jis_throttle)) : 0;
}

int jis_throttle_create(struct jis_session *s)
{
	if (!throttle_works)
		return 0;
	s->throttle = throttle_new(s);
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
	int i, err = 0;

	if (!t || t->on == on)
		return 0;
	if (on) {
		for (i = 0; i < QUEUES; i++)
			t->queues[i].throttled = false;
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
