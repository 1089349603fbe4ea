/* SPDX-License-Identifier: MIT */
/*
 * What threads tell of themselves: markers, spans, collections, names. A user stream is a slot, its
 * records are those of the thread that its packet or the last thread_bind named. Spans nest per
 * Java thread, which a virtual thread takes along from carrier to carrier.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model_int.h"
#include "trace/grow.h"

#define MAX_NESTS (1u << 24)

/* Nests -------------------------------------------------------------------------------------- */

static uint32_t nest_hash(uint32_t process, uint64_t java_tid, uint32_t tid)
{
	uint64_t h =
		(java_tid ^ (uint64_t)process << 40 ^ (uint64_t)tid << 20) * 0x9e3779b97f4a7c15ull;

	return (uint32_t)(h >> 32);
}

static struct nest *nest_slot(const struct nests *n, uint32_t process, uint64_t java_tid,
			      uint32_t tid)
{
	uint32_t i = nest_hash(process, java_tid, tid) & n->mask;

	while (n->table[i].process != NONE) {
		const struct nest *e = &n->table[i];

		if (e->process == process && e->java_tid == java_tid && e->tid == tid)
			break;
		i = (i + 1) & n->mask;
	}
	return &n->table[i];
}

static bool nests_grow(struct nests *n)
{
	struct nests grown = {.nr = n->nr, .mask = n->table ? n->mask * 2 + 1 : 63};

	if (n->nr > MAX_NESTS)
		return false;
	grown.table = malloc((grown.mask + 1ull) * sizeof(*grown.table));
	if (!grown.table)
		return false;
	for (uint32_t i = 0; i <= grown.mask; i++)
		grown.table[i] = (struct nest){.process = NONE};
	for (uint32_t i = 0; n->table && i <= n->mask; i++) {
		const struct nest *e = &n->table[i];

		if (e->process != NONE)
			*nest_slot(&grown, e->process, e->java_tid, e->tid) = *e;
	}
	free(n->table);
	*n = grown;
	return true;
}

/* The nest of a Java thread, or of kernel thread @tid where @java_tid is 0; made when there is
 * none. */
struct nest *nest_get(struct model *m, uint32_t process, uint64_t java_tid, uint32_t tid)
{
	struct nests *n = &m->nests;
	struct nest *e;

	if ((!n->table || n->nr > n->mask / 2) && !nests_grow(n)) {
		m->error = -ENOMEM;
		return NULL;
	}
	if (java_tid)
		tid = 0;
	e = nest_slot(n, process, java_tid, tid);
	if (e->process == NONE) {
		n->nr++;
		*e = (struct nest){.java_tid = java_tid,
				   .process = process,
				   .tid = tid,
				   .thread = NONE,
				   .last = NONE,
				   .on = NONE};
	}
	return e;
}

struct nest *nest_find(const struct model *m, uint32_t process, uint64_t java_tid, uint32_t tid)
{
	struct nest *e =
		m->nests.table ? nest_slot(&m->nests, process, java_tid, java_tid ? 0 : tid) : NULL;

	return e && e->process != NONE ? e : NULL;
}

/* Forgets @e: Java thread ids are never used again. */
static void nest_delete(struct model *m, struct nest *e)
{
	struct nests *n = &m->nests;
	uint32_t hole = (uint32_t)(e - n->table), i = hole;

	free(e->names);
	jthread_free(m, e->java);
	n->nr--;
	for (;;) {
		uint32_t home;

		n->table[hole].process = NONE;
		do {
			i = (i + 1) & n->mask;
			if (n->table[i].process == NONE)
				return;
			home = nest_hash(n->table[i].process, n->table[i].java_tid,
					 n->table[i].tid) &
			       n->mask;
		} while (((i - home) & n->mask) < ((i - hole) & n->mask));
		n->table[hole] = n->table[i];
		hole = i;
	}
}

/* Events ------------------------------------------------------------------------------------- */

static struct model_event event_of(const struct model *m, const struct stream_cursor *c,
				   enum model_event_kind kind, uint64_t t)
{
	return (struct model_event){.thread = m->streams[c - m->stream_base].owner,
				    .process = c->trace - 1,
				    .kind = kind,
				    .time = t,
				    .left = NONE};
}

static void bind(struct model *m, const struct stream_cursor *c, uint32_t tid, uint64_t t)
{
	struct stream_run *s = &m->streams[c - m->stream_base];

	s->owner = thread_inside(m, c->trace - 1, tid, t);
	if (s->owner == NONE)
		m->counts.unknown_threads++;
}

/* The strings that @id is among, where it has number *@id. */
static struct strings *strings_of(const struct model *m, uint32_t process, uint32_t *id)
{
	bool recorder = *id & JIS_STRING_RECORDER;

