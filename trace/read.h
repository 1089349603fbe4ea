/* SPDX-License-Identifier: MIT */
/*
 * Reading a trace: one cursor a stream, events in file order, damage told and stepped over.
 * Files are mapped read-only and nothing in them is trusted; a file that shrinks while it is read
 * is the only thing not guarded against (a recording under way only grows).
 */
#ifndef JIS_TRACE_READ_H
#define JIS_TRACE_READ_H

#include <stddef.h>
#include <stdint.h>

#include "decode.h"
#include "event_info.h"
#include "jis/abi.h"
#include "manifest.h"

struct stream_cursor;

/* What a cursor tells its owner beside events. Any member may be NULL. */
struct stream_observer {
	/* Packet begins (its header is checked); called before its first event. */
	void (*packet)(void *ctx, struct stream_cursor *c, const struct jis_packet_header *header);
	/* Part of the stream is damaged: bytes [offset, offset+length), events between the times.
	 */
	void (*damage)(void *ctx, struct stream_cursor *c, uint64_t begin, uint64_t end,
		       uint64_t offset, uint64_t length, const char *reason);
	void *ctx;
};

/* What every packet of a stream carries; others in its file are damage. */
struct stream_identity {
	uint8_t uuid[16];
	uint32_t stream_class;
	uint64_t instance;
};

/*
 * After stream_cursor_next() returned 1: time, id and payload describe the event; payload is 4-byte
 * aligned and valid until the next call. What the hot path needs stands first, in two cache lines.
 */
struct stream_cursor {
	uint64_t time; /* rebased ticks */
	const uint8_t *payload;
	const uint8_t *next; /* next record */
	const uint8_t *end;  /* end of the packet's content */
	uint32_t id;
	uint32_t payload_size;
	const uint16_t *sizes; /* private: payload sizes of the class */
	uint64_t base;	       /* private: time of the last record as decoded, before clamping */
	uint64_t limit;	       /* private: no record of this packet may be later */
	uint32_t stream_class;
	uint32_t trace; /* index: 0 = kernel, 1 + process index of the manifest otherwise */
	uint64_t instance;
	const struct jis_packet_header *packet;
	struct stream_file *file; /* private */
};

/**
 * stream_cursor_open - opens a stream file.
 * @dirfd, @path: the file; symbolic links are not followed.
 * @identity: what its packets must carry; copied.
 * @observer: may be NULL; copied.
 * Returns 0 or -errno. The cursor is at the beginning; stream_cursor_next() gives the first event.
 */
int stream_cursor_open(struct stream_cursor *c, int dirfd, const char *path,
		       const struct stream_identity *identity,
		       const struct stream_observer *observer);
void stream_cursor_close(struct stream_cursor *c);

/**
 * stream_cursor_expect - what lacks at the end of the stream is to be told as damage.
 * @next_seq: packet_seq of the last packet that was written, plus 1; 0: not known.
 */
void stream_cursor_expect(struct stream_cursor *c, uint64_t next_seq);

/* Strings, extended headers, packets' ends, damage: all that stream_cursor_next() does not do. */
int stream_cursor_next_slow(struct stream_cursor *c);

/**
 * stream_cursor_next - steps to the next event.
 * Returns 1, or 0 at the stream's end. Never fails: damaged packets are reported to the observer;
 * of a packet whose crc32c does not match what still decodes is delivered.
 */
static inline int stream_cursor_next(struct stream_cursor *c)
{
	const uint8_t *p = c->next;
	size_t room = (size_t)(c->end - p);
	uint32_t word, size;
	uint64_t time;

	if (__builtin_expect(room < RECORD_COMPACT_HEADER, 0))
		return stream_cursor_next_slow(c);
	word = record_word(p);
	size = c->sizes[word & 31];
	time = record_time(c->base, word);
	if (__builtin_expect(size == RECORD_SPECIAL || size > room - RECORD_COMPACT_HEADER ||
				     time > c->limit || time < c->time,
			     0))
		return stream_cursor_next_slow(c);
	c->time = c->base = time;
	c->id = word & 31;
	c->payload = p + RECORD_COMPACT_HEADER;
	c->payload_size = size;
	c->next = c->payload + size;
	return 1;
}

/**
 * stream_cursor_peek - the record that comes next in the packet the cursor is in, for the observer
 * of the packet.
 * @id: out: of the event.
 * Returns its payload, as stream_cursor_next() would set it, or NULL: there is none that decodes.
 */
const uint8_t *stream_cursor_peek(const struct stream_cursor *c, uint32_t *id);

/**
 * stream_cursor_seek - skips whole packets that end before @time.
 */
void stream_cursor_seek(struct stream_cursor *c, uint64_t time);

/* A whole session -------------------------------------------------------------------------- */

struct trace {
	int dirfd;
	struct manifest *manifest;
	struct stream_cursor *streams;
	uint32_t nr_streams;
};

/**
 * trace_open - opens the session in directory @path with all its streams.
 * @observer: for all cursors; may be NULL.
 * Returns 0; -ENOENT, -ENOTDIR; -ENODATA (no manifest: not a trace, or a recording that died at
 * once); -EUCLEAN (not closed cleanly: `jis recover` first); the errors of manifest_load().
 * A stream the manifest names and whose file cannot be opened is reported as damage of the whole
 * recording, and has no events; why is in its stream_entry.
 */
int trace_open(const char *path, const struct stream_observer *observer, struct trace **out);
void trace_close(struct trace *t);

/*
 * For observers of @t's cursors, to keep in its manifest what is found: stream_entry's unread,
 * damages and damage. trace_open() notes itself which files it cannot open.
 */
void trace_note_packet(struct trace *t, const struct stream_cursor *c);
void trace_note_damage(struct trace *t, const struct stream_cursor *c, const char *reason);

/**
 * trace_recover - makes the unclean session in @path readable.
 * Cuts each stream to whole packets (what is cut off is kept beside it as .NAME.damaged), rebuilds
 * metadata, counters, and the manifest with its tables. Nothing that decodes before a damage is
 * lost.
 * @report: called for each thing done, a line of text; may be NULL.
 * Returns 0, or -EALREADY when the session is clean and whole, or -errno.
 */
int trace_recover(const char *path, void (*report)(void *ctx, const char *line), void *ctx);

#endif /* JIS_TRACE_READ_H */
