/* SPDX-License-Identifier: MIT */
/*
 * Writing a trace directory: streams of packets, the CTF metadata beside them. Used by the recorder
 * and by `jis recover`. Never prints; every function returns 0 or -errno.
 *
 * Layout of a session directory:
 *   manifest.json                 see manifest.h
 *   kernel/metadata               CTF 1.8, text
 *   kernel/cpu-N                  class KERNEL
 *   kernel/recorder               class RECORDER
 *   jvm-PID-START/metadata        (process-PID-START/ for C programs)
 *   jvm-PID-START/dict            class DICT
 *   jvm-PID-START/dict-1          the same, of what the recorder itself tells of the process
 *   jvm-PID-START/slot-N          class USER
 */
#ifndef JIS_TRACE_WRITE_H
#define JIS_TRACE_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jis/abi.h"

/* Modes of all there is in a trace, less the umask: what programs did is nobody else's business. */
#define TRACE_FILE_MODE 0640
#define TRACE_DIRECTORY_MODE 0750

/* CRC-32C of @len bytes, continuing @crc (start with 0). Uses the CPU's instruction where it has
 * one. */
uint32_t crc32c(uint32_t crc, const void *data, size_t len);

/* The value of jis_packet_header.crc32c for a packet of content_size bits at @packet. */
uint32_t packet_crc32c(const struct jis_packet_header *packet);

/* Building packets record by record -------------------------------------------------------- */

/*
 * A packet under construction in memory: the recorder's own streams, and those of a backend whose
 * records must be converted. Counts what it stores.
 */
struct packet_builder {
	uint8_t *buffer;
	size_t size, used; /* used = 0: no packet open */
	struct jis_packet_header
		proto; /* magic, uuid, class, instance, owner, pid, flags filled in */
	uint64_t sequence;
	uint64_t last;	    /* time of the last record */
	uint64_t discarded; /* to be kept up to date by the caller */
	uint64_t stored[JIS_MAX_EVENT_ID];
	uint64_t clock_steps; /* times that went backwards and were clamped */
};

/**
 * packet_builder_init - prepares a builder of packets of at most @size bytes.
 * @size: multiple of 4, at least 4096, at most 4 MiB. Kernel streams: owner is set to @instance.
 * Returns 0, -EINVAL or -ENOMEM. Free with packet_builder_fini().
 */
int packet_builder_init(struct packet_builder *b, size_t size, uint32_t stream_class,
			uint64_t instance, const uint8_t uuid[16]);
void packet_builder_fini(struct packet_builder *b);

/**
 * packet_builder_add - appends one record, opening a packet when none is open.
 * @time: rebased ticks; one before the last record's is clamped and counted.
 * @payload, @len: the fixed fields, without a string's length word when @text is given.
 * @text: the string field or NULL; cut to JIS_STRING_MAX with "..." at the end, never inside a
 * UTF-8 character. Returns 0; -ENOSPC when the record does not fit: take the packet with
 * packet_builder_close() and try again; -EINVAL for an id no event can have, a @len that is no
 * multiple of 4, and a record that fits into no packet.
 */
int packet_builder_add(struct packet_builder *b, uint32_t id, uint64_t time, const void *payload,
		       uint32_t len, const char *text);

/**
 * packet_builder_close - completes the header (crc32c excepted) of the open packet.
 * @time_end: timestamp_end, or 0 for the last record's time.
 * Returns the packet, valid until the next add, or NULL when none is open.
 */
struct jis_packet_header *packet_builder_close(struct packet_builder *b, uint64_t time_end);

/**
 * packet_builder_open - opens an empty packet at @time, so that a stream begins with an empty one.
 */
int packet_builder_open(struct packet_builder *b, uint64_t time);

/* Streams ----------------------------------------------------------------------------------- */

/* One stream file. Packets are appended; the last one may be written again while it grows. */
struct stream_writer;

/**
 * stream_writer_create - makes stream file @name in directory @dirfd (O_EXCL, TRACE_FILE_MODE).
 * Returns 0 or -errno; *out is then to be closed with stream_writer_close().
 */
int stream_writer_create(int dirfd, const char *name, struct stream_writer **out);

/**
 * stream_writer_append - writes one whole packet behind the last.
 * @packet: header and content; packet_size becomes content_size (no padding on disk) and the
 *          crc32c is filled in, in the file only.
 * Returns 0 or -errno (-ENOSPC, -EIO...); after an error the file ends at the last whole packet.
 */
int stream_writer_append(struct stream_writer *w, const struct jis_packet_header *packet);

/**
 * stream_writer_update_tail - as append, but the packet stays open: the next append or update_tail
 * with the same packet_seq writes over it, content first, header last. Of a packet that grows only
 * what is new is written: the records given before must not have changed.
 */
int stream_writer_update_tail(struct stream_writer *w, const struct jis_packet_header *packet);

/* Bytes of the file so far. */
uint64_t stream_writer_bytes(const struct stream_writer *w);

/* Closes the file. Returns 0 or the first error that was met while writing. */
int stream_writer_close(struct stream_writer *w);

/* Metadata ---------------------------------------------------------------------------------- */

struct metadata_params {
	bool kernel;		/* classes KERNEL and RECORDER, else USER and DICT */
	uint8_t uuid[16];	/* the trace's, as in its packet headers */
	uint8_t clock_uuid[16]; /* the session's: the same in all its traces */
	uint32_t clock;		/* JIS_CLOCK_* */
	uint64_t frequency;	/* ticks per second */
	int64_t offset_s;	/* epoch time of tick 0 of the rebased clock: whole seconds... */
	uint64_t offset;	/* ...and ticks below a second */
	const char *hostname;
	const char *process; /* user traces: what it is, else NULL */
	uint32_t pid;
};

#define METADATA_FILE "metadata"

/**
 * metadata_write - writes file "metadata" (CTF 1.8 text) into directory @dirfd, by rename.
 * Returns 0 or -errno.
 */
int metadata_write(int dirfd, const struct metadata_params *params);

#endif /* JIS_TRACE_WRITE_H */
