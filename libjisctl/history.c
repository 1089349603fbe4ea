/* SPDX-License-Identifier: MIT */
/*
 * Two lists in order of arrival: packets kept for ever, and the others, whose head goes first. Of a
 * packet that came again, grown, only the last copy is held. One that is open stays: it could come
 * again with all it had, when what explains that has gone.
 */
#include "history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STREAMS_MAX (1u << 20)

struct entry {
	struct entry *next, *prev;
	uint32_t stream, bytes;
	bool forever;
	uint64_t packet[]; /* aligned for a packet header */
};

struct list {
	struct entry *first, *last;
	uint64_t bytes;
};

struct history {
	struct list lists[2]; /* [forever] */
	uint64_t bytes_max, dropped, dropped_bytes;
	uint64_t since;	     /* the latest end of a packet that was dropped */
	struct entry **open; /* by stream: its open packet, or NULL */
	uint64_t open_bytes; /* of those that are not kept for ever */
	uint64_t *emptied;   /* by stream: packets that history_rewrite() took away */
	uint32_t nr_open;
};

struct history *history_new(uint64_t bytes)
{
	struct history *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->bytes_max = bytes;
	return h;
}

static const struct jis_packet_header *entry_packet(const struct entry *e)
{
	return (const struct jis_packet_header *)e->packet;
}

static struct jis_packet_header *entry_header(struct entry *e)
{
	return (struct jis_packet_header *)e->packet;
}

static bool is_open(const struct history *h, const struct entry *e)
{
	return e->stream < h->nr_open && h->open[e->stream] == e;
}

static void open_set(struct history *h, uint32_t stream, struct entry *e)
{
	struct entry *was = h->open[stream];

	if (was && !was->forever)
		h->open_bytes -= was->bytes;
	if (e && !e->forever)
		h->open_bytes += e->bytes;
	h->open[stream] = e;
}

static void entry_free(struct history *h, struct entry *e)
{
	struct list *l = &h->lists[e->forever];

	*(e->prev ? &e->prev->next : &l->first) = e->next;
	*(e->next ? &e->next->prev : &l->last) = e->prev;
	l->bytes -= e->bytes;
	if (is_open(h, e))
		open_set(h, e->stream, NULL);
	free(e);
}

/* The first that may go; never the newest. Returns whether there was one. */
static bool drop_first(struct history *h)
{
	struct entry *e = h->lists[0].first;
	uint64_t end;

	while (e && is_open(h, e))
		e = e->next;
	if (!e || !e->next)
		return false;
	end = entry_packet(e)->timestamp_end;
	h->since = end > h->since ? end : h->since;
	h->dropped++;
	h->dropped_bytes += e->bytes;
	entry_free(h, e);
	return true;
}

void history_free(struct history *h)
{
	if (!h)
		return;
	while (h->lists[0].first)
		entry_free(h, h->lists[0].first);
	while (h->lists[1].first)
		entry_free(h, h->lists[1].first);
	free(h->open);
	free(h->emptied);
	free(h);
}

/* Room to remember the open packet of @stream. */
static int open_reserve(struct history *h, uint32_t stream)
{
	uint32_t nr = h->nr_open ? h->nr_open : 64;
	struct entry **more;
	uint64_t *emptied;

	if (stream < h->nr_open)
		return 0;
	while (nr <= stream)
		nr *= 2;
	more = realloc(h->open, nr * sizeof(struct entry *));
	if (!more)
		return -ENOMEM;
	h->open = more;
	emptied = realloc(h->emptied, nr * sizeof(*emptied));
	if (!emptied)
		return -ENOMEM;
	h->emptied = emptied;
	memset(h->open + h->nr_open, 0, (nr - h->nr_open) * sizeof(struct entry *));
	memset(emptied + h->nr_open, 0, (nr - h->nr_open) * sizeof(*emptied));
	h->nr_open = nr;
	return 0;
}

