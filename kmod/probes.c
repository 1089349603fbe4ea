// SPDX-License-Identifier: GPL-2.0-only
/*
 * The probes: what runs inside the kernel's scheduler for each session, as short as it can be.
 *
 * Each session registers probes of its own with itself as data. A probe filters, gathers the
 * fields, then has interrupts off from reading the clock to the last byte written; it relies
 * neither on preemption being off when it is called (newer kernels call some with it on) nor on the
 * session's lock. It never sleeps, allocates, wakes or prints. The kernel fires none of these
 * events from NMI.
 */
#include <linux/binfmts.h>
#include <linux/hardirq.h>
#include <linux/sched.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>
#include <trace/events/task.h>

#include "cgroups.h"
#include "families.h"
#include "pool.h"
#include "sources.h"
#include "syscalls.h"
#include "throttle.h"

/* As the switch leaves it. The kernel's prev_state is what the thread had set when it came to
 * schedule(); it stays runnable all the same when it was preempted, or a signal was pending: then
 * its state is running again by now (the run queue's lock is held, so no wake-up can have done
 * that).
 */
static __always_inline u32 switch_state(bool preempt, struct task_struct *prev, u32 state)
{
	u32 iowait;

	if (preempt || !state || compat_task_state(prev) == TASK_RUNNING)
		return JIS_TASK_RUNNING | JIS_TASK_PREEMPTED;
	/* Its own bit; a waker may be writing another of the same word already. */
	iowait = data_race(!!prev->in_iowait) ? JIS_TASK_IOWAIT : 0;
	if (state & TASK_INTERRUPTIBLE)
		return JIS_TASK_INTERRUPTIBLE | iowait;
	return jis_task_state(state) | iowait;
}

/* A target leaves this CPU: into its run queue, or not. */
static __always_inline void switch_leave(struct jis_session *s, struct task_struct *task, u32 state)
{
	struct jis_thread *n = jis_thread_note(s, task);

	if (unlikely(!n))
		return;
	if (!(state & JIS_TASK_PREEMPTED)) {
		jis_fault_sleeps(s, n, task);
		return;
	}
	jis_thread_ready(s, n, smp_processor_id() + 1);
	/* It may have been moved while it ran, and have used up its new cgroup's quota already. */
	jis_throttle_see(s, n, task);
}

/* A target takes this CPU. */
static __always_inline void switch_take(struct jis_session *s, struct task_struct *task)
{
	struct jis_thread *n = jis_thread_note(s, task);

	if (unlikely(!n))
		return;
	jis_thread_ready(s, n, 0);
	jis_throttle_see(s, n, task);
}

/* Another takes it. One that was a target a moment ago, and is counted still, waits no more. */
static __always_inline void switch_foreign(struct jis_session *s, struct task_struct *task)
{
	struct jis_thread *n = unlikely(jis_ready_here(s)) ? jis_thread_find(s, task) : NULL;

	if (unlikely(n))
		jis_thread_ready(s, n, 0);
	jis_foreign_use(s, task);
}

static __always_inline void switch_record(struct jis_session *s, bool preempt,
					  struct task_struct *prev, struct task_struct *next,
					  u32 state)
{
	struct jis_ev_sched_switch *ev;
	unsigned long irq;
	bool prev_in = jis_is_target(s, prev);
	bool next_in = jis_is_target(s, next);
	u32 words[2] = {0, 0};

	/* Who has the CPU while a target waits for it, the trace must tell: those switches too. */
	if ((!prev_in && !next_in && !s->all_switches && (s->restricted || !jis_ready_here(s))) ||
	    !READ_ONCE(s->recording))
		return;
	if (prev_in)
		jis_meet(s, prev, JIS_TASK_RUNNING);
	if (next_in)
		jis_meet(s, next, JIS_TASK_RUNNING | JIS_TASK_PREEMPTED);
	if (prev_in)
		jis_words_read(s, prev, words);
	jis_steal_look(s);
	state = switch_state(preempt, prev, state);
	if (prev_in)
		switch_leave(s, prev, state);
	else
		jis_foreign_use(s, prev);
	if (next_in)
		switch_take(s, next);
	else
		switch_foreign(s, next);
	ev = jis_record_begin(s, JIS_EV_sched_switch, sizeof(*ev), &irq);
	if (likely(ev)) {
		ev->prev_tid = prev->pid;
		ev->next_tid = next->pid;
		ev->prev_state = state;
		ev->prev_syscall = prev_in ? jis_task_syscall(prev) : JIS_SYSCALL_UNKNOWN;
		ev->prev_cgroup = prev_in ? jis_task_cgroup(prev) : 0;
		ev->prev_vm_state = words[0];
		ev->prev_os_state = words[1];
	}
	jis_record_end(irq);
}

