/* SPDX-License-Identifier: MIT */
/*
 * Processes that write themselves: a directory each, a stream for each slot that was ever used.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proc.h"
#include "recorder_private.h"

#define DIRECTORY_TRIES 1000

/* jvm-PID-START; a process that execs and comes again gets -2, -3... */
static int directory_make(struct recorder_process *p, enum jis_agent_kind kind, uint64_t start)
{
	const char *what = kind == JIS_KIND_JVM ? "jvm" : "process";
	char suffix[16] = "";
	int i;

	for (i = 2; i < DIRECTORY_TRIES; i++) {
		snprintf(p->directory, sizeof(p->directory), "%s-%u-%llu%s", what, p->pid,
			 (unsigned long long)start, suffix);
		if (mkdirat(p->r->dirfd, p->directory, TRACE_DIRECTORY_MODE) == 0)
			break;
		if (errno != EEXIST)
			return -errno;
		snprintf(suffix, sizeof(suffix), "-%d", i);
	}
	return recorder_process_open(p);
}

int recorder_process_open(struct recorder_process *p)
{
	if (p->dirfd < 0)
		p->dirfd = openat(p->r->dirfd, p->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return p->dirfd < 0 ? -errno : 0;
}

static void process_link(struct recorder *r, struct recorder_process *p)
{
	*r->last_process = p;
	r->last_process = &p->next;
	r->nr_processes++;
	r->jvms |= p->vm_version != 0;
	recorder_futexes_forget(r);
}

int recorder_process_copy(struct recorder *into, const struct recorder_process *from,
			  struct recorder_process **out)
{
	struct recorder_process *p = malloc(sizeof(*p));
	int err = 0;

	if (!p)
		return -ENOMEM;
	*p = *from;
	p->r = into;
	p->next = NULL;
	p->slots = NULL;
	p->nr_slots = 0;
	p->history = NULL;
	p->futexes = NULL;
	p->dirfd = -1;
	if (getrandom(p->uuid, sizeof(p->uuid), 0) != sizeof(p->uuid))
		err = -EIO;
	else if (mkdirat(into->dirfd, p->directory, TRACE_DIRECTORY_MODE))
		err = -errno;
	if (err) {
		recorder_process_free(p);
		return err;
	}
	process_link(into, p);
	*out = p;
	return 0;
}

int recorder_process_add(struct recorder *r, const struct recorder_process_params *params,
			 struct recorder_process **out)
{
	struct recorder_process *p = calloc(1, sizeof(*p));
	struct proc_stat st = {.start_ticks = 0};
	const char *given;
	int err;

	if (!p)
		return -ENOMEM;
	p->r = r;
	p->dirfd = -1;
	p->pid = params->pid;
	p->own_pid = params->own_pid;
	p->vm_version = params->vm_version;
	memcpy(p->uuid, params->uuid, sizeof(p->uuid));
	proc_stat_read((pid_t)p->pid, (pid_t)p->pid, &st);
	p->start_time = st.start_time;
	snprintf(p->name, sizeof(p->name), "%s", st.comm);
	given = recorder_name_of(r, p->pid, p->start_time);
	if (given)
		snprintf(p->given_name, sizeof(p->given_name), "%s", given);
	if (params->vm)
		snprintf(p->vm, sizeof(p->vm), "%s", params->vm);
	err = directory_make(p, params->kind, st.start_ticks);
	if (!err)
		err = recorder_metadata(r, p);
	if (!err)
		err = recorder_flight_process(p);
	if (err) {
		if (p->dirfd >= 0)
			unlinkat(r->dirfd, p->directory, AT_REMOVEDIR);
		recorder_process_free(p);
		return err;
	}
	process_link(r, p);
	*out = p;
	/* So that `jis recover` knows it. */
	r->manifest_dirty = true;
	recorder_manifest_due(r);
	return 0;
}

/* For the kernel's streams, the manifest, and what backends look up. */
#define DESCRIPTORS_KEPT 16u

bool recorder_descriptors_low(const struct recorder *r)
{
	rlim_t kept = r->params.nr_cpus + DESCRIPTORS_KEPT;
	struct rlimit files;
	int lowest = fcntl(r->dirfd, F_DUPFD_CLOEXEC, 0);

	if (lowest < 0)
		return true;
	close(lowest);
	if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur == RLIM_INFINITY)
		return false;
	if (kept > files.rlim_cur / 2)
		kept = files.rlim_cur / 2;
	return (rlim_t)lowest >= files.rlim_cur - kept;
}

const uint8_t *recorder_process_uuid(const struct recorder_process *p)
{
	return p->uuid;
}

void recorder_process_own_slots(struct recorder_process *p, uint32_t slot)
{
	p->own_slot = slot;
}

