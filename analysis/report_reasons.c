/* SPDX-License-Identifier: MIT */
/*
 * Sums by reason. Times of threads are of the model's states; locks are counted by the waits that
 * threads told of, which a thread may also spend spinning; peers by what the states name.
 */
#include "report_reasons.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Tallies ------------------------------------------------------------------------------------ */

struct lock_key {
	uint32_t kind, class_name;
};

struct lock {
	struct lock_key key;
	struct report_lock sum;
};

struct owner_key {
	uint32_t lock, thread; /* lock: index */
	uint64_t java_tid;
	uint32_t process, pad;
};

struct owner {
	struct owner_key key;
	uint64_t count, time;
};

struct peer {
	struct lock_key key; /* kind and name */
	struct report_reason waits;
};

static uint32_t *tally_slot(const struct tally *t, const void *key)
{
	uint64_t h = 0xcbf29ce484222325ull;
	uint32_t i;

	for (size_t k = 0; k < t->key_size; k++)
		h = (h ^ ((const uint8_t *)key)[k]) * 0x100000001b3ull;
	i = (uint32_t)(h ^ h >> 32) & t->mask;
	while (t->table[i] &&
	       memcmp((char *)t->items + (size_t)(t->table[i] - 1) * t->size, key, t->key_size))
		i = (i + 1) & t->mask;
	return &t->table[i];
}

static int tally_grow(struct tally *t)
{
	uint32_t room = t->room ? t->room * 2 : 64;
	char *items = realloc(t->items, room * t->size);
	uint32_t *table = items ? calloc(room * 2ull, sizeof(*table)) : NULL;

	if (items)
		t->items = items;
	if (!table)
		return -ENOMEM;
	free(t->table);
	t->table = table;
	t->mask = room * 2 - 1;
	t->room = room;
	for (uint32_t i = 0; i < t->nr; i++)
		*tally_slot(t, items + (size_t)i * t->size) = i + 1;
	return 0;
}

void *tally_get(struct tally *t, const void *key)
{
	uint32_t *slot;
	char *item;

	if (t->nr == t->room && tally_grow(t))
		return NULL;
	slot = tally_slot(t, key);
	if (*slot)
		return (char *)t->items + (size_t)(*slot - 1) * t->size;
	item = (char *)t->items + (size_t)t->nr * t->size;
	memset(item, 0, t->size);
	memcpy(item, key, t->key_size);
	*slot = ++t->nr;
	return item;
}

void tally_fini(struct tally *t)
{
	free(t->items);
	free(t->table);
}

static void reason_add(struct report_reason *r, const struct model_reason *of, uint64_t time)
{
	r->time += time;
	r->sampled += of->sampled ? time : 0;
	r->count++;
	if (time > r->longest)
		r->longest = time;
}

static bool is_lock(enum model_reason_kind kind)
{
	return kind == MODEL_WAIT_MONITOR || kind == MODEL_WAIT_OBJECT || kind == MODEL_WAIT_PARK;
}

/* The callbacks ------------------------------------------------------------------------------ */

int reasons_begin(struct reasons_run *r, const struct model_info *info)
{
	r->info = info;
	r->locks = (struct tally){.size = sizeof(struct lock), .key_size = sizeof(struct lock_key)};
	r->owners =
		(struct tally){.size = sizeof(struct owner), .key_size = sizeof(struct owner_key)};
	r->wakers = r->owners;
	r->peers = (struct tally){.size = sizeof(struct peer), .key_size = sizeof(struct lock_key)};
	r->threads = calloc(info->nr_threads + 1ull, MODEL_NR_REASONS * sizeof(*r->threads));
	r->vthreads = calloc(info->nr_vthreads + 1ull, sizeof(*r->vthreads));
	r->vthread_reasons =
		calloc(info->nr_vthreads + 1ull, MODEL_NR_REASONS * sizeof(*r->vthread_reasons));
	r->virtuals.others = info->other_vthreads;
	return r->threads && r->vthreads && r->vthread_reasons ? 0 : -ENOMEM;
}

/* What has a name here is a peer, a file: of calls alone it is the call's. */
static int peer_add(struct reasons_run *r, const struct model_reason *reason, uint64_t time)
{
	struct lock_key key = {.kind = reason->kind, .class_name = reason->name};
	struct peer *p;
	bool vm = reason->kind == MODEL_WAIT_GC || reason->kind == MODEL_WAIT_SAFEPOINT ||
		  reason->kind == MODEL_WAIT_VM;

	if (!reason->name ||
	    (!vm && (reason->kind < MODEL_WAIT_SOCKET_READ || reason->kind > MODEL_WAIT_EVENTFD)))
		return 0;
	p = tally_get(&r->peers, &key);
	if (!p)
		return -ENOMEM;
	reason_add(&p->waits, reason, time);
	return 0;
}

