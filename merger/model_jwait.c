/* SPDX-License-Identifier: MIT */
/*
 * The waits Java threads tell of: their records, which may begin inside of which, what each says of
 * its reason, which order of their records is impossible. What cannot be is counted as an error of
 * the trace, and the newer record believed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model_jwait.h"

/* Records ------------------------------------------------------------------------------------ */

/* The begin of a wait that @c stands on; false: it is none. */
static bool begin_of(const struct stream_cursor *c, struct wait_record *out)
{
	const void *p = c->payload;

	/* All begin with it. */
	*out = (struct wait_record){
		.java_tid = ((const struct jis_ev_park_begin *)p)->java_tid,
		.timeout = -1,
	};
	switch (c->id) {
	case JIS_EV_monitor_contended_enter: {
		const struct jis_ev_monitor_contended_enter *ev = p;

		out->kind = JWAIT_MONITOR;
		out->class_name = ev->class_name;
		out->hash = ev->hash;
		out->owner_tid = ev->owner_tid;
		out->owner_java_tid = ev->owner_java_tid;
		return true;
	}
	case JIS_EV_monitor_wait: {
		const struct jis_ev_monitor_wait *ev = p;

		out->kind = JWAIT_OBJECT;
		out->class_name = ev->class_name;
		out->hash = ev->hash;
		out->timeout = ev->timeout;
		return true;
	}
	case JIS_EV_park_begin: {
		const struct jis_ev_park_begin *ev = p;

		out->kind = JWAIT_PARK;
		out->class_name = ev->class_name;
		out->hash = ev->hash;
		out->owner_tid = ev->owner_tid;
		out->owner_java_tid = ev->owner_java_tid;
		out->timeout = ev->timeout;
		return true;
	}
	case JIS_EV_sleep_begin:
		out->kind = JWAIT_SLEEP;
		out->timeout = ((const struct jis_ev_sleep_begin *)p)->timeout;
		return true;
	case JIS_EV_join_begin: {
		const struct jis_ev_join_begin *ev = p;

		out->kind = JWAIT_JOIN;
		out->owner_java_tid = ev->target_java_tid;
		out->timeout = ev->timeout;
		return true;
	}
	case JIS_EV_descriptor_begin: {
		const struct jis_ev_descriptor_begin *ev = p;

		out->kind = JWAIT_DESCRIPTOR;
		out->fd = ev->fd;
		out->events = ev->events;
		out->timeout = ev->timeout;
		return true;
	}
	}
	return false;
}

static void end_of(const struct stream_cursor *c, struct wait_record *out)
{
	const void *p = c->payload;

	/* All begin with it. */
	*out = (struct wait_record){
		.java_tid = ((const struct jis_ev_park_end *)p)->java_tid,
		.timeout = -1,
	};
	switch (c->id) {
	case JIS_EV_monitor_contended_entered: {
		const struct jis_ev_monitor_contended_entered *ev = p;

		out->kind = JWAIT_MONITOR;
		out->class_name = ev->class_name;
		out->hash = ev->hash;
		break;
	}
	case JIS_EV_monitor_waited: {
		const struct jis_ev_monitor_waited *ev = p;

		out->kind = JWAIT_OBJECT;
		out->class_name = ev->class_name;
		out->hash = ev->hash;
		out->timed_out = ev->timed_out;
		break;
	}
	case JIS_EV_park_end:
		out->kind = JWAIT_PARK;
		break;
	case JIS_EV_sleep_end:
		out->kind = JWAIT_SLEEP;
		break;
	case JIS_EV_join_end:
		out->kind = JWAIT_JOIN;
		break;
	case JIS_EV_descriptor_end:
		out->kind = JWAIT_DESCRIPTOR;
		break;
	}
}

void wait_record_read(const struct stream_cursor *c, struct wait_record *out, bool *begins)
{
	*begins = begin_of(c, out);
	if (!*begins)
		end_of(c, out);
}

/* Waits -------------------------------------------------------------------------------------- */

#define MAX_WAIT_DEPTH 16u

