/* SPDX-License-Identifier: MIT */
/*
 * Which monitors a Java thread has, where every enter and exit is told: for how long it had each,
 * and whether it had to wait for it. Waits by Object.wait on a monitor are not part of having it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model_int.h"
#include "trace/grow.h"

/* Deeper nests are cut: the innermost are not told. */
#define HELD_MAX 4096u

struct held {
	uint32_t class_name, hash;
	uint64_t since, waited, wait; /* wait: when the Object.wait under way began; 0: none */
};

/* A Java thread. */
struct holder {
	uint32_t process; /* NONE: an empty place */
	uint64_t java_tid;
	struct held *held; /* innermost last */
	uint32_t nr, room;
	/* It has waited for this one, which it is about to have. */
	uint32_t entered_class, entered_hash;
	bool entered;
	uint32_t losses; /* of the process, by its last record: what was known before is not */
};

struct holds {
	struct holder *table; /* open addressing */
	uint32_t mask, nr;
};

static struct holder *holder_place(const struct holds *s, uint32_t process, uint64_t java_tid)
{
	uint64_t h = (java_tid ^ (uint64_t)process << 48) * 0x9e3779b97f4a7c15ull;
	uint32_t i = (uint32_t)(h >> 32) & s->mask;

	while (s->table[i].process != NONE &&
	       (s->table[i].process != process || s->table[i].java_tid != java_tid))
		i = (i + 1) & s->mask;
	return &s->table[i];
}

static bool holds_grow(struct holds *s)
{
	struct holds grown = {.mask = s->mask ? s->mask * 2 + 1 : 255, .nr = s->nr};

	grown.table = calloc(grown.mask + 1ull, sizeof(*grown.table));
	if (!grown.table)
		return false;
	for (uint32_t i = 0; i <= grown.mask; i++)
		grown.table[i].process = NONE;
	for (uint32_t i = 0; s->table && i <= s->mask; i++)
		if (s->table[i].process != NONE)
			*holder_place(&grown, s->table[i].process, s->table[i].java_tid) =
				s->table[i];
	free(s->table);
	*s = grown;
	return true;
}

/* The thread's; NULL: no memory. */
static struct holder *holder_get(struct model *m, uint32_t process, uint64_t java_tid)
{
	struct holds *s = m->holds ? m->holds : calloc(1, sizeof(*s));
	struct holder *h;

	m->holds = s;
	if (!s || (2 * s->nr >= s->mask && !holds_grow(s))) {
		m->error = -ENOMEM;
		return NULL;
	}
	h = holder_place(s, process, java_tid);
	if (h->process == NONE) {
		*h = (struct holder){.process = process, .java_tid = java_tid};
		s->nr++;
	}
	if (h->losses != m->runs[process].losses) {
		h->losses = m->runs[process].losses;
		h->nr = 0;
		h->entered = false;
	}
	return h;
}

static bool is_of(const struct held *held, uint32_t class_name, uint32_t hash)
{
	return held->hash == hash && held->class_name == class_name;
}

/* The innermost of that object below @below; NULL: the thread is not known to have it. */
static struct held *held_find(struct holder *h, uint32_t below, uint32_t class_name, uint32_t hash)
{
	while (below--)
		if (is_of(&h->held[below], class_name, hash))
			return &h->held[below];
	return NULL;
}

static struct held *held_push(struct model *m, struct holder *h)
{
	if (h->nr == HELD_MAX)
		return NULL;
	if (h->nr == h->room && !GROW(h->held, h->room, 8)) {
		m->error = -ENOMEM;
		return NULL;
	}
	return &h->held[h->nr++];
}

static struct model_event event_of(const struct model *m, const struct stream_cursor *c,
				   const struct holder *h, enum model_event_kind kind, uint64_t t)
{
	return (struct model_event){.thread = m->streams[c - m->stream_base].owner,
				    .process = h->process,
				    .kind = kind,
				    .time = t,
				    .java_tid = h->java_tid,
				    .left = NONE};
}

static void enter(struct model *m, const struct stream_cursor *c, struct holder *h,
		  const struct jis_ev_monitor_enter *ev, uint64_t t)
{
	uint32_t class_name = string_name(m, h->process, ev->class_name);
	struct model_event e = event_of(m, c, h, MODEL_EVENT_MONITOR_ENTER, t);
	struct held *held;

	e.name = class_name;
	e.type = h->entered && h->entered_hash == ev->hash && h->entered_class == class_name;
	h->entered = false;
	held = held_push(m, h);
	if (held)
		*held = (struct held){class_name, ev->hash, t, 0, 0};
	emit_event(m, &e);
}

/* An exit without enter is of one that the thread had before. What it has entered since that and
 * not left is of methods that are not told: it is left with it. */
static void leave(struct model *m, const struct stream_cursor *c, struct holder *h,
		  const struct jis_ev_monitor_exit *ev, uint64_t t)
{
	uint32_t class_name = string_name(m, h->process, ev->class_name), below;
	struct held *held = held_find(h, h->nr, class_name, ev->hash);
	struct model_event e = event_of(m, c, h, MODEL_EVENT_MONITOR_EXIT, t);

	if (!held)
		return;
	below = (uint32_t)(held - h->held);
	e.name = class_name;
	/* Entered again inside of itself: the outermost has the time. */
	e.type = held_find(h, below, class_name, ev->hash) != NULL;
	e.value = e.type ? 0 : (int64_t)(t - held->since - held->waited);
	h->nr = below;
	emit_event(m, &e);
}

/* Of all enters of the monitor; it is had again when the wait has ended. */
static void wait(struct model *m, struct holder *h, uint32_t class_id, uint32_t hash, bool begins,
		 uint64_t t)
{
	uint32_t class_name = string_name(m, h->process, class_id);

	for (uint32_t i = 0; i < h->nr; i++) {
		struct held *held = &h->held[i];

		if (!is_of(held, class_name, hash))
			continue;
		if (!begins && held->wait)
			held->waited += t - held->wait;
		held->wait = begins ? t : 0;
	}
}

void hold_event(struct model *m, const struct stream_cursor *c, uint64_t t)
{
	/* All begin with these three. */
	const struct jis_ev_monitor_enter *ev = (const void *)c->payload;
	struct holder *h;

	switch (c->id) {
	case JIS_EV_monitor_enter:
	case JIS_EV_monitor_exit:
	case JIS_EV_monitor_wait:
	case JIS_EV_monitor_waited:
	case JIS_EV_monitor_contended_entered:
		break;
	default:
		return;
	}
	h = holder_get(m, c->trace - 1, ev->java_tid);
	if (!h)
		return;
	if (c->id == JIS_EV_monitor_enter) {
		enter(m, c, h, ev, t);
	} else if (c->id == JIS_EV_monitor_exit) {
		leave(m, c, h, (const void *)c->payload, t);
	} else if (c->id == JIS_EV_monitor_contended_entered) {
		h->entered = true;
		h->entered_class = string_name(m, h->process, ev->class_name);
		h->entered_hash = ev->hash;
	} else {
		wait(m, h, ev->class_name, ev->hash, c->id == JIS_EV_monitor_wait, t);
	}
}

void holds_fini(struct model *m)
{
	for (uint32_t i = 0; m->holds && m->holds->table && i <= m->holds->mask; i++)
		free(m->holds->table[i].held);
	if (m->holds)
		free(m->holds->table);
	free(m->holds);
}
