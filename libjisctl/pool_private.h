/* SPDX-License-Identifier: MIT */
/*
 * What pool.c (memory, layout, life) and pool_drain.c (reading packets) share.
 */
#ifndef JISCTL_POOL_PRIVATE_H
#define JISCTL_POOL_PRIVATE_H

#include "pool.h"

/* What the recorder knows of a slot: nothing of it is in shared memory. */
struct pool_slot {
	uint64_t next_seq;  /* of the writer's next packet */
	uint64_t end;	    /* time of the last record stored */
	uint64_t discarded; /* as last told; never decreases */
	uint64_t stored[JIS_MAX_EVENT_ID];
	uint64_t damaged;
	bool used;
	bool held; /* a packet that left a gap was held back once */
	/* The open packet as last stored: stored[] has its records. */
	bool open;
	uint32_t open_index;
	uint32_t open_offset; /* behind its last record */
	uint64_t open_end;    /* time of its last record */
	uint64_t open_counts[JIS_MAX_EVENT_ID];
	/* After pool_finish() */
	bool settled, counters_damaged;
	uint64_t produced[JIS_MAX_EVENT_ID];
	uint64_t lost[JIS_MAX_EVENT_ID];
};

/* A full packet found by a scan. */
struct pool_full {
	uint32_t slot, index;
	uint64_t seq;
};

struct pool {
	struct pool_config config;
	struct pool_sink sink;
	int fd;
	uint64_t begin;	 /* CLOCK_MONOTONIC, when it was made */
	bool words_read; /* by the kernel */
	uint8_t *memory;
	/* The recorder's own copy of the layout */
	uint64_t total, slots_offset, states_offset, words_offset, packets_offset;
	uint32_t nr_slots, nr_packets, packet_size, dict_packets, nr_words;
	struct pool_slot *slots;
	struct pool_full *full; /* nr_packets */
	uint8_t *copy;		/* packet_size */
	bool final;		/* no more waiting for gaps; open packets are closed by us */
};

static inline struct jis_pool_header *pool_header(const struct pool *p)
{
	return (struct jis_pool_header *)p->memory;
}

static inline struct jis_slot *pool_shared_slot(const struct pool *p, uint32_t slot)
{
	return (struct jis_slot *)(p->memory + p->slots_offset) + slot;
}

static inline uint32_t *pool_state(const struct pool *p, uint32_t index)
{
	return (uint32_t *)(p->memory + p->states_offset) + index;
}

static inline uint8_t *pool_packet(const struct pool *p, uint32_t index)
{
	return p->memory + p->packets_offset + (uint64_t)index * p->packet_size;
}

/*
 * The most records of one thread that there can be: one a nanosecond since the pool was made. What
 * a writer says beyond that is nonsense, and not believed.
 */
uint64_t pool_plausible(const struct pool *p);

/* What was stored of the slot's open packet is all there will be of it. */
void pool_open_commit(struct pool_slot *s);

/* Stores what open packets hold. Returns 0 or the sink's error. */
int pool_store_open(struct pool *p);

#endif /* JISCTL_POOL_PRIVATE_H */
