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

#include "jis.h"

/* Of a thread that is no target: its name must be in the trace before its first use. Two uses of
 * one thread never race: each is on the CPU the thread holds, gets or leaves.
 */
static __always_inline void foreign_use(struct jis_session *s, struct task_struct *task)
{
	u32 pid = task->pid;

	if (pid && !(READ_ONCE(s->seen[BIT_WORD(pid)]) & BIT_MASK(pid)))
		jis_record_name(s, task);
}

/* As the switch leaves it. The kernel's prev_state is what the thread had set when it came to
 * schedule(); it stays runnable all the same when it was preempted, or a signal was pending: then
 * its state is running again by now (the run queue's lock is held, so no wake-up can have done
 * that).
 */
static __always_inline u32 switch_state(bool preempt, struct task_struct *prev, u32 state)
{
	if (preempt || !state || compat_task_state(prev) == TASK_RUNNING)
		return JIS_TASK_RUNNING | JIS_TASK_PREEMPTED;
	if (state & TASK_INTERRUPTIBLE)
		return JIS_TASK_INTERRUPTIBLE;
	return jis_task_state(state);
}

static __always_inline void switch_record(struct jis_session *s, bool preempt,
					  struct task_struct *prev, struct task_struct *next,
					  u32 state)
{
	struct jis_ev_sched_switch *ev;
	unsigned long irq;
	bool prev_in = jis_is_target(s, prev->tgid);
	bool next_in = jis_is_target(s, next->tgid);

	if ((!prev_in && !next_in && !s->all_switches) || !READ_ONCE(s->recording))
		return;
	if (!prev_in)
		foreign_use(s, prev);
	if (!next_in)
		foreign_use(s, next);
	state = switch_state(preempt, prev, state);
	ev = jis_record_begin(s, JIS_EV_sched_switch, sizeof(*ev), &irq);
	if (likely(ev)) {
		ev->prev_tid = prev->pid;
		ev->next_tid = next->pid;
		ev->prev_state = state;
		ev->prev_syscall = JIS_SYSCALL_UNKNOWN;
		ev->prev_cgroup = 0;
		ev->prev_vm_state = 0;
		ev->prev_os_state = 0;
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

static __always_inline u32 waker_context(void)
{
	if (hardirq_count())
		return JIS_WAKER_HARDIRQ;
	return in_serving_softirq() ? JIS_WAKER_SOFTIRQ : JIS_WAKER_TASK;
}

static notrace void probe_sched_waking(void *data, struct task_struct *task)
{
	struct jis_session *s = data;
	struct jis_ev_sched_waking *ev;
	unsigned long irq;

	if (!jis_is_target(s, task->tgid) || !READ_ONCE(s->recording))
		return;
	if (!jis_is_target(s, current->tgid))
		foreign_use(s, current);
	ev = jis_record_begin(s, JIS_EV_sched_waking, sizeof(*ev), &irq);
	if (likely(ev)) {
		ev->tid = task->pid;
		ev->waker_tid = current->pid;
		ev->context = waker_context();
		ev->target_cpu = task_cpu(task);
	}
	jis_record_end(irq);
}

static __always_inline void wakeup_record(struct jis_session *s, u32 id, struct task_struct *task)
{
	struct jis_ev_sched_wakeup *ev;
	unsigned long irq;

	if (!jis_is_target(s, task->tgid) || !READ_ONCE(s->recording))
		return;
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

static notrace void probe_sched_wakeup_new(void *data, struct task_struct *task)
{
	wakeup_record(data, JIS_EV_sched_wakeup_new, task);
}

/* The pid may have been another's: what was said of that one does not hold. */
static notrace void forget_name(struct jis_session *s, struct task_struct *task)
{
	if (test_bit(task->pid, s->seen))
		clear_bit(task->pid, s->seen);
}

static notrace void probe_sched_process_fork(void *data, struct task_struct *parent,
					     struct task_struct *child)
{
	struct jis_session *s = data;

	forget_name(s, child);
	if (!jis_is_target(s, parent->tgid))
		return;
	if (child->tgid != parent->tgid &&
	    !jis_targets_inherit(s->targets, parent->tgid, child->tgid))
		return;
	if (READ_ONCE(s->recording))
		jis_record_fork(s, parent, child);
}

static notrace void probe_sched_process_exec(void *data, struct task_struct *task, pid_t old_pid,
					     struct linux_binprm *bprm)
{
	struct jis_session *s = data;

	if (jis_is_target(s, task->tgid) && READ_ONCE(s->recording))
		jis_record_exec(s, task, old_pid, bprm->filename);
}

static __always_inline void exit_record(struct jis_session *s, struct task_struct *task)
{
	if (jis_is_target(s, task->tgid) && READ_ONCE(s->recording))
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
	if (!jis_is_target(s, task->tgid))
		return;
	if (READ_ONCE(s->recording))
		jis_record_free(s, task);
	if (task->pid == task->tgid)
		jis_targets_remove(s->targets, task->tgid);
}

static notrace void probe_task_rename(void *data, struct task_struct *task, const char *comm)
{
	struct jis_session *s = data;

	if (!jis_is_target(s, task->tgid))
		forget_name(s, task);
	else if (READ_ONCE(s->recording))
		jis_record_rename(s, task, comm);
}

struct jis_probe {
	const char *name;
	void *function;
	struct tracepoint *tracepoint; /* found by name: the kernel exports none of them */
};

/* clang-format off */
#define PROBE(event) { .name = #event, .function = probe_##event }

/* On while the session runs. */
static struct jis_probe switch_probes[] = {
	PROBE(sched_switch),
	PROBE(sched_waking),
	PROBE(sched_wakeup),
	PROBE(sched_wakeup_new),
};

/* On as long as the session has targets to follow. */
static struct jis_probe task_probes[] = {
	PROBE(sched_process_fork),
	PROBE(sched_process_exec),
	PROBE(sched_process_exit),
	PROBE(sched_process_free),
	PROBE(task_rename),
};

/* clang-format on */

/* tracepoint_probe_register() takes any pointer: a changed prototype must fail here, compiling. */
static void __maybe_unused check_probe_types(void)
{
	check_trace_callback_type_sched_switch(probe_sched_switch);
	check_trace_callback_type_sched_waking(probe_sched_waking);
	check_trace_callback_type_sched_wakeup(probe_sched_wakeup);
	check_trace_callback_type_sched_wakeup_new(probe_sched_wakeup_new);
	check_trace_callback_type_sched_process_fork(probe_sched_process_fork);
	check_trace_callback_type_sched_process_exec(probe_sched_process_exec);
	check_trace_callback_type_sched_process_exit(probe_sched_process_exit);
	check_trace_callback_type_sched_process_free(probe_sched_process_free);
	check_trace_callback_type_task_rename(probe_task_rename);
}

static void probe_match(struct jis_probe *probes, size_t n, struct tracepoint *tp)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(tp->name, probes[i].name))
			probes[i].tracepoint = tp;
}

static void probe_visit(struct tracepoint *tp, void *unused)
{
	probe_match(switch_probes, ARRAY_SIZE(switch_probes), tp);
	probe_match(task_probes, ARRAY_SIZE(task_probes), tp);
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

	for_each_kernel_tracepoint(probe_visit, NULL);
	err = probes_check(switch_probes, ARRAY_SIZE(switch_probes));
	return err ?: probes_check(task_probes, ARRAY_SIZE(task_probes));
}

static void probes_unregister(const struct jis_probe *probes, size_t n, void *data)
{
	while (n--)
		tracepoint_probe_unregister(probes[n].tracepoint, probes[n].function, data);
	tracepoint_synchronize_unregister();
}

static int probes_register(const struct jis_probe *probes, size_t n, void *data)
{
	size_t i;
	int err;

	for (i = 0; i < n; i++) {
		err = tracepoint_probe_register(probes[i].tracepoint, probes[i].function, data);
		if (err) {
			probes_unregister(probes, i, data);
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
		err = probes_register(probes, n, s);
	else if (!on && *is_on)
		probes_unregister(probes, n, s);
	if (!err)
		*is_on = on;
	return err;
}

/**
 * jis_probe_switches - the probes of switches and wake-ups, on or off.
 *
 * Switching off returns when none of them runs any more, and none of the others that saw
 * @s->recording as it was before; it cannot fail. The caller holds the session's lock.
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
