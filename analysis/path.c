/* SPDX-License-Identifier: MIT */
/*
 * The walk. A part of a lane is told as a leaf, or, where a thread ended it, as a wait whose time
 * is that thread's: its lane from the wait's begin to the wake-up. What is missing in a lane is
 * unknown. Every call covers its interval without gap or overlap; that makes the leaves cover the
 * whole.
 */
#include "path_int.h"

/* Telling ------------------------------------------------------------------------------------ */

static struct path_step step_of(struct path_who who, const struct segment *s, uint64_t begin,
				uint64_t end, uint32_t depth)
{
	return (struct path_step){.begin = begin,
				  .end = end,
				  .depth = depth,
				  .who = who,
				  .state = s->state,
				  .flags = s->flags,
				  .leaf = true,
				  .why = s->why,
				  .hash = s->hash,
				  .owner = {s->owner, s->owner_vthread},
				  .by = nobody,
				  .foreign = MODEL_NO_THREAD};
}

static int tell(const struct walk *w, const struct path_step *step)
{
	return step->begin < step->end ? w->fn(w->ctx, step) : 0;
}

/* Of a state that is told by its kind alone: no reason is known there. */
static struct path_step plain_of(struct path_who who, enum model_state_kind state, uint64_t begin,
				 uint64_t end, uint32_t depth)
{
	return (struct path_step){.begin = begin,
				  .end = end,
				  .depth = depth,
				  .who = who,
				  .state = (uint8_t)state,
				  .leaf = true,
				  .why = UINT32_MAX,
				  .owner = nobody,
				  .by = nobody,
				  .foreign = MODEL_NO_THREAD};
}

static int tell_unknown(const struct walk *w, struct path_who who, uint64_t begin, uint64_t end,
			uint32_t depth)
{
	const struct path_step step = plain_of(who, MODEL_UNKNOWN, begin, end, depth);

	return tell(w, &step);
}

/* The end of wait @s, after the wake-up. */
static int tell_woken(const struct walk *w, struct path_who who, const struct segment *s,
		      uint64_t begin, uint64_t end, uint32_t depth)
{
	struct path_step step = plain_of(who, MODEL_READY, begin, end, depth);

	/* Its wake-up was told by no record of the kernel's: it is a virtual thread's, unmounted.
	 */
	if (!(s->flags & SEGMENT_WOKEN))
		step.flags = SEGMENT_TO_MOUNT;
	return tell(w, &step);
}

/* Ready: piece by piece behind whom, as far as that was recorded. */
static int tell_ready(const struct walk *w, const struct path_step *ready, uint32_t lane)
{
	uint64_t at = ready->begin, i = lanes_wait_first(w->l, lane, at);
	const struct segment_other *o;
	struct path_step step = *ready;
	int err;

	for (; (o = lanes_wait_at(w->l, lane, i)) && o->begin < ready->end; i++) {
		uint64_t end = o->end < ready->end ? o->end : ready->end;

		step.ended = PATH_NONE;
		step.by = nobody;
		if (o->begin > at) {
			step.begin = at;
			step.end = o->begin;
			err = tell(w, &step);
			if (err)
				return err;
			at = o->begin;
		}
		step.begin = at;
		step.end = end;
		step.tid = o->tid;
		if (o->occupant == MODEL_CPU_TARGET)
			step.by.thread = o->index;
		else if (o->occupant == MODEL_CPU_FOREIGN)
			step.foreign = o->index;
		step.ended = o->occupant == MODEL_CPU_TARGET	? PATH_BEHIND_THREAD
			     : o->occupant == MODEL_CPU_FOREIGN ? PATH_BEHIND_FOREIGN
								: PATH_BEHIND_IDLE;
		err = tell(w, &step);
		if (err)
			return err;
		at = end;
	}
	step = *ready;
	step.begin = at;
	return tell(w, &step);
}

/* Going there -------------------------------------------------------------------------------- */

static int walk_who(struct walk *w, struct path_who who, uint64_t begin, uint64_t end,
		    uint32_t depth);

static int walk_wait(struct walk *w, struct path_who who, const struct segment *s, uint64_t begin,
		     uint64_t end, uint32_t depth);
static int walk_unmounted(struct walk *w, struct path_who who, const struct segment *s,
			  uint64_t begin, uint64_t end, uint32_t depth);

