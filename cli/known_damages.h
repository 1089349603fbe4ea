/* SPDX-License-Identifier: MIT */
/* The damaged intervals that a manifest lists, to be asked which of those found by reading it has.
 */
#ifndef JIS_CLI_KNOWN_DAMAGES_H
#define JIS_CLI_KNOWN_DAMAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/manifest.h"

struct known_damages;

/* known_damages_new - of @m, which must outlive it. NULL without memory; known_damages_free() it.
 */
struct known_damages *known_damages_new(const struct manifest *m);
void known_damages_free(struct known_damages *k);

/**
 * known_damages_cover - does the manifest list an interval in which [@begin, @end] lies?
 * @place: a stream of the kernel or recorder by its path, or all streams of a process by their
 * directory.
 * @begin, @end: in seconds from the recording's start; a microsecond makes no difference.
 * Takes as long as a search in all the intervals.
 */
bool known_damages_cover(const struct known_damages *k, const char *place, double begin,
			 double end);

#endif /* JIS_CLI_KNOWN_DAMAGES_H */
