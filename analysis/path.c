/* SPDX-License-Identifier: MIT */
/*
 * The walk. A part of a lane is told as a leaf, or, where a thread ended it, as a wait whose time
 * is that thread's: its lane from the wait's begin to the wake-up. What is missing in a lane is
 * unknown. Every call covers its interval without gap or overlap; that makes the leaves cover the
 * whole.
 */
#include "path.h"

#include <string.h>

#include "holders.h"

/* A thread that waits for a monitor wakes up now and then to look; it looks for at most so long. */
#define LOOKS_NS HOLDERS_LOOK_NS
#define LOOKS_MAX 64u

struct walk {
	const struct lanes *l;
	path_fn *fn;
	void *ctx;
	uint32_t depth_max;
	uint32_t process, unblocker; /* the last one looked for */
	struct path_who chain[PATH_DEPTH_MAX + 1];
};

static const struct path_who nobody = {MODEL_NO_THREAD, MODEL_NO_THREAD};

static bool is_somebody(struct path_who who)
{
	return who.thread != MODEL_NO_THREAD || who.vthread != MODEL_NO_THREAD;
}

/* A virtual thread is the same on any carrier. */
static bool same_who(struct path_who a, struct path_who b)
{
	return a.vthread != MODEL_NO_THREAD ? a.vthread == b.vthread
					    : b.vthread == MODEL_NO_THREAD && a.thread == b.thread;
}

static bool is_wait(uint8_t state)
{
	return state == MODEL_BLOCKED_INTERRUPTIBLE || state == MODEL_BLOCKED_UNINTERRUPTIBLE ||
	       state == MODEL_STOPPED;
}

static bool in_chain(const struct walk *w, uint32_t depth, struct path_who who)
{
	for (uint32_t i = 0; i <= depth; i++) {
		if (same_who(w->chain[i], who))
			return true;
	}
	return false;
}

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

/* Who ended a wait --------------------------------------------------------------------------- */

/* What waits in a futex or sleeps is woken by no interrupt but that of a timer. */
static bool is_timed(uint32_t kind)
{
	return (kind >= MODEL_WAIT_MONITOR && kind <= MODEL_WAIT_JOIN) ||
	       kind == MODEL_WAIT_TIMER || kind == MODEL_WAIT_VM || kind == MODEL_WAIT_VM_IDLE ||
	       kind == MODEL_WAIT_FUTEX;
}

static enum path_end end_of_context(const struct walk *w, const struct segment *s)
{
	switch (s->context) {
	case JIS_WAKER_TASK:
		break;
	case JIS_WAKER_TIMER:
		return PATH_TIMER;
	case JIS_WAKER_SOFTIRQ:
	case JIS_WAKER_HARDIRQ:
		if (is_timed(lanes_why(w->l, s->why)->kind))
			return PATH_TIMER;
		return s->context == JIS_WAKER_SOFTIRQ ? PATH_SOFTIRQ : PATH_HARDIRQ;
	default:
		return PATH_NMI;
	}
	if (s->waker != MODEL_NO_THREAD || s->waker_vthread != MODEL_NO_THREAD)
		return PATH_THREAD;
	return s->waker_tid ? PATH_FOREIGN : PATH_IDLE;
}

static bool is_lock(enum model_reason_kind kind)
{
	return kind == MODEL_WAIT_MONITOR || kind == MODEL_WAIT_PARK;
}

/* Who @s is ended by: the virtual thread that was on the waker, where there was one. */
static struct path_who waker_of(const struct walk *w, const struct segment *s)
{
	struct path_who who = {s->waker, s->waker_vthread};

	if (who.vthread == MODEL_NO_THREAD && who.thread != MODEL_NO_THREAD)
		who.vthread = lanes_mounted(w->l, who.thread, s->waking);
	return who;
}

static struct path_who owner_of(const struct segment *s)
{
	return (struct path_who){s->owner, s->owner_vthread};
}

/*
 * A monitor has no timeout: who waits for one and is woken by a timer looks whether it is free, and
 * waits on. It is one wait, which ends with the part that a thread ended: the number of that, or
 * @i.
 */
