// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kinds of targets beside processes: single threads, members of cgroups, whoever executes a file of
 * some name, all. Processes are in targets.c; a probe asks here only for threads whose process is
 * none, and only in sessions that have such a rule.
 *
 * A member of a cgroup becomes a target without an event of ours. So it is introduced, by a
 * thread_state, before its first use; a bit for each tid says that this was done.
 */
#include <linux/binfmts.h>
#include <linux/cgroup.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "jis.h"
#include "pool.h"
#include "singles.h"

#define RULES_MAX 8u /* cgroups; and names */
#define MET_PAGES (DIV_ROUND_UP(PID_MAX_LIMIT / 8, PAGE_SIZE))

#define KIND_ALL 0x1u
#define KIND_CGROUP 0x2u
#define KIND_THREAD 0x4u

/* Never changed: a rule comes and goes as a whole, and no other is touched by that. */
struct filter_name {
	char text[JIS_TARGET_NAME_MAX];
	u32 flags;
};

struct jis_filter {
	u32 kinds;			   /* written with release: what they need is there */
	struct cgroup *cgroups[RULES_MAX]; /* with a reference each; NULL: free */
	struct filter_name __rcu *names[RULES_MAX]; /* NULL: free */
	struct jis_singles *threads;
	unsigned long *met;
};

/* The probes' side ------------------------------------------------------------------------- */

#ifdef HAVE_CGROUPS
static notrace bool filter_in_cgroup(const struct jis_filter *f, struct task_struct *task)
{
	struct cgroup *mine, *above;
	bool in = false;
	u32 i;

	rcu_read_lock();
	mine = rcu_dereference_raw(task->cgroups)->dfl_cgrp;
	for (i = 0; i < RULES_MAX && !in; i++) {
		above = READ_ONCE(f->cgroups[i]);
		in = above && cgroup_is_descendant(mine, above);
	}
	rcu_read_unlock();
	return in;
}
#else
static notrace bool filter_in_cgroup(const struct jis_filter *f, struct task_struct *task)
{
	return false;
}
#endif

/* Of a thread whose process is no target: is it one nevertheless? */
notrace bool jis_filter_match(const struct jis_filter *f, struct task_struct *task)
{
	u32 kinds = smp_load_acquire(&f->kinds); /* pairs with filter_enable() */

	if (!task->pid)
		return false;
	if (kinds & KIND_ALL)
		return true;
	if (kinds & KIND_THREAD && jis_single_find(f->threads, task))
		return true;
	return kinds & KIND_CGROUP && filter_in_cgroup(f, task);
}

/*
 * Those of processes named by number are told of when they become targets; a thread named by number
 * too, but it may have another number now.
 */
static notrace bool filter_is_new(const struct jis_session *s, const struct task_struct *task)
{
	const struct jis_filter *f = s->filter;
	u32 kinds = smp_load_acquire(&f->kinds); /* pairs with filter_enable() */
	const struct jis_single *single;

	if (!(kinds & (KIND_ALL | KIND_CGROUP | KIND_THREAD)) ||
	    jis_targets_have(s->targets, task->tgid))
		return false;
	single = kinds & KIND_THREAD ? jis_single_find(f->threads, task) : NULL;
	if (single)
		return READ_ONCE(single->told) != task->pid;
	return kinds & (KIND_ALL | KIND_CGROUP) && !test_bit(task->pid, f->met);
}

static notrace u32 filter_look(const struct task_struct *task)
{
	u32 state = jis_task_state(compat_task_state(task));

	if (compat_on_cpu(task))
		return JIS_TASK_RUNNING;
	if (state == JIS_TASK_RUNNING || compat_is_queued(task))
		return JIS_TASK_RUNNING | JIS_TASK_PREEMPTED;
	return state;
}

/**
 * jis_filter_introduce - says who a thread is. Its bit, where filters need one, is set only when
 * that is in the trace: what was lost is said again.
 */
notrace void jis_filter_introduce(struct jis_session *s, struct task_struct *task, u32 state)
{
	struct jis_ev_thread_state *ev;
	unsigned long irq;
	char comm[TASK_COMM_LEN];
	u32 len = jis_comm_copy(comm, task->comm), ns_tid = jis_ns_tid(task);

	ev = jis_record_begin(s, JIS_EV_thread_state, sizeof(*ev) + len, &irq);
	if (ev) {
		ev->tid = task->pid;
		ev->pid = task->tgid;
		ev->ns_tid = ns_tid;
		ev->state = state;
		ev->cpu = task_cpu(task);
		ev->start_time = task->start_boottime;
		ev->comm_length = len;
		memcpy(ev->comm, comm, len);
		if (READ_ONCE(s->filter))
			jis_filter_born(s, task);
	}
	jis_record_end(irq);
}