static const uint8_t reason_of_wait[NR_JWAITS] = {
	[JWAIT_MONITOR] = MODEL_WAIT_MONITOR, [JWAIT_OBJECT] = MODEL_WAIT_OBJECT,
	[JWAIT_PARK] = MODEL_WAIT_PARK,	      [JWAIT_SLEEP] = MODEL_WAIT_SLEEP,
	[JWAIT_JOIN] = MODEL_WAIT_JOIN,	      [JWAIT_DESCRIPTOR] = MODEL_WAIT_POLL,
	[JWAIT_POOL] = MODEL_WAIT_POOL,
};

/*
 * In which waits a wait may begin. A join waits on the thread's monitor or parks; Object.wait ends
 * by entering its monitor; a virtual thread sleeps, and waits for a descriptor, by parking, for
 * which it may have to make known what it waits for. A worker without a task waits in whatever its
 * queue and its pool wait in.
 */
static const uint8_t may_be_in[NR_JWAITS] = {
	[JWAIT_MONITOR] =
		1 << JWAIT_JOIN | 1 << JWAIT_OBJECT | 1 << JWAIT_DESCRIPTOR | 1 << JWAIT_POOL,
	[JWAIT_OBJECT] = 1 << JWAIT_JOIN | 1 << JWAIT_POOL,
	[JWAIT_PARK] = 1 << JWAIT_JOIN | 1 << JWAIT_SLEEP | 1 << JWAIT_DESCRIPTOR | 1 << JWAIT_POOL,
	[JWAIT_SLEEP] = 1 << JWAIT_POOL,
	[JWAIT_JOIN] = 1 << JWAIT_POOL,
	[JWAIT_DESCRIPTOR] = 1 << JWAIT_POOL,
};

/* What may still be open, unseen, around a wait that may be in these. */
static uint8_t around(uint8_t kind)
{
	uint8_t mask = may_be_in[kind];

	for (uint8_t k = 0; k < NR_JWAITS; k++) {
		if (mask & 1 << k)
			mask |= may_be_in[k];
	}
	return mask;
}

/* A wait of @j that begins at @t on @life, in those it is in already. NULL: no memory. */
static struct jwait *wait_push(struct model *m, struct jthread *j, enum jwait_kind kind,
			       uint32_t life, uint64_t t)
{
	struct jwait *w = m->free_waits;

	if (w)
		m->free_waits = w->outer;
	else
		w = malloc(sizeof(*w));
	if (!w) {
		m->error = -ENOMEM;
		return NULL;
	}
	*w = (struct jwait){
		.outer = j->waits,
		.begin = t,
		.kind = kind,
		.thread = life,
		.owner = NONE,
		.timeout = -1,
		.waker = {NONE, NONE},
	};
	j->waits = w;
	return w;
}

/* It waits for a thread that has not been told of, or has ended. */
static void untold_add(struct model *m, struct jwait *w, uint32_t process)
{
	w->process = process;
	w->next = m->owner_untold;
	if (w->next)
		w->next->link = &w->next;
	w->link = &m->owner_untold;
	m->owner_untold = w;
}

static void untold_remove(struct jwait *w)
{
	if (!w->link)
		return;
	*w->link = w->next;
	if (w->next)
		w->next->link = w->link;
	w->link = NULL;
}

void jwait_owner_is_on(struct model *m, uint32_t process, uint64_t java_tid, uint32_t life)
{
	struct jwait *next;

	for (struct jwait *w = m->owner_untold; w; w = next) {
		next = w->next;
		if (w->process != process || w->owner_java_tid != java_tid)
			continue;
		w->owner = life;
		untold_remove(w);
	}
}

static void wait_fill(const struct model *m, const struct jwait *w, const struct jthread *j,
		      struct model_reason *r)
{
	r->kind = w->pool	  ? MODEL_WAIT_POOL
		  : w->descriptor ? (enum model_reason_kind)w->descriptor
				  : (enum model_reason_kind)reason_of_wait[w->kind];
	r->from_java = true;
	r->java_tid = j->java_tid;
	if (w->kind == JWAIT_DESCRIPTOR) {
		r->fd = w->fd;
		r->name = w->name;
	}
	r->class_name = w->class_name;
	r->hash = w->hash;
	r->owner = w->owner;
	r->owner_java_tid = w->owner_java_tid;
	r->owner_vthread = w->owner_java_tid ? vthread_row(m, j->process, w->owner_java_tid) : NONE;
	r->timeout = w->timeout;
}

