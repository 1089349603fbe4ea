/* SPDX-License-Identifier: MIT */
/*
 * Gathers, packet by packet, the few events that tell of threads: births, deaths, names. Packets
 * come in any order between streams, so nothing is concluded here; thread_lives.c does that at the
 * end.
 */
#include "thread_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "record.h"
#include "thread_evidence.h"

struct thread_table *thread_table_new(void)
{
	return calloc(1, sizeof(struct thread_table));
}

void thread_table_free(struct thread_table *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->nr; i++)
		free(t->items[i].text);
	free(t->items);
	free(t->names);
	free(t->tids);
	free(t);
}

uint32_t thread_table_items(const struct thread_table *t)
{
	return t->nr;
}

uint64_t thread_table_dropped(const struct thread_table *t)
{
	return t->names_dropped;
}

/* Where the names of @tid are, or belong, in the hash. */
static struct tid_names *tid_slot(const struct thread_table *t, uint32_t tid)
{
	for (uint32_t i = tid * 2654435761u;; i++) {
		struct tid_names *n = &t->tids[i & t->tids_mask];

		if (!n->used || n->tid == tid)
			return n;
	}
}

static struct evidence *add(struct thread_table *t, enum evidence_kind kind, uint64_t time,
			    uint32_t tid, uint32_t pid)
{
	struct evidence *e;

	if (t->nr == t->room && !GROW(t->items, t->room, 256))
		return NULL;
	e = &t->items[t->nr];
	memset(e, 0, sizeof(*e));
	e->kind = kind;
	e->time = time;
	e->tid = tid;
	e->pid = pid;
	e->order = t->nr++;
	return e;
}

/* Room for the tids that have evidence of a name or of a life. */
static bool tids_grow(struct thread_table *t)
{
	uint32_t size = t->tids ? t->tids_mask + 1 : 0;
	struct tid_names *old = t->tids;

	if (t->nr_tids * 2 < size)
		return true;
	t->tids = calloc(size ? size * 2 : 256, sizeof(*t->tids));
	if (!t->tids) {
		t->tids = old;
		return false;
	}
	t->tids_mask = (size ? size * 2 : 256) - 1;
	for (uint32_t i = 0; i < size; i++)
		if (old[i].used)
			*tid_slot(t, old[i].tid) = old[i];
	free(old);
	return true;
}

/* The same with a text, which must not fail half-way. */
static struct evidence *add_text(struct thread_table *t, enum evidence_kind kind, uint64_t time,
				 uint32_t tid, uint32_t pid, const char *text)
{
	char *copy = strdup(text);
	struct evidence *e = copy ? add(t, kind, time, tid, pid) : NULL;

	if (e)
		e->text = copy;
	else
		free(copy);
	return e;
}

static bool add_fork(struct thread_table *t, const struct record *r)
{
	const struct jis_ev_sched_process_fork *p = (const void *)r->payload;
	struct evidence *e = add_text(t, EVIDENCE_FORK, r->time, p->tid, p->pid, p->comm);

	if (!e)
		return false;
	e->other_tid = p->parent_tid;
	e->ns_tid = p->ns_tid;
	e->start_time = p->start_time;
	return true;
}

static bool add_dump(struct thread_table *t, const struct record *r)
{
	const struct jis_ev_thread_state *p = (const void *)r->payload;
	struct evidence *e;

	if (p->state == JIS_TASK_DEAD)
		return true;
	e = add_text(t, EVIDENCE_DUMP, r->time, p->tid, p->pid, p->comm);
	if (!e)
		return false;
	e->ns_tid = p->ns_tid;
	e->start_time = p->start_time;
	return true;
}

static bool add_exec(struct thread_table *t, const struct record *r)
{
	const struct jis_ev_sched_process_exec *p = (const void *)r->payload;
	struct evidence *e = add_text(t, EVIDENCE_EXEC, r->time, p->tid, p->pid, p->filename);

	if (e)
		e->other_tid = p->old_tid;
	return e != NULL;
}

/*
 * A thread may rename itself a million times, and only the last name of a life counts. Up to
 * NAMES_KEPT are kept as they come, as streams come in any order and another CPU may yet tell of an
 * end or a birth between them; a further one takes the place of the last.
 */
