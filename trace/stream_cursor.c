/* SPDX-License-Identifier: MIT */
/*
 * A cursor over one stream file. The file is mapped; damage is reported and stepped over, and time
 * never goes back: what would is clamped, and the interval reported.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "read.h"
#include "record.h"

struct stream_file {
	const uint8_t *map;
	size_t size, offset;   /* offset: next packet */
	const uint16_t *sizes; /* payload sizes of the class */
	uint64_t base;	       /* time of the last record as decoded, before clamping */
	uint64_t limit;	       /* no record of this packet may be later */
	uint64_t next_seq;
	bool trusted; /* the packet's header can be believed */
	bool any;     /* a packet has been seen: class, instance and next_seq hold */
	bool has_uuid;
	uint8_t uuid[16];
	struct stream_observer observer;
};

static int map_file(struct stream_file *f, int fd)
{
	struct stat st;
	void *map;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	f->size = (size_t)st.st_size;
	if (!f->size)
		return 0;
	map = mmap(NULL, f->size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	madvise(map, f->size, MADV_SEQUENTIAL);
	f->map = map;
	return 0;
}

int stream_cursor_open(struct stream_cursor *c, int dirfd, const char *path, const uint8_t *uuid,
		       const struct stream_observer *observer)
{
	struct stream_file *f = calloc(1, sizeof(*f));
	int fd, err;

	memset(c, 0, sizeof(*c));
	if (!f)
		return -ENOMEM;
	fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		err = -errno;
		goto err_free;
	}
	err = map_file(f, fd);
	close(fd);
	if (err)
		goto err_free;
	f->has_uuid = uuid != NULL;
	if (uuid)
		memcpy(f->uuid, uuid, sizeof(f->uuid));
	if (observer)
		f->observer = *observer;
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
	if (c->file->map)
		munmap((void *)(uintptr_t)c->file->map, c->file->size);
	free(c->file);
	c->file = NULL;
}

static void report(struct stream_cursor *c, uint64_t begin, uint64_t end, size_t offset,
		   size_t length, const char *reason)
{
	const struct stream_observer *o = &c->file->observer;

	if (o->damage)
		o->damage(o->ctx, c, begin, end, offset, length, reason);
}

/* Bytes without a packet up to the next one, or to the end of the file. */
static void skip_garbage(struct stream_cursor *c, size_t from)
{
	struct stream_file *f = c->file;
	size_t next = packet_find(f->map, f->size, from + 4, f->has_uuid ? f->uuid : NULL);
	uint64_t end = TIME_NONE;

	if (next < f->size)
		end = ((const struct jis_packet_header *)(f->map + next))->timestamp_begin;
	if (end < c->time)
		end = c->time;
	report(c, c->time, end, from, next - from, packet_state_reason(PACKET_NONE));
	f->offset = next;
}

/* Is this the stream's own next packet? Told by class, instance and number. */
static bool belongs(struct stream_cursor *c, const struct jis_packet_header *h)
{
	struct stream_file *f = c->file;

	if (!f->any) {
		f->any = true;
		f->next_seq = h->packet_seq;
		c->stream_class = h->stream_class;
		c->instance = h->stream_instance;
		f->sizes = record_sizes[h->stream_class];
	}
	return h->stream_class == c->stream_class && h->stream_instance == c->instance &&
	       h->packet_seq >= f->next_seq;
}

/*
 * The end of a packet whose checksum does not match: not after its successor's begin, so that a
 * flipped bit in a time cannot push all that follows into the future.
 */
static uint64_t untrusted_limit(const struct stream_file *f, const struct jis_packet_header *h)
{
	size_t next = f->offset + h->packet_size / 8, content;
	const struct jis_packet_header *follower = (const void *)(f->map + next);

	if (next < f->size &&
	    packet_check(f->map + next, f->size - next, f->has_uuid ? f->uuid : NULL, &content) ==
		    PACKET_WHOLE &&
	    follower->timestamp_begin < h->timestamp_end)
		return follower->timestamp_begin;
	return h->timestamp_end;
}

