/* SPDX-License-Identifier: MIT */
/*
 * A row of parts of one size in chunks, which are never moved, so that a part found stays where it
 * is. All parts begin with two times, uint64_t: their begin and their end.
 */
#ifndef JIS_ANALYSIS_LANE_H
#define JIS_ANALYSIS_LANE_H

#include "spill.h"

struct lane {
	char **chunks;
	uint64_t nr;
	uint32_t room; /* of chunks */
};

/* lane_add - a copy of @part behind the last. Returns 0, -ENOMEM or an error of spill_take(). */
int lane_add(struct lane *lane, struct spill *spill, const void *part, size_t size);
/* NULL behind the last. */
void *lane_part(const struct lane *lane, size_t size, uint64_t i);
/* NULL where there is none. */
void *lane_last(const struct lane *lane, size_t size);
/* The first that ends after @t, of parts in order of their ends; lane->nr: there is none. */
uint64_t lane_first(const struct lane *lane, size_t size, uint64_t t);
/* The first that begins after @t, of parts in order of their begins; the same. */
uint64_t lane_first_begun(const struct lane *lane, size_t size, uint64_t t);
/* In place, by begin; @size: at most LANE_SORT_SIZE. Takes nothing but time where it is in order.
 */
void lane_sort(const struct lane *lane, size_t size);
#define LANE_SORT_SIZE 64u
/* Frees @nr of them, and the array; what the parts lie in is the spill's. */
void lanes_drop(struct lane *lanes, uint32_t nr);

#endif /* JIS_ANALYSIS_LANE_H */