notrace void jis_filter_meet(struct jis_session *s, struct task_struct *task, u32 state)
{
	if (filter_is_new(s, task))
		jis_filter_introduce(s, task, state == JIS_MEET_LOOK ? filter_look(task) : state);
}

/* It is no target (any more): should it come back, it is introduced again. */
notrace void jis_filter_part(struct jis_session *s, struct task_struct *task)
{
	unsigned long *met = READ_ONCE(s->filter->met);

	if (met && task->pid && test_bit(task->pid, met))
		clear_bit(task->pid, met);
}

/* Its birth, or its state, is in the trace. */
notrace void jis_filter_born(struct jis_session *s, struct task_struct *task)
{
	struct jis_single *single = jis_single_find(s->filter->threads, task);
	unsigned long *met = READ_ONCE(s->filter->met);

	if (single)
		WRITE_ONCE(single->told, task->pid);
	if (met)
		set_bit(task->pid, met);
}

/**
 * jis_filter_forget - nobody is in the trace as it will be: before records begin, or begin again.
 */
void jis_filter_forget(struct jis_session *s)
{
	struct jis_filter *f = s->filter;
	u32 i;

	if (!f)
		return;
	for (i = 0; i < JIS_SINGLE_SLOTS; i++)
		WRITE_ONCE(f->threads->slots[i].told, 0);
	if (f->met)
		memset(f->met, 0, MET_PAGES * PAGE_SIZE);
}

bool jis_filter_met(const struct jis_session *s, const struct task_struct *task)
{
	const struct jis_single *single = jis_single_find(s->filter->threads, task);
	const unsigned long *met = READ_ONCE(s->filter->met);

	if (single)
		return READ_ONCE(single->told) == task->pid;
	return met && test_bit(task->pid, met);
}

notrace void jis_filter_free(struct jis_session *s, struct task_struct *task)
{
	jis_filter_part(s, task);
	jis_singles_remove(s->filter->threads, task);
}

static notrace bool name_is(const char *name, const char *path)
{
	return path && !strcmp(name, kbasename(path));
}

/*
 * Does a rule name what is executed: the file as it was called, or for a script its interpreter?
 * *flags: the rule's.
 */
static notrace bool filter_names(const struct jis_filter *f, const struct linux_binprm *bprm,
				 u32 *flags)
{
	const struct filter_name *name;
	bool found = false;
	u32 i;

	rcu_read_lock();
	for (i = 0; f && i < RULES_MAX && !found; i++) {
		name = rcu_dereference(f->names[i]);
		found = name && (name_is(name->text, bprm->filename) ||
				 name_is(name->text, bprm->interp));
		if (found)
			*flags = name->flags;
	}
	rcu_read_unlock();
	return found;
}

static notrace void exec_revoke(struct jis_session *s, struct task_struct *task)
{
	struct jis_filter *f = READ_ONCE(s->filter);

	jis_targets_remove(s->targets, task->tgid, 0);
	if (f)
		jis_singles_remove(f->threads, task);
}

/**
 * jis_filter_exec - the current thread, alone in its process now, has become another program.
 *
 * Records that, if it was a target; and settles whether it still is one, or becomes one.
 */
notrace void jis_filter_exec(struct jis_session *s, struct task_struct *task, u32 old_tid,
			     const struct linux_binprm *bprm)
{
	bool was, recording = READ_ONCE(s->recording);
	u32 flags;

	jis_pools_forget(s, task->tgid); /* what the addresses in them meant is gone */
	was = jis_is_target(s, task);
	if (was && !jis_rights_task(s, task)) { /* set-user-ID: the user's rights end here */
		exec_revoke(s, task);
		return;
	}
	if (was) {
		if (recording) {
			jis_meet(s, task, JIS_TASK_RUNNING);
			jis_record_exec(s, task, old_tid, bprm->filename);
		}
		jis_targets_exec(s->targets, task->tgid);
	}
	if (!filter_names(READ_ONCE(s->filter), bprm, &flags) ||
	    jis_targets_have(s->targets, task->tgid))
		return;
	if (!jis_targets_add(s->targets, task->tgid, task->start_boottime, flags) && recording &&
	    !was) {
		jis_filter_introduce(s, task, JIS_TASK_RUNNING);
		jis_record_exec(s, task, old_tid, bprm->filename);
	}
}

