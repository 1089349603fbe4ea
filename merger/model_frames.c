/* SPDX-License-Identifier: MIT */
/*
 * Stacks of calls: what is charged is charged to the innermost one and only ever moves outwards,
 * from a call that ends to the one around it, so that the parts of each add up to its wall time.
 * Knows nothing of records and states.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "callstack.h"

/* Vectors ------------------------------------------------------------------------------------ */

static struct vector *vector_new(struct model *m)
{
	struct vector *v = m->methods->spare;

	if (v)
		m->methods->spare = v->next;
	else
		v = malloc(sizeof(*v));
	if (!v)
		m->error = -ENOMEM;
	else
		memset(v, 0, sizeof(*v));
	return v;
}

static void vector_free(struct model *m, struct vector *v)
{
	if (!v)
		return;
	v->next = m->methods->spare;
	m->methods->spare = v;
}

/* Adds @from, which is used up, to @to. */
static void vector_move(struct model *m, struct vector **to, struct vector *from)
{
	if (!from)
		return;
	if (!*to) {
		*to = from;
		return;
	}
	for (uint32_t i = 0; i < MODEL_NR_REASONS; i++)
		(*to)->ns[i] += from->ns[i];
	vector_free(m, from);
}

/* Stacks ------------------------------------------------------------------------------------- */

struct callstack *callstack_new(struct model *m, uint64_t t)
{
	struct callstack *s = calloc(1, sizeof(*s));

	if (s)
		s->frames = calloc(1, sizeof(*s->frames));
	if (!s || !s->frames) {
		free(s);
		m->error = -ENOMEM;
		return NULL;
	}
	s->room = s->depth = 1;
	s->cursor = s->frames->begin = t > m->info.begin ? t : m->info.begin;
	s->denied = TIME_NONE;
	return s;
}

void callstack_free(struct callstack *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->depth; i++) {
		free(s->frames[i].own_by);
		free(s->frames[i].kids_by);
		free(s->frames[i].values);
	}
	free(s->values);
	free(s->frames);
	free(s);
}

struct callframe *frame_push(struct model *m, struct callstack *s)
{
	if (s->depth == s->room) {
		uint32_t room = s->room < MAX_CALL_DEPTH / 4 ? s->room * 4 : MAX_CALL_DEPTH;
		struct callframe *grown = realloc(s->frames, room * sizeof(*grown));

		if (!grown) {
			m->error = -ENOMEM;
			return NULL;
		}
		s->frames = grown;
		s->room = room;
	}
	memset(&s->frames[s->depth], 0,
	       m->methods->bare ? offsetof(struct callframe, own) : sizeof(*s->frames));
	return &s->frames[s->depth++];
}

void charge(struct model *m, struct callstack *s, enum model_call_time part,
	    enum model_reason_kind reason, uint64_t t)
{
	struct callframe *f = callstack_top(s);
	uint64_t ns;

	if (t > m->info.end)
		t = m->info.end;
	if (t <= s->cursor)
		return;
	ns = t - s->cursor;
	s->cursor = t;
	if (m->methods->bare)
		return;
	f->own[part] += ns;
	if (part != MODEL_CALL_READY && part != MODEL_CALL_BLOCKED)
		return;
	if (!f->own_by)
		f->own_by = vector_new(m);
	if (f->own_by)
		f->own_by->ns[reason] += ns;
}

/* Telling ------------------------------------------------------------------------------------ */

static bool selected(const struct model *m, const struct caller *c)
{
	const struct process_entry *p;

	if (!c->j)
		return m->lives[c->life].flags & LIFE_SELECTED;
	if (c->j->row != NONE)
		return m->info.vthreads[c->j->row].selected;
	p = &m->processes[c->j->process];
	return !m->options.thread && process_entry_wanted(p, m->options.process);
}

static void emit(struct model *m, const struct callbacks *to, bool begins,
		 const struct model_call *call)
{
	for (uint32_t i = 0; i < to->nr; i++) {
		const struct model_sink *s = to->sinks[i];
		int err = begins ? s->call_begin(s->ctx, call) : s->call_end(s->ctx, call);

		if (err && !m->error)
			m->error = err;
	}
}

/* The innermost call below frame @at, or the first gap. */
static const struct callframe *caller_of(const struct callstack *s, uint32_t at)
{
	while (at && !s->frames[--at].id)
		;
	return &s->frames[at];
}

/* How deep in its thread's calls frame @at is; it may be the one after the last. */
static uint32_t depth_at(const struct callstack *s, uint32_t at)
{
	uint32_t depth = 1;

	for (uint32_t i = 1; i < at; i++)
		depth += s->frames[i].id != 0;
	return depth;
}

