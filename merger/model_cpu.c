/* SPDX-License-Identifier: MIT */
/*
 * What holds each CPU, and what a switch means for the two threads and the CPU. A switch is the
 * strongest evidence there is: where it contradicts the model, the model was wrong.
 */
#include "model_int.h"

static void cpu_emit(struct model *m, uint32_t cpu, uint64_t end)
{
	const struct cpu_run *c = &m->cpus[cpu];
	struct model_cpu out = {
		.cpu = cpu,
		.occupant = c->occupant,
		.thread = c->thread,
		.tid = c->tid,
		.begin = c->since > m->info.begin ? c->since : m->info.begin,
		.end = end < m->info.end ? end : m->info.end,
	};

	if (out.begin >= out.end)
		return;
	for (uint32_t i = 0; i < m->on_cpu.nr; i++) {
		const struct model_sink *s = m->on_cpu.sinks[i];
		int err = s->cpu(s->ctx, &out);

		if (err && !m->error)
			m->error = err;
	}
}

void cpu_set(struct model *m, uint32_t cpu, enum model_occupant occupant, uint32_t thread,
	     uint32_t tid, uint64_t t)
{
	struct cpu_run *c = &m->cpus[cpu];

	if (c->queue != NONE)
		waits_until(m, cpu, t);
	if (m->on_cpu.nr)
		cpu_emit(m, cpu, t);
	c->since = t;
	c->occupant = occupant;
	c->thread = thread;
	c->tid = tid;
}

void cpu_doubt(struct model *m, uint32_t cpu)
{
	struct cpu_run *c = &m->cpus[cpu];

	c->occupant = MODEL_CPU_UNKNOWN;
	c->thread = NONE;
	c->tid = 0;
}

void cpus_finish(struct model *m)
{
	for (uint32_t i = 0; m->on_cpu.nr && i < m->info.nr_cpus; i++)
		cpu_emit(m, i, m->info.end);
}

/* What a thread does that was switched out in a state of enum jis_task_state. */
static const uint8_t kind_of[8] = {
	[JIS_TASK_RUNNING] = MODEL_READY,
	[JIS_TASK_INTERRUPTIBLE] = MODEL_BLOCKED_INTERRUPTIBLE,
	[JIS_TASK_UNINTERRUPTIBLE] = MODEL_BLOCKED_UNINTERRUPTIBLE,
	[JIS_TASK_STOPPED] = MODEL_STOPPED,
	[JIS_TASK_DEAD] = MODEL_EXITED,
	[JIS_TASK_IDLE] = MODEL_BLOCKED_UNINTERRUPTIBLE,
	[JIS_TASK_PARKED] = MODEL_STOPPED,
	[7] = MODEL_UNKNOWN,
};

/* What the switch away from a thread says of it, for the reasons of what ends and what begins. */
static void why_left(struct why *w, const struct jis_ev_sched_switch *ev)
{
	uint8_t faulted = w->flags & WHY_FAULTED ? WHY_FAULT : 0;

	w->syscall = ev->prev_syscall;
	/* Larger numbers are none of the VM's. */
	w->vm_state = ev->prev_vm_state < 256 ? (uint8_t)ev->prev_vm_state : 0;
	w->os_state = ev->prev_os_state < 256 ? (uint8_t)ev->prev_os_state : 0;
	w->flags = (uint8_t)((w->flags & WHY_DISK) | WHY_LEFT | faulted |
			     (ev->prev_state & JIS_TASK_IOWAIT ? WHY_IOWAIT : 0));
}