/* When, in [begin, end), did @who begin to wait for the lock of @s itself? @end: it did not. */
static uint64_t joined_at(const struct walk *w, struct path_who who, const struct segment *s,
			  uint64_t begin, uint64_t end)
{
	bool virtual = who.vthread != MODEL_NO_THREAD;
	uint32_t lane = virtual ? who.vthread : who.thread;
	uint64_t i = virtual ? lanes_vfirst(w->l, lane, begin) : lanes_first(w->l, lane, begin);
	const struct segment *o;

	for (;; i++) {
		o = virtual ? lanes_vat(w->l, lane, i) : lanes_at(w->l, lane, i);
		if (!o || o->begin >= end)
			return end;
		if (is_wait(o->state) && o->hash == s->hash && o->why == s->why)
			return o->begin > begin ? o->begin : begin;
	}
}

/*
 * Below a wait of a virtual thread that one who polls for all of them ended, at @woken: what that
 * one waited for last. What it waited for before, and did then, was for others.
 */
static int walk_poller(struct walk *w, struct path_who poller, uint64_t woken, uint64_t begin,
		       uint64_t end, uint32_t depth)
{
	const struct segment *last = path_polled(w, poller, begin, woken);
	struct segment whole;
	uint64_t until;
	int err;

	if (!last || last->begin <= begin)
		return walk_who(w, poller, begin, end, depth);
	whole = *last;
	whole.begin = begin;
	until = whole.end < end ? whole.end : end;
	w->chain[depth] = poller;
	if (poller.vthread == MODEL_NO_THREAD)
		err = walk_wait(w, poller, &whole, begin, until, depth);
	else
		err = walk_unmounted(w, (struct path_who){MODEL_NO_THREAD, poller.vthread}, &whole,
				     begin, until, depth);
	return err ? err : walk_who(w, poller, until, end, depth);
}

/*
 * Below a wait for a lock: who gave it free may have come late, and waited for it, too. Until then
 * it was the first owner that was waited for.
 */
static int walk_below(struct walk *w, const struct segment *s, const struct follow *f,
		      uint64_t begin, uint64_t end, uint32_t depth)
{
	struct path_who owner = owner_of(s);
	uint64_t joined;
	int err;

	if (f->ended == PATH_THREAD && s->hash && is_somebody(owner) && !same_who(owner, f->by) &&
	    is_lock((enum model_reason_kind)lanes_why(w->l, s->why)->kind) &&
	    !in_chain(w, depth - 1, owner)) {
		joined = joined_at(w, f->by, s, begin, end);
		if (joined < end && joined > begin) {
			err = walk_who(w, owner, begin, joined, depth);
			if (err)
				return err;
			begin = joined;
		}
	}
	if (path_is_poller(w, w->chain[depth - 1], s, f->by))
		return walk_poller(w, f->by, f->until, begin, end, depth);
	return walk_who(w, f->by, begin, end, depth);
}

/* A wait ended by a thread: is that one to be followed? */
static void goes_below(const struct walk *w, struct path_step *step)
{
	if (in_chain(w, step->depth, step->by))
		step->ended = PATH_CYCLE;
	else if (step->depth >= w->depth_max)
		step->ended = PATH_DEEP;
	else
		step->leaf = false;
}

/* A wait of @who, [begin, end) of @s, as its wake-up has it. @hop: the call it is in, or NULL. */
static int walk_woken(struct walk *w, struct path_who who, const struct segment *s,
		      const struct hop *hop, uint64_t begin, uint64_t end, uint32_t depth)
{
	struct path_step step = step_of(who, s, begin, end, depth);
	struct follow f = path_follow(w, who, s);
	uint64_t until = f.until < end ? f.until : end;
	int err;

	/* It may have been released before the part of the wait that is asked for. */
	if (until < begin)
		until = begin;
	if (hop)
		step.call = hop->call;
	step.ended = (uint8_t)f.ended;
	step.by = f.by;
	step.foreign = s->waker_foreign;
	step.tid = s->waker_tid;
	/* The owner is as of the wait's begin, and told late: that it waits for us proves nothing.
	 */
	if (f.ended == PATH_OWNER && in_chain(w, depth, f.by)) {
		step.by = nobody;
		step.ended = s->flags & SEGMENT_WOKEN ? PATH_TIMER : PATH_OPEN;
	}
	if (!is_followed((enum path_end)step.ended))
		return tell(w, &step);
	goes_below(w, &step);
	err = tell(w, &step);
	if (err || step.leaf)
		return err;
	err = walk_below(w, s, &f, begin, until, depth + 1);
	/* It is woken, and not ready yet, or not mounted. */
	return err ? err : tell_woken(w, who, s, until, end, depth + 1);
}