static void enter_packet(struct stream_cursor *c, const struct jis_packet_header *h, size_t content,
			 enum packet_state state)
{
	struct stream_file *f = c->file;
	const uint8_t *p = (const uint8_t *)h;

	if (h->packet_seq > f->next_seq)
		report(c, c->time, h->timestamp_begin > c->time ? h->timestamp_begin : c->time,
		       f->offset, 0, "packets are missing");
	if (h->timestamp_begin < c->time)
		report(c, h->timestamp_begin, c->time, f->offset, 0, "time steps back");
	if (state != PACKET_WHOLE)
		report(c, h->timestamp_begin > c->time ? h->timestamp_begin : c->time,
		       state == PACKET_CUT ? TIME_NONE : h->timestamp_end, f->offset, content,
		       packet_state_reason(state));
	f->next_seq = h->packet_seq + 1;
	f->base = h->timestamp_begin;
	f->trusted = state == PACKET_WHOLE;
	f->limit = f->trusted ? h->timestamp_end : untrusted_limit(f, h);
	f->offset += state == PACKET_CUT ? content : h->packet_size / 8;
	if (f->offset > f->size)
		f->offset = f->size;
	c->packet = h;
	c->next = p + JIS_PACKET_HEADER_SIZE;
	c->end = p + content;
	if (f->observer.packet)
		f->observer.packet(f->observer.ctx, c, h);
}

/* Enters the next packet that can be used. Returns false at the end of the file. */
static bool next_packet(struct stream_cursor *c)
{
	struct stream_file *f = c->file;

	/* A sound packet counts up to its end: what follows cannot lie before. */
	if (f->trusted && f->limit > c->time)
		c->time = f->limit;
	while (f->offset < f->size) {
		const struct jis_packet_header *h = (const void *)(f->map + f->offset);
		size_t content;
		enum packet_state state = packet_check(f->map + f->offset, f->size - f->offset,
						       f->has_uuid ? f->uuid : NULL, &content);

		if (state == PACKET_NONE) {
			skip_garbage(c, f->offset);
		} else if (!belongs(c, h)) {
			report(c, c->time, c->time, f->offset, content,
			       "packet of another stream or repeated");
			f->offset += content;
		} else {
			enter_packet(c, h, content, state);
			return true;
		}
	}
	return false;
}

/* The rest of the packet does not decode. */
static void leave_packet(struct stream_cursor *c, const uint8_t *at)
{
	struct stream_file *f = c->file;
	uint64_t end = f->limit > c->time ? f->limit : c->time;

	report(c, c->time, end, (size_t)(at - f->map), (size_t)(c->end - at),
	       "record does not decode");
	c->next = c->end;
}

int stream_cursor_next(struct stream_cursor *c)
{
	struct stream_file *f = c->file;
	struct record r;

	if (!f)
		return 0;
	for (;;) {
		const uint8_t *p = c->next, *next;

		if (p == c->end) {
			if (!next_packet(c))
				return 0;
			continue;
		}
		r.time = f->base;
		next = record_next(f->sizes, p, c->end, &r);
		if (__builtin_expect(!next || r.time > f->limit || r.time < f->base, 0)) {
			leave_packet(c, p);
			continue;
		}
		f->base = r.time;
		if (r.time > c->time)
			c->time = r.time;
		c->id = r.id;
		c->payload = r.payload;
		c->payload_size = r.payload_size;
		c->next = next;
		return 1;
	}
}

void stream_cursor_seek(struct stream_cursor *c, uint64_t time)
{
	struct stream_file *f = c->file;

	while (f && f->offset < f->size) {
		const struct jis_packet_header *h = (const void *)(f->map + f->offset);
		size_t room = f->size - f->offset;

		if (room < JIS_PACKET_HEADER_SIZE || h->magic != JIS_PACKET_MAGIC ||
		    h->packet_size % 32 || h->packet_size / 8 < JIS_PACKET_HEADER_SIZE ||
		    h->packet_size / 8 > room || h->timestamp_end >= time || !belongs(c, h))
			return;
		f->next_seq = h->packet_seq + 1;
		f->offset += h->packet_size / 8;
		c->time = h->timestamp_end;
	}
}
