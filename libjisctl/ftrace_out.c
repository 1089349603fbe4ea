/* SPDX-License-Identifier: MIT */
/*
 * Packets of the ftrace backend: one builder a CPU, a queue of closed packets behind it. What
 * cannot be queued is counted as lost, never dropped silently.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ftrace.h"
#include "packet_walk.h"

int ft_outs_open(struct backend *b)
{
	uint32_t i;
	int err;

	b->outs = calloc(b->nr_cpus, sizeof(*b->outs));
	if (!b->outs)
		return -ENOMEM;
	for (i = 0; i < b->nr_cpus; i++)
		b->outs[i].last = &b->outs[i].first;
	for (i = 0; i < b->nr_cpus; i++) {
		struct packet_builder *p = &b->outs[i].builder;

		err = packet_builder_init(p, FT_PACKET_SIZE, JIS_STREAM_KERNEL, i, b->config.uuid);
		if (err)
			return err;
		p->proto.owner = i;
	}
	return 0;
}

void ft_outs_close(struct backend *b)
{
	uint32_t i;

	for (i = 0; b->outs && i < b->nr_cpus; i++) {
		struct ft_out *o = &b->outs[i];

		while (ft_out_get(b, i))
			;
		packet_builder_fini(&o->builder);
	}
	free(b->outs);
	b->outs = NULL;
}

void ft_out_flush(struct backend *b, uint32_t cpu)
{
	struct ft_out *o = &b->outs[cpu];
	struct jis_packet_header *header;
	struct packet_walk walk;
	struct ft_packet *p;
	size_t bytes;

	o->builder.discarded = o->lost;
	header = packet_builder_close(&o->builder, 0);
	if (!header)
		return;
	bytes = header->content_size / 8;
	p = malloc(sizeof(*p) + bytes);
	if (!p) {
		packet_walk_begin(&walk, header, UINT64_MAX);
		packet_walk_run(&walk, header, (uint32_t)bytes, o->no_memory);
		o->lost += walk.records;
		return;
	}
	memcpy(p->bytes, header, bytes);
	p->next = NULL;
	*o->last = p;
	o->last = &p->next;
}

void ft_emit(struct backend *b, uint32_t cpu, uint32_t id, uint64_t time, const void *payload,
	     uint32_t len, const char *text)
{
	struct ft_out *o = &b->outs[cpu];
	int err;

	if (!b->recording || time < b->since)
		return;
	err = packet_builder_add(&o->builder, id, time, payload, len, text);
	if (err != -ENOSPC)
		return;
	ft_out_flush(b, cpu);
	packet_builder_add(&o->builder, id, time, payload, len, text);
}

void ft_out_begin(struct backend *b, uint32_t cpu, uint64_t time)
{
	if (packet_builder_open(&b->outs[cpu].builder, time) == 0)
		ft_out_flush(b, cpu);
}

const struct jis_packet_header *ft_out_get(struct backend *b, uint32_t cpu)
{
	struct ft_out *o = &b->outs[cpu];

	free(o->given);
	o->given = o->first;
	if (!o->given)
		return NULL;
	o->first = o->given->next;
	if (!o->first)
		o->last = &o->first;
	return (const struct jis_packet_header *)o->given->bytes;
}
