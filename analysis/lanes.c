/* SPDX-License-Identifier: MIT */
/*
 * Lanes: what lies outside of all windows is dropped as it comes. Whatever is kept is in rows of
 * parts (lane.h), of remote calls, too (hops.h).
 */
#include "lanes.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "holders.h"
#include "lane.h"

#define PORT_CHOSEN 32768u

struct row_of {
	uint64_t java_tid;
	uint32_t process, row;
};

struct lanes {
	struct model_sink sink;
	const struct model *model;
	const struct model_info *info;
	struct lanes_window *windows; /* in order, apart from each other */
	uint32_t nr_windows;
	struct spill spill;
	struct lane *threads, *vthreads; /* struct segment */
	struct lane *waits, *mounts;	 /* of threads: struct segment_other */
	struct lanes_why *whys;
	uint32_t nr_whys, room_whys;
	uint32_t *table; /* of whys: index + 1 */
	uint32_t mask;
	struct row_of *rows; /* of virtual threads, by process and number */
	bool unexplained;    /* a virtual thread's wait for a monitor, ended by nobody known */
	struct holders *holders;
	struct hops hops;
};

/* Windows ------------------------------------------------------------------------------------ */

static int window_compare(const void *a, const void *b)
{
	const struct lanes_window *x = a, *y = b;

	return x->begin != y->begin ? (x->begin < y->begin ? -1 : 1)
				    : (x->end > y->end) - (x->end < y->end);
}

static void windows_join(struct lanes *l)
{
	uint32_t n = 0;

	qsort(l->windows, l->nr_windows, sizeof(*l->windows), window_compare);
	for (uint32_t i = 0; i < l->nr_windows; i++) {
		const struct lanes_window w = l->windows[i];

		if (n && w.begin <= l->windows[n - 1].end) {
			if (w.end > l->windows[n - 1].end)
				l->windows[n - 1].end = w.end;
		} else {
			l->windows[n++] = w;
		}
	}
	l->nr_windows = n;
}

static bool is_wanted(const struct lanes *l, uint64_t begin, uint64_t end)
{
	uint32_t low = 0, high = l->nr_windows;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (l->windows[mid].end > begin)
			high = mid;
		else
			low = mid + 1;
	}
	return low < l->nr_windows && l->windows[low].begin < end;
}

/* Whys --------------------------------------------------------------------------------------- */

static uint32_t *why_slot(const struct lanes *l, const struct lanes_why *why)
{
	uint64_t h = ((uint64_t)why->kind << 32 ^ why->class_name) * 0x9e3779b97f4a7c15ull;
	uint32_t i;

	h ^= ((uint64_t)why->name << 32 ^ (uint32_t)why->syscall) * 0xc2b2ae3d27d4eb4full;
	i = (uint32_t)(h ^ h >> 32) & l->mask;
	while (l->table[i] && memcmp(&l->whys[l->table[i] - 1], why, sizeof(*why)))
		i = (i + 1) & l->mask;
	return &l->table[i];
}

static int whys_grow(struct lanes *l)
{
	uint32_t room = l->room_whys ? l->room_whys * 2 : 256;
	struct lanes_why *grown = realloc(l->whys, room * sizeof(*grown));
	uint32_t *table = grown ? calloc(room * 2ull, sizeof(*table)) : NULL;

	if (grown)
		l->whys = grown;
	if (!table)
		return -ENOMEM;
	free(l->table);
	l->table = table;
	l->mask = room * 2 - 1;
	l->room_whys = room;
	for (uint32_t i = 0; i < l->nr_whys; i++)
		*why_slot(l, &l->whys[i]) = i + 1;
	return 0;
}

