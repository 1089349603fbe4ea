/* SPDX-License-Identifier: MIT */
/*
 * Waits for classes that other threads initialise. Threads tell which class it was when the wait is
 * over, and why a thread was blocked is worked out when it is woken, a little before: so these
 * records are read before all others, with the dictionaries they are in.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "model_class_waits.h"
#include "trace/grow.h"

struct class_wait {
	uint32_t process, tid, class_name; /* tid: inside of the process; model_name() */
	uint64_t end;
};

struct class_waits {
	struct class_wait *waits;
	size_t nr, room;
	bool sorted;
};

void class_wait_ahead(struct model *m, uint32_t process, const struct jis_ev_class_waited *ev,
		      uint64_t t)
{
	struct class_waits *c = m->class_waits;

	if (!c)
		c = m->class_waits = calloc(1, sizeof(*c));
	if (!c || (c->nr == c->room && !GROW(c->waits, c->room, 64))) {
		m->error = -ENOMEM;
		return;
	}
	c->waits[c->nr++] =
		(struct class_wait){process, ev->tid, string_name(m, process, ev->class_name), t};
	c->sorted = false;
}

static int wait_compare(const void *a, const void *b)
{
	const struct class_wait *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

/* The first of its thread that is not before @key. */
static const struct class_wait *wait_find(struct class_waits *c, const struct class_wait *key)
{
	size_t low = 0, high = c->nr;

	if (!c->sorted)
		qsort(c->waits, c->nr, sizeof(*c->waits), wait_compare);
	c->sorted = true;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (wait_compare(&c->waits[middle], key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == c->nr || c->waits[low].process != key->process || c->waits[low].tid != key->tid)
		return NULL;
	return &c->waits[low];
}

uint32_t class_wait_of(struct model *m, uint32_t life, uint64_t end, uint64_t within)
{
	const struct thread_entry *e = m->threads[life].entry;
	const struct class_wait key = {.process = m->threads[life].process,
				       .tid = e->ns_tid ? e->ns_tid : e->tid,
				       .end = end};
	const struct class_wait *w = m->class_waits ? wait_find(m->class_waits, &key) : NULL;

	if (!w || w->end - end > within || thread_inside(m, key.process, key.tid, w->end) != life)
		return 0;
	return w->class_name;
}

void class_waits_fini(struct model *m)
{
	if (m->class_waits)
		free(m->class_waits->waits);
	free(m->class_waits);
}
