/* SPDX-License-Identifier: MIT */
/*
 * The two halves of recovery: making each stream whole (recover_stream.c), and making the session's
 * books again (recover.c). Private to trace/.
 */
#ifndef JIS_TRACE_RECOVER_H
#define JIS_TRACE_RECOVER_H

#include "manifest.h"
#include "read.h"
#include "record.h"
#include "thread_table.h"

struct recovery {
	int dirfd;
	struct manifest *m;
	struct thread_table *threads;
	void (*report)(void *ctx, const char *line);
	void *ctx;
	uint64_t first, last; /* earliest and latest time of any sound packet */
	uint64_t begin;	      /* session_mark start, or TIME_NONE */
	uint32_t damaged;     /* streams that had to be cut */
	uint64_t tsc;	      /* of the first clock_sync */
	/* Streams of the manifest that was there, for their counters. */
	struct stream_entry *known;
	uint32_t nr_known;
};

void recovery_say(struct recovery *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * recover_stream - makes stream @path (relative to the session) whole and enters it into the
 * manifest.
 * @dirfd, @name: its directory and its name there.
 * @identity: what its packets must carry.
 * @process: pid of the process its directory belongs to, or 0.
 * Returns 0, -ENODATA when not one packet of the stream is in it, -EINVAL when it is no file, or
 * -errno.
 */
int recover_stream(struct recovery *r, int dirfd, const char *name, const char *path,
		   const struct stream_identity *identity, uint32_t process);

#endif /* JIS_TRACE_RECOVER_H */