#ifdef HAVE_SWITCH_PREV_STATE
static notrace void probe_sched_switch(void *data, bool preempt, struct task_struct *prev,
				       struct task_struct *next, unsigned int prev_state)
{
	switch_record(data, preempt, prev, next, prev_state);
}
#else
static notrace void probe_sched_switch(void *data, bool preempt, struct task_struct *prev,
				       struct task_struct *next)
{
	switch_record(data, preempt, prev, next, compat_task_state(prev));
}
#endif

static notrace void probe_sched_waking(void *data, struct task_struct *task)
{
	struct jis_session *s = data;
	struct jis_ev_sched_waking *ev;
	unsigned long irq;

	if (!jis_is_target(s, task) || !READ_ONCE(s->recording))
		return;
	jis_meet(s, task, JIS_MEET_LOOK);
	jis_use_current(s);
	ev = jis_record_begin(s, JIS_EV_sched_waking, sizeof(*ev), &irq);
	if (likely(ev)) {
		ev->tid = task->pid;
		ev->waker_tid = current->pid;
		ev->context = jis_waker(s, &ev->source);
		ev->target_cpu = task_cpu(task);
	}
	jis_record_end(irq);
}

/* The lock of the run queue @task is in is held, save when it wakes itself: then it has the CPU. */
static __always_inline void wakeup_queued(struct jis_session *s, struct task_struct *task)
{
	struct jis_thread *n = jis_thread_find(s, task);

	if (!n || compat_on_cpu(task))
		return;
	jis_thread_ready(s, n, task_cpu(task) + 1);
	jis_throttle_see(s, n, task);
}

static __always_inline void wakeup_record(struct jis_session *s, u32 id, struct task_struct *task)
{
	struct jis_ev_sched_wakeup *ev;
	unsigned long irq;

	if (!jis_is_target(s, task) || !READ_ONCE(s->recording))
		return;
	jis_meet(s, task, JIS_MEET_LOOK);
	wakeup_queued(s, task);
	ev = jis_record_begin(s, id, sizeof(*ev), &irq);
	if (likely(ev)) {
		ev->tid = task->pid;
		ev->target_cpu = task_cpu(task);
	}
	jis_record_end(irq);
}

static notrace void probe_sched_wakeup(void *data, struct task_struct *task)
{
	wakeup_record(data, JIS_EV_sched_wakeup, task);
}

static_assert(sizeof(struct jis_ev_sched_wakeup_new) == sizeof(struct jis_ev_sched_wakeup));

/* Workers that the kernel makes of a process's own, for io_uring or vhost, are born unannounced. */
static __always_inline bool is_user_worker(const struct task_struct *task)
{
	u32 flags = 0;

#ifdef PF_IO_WORKER
	flags |= PF_IO_WORKER;
#endif
#ifdef PF_USER_WORKER
	flags |= PF_USER_WORKER;
#endif
	/* Others of them may be changed right where it was interrupted. */
	return data_race(task->flags) & flags;
}

static notrace void probe_sched_wakeup_new(void *data, struct task_struct *task)
{
	struct jis_session *s = data;

	if (unlikely(is_user_worker(task)) && READ_ONCE(s->recording) &&
	    jis_targets_have(s->targets, task->tgid)) /* filters introduce theirs */
		jis_filter_introduce(s, task, JIS_TASK_RUNNING | JIS_TASK_PREEMPTED);
	wakeup_record(data, JIS_EV_sched_wakeup_new, task);
}

/*
 * A thread that waits is moved with its run queue's lock held; a sleeping one is only told where it
 * will wake. One that the dump has not counted yet may be moved too.
 */
static notrace void probe_sched_migrate_task(void *data, struct task_struct *task, int dest_cpu)
{
	struct jis_session *s = data;
	struct jis_ev_sched_migrate_task *ev;
	struct jis_thread *n;
	unsigned long irq;

	n = jis_thread_find(s, task);
	if (!jis_is_target(s, task)) {
		if (n) /* one no more, and counted still */
			jis_thread_ready(s, n, 0);
		return;
	}
	if (!READ_ONCE(s->recording) || task_cpu(task) == dest_cpu)
		return;
	jis_meet(s, task, JIS_MEET_LOOK);
	if (n && (READ_ONCE(n->ready) || compat_is_queued(task)))
		jis_thread_ready(s, n, dest_cpu + 1);
	ev = jis_record_begin(s, JIS_EV_sched_migrate_task, sizeof(*ev), &irq);
	if (likely(ev)) {
		ev->tid = task->pid;
		ev->orig_cpu = task_cpu(task);
		ev->dest_cpu = dest_cpu;
	}
	jis_record_end(irq);
}

/* The pid may have been another's: what was said of that one does not hold. */
static notrace void forget_name(struct jis_session *s, struct task_struct *task)
{
	if (test_bit(task->pid, s->seen))
		clear_bit(task->pid, s->seen);
}