/* Does it wait because of the wait around it? */
static bool is_part(const struct jwait *w)
{
	return w->outer && (w->outer->kind == JWAIT_JOIN || w->outer->kind == JWAIT_DESCRIPTOR ||
			    (w->outer->kind == JWAIT_POOL && w->kind == JWAIT_PARK));
}

struct jwait *jwait_reason(const struct model *m, struct jwait *w, const struct jthread *j,
			   struct model_reason *r)
{
	if (is_part(w))
		w = w->outer;
	wait_fill(m, w, j, r);
	return w;
}

struct jwait *jwait_of(struct model *m, uint32_t life, uint64_t begin, struct jthread **who)
{
	struct jthread *const of[] = {m->whys[life].mounted, m->whys[life].java};
	struct jwait *best = NULL;

	for (size_t i = 0; i < 2; i++) {
		if (!of[i])
			continue;
		jthread_fresh(m, of[i], m->now);
		if (of[i]->waits && of[i]->waits->begin <= begin &&
		    (!best || of[i]->waits->begin > best->begin)) {
			best = of[i]->waits;
			*who = of[i];
		}
	}
	return best;
}

bool jwait_told(const struct model *m, const struct jthread *j, enum jwait_kind kind)
{
	return m->runs[j->process].told & 1u << kind && !(j->unseen & 1u << kind);
}

/* Tells of the innermost wait of @j, which ends at @t, and forgets it. */
static void wait_pop(struct model *m, struct jthread *j, bool complete, bool timed_out, uint64_t t)
{
	struct jwait *w = j->waits;
	struct model_reason reason = *reason_plain(MODEL_WAIT_UNKNOWN);
	struct model_java_wait out = {
		.process = j->process,
		.thread = w->thread,
		.vthread = j->row,
		.reason = &reason,
		.begin = w->begin > m->info.begin ? w->begin : m->info.begin,
		.end = t < m->info.end ? t : m->info.end,
		.blocked = w->blocked,
		.pinned = w->pinned,
		.complete = complete,
		.timed_out = timed_out,
		.inside = w->outer && (w->outer->kind != JWAIT_POOL || is_part(w)),
		.in_work = w->in_work,
		.stack = w->stack,
	};
	bool selected = w->thread != NONE && m->lives[w->thread].flags & LIFE_SELECTED;

	/* A stack that was taken inside is one of what is around, too. */
	if (w->outer && !w->outer->stack)
		w->outer->stack = w->stack;
	wait_fill(m, w, j, &reason);
	if (j->row != NONE)
		selected = m->info.vthreads[j->row].selected;
	for (uint32_t i = 0; selected && out.begin <= out.end && i < m->on_java_wait.nr; i++) {
		const struct model_sink *s = m->on_java_wait.sinks[i];
		int err = s->java_wait(s->ctx, &out);

		if (err && !m->error)
			m->error = err;
	}
	if (complete && !timed_out && m->on_link.nr)
		link_wait(m, j, w, t);
	untold_remove(w);
	j->waits = w->outer;
	w->outer = m->free_waits;
	m->free_waits = w;
}

void jwaits_drop(struct model *m, struct jthread *j, uint64_t t)
{
	while (j->waits)
		wait_pop(m, j, false, false, t);
}

void jwait_pool_begins(struct model *m, struct jthread *j, uint32_t life, uint32_t class_name,
		       uint32_t hash, uint64_t t)
{
	struct jwait *w;

	/* A worker that asks for a task waits for nothing else. */
	for (w = j->waits; w; w = w->outer)
		if (w->kind == JWAIT_POOL)
			return;
	j->request = 0;
	w = wait_push(m, j, JWAIT_POOL, life, t);
	if (!w)
		return;
	w->class_name = class_name;
	w->hash = hash;
}

void jwait_pool_ends(struct model *m, struct jthread *j, uint64_t t)
{
	if (j->waits && j->waits->kind == JWAIT_POOL)
		wait_pop(m, j, true, false, t);
}