static bool add_rename(struct thread_table *t, const struct record *r)
{
	const struct jis_ev_task_rename *p = (const void *)r->payload;
	struct tid_names *n;
	struct evidence *e;
	char *copy;

	if (!tids_grow(t))
		return false;
	n = tid_slot(t, p->tid);
	e = n->used && n->kept ? &t->items[n->last] : NULL;
	if (!e || n->kept < NAMES_KEPT || r->time < e->time) {
		if (!add_text(t, EVIDENCE_RENAME, r->time, p->tid, p->pid, p->comm))
			return false;
		t->nr_tids += !n->used;
		*n = (struct tid_names){p->tid, t->nr - 1, n->used ? n->kept + 1 : 1, true};
		return true;
	}
	t->names_dropped++;
	e->time = r->time;
	if (!strcmp(e->text, p->comm))
		return true;
	copy = strdup(p->comm);
	if (!copy)
		return false;
	free(e->text);
	e->text = copy;
	return true;
}

/* After a birth, an exec or an end of @tid, its names are kept anew. */
static void names_begin(struct thread_table *t, uint32_t tid)
{
	if (t->tids)
		tid_slot(t, tid)->kept = 0;
}

static bool take_life(struct thread_table *t, const struct record *r)
{
	const struct jis_ev_sched_process_exit *x = (const void *)r->payload;
	const struct jis_ev_sched_process_fork *f = (const void *)r->payload;
	const struct jis_ev_sched_process_exec *e = (const void *)r->payload;

	switch (r->id) {
	case JIS_EV_sched_process_fork:
		names_begin(t, f->tid);
		return add_fork(t, r);
	case JIS_EV_sched_process_exec:
		names_begin(t, e->tid);
		names_begin(t, e->old_tid);
		return add_exec(t, r);
	default:
		names_begin(t, x->tid);
		return add(t, EVIDENCE_EXIT, r->time, x->tid, x->pid);
	}
}

static bool take_kernel(struct thread_table *t, const struct record *r)
{
	const struct jis_ev_sched_switch *s = (const void *)r->payload;
	const struct jis_ev_sched_process_exit *x = (const void *)r->payload;
	const struct jis_ev_task_rename *n = (const void *)r->payload;

	switch (r->id) {
	case JIS_EV_sched_switch:
		if ((s->prev_state & JIS_TASK_STATE_MASK) != JIS_TASK_DEAD)
			return true;
		return add(t, EVIDENCE_DEAD_SWITCH, r->time, s->prev_tid, 0);
	case JIS_EV_sched_process_fork:
	case JIS_EV_sched_process_exec:
	case JIS_EV_sched_process_exit:
		return take_life(t, r);
	case JIS_EV_sched_process_free:
		return add(t, EVIDENCE_FREE, r->time, x->tid, x->pid);
	case JIS_EV_task_rename:
		return add_rename(t, r);
	case JIS_EV_task_name:
		return add_text(t, EVIDENCE_FOREIGN, r->time, n->tid, n->pid, n->comm);
	case JIS_EV_thread_state:
		return add_dump(t, r);
	}
	return true;
}

static bool take_recorder(struct thread_table *t, const struct record *r)
{
	const struct jis_ev_target_added *p = (const void *)r->payload;
	struct evidence *e;

	if (r->id != JIS_EV_target_added)
		return true;
	e = add_text(t, EVIDENCE_TARGET, r->time, p->pid, p->pid, p->comm);
	if (e)
		e->flags = p->flags;
	return e != NULL;
}

/* Where the last name of a Java thread is, or belongs, in the hash. */
static uint32_t *name_slot(const struct thread_table *t, uint32_t process, uint64_t java_tid)
{
	uint64_t mixed = (java_tid ^ (uint64_t)process << 32) * 0x9e3779b97f4a7c15ull;

	for (uint32_t i = (uint32_t)(mixed >> 32);; i++) {
		uint32_t *slot = &t->names[i & t->names_mask];
		const struct evidence *e = *slot ? &t->items[*slot - 1] : NULL;

		if (!e || (e->pid == process && e->java_tid == java_tid))
			return slot;
	}
}

