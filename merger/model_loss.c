/* SPDX-License-Identifier: MIT */
/*
 * What is missing: intervals in which records were lost or a packet cannot be trusted. Packets are
 * seen when the merge steps into them, right after the last event of the packet before, so that an
 * interval between two packets is known before it begins.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model_int.h"
#include "trace/grow.h"

static bool is_before(const struct loss *a, const struct loss *b)
{
	return a->begin != b->begin ? a->begin < b->begin : a->number < b->number;
}

/* Moves losses[@at] up to its place among those above it. */
static void heap_up(struct loss *heap, uint32_t at)
{
	const struct loss moved = heap[at];

	for (uint32_t up; at && is_before(&moved, &heap[up = (at - 1) / 2]); at = up)
		heap[at] = heap[up];
	heap[at] = moved;
}

/* Moves losses[0], one of @nr, down to its place. */
static void heap_down(struct loss *heap, uint32_t nr)
{
	const struct loss moved = heap[0];
	uint64_t at = 0;

	for (;;) {
		uint64_t child = 2 * at + 1;

		if (child + 1 < nr && is_before(&heap[child + 1], &heap[child]))
			child++;
		if (child >= nr || !is_before(&heap[child], &moved))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moved;
}

static bool loss_push(struct model *m, const struct loss *loss)
{
	if (m->nr_losses == m->room_losses && !GROW(m->losses, m->room_losses, 16)) {
		m->error = -ENOMEM;
		return false;
	}
	m->losses[m->nr_losses] = *loss;
	m->losses[m->nr_losses].number = m->told_losses++;
	heap_up(m->losses, m->nr_losses++);
	m->next_due = m->losses->begin;
	return true;
}

static void loss_push_ticks(struct model *m, struct loss *loss, uint64_t begin, uint64_t end)
{
	loss->begin = clock_scale_ns(&m->scale, begin);
	loss->end = end == TIME_NONE ? TIME_MAX : clock_scale_ns(&m->scale, end);
	if (loss->end > TIME_MAX)
		loss->end = TIME_MAX;
	if (loss->begin > loss->end)
		loss->begin = loss->end;
	if (loss->begin > m->info.end && !m->to_given) /* behind the end, but told */
		loss->begin = m->info.end;
	loss_push(m, loss);
}

void loss_add(struct model *m, const struct stream_cursor *c, uint64_t begin, uint64_t end,
	      uint64_t lost, const char *reason)
{
	struct loss loss = {.lost = lost,
			    .cpu = MODEL_NO_CPU,
			    .process = NONE,
			    .owner = NONE,
			    .host = NONE,
			    .reason = reason};

	if (c->stream_class == JIS_STREAM_KERNEL)
		loss.cpu = c->instance < m->info.nr_cpus ? (uint32_t)c->instance : MODEL_NO_CPU;
	else if (c->stream_class != JIS_STREAM_RECORDER && c->trace)
		loss.process = c->trace - 1;
	if (c->stream_class == JIS_STREAM_USER)
		loss.owner = m->streams[c - m->stream_base].owner;
	loss_push_ticks(m, &loss, begin, end);
}

void loss_host_end(struct model *m, uint32_t host, uint64_t ticks)
{
	struct loss loss = {.cpu = MODEL_NO_CPU, .process = NONE, .owner = NONE, .host = host};

	loss_push_ticks(m, &loss, ticks, ticks);
}

/* Whether the packet that @c is to read begins with a record that tells of all @lost: then *told.
 */
static bool loss_begins(const struct stream_cursor *c, uint64_t lost,
			struct jis_ev_lost_records *told)
{
	uint32_t id;
	const uint8_t *payload = stream_cursor_peek(c, &id);

	if (!payload || id != JIS_EV_lost_records)
		return false;
	memcpy(told, payload, sizeof(*told));
	return told->count == lost;
}

/*
 * Records are lost while no packet is free: after the end of one and before the first record of the
 * next, which may tell when. A writer that lost records inside of a packet says so in the next LOST
 * event.
 */
void loss_packet(struct model *m, const struct stream_cursor *c,
		 const struct jis_packet_header *header)
{
	struct stream_run *s = &m->streams[c - m->stream_base];
	uint64_t before = s->seen ? s->discarded : 0;
	uint64_t from = s->seen ? s->end : m->scale.begin;
	bool gap = s->seen ? header->packet_seq != s->sequence + 1 : header->packet_seq != 0;
	/* The reader has told what is wrong here; the count may be wrong too, the next one is not.
	 */
	uint64_t discarded = s->damaged ? before : header->events_discarded;

	if (discarded > before || (gap && !s->damaged)) {
		uint64_t lost = discarded > before ? discarded - before : 0;
		struct jis_ev_lost_records told;

		s->gap_begin = from;
		s->gap_end = header->timestamp_begin;
		if (!gap && loss_begins(c, lost, &told) && told.last <= s->gap_end) {
			s->gap_begin = told.first;
			s->gap_end = told.last;
		}
		loss_add(m, c, s->gap_begin, s->gap_end, lost,
			 gap ? "packets missing" : "records lost");
	}
	s->gap = discarded > before || gap || s->damaged;
	s->seen = true;
	s->sequence = header->packet_seq;
	s->damaged = false;
	if (discarded > s->discarded)
		s->discarded = discarded;
	s->end = header->timestamp_end;
}

/* A loss outside of what the packet headers told: what is open is cut where it began. */
void loss_record(struct model *m, const struct stream_cursor *c, uint64_t t)
{
	const struct jis_ev_lost_records *ev = (const void *)c->payload;
	struct stream_run *s = &m->streams[c - m->stream_base];

	if (s->gap_begin <= ev->first && ev->last <= s->gap_end)
		return;
	s->gap_begin = ev->first;
	s->gap_end = ev->last;
	loss_add(m, c, ev->first, ev->last < c->time ? ev->last : c->time, ev->count,
		 "records lost");
	loss_due(m, t);
}

void losses_behind(struct model *m)
{
	for (uint32_t i = 0; i < m->nr_streams; i++) {
		const struct stream_cursor *c = &m->stream_base[i];

		if (c->payload && c->id == JIS_EV_lost_records)
			loss_record(m, c, m->now);
	}
}

/* Does it touch the window? One without length may lie at either edge. */
static bool is_shown(const struct model *m, const struct loss *loss)
{
	const struct model_info *w = &m->info;

	if (loss->end < w->begin || (loss->end == w->begin && loss->begin < w->begin))
		return false;
	return !m->to_given || loss->begin < w->end ||
	       (loss->begin == w->end && loss->end == w->end);
}

static void damage_tell(struct model *m, const struct loss *loss)
{
	const struct model_damage out = {
		.cpu = loss->cpu,
		.process = loss->process,
		.begin = loss->begin > m->info.begin ? loss->begin : m->info.begin,
		.end = loss->end < m->info.end ? loss->end : m->info.end,
		.lost = loss->lost,
		.known = loss->known,
		.reason = loss->reason,
	};

	if (!is_shown(m, loss))
		return;
	m->window_lost[loss->process != NONE] += loss->lost;
	for (uint32_t i = 0; i < m->on_damage.nr; i++) {
		const struct model_sink *s = m->on_damage.sinks[i];
		int err = s->damage(s->ctx, &out);

		if (err && !m->error)
			m->error = err;
	}
}

static void loss_apply(struct model *m, const struct loss *loss)
{
	uint64_t t = loss->begin > m->now ? loss->begin : m->now;

	if (loss->host != NONE) {
		host_stop(m, loss->host, t);
		return;
	}
	if (loss->cpu != MODEL_NO_CPU) {
		struct cpu_run *c = &m->cpus[loss->cpu];
		/* A LOST record tells of a time that is over: who was told to run there then did.
		 */
		uint64_t begin = loss->begin > c->told ? loss->begin : c->told;

		lives_unknown(m, c->host, loss->cpu, begin);
		cpu_set(m, loss->cpu, MODEL_CPU_UNKNOWN, NONE, 0,
			begin > c->since ? begin : c->since);
		host_doubt(m, c->host, loss->end);
	}
	if (loss->owner != NONE)
		jthreads_lost(m, loss->owner, t);
	else if (loss->process != NONE)
		doings_lost(m, loss->process, NONE, t);
	damage_tell(m, loss);
}

void loss_due(struct model *m, uint64_t t)
{
	while (m->next_due <= t) {
		const struct loss loss = m->losses[0];

		m->losses[0] = m->losses[--m->nr_losses];
		if (m->nr_losses)
			heap_down(m->losses, m->nr_losses);
		m->next_due = m->nr_losses ? m->losses->begin : TIME_NONE;
		loss_apply(m, &loss);
	}
}

static int path_compare(const void *a, const void *b)
{
	const struct stream_entry *const *x = a, *const *y = b;

	return strcmp((*x)->path, (*y)->path);
}

/* The streams of @man by path; *nr: how many. NULL without memory. */
static const struct stream_entry **streams_sorted(const struct manifest *man, uint32_t *nr)
{
	const struct stream_entry **list = calloc(man->nr_streams + 1ull, sizeof(*list));

	*nr = 0;
	for (uint32_t i = 0; list && i < man->nr_streams; i++) {
		if (man->streams[i].path)
			list[(*nr)++] = &man->streams[i];
	}
	if (list)
		qsort(list, *nr, sizeof(*list), path_compare);
	return list;
}

/* The stream entry of @path, or NULL. */
static const struct stream_entry *stream_of(const struct stream_entry **sorted, uint32_t nr,
					    const char *path)
{
	const struct stream_entry wanted = {.path = (char *)(uintptr_t)path};
	const struct stream_entry *key = &wanted, **found;

	found = path ? bsearch(&key, sorted, nr, sizeof(*sorted), path_compare) : NULL;
	return found ? *found : NULL;
}

/* The process whose stream @s is, or NONE: its path's directory tells. */
static uint32_t process_of(const struct manifest *man, const struct stream_entry *s)
{
	size_t n = strcspn(s->path, "/");

	if (s->stream_class != JIS_STREAM_USER && s->stream_class != JIS_STREAM_DICT)
		return NONE;
	for (uint32_t i = 0; i < man->nr_processes; i++) {
		const char *directory = man->processes[i].directory;

		if (directory && strlen(directory) == n && !memcmp(directory, s->path, n))
			return i;
	}
	return NONE;
}

/* What recorder and recovery already know to be damaged. */
int loss_manifest(struct model *m)
{
	const struct manifest *man = m->info.manifest;
	const struct stream_entry **sorted;
	uint32_t nr;

	if (!man->nr_damages)
		return 0;
	sorted = streams_sorted(man, &nr);
	if (!sorted)
		return -ENOMEM;
	for (uint32_t i = 0; i < man->nr_damages; i++) {
		const struct damage_entry *d = &man->damages[i];
		const struct stream_entry *s = stream_of(sorted, nr, d->path);
		struct loss loss = {.cpu = MODEL_NO_CPU,
				    .process = NONE,
				    .known = true,
				    .owner = NONE,
				    .host = NONE,
				    .reason = d->reason};

		if (s && s->stream_class == JIS_STREAM_KERNEL && s->instance < m->info.nr_cpus)
			loss.cpu = (uint32_t)s->instance;
		if (s)
			loss.process = process_of(man, s);
		loss_push_ticks(m, &loss, d->begin, d->end);
	}
	free(sorted);
	return m->error;
}
