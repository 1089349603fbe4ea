/* SPDX-License-Identifier: MIT */
/*
 * Builds packets record by record in private memory. Times rise within and across the packets of a
 * builder whatever the caller gives.
 */
#include "write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"

#define MIN_SIZE 4096u
#define CUT_MARK "..."
#define CUT_MARK_LEN (sizeof(CUT_MARK) - 1)

int packet_builder_init(struct packet_builder *b, size_t size, uint32_t stream_class,
			uint64_t instance, const uint8_t uuid[16])
{
	memset(b, 0, sizeof(*b));
	if (size < MIN_SIZE || size % 4 != 0 || size > PACKET_MAX_BYTES ||
	    stream_class >= JIS_NR_STREAM_CLASSES)
		return -EINVAL;
	b->buffer = malloc(size);
	if (!b->buffer)
		return -ENOMEM;
	b->size = size;
	b->proto.magic = JIS_PACKET_MAGIC;
	memcpy(b->proto.uuid, uuid, sizeof(b->proto.uuid));
	b->proto.stream_class = stream_class;
	b->proto.stream_instance = instance;
	if (stream_class == JIS_STREAM_KERNEL)
		b->proto.owner = (uint32_t)instance;
	return 0;
}

void packet_builder_fini(struct packet_builder *b)
{
	free(b->buffer);
	b->buffer = NULL; /* what it counted stays readable */
}

static uint64_t clamp_time(struct packet_builder *b, uint64_t time)
{
	if (time >= b->last)
		return time;
	b->clock_steps++;
	return b->last;
}

int packet_builder_open(struct packet_builder *b, uint64_t time)
{
	struct jis_packet_header *h = (struct jis_packet_header *)b->buffer;

	if (b->used)
		return -EBUSY;
	b->last = clamp_time(b, time);
	*h = b->proto;
	h->timestamp_begin = b->last;
	h->packet_seq = b->sequence;
	b->used = JIS_PACKET_HEADER_SIZE;
	return 0;
}

/* Bytes of @text that a record takes: all, or up to the last whole character before the limit. */
static size_t text_cut(const char *text, size_t len)
{
	size_t n;

	if (len < JIS_STRING_MAX)
		return len;
	n = JIS_STRING_MAX - 1 - CUT_MARK_LEN;
	while (n > 0 && ((uint8_t)text[n] & 0xc0) == 0x80)
		n--;
	return n;
}

static uint8_t *put_header(uint8_t *p, uint32_t id, uint64_t time, bool extended)
{
	uint32_t word = extended ? JIS_ID_EXTENDED : id | (uint32_t)(time & JIS_TIME_MASK) << 5;

	memcpy(p, &word, sizeof(word));
	if (!extended)
		return p + RECORD_COMPACT_HEADER;
	memcpy(p + 4, &id, sizeof(id));
	memcpy(p + 8, &time, sizeof(time));
	return p + RECORD_EXTENDED_HEADER;
}

static void put_text(uint8_t *p, const char *text, size_t cut, bool marked, uint32_t field)
{
	memcpy(p, &field, sizeof(field));
	p += sizeof(field);
	memcpy(p, text, cut);
	memset(p + cut, 0, field - cut);
	if (marked)
		memcpy(p + cut, CUT_MARK, CUT_MARK_LEN);
}

int packet_builder_add(struct packet_builder *b, uint32_t id, uint64_t time, const void *payload,
		       uint32_t len, const char *text)
{
	size_t text_len = text ? strlen(text) : 0, cut = text ? text_cut(text, text_len) : 0;
	size_t shown = cut + (cut < text_len ? CUT_MARK_LEN : 0);
	uint32_t field = text ? (uint32_t)(shown + 4) & ~3u : 0;
	size_t body = len + (text ? sizeof(field) + field : 0);
	bool extended;
	uint8_t *p;

	if (id == 0 || id == JIS_ID_EXTENDED || id >= JIS_MAX_EVENT_ID || len % 4 != 0 ||
	    len > b->size || JIS_PACKET_HEADER_SIZE + RECORD_EXTENDED_HEADER + body > b->size)
		return -EINVAL;
	time = clamp_time(b, time);
	if (!b->used)
		packet_builder_open(b, time);
	extended = id > JIS_COMPACT_ID_MAX || time - b->last > JIS_TIME_MASK;
	if (b->used + (extended ? RECORD_EXTENDED_HEADER : RECORD_COMPACT_HEADER) + body > b->size)
		return -ENOSPC;
	p = put_header(b->buffer + b->used, id, time, extended);
	if (len)
		memcpy(p, payload, len);
	if (text)
		put_text(p + len, text, cut, cut < text_len, field);
	b->used = (size_t)(p + body - b->buffer);
	b->last = time;
	b->stored[id]++;
	return 0;
}

struct jis_packet_header *packet_builder_close(struct packet_builder *b, uint64_t time_end)
{
	struct jis_packet_header *h = (struct jis_packet_header *)b->buffer;

	if (!b->used)
		return NULL;
	if (time_end > b->last)
		b->last = time_end;
	h->timestamp_end = b->last;
	h->content_size = b->used * 8;
	h->packet_size = h->content_size;
	h->events_discarded = b->discarded;
	h->crc32c = 0;
	b->sequence++;
	b->used = 0;
	return h;
}
