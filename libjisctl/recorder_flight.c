/* SPDX-License-Identifier: MIT */
/*
 * A flight recorder's side of the recorder: packets are kept in memory instead of written, until a
 * snapshot, or the end, writes the newest into a trace directory. There each stream begins anew:
 * its packets are numbered from 1 behind an empty one, and only losses within it count.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dict_trim.h"
#include "packet_walk.h"
#include "recorder_private.h"

/* What is kept of processes that have ended: as much as of so many that live, of so many at most.
 */
#define ENDED_POOLS 4u
#define ENDED_MAX 1024u
#define NAMES_PACKET 65536u

int recorder_flight_init(struct recorder *r)
{
	if (!r->params.flight)
		return 0;
	r->keeping = !r->params.snapshot;
	if (!r->keeping)
		return 0;
	r->kernel_history = history_new(r->params.kernel_history_bytes);
	return r->kernel_history ? 0 : -ENOMEM;
}

void recorder_flight_fini(struct recorder *r)
{
	history_free(r->kernel_history);
	free(r->scratch);
}

int recorder_flight_process(struct recorder_process *p)
{
	if (!p->r->keeping)
		return 0;
	p->history = history_new(p->r->params.process_history_bytes);
	p->trim_at = p->r->params.process_history_bytes;
	return p->history ? 0 : -ENOMEM;
}

static bool is_long(const struct recorder_process *p)
{
	return p->history && !p->ended && history_forever_bytes(p->history) > p->trim_at;
}

bool recorder_flight_long(const struct recorder *r)
{
	const struct recorder_process *p;

	for (p = r->processes; p; p = p->next)
		if (is_long(p))
			return true;
	return false;
}

void recorder_flight_trim(struct recorder *r, uint64_t slack)
{
	uint64_t least = r->params.process_history_bytes, left;
	struct recorder_process *p;
	int err;

	for (p = r->processes; p; p = p->next) {
		if (!is_long(p))
			continue;
		err = dict_trim(p->history, r->kernel_history, slack); /* else another time */
		left = history_forever_bytes(p->history);
		p->trim_at = left + (err || left < least ? least : left);
	}
}

/* Forgets the process, and removes what it has in our directory. */
static void process_forget(struct recorder *r, struct recorder_process *p)
{
	struct recorder_process **at = &r->processes;
	char path[sizeof(p->directory) + sizeof("/" METADATA_FILE)];

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	if (!p->next)
		r->last_process = at;
	r->nr_processes--;
	r->nr_ended--;
	r->ended_bytes -= history_bytes(p->history);
	snprintf(path, sizeof(path), "%s/" METADATA_FILE, p->directory);
	unlinkat(r->dirfd, path, 0);
	unlinkat(r->dirfd, p->directory, AT_REMOVEDIR);
	recorder_process_free(p);
	r->manifest_dirty = true;
}

/* The process that ended first, or NULL. */
static struct recorder_process *ended_first(const struct recorder *r)
{
	struct recorder_process *p, *first = NULL;

	for (p = r->processes; p; p = p->next)
		if (p->ended && (!first || p->end_order < first->end_order))
			first = p;
	return first;
}

/* Is the process's time over for all that the kernel's history still has? */
static bool outdated(const struct recorder *r, const struct recorder_process *p)
{
	return p->end_time < history_since(r->kernel_history);
}

void recorder_flight_process_end(struct recorder_process *p)
{
	struct recorder *r = p->r;
	struct recorder_process *first;

	close(p->dirfd);
	p->dirfd = -1;
	if (!r->keeping)
		return;
	p->end_time = clock_now(r->params.clock) - r->params.base;
	p->end_order = r->end_order++;
	r->nr_ended++;
	r->ended_bytes += history_bytes(p->history);
	/* Never @p itself, though the names of its threads alone may take more than ENDED_POOLS. */
	while (!r->ending && (first = ended_first(r)) && first != p &&
	       (r->nr_ended > ENDED_MAX || outdated(r, first) ||
		r->ended_bytes > ENDED_POOLS * r->params.process_history_bytes))
		process_forget(r, first);
}

void recorder_flight_ending(struct recorder *r)
{
	r->ending = true;
}

/* A copy of the packet that may be changed. */
static struct jis_packet_header *scratch(struct recorder *r, const struct jis_packet_header *packet)
{
	size_t bytes = packet->content_size / 8;

	if (bytes > r->scratch_size) {
		uint8_t *more = realloc(r->scratch, bytes);

		if (!more)
			return NULL;
		r->scratch = more;
		r->scratch_size = bytes;
	}
	memcpy(r->scratch, packet, bytes);
	return (struct jis_packet_header *)r->scratch;
}