static bool names_grow(struct thread_table *t)
{
	uint32_t *old = t->names, size = old ? t->names_mask + 1 : 0;

	if (t->nr_names * 2 < size)
		return true;
	t->names = calloc(size ? size * 2 : 256, sizeof(*t->names));
	if (!t->names) {
		t->names = old;
		return false;
	}
	t->names_mask = (size ? size * 2 : 256) - 1;
	for (uint32_t i = 0; i < size; i++)
		if (old[i])
			*name_slot(t, t->items[old[i] - 1].pid, t->items[old[i] - 1].java_tid) =
				old[i];
	free(old);
	return true;
}

/* A thread may be named a million times. */
static bool add_java_name(struct thread_table *t, uint32_t process, const struct record *r)
{
	const struct jis_ev_java_thread_name *p = (const void *)r->payload;
	struct evidence *e;
	uint32_t *slot;

	if (!names_grow(t))
		return false;
	slot = name_slot(t, process, p->java_tid);
	if (!*slot) {
		e = add_text(t, EVIDENCE_JAVA_NAME, r->time, 0, process, p->name);
		if (!e)
			return false;
		e->java_tid = p->java_tid;
		*slot = t->nr;
		t->nr_names++;
		return true;
	}
	e = &t->items[*slot - 1];
	if (strcmp(e->text, p->name)) {
		char *copy = strdup(p->name);

		if (!copy)
			return false;
		free(e->text);
		e->text = copy;
	}
	e->time = r->time;
	return true;
}

static bool add_java_start(struct thread_table *t, uint32_t process, const struct record *r)
{
	const struct jis_ev_java_thread_start *p = (const void *)r->payload;
	struct evidence *e = add_text(t, EVIDENCE_JAVA_START, r->time, p->tid, process, p->name);

	if (!e)
		return false;
	e->java_tid = p->java_tid;
	e->flags = p->flags;
	e->id = p->group;
	return true;
}

static bool take_dict(struct thread_table *t, uint32_t process, const struct record *r)
{
	const struct jis_ev_string_def *s = (const void *)r->payload;
	const struct jis_ev_java_thread_end *end = (const void *)r->payload;
	const struct jis_ev_vm_info *v = (const void *)r->payload;
	struct evidence *e = NULL;

	switch (r->id) {
	case JIS_EV_string_def:
		e = add_text(t, EVIDENCE_STRING, r->time, 0, process, s->text);
		if (e)
			e->id = s->id;
		return e != NULL;
	case JIS_EV_java_thread_start:
		return add_java_start(t, process, r);
	case JIS_EV_java_thread_name:
		return add_java_name(t, process, r);
	case JIS_EV_java_thread_end:
		e = add(t, EVIDENCE_JAVA_END, r->time, end->tid, process);
		if (e)
			e->java_tid = end->java_tid;
		return e != NULL;
	case JIS_EV_vm_info:
		e = add_text(t, EVIDENCE_VM, r->time, 0, process, v->text);
		if (!e)
			return false;
		e->id = v->version;
		e->ns_tid = v->pid;
		return true;
	}
	return true;
}

static bool take(struct thread_table *t, uint32_t stream_class, uint32_t process,
		 const struct record *r)
{
	switch (stream_class) {
	case JIS_STREAM_KERNEL:
		return take_kernel(t, r);
	case JIS_STREAM_RECORDER:
		return take_recorder(t, r);
	case JIS_STREAM_DICT:
		return take_dict(t, process, r);
	}
	return true;
}

int thread_table_add_packet(struct thread_table *t, uint32_t process,
			    const struct jis_packet_header *packet, uint32_t skip)
{
	const uint8_t *begin = (const uint8_t *)packet, *p = begin + JIS_PACKET_HEADER_SIZE;
	const struct jis_packet_header h = packet_header_at(begin);
	const uint8_t *end = begin + h.content_size / 8;
	struct record r = {.time = h.timestamp_begin};

	if (h.stream_class >= JIS_NR_STREAM_CLASSES || h.stream_class == JIS_STREAM_USER)
		return 0;
	while (p < end) {
		const uint8_t *next =
			record_next(record_sizes[h.stream_class], h.stream_class, p, end, &r);

		if (!next)
			break;
		if (p >= begin + JIS_PACKET_HEADER_SIZE + skip &&
		    thread_table_concerns(h.stream_class, r.id, r.payload) &&
		    !take(t, h.stream_class, process, &r))
			return -ENOMEM;
		p = next;
	}
	return 0;
}
