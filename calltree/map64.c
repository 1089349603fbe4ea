/* SPDX-License-Identifier: MIT */
#include "map64.h"

#include <errno.h>
#include <stdlib.h>

static int grow(struct map64 *m)
{
	struct map64 grown = {.nr = m->nr, .mask = m->slots ? m->mask * 2 + 1 : 63};

	grown.slots = calloc(grown.mask + 1, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	for (uint64_t i = 0; m->slots && i <= m->mask; i++)
		if (m->slots[i].key)
			*map64_slot(&grown, m->slots[i].key) = m->slots[i];
	free(m->slots);
	*m = grown;
	return 0;
}

int map64_put(struct map64 *m, uint64_t key, uint64_t value)
{
	struct map64_slot *s;

	if (!m->slots || m->nr > m->mask / 2) {
		int err = grow(m);

		if (err)
			return err;
	}
	s = map64_slot(m, key);
	m->nr += !s->key;
	*s = (struct map64_slot){key, value};
	return 0;
}

bool map64_take(struct map64 *m, uint64_t key, uint64_t *value)
{
	struct map64_slot *s = m->slots ? map64_slot(m, key) : NULL;
	uint64_t hole, i;

	if (!s || !s->key)
		return false;
	*value = s->value;
	m->nr--;
	/* Whoever behind it is not at home may have been kept from here by it. */
	hole = (uint64_t)(s - m->slots);
	for (i = (hole + 1) & m->mask; m->slots[i].key; i = (i + 1) & m->mask) {
		uint64_t home = map64_home(m, m->slots[i].key);

		if (((i - home) & m->mask) < ((i - hole) & m->mask))
			continue;
		m->slots[hole] = m->slots[i];
		hole = i;
	}
	m->slots[hole].key = 0;
	return true;
}

void map64_free(struct map64 *m)
{
	free(m->slots);
	*m = (struct map64){0};
}