/* Remote calls ------------------------------------------------------------------------------- */

/* Can @s be a wait for the other end of a connection? */
static bool is_remote_wait(const struct walk *w, struct path_who who, const struct segment *s)
{
	const struct lanes_why *why = lanes_why(w->l, s->why);

	switch (why->kind) {
	case MODEL_WAIT_SOCKET_READ:
	case MODEL_WAIT_SOCKET_WRITE:
	case MODEL_WAIT_POLL:
	case MODEL_WAIT_SYSCALL:
	case MODEL_WAIT_UNKNOWN:
	case MODEL_WAIT_UNMOUNTED:
		return true;
	case MODEL_WAIT_PARK: /* for the thread that polls: no lock, so no object */
		return who.vthread != MODEL_NO_THREAD && !why->class_name;
	default:
		return false;
	}
}

static uint64_t clamp(uint64_t t, uint64_t low, uint64_t high)
{
	return t < low ? low : t > high ? high : t;
}

/* On the way there or back: nothing of it is in the records of a thread. */
static int tell_transit(const struct walk *w, const struct path_step *wait, uint64_t begin,
			uint64_t end, enum path_end ended)
{
	struct path_step step = *wait;

	step.begin = begin;
	step.end = end;
	step.depth++;
	step.leaf = true;
	step.ended = (uint8_t)ended;
	return tell(w, &step);
}

/*
 * [begin, end) of wait @s is one for the answer of @hop: the request's way, what the thread did
 * that served it, and the answer's way, which ends with the wake-up.
 */
static int walk_hop(struct walk *w, struct path_who who, const struct segment *s,
		    const struct hop *hop, uint64_t begin, uint64_t end, uint32_t depth)
{
	struct path_step step = step_of(who, s, begin, end, depth);
	uint64_t until = s->flags & SEGMENT_WOKEN ? clamp(s->waking, begin, end) : end;
	uint64_t serve = clamp(hop->serve, begin, until);
	uint64_t answer = clamp(hop->answer, serve, until);
	int err;

	step.call = hop->call;
	step.ended = PATH_REMOTE;
	step.by = (struct path_who){hop->server, hop->server_vthread};
	goes_below(w, &step);
	err = tell(w, &step);
	if (err || step.leaf)
		return err;
	err = tell_transit(w, &step, begin, serve, PATH_REQUEST);
	if (!err)
		err = walk_who(w, step.by, serve, answer, depth + 1);
	if (!err)
		err = tell_transit(w, &step, answer, until, PATH_ANSWER);
	return err ? err : tell_woken(w, who, s, until, end, depth + 1);
}

/* A wait of @who, [begin, end) of @s, in a remote call or not, or for a part of it. */
static int walk_wait(struct walk *w, struct path_who who, const struct segment *s, uint64_t begin,
		     uint64_t end, uint32_t depth)
{
	bool remote = is_remote_wait(w, who, s);
	int err = 0;

	while (!err && begin < end) {
		const struct hop *hop = NULL;
		uint64_t until = end;

		/* Its waker has woken it before, and may well wait for it since. */
		if (s->flags & SEGMENT_WOKEN && s->waking <= begin)
			return tell_woken(w, who, s, begin, end, depth);
		if (remote)
			hop = lanes_hop(w->l, who.thread, who.vthread, begin, &until);
		if (until > end)
			until = end;
		err = hop && hop->call.kind == HOP_FOLLOWED
			      ? walk_hop(w, who, s, hop, begin, until, depth)
			      : walk_woken(w, who, s, hop, begin, until, depth);
		begin = until;
	}
	return err;
}

/* Before it was created there was the thread that did so. */
static int walk_unborn(struct walk *w, struct path_who who, const struct segment *s, uint64_t begin,
		       uint64_t end, uint32_t depth)
{
	const struct model_info *info = lanes_info(w->l);
	const struct thread_entry *e = info->threads[who.thread].entry;
	struct path_step step = step_of(who, s, begin, end, depth);
	int err;

	for (uint32_t i = 0; e->parent_tid && i < info->nr_threads; i++) {
		const struct model_thread *t = &info->threads[i];

		if (t->entry->tid == e->parent_tid && t->birth <= s->end &&
		    (t->death == TIME_NONE || t->death >= s->end))
			step.by.thread = i;
	}
	if (!is_somebody(step.by))
		return tell(w, &step);
	step.by.vthread = lanes_mounted(w->l, step.by.thread, s->end);
	step.ended = PATH_PARENT;
	goes_below(w, &step);
	err = tell(w, &step);
	return err || step.leaf ? err : walk_who(w, step.by, begin, end, depth + 1);
}