/* Rules come and go ----------------------------------------------------------------------- */

u32 jis_filter_features(void)
{
#ifdef HAVE_CGROUPS
	return JIS_FEATURE_CGROUP;
#else
	return 0;
#endif
}

/* How many targets there are that are no processes. */
u32 jis_filter_count(const struct jis_session *s)
{
	const struct jis_filter *f = READ_ONCE(s->filter);
	u32 i, n;

	if (!f)
		return 0;
	n = jis_count(f->threads->count) + !!(READ_ONCE(f->kinds) & KIND_ALL);
	for (i = 0; i < RULES_MAX; i++)
		n += !!READ_ONCE(f->cgroups[i]);
	return n;
}

/**
 * jis_filter_check - is it a target as it may be named, and, with @add, added? Returns 0 or
 * -EINVAL.
 */
int jis_filter_check(const struct jis_target *target, bool add)
{
	static const struct {
		u32 flags;
		bool pid, fd, name;
	} kinds[] = {
		[JIS_TARGET_PROCESS] = {JIS_TARGET_CHILDREN | JIS_TARGET_UNTIL_EXEC |
						JIS_TARGET_FIRST_EXEC,
					.pid = true},
		[JIS_TARGET_THREAD] = {.pid = true},
		[JIS_TARGET_CGROUP] = {.fd = true},
		[JIS_TARGET_EXECUTABLE] = {JIS_TARGET_CHILDREN | JIS_TARGET_UNTIL_EXEC,
					   .name = true},
		[JIS_TARGET_ALL] = {0},
	};
	size_t length = strnlen(target->name, sizeof(target->name));
	u32 kind = target->kind;

	if (kind >= ARRAY_SIZE(kinds) || target->reserved ||
	    target->flags & ~(add ? kinds[kind].flags : 0) || !target->pid != !kinds[kind].pid ||
	    (target->fd && !kinds[kind].fd) || !length != !kinds[kind].name)
		return -EINVAL;
	if (target->flags & JIS_TARGET_FIRST_EXEC && !(target->flags & JIS_TARGET_UNTIL_EXEC))
		return -EINVAL;
	if (length == sizeof(target->name) || strchr(target->name, '/') ||
	    memchr_inv(target->name + length, 0, sizeof(target->name) - length))
		return -EINVAL;
	return 0;
}

static void filter_enable(struct jis_filter *f, u32 kind)
{
	smp_store_release(&f->kinds, f->kinds | kind); /* pairs with the acquires in probes */
}

/* Returns when no probe uses what the kind stood for. */
static void filter_disable(struct jis_filter *f, u32 kind)
{
	WRITE_ONCE(f->kinds, f->kinds & ~kind);
	synchronize_rcu();
}

static int filter_make(struct jis_session *s)
{
	struct jis_filter *f;

	if (s->filter)
		return 0;
	f = kvzalloc(sizeof(*f), JIS_GFP);
	if (!f)
		return -ENOMEM;
	f->threads = jis_singles_create();
	if (!f->threads) {
		kvfree(f);
		return -ENOMEM;
	}
	smp_store_release(&s->filter, f); /* probes follow the pointer */
	return 0;
}

/* Room for who was introduced, for kinds whose members come unannounced. */
static int filter_make_met(struct jis_session *s)
{
	struct jis_filter *f = s->filter;
	unsigned long *met;
	int err;

	if (f->met)
		return 0;
	err = jis_charge(s, MET_PAGES);
	if (err)
		return err;
	met = kvzalloc(MET_PAGES * PAGE_SIZE, JIS_GFP);
	if (!met) {
		jis_uncharge(MET_PAGES);
		return -ENOMEM;
	}
	s->nr_pages += MET_PAGES;
	WRITE_ONCE(f->met, met);
	return 0;
}

void jis_filter_destroy(struct jis_session *s)
{
	struct jis_filter *f = s->filter;
	u32 i;

	if (!f)
		return;
	s->filter = NULL;
	for (i = 0; i < RULES_MAX; i++) {
		if (f->cgroups[i])
			cgroup_put(f->cgroups[i]);
		kfree(rcu_access_pointer(f->names[i]));
	}
	kvfree(f->met);
	kvfree(f->threads);
	kvfree(f);
}

