/* SPDX-License-Identifier: MIT */
/*
 * Names that a snapshot needs and that nothing in it tells: the kernel says who a foreign thread
 * is, and what a file descriptor is, once, and the packet that has it may be older than the
 * snapshot, or overwritten. Looks at all packets there are, and tells those names again. Knows no
 * files. Private to libjisctl.
 */
#ifndef JISCTL_FLIGHT_NAMES_H
#define JISCTL_FLIGHT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "clock.h"
#include "trace/write.h"

struct flight_names;

/* @now: for the age of threads that are looked up in /proc; @frequency: of the clock. NULL: no
 * memory. */
struct flight_names *flight_names_new(const struct clock_sample *now, uint64_t frequency);
void flight_names_free(struct flight_names *n); /* NULL is allowed */

/**
 * flight_names_look - a kernel packet: @inside the snapshot, or before it. CPUs in any order.
 * Returns 0 or -ENOMEM.
 */
int flight_names_look(struct flight_names *n, const struct jis_packet_header *packet, bool inside);

/* Right before the first packet inside begins: names come before all that is stamped then.
 * UINT64_MAX: there was none. */
uint64_t flight_names_begin(const struct flight_names *n);

/**
 * flight_names_tell - adds a record, at @time, to @b for each name that is needed and missing: of
 * threads that are no targets and are in records inside, and of descriptors in system calls
 * inside, which nothing before in the snapshot tells. What was told last before the snapshot is
 * taken; a thread's name else from /proc, when it is as old, else the next one told; a descriptor's
 * else the next one told, when it was that already at its first use.
 * Returns whether @b has something to be closed; then it goes on with the next call.
 */
bool flight_names_tell(struct flight_names *n, struct packet_builder *b, uint64_t time);

#endif /* JISCTL_FLIGHT_NAMES_H */
