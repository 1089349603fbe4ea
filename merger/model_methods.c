/* SPDX-License-Identifier: MIT */
/*
 * Calls of traced methods: whose they are, and what their threads do meanwhile, as the scheduler
 * has it. Where records are missing an unknown call (a gap) is laid on the stack: what happens from
 * then on is not the own time of the call below it, until an exit tells where the thread is.
 * docs/calls.md has the rules.
 */
#include <errno.h>
#include <stdlib.h>

#include "callstack.h"
#include "model_jwait.h"

/* Time --------------------------------------------------------------------------------------- */

static enum model_call_time part_of(enum model_state_kind kind)
{
	switch (kind) {
	case MODEL_RUNNING:
		return MODEL_CALL_CPU;
	case MODEL_READY:
		return MODEL_CALL_READY;
	case MODEL_BLOCKED_INTERRUPTIBLE:
	case MODEL_BLOCKED_UNINTERRUPTIBLE:
	case MODEL_STOPPED:
		return MODEL_CALL_BLOCKED;
	default:
		return MODEL_CALL_UNKNOWN;
	}
}

/* The thread that has @life was @part until @t: whoever is on it. */
static void charge_life(struct model *m, uint32_t life, enum model_call_time part,
			enum model_reason_kind reason, uint64_t t)
{
	const struct why *w = &m->whys[life];

	if (!w->mounted) {
		if (w->calls)
			charge(m, w->calls, part, reason, t);
		return;
	}
	if (w->mounted->calls)
		charge(m, w->mounted->calls, part, reason, t);
	if (w->calls)
		charge(m, w->calls, MODEL_CALL_CARRYING, MODEL_REASON_NONE, t);
}

static void calls_open(struct model *m, const struct caller *c);

void methods_state(struct model *m, uint32_t life, enum model_state_kind kind, uint64_t begin,
		   uint64_t end, const struct model_reason *reason)
{
	struct why *w = &m->whys[life];

	if (!w->calls) {
		if (kind != MODEL_NOT_CREATED && kind != MODEL_EXITED)
			w->calls = callstack_new(m, begin);
		if (!w->calls)
			return;
	}
	if (kind == MODEL_EXITED)
		calls_open(m, &(struct caller){life, NULL, w->calls});
	else if (w->calls->denied == m->lives[life].since)
		kind = MODEL_UNKNOWN;
	if (w->calls->cursor < begin)
		charge_life(m, life, MODEL_CALL_UNKNOWN, MODEL_REASON_NONE, begin);
	charge_life(m, life, part_of(kind), reason ? reason->kind : MODEL_REASON_NONE, end);
}

void methods_sync(struct model *m, uint32_t life, uint64_t t)
{
	/* What a blocked thread waited for is known when that ends; who writes is not blocked. */
	charge_life(m, life,
		    m->lives[life].kind == MODEL_RUNNING ? MODEL_CALL_CPU : MODEL_CALL_UNKNOWN,
		    MODEL_REASON_NONE, t);
}

void methods_rested(struct model *m, struct jthread *j, uint64_t t)
{
	struct model_reason r = *reason_plain(MODEL_WAIT_UNMOUNTED);

	if (!j->calls || j->on != NONE)
		return;
	if (j->state == JTHREAD_TO_MOUNT) {
		charge(m, j->calls, MODEL_CALL_READY, MODEL_READY_TO_MOUNT, t);
	} else if (j->state == JTHREAD_WAITS) {
		if (j->waits)
			jwait_reason(m, j->waits, j, &r);
		charge(m, j->calls, MODEL_CALL_BLOCKED, r.kind, t);
	} else {
		charge(m, j->calls, MODEL_CALL_UNKNOWN, MODEL_REASON_NONE, t);
	}
}

void methods_mount(struct model *m, struct jthread *j, uint32_t life, uint64_t t)
{
	methods_sync(m, life, t);
	if (!j->calls)
		j->calls = callstack_new(m, t);
	else
		methods_rested(m, j, t);
}

/* Records ------------------------------------------------------------------------------------ */

/* Who writes on @life. */
static struct caller caller_on(struct model *m, uint32_t life, uint64_t t)
{
	struct why *w = &m->whys[life];
	struct caller c = {.life = life};

