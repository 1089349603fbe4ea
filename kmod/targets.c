// SPDX-License-Identifier: GPL-2.0-only
/*
 * The set of target processes: an open-addressed hash of thread group ids (of the initial pid
 * namespace). Probes look ids up without a lock (jis_is_target()); every change takes the set's
 * spinlock, with interrupts off because processes are freed in softirqs.
 *
 * An id may get its next owner some time before sched_process_free of the last: each entry has the
 * start time of its own, and goes when another is born.
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
	struct jis_targets *t = kvzalloc(sizeof(*t), JIS_GFP);

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

static int targets_add_locked(struct jis_targets *t, u32 tgid, u64 start, u32 flags)
{
	int room, i = targets_find(t, tgid, &room);

	if (i >= 0 && t->start[i] == start)
		return -EEXIST;
	if (i >= 0) { /* its former owner's */
		t->start[i] = start;
		t->flags[i] = flags;
		return 0;
	}
	if (t->count >= JIS_TARGET_MAX || (!t->tgid[room] && t->used >= MAX_USED)) {
		t->refused++;
		return -ENOSPC;
	}
	t->count++;
	t->used += !t->tgid[room];
	t->flags[room] = flags;
	t->start[room] = start;
	WRITE_ONCE(t->tgid[room], tgid);
	return 0;
}

/**
 * jis_targets_add - adds a process. Returns 0, -EEXIST, or -ENOSPC (counted as refused).
 * @start: the start_boottime of its leader.
 */
