/* SPDX-License-Identifier: MIT */
/*
 * A loser tree over stream cursors. A node holds the whole key of the stream that lost there, so
 * that a replay reads one short path and neither cursors nor a table of keys, and it swaps without
 * a branch: which stream goes next is what no predictor can know.
 */
#include "merge.h"

#include <errno.h>
#include <stdlib.h>

/*
 * Time above, stream below: one comparison gives the order and breaks ties by the stream's number.
 * A stream that has ended is later than any time.
 */
typedef unsigned __int128 merge_key;

#define KEY_TIME_SHIFT 32
#define KEY_ENDED ((merge_key)1 << 96)
#define KEY_STREAM(key) ((uint32_t)(key))

struct merge {
	struct stream_cursor *cursors;
	uint32_t n;
	bool started;
	uint64_t last, backward;
	merge_key winner;
	merge_key *losers; /* inner nodes 1..n-1; leaf i is node n + i; [0] is unused */
};

int merge_open(struct stream_cursor *cursors, uint32_t n, struct merge **out)
{
	struct merge *m = aligned_alloc(_Alignof(struct merge), sizeof(*m));

	if (!m)
		return -ENOMEM;
	*m = (struct merge){.cursors = cursors, .n = n};
	m->losers = calloc((size_t)n + 1, sizeof(*m->losers));
	if (!m->losers) {
		merge_close(m);
		return -ENOMEM;
	}
	*out = m;
	return 0;
}

void merge_close(struct merge *m)
{
	if (!m)
		return;
	free(m->losers);
	free(m);
}

/* Steps stream @i; its new key. */
static inline merge_key step(struct merge *m, uint32_t i)
{
	struct stream_cursor *c = &m->cursors[i];

	if (__builtin_expect(!stream_cursor_next(c), 0))
		return KEY_ENDED | i;
	/* By the time this stream is next, many others have been read. */
	__builtin_prefetch(c->next + 64);
	return (merge_key)c->time << KEY_TIME_SHIFT | i;
}

/* Steps all streams below @node and plays their matches; returns the winner. */
static merge_key play(struct merge *m, uint32_t node)
{
	merge_key a, b;

	if (node >= m->n)
		return step(m, node - m->n);
	a = play(m, 2 * node);
	b = play(m, 2 * node + 1);
	m->losers[node] = a < b ? b : a;
	return a < b ? a : b;
}

static inline merge_key replay(struct merge *m, uint32_t stream)
{
	merge_key winner = step(m, stream);

	for (uint32_t node = (m->n + stream) / 2; node; node /= 2) {
		merge_key loser = m->losers[node];
		merge_key swap = (loser ^ winner) & -(merge_key)(loser < winner);

		m->losers[node] = loser ^ swap;
		winner ^= swap;
	}
	return winner;
}

struct stream_cursor *merge_next(struct merge *m)
{
	struct stream_cursor *c;

	if (__builtin_expect(m->started && m->winner < KEY_ENDED, 1)) {
		m->winner = replay(m, KEY_STREAM(m->winner));
	} else if (!m->started && m->n) {
		m->started = true;
		m->winner = play(m, 1);
	} else {
		return NULL;
	}
	if (m->winner >= KEY_ENDED)
		return NULL;
	c = &m->cursors[KEY_STREAM(m->winner)];
	if (c->time < m->last)
		m->backward++;
	m->last = c->time;
	return c;
}

uint64_t merge_backward_steps(const struct merge *m)
{
	return m->backward;
}

void clock_scale_init(struct clock_scale *s, uint64_t frequency, uint64_t begin)
{
	/*
	 * mult = 10^9 * 2^shift / frequency, as large as fits 63 bits: over 100 days of ticks the
	 * rounding of mult adds less than 2^-9 ns for any clock from 1 MHz to 1 THz.
	 */
	unsigned __int128 mult;

	s->begin = begin;
	for (s->shift = 64;; s->shift--) {
		mult = ((unsigned __int128)1000000000 << s->shift) / frequency;
		if (mult >> 63 == 0)
			break;
	}
	s->mult = (uint64_t)mult;
}
