/* SPDX-License-Identifier: MIT */
/*
 * One list in order of place, then begin. Beside each interval is the latest end of those of its
 * place up to it: where that lies behind an interval's end, one of them covers it.
 */
#include "known_damages.h"

#include <stdlib.h>
#include <string.h>

#define SLACK 1e-6

struct known {
	const char *path;
	size_t length; /* of the place, which the path begins with */
	double begin, end;
};

struct known_damages {
	struct known *of;
	uint32_t nr;
};

static double seconds(const struct manifest *m, uint64_t ticks)
{
	if (ticks == TIME_NONE)
		return 1e300;
	return ticks < m->begin ? 0 : (double)(ticks - m->begin) / (double)m->frequency;
}

/* Kernel and recorder have a place a stream, others one a directory. */
static size_t place_length(const char *path)
{
	return strncmp(path, "kernel/", 7) ? strcspn(path, "/") : strlen(path);
}

static int place_compare(const struct known *x, const struct known *y)
{
	int order = memcmp(x->path, y->path, x->length < y->length ? x->length : y->length);

	return order ? order : (x->length > y->length) - (x->length < y->length);
}

static int compare(const void *a, const void *b)
{
	const struct known *x = a, *y = b;
	int order = place_compare(x, y);

	return order ? order : (x->begin > y->begin) - (x->begin < y->begin);
}

struct known_damages *known_damages_new(const struct manifest *m)
{
	struct known_damages *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->of = calloc(m->nr_damages + 1ull, sizeof(*k->of));
	if (!k->of) {
		free(k);
		return NULL;
	}
	for (k->nr = 0; k->nr < m->nr_damages; k->nr++) {
		const struct damage_entry *d = &m->damages[k->nr];

		k->of[k->nr] = (struct known){d->path, place_length(d->path), seconds(m, d->begin),
					      seconds(m, d->end)};
	}
	qsort(k->of, k->nr, sizeof(*k->of), compare);
	for (uint32_t i = 1; i < k->nr; i++) {
		const struct known *former = &k->of[i - 1];

		if (!place_compare(former, &k->of[i]) && k->of[i].end < former->end)
			k->of[i].end = former->end;
	}
	return k;
}

void known_damages_free(struct known_damages *k)
{
	if (k)
		free(k->of);
	free(k);
}

bool known_damages_cover(const struct known_damages *k, const char *place, double begin, double end)
{
	const struct known key = {place, strlen(place), begin + SLACK, 0};
	uint32_t low = 0, high = k->nr;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (compare(&k->of[middle], &key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low && !place_compare(&k->of[low - 1], &key) && k->of[low - 1].end >= end - SLACK;
}
