/* SPDX-License-Identifier: MIT */
/* Numbers by numbers: open addressing, at most half full. Keys are never 0. */
#ifndef JIS_CALLTREE_MAP64_H
#define JIS_CALLTREE_MAP64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map64_slot {
	uint64_t key, value;
};

/* Zeros: empty. */
struct map64 {
	struct map64_slot *slots;
	uint64_t nr, mask;
};

/* Where @key would be if nothing were in its way. */
static inline uint64_t map64_home(const struct map64 *m, uint64_t key)
{
	key *= 0x9e3779b97f4a7c15ull;
	return (key ^ key >> 32) & m->mask;
}

/* The slot that has @key, or the empty one that it would get; there are slots. */
static inline struct map64_slot *map64_slot(const struct map64 *m, uint64_t key)
{
	uint64_t i = map64_home(m, key);

	while (m->slots[i].key && m->slots[i].key != key)
		i = (i + 1) & m->mask;
	return &m->slots[i];
}

/* The value of @key, or NULL; valid until the next map64_put(). */
static inline uint64_t *map64_get(const struct map64 *m, uint64_t key)
{
	struct map64_slot *s = m->slots ? map64_slot(m, key) : NULL;

	return s && s->key ? &s->value : NULL;
}

/* Gives @key a value, the one it has is gone. Returns 0 or -ENOMEM. */
int map64_put(struct map64 *m, uint64_t key, uint64_t value);
/* Takes @key out; false: it is not there. */
bool map64_take(struct map64 *m, uint64_t key, uint64_t *value);
void map64_free(struct map64 *m);

#endif /* JIS_CALLTREE_MAP64_H */
