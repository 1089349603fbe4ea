/* SPDX-License-Identifier: MIT */
/*
 * Lines through a corridor. All is reckoned in what the other clock is ahead, y - x, against x,
 * both from the first bound of a window on, so that doubles hold them to the ns.
 */
#include "clock_fit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/grow.h"

#define PIECES 32     /* of a window, at whose ends the error is told */
#define ROUNDS 100    /* of a search between two slopes: each takes a third away */
#define SLACK_NS 0.51 /* bounds are whole ns */

/* A corner of a hull: what the other clock is ahead (d) at x. */
struct corner {
	double x, d;
};

struct hull {
	struct corner *corners;
	size_t nr;
};

/* Bounds, and the lines that agree with all of them. */
struct corridor {
	int64_t x, d; /* origin */
	struct hull lower, upper;
	double slope_min, slope_max;
};

/*
 * Bounds [from, to) are the most from @from on that have a line. Bounds from @begin on, which the
 * window before has too, agree with this one as well: those may be of either, and so may those from
 * the next one's @begin on.
 */
struct window {
	size_t from, to, begin;
	struct corridor all;  /* [begin, to): the line agrees with these */
	struct corridor sure; /* what is of this window only: how far the line may be off */
	double slope, ahead;  /* of the line: ahead + slope * x, from all's origin */
};

/* Hulls -------------------------------------------------------------------------------------- */

/* Does the way from @a over @b to @c turn to the left (up)? */
static bool turns_left(const struct corner *a, const struct corner *b, const struct corner *c)
{
	long double ux = (long double)b->x - a->x, uy = (long double)b->d - a->d;
	long double vx = (long double)c->x - b->x, vy = (long double)c->d - b->d;

	return ux * vy - uy * vx > 0;
}

/* A lower bound belongs to the hull above all of them, an upper one to the hull below. */
static void hull_add(struct hull *h, bool upper, struct corner c)
{
	while (h->nr) {
		const struct corner *last = &h->corners[h->nr - 1];

		if (last->x == c.x && (upper ? last->d <= c.d : last->d >= c.d))
			return;
		if (last->x != c.x && (h->nr < 2 || turns_left(last - 1, last, &c) == upper))
			break;
		h->nr--;
	}
	h->corners[h->nr++] = c;
}

/* Of bounds [@from, @to), of which there is one. */
static void hulls_make(struct corridor *w, const struct clock_bound *bounds, size_t from, size_t to)
{
	w->lower.nr = w->upper.nr = 0;
	w->x = bounds[from].x;
	w->d = bounds[from].y - bounds[from].x;
	for (size_t i = from; i < to; i++) {
		const struct clock_bound *b = &bounds[i];
		const struct corner c = {(double)(b->x - w->x), (double)(b->y - b->x - w->d)};

		hull_add(b->upper ? &w->upper : &w->lower, b->upper, c);
	}
}

/* Lines of one slope ------------------------------------------------------------------------- */

/* The most that a line of @slope may be ahead at x 0; INFINITY: no bound. */
static double most(const struct corridor *w, double slope)
{
	double d = INFINITY;

	for (size_t i = 0; i < w->upper.nr; i++)
		d = fmin(d, w->upper.corners[i].d - slope * w->upper.corners[i].x);
	return d;
}

static double least(const struct corridor *w, double slope)
{
	double d = -INFINITY;

	for (size_t i = 0; i < w->lower.nr; i++)
		d = fmax(d, w->lower.corners[i].d - slope * w->lower.corners[i].x);
	return d;
}

/* How wide the corridor is for lines of @slope; below 0: there is none. Concave in @slope. */
static double width(const struct corridor *w, double slope)
{
	return most(w, slope) - least(w, slope);
}

/* Of what is concave the greatest lies between @a and @b where it is the same at both. */
static void narrow(double *low, double *high, double a, double b, double at_a, double at_b)
{
	if (at_a <= at_b)
		*low = a;
	if (at_a >= at_b)
		*high = b;
}