int jis_targets_add(struct jis_targets *t, u32 tgid, u64 start, u32 flags)
{
	unsigned long irq;
	int err;

	raw_spin_lock_irqsave(&t->lock, irq);
	err = targets_add_locked(t, tgid, start, flags);
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

static void targets_drop(struct jis_targets *t, u32 i)
{
	WRITE_ONCE(t->tgid[i], TOMBSTONE);
	t->count--;
	targets_sweep(t, i);
}

/**
 * jis_targets_remove - removes a process. Returns whether it was a target.
 * @start: its leader's start_boottime; 0: whichever has the id.
 */
bool jis_targets_remove(struct jis_targets *t, u32 tgid, u64 start)
{
	unsigned long irq;
	bool was;
	int room, i;

	raw_spin_lock_irqsave(&t->lock, irq);
	i = targets_find(t, tgid, &room);
	was = i >= 0 && (!start || t->start[i] == start);
	if (was)
		targets_drop(t, i);
	raw_spin_unlock_irqrestore(&t->lock, irq);
	return was;
}

/**
 * jis_targets_new_owner - the id is that of a process born at @start: no entry of another holds.
 */
void jis_targets_new_owner(struct jis_targets *t, u32 tgid, u64 start)
{
	unsigned long irq;
	int room, i;

	raw_spin_lock_irqsave(&t->lock, irq);
	i = targets_find(t, tgid, &room);
	if (i >= 0 && t->start[i] != start)
		targets_drop(t, i);
	raw_spin_unlock_irqrestore(&t->lock, irq);
}

/**
 * jis_targets_is - is the very process that began at @start a target?
 */
bool jis_targets_is(struct jis_targets *t, u32 tgid, u64 start)
{
	unsigned long irq;
	int room, i;
	bool is;

	raw_spin_lock_irqsave(&t->lock, irq);
	i = targets_find(t, tgid, &room);
	is = i >= 0 && t->start[i] == start;
	raw_spin_unlock_irqrestore(&t->lock, irq);
	return is;
}

/**
 * jis_targets_inherit - makes a forked process a target if its parent hands that on.
 * Returns whether it is one now.
 */
bool jis_targets_inherit(struct jis_targets *t, u32 parent, u32 child, u64 start)
{
	bool inherited = false;
	unsigned long irq;
	int room, i, err;

	raw_spin_lock_irqsave(&t->lock, irq);
	i = targets_find(t, parent, &room);
	if (i >= 0 && t->flags[i] & JIS_TARGET_CHILDREN) {
		/* One that is there already, somebody asked for between birth and this. */
		err = targets_add_locked(t, child, start, t->flags[i] & ~JIS_TARGET_FIRST_EXEC);
		inherited = !err || err == -EEXIST;
	}
	raw_spin_unlock_irqrestore(&t->lock, irq);
	return inherited;
}

/**
 * jis_targets_exec - process @tgid executes a program. Returns whether it was a target until now.
 */
bool jis_targets_exec(struct jis_targets *t, u32 tgid)
{
	bool ends = false;
	unsigned long irq;
	int room, i;

	raw_spin_lock_irqsave(&t->lock, irq);
	i = targets_find(t, tgid, &room);
	if (i >= 0 && t->flags[i] & JIS_TARGET_FIRST_EXEC)
		t->flags[i] &= ~JIS_TARGET_FIRST_EXEC;
	else if (i >= 0)
		ends = t->flags[i] & JIS_TARGET_UNTIL_EXEC;
	raw_spin_unlock_irqrestore(&t->lock, irq);
	return ends && jis_targets_remove(t, tgid, 0);
}

/* The thread group @pid of the caller's pid namespace, as the kernel numbers it; 0: there is none.
 */
static u32 target_lookup(struct pid *pid, u64 *start)
{
	struct task_struct *task;
	u32 tgid = 0;

	rcu_read_lock();
	task = pid_task(pid, PIDTYPE_TGID);
	if (task) {
		tgid = task->tgid;
		*start = task->start_boottime;
	}
	rcu_read_unlock();
	return tgid;
}

/* May the session show the process? */
static int target_rights(struct jis_session *s, struct pid *pid)
{
	struct task_struct *task = get_pid_task(pid, PIDTYPE_TGID);
	bool may = task && jis_rights_task(s, task);

	if (!task)
		return -ESRCH;
	put_task_struct(task);
	return may ? 0 : -EPERM;
}

static int target_find(u32 nr, struct pid **pid, u32 *tgid, u64 *start)
{
	*pid = nr <= PID_MAX_LIMIT ? find_get_pid(nr) : NULL;
	*tgid = target_lookup(*pid, start);
	if (*tgid)
		return 0;
	put_pid(*pid);
	return -ESRCH;
}

/**
 * jis_target_add - makes a living process a target; its threads are dumped when the session runs.
 * @nr: thread group id in the caller's pid namespace.
 *
 * Returns 0, -ESRCH, -EPERM, -EEXIST or -ENOSPC. The caller holds the session's lock.
 */
int jis_target_add(struct jis_session *s, u32 nr, u32 flags)
{
	struct pid *pid;
	u64 start;
	u32 tgid;
	int err;

	err = target_find(nr, &pid, &tgid, &start);
	if (err)
		return err;
	err = target_rights(s, pid);
	if (!err)
		err = jis_targets_add(s->targets, tgid, start, flags);
	/* If it went meanwhile, its sched_process_free may have come too early to remove the entry;
	 * and if it executed a program with other rights, that probe.
	 */
	if (!err) {
		err = target_rights(s, pid);
		if (err)
			jis_targets_remove(s->targets, tgid, start);
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
	u64 start;
	u32 tgid;
	int err;

	err = target_find(nr, &pid, &tgid, &start);
	if (err)
		return err;
	put_pid(pid);
	return jis_targets_remove(s->targets, tgid, start) ? 0 : -ESRCH;
}

/**
 * jis_target_find - finds the process @nr of the caller's pid namespace, if it is recorded.
 * Returns 0 and a reference, or -ESRCH.
 */
int jis_target_find(struct jis_session *s, u32 nr, struct pid **pid, u32 *tgid)
{
	struct task_struct *task;
	bool is_target = false;
	u64 start;
	int err = target_find(nr, pid, tgid, &start);

	if (err)
		return err;
	rcu_read_lock();
	task = pid_task(*pid, PIDTYPE_TGID);
	if (task)
		is_target = jis_is_target(s, task);
	rcu_read_unlock();
	if (is_target)
		return 0;
	put_pid(*pid);
	return -ESRCH;
}

/**
 * jis_target_test - is it recorded, for whatever reason? Returns 0 or -ESRCH.
 */
int jis_target_test(struct jis_session *s, u32 nr)
{
	struct pid *pid;
	u32 tgid;
	int err;

	err = jis_target_find(s, nr, &pid, &tgid);
	if (!err)
		put_pid(pid);
	return err;
}
