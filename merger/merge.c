/* SPDX-License-Identifier: MIT */
/*
 * A loser tree over stream cursors. The keys stand in one array of their own, so that a replay
 * touches a few cache lines and not the cursors. A stream that has ended has the key UINT64_MAX.
 */
#include "merge.h"

#include <errno.h>
#include <stdlib.h>

struct merge {
	struct stream_cursor *cursors;
	uint32_t n, leaves; /* leaves: n rounded up to a power of two */
	uint32_t winner;
	bool started;
	uint64_t last, backward;
	uint64_t *keys;	  /* by stream; padding leaves have UINT64_MAX */
	uint32_t *losers; /* inner node -> stream that lost there; [0] is unused */
};

int merge_open(struct stream_cursor *cursors, uint32_t n, struct merge **out)
{
	struct merge *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->cursors = cursors;
	m->n = n;
	m->leaves = 1;
	while (m->leaves < n)
		m->leaves *= 2;
	m->keys = calloc(m->leaves, sizeof(*m->keys));
	m->losers = calloc(m->leaves, sizeof(*m->losers));
	if (!m->keys || !m->losers) {
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
	free(m->keys);
	free(m->losers);
	free(m);
}

/* Does stream a go before stream b? Equal times: the one opened first. */
static inline bool before(const uint64_t *keys, uint32_t a, uint32_t b)
{
	return keys[a] < keys[b] || (keys[a] == keys[b] && a < b);
}

static inline void step(struct merge *m, uint32_t i)
{
	m->keys[i] = stream_cursor_next(&m->cursors[i]) ? m->cursors[i].time : UINT64_MAX;
}

/* Plays all matches below @node; returns the winner. */
static uint32_t play(struct merge *m, uint32_t node)
{
	uint32_t a, b;

	if (node >= m->leaves)
		return node - m->leaves;
	a = play(m, 2 * node);
	b = play(m, 2 * node + 1);
	if (before(m->keys, b, a)) {
		m->losers[node] = a;
		return b;
	}
	m->losers[node] = b;
	return a;
}

static void start(struct merge *m)
{
	m->started = true;
	for (uint32_t i = 0; i < m->leaves; i++)
		m->keys[i] = UINT64_MAX;
	for (uint32_t i = 0; i < m->n; i++)
		step(m, i);
	m->winner = m->leaves > 1 ? play(m, 1) : 0;
}

static void replay(struct merge *m)
{
	uint32_t w = m->winner;
	const uint64_t *keys = m->keys;

	step(m, w);
	for (uint32_t node = (m->leaves + w) / 2; node; node /= 2) {
		uint32_t loser = m->losers[node];

		if (before(keys, loser, w)) {
			m->losers[node] = w;
			w = loser;
		}
	}
	m->winner = w;
}

struct stream_cursor *merge_next(struct merge *m)
{
	struct stream_cursor *c;

	if (!m->n)
		return NULL;
	if (m->started)
		replay(m);
	else
		start(m);
	if (m->keys[m->winner] == UINT64_MAX)
		return NULL;
	c = &m->cursors[m->winner];
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