static double widest(const struct corridor *w)
{
	double low = -CLOCK_FIT_DRIFT, high = CLOCK_FIT_DRIFT;

	if (!w->lower.nr || !w->upper.nr)
		return 0;
	for (int i = 0; i < ROUNDS; i++) {
		double a = low + (high - low) / 3, b = high - (high - low) / 3;

		narrow(&low, &high, a, b, width(w, a), width(w, b));
	}
	return (low + high) / 2;
}

/* Where between @inside, which has lines, and @outside the last slope is that has. */
static double slope_limit(const struct corridor *w, double inside, double outside)
{
	if (width(w, outside) >= 0)
		return outside;
	for (int i = 0; i < ROUNDS; i++) {
		double middle = (inside + outside) / 2;

		if (width(w, middle) >= 0)
			inside = middle;
		else
			outside = middle;
	}
	return inside;
}

/* Of the lines that agree with all bounds the one that is most (@sign 1) or least (-1) ahead at @x:
 * its slope. */
static double extreme(const struct corridor *w, double x, int sign)
{
	double low = w->slope_min, high = w->slope_max;

	for (int i = 0; i < ROUNDS && low < high; i++) {
		double a = low + (high - low) / 3, b = high - (high - low) / 3;
		double at_a = (sign > 0 ? most(w, a) : -least(w, a)) + sign * a * x;
		double at_b = (sign > 0 ? most(w, b) : -least(w, b)) + sign * b * x;

		narrow(&low, &high, a, b, at_a, at_b);
	}
	return (low + high) / 2;
}

static double extreme_at(const struct corridor *w, double x, int sign)
{
	double slope = extreme(w, x, sign);

	return (sign > 0 ? most(w, slope) : least(w, slope)) + slope * x;
}

/* Windows ------------------------------------------------------------------------------------ */

/* Have bounds [@from, @to) a line? @scratch has room for all. */
static bool agrees(struct corridor *scratch, const struct clock_bound *bounds, size_t from,
		   size_t to)
{
	hulls_make(scratch, bounds, from, to);
	return width(scratch, widest(scratch)) >= -SLACK_NS;
}

/* The most bounds from w->from on that have a line: first in steps that double, then by halves. */
static void window_extend(struct window *w, struct corridor *scratch,
			  const struct clock_bound *bounds, size_t nr)
{
	size_t good = w->from + 1, bad = nr + 1, step = 64;

	while (good < nr) {
		size_t next = nr - good < step ? nr : good + step;

		if (!agrees(scratch, bounds, w->from, next)) {
			bad = next;
			break;
		}
		good = next;
		step *= 2;
	}
	while (bad <= nr && bad - good > 1) {
		size_t middle = good + (bad - good) / 2;

		if (agrees(scratch, bounds, w->from, middle))
			good = middle;
		else
			bad = middle;
	}
	w->to = good;
}

/* The same backwards, to @first at most: what is not of the window before only. */
static void window_extend_back(struct window *w, struct corridor *scratch,
			       const struct clock_bound *bounds, size_t first)
{
	size_t good = w->from, bad = first, step = 64;

	if (agrees(scratch, bounds, first, w->to)) {
		w->begin = first;
		return;
	}
	while (good - bad > 1 && good - bad > step) {
		if (!agrees(scratch, bounds, good - step, w->to)) {
			bad = good - step;
			break;
		}
		good -= step;
		step *= 2;
	}
	while (good - bad > 1) {
		size_t middle = bad + (good - bad) / 2;

		if (agrees(scratch, bounds, middle, w->to))
			good = middle;
		else
			bad = middle;
	}
	w->begin = good;
}

static int hull_keep(struct hull *to, const struct hull *from)
{
	to->nr = from->nr;
	to->corners = malloc((from->nr + 1) * sizeof(*to->corners));
	if (!to->corners)
		return -ENOMEM;
	memcpy(to->corners, from->corners, from->nr * sizeof(*to->corners));
	return 0;
}

