/* SPDX-License-Identifier: MIT */
/*
 * Who ended a wait: what the records say of its wake-up, and where that is nobody, who had what was
 * waited for.
 */
#include <string.h>

#include "holders.h"
#include "path_int.h"

/* A thread that waits for a monitor wakes up now and then to look; it looks for at most so long. */
#define LOOKS_NS HOLDERS_LOOK_NS
#define LOOKS_MAX 64u

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

/* Who @s is ended by: the virtual thread that was on the waker, where there was one. */
static struct path_who waker_of(const struct walk *w, const struct segment *s)
{
	struct path_who who = {s->waker, s->waker_vthread};

	if (who.vthread == MODEL_NO_THREAD && who.thread != MODEL_NO_THREAD)
		who.vthread = lanes_mounted(w->l, who.thread, s->waking);
	return who;
}

uint64_t path_looks_end(const struct walk *w, uint32_t lane, uint64_t i)
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

#define SUB_POLLER "SubPoller-"

/* Can it be what a virtual thread waits in while a poller watches a descriptor for it? */
static bool is_watched(const struct lanes_why *why)
{
	return why->kind == MODEL_WAIT_UNMOUNTED ||
	       (why->kind == MODEL_WAIT_PARK && !why->class_name) ||
	       (why->kind >= MODEL_WAIT_SOCKET_READ && why->kind <= MODEL_WAIT_EVENTFD);
}

bool path_is_poller(const struct walk *w, struct path_who waiter, const struct segment *s,
		    struct path_who by)
{
	static const char *const names[] = {"Read-Poller", "Write-Poller", "MasterPoller",
					    "Master-Poller"};
	const struct model_info *info = lanes_info(w->l);
	const struct model_thread *t;
	uint32_t process;

	if (waiter.vthread == MODEL_NO_THREAD || !is_somebody(by) ||
	    !is_watched(lanes_why(w->l, s->why)))
		return false;
	process = info->vthreads[waiter.vthread].process;
	if (by.vthread != MODEL_NO_THREAD)
		return info->vthreads[by.vthread].process == process &&
		       !strncmp(lanes_name(w->l, info->vthreads[by.vthread].name), SUB_POLLER,
				strlen(SUB_POLLER));
	t = &info->threads[by.thread];
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (t->process == process && t->entry->name && !strcmp(t->entry->name, names[i]))
			return true;
	}
	return false;
}

const struct segment *path_polled(const struct walk *w, struct path_who poller, uint64_t begin,
				  uint64_t woken)
{
	bool virtual = poller.vthread != MODEL_NO_THREAD;
	uint32_t lane = virtual ? poller.vthread : poller.thread;
	uint64_t i = virtual ? lanes_vfirst(w->l, lane, woken - 1)
			     : lanes_first(w->l, lane, woken - 1);
	const struct segment *s = virtual ? lanes_vat(w->l, lane, i) : lanes_at(w->l, lane, i);

	if (!s || s->begin >= woken)
		return NULL;
	for (; s && s->end > begin; i--) {
		if (is_wait(s->state) && s->flags & SEGMENT_WOKEN && s->end <= woken)
			return s;
		if (i == 0)
			return NULL;
		s = virtual ? lanes_vat(w->l, lane, i - 1) : lanes_at(w->l, lane, i - 1);
	}
	return NULL;
}

struct follow path_follow(struct walk *w, struct path_who who, const struct segment *s)
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
