/* SPDX-License-Identifier: MIT */
/*
 * Wake-ups: sched_waking runs in the waker, sched_wakeup when the thread becomes ready, perhaps on
 * another CPU. The first names the waker, the second ends the wait.
 */
#include "model_int.h"

/* A waker is at work on @cpu. Returns whether the model has it there too. */
static bool waker_runs(struct model *m, uint32_t waker, uint32_t cpu, uint64_t t)
{
	const struct life *l = &m->lives[waker];

	life_seen(m, waker, cpu, t);
	if (l->kind == MODEL_RUNNING && l->cpu == cpu) {
		m->cpus[cpu].told = t;
		return true;
	}
	if (l->kind != MODEL_UNKNOWN)
		model_contradict(m, MODEL_ERROR_WAKER, waker);
	return false;
}

/* Keeps who wakes @life; only the last waking before a wakeup counts. */
void wakeup_waking(struct model *m, uint32_t cpu, const struct jis_ev_sched_waking *ev, uint64_t t)
{
	uint32_t life = thread_at(m, ev->tid, t);
	uint32_t waker = ev->waker_tid ? thread_on_cpu(m, cpu, ev->waker_tid, t) : NONE;
	bool running = false;
	struct life *l;

	if (waker != NONE && ev->context == JIS_WAKER_TASK)
		running = waker_runs(m, waker, cpu, t);
	if (life == NONE) {
		if (waker == NONE)
			m->counts.unknown_threads++;
		return;
	}
	l = &m->lives[life];
	/* Woken before, and not seen since: it is still the same wait that ended. */
	if (l->flags & LIFE_WOKEN)
		return;
	if (l->flags & LIFE_WAKING && (l->kind == MODEL_RUNNING || l->kind == MODEL_READY))
		m->counts.wakings_on_cpu++;
	l->flags |= LIFE_WAKING;
	l->waking = (struct waking){
		.time = t,
		.waker = waker,
		.foreign = waker == NONE && ev->waker_tid ? foreign_at(m, ev->waker_tid, t) : NONE,
		.tid = ev->waker_tid,
		.context = ev->context,
		.cpu = cpu,
		.running = running,
	};
}

void wakeup_emit(struct model *m, uint32_t life, uint64_t ready, const struct model_reason *reason,
		 uint64_t begin)
{
	struct life *l = &m->lives[life];
	const struct waking *w = &l->waking;
	struct model_wakeup out = {
		.thread = life,
		.waker = w->waker,
		.waker_foreign = w->foreign,
		.waker_vthread = w->waker != NONE ? who_is(m, w->waker).vthread : NONE,
		.waker_tid = w->tid,
		.context = w->context,
		.waker_cpu = w->cpu,
		.waker_running = w->running,
		.waking = w->time,
		.ready = ready,
		.wait_begin = begin,
		.reason = reason,
	};

	if (!(l->flags & LIFE_WAKING))
		return;
	l->flags &= ~LIFE_WAKING;
	if (m->on_link.nr)
		link_wakeup(m, &out);
	if (!(l->flags & LIFE_SELECTED) || out.waking < m->info.begin || ready > m->info.end)
		return;
	for (uint32_t i = 0; i < m->on_wakeup.nr; i++) {
		const struct model_sink *s = m->on_wakeup.sinks[i];
		int err = s->wakeup(s->ctx, &out);

		if (err && !m->error)
			m->error = err;
	}
}

void wakeup_ready(struct model *m, uint32_t tid, uint32_t cpu, bool new_thread, uint64_t t)
{
	uint32_t life = thread_at(m, tid, t);
	struct life *l;

	if (life == NONE) {
		m->counts.unknown_threads++;
		return;
	}
	l = &m->lives[life];
	if (l->kind != MODEL_RUNNING && l->kind != MODEL_READY)
		l->queue = cpu < m->info.nr_cpus ? cpu : NONE;
	if (l->kind >= MODEL_BLOCKED_INTERRUPTIBLE && l->kind <= MODEL_STOPPED) {
		uint64_t begin = l->since;

		m->counts.wakeups++;
		m->wait_reason = NULL;
		life_leave(m, life, MODEL_READY, false, NONE, t);
		wakeup_emit(m, life, t, m->wait_reason, begin);
		return;
	}
	switch ((enum model_state_kind)l->kind) {
	case MODEL_NOT_CREATED:
		if (!new_thread)
			model_contradict(m, MODEL_ERROR_WOKEN, life);
		l->flags |= LIFE_BORN;
		life_set(m, life, MODEL_READY, false, t);
		break;
	case MODEL_RUNNING:
	case MODEL_READY:
		m->counts.wakings_on_cpu++;
		l->flags &= ~LIFE_WAKING;
		break;
	case MODEL_UNKNOWN:
		if (new_thread)
			life_set(m, life, MODEL_READY, false, t);
		else
			life_runnable(m, life, true, t);
		break;
	default:
		model_contradict(m, MODEL_ERROR_WOKEN, life);
	}
}
