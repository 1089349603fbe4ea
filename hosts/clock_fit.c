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

/* Bounds [from, to) and the lines between them. */
struct window {
	size_t from, to;
	int64_t x, d; /* origin */
	struct hull lower, upper;
	double slope_min, slope_max; /* of lines that agree with all */
	double slope, ahead;	     /* of the one taken: ahead + slope * x */
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

static void hulls_make(struct window *w, const struct clock_bound *bounds)
{
	w->lower.nr = w->upper.nr = 0;
	w->x = bounds[w->from].x;
	w->d = bounds[w->from].y - bounds[w->from].x;
	for (size_t i = w->from; i < w->to; i++) {
		const struct clock_bound *b = &bounds[i];
		const struct corner c = {(double)(b->x - w->x), (double)(b->y - b->x - w->d)};

		hull_add(b->upper ? &w->upper : &w->lower, b->upper, c);
	}
}

/* Lines of one slope ------------------------------------------------------------------------- */

/* The most that a line of @slope may be ahead at x 0; INFINITY: no bound. */
static double most(const struct window *w, double slope)
{
	double d = INFINITY;

	for (size_t i = 0; i < w->upper.nr; i++)
		d = fmin(d, w->upper.corners[i].d - slope * w->upper.corners[i].x);
	return d;
}

static double least(const struct window *w, double slope)
{
	double d = -INFINITY;

	for (size_t i = 0; i < w->lower.nr; i++)
		d = fmax(d, w->lower.corners[i].d - slope * w->lower.corners[i].x);
	return d;
}

/* How wide the corridor is for lines of @slope; below 0: there is none. Concave in @slope. */
static double width(const struct window *w, double slope)
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

static double widest(const struct window *w)
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
static double slope_limit(const struct window *w, double inside, double outside)
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
static double extreme(const struct window *w, double x, int sign)
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

static double extreme_at(const struct window *w, double x, int sign)
{
	double slope = extreme(w, x, sign);

	return (sign > 0 ? most(w, slope) : least(w, slope)) + slope * x;
}

/* Windows ------------------------------------------------------------------------------------ */

static bool agrees(struct window *w, const struct clock_bound *bounds, size_t to)
{
	w->to = to;
	hulls_make(w, bounds);
	return width(w, widest(w)) >= -SLACK_NS;
}

/* The most bounds from w->from on that have a line: first in steps that double, then by halves. */
static void window_extend(struct window *w, const struct clock_bound *bounds, size_t nr)
{
	size_t good = w->from + 1, bad = nr + 1, step = 64;

	while (good < nr) {
		size_t next = nr - good < step ? nr : good + step;

		if (!agrees(w, bounds, next)) {
			bad = next;
			break;
		}
		good = next;
		step *= 2;
	}
	while (bad <= nr && bad - good > 1) {
		size_t middle = good + (bad - good) / 2;

		if (agrees(w, bounds, middle))
			good = middle;
		else
			bad = middle;
	}
	agrees(w, bounds, good);
}

/* The mean of all lines that agree with all bounds: it does so itself. */
static void window_line(struct window *w)
{
	double best = widest(w), sum = 0;

	w->slope_min = w->slope_max = w->slope = best;
	w->ahead = (most(w, best) + least(w, best)) / 2;
	if (width(w, best) < 0) /* within the slack: bounds that touch */
		return;
	w->slope_min = slope_limit(w, best, -CLOCK_FIT_DRIFT);
	w->slope_max = slope_limit(w, best, CLOCK_FIT_DRIFT);
	if (!w->lower.nr || !w->upper.nr) {
		w->slope = 0;
		w->ahead = w->lower.nr ? least(w, 0) : most(w, 0);
		return;
	}
	w->slope = w->ahead = 0;
	for (int i = 0; i <= PIECES; i++) {
		double slope = w->slope_min + (w->slope_max - w->slope_min) * i / PIECES;
		double share = fmax(width(w, slope), 0) + 1e-6;

		sum += share;
		w->slope += slope * share;
		w->ahead += (most(w, slope) + least(w, slope)) / 2 * share;
	}
	w->slope /= sum;
	w->ahead /= sum;
}

static double line_at(const struct window *w, int64_t x)
{
	return w->ahead + w->slope * (double)(x - w->x);
}

/* What the other clock says by it at @x. */
static int64_t line_says(const struct window *w, int64_t x)
{
	return clock_bounded((__int128)x + w->d + llround(line_at(w, x)));
}

/* How far the true one may be from it at @x, either way. */
static double error_at(const struct window *w, int64_t x)
{
	double at = (double)(x - w->x), line = line_at(w, x);

	if (!w->lower.nr || !w->upper.nr)
		return INFINITY;
	return fmax(fmax(extreme_at(w, at, 1) - line, line - extreme_at(w, at, -1)), 0) + SLACK_NS;
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

/* From which bound on, going back from the first of @next, the line of that agrees with all, give
 * or take @error. */
static size_t doubt_begin(const struct window *next, const struct clock_bound *bounds, size_t first,
			  double error)
{
	size_t i = next->from;

	while (i > first) {
		const struct clock_bound *b = &bounds[i - 1];
		double d = (double)(b->y - b->x - next->d), line = line_at(next, b->x);

		if (b->upper ? line > d + error : line < d - error)
			break;
		i--;
	}
	return i;
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
 * last bound that @next's line does not agree with, the clock goes evenly from the one line to the
 * other: all bounds there agree with both. Which of the two is right is not known from the last
 * bound on that cannot be of @next, whichever of its lines is the true one.
 */
static void join(struct clock_fit *fit, const struct window *w, const struct window *next,
		 const struct clock_bound *bounds, int64_t begin)
{
	int64_t x = bounds[next->from].x, y = line_says(next, x);
	double by = line_at(w, x) + (double)(w->d - next->d) - line_at(next, x);
	double error = error_at(w, x) + error_at(next, x);
	size_t sure = doubt_begin(next, bounds, w->from, error_at(next, x));
	size_t last = doubt_begin(next, bounds, sure, SLACK_NS);
	int64_t from = sure > w->from ? bounds[sure - 1].x : begin;
	int64_t to = last > w->from ? bounds[last - 1].x : begin;

	window_knots(fit, w, begin, from, 0);
	if (to > from)
		window_knots(fit, w, from + 1, to, fabs(by));
	knot_between(fit, to + 1, x, y, error + fabs(by));
	knot_between(fit, x - 1, x, y, error + fabs(by));
	if (fabs(by) <= error || isinf(error))
		fit->nr_bends++;
	else
		fit->steps[fit->nr_steps++] =
			(struct clock_step){from, x, llround(by), error_ns(error)};
}

static int windows_make(struct window **out, size_t *n, const struct clock_bound *bounds, size_t nr,
			struct corner *corners)
{
	struct window *windows = NULL;
	size_t room = 0, from = 0;

	for (*n = 0; from < nr; ++*n) {
		struct window *w;

		if (*n == room) {
			room = room ? room * 2 : 4;
			w = realloc(windows, room * sizeof(*windows));
			if (!w) {
				free(windows);
				return -ENOMEM;
			}
			windows = w;
		}
		w = &windows[*n];
		*w = (struct window){.from = from,
				     .lower.corners = corners,
				     .upper.corners = corners + nr};
		window_extend(w, bounds, nr);
		/* The next window's corners follow this one's. */
		corners += w->lower.nr > w->upper.nr ? w->lower.nr : w->upper.nr;
		from = w->to;
	}
	*out = windows;
	return 0;
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

int clock_fit_make(struct clock_fit *fit, struct clock_bound *bounds, size_t nr, int64_t begin,
		   int64_t end)
{
	struct corner *corners;
	struct window *windows;
	size_t n;
	int err;

	memset(fit, 0, sizeof(*fit));
	if (!nr)
		return -ENODATA;
	qsort(bounds, nr, sizeof(*bounds), by_x);
	/* Hulls of windows lie side by side: never more than the bounds, and one window's search.
	 */
	corners = malloc(2 * nr * sizeof(*corners));
	if (!corners)
		return -ENOMEM;
	err = windows_make(&windows, &n, bounds, nr, corners);
	if (err)
		goto out;
	fit->knots = calloc(n * (2 * PIECES + 4), sizeof(*fit->knots));
	fit->steps = calloc(n, sizeof(*fit->steps));
	err = fit->knots && fit->steps ? 0 : -ENOMEM;
	if (!err) {
		fit_windows(fit, windows, n, bounds, begin, end);
		err = fit_errors(fit, bounds, nr, begin, end);
	}
	if (!err && fit->nr > 1) {
		const struct window *w = &windows[0];

		for (size_t i = 1; i < n; i++)
			if (bounds[windows[i].to - 1].x - windows[i].x > bounds[w->to - 1].x - w->x)
				w = &windows[i];
		fit->drift = -w->slope;
	}
	free(windows);
out:
	free(corners);
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
