/* SPDX-License-Identifier: MIT */
/* Durations in buckets: see histogram.h. */
#include "histogram.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SUB_BITS 5
#define SUB (1u << SUB_BITS)

static uint32_t bucket_of(uint64_t ns)
{
	uint32_t power;

	if (ns < SUB)
		return (uint32_t)ns;
	power = 63 - (uint32_t)__builtin_clzll(ns);
	return (power - SUB_BITS + 1) * SUB + (uint32_t)(ns >> (power - SUB_BITS) & (SUB - 1));
}

static uint64_t bucket_middle(uint32_t bucket)
{
	uint32_t shift;

	if (bucket < SUB)
		return bucket;
	shift = bucket / SUB - 1;
	return ((uint64_t)(SUB + bucket % SUB) << shift) + ((1ull << shift) >> 1);
}

/* Makes room for bucket @b: as many again in its direction. */
static int histogram_grow(struct histogram *h, uint32_t b)
{
	uint32_t first = h->nr && h->first < b ? h->first : b, nr;
	uint32_t end = h->nr && h->first + h->nr > b + 1 ? h->first + h->nr : b + 1;
	uint64_t *grown;

	if (h->nr && first < h->first)
		first -= first < h->nr ? first : h->nr;
	else if (h->nr)
		end += h->nr;
	nr = end - first;
	grown = calloc(nr, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	if (h->nr)
		memcpy(grown + (h->first - first), h->count, h->nr * sizeof(*grown));
	free(h->count);
	*h = (struct histogram){grown, first, nr};
	return 0;
}

int histogram_add(struct histogram *h, uint64_t ns)
{
	uint32_t b = bucket_of(ns);

	if ((b < h->first || b - h->first >= h->nr) && histogram_grow(h, b))
		return -ENOMEM;
	h->count[b - h->first]++;
	return 0;
}

uint64_t histogram_percentile(const struct histogram *h, uint64_t n, double share, uint64_t min,
			      uint64_t max)
{
	uint64_t rank = (uint64_t)ceil(share * (double)n), seen = 0;

	for (uint32_t i = 0; i < h->nr; i++) {
		uint64_t middle = bucket_middle(h->first + i);

		seen += h->count[i];
		if (h->count[i] && seen >= rank)
			return middle < min ? min : middle > max ? max : middle;
	}
	return max;
}

void histogram_free(struct histogram *h)
{
	free(h->count);
	*h = (struct histogram){0};
}