/* What the losses told in this packet come to: those before it, if it is the first. */
static uint64_t told_here(const struct jis_packet_header *packet)
{
	uint64_t told[JIS_MAX_EVENT_ID] = {0}, n = 0;
	struct packet_walk walk;
	uint32_t i;

	packet_walk_begin(&walk, packet, UINT64_MAX);
	walk.told = told;
	packet_walk_run(&walk, packet, (uint32_t)(packet->content_size / 8), NULL);
	for (i = 0; i < JIS_MAX_EVENT_ID; i++)
		n += told[i];
	return n;
}

/* Where streams of the trace have their uuid from. */
static const uint8_t *stream_uuid(const struct recorder *r, const struct recorder_process *p)
{
	return p ? p->uuid : r->params.kernel_uuid;
}

/* Adds the packet's records to what the stream has stored; settling adds that to the sums. */
static void flight_count(struct recorder *r, struct recorder_stream *s,
			 const struct jis_packet_header *packet)
{
	struct packet_walk walk;

	packet_walk_begin(&walk, packet, UINT64_MAX);
	walk.told = s->told;
	if (s->stream_class == JIS_STREAM_KERNEL)
		recorder_futexes_look(r, &walk);
	packet_walk_run(&walk, packet, (uint32_t)(packet->content_size / 8), s->stored);
}

/* Packets of the stream of the kernel with the names that nothing in the trace tells. */
static int names_begin(struct recorder *r, struct recorder_stream *s, uint64_t time)
{
	struct jis_packet_header *packet;
	struct packet_builder b;
	int err = packet_builder_init(&b, NAMES_PACKET, s->stream_class, s->instance,
				      r->params.kernel_uuid);

	if (err)
		return err;
	b.sequence = s->next_seq;
	b.proto.flags = JIS_PACKET_RECOVERED;
	while (!err && flight_names_tell(r->names, &b, time)) {
		packet = packet_builder_close(&b, 0);
		err = recorder_stream_put(r, s, packet, false);
		if (err)
			break;
		flight_count(r, s, packet);
		err = recorder_fail(r, thread_table_add_packet(r->threads, 0, packet, 0));
	}
	packet_builder_fini(&b);
	r->names = NULL;
	return err;
}

/* The empty packet each stream begins with, names, and from where this stream is counted. */
static int stream_begin(struct recorder *r, struct recorder_stream *s, const uint8_t *uuid,
			const struct jis_packet_header *first)
{
	struct jis_packet_header empty = *first;
	uint64_t told = told_here(first);
	bool names = r->names && s->stream_class == JIS_STREAM_KERNEL;
	int err;

	if (names && flight_names_begin(r->names) < empty.timestamp_begin)
		empty.timestamp_begin = flight_names_begin(r->names);
	empty.timestamp_end = empty.timestamp_begin;
	empty.content_size = empty.packet_size = JIS_PACKET_HEADER_SIZE * 8;
	empty.packet_seq = 0;
	empty.events_discarded = 0;
	empty.flags = 0;
	memcpy(empty.uuid, uuid, sizeof(empty.uuid));
	s->begun = true;
	s->discarded_before = first->events_discarded > told ? first->events_discarded - told : 0;
	err = recorder_stream_put(r, s, &empty, false);
	if (!err && names)
		err = names_begin(r, s, empty.timestamp_begin);
	s->seq_before = first->packet_seq - s->next_seq;
	return err;
}

int recorder_flight_put(struct recorder *r, struct recorder_process *p, struct recorder_stream *s,
			const struct jis_packet_header *packet)
{
	struct jis_packet_header *copy;
	int err;

	if (packet->content_size <= JIS_PACKET_HEADER_SIZE * 8)
		return 0; /* the one the stream began with */
	err = s->begun ? 0 : stream_begin(r, s, stream_uuid(r, p), packet);
	if (err)
		return err;
	copy = scratch(r, packet);
	if (!copy)
		return recorder_fail(r, -ENOMEM);
	memcpy(copy->uuid, stream_uuid(r, p), sizeof(copy->uuid));
	copy->packet_seq -= s->seq_before;
	copy->events_discarded -= s->discarded_before;
	err = recorder_stream_put(r, s, copy, false);
	if (err)
		return err;
	if (packet->timestamp_begin < r->first && s->stream_class != JIS_STREAM_DICT)
		r->first = packet->timestamp_begin;
	flight_count(r, s, copy);
	return 0;
}

struct replay {
	struct recorder *into;
	struct recorder_process *process;
	uint64_t left_out; /* records for whose stream there was no descriptor */
};

static int replay_kernel(void *ctx, uint32_t cpu, const struct jis_packet_header *packet)
{
	const struct replay *replay = ctx;

	return recorder_kernel_packet(replay->into, cpu, packet);
}

