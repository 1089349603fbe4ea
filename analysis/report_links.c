/* SPDX-License-Identifier: MIT */
/*
 * Sums over links, and the largest connections: a heap of so many as are kept, the least of them on
 * top. Grows with pairs of threads and classes, never with links or connections.
 */
#include "report_links.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct class_key {
	uint32_t kind, class_name;
};

struct class_sum {
	struct class_key key;
	struct report_link sum;
};

struct pair_key {
	uint32_t kind;
	struct model_who from, to;
};

struct pair_sum {
	struct pair_key key;
	struct report_link sum;
};

void links_begin(struct links_run *r)
{
	r->classes = (struct tally){.size = sizeof(struct class_sum),
				    .key_size = sizeof(struct class_key)};
	r->pairs = (struct tally){.size = sizeof(struct pair_sum),
				  .key_size = sizeof(struct pair_key)};
}

static void sum_add(struct report_link *sum, const struct model_link *link)
{
	uint64_t time = link->end - link->begin;

	sum->count++;
	sum->time += time;
	sum->bytes += link->bytes;
	if (time > sum->longest)
		sum->longest = time;
}

int links_add(struct links_run *r, const struct model_link *link)
{
	const struct class_key class = {(uint32_t)link->kind, link->class_name};
	const struct pair_key pair = {(uint32_t)link->kind, link->from, link->to};
	struct class_sum *c;
	struct pair_sum *p;

	sum_add(&r->sums.kinds[link->kind], link);
	/* Who woke whom has tables of its own. */
	if (link->kind == MODEL_LINK_WAKEUP)
		return 0;
	p = tally_get(&r->pairs, &pair);
	if (!p)
		return -ENOMEM;
	sum_add(&p->sum, link);
	if (!link->class_name)
		return 0;
	c = tally_get(&r->classes, &class);
	if (!c)
		return -ENOMEM;
	sum_add(&c->sum, link);
	return 0;
}

/* Connections -------------------------------------------------------------------------------- */

/* Negative: @a comes first. Of equals, the one that was there first. */
static int rank(const struct model_connection *a, const struct model_connection *b)
{
	uint64_t x = a->bytes_in + a->bytes_out, y = b->bytes_in + b->bytes_out;

	if (x != y)
		return x > y ? -1 : 1;
	return a->number < b->number ? -1 : 1;
}

static void keep(struct report_connection *to, const struct model_connection *c)
{
	uint32_t n = c->nr_threads < REPORT_SERVED ? c->nr_threads : REPORT_SERVED;

	to->c = *c;
	if (n)
		memcpy(to->threads, c->threads, n * sizeof(*to->threads));
	to->c.threads = NULL; /* moves with the heap */
}

static void heap_down(struct report_connection *heap, uint32_t nr, uint32_t i)
{
	for (;;) {
		uint32_t least = i;
		struct report_connection swap;

		for (uint32_t k = 2 * i + 1; k <= 2 * i + 2 && k < nr; k++) {
			if (rank(&heap[k].c, &heap[least].c) > 0)
				least = k;
		}
		if (least == i)
			return;
		swap = heap[i];
		heap[i] = heap[least];
		heap[least] = swap;
		i = least;
	}
}