/* Which of the recorder's own it is; RECORDER_SLOTS: none of them. */
static enum recorder_slot slot_own(const struct recorder_process *p, uint32_t slot)
{
	if (!p->own_slot || slot < p->own_slot || slot - p->own_slot >= RECORDER_SLOTS)
		return RECORDER_SLOTS;
	return (enum recorder_slot)(slot - p->own_slot);
}

static bool slot_is_dict(const struct recorder_process *p, uint32_t slot)
{
	enum recorder_slot own = slot_own(p, slot);

	return slot == JIS_POOL_DICT_SLOT || own == RECORDER_SLOT_NAMES ||
	       own == RECORDER_SLOT_FUTEXES;
}

uint64_t recorder_process_own_instance(const struct recorder_process *p, uint32_t slot,
				       uint32_t *stream_class)
{
	bool dict = slot_is_dict(p, slot);

	*stream_class = dict ? JIS_STREAM_DICT : JIS_STREAM_USER;
	if (!dict)
		return slot;
	return slot == JIS_POOL_DICT_SLOT ? 0 : (uint64_t)slot_own(p, slot);
}

/* The stream of @slot, made when it is new. */
static struct recorder_stream *slot_stream(struct recorder_process *p, uint32_t slot)
{
	struct recorder_stream **more;
	uint32_t nr = p->nr_slots ? p->nr_slots : 16;

	while (nr <= slot)
		nr *= 2;
	if (nr != p->nr_slots) {
		more = realloc(p->slots, nr * sizeof(*more));
		if (!more)
			return NULL;
		memset(more + p->nr_slots, 0, (nr - p->nr_slots) * sizeof(*more));
		p->slots = more;
		p->nr_slots = nr;
	}
	if (!p->slots[slot]) {
		p->slots[slot] = calloc(1, sizeof(struct recorder_stream));
		if (p->slots[slot]) {
			p->slots[slot]->instance =
				recorder_process_own_instance(p, slot,
							      &p->slots[slot]->stream_class);
		}
	}
	return p->slots[slot];
}

static int slot_make(struct recorder_process *p, struct recorder_stream *s)
{
	char name[32] = "dict";
	int err;

	if (recorder_descriptors_low(p->r))
		return -EMFILE;
	if (s->stream_class == JIS_STREAM_USER)
		snprintf(name, sizeof(name), "slot-%llu", (unsigned long long)s->instance);
	else if (s->instance)
		snprintf(name, sizeof(name), "dict-%llu", (unsigned long long)s->instance);
	err = recorder_process_open(p);
	if (!err)
		err = recorder_stream_make(p->r, s, p->dirfd, p->directory, name);
	if (err == -EMFILE || err == -ENFILE)
		return -EMFILE;
	return recorder_fail(p->r, err);
}

/* The file, and the empty packet with which each stream begins. */
static int slot_begin(struct recorder_process *p, struct recorder_stream *s,
		      const struct jis_packet_header *first)
{
	struct jis_packet_header empty = *first;
	int err = slot_make(p, s);

	if (err || p->r->params.flight)
		return err;
	empty.timestamp_end = empty.timestamp_begin;
	empty.content_size = empty.packet_size = JIS_PACKET_HEADER_SIZE * 8;
	empty.packet_seq = 0;
	empty.events_discarded = 0;
	empty.flags = 0;
	return recorder_stream_put(p->r, s, &empty, false);
}

int recorder_process_packet(void *ctx, uint32_t slot, const struct jis_packet_header *packet,
			    uint32_t skip, bool open)
{
	struct recorder_process *p = ctx;
	struct recorder_stream *s;
	int err;

	if (p->r->error)
		return p->r->error;
	if (p->r->keeping) {
		history_add(p->history, slot, packet, open, slot_is_dict(p, slot));
		return 0;
	}
	s = slot_stream(p, slot);
	if (!s)
		return recorder_fail(p->r, -ENOMEM);
	if (!s->writer) {
		err = slot_begin(p, s, packet);
		if (err)
			return err; /* -EMFILE costs this packet, and no more */
	}
	err = p->r->params.flight ? recorder_flight_put(p->r, p, s, packet)
				  : recorder_stream_put(p->r, s, packet, open);
	if (err)
		return err;
	return recorder_fail(p->r, thread_table_add_packet(p->r->threads, p->pid, packet, skip));
}

static uint64_t sum(const uint64_t *counts)
{
	uint64_t n = 0;
	int i;

	for (i = 0; i < JIS_MAX_EVENT_ID; i++)
		n += counts[i];
	return n;
}