static int why_add(struct lanes *l, const struct model_reason *r, uint32_t *out)
{
	struct lanes_why why = {.kind = r->kind};
	uint32_t *slot;

	if (r->kind == MODEL_RUN_SYSCALL || r->kind == MODEL_WAIT_SYSCALL ||
	    r->kind == MODEL_WAIT_UNKNOWN)
		why.syscall = r->syscall;
	if (r->kind >= MODEL_WAIT_UNKNOWN || r->kind == MODEL_RUN_SYSCALL) {
		why.class_name = r->class_name;
		why.name = r->name;
	}
	if (l->nr_whys == l->room_whys && whys_grow(l))
		return -ENOMEM;
	slot = why_slot(l, &why);
	if (!*slot) {
		l->whys[l->nr_whys++] = why;
		*slot = l->nr_whys;
	}
	*out = *slot - 1;
	return 0;
}

/* The callbacks ------------------------------------------------------------------------------ */

static int row_compare(const void *a, const void *b)
{
	const struct row_of *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (x->java_tid > y->java_tid) - (x->java_tid < y->java_tid);
}

static int on_begin(void *ctx, const struct model_info *info)
{
	struct lanes *l = ctx;

	l->info = info;
	l->threads = calloc(info->nr_threads + 1ull, sizeof(*l->threads));
	l->waits = calloc(info->nr_threads + 1ull, sizeof(*l->waits));
	l->mounts = calloc(info->nr_threads + 1ull, sizeof(*l->mounts));
	l->vthreads = calloc(info->nr_vthreads + 1ull, sizeof(*l->vthreads));
	l->rows = calloc(info->nr_vthreads + 1ull, sizeof(*l->rows));
	if (!l->threads || !l->waits || !l->mounts || !l->vthreads || !l->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < info->nr_vthreads; i++)
		l->rows[i] = (struct row_of){.java_tid = info->vthreads[i].java_tid,
					     .process = info->vthreads[i].process,
					     .row = i};
	qsort(l->rows, info->nr_vthreads, sizeof(*l->rows), row_compare);
	return hops_init(&l->hops, info, &l->spill);
}

static struct segment segment_of(uint64_t begin, uint64_t end, enum model_state_kind state)
{
	return (struct segment){.begin = begin,
				.end = end,
				.waker = MODEL_NO_THREAD,
				.waker_vthread = MODEL_NO_THREAD,
				.waker_foreign = MODEL_NO_THREAD,
				.owner = MODEL_NO_THREAD,
				.owner_vthread = MODEL_NO_THREAD,
				.carrier = MODEL_NO_THREAD,
				.state = (uint8_t)state};
}

static int segment_reason(struct lanes *l, struct segment *s, const struct model_reason *r)
{
	s->hash = r->hash;
	s->owner = r->owner;
	s->owner_vthread = r->owner_vthread;
	s->flags |=
		(uint8_t)((r->pinned ? SEGMENT_PINNED : 0) | (r->sampled ? SEGMENT_SAMPLED : 0));
	return why_add(l, r, &s->why);
}

static int on_state(void *ctx, const struct model_state *state)
{
	struct lanes *l = ctx;
	struct segment s;
	int err;

	if (!is_wanted(l, state->begin, state->end))
		return 0;
	s = segment_of(state->begin, state->end, state->kind);
	if (state->kind == MODEL_READY && state->throttled)
		s.flags |= SEGMENT_THROTTLED;
	err = segment_reason(l, &s, state->reason);
	return err ? err : lane_add(&l->threads[state->thread], &l->spill, &s, sizeof(s));
}

/* Told right after the state that it ended. */
static int on_wakeup(void *ctx, const struct model_wakeup *w)
{
	struct lanes *l = ctx;
	struct segment *s = lane_last(&l->threads[w->thread], sizeof(*s));

	if (!w->reason || !s || s->end != w->ready)
		return 0;
	s->flags |= SEGMENT_WOKEN;
	s->waking = w->waking;
	s->waker = w->waker;
	s->waker_foreign = w->waker_foreign;
	s->waker_tid = w->waker_tid;
	s->context = (uint8_t)w->context;
	return 0;
}

