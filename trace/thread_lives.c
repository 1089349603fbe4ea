/* SPDX-License-Identifier: MIT */
/*
 * Concludes from the gathered evidence which threads lived when and what they were called. A TID
 * may live again before its former owner has left the CPU: the last switch-out of a dead thread
 * belongs to the oldest life of that TID that has exited and not yet switched out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "jis/abi.h"
#include "thread_evidence.h"
#include "thread_table.h"

static void *grow(struct builder *b, void *items, uint32_t *nr, uint32_t *room, size_t size)
{
	void *grown = items;

	if (*nr == *room) {
		*room = *room ? *room * 2 : 64;
		grown = realloc(items, *room * size);
		if (!grown) {
			b->error = -ENOMEM;
			*room = *nr;
			return items;
		}
	}
	memset((char *)grown + *nr * size, 0, size);
	(*nr)++;
	return grown;
}

void builder_text(struct builder *b, char **where, const char *text)
{
	char *copy = strdup(text);

	if (!copy) {
		b->error = -ENOMEM;
		return;
	}
	free(*where);
	*where = copy;
}

struct process *builder_find_process(const struct builder *b, uint32_t pid)
{
	for (uint32_t i = b->by_pid[pid % LIFE_BUCKETS]; i != NO_LIFE; i = b->processes[i].next)
		if (b->processes[i].entry.pid == pid)
			return &b->processes[i];
	return NULL;
}

struct process *builder_process(struct builder *b, uint32_t pid)
{
	struct process *p = builder_find_process(b, pid);
	uint32_t nr = b->nr_processes;

	if (p)
		return p;
	b->processes =
		grow(b, b->processes, &b->nr_processes, &b->room_processes, sizeof(*b->processes));
	if (b->error) {
		b->nr_processes = nr;
		return NULL;
	}
	p = &b->processes[nr];
	p->entry.pid = pid;
	p->next = b->by_pid[pid % LIFE_BUCKETS];
	b->by_pid[pid % LIFE_BUCKETS] = nr;
	return p;
}

static struct life *life_newest(struct builder *b, uint32_t tid)
{
	for (uint32_t i = b->buckets[tid % LIFE_BUCKETS]; i != NO_LIFE; i = b->lives[i].older)
		if (b->lives[i].entry.tid == tid)
			return &b->lives[i];
	return NULL;
}

/* The newest life of @tid unless it is over. */
static struct life *life_open(struct builder *b, uint32_t tid)
{
	struct life *l = life_newest(b, tid);

	return l && l->free_time == TIME_NONE && l->dead_switch == TIME_NONE ? l : NULL;
}

static struct life *life_new(struct builder *b, const struct evidence *e, const char *comm)
{
	uint32_t nr = b->nr_lives, *bucket = &b->buckets[e->tid % LIFE_BUCKETS];
	struct life *l = life_newest(b, e->tid);

	/* Of a life that was not seen to exit nothing can come after its TID is born again. */
	if (l && l->exit_time == TIME_NONE && l->dead_switch == TIME_NONE)
		l->dead_switch = e->time;

	b->lives = grow(b, b->lives, &b->nr_lives, &b->room_lives, sizeof(*b->lives));
	if (b->error) {
		b->nr_lives = nr;
		return NULL;
	}
	l = &b->lives[nr];
	l->entry.tid = e->tid;
	l->entry.pid = e->pid;
	l->entry.ns_tid = e->ns_tid;
	l->entry.start_time = e->start_time;
	l->entry.first_seen = e->time;
	l->entry.birth = l->entry.death = TIME_NONE;
	l->exit_time = l->free_time = l->dead_switch = TIME_NONE;
	builder_text(b, &l->entry.comm, comm);
	l->older = *bucket;
	*bucket = nr;
	return l;
}

static void on_fork(struct builder *b, const struct evidence *e)
{
	struct life *l;

	/* Both backends tell only of births of our own: whose parent hands that on, or a rule
	 * covers. */
	l = life_new(b, e, e->text);
	if (!l)
		return;
	l->entry.birth = e->time;
	l->entry.parent_tid = e->other_tid;
	builder_process(b, e->pid);
}

