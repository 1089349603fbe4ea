/* SPDX-License-Identifier: MIT */
/*
 * Reading packets out of a pool. A packet is looked at in the recorder's own copy only; each
 * length, time and number in it is checked before it is used.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "packet_walk.h"
#include "pool_private.h"

/* How far the clock of a writer may be ahead of ours, in ticks: other CPU, other moment. */
#define TIME_SLACK (1ull << 24)

/* The packet's bytes are zero before it is free: see abi.h. */
static void packet_free(struct pool *p, uint32_t index)
{
	memset(pool_packet(p, index), 0, p->packet_size);
	__atomic_store_n(pool_state(p, index), JIS_PACKET_FREE, __ATOMIC_RELEASE);
}

/* Does slot @slot exist, and may it have packet @index? */
static bool owner_sound(const struct pool *p, uint32_t slot, uint32_t index)
{
	return slot < p->nr_slots && (slot == JIS_POOL_DICT_SLOT) == (index < p->dict_packets);
}

/* Is the header in the copy that of a packet which may follow what @slot has stored? */
static bool header_sound(const struct pool *p, uint32_t slot, const struct jis_packet_header *h,
			 uint64_t now)
{
	uint32_t class = slot == JIS_POOL_DICT_SLOT ? JIS_STREAM_DICT : JIS_STREAM_USER;
	const struct pool_slot *s = &p->slots[slot];

	return h->magic == JIS_PACKET_MAGIC && h->stream_class == class &&
	       h->stream_instance == slot && !memcmp(h->uuid, p->config.uuid, sizeof(h->uuid)) &&
	       h->packet_seq >= s->next_seq && h->packet_seq < UINT64_MAX - 2 &&
	       h->timestamp_begin >= s->end && h->timestamp_begin <= now + TIME_SLACK;
}

static void walk_begin(const struct pool *p, struct packet_walk *walk,
		       const struct jis_packet_header *h, uint64_t now)
{
	packet_walk_begin(walk, h, now + TIME_SLACK);
	walk->lost_max = pool_plausible(p);
}

/* Replaces what the writer said of the packet by what we found. */
static void header_normalise(const struct pool *p, struct pool_slot *s, struct jis_packet_header *h,
			     const struct packet_walk *walk, uint32_t flags)
{
	if (h->events_discarded > pool_plausible(p) || h->events_discarded < s->discarded)
		h->events_discarded = s->discarded;
	s->discarded = h->events_discarded;
	h->timestamp_end = walk->last;
	h->content_size = h->packet_size = (uint64_t)walk->offset * 8;
	h->packet_seq++;
	h->crc32c = 0;
	h->pid = p->config.own_pid;
	h->flags = flags;
}

static void counts_add(uint64_t *to, const uint64_t *what, int sign)
{
	int i;

	for (i = 0; i < JIS_MAX_EVENT_ID; i++)
		to[i] += sign > 0 ? what[i] : -what[i];
}

#define NOT_STORED 1

/* Hands the packet in the copy, walked by @walk, to the sink. Returns 0, NOT_STORED or its error.
 */
static int packet_store(struct pool *p, uint32_t slot, const struct packet_walk *walk,
			const uint64_t *counts, uint32_t skip, bool open)
{
	struct jis_packet_header *h = (struct jis_packet_header *)p->copy;
	struct pool_slot *s = &p->slots[slot];
	int err;

	err = p->sink.packet(p->sink.ctx, slot, h, skip, open);
	if (err)
		return err == -EMFILE ? NOT_STORED : err;
	s->used = true;
	counts_add(s->stored, counts, 1);
	return 0;
}

/* What was stored of the open packet stays as it is; what comes now follows it. */
void pool_open_commit(struct pool_slot *s)
{
	if (!s->open)
		return;
	s->open = false;
	s->end = s->open_end;
	s->next_seq++;
}

