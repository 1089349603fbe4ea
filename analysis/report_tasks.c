/* SPDX-License-Identifier: MIT */
/*
 * Tasks by pool. Times are kept as counts by size, in steps of at most 1/64 of the time, so that
 * what is kept grows with pools and not with tasks.
 */
#include "report_tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STEP_BITS 6
#define STEPS (1u << STEP_BITS) /* for each power of two */

struct pool_key {
	uint32_t process, class_name, hash;
};

/* How long things lasted. */
struct spread {
	uint64_t count, sum, longest;
	uint64_t *sizes; /* how many of each size */
	uint32_t room;
};

struct pool {
	struct pool_key key;
	struct report_pool sum;
	struct spread wait, run;
};

struct handover_key {
	uint32_t pool, from, to; /* pool: index; MODEL_NO_THREAD: a virtual thread, or not known */
	uint8_t from_virtual, to_virtual, pad[2];
};

struct handover {
	struct handover_key key;
	uint64_t count, wait, longest;
};

/* Spreads ------------------------------------------------------------------------------------ */

/* Sizes below STEPS are exact; above, STEPS to each power of two. */
static uint32_t size_of(uint64_t ns)
{
	uint32_t power = ns < STEPS ? 0 : 63 - (uint32_t)__builtin_clzll(ns) - STEP_BITS;

	return power * STEPS + (uint32_t)(ns >> power);
}

/* The middle of what has this size. */
static uint64_t ns_of(uint32_t size)
{
	uint32_t power = size < 2 * STEPS ? 0 : size / STEPS - 1;
	uint64_t first = (uint64_t)(size - power * STEPS) << power;

	return first + ((1ull << power) - 1) / 2;
}