	*id &= ~JIS_STRING_RECORDER;
	return &m->strings[2 * (size_t)process + recorder];
}

uint32_t string_name(const struct model *m, uint32_t process, uint32_t id)
{
	const struct strings *s = strings_of(m, process, &id);

	return id < s->room && s->name[id] != NONE ? s->name[id] : 0;
}

static bool nest_push(struct model *m, struct nest *n, uint32_t name)
{
	if (n->depth == MAX_SPAN_DEPTH) {
		m->counts.unbalanced_spans++;
		return false;
	}
	if (n->depth == n->room && !GROW(n->names, n->room, 8)) {
		m->error = -ENOMEM;
		return false;
	}
	n->names[n->depth++] = name;
	return true;
}

/* Ends the innermost span of that name; those inside of it that never ended count as unbalanced. */
static bool nest_pop(struct model *m, struct nest *n, uint32_t name)
{
	uint32_t depth = n->depth;

	while (depth && n->names[depth - 1] != name)
		depth--;
	if (!depth && n->cut) { /* counted at the loss */
		n->cut--;
		return false;
	}
	if (!depth) {
		m->counts.unbalanced_spans++;
		return false;
	}
	m->counts.unbalanced_spans += n->depth - depth;
	n->depth = depth - 1;
	return true;
}

static void nest_at(const struct model *m, struct nest *n, uint32_t life)
{
	n->last = life;
	n->losses = life != NONE ? m->whys[life].losses : 0;
	n->process_losses = m->runs[n->process].losses;
}

void owner_lost(struct model *m, uint32_t process, uint64_t java_tid, uint32_t life, uint64_t t)
{
	struct nest *n = nest_find(m, process, java_tid, life);
	struct model_event e = {.thread = life,
				.process = process,
				.kind = MODEL_EVENT_SPANS_LOST,
				.time = t,
				.java_tid = java_tid,
				.left = NONE};

	if (!n)
		return;
	nest_at(m, n, n->last);
	if (!n->depth && !n->marked)
		return;
	m->counts.unbalanced_spans += n->depth;
	e.value = n->depth;
	n->cut += n->depth;
	n->depth = 0;
	n->marked = false;
	if (e.thread == NONE)
		e.thread = n->last;
	emit_event(m, &e);
}

/*
 * Looks whether records of the owner of @n, which writes on @life, were missing since its last one.
 * Where the mounts of a virtual thread are known, what its carriers lost is no matter of its own.
 */
static void nest_fresh(struct model *m, struct nest *n, uint32_t life, uint64_t t)
{
	const struct process_run *p = &m->runs[n->process];

	if (n->java)
		jthread_fresh(m, n->java, t);
	if (n->last == NONE || (n->java && n->java->virtual && p->mounts_seen))
		return;
	if (m->whys[n->last].losses != n->losses ||
	    (n->last != life && p->losses != n->process_losses))
		owner_lost(m, n->process, n->java_tid, n->java_tid ? n->last : n->tid, t);
}

static void span_event(struct model *m, const struct stream_cursor *c, uint64_t java_tid,
		       uint32_t id, bool begins, uint64_t t)
{
	struct model_event e =
		event_of(m, c, begins ? MODEL_EVENT_SPAN_BEGIN : MODEL_EVENT_SPAN_END, t);
	struct nest *n = nest_get(m, e.process, java_tid, e.thread);

	if (!n)
		return;
	nest_fresh(m, n, e.thread, t);
	e.java_tid = java_tid;
	e.name = string_name(m, e.process, id);
	if (begins ? !nest_push(m, n, e.name) : !nest_pop(m, n, e.name))
		return;
	e.value = n->depth;
	e.outer = n->depth && !begins ? n->names[n->depth - 1] : 0;
	/* The nest goes on elsewhere: what it left behind is over there. */
	if (n->thread != e.thread && (!begins || n->depth > 1))
		e.left = n->thread;
	n->thread = e.thread;
	nest_at(m, n, e.thread);
	emit_event(m, &e);
}

static void marker_event(struct model *m, const struct stream_cursor *c, uint64_t java_tid,
			 uint32_t type, int64_t value, uint64_t t)
{
	struct model_event e = event_of(m, c, MODEL_EVENT_MARKER, t);
	struct nest *n = java_tid ? nest_find(m, e.process, java_tid, 0)
				  : nest_get(m, e.process, 0, e.thread);

	if (n) {
		nest_fresh(m, n, e.thread, t);
		nest_at(m, n, e.thread);
		n->marked = true;
	}
	e.java_tid = java_tid;
	e.type = type;
	e.value = value;
	emit_event(m, &e);
}

