/* SPDX-License-Identifier: MIT */
/*
 * Each packet becomes one packet, with its number and what its header counts; should times need
 * more room in it, it becomes two, and numbers grow by one from there on.
 */
#include "rewrite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/decode.h"
#include "trace/record.h"
#include "trace/write.h"

struct rewriting {
	struct renumber *r;
	struct packet_builder builder;
	struct stream_writer *writer;
	struct stream_entry *to;
	uint64_t more; /* packets than there were */
	uint64_t time_end;
	rewrite_damage damage;
	void *ctx;
	uint8_t *payload;
	int err;
	bool written;
};

static void put_packet(struct rewriting *w, uint64_t time_end)
{
	struct jis_packet_header *h = packet_builder_close(&w->builder, time_end);

	if (!h || w->err)
		return;
	w->err = stream_writer_append(w->writer, h);
	w->written = w->err != 0;
	w->to->packets++;
	w->to->next_seq = h->packet_seq + 1;
}

static void on_packet(void *ctx, struct stream_cursor *c, const struct jis_packet_header *header)
{
	struct rewriting *w = ctx;
	struct jis_packet_header h;

	/* In the file a packet begins at a multiple of 4 only. */
	memcpy(&h, (const void *)header, sizeof(h));
	put_packet(w, w->time_end);
	w->builder.proto.pid = h.pid;
	w->builder.proto.flags = h.flags;
	w->builder.proto.owner =
		c->stream_class == JIS_STREAM_KERNEL ? (uint32_t)w->to->instance : h.owner;
	w->builder.sequence = h.packet_seq + w->more;
	w->builder.discarded = h.events_discarded;
	w->time_end = renumber_time(w->r, h.timestamp_end);
	packet_builder_open(&w->builder, renumber_time(w->r, h.timestamp_begin));
}

static void on_damage(void *ctx, struct stream_cursor *c, uint64_t begin, uint64_t end,
		      uint64_t offset, uint64_t length, const char *reason)
{
	struct rewriting *w = ctx;

	(void)c;
	(void)offset;
	(void)length;
	if (reason != packet_missing_reason)
		w->damage(w->ctx, begin, end, reason);
}

static void put_event(struct rewriting *w, const struct stream_cursor *c)
{
	const uint8_t *payload = c->payload;
	uint64_t time = renumber_time(w->r, c->time);
	int err;

	if (renumber_wanted(c->stream_class, c->id)) {
		memcpy(w->payload, payload, c->payload_size);
		payload = w->payload;
		w->err = renumber_event(w->r, c->stream_class, c->id, c->time, w->payload);
	}
	err = packet_builder_add(&w->builder, c->id, time, payload, c->payload_size, NULL);
	if (err == -ENOSPC) {
		put_packet(w, 0);
		w->more++;
		err = packet_builder_add(&w->builder, c->id, time, payload, c->payload_size, NULL);
	}
	if (err && !w->err)
		w->err = err;
}

static int rewrite_events(struct rewriting *w, struct stream_cursor *c)
{
	while (!w->err && stream_cursor_next(c))
		put_event(w, c);
	put_packet(w, w->time_end);
	return w->err;
}

int rewrite_stream(struct renumber *r, int infd, const struct stream_entry *in,
		   const uint8_t uuid[16], int outfd, struct stream_entry *to,
		   const uint8_t out_uuid[16], rewrite_damage damage, void *ctx, bool *written)
{
	struct rewriting w = {.r = r, .to = to, .damage = damage, .ctx = ctx};
	const struct stream_observer observer = {on_packet, on_damage, &w};
	struct stream_identity identity = {.stream_class = in->stream_class,
					   .instance = in->instance};
	const char *name = strchr(to->path, '/') + 1;
	struct stream_cursor c;
	int err;

	memcpy(identity.uuid, uuid, 16);
	*written = false;
	r->map->last = 0;
	w.payload = malloc(PACKET_MAX_BYTES);
	if (!w.payload)
		return -ENOMEM;
	err = packet_builder_init(&w.builder, PACKET_MAX_BYTES, to->stream_class, to->instance,
				  out_uuid);
	if (err)
		goto out_payload;
	err = stream_cursor_open(&c, infd, in->path, &identity, &observer);
	if (err)
		goto out_builder;
	stream_cursor_expect(&c, stream_entry_next_seq(in));
	err = stream_writer_create(outfd, name, &w.writer);
	*written = err != 0;
	if (!err) {
		int closed;

		err = rewrite_events(&w, &c);
		closed = stream_writer_close(w.writer);
		*written = w.written || (!err && closed);
		err = err ? err : closed;
	}
	/* Those that are missing at its end. */
	if (stream_entry_next_seq(in) && stream_entry_next_seq(in) < UINT64_MAX - w.more &&
	    to->next_seq < stream_entry_next_seq(in) + w.more)
		to->next_seq = stream_entry_next_seq(in) + w.more;
	memcpy(to->stored, w.builder.stored, sizeof(to->stored));
	stream_cursor_close(&c);
out_builder:
	packet_builder_fini(&w.builder);
out_payload:
	free(w.payload);
	return err;
}
