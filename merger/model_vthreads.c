/* SPDX-License-Identifier: MIT */
/*
 * Rows of virtual threads: what each does. While one is mounted its carrier's states are its own;
 * in between it waits, for what it last said, or for a carrier. What a living one takes is a struct
 * jthread; a row is 24 bytes more. Which have rows: model_vlist.c.
 */
#include <string.h>

#include "model_jwait.h"

/* States ------------------------------------------------------------------------------------- */

/* Row @row was in @out's state until @t. */
static void vstate_emit(struct model *m, uint32_t row, struct model_vstate *out, uint64_t t)
{
	struct vrow *r = &m->vrows[row];

	if (t > m->info.end)
		t = m->info.end;
	if (t <= r->since)
		return;
	out->vthread = row;
	out->begin = r->since;
	out->end = t;
	r->since = t;
	for (uint32_t i = 0; i < m->on_vstate.nr; i++) {
		const struct model_sink *s = m->on_vstate.sinks[i];
		int err = s->vstate(s->ctx, out);

		if (err && !m->error)
			m->error = err;
	}
}

static struct model_vstate vstate_of(enum model_state_kind kind, enum model_reason_kind reason)
{
	return (struct model_vstate){.kind = kind,
				     .carrier = NONE,
				     .cpu = MODEL_NO_CPU,
				     .waker = NONE,
				     .waker_vthread = NONE,
				     .reason = reason_plain(reason)};
}

/* Ends what @j did while it was on no carrier. */
static void rest_ends(struct model *m, struct jthread *j, uint32_t waker, uint64_t by, uint64_t t)
{
	struct model_vstate out = vstate_of(MODEL_UNKNOWN, MODEL_REASON_NONE);
	struct vrow *r = &m->vrows[j->row];

	if (j->state == JTHREAD_WAITS)
		out = vstate_of(MODEL_BLOCKED_INTERRUPTIBLE, MODEL_WAIT_UNMOUNTED);
	else if (j->state == JTHREAD_TO_MOUNT)
		out = vstate_of(MODEL_READY, MODEL_READY_TO_MOUNT);
	else if (!r->begun && m->info.vthreads[j->row].birth)
		out = vstate_of(MODEL_NOT_CREATED, MODEL_REASON_NONE);
	r->begun = true;
	if (j->state == JTHREAD_WAITS && j->waits) {
		struct jwait *w = j->waits;

		m->reason = *reason_plain(MODEL_WAIT_UNMOUNTED);
		w = jwait_reason(m, w, j, &m->reason);
		if (t > r->since)
			w->blocked += (t < m->info.end ? t : m->info.end) - r->since;
		out.reason = &m->reason;
	}
	out.waker = waker;
	out.waker_vthread = by ? vthread_row(m, j->process, by) : NONE;
	out.waker_java_tid = by;
	vstate_emit(m, j->row, &out, t);
}

void vthread_carried(struct model *m, const struct jthread *j, const struct model_state *s)
{
	struct model_vstate out = {.kind = s->kind,
				   .carrier = s->thread,
				   .cpu = s->cpu,
				   .waker = NONE,
				   .waker_vthread = NONE,
				   .reason = s->reason};

	if (j->row != NONE)
		vstate_emit(m, j->row, &out, s->end);
}

static void tell_mount(struct model *m, const struct jthread *j, uint32_t life, bool mounts,
		       uint64_t t)
{
	uint32_t row = vthread_row(m, j->process, j->java_tid);
	struct model_event e = {.thread = life,
				.kind = mounts ? MODEL_EVENT_MOUNT : MODEL_EVENT_UNMOUNT,
				.time = t,
				.java_tid = j->java_tid,
				.left = NONE,
				.name = row != NONE ? m->info.vthreads[row].name : 0};

	emit_event(m, &e);
}

void vthread_mount(struct model *m, struct jthread *j, uint32_t life, uint64_t t)
{
	if (j->on == life)
		return;
	if (j->on != NONE) /* the unmount is missing */
		vthread_lost(m, j, t);
	if (j->row != NONE)
		rest_ends(m, j, NONE, 0, t);
	if (m->methods)
		methods_mount(m, j, life, t);
	j->on = life;
	m->whys[life].mounted = j;
	tell_mount(m, j, life, true, t);
}