int reasons_state(struct reasons_run *r, const struct model_state *s)
{
	uint64_t time = s->end - s->begin;

	if (s->reason->kind == MODEL_REASON_NONE)
		return 0;
	reason_add(&r->threads[(size_t)s->thread * MODEL_NR_REASONS + s->reason->kind], s->reason,
		   time);
	reason_add(&r->total[s->reason->kind], s->reason, time);
	return peer_add(r, s->reason, time);
}

static int owner_add(struct reasons_run *r, const struct lock *l, const struct model_java_wait *w)
{
	struct owner_key key = {.lock = (uint32_t)(l - (struct lock *)r->locks.items),
				.thread = w->reason->owner,
				.java_tid = w->reason->owner_java_tid};
	struct owner *o;

	if (key.thread == MODEL_NO_THREAD && !key.java_tid)
		return 0;
	/* Numbers of Java threads mean one only inside of their process. */
	if (key.java_tid)
		key.process = w->process;
	o = tally_get(&r->owners, &key);
	if (!o)
		return -ENOMEM;
	o->count++;
	o->time += w->end - w->begin;
	return 0;
}

int reasons_java_wait(struct reasons_run *r, const struct model_java_wait *w)
{
	struct lock_key key = {.kind = w->reason->kind, .class_name = w->reason->class_name};
	uint64_t time = w->end - w->begin;
	struct report_lock *sum;
	struct lock *l;

	/* What a join waits in is no lock of its own. */
	if (!is_lock(w->reason->kind) || w->inside)
		return 0;
	l = tally_get(&r->locks, &key);
	if (!l)
		return -ENOMEM;
	sum = &l->sum;
	sum->count++;
	sum->time += time;
	sum->blocked += w->blocked;
	sum->pinned += w->pinned;
	sum->work += w->in_work;
	sum->work_time += w->in_work ? time : 0;
	sum->incomplete += !w->complete;
	sum->timed_out += w->timed_out;
	if (time > sum->longest)
		sum->longest = time;
	return owner_add(r, l, w);
}

/* A virtual thread is the same on any carrier. */
static int waker_add(struct reasons_run *r, const struct model_reason *reason, uint32_t thread,
		     uint32_t vthread, uint64_t time)
{
	const struct lock_key lock = {.kind = reason->kind, .class_name = reason->class_name};
	const struct lock *l = tally_get(&r->locks, &lock);
	struct owner_key key = {.thread = thread};
	struct owner *o;

	if (!l)
		return -ENOMEM;
	key.lock = (uint32_t)(l - (struct lock *)r->locks.items);
	if (vthread != MODEL_NO_THREAD) {
		key.thread = MODEL_NO_THREAD;
		key.java_tid = r->info->vthreads[vthread].java_tid;
		key.process = r->info->vthreads[vthread].process;
	}
	o = tally_get(&r->wakers, &key);
	if (!o)
		return -ENOMEM;
	o->count++;
	o->time += time;
	return 0;
}

/* Who ended a wait that the thread had told of. */
int reasons_wakeup(struct reasons_run *r, const struct model_wakeup *w)
{
	uint64_t begin;

	if (!w->reason || !w->reason->from_java || !is_lock(w->reason->kind) ||
	    w->waker == MODEL_NO_THREAD || w->context != JIS_WAKER_TASK)
		return 0;
	/* Only what lies in the window, as with the time of the wait itself. */
	begin = w->wait_begin > r->info->begin ? w->wait_begin : r->info->begin;
	return waker_add(r, w->reason, w->waker, w->waker_vthread,
			 w->ready > begin ? w->ready - begin : 0);
}

static void vthread_add_state(struct report_vthread *v, const struct model_vstate *s)
{
	uint64_t time = s->end - s->begin;

	switch (s->kind) {
	case MODEL_RUNNING:
		v->running += time;
		break;
	case MODEL_READY:
		if (s->carrier == MODEL_NO_THREAD)
			v->to_mount += time;
		else
			v->ready += time;
		break;
	case MODEL_BLOCKED_INTERRUPTIBLE:
	case MODEL_BLOCKED_UNINTERRUPTIBLE:
	case MODEL_STOPPED:
		v->waited += time;
		if (s->carrier != MODEL_NO_THREAD)
			v->pinned += time;
		break;
	case MODEL_UNKNOWN:
		v->unknown += time;
		break;
	default:
		break;
	}
}