static void value_event(struct model *m, const struct stream_cursor *c, enum model_event_kind kind,
			uint32_t value, uint64_t t)
{
	struct model_event e = event_of(m, c, kind, t);

	e.value = value;
	emit_event(m, &e);
}

/* @number: both records have it alone. */
static SELDOM void gc_event(struct model *m, const struct stream_cursor *c, bool begins,
			    uint32_t number, uint64_t t)
{
	struct process_run *p = &m->runs[c->trace - 1];
	uint32_t life = m->streams[c - m->stream_base].owner;
	bool open = p->gc_seen && p->gc_end == TIME_NONE;

	if (begins && open)
		model_error_count(m, MODEL_ERROR_GC_START, who_is(m, life));
	/* One that was under way when recording began has no start. */
	if (!begins && !open && p->gc_seen)
		model_error_count(m, MODEL_ERROR_GC_FINISH, who_is(m, life));
	/* The end of another one: when that began was not recorded. */
	if (begins || number != p->gc_number)
		p->gc_begin = t;
	p->gc_end = begins ? TIME_NONE : t;
	p->gc_number = number;
	p->gc_life = life;
	p->gc_seen = true;
	value_event(m, c, begins ? MODEL_EVENT_GC_START : MODEL_EVENT_GC_FINISH, number, t);
}

void user_packet(struct model *m, const struct stream_cursor *c,
		 const struct jis_packet_header *header)
{
	struct stream_run *s = &m->streams[c - m->stream_base];
	uint32_t former;

	if (!c->trace || c->trace > m->info.nr_processes || !header->owner)
		return;
	former = s->owner;
	s->owner = thread_inside(m, c->trace - 1, header->owner,
				 clock_scale_ns(&m->scale, header->timestamp_begin));
	/* Records of its new owner may be among the missing; the former's are seen to. */
	if (s->gap && s->owner != NONE && s->owner != former)
		jthreads_lost(m, s->owner, m->now);
	s->gap = false;
}

void user_event(struct model *m, const struct stream_cursor *c, uint64_t t)
{
	const void *p = c->payload;

	if (!c->trace || c->trace > m->info.nr_processes)
		return;
	if (m->holds || c->id == JIS_EV_monitor_enter)
		hold_event(m, c, t);
	switch (c->id) {
	case JIS_EV_method_enter:
	case JIS_EV_method_exit:
	case JIS_EV_method_value:
		if (m->methods)
			method_event(m, c, t);
		break;
	case JIS_EV_thread_start_call:
		doing_event(m, c, t);
		if (m->methods)
			method_event(m, c, t);
		break;
	case JIS_EV_method_probe:
		method_event(m, c, t);
		break;
	case JIS_EV_thread_bind:
		bind(m, c, ((const struct jis_ev_thread_bind *)p)->tid, t);
		break;
	case JIS_EV_marker: {
		const struct jis_ev_marker *ev = p;

		marker_event(m, c, 0, ev->type, ev->value, t);
		break;
	}
	case JIS_EV_java_marker: {
		const struct jis_ev_java_marker *ev = p;

		marker_event(m, c, ev->java_tid, ev->type, ev->value, t);
		break;
	}
	case JIS_EV_span_begin:
	case JIS_EV_span_end: {
		const struct jis_ev_span_begin *ev = p; /* both have the same fields */

		span_event(m, c, ev->java_tid, ev->name, c->id == JIS_EV_span_begin, t);
		break;
	}
	case JIS_EV_gc_start:
	case JIS_EV_gc_finish:
		gc_event(m, c, c->id == JIS_EV_gc_start,
			 ((const struct jis_ev_gc_start *)p)->number, t);
		break;
	case JIS_EV_vm_phase:
		value_event(m, c, MODEL_EVENT_VM_PHASE, ((const struct jis_ev_vm_phase *)p)->phase,
			    t);
		break;
	case JIS_EV_lost_records:
		loss_record(m, c, t);
		break;
	case JIS_EV_class_prepare:
	case JIS_EV_heap:
	case JIS_EV_exception:
	case JIS_EV_allocation:
	case JIS_EV_compiled_method:
	case JIS_EV_safepoint_begin:
	case JIS_EV_safepoint_reached:
	case JIS_EV_safepoint_end:
	case JIS_EV_class_unload:
		doing_event(m, c, t);
		break;
	default:
		jthread_event(m, c, t);
		break;
	}
}

/* The dictionary ----------------------------------------------------------------------------- */