	if (w->mounted)
		jthread_fresh(m, w->mounted, t);
	c.j = w->mounted;
	if (!w->calls)
		w->calls = callstack_new(m, m->lives[life].since);
	if (c.j && !c.j->calls)
		c.j->calls = callstack_new(m, t);
	c.s = c.j && w->calls ? c.j->calls : w->calls;
	return c;
}

/* Brings the books up to a record of @life at @t. A thread that writes runs: when the model has it
 * off its CPU, a switch was not told of, and until the next one nothing is known. */
static void caller_sync(struct model *m, const struct caller *c, uint64_t t)
{
	const struct life *l = &m->lives[c->life];

	if (l->kind != MODEL_RUNNING && l->kind != MODEL_UNKNOWN &&
	    m->whys[c->life].calls->denied != l->since) {
		m->whys[c->life].calls->denied = l->since;
		model_conflict_count(m, MODEL_CONFLICT_OFF_CPU, caller_who(c));
	}
	methods_sync(m, c->life, t);
}

/* What an unseen thread's first calls are in: the call that started it. */
static void root_fill(const struct model *m, const struct caller *c)
{
	const struct jthread *j = c->j ? c->j : m->whys[c->life].java;

	c->s->frames->number = j ? j->start_call : 0;
	c->s->frames->context = j ? j->start_context : 0;
}

static void call_enters(struct model *m, uint32_t life, uint32_t id, uint64_t t)
{
	const struct process_run *p = &m->runs[m->threads[life].process];
	uint32_t method = id < p->room_traced ? p->traced[id] : 0;
	struct caller c = caller_on(m, life, t);
	const struct callframe *around;
	struct values *values;
	struct callframe *f;
	bool doubtful;

	if (!c.s || !id)
		return;
	caller_sync(m, &c, t);
	if (callstack_full(m->methods, c.s)) {
		c.s->excess++;
		m->methods->deep++;
		return;
	}
	if (c.s->depth == 1)
		root_fill(m, &c);
	values = values_take(m, c.s, id);
	doubtful = c.s->depth > 1 && !callstack_top(c.s)->id;
	if (doubtful)
		gap_heal(m, &c, method);
	f = frame_push(m, c.s);
	if (!f) {
		values_free(m, values);
		return;
	}
	around = f - 1;
	f->values = values;
	f->id = id;
	f->method = method;
	f->number = ++m->methods->calls;
	f->begin = t > m->info.begin ? t : m->info.begin;
	f->flags = (t < m->info.begin ? MODEL_CALL_CUT : 0) | (doubtful ? MODEL_CALL_DOUBTFUL : 0);
	if (m->methods->contexts) {
		f->context = context_child(m, around->context, method,
					   c.s->depth == 2 && around->number);
		if (!doubtful)
			context_sure(m, f->context);
	}
	if (m->on_call_begin.nr)
		frame_begun(m, &c, t);
}

/*
 * The innermost gap, where a call may be that ends and was not seen to begin; NONE if a call that
 * must end first is open inside. Constructors need not: some of their exits cannot be recorded.
 */
static uint32_t gap_around(const struct model *m, const struct callstack *s)
{
	uint32_t at = s->depth - 1;

	for (; s->frames[at].id; at--)
		if (!(model_method(m, s->frames[at].method)->flags & JIS_METHOD_CONSTRUCTOR))
			return NONE;
	return at;
}

static void call_exits(struct model *m, uint32_t life, uint32_t number, uint64_t t)
{
	uint32_t id = number & ~JIS_METHOD_UNWOUND, at;
	uint32_t flags = number & JIS_METHOD_UNWOUND ? MODEL_CALL_UNWOUND : 0;
	struct caller c = caller_on(m, life, t);

	if (!c.s || !id)
		return;
	caller_sync(m, &c, t);
	if (c.s->excess) {
		c.s->excess--;
		return;
	}
	at = c.s->depth - 1;
	while (at && c.s->frames[at].id != id)
		at--;
	if (!at) {
		at = gap_around(m, c.s);
		if (at == NONE) {
			model_error_count(m, MODEL_ERROR_METHOD_EXIT, caller_who(&c));
			return;
		}
		if (c.s->depth == 1)
			root_fill(m, &c);
		frames_drop(m, &c, at, flags | MODEL_CALL_REPAIRED, false, t);
		gap_exit(m, &c, id, flags, t);
		return;
	}
	if (at != c.s->depth - 1)
		frames_drop(m, &c, at, flags | MODEL_CALL_REPAIRED, true, t);
	c.s->frames[at].flags |= flags;
	frame_pop(m, &c, t);
}

