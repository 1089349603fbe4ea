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

struct string {
	const struct evidence *e;
	uint32_t next;
};

struct java_index {
	uint32_t mask;	     /* buckets - 1 */
	uint32_t *own_tids;  /* lives by (pid, tid as the process knows it) */
	uint32_t *java_tids; /* lives by (pid, Java tid) */
	uint32_t *ids;	     /* strings by (pid, id) */
	struct string *strings;
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

		if (e->kind != EVIDENCE_STRING)
			continue;
		head = &x->ids[bucket(x, e->pid, e->id)];
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
	x->strings = calloc((size_t)t->nr + 1, sizeof(*x->strings));
	if (!x->own_tids || !x->java_tids || !x->ids || !x->strings) {
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
	free(b->java->strings);
	free(b->java);
	b->java = NULL;
}

/* The newest life, not born after the event, that the process knows as tid @e->tid. */
static struct life *life_of_java(struct builder *b, const struct evidence *e)
{
	struct java_index *x = b->java;
	struct life *best = NULL;

	for (uint32_t i = x->own_tids[bucket(x, e->pid, e->tid)]; i != NO_LIFE;
	     i = b->lives[i].next_own_tid) {
		struct life *l = &b->lives[i];

		if (l->entry.pid != e->pid || own_tid(l) != e->tid)
			continue;
		if (l->entry.birth != TIME_NONE && l->entry.birth > e->time)
			continue;
		if (!best || best->entry.first_seen < l->entry.first_seen)
			best = l;
	}
	return best;
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