/* The corridor of bounds [@from, @to), with hulls of its own; none where there are none. */
static int corridor_make(struct corridor *c, struct corridor *scratch,
			 const struct clock_bound *bounds, size_t from, size_t to)
{
	double best;

	scratch->lower.nr = scratch->upper.nr = 0;
	if (from < to)
		hulls_make(scratch, bounds, from, to);
	c->x = scratch->x;
	c->d = scratch->d;
	if (hull_keep(&c->lower, &scratch->lower) || hull_keep(&c->upper, &scratch->upper))
		return -ENOMEM;
	best = widest(c);
	c->slope_min = c->slope_max = best;
	if (width(c, best) >= 0) { /* else within the slack: bounds that touch */
		c->slope_min = slope_limit(c, best, -CLOCK_FIT_DRIFT);
		c->slope_max = slope_limit(c, best, CLOCK_FIT_DRIFT);
	}
	return 0;
}

/* The mean of all lines that agree with all bounds: it does so itself. */
static void window_line(struct window *window)
{
	struct corridor *w = &window->all;
	double best = widest(w), sum = 0;

	window->slope = best;
	window->ahead = (most(w, best) + least(w, best)) / 2;
	if (!w->lower.nr || !w->upper.nr) {
		window->slope = 0;
		window->ahead = w->lower.nr ? least(w, 0) : most(w, 0);
		return;
	}
	if (width(w, best) < 0)
		return;
	window->slope = window->ahead = 0;
	for (int i = 0; i <= PIECES; i++) {
		double slope = w->slope_min + (w->slope_max - w->slope_min) * i / PIECES;
		double share = fmax(width(w, slope), 0) + 1e-6;

		sum += share;
		window->slope += slope * share;
		window->ahead += (most(w, slope) + least(w, slope)) / 2 * share;
	}
	window->slope /= sum;
	window->ahead /= sum;
}

static double line_at(const struct window *w, int64_t x)
{
	return w->ahead + w->slope * (double)(x - w->all.x);
}

/* What the other clock says by it at @x. */
static int64_t line_says(const struct window *w, int64_t x)
{
	return clock_bounded((__int128)x + w->all.d + llround(line_at(w, x)));
}

/* How far the true one may be from it at @x, either way. */
static double error_at(const struct window *w, int64_t x)
{
	const struct corridor *s = &w->sure;
	double at = (double)(x - s->x), line = line_at(w, x) + (double)(w->all.d - s->d);

	if (!s->lower.nr || !s->upper.nr)
		return INFINITY;
	return fmax(fmax(extreme_at(s, at, 1) - line, line - extreme_at(s, at, -1)), 0) + SLACK_NS;
}

/* Knots -------------------------------------------------------------------------------------- */

static uint64_t error_ns(double error)
{
	return error < 1e18 ? (uint64_t)ceil(error) : CLOCK_FIT_NO_ERROR;
}

static void knot_add(struct clock_fit *fit, const struct window *w, int64_t x, double error)
{
	struct clock_knot *k = &fit->knots[fit->nr];

	*k = (struct clock_knot){x, line_says(w, x), error_ns(error)};
	if (fit->nr && k[-1].x >= k->x)
		return;
	if (fit->nr && k->y < k[-1].y)
		k->y = k[-1].y;
	fit->nr++;
}

/* The knots of @w from @begin to @end; @more: to be added to its errors. */
static void window_knots(struct clock_fit *fit, const struct window *w, int64_t begin, int64_t end,
			 double more)
{
	for (int i = 0; i <= PIECES; i++) {
		int64_t x = begin + (int64_t)((__int128)(end - begin) * i / PIECES);

		knot_add(fit, w, x, error_at(w, x) + more);
	}
}

/* A knot at @x on the way from the last one to (@to, @y). */
static void knot_between(struct clock_fit *fit, int64_t x, int64_t to, int64_t y, double error)
{
	struct clock_knot *k = &fit->knots[fit->nr];
	double share;

	if (x <= k[-1].x || x >= to)
		return;
	share = (double)(x - k[-1].x) / (double)(to - k[-1].x);
	k->x = x;
	k->y = k[-1].y + (y > k[-1].y ? llround((double)(y - k[-1].y) * share) : 0);
	k->error = error_ns(error);
	fit->nr++;
}

