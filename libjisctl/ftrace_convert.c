/* SPDX-License-Identifier: MIT */
/*
 * Turns ftrace's records into ours, and keeps the table of threads in step with them. Called in
 * time order. Records that touch no target are not written.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "ftrace.h"
#include "ftrace_record.h"
#include "proc.h"

#define CLONE_FLAG_THREAD 0x00010000ull
#define CLONE_FLAG_NEWPID 0x20000000ull

void get_text(const struct record *r, int field, char *text, size_t n)
{
	const struct ftrace_field *f = &r->format->field[field];
	uint32_t offset = f->offset, size = f->size;

	if (f->data_loc) {
		uint32_t where = (uint32_t)get_number(r, f);

		offset = where & 0xffff;
		size = where >> 16;
		if (offset > r->size || size > r->size - offset)
			size = 0;
	}
	if (size > n - 1)
		size = (uint32_t)n - 1;
	memcpy(text, r->data + offset, size);
	text[size] = 0;
}

void emit(const struct record *r, uint32_t id, const void *payload, uint32_t len, const char *text)
{
	ft_emit(r->b, r->cpu, id, r->time, payload, len, text);
}

/* The kernel's bits for enum jis_task_state; what stays runnable was preempted or had to yield. */
static uint32_t switch_state(uint64_t kernel)
{
	if (kernel & 0x01)
		return JIS_TASK_INTERRUPTIBLE;
	if (kernel & 0x02)
		return JIS_TASK_UNINTERRUPTIBLE;
	if (kernel & 0x0c)
		return JIS_TASK_STOPPED;
	if (kernel & 0x30)
		return JIS_TASK_DEAD;
	if (kernel & 0x40)
		return JIS_TASK_PARKED;
	if (kernel & 0x80)
		return JIS_TASK_IDLE;
	return JIS_TASK_RUNNING | JIS_TASK_PREEMPTED;
}

static void set_state(struct ft_task *task, const struct record *r, uint32_t state, uint32_t cpu)
{
	if (!task || !task->target)
		return;
	task->state_time = r->time;
	task->state = state;
	task->cpu = cpu;
}

void foreign_use(const struct record *r, uint32_t tid, const char *comm)
{
	struct ft_task *task = tid ? ft_task_get(r->b->tasks, tid) : NULL;
	struct proc_status status = {.tgid = 0};
	struct jis_ev_task_name ev = {.tid = tid};

	if (!task || !r->b->recording)
		return;
	if (task->named && (!comm || strncmp(comm, task->comm, FT_COMM_SIZE) == 0))
		return;
	if (proc_status_read((pid_t)tid, &status) == 0)
		ev.pid = status.tgid;
	if (!comm && !ev.pid && !task->stale)
		comm = "?";
	else if (!comm && ev.pid)
		comm = status.comm;
	if (comm) /* else it has ended, and keeps the name it had */
		snprintf(task->comm, sizeof(task->comm), "%.15s", comm);
	task->named = true;
	task->stale = false;
	emit(r, JIS_EV_task_name, &ev, sizeof(ev) - sizeof(uint32_t), task->comm);
}

static uint64_t monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static void switched_out(const struct record *r, struct ft_task *prev, uint32_t state)
{
	if (state == JIS_TASK_DEAD && prev->ghosts) {
		prev->ghosts--; /* who had the tid before */
		return;
	}
	set_state(prev, r, state, r->cpu);
	if (state == JIS_TASK_DEAD)
		ft_task_die(r->b->tasks, prev, monotonic_ns());
}

/* A thread that calls exec gets its dead leader's tid some time before the exec event. */
static void leader_revive(struct ft_task *task)
{
	if (!task || !task->dead || !task->target || task->tid != task->target->pid ||
	    !task->target->threads)
		return;
	task->dead = false;
	task->exiting = false;
	task->target->threads++;
}

