// SPDX-License-Identifier: GPL-2.0-only
/*
 * The writer's side of a ring beyond its fast path: packets opened and closed, records lost and
 * told.
 *
 * Everything here runs with interrupts off on the ring's CPU, or where nothing can be writing, and
 * may be called from any context but an NMI that comes by itself: it takes no lock and wakes
 * nobody itself (that is irq_work's). A full ring drops the newest record and never waits; a
 * flight recorder's writes its oldest packet again instead, unless it is frozen.
 */
#include <linux/string.h>

#include "jis.h"

/* In the smallest packet, told losses of all types must leave room for the longest record. */
#define LOST_SIZE (JIS_HEADER_SIZE + sizeof(struct jis_ev_lost_records))
static_assert(4096 - JIS_PACKET_HEADER_SIZE - JIS_MAX_EVENT_ID * LOST_SIZE >=
	      JIS_EXTENDED_SIZE + JIS_MAX_PAYLOAD);
static_assert(sizeof(struct jis_packet_header) == JIS_PACKET_HEADER_SIZE);

static void ring_close_packet(struct jis_ring *r)
{
	struct jis_packet_header *h = r->open;

	h->timestamp_end = r->last;
	h->content_size = (u64)(r->pos - (u8 *)h) * 8;
	h->packet_size = h->content_size;
	h->events_discarded = r->lost_total;
	r->open = NULL;
	r->pos = NULL;
	r->end = NULL;
	/* Pairs with jis_ring_get(): the packet is complete before it can be got. */
	smp_store_release(&r->head, r->head + 1);
	if (!r->cycling && r->head - READ_ONCE(r->next) >= r->watermark)
		irq_work_queue(&r->wake);
}

/* One record of the open packet, whose time is the last one's. */
static void ring_put_lost(struct jis_ring *r, u32 type)
{
	struct jis_ev_lost_records *ev;

	*(u32 *)r->pos = JIS_EV_lost_records | (u32)r->last << (32 - JIS_TIME_BITS);
	ev = (void *)(r->pos + JIS_HEADER_SIZE);
	ev->type = type;
	ev->count = r->lost[type] - r->told[type];
	ev->first = r->lost_first;
	ev->last = r->lost_last;
	r->told[type] = r->lost[type];
	r->pos += JIS_HEADER_SIZE + sizeof(*ev);
	r->produced[JIS_EV_lost_records]++;
}

static void ring_tell_lost(struct jis_ring *r)
{
	u32 type;

	for (type = 1; type < JIS_MAX_EVENT_ID; type++)
		if (r->lost[type] != r->told[type])
			ring_put_lost(r, type);
	r->owed = false;
}

/* The next packet, with what was lost before it told at its begin. False: the ring is full. */
static bool ring_open_packet(struct jis_ring *r, u64 now)
{
	struct jis_packet_header *h;

	if (unlikely(!r->nr_packets))
		return false;
	if (r->cycling)
		r->overwritten += r->head >= r->nr_packets;
	/* Pairs with jis_ring_get(): the reader is done with the packet that is written again. */
	else if (r->head - smp_load_acquire(&r->tail) >= r->nr_packets)
		return false;
	h = (void *)(r->memory + (r->head % r->nr_packets) * (size_t)r->packet_size);
	*h = r->proto;
	h->timestamp_begin = now;
	h->packet_seq = r->head;
	r->last = now;
	r->open = h;
	r->pos = (u8 *)(h + 1);
	r->end = (u8 *)h + r->packet_size;
	if (unlikely(r->owed))
		ring_tell_lost(r);
	return true;
}

static void ring_lose(struct jis_ring *r, u32 id, u64 now)
{
	r->lost[id]++;
	r->lost_total++;
	if (!r->owed)
		r->lost_first = now;
	r->lost_last = now;
	r->last = now;
	r->owed = true;
}

/* What jis_ring_reserve() does when the header must be extended, the clock stepped back, or the
 * record does not fit into the open packet.
 */
void *jis_ring_reserve_slow(struct jis_ring *r, u32 id, u32 payload, u64 now)
{
	u32 header = id > JIS_COMPACT_ID_MAX ? JIS_EXTENDED_SIZE : JIS_HEADER_SIZE;
	u32 *word;

	r->produced[id]++;
	if (now < r->last) {
		r->clock_steps++;
		now = r->last;
	}
	if (now - r->last > JIS_TIME_MASK)
		header = JIS_EXTENDED_SIZE;
	if (r->open && r->pos + header + payload > r->end)
		ring_close_packet(r);
	if (!r->open) {
		if (!ring_open_packet(r, now)) {
			ring_lose(r, id, now);
			return NULL;
		}
		if (id <= JIS_COMPACT_ID_MAX)
			header = JIS_HEADER_SIZE; /* the packet's begin has the whole time */
	}
	word = (u32 *)r->pos;
	word[0] = id | (u32)now << (32 - JIS_TIME_BITS);
	if (header == JIS_EXTENDED_SIZE) {
		word[0] = JIS_ID_EXTENDED;
		word[1] = id;
		memcpy(&word[2], &now, sizeof(now));
	}
	r->last = now;
	r->pos += header + payload;
	return (u8 *)word + header;
}

/**
 * jis_ring_flush - closes the open packet; tells what was lost, when there is room again.
 */
void jis_ring_flush(struct jis_ring *r, u64 now)
{
	if (!r->open && r->owed)
		ring_open_packet(r, max(now, r->last));
	if (r->open)
		ring_close_packet(r);
}

/**
 * jis_ring_freeze - closes the open packet, and from now on keeps what the ring holds for the
 * reader, the oldest eighth excepted: that is room to go on writing. Does nothing to a ring that
 * does not cycle.
 */
void jis_ring_freeze(struct jis_ring *r, u64 now)
{
	u64 kept = r->nr_packets - max(r->nr_packets / 8, 1u);

	if (!r->cycling)
		return;
	if (r->nr_packets)
		jis_ring_flush(r, now);
	r->tail = r->head > kept ? r->head - kept : 0;
	r->next = r->tail;
	r->cycling = false;
}

/**
 * jis_ring_settle - a stopped flight recorder: all that the ring holds is for the reader, once
 * more.
 */
void jis_ring_settle(struct jis_ring *r)
{
	r->tail = r->head > r->nr_packets ? r->head - r->nr_packets : 0;
	r->next = r->tail;
	r->cycling = false;
}

/**
 * jis_ring_thaw - any packet may be written again, read or not. The next freeze shows all there is:
 * what was got once can be got again.
 */
void jis_ring_thaw(struct jis_ring *r)
{
	r->next = 0;
	r->tail = 0;
	r->cycling = true;
}

/**
 * jis_ring_begin - the empty packet each stream begins with, so that its first events_discarded and
 * its begin in time are known.
 */
void jis_ring_begin(struct jis_ring *r, u64 now)
{
	unsigned long flags;

	local_irq_save(flags);
	if (!r->head && ring_open_packet(r, now))
		ring_close_packet(r);
	local_irq_restore(flags);
}

/**
 * jis_ring_finish - as flush, when nothing writes any more. What is still owed after it is told by
 * jis_ring_get() as soon as the reader has given a packet back.
 */
void jis_ring_finish(struct jis_ring *r, u64 now)
{
	unsigned long flags;

	local_irq_save(flags);
	jis_ring_flush(r, now);
	local_irq_restore(flags);
}
