/* SPDX-License-Identifier: MIT */
/* The table of pairs: open addressing, at most half full. Grows with pairs, never with wake-ups. */
#include <errno.h>
#include <stdlib.h>

#include "report_pairs.h"

static uint64_t pair_hash(const struct pair *key)
{
	uint64_t h = ((uint64_t)key->thread << 32 | key->waker_index) * 0x9e3779b97f4a7c15ull;

	h ^= ((uint64_t)key->waker_tid << 8 | key->waker) * 0xc2b2ae3d27d4eb4full;
	return h ^ h >> 29;
}

static struct pair *pair_slot(const struct pairs *p, const struct pair *key)
{
	uint64_t i = pair_hash(key) & p->mask;

	while (p->table[i].waker != REPORT_WAKER_NONE) {
		const struct pair *e = &p->table[i];

		if (e->thread == key->thread && e->waker == key->waker &&
		    e->waker_index == key->waker_index && e->waker_tid == key->waker_tid)
			break;
		i = (i + 1) & p->mask;
	}
	return &p->table[i];
}

static int pairs_grow(struct pairs *p)
{
	struct pairs grown = {.nr = p->nr, .mask = p->table ? p->mask * 2 + 1 : 255};

	grown.table = calloc(grown.mask + 1, sizeof(*grown.table));
	if (!grown.table)
		return -ENOMEM;
	for (uint64_t i = 0; p->table && i <= p->mask; i++) {
		if (p->table[i].waker != REPORT_WAKER_NONE)
			*pair_slot(&grown, &p->table[i]) = p->table[i];
	}
	free(p->table);
	*p = grown;
	return 0;
}

int pairs_add(struct pairs *p, const struct pair *key, uint64_t n)
{
	struct pair *e;

	if ((!p->table || p->nr > p->mask / 2) && pairs_grow(p))
		return -ENOMEM;
	e = pair_slot(p, key);
	if (e->waker == REPORT_WAKER_NONE) {
		*e = *key;
		e->count = 0;
		e->first = p->nr++;
	}
	e->count += n;
	return 0;
}

static bool pair_beats(const struct pair *a, const struct report_top *b)
{
	return b->who == REPORT_WAKER_NONE || a->count > b->count ||
	       (a->count == b->count && a->first < b->first);
}

static void top_take(struct report_top *top, const struct pair *e)
{
	if (!pair_beats(e, top))
		return;
	*top = (struct report_top){.who = e->waker,
				   .index = e->waker_index,
				   .tid = e->waker_tid,
				   .count = e->count,
				   .first = e->first};
}

void pairs_top_wakers(const struct pairs *p, struct report_thread *threads)
{
	for (uint64_t i = 0; p->table && i <= p->mask; i++) {
		const struct pair *e = &p->table[i];

		if (e->waker != REPORT_WAKER_NONE)
			top_take(&threads[e->thread].waker, e);
	}
}

void pairs_top_behind(const struct pairs *p, struct report_thread *threads)
{
	for (uint64_t i = 0; p->table && i <= p->mask; i++) {
		const struct pair *e = &p->table[i];

		if (e->waker != REPORT_WAKER_NONE)
			top_take(&threads[e->thread].behind, e);
	}
}

void pairs_fini(struct pairs *p)
{
	free(p->table);
}
