/* SPDX-License-Identifier: MIT */
/* A stream of one session written as a stream of a trace of several hosts. */
#ifndef JIS_HOSTS_REWRITE_H
#define JIS_HOSTS_REWRITE_H

#include "renumber.h"
#include "trace/read.h"

/* Damage of the stream that it had already, in ticks as they were. */
typedef void (*rewrite_damage)(void *ctx, uint64_t begin, uint64_t end, const char *reason);

/**
 * rewrite_stream - packet by packet: what was lost before stays lost in the same places.
 * @in, @uuid: where the stream is, and what its packets carry.
 * @outfd: directory of the new one; @to: as what it is written (path, class, instance, counters);
 * packets, next_seq and stored are set.
 * @out_uuid: what its packets are to carry.
 * @damage: told each part that is damaged, but for packets that are missing: those are missing in
 * the new one as well. Returns 0 or -errno; *written: which of the two files it was that failed.
 */
int rewrite_stream(struct renumber *r, int infd, const struct stream_entry *in,
		   const uint8_t uuid[16], int outfd, struct stream_entry *to,
		   const uint8_t out_uuid[16], rewrite_damage damage, void *ctx, bool *written);

#endif /* JIS_HOSTS_REWRITE_H */
