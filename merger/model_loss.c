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

static bool loss_push(struct model *m, const struct loss *loss)
{
	if (m->nr_losses == m->room_losses) {
		uint32_t room = m->room_losses ? m->room_losses * 2 : 16;
		struct loss *grown = realloc(m->losses, room * sizeof(*grown));

		if (!grown) {
			m->error = -ENOMEM;
			return false;
		}
		m->losses = grown;
		m->room_losses = room;
	}
	m->losses[m->nr_losses++] = *loss;
	if (loss->begin < m->next_due)
		m->next_due = loss->begin;
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
	loss_push(m, loss);
}

void loss_add(struct model *m, const struct stream_cursor *c, uint64_t begin, uint64_t end,
	      uint64_t lost, const char *reason)
{
	struct loss loss = {.lost = lost, .cpu = MODEL_NO_CPU, .process = NONE, .reason = reason};

	if (c->stream_class == JIS_STREAM_KERNEL)
		loss.cpu = c->instance < m->info.nr_cpus ? (uint32_t)c->instance : MODEL_NO_CPU;
	else if (c->stream_class != JIS_STREAM_RECORDER && c->trace)
		loss.process = c->trace - 1;
	loss_push_ticks(m, &loss, begin, end);
}

/*
 * Records are lost while no packet is free: after the end of one and before the first record of the
 * next. A writer that lost records inside of a packet says so in the next LOST event.
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

		s->gap_begin = from;
		s->gap_end = header->timestamp_begin;
		loss_add(m, c, from, header->timestamp_begin, lost,
			 gap ? "packets missing" : "records lost");
	}
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

static void loss_apply(struct model *m, const struct loss *loss)
{
	const struct model_damage out = {
		.cpu = loss->cpu,
		.process = loss->process,
		.begin = loss->begin,
		.end = loss->end < m->info.end ? loss->end : m->info.end,
		.lost = loss->lost,
		.reason = loss->reason,
	};

	if (loss->cpu != MODEL_NO_CPU) {
		struct cpu_run *c = &m->cpus[loss->cpu];
		/* A LOST record tells of a time that is over: who was told to run there then did.
		 */
		uint64_t begin = loss->begin > c->told ? loss->begin : c->told;

		lives_unknown(m, loss->cpu, begin);
		cpu_set(m, loss->cpu, MODEL_CPU_UNKNOWN, NONE, 0,
			begin > c->since ? begin : c->since);
		if (loss->end > m->doubt_until)
			m->doubt_until = loss->end;
	}
	for (uint32_t i = 0; i < m->on_damage.nr; i++) {
		const struct model_sink *s = m->on_damage.sinks[i];
		int err = s->damage(s->ctx, &out);

		if (err && !m->error)
			m->error = err;
	}
}

void loss_due(struct model *m, uint64_t t)
{
	while (m->next_due <= t) {
		struct loss loss;
		uint32_t first = 0;

		for (uint32_t i = 1; i < m->nr_losses; i++) {
			if (m->losses[i].begin < m->losses[first].begin)
				first = i;
		}
		loss = m->losses[first];
		m->losses[first] = m->losses[--m->nr_losses];
		m->next_due = TIME_NONE;
		for (uint32_t i = 0; i < m->nr_losses; i++) {
			if (m->losses[i].begin < m->next_due)
				m->next_due = m->losses[i].begin;
		}
		loss_apply(m, &loss);
	}
}

/* The stream entry of @path, or NULL. */
static const struct stream_entry *stream_of(const struct manifest *man, const char *path)
{
	for (uint32_t i = 0; path && i < man->nr_streams; i++) {
		if (man->streams[i].path && !strcmp(man->streams[i].path, path))
			return &man->streams[i];
	}
	return NULL;
}

/* What recorder and recovery already know to be damaged. */
int loss_manifest(struct model *m)
{
	const struct manifest *man = m->info.manifest;

	for (uint32_t i = 0; i < man->nr_damages; i++) {
		const struct damage_entry *d = &man->damages[i];
		const struct stream_entry *s = stream_of(man, d->path);
		struct loss loss = {.cpu = MODEL_NO_CPU, .process = NONE, .reason = d->reason};

		if (s && s->stream_class == JIS_STREAM_KERNEL && s->instance < m->info.nr_cpus)
			loss.cpu = (uint32_t)s->instance;
		loss_push_ticks(m, &loss, d->begin, d->end);
	}
	return m->error;
}
