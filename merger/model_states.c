/* SPDX-License-Identifier: MIT */
/*
 * The state of each thread: the open state, its end, and the next. The only place that changes
 * struct life's state. A state is told when it ends, so a record that proves the open one wrong can
 * still make it UNKNOWN; what was told is never taken back.
 */
#include "model_int.h"

static void running_changed(struct model *m, uint64_t t)
{
	if (m->on_running.nr)
		emit_running(m, t);
}

static bool life_is(const struct life *l, unsigned int flag)
{
	return l->flags & flag;
}

/* Lives a loss makes unknown are listed once, when their state becomes known. */
static void life_list(struct model *m, uint32_t life)
{
	struct life *l = &m->lives[life];

	if (l->flags & LIFE_KNOWN)
		return;
	l->flags |= LIFE_KNOWN;
	m->known[m->nr_known++] = life;
}

/* What may be believed at @t: while records are missing only that a thread runs, or is no more. */
static enum model_state_kind believed(const struct model *m, const struct life *l,
				      enum model_state_kind kind, uint64_t t)
{
	if (kind == MODEL_NOT_CREATED || kind == MODEL_EXITED)
		return kind;
	if (host_paused(m, l->host) || (kind != MODEL_RUNNING && host_doubted(m, l->host, t)))
		return MODEL_UNKNOWN;
	return kind;
}

static void life_begin(struct model *m, uint32_t life, enum model_state_kind kind, bool preempted,
		       uint64_t t)
{
	struct life *l = &m->lives[life];

	if (l->flags & LIFE_QUEUED)
		wait_end(m, life, t);
	l->kind = kind;
	l->cpu = MODEL_NO_CPU;
	l->since = t;
	l->flags &= ~(LIFE_PREEMPTED | LIFE_RUNNABLE | LIFE_WOKEN);
	/* No branch: which it is, is not to be foretold. */
	l->flags |= (uint16_t)(LIFE_PREEMPTED * (preempted & (kind == MODEL_READY)));
	if (kind != MODEL_UNKNOWN && kind != MODEL_EXITED)
		life_list(m, life);
	if (kind == MODEL_READY && l->queue != NONE)
		wait_begin(m, life, t);
}

void life_leave(struct model *m, uint32_t life, enum model_state_kind kind, bool preempted,
		uint32_t successor, uint64_t t)
{
	struct life *l = &m->lives[life];

	kind = believed(m, l, kind, t);
	if (l->kind == kind && kind != MODEL_RUNNING) {
		if (kind == MODEL_UNKNOWN)
			l->flags &= ~(LIFE_RUNNABLE | LIFE_WOKEN);
		return;
	}
	emit_state(m, life, l->kind, l->since, t, successor);
	if (l->kind == MODEL_RUNNING && life_is(l, LIFE_SELECTED)) {
		m->nr_running--;
		running_changed(m, t);
	}
	life_begin(m, life, kind, preempted, t);
}

void life_set(struct model *m, uint32_t life, enum model_state_kind kind, bool preempted,
	      uint64_t t)
{
	struct life *l = &m->lives[life];

	if (l->kind == MODEL_RUNNING)
		cpu_set(m, l->cpu, MODEL_CPU_UNKNOWN, NONE, 0, t);
	life_leave(m, life, kind, preempted, NONE, t);
}

void life_run(struct model *m, uint32_t life, uint32_t cpu, uint32_t tid, uint64_t t)
{
	struct life *l = &m->lives[life];

	if (l->kind == MODEL_RUNNING && l->cpu == cpu)
		return;
	if (l->kind == MODEL_RUNNING)
		life_contradict(m, life, MODEL_ERROR_ELSEWHERE, t);
	if (believed(m, l, MODEL_RUNNING, t) != MODEL_RUNNING)
		return;
	emit_state(m, life, l->kind, l->since, t, NONE);
	life_begin(m, life, MODEL_RUNNING, false, t);
	l->cpu = cpu;
	cpu_set(m, cpu, MODEL_CPU_TARGET, life, tid, t);
	if (life_is(l, LIFE_SELECTED)) {
		m->nr_running++;
		running_changed(m, t);
	}
}

