/* SPDX-License-Identifier: MIT */
/*
 * One clock told by another, from moments of which it is known which was first. A host's clock is a
 * straight line of the other's, with at most CLOCK_FIT_DRIFT in its slope, until it is set: where
 * no line agrees with all bounds, another one begins.
 *
 * The line lies between the upper convex hull of what it must not be below and the lower convex
 * hull of what it must not be above (J.-M. Berthaud, "Time synchronization over networks using
 * convex closures", 2000); all lines that do are known, and so is how far the one taken may be from
 * the true one at each moment.
 */
#ifndef JIS_HOSTS_CLOCK_FIT_H
#define JIS_HOSTS_CLOCK_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Two clocks run apart by less than this share (500 ppm, as NTP has it: RFC 5905, tolerance). */
#define CLOCK_FIT_DRIFT 500e-6
/* ns, or ticks: farther from its begin no moment is taken to be (73 years, of ns). What files say
 * may be any number; sums of four of these are still numbers. */
#define CLOCK_FARTHEST (INT64_MAX / 4)
/* Not known: there is no bound on one side. */
#define CLOCK_FIT_NO_ERROR UINT64_MAX

/* The other clock said y ns, not later (@upper), or not earlier, than this one said x ns. */
struct clock_bound {
	int64_t x, y;
	bool upper;
};

/* From one of these to the next, this clock's x is the other's y on a straight line, plus or minus
 * @error ns. Before the first and after the last the lines go on. */
struct clock_knot {
	int64_t x, y;
	uint64_t error;
};

/* Between x of @from and of @to, or where, this clock was set by @by ns, plus or minus @error. */
struct clock_step {
	int64_t from, to;
	int64_t by;
	uint64_t error;
};

struct clock_fit {
	struct clock_knot *knots; /* by x; y does not fall */
	uint32_t nr;
	struct clock_step *steps;
	uint32_t nr_steps;
	uint32_t nr_bends; /* times the rate changed, without a step */
	double drift;	   /* what this clock gains on the other, as a share, over all */
	/* ns; at half of the bounds, and in half of the time from begin to end, not more than. */
	uint64_t error, error_over_time;
};

/**
 * clock_fit_make - the clock between @begin and @end (its own ns).
 * @bounds: none farther than CLOCK_FARTHEST; sorted by this; at least one of each kind, else all
 * errors are CLOCK_FIT_NO_ERROR. Returns 0, -ENODATA (no bound at all) or -ENOMEM; free with
 * clock_fit_fini().
 */
int clock_fit_make(struct clock_fit *fit, struct clock_bound *bounds, size_t nr, int64_t begin,
		   int64_t end);
void clock_fit_fini(struct clock_fit *fit);

/* clock_bounded - @value, or the nearest that is not too far. */
static inline int64_t clock_bounded(__int128 value)
{
	if (value > CLOCK_FARTHEST)
		return CLOCK_FARTHEST;
	return value < -CLOCK_FARTHEST ? -CLOCK_FARTHEST : (int64_t)value;
}

/* clock_fit_error - plus or minus so many ns. */
uint64_t clock_fit_error(const struct clock_fit *fit, int64_t x);

/* clock_fit_at - the other clock when this one says @x. */
int64_t clock_fit_at(const struct clock_fit *fit, int64_t x);

#endif /* JIS_HOSTS_CLOCK_FIT_H */
