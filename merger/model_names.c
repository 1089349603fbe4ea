/* SPDX-License-Identifier: MIT */
/*
 * Texts as small numbers, the same number for the same text in all processes. Grows with distinct
 * texts only. Knows nothing of events.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model_int.h"

#define NAMES_MAX (1u << 30)

static uint32_t text_hash(const char *text, size_t len)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)text[i]) * 0x100000001b3ull;
	return (uint32_t)(h ^ h >> 32);
}

static uint32_t *names_slot(const struct names *n, const char *text, size_t len)
{
	uint32_t i = text_hash(text, len) & n->mask;

	while (n->table[i]) {
		const char *known = n->text + n->offset[n->table[i]];

		if (!strncmp(known, text, len) && !known[len])
			break;
		i = (i + 1) & n->mask;
	}
	return &n->table[i];
}

static int names_rehash(struct names *n, uint32_t size)
{
	uint32_t *table = calloc(size, sizeof(*table));

	if (!table)
		return -ENOMEM;
	free(n->table);
	n->table = table;
	n->mask = size - 1;
	for (uint32_t i = 1; i <= n->nr; i++) {
		const char *text = n->text + n->offset[i];

		*names_slot(n, text, strlen(text)) = i;
	}
	return 0;
}

static int names_room(struct names *n, size_t len)
{
	if (n->nr + 1 >= n->room) {
		uint32_t room = n->room ? n->room * 2 : 64;
		size_t *offset = realloc(n->offset, room * sizeof(*offset));

		if (!offset || room > NAMES_MAX)
			return -ENOMEM;
		n->offset = offset;
		n->room = room;
		if (names_rehash(n, room * 2))
			return -ENOMEM;
	}
	if (n->used + len + 1 > n->size) {
		size_t size = (n->size + len + 1) * 2;
		char *text = realloc(n->text, size);

		if (!text)
			return -ENOMEM;
		n->text = text;
		n->size = size;
	}
	return 0;
}

uint32_t name_find(const struct model *m, const char *text, size_t len)
{
	return m->names.table ? *names_slot(&m->names, text, len) : 0;
}

uint32_t name_intern(struct model *m, const char *text, size_t len)
{
	struct names *n = &m->names;
	uint32_t *slot;

	if (names_room(n, len)) {
		m->error = -ENOMEM;
		return 0;
	}
	slot = names_slot(n, text, len);
	if (*slot)
		return *slot;
	n->offset[++n->nr] = n->used;
	memcpy(n->text + n->used, text, len);
	n->text[n->used + len] = '\0';
	n->used += len + 1;
	*slot = n->nr;
	return n->nr;
}

void model_names_fini(struct names *n)
{
	free(n->text);
	free(n->offset);
	free(n->table);
}

const char *model_name(const struct model *m, uint32_t name)
{
	if (!name || name > m->names.nr)
		return "";
	return m->names.text + m->names.offset[name];
}

uint32_t model_nr_names(const struct model *m)
{
	return m->names.nr;
}