/* Where the name of string @id is kept; NULL: nowhere. */
static uint32_t *string_slot(struct model *m, uint32_t process, uint32_t id)
{
	struct strings *s = strings_of(m, process, &id);
	uint32_t room = s->room ? s->room : 64;
	uint32_t *grown;

	if (!id_plausible(id, &s->told))
		return NULL;
	if (id < s->room)
		return &s->name[id];
	while (room <= id)
		room *= 2;
	grown = realloc(s->name, room * sizeof(*grown));
	if (!grown) {
		m->error = -ENOMEM;
		return NULL;
	}
	memset(grown + s->room, 0, (room - s->room) * sizeof(*grown));
	s->name = grown;
	s->room = room;
	return &s->name[id];
}

static void string_def(struct model *m, uint32_t process, const struct jis_ev_string_def *ev)
{
	uint32_t *slot = string_slot(m, process, ev->id);

	if (slot)
		*slot = name_intern(m, ev->text, strlen(ev->text));
}

void string_ahead(struct model *m, uint32_t process, const struct jis_ev_string_def *ev)
{
	uint32_t *slot = string_slot(m, process, ev->id);
	uint32_t name = slot ? name_intern(m, ev->text, strlen(ev->text)) : 0;

	if (slot)
		*slot = !*slot || *slot == name ? name : NONE;
}

static void java_name(struct model *m, uint32_t process, uint32_t life, uint64_t java_tid,
		      const char *text, uint64_t t)
{
	struct model_event e = {.thread = life,
				.process = process,
				.kind = MODEL_EVENT_JAVA_NAME,
				.time = t,
				.java_tid = java_tid,
				.left = NONE,
				.text = text};

	emit_event(m, &e);
}

/*
 * The thread that a Java thread starts on. What was told before a thread was first seen is its own
 * only if the tables gave it that name: its tid may have been another's.
 */
static uint32_t start_life(struct model *m, uint32_t process,
			   const struct jis_ev_java_thread_start *ev, uint64_t t)
{
	uint32_t life = ev->tid ? thread_inside(m, process, ev->tid, t) : NONE;
	const struct thread_entry *e = life != NONE ? m->threads[life].entry : NULL;

	if (e && e->birth == TIME_NONE && e->java_tid != ev->java_tid &&
	    t < clock_scale_ns(&m->scale, e->first_seen))
		return NONE;
	return life;
}

void dict_event(struct model *m, const struct stream_cursor *c, uint64_t t)
{
	uint32_t process = c->trace - 1;
	const void *p = c->payload;
	struct nest *n;
	uint32_t life;

	if (!c->trace || c->trace > m->info.nr_processes)
		return;
	switch (c->id) {
	case JIS_EV_string_def:
		string_def(m, process, p);
		break;
	case JIS_EV_java_thread_start: {
		const struct jis_ev_java_thread_start *ev = p;

		n = ev->java_tid ? nest_get(m, process, ev->java_tid, 0) : NULL;
		if (!n)
			break;
		life = ev->tid ? start_life(m, process, ev, t) : NONE;
		/* A carrier keeps its own name. */
		n->on = ev->flags & JIS_JTHREAD_VIRTUAL ? NONE : life;
		java_name(m, process, n->on, ev->java_tid, ev->name, t);
		jthread_start(m, process, ev, life, t);
		break;
	}
	case JIS_EV_java_thread_name: {
		const struct jis_ev_java_thread_name *ev = p;

		n = ev->java_tid ? nest_get(m, process, ev->java_tid, 0) : NULL;
		if (n)
			java_name(m, process, n->on, ev->java_tid, ev->name, t);
		break;
	}
	case JIS_EV_java_thread_end: {
		const struct jis_ev_java_thread_end *ev = p;

		n = ev->java_tid ? nest_get(m, process, ev->java_tid, 0) : NULL;
		if (n) {
			m->counts.unbalanced_spans += n->depth;
			if (n->java)
				jthread_end(m, n->java, t);
			nest_delete(m, n);
		}
		break;
	}
	case JIS_EV_method_def:
		method_def(m, process, p);
		break;
	case JIS_EV_stack_def:
		stack_def(m, process, p);
		break;
	case JIS_EV_rmi_connection:
		if (remotes_wanted(m))
			remote_connection(m, process, p);
		break;
	case JIS_EV_traced_method:
		traced_method_def(m, process, p);
		break;
	case JIS_EV_methods_changed:
		if (m->methods)
			methods_changed(m, process, p, t);
		break;
	}
}

void model_java_fini(struct model *m)
{
	for (uint32_t i = 0; m->nests.table && i <= m->nests.mask; i++) {
		if (m->nests.table[i].process == NONE)
			continue;
		free(m->nests.table[i].names);
		jthread_free(m, m->nests.table[i].java);
	}
	free(m->nests.table);
	for (size_t i = 0; m->strings && i < 2 * (size_t)m->info.nr_processes; i++)
		free(m->strings[i].name);
	free(m->strings);
}
