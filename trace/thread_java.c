/* SPDX-License-Identifier: MIT */
/*
 * Gives the lives that thread_lives.c found their Java names. The JVM knows a thread by the TID it
 * has in its own pid namespace, and names groups by string ids: both are looked up in an index made
 * once, when the first Java evidence comes, because a process may have ten thousands of threads.
 */
#include <errno.h>
#include <stdlib.h>

#include "jis/abi.h"
#include "thread_evidence.h"

/* A piece of evidence in a chain of the index. */
struct string {
	const struct evidence *e;
	uint32_t next;
};

/* Times of the kernel's clocks and ours are compared with so much room, and a thousandth of what
 * lies between: clocks are slewed, and /proc counts in hundredths of a second. */
#define SLACK_NS 20000000

struct java_index {
	uint32_t mask;		/* buckets - 1 */
	uint32_t *own_tids;	/* lives by (pid, tid as the process knows it) */
	uint32_t *java_tids;	/* lives by (pid, Java tid) */
	uint32_t *ids;		/* strings by (pid, id) */
	uint32_t *ends;		/* ends by (pid, Java tid) */
	struct string *strings; /* and ends */
	uint32_t nr_strings;
};

static uint32_t bucket(const struct java_index *x, uint32_t pid, uint64_t id)
{
	uint64_t mixed = (id + ((uint64_t)pid << 32)) * 0x9e3779b97f4a7c15ull;

	return (uint32_t)(mixed >> 32) & x->mask;
}

static uint32_t own_tid(const struct life *l)
{
	return l->entry.ns_tid ? l->entry.ns_tid : l->entry.tid;
}

static uint32_t *buckets_new(const struct java_index *x)
{
	uint32_t *heads = malloc(((size_t)x->mask + 1) * sizeof(*heads));

	for (size_t i = 0; heads && i <= x->mask; i++)
		heads[i] = NO_LIFE;
	return heads;
}

static void index_strings(struct java_index *x, const struct thread_table *t)
{
	for (uint32_t i = 0; i < t->nr; i++) {
		const struct evidence *e = &t->items[i];
		uint32_t *head;

		if (e->kind == EVIDENCE_STRING)
			head = &x->ids[bucket(x, e->pid, e->id)];
		else if (e->kind == EVIDENCE_JAVA_END)
			head = &x->ends[bucket(x, e->pid, e->java_tid)];
		else
			continue;
		x->strings[x->nr_strings] = (struct string){e, *head};
		*head = x->nr_strings++;
	}
}

static void index_lives(struct builder *b)
{
	struct java_index *x = b->java;

	for (uint32_t i = 0; i < b->nr_lives; i++) {
		struct life *l = &b->lives[i];
		uint32_t *head = &x->own_tids[bucket(x, l->entry.pid, own_tid(l))];

		l->next_own_tid = *head;
		*head = i;
	}
}

static struct java_index *index_of(struct builder *b, const struct thread_table *t)
{
	struct java_index *x = b->java;

	if (x || b->error)
		return x;
	x = b->java = calloc(1, sizeof(*x));
	if (!x) {
		b->error = -ENOMEM;
		return NULL;
	}
	for (x->mask = 63; x->mask < t->nr && x->mask < 1u << 24; x->mask = x->mask * 2 + 1)
		;
	x->own_tids = buckets_new(x);
	x->java_tids = buckets_new(x);
	x->ids = buckets_new(x);
	x->ends = buckets_new(x);
	x->strings = calloc((size_t)t->nr + 1, sizeof(*x->strings));
	if (!x->own_tids || !x->java_tids || !x->ids || !x->ends || !x->strings) {
		b->error = -ENOMEM;
		return NULL;
	}
	index_strings(x, t);
	index_lives(b);
	return x;
}

void java_fini(struct builder *b)
{
	if (!b->java)
		return;
	free(b->java->own_tids);
	free(b->java->java_tids);
	free(b->java->ids);
	free(b->java->ends);
	free(b->java->strings);
	free(b->java);
	b->java = NULL;
}

/* When Java thread @java_tid of the process ended; TIME_NONE: that was not told. */
static uint64_t java_end(const struct java_index *x, uint32_t pid, uint64_t java_tid)
{
	for (uint32_t i = x->ends[bucket(x, pid, java_tid)]; i != NO_LIFE; i = x->strings[i].next)
		if (x->strings[i].e->pid == pid && x->strings[i].e->java_tid == java_tid)
			return x->strings[i].e->time;
	return TIME_NONE;
}

