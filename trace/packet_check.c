/* SPDX-License-Identifier: MIT */
/*
 * Telling packets from garbage, for the cursor and for recovery.
 */
#include "record.h"

#include "read.h"
#include "write.h"

/* How many packets packet_limit() looks at: a bound, should very many in a row be damaged. */
#define LIMIT_PACKETS 16

static bool identity_matches(const struct jis_packet_header *h, const struct stream_identity *id)
{
	return !id || (h->stream_class == id->stream_class && h->stream_instance == id->instance &&
		       !memcmp(h->uuid, id->uuid, sizeof(h->uuid)));
}

bool packet_header_sound(const uint8_t *p, size_t room, const struct stream_identity *id)
{
	struct jis_packet_header h;

	if (room < JIS_PACKET_HEADER_SIZE)
		return false;
	h = packet_header_at(p);
	return h.magic == JIS_PACKET_MAGIC && h.stream_class < JIS_NR_STREAM_CLASSES &&
	       identity_matches(&h, id) && h.content_size % 32 == 0 && h.packet_size % 32 == 0 &&
	       h.content_size >= JIS_PACKET_HEADER_SIZE * 8 && h.content_size <= h.packet_size &&
	       h.packet_size / 8 <= PACKET_MAX_BYTES && h.timestamp_begin <= h.timestamp_end;
}

static uint32_t packet_sum(const uint8_t *p, struct jis_packet_header h)
{
	h.crc32c = 0;
	return crc32c(crc32c(0, &h, sizeof(h)), p + sizeof(h), h.content_size / 8 - sizeof(h));
}

enum packet_state packet_check(const uint8_t *p, size_t room, const struct stream_identity *id,
			       size_t *content)
{
	struct jis_packet_header h;

	*content = 0;
	if (!packet_header_sound(p, room, id))
		return PACKET_NONE;
	h = packet_header_at(p);
	*content = h.content_size / 8;
	if (*content > room) {
		*content = room & ~(size_t)3;
		return PACKET_CUT;
	}
	return packet_sum(p, h) == h.crc32c ? PACKET_WHOLE : PACKET_CORRUPT;
}

/* So often in a search it is asked where the next hole of the file ends. */
#define HOLE_STEP (64u << 10)

size_t packet_find(const struct stream_bytes *b, size_t offset, size_t end,
		   const struct stream_identity *id)
{
	bool look = true;

	for (offset = (offset + 3) & ~(size_t)3; offset < end; offset += 4) {
		if (look || offset % HOLE_STEP == 0)
			offset = stream_bytes_data(b, offset) & ~(size_t)3;
		look = false;
		if (offset < end && end - offset >= JIS_PACKET_HEADER_SIZE &&
		    record_word(b->map + offset) == JIS_PACKET_MAGIC &&
		    packet_header_sound(b->map + offset, end - offset, id))
			return offset;
	}
	return end;
}

size_t packet_end(const struct stream_bytes *b, size_t offset, enum packet_state state,
		  const struct stream_identity *id)
{
	size_t bytes = packet_header_at(b->map + offset).packet_size / 8;
	size_t end = bytes < b->size - offset ? offset + bytes : b->size;

	if (state == PACKET_WHOLE)
		return end;
	/* The follower's header may reach beyond the wrong end. */
	bytes = packet_find(b, offset + JIS_PACKET_HEADER_SIZE,
			    b->size - end < JIS_PACKET_HEADER_SIZE ? b->size
								   : end + JIS_PACKET_HEADER_SIZE,
			    id);
	return bytes < end ? bytes : end;
}

uint64_t packet_limit(const struct stream_bytes *b, const struct jis_packet_header *h, size_t next,
		      const struct stream_identity *id, uint64_t *seq)
{
	if (seq)
		*seq = UINT64_MAX;
	for (int looked = 0; looked < LIMIT_PACKETS && next < b->size; looked++) {
		size_t content;
		enum packet_state state = packet_check(b->map + next, b->size - next, id, &content);

		if (state == PACKET_WHOLE) {
			struct jis_packet_header f = packet_header_at(b->map + next);

			if (seq)
				*seq = f.packet_seq;
			return f.timestamp_begin < h->timestamp_end ? f.timestamp_begin
								    : h->timestamp_end;
		}
		next = state == PACKET_NONE ? packet_find(b, next + 4, b->size, id)
					    : packet_end(b, next, state, id);
	}
	return h->timestamp_end;
}

const char packet_missing_reason[] = "packets are missing";
const char packet_late_reason[] = "records are later than their packet's end";

const char *packet_state_reason(enum packet_state state)
{
	switch (state) {
	case PACKET_WHOLE:
		return "whole";
	case PACKET_CUT:
		return "the file ends in the middle of a packet";
	case PACKET_CORRUPT:
		return "checksum of the packet does not match";
	case PACKET_NONE:
		break;
	}
	return "no packet header";
}
