/* SPDX-License-Identifier: MIT */
/*
 * A pool of user packets (abi.h): made here, written by the threads of one traced process, emptied
 * here. Everything in it is hostile: the recorder works with its own copy of the layout, copies a
 * packet before it looks at it, and a bad writer spoils nothing but its own packets. Knows no
 * files: sound packets go to a sink. Private to libjisctl.
 */
#ifndef JISCTL_POOL_H
#define JISCTL_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jis/abi.h"

struct pool;

#define POOL_BYTES_DEFAULT (16ull << 20)
#define POOL_BYTES_MIN (256ull << 10)
#define POOL_BYTES_MAX (1ull << 30)

struct pool_config {
	uint64_t bytes; /* POOL_BYTES_MIN..MAX; 0: default */
	uint32_t clock;
	uint64_t base;
	uint8_t uuid[16]; /* of the process's user trace */
	uint32_t pid;	  /* the process, as the recorder sees it */
	uint32_t own_pid; /* as it sees itself; goes into packet headers */
	uint64_t event_mask;
	/*
	 * Gives the memory: a descriptor of a file of @bytes, sealed against any change of its
	 * size, all pages there; or -errno, then it is made here. NULL: it is made here.
	 */
	int (*memory)(void *ctx, uint32_t pid, uint64_t bytes, uint64_t words_offset,
		      uint32_t nr_words);
	void *memory_ctx;
};

struct pool_sink {
	/*
	 * A sound packet of @slot, valid during the call. @open: it may come again, grown, with the
	 * same packet_seq; @skip: bytes of content that were told before. packet_seq counts from 1
	 * (0 is for the empty packet that begins the stream). An error ends the drain; the packet
	 * counts as not stored. -EMFILE: only this packet cannot be stored, and is lost.
	 */
	int (*packet)(void *ctx, uint32_t slot, const struct jis_packet_header *packet,
		      uint32_t skip, bool open);
	void *ctx;
};

/* produced = stored + lost after pool_finish(). */
struct pool_counts {
	uint64_t produced[JIS_MAX_EVENT_ID];
	uint64_t stored[JIS_MAX_EVENT_ID];
	uint64_t lost[JIS_MAX_EVENT_ID];
	uint64_t damaged;      /* packets refused, or cut where a record made no sense */
	bool used;	       /* a packet of it was stored */
	bool counters_damaged; /* what the writer counted cannot be: lost has only what is missing
				*/
};

/**
 * pool_create - makes a pool of which every page is there.
 * Returns 0; -EINVAL (size out of range); -ENOMEM, -errno of memfd_create() and its like.
 */
int pool_create(const struct pool_config *config, const struct pool_sink *sink, struct pool **out);

/* The descriptor for the process; stays the pool's. */
int pool_fd(const struct pool *p);
uint64_t pool_bytes(const struct pool *p);
/* Does the kernel read the words of threads in it (struct jis_thread_words)? */
bool pool_words_read(const struct pool *p);
uint32_t pool_slots(const struct pool *p);
uint32_t pool_packets(const struct pool *p);

/* Which events writers write; 0 pauses. Closes all slots to an agent's probes, which ask again
 * then. */
void pool_mask_set(struct pool *p, uint64_t mask);

/* pool_drain - stores the packets that are full. Returns how many, or the sink's error. */
int pool_drain(struct pool *p);

/* pool_flush - drains, then stores what part-filled packets hold. Returns 0 or the sink's error. */
int pool_flush(struct pool *p);

/**
 * pool_finish - pauses writers, stores all there is, closes part-filled packets, writes the LOST
 * records still owed and settles the counters. The last thing before pool_close().
 */
int pool_finish(struct pool *p);

/* What is known of @slot; before pool_finish() `produced` and `lost` are as the writer says. */
void pool_counts(const struct pool *p, uint32_t slot, struct pool_counts *out);

/* Records dropped because no slot was free; all of type @id. Returns 0, or -ERANGE: there cannot be
 * so many. */
int pool_no_slot(const struct pool *p, uint32_t id, uint64_t *n);

void pool_close(struct pool *p);

#endif /* JISCTL_POOL_H */