/* Thread @nr of the caller's pid namespace, with a reference; NULL: there is none. */
static struct task_struct *thread_get(u32 nr)
{
	struct pid *pid = nr <= PID_MAX_LIMIT ? find_get_pid(nr) : NULL;
	struct task_struct *task = get_pid_task(pid, PIDTYPE_PID);

	put_pid(pid);
	return task;
}

static int thread_add(struct jis_session *s, struct task_struct *task)
{
	struct jis_singles *threads = s->filter->threads;
	int err;

	if (!jis_rights_task(s, task))
		return -EPERM;
	err = jis_singles_add(threads, task);
	if (err)
		return err;
	filter_enable(s->filter, KIND_THREAD);
	/* See jis_target_add(). */
	if (!jis_rights_task(s, task))
		err = -EPERM;
	else if (!pid_alive(task))
		err = -ESRCH;
	if (err)
		jis_singles_remove(threads, task);
	else if (s->recording && !jis_targets_have(s->targets, task->tgid) &&
		 !jis_filter_met(s, task))
		jis_dump_thread(s, task);
	return err;
}

#ifdef HAVE_CGROUPS
static struct cgroup *cgroup_get_dfl(int fd)
{
	struct cgroup *cgroup = cgroup_get_from_fd(fd);

	if (!IS_ERR(cgroup) && cgroup->root != &cgrp_dfl_root) {
		cgroup_put(cgroup);
		return ERR_PTR(-EBADF);
	}
	return cgroup;
}
#else
static struct cgroup *cgroup_get_dfl(int fd)
{
	return ERR_PTR(-EOPNOTSUPP);
}
#endif

/* The rule for @cgroup, or with NULL one that is free; -1: there is none. */
static int cgroup_rule(const struct jis_filter *f, const struct cgroup *cgroup)
{
	int i;

	for (i = 0; i < RULES_MAX; i++)
		if (f->cgroups[i] == cgroup)
			return i;
	return -1;
}

static int cgroup_add(struct jis_session *s, int fd)
{
	struct cgroup *cgroup = cgroup_get_dfl(fd);
	struct jis_filter *f = s->filter;
	int i, err;

	if (IS_ERR(cgroup))
		return PTR_ERR(cgroup);
	i = cgroup_rule(f, NULL);
	err = cgroup_rule(f, cgroup) >= 0 ? -EEXIST : i < 0 ? -ENOSPC : filter_make_met(s);
	if (err) {
		cgroup_put(cgroup);
		return err;
	}
	WRITE_ONCE(f->cgroups[i], cgroup);
	filter_enable(f, KIND_CGROUP);
	return 0;
}

static int cgroup_remove(struct jis_session *s, int fd)
{
	struct cgroup *cgroup = cgroup_get_dfl(fd);
	int i;

	if (IS_ERR(cgroup))
		return PTR_ERR(cgroup);
	cgroup_put(cgroup);
	i = cgroup_rule(s->filter, cgroup);
	if (i < 0)
		return -ESRCH;
	WRITE_ONCE(s->filter->cgroups[i], NULL);
	synchronize_rcu();
	cgroup_put(cgroup);
	return 0;
}

/* Rules by name change under the session's lock only. */
static struct filter_name *name_get(const struct jis_session *s, u32 i)
{
	return rcu_dereference_protected(s->filter->names[i], lockdep_is_held(&s->lock));
}

/* The rule of that name, or with NULL one that is free; -1: there is none. */
static int name_rule(const struct jis_session *s, const char *text)
{
	const struct filter_name *name;
	u32 i;

	for (i = 0; i < RULES_MAX; i++) {
		name = name_get(s, i);
		if (text ? name && !strcmp(name->text, text) : !name)
			return i;
	}
	return -1;
}

static int name_add(struct jis_session *s, const struct jis_target *target)
{
	struct filter_name *name;
	int i;

	if (name_rule(s, target->name) >= 0)
		return -EEXIST;
	i = name_rule(s, NULL);
	if (i < 0)
		return -ENOSPC;
	name = kzalloc(sizeof(*name), GFP_KERNEL_ACCOUNT);
	if (!name)
		return -ENOMEM;
	name->flags = target->flags;
	memcpy(name->text, target->name, sizeof(name->text));
	rcu_assign_pointer(s->filter->names[i], name);
	return 0;
}

