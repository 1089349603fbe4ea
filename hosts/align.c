/* SPDX-License-Identifier: MIT */
/*
 * A tree of clocks grows from the first session: each time the one comes to it that is known best
 * by one that is in it already.
 */
#include "align.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Both ends of a call in two sessions; ns since the begin of each. */
struct pair {
	uint32_t client, server; /* sessions */
	int64_t send, serve, answer, reply;
};

struct alignment {
	struct aligned *sessions;
	uint32_t nr;
	struct pair *pairs;
	size_t nr_pairs;
	struct clock_bound *bounds; /* room for all pairs */
	struct clock_fit *best;	    /* of each session that is not known yet; knots NULL: none */
	uint32_t *best_parent;
	uint64_t *best_calls;
};

/* Ticks and ns ------------------------------------------------------------------------------- */

int64_t align_ticks(const struct manifest *m, int64_t ns)
{
	return clock_bounded(m->begin + (__int128)ns * (int64_t)m->frequency / 1000000000);
}

static int64_t realtime_begin(const struct manifest *m)
{
	return manifest_realtime(m, m->begin);
}

int64_t tick_map_at(struct tick_map *map, int64_t ticks)
{
	const struct tick_knot *k;
	int64_t rise, run;

	while (map->last + 2 < map->nr && map->knots[map->last + 1].from <= ticks)
		map->last++;
	while (map->last && map->knots[map->last].from > ticks)
		map->last--;
	k = &map->knots[map->last];
	if (map->nr < 2)
		return clock_bounded((__int128)k->to + ticks - k->from);
	rise = k[1].to - k->to;
	run = k[1].from - k->from;
	if (rise == run || run <= 0)
		return clock_bounded((__int128)k->to + ticks - k->from);
	return clock_bounded(k->to + (__int128)(ticks - k->from) * rise / run);
}

/* ns since the first session's begin, of ns since that of session @i, which is known. */
static int64_t known_ns(struct alignment *a, uint32_t i, int64_t ns)
{
	const struct manifest *first = a->sessions[0].manifest;
	struct aligned *s = &a->sessions[i];
	int64_t ticks;

	if (s->clock == HOST_CLOCK_CALLS)
		return clock_fit_at(&s->fit, ns);
	ticks = tick_map_at(&s->map, align_ticks(s->manifest, ns)) - (int64_t)first->begin;
	return clock_bounded((__int128)ticks * 1000000000 / (int64_t)first->frequency);
}

static int knots_alloc(struct tick_map *map, uint32_t nr)
{
	free(map->knots);
	map->knots = calloc(nr, sizeof(*map->knots));
	map->last = 0;
	map->nr = map->knots ? nr : 0;
	return map->knots ? 0 : -ENOMEM;
}

/* Pairs -------------------------------------------------------------------------------------- */

static void pair_add(struct alignment *a, const struct call_end *client,
		     const struct call_end *server)
{
	a->pairs[a->nr_pairs++] = (struct pair){
		.client = client->session,
		.server = server->session,
		.send = clock_bounded(client->first),
		.serve = clock_bounded(server->first),
		.answer = clock_bounded(server->last),
		.reply = clock_bounded(client->last),
	};
}

/* @ends are sorted by UID: a client's and a server's that follow each other are of one call. */
static int pairs_make(struct alignment *a, const struct call_end *ends, size_t nr,
		      struct align_check *check)
{
	a->pairs = calloc(nr / 2 + 1, sizeof(*a->pairs));
	if (!a->pairs)
		return -ENOMEM;
	for (size_t i = 0, next; i < nr; i = next) {
		for (next = i + 1; next < nr && call_uid_equal(&ends[next].uid, &ends[i].uid);)
			next++;
		if (next == i + 1)
			continue;
		if (next == i + 2 && ends[i].server != ends[i + 1].server &&
		    ends[i].session != ends[i + 1].session)
			pair_add(a, &ends[i], &ends[i + 1]);
		else
			check->ambiguous += next - i;
	}
	check->calls = a->nr_pairs;
	return 0;
}

/* May what @s says at its @ns be wrong by a step? */
static bool in_step(const struct aligned *s, int64_t ns)
{
	for (uint32_t k = 0; k < s->fit.nr_steps; k++)
		if (ns >= s->fit.steps[k].from && ns <= s->fit.steps[k].to)
			return true;
	return false;
}

/* When session @known said @at, the other one said @x: not later (@upper), or not earlier. */
static size_t bound_add(struct alignment *a, size_t nr, uint32_t known, int64_t at, int64_t x,
			bool upper)
{
	if (in_step(&a->sessions[known], at))
		return nr;
	a->bounds[nr] = (struct clock_bound){x, known_ns(a, known, at), upper};
	return nr + 1;
}

/* What the calls between @known and @other say of @other's clock, from @begin on among the bounds.
 * Returns how many bounds. */
