/* SPDX-License-Identifier: MIT */
/*
 * The clocks of several sessions made one: that of the first. Sessions of one boot of one machine
 * have the same clock; others are told by the remote calls between them, each by the one already
 * known with which the calls say most; those that share no call with any by their time of day.
 */
#ifndef JIS_HOSTS_ALIGN_H
#define JIS_HOSTS_ALIGN_H

#include "clock_fit.h"
#include "ends.h"
#include "trace/manifest.h"

/* How a session's ticks become those of the first one, on lines from knot to knot; sorted, and
 * without end before the first and after the last. */
struct tick_knot {
	int64_t from, to;
};

struct tick_map {
	struct tick_knot *knots;
	uint32_t nr;
	uint32_t last; /* private: the knot used last */
};

/* One session. */
struct aligned {
	const struct manifest *manifest;
	enum host_clock clock;
	uint32_t parent; /* session; of one that has none itself */
	bool known;
	uint64_t calls;	      /* matched with its parent's; HOST_CLOCK_CALLS */
	struct clock_fit fit; /* HOST_CLOCK_CALLS: its ns since its begin to those of the first */
	struct tick_map map;  /* its ticks to those of the first */
};

/* How exactly the clock of session @a is known by its calls with @b: knots whose x is its ns. */
struct align_edge {
	uint32_t a, b;
	struct clock_knot *knots;
	uint32_t nr;
};

/* What was found of all. */
struct align_check {
	struct align_edge *edges; /* by a, then b */
	uint32_t nr_edges;
	uint64_t calls;	    /* of all, matched by UID */
	uint64_t ambiguous; /* ends whose UID more than one other has */
	uint64_t backward;  /* calls that are served before they are sent, or answered after that */
	uint64_t backward_ns; /* by that much at most */
};

/**
 * align_sessions - finds all clocks.
 * @sessions: manifest is set; the first is the reference. Free with align_fini().
 * @ends: of all sessions, changed.
 * @check: its edges are freed by align_fini().
 * Returns 0 or -ENOMEM.
 */
int align_sessions(struct aligned *sessions, uint32_t nr, struct call_end *ends, size_t nr_ends,
		   uint64_t thin, struct align_check *check);
void align_fini(struct aligned *sessions, uint32_t nr, struct align_check *check);

/* align_ticks - the session's ticks of @ns since its begin. */
int64_t align_ticks(const struct manifest *m, int64_t ns);

/* tick_map_at - what @ticks are of the first session's clock; may be negative, and is never farther
 * than CLOCK_FARTHEST. @ticks: up to twice that. Quick for times that rise. */
int64_t tick_map_at(struct tick_map *map, int64_t ticks);

#endif /* JIS_HOSTS_ALIGN_H */
