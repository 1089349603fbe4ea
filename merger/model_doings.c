/* SPDX-License-Identifier: MIT */
/*
 * What a JVM does besides running threads: safepoints, the heap around collections, classes,
 * compilations, exceptions, allocations, starts of threads. Told to the sinks as they come; of
 * safepoints the last one of a process is kept, as it is why its threads stand still.
 */
#include <stdio.h>
#include <string.h>

#include "model_int.h"

static struct model_event doing_of(const struct model *m, const struct stream_cursor *c,
				   enum model_event_kind kind, uint64_t t)
{
	return (struct model_event){.thread = m->streams[c - m->stream_base].owner,
				    .process = c->trace - 1,
				    .kind = kind,
				    .time = t,
				    .left = NONE};
}

/* Safepoints --------------------------------------------------------------------------------- */

static void safepoint_order(struct model *m, const struct process_run *p, uint32_t id,
			    uint32_t life)
{
	bool open = p->safepoint_seen && p->safepoint_end == TIME_NONE;

	if (id == JIS_EV_safepoint_begin && open)
		model_error_count(m, MODEL_ERROR_SAFEPOINT_BEGIN, who_is(m, life));
	/* One that was under way when recording began has no begin. */
	if (id != JIS_EV_safepoint_begin && p->safepoint_seen && !open)
		model_error_count(m, MODEL_ERROR_SAFEPOINT_END, who_is(m, life));
}

static void safepoint_event(struct model *m, const struct stream_cursor *c, uint64_t t)
{
	const struct jis_ev_safepoint_begin *ev =
		(const void *)c->payload; /* all three have the same fields */
	struct process_run *p = &m->runs[c->trace - 1];
	struct model_event e = doing_of(m, c, MODEL_EVENT_SAFEPOINT_BEGIN, t);

	safepoint_order(m, p, c->id, e.thread);
	e.name = string_name(m, e.process, ev->operation);
	e.value = ev->source;
	if (c->id == JIS_EV_safepoint_begin) {
		p->safepoint_begin = t;
		p->safepoint_end = TIME_NONE;
	} else if (c->id == JIS_EV_safepoint_reached) {
		e.kind = MODEL_EVENT_SAFEPOINT_REACHED;
		p->safepoint_end = TIME_NONE;
		if (p->safepoint_begin == TIME_NONE)
			p->safepoint_begin = t;
	} else {
		e.kind = MODEL_EVENT_SAFEPOINT_END;
		p->safepoint_end = t;
	}
	p->safepoint_name = e.name;
	p->safepoint_life = e.thread;
	p->safepoint_seen = true;
	emit_event(m, &e);
}

/* May @life, NONE: not known who, have lost what @writer, NONE: the same, tells? */
static bool is_lost(uint32_t writer, uint32_t life)
{
	return life == NONE || writer == NONE || life == writer;
}

static void doing_lost(struct model *m, uint32_t process, uint32_t writer,
		       enum model_event_kind kind, uint64_t t)
{
	struct model_event e = {
		.thread = writer, .process = process, .kind = kind, .time = t, .left = NONE};

	emit_event(m, &e);
}

/* Whoever tells of a collection's begin tells of its end; the same of a safepoint. */
void doings_lost(struct model *m, uint32_t process, uint32_t life, uint64_t t)
{
	struct process_run *p = &m->runs[process];

	if (p->gc_seen && is_lost(p->gc_life, life)) {
		p->gc_seen = false;
		if (p->gc_end == TIME_NONE) {
			p->gc_end = t;
			doing_lost(m, process, p->gc_life, MODEL_EVENT_GC_LOST, t);
		}
	}
	if (p->safepoint_seen && is_lost(p->safepoint_life, life)) {
		p->safepoint_seen = false;
		p->safepoint_begin = TIME_NONE; /* of one that ends now */
		if (p->safepoint_end == TIME_NONE) {
			p->safepoint_end = t;
			doing_lost(m, process, p->safepoint_life, MODEL_EVENT_SAFEPOINT_LOST, t);
		}
	}
}

uint32_t safepoint_during(const struct model *m, uint32_t process, uint64_t begin, uint64_t end)
{
	const struct process_run *p = &m->runs[process];

	return p->safepoint_seen && p->safepoint_begin < end && p->safepoint_end > begin
		       ? p->safepoint_name
		       : 0;
}

/* The others --------------------------------------------------------------------------------- */

