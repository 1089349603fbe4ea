// SPDX-License-Identifier: GPL-2.0-only
/*
 * The set of target processes: an open-addressed hash of thread group ids (of the initial pid
 * namespace). Probes look ids up without a lock (jis_is_target()); every change takes the set's
 * spinlock, with interrupts off because processes are freed in softirqs.
 *
 * A lookup never misses an entry that was there all the time: an entry never moves, and a removed
 * one leaves a tombstone unless nothing behind it can depend on it.
 */
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "jis.h"

#define TOMBSTONE 0xffffffffu
/* More slots are never taken, tombstones included: lookups must come to an empty one soon. */
#define MAX_USED (JIS_TARGET_SLOTS / 4 * 3)

static u32 slot_next(u32 i)
{
	return (i + 1) % JIS_TARGET_SLOTS;
}

static u32 slot_previous(u32 i)
{
	return (i - 1) % JIS_TARGET_SLOTS;
}

struct jis_targets *jis_targets_create(void)
{
	struct jis_targets *t = kvzalloc(sizeof(*t), GFP_KERNEL_ACCOUNT);

	if (t)
		raw_spin_lock_init(&t->lock);
	return t;
}

/* Slot of @tgid or -1. *room: the slot a new entry would take. */
static int targets_find(struct jis_targets *t, u32 tgid, int *room)
{
	u32 i;

	*room = -1;
	for (i = jis_target_slot(tgid); t->tgid[i]; i = slot_next(i)) {
		if (t->tgid[i] == tgid)
			return i;
		if (t->tgid[i] == TOMBSTONE && *room < 0)
			*room = i;
	}
	if (*room < 0)
		*room = i;
	return -1;
}

static int targets_add_locked(struct jis_targets *t, u32 tgid, u32 flags)
{
	int room;

	if (targets_find(t, tgid, &room) >= 0)
		return -EEXIST;
	if (t->count >= JIS_TARGET_MAX || (!t->tgid[room] && t->used >= MAX_USED)) {
		t->refused++;
		return -ENOSPC;
	}
	t->count++;
	t->used += !t->tgid[room];
	t->flags[room] = flags;
	WRITE_ONCE(t->tgid[room], tgid);
	return 0;
}

/**
 * jis_targets_add - adds a process. Returns 0, -EEXIST, or -ENOSPC (counted as refused).
 */
int jis_targets_add(struct jis_targets *t, u32 tgid, u32 flags)
{
	unsigned long irq;
	int err;

	raw_spin_lock_irqsave(&t->lock, irq);
	err = targets_add_locked(t, tgid, flags);
	raw_spin_unlock_irqrestore(&t->lock, irq);
	return err;
}

/* Nothing can lie behind a tombstone that an empty slot follows. */
static void targets_sweep(struct jis_targets *t, u32 i)
{
	while (t->tgid[i] == TOMBSTONE && !t->tgid[slot_next(i)]) {
		WRITE_ONCE(t->tgid[i], 0);
		t->used--;
		i = slot_previous(i);
	}
}

/**
 * jis_targets_remove - removes a process. Returns whether it was a target.
 */
bool jis_targets_remove(struct jis_targets *t, u32 tgid)
{
	unsigned long irq;
	int room, i;

	raw_spin_lock_irqsave(&t->lock, irq);
	i = targets_find(t, tgid, &room);
	if (i >= 0) {
		WRITE_ONCE(t->tgid[i], TOMBSTONE);
		t->count--;
		targets_sweep(t, i);
	}
	raw_spin_unlock_irqrestore(&t->lock, irq);
	return i >= 0;
}

/**
 * jis_targets_inherit - makes a forked process a target if its parent hands that on.
 * Returns whether it is one now.
 */
bool jis_targets_inherit(struct jis_targets *t, u32 parent, u32 child)
{
	bool inherited = false;
	unsigned long irq;
	int room, i, err;

	raw_spin_lock_irqsave(&t->lock, irq);
	i = targets_find(t, parent, &room);
	if (i >= 0 && t->flags[i] & JIS_TARGET_CHILDREN) {
		/* An entry that is there already is what an id's former owner left. */
		err = targets_add_locked(t, child, t->flags[i]);
		inherited = !err || err == -EEXIST;
	}
	raw_spin_unlock_irqrestore(&t->lock, irq);
	return inherited;
}

/* The thread group @pid of the caller's pid namespace, as the kernel numbers it; 0: there is none.
 */
static u32 target_lookup(struct pid *pid)
{
	struct task_struct *task;
	u32 tgid = 0;

	rcu_read_lock();
	task = pid_task(pid, PIDTYPE_TGID);
	if (task)
		tgid = task->tgid;
	rcu_read_unlock();
	return tgid;
}

static int target_find(u32 nr, struct pid **pid, u32 *tgid)
{
	*pid = nr <= PID_MAX_LIMIT ? find_get_pid(nr) : NULL;
	*tgid = target_lookup(*pid);
	if (*tgid)
		return 0;
	put_pid(*pid);
	return -ESRCH;
}

/**
 * jis_target_add - makes a living process a target; its threads are dumped when the session runs.
 * @nr: thread group id in the caller's pid namespace.
 *
 * Returns 0, -ESRCH, -EEXIST or -ENOSPC. The caller holds the session's lock.
 */
int jis_target_add(struct jis_session *s, u32 nr, u32 flags)
{
	struct pid *pid;
	u32 tgid;
	int err;

	err = target_find(nr, &pid, &tgid);
	if (err)
		return err;
	err = jis_targets_add(s->targets, tgid, flags);
	/* If it went meanwhile, its sched_process_free may have come too early to remove the entry.
	 */
	if (!err && target_lookup(pid) != tgid) {
		jis_targets_remove(s->targets, tgid);
		err = -ESRCH;
	}
	put_pid(pid);
	if (!err && s->recording)
		jis_dump_process(s, tgid);
	return err;
}

/**
 * jis_target_remove - ends the recording of a process. Returns 0 or -ESRCH (it is no target).
 */
int jis_target_remove(struct jis_session *s, u32 nr)
{
	struct pid *pid;
	u32 tgid;
	int err;

	err = target_find(nr, &pid, &tgid);
	if (err)
		return err;
	put_pid(pid);
	return jis_targets_remove(s->targets, tgid) ? 0 : -ESRCH;
}

/**
 * jis_target_test - is it a target? Returns 0 or -ESRCH.
 */
int jis_target_test(struct jis_session *s, u32 nr)
{
	struct pid *pid;
	u32 tgid;
	int err;

	err = target_find(nr, &pid, &tgid);
	if (err)
		return err;
	put_pid(pid);
	return jis_is_target(s, tgid) ? 0 : -ESRCH;
}