static void on_dump(struct builder *b, const struct evidence *e)
{
	struct life *l = life_open(b, e->tid);
	struct process *p = builder_process(b, e->pid);

	if (!p)
		return;
	if (l && l->entry.pid == e->pid) {
		if (!l->entry.start_time)
			l->entry.start_time = e->start_time;
		if (!l->entry.ns_tid)
			l->entry.ns_tid = e->ns_tid;
		builder_text(b, &l->entry.comm, e->text); /* the rename may have been lost */
	} else {
		l = life_new(b, e, e->text);
	}
	if (l && e->tid == e->pid) {
		p->entry.ns_pid = e->ns_tid;
		p->entry.start_time = e->start_time;
	}
}

static void on_target(struct builder *b, const struct evidence *e)
{
	struct process *p = builder_process(b, e->pid);

	if (!p)
		return;
	p->flags |= e->flags;
	if (!p->entry.name)
		builder_text(b, &p->entry.name, e->text);
}

/*
 * The thread that executes and the dead leader have exchanged their TIDs some time before this is
 * told: what has ended since then under the thread's was the leader.
 */
static void exec_exchange(struct life *old, struct life *leader, uint64_t time)
{
	if (old->exit_time != TIME_NONE)
		return; /* another life: of the one that executes no birth was seen */
	if (leader && leader->exit_time != TIME_NONE) {
		if (leader->dead_switch == TIME_NONE)
			leader->dead_switch = old->dead_switch;
		if (leader->free_time == TIME_NONE)
			leader->free_time = old->free_time;
	}
	old->free_time = TIME_NONE;
	old->dead_switch = time;
}

/*
 * A thread that is not the leader leaves its own TID and goes on as the leader, whose life is over.
 * It gets a life of its own: the old leader's last switch-out may still come.
 */
static void exec_takes_lead(struct builder *b, const struct evidence *e, const char *comm)
{
	struct life *old = life_newest(b, e->other_tid), *leader = life_newest(b, e->tid), *l;
	uint64_t start_time = leader ? leader->entry.start_time : 0;
	uint32_t ns_tid = leader ? leader->entry.ns_tid : 0;

	if (old)
		exec_exchange(old, leader, e->time);
	leader = life_open(b, e->tid);
	if (leader && leader->exit_time == TIME_NONE)
		leader->dead_switch = e->time;
	l = life_new(b, e, comm);
	if (!l)
		return;
	l->entry.birth = e->time;
	l->entry.start_time = start_time;
	l->entry.ns_tid = ns_tid;
}

static void on_exec(struct builder *b, const struct evidence *e)
{
	struct process *p = builder_find_process(b, e->pid);
	const char *base = strrchr(e->text, '/');

	if (!p)
		return;
	base = base ? base + 1 : e->text;
	builder_text(b, &p->exec_name, base);
	if (e->other_tid != e->tid)
		exec_takes_lead(b, e, base);
}

/* When a TID's second owner exits too, what the first one still lacks was lost. */
static void on_thread_exit(struct builder *b, const struct evidence *e)
{
	struct life *l = life_open(b, e->tid);

	/* One of our own, of whose life nothing else is left. */
	if (!life_newest(b, e->tid) && builder_find_process(b, e->pid))
		l = life_new(b, e, "");
	if (!l)
		return;
	l->exit_time = e->time;
	for (uint32_t i = l->older; i != NO_LIFE; i = b->lives[i].older) {
		struct life *former = &b->lives[i];

		if (former->entry.tid == e->tid && former->dead_switch == TIME_NONE)
			former->dead_switch = former->exit_time;
	}
}

/*
 * Leaving the CPU for ever, and being freed, may come when the TID already lives again: they end
 * the oldest life that has exited and lacks this end; without an exit seen, the newest.
 */
