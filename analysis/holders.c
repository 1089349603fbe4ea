/* SPDX-License-Identifier: MIT */
/* One array of the ends of waits, in order of monitor, then time. */
#include "holders.h"

#include <stdlib.h>

#include "trace/grow.h"

struct entered {
	uint64_t end;
	uint32_t process, why, hash;
	uint32_t who; /* virtual threads come first, then threads */
};

struct holders {
	const struct model_info *info;
	struct entered *of;
	uint64_t nr, room;
};

static bool is_wait(const struct segment *s)
{
	return s->state == MODEL_BLOCKED_INTERRUPTIBLE ||
	       s->state == MODEL_BLOCKED_UNINTERRUPTIBLE || s->state == MODEL_STOPPED;
}

static bool is_same(const struct segment *a, const struct segment *b)
{
	return is_wait(a) && a->why == b->why && a->hash == b->hash;
}

static const struct segment *part(const struct lanes *l, uint32_t who, uint64_t i)
{
	uint32_t virtuals = lanes_info(l)->nr_vthreads;

	return who < virtuals ? lanes_vat(l, who, i) : lanes_at(l, who - virtuals, i);
}

static bool add(struct holders *h, const struct entered *e)
{
	if (h->nr == h->room && !GROW(h->of, h->room, 1024))
		return false;
	h->of[h->nr++] = *e;
	return true;
}

static bool gather(struct holders *h, const struct lanes *l, uint32_t who, uint32_t process)
{
	const struct segment *s;

	for (uint64_t i = 0; (s = part(l, who, i)); i++) {
		const struct entered e = {s->end, process, s->why, s->hash, who};
		const struct segment *run, *next;

		if (!is_wait(s) || !s->hash || lanes_why(l, s->why)->kind != MODEL_WAIT_MONITOR)
			continue;
		/* It came in vain when it waits again at once. */
		run = part(l, who, i + 1);
		next = run ? part(l, who, i + 2) : NULL;
		if (next && is_same(next, s) && run->end - run->begin <= HOLDERS_LOOK_NS)
			continue;
		if (!add(h, &e))
			return false;
	}
	return true;
}

/* By monitor. */
static int monitor_compare(const struct entered *x, const struct entered *y)
{
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->why != y->why)
		return x->why < y->why ? -1 : 1;
	return (x->hash > y->hash) - (x->hash < y->hash);
}

static int compare(const void *a, const void *b)
{
	const struct entered *x = a, *y = b;
	int monitor = monitor_compare(x, y);

	if (monitor)
		return monitor;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return (x->who < y->who) - (x->who > y->who); /* they are looked at backwards */
}

struct holders *holders_new(const struct lanes *l)
{
	struct holders *h = calloc(1, sizeof(*h));
	bool done = h != NULL;

	if (!h)
		return NULL;
	h->info = lanes_info(l);
	for (uint32_t i = 0; done && i < h->info->nr_vthreads; i++)
		done = gather(h, l, i, h->info->vthreads[i].process);
	for (uint32_t i = 0; done && i < h->info->nr_threads; i++)
		done = gather(h, l, h->info->nr_vthreads + i, h->info->threads[i].process);
	if (!done) {
		holders_free(h);
		return NULL;
	}
	if (h->nr)
		qsort(h->of, h->nr, sizeof(*h->of), compare);
	return h;
}

void holders_free(struct holders *h)
{
	if (h)
		free(h->of);
	free(h);
}

void holders_last(const struct holders *h, uint32_t process, uint32_t vthread,
		  const struct segment *s, uint32_t *by, uint32_t *vby)
{
	const struct entered key = {s->end, process, s->why, s->hash, 0};
	uint64_t low = 0, high = h && s->hash ? h->nr : 0;

	*by = *vby = MODEL_NO_THREAD;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (compare(&h->of[middle], &key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	while (low--) {
		const struct entered *e = &h->of[low];

		if (monitor_compare(e, &key) || e->end <= s->begin)
			return;
		if (e->who == vthread)
			continue;
		if (e->who < h->info->nr_vthreads)
			*vby = e->who;
		else
			*by = e->who - h->info->nr_vthreads;
		return;
	}
}
