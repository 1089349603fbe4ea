/* SPDX-License-Identifier: MIT */
/*
 * Objects that go from thread to thread by queues: which put a take belongs to. An object is
 * known by its class and identity hash: where the same one is in a queue several times (or two
 * share a hash), the oldest comes out first. What goes to a pool's queue is a task, and told as
 * that.
 */
#include <errno.h>
#include <stdlib.h>

#include "model_int.h"

#define MAX_QUEUED (1u << 20) /* more are as if not known */

struct queued {
	struct queued *next; /* in its bucket, oldest first */
	uint32_t class_name, hash, queue_class, queue_hash;
	struct model_who from;
	uint64_t time;
};

struct bucket {
	struct queued *first, *last;
};

/* Of one process, so that a loss of records costs no more than what it has put in. */
struct queues {
	struct bucket *buckets;
	uint32_t mask, nr;
};

static uint32_t queued_hash(const struct queued *q)
{
	uint64_t h = ((uint64_t)q->class_name << 32 | q->hash) * 0x9e3779b97f4a7c15ull;

	h ^= q->queue_hash * 0xc2b2ae3d27d4eb4full;
	return (uint32_t)(h >> 32);
}

static bool queued_equal(const struct queued *a, const struct queued *b)
{
	return a->hash == b->hash && a->queue_hash == b->queue_hash &&
	       a->class_name == b->class_name && a->queue_class == b->queue_class;
}

static void queued_append(struct queues *s, struct queued *q)
{
	struct bucket *b = &s->buckets[queued_hash(q) & s->mask];

	q->next = NULL;
	if (b->first)
		b->last->next = q;
	else
		b->first = q;
	b->last = q;
}

/* The one behind @before, which is NULL where it is the first of @b. */
static void queued_remove(struct model *m, struct queues *s, struct bucket *b,
			  struct queued *before)
{
	struct queued **at = before ? &before->next : &b->first, *q = *at;

	*at = q->next;
	if (b->last == q)
		b->last = before;
	s->nr--;
	m->nr_queued--;
	free(q);
}

static bool queues_grow(struct queues *s)
{
	struct queues grown = {.mask = s->mask ? s->mask * 2 + 1 : 255};

	grown.buckets = calloc(grown.mask + 1ull, sizeof(*grown.buckets));
	if (!grown.buckets)
		return false;
	for (uint32_t i = 0; s->buckets && i <= s->mask; i++) {
		for (struct queued *q = s->buckets[i].first, *next; q; q = next) {
			next = q->next;
			queued_append(&grown, q);
		}
	}
	free(s->buckets);
	s->buckets = grown.buckets;
	s->mask = grown.mask;
	return true;
}

static struct queues *queues_of(struct model *m, uint32_t process)
{
	struct queues *s;

	if (!m->queues)
		m->queues = calloc(m->info.nr_processes + 1ull, sizeof(*m->queues));
	s = m->queues ? &m->queues[process] : NULL;
	if (s && (s->buckets || queues_grow(s)))
		return s;
	m->error = -ENOMEM;
	return NULL;
}

static void put(struct model *m, uint32_t process, const struct queued *what)
{
	struct queues *s = &m->queues[process];
	struct queued *q;

	if (m->nr_queued == MAX_QUEUED || tasks_pending(m, process, what->class_name, what->hash))
		return;
	q = malloc(sizeof(*q));
	if (!q || (s->nr > s->mask && !queues_grow(s))) {
		free(q);
		m->error = -ENOMEM;
		return;
	}
	*q = *what;
	queued_append(s, q);
	s->nr++;
	m->nr_queued++;
}

static void take(struct model *m, uint32_t process, const struct queued *what)
{
	struct queues *s = &m->queues[process];
	struct bucket *b = &s->buckets[queued_hash(what) & s->mask];
	struct queued *q = b->first, *before = NULL;
	struct model_link link = {.kind = MODEL_LINK_QUEUE,
				  .process = process,
				  .to = what->from,
				  .end = what->time,
				  .class_name = what->queue_class,
				  .hash = what->queue_hash};

	for (; q && !queued_equal(q, what); q = q->next)
		before = q;
	if (!q)
		return;
	link.from = q->from;
	link.begin = q->time;
	queued_remove(m, s, b, before);
	link_emit(m, &link);
}

void queue_event(struct model *m, const struct stream_cursor *c, uint32_t life, uint64_t t)
{
	/* Both records have the same fields. */
	const struct jis_ev_queue_put *ev = (const void *)c->payload;
	struct queued what;
	uint32_t process;

	if (life == NONE)
		return;
	process = m->threads[life].process;
	if (!queues_of(m, process))
		return;
	what = (struct queued){.hash = ev->hash,
			       .queue_hash = ev->queue_hash,
			       .from = who_is(m, life),
			       .time = t};
	what.class_name = string_name(m, process, ev->class_name);
	what.queue_class = string_name(m, process, ev->queue_class);
	if (c->id == JIS_EV_queue_put)
		put(m, process, &what);
	else
		take(m, process, &what);
}

static void queues_clear(struct model *m, struct queues *s)
{
	for (uint32_t i = 0; s->buckets && i <= s->mask; i++)
		while (s->buckets[i].first)
			queued_remove(m, s, &s->buckets[i], NULL);
	free(s->buckets);
	*s = (struct queues){0};
}

void queues_lost(struct model *m, uint32_t process)
{
	if (m->queues)
		queues_clear(m, &m->queues[process]);
}

void queues_fini(struct model *m)
{
	for (uint32_t i = 0; m->queues && i < m->info.nr_processes; i++)
		queues_clear(m, &m->queues[i]);
	free(m->queues);
}