/* What the context of frame @at, which is or would be @f, would say if there were one. */
static uint32_t flags_without_context(const struct callstack *s, uint32_t at,
				      const struct callframe *f)
{
	const struct callframe *around = caller_of(s, at);
	uint32_t flags = around->id && around->context == MODEL_NO_CONTEXT ? MODEL_CALL_IN_NONE : 0;

	for (uint32_t i = at; i-- > 1 && !(flags & MODEL_CALL_PAIR_RECURSIVE);) {
		const struct callframe *outer = &s->frames[i], *by;

		if (!outer->id || outer->method != f->method)
			continue;
		flags |= MODEL_CALL_RECURSIVE;
		by = caller_of(s, i);
		if (by->id ? around->id && by->method == around->method : !around->id)
			flags |= MODEL_CALL_PAIR_RECURSIVE;
	}
	return flags;
}

static void call_fill(const struct model *m, const struct caller *c, uint32_t at,
		      const struct callframe *f, struct model_call *out)
{
	const struct callframe *around = caller_of(c->s, at);
	const struct life *l = c->life != NONE ? &m->lives[c->life] : NULL;
	const struct jthread *j = c->j ? c->j : m->whys[c->life].java;

	if (!m->methods->bare)
		memset(out, 0, sizeof(*out));
	out->number = f->number;
	out->caller = around->number;
	out->method = f->method;
	out->process = c->j ? c->j->process : m->threads[c->life].process;
	out->thread = c->life;
	out->vthread = c->j ? c->j->row : NONE;
	out->cpu = l && l->kind == MODEL_RUNNING ? l->cpu : MODEL_NO_CPU;
	out->java_tid = j ? j->java_tid : 0;
	out->flags = f->flags;
	if (!around->id && around->number)
		out->flags |= MODEL_CALL_STARTED;
	if (c->j)
		out->flags |= MODEL_CALL_VIRTUAL;
	out->begin = f->begin;
	if (m->methods->bare)
		return;
	out->depth = f->context == MODEL_NO_CONTEXT || f->flags & MODEL_CALL_UNSEEN
			     ? depth_at(c->s, at)
			     : model_context(m, f->context)->depth;
	if (f->context == MODEL_NO_CONTEXT)
		out->flags |= flags_without_context(c->s, at, f);
	out->context = f->context;
	out->outer = around->id ? around->method : 0;
	out->values = f->values ? f->values->of : NULL;
	out->nr_values = f->values ? f->values->nr : 0;
}

void frame_begun(struct model *m, const struct caller *c, uint64_t t)
{
	struct model_call out;

	if (t < m->info.begin || !selected(m, c))
		return;
	call_fill(m, c, c->s->depth - 1, callstack_top(c->s), &out);
	if (out.cpu != MODEL_NO_CPU)
		m->cpus[out.cpu].told = t;
	emit(m, &m->on_call_begin, true, &out);
}

/* Call @f, which is or was frame @at, ends at @t; its kids are all of it from here on. */
static void tell_end(struct model *m, const struct caller *c, uint32_t at, struct callframe *f,
		     const struct vector *own_by, uint64_t t)
{
	struct model_call out;

	if (!m->on_call_end.nr || t < m->info.begin || !selected(m, c))
		return;
	if (t > m->info.end)
		t = m->info.end;
	if (t < f->begin)
		t = f->begin;
	call_fill(m, c, at, f, &out);
	out.end = t;
	if (m->methods->bare) {
		emit(m, &m->on_call_end, false, &out);
		return;
	}
	memcpy(out.time, f->kids, sizeof(out.time));
	memcpy(out.own, f->own, sizeof(out.own));
	out.by_reason = f->kids_by ? f->kids_by->ns : NULL;
	out.own_by_reason = own_by ? own_by->ns : NULL;
	out.lost = f->lost;
	out.calls = f->calls;
	emit(m, &m->on_call_end, false, &out);
}

/* Ending calls ------------------------------------------------------------------------------- */

/* Adds @f's own to its kids'. */
static void frame_sum(struct model *m, struct callframe *f)
{
	for (uint32_t i = 0; i < MODEL_NR_CALL_TIMES; i++)
		f->kids[i] += f->own[i];
	if (!f->own_by)
		return;
	if (!f->kids_by)
		f->kids_by = vector_new(m);
	if (!f->kids_by)
		return;
	for (uint32_t i = 0; i < MODEL_NR_REASONS; i++)
		f->kids_by->ns[i] += f->own_by->ns[i];
}

/* All of @f, which has been summed, was within @to. */
static void frame_give(struct model *m, struct callframe *to, struct callframe *f)
{
	for (uint32_t i = 0; i < MODEL_NR_CALL_TIMES; i++)
		to->kids[i] += f->kids[i];
	to->calls += f->calls + (f->id != 0);
	vector_move(m, &to->kids_by, f->kids_by);
	f->kids_by = NULL;
}

void frame_pop(struct model *m, const struct caller *c, uint64_t t)
{
	struct callstack *s = c->s;
	uint32_t at = s->depth - 1;
	struct callframe *f = &s->frames[at];

	if (m->methods->bare) {
		tell_end(m, c, at, f, NULL, t);
		s->depth--;
		return;
	}
	frame_sum(m, f);
	tell_end(m, c, at, f, f->own_by, t);
	vector_free(m, f->own_by);
	values_free(m, f->values);
	frame_give(m, f - 1, f);
	s->depth--;
}

