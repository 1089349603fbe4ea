/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which CPUs a cgroup's quota keeps its threads from.
 */
#ifndef JIS_THROTTLE_H
#define JIS_THROTTLE_H

#include "threads.h"

#if defined(CONFIG_CFS_BANDWIDTH) && defined(CONFIG_KRETPROBES)
#define JIS_HAS_THROTTLE 1
void jis_throttle_map(struct jis_session *s, struct task_struct *task);

/* With the lock of @task's run queue held: whose part of that run queue it is in. */
static __always_inline void jis_throttle_see(struct jis_session *s, struct jis_thread *n,
					     struct task_struct *task)
{
	if (likely(n->cfs_rq == task->se.cfs_rq) || !s->throttle)
		return;
	n->cfs_rq = task->se.cfs_rq;
	jis_throttle_map(s, task);
}
#else
static __always_inline void jis_throttle_see(struct jis_session *s, struct jis_thread *n,
					     struct task_struct *task)
{
}
#endif

unsigned long jis_throttle_pages(void);
void jis_throttle_find(void);
u32 jis_throttle_features(void);
u64 jis_throttle_refused(const struct jis_session *s);
int jis_throttle_create(struct jis_session *s);
void jis_throttle_free(struct jis_session *s);
int jis_throttle_probe(struct jis_session *s, bool on);

#endif /* JIS_THROTTLE_H */
