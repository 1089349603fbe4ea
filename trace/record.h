/* SPDX-License-Identifier: MIT */
/*
 * Walking the records of a packet, and telling packets from garbage: the hot path of every reader,
 * inlined. Believes nothing: what does not fit is an error of the record. Private to trace/.
 */
#ifndef JIS_TRACE_RECORD_H
#define JIS_TRACE_RECORD_H

#include <stddef.h>

#include "decode.h"

/**
 * record_next - decodes the record at @p.
 * @sizes: record_sizes[stream_class].
 * @end: end of the packet's content; @p and @end are 4-byte aligned.
 * @r: time: in: of the record before, or the packet's begin.
 * Returns the end of the record, or NULL when it is not sound; @r is then as it was.
 */
static inline const uint8_t *record_next(const uint16_t *sizes, uint32_t stream_class,
					 const uint8_t *p, const uint8_t *end, struct record *r)
{
	const char *why;
	uint32_t word, size;
	int whole;

	if (end - p < (ptrdiff_t)RECORD_COMPACT_HEADER)
		return NULL;
	word = record_word(p);
	size = sizes[word & 31];
	if (__builtin_expect(size != RECORD_SPECIAL, 1)) {
		p += RECORD_COMPACT_HEADER;
		if (size > (size_t)(end - p))
			return NULL;
		r->time = record_time(r->time, word);
		r->id = word & 31;
		r->payload = p;
		r->payload_size = size;
		return p + size;
	}
	whole = record_decode(stream_class, r, p, end, &why);
	return whole < 0 ? NULL : p + whole;
}

/* The header at @p. In a file packets stand at multiples of four bytes, so the struct may not be
 * used in place. */
static inline struct jis_packet_header packet_header_at(const uint8_t *p)
{
	struct jis_packet_header h;

	memcpy(&h, p, sizeof(h));
	return h;
}

/* What packet_check() found. */
enum packet_state {
	PACKET_WHOLE,
	PACKET_CUT,	/* the header is sound, the file ends before the packet does */
	PACKET_CORRUPT, /* the crc32c does not match; what decodes may be used */
	PACKET_NONE,	/* no packet here */
};

struct stream_identity;

/* Could a packet of @id (NULL: of any stream) begin at @p? Looks at the header only. */
bool packet_header_sound(const uint8_t *p, size_t room, const struct stream_identity *id);

/**
 * packet_check - looks at the bytes at @p as a packet.
 * @room: bytes there are. @id: what it must carry, or NULL.
 * @content: out, bytes of content that may be read, header included; at most @room.
 */
enum packet_state packet_check(const uint8_t *p, size_t room, const struct stream_identity *id,
			       size_t *content);

/* A stream's file in memory. */
struct stream_bytes {
	const uint8_t *map; /* NULL: empty */
	size_t size;
	int fd; /* of a file with holes, to find them; else -1 */
};

/**
 * stream_bytes_map - maps file @name in @dirfd for reading; symbolic links are not followed.
 * Returns 0, -EINVAL (no file), -EFBIG (larger than memory can show) or -errno.
 */
int stream_bytes_map(struct stream_bytes *b, int dirfd, const char *name);
void stream_bytes_unmap(struct stream_bytes *b);

/* The first byte from @offset on that is not in a hole of the file; its size where there is none.
 */
size_t stream_bytes_data(const struct stream_bytes *b, size_t offset);
/* The first byte from @offset on that is in one; the file's size where there is none. */
size_t stream_bytes_hole(const struct stream_bytes *b, size_t offset);

/**
 * packet_find - where between @offset and @end, in steps of four bytes, the next sound packet
 * header is; holes are stepped over. Returns @end when there is none.
 */
size_t packet_find(const struct stream_bytes *b, size_t offset, size_t end,
		   const struct stream_identity *id);

/**
 * packet_end - where the packet at @offset, in @state and with a sound header, ends. The sizes of
 * one that is not whole are not believed where another packet begins within it.
 */
size_t packet_end(const struct stream_bytes *b, size_t offset, enum packet_state state,
		  const struct stream_identity *id);

/**
 * packet_limit - no record of the packet @h that is not whole can be later than this: the begin of
 * the next whole packet (of the few looked at) from @next on, where that is before its own end.
 * @seq: out, that packet's number, or UINT64_MAX; may be NULL.
 */
uint64_t packet_limit(const struct stream_bytes *b, const struct jis_packet_header *h, size_t next,
		      const struct stream_identity *id, uint64_t *seq);

/* The reason told where a packet's number leaves a gap: nothing in the file is wrong. */
extern const char packet_missing_reason[];
/* Where records are later than the end of their sound packet, and were clamped. */
extern const char packet_late_reason[];

/* What a reason to say when @state is not PACKET_WHOLE. */
const char *packet_state_reason(enum packet_state state);

#endif /* JIS_TRACE_RECORD_H */