/*
 * Two windows meet: a step, or a bend where both may have been right at the same moment. Behind the
 * last bound that is of @w only the clock goes evenly from the one line to the other, or from where
 * they cross on by the other: all bounds there agree with both. Which of them is right there is not
 * known.
 */
static void join(struct clock_fit *fit, const struct window *w, const struct window *next,
		 const struct clock_bound *bounds, int64_t begin)
{
	int64_t x = bounds[next->from].x;
	int64_t last = next->begin > w->from ? bounds[next->begin - 1].x : begin;
	double shift = (double)(w->all.d - next->all.d);
	double before = line_at(w, last) + shift - line_at(next, last);
	double by = line_at(w, x) + shift - line_at(next, x);
	double error = error_at(w, x) + error_at(next, x), most = fmax(fabs(by), fabs(before));

	window_knots(fit, w, begin, last, 0);
	if (before * by < 0)
		window_knots(fit, w, last + 1,
			     last + (int64_t)((double)(x - last) * before / (before - by)), most);
	else
		knot_between(fit, last + 1, x, line_says(next, x), error + most);
	knot_between(fit, x - 1, x, line_says(next, x), error + most);
	if (fabs(by) <= error || isinf(error))
		fit->nr_bends++;
	else
		fit->steps[fit->nr_steps++] =
			(struct clock_step){last, x, llround(by), error_ns(error)};
}

static struct window *window_add(struct window **windows, size_t n, size_t *room)
{
	if (n == *room && !GROW(*windows, *room, 4))
		return NULL;
	(*windows)[n] = (struct window){0};
	return &(*windows)[n];
}

static void windows_free(struct window *windows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(windows[i].all.lower.corners);
		free(windows[i].all.upper.corners);
		free(windows[i].sure.lower.corners);
		free(windows[i].sure.upper.corners);
	}
	free(windows);
}

static int windows_make(struct window **out, size_t *n, struct corridor *scratch,
			const struct clock_bound *bounds, size_t nr)
{
	size_t room = 0;
	int err = 0;

	for (size_t from = 0; from < nr; ++*n) {
		struct window *w = window_add(out, *n, &room);

		if (!w)
			return -ENOMEM;
		w->from = w->begin = from;
		window_extend(w, scratch, bounds, nr);
		if (*n)
			window_extend_back(w, scratch, bounds, w[-1].from);
		from = w->to;
	}
	for (size_t i = 0; i < *n && !err; i++) {
		struct window *w = &(*out)[i];
		size_t sure = i + 1 < *n ? w[1].begin : w->to;

		err = corridor_make(&w->all, scratch, bounds, w->begin, w->to);
		if (!err)
			err = corridor_make(&w->sure, scratch, bounds, w->from, sure);
	}
	return err;
}

static void fit_windows(struct clock_fit *fit, struct window *windows, size_t n,
			const struct clock_bound *bounds, int64_t begin, int64_t end)
{
	for (size_t i = 0; i < n; i++)
		window_line(&windows[i]);
	for (size_t i = 0; i < n; i++) {
		struct window *w = &windows[i];
		int64_t first = bounds[w->from].x, last = bounds[w->to - 1].x;

		if (!i && begin < first)
			first = begin;
		if (i + 1 == n && end > last)
			last = end;
		if (i + 1 < n)
			join(fit, w, w + 1, bounds, first);
		else
			window_knots(fit, w, first, last, 0);
	}
}

static int by_x(const void *a, const void *b)
{
	const struct clock_bound *p = a, *q = b;

	return p->x != q->x ? (p->x < q->x ? -1 : 1) : (p->y > q->y) - (p->y < q->y);
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The last knot not behind @x, or the first. */
static uint32_t knot_at(const struct clock_fit *fit, int64_t x)
{
	uint32_t low = 0, high = fit->nr;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (fit->knots[middle].x <= x)
			low = middle;
		else
			high = middle;
	}
	return low;
}

