/* SPDX-License-Identifier: MIT */
/*
 * The critical path of an interval of a thread: what the thread did; and while it waited, what the
 * thread did that ended the wait, and so on, back to the wait's begin. docs/critical-path.md has
 * the rules. Each nanosecond of the interval is in exactly one leaf.
 */
#ifndef JIS_ANALYSIS_PATH_H
#define JIS_ANALYSIS_PATH_H

#include "lanes.h"

#define PATH_DEPTH_MAX 64u

/* What a part of the path ends with, or of a ready one: behind whom it was. */
enum path_end {
	PATH_NONE = 0, /* nothing more to say */
	PATH_THREAD,   /* a thread that is followed, from here a level deeper */
	PATH_HOLDER,   /* the same, and it had the lock that was waited for */
	PATH_OWNER,   /* the same; it had the lock when the wait began, who ended it is not known */
	PATH_SENDER,  /* the same; what came from the network was sent just then, by that one */
	PATH_REMOTE,  /* the same: it serves the remote call that is waited for */
	PATH_PARENT,  /* the same: the thread was not created yet, that one did it */
	PATH_TIMER,   /* a timer */
	PATH_SOFTIRQ, /* the network and the like */
	PATH_HARDIRQ, /* an interrupt: disk, network */
	PATH_NMI,     /* ... of that kind */
	PATH_FOREIGN, /* a thread that was not recorded: foreign, tid */
	PATH_IDLE,    /* the idle task */
	PATH_REQUEST, /* a remote call is on its way, or not read yet by the thread that serves it
		       */
	PATH_ANSWER,  /* its answer is on its way from there */
	PATH_OPEN,    /* it is not known who */
	PATH_DEEP,    /* a thread that is not followed: too deep */
	PATH_CYCLE,   /* a thread that is waited for already: the records contradict */
	PATH_BEHIND_THREAD,  /* ready: that thread had the CPU */
	PATH_BEHIND_FOREIGN, /* ... */
	PATH_BEHIND_IDLE,    /* ready: the CPU had yet to wake up */
	PATH_NR_ENDS
};

/* Who: a virtual thread, else a thread; both MODEL_NO_THREAD: nobody. */
struct path_who {
	uint32_t thread, vthread;
};

struct path_step {
	uint64_t begin, end; /* ns */
	uint32_t depth;	     /* 0: the thread asked for */
	struct path_who who; /* thread: also the carrier of a mounted virtual thread */
	uint8_t state;	     /* enum model_state_kind */
	uint8_t ended;	     /* enum path_end */
	uint8_t flags;	     /* enum segment_flags */
	bool leaf;	     /* nothing below it: its time counts. Else those that follow, deeper */
	uint32_t why;	     /* lanes_why() */
	uint32_t hash;
	struct path_who owner, by; /* by: who ended it, or had the CPU, or serves the call */
	uint32_t foreign, tid;
	struct hop_call call; /* a wait: the remote call it is in; HOP_NONE: none */
};

/* Takes the steps in order of time, a wait before what lies below it. Not 0 ends the walk with it.
 */
typedef int path_fn(void *ctx, const struct path_step *step);

/**
 * path_walk - goes through what @who really did and waited for during [begin, end), which lies in
 * the windows @l was made for.
 * @depth: how many waits deep; at most PATH_DEPTH_MAX.
 * Returns 0 or what @fn returned.
 */
int path_walk(const struct lanes *l, struct path_who who, uint64_t begin, uint64_t end,
	      uint32_t depth, path_fn *fn, void *ctx);

#endif /* JIS_ANALYSIS_PATH_H */