/*
 * Prepares for storing the packet in the copy over the open one, if it is that one, grown.
 * Returns the bytes of content the sink has seen, or -EBADMSG: it is smaller than it was.
 */
static int open_resume(struct pool_slot *s, uint64_t seq, const struct packet_walk *walk)
{
	if (!s->open || seq != s->next_seq)
		return 0;
	if (walk->offset < s->open_offset)
		return -EBADMSG;
	counts_add(s->stored, s->open_counts, -1); /* counted again as a whole */
	s->open = false;
	return (int)(s->open_offset - JIS_PACKET_HEADER_SIZE);
}

/* Checks the full packet in the copy and finds its records' end. Returns 0 or -EBADMSG. */
static int full_check(struct pool *p, uint32_t slot, struct packet_walk *walk, uint64_t *counts)
{
	struct jis_packet_header *h = (struct jis_packet_header *)p->copy;
	uint64_t now = clock_now(p->config.clock) - p->config.base, bytes = h->content_size / 8;
	struct pool_slot *s = &p->slots[slot];

	if (h->packet_seq > s->next_seq)
		pool_open_commit(s);
	if (!header_sound(p, slot, h, now))
		return -EBADMSG;
	if (h->content_size % 32 || bytes < JIS_PACKET_HEADER_SIZE || bytes > p->packet_size) {
		s->damaged++;
		bytes = p->packet_size;
	}
	walk_begin(p, walk, h, now);
	if (packet_walk_run(walk, h, (uint32_t)bytes, counts))
		s->damaged++;
	return 0;
}

static int full_store(struct pool *p, const struct pool_full *f)
{
	struct jis_packet_header *h = (struct jis_packet_header *)p->copy;
	uint64_t counts[JIS_MAX_EVENT_ID] = {0}, seq;
	struct pool_slot *s = &p->slots[f->slot];
	struct packet_walk walk;
	int err, skip;

	memcpy(p->copy, pool_packet(p, f->index), p->packet_size);
	seq = h->packet_seq;
	skip = full_check(p, f->slot, &walk, counts);
	if (!skip)
		skip = open_resume(s, seq, &walk);
	if (skip < 0) {
		s->damaged++;
		return 0;
	}
	header_normalise(p, s, h, &walk, 0);
	err = packet_store(p, f->slot, &walk, counts, (uint32_t)skip, false);
	if (err && skip) /* what was stored before still is */
		counts_add(s->stored, s->open_counts, 1);
	s->next_seq = seq + 1;
	s->end = walk.last;
	return err == NOT_STORED ? 0 : err;
}

