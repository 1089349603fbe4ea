/* SPDX-License-Identifier: MIT */
/*
 * Calls come in order of their ends at both sides, and a thread's next one may be told before; they
 * are sorted when all are there.
 */
#include "hops.h"

#include <errno.h>
#include <stdlib.h>

int hops_init(struct hops *h, const struct model_info *info, struct spill *spill)
{
	h->info = info;
	h->spill = spill;
	h->threads = calloc(info->nr_threads + 1ull, sizeof(*h->threads));
	h->vthreads = calloc(info->nr_vthreads + 1ull, sizeof(*h->vthreads));
	return h->threads && h->vthreads ? 0 : -ENOMEM;
}

void hops_fini(struct hops *h)
{
	if (!h->info)
		return;
	lanes_drop(h->threads, h->info->nr_threads);
	lanes_drop(h->vthreads, h->info->nr_vthreads);
}

/* What one that has no row does is in no lane: its carrier's is not its own. */
static bool has_row(const struct model_remote_end *end)
{
	return end->known && (end->who.vthread != MODEL_NO_THREAD ||
			      (end->who.thread != MODEL_NO_THREAD && !end->virtual));
}

/* Up to the first byte of the answer; of a call without one until that was known. */
static uint64_t over_of(const struct model_remote_call *call)
{
	if (call->at[MODEL_REMOTE_REPLY] != TIME_NONE)
		return call->at[MODEL_REMOTE_REPLY];
	if (call->at[MODEL_REMOTE_RETURN] != TIME_NONE)
		return call->at[MODEL_REMOTE_RETURN];
	return call->over;
}

static struct hop_call call_of(const struct model_remote_call *call)
{
	struct hop_call c = {.method = call->server.method ? call->server.method
							   : call->client.method,
			     .kind = HOP_ALONE,
			     .match = (uint8_t)call->match,
			     .internal = call->internal};

	if (!call->server.known)
		return c;
	if (call->error == UINT64_MAX)
		c.match = HOP_CLOCKLESS;
	else if (call->at[MODEL_REMOTE_SERVE] == TIME_NONE)
		c.match = MODEL_REMOTE_BEFORE;
	else if (!has_row(&call->server))
		c.match = MODEL_REMOTE_OTHER;
	else
		c.kind = HOP_FOLLOWED;
	return c;
}

const char *hop_alone_name(const struct hop_call *call)
{
	return call->match == HOP_CLOCKLESS
		       ? "how its host's clock differs is not known"
		       : model_remote_match_name((enum model_remote_match)call->match);
}

bool hop_of(const struct model_remote_call *call, struct hop *hop)
{
	*hop = (struct hop){.send = call->at[MODEL_REMOTE_SEND],
			    .over = over_of(call),
			    .serve = call->at[MODEL_REMOTE_SERVE],
			    .answer = call->at[MODEL_REMOTE_ANSWER],
			    .server = call->server.who.thread,
			    .server_vthread = call->server.who.vthread,
			    .call = call_of(call)};
	if (hop->call.kind != HOP_FOLLOWED)
		hop->server = hop->server_vthread = MODEL_NO_THREAD;
	else if (hop->server_vthread != MODEL_NO_THREAD)
		hop->server = MODEL_NO_THREAD;
	return has_row(&call->client) && hop->send != TIME_NONE && hop->send < hop->over;
}

int hops_add(struct hops *h, const struct model_remote_call *call, const struct hop *hop)
{
	const struct model_who *who = &call->client.who;
	struct lane *lane = who->vthread != MODEL_NO_THREAD ? &h->vthreads[who->vthread]
							    : &h->threads[who->thread];

	return lane_add(lane, h->spill, hop, sizeof(*hop));
}

void hops_sort(const struct hops *h)
{
	_Static_assert(sizeof(struct hop) <= LANE_SORT_SIZE, "a hop is too large to be sorted");
	for (uint32_t i = 0; i < h->info->nr_threads; i++)
		lane_sort(&h->threads[i], sizeof(struct hop));
	for (uint32_t i = 0; i < h->info->nr_vthreads; i++)
		lane_sort(&h->vthreads[i], sizeof(struct hop));
}

const struct hop *hops_at(const struct hops *h, uint32_t thread, uint32_t vthread, uint64_t t,
			  uint64_t *until)
{
	const struct lane *lane =
		vthread != MODEL_NO_THREAD ? &h->vthreads[vthread] : &h->threads[thread];
	uint64_t i = lane_first_begun(lane, sizeof(struct hop), t);
	const struct hop *next = lane_part(lane, sizeof(*next), i), *hop;

	*until = next ? next->send : TIME_NONE;
	hop = i ? lane_part(lane, sizeof(*hop), i - 1) : NULL;
	if (!hop || hop->over <= t)
		return NULL;
	if (hop->over < *until)
		*until = hop->over;
	return hop;
}