static void on_switch(const struct record *r)
{
	uint32_t prev_tid = get_u32(r, SWITCH_PREV_PID), next_tid = get_u32(r, SWITCH_NEXT_PID);
	struct ft_task *prev = ft_task_find(r->b->tasks, prev_tid);
	struct ft_task *next = ft_task_find(r->b->tasks, next_tid);
	bool prev_in, next_in;
	struct jis_ev_sched_switch ev = {
		.prev_tid = prev_tid,
		.next_tid = next_tid,
		.prev_state = switch_state(get_number(r, &r->format->field[SWITCH_PREV_STATE])),
		.prev_syscall = JIS_SYSCALL_UNKNOWN,
	};
	char comm[FT_COMM_SIZE + 1];

	leader_revive(prev);
	leader_revive(next);
	prev_in = ft_task_in(prev);
	next_in = ft_task_in(next);
	if (prev_in && r->b->unfiltered) /* else others may have moved it */
		ev.prev_cgroup = prev->cgroup;
	if (!prev_in && !next_in && !r->b->config.all_switches)
		return;
	if (!prev_in) {
		get_text(r, SWITCH_PREV_COMM, comm, sizeof(comm));
		foreign_use(r, prev_tid, comm);
	}
	if (!next_in) {
		get_text(r, SWITCH_NEXT_COMM, comm, sizeof(comm));
		foreign_use(r, next_tid, comm);
	}
	emit(r, JIS_EV_sched_switch, &ev, sizeof(ev), NULL);
	if (prev_in)
		switched_out(r, prev, ev.prev_state);
	if (next_in)
		set_state(next, r, JIS_TASK_RUNNING, r->cpu);
}

static void on_waking(const struct record *r)
{
	struct jis_ev_sched_waking ev = {
		.tid = get_u32(r, WAKE_PID),
		.waker_tid = (uint32_t)get_number(r, &r->b->formats.common_pid),
		.target_cpu = get_u32(r, WAKE_CPU),
	};

	ev.context = ft_source_waker(&r->b->sources[r->cpu], get_flags(r), &ev.source);
	if (!ft_task_in(ft_task_find(r->b->tasks, ev.tid)))
		return;
	if (!ft_task_in(ft_task_find(r->b->tasks, ev.waker_tid)))
		foreign_use(r, ev.waker_tid, NULL);
	emit(r, JIS_EV_sched_waking, &ev, sizeof(ev), NULL);
}

static void on_wakeup(const struct record *r, uint32_t id)
{
	struct jis_ev_sched_wakeup ev = {get_u32(r, WAKE_PID), get_u32(r, WAKE_CPU)};
	struct ft_task *task = ft_task_find(r->b->tasks, ev.tid);

	if (!ft_task_in(task))
		return;
	emit(r, id, &ev, sizeof(ev), NULL);
	/* One that had not left its CPU yet runs on; no record says so but its state until now. */
	if (task->state != JIS_TASK_RUNNING || !task->state_time)
		set_state(task, r, JIS_TASK_RUNNING | JIS_TASK_PREEMPTED, ev.target_cpu);
}

/* The process a new thread belongs to; NULL: to none that is recorded. */
static struct ft_target *new_owner(const struct record *r, const struct ft_task *parent,
				   uint32_t tid, uint32_t pid, uint64_t flags)
{
	struct ft_target *target = parent->target;

	if (pid == target->pid && tid != pid)
		return target->thread ? NULL : target;
	if (target->thread || !(target->flags & JIS_TARGET_CHILDREN))
		return NULL;
	if (ft_target_find(r->b->tasks, pid))
		return ft_target_find(r->b->tasks, pid);
	target = ft_target_new(r->b->tasks, pid, target->flags & ~JIS_TARGET_FIRST_EXEC);
	if (target) {
		target->other_ns = parent->target->other_ns || (flags & CLONE_FLAG_NEWPID);
		target->by_cgroup = parent->target->by_cgroup;
	}
	return target;
}