static size_t bounds_make(struct alignment *a, uint32_t known, uint32_t other, size_t begin)
{
	size_t nr = begin;

	for (size_t i = 0; i < a->nr_pairs; i++) {
		const struct pair *p = &a->pairs[i];

		if (p->client == known && p->server == other) {
			nr = bound_add(a, nr, known, p->send, p->serve, false);
			nr = bound_add(a, nr, known, p->reply, p->answer, true);
		} else if (p->server == known && p->client == other) {
			nr = bound_add(a, nr, known, p->serve, p->send, true);
			nr = bound_add(a, nr, known, p->answer, p->reply, false);
		}
	}
	return nr - begin;
}

static int64_t length_ns(const struct manifest *m)
{
	return clock_bounded((__int128)(m->end - m->begin) * 1000000000 / (int64_t)m->frequency);
}

/* The tree ----------------------------------------------------------------------------------- */

/* A few calls may say much of a moment; what counts is all of the recording. */
static bool is_better(const struct clock_fit *a, const struct clock_fit *b)
{
	return a->error_over_time < b->error_over_time;
}

/* What session @known, which has just become so, says of those that are not. */
static int candidates(struct alignment *a, uint32_t known)
{
	for (uint32_t i = 0; i < a->nr; i++) {
		size_t nr = a->sessions[i].known ? 0 : bounds_make(a, known, i, 0);
		struct clock_fit fit;
		int err;

		if (!nr)
			continue;
		err = clock_fit_make(&fit, a->bounds, nr, 0, length_ns(a->sessions[i].manifest));
		if (err)
			return err;
		if (a->best[i].knots && !is_better(&fit, &a->best[i])) {
			clock_fit_fini(&fit);
			continue;
		}
		clock_fit_fini(&a->best[i]);
		a->best[i] = fit;
		a->best_parent[i] = known;
		a->best_calls[i] = nr / 2;
	}
	return 0;
}

static bool same_clock(const struct manifest *a, const struct manifest *b)
{
	static const uint8_t none[16];

	return a->clock == b->clock && !memcmp(a->boot_id, b->boot_id, 16) &&
	       memcmp(a->boot_id, none, 16) != 0;
}

/* @i is of the same clock as @known: its knots, which begin elsewhere. */
static int become_same(struct alignment *a, uint32_t i, uint32_t known)
{
	struct aligned *s = &a->sessions[i];
	const struct aligned *of = &a->sessions[known];
	int64_t shift = (int64_t)(s->manifest->base - of->manifest->base);

	/* Its own parent may be of that clock too, and has the same knots then. */
	if (knots_alloc(&s->map, of->map.nr))
		return -ENOMEM;
	for (uint32_t k = 0; k < of->map.nr; k++)
		s->map.knots[k] =
			(struct tick_knot){clock_bounded((__int128)of->map.knots[k].from - shift),
					   of->map.knots[k].to};
	s->clock = HOST_CLOCK_SAME;
	s->parent = known;
	return 0;
}

static int map_by_calls(struct alignment *a, struct aligned *s)
{
	const struct manifest *first = a->sessions[0].manifest;

	if (knots_alloc(&s->map, s->fit.nr + 1))
		return -ENOMEM;
	s->map.nr = 0;
	for (uint32_t k = 0; k < s->fit.nr; k++) {
		const struct tick_knot knot = {align_ticks(s->manifest, s->fit.knots[k].x),
					       align_ticks(first, s->fit.knots[k].y)};

		/* A tick may be longer than what is between them. */
		if (!s->map.nr || s->map.knots[s->map.nr - 1].from < knot.from)
			s->map.knots[s->map.nr++] = knot;
	}
	if (s->map.nr == 1) /* of no length: the rate in ticks is another one all the same */
		s->map.knots[s->map.nr++] =
			(struct tick_knot){align_ticks(s->manifest, s->fit.knots[0].x + 1000000000),
					   align_ticks(first, s->fit.knots[0].y + 1000000000)};
	return 0;
}

static int become_by_calls(struct alignment *a, uint32_t i)
{
	struct aligned *s = &a->sessions[i];

	s->fit = a->best[i];
	a->best[i] = (struct clock_fit){0};
	s->clock = HOST_CLOCK_CALLS;
	s->parent = a->best_parent[i];
	s->calls = a->best_calls[i];
	return map_by_calls(a, s);
}

