/* SPDX-License-Identifier: MIT */
/*
 * Builds packets record by record in memory, for streams the recorder makes itself.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "write.h"

int packet_builder_init(struct packet_builder *b, size_t size, uint32_t stream_class,
			uint64_t instance, const uint8_t uuid[16])
{
	if (size < 4096 || size % 4 || size > UINT32_MAX)
		return -EINVAL;
	memset(b, 0, sizeof(*b));
	b->buffer = aligned_alloc(64, (size + 63) & ~(size_t)63);
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
	b->buffer = NULL;
}

static uint64_t not_before(struct packet_builder *b, uint64_t time)
{
	if (time >= b->last)
		return time;
	b->clock_steps++;
	return b->last;
}

int packet_builder_open(struct packet_builder *b, uint64_t time)
{
	struct jis_packet_header *header = (struct jis_packet_header *)b->buffer;

	if (b->used)
		return -EBUSY;
	time = not_before(b, time);
	*header = b->proto;
	header->timestamp_begin = time;
	header->packet_seq = b->sequence++;
	b->used = JIS_PACKET_HEADER_SIZE;
	b->last = time;
	return 0;
}

/* Bytes of @text that go into a record, cut in front of a UTF-8 character; *cut: it ends in "...".
 */
static size_t text_bytes(const char *text, bool *cut)
{
	size_t n = strnlen(text, JIS_STRING_MAX);

	*cut = n > JIS_STRING_MAX - 1;
	if (!*cut)
		return n;
	n = JIS_STRING_MAX - 4;
	while (n && ((uint8_t)text[n] & 0xc0) == 0x80)
		n--;
	return n;
}

static uint8_t *put_text(uint8_t *p, const char *text, size_t n, bool cut)
{
	uint32_t length = (uint32_t)((n + (cut ? 3 : 0) + 4) & ~3u);

	memcpy(p, &length, sizeof(length));
	p += sizeof(length);
	memset(p + length - 4, 0, 4);
	memcpy(p, text, n);
	if (cut)
		memcpy(p + n, "...", 4);
	return p + length;
}

static uint8_t *put_header(uint8_t *p, uint32_t id, uint64_t time, bool extended)
{
	uint32_t word = extended ? JIS_ID_EXTENDED : id | (uint32_t)(time & JIS_TIME_MASK) << 5;

	memcpy(p, &word, 4);
	if (!extended)
		return p + 4;
	memcpy(p + 4, &id, 4);
	memcpy(p + 8, &time, 8);
	return p + 16;
}

int packet_builder_add(struct packet_builder *b, uint32_t id, uint64_t time, const void *payload,
		       uint32_t len, const char *text)
{
	bool extended, cut = false;
	size_t n = text ? text_bytes(text, &cut) : 0, need;
	uint8_t *p;

	if (!id || id >= JIS_MAX_EVENT_ID || id == JIS_ID_EXTENDED || len % 4)
		return -EINVAL;
	time = not_before(b, time);
	need = 16 + len + (text ? 4 + ((n + (cut ? 3 : 0) + 4) & ~(size_t)3) : 0);
	if (need > b->size - (b->used ? b->used : JIS_PACKET_HEADER_SIZE))
		return -ENOSPC;
	if (!b->used)
		packet_builder_open(b, time);
	extended = id > JIS_COMPACT_ID_MAX || time - b->last > JIS_TIME_MASK;
	p = put_header(b->buffer + b->used, id, time, extended);
	memcpy(p, payload, len);
	p += len;
	if (text)
		p = put_text(p, text, n, cut);
	b->used = (size_t)(p - b->buffer);
	b->last = time;
	b->stored[id]++;
	return 0;
}

struct jis_packet_header *packet_builder_close(struct packet_builder *b, uint64_t time_end)
{
	struct jis_packet_header *header = (struct jis_packet_header *)b->buffer;

	if (!b->used)
		return NULL;
	if (time_end > b->last)
		b->last = time_end;
	header->timestamp_end = b->last;
	header->content_size = header->packet_size = (uint64_t)b->used * 8;
	header->events_discarded = b->discarded;
	b->used = 0;
	return header;
}
