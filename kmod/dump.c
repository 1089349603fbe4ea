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
#include <linux/slab.h>
#include <linux/smp.h>

#include "threads.h"

/* After so many looks at a thread that never holds still the last one must do. */
#define DUMP_TRIES 100

struct dump_sample {
	u32 state; /* the kernel's bits, exit state included */
	bool on_cpu;
	bool queued; /* whatever its state */
	bool waking; /* somebody may be about to change the two */
	u32 cpu;
	unsigned long switches;
};

struct dump_request {
	struct jis_session *session;
	struct task_struct *task;
	bool introduced; /* its state is in the trace already */
	bool last;
	bool done;
};

static void dump_sample(struct dump_sample *d, struct task_struct *task)
{
	d->state = compat_task_state(task) | READ_ONCE(task->exit_state);
	d->on_cpu = compat_on_cpu(task);
	d->queued = compat_is_queued(task);
	/* Who wakes one that is queued says so in its state only after having taken this lock. */
	d->waking = d->state & TASK_WAKING ||
		    (d->state && d->queued && raw_spin_is_locked(&task->pi_lock));
	d->cpu = task_cpu(task);
	d->switches = READ_ONCE(task->nvcsw) + READ_ONCE(task->nivcsw);
}

static bool dump_runnable(const struct dump_sample *d)
{
	return !d->state || d->queued;
}

/* Is the sample what the thread was all the time from before it was taken until now? */
static bool dump_holds(const struct dump_sample *d, struct task_struct *task)
{
	struct dump_sample now;

	if (task == current)
		return true;
	if (d->on_cpu || d->waking || (dump_runnable(d) && d->cpu != smp_processor_id()))
		return false;
	dump_sample(&now, task);
	return !now.waking && d->state == now.state && d->queued == now.queued &&
	       d->on_cpu == now.on_cpu && d->cpu == now.cpu && d->switches == now.switches;
}

/* On a CPU it is running, whatever it has set its state to for later. */
static u32 dump_state(const struct dump_sample *d)
{
	u32 state = jis_task_state(d->state);

	if (d->on_cpu)
		return JIS_TASK_RUNNING;
	if (state == JIS_TASK_RUNNING || d->queued)
		return JIS_TASK_RUNNING | JIS_TASK_PREEMPTED;
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
	if (s->filter)
		jis_filter_born(s, task);
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
	if (r->done) {
		if (dump_state(&d) & JIS_TASK_PREEMPTED)
			jis_thread_queued(r->session, r->task, d.cpu);
		if (!r->introduced)
			dump_write(r->session, r->task, &d, now);
	}
	local_irq_restore(flags);
}

static void dump_thread(struct jis_session *s, struct task_struct *task, bool introduced)
{
	struct dump_request r = {.session = s, .task = task, .introduced = introduced};
	struct jis_thread *n;
	int tries;

	if (!jis_thread_find(s, task))
		jis_thread_add(s, task);
	dump_here(&r);
	for (tries = 0; !r.done; tries++) {
		r.last = tries == DUMP_TRIES;
		/* A CPU that goes offline takes no threads with it: look again. */
		if (smp_call_function_single(task_cpu(task), dump_here, &r, 1) && r.last)
			dump_here(&r);
		cpu_relax();
	}
	n = jis_thread_find(s, task);
	if (n)
		jis_record_attributes(s, n, task);
	jis_record_cgroup(s, task);
}

/**
 * jis_dump_thread - a thread's state, attributes and cgroup.
 */
void jis_dump_thread(struct jis_session *s, struct task_struct *task)
{
	dump_thread(s, task, false);
}

/* A thread that has not been released: its sched_process_free is then not before this ends. */
static void dump_living(struct jis_session *s, struct task_struct *task, bool introduced)
{
	rcu_read_lock();
	if (pid_alive(task))
		dump_thread(s, task, introduced);
	rcu_read_unlock();
}

/* The leader of the target @tgid: of that very process, not of who has its id now. */
static struct task_struct *dump_leader(struct jis_session *s, u32 tgid)
{
	struct task_struct *leader = pid_task(find_pid_ns(tgid, &init_pid_ns), PIDTYPE_TGID);

