/* SPDX-License-Identifier: MIT */
/*
 * Walks records; shares no code with the trace reader on purpose, only the table of sizes that is
 * made from events.h: what one counts the other checks.
 */
#include "packet_walk.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "trace/decode.h"
#include "trace/event_info.h"
#include "trace/thread_table.h"

void packet_walk_begin(struct packet_walk *w, const struct jis_packet_header *packet,
		       uint64_t time_max)
{
	w->offset = JIS_PACKET_HEADER_SIZE;
	w->last = packet->timestamp_begin;
	w->records = 0;
	w->time_max = time_max;
	w->lost_max = UINT64_MAX;
	w->lives = false;
	w->told = NULL;
	w->record = NULL;
	w->ctx = NULL;
	w->wanted = UINT32_MAX;
}

static uint32_t word_at(const uint8_t *p)
{
	uint32_t w;

	memcpy(&w, p, sizeof(w));
	return w;
}

/* Reads the header of the record at @p; returns its size, 0 at the end of records, or -EBADMSG. */
static int header_read(const struct packet_walk *w, const uint8_t *p, uint32_t room, uint32_t *id,
		       uint64_t *time)
{
	uint32_t word = word_at(p);

	*id = word & 31u;
	if (word == 0)
		return 0;
	if (*id != JIS_ID_EXTENDED) {
		*time = (w->last & ~(uint64_t)JIS_TIME_MASK) | word >> 5;
		if (*time < w->last)
			*time += (uint64_t)JIS_TIME_MASK + 1;
		return 4;
	}
	if (word != JIS_ID_EXTENDED || room < 16)
		return -EBADMSG;
	*id = word_at(p + 4);
	*time = word_at(p + 8) | (uint64_t)word_at(p + 12) << 32;
	return 16;
}

/* Bytes of each compact record that only has to be counted; UINT32_MAX: it has to be looked at. */
static void counted_sizes(uint32_t class, const uint16_t *sizes, uint32_t wanted,
			  uint32_t counted[32])
{
	uint32_t id;

	for (id = 0; id < 32; id++)
		counted[id] = sizes[id] == RECORD_SPECIAL || wanted >> id & 1 ? UINT32_MAX
									      : sizes[id] + 4u;
	counted[JIS_EV_lost_records] = UINT32_MAX;
	for (id = 0; class == JIS_STREAM_KERNEL && id < 32; id++)
		if (THREAD_TABLE_LIVES >> id & 1)
			counted[id] = UINT32_MAX;
}

/*
 * The common case, which a recorder's own cost depends on: records of fixed size with compact
 * headers, whose times are never before the last, as many as come one after the other. Only where
 * times have a limit are they computed: else w->last stays behind.
 */
static inline void walk_counted(struct packet_walk *w, bool timed, uint32_t class,
				const uint8_t *base, uint32_t end, const uint32_t *counted,
				uint64_t *stored)
{
	const uint64_t switches = class == JIS_STREAM_KERNEL ? JIS_EV_sched_switch : UINT64_MAX;
	const uint64_t limit = end - 4u;
	uint64_t at = w->offset, last = w->last, time;
	bool lives = false;

	do {
		uint64_t word = word_at(base + at), id = word & 31u, next = at + counted[id];

		if (next > end)
			break;
		if (timed) {
			time = last + (((word >> 5) - last) & JIS_TIME_MASK);
			if (time > w->time_max)
				break;
			last = time;
		}
		stored[id]++;
		if (id == switches)
			lives |= thread_table_concerns(JIS_STREAM_KERNEL, JIS_EV_sched_switch,
						       base + at + 4);
		at = next;
	} while (at <= limit);
	w->lives |= lives || (at != w->offset && class != JIS_STREAM_KERNEL);
	w->offset = (uint32_t)at;
	w->last = last;
}

/* A lost_records at @payload, of the right size. Returns whether it can be believed. */
static bool told_add(const struct packet_walk *w, const uint8_t *payload)
{
	struct jis_ev_lost_records ev;

	memcpy(&ev, payload, sizeof(ev));
	if (ev.count > w->lost_max)
		return false;
	if (w->told && ev.type < JIS_MAX_EVENT_ID)
		w->told[ev.type] += ev.count;
	return true;
}

/* One record of any kind. Returns its size, 0 at the end of records, or -EBADMSG. */
static int walk_one(struct packet_walk *w, uint32_t class, const uint8_t *p, uint32_t room,
		    uint64_t *stored)
{
	const struct event_info *info;
	int header, payload;
	uint64_t time;
	uint32_t id;

	header = header_read(w, p, room, &id, &time);
	if (header <= 0)
		return header;
	info = event_info_get(class, id);
	if (!info || id >= JIS_MAX_EVENT_ID || time < w->last)
		return -EBADMSG;
	payload = event_payload_size(info, p + header, room - (uint32_t)header);
	if (payload < 0 || time > w->time_max)
		return -EBADMSG;
	if (id == JIS_EV_lost_records && !told_add(w, p + header))
		return -EBADMSG;
	w->lives |= thread_table_concerns(class, id, p + header);
	w->last = time;
	w->records++;
	if (stored)
		stored[id]++;
	if (w->record)
		w->record(w->ctx, id, time, p + header, (uint32_t)payload);
	return header + payload;
}

/* In a copy that nobody else can point to, so that it stays in registers. */
static inline int walk_run(struct packet_walk *w, const struct jis_packet_header *packet,
			   uint32_t end, uint64_t *stored)
{
	const uint8_t *base = (const uint8_t *)packet;
	uint32_t class = packet->stream_class, counted[32];
	bool counts = stored && (!w->record || w->wanted != UINT32_MAX);
	int n;

	if (counts)
		counted_sizes(
			class,
			record_sizes[class < JIS_NR_STREAM_CLASSES ? class : JIS_NR_STREAM_CLASSES],
			w->record ? w->wanted : 0, counted);
	while (end >= w->offset && end - w->offset >= 4) {
		if (counts && w->time_max == UINT64_MAX)
			walk_counted(w, false, class, base, end, counted, stored);
		else if (counts)
			walk_counted(w, true, class, base, end, counted, stored);
		if (end - w->offset < 4)
			break;
		n = walk_one(w, class, base + w->offset, end - w->offset, stored);
		if (n <= 0)
			return n;
		w->offset += (uint32_t)n;
	}
	return 0;
}

static uint64_t sum(const uint64_t *stored)
{
	uint64_t n = 0;
	uint32_t id;

	for (id = 0; stored && id < JIS_MAX_EVENT_ID; id++)
		n += stored[id];
	return n;
}

int packet_walk_run(struct packet_walk *w, const struct jis_packet_header *packet, uint32_t end,
		    uint64_t *stored)
{
	struct packet_walk walk = *w;
	uint64_t before = sum(stored);
	int err = walk_run(&walk, packet, end, stored);

	if (stored)
		walk.records = w->records + sum(stored) - before;
	*w = walk;
	return err;
}