static int heap_grow(struct links_run *r)
{
	uint32_t room = r->room_heap ? r->room_heap * 2 : 64;
	struct report_connection *grown;

	if (room > REPORT_CONNECTIONS)
		room = REPORT_CONNECTIONS;
	grown = realloc(r->heap, room * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	r->heap = grown;
	r->room_heap = room;
	return 0;
}

int links_connection(struct links_run *r, const struct model_connection *c)
{
	struct report_connections *sums = &r->connections;

	sums->count++;
	sums->origins[c->origin]++;
	sums->closed += c->closed != TIME_NONE;
	sums->incomplete += !c->complete;
	sums->shared += c->nr_threads > 1;
	sums->no_address += !c->family;
	sums->bytes_in += c->bytes_in;
	sums->bytes_out += c->bytes_out;
	/* Of a client's end they are answers. */
	if (c->origin == MODEL_CONNECTION_CONNECTED)
		sums->answers += c->requests;
	else
		sums->requests += c->requests;
	sums->kept += c->origin == MODEL_CONNECTION_CONNECTED ? 0 : c->kept;
	sums->handovers += c->handovers;
	if (r->nr_heap == REPORT_CONNECTIONS) {
		if (rank(c, &r->heap[0].c) > 0)
			return 0;
		keep(&r->heap[0], c);
		heap_down(r->heap, r->nr_heap, 0);
		return 0;
	}
	if (r->nr_heap == r->room_heap && heap_grow(r))
		return -ENOMEM;
	keep(&r->heap[r->nr_heap++], c);
	if (r->nr_heap == REPORT_CONNECTIONS) {
		for (uint32_t i = r->nr_heap / 2; i-- > 0;)
			heap_down(r->heap, r->nr_heap, i);
	}
	return 0;
}

/* The end ------------------------------------------------------------------------------------ */

static int connection_compare(const void *a, const void *b)
{
	return rank(&((const struct report_connection *)a)->c,
		    &((const struct report_connection *)b)->c);
}

/* By kind, then the most frequent, the longest. */
static int link_compare(const struct report_link *x, const struct report_link *y)
{
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->time == y->time ? 0 : x->time > y->time ? -1 : 1;
}

static int class_compare(const void *a, const void *b)
{
	const struct report_link *x = a, *y = b;
	int order = link_compare(x, y);

	return order ? order : x->class_name < y->class_name ? -1 : 1;
}

static uint64_t who_number(const struct model_who *w)
{
	return (uint64_t)w->vthread << 32 | w->thread;
}

static int pair_compare(const void *a, const void *b)
{
	const struct report_link *x = a, *y = b;
	int order = link_compare(x, y);

	if (order)
		return order;
	if (who_number(&x->from) != who_number(&y->from))
		return who_number(&x->from) < who_number(&y->from) ? -1 : 1;
	return who_number(&x->to) < who_number(&y->to) ? -1 : 1;
}

int links_end(struct links_run *r, struct report *report)
{
	struct report_link *pairs = calloc(r->pairs.nr + 1ull, sizeof(*pairs));
	struct report_link *classes = calloc(r->classes.nr + 1ull, sizeof(*classes));

	r->sums.pairs = pairs;
	r->sums.classes = classes;
	report->links = &r->sums;
	report->connections = &r->connections;
	if (!pairs || !classes)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->pairs.nr; i++) {
		const struct pair_sum *p = &((struct pair_sum *)r->pairs.items)[i];

		pairs[i] = p->sum;
		pairs[i].kind = (enum model_link_kind)p->key.kind;
		pairs[i].from = p->key.from;
		pairs[i].to = p->key.to;
	}
	for (uint32_t i = 0; i < r->classes.nr; i++) {
		const struct class_sum *c = &((struct class_sum *)r->classes.items)[i];

		classes[i] = c->sum;
		classes[i].kind = (enum model_link_kind)c->key.kind;
		classes[i].class_name = c->key.class_name;
	}
	qsort(pairs, r->pairs.nr, sizeof(*pairs), pair_compare);
	qsort(classes, r->classes.nr, sizeof(*classes), class_compare);
	r->sums.nr_pairs = r->pairs.nr;
	r->sums.nr_classes = r->classes.nr;
	if (r->nr_heap)
		qsort(r->heap, r->nr_heap, sizeof(*r->heap), connection_compare);
	for (uint32_t i = 0; i < r->nr_heap; i++)
		r->heap[i].c.threads = r->heap[i].threads;
	r->connections.largest = r->heap;
	r->connections.nr_largest = r->nr_heap;
	return 0;
}

void links_fini(struct links_run *r)
{
	tally_fini(&r->pairs);
	tally_fini(&r->classes);
	free((void *)r->sums.pairs);
	free((void *)r->sums.classes);
	free(r->heap);
}
