/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Single threads as targets: a hash of tasks, read without locks.
 *
 * A thread is known here by its task, not by its number: one that executes a program takes the
 * number of its process's first thread, in the middle of the call and without an event. A task's
 * memory is not another's before its sched_process_free, and with that its entry goes; so an entry
 * needs no reference, and none is ever followed.
 */
#ifndef JIS_SINGLES_H
#define JIS_SINGLES_H

#include <linux/hash.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#define JIS_SINGLE_BITS 12
#define JIS_SINGLE_SLOTS 4096u /* two to the power of JIS_SINGLE_BITS */
#define JIS_SINGLE_MAX (JIS_SINGLE_SLOTS / 2)

struct jis_single {
	/* NULL empty, tombstone, or the thread. Written under lock, read by anyone. */
	const struct task_struct *task;
	u32 told; /* the number under which the trace knows it; 0: none. Written by probes */
};

struct jis_singles {
	raw_spinlock_t lock; /* all changes of tasks */
	u32 count;
	u32 used; /* slots that are not empty: entries and tombstones */
	struct jis_single slots[JIS_SINGLE_SLOTS];
};

/* The thread's entry, or NULL. Ends because a part of the slots is always empty. */
static __always_inline struct jis_single *jis_single_find(struct jis_singles *t,
							  const struct task_struct *task)
{
	u32 i = hash_ptr(task, JIS_SINGLE_BITS);
	const struct task_struct *found;

	/* Pairs with jis_singles_add(): who finds the entry finds it untold. */
	while ((found = smp_load_acquire(&t->slots[i].task))) {
		if (found == task)
			return &t->slots[i];
		i = (i + 1) % JIS_SINGLE_SLOTS;
	}
	return NULL;
}

struct jis_singles *jis_singles_create(void);
int jis_singles_add(struct jis_singles *t, const struct task_struct *task);
bool jis_singles_remove(struct jis_singles *t, const struct task_struct *task);

#endif /* JIS_SINGLES_H */
