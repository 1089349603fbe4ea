/* SPDX-License-Identifier: MIT */
/* Sums over remote calls. A line is found by what it is of, then a call costs a few additions. */
#include "remote.h"

#include <errno.h>
#include <stdlib.h>

#include "jis/events.h"
#include "trace/grow.h"

struct remote {
	bool internal;
	struct model_sink sink;
	struct remote_line *lines;
	uint32_t nr, room;
	uint32_t *table; /* open addressing: index + 1 */
	uint32_t mask;
	struct remote_summary summary;
};

static uint64_t line_hash(const struct remote_line *key)
{
	uint64_t h = ((uint64_t)key->method << 32 | key->client) * 0x9e3779b97f4a7c15ull;

	h ^= ((uint64_t)key->server << 1 | key->internal) * 0xc2b2ae3d27d4eb4full;
	return h ^ h >> 29;
}

static uint32_t *line_slot(const struct remote *r, const struct remote_line *key)
{
	uint64_t i = line_hash(key) & r->mask;

	for (; r->table[i]; i = (i + 1) & r->mask) {
		const struct remote_line *l = &r->lines[r->table[i] - 1];

		if (l->method == key->method && l->client == key->client &&
		    l->server == key->server && l->internal == key->internal)
			break;
	}
	return &r->table[i];
}

static int lines_grow(struct remote *r)
{
	if (!GROW(r->lines, r->room, 64))
		return -ENOMEM;
	free(r->table);
	r->mask = r->room * 2 - 1;
	r->table = calloc(r->mask + 1ull, sizeof(*r->table));
	if (!r->table)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->nr; i++)
		*line_slot(r, &r->lines[i]) = i + 1;
	return 0;
}

static struct remote_line *line_get(struct remote *r, const struct remote_line *key)
{
	uint32_t *slot;

	if (r->nr == r->room && lines_grow(r))
		return NULL;
	slot = line_slot(r, key);
	if (!*slot) {
		r->lines[r->nr] = *key;
		*slot = ++r->nr;
	}
	return &r->lines[*slot - 1];
}

/* From the first moment that is known of one end to its last; false: it has not both. */
static bool length_of(const struct model_remote_call *call, uint64_t *ns)
{
	const uint64_t *at = call->at;
	uint64_t begin, end;

	if (call->client.known) {
		begin = at[MODEL_REMOTE_INVOKE] != TIME_NONE ? at[MODEL_REMOTE_INVOKE]
							     : at[MODEL_REMOTE_CALL];
		end = at[MODEL_REMOTE_RETURN];
	} else {
		begin = at[MODEL_REMOTE_SERVE];
		end = at[MODEL_REMOTE_ANSWER];
	}
	if (begin == TIME_NONE || end == TIME_NONE || begin > end)
		return false;
	*ns = end - begin;
	return true;
}

uint64_t remote_line_mean(const struct remote_line *l, int part)
{
	uint64_t n = l->whole - (remote_part_crosses(part) ? l->clockless : 0);

	return n ? l->part[part] / n : UINT64_MAX;
}

uint64_t remote_line_error(const struct remote_line *l)
{
	uint64_t n = l->whole - l->clockless;

	return n ? l->error / n : UINT64_MAX;
}

/* Part @i; one that is told by two clocks may seem to go back by their @error. */
static void part_add(struct remote *r, struct remote_line *l, const uint64_t *at, int i,
		     uint64_t error)
{
	if (at[i + 1] >= at[i])
		l->part[i] += at[i + 1] - at[i];
	else if (at[i] - at[i + 1] > error)
		r->summary.backward++;
}

/* Its parts, where all moments are known that every call has. */
static void parts_add(struct remote *r, struct remote_line *l, const struct model_remote_call *call)
{
	bool clockless = call->error == UINT64_MAX;

	for (int i = MODEL_REMOTE_CALL; i < MODEL_NR_REMOTE_MOMENTS; i++)
		if (call->at[i] == TIME_NONE)
			return;
	l->whole++;
	if (clockless)
		l->clockless++;
	else
		l->error += call->error;
	r->summary.clockless += clockless;
	for (int i = 0; i < REMOTE_NR_PARTS; i++) {
		bool crosses = remote_part_crosses(i);

		if (call->at[i] != TIME_NONE && !(crosses && clockless))
			part_add(r, l, call->at, i, crosses ? call->error : 0);
	}
}

static int add(struct remote *r, struct remote_line *l, const struct model_remote_call *call)
{
	uint64_t ns;

	l->calls++;
	l->matches[call->match]++;
	l->thrown += call->client.known && call->at[MODEL_REMOTE_RETURN] != TIME_NONE
			     ? call->client.result == JIS_RMI_THROWN
			     : call->server.result == JIS_RMI_THROWN;
	l->failed += call->match == MODEL_REMOTE_NOT_SENT ||
		     (call->client.known && call->client.result == JIS_RMI_FAILED);
	parts_add(r, l, call);
	if (!length_of(call, &ns))
		return 0;
	l->min = !l->timed || ns < l->min ? ns : l->min;
	l->max = ns > l->max ? ns : l->max;
	l->timed++;
	l->total += ns;
	return histogram_add(&l->histogram, ns);
}

static int on_remote(void *ctx, const struct model_remote_call *call)
{
	struct remote *r = ctx;
	const struct remote_line key = {
		.method = call->server.method ? call->server.method : call->client.method,
		.client = call->client.known ? call->client.process : REMOTE_NO_PROCESS,
		.server = call->server.known ? call->server.process : REMOTE_NO_PROCESS,
		.internal = call->internal,
	};
	struct remote_line *l;

	r->summary.calls++;
	r->summary.internal += call->internal;
	r->summary.matches[call->match]++;
	r->summary.disagreements += call->disagrees;
	if (call->internal && !r->internal)
		return 0;
	l = line_get(r, &key);
	return l ? add(r, l, call) : -ENOMEM;
}

static int on_end(void *ctx, const struct model_counts *counts)
{
	struct remote *r = ctx;

	r->summary.counts = *counts;
	return 0;
}

struct remote *remote_new(bool internal)
{
	struct remote *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->internal = internal;
	r->sink = (struct model_sink){.remote = on_remote, .end = on_end, .ctx = r};
	return r;
}

const struct model_sink *remote_sink(const struct remote *r)
{
	return &r->sink;
}

struct remote_line *remote_lines(struct remote *r, uint32_t *nr)
{
	*nr = r->nr;
	return r->lines;
}

const struct remote_summary *remote_summary(const struct remote *r)
{
	return &r->summary;
}

void remote_delete(struct remote *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->nr; i++)
		histogram_free(&r->lines[i].histogram);
	free(r->lines);
	free(r->table);
	free(r);
}