/* Is the child a target? The parent's process may hand that on; else a filter may cover it. */
static notrace bool fork_target(struct jis_session *s, struct task_struct *parent,
				struct task_struct *child)
{
	const struct jis_filter *f = READ_ONCE(s->filter);

	if (jis_targets_have(s->targets, parent->tgid) &&
	    (child->tgid == parent->tgid ||
	     jis_targets_inherit(s->targets, parent->tgid, child->tgid, child->start_boottime)))
		return true;
	return f && jis_filter_match(f, child);
}

static notrace void probe_sched_process_fork(void *data, struct task_struct *parent,
					     struct task_struct *child)
{
	struct jis_session *s = data;

	forget_name(s, child);
	if (child->pid == child->tgid && unlikely(jis_targets_have(s->targets, child->tgid)))
		jis_targets_new_owner(s->targets, child->tgid, child->start_boottime);
	if (!fork_target(s, parent, child) || !READ_ONCE(s->recording))
		return;
	jis_use_current(s);
	jis_record_fork(s, parent, child);
	jis_thread_first(s, child);
	jis_record_cgroup(s, child);
}

static notrace void probe_sched_process_exec(void *data, struct task_struct *task, pid_t old_pid,
					     struct linux_binprm *bprm)
{
	struct jis_session *s = data;

	/* It has its leader's tid and start time now: the entry by its own is nobody's. */
	if (old_pid != task->pid)
		jis_thread_remove(s, old_pid, 0);
	jis_filter_exec(s, task, old_pid, bprm);
}

static __always_inline void exit_record(struct jis_session *s, struct task_struct *task)
{
	if (!jis_is_target(s, task) || !READ_ONCE(s->recording))
		return;
	jis_meet(s, task, JIS_TASK_RUNNING);
	jis_record_exit(s, task);
}

#ifdef HAVE_EXIT_GROUP_DEAD
static notrace void probe_sched_process_exit(void *data, struct task_struct *task, bool group_dead)
{
	exit_record(data, task);
}
#else
static notrace void probe_sched_process_exit(void *data, struct task_struct *task)
{
	exit_record(data, task);
}
#endif

/* A process's leader is the last of its threads to be released: with it goes the target's entry. */
static notrace void probe_sched_process_free(void *data, struct task_struct *task)
{
	struct jis_session *s = data;

	forget_name(s, task);
	if (jis_thread_find(s, task))
		jis_thread_remove(s, task->pid, task->start_boottime);
	if (!jis_is_target(s, task)) {
		jis_part(s, task);
		return;
	}
	if (READ_ONCE(s->recording)) {
		jis_meet(s, task, JIS_TASK_DEAD);
		jis_record_free(s, task);
	}
	if (task->pid == task->tgid)
		jis_targets_remove(s->targets, task->tgid, task->start_boottime);
	if (unlikely(READ_ONCE(s->filter)))
		jis_filter_free(s, task);
}

static notrace void probe_task_rename(void *data, struct task_struct *task, const char *comm)
{
	struct jis_session *s = data;

	if (!jis_is_target(s, task)) {
		forget_name(s, task);
	} else if (READ_ONCE(s->recording)) {
		jis_meet(s, task, JIS_MEET_LOOK);
		jis_record_rename(s, task, comm);
	}
}

/* clang-format off */
#define PROBE(event) { .name = #event, .function = probe_##event }

/* On while the session runs. */
static struct jis_probe switch_probes[] = {
	PROBE(sched_switch),
	PROBE(sched_waking),
	PROBE(sched_wakeup),
	PROBE(sched_wakeup_new),
	PROBE(sched_migrate_task),
};

/* On as long as the session has targets to follow. */
static struct jis_probe task_probes[] = {
	PROBE(sched_process_fork),
	PROBE(sched_process_exec),
	PROBE(sched_process_exit),
	PROBE(sched_process_free),
	PROBE(task_rename),
};

/* On while the session runs and records system calls. */
static struct jis_probe syscall_probes[] = {
	{ .name = "sys_enter", .function = jis_sys_enter },
	{ .name = "sys_exit", .function = jis_sys_exit },
};

/* clang-format on */

/* tracepoint_probe_register() takes any pointer: a changed prototype must fail here, compiling. */
static void __maybe_unused check_probe_types(void)
{
	check_trace_callback_type_sched_switch(probe_sched_switch);
	check_trace_callback_type_sched_waking(probe_sched_waking);
	check_trace_callback_type_sched_wakeup(probe_sched_wakeup);
	check_trace_callback_type_sched_wakeup_new(probe_sched_wakeup_new);
	check_trace_callback_type_sched_migrate_task(probe_sched_migrate_task);
	check_trace_callback_type_sched_process_fork(probe_sched_process_fork);
	check_trace_callback_type_sched_process_exec(probe_sched_process_exec);
	check_trace_callback_type_sched_process_exit(probe_sched_process_exit);
	check_trace_callback_type_sched_process_free(probe_sched_process_free);
	check_trace_callback_type_task_rename(probe_task_rename);
}