void life_doubt(struct model *m, uint32_t life, uint64_t t)
{
	struct life *l = &m->lives[life];

	if (l->kind == MODEL_UNKNOWN)
		return;
	if (l->flags & LIFE_QUEUED)
		wait_end(m, life, l->waited); /* what was not told yet is not */
	if (l->kind == MODEL_RUNNING) {
		const struct cpu_run *c = &m->cpus[l->cpu];
		uint64_t until = c->told > l->since ? c->told : l->since;

		/* It did run there until the last that was told of it there; then somebody else. */
		if (until > l->since)
			emit_state(m, life, MODEL_RUNNING, l->since, until, life);
		if (until > c->since)
			cpu_set(m, l->cpu, MODEL_CPU_UNKNOWN, NONE, 0, until);
		else
			cpu_doubt(m, l->cpu);
		l->since = until;
		if (life_is(l, LIFE_SELECTED)) {
			m->nr_running--;
			running_changed(m, t);
		}
	}
	l->kind = MODEL_UNKNOWN;
	l->cpu = MODEL_NO_CPU;
	l->flags &= ~(LIFE_PREEMPTED | LIFE_RUNNABLE | LIFE_WOKEN);
}

void life_contradict(struct model *m, uint32_t life, enum model_error error, uint64_t t)
{
	model_contradict(m, error, life);
	life_doubt(m, life, t);
}

bool life_waking(const struct life *l)
{
	return (l->kind == MODEL_BLOCKED_INTERRUPTIBLE ||
		l->kind == MODEL_BLOCKED_UNINTERRUPTIBLE) &&
	       life_is(l, LIFE_WAKING) && l->waking.time > l->since;
}

/* Its sched_waking came, and no sched_wakeup: the wait has ended then, as the thread went on. */
static SELDOM void life_woken_unseen(struct model *m, uint32_t life)
{
	struct life *l = &m->lives[life];
	uint64_t begin = l->since, woken = l->waking.time;

	m->counts.wakeups++;
	m->wait_reason = NULL;
	l->queue = NONE;
	life_leave(m, life, MODEL_READY, false, NONE, woken);
	wakeup_emit(m, life, woken, m->wait_reason, begin);
}

SELDOM void life_unseen(struct model *m, uint32_t life, uint32_t cpu, uint64_t t)
{
	struct life *l = &m->lives[life];

	if (host_paused(m, l->host) || m->cpus[cpu].occupant == MODEL_CPU_TARGET ||
	    m->cpus[cpu].occupant == MODEL_CPU_FOREIGN)
		return;
	if (life_waking(l))
		life_woken_unseen(m, life);
	if (l->kind != MODEL_READY)
		return;
	m->counts.unseen_switches++;
	if (m->cpus[cpu].occupant == MODEL_CPU_IDLE)
		cpu_doubt(m, cpu);
	life_doubt(m, life, t);
}

void life_runnable(struct model *m, uint32_t life, bool woken, uint64_t t)
{
	struct life *l = &m->lives[life];

	if (life_is(l, LIFE_RUNNABLE) || believed(m, l, MODEL_READY, t) != MODEL_READY)
		return;
	l->flags |= LIFE_RUNNABLE | (woken ? LIFE_WOKEN : 0);
	l->runnable_since = t;
	life_list(m, life);
}

