/* SPDX-License-Identifier: MIT */
/*
 * A cursor over one stream file. The file is mapped; damage is reported and stepped over, and time
 * never goes back: what would is clamped, and the interval reported.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "read.h"
#include "record.h"

/* Bytes that have been read and may leave memory are given back in pieces of this size. */
#define RELEASE_BYTES (256u << 10)

struct stream_file {
	struct stream_bytes bytes;
	size_t offset;			 /* next packet */
	size_t released;		 /* bytes given back */
	uint64_t next_seq;		 /* behind the last packet that can be believed */
	uint64_t doubtful;		 /* packets since then */
	uint64_t discarded;		 /* events_discarded of that packet */
	uint64_t expected;		 /* next_seq at the end, 0: not known, or told */
	bool trusted;			 /* the packet's header can be believed */
	bool told;			 /* that its records are later than its end */
	struct jis_packet_header header; /* of the packet the cursor is in */
	struct stream_identity identity;
	struct stream_observer observer;
};

int stream_cursor_open(struct stream_cursor *c, int dirfd, const char *path,
		       const struct stream_identity *identity,
		       const struct stream_observer *observer)
{
	struct stream_file *f = calloc(1, sizeof(*f));
	int err;

	memset(c, 0, sizeof(*c));
	c->stream_class = identity->stream_class;
	c->instance = identity->instance;
	if (!f)
		return -ENOMEM;
	f->identity = *identity;
	if (observer)
		f->observer = *observer;
	err = -EINVAL;
	if (identity->stream_class >= JIS_NR_STREAM_CLASSES)
		goto err_free;
	c->sizes = record_sizes[identity->stream_class];
	err = stream_bytes_map(&f->bytes, dirfd, path);
	if (err)
		goto err_free;
	if (f->bytes.map)
		madvise((void *)(uintptr_t)f->bytes.map, f->bytes.size, MADV_SEQUENTIAL);
	c->file = f;
	return 0;

err_free:
	free(f);
	return err;
}

void stream_cursor_close(struct stream_cursor *c)
{
	if (!c->file)
		return;
	stream_bytes_unmap(&c->file->bytes);
	free(c->file);
	c->file = NULL;
}

void stream_cursor_expect(struct stream_cursor *c, uint64_t next_seq)
{
	if (c->file)
		c->file->expected = next_seq;
}

static void report(struct stream_cursor *c, uint64_t begin, uint64_t end, size_t offset,
		   size_t length, const char *reason)
{
	const struct stream_observer *o = &c->file->observer;

	if (o->damage)
		o->damage(o->ctx, c, begin, end, offset, length, reason);
}

