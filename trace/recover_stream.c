/* SPDX-License-Identifier: MIT */
/*
 * Makes one stream whole: sound packets stay, of others what decodes is kept as a packet marked
 * recovered, and all the rest goes to .NAME.damaged beside the stream. The old file stays until the
 * new one is complete. Never lets a packet that is damaged decide about one that is not.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recover.h"
#include "write.h"

#define FILE_NAME_MAX 300

struct stream_recovery {
	struct recovery *r;
	const char *path, *name;
	const struct stream_identity *id;
	uint32_t process;
	int dirfd; /* of the stream's directory */
	const uint8_t *map;
	size_t size;
	struct stream_entry entry;
	struct stream_writer *fresh; /* the whole stream, once one had to be begun */
	int rest_fd;		     /* .NAME.damaged, or -1 */
	uint64_t last;		     /* end of the last packet kept */
	uint64_t next_seq, discarded;
};

static int damage_add(struct stream_recovery *s, uint64_t begin, uint64_t end, const char *reason)
{
	struct manifest *m = s->r->m;
	struct damage_entry *grown = realloc(m->damages, (m->nr_damages + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	m->damages = grown;
	grown += m->nr_damages++;
	*grown = (struct damage_entry){strdup(s->path), begin, end < begin ? begin : end,
				       strdup(reason)};
	return grown->path && grown->reason ? 0 : -ENOMEM;
}

/* The end of the last record of the packet at @begin, with header @h, that decodes and is not later
 * than @limit, and its time. */
static const uint8_t *sound_end(const struct jis_packet_header *h, const uint8_t *begin,
				size_t content, uint64_t limit, uint64_t *time)
{
	const uint8_t *p = begin + JIS_PACKET_HEADER_SIZE;
	struct record r = {.time = h->timestamp_begin};

	for (*time = r.time; p < begin + content; *time = r.time) {
		const uint8_t *next = record_next(record_sizes[h->stream_class], h->stream_class, p,
						  begin + content, &r);

		if (!next || r.time < *time || r.time > limit)
			break;
		p = next;
	}
	return p;
}

static void count_record(struct stream_recovery *s, const struct record *r)
{
	const struct jis_ev_lost_records *lost = (const void *)r->payload;

	s->entry.stored[r->id]++;
	if (r->id == JIS_EV_lost_records && lost->type < JIS_MAX_EVENT_ID)
		s->entry.lost[lost->type] += lost->count;
	if (s->id->stream_class == JIS_STREAM_RECORDER && r->id == JIS_EV_session_mark &&
	    record_word(r->payload) == JIS_MARK_START)
		s->r->begin = r->time;
}

/* Enters the sound packet at @begin into the books. */
static int book_packet(struct stream_recovery *s, const struct jis_packet_header *h,
		       const uint8_t *begin)
{
	const uint8_t *p = begin + JIS_PACKET_HEADER_SIZE, *end = begin + h->content_size / 8;
	struct record r = {.time = h->timestamp_begin};

	while (p && p < end) {
		p = record_next(record_sizes[h->stream_class], h->stream_class, p, end, &r);
		if (p)
			count_record(s, &r);
	}
	s->entry.packets++;
	s->next_seq = h->packet_seq + 1;
	s->discarded = h->events_discarded;
	if (h->timestamp_begin < s->r->first)
		s->r->first = h->timestamp_begin;
	if (h->timestamp_end > s->r->last)
		s->r->last = h->timestamp_end;
	s->last = h->timestamp_end;
	return thread_table_add_packet(s->r->threads, s->process, (const void *)begin, 0);
}

static int rest_write(struct stream_recovery *s, const uint8_t *p, size_t n)
{
	char name[FILE_NAME_MAX];

	if (n && s->rest_fd < 0) {
		snprintf(name, sizeof(name), ".%.240s.damaged", s->name);
		s->rest_fd = openat(s->dirfd, name,
				    O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
		if (s->rest_fd < 0)
			return -errno;
	}
	while (n) {
		ssize_t done = write(s->rest_fd, p, n);

		if (done < 0 && errno != EINTR)
			return -errno;
		if (done > 0) {
			p += done;
			n -= (size_t)done;
		}
	}
	return 0;
}

/* From the first damage on the stream is written anew: begins with all packets before @offset. */
static int fresh_begin(struct stream_recovery *s, size_t offset)
{
	char name[FILE_NAME_MAX];
	int err;

	if (s->fresh)
		return 0;
	snprintf(name, sizeof(name), ".%.240s.new", s->name);
	unlinkat(s->dirfd, name, 0);
	err = stream_writer_create(s->dirfd, name, &s->fresh);
	for (size_t at = 0; !err && at < offset;) {
		err = stream_writer_append(s->fresh, (const void *)(s->map + at));
		at += packet_header_at(s->map + at).packet_size / 8;
	}
	return err;
}

static int keep_whole(struct stream_recovery *s, const struct jis_packet_header *h, size_t offset)
{
	int err = 0;

	/* Padding behind the content is sound, but a cut file may lack it. */
	if (offset + h->packet_size / 8 > s->size)
		err = fresh_begin(s, offset);
	if (!err && s->fresh)
		err = stream_writer_append(s->fresh, (const void *)(s->map + offset));
	if (!err && h->packet_seq > s->next_seq)
		err = damage_add(s, s->last, h->timestamp_begin, packet_missing_reason);
	return err ? err : book_packet(s, h, s->map + offset);
}

/* Bytes that can be no part of the stream. */
static int drop(struct stream_recovery *s, size_t offset, size_t next, const char *reason)
{
	int err = fresh_begin(s, offset);
	size_t content;

	if (!err)
		err = rest_write(s, s->map + offset, next - offset);
	if (err)
		return err;
	if (packet_check(s->map + next, s->size - next, s->id, &content) == PACKET_NONE)
		return damage_add(s, s->last, TIME_NONE, reason);
	return damage_add(s, s->last, packet_header_at(s->map + next).timestamp_begin, reason);
}

/*
 * Keeps the records before @end of a damaged packet, as a packet of its own. Of its header only
 * what the records need is believed.
 */
static int keep_records(struct stream_recovery *s, const uint8_t *begin, const uint8_t *end,
			uint64_t time)
{
	size_t bytes = (size_t)(end - begin);
	struct jis_packet_header *copy = malloc(bytes);
	int err;

	if (!copy)
		return -ENOMEM;
	memcpy(copy, begin, bytes);
	copy->content_size = copy->packet_size = (uint64_t)bytes * 8;
	copy->timestamp_end = time;
	copy->packet_seq = s->next_seq;
	copy->events_discarded = s->discarded;
	copy->flags = JIS_PACKET_RECOVERED;
	if (copy->stream_class == JIS_STREAM_KERNEL)
		copy->owner = (uint32_t)copy->stream_instance;
	err = stream_writer_append(s->fresh, copy);
	if (!err)
		err = book_packet(s, copy, (const uint8_t *)copy);
	free(copy);
	return err;
}

static int keep_part(struct stream_recovery *s, const struct jis_packet_header *h, size_t offset,
		     size_t next, const char *reason)
{
	size_t content = h->content_size / 8 < next - offset ? h->content_size / 8 : next - offset;
	uint64_t limit = packet_limit(s->map, s->size, h, next, s->id), time;
	const uint8_t *end;
	int err;

	if (h->timestamp_begin < s->last || h->timestamp_begin > limit)
		return drop(s, offset, next, reason);
	end = sound_end(h, s->map + offset, content & ~(size_t)3, limit, &time);
	err = fresh_begin(s, offset);
	if (!err)
		err = damage_add(s, time, next < s->size ? limit : TIME_NONE, reason);
	if (!err)
		err = keep_records(s, s->map + offset, end, time);
	return err ? err : rest_write(s, end, (size_t)(s->map + next - end));
}

/* One packet or the garbage before it; *offset goes behind it. */
static int walk_one(struct stream_recovery *s, size_t *offset)
{
	struct jis_packet_header h;
	const char *reason = "record does not decode";
	size_t at = *offset, content;
	enum packet_state state = packet_check(s->map + at, s->size - at, s->id, &content);
	uint64_t time;

	if (state == PACKET_NONE) {
		*offset = packet_find(s->map, s->size, at + 4, s->id);
		return drop(s, at, *offset, packet_state_reason(state));
	}
	h = packet_header_at(s->map + at);
	*offset = packet_end(s->map, s->size, at, state, s->id);
	if (state == PACKET_WHOLE) {
		if (h.packet_seq < s->next_seq || h.timestamp_begin < s->last)
			return drop(s, at, *offset, "packet repeated, or its time steps back");
		if (sound_end(&h, s->map + at, content, h.timestamp_end, &time) ==
		    s->map + at + content)
			return keep_whole(s, &h, at);
	} else {
		reason = packet_state_reason(state);
	}
	return keep_part(s, &h, at, *offset, reason);
}

static int finish(struct stream_recovery *s, int err)
{
	char name[FILE_NAME_MAX];
	int close_err;

	if (s->rest_fd >= 0)
		close(s->rest_fd);
	if (!s->fresh)
		return err;
	snprintf(name, sizeof(name), ".%.240s.new", s->name);
	close_err = stream_writer_close(s->fresh);
	err = err ? err : close_err;
	if (!err && renameat(s->dirfd, name, s->dirfd, s->name))
		err = -errno;
	if (err) {
		unlinkat(s->dirfd, name, 0);
		return err;
	}
	s->r->damaged++;
	recovery_say(s->r, "%s: damaged; %llu packets kept", s->path,
		     (unsigned long long)s->entry.packets);
	return 0;
}

static int enter(struct stream_recovery *s)
{
	struct manifest *m = s->r->m;
	struct stream_entry *grown = realloc(m->streams, (m->nr_streams + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	m->streams = grown;
	s->entry.path = strdup(s->path);
	if (!s->entry.path)
		return -ENOMEM;
	s->entry.stream_class = s->id->stream_class;
	s->entry.instance = s->id->instance;
	for (int i = 0; i < JIS_MAX_EVENT_ID; i++)
		s->entry.produced[i] = s->entry.stored[i] + s->entry.lost[i];
	m->streams[m->nr_streams++] = s->entry;
	return 0;
}

static int map_stream(struct stream_recovery *s)
{
	int fd = openat(s->dirfd, s->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW), err = 0;
	struct stat st;
	void *map = NULL;

	if (fd < 0)
		return errno == ELOOP ? -EINVAL : -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = -EINVAL;
	if (!err && st.st_size)
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		err = -errno;
	close(fd);
	if (!err && map) {
		s->map = map;
		s->size = (size_t)st.st_size;
	}
	return err;
}

int recover_stream(struct recovery *r, int dirfd, const char *name, const char *path,
		   const struct stream_identity *identity, uint32_t process)
{
	struct stream_recovery s = {.r = r,
				    .path = path,
				    .name = name,
				    .id = identity,
				    .process = process,
				    .dirfd = dirfd,
				    .rest_fd = -1};
	size_t offset = 0, content;
	int err = map_stream(&s);

	/* Nothing of the stream in the file: it is left as it is. */
	if (!err)
		offset = packet_find(s.map, s.size, 0, identity);
	if (!err &&
	    packet_check(s.map + offset, s.size - offset, identity, &content) == PACKET_NONE)
		err = -ENODATA;
	for (offset = 0; offset < s.size && !err;)
		err = walk_one(&s, &offset);
	if (!err && !s.entry.packets)
		err = -ENODATA;
	err = finish(&s, err);
	if (!err)
		err = enter(&s);
	if (s.map)
		munmap((void *)(uintptr_t)s.map, s.size);
	return err;
}