static uint64_t total(const uint64_t *time)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < MODEL_NR_CALL_TIMES; i++)
		sum += time[i];
	return sum;
}

/* The gap on top is over: what happened in it becomes part of @carry. */
static void gap_pop(struct model *m, struct callstack *s, struct callframe *carry)
{
	struct callframe *f = callstack_top(s);

	s->depth--;
	if (m->methods->bare)
		return;
	carry->lost += total(f->own) + f->lost;
	frame_sum(m, f);
	vector_free(m, f->own_by);
	frame_give(m, carry, f);
}

void frames_drop(struct model *m, const struct caller *c, uint32_t down_to, uint32_t flags,
		 bool error, uint64_t t)
{
	struct callstack *s = c->s;
	struct callframe carry = {0};

	while (s->depth - 1 > down_to) {
		struct callframe *f = callstack_top(s);

		if (!f->id) {
			t = f->begin;
			error = false;
			gap_pop(m, s, &carry);
			continue;
		}
		/* Some exits of constructors cannot be recorded. */
		if (error && !(model_method(m, f->method)->flags & JIS_METHOD_CONSTRUCTOR))
			model_error_count(m, MODEL_ERROR_METHOD_UNENDED, caller_who(c));
		f->flags |= flags;
		frame_pop(m, c, t);
	}
	if (m->methods->bare)
		return;
	callstack_top(s)->lost += carry.lost;
	frame_give(m, callstack_top(s), &carry);
}

void gap_exit(struct model *m, const struct caller *c, uint32_t id, uint32_t flags, uint64_t t)
{
	const struct process_run *p = &m->runs[c->j ? c->j->process : m->threads[c->life].process];
	uint32_t at = c->s->depth - 1;
	struct callframe *gap = &c->s->frames[at], f = *gap;

	f.id = id;
	f.number = ++m->methods->calls;
	f.flags = flags | MODEL_CALL_UNSEEN | (at ? MODEL_CALL_DOUBTFUL : 0);
	f.method = id < p->room_traced ? p->traced[id] : 0;
	if (m->methods->contexts)
		f.context = context_child(m, gap->context, f.method, !at && gap->number);
	if (m->methods->bare) {
		tell_end(m, c, at + 1, &f, NULL, t);
		return;
	}
	frame_sum(m, gap);
	memcpy(f.kids, gap->kids, sizeof(f.kids));
	f.kids_by = gap->kids_by;
	tell_end(m, c, at + 1, &f, gap->own_by, t);
	memset(gap->own, 0, sizeof(gap->own));
	vector_free(m, gap->own_by);
	gap->own_by = NULL;
	gap->calls++;
}

void gap_heal(struct model *m, const struct caller *c, uint32_t method)
{
	struct callstack *s = c->s;
	uint32_t at = s->depth - 1, i = at;
	struct callframe gap;

	for (;;) {
		const struct callframe *f = &s->frames[--i];
		uint32_t context = context_find(m, f->context, method, !i && f->number);

		if (i && !f->id)
			return;
		if (context && model_context(m, context)->sure)
			break;
		if (!i)
			return;
	}
	if (i + 1 == at)
		return;
	gap = s->frames[at];
	s->depth--;
	frames_drop(m, c, i, MODEL_CALL_REPAIRED, false, gap.begin);
	gap.context = s->frames[i].context;
	gap.number = s->frames[i].number;
	s->frames[s->depth++] = gap;
}

/* What is in no call that may have been entered before now has been in none until now. */
static void root_renew(struct model *m, struct callstack *s)
{
	struct callframe *f = s->frames;

	vector_free(m, f->own_by);
	vector_free(m, f->kids_by);
	*f = (struct callframe){.begin = s->cursor, .number = f->number, .context = f->context};
}

void gap_push(struct model *m, struct callstack *s, bool born)
{
	struct callframe *f;

	values_free(m, s->values);
	s->values = NULL;
	if (s->depth == 1 && born && !s->lost_outside)
		root_renew(m, s);
	s->lost_outside |= s->depth == 1;
	if (!callstack_top(s)->id)
		return;
	if (!m->methods->contexts && !m->error)
		m->error = -EAGAIN;
	/* Below one that has it all have it. */
	for (f = callstack_top(s); f != s->frames && !(f->flags & MODEL_CALL_GAP); f--)
		f->flags |= MODEL_CALL_GAP;
	f = frame_push(m, s);
	if (!f)
		return;
	f->begin = s->cursor;
	f->context = f[-1].context;
	f->number = f[-1].number;
}

void frames_clear(struct model *m, struct callstack *s)
{
	values_free(m, s->values);
	s->values = NULL;
	s->depth = 1;
	root_renew(m, s);
	s->frames->number = s->frames->context = 0;
	s->lost_outside = false;
	s->excess = 0;
}