uint64_t clock_fit_error(const struct clock_fit *fit, int64_t x)
{
	const struct clock_knot *k = &fit->knots[knot_at(fit, x)];
	double share;

	if (k + 1 == fit->knots + fit->nr || x <= k->x || k->error == CLOCK_FIT_NO_ERROR ||
	    k[1].error == CLOCK_FIT_NO_ERROR)
		return k->error;
	share = (double)(x - k->x) / (double)(k[1].x - k->x);
	return (uint64_t)ceil((double)k->error * (1 - share) + (double)k[1].error * share);
}

static uint64_t median(uint64_t *values, size_t nr)
{
	qsort(values, nr, sizeof(*values), by_size);
	return values[nr / 2];
}

static int fit_errors(struct clock_fit *fit, const struct clock_bound *bounds, size_t nr,
		      int64_t begin, int64_t end)
{
	uint64_t *errors = malloc(nr * sizeof(*errors)), over[2 * PIECES + 1];

	if (!errors)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		errors[i] = clock_fit_error(fit, bounds[i].x);
	fit->error = median(errors, nr);
	free(errors);
	for (int i = 0; i <= 2 * PIECES; i++)
		over[i] = clock_fit_error(fit, begin + (int64_t)((__int128)(end - begin) * i /
								 (2 * PIECES)));
	fit->error_over_time = median(over, 2 * PIECES + 1);
	return 0;
}

/* What the clock gains, by its longest window. */
static double fit_drift(const struct window *windows, size_t n, const struct clock_bound *bounds)
{
	const struct window *w = &windows[0];

	for (size_t i = 1; i < n; i++)
		if (bounds[windows[i].to - 1].x - bounds[windows[i].from].x >
		    bounds[w->to - 1].x - bounds[w->from].x)
			w = &windows[i];
	return -w->slope;
}

int clock_fit_make(struct clock_fit *fit, struct clock_bound *bounds, size_t nr, int64_t begin,
		   int64_t end)
{
	struct corridor scratch = {0};
	struct window *windows = NULL;
	size_t n = 0;
	int err = -ENOMEM;

	memset(fit, 0, sizeof(*fit));
	if (!nr)
		return -ENODATA;
	qsort(bounds, nr, sizeof(*bounds), by_x);
	scratch.lower.corners = malloc(nr * sizeof(struct corner));
	scratch.upper.corners = malloc(nr * sizeof(struct corner));
	if (scratch.lower.corners && scratch.upper.corners)
		err = windows_make(&windows, &n, &scratch, bounds, nr);
	if (!err) {
		fit->knots = calloc(n * (2 * PIECES + 4), sizeof(*fit->knots));
		fit->steps = calloc(n, sizeof(*fit->steps));
		err = fit->knots && fit->steps ? 0 : -ENOMEM;
	}
	if (!err) {
		fit_windows(fit, windows, n, bounds, begin, end);
		fit->drift = fit_drift(windows, n, bounds);
		err = fit_errors(fit, bounds, nr, begin, end);
	}
	windows_free(windows, n);
	free(scratch.lower.corners);
	free(scratch.upper.corners);
	if (err)
		clock_fit_fini(fit);
	return err;
}

void clock_fit_fini(struct clock_fit *fit)
{
	free(fit->knots);
	free(fit->steps);
	memset(fit, 0, sizeof(*fit));
}

int64_t clock_fit_at(const struct clock_fit *fit, int64_t x)
{
	uint32_t at = knot_at(fit, x);
	const struct clock_knot *k;
	long double slope = 1;

	/* Behind the last one the line before it goes on. */
	if (at + 1 == fit->nr && at)
		at--;
	k = &fit->knots[at];
	if (at + 1 < fit->nr)
		slope = (long double)(k[1].y - k->y) / (long double)(k[1].x - k->x);
	return clock_bounded((__int128)k->y + llroundl(slope * (long double)(x - k->x)));
}
