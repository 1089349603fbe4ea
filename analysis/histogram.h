/* SPDX-License-Identifier: MIT */
/*
 * Durations counted in 32 buckets for each power of two, exact below 32 ns: a percentile is the
 * middle of its bucket, at most 1/64 (1.6 %) off what sorting would give.
 */
#ifndef JIS_ANALYSIS_HISTOGRAM_H
#define JIS_ANALYSIS_HISTOGRAM_H

#include <stdint.h>

/* Durations in ns; zeros: none. */
struct histogram {
	uint64_t *count; /* of buckets first to first + nr - 1 */
	uint32_t first, nr;
};

/* Returns 0 or -ENOMEM. */
int histogram_add(struct histogram *h, uint64_t ns);
/* The duration that @share (0 to 1) of @n are not above, within [min, max]; @max where there are
 * none. */
uint64_t histogram_percentile(const struct histogram *h, uint64_t n, double share, uint64_t min,
			      uint64_t max);
void histogram_free(struct histogram *h);

#endif /* JIS_ANALYSIS_HISTOGRAM_H */
