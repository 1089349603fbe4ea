/* SPDX-License-Identifier: MIT */
/*
 * Which ends are kept where there are too many depends on their UID alone: the same calls are then
 * kept in all sessions.
 */
#include "ends.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/grow.h"

/* Of more calls than a trace can have: UIDs that are left then are one. */
#define THIN_MAX (1ull << 40)

static uint64_t uid_hash(const struct model_uid *u)
{
	uint64_t h = ((uint64_t)(uint32_t)u->unique << 32 | (uint32_t)u->count) ^
		     (uint64_t)u->time * 0x9e3779b97f4a7c15ull;

	h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9ull;
	h = (h ^ h >> 27) * 0x94d049bb133111ebull;
	return h ^ h >> 31;
}

/* Keeps those of @thin only. */
static size_t thin_out(struct call_end *ends, size_t nr, uint64_t thin)
{
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++)
		if (!(uid_hash(&ends[i].uid) & (thin - 1)))
			ends[kept++] = ends[i];
	return kept;
}

static int grow(struct call_ends *e)
{
	while (e->nr >= CALL_ENDS_MAX) {
		/* So many with one UID are of no use. */
		if (e->thin > THIN_MAX) {
			e->nr = 0;
			break;
		}
		e->thin *= 2;
		e->nr = thin_out(e->ends, e->nr, e->thin);
	}
	return e->nr < e->room || GROW(e->ends, e->room, 1024) ? 0 : -ENOMEM;
}

static int on_remote(void *ctx, const struct model_remote_call *call)
{
	struct call_ends *e = ctx;
	bool server = call->server.known;
	uint64_t first = call->at[server ? MODEL_REMOTE_SERVE : MODEL_REMOTE_SEND];
	uint64_t last = call->at[server ? MODEL_REMOTE_ANSWER : MODEL_REMOTE_REPLY];

	if (call->client.known && call->server.known)
		return 0;
	e->alone++;
	if (!call->uid.time || first == TIME_NONE || last == TIME_NONE || last < first ||
	    uid_hash(&call->uid) & (e->thin - 1))
		return 0;
	if (e->nr == e->room || e->nr >= CALL_ENDS_MAX) {
		int err = grow(e);

		if (err)
			return err;
		if (uid_hash(&call->uid) & (e->thin - 1))
			return 0;
	}
	e->ends[e->nr++] = (struct call_end){call->uid, e->session, server, first, last};
	return 0;
}

void call_ends_init(struct call_ends *e, uint32_t session)
{
	*e = (struct call_ends){.session = session, .thin = 1};
	e->sink = (struct model_sink){.remote = on_remote, .ctx = e};
}

void call_ends_fini(struct call_ends *e)
{
	free(e->ends);
	memset(e, 0, sizeof(*e));
}

bool call_uid_equal(const struct model_uid *a, const struct model_uid *b)
{
	return a->unique == b->unique && a->time == b->time && a->count == b->count;
}

static int by_uid(const void *a, const void *b)
{
	const struct call_end *x = a, *y = b;

	if (x->uid.time != y->uid.time)
		return x->uid.time < y->uid.time ? -1 : 1;
	if (x->uid.unique != y->uid.unique)
		return x->uid.unique < y->uid.unique ? -1 : 1;
	if (x->uid.count != y->uid.count)
		return x->uid.count < y->uid.count ? -1 : 1;
	return x->server - y->server;
}

size_t call_ends_sort(struct call_end *ends, size_t nr, uint64_t thin)
{
	if (thin > 1)
		nr = thin_out(ends, nr, thin);
	if (nr)
		qsort(ends, nr, sizeof(*ends), by_uid);
	return nr;
}
