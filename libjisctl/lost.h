/* SPDX-License-Identifier: MIT */
/*
 * LOST records that the recorder writes at a stream's end, for what no packet of it has told.
 * Private to libjisctl.
 */
#ifndef JISCTL_LOST_H
#define JISCTL_LOST_H

#include <stdint.h>

#include "trace/write.h"

/**
 * lost_tell - adds a LOST record at @now to @b for each type of which more was lost than told.
 * @first: when the first one may have been lost.
 * @discarded: what the stream's packets have told in all; b->discarded will be no less.
 * Returns how many records were added.
 */
uint32_t lost_tell(struct packet_builder *b, const uint64_t lost[JIS_MAX_EVENT_ID],
		   const uint64_t told[JIS_MAX_EVENT_ID], uint64_t first, uint64_t now,
		   uint64_t discarded);

#endif /* JISCTL_LOST_H */