struct probe_search {
	struct jis_probe *probes;
	size_t n;
};

static void probe_match(struct tracepoint *tp, void *data)
{
	struct probe_search *search = data;
	size_t i;

	for (i = 0; i < search->n; i++)
		if (!strcmp(tp->name, search->probes[i].name))
			search->probes[i].tracepoint = tp;
}

/**
 * jis_probes_look - finds the tracepoints of @n probes; what the kernel does not have stays NULL.
 */
void jis_probes_look(struct jis_probe *probes, size_t n)
{
	struct probe_search search = {probes, n};

	for_each_kernel_tracepoint(probe_match, &search);
}

/**
 * jis_probes_found - does the kernel have the tracepoints of all of them?
 */
bool jis_probes_found(const struct jis_probe *probes, size_t n)
{
	while (n--)
		if (!probes[n].tracepoint)
			return false;
	return true;
}

static int probes_check(const struct jis_probe *probes, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (!probes[i].tracepoint) {
			pr_err("this kernel has no tracepoint %s\n", probes[i].name);
			return -ENODEV;
		}
	}
	return 0;
}

/**
 * jis_probes_find - finds the tracepoints; once, when the module is loaded. Returns 0 or -ENODEV.
 */
int jis_probes_find(void)
{
	int err;

	jis_probes_look(switch_probes, ARRAY_SIZE(switch_probes));
	jis_probes_look(task_probes, ARRAY_SIZE(task_probes));
	jis_probes_look(syscall_probes, ARRAY_SIZE(syscall_probes));
	jis_sources_find();
	jis_cgroups_find();
	jis_families_find();
	jis_throttle_find();
	err = probes_check(switch_probes, ARRAY_SIZE(switch_probes));
	return err ?: probes_check(task_probes, ARRAY_SIZE(task_probes));
}

/**
 * jis_probes_wait - returns when no probe runs any more that was unregistered before.
 */
void jis_probes_wait(void)
{
	tracepoint_synchronize_unregister();
}

/**
 * jis_probes_unregister - none of them begins to run any more; jis_probes_wait() waits for those
 * that do.
 */
void jis_probes_unregister(const struct jis_probe *probes, size_t n, void *data)
{
	while (n--)
		if (probes[n].tracepoint)
			tracepoint_probe_unregister(probes[n].tracepoint, probes[n].function, data);
}

/**
 * jis_probes_register - all of them, or an error and none; those without a tracepoint are left out.
 * After an error too jis_probes_wait() must be called before what they use goes.
 */
int jis_probes_register(const struct jis_probe *probes, size_t n, void *data)
{
	size_t i;
	int err;

	for (i = 0; i < n; i++) {
		if (!probes[i].tracepoint)
			continue;
		err = tracepoint_probe_register(probes[i].tracepoint, probes[i].function, data);
		if (err) {
			jis_probes_unregister(probes, i, data);
			return err;
		}
	}
	return 0;
}

static int probes_switch(const struct jis_probe *probes, size_t n, struct jis_session *s, bool on,
			 bool *is_on)
{
	int err = 0;

	if (on && !*is_on)
		err = jis_probes_register(probes, n, s);
	else if (!on && *is_on)
		jis_probes_unregister(probes, n, s);
	if (!err)
		*is_on = on;
	return err;
}

/**
 * jis_probe_switches - the probes of switches and wake-ups, on or off.
 *
 * Off cannot fail, may be repeated, and does not wait: jis_probes_wait(). The caller holds the
 * session's lock.
 */
int jis_probe_switches(struct jis_session *s, bool on)
{
	return probes_switch(switch_probes, ARRAY_SIZE(switch_probes), s, on, &s->probing_switches);
}

/**
 * jis_probe_tasks - the probes that follow processes and threads; otherwise the same.
 */
int jis_probe_tasks(struct jis_session *s, bool on)
{
	return probes_switch(task_probes, ARRAY_SIZE(task_probes), s, on, &s->probing_tasks);
}

/**
 * jis_probe_syscalls - the probes of system calls; otherwise the same.
 */
int jis_probe_syscalls(struct jis_session *s, bool on)
{
	return probes_switch(syscall_probes, ARRAY_SIZE(syscall_probes), s, on,
			     &s->probing_syscalls);
}

/**
 * jis_syscalls_supported - has this kernel tracepoints of system calls?
 */
bool jis_syscalls_supported(void)
{
	return syscall_probes[0].tracepoint && syscall_probes[1].tracepoint;
}
