/* SPDX-License-Identifier: MIT */
/*
 * Walking the records of one packet that somebody else wrote: where they end, how many of each
 * type, and whether they are sound. The packet must be the caller's own copy. Private to libjisctl.
 */
#ifndef JISCTL_PACKET_WALK_H
#define JISCTL_PACKET_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "jis/abi.h"

/* A walk under way; it can be taken up again when the packet has grown. */
struct packet_walk {
	uint32_t offset;   /* bytes from the packet's start to the next record */
	uint64_t last;	   /* time of the last record, at first the packet's timestamp_begin; not
			    * computed of records that are counted without time_max */
	uint64_t records;  /* all types */
	uint64_t time_max; /* no record may be later; UINT64_MAX: no limit */
	uint64_t lost_max; /* no lost_records may tell of more; UINT64_MAX: no limit */
	bool lives;	   /* one of them may concern the thread table */
	uint64_t *told;	   /* sums up what lost_records say, by type; may be NULL */
	/* Called with each sound record; may be NULL. A string at its end is within @size bytes. */
	void (*record)(void *ctx, uint32_t id, uint64_t time, const uint8_t *payload,
		       uint32_t size);
	void *ctx;
	/* Those of @record's ids it is called with for sure, a bit each: where records are counted,
	 * the others need not be looked at, and times given without time_max may be too early. All
	 * at first.
	 */
	uint32_t wanted;
};

/* Begins a walk at the first record of @packet. */
void packet_walk_begin(struct packet_walk *w, const struct jis_packet_header *packet,
		       uint64_t time_max);

/**
 * packet_walk_run - steps over records until @end bytes or the first zero header word.
 * @packet: at least @end readable bytes; nothing in them is trusted.
 * @stored: counted up by id; may be NULL. Nothing else may change it meanwhile: not w->told either.
 * Returns 0 at the end, or -EBADMSG: the record at w->offset is unsound (unknown id, payload that
 * does not fit, time that steps back or lies after time_max, a loss beyond lost_max). Where
 * time_max is UINT64_MAX and records are counted, a step back is not seen in each case.
 */
int packet_walk_run(struct packet_walk *w, const struct jis_packet_header *packet, uint32_t end,
		    uint64_t *stored);

#endif /* JISCTL_PACKET_WALK_H */
