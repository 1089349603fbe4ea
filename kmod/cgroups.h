/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which cgroup of the unified hierarchy a thread is in: a few loads, in any context.
 */
#ifndef JIS_CGROUPS_H
#define JIS_CGROUPS_H

#include <linux/cgroup.h>
#include <linux/kernfs.h>

#include "jis.h"

#ifdef CONFIG_CGROUPS
/* What hangs on a thread's css_set goes no sooner than a grace period after the thread has left it.
 */
static __always_inline struct cgroup *jis_cgroup_of(const struct task_struct *task)
{
	return rcu_dereference_raw(task->cgroups)->dfl_cgrp;
}

static __always_inline u32 jis_cgroup_number(const struct cgroup *cgroup)
{
	return (u32)cgroup->kn->id;
}

/* Low 32 bits of its cgroup's number. With preemption off. */
static __always_inline u32 jis_task_cgroup(const struct task_struct *task)
{
	return jis_cgroup_number(jis_cgroup_of(task));
}
#else
static __always_inline u32 jis_task_cgroup(const struct task_struct *task)
{
	return 0;
}
#endif

#endif /* JIS_CGROUPS_H */
