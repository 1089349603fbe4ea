/* SPDX-License-Identifier: MIT */
/*
 * The states of all threads during chosen windows of time, kept so that one can go back in them: a
 * lane for each thread and virtual thread; and for which remote calls it waited. Filled by the
 * model as a sink. Memory is bounded: beyond LANES_MEMORY they lie in a file without a name.
 */
#ifndef JIS_ANALYSIS_LANES_H
#define JIS_ANALYSIS_LANES_H

#include "hops.h"
#include "merger/model.h"

#define LANES_MEMORY (256ull << 20)

struct lanes_window {
	uint64_t begin, end; /* ns */
};

/* Why, without what differs from wait to wait: those are counted in kinds, not in states. */
struct lanes_why {
	uint32_t kind; /* enum model_reason_kind */
	uint32_t class_name, name;
	int32_t syscall; /* of MODEL_RUN_SYSCALL, MODEL_WAIT_SYSCALL and unknown waits, else 0 */
};

enum segment_flags {
	SEGMENT_PINNED = 1,
	SEGMENT_SAMPLED = 2,
	SEGMENT_THROTTLED = 4,
	SEGMENT_WOKEN = 8,     /* who ended it is known: waking to waker_tid */
	SEGMENT_TO_MOUNT = 16, /* ready: a virtual thread that waits for a carrier; of steps only */
};

/*
 * A part of a lane. Of a thread: a state. Of a virtual thread: MODEL_RUNNING while it is mounted on
 * @carrier, whatever that does then, else its state.
 */
struct segment {
	uint64_t begin, end;
	uint64_t waking;		     /* SEGMENT_WOKEN: when the waker woke */
	uint32_t waker, waker_vthread;	     /* or MODEL_NO_THREAD */
	uint32_t waker_foreign, waker_tid;   /* as in struct model_wakeup */
	uint32_t why;			     /* for lanes_why() */
	uint32_t hash, owner, owner_vthread; /* as in struct model_reason */
	uint32_t carrier;		     /* or MODEL_NO_THREAD */
	uint8_t state;			     /* enum model_state_kind */
	uint8_t context;		     /* enum jis_waker_context */
	uint8_t flags;
};

/* Who was mounted on a thread (@index: virtual thread), or who had the CPU it waited for (thread,
 * or foreigner, as @occupant says). */
struct segment_other {
	uint64_t begin, end;
	uint32_t index, tid;
	uint8_t occupant; /* enum model_occupant */
	uint8_t flags;	  /* SEGMENT_THROTTLED */
};

struct lanes;
struct holders;

/**
 * lanes_new - what touches none of @windows is not kept.
 * @windows: any order, may overlap; copied.
 * Returns NULL without memory. Free with lanes_free().
 */
struct lanes *lanes_new(const struct lanes_window *windows, uint32_t nr);

/* The sink for the model @m that is to run it; it wants reasons. Callbacks end the run with -ENOMEM
 * or the error of the file. */
const struct model_sink *lanes_sink(struct lanes *l, const struct model *m);
void lanes_free(struct lanes *l);

/* The tables of the run; valid from its begin on. */
const struct model_info *lanes_info(const struct lanes *l);
const struct lanes_why *lanes_why(const struct lanes *l, uint32_t why);

/* model_name() of the run. */
const char *lanes_name(const struct lanes *l, uint32_t name);

/* Does a thread that is in @why send something? */
bool lanes_sends(const struct lanes *l, const struct lanes_why *why);
/* Can both sockets be of one connection, as far as their names tell? @a, @b: lanes_why.name. */
bool lanes_same_port(const struct lanes *l, uint32_t a, uint32_t b);

/*
 * Parts are numbered from 0 in time order. *_first: the first that ends after @t, which is their
 * number when there is none. *_at: NULL behind the last.
 */
uint64_t lanes_first(const struct lanes *l, uint32_t thread, uint64_t t);
const struct segment *lanes_at(const struct lanes *l, uint32_t thread, uint64_t i);
uint64_t lanes_vfirst(const struct lanes *l, uint32_t vthread, uint64_t t);
const struct segment *lanes_vat(const struct lanes *l, uint32_t vthread, uint64_t i);
uint64_t lanes_wait_first(const struct lanes *l, uint32_t thread, uint64_t t);
const struct segment_other *lanes_wait_at(const struct lanes *l, uint32_t thread, uint64_t i);

/* The virtual thread that was mounted on @thread just before @t, or MODEL_NO_THREAD. */
uint32_t lanes_mounted(const struct lanes *l, uint32_t thread, uint64_t t);

/* Who got which monitor when; NULL where no wait of a virtual thread lacks a waker. */
const struct holders *lanes_holders(const struct lanes *l);

/* The remote call for whose answer a thread waits at @t: hops_at(). */
const struct hop *lanes_hop(const struct lanes *l, uint32_t thread, uint32_t vthread, uint64_t t,
			    uint64_t *until);

/* Row of virtual thread @java_tid of @process, or MODEL_NO_THREAD. */
uint32_t lanes_vthread(const struct lanes *l, uint32_t process, uint64_t java_tid);

#endif /* JIS_ANALYSIS_LANES_H */