/* Bytes without a packet up to the next one, or to the end of the file. */
static void skip_garbage(struct stream_cursor *c)
{
	struct stream_file *f = c->file;
	size_t next = packet_find(&f->bytes, f->offset + 4, f->bytes.size, &f->identity);
	uint64_t end = TIME_NONE;

	if (next < f->bytes.size)
		end = packet_header_at(f->bytes.map + next).timestamp_begin;
	else
		f->expected = 0; /* this is what is left of the last packets */
	if (end < c->time)
		end = c->time;
	report(c, c->time, end, f->offset, next - f->offset, packet_state_reason(PACKET_NONE));
	f->offset = next;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* What is wrong with the packet that begins at f->offset, for the observer. */
static void report_packet(struct stream_cursor *c, const struct jis_packet_header *h,
			  enum packet_state state, size_t bytes)
{
	struct stream_file *f = c->file;
	uint64_t begin = c->time, end = TIME_NONE;

	if (state == PACKET_WHOLE && h->packet_seq > f->next_seq + f->doubtful)
		report(c, c->time, later(h->timestamp_begin, c->time), f->offset, 0,
		       packet_missing_reason);
	if (h->timestamp_begin < c->time)
		report(c, h->timestamp_begin, c->time, f->offset, 0, "time steps back");
	if (state == PACKET_WHOLE)
		return;
	if (state != PACKET_CUT)
		end = later(c->limit, c->time);
	else
		f->expected = 0; /* so here the stream ends */
	if (h->timestamp_begin > begin && h->timestamp_begin <= end)
		begin = h->timestamp_begin;
	report(c, begin, end, f->offset, bytes, packet_state_reason(state));
}

/* The pages of packets that have been left are not needed again; a page fault would bring them. */
static void release_pages(struct stream_file *f)
{
	size_t done = f->offset & ~(size_t)(RELEASE_BYTES - 1);

	if (done <= f->released)
		return;
	madvise((void *)(uintptr_t)(f->bytes.map + f->released), done - f->released, MADV_DONTNEED);
	f->released = done;
}

/* Of a header that may be damaged the observer gets what is known otherwise. */
static void doubt_header(const struct stream_cursor *c, size_t content)
{
	struct stream_file *f = c->file;
	struct jis_packet_header *h = &f->header;

	h->timestamp_begin = later(c->time, h->timestamp_begin < c->limit ? h->timestamp_begin : 0);
	h->timestamp_end = later(h->timestamp_begin, c->limit);
	h->content_size = h->packet_size = (uint64_t)content * 8;
	h->packet_seq = f->next_seq + f->doubtful;
	h->events_discarded = f->discarded;
	h->owner = c->stream_class == JIS_STREAM_KERNEL ? (uint32_t)c->instance : 0;
	h->flags = JIS_PACKET_RECOVERED;
}

static void enter_packet(struct stream_cursor *c, size_t content, enum packet_state state)
{
	struct stream_file *f = c->file;
	const struct jis_packet_header *h = &f->header;
	size_t next = packet_end(&f->bytes, f->offset, state, &f->identity);

	release_pages(f);
	if (content > next - f->offset)
		content = next - f->offset;
	f->trusted = state == PACKET_WHOLE;
	c->limit = f->trusted ? h->timestamp_end
			      : packet_limit(&f->bytes, h, next, &f->identity, NULL);
	c->base = h->timestamp_begin;
	report_packet(c, h, state, content);
	f->told = false;
	if (f->trusted) {
		f->next_seq = h->packet_seq + 1;
		f->doubtful = 0;
		f->discarded = h->events_discarded;
	} else {
		doubt_header(c, content);
		f->doubtful++;
	}
	c->packet = h;
	c->next = f->bytes.map + f->offset + JIS_PACKET_HEADER_SIZE;
	c->end = f->bytes.map + f->offset + content;
	f->offset = next;
	if (f->observer.packet)
		f->observer.packet(f->observer.ctx, c, h);
}

/* The file ends at a whole packet, but there were more. Told once. */
static void report_end(struct stream_cursor *c)
{
	struct stream_file *f = c->file;

	if (f->next_seq + f->doubtful < f->expected)
		report(c, c->time, TIME_NONE, f->bytes.size, 0, packet_missing_reason);
	f->expected = 0;
}

/* Enters the next packet that can be used. Returns false at the end of the file. */
static bool next_packet(struct stream_cursor *c)
{
	struct stream_file *f = c->file;

	/* A sound packet counts up to its end: what follows cannot lie before. */
	if (f->trusted)
		c->time = later(c->time, c->limit);
	while (f->offset < f->bytes.size) {
		size_t content;
		enum packet_state state =
			packet_check(f->bytes.map + f->offset, f->bytes.size - f->offset,
				     &f->identity, &content);

		if (state == PACKET_NONE) {
			skip_garbage(c);
			continue;
		}
		f->header = packet_header_at(f->bytes.map + f->offset);
		if (state == PACKET_WHOLE && f->header.packet_seq < f->next_seq) {
			report(c, c->time, c->time, f->offset, content, "packet repeated");
			f->offset = packet_end(&f->bytes, f->offset, state, &f->identity);
		} else {
			enter_packet(c, content, state);
			return true;
		}
	}
	report_end(c);
	return false;
}

/* The rest of the packet does not decode. */
static void leave_packet(struct stream_cursor *c)
{
	report(c, c->time, later(c->limit, c->time), (size_t)(c->next - c->file->bytes.map),
	       (size_t)(c->end - c->next), "record does not decode");
	c->next = c->end;
}

/* The packet is sound, but its end was before its last record. Told once a packet. */
static uint64_t clamped(struct stream_cursor *c)
{
	if (!c->file->told)
		report(c, later(c->time, c->limit), later(c->time, c->limit),
		       (size_t)(c->next - c->file->bytes.map), 0, packet_late_reason);
	c->file->told = true;
	return c->limit;
}

int stream_cursor_next_slow(struct stream_cursor *c)
{
	struct record r;

	if (!c->file)
		return 0;
	for (;;) {
		const uint8_t *next;

		if (c->next == c->end) {
			if (!next_packet(c))
				return 0;
			continue;
		}
		r.time = c->base;
		next = record_next(c->sizes, c->stream_class, c->next, c->end, &r);
		if (!next || (!c->file->trusted && (r.time > c->limit || r.time < c->base))) {
			leave_packet(c);
			continue;
		}
		c->base = r.time;
		if (r.time > c->limit)
			r.time = clamped(c);
		c->time = later(c->time, r.time);
		c->id = r.id;
		c->payload = r.payload;
		c->payload_size = r.payload_size;
		c->next = next;
		return 1;
	}
}

const uint8_t *stream_cursor_peek(const struct stream_cursor *c, uint32_t *id)
{
	struct record r = {.time = c->base};

	if (c->next == c->end || !record_next(c->sizes, c->stream_class, c->next, c->end, &r))
		return NULL;
	*id = r.id;
	return r.payload;
}

void stream_cursor_seek(struct stream_cursor *c, uint64_t time)
{
	struct stream_file *f = c->file;

	while (f && f->offset < f->bytes.size) {
		size_t room = f->bytes.size - f->offset;
		struct jis_packet_header h;

		if (!packet_header_sound(f->bytes.map + f->offset, room, &f->identity))
			return;
		h = packet_header_at(f->bytes.map + f->offset);
		if (h.packet_size / 8 > room || h.timestamp_end >= time ||
		    h.packet_seq != f->next_seq)
			return;
		f->next_seq++;
		f->offset += h.packet_size / 8;
		c->time = later(c->time, h.timestamp_end);
	}
}
