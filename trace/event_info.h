/* SPDX-License-Identifier: MIT */
/*
 * The event table of jis/events.h as data: names, fields and sizes, for the reader, the metadata,
 * `jis dump` and everything else that must walk an event without knowing it.
 */
#ifndef JIS_TRACE_EVENT_INFO_H
#define JIS_TRACE_EVENT_INFO_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "jis/events.h"

enum field_type { FIELD_U32, FIELD_S32, FIELD_X32, FIELD_U64, FIELD_S64, FIELD_X64, FIELD_STR };

struct field_info {
	const char *name;
	enum field_type type;
	uint32_t offset; /* from the payload's start; of the length word for FIELD_STR */
};

#define EVENT_MAX_FIELDS 12

struct event_info {
	const char *name; /* as in the table, e.g. "sched_switch" */
	uint32_t id;
	uint32_t fixed_size; /* payload bytes without the string's text; the length word is counted
			      */
	bool has_string;     /* the last field is a string */
	uint32_t nr_fields;
	struct field_info fields[EVENT_MAX_FIELDS];
};

/**
 * event_info_get - the description of an event.
 * @stream_class: enum jis_stream_class.
 * @id: event id in that class.
 *
 * Returns NULL when the class has no such event. The result is static.
 */
const struct event_info *event_info_get(uint32_t stream_class, uint32_t id);

/* A field's value at @p, which need not be aligned. */
static inline uint32_t field_u32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint64_t field_u64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/**
 * event_payload_size - bytes of the payload that begins at @payload, string included.
 * @available: bytes that may be read there.
 *
 * Returns the size (a multiple of 4) or -EBADMSG when it would not fit into @available or the
 * string's length is no multiple of four, 0, above JIS_STRING_MAX, or its text has no NUL.
 */
int event_payload_size(const struct event_info *info, const void *payload, uint32_t available);

#endif /* JIS_TRACE_EVENT_INFO_H */
