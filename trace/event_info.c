/* SPDX-License-Identifier: MIT */
/*
 * The event table as data. Everything here is made from the X-macros of jis/events.h; nothing about
 * an event may be written down by hand.
 */
#include "event_info.h"

#include <errno.h>
#include <stddef.h>

#include "decode.h"

#define KIND_u32 FIELD_U32
#define KIND_s32 FIELD_S32
#define KIND_x32 FIELD_X32
#define KIND_u64 FIELD_U64
#define KIND_s64 FIELD_S64
#define KIND_x64 FIELD_X64

/* `payload` is the event's own struct, by a typedef local to the block of its row. */
#define FIELD(type, field) {#field, KIND_##type, offsetof(payload, field)},
#define STRING(field) {#field, FIELD_STR, offsetof(payload, field##_length)},
#define NO_STRING(type, field) +0
#define ONE_MORE(type, field) +1
#define A_STRING(field) +1
#define HAS_STRING(name) ((0 JIS_FIELDS_##name(NO_STRING, A_STRING)) != 0)

#define ROW(row_id, row_name)                                                                      \
	case row_id: {                                                                             \
		typedef struct jis_ev_##row_name payload;                                          \
		static const struct event_info info = {                                            \
			.name = #row_name,                                                         \
			.id = row_id,                                                              \
			.fixed_size = sizeof(payload),                                             \
			.has_string = HAS_STRING(row_name),                                        \
			.nr_fields = 0 JIS_FIELDS_##row_name(ONE_MORE, A_STRING),                  \
			.fields = {JIS_FIELDS_##row_name(FIELD, STRING)},                          \
		};                                                                                 \
		return &info;                                                                      \
	}

static const struct event_info *common_event(uint32_t id)
{
	switch (id) {
		JIS_EVENTS_COMMON(ROW)
	}
	return NULL;
}

static const struct event_info *kernel_event(uint32_t id)
{
	switch (id) {
		JIS_EVENTS_KERNEL(ROW)
		JIS_EVENTS_KERNEL_RARE(ROW)
	}
	return common_event(id);
}

static const struct event_info *recorder_event(uint32_t id)
{
	switch (id) {
		JIS_EVENTS_RECORDER(ROW)
	}
	return common_event(id);
}

static const struct event_info *user_event(uint32_t id)
{
	switch (id) {
		JIS_EVENTS_USER(ROW)
		JIS_EVENTS_USER_RARE(ROW)
	}
	return common_event(id);
}

static const struct event_info *dict_event(uint32_t id)
{
	switch (id) {
		JIS_EVENTS_DICT(ROW)
	}
	return common_event(id);
}

const struct event_info *event_info_get(uint32_t stream_class, uint32_t id)
{
	switch (stream_class) {
	case JIS_STREAM_KERNEL:
		return kernel_event(id);
	case JIS_STREAM_RECORDER:
		return recorder_event(id);
	case JIS_STREAM_USER:
		return user_event(id);
	case JIS_STREAM_DICT:
		return dict_event(id);
	}
	return NULL;
}

int event_payload_size(const struct event_info *info, const void *payload, uint32_t available)
{
	const uint8_t *p = payload;
	uint32_t text;

	if (available < info->fixed_size)
		return -EBADMSG;
	if (!info->has_string)
		return (int)info->fixed_size;
	text = record_word(p + info->fixed_size - sizeof(text));
	if (text == 0 || text % 4 != 0 || text > JIS_STRING_MAX ||
	    text > available - info->fixed_size)
		return -EBADMSG;
	if (p[info->fixed_size + text - 1] != '\0')
		return -EBADMSG;
	return (int)(info->fixed_size + text);
}

/* Sizes for the hot paths: 0, which no payload has, where no row of fixed size sets an entry. */
#define SIZE(row_id, row_name)                                                                     \
	[row_id] = HAS_STRING(row_name) ? RECORD_SPECIAL : sizeof(struct jis_ev_##row_name),

const uint16_t record_sizes[JIS_NR_STREAM_CLASSES + 1][32] = {
	[JIS_STREAM_KERNEL] = {JIS_EVENTS_KERNEL(SIZE) JIS_EVENTS_COMMON(SIZE)},
	[JIS_STREAM_RECORDER] = {JIS_EVENTS_RECORDER(SIZE) JIS_EVENTS_COMMON(SIZE)},
	[JIS_STREAM_USER] = {JIS_EVENTS_USER(SIZE) JIS_EVENTS_COMMON(SIZE)},
	[JIS_STREAM_DICT] = {JIS_EVENTS_DICT(SIZE) JIS_EVENTS_COMMON(SIZE)},
};

static int header_decode(struct record *r, const uint8_t *p, const uint8_t *end, const char **why)
{
	uint32_t word;

	if (end - p < (ptrdiff_t)RECORD_COMPACT_HEADER) {
		*why = "record cut off";
		return -EBADMSG;
	}
	word = record_word(p);
	r->id = word & 31u;
	if (r->id != JIS_ID_EXTENDED) {
		r->time = record_time(r->time, word);
		return RECORD_COMPACT_HEADER;
	}
	if (word != JIS_ID_EXTENDED || end - p < (ptrdiff_t)RECORD_EXTENDED_HEADER) {
		*why = word != JIS_ID_EXTENDED ? "bad record header" : "record cut off";
		return -EBADMSG;
	}
	r->id = record_word(p + 4);
	memcpy(&r->time, p + 8, sizeof(r->time));
	return RECORD_EXTENDED_HEADER;
}

int record_decode(uint32_t stream_class, struct record *r, const uint8_t *p, const uint8_t *end,
		  const char **why)
{
	const struct event_info *info;
	struct record n = *r;
	int header, size;

	header = header_decode(&n, p, end, why);
	if (header < 0)
		return header;
	info = event_info_get(stream_class, n.id);
	if (!info) {
		*why = "unknown event";
		return -EBADMSG;
	}
	n.payload = p + header;
	size = event_payload_size(info, n.payload, (uint32_t)(end - n.payload));
	if (size < 0) {
		*why = "event does not fit or its string is malformed";
		return size;
	}
	n.payload_size = (uint32_t)size;
	*r = n;
	return header + size;
}