/* A thread is born; @parent: who made it, or NULL. */
static struct ft_task *task_born(const struct record *r, const struct ft_task *parent, uint32_t tid,
				 uint32_t pid, uint64_t flags)
{
	struct ft_task *task = ft_task_find(r->b->tasks, tid);
	struct ft_target *target;

	target = ft_task_in(parent) ? new_owner(r, parent, tid, pid, flags) : NULL;
	if (!target && r->b->all)
		target = ft_all_owner(r->b, pid);
	if (!target) { /* the tid is another's now */
		if (task)
			ft_task_delete(r->b->tasks, task);
		return NULL;
	}
	task = ft_task_get(r->b->tasks, tid);
	if (task) {
		ft_task_join(r->b->tasks, task, target);
		task->cgroup = parent ? parent->cgroup : 0;
	}
	return task;
}

static void on_newtask(const struct record *r)
{
	uint32_t parent_tid = (uint32_t)get_number(r, &r->b->formats.common_pid);
	const struct ft_task *parent = ft_task_find(r->b->tasks, parent_tid);
	uint64_t flags = get_number(r, &r->format->field[NEWTASK_FLAGS]);
	uint32_t tid = get_u32(r, NEWTASK_PID), pid = tid;
	struct proc_status status;

	if ((flags & CLONE_FLAG_THREAD) && ft_task_in(parent))
		pid = parent->target->pid;
	else if ((flags & CLONE_FLAG_THREAD) && r->b->all &&
		 proc_status_read((pid_t)tid, &status) == 0)
		pid = status.tgid; /* its process's birth was lost */
	task_born(r, parent, tid, pid, flags);
}

/* The new thread's number in its own pid namespace; of threads of ours it is the tid itself. */
static uint32_t new_ns_tid(const struct ft_task *task)
{
	struct ft_target *target = task->target;
	struct proc_status status;

	if (!target->other_ns && task->tid != target->pid)
		return task->tid;
	if (proc_status_read((pid_t)task->tid, &status)) /* dead already */
		return target->other_ns ? 0 : task->tid;
	target->other_ns |= status.ns_tid != task->tid;
	return status.ns_tid;
}

static void on_fork(const struct record *r)
{
	struct jis_ev_sched_process_fork ev = {.parent_tid = get_u32(r, FORK_PARENT_PID),
					       .tid = get_u32(r, FORK_CHILD_PID)};
	const struct ft_task *parent = ft_task_find(r->b->tasks, ev.parent_tid);
	struct ft_task *task = ft_task_find(r->b->tasks, ev.tid);
	struct jis_ev_cgroup_attach attach = {.tid = ev.tid};
	struct proc_status status;
	char comm[FT_COMM_SIZE + 1];

	if (!ft_task_in(task) && (ft_task_in(parent) || r->b->all) && r->b->rescan &&
	    proc_status_read((pid_t)ev.tid, &status) == 0) /* its task_newtask was lost */
		task = task_born(r, parent, ev.tid, status.tgid, 0);
	if (!ft_task_in(task))
		return;
	ev.pid = task->target->pid;
	ev.ns_tid = new_ns_tid(task);
	get_text(r, FORK_CHILD_COMM, comm, sizeof(comm));
	snprintf(task->comm, sizeof(task->comm), "%.15s", comm);
	emit(r, JIS_EV_sched_process_fork, &ev, sizeof(ev) - sizeof(uint32_t), task->comm);
	if (!task->cgroup || !r->b->unfiltered)
		return;
	attach.cgroup = task->cgroup;
	attach.pid = ev.pid;
	emit(r, JIS_EV_cgroup_attach, &attach, sizeof(attach), NULL);
}

