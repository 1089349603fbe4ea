/* SPDX-License-Identifier: MIT */
/*
 * The newest packets of one source, in memory: what a flight recorder keeps of writers whose own
 * buffers do not cycle. A packet that must not go (a dictionary's) is kept apart. Knows no files.
 * Private to libjisctl.
 */
#ifndef JISCTL_HISTORY_H
#define JISCTL_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "jis/abi.h"

struct history;

/* @bytes: of packets that may go; at least the newest one is always kept, and those that are open
 * are kept beside: their writers have as much. NULL: no memory. */
struct history *history_new(uint64_t bytes);
void history_free(struct history *h); /* NULL is allowed */

/**
 * history_add - copies a packet; the oldest ones go for it.
 * @stream: whatever tells the source's streams apart, below 2^20.
 * @packet: whole, content_size checked by the caller.
 * @open: it may come again with the same packet_seq, grown: the last one counts.
 * @forever: it never goes.
 * Returns 0 or -ENOMEM: it is not kept, and counts as dropped.
 */
int history_add(struct history *h, uint32_t stream, const struct jis_packet_header *packet,
		bool open, bool forever);

/**
 * history_each - hands out the packets, each stream's in the order they came: those kept for ever,
 * then the others that end at @from (rebased time) or later. Returns 0 or what @packet returned
 * first.
 */
int history_each(const struct history *h, uint64_t from,
		 int (*packet)(void *ctx, uint32_t stream, const struct jis_packet_header *packet),
		 void *ctx);

/**
 * history_rewrite - lets @packet change those kept for ever, in the order history_each() has.
 * @packet: may leave out records, and returns how many bytes are left, its header included. A
 * packet without records goes and leaves no gap in the numbers; one that is open stays, and has all
 * it had where it comes again. Returns 0 or -ENOMEM: @packet was not called.
 */
int history_rewrite(struct history *h,
		    uint32_t (*packet)(void *ctx, struct jis_packet_header *packet), void *ctx);

/* Packets that went or could not be kept. */
uint64_t history_dropped(const struct history *h);
/* All that ended later is still there: the latest end of a packet that went; 0: none did. */
uint64_t history_since(const struct history *h);
/* How many bytes went, in 1/256 of what it may hold. */
uint64_t history_cycled(const struct history *h);
/* Bytes of packets held, those kept for ever included. */
uint64_t history_bytes(const struct history *h);
uint64_t history_forever_bytes(const struct history *h); /* of those alone */

#endif /* JISCTL_HISTORY_H */
