/* SPDX-License-Identifier: MIT */
/* Numbers by numbers: open addressing, at most half full. Keys are never 0. */
#ifndef JIS_CALLTREE_MAP64_H
#define JIS_CALLTREE_MAP64_H

#include <stdbool.h>
#include <stdint.h>

struct map64_slot {
	uint64_t key, value;
};

/* Zeros: empty. */
struct map64 {
	struct map64_slot *slots;
	uint64_t nr, mask;
};

/* The value of @key, or NULL; valid until the next map64_put(). */
uint64_t *map64_get(const struct map64 *m, uint64_t key);
/* Gives @key a value, the one it has is gone. Returns 0 or -ENOMEM. */
int map64_put(struct map64 *m, uint64_t key, uint64_t value);
/* Takes @key out; false: it is not there. */
bool map64_take(struct map64 *m, uint64_t key, uint64_t *value);
void map64_free(struct map64 *m);

#endif /* JIS_CALLTREE_MAP64_H */