/* Two knots: its rate in ticks is another one. */
static int become_by_realtime(struct alignment *a, uint32_t i)
{
	const struct manifest *first = a->sessions[0].manifest;
	struct aligned *s = &a->sessions[i];
	int64_t begin =
		clock_bounded((__int128)realtime_begin(s->manifest) - realtime_begin(first));
	int64_t length = length_ns(s->manifest) + 1000000000;

	if (knots_alloc(&s->map, 2))
		return -ENOMEM;
	s->map.knots[0] =
		(struct tick_knot){align_ticks(s->manifest, 0), align_ticks(first, begin)};
	s->map.knots[1] = (struct tick_knot){align_ticks(s->manifest, length),
					     align_ticks(first, begin + length)};
	s->clock = HOST_CLOCK_REALTIME;
	s->parent = 0;
	return 0;
}

/* The next to come into the tree: by a clock that is known, else by the best calls, else by time of
 * day; a->nr: all are known. */
static int grow(struct alignment *a, uint32_t *next)
{
	uint32_t best = a->nr, unknown = a->nr;

	for (uint32_t i = 0; i < a->nr; i++) {
		if (a->sessions[i].known)
			continue;
		for (uint32_t k = 0; k < a->nr; k++) {
			if (a->sessions[k].known &&
			    same_clock(a->sessions[i].manifest, a->sessions[k].manifest)) {
				*next = i;
				return become_same(a, i, k);
			}
		}
		unknown = unknown == a->nr ? i : unknown;
		if (a->best[i].knots && (best == a->nr || is_better(&a->best[i], &a->best[best])))
			best = i;
	}
	*next = best != a->nr ? best : unknown;
	if (*next == a->nr)
		return 0;
	return best != a->nr ? become_by_calls(a, best) : become_by_realtime(a, unknown);
}

/* Refining ----------------------------------------------------------------------------------- */

static uint64_t errors_sum(uint64_t a, uint64_t b)
{
	return a > CLOCK_FIT_NO_ERROR - b ? CLOCK_FIT_NO_ERROR : a + b;
}

/* Of the way from @i up to the first session, at half of the time. */
static uint64_t error_up(const struct alignment *a, uint32_t i)
{
	uint64_t sum = 0;

	for (; i != a->sessions[i].parent; i = a->sessions[i].parent)
		sum = errors_sum(sum,
				 a->sessions[i].fit.nr ? a->sessions[i].fit.error_over_time : 0);
	return sum;
}

/*
 * The errors of @fit, which is made from all calls of a session whose parent's alone gave @by: in
 * relation to the parent it is not farther from the truth than from @by and that from it, nor than
 * it would be were the other ones exact, and as far as those may be wrong (@others).
 */
static void errors_refine(struct clock_fit *fit, const struct clock_fit *by, uint64_t others)
{
	for (uint32_t k = 0; k < fit->nr; k++) {
		struct clock_knot *knot = &fit->knots[k];
		uint64_t error = clock_fit_error(by, knot->x);
		int64_t apart = knot->y - clock_fit_at(by, knot->x);

		error = errors_sum(error, (uint64_t)(apart < 0 ? -apart : apart));
		knot->error = errors_sum(knot->error, others);
		if (error < knot->error)
			knot->error = error;
	}
	fit->error = by->error;
	fit->error_over_time = by->error_over_time;
}

/* Session @i by its calls with all others, where those say nothing else than its parent's do. */
static int refine(struct alignment *a, uint32_t i)
{
	struct aligned *s = &a->sessions[i];
	uint64_t others = 0;
	bool any = false;
	struct clock_fit fit;
	size_t nr = 0;
	int err;

	for (uint32_t k = 0; k < a->nr; k++) {
		size_t more = k == i ? 0 : bounds_make(a, k, i, nr);

		if (more && k != s->parent) {
			any = true;
			others = error_up(a, k) > others ? error_up(a, k) : others;
		}
		nr += more;
	}
	if (!any)
		return 0;
	err = clock_fit_make(&fit, a->bounds, nr, 0, length_ns(s->manifest));
	if (err)
		return err;
	/* What its parent's calls leave open, a step or a bend, the others may decide. */
	if (fit.nr_steps + fit.nr_bends > s->fit.nr_steps + s->fit.nr_bends ||
	    s->fit.error_over_time == CLOCK_FIT_NO_ERROR) {
		clock_fit_fini(&fit);
		return 0;
	}
	errors_refine(&fit, &s->fit, errors_sum(others, error_up(a, s->parent)));
	clock_fit_fini(&s->fit);
	s->fit = fit;
	return map_by_calls(a, s);
}

/* Where one changes what it says to the others does, a little: more than once, and last those that
 * were set, whose steps say nothing to others. */
static int refine_all(struct alignment *a)
{
	int err = 0;

	for (int round = 0; round < 3; round++)
		for (uint32_t i = 1; i < a->nr && !err; i++)
			if (a->sessions[i].clock == HOST_CLOCK_CALLS &&
			    (round < 2 || a->sessions[i].fit.nr_steps))
				err = refine(a, i);
	for (uint32_t i = 1; i < a->nr && !err; i++)
		if (a->sessions[i].clock == HOST_CLOCK_SAME)
			err = become_same(a, i, a->sessions[i].parent);
	return err;
}

