// SPDX-License-Identifier: GPL-2.0-only
/*
 * The set of single threads that are targets: an open-addressed hash, as that of target processes
 * (targets.c), by task. Every change takes the set's spinlock, with interrupts off because threads
 * are freed in softirqs.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "singles.h"

#define TOMBSTONE ((const struct task_struct *)1ul)
/* More slots are never taken, tombstones included: lookups must come to an empty one soon. */
#define MAX_USED (JIS_SINGLE_SLOTS / 4 * 3)

static u32 slot_next(u32 i)
{
	return (i + 1) % JIS_SINGLE_SLOTS;
}

/**
 * jis_singles_create - an empty set, for kvfree(); NULL: no memory.
 */
struct jis_singles *jis_singles_create(void)
{
	struct jis_singles *t = kvzalloc(sizeof(*t), GFP_KERNEL_ACCOUNT);

	if (t)
		raw_spin_lock_init(&t->lock);
	return t;
}

/* The slot a new entry takes. */
static struct jis_single *singles_room(struct jis_singles *t, const struct task_struct *task)
{
	u32 i = hash_ptr(task, JIS_SINGLE_BITS);

	while (t->slots[i].task && t->slots[i].task != TOMBSTONE)
		i = slot_next(i);
	return &t->slots[i];
}

static int singles_add_locked(struct jis_singles *t, const struct task_struct *task)
{
	struct jis_single *room;

	if (jis_single_find(t, task))
		return -EEXIST;
	room = singles_room(t, task);
	if (t->count >= JIS_SINGLE_MAX || (!room->task && t->used >= MAX_USED))
		return -ENOSPC;
	t->count++;
	t->used += !room->task;
	room->told = 0;
	smp_store_release(&room->task, task); /* pairs with jis_single_find() */
	return 0;
}

/**
 * jis_singles_add - adds a thread, not told yet. Returns 0, -EEXIST or -ENOSPC.
 */
int jis_singles_add(struct jis_singles *t, const struct task_struct *task)
{
	unsigned long irq;
	int err;

	raw_spin_lock_irqsave(&t->lock, irq);
	err = singles_add_locked(t, task);
	raw_spin_unlock_irqrestore(&t->lock, irq);
	return err;
}

/* Nothing can lie behind a tombstone that an empty slot follows. */
static void singles_sweep(struct jis_singles *t, u32 i)
{
	while (t->slots[i].task == TOMBSTONE && !t->slots[slot_next(i)].task) {
		WRITE_ONCE(t->slots[i].task, NULL);
		t->used--;
		i = (i - 1) % JIS_SINGLE_SLOTS;
	}
}

/**
 * jis_singles_remove - removes a thread. Returns whether it was there.
 */
notrace bool jis_singles_remove(struct jis_singles *t, const struct task_struct *task)
{
	struct jis_single *single;
	unsigned long irq;

	if (!jis_single_find(t, task))
		return false;
	raw_spin_lock_irqsave(&t->lock, irq);
	single = jis_single_find(t, task);
	if (single) {
		WRITE_ONCE(single->task, TOMBSTONE);
		t->count--;
		singles_sweep(t, single - t->slots);
	}
	raw_spin_unlock_irqrestore(&t->lock, irq);
	return single;
}