static uint64_t looks_end(const struct walk *w, uint32_t lane, uint64_t i)
{
	const struct segment *first = lanes_at(w->l, lane, i), *s;

	if (lanes_why(w->l, first->why)->kind != MODEL_WAIT_MONITOR ||
	    !(first->flags & SEGMENT_WOKEN) || end_of_context(w, first) != PATH_TIMER)
		return i;
	for (uint64_t k = i + 1; k < i + LOOKS_MAX && (s = lanes_at(w->l, lane, k)); k++) {
		if (s->state == MODEL_READY ||
		    (s->state == MODEL_RUNNING && s->end - s->begin <= LOOKS_NS))
			continue;
		if (!is_wait(s->state) || s->why != first->why || s->hash != first->hash ||
		    !(s->flags & SEGMENT_WOKEN))
			break;
		if (end_of_context(w, s) == PATH_THREAD)
			return k;
	}
	return i;
}

/* What is to be done about a wait. */
struct follow {
	enum path_end ended;
	struct path_who by;
	uint64_t until; /* @by is followed until then */
};

#define UNBLOCKER "VirtualThread-unblocker"
#define UNBLOCKED_MAX 256u

/* The thread of a JVM that mounts virtual threads for which a monitor is free. */
static uint32_t unblocker_of(struct walk *w, uint32_t process)
{
	const struct model_info *info = lanes_info(w->l);

	if (w->process == process)
		return w->unblocker;
	w->process = process;
	w->unblocker = MODEL_NO_THREAD;
	for (uint32_t i = 0; i < info->nr_threads; i++) {
		const struct model_thread *t = &info->threads[i];

		if (t->process == process && t->entry->name && !strcmp(t->entry->name, UNBLOCKER))
			w->unblocker = i;
	}
	return w->unblocker;
}

/*
 * A virtual thread has waited for a monitor unmounted, [s->begin, s->end): when did @owner release
 * it? It then wakes the unblocker. Returns the last time it did so, or 0.
 */
static uint64_t released_at(struct walk *w, uint32_t vthread, const struct segment *s,
			    struct path_who owner)
{
	uint32_t lane = unblocker_of(w, lanes_info(w->l)->vthreads[vthread].process);
	uint64_t i;

	if (lane == MODEL_NO_THREAD)
		return 0;
	i = lanes_first(w->l, lane, s->end);
	for (uint32_t n = 0; n < UNBLOCKED_MAX && i > 0; n++) {
		const struct segment *u = lanes_at(w->l, lane, --i);

		if (u->end <= s->begin)
			break;
		if (is_wait(u->state) && u->flags & SEGMENT_WOKEN && u->waking > s->begin &&
		    end_of_context(w, u) == PATH_THREAD && same_who(waker_of(w, u), owner))
			return u->waking;
	}
	return 0;
}

/*
 * Virtual thread @vthread has waited for a monitor unmounted, during @s, and nothing tells who woke
 * it: who got the monitor last before it did? Others may have had it after the owner of the begin.
 */
static struct path_who last_holder(const struct walk *w, uint32_t vthread, const struct segment *s)
{
	struct path_who last;

	holders_last(lanes_holders(w->l), lanes_info(w->l)->vthreads[vthread].process, vthread, s,
		     &last.thread, &last.vthread);
	return last;
}

static bool is_followed(enum path_end ended)
{
	return ended == PATH_THREAD || ended == PATH_HOLDER || ended == PATH_OWNER ||
	       ended == PATH_SENDER;
}

/*
 * What is sent within the host comes in a softirq on top of the sender's call. So where the softirq
 * that woke was on top of a call that sends, and no names of sockets say otherwise, that is the
 * sender.
 */
static bool is_sent(const struct walk *w, const struct segment *s)
{
	const struct lanes_why *wait = lanes_why(w->l, s->why), *call;
	const struct segment *sender;

	if (s->waker == MODEL_NO_THREAD || !s->waking)
		return false;
	sender = lanes_at(w->l, s->waker, lanes_first(w->l, s->waker, s->waking - 1));
	if (!sender || sender->begin > s->waking || sender->state != MODEL_RUNNING)
		return false;
	call = lanes_why(w->l, sender->why);
	if (!lanes_sends(w->l, call))
		return false;
	/* A poll's name is that of its own descriptor. */
	return wait->kind == MODEL_WAIT_POLL || !wait->name || !call->name ||
	       lanes_same_port(w->l, wait->name, call->name);
}

