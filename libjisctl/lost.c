/* SPDX-License-Identifier: MIT */
/* LOST records at the end of a stream, the kernel's or a slot's. Knows neither. */
#include "lost.h"

uint32_t lost_tell(struct packet_builder *b, const uint64_t lost[JIS_MAX_EVENT_ID],
		   const uint64_t told[JIS_MAX_EVENT_ID], uint64_t first, uint64_t now,
		   uint64_t discarded)
{
	uint32_t type, n = 0;

	b->discarded = 0;
	for (type = 0; type < JIS_MAX_EVENT_ID; type++) {
		struct jis_ev_lost_records ev = {.type = type, .first = first};

		b->discarded += lost[type];
		if (lost[type] <= told[type])
			continue;
		ev.count = lost[type] - told[type];
		ev.last = now > first ? now : first;
		n += packet_builder_add(b, JIS_EV_lost_records, now, &ev, sizeof(ev), NULL) == 0;
	}
	if (b->discarded < discarded)
		b->discarded = discarded;
	return n;
}