static void value_told(struct model *m, uint32_t life, uint32_t process,
		       const struct jis_ev_method_value *ev, uint64_t t)
{
	struct caller c = caller_on(m, life, t);

	if (c.s && !m->methods->bare && !callstack_full(m->methods, c.s))
		value_add(m, c.s, process, ev);
}

static void started(struct model *m, uint32_t life, uint32_t process, uint64_t child_java_tid,
		    uint64_t t)
{
	struct caller c = caller_on(m, life, t);
	struct callframe *f;
	struct jthread *child;

	if (!c.s || !child_java_tid || c.s->depth == 1)
		return;
	child = jthread_get(m, process, child_java_tid);
	if (!child)
		return;
	child->start_call = callstack_top(c.s)->number;
	f = callstack_top(c.s);
	if (!f->id && c.s->depth > 2)
		f--; /* a gap upon the call it is in */
	f->flags |= MODEL_CALL_STARTER;
	child->start_context = callstack_top(c.s)->context;
}

static void doing(struct model *m, const struct stream_cursor *c, uint32_t life, uint64_t t)
{
	const struct jis_ev_method_probe *ev = (const void *)c->payload;
	struct model_event e = {.kind = MODEL_EVENT_PROBE,
				.thread = life,
				.process = c->trace - 1,
				.time = t,
				.type = ev->way,
				.value = (int64_t)ev->pair,
				.left = NONE};

	emit_event(m, &e);
}

void methods_changed(struct model *m, uint32_t process, const struct jis_ev_methods_changed *ev,
		     uint64_t t)
{
	struct model_event e = {.kind = MODEL_EVENT_METHODS,
				.thread = NONE,
				.process = process,
				.time = t,
				.type = ev->asked,
				.value = (int64_t)ev->pause,
				.left = NONE};

	emit_event(m, &e);
}

void method_event(struct model *m, const struct stream_cursor *c, uint64_t t)
{
	uint32_t life = m->streams[c - m->stream_base].owner;

	if (c->id == JIS_EV_method_probe) {
		doing(m, c, life, t);
	} else if (life == NONE) {
		m->counts.unknown_threads++;
	} else if (t > m->info.end) {
		return;
	} else if (c->id == JIS_EV_method_enter) {
		call_enters(m, life, ((const struct jis_ev_method_enter *)c->payload)->method, t);
	} else if (c->id == JIS_EV_method_exit) {
		call_exits(m, life, ((const struct jis_ev_method_exit *)c->payload)->method, t);
	} else if (c->id == JIS_EV_method_value) {
		value_told(m, life, c->trace - 1, (const void *)c->payload, t);
	} else {
		const struct jis_ev_thread_start_call *ev = (const void *)c->payload;

		started(m, life, c->trace - 1, ev->child_java_tid, t);
	}
}

uint64_t model_deep_calls(const struct model *m)
{
	return m->methods ? m->methods->deep : 0;
}

/* Losses and ends ---------------------------------------------------------------------------- */

void methods_lost(struct model *m, uint32_t life, uint64_t t)
{
	struct why *w = &m->whys[life];

	if (!w->calls)
		return;
	/* That it runs is known; what a wait was for will be known when it is over. */
	if (m->lives[life].kind == MODEL_RUNNING)
		methods_sync(m, life, t);
	gap_push(m, w->calls, w->java && w->java->born);
}

void methods_lost_virtual(struct model *m, struct jthread *j, uint64_t t)
{
	if (!j->calls)
		return;
	methods_rested(m, j, t);
	gap_push(m, j->calls, j->born);
}

static void calls_end(struct model *m, const struct caller *c, uint64_t t)
{
	frames_drop(m, c, 0, MODEL_CALL_REPAIRED, true, t);
	frames_clear(m, c->s);
}

void methods_ended(struct model *m, uint32_t life, uint64_t t)
{
	const struct caller c = {life, NULL, m->whys[life].calls};

	if (!c.s)
		return;
	if (m->lives[life].kind == MODEL_RUNNING || m->lives[life].kind == MODEL_UNKNOWN)
		methods_sync(m, life, t);
	calls_end(m, &c, c.s->cursor);
}