/* Does somebody wait for what @j does: in a span, a task, a request it has read? */
static bool works(const struct model *m, const struct jthread *j, uint32_t life)
{
	const struct nest *n;

	if (j->tasks || j->request)
		return true;
	n = nest_find(m, j->process, j->java_tid, life);
	return n && n->depth;
}

void jwait_begins(struct model *m, struct jthread *j, uint32_t life, const struct wait_record *r,
		  uint64_t t)
{
	struct jwait *w;
	uint32_t depth = 0;

	for (w = j->waits; w; w = w->outer)
		depth++;
	if (j->waits && !(may_be_in[r->kind] & 1 << j->waits->kind))
		model_error_count(m, MODEL_ERROR_NESTED, who_writes(j));
	if (depth >= MAX_WAIT_DEPTH)
		jwaits_drop(m, j, t);
	j->unseen &= (uint16_t)(~((1u << NR_JWAITS) - 1) | around(r->kind));
	w = wait_push(m, j, (enum jwait_kind)r->kind, life, t);
	if (!w)
		return;
	w->class_name = string_name(m, j->process, r->class_name);
	w->hash = r->hash;
	w->timeout = r->timeout;
	w->in_work = works(m, j, life);
	w->pool = r->kind == JWAIT_PARK && tasks_pool_known(m, j->process, w->class_name, w->hash);
	if (r->kind == JWAIT_DESCRIPTOR) {
		w->fd = r->fd;
		w->descriptor = (uint8_t)fd_wait(m, j->process, r->fd, r->events, &w->name);
	}
	w->owner_java_tid = r->owner_java_tid;
	w->owner = r->owner_tid ? thread_inside(m, j->process, r->owner_tid, t) : NONE;
	if (w->owner == NONE && r->owner_java_tid) {
		/* No nest is made here: nothing would end that of a thread that has ended. */
		const struct nest *n = nest_find(m, j->process, r->owner_java_tid, 0);

		if (n && n->java)
			w->owner = n->java->on;
		if (w->owner == NONE)
			untold_add(m, w, j->process);
	}
}

/*
 * A thread that has another initialise a class waits on the class's lock, an int[], inside of the
 * VM: JVMTI tells of the end of that wait only.
 */
static bool waited_for_class(const struct model *m, const struct jthread *j,
			     const struct wait_record *r)
{
	return r->kind == JWAIT_OBJECT &&
	       !strcmp(model_name(m, string_name(m, j->process, r->class_name)), "[I");
}

void jwait_ends(struct model *m, struct jthread *j, const struct wait_record *r, uint64_t t)
{
	static const uint8_t errors[NR_JWAITS] = {
		[JWAIT_MONITOR] = MODEL_ERROR_MONITOR_END,
		[JWAIT_OBJECT] = MODEL_ERROR_WAIT_END,
		[JWAIT_PARK] = MODEL_ERROR_PARK_END,
		[JWAIT_SLEEP] = MODEL_ERROR_SLEEP_END,
		[JWAIT_JOIN] = MODEL_ERROR_JOIN_END,
		[JWAIT_DESCRIPTOR] = MODEL_ERROR_DESCRIPTOR_END,
	};
	bool names = r->kind == JWAIT_MONITOR || r->kind == JWAIT_OBJECT;
	struct jwait *w = j->waits;

	while (w && w->kind != r->kind)
		w = w->outer;
	if (!w && waited_for_class(m, j, r))
		return;
	if (!w) {
		if (!(j->unseen & 1u << r->kind))
			model_error_count(m, (enum model_error)errors[r->kind], who_writes(j));
		j->unseen &= (uint16_t)(~((1u << NR_JWAITS) - 1) | around(r->kind));
		return;
	}
	while (j->waits != w) {
		model_error_count(m, MODEL_ERROR_UNENDED, who_writes(j));
		wait_pop(m, j, false, false, t);
	}
	if (names &&
	    (w->hash != r->hash || w->class_name != string_name(m, j->process, r->class_name)))
		model_error_count(m, MODEL_ERROR_OBJECT, who_writes(j));
	wait_pop(m, j, true, r->timed_out, t);
}
