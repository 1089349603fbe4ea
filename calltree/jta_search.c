/* SPDX-License-Identifier: MIT */
/* Searches. Steps are counted: records that lead in a circle end the search. */
#include <errno.h>
#include <stdlib.h>

#include "jta_read.h"
#include "trace/grow.h"

bool jta_fits(const struct jta_record *r, const struct jta_query *query)
{
	uint64_t length = r->end - r->begin;

	if (query->kinds && (r->kind >= 32 || !(query->kinds & 1u << r->kind)))
		return false;
	if (query->thread != UINT32_MAX && r->thread != query->thread)
		return false;
	if (query->jvm != UINT32_MAX && (r->jvm != query->jvm || r->kind == JTA_ROOT))
		return false;
	if (r->end < query->from || (query->to && r->begin >= query->to))
		return false;
	if (length < query->longer_than || (query->shorter_than && length >= query->shorter_than))
		return false;
	return !query->method || query->method(query->ctx, r->method);
}

struct search {
	const struct jta *tree;
	const struct jta_query *query;
	int (*found)(void *ctx, uint64_t number, const struct jta_record *r, uint32_t depth);
	void *ctx;
	uint64_t left; /* records that may still come */
};

static int visit(struct search *s, uint64_t number, const struct jta_record *r, uint32_t depth)
{
	if (!s->left--)
		return -EBADMSG;
	return jta_fits(r, s->query) ? s->found(s->ctx, number, r, depth) : 0;
}

/* By the records' own links: down, else to the next, else up until there is a next one. */
static int depth_first(struct search *s, uint64_t from)
{
	uint64_t number = from;
	uint32_t depth = 0;

	for (;;) {
		const struct jta_record *r = jta_get(s->tree, number);
		int err = r ? visit(s, number, r, depth) : -EBADMSG;

		if (err)
			return err;
		if (r->first_child) {
			number = r->first_child;
			depth++;
			continue;
		}
		while (number != from && !r->next) {
			number = jta_parent(s->tree, number);
			r = jta_get(s->tree, number);
			if (!r || !depth--)
				return -EBADMSG;
		}
		if (number == from)
			return 0;
		number = r->next;
	}
}

struct level {
	uint64_t *numbers;
	uint64_t nr, room;
};

static int level_add(struct level *l, uint64_t number)
{
	if (l->nr == l->room && !GROW(l->numbers, l->room, 256))
		return -ENOMEM;
	l->numbers[l->nr++] = number;
	return 0;
}

static int level_children(const struct jta *t, uint64_t number, struct level *below)
{
	struct jta_children c;
	uint64_t child;
	int err = jta_children_begin(t, number, false, &c);

	while (!err && (child = jta_children_next(&c)))
		err = level_add(below, child);
	return err;
}

static int breadth_first(struct search *s, uint64_t from)
{
	struct level now = {0}, below = {0};
	int err = level_add(&now, from);

	for (uint32_t depth = 0; !err && now.nr; depth++) {
		struct level spare = now;

		for (uint64_t i = 0; !err && i < now.nr; i++)
			err = visit(s, now.numbers[i], jta_get(s->tree, now.numbers[i]), depth);
		below.nr = 0;
		for (uint64_t i = 0; !err && i < now.nr; i++) {
			err = level_children(s->tree, now.numbers[i], &below);
			if (!err && below.nr > s->left)
				err = -EBADMSG;
		}
		now = below;
		below = spare;
	}
	free(now.numbers);
	free(below.numbers);
	return err;
}

int jta_search(const struct jta *t, uint64_t from, enum jta_order order,
	       const struct jta_query *query,
	       int (*found)(void *ctx, uint64_t number, const struct jta_record *r, uint32_t depth),
	       void *ctx)
{
	struct search s = {t, query, found, ctx, jta_header(t)->records};

	if (!from)
		from = jta_header(t)->root;
	if (!jta_get(t, from))
		return -EINVAL;
	return order == JTA_DEPTH_FIRST ? depth_first(&s, from) : breadth_first(&s, from);
}