static void on_end(struct builder *b, const struct evidence *e)
{
	struct life *ended = NULL;

	for (uint32_t i = b->buckets[e->tid % LIFE_BUCKETS]; i != NO_LIFE; i = b->lives[i].older) {
		struct life *l = &b->lives[i];
		uint64_t end = e->kind == EVIDENCE_FREE ? l->free_time : l->dead_switch;

		if (l->entry.tid == e->tid && end == TIME_NONE &&
		    (!ended || l->exit_time != TIME_NONE))
			ended = l;
	}
	if (ended && e->kind == EVIDENCE_FREE)
		ended->free_time = e->time;
	else if (ended)
		ended->dead_switch = e->time;
}

static void on_foreign(struct builder *b, const struct evidence *e)
{
	uint32_t nr = b->nr_foreigners;

	b->foreigners = grow(b, b->foreigners, &b->nr_foreigners, &b->room_foreigners,
			     sizeof(*b->foreigners));
	if (b->error) {
		b->nr_foreigners = nr;
		return;
	}
	b->foreigners[nr].tid = e->tid;
	b->foreigners[nr].pid = e->pid;
	b->foreigners[nr].time = e->time;
	builder_text(b, &b->foreigners[nr].comm, e->text);
}

static void conclude(struct builder *b, const struct evidence *e, const struct thread_table *t)
{
	struct life *l;

	switch (e->kind) {
	case EVIDENCE_TARGET:
		on_target(b, e);
		break;
	case EVIDENCE_FORK:
		on_fork(b, e);
		break;
	case EVIDENCE_DUMP:
		on_dump(b, e);
		break;
	case EVIDENCE_EXEC:
		on_exec(b, e);
		break;
	case EVIDENCE_EXIT:
		on_thread_exit(b, e);
		break;
	case EVIDENCE_FREE:
	case EVIDENCE_DEAD_SWITCH:
		on_end(b, e);
		break;
	case EVIDENCE_RENAME:
		l = life_open(b, e->tid);
		if (l && l->exit_time == TIME_NONE) /* else it is one that takes its TID by exec */
			builder_text(b, &l->entry.comm, e->text);
		break;
	case EVIDENCE_FOREIGN:
		on_foreign(b, e);
		break;
	case EVIDENCE_STRING:
	case EVIDENCE_VM:
	case EVIDENCE_JAVA_START:
	case EVIDENCE_JAVA_NAME:
	case EVIDENCE_JAVA_END:
		java_conclude(b, e, t);
		break;
	}
}

static int by_time(const void *a, const void *b)
{
	const struct evidence *const *x = a, *const *y = b;
	bool java_x = (*x)->kind >= EVIDENCE_STRING, java_y = (*y)->kind >= EVIDENCE_STRING;

	if (java_x != java_y)
		return java_x - java_y;
	/* A target is one from the start of its first dump on, which may be stamped a little
	 * earlier. */
	if (((*x)->kind == EVIDENCE_TARGET) != ((*y)->kind == EVIDENCE_TARGET))
		return (*x)->kind == EVIDENCE_TARGET ? -1 : 1;
	if ((*x)->time != (*y)->time)
		return (*x)->time < (*y)->time ? -1 : 1;
	/* Streams come in any order, records of one stream in theirs. */
	if ((*x)->kind != (*y)->kind)
		return (*x)->kind < (*y)->kind ? -1 : 1;
	if ((*x)->tid != (*y)->tid)
		return (*x)->tid < (*y)->tid ? -1 : 1;
	if ((*x)->pid != (*y)->pid)
		return (*x)->pid < (*y)->pid ? -1 : 1;
	return (*x)->order < (*y)->order ? -1 : 1;
}

static void life_finish(struct builder *b, struct life *l)
{
	struct thread_entry *t = &l->entry;

	t->death = l->dead_switch != TIME_NONE ? l->dead_switch
		   : l->exit_time != TIME_NONE ? l->exit_time
					       : l->free_time;
	if (!t->name)
		builder_text(b, &t->name, t->comm);
}

