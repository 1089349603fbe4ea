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

#include "atomic_file.h"
#include "recover.h"
#include "write.h"

#define FILE_NAME_MAX 300

struct stream_recovery {
	struct recovery *r;
	const char *path, *name;
	const struct stream_identity *id;
	uint32_t process;
	int dirfd; /* of the stream's directory */
	struct stream_bytes bytes;
	struct stream_entry entry;
	struct stream_writer *fresh; /* the whole stream, once one had to be begun */
	/*
	 * Where only the end is damaged, the file is cut in place, which a full disk allows: to
	 * cut_size bytes, after the header in cut_header has been written at cut_at.
	 */
	bool cut;
	size_t cut_size, cut_at;
	struct jis_packet_header cut_header;
	int rest_fd; /* .NAME.damaged, or -1 */
	uint64_t rest_size;
	uint64_t last; /* end of the last packet kept */
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

/*
 * The end of the last record of the packet at @begin, with header @h, that decodes and is in order
 * and not later than @limit, and its time. @any_time: that decodes; the time is then not told.
 */
static const uint8_t *sound_end(const struct jis_packet_header *h, const uint8_t *begin,
				size_t content, uint64_t limit, bool any_time, uint64_t *time)
{
	const uint8_t *p = begin + JIS_PACKET_HEADER_SIZE;
	struct record r = {.time = h->timestamp_begin};

	for (*time = r.time; p < begin + content; *time = r.time) {
		const uint8_t *next = record_next(record_sizes[h->stream_class], h->stream_class, p,
						  begin + content, &r);

		if (!next || (!any_time && (r.time < *time || r.time > limit)))
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

#define REST_STEP ((size_t)1 << 20)

static int rest_open(struct stream_recovery *s)
{
	char name[FILE_NAME_MAX];
	struct stat st;

	snprintf(name, sizeof(name), ".%.240s.damaged", s->name);
	s->rest_fd = openat(s->dirfd, name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
			    TRACE_FILE_MODE);
	if (s->rest_fd < 0 || fstat(s->rest_fd, &st))
		return -errno;
	s->rest_size = (uint64_t)st.st_size;
	return 0;
}

/* Puts the bytes from @offset to @end aside; what was a hole stays one. */
static int rest_write(struct stream_recovery *s, size_t offset, size_t end)
{
	int err = 0;

	if (offset < end && s->rest_fd < 0)
		err = rest_open(s);
	while (!err && offset < end) {
		size_t data = stream_bytes_data(&s->bytes, offset), hole, n;

		data = data < end ? data : end;
		s->rest_size += data - offset;
		/* To read from a hole fills it, where files are in memory. */
		hole = stream_bytes_hole(&s->bytes, data);
		hole = hole < end ? hole : end;
		n = hole - data < REST_STEP ? hole - data : REST_STEP;
		err = file_write_all(s->rest_fd, s->bytes.map + data, n, s->rest_size);
		s->rest_size += n;
		offset = data + n;
	}
	if (!err && s->rest_fd >= 0 && ftruncate(s->rest_fd, (off_t)s->rest_size))
		err = -errno;
	return err;
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
		err = stream_writer_append(s->fresh, (const void *)(s->bytes.map + at));
		at += packet_header_at(s->bytes.map + at).packet_size / 8;
	}
	return err;
}

static int keep_whole(struct stream_recovery *s, const struct jis_packet_header *h, size_t offset)
{
	int err = 0;

	/* Padding behind the content is sound, but a cut file may lack it. */
	if (offset + h->packet_size / 8 > s->bytes.size)
		err = fresh_begin(s, offset);
	if (!err && s->fresh)
		err = stream_writer_append(s->fresh, (const void *)(s->bytes.map + offset));
	if (!err && h->packet_seq > s->next_seq)
		err = damage_add(s, s->last, h->timestamp_begin, packet_missing_reason);
	return err ? err : book_packet(s, h, s->bytes.map + offset);
}

/* Puts @time into the header of the record at @p; what follows is then relative to it. */
static void set_time(uint8_t *p, uint64_t time)
{
	uint32_t word = record_word(p);

	if ((word & 31) == JIS_ID_EXTENDED) {
		memcpy(p + 8, &time, sizeof(time));
		return;
	}
	word = (word & 31) | (uint32_t)(time & JIS_TIME_MASK) << 5;
	memcpy(p, &word, sizeof(word));
}

/*
 * Clamps the times of a sound packet's copy so that they do not fall and stay within it, as the
 * reader does; no header changes its form: a clamped time is nearer to the next one, not farther.
 */
static void clamp_times(struct jis_packet_header *copy, uint64_t last)
{
	uint8_t *p = (uint8_t *)(copy + 1), *end = (uint8_t *)copy + copy->content_size / 8;
	struct record r = {.time = copy->timestamp_begin};

	copy->timestamp_begin = copy->timestamp_begin > last ? copy->timestamp_begin : last;
	if (copy->timestamp_end < copy->timestamp_begin)
		copy->timestamp_end = copy->timestamp_begin;
	last = copy->timestamp_begin;
	while (p < end) {
		const uint8_t *next = record_next(record_sizes[copy->stream_class],
						  copy->stream_class, p, end, &r);

		if (r.time > last)
			last = r.time < copy->timestamp_end ? r.time : copy->timestamp_end;
		set_time(p, last);
		p += next - p;
	}
}

/* A packet with a right checksum whose times are not in order: nothing of it is dropped. */
static int keep_clamped(struct stream_recovery *s, const struct jis_packet_header *h, size_t offset)
{
	struct jis_packet_header *copy = malloc(h->content_size / 8);
	int err = fresh_begin(s, offset);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, s->bytes.map + offset, h->content_size / 8);
	clamp_times(copy, s->last);
	if (!err)
		err = damage_add(s, s->last, copy->timestamp_begin, "time steps back");
	if (!err)
		err = stream_writer_append(s->fresh, copy);
	if (!err)
		err = book_packet(s, copy, (const uint8_t *)copy);
	free(copy);
	return err;
}

/* The damaged end of a stream, put aside if there is room for it. */
static int cut_end(struct stream_recovery *s, size_t from)
{
	int err = rest_write(s, from, s->bytes.size);

	s->cut = true;
	s->cut_size = from;
	if (err != -ENOSPC && err != -EDQUOT)
		return err;
	recovery_say(s->r, "%s: no room to keep the %zu bytes that are cut off", s->path,
		     s->bytes.size - from);
	return 0;
}

/* Bytes that can be no part of the stream. */
static int drop(struct stream_recovery *s, size_t offset, size_t next, const char *reason)
{
	size_t content;
	int err;

	if (!s->fresh && next >= s->bytes.size) {
		err = cut_end(s, offset);
		return err ? err : damage_add(s, s->last, TIME_NONE, reason);
	}
	err = fresh_begin(s, offset);
	if (!err)
		err = rest_write(s, offset, next);
	if (err)
		return err;
	if (packet_check(s->bytes.map + next, s->bytes.size - next, s->id, &content) == PACKET_NONE)
		return damage_add(s, s->last, TIME_NONE, reason);
	return damage_add(s, s->last, packet_header_at(s->bytes.map + next).timestamp_begin,
			  reason);
}

/*
 * Keeps the records before @end of a damaged packet, as a packet of its own. Of its header only
 * what the records need is believed.
 */
static int keep_records(struct stream_recovery *s, size_t offset, const uint8_t *end, uint64_t time)
{
	size_t bytes = (size_t)(end - (s->bytes.map + offset));
	struct jis_packet_header *copy = malloc(bytes);
	int err = 0;

	if (!copy)
		return -ENOMEM;
	memcpy(copy, s->bytes.map + offset, bytes);
	copy->content_size = copy->packet_size = (uint64_t)bytes * 8;
	copy->timestamp_end = time;
	copy->packet_seq = s->next_seq;
	copy->events_discarded = s->discarded;
	copy->flags = JIS_PACKET_RECOVERED;
	if (copy->stream_class == JIS_STREAM_KERNEL)
		copy->owner = (uint32_t)copy->stream_instance;
	copy->crc32c = packet_crc32c(copy);
	if (s->fresh) {
		err = stream_writer_append(s->fresh, copy);
	} else {
		s->cut_at = offset;
		s->cut_header = *copy;
	}
	if (!err)
		err = book_packet(s, copy, (const uint8_t *)copy);
	free(copy);
	return err;
}

static int keep_part(struct stream_recovery *s, const struct jis_packet_header *h, size_t offset,
		     size_t next, const char *reason)
{
	size_t content = h->content_size / 8 < next - offset ? h->content_size / 8 : next - offset;
	uint64_t seq, time, limit = packet_limit(&s->bytes, h, next, s->id, &seq);
	const uint8_t *end;
	int err = 0;

	/* It may not take the number of a packet that is whole. */
	if (h->timestamp_begin < s->last || h->timestamp_begin > limit || s->next_seq >= seq)
		return drop(s, offset, next, reason);
	end = sound_end(h, s->bytes.map + offset, content & ~(size_t)3, limit, false, &time);
	if (next < s->bytes.size)
		err = fresh_begin(s, offset);
	if (!err)
		err = damage_add(s, time, next < s->bytes.size ? limit : TIME_NONE, reason);
	if (!err)
		err = keep_records(s, offset, end, time);
	if (err)
		return err;
	offset = (size_t)(end - s->bytes.map);
	return s->fresh ? rest_write(s, offset, next) : cut_end(s, offset);
}

/* One packet or the garbage before it; *offset goes behind it. */
static int walk_one(struct stream_recovery *s, size_t *offset)
{
	struct jis_packet_header h;
	const char *reason = "record does not decode";
	size_t at = *offset, content;
	enum packet_state state =
		packet_check(s->bytes.map + at, s->bytes.size - at, s->id, &content);
	uint64_t time;

	if (state == PACKET_NONE) {
		*offset = packet_find(&s->bytes, at + 4, s->bytes.size, s->id);
		return drop(s, at, *offset, packet_state_reason(state));
	}
	h = packet_header_at(s->bytes.map + at);
	*offset = packet_end(&s->bytes, at, state, s->id);
	if (state == PACKET_WHOLE) {
		const uint8_t *end = s->bytes.map + at + content;

		if (h.packet_seq < s->next_seq)
			return drop(s, at, *offset, "packet repeated");
		if (h.timestamp_begin >= s->last &&
		    sound_end(&h, s->bytes.map + at, content, h.timestamp_end, false, &time) == end)
			return keep_whole(s, &h, at);
		if (sound_end(&h, s->bytes.map + at, content, 0, true, &time) == end)
			return keep_clamped(s, &h, at);
	} else {
		reason = packet_state_reason(state);
	}
	return keep_part(s, &h, at, *offset, reason);
}

/* Replaces the old file by the new one. */
static int finish_fresh(struct stream_recovery *s, int err)
{
	char name[FILE_NAME_MAX];
	int close_err = stream_writer_close(s->fresh);

	snprintf(name, sizeof(name), ".%.240s.new", s->name);
	err = err ? err : close_err;
	if (!err && renameat(s->dirfd, name, s->dirfd, s->name))
		err = -errno;
	if (err)
		unlinkat(s->dirfd, name, 0);
	return err;
}

static int finish_cut(struct stream_recovery *s)
{
	const uint8_t *header = (const uint8_t *)&s->cut_header;
	int fd = openat(s->dirfd, s->name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW), err = 0;

	if (fd < 0)
		return -errno;
	if (s->cut_header.magic)
		err = file_write_all(fd, header, sizeof(s->cut_header), s->cut_at);
	if (!err && ftruncate(fd, (off_t)s->cut_size))
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	return err;
}

static int finish(struct stream_recovery *s, int err)
{
	if (s->rest_fd >= 0)
		close(s->rest_fd);
	if (s->fresh)
		err = finish_fresh(s, err);
	else if (s->cut && !err)
		err = finish_cut(s);
	if (err || (!s->fresh && !s->cut))
		return err;
	s->r->damaged++;
	recovery_say(s->r, "%s: damaged; %llu packets kept", s->path,
		     (unsigned long long)s->entry.packets);
	return 0;
}

/* Packets that were written behind the last one there is: the file was cut between two. */
static int miss_end(struct stream_recovery *s)
{
	const struct manifest *m = s->r->m;
	const struct damage_entry *last = m->nr_damages ? &m->damages[m->nr_damages - 1] : NULL;

	if (last && last->end == TIME_NONE && !strcmp(last->path, s->path))
		return 0; /* what there was of them is told */
	for (uint32_t i = 0; i < s->r->nr_known; i++)
		if (!strcmp(s->r->known[i].path, s->path) &&
		    stream_entry_next_seq(&s->r->known[i]) > s->next_seq)
			return damage_add(s, s->last, TIME_NONE, packet_missing_reason);
	return 0;
}

/* What the recorder knew of the stream's counters is better than what the records tell. */
static void keep_counters(struct stream_recovery *s)
{
	const struct stream_entry *known = NULL;

	for (uint32_t i = 0; i < s->r->nr_known && !known; i++)
		if (s->r->known[i].clean && !strcmp(s->r->known[i].path, s->path))
			known = &s->r->known[i];
	s->entry.clean = known != NULL;
	for (int i = 0; i < JIS_MAX_EVENT_ID; i++) {
		uint64_t stored = s->entry.stored[i];

		s->entry.produced[i] = stored + s->entry.lost[i];
		if (!known)
			continue;
		s->entry.produced[i] = known->produced[i] > stored ? known->produced[i] : stored;
		s->entry.lost[i] = s->entry.produced[i] - stored;
	}
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
	s->entry.next_seq = s->next_seq;
	keep_counters(s);
	m->streams[m->nr_streams++] = s->entry;
	return 0;
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
	int err = stream_bytes_map(&s.bytes, dirfd, name);

	if (err == -ELOOP)
		err = -EINVAL;

	/* Nothing of the stream in the file: it is left as it is. */
	if (!err)
		offset = packet_find(&s.bytes, 0, s.bytes.size, identity);
	if (!err && packet_check(s.bytes.map + offset, s.bytes.size - offset, identity, &content) ==
			    PACKET_NONE)
		err = -ENODATA;
	for (offset = 0; offset < s.bytes.size && !err;)
		err = walk_one(&s, &offset);
	if (!err && !s.entry.packets)
		err = -ENODATA;
	if (!err)
		err = miss_end(&s);
	err = finish(&s, err);
	if (!err)
		err = enter(&s);
	stream_bytes_unmap(&s.bytes);
	return err;
}