void life_resolve(struct model *m, uint32_t life, uint32_t cpu, uint64_t t)
{
	struct life *l = &m->lives[life];
	uint64_t since = l->runnable_since;

	if (!life_is(l, LIFE_RUNNABLE))
		return;
	if (cpu == MODEL_NO_CPU) {
		if (life_is(l, LIFE_WOKEN)) {
			m->counts.wakeups++;
			wakeup_emit(m, life, since, NULL, since);
		}
		emit_state(m, life, MODEL_UNKNOWN, l->since, since, NONE);
		life_begin(m, life, MODEL_READY, false, since);
		return;
	}
	l->flags &= ~(LIFE_RUNNABLE | LIFE_WOKEN);
	/* It had the CPU all the time only if nothing was switched there since. */
	if (m->cpus[cpu].occupant != MODEL_CPU_UNKNOWN || m->cpus[cpu].since > since)
		return;
	emit_state(m, life, MODEL_UNKNOWN, l->since, since, NONE);
	life_begin(m, life, MODEL_RUNNING, false, since);
	l->cpu = cpu;
	cpu_set(m, cpu, MODEL_CPU_TARGET, life, m->threads[life].entry->tid, since);
	if (life_is(l, LIFE_SELECTED)) {
		m->nr_running++;
		running_changed(m, t);
	}
}

void life_seen(struct model *m, uint32_t life, uint32_t cpu, uint64_t t)
{
	struct life *l = &m->lives[life];

	if (l->kind == MODEL_RUNNING)
		return;
	if (l->kind != MODEL_UNKNOWN)
		life_unseen(m, life, cpu, t);
	if (l->kind != MODEL_UNKNOWN || m->cpus[cpu].occupant != MODEL_CPU_UNKNOWN ||
	    host_paused(m, l->host))
		return;
	if (life_is(l, LIFE_RUNNABLE))
		life_resolve(m, life, cpu, t);
	life_run(m, life, cpu, m->threads[life].entry->tid, t);
}

void life_pass(struct model *m, uint32_t life, uint64_t t)
{
	struct life *l = &m->lives[life];

	if (l->kind != MODEL_RUNNING || t <= l->since)
		return;
	m->runs_on = true;
	emit_state(m, life, MODEL_RUNNING, l->since, t, NONE);
	m->runs_on = false;
	l->since = t;
}

void life_pass_unknown(struct model *m, uint32_t life, uint64_t t)
{
	struct life *l = &m->lives[life];

	/* What may be told from the past on cannot be told until now. */
	if (l->kind != MODEL_UNKNOWN || life_is(l, LIFE_RUNNABLE) || t <= l->since)
		return;
	emit_state(m, life, MODEL_UNKNOWN, l->since, t, NONE);
	l->since = t;
}

/*
 * From @t on nothing is known of any thread of @host that lives, save those that run on other CPUs
 * than @cpu (MODEL_NO_CPU: on none): to leave its CPU a thread must be switched out there.
 */
void lives_unknown(struct model *m, uint32_t host, uint32_t cpu, uint64_t t)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < m->nr_known; i++) {
		uint32_t life = m->known[i];
		struct life *l = &m->lives[life];

		if (l->host != host ||
		    (l->kind == MODEL_RUNNING && cpu != MODEL_NO_CPU && l->cpu != cpu)) {
			m->known[kept++] = life;
			continue;
		}
		l->flags &= ~LIFE_KNOWN;
		if (l->kind != MODEL_EXITED)
			life_set(m, life, MODEL_UNKNOWN, false, t > l->since ? t : l->since);
		m->whys[life].call = JIS_SYSCALL_NONE;
		m->whys[life].flags = 0;
	}
	m->nr_known = kept;
	conns_lost(m, host);
}

/* A thread whose end is in the tables but was not seen as a switch-out is known to be gone then. */
void lives_finish(struct model *m)
{
	for (uint32_t i = 0; i < m->info.nr_threads; i++) {
		const struct life *l = &m->lives[i];
		uint64_t death = m->threads[i].death, end = m->info.end;

		if (l->kind == MODEL_UNKNOWN && death > l->since && death < end) {
			emit_state(m, i, MODEL_UNKNOWN, l->since, death, NONE);
			emit_state(m, i, MODEL_EXITED, death, end, NONE);
		} else {
			emit_state(m, i, l->kind, l->since, end, NONE);
		}
	}
}