/* How exactly ------------------------------------------------------------------------------------
 */

static int edge_add(struct alignment *a, uint32_t i, uint32_t by, struct align_check *check)
{
	struct aligned *s = &a->sessions[i];
	size_t nr = bounds_make(a, by, i, 0);
	struct align_edge *grown;
	struct clock_fit fit;
	int err;

	if (!nr)
		return 0;
	err = clock_fit_make(&fit, a->bounds, nr, 0, length_ns(s->manifest));
	if (err)
		return err;
	grown = realloc(check->edges, (check->nr_edges + 1ull) * sizeof(*grown));
	if (!grown) {
		clock_fit_fini(&fit);
		return -ENOMEM;
	}
	check->edges = grown;
	/* The clock that was taken is not farther from the truth than from this one, and that. */
	for (uint32_t k = 0; k < fit.nr; k++) {
		struct clock_knot *knot = &fit.knots[k];
		int64_t apart = known_ns(a, i, knot->x) - knot->y;

		knot->error = errors_sum(knot->error, (uint64_t)(apart < 0 ? -apart : apart));
	}
	grown[check->nr_edges++] =
		(struct align_edge){.a = i, .b = by, .knots = fit.knots, .nr = fit.nr};
	fit.knots = NULL;
	clock_fit_fini(&fit);
	return 0;
}

/* Each two sessions that have calls with each other, and a session and its parent, once. */
static int edges_make(struct alignment *a, struct align_check *check)
{
	int err = 0;

	for (uint32_t i = 0; i < a->nr; i++) {
		for (uint32_t k = 0; k < a->nr && !err; k++) {
			bool parent = a->sessions[i].clock == HOST_CLOCK_CALLS &&
				      a->sessions[i].parent == k;
			bool child = a->sessions[k].clock == HOST_CLOCK_CALLS &&
				     a->sessions[k].parent == i;

			if (k != i && (parent || (k < i && !child)))
				err = edge_add(a, i, k, check);
		}
	}
	return err;
}

/* Does each call lie in its client's? */
static void check_pairs(struct alignment *a, struct align_check *check)
{
	for (size_t i = 0; i < a->nr_pairs; i++) {
		const struct pair *p = &a->pairs[i];
		int64_t early = known_ns(a, p->client, p->send) - known_ns(a, p->server, p->serve);
		int64_t late = known_ns(a, p->server, p->answer) - known_ns(a, p->client, p->reply);
		int64_t by = early > late ? early : late;

		if (by <= 1) /* rounding */
			continue;
		check->backward++;
		if ((uint64_t)by > check->backward_ns)
			check->backward_ns = (uint64_t)by;
	}
}

static int tree_make(struct alignment *a)
{
	uint32_t at = 0;
	int err = knots_alloc(&a->sessions[0].map, 1);

	a->sessions[0].clock = HOST_CLOCK_REFERENCE;
	while (!err && at < a->nr) {
		a->sessions[at].known = true;
		err = candidates(a, at);
		if (!err)
			err = grow(a, &at);
	}
	return err;
}

int align_sessions(struct aligned *sessions, uint32_t nr, struct call_end *ends, size_t nr_ends,
		   uint64_t thin, struct align_check *check)
{
	struct alignment a = {.sessions = sessions, .nr = nr};
	int err;

	memset(check, 0, sizeof(*check));
	nr_ends = call_ends_sort(ends, nr_ends, thin);
	err = pairs_make(&a, ends, nr_ends, check);
	a.bounds = calloc(2 * a.nr_pairs + 1, sizeof(*a.bounds));
	a.best = calloc(nr, sizeof(*a.best));
	a.best_parent = calloc(nr, sizeof(*a.best_parent));
	a.best_calls = calloc(nr, sizeof(*a.best_calls));
	if (!err && (!a.bounds || !a.best || !a.best_parent || !a.best_calls))
		err = -ENOMEM;
	if (!err)
		err = tree_make(&a);
	if (!err)
		err = refine_all(&a);
	if (!err)
		err = edges_make(&a, check);
	if (!err)
		check_pairs(&a, check);
	for (uint32_t i = 0; a.best && i < nr; i++)
		clock_fit_fini(&a.best[i]);
	free(a.best);
	free(a.best_parent);
	free(a.best_calls);
	free(a.bounds);
	free(a.pairs);
	return err;
}

void align_fini(struct aligned *sessions, uint32_t nr, struct align_check *check)
{
	for (uint32_t i = 0; i < check->nr_edges; i++)
		free(check->edges[i].knots);
	free(check->edges);
	for (uint32_t i = 0; i < nr; i++) {
		clock_fit_fini(&sessions[i].fit);
		free(sessions[i].map.knots);
	}
}
