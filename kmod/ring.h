/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One CPU's ring of packets, and the fast path that writes records into it.
 *
 * The writer's part is written by the ring's CPU with interrupts off; or, when nothing can be
 * writing, by whoever stops the session or reads what it left (reader.c says when). The reader's
 * part is written under @lock. The writer hands a packet over by head (release), the reader gives
 * it back by tail (release). Nothing in here is mapped; the packets are, read-only, and no position
 * is ever read from them.
 */
#ifndef JIS_RING_H
#define JIS_RING_H

#include <linux/irq_work.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/types.h>

#include "compat.h"
#include "jis/abi.h"

struct jis_session;

/* A compact record's header word. */
#define JIS_HEADER_SIZE 4u
#define JIS_EXTENDED_SIZE 16u

/* Below this many packets a ring has no room for one open, one being read and one between. */
#define JIS_MIN_PACKETS 4u
#define JIS_MAX_PACKET_SIZE (4u << 20)

struct jis_ring {
	/* Writer: hot */
	u8 *pos; /* next free byte of the open packet; NULL: none open */
	u8 *end;
	u64 last; /* time of the last record */
	u64 produced[JIS_MAX_EVENT_ID];

	/* Writer: at a change of packets, and when records are lost */
	struct jis_packet_header *open;
	u64 head; /* packets closed so far: also the next packet's sequence number */
	u64 clock_steps;
	u64 lost[JIS_MAX_EVENT_ID];
	u64 told[JIS_MAX_EVENT_ID]; /* lost[] as of the last lost_records */
	u64 overwritten;	    /* packets a flight recorder gave up */
	u64 lost_total;
	u64 lost_first, lost_last; /* times of what was lost and not told yet */
	bool owed;		   /* something was lost and not told yet */

	/* Reader */
	struct mutex lock ____cacheline_aligned;
	u64 tail; /* packets given back so far; those before it may be written again */
	u64 next; /* packets got so far: tail, or one more */
	/*
	 * A flight recorder that is not frozen: nothing is got, any packet may be written again.
	 * Changed on the ring's CPU with interrupts off, or where nothing can be writing.
	 */
	bool cycling;
	u8 ready; /* its memory is there; set with release, never taken back; no bool as in jis.h */

	/* Fixed once the ring is made */
	u8 *memory ____cacheline_aligned;
	struct page **pages;
	unsigned long nr_pages; /* charged by jis_charge() once the ring exists */
	u32 nr_packets;		/* 0: no memory, everything is lost */
	u32 packet_size;
	u32 watermark;
	int cpu;
	struct jis_packet_header proto;
	struct irq_work wake;
	struct jis_session *session;
};

/* Times are the session's: rebased ticks. Each of these needs interrupts off on the ring's CPU. */
void *jis_ring_reserve_slow(struct jis_ring *r, u32 id, u32 payload, u64 now);
void jis_ring_flush(struct jis_ring *r, u64 now);

void jis_ring_freeze(struct jis_ring *r, u64 now);
void jis_ring_thaw(struct jis_ring *r);

/* For a ring nothing can be writing to. */
void jis_ring_begin(struct jis_ring *r, u64 now);
void jis_ring_finish(struct jis_ring *r, u64 now);
void jis_ring_settle(struct jis_ring *r);

/**
 * jis_ring_reserve - room for one record, its header word written.
 * @id: event id; above JIS_COMPACT_ID_MAX the header is an extended one.
 * @payload: bytes that follow the header, a multiple of 4, at most JIS_MAX_PAYLOAD.
 * @now: rebased time; clamped when it lies before the last record's.
 *
 * Interrupts are off from before @now was read until the payload is written: so time rises within
 * the ring and nobody sees a record half written.
 *
 * Returns where the payload goes (4-byte aligned), or NULL: the ring is full, the record is counted
 * as lost.
 */
static __always_inline void *jis_ring_reserve(struct jis_ring *r, u32 id, u32 payload, u64 now)
{
	u8 *p = r->pos;

	/* A step back is a huge difference, and no open packet has no room. */
	if (unlikely(id > JIS_COMPACT_ID_MAX || now - r->last > JIS_TIME_MASK ||
		     p + JIS_HEADER_SIZE + payload > r->end))
		return jis_ring_reserve_slow(r, id, payload, now);
	r->last = now;
	r->pos = p + JIS_HEADER_SIZE + payload;
	r->produced[id]++;
	*(u32 *)p = id | (u32)now << (32 - JIS_TIME_BITS);
	return p + JIS_HEADER_SIZE;
}

/* reader.c: memory, and the side user space sees */
void jis_ring_init(struct jis_ring *r, struct jis_session *s, int cpu);
int jis_ring_alloc(struct jis_ring *r);
void jis_ring_fini(struct jis_ring *r);
int jis_ring_get(struct jis_ring *r, bool stopped, u64 now, struct jis_get_packet *got);
void jis_ring_unget(struct jis_ring *r, u32 index);
int jis_ring_map(struct jis_ring *r, struct vm_area_struct *vma);
u64 jis_ring_ready(struct jis_ring *r);
bool jis_ring_drained(struct jis_ring *r);

/* Has the ring memory? Its CPU was online since the set-up. */
static inline bool jis_ring_exists(const struct jis_ring *r)
{
	return smp_load_acquire(&r->ready); /* pairs with jis_ring_alloc() */
}

#endif /* JIS_RING_H */
