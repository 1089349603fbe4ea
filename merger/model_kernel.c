/* SPDX-License-Identifier: MIT */
/*
 * The records of kernel and recorder streams: from event to rule. Records of a kernel stream
 * happened on that stream's CPU.
 */
#include "model_int.h"

static SELDOM void text_event(struct model *m, enum model_event_kind kind, uint32_t life,
			      const char *text, uint64_t t)
{
	struct model_event event = {
		.thread = life, .kind = kind, .time = t, .left = NONE, .text = text};

	if (life == NONE) {
		m->counts.unknown_threads++;
		return;
	}
	emit_event(m, &event);
}

static SELDOM void forked(struct model *m, uint32_t cpu, const struct jis_ev_sched_process_fork *ev,
			  uint64_t t)
{
	uint32_t child = thread_at(m, ev->tid, t);
	uint32_t parent = thread_on_cpu(m, cpu, ev->parent_tid, t);
	struct life *l;

	if (parent != NONE)
		life_seen(m, parent, cpu, t);
	if (child == NONE) {
		m->counts.unknown_threads++;
		return;
	}
	l = &m->lives[child];
	if (l->kind != MODEL_NOT_CREATED)
		return;
	l->flags |= LIFE_BORN;
	/* Its first wake-up may be among the lost. */
	if (host_paused(m, l->host) || host_doubted(m, l->host, t)) {
		life_set(m, child, MODEL_UNKNOWN, false, t);
	} else if (!(l->flags & LIFE_KNOWN)) {
		l->flags |= LIFE_KNOWN;
		m->known[m->nr_known++] = child;
	}
}

/*
 * A thread that is not the leader and calls exec takes the leader's tid: its own life ends, and
 * another of that tid begins where it runs; the leader is no more, or nearly.
 */
static SELDOM void exec_takes_lead(struct model *m, uint32_t cpu, uint32_t life, uint32_t old_tid,
				   uint64_t t)
{
	uint32_t leader = exec_born(m, life) ? m->lives[life].former : NONE;
	uint32_t old = thread_at(m, old_tid, t);

	if (leader != NONE && m->lives[leader].flags & LIFE_SWAPPED)
		old = m->lives[leader].other;
	else if (leader != NONE && old != NONE && m->lives[leader].kind != MODEL_EXITED &&
		 m->threads[old].process == m->threads[leader].process)
		exec_swap(m, leader, old); /* it has yet to leave its CPU */
	if (old == NONE)
		return;
	if (m->lives[old].kind != MODEL_EXITED)
		life_set(m, old, MODEL_EXITED, false, t);
	if (m->cpus[cpu].occupant == MODEL_CPU_UNKNOWN)
		life_run(m, life, cpu, m->threads[life].entry->tid, t);
}

static SELDOM void execed(struct model *m, uint32_t cpu, const struct jis_ev_sched_process_exec *ev,
			  uint64_t t)
{
	uint32_t life = thread_at(m, ev->tid, t);

	if (ev->old_tid != ev->tid && life != NONE)
		exec_takes_lead(m, cpu, life, ev->old_tid, t);
	text_event(m, MODEL_EVENT_EXEC, life, ev->filename, t);
}

/*
 * The last that is heard of a thread, some time after its last switch-out; the tid may live again
 * by then. Matters only where that switch-out was lost.
 */
static SELDOM void freed(struct model *m, const struct jis_ev_sched_process_free *ev, uint64_t t)
{
	uint32_t life = thread_at(m, ev->tid, t);

	if (life == NONE)
		return;
	while (m->lives[life].former != NONE &&
	       !(m->lives[m->lives[life].former].flags & LIFE_FREED))
		life = m->lives[life].former;
	m->lives[life].flags |= LIFE_FREED;
	if (m->lives[life].kind == MODEL_UNKNOWN)
		life_set(m, life, MODEL_EXITED, false, t);
}

static SELDOM void dumped(struct model *m, const struct jis_ev_thread_state *ev, uint64_t t)
{
	uint32_t life = thread_at(m, ev->tid, t);
	struct life *l;

	if (life == NONE) {
		m->counts.unknown_threads++;
		return;
	}
	l = &m->lives[life];
	l->flags |= LIFE_BORN;
	/* Read a moment before it was stamped: what was recorded since is newer. */
	if (l->kind != MODEL_UNKNOWN || l->flags & LIFE_RUNNABLE)
		return;
	l->queue = ev->cpu < m->info.nr_cpus ? ev->cpu : NONE;
	switch (ev->state & JIS_TASK_STATE_MASK) {
	case JIS_TASK_RUNNING:
		life_runnable(m, life, false, t);
		break;
	case JIS_TASK_INTERRUPTIBLE:
		life_set(m, life, MODEL_BLOCKED_INTERRUPTIBLE, false, t);
		break;
	case JIS_TASK_UNINTERRUPTIBLE:
	case JIS_TASK_IDLE:
		life_set(m, life, MODEL_BLOCKED_UNINTERRUPTIBLE, false, t);
		break;
	case JIS_TASK_STOPPED:
	case JIS_TASK_PARKED:
		life_set(m, life, MODEL_STOPPED, false, t);
		break;
	case JIS_TASK_DEAD:
		life_set(m, life, MODEL_EXITED, false, t);
		break;
	}
}