static int name_remove(struct jis_session *s, const struct jis_target *target)
{
	int i = name_rule(s, target->name);
	struct filter_name *name;

	if (i < 0)
		return -ESRCH;
	name = name_get(s, i);
	RCU_INIT_POINTER(s->filter->names[i], NULL);
	synchronize_rcu();
	kfree(name);
	return 0;
}

static int all_add(struct jis_session *s)
{
	int err = s->filter->kinds & KIND_ALL ? -EEXIST : filter_make_met(s);

	if (!err)
		filter_enable(s->filter, KIND_ALL);
	return err;
}

static int filter_add_rule(struct jis_session *s, const struct jis_target *target)
{
	int err;

	if (s->restricted)
		return -EPERM;
	if (target->kind == JIS_TARGET_EXECUTABLE)
		return name_add(s, target);
	err = target->kind == JIS_TARGET_CGROUP ? cgroup_add(s, target->fd) : all_add(s);
	if (!err && s->recording)
		jis_dump_filtered(s, false);
	return err;
}

/**
 * jis_filter_add - adds a target of any kind, checked by jis_filter_check().
 *
 * Returns 0; -ESRCH; -EEXIST; -ENOSPC (too many of the kind); -EPERM (not in a restricted session);
 * -EBADF (no cgroup of the unified hierarchy); -EOPNOTSUPP; -ENOMEM. The caller holds the session's
 * lock, as with the following ones.
 */
int jis_filter_add(struct jis_session *s, const struct jis_target *target)
{
	struct task_struct *task;
	int err;

	if (target->kind == JIS_TARGET_PROCESS)
		return jis_target_add(s, target->pid, target->flags);
	err = filter_make(s);
	if (err)
		return err;
	if (target->kind != JIS_TARGET_THREAD)
		return filter_add_rule(s, target);
	task = thread_get(target->pid);
	if (!task)
		return -ESRCH;
	err = thread_add(s, task);
	put_task_struct(task);
	return err;
}

static int thread_remove(struct jis_session *s, u32 nr)
{
	struct task_struct *task = thread_get(nr);
	bool was;

	if (!task)
		return -ESRCH;
	was = jis_singles_remove(s->filter->threads, task);
	put_task_struct(task);
	return was ? 0 : -ESRCH;
}

/**
 * jis_filter_remove - takes it back. What processes it made targets stay so. Returns 0, -ESRCH (it
 * is none), -EBADF.
 */
int jis_filter_remove(struct jis_session *s, const struct jis_target *target)
{
	struct jis_filter *f = s->filter;

	if (target->kind == JIS_TARGET_PROCESS)
		return jis_target_remove(s, target->pid);
	if (!f)
		return -ESRCH;
	switch (target->kind) {
	case JIS_TARGET_THREAD:
		return thread_remove(s, target->pid);
	case JIS_TARGET_CGROUP:
		return cgroup_remove(s, target->fd);
	case JIS_TARGET_EXECUTABLE:
		return name_remove(s, target);
	default:
		if (!(f->kinds & KIND_ALL))
			return -ESRCH;
		filter_disable(f, KIND_ALL);
		return 0;
	}
}

static int thread_test(struct jis_session *s, u32 nr)
{
	struct task_struct *task = thread_get(nr);
	bool is_target = task && jis_is_target(s, task);

	if (task)
		put_task_struct(task);
	return is_target ? 0 : -ESRCH;
}

static int cgroup_test(struct jis_session *s, int fd)
{
	struct cgroup *cgroup = cgroup_get_dfl(fd);

	if (IS_ERR(cgroup))
		return PTR_ERR(cgroup);
	cgroup_put(cgroup);
	return s->filter && cgroup_rule(s->filter, cgroup) >= 0 ? 0 : -ESRCH;
}

/**
 * jis_filter_test - is the process or thread recorded, is there the rule? Returns 0 or -ESRCH.
 */
int jis_filter_test(struct jis_session *s, const struct jis_target *target)
{
	struct jis_filter *f = s->filter;

	switch (target->kind) {
	case JIS_TARGET_PROCESS:
		return jis_target_test(s, target->pid);
	case JIS_TARGET_THREAD:
		return thread_test(s, target->pid);
	case JIS_TARGET_CGROUP:
		return cgroup_test(s, target->fd);
	case JIS_TARGET_EXECUTABLE:
		return f && name_rule(s, target->name) >= 0 ? 0 : -ESRCH;
	default:
		return f && f->kinds & KIND_ALL ? 0 : -ESRCH;
	}
}