static int thread_order(const void *a, const void *b)
{
	const struct thread_entry *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	/* Threads that were there before come first; the main thread leads. */
	if ((x->birth == TIME_NONE) != (y->birth == TIME_NONE))
		return x->birth == TIME_NONE ? -1 : 1;
	if (x->birth != y->birth)
		return x->birth < y->birth ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* What the manifest already knows of a process (its directory and uuid) stays. */
static void fill_process(struct builder *b, struct manifest *m, struct process *p)
{
	struct process_entry *known = NULL, *e = &p->entry;
	struct life *main_thread = life_newest(b, e->pid);

	if (p->exec_name)
		builder_text(b, &e->name, p->exec_name);
	if (!e->name)
		builder_text(b, &e->name, main_thread ? main_thread->entry.comm : "?");
	for (uint32_t i = 0; i < m->nr_processes && !known; i++)
		if (m->processes[i].pid == e->pid)
			known = &m->processes[i];
	if (!known) {
		struct process_entry *grown =
			realloc(m->processes, (m->nr_processes + 1) * sizeof(*m->processes));

		if (!grown) {
			b->error = -ENOMEM;
			return;
		}
		m->processes = grown;
		m->processes[m->nr_processes++] = *e;
		memset(e, 0, sizeof(*e));
		return;
	}
	known->ns_pid = e->ns_pid ? e->ns_pid : known->ns_pid;
	known->start_time = e->start_time ? e->start_time : known->start_time;
	builder_text(b, &known->name, e->name);
	if (e->vm) {
		builder_text(b, &known->vm, e->vm);
		known->vm_version = e->vm_version;
	}
}

static void fill(struct builder *b, struct manifest *m)
{
	for (uint32_t i = 0; i < b->nr_processes && !b->error; i++)
		fill_process(b, m, &b->processes[i]);
	manifest_clear_threads(m);
	m->threads = calloc(b->nr_lives + 1, sizeof(*m->threads));
	if (!m->threads)
		b->error = -ENOMEM;
	for (uint32_t i = 0; i < b->nr_lives && !b->error; i++) {
		life_finish(b, &b->lives[i]);
		m->threads[m->nr_threads++] = b->lives[i].entry;
		memset(&b->lives[i].entry, 0, sizeof(b->lives[i].entry));
	}
	if (!b->error && m->nr_threads)
		qsort(m->threads, m->nr_threads, sizeof(*m->threads), thread_order);
	m->foreigners = b->foreigners;
	m->nr_foreigners = b->nr_foreigners;
	b->foreigners = NULL;
	b->nr_foreigners = 0;
}

static void builder_fini(struct builder *b)
{
	for (uint32_t i = 0; i < b->nr_lives; i++) {
		free(b->lives[i].entry.name);
		free(b->lives[i].entry.comm);
		free(b->lives[i].entry.group);
	}
	for (uint32_t i = 0; i < b->nr_processes; i++) {
		free(b->processes[i].entry.name);
		free(b->processes[i].entry.vm);
		free(b->processes[i].exec_name);
	}
	for (uint32_t i = 0; i < b->nr_foreigners; i++)
		free(b->foreigners[i].comm);
	java_fini(b);
	free(b->lives);
	free(b->processes);
	free(b->foreigners);
}

static void conclude_all(struct builder *b, const struct evidence **sorted,
			 const struct thread_table *t)
{
	for (uint32_t i = 0; i < t->nr; i++)
		sorted[i] = &t->items[i];
	qsort(sorted, t->nr, sizeof(*sorted), by_time);
	for (uint32_t i = 0; i < t->nr && !b->error; i++)
		conclude(b, sorted[i], t);
}

int thread_table_fill(const struct thread_table *t, struct manifest *m)
{
	const struct evidence **sorted = calloc(t->nr + 1, sizeof(*sorted));
	struct builder *b = calloc(1, sizeof(*b));
	int err = -ENOMEM;

	if (sorted && b) {
		memset(b->buckets, 0xff, sizeof(b->buckets));
		memset(b->by_pid, 0xff, sizeof(b->by_pid));
		b->manifest = m;
		conclude_all(b, sorted, t);
		if (!b->error)
			fill(b, m);
		err = b->error;
		builder_fini(b);
	}
	free(b);
	free(sorted);
	return err;
}
