/* SPDX-License-Identifier: MIT */
/* Chunks of a few parts each; what finds a chunk is all that is moved when a row grows. */
#include "lane.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK 32u /* parts */

void *lane_part(const struct lane *lane, size_t size, uint64_t i)
{
	return i < lane->nr ? lane->chunks[i / CHUNK] + (i % CHUNK) * size : NULL;
}

void *lane_last(const struct lane *lane, size_t size)
{
	return lane->nr ? lane_part(lane, size, lane->nr - 1) : NULL;
}

int lane_add(struct lane *lane, struct spill *spill, const void *part, size_t size)
{
	uint64_t chunk = lane->nr / CHUNK;

	if (lane->nr % CHUNK == 0) {
		void *room;
		int err;

		if (chunk == lane->room) {
			uint32_t more = lane->room ? lane->room * 2 : 4;
			char **grown = realloc(lane->chunks, more * sizeof(*grown));

			if (!grown || more > 1u << 28)
				return -ENOMEM;
			lane->chunks = grown;
			lane->room = more;
		}
		err = spill_take(spill, CHUNK * size, &room);
		if (err)
			return err;
		lane->chunks[chunk] = room;
	}
	memcpy(lane->chunks[chunk] + (lane->nr++ % CHUNK) * size, part, size);
	return 0;
}

/* The first of which that time (0: begin, 1: end) is after @t. */
static uint64_t first_after(const struct lane *lane, size_t size, uint64_t t, int which)
{
	uint64_t low = 0, high = lane->nr;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;
		const uint64_t *times = lane_part(lane, size, mid);

		if (times[which] > t)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

uint64_t lane_first(const struct lane *lane, size_t size, uint64_t t)
{
	return first_after(lane, size, t, 1);
}

uint64_t lane_first_begun(const struct lane *lane, size_t size, uint64_t t)
{
	return first_after(lane, size, t, 0);
}

/* Sorting: a heap, as that needs no room ------------------------------------------------------ */

static uint64_t begin_of(const struct lane *lane, size_t size, uint64_t i)
{
	return *(const uint64_t *)lane_part(lane, size, i);
}

static void swap(const struct lane *lane, size_t size, uint64_t i, uint64_t k)
{
	char *a = lane_part(lane, size, i), *b = lane_part(lane, size, k), kept[LANE_SORT_SIZE];

	memcpy(kept, a, size);
	memcpy(a, b, size);
	memcpy(b, kept, size);
}

static void sift(const struct lane *lane, size_t size, uint64_t i, uint64_t nr)
{
	for (uint64_t k = 2 * i + 1; k < nr; k = 2 * i + 1) {
		if (k + 1 < nr && begin_of(lane, size, k + 1) > begin_of(lane, size, k))
			k++;
		if (begin_of(lane, size, k) <= begin_of(lane, size, i))
			return;
		swap(lane, size, i, k);
		i = k;
	}
}

void lane_sort(const struct lane *lane, size_t size)
{
	uint64_t i = 1;

	while (i < lane->nr && begin_of(lane, size, i - 1) <= begin_of(lane, size, i))
		i++;
	if (i >= lane->nr)
		return;
	for (i = lane->nr / 2; i-- > 0;)
		sift(lane, size, i, lane->nr);
	for (i = lane->nr; i-- > 1;) {
		swap(lane, size, 0, i);
		sift(lane, size, 0, i);
	}
}

void lanes_drop(struct lane *lanes, uint32_t nr)
{
	for (uint32_t i = 0; lanes && i < nr; i++)
		free(lanes[i].chunks);
	free(lanes);
}