static int full_compare(const void *a, const void *b)
{
	const struct pool_full *x = a, *y = b;

	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* All full packets, in order. */
static uint32_t full_scan(struct pool *p)
{
	uint32_t i, n = 0;

	for (i = 0; i < p->nr_packets; i++) {
		uint32_t state = __atomic_load_n(pool_state(p, i), __ATOMIC_ACQUIRE);
		const struct jis_packet_header *h = (void *)pool_packet(p, i);
		uint32_t slot = JIS_PACKET_SLOT(state);

		if (JIS_PACKET_STATE(state) != JIS_PACKET_FULL)
			continue;
		if (!owner_sound(p, slot, i)) {
			packet_free(p, i);
			continue;
		}
		p->full[n].slot = slot;
		p->full[n].index = i;
		p->full[n++].seq = __atomic_load_n(&h->packet_seq, __ATOMIC_RELAXED);
	}
	qsort(p->full, n, sizeof(*p->full), full_compare);
	return n;
}

int pool_drain(struct pool *p)
{
	uint32_t n = full_scan(p), i, waiting = UINT32_MAX;
	int stored = 0, err;

	for (i = 0; i < n; i++) {
		const struct pool_full *f = &p->full[i];
		struct pool_slot *s = &p->slots[f->slot];

		if (f->slot == waiting)
			continue;
		if (f->seq > s->next_seq && !s->held && !p->final) {
			/* The one before was still open when we looked at its state. */
			s->held = true;
			waiting = f->slot;
			continue;
		}
		s->held = false;
		err = full_store(p, f);
		packet_free(p, f->index);
		if (err)
			return err;
		stored++;
	}
	return stored;
}

/*
 * Copies open packet @index as far as it has records. Their ends are found in a first copy; a
 * second one is made after the header words were seen, so it has the payloads written before them.
 */
static int open_copy(struct pool *p, uint32_t slot, uint32_t index, struct packet_walk *walk,
		     uint64_t *counts)
{
	struct jis_packet_header *h = (struct jis_packet_header *)p->copy;
	uint64_t now = clock_now(p->config.clock) - p->config.base;
	uint32_t end;

	memcpy(p->copy, pool_packet(p, index), p->packet_size);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (p->final && h->packet_seq > p->slots[slot].next_seq)
		pool_open_commit(&p->slots[slot]);
	if (!header_sound(p, slot, h, now))
		return -EBADMSG;
	walk_begin(p, walk, h, now);
	packet_walk_run(walk, h, p->packet_size, NULL);
	end = walk->offset;
	if (!walk->records)
		return -EAGAIN;
	memcpy(p->copy, pool_packet(p, index), end);
	if (!header_sound(p, slot, h, now))
		return -EBADMSG;
	walk_begin(p, walk, h, now);
	packet_walk_run(walk, h, end, counts);
	return walk->records ? 0 : -EAGAIN;
}

/* Has the open packet no record that was not stored yet? Looks at one word. */
static bool open_unchanged(const struct pool *p, const struct pool_slot *s, uint32_t index)
{
	const uint32_t *word;

	if (p->final || !s->open || s->open_index != index)
		return false;
	if (s->open_offset + 4 > p->packet_size)
		return true;
	word = (const uint32_t *)(pool_packet(p, index) + s->open_offset);
	return __atomic_load_n(word, __ATOMIC_RELAXED) == 0;
}

static int open_store(struct pool *p, uint32_t slot, uint32_t index)
{
	struct jis_packet_header *h = (struct jis_packet_header *)p->copy;
	uint64_t counts[JIS_MAX_EVENT_ID] = {0}, seq;
	struct pool_slot *s = &p->slots[slot];
	struct packet_walk walk;
	int err, skip;

	if (open_unchanged(p, s, index))
		return 0;
	if (open_copy(p, slot, index, &walk, counts))
		return 0; /* nothing in it, or nothing sound: its end will tell */
	seq = h->packet_seq;
	if (seq != s->next_seq && !p->final)
		return 0; /* the one before is full and comes first */
	skip = open_resume(s, seq, &walk);
	if (skip < 0)
		return 0;
	header_normalise(p, s, h, &walk, p->final ? JIS_PACKET_RECOVERED : 0);
	err = packet_store(p, slot, &walk, counts, (uint32_t)skip, !p->final);
	if (err && skip)
		counts_add(s->stored, s->open_counts, 1);
	if (err == NOT_STORED && !p->final)
		return 0; /* the next flush may be luckier */
	if (p->final || err) {
		s->next_seq = seq + 1;
		s->end = walk.last;
		return err == NOT_STORED ? 0 : err;
	}
	s->open = true;
	s->open_index = index;
	s->open_offset = walk.offset;
	s->open_end = walk.last;
	memcpy(s->open_counts, counts, sizeof(counts));
	return 0;
}

int pool_store_open(struct pool *p)
{
	uint32_t i;
	int err;

	for (i = 0; i < p->nr_packets; i++) {
		uint32_t state = __atomic_load_n(pool_state(p, i), __ATOMIC_ACQUIRE);
		uint32_t slot = JIS_PACKET_SLOT(state);

		if (JIS_PACKET_STATE(state) != JIS_PACKET_OPEN || !owner_sound(p, slot, i))
			continue;
		err = open_store(p, slot, i);
		if (err)
			return err;
	}
	return 0;
}
