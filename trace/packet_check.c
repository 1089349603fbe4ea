/* SPDX-License-Identifier: MIT */
/*
 * Telling packets from garbage, for the cursor and for recovery.
 */
#include "record.h"

#include "event_info.h"
#include "write.h"

#define NO_FIELD(type, name)
#define STRING_ONE(name) | RECORD_HAS_STRING
#define SIZE_ROW(number, event)                                                                    \
	[number] = sizeof(struct jis_ev_##event) JIS_FIELDS_##event(NO_FIELD, STRING_ONE),

const uint16_t record_sizes[JIS_NR_STREAM_CLASSES][JIS_MAX_EVENT_ID] = {
	[JIS_STREAM_KERNEL] = {JIS_EVENTS_KERNEL(SIZE_ROW) JIS_EVENTS_COMMON(SIZE_ROW)},
	[JIS_STREAM_RECORDER] = {JIS_EVENTS_RECORDER(SIZE_ROW) JIS_EVENTS_COMMON(SIZE_ROW)},
	[JIS_STREAM_USER] = {JIS_EVENTS_USER(SIZE_ROW) JIS_EVENTS_COMMON(SIZE_ROW)},
	[JIS_STREAM_DICT] = {JIS_EVENTS_DICT(SIZE_ROW) JIS_EVENTS_COMMON(SIZE_ROW)},
};

static bool header_sound(const struct jis_packet_header *h, const uint8_t *uuid)
{
	return h->magic == JIS_PACKET_MAGIC && (!uuid || !memcmp(h->uuid, uuid, sizeof(h->uuid))) &&
	       h->stream_class < JIS_NR_STREAM_CLASSES && h->content_size % 32 == 0 &&
	       h->packet_size % 32 == 0 && h->content_size >= JIS_PACKET_HEADER_SIZE * 8 &&
	       h->content_size <= h->packet_size && h->packet_size / 8 <= UINT32_MAX &&
	       h->timestamp_begin <= h->timestamp_end;
}

enum packet_state packet_check(const uint8_t *p, size_t room, const uint8_t *uuid, size_t *content)
{
	const struct jis_packet_header *h = (const struct jis_packet_header *)p;

	*content = 0;
	if (room < JIS_PACKET_HEADER_SIZE || !header_sound(h, uuid))
		return PACKET_NONE;
	*content = h->content_size / 8;
	if (*content > room) {
		*content = room & ~(size_t)3;
		return PACKET_CUT;
	}
	return packet_crc32c(h) == h->crc32c ? PACKET_WHOLE : PACKET_CORRUPT;
}

size_t packet_find(const uint8_t *map, size_t size, size_t offset, const uint8_t *uuid)
{
	size_t content;

	for (offset = (offset + 3) & ~(size_t)3; offset + JIS_PACKET_HEADER_SIZE <= size;
	     offset += 4) {
		if (record_u32(map + offset) != JIS_PACKET_MAGIC)
			continue;
		if (packet_check(map + offset, size - offset, uuid, &content) != PACKET_NONE)
			return offset;
	}
	return size;
}

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