/* Part @s of kernel thread @who.thread's lane, [begin, end) of it. */
static int walk_segment(struct walk *w, struct path_who who, const struct segment *s,
			uint64_t begin, uint64_t end, uint32_t depth)
{
	const struct path_step step = step_of(who, s, begin, end, depth);

	if (is_wait(s->state))
		return walk_wait(w, who, s, begin, end, depth);
	if (s->state == MODEL_READY)
		return tell_ready(w, &step, who.thread);
	if (s->state == MODEL_NOT_CREATED)
		return walk_unborn(w, who, s, begin, end, depth);
	return tell(w, &step);
}

/* [begin, end) of kernel thread @who.thread, told as @who's. */
static int walk_thread(struct walk *w, struct path_who who, uint64_t begin, uint64_t end,
		       uint32_t depth)
{
	uint64_t at = begin, i = lanes_first(w->l, who.thread, begin);
	const struct segment *s;
	int err = 0;

	for (; !err && (s = lanes_at(w->l, who.thread, i)) && s->begin < end; i++) {
		struct segment part = *s;
		uint64_t b, e;

		if (is_wait(s->state)) {
			i = path_looks_end(w, who.thread, i);
			part = *lanes_at(w->l, who.thread, i);
			part.begin = s->begin;
		}
		b = part.begin > at ? part.begin : at;
		e = part.end < end ? part.end : end;
		err = tell_unknown(w, who, at, b, depth);
		if (!err)
			err = walk_segment(w, who, &part, b, e, depth);
		at = e;
	}
	return err ? err : tell_unknown(w, who, at, end, depth);
}

/* A sleep is a sleep: the thread that mounts sleepers when their time has come is no cause. */
static int walk_unmounted(struct walk *w, struct path_who who, const struct segment *s,
			  uint64_t begin, uint64_t end, uint32_t depth)
{
	struct path_step step = step_of(who, s, begin, end, depth);

	if (!is_wait(s->state))
		return tell(w, &step);
	if (lanes_why(w->l, s->why)->kind == MODEL_WAIT_SLEEP) {
		step.ended = PATH_TIMER;
		return tell(w, &step);
	}
	return walk_wait(w, who, s, begin, end, depth);
}

static int walk_vthread(struct walk *w, struct path_who who, uint64_t begin, uint64_t end,
			uint32_t depth)
{
	uint64_t at = begin, i = lanes_vfirst(w->l, who.vthread, begin);
	const struct segment *s;
	int err = 0;

	for (; !err && (s = lanes_vat(w->l, who.vthread, i)) && s->begin < end; i++) {
		uint64_t b = s->begin > at ? s->begin : at, e = s->end < end ? s->end : end;

		who.thread = MODEL_NO_THREAD;
		err = tell_unknown(w, who, at, b, depth);
		if (err)
			return err;
		who.thread = s->carrier;
		err = s->carrier != MODEL_NO_THREAD ? walk_thread(w, who, b, e, depth)
						    : walk_unmounted(w, who, s, b, e, depth);
		at = e;
	}
	who.thread = MODEL_NO_THREAD;
	return err ? err : tell_unknown(w, who, at, end, depth);
}

static int walk_who(struct walk *w, struct path_who who, uint64_t begin, uint64_t end,
		    uint32_t depth)
{
	w->chain[depth] = who;
	if (begin >= end)
		return 0;
	return who.vthread != MODEL_NO_THREAD ? walk_vthread(w, who, begin, end, depth)
					      : walk_thread(w, who, begin, end, depth);
}

int path_walk(const struct lanes *l, struct path_who who, uint64_t begin, uint64_t end,
	      uint32_t depth, path_fn *fn, void *ctx)
{
	struct walk w = {.l = l,
			 .process = UINT32_MAX,
			 .unblocker = MODEL_NO_THREAD,
			 .fn = fn,
			 .ctx = ctx,
			 .depth_max = depth < PATH_DEPTH_MAX ? depth : PATH_DEPTH_MAX};

	return walk_who(&w, who, begin, end, 0);
}
