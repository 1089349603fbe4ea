/* SPDX-License-Identifier: MIT */
/*
 * Threads that were there before we looked: their states from /proc, their tids into the kernel's
 * filter.
 *
 * A state read from /proc is noted with the time after the reading, and is written in time order
 * with the records. A record of the thread since recording began tells its state better, and then
 * the note takes that one (ftrace_convert.c): so the state dumped fits between the records around
 * it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ftrace.h"
#include "proc.h"

#define FOLLOW_TRIES 20
#define FILTER_BATCH 256

static int dump_thread(struct backend *b, const struct ft_target *target, uint32_t tid)
{
	const struct ft_task *task = ft_task_find(b->tasks, tid);
	struct proc_status status;
	struct ft_note note = {.tid = tid, .ns_tid = tid};
	struct proc_stat st;

	if (target->other_ns)
		note.ns_tid = proc_status_read((pid_t)tid, &status) ? 0 : status.ns_tid;
	if (proc_stat_read((pid_t)target->pid, (pid_t)tid, &st) || st.state == JIS_TASK_DEAD)
		return 0;
	note.state = st.state;
	if (st.state == JIS_TASK_RUNNING && proc_on_cpu((pid_t)target->pid, (pid_t)tid) == 0)
		note.state |= JIS_TASK_PREEMPTED;
	note.time = ft_now(b);
	note.cpu = st.cpu < b->nr_cpus ? st.cpu : 0;
	note.start_time = task && task->start_time ? task->start_time : st.start_time;
	snprintf(note.comm, sizeof(note.comm), "%.15s", st.comm);
	if (ft_note_add(b, &note))
		return 0;
	ft_cgroup_note(b, target, tid, note.time);
	return 1;
}

/* Makes @tid, found below @target in /proc, a thread of it. Returns whether it was not known. */
static bool thread_found(struct backend *b, struct ft_target *target, uint32_t tid)
{
	struct ft_task *task = ft_task_get(b->tasks, tid);
	struct proc_stat st;

	if (!task || (task->target == target && !task->dead))
		return false;
	if (task->target == target && task->exiting)
		return false;
	if (proc_stat_read((pid_t)target->pid, (pid_t)tid, &st) || st.state == JIS_TASK_DEAD)
		return false;
	ft_task_join(b->tasks, task, target);
	task->start_time = st.start_time;
	return true;
}

int ft_dump_target(struct backend *b, struct ft_target *target, bool all)
{
	uint32_t *tids;
	int i, n, noted = 0;

	if (target->thread)
		return all && target->threads ? dump_thread(b, target, target->thread) : 0;
	n = proc_threads((pid_t)target->pid, &tids);
	for (i = 0; i < n; i++)
		if (thread_found(b, target, tids[i]) || all)
			noted += dump_thread(b, target, tids[i]);
	if (n > 0)
		free(tids);
	return noted;
}

struct dump {
	struct backend *b;
	bool all;
};

static void dump_one(void *ctx, struct ft_target *target)
{
	struct dump *d = ctx;

	ft_dump_target(d->b, target, d->all);
}

/* A process in the kernel's filter that is no target: was its birth lost? */
static void filter_check(struct backend *b, uint32_t tid)
{
	const struct ft_task *task = ft_task_find(b->tasks, tid);
	const struct ft_target *parent;
	struct ft_target *target;
	struct proc_status status;

	if ((task && task->target) || proc_status_read((pid_t)tid, &status))
		return;
	if (status.tgid != tid || ft_target_find(b->tasks, tid))
		return;
	parent = ft_target_find(b->tasks, status.ppid);
	if (!parent || parent->removed || !(parent->flags & JIS_TARGET_CHILDREN))
		return;
	target = ft_target_new(b->tasks, tid, parent->flags);
	if (!target)
		return;
	target->other_ns = parent->other_ns || proc_in_other_pid_ns((pid_t)tid);
	ft_dump_target(b, target, false);
}

