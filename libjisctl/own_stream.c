/* SPDX-License-Identifier: MIT */
/*
 * Packets that the recorder itself builds for a process, written as if they came from its pool, and
 * what became of their records.
 */
#include "own_stream.h"

#include <errno.h>
#include <string.h>

#include "recorder.h"

int own_stream_init(struct own_stream *s, struct recorder_process *process, uint32_t own_pid,
		    uint32_t slot, uint32_t bytes)
{
	uint32_t class;
	uint64_t instance = recorder_process_own_instance(process, slot, &class);
	int err;

	memset(s, 0, sizeof(*s));
	err = packet_builder_init(&s->builder, bytes, class, instance,
				  recorder_process_uuid(process));
	s->process = process;
	s->slot = slot;
	s->builder.proto.pid = own_pid;
	s->builder.sequence = 1; /* 0 is the empty packet that begins each stream */
	return err;
}

void own_stream_fini(struct own_stream *s)
{
	packet_builder_fini(&s->builder);
}

int own_stream_flush(struct own_stream *s)
{
	struct jis_packet_header *packet = packet_builder_close(&s->builder, 0);
	int err, i;

	if (!packet)
		return 0;
	err = recorder_process_packet(s->process, s->slot, packet, 0, false);
	for (i = 0; i < JIS_MAX_EVENT_ID; i++) {
		uint64_t n = s->builder.stored[i] - s->written[i];

		s->written[i] += n;
		s->lost[i] += err ? n : 0;
		s->builder.discarded += err ? n : 0;
	}
	if (err == -EMFILE)
		err = 0; /* costs this packet, and no more */
	s->error = s->error ? s->error : err;
	return err;
}

void own_stream_put(struct own_stream *s, uint32_t id, uint64_t time, const void *payload,
		    uint32_t len, const char *text)
{
	if (packet_builder_add(&s->builder, id, time, payload, len, text) != -ENOSPC)
		return;
	own_stream_flush(s);
	packet_builder_add(&s->builder, id, time, payload, len, text);
}

/* Of type 0 only losses are known; all others were in a packet. */
void own_stream_counts(const struct own_stream *s, uint64_t *produced, uint64_t *stored,
		       uint64_t *lost)
{
	int i;

	for (i = 0; i < JIS_MAX_EVENT_ID; i++) {
		*produced += s->builder.stored[i] + (i ? 0 : s->lost[i]);
		*stored += s->builder.stored[i] - (i ? s->lost[i] : 0);
		*lost += s->lost[i];
	}
}

void own_stream_settle(const struct own_stream *s)
{
	uint64_t produced[JIS_MAX_EVENT_ID];

	memcpy(produced, s->builder.stored, sizeof(produced));
	produced[0] += s->lost[0];
	recorder_process_counts(s->process, s->slot, produced, s->lost);
}