static int on_wait(void *ctx, const struct model_wait *w)
{
	struct lanes *l = ctx;
	const struct segment_other o = {.begin = w->begin,
					.end = w->end,
					.index = w->occupant_index,
					.tid = w->tid,
					.occupant = (uint8_t)w->occupant,
					.flags = w->throttled ? SEGMENT_THROTTLED : 0};

	if (w->begin >= w->end || !is_wanted(l, w->begin, w->end))
		return 0;
	return lane_add(&l->waits[w->thread], &l->spill, &o, sizeof(o));
}

static int mount_add(struct lanes *l, const struct model_vstate *v)
{
	struct segment_other *last = lane_last(&l->mounts[v->carrier], sizeof(*last));
	const struct segment_other o = {.begin = v->begin, .end = v->end, .index = v->vthread};

	if (last && last->index == v->vthread && last->end == v->begin) {
		last->end = v->end;
		return 0;
	}
	return lane_add(&l->mounts[v->carrier], &l->spill, &o, sizeof(o));
}

static int mounted_add(struct lanes *l, const struct model_vstate *v)
{
	struct segment *last = lane_last(&l->vthreads[v->vthread], sizeof(*last));
	struct segment s = segment_of(v->begin, v->end, MODEL_RUNNING);
	int err = mount_add(l, v);

	if (err)
		return err;
	if (last && last->carrier == v->carrier && last->end == v->begin) {
		last->end = v->end;
		return 0;
	}
	s.carrier = v->carrier;
	return lane_add(&l->vthreads[v->vthread], &l->spill, &s, sizeof(s));
}

static int on_vstate(void *ctx, const struct model_vstate *v)
{
	struct lanes *l = ctx;
	struct segment s;
	int err;

	if (!is_wanted(l, v->begin, v->end))
		return 0;
	if (v->carrier != MODEL_NO_THREAD)
		return mounted_add(l, v);
	s = segment_of(v->begin, v->end, v->kind);
	if (v->waker != MODEL_NO_THREAD || v->waker_vthread != MODEL_NO_THREAD) {
		s.flags |= SEGMENT_WOKEN;
		s.waking = v->end;
		s.waker = v->waker;
		s.waker_vthread = v->waker_vthread;
	} else if (v->reason->kind == MODEL_WAIT_MONITOR) {
		l->unexplained = true;
	}
	err = segment_reason(l, &s, v->reason);
	return err ? err : lane_add(&l->vthreads[v->vthread], &l->spill, &s, sizeof(s));
}

static int on_remote(void *ctx, const struct model_remote_call *call)
{
	struct lanes *l = ctx;
	struct hop hop;

	if (!hop_of(call, &hop) || !is_wanted(l, hop.send, hop.over))
		return 0;
	return hops_add(&l->hops, call, &hop);
}

static int on_end(void *ctx, const struct model_counts *counts)
{
	struct lanes *l = ctx;

	hops_sort(&l->hops);
	if (!l->unexplained)
		return 0;
	l->holders = holders_new(l);
	return l->holders ? 0 : -ENOMEM;
}

struct lanes *lanes_new(const struct lanes_window *windows, uint32_t nr)
{
	struct lanes *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->windows = calloc(nr + 1ull, sizeof(*l->windows));
	if (!l->windows) {
		free(l);
		return NULL;
	}
	if (nr)
		memcpy(l->windows, windows, nr * sizeof(*windows));
	l->nr_windows = nr;
	windows_join(l);
	spill_init(&l->spill, LANES_MEMORY);
	l->sink = (struct model_sink){.begin = on_begin,
				      .state = on_state,
				      .wakeup = on_wakeup,
				      .wait = on_wait,
				      .vstate = on_vstate,
				      .remote = on_remote,
				      .end = on_end,
				      .ctx = l,
				      .wants_reasons = true,
				      .wants_cut_remotes = true};
	return l;
}

const struct model_sink *lanes_sink(struct lanes *l, const struct model *m)
{
	l->model = m;
	return &l->sink;
}