void methods_ended_virtual(struct model *m, struct jthread *j, uint64_t t)
{
	const struct caller c = {j->on, j, j->calls};

	if (!c.s)
		return;
	if (j->on != NONE)
		methods_sync(m, j->on, t);
	else
		methods_rested(m, j, t);
	calls_end(m, &c, t);
}

void methods_disown(struct model *m, uint32_t life, uint64_t t)
{
	const struct caller c = {life, NULL, m->whys[life].calls};
	uint32_t at;

	if (!c.s)
		return;
	methods_sync(m, life, t);
	for (at = c.s->depth - 1; at && c.s->frames[at].id; at--)
		;
	if (at < c.s->depth - 1)
		frames_drop(m, &c, at, MODEL_CALL_REPAIRED, false, t);
}

/* Calls that go on at the end of the window, or of the process. */
static void calls_open(struct model *m, const struct caller *c)
{
	if (c->s)
		frames_drop(m, c, 0, MODEL_CALL_OPEN, false, c->s->cursor);
}

void methods_stop(struct model *m, uint32_t host, uint64_t t)
{
	for (uint32_t i = 0; m->nests.table && i <= m->nests.mask; i++) {
		const struct nest *n = &m->nests.table[i];
		struct jthread *j = n->process != NONE ? n->java : NULL;

		if (!j || !j->calls || m->runs[n->process].host != host)
			continue;
		jthread_fresh(m, j, t);
		if (j->on != NONE)
			methods_sync(m, j->on, t);
		else
			methods_rested(m, j, t);
		calls_open(m, &(struct caller){j->on, j, j->calls});
	}
	for (uint32_t i = 0; i < m->info.nr_threads; i++) {
		if (m->lives[i].host != host || !m->whys[i].calls)
			continue;
		methods_sync(m, i, t);
		calls_open(m, &(struct caller){i, NULL, m->whys[i].calls});
	}
}

void methods_finish(struct model *m)
{
	for (uint32_t i = 0; m->nests.table && i <= m->nests.mask; i++) {
		struct jthread *j =
			m->nests.table[i].process != NONE ? m->nests.table[i].java : NULL;

		if (j && j->calls)
			calls_open(m, &(struct caller){j->on, j, j->calls});
	}
	for (uint32_t i = 0; i < m->info.nr_threads; i++)
		calls_open(m, &(struct caller){i, NULL, m->whys[i].calls});
}

/* Are there any? What is fed without files may have some. */
static bool any_calls(const struct model *m)
{
	const struct manifest *man = m->info.manifest;

	for (uint32_t i = 0; i < man->nr_streams; i++)
		if (man->streams[i].stream_class == JIS_STREAM_USER &&
		    (man->streams[i].stored[JIS_EV_method_enter] ||
		     man->streams[i].stored[JIS_EV_method_exit]))
			return true;
	return !m->trace;
}

/* Is it known that records of threads are missing? */
static bool any_losses(const struct model *m)
{
	const struct manifest *man = m->info.manifest;

	for (uint32_t i = 0; i < man->nr_streams; i++)
		for (uint32_t type = 0; type < JIS_MAX_EVENT_ID; type++)
			if (man->streams[i].stream_class == JIS_STREAM_USER &&
			    man->streams[i].lost[type])
				return true;
	return !m->trace;
}

int methods_init(struct model *m, bool bare)
{
	if (!any_calls(m))
		return m->error;
	m->methods = calloc(1, sizeof(*m->methods));
	if (!m->methods)
		return -ENOMEM;
	m->methods->bare = bare;
	m->methods->contexts = !bare || m->options.contexts || any_losses(m);
	m->methods->depth_max = MAX_CALL_DEPTH;
	return m->error;
}

void methods_fini(struct model *m)
{
	for (uint32_t i = 0; m->whys && i < m->info.nr_threads; i++)
		callstack_free(m->whys[i].calls);
	while (m->methods && m->methods->spare) {
		struct vector *v = m->methods->spare;

		m->methods->spare = v->next;
		free(v);
	}
	while (m->methods && m->methods->spare_values) {
		struct values *v = m->methods->spare_values;

		m->methods->spare_values = v->next;
		free(v);
	}
	free(m->methods);
	m->methods = NULL;
}