static int spread_add(struct spread *s, uint64_t ns)
{
	uint32_t size = size_of(ns);

	if (size >= s->room) {
		uint32_t room = (size / STEPS + 1) * STEPS;
		uint64_t *grown = realloc(s->sizes, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		memset(grown + s->room, 0, (room - s->room) * sizeof(*grown));
		s->sizes = grown;
		s->room = room;
	}
	s->sizes[size]++;
	s->count++;
	s->sum += ns;
	if (ns > s->longest)
		s->longest = ns;
	return 0;
}

/* What @percent of them did not exceed. */
static uint64_t spread_at(const struct spread *s, uint64_t percent)
{
	uint64_t rank = (s->count * percent + 99) / 100, n = 0;

	for (uint32_t i = 0; i < s->room; i++) {
		n += s->sizes[i];
		if (n >= rank && n)
			return ns_of(i) < s->longest ? ns_of(i) : s->longest;
	}
	return 0;
}

static struct report_spread spread_told(const struct spread *s)
{
	return (struct report_spread){.count = s->count,
				      .time = s->sum,
				      .longest = s->longest,
				      .half = spread_at(s, 50),
				      .most = spread_at(s, 95)};
}

/* The callbacks ------------------------------------------------------------------------------ */

void pools_begin(struct tasks_run *r, const struct model_info *info)
{
	r->info = info;
	r->pools = (struct tally){.size = sizeof(struct pool), .key_size = sizeof(struct pool_key)};
	r->handovers = (struct tally){.size = sizeof(struct handover),
				      .key_size = sizeof(struct handover_key)};
}

static struct pool *pool_of(struct tasks_run *r, uint32_t process, uint32_t class_name,
			    uint32_t hash)
{
	const struct pool_key key = {process, class_name, hash};

	return tally_get(&r->pools, &key);
}

static int handover_add(struct tasks_run *r, const struct pool *p, const struct model_task *t)
{
	struct handover_key key = {.pool = (uint32_t)(p - (struct pool *)r->pools.items),
				   .from = t->submitter,
				   .to = t->worker};
	uint64_t wait = t->begin - t->submit;
	struct handover *h;

	/* Their carriers have nothing to do with it. */
	key.from_virtual = t->submitter_vthread != MODEL_NO_THREAD;
	key.to_virtual = t->worker_vthread != MODEL_NO_THREAD;
	if (key.from_virtual)
		key.from = MODEL_NO_THREAD;
	if (key.to_virtual)
		key.to = MODEL_NO_THREAD;
	h = tally_get(&r->handovers, &key);
	if (!h)
		return -ENOMEM;
	h->count++;
	h->wait += wait;
	if (wait > h->longest)
		h->longest = wait;
	return 0;
}

static int pool_begun(struct tasks_run *r, struct pool *p, const struct model_task *t)
{
	int err;

	p->sum.begun++;
	if (t->submit == TIME_NONE)
		return 0;
	p->sum.linked++;
	err = spread_add(&p->wait, t->begin - t->submit);
	return err ? err : handover_add(r, p, t);
}

int pools_task(struct tasks_run *r, const struct model_task *t)
{
	struct pool *p = pool_of(r, t->process, t->pool_class, t->pool_hash);

	if (!p)
		return -ENOMEM;
	switch (t->phase) {
	case MODEL_TASK_SUBMITTED:
		p->sum.submitted++;
		p->sum.queue_sum += t->queued;
		if (t->queued > p->sum.queue_longest)
			p->sum.queue_longest = t->queued;
		return 0;
	case MODEL_TASK_REJECTED:
		p->sum.rejected++;
		return 0;
	case MODEL_TASK_BEGUN:
		return pool_begun(r, p, t);
	case MODEL_TASK_ENDED:
		return spread_add(&p->run, t->time - t->begin);
	default:
		return 0;
	}
}

int pools_java_wait(struct tasks_run *r, const struct model_java_wait *w)
{
	struct pool *p;

	if (w->reason->kind != MODEL_WAIT_POOL || w->inside)
		return 0;
	p = pool_of(r, w->process, w->reason->class_name, w->reason->hash);
	if (!p)
		return -ENOMEM;
	p->sum.idle += w->end - w->begin;
	p->sum.idles++;
	return 0;
}

/* Does it say what the thread waits for, and not only in what? */
static bool is_explained(const struct model_reason *r)
{
	switch (r->kind) {
	case MODEL_WAIT_UNKNOWN:
	case MODEL_WAIT_FUTEX:
	case MODEL_WAIT_SYSCALL:
	case MODEL_WAIT_UNMOUNTED:
		return false;
	case MODEL_WAIT_MONITOR:
	case MODEL_WAIT_OBJECT:
	case MODEL_WAIT_PARK:
		return r->class_name != 0;
	case MODEL_WAIT_JOIN:
		return r->owner != MODEL_NO_THREAD || r->owner_java_tid;
	case MODEL_WAIT_GC:
	case MODEL_WAIT_SAFEPOINT:
	case MODEL_WAIT_VM:
		return r->name != 0;
	default:
		return r->kind < MODEL_WAIT_SOCKET_READ || r->kind > MODEL_WAIT_EVENTFD || r->name;
	}
}

/* In a task: how much of its time off the CPU is explained. */
void pools_state(struct tasks_run *r, const struct model_state *s)
{
	uint64_t time = s->end - s->begin;

	if (!s->in_task || s->kind == MODEL_RUNNING || s->kind == MODEL_NOT_CREATED ||
	    s->kind == MODEL_EXITED)
		return;
	if (s->kind == MODEL_READY) {
		r->inside.ready += time;
		return;
	}
	r->inside.blocked += time;
	if (s->kind != MODEL_UNKNOWN && is_explained(s->reason)) {
		r->inside.explained += time;
		r->inside.known[s->reason->kind] += time;
	} else {
		r->inside.rest[s->reason->kind] += time;
	}
}

/* The end ------------------------------------------------------------------------------------ */

static int pool_compare(const void *a, const void *b)
{
	const struct report_pool *x = a, *y = b;

	if (x->wait.time != y->wait.time)
		return x->wait.time > y->wait.time ? -1 : 1;
	if (x->begun != y->begun)
		return x->begun > y->begun ? -1 : 1;
	return x->hash < y->hash ? -1 : x->hash > y->hash;
}

static int handover_compare(const void *a, const void *b)
{
	const struct report_handover *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static void handovers_fill(const struct tasks_run *r, struct report_handover *out)
{
	const struct pool *pools = r->pools.items;

	for (uint32_t i = 0; i < r->handovers.nr; i++) {
		const struct handover *h = &((struct handover *)r->handovers.items)[i];
		const struct pool_key *pool = &pools[h->key.pool].key;

		out[i] = (struct report_handover){.process = pool->process,
						  .pool_class = pool->class_name,
						  .pool_hash = pool->hash,
						  .from = h->key.from,
						  .to = h->key.to,
						  .from_virtual = h->key.from_virtual,
						  .to_virtual = h->key.to_virtual,
						  .count = h->count,
						  .wait = h->wait,
						  .longest = h->longest};
	}
	qsort(out, r->handovers.nr, sizeof(*out), handover_compare);
}

int pools_end(struct tasks_run *r, struct report *report)
{
	struct pool *pools = r->pools.items;
	struct report_pool *out = calloc(r->pools.nr + 1ull, sizeof(*out));
	struct report_handover *handovers = calloc(r->handovers.nr + 1ull, sizeof(*handovers));

	report->pools = out;
	report->handovers = handovers;
	if (!out || !handovers)
		return -ENOMEM;
	handovers_fill(r, handovers);
	for (uint32_t i = 0; i < r->pools.nr; i++) {
		out[i] = pools[i].sum;
		out[i].process = pools[i].key.process;
		out[i].class_name = pools[i].key.class_name;
		out[i].hash = pools[i].key.hash;
		out[i].wait = spread_told(&pools[i].wait);
		out[i].run = spread_told(&pools[i].run);
	}
	qsort(out, r->pools.nr, sizeof(*out), pool_compare);
	report->nr_pools = r->pools.nr;
	report->nr_handovers = r->handovers.nr;
	report->inside_tasks = &r->inside;
	return 0;
}

void pools_fini(struct tasks_run *r)
{
	for (uint32_t i = 0; i < r->pools.nr; i++) {
		free(((struct pool *)r->pools.items)[i].wait.sizes);
		free(((struct pool *)r->pools.items)[i].run.sizes);
	}
	tally_fini(&r->pools);
	tally_fini(&r->handovers);
}