/* exec gives the leader's tid to the thread that called it. */
static void on_exec(const struct record *r)
{
	struct jis_ev_sched_process_exec ev = {.tid = get_u32(r, EXEC_PID),
					       .old_tid = get_u32(r, EXEC_OLD_PID)};
	struct ft_task *task = ft_task_find(r->b->tasks, ev.old_tid);
	struct ft_target *target = task ? task->target : NULL;
	char filename[JIS_STRING_MAX];

	get_text(r, EXEC_FILENAME, filename, sizeof(filename));
	ev.pid = ev.tid;
	if (!target || target->removed) {
		if (ft_rules_exec(r, ev.tid, filename))
			emit(r, JIS_EV_sched_process_exec, &ev, sizeof(ev) - sizeof(uint32_t),
			     filename);
		return;
	}
	if (ev.old_tid != ev.tid) {
		struct ft_task *leader = ft_task_get(r->b->tasks, ev.tid);

		if (!leader)
			return;
		/* Leader and thread swapped: the old leader is gone for good, no ghost is left. */
		if (leader->target && !leader->dead)
			ft_task_die(r->b->tasks, leader, monotonic_ns());
		ft_task_join(r->b->tasks, leader, target);
		leader->cgroup = task->cgroup;
		if (target->thread)
			target->thread = ev.tid;
		leader->state = JIS_TASK_RUNNING;
		leader->state_time = r->time;
		leader->cpu = r->cpu;
		ft_task_delete(r->b->tasks, task);
	}
	target->elf_class = 0;
	emit(r, JIS_EV_sched_process_exec, &ev, sizeof(ev) - sizeof(uint32_t), filename);
	ft_rules_exec_target(r, target, filename);
}

static void on_exit(const struct record *r)
{
	struct jis_ev_sched_process_exit ev = {.tid = get_u32(r, EXIT_PID)};
	struct ft_task *task = ft_task_find(r->b->tasks, ev.tid);

	if (!ft_task_in(task))
		return;
	ev.pid = task->target->pid;
	task->exiting = true;
	emit(r, JIS_EV_sched_process_exit, &ev, sizeof(ev), NULL);
}

static void on_free(const struct record *r)
{
	struct jis_ev_sched_process_free ev = {.tid = get_u32(r, EXIT_PID)};
	struct ft_task *task = ft_task_find(r->b->tasks, ev.tid);

	if (!task || !task->target || !(task->dead || task->exiting))
		return; /* the tid has a new owner, who lives */
	ev.pid = task->target->pid;
	if (!task->target->removed)
		emit(r, JIS_EV_sched_process_free, &ev, sizeof(ev), NULL);
	ft_task_delete(r->b->tasks, task);
}

static void on_rename(const struct record *r)
{
	struct jis_ev_task_rename ev = {.tid = get_u32(r, RENAME_PID)};
	struct ft_task *task = ft_task_find(r->b->tasks, ev.tid);
	char comm[FT_COMM_SIZE + 1];

	leader_revive(task);
	if (!ft_task_in(task))
		return;
	ev.pid = task->target->pid;
	get_text(r, RENAME_COMM, comm, sizeof(comm));
	snprintf(task->comm, sizeof(task->comm), "%.15s", comm);
	emit(r, JIS_EV_task_rename, &ev, sizeof(ev) - sizeof(uint32_t), task->comm);
}

static void on_syscall(const struct record *r, bool enter)
{
	uint32_t tid = (uint32_t)get_number(r, &r->b->formats.common_pid);
	const struct ft_task *task = ft_task_find(r->b->tasks, tid);
	const struct ftrace_field *f = r->format->field;
	int64_t nr = (int64_t)get_number(r, &f[SYSCALL_ID]);
	uint64_t args[6] = {0};

	if (!ft_task_in(task))
		return;
	if (!enter) {
		int64_t result = (int64_t)get_number(r, &f[SYSCALL_RET]);

		ft_syscall_exit(r->b, r->cpu, r->time, task, nr, result);
		return;
	}
	memcpy(args, r->data + f[SYSCALL_ARGS].offset,
	       f[SYSCALL_ARGS].size < sizeof(args) ? f[SYSCALL_ARGS].size : sizeof(args));
	ft_syscall_enter(r->b, r->cpu, r->time, task, nr, args);
}

