/* SPDX-License-Identifier: MIT */
/*
 * Who got which monitor when, as far as the lanes tell: the ends of all waits for monitors, by
 * monitor and time. Made once, so that who had a monitor last is found without a look at each
 * thread.
 */
#ifndef JIS_ANALYSIS_HOLDERS_H
#define JIS_ANALYSIS_HOLDERS_H

#include "lanes.h"

/* Who waits again for the same monitor after so long has not had it in between. */
#define HOLDERS_LOOK_NS 200000u

struct holders;

/**
 * holders_new - gathers the waits that are in @l, which must outlive it.
 * Returns NULL without memory. holders_free() it.
 */
struct holders *holders_new(const struct lanes *l);
void holders_free(struct holders *h);

/**
 * holders_last - who of @process got the monitor of wait @s last before that wait ended?
 * @vthread: who waits, and is not meant.
 * @by, @vby: out: thread, or virtual thread; the other is MODEL_NO_THREAD, both: nobody.
 * @h: may be NULL: nobody is known. Takes as long as a search in all the waits.
 */
void holders_last(const struct holders *h, uint32_t process, uint32_t vthread,
		  const struct segment *s, uint32_t *by, uint32_t *vby);

#endif /* JIS_ANALYSIS_HOLDERS_H */