int reasons_vstate(struct reasons_run *r, const struct model_vstate *s)
{
	uint32_t kind = s->reason ? s->reason->kind : 0;
	uint64_t time = s->end - s->begin;

	vthread_add_state(&r->vthreads[s->vthread], s);
	vthread_add_state(&r->virtuals.times, s);
	if (kind >= MODEL_READY_TO_MOUNT) {
		reason_add(&r->virtuals.reasons[kind], s->reason, time);
		reason_add(&r->vthread_reasons[(size_t)s->vthread * MODEL_NR_REASONS + kind],
			   s->reason, time);
	}
	/* While it is pinned the state is its carrier's, and has been counted there. */
	if (s->carrier != MODEL_NO_THREAD || !s->reason)
		return 0;
	if (s->reason->from_java && is_lock(s->reason->kind) &&
	    (s->waker != MODEL_NO_THREAD || s->waker_vthread != MODEL_NO_THREAD) &&
	    waker_add(r, s->reason, s->waker, s->waker_vthread, time))
		return -ENOMEM;
	return peer_add(r, s->reason, time);
}

/* The end ------------------------------------------------------------------------------------ */

static int lock_compare(const void *a, const void *b)
{
	const struct report_lock *x = a, *y = b;

	if (x->work_time != y->work_time)
		return x->work_time > y->work_time ? -1 : 1;
	if (x->time != y->time)
		return x->time > y->time ? -1 : 1;
	return x->kind != y->kind ? (int)x->kind - (int)y->kind
				  : (int)x->class_name - (int)y->class_name;
}

static int peer_compare(const void *a, const void *b)
{
	const struct report_peer *x = a, *y = b;

	if (x->waits.time != y->waits.time)
		return x->waits.time > y->waits.time ? -1 : 1;
	return x->kind != y->kind ? (int)x->kind - (int)y->kind : (int)x->name - (int)y->name;
}

/* Puts @o among the top ones of its lock. */
static void owner_rank(struct report_owner *top, const struct owner *o)
{
	struct report_owner add = {o->key.thread, o->key.process, o->key.java_tid, o->count,
				   o->time};

	for (uint32_t i = 0; i < REPORT_OWNERS; i++) {
		struct report_owner swap = top[i];

		if (swap.count && swap.time >= add.time)
			continue;
		top[i] = add;
		add = swap;
		if (!add.count)
			return;
	}
}

int reasons_end(struct reasons_run *r, struct report *report)
{
	struct lock *locks = r->locks.items;
	struct peer *peers = r->peers.items;
	struct report_lock *out_locks = calloc(r->locks.nr + 1ull, sizeof(*out_locks));
	struct report_peer *out_peers = calloc(r->peers.nr + 1ull, sizeof(*out_peers));

	report->locks = out_locks;
	report->peers = out_peers;
	if (!out_locks || !out_peers)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->owners.nr; i++) {
		const struct owner *o = &((struct owner *)r->owners.items)[i];

		owner_rank(locks[o->key.lock].sum.owners, o);
	}
	for (uint32_t i = 0; i < r->wakers.nr; i++) {
		const struct owner *o = &((struct owner *)r->wakers.items)[i];

		owner_rank(locks[o->key.lock].sum.wakers, o);
	}
	for (uint32_t i = 0; i < r->locks.nr; i++) {
		out_locks[i] = locks[i].sum;
		out_locks[i].kind = (enum model_reason_kind)locks[i].key.kind;
		out_locks[i].class_name = locks[i].key.class_name;
	}
	for (uint32_t i = 0; i < r->peers.nr; i++)
		out_peers[i] =
			(struct report_peer){.kind = (enum model_reason_kind)peers[i].key.kind,
					     .name = peers[i].key.class_name,
					     .waits = peers[i].waits};
	qsort(out_locks, r->locks.nr, sizeof(*out_locks), lock_compare);
	qsort(out_peers, r->peers.nr, sizeof(*out_peers), peer_compare);
	report->nr_locks = r->locks.nr;
	report->nr_peers = r->peers.nr;
	report->thread_reasons = r->threads;
	report->reasons = r->total;
	report->vthreads = r->vthreads;
	report->vthread_reasons = r->vthread_reasons;
	report->virtuals = &r->virtuals;
	return 0;
}

void reasons_fini(struct reasons_run *r)
{
	tally_fini(&r->locks);
	tally_fini(&r->owners);
	tally_fini(&r->wakers);
	tally_fini(&r->peers);
	free(r->threads);
	free(r->vthreads);
	free(r->vthread_reasons);
}