/* A thread ended it: the one that had the lock, as far as that is known? */
static enum path_end end_by_thread(const struct segment *s, enum model_reason_kind kind,
				   struct path_who by)
{
	struct path_who owner = owner_of(s);

	if (!is_lock(kind))
		return PATH_THREAD;
	if (!is_somebody(owner))
		return kind == MODEL_WAIT_MONITOR ? PATH_HOLDER : PATH_THREAD;
	return same_who(owner, by) ? PATH_HOLDER : PATH_THREAD;
}

/* A monitor was waited for unmounted, and no record of the kernel's says who ended that. */
static struct follow follow_unmounted(struct walk *w, struct path_who who, const struct segment *s)
{
	struct path_who owner = owner_of(s), last = last_holder(w, who.vthread, s);
	struct follow f = {.ended = PATH_OPEN, .by = nobody, .until = s->end};
	uint64_t released;

	f.by = is_somebody(last) ? last : owner;
	if (!is_somebody(f.by))
		return f;
	released = released_at(w, who.vthread, s, f.by);
	f.until = released ? released : s->end;
	if (is_somebody(last))
		f.ended = end_by_thread(s, MODEL_WAIT_MONITOR, last);
	else
		f.ended = released ? PATH_HOLDER : PATH_OWNER;
	return f;
}

static struct follow follow_of(struct walk *w, struct path_who who, const struct segment *s)
{
	enum model_reason_kind kind = (enum model_reason_kind)lanes_why(w->l, s->why)->kind;
	struct follow f = {.ended = PATH_OPEN, .by = nobody, .until = s->end};

	if (s->flags & SEGMENT_WOKEN) {
		f.ended = end_of_context(w, s);
		f.until = s->waking;
	}
	if (f.ended == PATH_SOFTIRQ && is_sent(w, s))
		f.ended = PATH_SENDER;
	if (f.ended == PATH_THREAD || f.ended == PATH_SENDER) {
		f.by = waker_of(w, s);
		if (f.ended == PATH_THREAD)
			f.ended = end_by_thread(s, kind, f.by);
		return f;
	}
	if (kind != MODEL_WAIT_MONITOR || (f.ended != PATH_TIMER && f.ended != PATH_OPEN))
		return f;
	if (who.vthread != MODEL_NO_THREAD && who.thread == MODEL_NO_THREAD)
		return follow_unmounted(w, who, s);
	f.by = owner_of(s);
	if (!is_somebody(f.by))
		return f;
	f.ended = PATH_OWNER;
	f.until = s->end;
	return f;
}

/* Going there -------------------------------------------------------------------------------- */

static int walk_who(struct walk *w, struct path_who who, uint64_t begin, uint64_t end,
		    uint32_t depth);

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
	return walk_who(w, f->by, begin, end, depth);
}

/* A wait of @who, [begin, end) of @s. */
static int walk_wait(struct walk *w, struct path_who who, const struct segment *s, uint64_t begin,
		     uint64_t end, uint32_t depth)
{
	struct path_step step = step_of(who, s, begin, end, depth);
	struct follow f = follow_of(w, who, s);
	uint64_t until = f.until < end ? f.until : end;
	int err;

	/* It may have been released before the part of the wait that is asked for. */
	if (until < begin)
		until = begin;
	/* Its waker has woken it before, and may well wait for it since. */
	if (s->flags & SEGMENT_WOKEN && s->waking <= begin)
		return tell_woken(w, who, s, begin, end, depth);
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
	if (in_chain(w, depth, f.by))
		step.ended = PATH_CYCLE;
	else if (depth >= w->depth_max)
		step.ended = PATH_DEEP;
	else
		step.leaf = false;
	err = tell(w, &step);
	if (err || step.leaf)
		return err;
	err = walk_below(w, s, &f, begin, until, depth + 1);
	/* It is woken, and not ready yet, or not mounted. */
	return err ? err : tell_woken(w, who, s, until, end, depth + 1);
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
	step.ended = in_chain(w, depth, step.by) ? PATH_CYCLE
		     : depth >= w->depth_max	 ? PATH_DEEP
						 : PATH_PARENT;
	step.leaf = step.ended != PATH_PARENT;
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
			i = looks_end(w, who.thread, i);
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
