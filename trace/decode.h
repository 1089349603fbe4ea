/* SPDX-License-Identifier: MIT */
/*
 * Decoding of records, shared by the reader and the thread table: sizes by event id and the rule
 * for 27-bit times. Private to trace/ and, through read.h, to the merger's hot loop. Must stay free
 * of state.
 */
#ifndef JIS_TRACE_DECODE_H
#define JIS_TRACE_DECODE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "jis/abi.h"

/* Not a size: the record needs the long way (string, extended header, unknown id). */
#define RECORD_SPECIAL 0u

#define RECORD_COMPACT_HEADER 4u
#define RECORD_EXTENDED_HEADER 16u

/* Largest packet a reader believes in; the ABI's limit on packet_size. */
#define PACKET_MAX_BYTES (4u << 20)

/*
 * For each stream class and each value of the five id bits: the payload's size, or RECORD_SPECIAL.
 * Row JIS_NR_STREAM_CLASSES: everything is special.
 */
extern const uint16_t record_sizes[JIS_NR_STREAM_CLASSES + 1][32];

static inline uint32_t record_word(const uint8_t *p)
{
	uint32_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/* The time of a compact record with header @word that follows one at @last. */
static inline uint64_t record_time(uint64_t last, uint32_t word)
{
	return last + (((word >> 5) - (uint32_t)last) & JIS_TIME_MASK);
}

struct record {
	uint64_t time;
	const uint8_t *payload;
	uint32_t id;
	uint32_t payload_size;
};

/**
 * record_decode - decodes any record.
 * @r: in: time of the predecessor; out: the record. Unchanged on error.
 * @p, @end: the record and the end of the content, both 4-byte aligned.
 * @why: reason in words on error.
 * Returns the record's size, header included, or -EBADMSG. Times are not checked.
 */
int record_decode(uint32_t stream_class, struct record *r, const uint8_t *p, const uint8_t *end,
		  const char **why);

#endif /* JIS_TRACE_DECODE_H */