static void filter_scan(struct backend *b)
{
	size_t size = 1u << 20;
	char *text = malloc(size), *p, *end;

	if (text && tracefs_read(b->instance, "set_event_pid", text, size) > 0) {
		for (p = text; *p; p = end + strspn(end, "\n ")) {
			uint32_t tid = (uint32_t)strtoul(p, &end, 10);

			if (end == p)
				break;
			filter_check(b, tid);
		}
	}
	free(text);
}

void ft_dump_all(struct backend *b, bool all)
{
	struct dump d = {b, all};

	ft_targets_each(b->tasks, dump_one, &d);
	if (!b->unfiltered)
		filter_scan(b);
}

/* Adds those of @tids that are not in the kernel's filter yet: the ones we do not know. */
static int filter_add(struct backend *b, const uint32_t *tids, int n,
		      const struct ft_target *target)
{
	char text[FILTER_BATCH * 12];
	int i, used = 0, err = 0;

	if (b->unfiltered)
		return 0;
	for (i = 0; i < n && !err; i++) {
		const struct ft_task *task = ft_task_find(b->tasks, tids[i]);

		if (!task || task->target != target)
			used += snprintf(text + used, sizeof(text) - (size_t)used, "%u ", tids[i]);
		if (used && (i == n - 1 || used > (int)sizeof(text) - 16)) {
			err = tracefs_append(b->instance, "set_event_pid", text);
			used = 0;
		}
	}
	return err;
}

/* One look at the process's threads. Returns how many were new, or -errno. */
static int follow_threads(struct backend *b, struct ft_target *target)
{
	uint32_t *tids;
	int i, n, err, found = 0;

	n = proc_threads((pid_t)target->pid, &tids);
	if (n < 0)
		return n;
	err = filter_add(b, tids, n, target);
	for (i = 0; i < n && !err; i++)
		found += thread_found(b, target, tids[i]);
	free(tids);
	return err ? err : found;
}

int ft_target_follow(struct backend *b, uint32_t pid, uint32_t flags)
{
	struct ft_target *target = ft_target_find(b->tasks, pid);
	struct proc_status status;
	int i, n = 1;

	if (target && !target->removed)
		return -EEXIST;
	if (proc_status_read((pid_t)pid, &status) || status.tgid != pid)
		return -ESRCH;
	if (!target)
		target = ft_target_new(b->tasks, pid, flags);
	if (!target)
		return -ENOMEM;
	target->flags = flags;
	target->removed = false;
	target->other_ns = proc_in_other_pid_ns((pid_t)pid);
	/* Threads born meanwhile of ones not in the filter yet are seen by the next look. */
	for (i = 0; i < FOLLOW_TRIES && n > 0; i++)
		n = follow_threads(b, target);
	if (n < 0)
		return n;
	return target->threads ? 0 : -ESRCH;
}

int ft_thread_follow(struct backend *b, uint32_t tid)
{
	struct ft_task *task = ft_task_find(b->tasks, tid);
	struct proc_status status;
	struct ft_target *target;
	struct proc_stat st;
	int err;

	if (ft_task_in(task))
		return -EEXIST;
	if (proc_status_read((pid_t)tid, &status) ||
	    proc_stat_read((pid_t)status.tgid, (pid_t)tid, &st) || st.state == JIS_TASK_DEAD)
		return -ESRCH;
	task = ft_task_get(b->tasks, tid);
	target = task ? ft_target_new(b->tasks, status.tgid, 0) : NULL;
	if (!target)
		return -ENOMEM;
	target->thread = tid;
	target->other_ns = proc_in_other_pid_ns((pid_t)status.tgid);
	err = filter_add(b, &tid, 1, target);
	ft_task_join(b->tasks, task, target);
	task->start_time = st.start_time;
	if (err)
		target->removed = true;
	return err;
}
