/* SPDX-License-Identifier: MIT */
/*
 * Goes over the dictionary twice: gathers from when to when each record about a thread holds, then
 * leaves out those that are over. All that ended after the last packet that went is needed; of what
 * is older, only packets that began before and still are there have records, which are looked at
 * one by one: an idle thread's packet may reach back for hours.
 */
#include "dict_trim.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "packet_walk.h"
#include "trace/event_info.h"
#include "trace/grow.h"

/* A record of the dictionary about a thread. */
struct item {
	uint64_t java_tid, time;
	uint32_t id;  /* JIS_EV_* */
	uint32_t tid; /* of a start's, else 0 */
	uint32_t nr;  /* the how manieth of them */
};

/* Who is in a record that is kept and older than what has gone: a java_tid, KERNEL_TID and a tid,
 * or WHOEVER lived then: the tids of the kernel's records may be of another namespace. */
#define KERNEL_TID ((uint64_t)1 << 63)
#define WHOEVER 0

struct use {
	uint64_t who, time;
};

struct trim {
	uint64_t cut;	/* no packet that ended later has gone */
	uint64_t slack; /* how long a thread may go on after it was said to have ended */
	struct item *items;
	size_t nr_items, room_items;
	struct use *old;
	size_t nr_old, room_old;
	uint32_t class, owner; /* of the packet that is looked at */
	bool *gone;	       /* by number */
	bool no_memory;
};

static bool about_thread(uint32_t id)
{
	return id == JIS_EV_java_thread_start || id == JIS_EV_java_thread_end ||
	       id == JIS_EV_java_thread_name || id == JIS_EV_class_waited;
}

static void item_add(void *ctx, uint32_t id, uint64_t time, const uint8_t *payload, uint32_t size)
{
	struct trim *t = ctx;

	(void)size;
	if (!about_thread(id) || t->no_memory)
		return;
	if (t->nr_items == t->room_items && !GROW(t->items, t->room_items, 1024)) {
		t->no_memory = true;
		return;
	}
	t->items[t->nr_items] = (struct item){
		.java_tid = field_u64(payload), /* all of them begin with it */
		.time = time,
		.id = id,
		.nr = (uint32_t)t->nr_items,
	};
	if (id == JIS_EV_java_thread_start)
		t->items[t->nr_items].tid =
			field_u32(payload + offsetof(struct jis_ev_java_thread_start, tid));
	t->nr_items++;
}

static void use_add(struct trim *t, uint64_t who, uint64_t time)
{
	if (t->no_memory || (t->nr_old == t->room_old && !GROW(t->old, t->room_old, 1024))) {
		t->no_memory = true;
		return;
	}
	t->old[t->nr_old++] = (struct use){.who = who, .time = time};
}

static bool is_tid(const char *name)
{
	size_t n = strlen(name);

	return n >= 3 && !strcmp(name + n - 3, "tid");
}

/* All threads that the record names, and whose it is. */
static void old_add(void *ctx, uint32_t id, uint64_t time, const uint8_t *payload, uint32_t size)
{
	struct trim *t = ctx;
	const struct event_info *info = event_info_get(t->class, id);
	const struct field_info *f;
	uint32_t i;

	(void)size;
	if (time >= t->cut || !info)
		return;
	if (t->class == JIS_STREAM_USER && id == JIS_EV_thread_bind)
		t->owner = field_u32(payload + offsetof(struct jis_ev_thread_bind, tid));
	use_add(t, t->class == JIS_STREAM_USER ? KERNEL_TID | t->owner : WHOEVER, time);
	for (i = 0; i < info->nr_fields; i++) {
		f = &info->fields[i];
		if (!is_tid(f->name))
			continue;
		if (f->type == FIELD_U64 && field_u64(payload + f->offset))
			use_add(t, field_u64(payload + f->offset), time);
		else if (f->type == FIELD_U32 && field_u32(payload + f->offset))
			use_add(t, KERNEL_TID | field_u32(payload + f->offset), time);
	}
}

static int gather(void *ctx, uint32_t stream, const struct jis_packet_header *packet)
{
	struct trim *t = ctx;
	struct packet_walk walk;
	bool dict = packet->stream_class == JIS_STREAM_DICT;

	(void)stream;
	if (!dict && packet->timestamp_begin >= t->cut)
		return 0;
	t->class = packet->stream_class;
	t->owner = packet->owner;
	packet_walk_begin(&walk, packet, UINT64_MAX);
	walk.record = dict ? item_add : old_add;
	walk.ctx = t;
	packet_walk_run(&walk, packet, (uint32_t)(packet->content_size / 8), NULL);
	return t->no_memory ? -ENOMEM : 0;
}

static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->java_tid != y->java_tid)
		return x->java_tid < y->java_tid ? -1 : 1;
	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

static int compare_uses(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	if (x->who != y->who)
		return x->who < y->who ? -1 : 1;
	return x->time < y->time ? -1 : x->time > y->time;
}