static SELDOM void exiting(struct model *m, uint32_t cpu,
			   const struct jis_ev_sched_process_exit *ev, uint64_t t)
{
	uint32_t life = thread_on_cpu(m, cpu, ev->tid, t);

	if (life == NONE) {
		m->counts.unknown_threads++;
		return;
	}
	m->lives[life].flags |= LIFE_EXITING;
	life_seen(m, life, cpu, t);
	conns_exit(m, life, t);
}

static SELDOM void renamed(struct model *m, const struct jis_ev_task_rename *ev, uint64_t t)
{
	text_event(m, MODEL_EVENT_RENAME, thread_at(m, ev->tid, t), ev->comm, t);
}

static SELDOM void attached(struct model *m, const struct jis_ev_cgroup_attach *ev, uint64_t t)
{
	uint32_t life = thread_at(m, ev->tid, t);

	if (life == NONE)
		m->counts.unknown_threads++;
	else
		group_attach(m, life, ev->cgroup, t);
}

/* Both kinds of wake-up have the same fields. */
static void woken(struct model *m, const struct jis_ev_sched_wakeup *ev, bool new_thread,
		  uint64_t t)
{
	wakeup_ready(m, ev->tid, ev->target_cpu, new_thread, t);
}

void kernel_event(struct model *m, const struct stream_cursor *c, uint64_t t)
{
	const void *p = c->payload;
	uint32_t cpu = (uint32_t)c->instance;

	if (c->instance >= m->info.nr_cpus)
		return;
	switch (c->id) {
	case JIS_EV_sched_switch:
		cpu_switch(m, cpu, p, t);
		break;
	case JIS_EV_sched_waking:
		wakeup_waking(m, cpu, p, t);
		break;
	case JIS_EV_sched_wakeup:
		woken(m, p, false, t);
		break;
	case JIS_EV_sched_wakeup_new:
		woken(m, p, true, t);
		break;
	case JIS_EV_sched_process_fork:
		forked(m, cpu, p, t);
		break;
	case JIS_EV_sched_process_exec:
		execed(m, cpu, p, t);
		break;
	case JIS_EV_sched_process_exit:
		exiting(m, cpu, p, t);
		break;
	case JIS_EV_sched_process_free:
		freed(m, p, t);
		break;
	case JIS_EV_task_rename:
		renamed(m, p, t);
		break;
	case JIS_EV_thread_state:
		dumped(m, p, t);
		break;
	case JIS_EV_sched_migrate_task:
		wait_migrate(m, p, t);
		break;
	case JIS_EV_cpu_steal:
		cpu_stolen(m, cpu, ((const struct jis_ev_cpu_steal *)p)->stolen, t);
		break;
	case JIS_EV_cgroup_name:
		group_name(m, cpu, p);
		break;
	case JIS_EV_cgroup_attach:
		attached(m, p, t);
		break;
	case JIS_EV_cgroup_throttle:
		group_throttle(m, p, t);
		break;
	case JIS_EV_lost_records:
		loss_record(m, c, t);
		break;
	default:
		call_event(m, cpu, c, t);
		break;
	}
}

/* Of a trace of one host the end is the recording's. */
static SELDOM void marked(struct model *m, uint32_t host, uint32_t mark, uint64_t t)
{
	struct model_event event = {.thread = NONE,
				    .process = NONE,
				    .kind = MODEL_EVENT_SESSION,
				    .time = t,
				    .left = NONE,
				    .type = host,
				    .value = mark};

	if (mark == JIS_MARK_PAUSE)
		host_pause(m, host, t);
	else if (mark == JIS_MARK_RESUME)
		host_resume(m, host);
	else if (mark == JIS_MARK_STOP)
		host_stop(m, host, t);
	emit_event(m, &event);
}

/* What threads of a process do that is no target any more is not recorded. */
static SELDOM void removed(struct model *m, uint32_t pid, uint64_t t)
{
	for (uint32_t i = 0; i < m->info.nr_threads; i++) {
		const struct life *l = &m->lives[i];

		if (m->threads[i].entry->pid == pid && l->first <= t && l->kind != MODEL_EXITED)
			life_set(m, i, MODEL_UNKNOWN, false, t);
	}
}

void model_recorder_event(struct model *m, const struct stream_cursor *c, uint64_t t)
{
	switch (c->id) {
	case JIS_EV_session_mark:
		marked(m, c->instance < m->nr_hosts ? (uint32_t)c->instance : 0,
		       ((const struct jis_ev_session_mark *)c->payload)->mark, t);
		break;
	case JIS_EV_target_removed:
		removed(m, ((const struct jis_ev_target_removed *)c->payload)->pid, t);
		break;
	case JIS_EV_lost_records:
		loss_record(m, c, t);
		break;
	}
}