void lanes_free(struct lanes *l)
{
	if (!l)
		return;
	if (l->info) {
		lanes_drop(l->threads, l->info->nr_threads);
		lanes_drop(l->waits, l->info->nr_threads);
		lanes_drop(l->mounts, l->info->nr_threads);
		lanes_drop(l->vthreads, l->info->nr_vthreads);
	}
	holders_free(l->holders);
	hops_fini(&l->hops);
	spill_fini(&l->spill);
	free(l->windows);
	free(l->whys);
	free(l->table);
	free(l->rows);
	free(l);
}

/* Looking ------------------------------------------------------------------------------------ */

const struct model_info *lanes_info(const struct lanes *l)
{
	return l->info;
}

const struct lanes_why *lanes_why(const struct lanes *l, uint32_t why)
{
	return &l->whys[why];
}

bool lanes_sends(const struct lanes *l, const struct lanes_why *why)
{
	static const char *const calls[] = {"write",	"writev",   "sendto",	"sendmsg",
					    "sendmmsg", "sendfile", "pwritev2", "shutdown",
					    "close",	"connect"};
	const char *name =
		why->kind == MODEL_RUN_SYSCALL ? model_syscall_name(l->model, why->syscall) : NULL;

	for (size_t i = 0; name && i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (!strcmp(name, calls[i]))
			return true;
	}
	return false;
}

/* The number at the end: "10.0.0.2:3306", "10.0.0.1 to port 3306", "port 3306". */
static unsigned long port_of(const char *name)
{
	const char *end = name + strlen(name);

	while (end > name && isdigit((unsigned char)end[-1]))
		end--;
	return strtoul(end, NULL, 10);
}

const char *lanes_name(const struct lanes *l, uint32_t name)
{
	return model_name(l->model, name);
}

/* Where a server has a port that the kernel chose, each end is named by the other's. */
bool lanes_same_port(const struct lanes *l, uint32_t a, uint32_t b)
{
	unsigned long x = port_of(model_name(l->model, a)), y = port_of(model_name(l->model, b));

	return x == y || (x >= PORT_CHOSEN && y >= PORT_CHOSEN);
}

uint64_t lanes_first(const struct lanes *l, uint32_t thread, uint64_t t)
{
	return lane_first(&l->threads[thread], sizeof(struct segment), t);
}

const struct segment *lanes_at(const struct lanes *l, uint32_t thread, uint64_t i)
{
	return lane_part(&l->threads[thread], sizeof(struct segment), i);
}

uint64_t lanes_vfirst(const struct lanes *l, uint32_t vthread, uint64_t t)
{
	return lane_first(&l->vthreads[vthread], sizeof(struct segment), t);
}

const struct segment *lanes_vat(const struct lanes *l, uint32_t vthread, uint64_t i)
{
	return lane_part(&l->vthreads[vthread], sizeof(struct segment), i);
}

uint64_t lanes_wait_first(const struct lanes *l, uint32_t thread, uint64_t t)
{
	return lane_first(&l->waits[thread], sizeof(struct segment_other), t);
}

const struct segment_other *lanes_wait_at(const struct lanes *l, uint32_t thread, uint64_t i)
{
	return lane_part(&l->waits[thread], sizeof(struct segment_other), i);
}

uint32_t lanes_mounted(const struct lanes *l, uint32_t thread, uint64_t t)
{
	const struct lane *lane = &l->mounts[thread];
	const struct segment_other *o =
		t ? lane_part(lane, sizeof(*o), lane_first(lane, sizeof(*o), t - 1)) : NULL;

	return o && o->begin < t ? o->index : MODEL_NO_THREAD;
}

const struct holders *lanes_holders(const struct lanes *l)
{
	return l->holders;
}

const struct hop *lanes_hop(const struct lanes *l, uint32_t thread, uint32_t vthread, uint64_t t,
			    uint64_t *until)
{
	return hops_at(&l->hops, thread, vthread, t, until);
}

uint32_t lanes_vthread(const struct lanes *l, uint32_t process, uint64_t java_tid)
{
	const struct row_of key = {.java_tid = java_tid, .process = process};
	const struct row_of *row =
		bsearch(&key, l->rows, l->info->nr_vthreads, sizeof(key), row_compare);

	return row ? row->row : MODEL_NO_THREAD;
}