static void on_migrate(const struct record *r)
{
	struct jis_ev_sched_migrate_task ev = {.tid = get_u32(r, MIGRATE_PID),
					       .orig_cpu = get_u32(r, MIGRATE_ORIG_CPU),
					       .dest_cpu = get_u32(r, MIGRATE_DEST_CPU)};

	if (ft_task_in(ft_task_find(r->b->tasks, ev.tid)))
		emit(r, JIS_EV_sched_migrate_task, &ev, sizeof(ev), NULL);
}

static void convert_one(const struct record *r, enum ftrace_event e)
{
	switch (e) {
	case FT_SWITCH:
		on_switch(r);
		break;
	case FT_WAKING:
		on_waking(r);
		break;
	case FT_WAKEUP:
		on_wakeup(r, JIS_EV_sched_wakeup);
		break;
	case FT_WAKEUP_NEW:
		on_wakeup(r, JIS_EV_sched_wakeup_new);
		break;
	case FT_FORK:
		on_fork(r);
		break;
	case FT_EXEC:
		on_exec(r);
		break;
	case FT_EXIT:
		on_exit(r);
		break;
	case FT_FREE:
		on_free(r);
		break;
	case FT_RENAME:
		on_rename(r);
		break;
	case FT_NEWTASK:
		on_newtask(r);
		break;
	case FT_SYS_ENTER:
	case FT_SYS_EXIT:
		on_syscall(r, e == FT_SYS_ENTER);
		break;
	case FT_ATTACH:
		ft_on_attach(r);
		break;
	case FT_MIGRATE:
		on_migrate(r);
		break;
	default:
		ft_on_family(r, e);
		break;
	}
}

void ft_convert(struct backend *b, uint32_t cpu, uint64_t time, const uint8_t *data, uint32_t size)
{
	struct record r = {.b = b, .data = data, .size = size, .cpu = cpu, .time = time};
	const struct ftrace_field *type = &b->formats.common_type;
	uint16_t number;
	uint8_t kind;

	if (size < (uint32_t)type->offset + 2)
		return;
	memcpy(&number, data + type->offset, 2);
	kind = b->kind[number];
	if (!kind)
		return;
	r.format = &b->formats.event[kind - 1];
	if (size < r.format->min_size)
		return;
	ft_source_pass(&b->sources[cpu], time, get_flags(&r));
	convert_one(&r, kind - 1);
}

static void convert_loss(struct backend *b, const struct ft_note *n)
{
	struct jis_ev_lost_records ev = {.type = 0,
					 .count = n->count,
					 .first = n->since,
					 .last = n->time};
	struct ft_ring *ring = &b->rings[n->ring];

	if (n->tail && ring->last > ev.first && ring->last <= ev.last)
		ev.first = ring->last;
	if (n->ring < b->nr_cpus)
		b->states_since = n->time;
	/* First in its packet, so that the packet's count of lost records is that of this one. */
	ft_out_flush(b, n->cpu);
	b->outs[n->cpu].lost += n->count;
	ft_emit(b, n->cpu, JIS_EV_lost_records, n->time, &ev, sizeof(ev), NULL);
}

/* A thread's state as /proc had it while we looked, or as events since then tell it. */
static void convert_state(struct backend *b, const struct ft_note *n)
{
	struct ft_task *task = ft_task_find(b->tasks, n->tid);
	struct jis_ev_thread_state ev = {.tid = n->tid,
					 .ns_tid = n->ns_tid,
					 .state = n->state,
					 .cpu = n->cpu,
					 .start_time = n->start_time};

	if (!ft_task_in(task) || task->exiting)
		return;
	ev.pid = task->target->pid;
	if (task->state_time && task->state_time >= b->states_since) {
		ev.state = task->state;
		ev.cpu = task->cpu;
	}
	ft_emit(b, 0, JIS_EV_thread_state, n->time, &ev, sizeof(ev) - sizeof(uint32_t), n->comm);
}

void ft_convert_note(struct backend *b, const struct ft_note *note)
{
	if (note->loss)
		convert_loss(b, note);
	else if (note->cgroup)
		ft_cgroup_emit(b, note);
	else
		convert_state(b, note);
}