int history_add(struct history *h, uint32_t stream, const struct jis_packet_header *packet,
		bool open, bool forever)
{
	uint32_t bytes = (uint32_t)(packet->content_size / 8);
	struct list *l = &h->lists[forever];
	struct entry *e;

	if (stream >= STREAMS_MAX)
		return -EINVAL;
	e = open_reserve(h, stream) ? NULL : malloc(sizeof(*e) + bytes);
	if (!e) {
		h->dropped++;
		return -ENOMEM;
	}
	e->stream = stream;
	e->bytes = bytes;
	e->forever = forever;
	memcpy(e->packet, packet, bytes);
	entry_header(e)->packet_seq -= h->emptied[stream];
	if (h->open[stream] &&
	    entry_packet(h->open[stream])->packet_seq == entry_packet(e)->packet_seq)
		entry_free(h, h->open[stream]);
	open_set(h, stream, open ? e : NULL);
	e->next = NULL;
	e->prev = l->last;
	*(l->last ? &l->last->next : &l->first) = e;
	l->last = e;
	l->bytes += bytes;
	l = &h->lists[0];
	while (l->bytes - h->open_bytes > h->bytes_max && drop_first(h))
		;
	return 0;
}

int history_each(const struct history *h, uint64_t from,
		 int (*packet)(void *ctx, uint32_t stream, const struct jis_packet_header *packet),
		 void *ctx)
{
	const struct entry *e;
	int forever, err = 0;

	for (forever = 1; forever >= 0 && !err; forever--)
		for (e = h->lists[forever].first; e && !err; e = e->next)
			if (forever || entry_packet(e)->timestamp_end >= from)
				err = packet(ctx, e->stream, entry_packet(e));
	return err;
}

/* Gives back what the packet no longer takes. */
static void entry_shrink(struct history *h, struct entry *e)
{
	uint32_t bytes = (uint32_t)(entry_packet(e)->content_size / 8);
	struct list *l = &h->lists[e->forever];
	bool open = is_open(h, e);
	struct entry *moved;

	l->bytes -= e->bytes - bytes;
	e->bytes = bytes;
	moved = realloc(e, sizeof(*e) + bytes);
	if (!moved)
		return;
	*(moved->prev ? &moved->prev->next : &l->first) = moved;
	*(moved->next ? &moved->next->prev : &l->last) = moved;
	if (open)
		h->open[moved->stream] = moved;
}

int history_rewrite(struct history *h,
		    uint32_t (*packet)(void *ctx, struct jis_packet_header *packet), void *ctx)
{
	uint64_t *emptied = calloc(h->nr_open + 1u, sizeof(*emptied));
	struct entry *e, *next;
	uint32_t bytes, i;

	if (!emptied)
		return -ENOMEM;
	for (e = h->lists[1].first; e; e = next) {
		next = e->next;
		bytes = packet(ctx, entry_header(e));
		if (bytes <= JIS_PACKET_HEADER_SIZE && h->open[e->stream] != e) {
			emptied[e->stream]++;
			entry_free(h, e);
			continue;
		}
		entry_header(e)->packet_seq -= emptied[e->stream];
		entry_header(e)->content_size = entry_header(e)->packet_size = bytes * 8ull;
		if (bytes < e->bytes)
			entry_shrink(h, e);
	}
	for (i = 0; i < h->nr_open; i++)
		h->emptied[i] += emptied[i];
	free(emptied);
	return 0;
}

uint64_t history_dropped(const struct history *h)
{
	return h->dropped;
}

uint64_t history_since(const struct history *h)
{
	return h->since;
}

uint64_t history_cycled(const struct history *h)
{
	return h->dropped_bytes / (h->bytes_max / 256 + 1);
}

uint64_t history_bytes(const struct history *h)
{
	return h->lists[0].bytes + h->lists[1].bytes;
}

uint64_t history_forever_bytes(const struct history *h)
{
	return h->lists[1].bytes;
}