/* Can a thread that started at @start_time (ns of CLOCK_BOOTTIME) have been there at @time? */
static bool started_before(const struct manifest *m, uint64_t start_time, uint64_t time)
{
	const struct clock_sample *c = m->clocks;
	double since, ago;

	for (uint32_t i = 1; i < m->nr_clocks && m->clocks[i].boottime <= start_time; i++)
		c = &m->clocks[i];
	since = (double)start_time - (double)c->boottime;
	ago = ((double)time - (double)c->ticks) * 1e9 / (double)m->frequency;
	return since <= ago + SLACK_NS + (since < 0 ? -since : since) / 1000;
}

/*
 * Can Java evidence from before the life was first seen be the life's? Its birth was not seen
 * then, and its TID may have been another's: it must have started by then. Where that is not known
 * (all that was seen is the end), the Java thread must have gone on until a second before.
 */
static bool was_there(const struct builder *b, const struct life *l, const struct evidence *e)
{
	uint64_t end;

	if (l->entry.birth != TIME_NONE)
		return false;
	if (l->entry.start_time && b->manifest->nr_clocks && b->manifest->frequency)
		return started_before(b->manifest, l->entry.start_time, e->time);
	end = java_end(b->java, e->pid, e->java_tid);
	return end >= l->entry.first_seen || l->entry.first_seen - end <= b->manifest->frequency;
}

static bool is_over(const struct life *l, uint64_t time)
{
	return (l->dead_switch != TIME_NONE && l->dead_switch < time) ||
	       (l->exit_time != TIME_NONE && l->exit_time < time);
}

/* The life that the process knows as tid @e->tid at the time: the newest one seen by then, if it is
 * not over; else the first one seen later that was there already. */
static struct life *life_of_java(struct builder *b, const struct evidence *e)
{
	struct java_index *x = b->java;
	struct life *best = NULL, *later = NULL;

	for (uint32_t i = x->own_tids[bucket(x, e->pid, e->tid)]; i != NO_LIFE;
	     i = b->lives[i].next_own_tid) {
		struct life *l = &b->lives[i];

		if (l->entry.pid != e->pid || own_tid(l) != e->tid)
			continue;
		if (l->entry.first_seen <= e->time) {
			if (!best || best->entry.first_seen < l->entry.first_seen)
				best = l;
		} else if (!later || l->entry.first_seen < later->entry.first_seen) {
			later = l;
		}
	}
	if (best && !is_over(best, e->time))
		return best;
	return later && was_there(b, later, e) ? later : NULL;
}

static const char *string_of(const struct java_index *x, uint32_t pid, uint32_t id)
{
	for (uint32_t i = x->ids[bucket(x, pid, id)]; id && i != NO_LIFE; i = x->strings[i].next)
		if (x->strings[i].e->pid == pid && x->strings[i].e->id == id)
			return x->strings[i].e->text;
	return NULL;
}

static void on_start(struct builder *b, const struct evidence *e)
{
	struct java_index *x = b->java;
	const char *group = string_of(x, e->pid, e->id);
	struct life *l;
	uint32_t *head;

	if (e->flags & JIS_JTHREAD_VIRTUAL)
		return;
	l = life_of_java(b, e);
	if (!l || l->renamed) /* main comes again as DestroyJavaVM: the row stays main's */
		return;
	l->renamed = true;
	l->entry.java_tid = e->java_tid;
	l->entry.java_flags = e->flags;
	builder_text(b, &l->entry.name, e->text);
	if (group)
		builder_text(b, &l->entry.group, group);
	head = &x->java_tids[bucket(x, e->pid, e->java_tid)];
	l->next_java_tid = *head;
	*head = (uint32_t)(l - b->lives);
}

static void on_name(struct builder *b, const struct evidence *e)
{
	struct java_index *x = b->java;

	for (uint32_t i = x->java_tids[bucket(x, e->pid, e->java_tid)]; i != NO_LIFE;
	     i = b->lives[i].next_java_tid) {
		struct life *l = &b->lives[i];

		if (l->entry.pid == e->pid && l->entry.java_tid == e->java_tid)
			builder_text(b, &l->entry.name, e->text);
	}
}

static void on_vm(struct builder *b, const struct evidence *e)
{
	struct process *p = builder_process(b, e->pid);

	if (!p)
		return;
	builder_text(b, &p->entry.vm, e->text);
	p->entry.vm_version = e->id;
	if (!p->entry.ns_pid)
		p->entry.ns_pid = e->ns_tid;
}

void java_conclude(struct builder *b, const struct evidence *e, const struct thread_table *t)
{
	if (!index_of(b, t))
		return;
	switch (e->kind) {
	case EVIDENCE_VM:
		on_vm(b, e);
		break;
	case EVIDENCE_JAVA_START:
		on_start(b, e);
		break;
	case EVIDENCE_JAVA_NAME:
		on_name(b, e);
		break;
	default: /* strings are in the index */
		break;
	}
}