static int replay_process(void *ctx, uint32_t slot, const struct jis_packet_header *packet)
{
	struct replay *replay = ctx;
	struct packet_walk walk;
	int err = recorder_process_packet(replay->process, slot, packet, 0, false);

	if (err != -EMFILE)
		return err;
	packet_walk_begin(&walk, packet, UINT64_MAX);
	packet_walk_run(&walk, packet, (uint32_t)(packet->content_size / 8), NULL);
	replay->left_out += walk.records;
	return 0; /* costs this packet, and no more */
}

static void note_left_out(struct recorder *r, uint64_t records)
{
	char text[200];

	snprintf(text, sizeof(text),
		 "%llu records are left out, as there were no file descriptors for their streams; "
		 "allow the recorder more (ulimit -n)",
		 (unsigned long long)records);
	recorder_note(r, text);
}

/* What was produced is what there is and what was lost meanwhile. */
static void stream_settle(struct recorder *r, struct recorder_stream *s)
{
	uint32_t i;

	if (!s || s->counted)
		return;
	for (i = 0; i < JIS_MAX_EVENT_ID; i++) {
		s->lost[i] = s->told[i];
		s->produced[i] = s->stored[i] + s->lost[i];
		r->produced += s->produced[i];
		r->stored += s->stored[i];
		r->lost += s->lost[i];
	}
	s->counted = true;
	recorder_stream_close(r, s);
}

static void process_settle(struct recorder_process *p)
{
	uint32_t i;

	for (i = 0; i < p->nr_slots; i++)
		stream_settle(p->r, p->slots[i]);
	if (p->dirfd >= 0)
		close(p->dirfd);
	p->dirfd = -1;
}

int recorder_flight_look(const struct recorder *r,
			 int (*packet)(void *ctx, uint32_t cpu,
				       const struct jis_packet_header *packet),
			 void *ctx)
{
	return r->kernel_history ? history_each(r->kernel_history, 0, packet, ctx) : 0;
}

uint64_t recorder_flight_cycled(const struct recorder *r)
{
	return r->kernel_history ? history_cycled(r->kernel_history) : 0;
}

void recorder_flight_names(struct recorder *r, struct flight_names *names)
{
	r->names = names;
}

int recorder_flight_replay(struct recorder *r, uint64_t from, struct recorder *into)
{
	struct replay replay = {.into = into};
	struct recorder_process *p;
	int err = 0;

	for (p = r->processes; p && !err; p = p->next) {
		replay.process = p;
		if (into != r)
			err = recorder_process_copy(into, p, &replay.process);
		if (!err)
			err = history_each(p->history, from, replay_process, &replay);
		if (replay.process)
			process_settle(replay.process); /* its files, for the next one's */
	}
	/* Behind the processes whose futexes are waited on. */
	if (r->kernel_history && !err)
		err = history_each(r->kernel_history, from, replay_kernel, &replay);
	if (replay.left_out)
		note_left_out(into, replay.left_out);
	return err;
}

void recorder_flight_settle(struct recorder *r)
{
	struct recorder_process *p;
	uint32_t i;

	r->names = NULL;
	for (i = 0; i < r->params.nr_cpus; i++)
		stream_settle(r, &r->cpus[i]);
	for (p = r->processes; p; p = p->next) {
		recorder_futexes_tell(p);
		process_settle(p);
	}
}

int recorder_flight_end(struct recorder *r)
{
	r->keeping = false;
	return recorder_fail(r, recorder_flight_replay(r, 0, r));
}

int recorder_snapshot(const struct recorder *r, const char *directory,
		      const struct recorder_origin *origin, const struct recorder_mark *marks,
		      uint32_t nr_marks, struct recorder **out)
{
	struct recorder_params params = r->params;
	uint32_t i;
	int err;

	params.origin = *origin;
	memcpy(params.origin.uuid, r->params.uuid, sizeof(params.origin.uuid));
	params.marks = marks;
	params.nr_marks = nr_marks;
	if (getrandom(params.uuid, sizeof(params.uuid), 0) != sizeof(params.uuid) ||
	    getrandom(params.kernel_uuid, sizeof(params.kernel_uuid), 0) !=
		    sizeof(params.kernel_uuid))
		return -EIO;
	params.directory = directory;
	params.command = r->command;
	params.syscalls = r->syscalls;
	params.snapshot = true;
	err = recorder_create(&params, out);
	if (err)
		return err;
	memcpy((*out)->clocks, r->clocks, r->nr_clocks * sizeof(r->clocks[0]));
	(*out)->nr_clocks = r->nr_clocks;
	err = recorder_names_copy(*out, r);
	if (err) {
		recorder_discard(*out);
		recorder_close(*out);
		return err;
	}
	for (i = 0; i < r->nr_filters; i++)
		recorder_filter(*out, r->filters[i]);
	for (i = 0; i < r->nr_notes; i++)
		recorder_note(*out, r->notes[i]);
	(*out)->refused = r->refused;
	(*out)->clock_steps = r->clock_steps;
	return 0;
}

uint64_t recorder_first(const struct recorder *r)
{
	return r->first;
}
