/* SPDX-License-Identifier: MIT */
/* The critical path inside: the walk, and who ended a wait. */
#ifndef JIS_ANALYSIS_PATH_INT_H
#define JIS_ANALYSIS_PATH_INT_H

#include "path.h"

struct walk {
	const struct lanes *l;
	path_fn *fn;
	void *ctx;
	uint32_t depth_max;
	uint32_t process, unblocker; /* the last one looked for */
	struct path_who chain[PATH_DEPTH_MAX + 1];
};

static const struct path_who nobody = {MODEL_NO_THREAD, MODEL_NO_THREAD};

static inline bool is_somebody(struct path_who who)
{
	return who.thread != MODEL_NO_THREAD || who.vthread != MODEL_NO_THREAD;
}

/* A virtual thread is the same on any carrier. */
static inline bool same_who(struct path_who a, struct path_who b)
{
	return a.vthread != MODEL_NO_THREAD ? a.vthread == b.vthread
					    : b.vthread == MODEL_NO_THREAD && a.thread == b.thread;
}

static inline bool is_wait(uint8_t state)
{
	return state == MODEL_BLOCKED_INTERRUPTIBLE || state == MODEL_BLOCKED_UNINTERRUPTIBLE ||
	       state == MODEL_STOPPED;
}

static inline bool in_chain(const struct walk *w, uint32_t depth, struct path_who who)
{
	for (uint32_t i = 0; i <= depth; i++) {
		if (same_who(w->chain[i], who))
			return true;
	}
	return false;
}

static inline bool is_lock(enum model_reason_kind kind)
{
	return kind == MODEL_WAIT_MONITOR || kind == MODEL_WAIT_PARK;
}

static inline struct path_who owner_of(const struct segment *s)
{
	return (struct path_who){s->owner, s->owner_vthread};
}

/* What is to be done about a wait. */
struct follow {
	enum path_end ended;
	struct path_who by;
	uint64_t until; /* @by is followed until then */
};

static inline bool is_followed(enum path_end ended)
{
	return ended == PATH_THREAD || ended == PATH_HOLDER || ended == PATH_OWNER ||
	       ended == PATH_SENDER;
}

/* path_follow - who ended wait @s of @who, and until when that one is to be followed. */
struct follow path_follow(struct walk *w, struct path_who who, const struct segment *s);

/*
 * A monitor has no timeout: who waits for one and is woken by a timer looks whether it is free, and
 * waits on. It is one wait, which ends with the part that a thread ended: the number of that, or
 * @i.
 */
uint64_t path_looks_end(const struct walk *w, uint32_t lane, uint64_t i);

/*
 * path_is_poller - is @s a virtual thread's wait, @waiter's, for a socket or the like, and @by one
 * of the JDK's that poll for all of its JVM? Those are threads; by default from JDK 22 on virtual
 * threads, and a thread for these.
 */
bool path_is_poller(const struct walk *w, struct path_who waiter, const struct segment *s,
		    struct path_who by);

/*
 * The wait of @poller before it woke somebody, at @woken; NULL: it was over at @begin, or is not
 * known.
 */
const struct segment *path_polled(const struct walk *w, struct path_who poller, uint64_t begin,
				  uint64_t woken);

#endif /* JIS_ANALYSIS_PATH_INT_H */
