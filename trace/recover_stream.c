/* SPDX-License-Identifier: MIT */
/*
 * Makes one stream whole: sound packets stay, of others what decodes is kept as a packet marked
 * recovered, and all the rest goes to .NAME.damaged beside the stream.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recover.h"
#include "write.h"

struct stream_recovery {
	struct recovery *r;
	const char *path;
	uint32_t process;
	const uint8_t *map;
	size_t size;
	const uint8_t *uuid;
	int dirfd;	  /* of the stream's directory */
	const char *name; /* in it */
	struct stream_entry entry;
	struct stream_writer *fresh; /* the whole stream, once one had to be begun */
	int rest_fd;		     /* .NAME.damaged, or -1 */
	uint64_t last;		     /* end of the last sound packet */
	uint64_t next_seq;
};

static int damage_add(struct recovery *r, const char *path, uint64_t begin, uint64_t end,
		      const char *reason)
{
	struct manifest *m = r->m;
	struct damage_entry *grown = realloc(m->damages, (m->nr_damages + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	m->damages = grown;
	grown[m->nr_damages] = (struct damage_entry){strdup(path), begin, end, strdup(reason)};
	m->nr_damages++;
	return grown[m->nr_damages - 1].path && grown[m->nr_damages - 1].reason ? 0 : -ENOMEM;
}

/* Counts what a packet holds; returns the end of the last record that decodes, and its time. */
static const uint8_t *count_records(struct stream_recovery *s, const struct jis_packet_header *h,
				    size_t content, uint64_t *time)
{
	const uint8_t *p = (const uint8_t *)h + JIS_PACKET_HEADER_SIZE,
		      *end = (const uint8_t *)h + content;
	const uint16_t *sizes = record_sizes[h->stream_class];
	struct record r = {.time = h->timestamp_begin};

	*time = r.time;
	while (p < end) {
		const uint8_t *next = record_next(sizes, p, end, &r);

		if (!next || r.time < *time || r.time > h->timestamp_end)
			break;
		*time = r.time;
		s->entry.stored[r.id]++;
		if (r.id == JIS_EV_lost_records) {
			const struct jis_ev_lost_records *lost = (const void *)r.payload;

			if (lost->type < JIS_MAX_EVENT_ID)
				s->entry.lost[lost->type] += lost->count;
		}
		if (h->stream_class == JIS_STREAM_RECORDER && r.id == JIS_EV_session_mark &&
		    record_u32(r.payload) == JIS_MARK_START)
			s->r->begin = r.time;
		p = next;
	}
	return p;
}

static int rest_write(struct stream_recovery *s, const uint8_t *p, size_t n)
{
	char name[300];

	if (!n)
		return 0;
	if (s->rest_fd < 0) {
		snprintf(name, sizeof(name), ".%.250s.damaged", s->name);
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
	char name[300];
	int err;

	if (s->fresh)
		return 0;
	snprintf(name, sizeof(name), ".%.250s.new", s->name);
	unlinkat(s->dirfd, name, 0);
	err = stream_writer_create(s->dirfd, name, &s->fresh);
	for (size_t at = 0; !err && at < offset;) {
		const struct jis_packet_header *h = (const void *)(s->map + at);

		err = stream_writer_append(s->fresh, h);
		at += h->packet_size / 8;
	}
	return err;
}

static void book_packet(struct stream_recovery *s, const struct jis_packet_header *h, uint64_t end)
{
	s->entry.packets++;
	s->entry.stream_class = h->stream_class;
	s->entry.instance = h->stream_instance;
	s->next_seq = h->packet_seq + 1;
	if (h->timestamp_begin < s->r->first)
		s->r->first = h->timestamp_begin;
	if (end > s->r->last)
		s->r->last = end;
	s->last = end;
}

static bool belongs(const struct stream_recovery *s, const struct jis_packet_header *h)
{
	return !s->entry.packets || (h->stream_class == s->entry.stream_class &&
				     h->stream_instance == s->entry.instance &&
				     h->packet_seq >= s->next_seq && h->timestamp_begin >= s->last);
}

static int keep_whole(struct stream_recovery *s, const struct jis_packet_header *h, size_t offset)
{
	uint64_t time;
	int err = 0;

	/* Padding behind the content is sound, but a cut file may lack it. */
	if (offset + h->packet_size / 8 > s->size)
		err = fresh_begin(s, offset);
	if (!err && s->fresh)
		err = stream_writer_append(s->fresh, h);
	if (err)
		return err;
	count_records(s, h, h->content_size / 8, &time);
	book_packet(s, h, h->timestamp_end);
	return thread_table_add_packet(s->r->threads, s->process, h, 0);
}

/* Keeps the records of a damaged packet that decode, as a packet of their own. */
static int keep_part(struct stream_recovery *s, const struct jis_packet_header *h, size_t offset,
		     size_t content, enum packet_state state)
{
	const uint8_t *begin = (const uint8_t *)h, *end;
	struct jis_packet_header *copy;
	uint64_t time;
	int err = fresh_begin(s, offset);

	if (err)
		return err;
	end = count_records(s, h, content, &time);
	err = damage_add(s->r, s->path, time > s->last ? time : s->last,
			 state == PACKET_CUT ? TIME_NONE : h->timestamp_end,
			 packet_state_reason(state));
	copy = malloc((size_t)(end - begin));
	if (!copy || err) {
		free(copy);
		return err ? err : -ENOMEM;
	}
	memcpy(copy, h, (size_t)(end - begin));
	copy->content_size = copy->packet_size = (uint64_t)(end - begin) * 8;
	copy->timestamp_end = time;
	copy->flags |= JIS_PACKET_RECOVERED;
	err = stream_writer_append(s->fresh, copy);
	if (!err)
		err = rest_write(s, end, (size_t)(begin + content - end));
	book_packet(s, copy, time);
	if (!err)
		err = thread_table_add_packet(s->r->threads, s->process, copy, 0);
	free(copy);
	return err;
}

static int drop(struct stream_recovery *s, size_t offset, size_t next)
{
	int err = fresh_begin(s, offset);

	if (!err)
		err = rest_write(s, s->map + offset, next - offset);
	return err ? err
		   : damage_add(s->r, s->path, s->last, next < s->size ? s->last : TIME_NONE,
				packet_state_reason(PACKET_NONE));
}

static int walk(struct stream_recovery *s)
{
	size_t offset = 0, content, next;
	int err = 0;

	while (offset < s->size && !err) {
		const struct jis_packet_header *h = (const void *)(s->map + offset);
		enum packet_state state =
			packet_check(s->map + offset, s->size - offset, s->uuid, &content);

		next = offset + (state == PACKET_WHOLE ? h->packet_size / 8 : content);
		if (state == PACKET_NONE || !belongs(s, h)) {
			if (state == PACKET_NONE)
				next = packet_find(s->map, s->size, offset + 4, s->uuid);
			err = drop(s, offset, next);
		} else if (state == PACKET_WHOLE) {
			err = keep_whole(s, h, offset);
		} else {
			err = keep_part(s, h, offset, content, state);
		}
		offset = next;
	}
	return err;
}

static int finish(struct stream_recovery *s, int err)
{
	char name[300];
	int close_err;

	if (s->rest_fd >= 0)
		close(s->rest_fd);
	if (s->fresh) {
		snprintf(name, sizeof(name), ".%.250s.new", s->name);
		close_err = stream_writer_close(s->fresh);
		err = err ? err : close_err;
		if (!err && renameat(s->dirfd, name, s->dirfd, s->name))
			err = -errno;
		if (err)
			unlinkat(s->dirfd, name, 0);
		if (!err) {
			s->r->damaged++;
			recovery_say(s->r, "%s: damaged; %llu whole packets kept", s->path,
				     (unsigned long long)s->entry.packets);
		}
	}
	return err;
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
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = -EINVAL;
	s->size = err ? 0 : (size_t)st.st_size;
	if (s->size)
		map = mmap(NULL, s->size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		err = -errno;
	s->map = err ? NULL : map;
	close(fd);
	return err;
}

int recover_stream(struct recovery *r, const char *path, uint32_t process)
{
	struct stream_recovery s = {.r = r, .path = path, .process = process, .rest_fd = -1};
	const char *slash = strrchr(path, '/');
	char directory[300];
	int err;

	snprintf(directory, sizeof(directory), "%.*s", (int)(slash - path), path);
	s.name = slash + 1;
	s.dirfd = openat(r->dirfd, directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s.dirfd < 0)
		return -errno;
	err = map_stream(&s);
	if (!err)
		err = walk(&s);
	if (!err && !s.entry.packets)
		err = -ENODATA;
	err = finish(&s, err);
	if (!err)
		err = enter(&s);
	if (s.map)
		munmap((void *)(uintptr_t)s.map, s.size);
	close(s.dirfd);
	return err;
}
