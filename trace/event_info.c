/* SPDX-License-Identifier: MIT */
/*
 * The event table as data, generated from the X-macros of jis/events.h at compile time.
 */
#include "event_info.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define TYPE_u32 FIELD_U32
#define TYPE_s32 FIELD_S32
#define TYPE_x32 FIELD_X32
#define TYPE_u64 FIELD_U64
#define TYPE_s64 FIELD_S64
#define TYPE_x64 FIELD_X64

#define FIELD_ROW(type, field) {#field, TYPE_##type, offsetof(payload, field)},
#define STRING_ROW(field) {#field, FIELD_STR, offsetof(payload, field##_length)},
#define FIELD_ONE(type, field) +1
#define STRING_ONE(field) +1
#define FIELD_NONE(type, field)

/* One function an event, because a field list does not know its event's struct by name. */
#define DEFINE_INFO(number, event)                                                                 \
	static const struct event_info *info_##event(void)                                         \
	{                                                                                          \
		typedef struct jis_ev_##event payload;                                             \
		static const struct event_info info = {                                            \
			.name = #event,                                                            \
			.id = number,                                                              \
			.fixed_size = sizeof(payload),                                             \
			.has_string = (0 JIS_FIELDS_##event(FIELD_NONE, STRING_ONE)) != 0,         \
			.nr_fields = 0 JIS_FIELDS_##event(FIELD_ONE, STRING_ONE),                  \
			.fields = {JIS_FIELDS_##event(FIELD_ROW, STRING_ROW)},                     \
		};                                                                                 \
		return &info;                                                                      \
	}
JIS_ALL_EVENTS(DEFINE_INFO)

typedef const struct event_info *(*info_function)(void);

#define TABLE_ROW(number, event) [number] = info_##event,

static const info_function table[JIS_NR_STREAM_CLASSES][JIS_MAX_EVENT_ID] = {
	[JIS_STREAM_KERNEL] = {JIS_EVENTS_KERNEL(TABLE_ROW) JIS_EVENTS_COMMON(TABLE_ROW)},
	[JIS_STREAM_RECORDER] = {JIS_EVENTS_RECORDER(TABLE_ROW) JIS_EVENTS_COMMON(TABLE_ROW)},
	[JIS_STREAM_USER] = {JIS_EVENTS_USER(TABLE_ROW) JIS_EVENTS_COMMON(TABLE_ROW)},
	[JIS_STREAM_DICT] = {JIS_EVENTS_DICT(TABLE_ROW) JIS_EVENTS_COMMON(TABLE_ROW)},
};

const struct event_info *event_info_get(uint32_t stream_class, uint32_t id)
{
	if (stream_class >= JIS_NR_STREAM_CLASSES || id >= JIS_MAX_EVENT_ID ||
	    !table[stream_class][id])
		return NULL;
	return table[stream_class][id]();
}

int event_payload_size(const struct event_info *info, const void *payload, uint32_t available)
{
	const uint8_t *text;
	uint32_t length;

	if (info->fixed_size > available)
		return -EBADMSG;
	if (!info->has_string)
		return (int)info->fixed_size;
	text = (const uint8_t *)payload + info->fixed_size;
	memcpy(&length, text - sizeof(length), sizeof(length));
	if (!length || length % 4 || length > JIS_STRING_MAX ||
	    length > available - info->fixed_size)
		return -EBADMSG;
	return text[length - 1] ? -EBADMSG : (int)(info->fixed_size + length);
}