	return leader && jis_targets_is(s->targets, tgid, leader->start_boottime) ? leader : NULL;
}

/*
 * Its threads, each with a reference; *nr of them. Those born meanwhile are recorded as such. NULL:
 * there is none, or no memory, and all of them have been dumped.
 */
static struct task_struct **dump_threads_of(struct jis_session *s, u32 tgid, u32 *nr)
{
	struct task_struct **tasks, *leader, *task;
	u32 room, n = 0;

	*nr = 0;
	rcu_read_lock();
	leader = dump_leader(s, tgid);
	room = leader ? get_nr_threads(leader) : 0;
	rcu_read_unlock();
	if (!room)
		return NULL;
	room += room / 8 + 16;
	tasks = kvmalloc_array(room, sizeof(*tasks), JIS_GFP);
	rcu_read_lock();
	leader = dump_leader(s, tgid);
	if (leader) {
		for_each_thread(leader, task) {
			if (!tasks) {
				dump_thread(s, task, false); /* then in one go */
			} else if (n < room) {
				get_task_struct(task);
				tasks[n++] = task;
			}
		}
	}
	rcu_read_unlock();
	*nr = n;
	return tasks;
}

/**
 * jis_dump_process - one thread_state for each thread the process has.
 */
void jis_dump_process(struct jis_session *s, u32 tgid)
{
	u32 i, nr;
	struct task_struct **tasks = dump_threads_of(s, tgid, &nr);

	for (i = 0; i < nr; i++) {
		dump_living(s, tasks[i], false);
		put_task_struct(tasks[i]);
		cond_resched();
	}
	kvfree(tasks);
}

/**
 * jis_dump_targets - the dump of all targets; processes that become one meanwhile are born after
 * it. What was told once, of descriptors and in a flight recorder of names, is told again from now
 * on.
 * @again: the states also of those threads that were introduced already since records began.
 */
void jis_dump_targets(struct jis_session *s, bool again)
{
	u32 i, tgid;

	jis_fds_forget(s);
	if (s->flight) { /* the packets that have the names may be gone */
		memset(s->seen, 0, PID_MAX_LIMIT / 8);
		jis_cgroups_forget(s);
	}
	for (i = 0; i < JIS_TARGET_SLOTS; i++) {
		tgid = READ_ONCE(s->targets->tgid[i]);
		if (tgid && tgid <= PID_MAX_LIMIT)
			jis_dump_process(s, tgid);
		cond_resched();
	}
	if (s->filter)
		jis_dump_filtered(s, again);
}

/* All threads there are, each with a reference; *nr of them. NULL: no memory. */
static struct task_struct **dump_collect(u32 *nr)
{
	struct task_struct **tasks, *process, *task;
	u32 room = 0, n = 0;

	rcu_read_lock();
	for_each_process_thread(process, task)
		room++;
	rcu_read_unlock();
	room += room / 8 + 64; /* those born meanwhile are recorded as such */
	tasks = kvmalloc_array(room, sizeof(*tasks), JIS_GFP);
	if (!tasks)
		return NULL;
	rcu_read_lock();
	for_each_process_thread(process, task) {
		if (n == room)
			break;
		get_task_struct(task);
		tasks[n++] = task;
	}
	rcu_read_unlock();
	*nr = n;
	return tasks;
}

/**
 * jis_dump_filtered - the dump of the threads that are targets but not by their process.
 * @again: all of it, else no states of those the trace knows already.
 */
void jis_dump_filtered(struct jis_session *s, bool again)
{
	struct task_struct **tasks;
	u32 i, nr;

	tasks = dump_collect(&nr);
	if (!tasks)
		return; /* they are introduced when they are seen */
	for (i = 0; i < nr; i++) {
		struct task_struct *task = tasks[i];

		if (!jis_targets_have(s->targets, task->tgid) && jis_filter_match(s->filter, task))
			dump_living(s, task, !again && jis_filter_met(s, task));
		put_task_struct(task);
		cond_resched();
	}
	kvfree(tasks);
}