/* What its carrier does at @t is what it did since the last that was told. */
static void mounted_ends(struct model *m, struct jthread *j, uint64_t t)
{
	const struct life *l = &m->lives[j->on];
	struct model_state s = {.thread = j->on,
				.kind = MODEL_UNKNOWN,
				.cpu = MODEL_NO_CPU,
				.begin = l->since,
				.end = t,
				.reason = reason_plain(MODEL_REASON_NONE)};

	/* Who leaves its carrier runs; when that is not known, nothing is. */
	if (l->kind == MODEL_RUNNING) {
		s.kind = MODEL_RUNNING;
		s.cpu = l->cpu;
		s.reason = reason_of(m, j->on, MODEL_RUNNING, l->since, t);
	}
	vthread_carried(m, j, &s);
	if (m->methods)
		methods_sync(m, j->on, t);
	m->whys[j->on].mounted = NULL;
	if (m->whys[j->on].java == j) /* told to be a platform thread, against what was seen */
		m->whys[j->on].java = NULL;
}

void vthread_unmount(struct model *m, struct jthread *j, uint64_t t)
{
	uint32_t life = j->on;
	bool waits = j->waits && j->waits->kind != JWAIT_POOL;

	if (life == NONE) {
		vthread_lost(m, j, t);
	} else {
		mounted_ends(m, j, t);
		tell_mount(m, j, life, false, t);
	}
	j->on = NONE;
	/* Where parks are told, one that leaves without any yields. */
	j->state = !waits && jwait_told(m, j, JWAIT_PARK) ? JTHREAD_TO_MOUNT : JTHREAD_WAITS;
}

void vthread_unparked(struct model *m, struct jthread *j, uint32_t waker, uint64_t by, uint64_t t)
{
	if (j->on != NONE || j->state != JTHREAD_WAITS || !j->waits || j->waits->kind != JWAIT_PARK)
		return;
	if (j->row != NONE)
		rest_ends(m, j, waker, by, t);
	if (m->methods)
		methods_rested(m, j, t);
	j->waits->waker = (struct model_who){waker, by ? vthread_row(m, j->process, by) : NONE};
	j->waits->woken = t;
	j->state = JTHREAD_TO_MOUNT;
}

void vthread_began(struct model *m, struct jthread *j, bool born, uint64_t t)
{
	struct model_vstate out =
		vstate_of(born ? MODEL_NOT_CREATED : MODEL_UNKNOWN, MODEL_REASON_NONE);

	if (j->row == NONE || m->vrows[j->row].begun)
		return;
	m->vrows[j->row].begun = true;
	if (j->on == NONE) {
		vstate_emit(m, j->row, &out, t);
		if (born)
			j->state = JTHREAD_TO_MOUNT;
	}
}

void vthread_ended(struct model *m, struct jthread *j, uint64_t t)
{
	struct model_vstate exited = vstate_of(MODEL_EXITED, MODEL_REASON_NONE);

	if (j->on != NONE) {
		uint32_t life = j->on;

		mounted_ends(m, j, t);
		m->whys[life].ended = j->java_tid;
		tell_mount(m, j, life, false, t);
		j->on = NONE;
	} else if (j->row != NONE) {
		rest_ends(m, j, NONE, 0, t);
	}
	if (j->row == NONE)
		return;
	m->vrows[j->row].ended = true;
	vstate_emit(m, j->row, &exited, m->info.end);
}

void vthread_lost(struct model *m, struct jthread *j, uint64_t t)
{
	if (j->on != NONE) {
		uint32_t life = j->on;

		mounted_ends(m, j, t);
		tell_mount(m, j, life, false, t);
	} else {
		if (j->row != NONE)
			rest_ends(m, j, NONE, 0, t);
		if (m->methods)
			methods_rested(m, j, t);
	}
	j->on = NONE;
	j->state = JTHREAD_UNKNOWN;
}

/* Living ones have told their last state; of others nothing was heard. */
void vthreads_finish(struct model *m)
{
	for (uint32_t i = 0; m->nests.table && i <= m->nests.mask; i++) {
		struct jthread *j =
			m->nests.table[i].process != NONE ? m->nests.table[i].java : NULL;

		if (!j || !j->virtual)
			continue;
		jthread_fresh(m, j, m->info.end);
		if (j->on != NONE)
			mounted_ends(m, j, m->info.end);
		else if (j->row != NONE)
			rest_ends(m, j, NONE, 0, m->info.end);
		if (j->on == NONE && m->methods)
			methods_rested(m, j, m->info.end);
		j->on = NONE;
	}
	for (uint32_t i = 0; i < m->info.nr_vthreads; i++) {
		const struct model_vthread *v = &m->info.vthreads[i];
		struct model_vstate none =
			vstate_of(v->birth ? MODEL_NOT_CREATED : MODEL_UNKNOWN, MODEL_REASON_NONE);

		vstate_emit(m, i, &none, m->info.end);
	}
}