/* @life was switched out on @cpu. */
static void switch_out(struct model *m, uint32_t life, uint32_t cpu,
		       const struct jis_ev_sched_switch *ev, uint32_t successor, uint64_t t)
{
	struct life *l = &m->lives[life];
	uint32_t state = ev->prev_state & JIS_TASK_STATE_MASK;
	enum model_state_kind kind = kind_of[state < 7 ? state : 7];

	if (ev->prev_state & JIS_TASK_PREEMPTED)
		kind = MODEL_READY;
	if (l->kind == MODEL_UNKNOWN)
		life_resolve(m, life, cpu, t);
	else if (l->kind != MODEL_RUNNING || l->cpu != cpu)
		life_contradict(m, life, MODEL_ERROR_NOT_THERE, t);
	if (l->kind != MODEL_RUNNING)
		successor = NONE;
	l->queue = cpu;
	if (m->reasons)
		why_left(&m->whys[life], ev);
	life_leave(m, life, kind, kind == MODEL_READY, successor, t);
}

/* @life is about to run on @cpu, which its former thread has left. */
static void switch_in(struct model *m, uint32_t life, uint32_t cpu, uint32_t tid, uint64_t t)
{
	struct life *l = &m->lives[life];

	if (l->kind == MODEL_UNKNOWN)
		life_resolve(m, life, MODEL_NO_CPU, t);
	else if (l->kind != MODEL_READY && l->kind != MODEL_RUNNING)
		life_contradict(m, life, MODEL_ERROR_NOT_READY, t);
	life_run(m, life, cpu, tid, t);
	if (m->reasons)
		m->whys[life].flags = 0;
}

/* A CPU that a thread outside of the targets takes. */
static void switch_to_other(struct model *m, uint32_t cpu, uint32_t tid, uint64_t t)
{
	/* What it does on a CPU for which a target waits is recorded. */
	if (!m->info.manifest->all_switches &&
	    (!m->cpus[cpu].waits_known || m->cpus[cpu].queue == NONE))
		cpu_set(m, cpu, MODEL_CPU_UNKNOWN, NONE, tid, t);
	else if (tid == 0)
		cpu_set(m, cpu, MODEL_CPU_IDLE, NONE, 0, t);
	else
		cpu_set(m, cpu, MODEL_CPU_FOREIGN,
			m->on_cpu.nr || m->on_wait.nr ? foreign_at(m, tid, t) : NONE, tid, t);
}

void cpu_switch(struct model *m, uint32_t cpu, const struct jis_ev_sched_switch *ev, uint64_t t)
{
	struct cpu_run *c = &m->cpus[cpu];
	uint32_t prev = thread_on_cpu(m, cpu, ev->prev_tid, t);
	uint32_t next = thread_at(m, ev->next_tid, t);

	if (prev == NONE && next == NONE && !m->info.manifest->all_switches && !c->waits_known)
		m->counts.unknown_threads++;
	else if (prev != NONE || next != NONE)
		m->counts.switches++;
	if (host_paused(m, c->host))
		return;
	if (prev != NONE && m->lives[prev].kind != MODEL_RUNNING)
		life_unseen(m, prev, cpu, t);
	if (c->occupant == MODEL_CPU_TARGET && c->thread != prev) {
		model_contradict(m, MODEL_ERROR_CPU_TAKEN, prev != NONE ? prev : c->thread);
		life_doubt(m, c->thread, t);
	} else if (c->occupant == MODEL_CPU_IDLE && prev == NONE && ev->prev_tid) {
		m->counts.unseen_switches++;
		cpu_doubt(m, cpu);
	} else if (c->occupant != MODEL_CPU_TARGET && c->occupant != MODEL_CPU_UNKNOWN &&
		   c->tid != ev->prev_tid) {
		model_contradict(m, MODEL_ERROR_CPU_TAKEN, prev);
		cpu_doubt(m, cpu);
	}
	if (c->occupant == MODEL_CPU_UNKNOWN && c->queue != NONE && c->waits_known)
		waits_learn(m, cpu, ev->prev_tid, t);
	if (prev != NONE) {
		switch_out(m, prev, cpu, ev, next, t);
		if (ev->prev_cgroup)
			group_attach(m, prev, ev->prev_cgroup, t);
	}
	if (next != NONE && next != prev)
		switch_in(m, next, cpu, ev->next_tid, t);
	else
		switch_to_other(m, cpu, ev->next_tid, t);
}