/* "Class.method" of a method_def id, 0 not known. */
uint32_t method_name(struct model *m, uint32_t process, uint32_t id)
{
	struct process_run *p = &m->runs[process];
	char text[2 * JIS_STRING_MAX + 2];
	int n;

	if (!id || id >= p->room_methods)
		return 0;
	if (!p->methods[id].whole) {
		n = snprintf(text, sizeof(text), "%s.%s", model_name(m, p->methods[id].class_name),
			     model_name(m, p->methods[id].name));
		p->methods[id].whole = name_intern(m, text, (size_t)n);
	}
	return p->methods[id].whole;
}

static void heap_event(struct model *m, const struct stream_cursor *c, uint64_t t)
{
	const struct jis_ev_heap *ev = (const void *)c->payload;
	struct model_event e = doing_of(m, c, MODEL_EVENT_HEAP_USED, t);

	e.type = ev->after;
	e.value = (int64_t)ev->used;
	emit_event(m, &e);
	e.kind = MODEL_EVENT_HEAP_COMMITTED;
	e.value = (int64_t)ev->committed;
	emit_event(m, &e);
}

static void class_event(struct model *m, const struct stream_cursor *c, uint64_t t)
{
	const struct jis_ev_class_prepare *loaded = (const void *)c->payload;
	const struct jis_ev_class_unload *gone = (const void *)c->payload;
	bool loads = c->id == JIS_EV_class_prepare;
	struct model_event e =
		doing_of(m, c, loads ? MODEL_EVENT_CLASS_LOAD : MODEL_EVENT_CLASS_UNLOAD, t);

	e.java_tid = loads ? loaded->java_tid : 0;
	e.name = string_name(m, e.process, loads ? loaded->class_name : gone->class_name);
	emit_event(m, &e);
}

static void exception_event(struct model *m, const struct stream_cursor *c, uint64_t t)
{
	const struct jis_ev_exception *ev = (const void *)c->payload;
	struct model_event e = doing_of(m, c, MODEL_EVENT_EXCEPTION, t);

	e.java_tid = ev->java_tid;
	e.name = string_name(m, e.process, ev->class_name);
	e.place = method_name(m, e.process, ev->method);
	e.type = ev->caught;
	e.value = ev->line;
	emit_event(m, &e);
}

static void allocation_event(struct model *m, const struct stream_cursor *c, uint64_t t)
{
	const struct jis_ev_allocation *ev = (const void *)c->payload;
	struct model_event e = doing_of(m, c, MODEL_EVENT_ALLOCATION, t);

	e.java_tid = ev->java_tid;
	e.name = string_name(m, e.process, ev->class_name);
	e.value = (int64_t)ev->size;
	emit_event(m, &e);
}

static void compilation_event(struct model *m, const struct stream_cursor *c, uint64_t t)
{
	const struct jis_ev_compiled_method *ev = (const void *)c->payload;
	struct model_event e = doing_of(m, c, MODEL_EVENT_COMPILATION, t);

	e.name = method_name(m, e.process, ev->method);
	e.value = ev->size;
	emit_event(m, &e);
}

static void start_event(struct model *m, const struct stream_cursor *c, uint64_t t)
{
	const struct jis_ev_thread_start_call *ev = (const void *)c->payload;
	struct model_event e = doing_of(m, c, MODEL_EVENT_THREAD_START, t);

	e.java_tid = ev->java_tid;
	e.type = e.thread != NONE && m->whys[e.thread].mounted;
	e.value = ev->stack;
	emit_event(m, &e);
}

void doing_event(struct model *m, const struct stream_cursor *c, uint64_t t)
{
	switch (c->id) {
	case JIS_EV_safepoint_begin:
	case JIS_EV_safepoint_reached:
	case JIS_EV_safepoint_end:
		safepoint_event(m, c, t);
		break;
	case JIS_EV_heap:
		heap_event(m, c, t);
		break;
	case JIS_EV_class_prepare:
	case JIS_EV_class_unload:
		class_event(m, c, t);
		break;
	case JIS_EV_exception:
		exception_event(m, c, t);
		break;
	case JIS_EV_allocation:
		allocation_event(m, c, t);
		break;
	case JIS_EV_compiled_method:
		compilation_event(m, c, t);
		break;
	case JIS_EV_thread_start_call:
		start_event(m, c, t);
		break;
	}
}
