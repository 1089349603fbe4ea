/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Families of events a session asks for: faults, disks, interrupts, signals, power.
 */
#ifndef JIS_FAMILIES_H
#define JIS_FAMILIES_H

#include "threads.h"

void jis_families_find(void);
u32 jis_families_features(void);
int jis_families_probe(struct jis_session *s, bool on);
void jis_record_fault(struct jis_session *s, struct jis_thread *n, struct task_struct *task);

/* A target goes to sleep: perhaps in a page fault. */
static __always_inline void jis_fault_sleeps(struct jis_session *s, struct jis_thread *n,
					     struct task_struct *task)
{
	if (unlikely(s->threads->faults) && jis_thread_fault(s, n)->pending)
		jis_record_fault(s, n, task);
}

#endif /* JIS_FAMILIES_H */
