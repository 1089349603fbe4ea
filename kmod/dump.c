// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state dump: what each thread of a target is when its recording begins.
 *
 * The probes record already, so a dumped state must fit between the switches and wake-ups around
 * it: true at the time it is stamped with, neither before nor after. A sleeping thread's fields
 * tell that anywhere, as long as they are the same before and after the stamp. Those of a runnable
 * one do not: a switch is recorded some time before on_cpu follows it. So a runnable thread is
 * looked at on its own CPU, with interrupts off, where no switch is under way.
 */
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/smp.h>

#include "jis.h"

/* After so many looks at a thread that never holds still the last one must do. */
#define DUMP_TRIES 100

struct dump_sample {
	u32 state; /* the kernel's bits, exit state included */
	bool on_cpu;
	u32 cpu;
	unsigned long switches;
};

struct dump_request {
	struct jis_session *session;
	struct task_struct *task;
	bool last;
	bool done;
};

static void dump_sample(struct dump_sample *d, const struct task_struct *task)
{
	d->state = compat_task_state(task) | READ_ONCE(task->exit_state);
#ifdef CONFIG_SMP
	d->on_cpu = READ_ONCE(task->on_cpu);
#else
	d->on_cpu = task == current;
#endif
	d->cpu = task_cpu(task);
	d->switches = READ_ONCE(task->nvcsw) + READ_ONCE(task->nivcsw);
}

/* Is the sample what the thread was all the time from before it was taken until now? */
static bool dump_holds(const struct dump_sample *d, const struct task_struct *task)
{
	struct dump_sample now;

	if (task == current)
		return true;
	if (d->on_cpu || d->state & TASK_WAKING || (!d->state && d->cpu != smp_processor_id()))
		return false;
	dump_sample(&now, task);
	return d->state == now.state && d->on_cpu == now.on_cpu && d->cpu == now.cpu &&
	       d->switches == now.switches;
}

/* On a CPU it is running, whatever it has set its state to for later. */
static u32 dump_state(const struct dump_sample *d)
{
	u32 state = d->on_cpu ? JIS_TASK_RUNNING : jis_task_state(d->state);

	if (state == JIS_TASK_RUNNING && !d->on_cpu)
		state |= JIS_TASK_PREEMPTED; /* in a run queue */
	return state;
}

static void dump_write(struct jis_session *s, struct task_struct *task, const struct dump_sample *d,
		       u64 now)
{
	struct jis_ev_thread_state *ev;
	char comm[TASK_COMM_LEN];
	u32 len = jis_comm_copy(comm, task->comm);

	ev = jis_ring_reserve(this_cpu_ptr(s->rings), JIS_EV_thread_state, sizeof(*ev) + len, now);
	if (!ev)
		return;
	ev->tid = task->pid;
	ev->pid = task->tgid;
	ev->ns_tid = jis_ns_tid(task);
	ev->state = dump_state(d);
	ev->cpu = d->cpu;
	ev->start_time = task->start_boottime;
	ev->comm_length = len;
	memcpy(ev->comm, comm, len);
}

/* With interrupts off, from the stamp to the record, as for every record. */
static void dump_here(void *info)
{
	struct dump_request *r = info;
	struct dump_sample d;
	unsigned long flags;
	u64 now;

	local_irq_save(flags);
	dump_sample(&d, r->task);
	now = jis_now(r->session);
	r->done = r->last || dump_holds(&d, r->task);
	if (r->done)
		dump_write(r->session, r->task, &d, now);
	local_irq_restore(flags);
}

static void dump_thread(struct jis_session *s, struct task_struct *task)
{
	struct dump_request r = {.session = s, .task = task};
	int tries;

	dump_here(&r);
	for (tries = 0; !r.done; tries++) {
		r.last = tries == DUMP_TRIES;
		/* A CPU that goes offline takes no threads with it: look again. */
		if (smp_call_function_single(task_cpu(task), dump_here, &r, 1) && r.last)
			dump_here(&r);
		cpu_relax();
	}
}

/**
 * jis_dump_process - one thread_state for each thread the process has.
 */
void jis_dump_process(struct jis_session *s, u32 tgid)
{
	struct task_struct *leader, *task;

	rcu_read_lock();
	leader = pid_task(find_pid_ns(tgid, &init_pid_ns), PIDTYPE_TGID);
	if (leader)
		for_each_thread(leader, task)
			dump_thread(s, task);
	rcu_read_unlock();
}

/**
 * jis_dump_targets - the dump of all targets; processes that become one meanwhile are born after
 * it.
 */
void jis_dump_targets(struct jis_session *s)
{
	u32 i, tgid;

	for (i = 0; i < JIS_TARGET_SLOTS; i++) {
		tgid = READ_ONCE(s->targets->tgid[i]);
		if (tgid && tgid <= PID_MAX_LIMIT)
			jis_dump_process(s, tgid);
		cond_resched();
	}
}
