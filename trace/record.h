/* SPDX-License-Identifier: MIT */
/*
 * Decoding one record of a packet: the hot path of every reader, inlined. Believes nothing: what
 * does not fit is an error of the record. Private to trace/.
 */
#ifndef JIS_TRACE_RECORD_H
#define JIS_TRACE_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "jis/abi.h"

/* Payload sizes by class and id: 0 = no such event; bit 15 = a string follows the fixed part. */
#define RECORD_HAS_STRING 0x8000u
extern const uint16_t record_sizes[JIS_NR_STREAM_CLASSES][JIS_MAX_EVENT_ID];

struct record {
	uint64_t time; /* in: of the record before, or the packet's begin; out: of this one */
	const uint8_t *payload;
	uint32_t payload_size;
	uint32_t id;
};

static inline uint32_t record_u32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint64_t record_u64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Size of a payload whose fixed part is @fixed bytes and ends in a string's length, or 0. */
static inline uint32_t record_string_size(const uint8_t *payload, uint32_t fixed, size_t room)
{
	uint32_t length;

	if (fixed > room)
		return 0;
	length = record_u32(payload + fixed - sizeof(length));
	if (!length || length % 4 || length > JIS_STRING_MAX || length > room - fixed ||
	    payload[fixed + length - 1])
		return 0;
	return fixed + length;
}

/**
 * record_next - decodes the record at @p.
 * @sizes: record_sizes[class].
 * @end: end of the packet's content.
 * Returns the end of the record, or NULL when it is not sound.
 */
static inline const uint8_t *record_next(const uint16_t *sizes, const uint8_t *p,
					 const uint8_t *end, struct record *r)
{
	uint32_t word, size;
	size_t room;

	if (end - p < 4)
		return NULL;
	word = record_u32(p);
	r->id = word & 31;
	if (__builtin_expect(r->id != JIS_ID_EXTENDED, 1)) {
		uint64_t time = (r->time & ~(uint64_t)JIS_TIME_MASK) | word >> 5;

		r->time = time + (time < r->time ? (uint64_t)JIS_TIME_MASK + 1 : 0);
		p += 4;
	} else {
		if (end - p < 16 || word != JIS_ID_EXTENDED)
			return NULL;
		r->id = record_u32(p + 4);
		r->time = record_u64(p + 8);
		if (r->id >= JIS_MAX_EVENT_ID)
			return NULL;
		p += 16;
	}
	size = sizes[r->id];
	room = (size_t)(end - p);
	if (__builtin_expect(size & RECORD_HAS_STRING, 0))
		size = record_string_size(p, size & ~RECORD_HAS_STRING, room);
	if (!size || size > room)
		return NULL;
	r->payload = p;
	r->payload_size = size;
	return p + size;
}

/* What packet_check() found. */
enum packet_state {
	PACKET_WHOLE,
	PACKET_CUT,	/* the header is sound, the file ends before the packet does */
	PACKET_CORRUPT, /* the crc32c does not match; what decodes may be used */
	PACKET_NONE,	/* no packet here */
};

/**
 * packet_check - looks at the bytes at @p as a packet.
 * @room: bytes there are. @uuid: what it must carry, or NULL.
 * @content: out, bytes of content that may be read, header included; at most @room.
 */
enum packet_state packet_check(const uint8_t *p, size_t room, const uint8_t *uuid, size_t *content);

/**
 * packet_find - where, from @offset on in steps of four bytes, the next packet header may begin.
 * Returns @size when there is none.
 */
size_t packet_find(const uint8_t *map, size_t size, size_t offset, const uint8_t *uuid);

/* What a reason to say when @state is not PACKET_WHOLE. */
const char *packet_state_reason(enum packet_state state);

#endif /* JIS_TRACE_RECORD_H */
