// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cgroups of the unified hierarchy: who is in which, and what they are called. A name is asked for
 * only where no run queue is locked; one that was first seen inside of a switch is for the recorder
 * to find.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>

#include "cgroups.h"

#ifdef CONFIG_CGROUPS
#include <trace/events/cgroup.h>

#define NAMES 1024u /* slots; a power of two */
#define WINDOW 8u   /* a number is in one of so many slots, or has no room */
#define PATH_SIZE 256u

/* Numbers of cgroups whose names are in the trace; none is ever taken out. */
struct jis_cgroups {
	u32 told[NAMES];
};

/* The slot of a number that is told, or an empty one, or NULL: leave it to the recorder. */
static notrace u32 *cgroup_slot(struct jis_cgroups *names, u32 number)
{
	u32 i, at = number * 0x9e3779b1u >> 16;

	for (i = 0; i < WINDOW; i++) {
		u32 *slot = &names->told[(at + i) % NAMES];
		u32 is = READ_ONCE(*slot);

		if (is == number || !is)
			return slot;
	}
	return NULL;
}

/* Two that tell the same name at once both do. */
static notrace void record_name(struct jis_session *s, u32 number, const char *path)
{
	u32 *slot = cgroup_slot(s->cgroups, number);
	struct jis_ev_cgroup_name *ev;
	struct jis_text text;
	unsigned long irq;

	if (!slot || READ_ONCE(*slot) == number)
		return;
	text = jis_text_fit(path);
	ev = jis_record_begin(s, JIS_EV_cgroup_name, sizeof(*ev) + text.size, &irq);
	if (ev) {
		ev->cgroup = number;
		ev->path_length = text.size;
		jis_text_write(ev->path, &text);
		cmpxchg(slot, 0, number);
	}
	jis_record_end(irq);
}

static notrace void record_attach(struct jis_session *s, struct task_struct *task, u32 number)
{
	struct jis_ev_cgroup_attach *ev;
	unsigned long irq;

	ev = jis_record_begin(s, JIS_EV_cgroup_attach, sizeof(*ev), &irq);
	if (ev) {
		ev->tid = task->pid;
		ev->pid = task->tgid;
		ev->cgroup = number;
	}
	jis_record_end(irq);
}

static notrace void cgroup_tell(struct jis_session *s, struct cgroup *cgroup)
{
	u32 number = jis_cgroup_number(cgroup), *slot = cgroup_slot(s->cgroups, number);
	char path[PATH_SIZE];
	int len;

	/* With a real-time kernel the lock of names sleeps, and a probe must not. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT) || !slot || READ_ONCE(*slot) == number)
		return;
	len = cgroup_path(cgroup, path, sizeof(path));
	if (len > 0 && len < sizeof(path))
		record_name(s, number, path);
}

/**
 * jis_record_cgroup - tells the cgroup of a thread, its name and those above it first. Not under a
 * run queue's lock.
 */
notrace void jis_record_cgroup(struct jis_session *s, struct task_struct *task)
{
	struct cgroup *cgroup, *above;

	rcu_read_lock();
	cgroup = jis_cgroup_of(task);
	for (above = cgroup; above; above = cgroup_parent(above))
		cgroup_tell(s, above);
	record_attach(s, task, jis_cgroup_number(cgroup));
	rcu_read_unlock();
}

static notrace void attach_told(struct jis_session *s, struct task_struct *task, u32 number)
{
	if (jis_is_target(s, task)) {
		jis_meet(s, task, JIS_MEET_LOOK);
		record_attach(s, task, number);
	} else {
		jis_part(s, task);
	}
}

/* After the move; of all threads of @task's process when @group. */
static notrace void probe_cgroup_attach_task(void *data, struct cgroup *cgroup, const char *path,
					     struct task_struct *task, bool group)
{
	struct jis_session *s = data;
	struct task_struct *t = task;
	u32 number;

	if (cgroup->root != &cgrp_dfl_root || !READ_ONCE(s->recording))
		return;
	number = jis_cgroup_number(cgroup);
	if (jis_is_target(s, task))
		record_name(s, number, path);
	if (!group) {
		attach_told(s, task, number);
		return;
	}
	rcu_read_lock();
	for_each_thread(task, t)
		attach_told(s, t, number);
	rcu_read_unlock();
}

static struct jis_probe cgroup_probes[] = {
	{.name = "cgroup_attach_task", .function = probe_cgroup_attach_task},
};

static void __maybe_unused check_probe_types(void)
{
	check_trace_callback_type_cgroup_attach_task(probe_cgroup_attach_task);
}

void jis_cgroups_find(void)
{
	jis_probes_look(cgroup_probes, ARRAY_SIZE(cgroup_probes));
}

u32 jis_cgroups_features(void)
{
	return jis_probes_found(cgroup_probes, ARRAY_SIZE(cgroup_probes)) ? JIS_FEATURE_CGROUP : 0;
}

int jis_cgroups_create(struct jis_session *s)
{
	s->cgroups = kzalloc(sizeof(*s->cgroups), JIS_GFP);
	return s->cgroups ? 0 : -ENOMEM;
}

/**
 * jis_cgroups_forget - tells names again from now on. One that is being told may be told twice.
 */
void jis_cgroups_forget(struct jis_session *s)
{
	u32 i;

	for (i = 0; s->cgroups && i < NAMES; i++)
		WRITE_ONCE(s->cgroups->told[i], 0);
}

void jis_cgroups_free(struct jis_session *s)
{
	kfree(s->cgroups);
	s->cgroups = NULL;
}

/**
 * jis_cgroups_probe - on or off; off cannot fail, may be repeated, and does not wait.
 */
int jis_cgroups_probe(struct jis_session *s, bool on)
{
	int err = 0;

	if (on == s->probing_cgroups)
		return 0;
	if (on)
		err = jis_probes_register(cgroup_probes, ARRAY_SIZE(cgroup_probes), s);
	else
		jis_probes_unregister(cgroup_probes, ARRAY_SIZE(cgroup_probes), s);
	if (!err)
		s->probing_cgroups = on;
	return err;
}
#else
void jis_cgroups_find(void)
{
}

u32 jis_cgroups_features(void)
{
	return 0;
}

int jis_cgroups_create(struct jis_session *s)
{
	return 0;
}

void jis_cgroups_free(struct jis_session *s)
{
}

void jis_cgroups_forget(struct jis_session *s)
{
}

int jis_cgroups_probe(struct jis_session *s, bool on)
{
	return 0;
}

void jis_record_cgroup(struct jis_session *s, struct task_struct *task)
{
}
#endif