void recorder_process_counts(struct recorder_process *p, uint32_t slot, const uint64_t *produced,
			     const uint64_t *lost)
{
	struct recorder_stream *s = slot < p->nr_slots ? p->slots[slot] : NULL;
	int i;

	if (!s || p->r->params.flight) /* only what is in its files counts */
		return;
	for (i = 0; i < JIS_MAX_EVENT_ID; i++) {
		s->produced[i] = produced[i];
		s->lost[i] = lost[i];
		s->stored[i] = produced[i] - lost[i];
	}
	s->counted = true;
}

static void note_counters(struct recorder_process *p, const char *whose)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "%s: the counters of %s make no sense, so the process has written over them: what "
		 "it lost is not known",
		 p->directory, whose);
	recorder_note(p->r, text);
}

/* What a slot lost that never had a file, for want of descriptors: the first one takes it. */
static void count_no_file(struct recorder_process *p, struct recorder_stream *s,
			  struct recorder_stream *first)
{
	uint64_t total = sum(s->produced);
	char text[256];
	uint32_t i;

	if (!total)
		return;
	snprintf(text, sizeof(text),
		 "%s/slot-%llu: %llu records are lost, as there was no file descriptor for it; "
		 "allow the recorder more (ulimit -n)",
		 p->directory, (unsigned long long)s->instance, (unsigned long long)total);
	recorder_note(p->r, text);
	for (i = 0; first && i < JIS_MAX_EVENT_ID; i++) {
		first->produced[i] += s->produced[i];
		first->lost[i] += s->lost[i];
		s->produced[i] = s->lost[i] = 0;
	}
}

/* Records for which no thread got a slot belong to no stream: the first one takes them. */
static void count_no_slot(struct recorder_process *p, const struct pool *pool,
			  struct recorder_stream *s)
{
	uint64_t total = 0, n;
	char text[256];
	bool odd = false;
	uint32_t i;

	for (i = 1; i < JIS_MAX_EVENT_ID; i++) {
		odd |= pool_no_slot(pool, i, &n) < 0;
		s->produced[i] += n;
		s->lost[i] += n;
		total += n;
	}
	if (odd)
		note_counters(p, "its threads without a slot");
	if (!total)
		return;
	snprintf(text, sizeof(text),
		 "%s: %llu records of threads for which there was no slot (of %u) are lost; a "
		 "larger "
		 "pool has more",
		 p->directory, (unsigned long long)total, pool_slots(pool));
	recorder_note(p->r, text);
}

static void note_damage(struct recorder_process *p, uint32_t slot, uint64_t damaged)
{
	char text[256];

	snprintf(text, sizeof(text), "%s/slot-%u: %llu packets made no sense and were left out",
		 p->directory, slot, (unsigned long long)damaged);
	recorder_note(p->r, text);
}

void recorder_process_end(struct recorder_process *p, const struct pool *pool)
{
	struct recorder_stream *first = NULL;
	struct pool_counts counts;
	char slot[32];
	uint32_t i;

	recorder_futexes_end(p);
	p->ended = true;
	for (i = 0; i < pool_slots(pool); i++) {
		struct recorder_stream *s = i < p->nr_slots ? p->slots[i] : NULL;

		pool_counts(pool, i, &counts);
		if (counts.damaged)
			note_damage(p, i, counts.damaged);
		snprintf(slot, sizeof(slot), "slot-%u", i);
		if (counts.counters_damaged)
			note_counters(p, slot);
		if (!s || p->r->params.flight)
			continue;
		memcpy(s->produced, counts.produced, sizeof(s->produced));
		memcpy(s->stored, counts.stored, sizeof(s->stored));
		memcpy(s->lost, counts.lost, sizeof(s->lost));
		s->counted = !counts.counters_damaged;
		if (s->packets && (!first || first->instance == JIS_POOL_DICT_SLOT))
			first = s;
	}
	if (p->r->params
		    .flight) { /* its files are yet to be written; only what is in them counts */
		recorder_flight_process_end(p);
		return;
	}
	if (first)
		count_no_slot(p, pool, first);
	for (i = 0; i < p->nr_slots; i++)
		if (p->slots[i] && !p->slots[i]->packets)
			count_no_file(p, p->slots[i], first);
	for (i = 0; i < p->nr_slots; i++) {
		if (!p->slots[i])
			continue;
		p->r->produced += sum(p->slots[i]->produced);
		p->r->stored += sum(p->slots[i]->stored);
		p->r->lost += sum(p->slots[i]->lost);
		recorder_stream_close(p->r, p->slots[i]);
	}
	close(p->dirfd);
	p->dirfd = -1;
}

void recorder_process_free(struct recorder_process *p)
{
	uint32_t i;

	for (i = 0; i < p->nr_slots; i++) {
		if (p->slots[i])
			recorder_stream_close(p->r, p->slots[i]);
		free(p->slots[i]);
	}
	free(p->slots);
	recorder_futexes_free(p);
	history_free(p->history);
	if (p->dirfd >= 0)
		close(p->dirfd);
	free(p);
}