/* Is @who in an old record at @from to @until? */
static bool used_between(const struct trim *t, uint64_t who, uint64_t from, uint64_t until)
{
	const struct use first = {.who = who, .time = from};
	size_t low = 0, high = t->nr_old, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (compare_uses(&t->old[middle], &first) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < t->nr_old && t->old[low].who == who && t->old[low].time <= until;
}

/* What holds of the thread from @from to @until (UINT64_MAX: still). */
static bool over(const struct trim *t, uint64_t java_tid, uint32_t tid, uint64_t from,
		 uint64_t until)
{
	uint64_t early = from > t->slack ? from - t->slack : 0;
	uint64_t late = until + t->slack;

	return until != UINT64_MAX && late < t->cut && !used_between(t, WHOEVER, from, until) &&
	       !used_between(t, java_tid, early, late) &&
	       !(tid && used_between(t, KERNEL_TID | tid, early, late));
}

/* One thread's items, in order. A start and an end hold for the whole life, as does a wait; a name
 * until the next one. */
static void thread_judge(struct trim *t, const struct item *items, size_t nr)
{
	uint64_t end = UINT64_MAX, name_end;
	uint32_t tid = 0;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (items[i].id == JIS_EV_java_thread_end)
			end = items[i].time;
		if (items[i].tid)
			tid = items[i].tid;
	}
	for (i = nr, name_end = end; i--;) {
		if (items[i].id == JIS_EV_java_thread_name) {
			t->gone[items[i].nr] =
				over(t, items[i].java_tid, tid, items[i].time, name_end);
			name_end = items[i].time;
		} else {
			t->gone[items[i].nr] = over(t, items[i].java_tid, tid, items[0].time, end);
		}
	}
}

static void judge(struct trim *t)
{
	size_t i, begin;

	if (t->nr_items)
		qsort(t->items, t->nr_items, sizeof(*t->items), compare_items);
	if (t->nr_old)
		qsort(t->old, t->nr_old, sizeof(*t->old), compare_uses);
	for (begin = 0; begin < t->nr_items; begin = i) {
		for (i = begin; i < t->nr_items; i++)
			if (t->items[i].java_tid != t->items[begin].java_tid)
				break;
		thread_judge(t, t->items + begin, i - begin);
	}
}

/* A packet that is written anew, in its place. */
struct rewrite {
	const struct trim *trim;
	size_t nr; /* the next item */
	uint8_t *base;
	uint32_t from, to; /* the next record's place, and where it goes */
	uint64_t last;	   /* the time of the record before, where it goes */
};

/* A record that was left out is longer than what the header of the next may grow by. */
_Static_assert(sizeof(struct jis_ev_java_thread_end) >= 12, "room for a full time");

static void record_keep(void *ctx, uint32_t id, uint64_t time, const uint8_t *payload,
			uint32_t size)
{
	struct rewrite *w = ctx;
	uint32_t header = (uint32_t)(payload - w->base) - w->from;
	uint32_t words[4] = {JIS_ID_EXTENDED, id, (uint32_t)time, (uint32_t)(time >> 32)};
	uint32_t src = w->from;

	w->from += header + size;
	if (about_thread(id) && w->trim->gone[w->nr++])
		return;
	if (header == 4 && time - w->last > JIS_TIME_MASK) {
		memmove(w->base + w->to + sizeof(words), payload, size);
		memcpy(w->base + w->to, words, sizeof(words));
		header = sizeof(words);
	} else if (w->to != src) {
		memmove(w->base + w->to, w->base + src, header + size);
	}
	w->to += header + size;
	w->last = time;
}

/* Returns how many bytes of the packet are left. All its records are sound: who read it from its
 * writer has looked at each. */
static uint32_t packet_rewrite(void *ctx, struct jis_packet_header *packet)
{
	struct rewrite *w = ctx;
	struct packet_walk walk;

	w->base = (uint8_t *)packet;
	w->from = w->to = JIS_PACKET_HEADER_SIZE;
	w->last = packet->timestamp_begin;
	packet_walk_begin(&walk, packet, UINT64_MAX);
	walk.record = record_keep;
	walk.ctx = w;
	packet_walk_run(&walk, packet, (uint32_t)(packet->content_size / 8), NULL);
	return w->to;
}

int dict_trim(struct history *process, const struct history *kernel, uint64_t slack)
{
	struct trim t = {.cut = history_since(process), .slack = slack};
	struct rewrite rewrite = {.trim = &t};
	int err;

	if (history_bytes(kernel) && history_since(kernel) < t.cut)
		t.cut = history_since(kernel);
	if (!t.cut)
		return -EAGAIN;
	err = history_each(process, 0, gather, &t);
	if (!err)
		err = history_each(kernel, 0, gather, &t);
	t.gone = err ? NULL : calloc(t.nr_items + 1, sizeof(*t.gone));
	if (t.gone) {
		judge(&t);
		err = history_rewrite(process, packet_rewrite, &rewrite);
	} else {
		err = -ENOMEM;
	}
	free(t.items);
	free(t.old);
	free(t.gone);
	return err;
}
