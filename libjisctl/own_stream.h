/* SPDX-License-Identifier: MIT */
/*
 * A stream beside those of a process's pool, in which the recorder itself tells of the process; see
 * recorder_process_own_slots(). Private to libjisctl.
 */
#ifndef JISCTL_OWN_STREAM_H
#define JISCTL_OWN_STREAM_H

#include <stdint.h>

#include "trace/write.h"

struct recorder_process;

struct own_stream {
	struct packet_builder builder; /* its proto.owner is the user's to fill in */
	struct recorder_process *process;
	uint32_t slot;
	uint64_t written[JIS_MAX_EVENT_ID]; /* of builder.stored: in packets that were closed */
	uint64_t lost[JIS_MAX_EVENT_ID];
	int error; /* the first one met while writing */
};

/**
 * own_stream_init - of process @process, whose own pid is @own_pid.
 * @bytes: of a packet. @slot: one of recorder_process_own_slots(); it says the class.
 * Returns 0 or -errno; own_stream_fini() in each case.
 */
int own_stream_init(struct own_stream *s, struct recorder_process *process, uint32_t own_pid,
		    uint32_t slot, uint32_t bytes);
void own_stream_fini(struct own_stream *s);

/* Adds a record at rebased @time, as packet_builder_add(); full packets are written. */
void own_stream_put(struct own_stream *s, uint32_t id, uint64_t time, const void *payload,
		    uint32_t len, const char *text);
/* Writes what there is. Returns 0 or -errno; want of a descriptor costs the packet, and no more. */
int own_stream_flush(struct own_stream *s);
/* Adds up what was produced, stored and lost so far. */
void own_stream_counts(const struct own_stream *s, uint64_t *produced, uint64_t *stored,
		       uint64_t *lost);
/* Gives the recorder the final counts; after the last flush. */
void own_stream_settle(const struct own_stream *s);

#endif /* JISCTL_OWN_STREAM_H */
