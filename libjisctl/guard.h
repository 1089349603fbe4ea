/* SPDX-License-Identifier: MIT */
/*
 * The rate guard of traced methods: counts the calls of each method from the records that are
 * stored, and when they cost more of the process's CPU time than the budget says which of them to
 * switch off: those called most, which are the short ones. Private to libjisctl.
 */
#ifndef JISCTL_GUARD_H
#define JISCTL_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jis/abi.h"

#define GUARD_WINDOW_NS 2000000000ull /* decides on no less */
#define GUARD_DECISIONS 5	      /* a process; what is off stays off */

struct guard;

/* @budget: percent of the CPU time that the process would use without any. NULL: no memory. */
struct guard *guard_new(uint32_t budget);
void guard_free(struct guard *g);
/* Counts the records of a user packet that are behind @skip bytes of its content. */
void guard_packet(struct guard *g, const struct jis_packet_header *packet, uint32_t skip);

struct guard_now {
	uint64_t time; /* ns */
	uint64_t cpu;  /* ns of CPU time the process has had */
	uint64_t lost; /* records of enters it has lost */
	uint64_t jit;  /* ns of @cpu that its JIT compilers had */
};

/* Has guard_decide() anything to do at @time: is a window over, or to begin, and a decision left?
 */
bool guard_due(const struct guard *g, uint64_t time);

/**
 * guard_decide - looks at what has been counted, when that has gone on for long enough.
 * @text: gets the methods to switch off, "NUMBER:CALLS:NS" each, separated by commas; @share: what
 * calls may have cost, each taken for one of those that stay, in percent of the CPU time that the
 * process would have used without, all that is hot compiled, 1000 at most. Returns how many methods
 * there are in @text, mostly 0.
 */
unsigned int guard_decide(struct guard *g, const struct guard_now *now, char *text, size_t n,
			  uint32_t *share);

#endif /* JISCTL_GUARD_H */
