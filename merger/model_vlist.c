/* SPDX-License-Identifier: MIT */
/*
 * Which virtual threads have rows: the first born of those that live in the window and are asked
 * for. Sinks want the table before the first event, so a trace's dictionaries are read for it
 * first. What is kept meanwhile grows with those that live at once and those that get rows, not
 * with all there ever were: of these a bit each says that they have been seen.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model_class_waits.h"
#include "model_futexes.h"

#define DEFAULT_ROWS 16384u
#define LIST_MAX (1u << 28)

/* One that may get a row. */
struct candidate {
	struct model_vthread v; /* process NONE: dropped */
	char *name;		/* NULL: has none */
};

/* Those of 64 ids in a row that have been seen. */
struct seen {
	uint64_t first; /* id / 64 */
	uint64_t bits;	/* 0: an empty place */
	uint32_t process;
};

struct vthreads {
	struct candidate *all; /* until the model is ready */
	uint32_t nr, room;
	struct model_vthread *list; /* from then on */
	uint32_t *table;	    /* (process, java_tid) -> index + 1 */
	uint32_t mask;
	struct seen *seen; /* open addressing */
	uint32_t nr_seen, seen_mask;
	bool ready;
};

/* The tables --------------------------------------------------------------------------------- */

static uint32_t hash_of(uint32_t process, uint64_t id)
{
	return (uint32_t)(((id ^ (uint64_t)process << 44) * 0x9e3779b97f4a7c15ull) >> 32);
}

static const struct model_vthread *entry(const struct vthreads *v, uint32_t i)
{
	return v->ready ? &v->list[i] : &v->all[i].v;
}

static uint32_t *table_slot(const struct vthreads *v, uint32_t process, uint64_t java_tid)
{
	uint32_t i = hash_of(process, java_tid) & v->mask;

	while (v->table[i]) {
		const struct model_vthread *e = entry(v, v->table[i] - 1);

		if (e->process == process && e->java_tid == java_tid)
			break;
		i = (i + 1) & v->mask;
	}
	return &v->table[i];
}

/* Makes the table anew, for at least @n entries. */
static int table_build(struct vthreads *v, uint32_t n)
{
	uint32_t size = 64;

	while (size < n * 2ull && size < 1u << 31)
		size *= 2;
	free(v->table);
	v->table = calloc(size, sizeof(*v->table));
	if (!v->table)
		return -ENOMEM;
	v->mask = size - 1;
	for (uint32_t i = 0; i < v->nr; i++) {
		const struct model_vthread *e = entry(v, i);

		*table_slot(v, e->process, e->java_tid) = i + 1;
	}
	return 0;
}

static struct seen *seen_slot(const struct vthreads *v, uint32_t process, uint64_t first)
{
	uint32_t i = hash_of(process, first) & v->seen_mask;

	while (v->seen[i].bits && (v->seen[i].first != first || v->seen[i].process != process))
		i = (i + 1) & v->seen_mask;
	return &v->seen[i];
}

static int seen_grow(struct vthreads *v)
{
	struct vthreads grown = {.seen_mask = v->seen ? v->seen_mask * 2 + 1 : 63};

	if (grown.seen_mask > 1u << 30)
		return -ENOMEM;
	grown.seen = calloc(grown.seen_mask + 1ull, sizeof(*grown.seen));
	if (!grown.seen)
		return -ENOMEM;
	for (uint32_t i = 0; v->seen && i <= v->seen_mask; i++) {
		if (v->seen[i].bits)
			*seen_slot(&grown, v->seen[i].process, v->seen[i].first) = v->seen[i];
	}
	free(v->seen);
	v->seen = grown.seen;
	v->seen_mask = grown.seen_mask;
	return 0;
}

/* Notes that there is such a thread. Returns 1 where that is new, 0, or -ENOMEM. */
static int seen_add(struct vthreads *v, uint32_t process, uint64_t java_tid)
{
	uint64_t bit = 1ull << (java_tid & 63);
	struct seen *s;

	if ((!v->seen || v->nr_seen > v->seen_mask / 2) && seen_grow(v))
		return -ENOMEM;
	s = seen_slot(v, process, java_tid / 64);
	if (s->bits & bit)
		return 0;
	if (!s->bits)
		v->nr_seen++;
	*s = (struct seen){java_tid / 64, s->bits | bit, process};
	return 1;
}

/* Who gets a row ----------------------------------------------------------------------------- */

static int vthread_compare(const void *a, const void *b)
{
	const struct model_vthread *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->birth != y->birth)
		return x->birth < y->birth ? -1 : 1;
	return x->java_tid < y->java_tid ? -1 : x->java_tid > y->java_tid;
}

static int birth_compare(const void *a, const void *b)
{
	const struct model_vthread *x = &((const struct candidate *)a)->v;
	const struct model_vthread *y = &((const struct candidate *)b)->v;

	return x->birth != y->birth ? (x->birth < y->birth ? -1 : 1) : vthread_compare(x, y);
}

static void candidate_drop(struct candidate *c)
{
	free(c->name);
	c->name = NULL;
	c->v.process = NONE;
}

static int name_text(const struct candidate *c, char *text, size_t room)
{
	return snprintf(text, room, "virtual-%llu", (unsigned long long)c->v.java_tid);
}

/* Is it in the window, and asked for, as far as is known of it now? */
static bool is_wanted(const struct model *m, const struct candidate *c)
{
	char text[48];

	if (c->v.birth >= m->info.end || c->v.death <= m->info.begin)
		return false;
	name_text(c, text, sizeof(text));
	return name_selected(m->options.thread, c->name ? c->name : text, NONE);
}

/* ... and will it be so whatever is read yet? */
static bool is_certain(const struct model *m, const struct candidate *c)
{
	bool dead = c->v.death != TIME_NONE;

	return (dead || c->v.birth >= m->info.begin) && (dead || !m->options.thread);
}

/* Keeps @most of those that are certain, the first born, and all that are not. */
static void list_compact(struct model *m, struct vthreads *v, uint32_t most)
{
	uint32_t kept = 0, certain = 0;

	for (uint32_t i = 0; i < v->nr; i++) {
		if (v->all[i].v.process != NONE)
			v->all[kept++] = v->all[i];
	}
	if (kept)
		qsort(v->all, kept, sizeof(*v->all), birth_compare);
	v->nr = kept;
	kept = 0;
	for (uint32_t i = 0; i < v->nr; i++) {
		struct candidate *c = &v->all[i];

		if (is_certain(m, c) && certain++ >= most) {
			m->info.other_vthreads++;
			candidate_drop(c);
		} else {
			v->all[kept++] = *c;
		}
	}
	v->nr = kept;
}

static uint32_t most_rows(const struct model *m)
{
	return m->options.max_vthreads ? m->options.max_vthreads : DEFAULT_ROWS;
}

/* Makes room for one more. */
static int list_room(struct model *m, struct vthreads *v)
{
	uint32_t room = v->room ? v->room * 2 : 256;
	struct candidate *grown;

	if (v->nr < v->room)
		return 0;
	list_compact(m, v, most_rows(m));
	if (v->room && v->nr <= v->room / 2)
		return table_build(v, v->room);
	grown = realloc(v->all, room * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	v->all = grown;
	if (room > LIST_MAX)
		return -ENOMEM;
	v->room = room;
	return table_build(v, room);
}

static struct candidate *candidate_find(const struct model *m, uint32_t process, uint64_t java_tid)
{
	const struct vthreads *v = m->vthreads;
	uint32_t at = v && v->table && !v->ready ? *table_slot(v, process, java_tid) : 0;

	return at ? &v->all[at - 1] : NULL;
}

int vthread_add(struct model *m, uint32_t process, uint64_t java_tid, const char *name,
		uint64_t birth)
{
	struct vthreads *v = m->vthreads ? m->vthreads : calloc(1, sizeof(*v));
	struct candidate *c;
	int new;

	if (!v)
		return -ENOMEM;
	m->vthreads = v;
	if (v->ready || process >= m->info.nr_processes)
		return 0;
	new = seen_add(v, process, java_tid);
	if (new <= 0)
		return new;
	if (birth >= m->info.end ||
	    !process_entry_wanted(&m->processes[process], m->options.process))
		return 0;
	if (list_room(m, v))
		return -ENOMEM;
	c = &v->all[v->nr];
	*c = (struct candidate){.v = {.java_tid = java_tid,
				      .process = process,
				      .birth = birth,
				      .death = TIME_NONE,
				      .selected = true}};
	if (name && *name && !(c->name = strdup(name)))
		return -ENOMEM;
	*table_slot(v, process, java_tid) = ++v->nr;
	return 0;
}

/* A name it is given after its end would be another's. */
void vthread_renamed(struct model *m, uint32_t process, uint64_t java_tid, const char *name)
{
	struct candidate *c = candidate_find(m, process, java_tid);
	char *copy;

	if (!c || c->v.death != TIME_NONE)
		return;
	copy = *name ? strdup(name) : NULL;
	if (*name && !copy) {
		m->error = -ENOMEM;
		return;
	}
	free(c->name);
	c->name = copy;
}

void vthread_died(struct model *m, uint32_t process, uint64_t java_tid, uint64_t death)
{
	struct candidate *c = candidate_find(m, process, java_tid);

	if (!c)
		return;
	c->v.death = death;
	if (!is_wanted(m, c))
		candidate_drop(c);
}

uint32_t vthread_row(const struct model *m, uint32_t process, uint64_t java_tid)
{
	const struct vthreads *v = m->vthreads;
	uint32_t at = v && v->ready ? *table_slot(v, process, java_tid) : 0;

	return at ? at - 1 : NONE;
}

static int list_make(struct model *m, struct vthreads *v)
{
	v->list = calloc(v->nr + 1ull, sizeof(*v->list));
	if (!v->list)
		return -ENOMEM;
	for (uint32_t i = 0; i < v->nr; i++) {
		struct candidate *c = &v->all[i];
		char text[48];
		const char *name = c->name ? c->name : text;

		name_text(c, text, sizeof(text));
		c->v.name = name_intern(m, name, strlen(name));
		v->list[i] = c->v;
		free(c->name);
	}
	qsort(v->list, v->nr, sizeof(*v->list), vthread_compare);
	free(v->all);
	v->all = NULL;
	free(v->seen);
	v->seen = NULL;
	v->ready = true;
	return m->error ? m->error : table_build(v, v->nr);
}

int vthreads_ready(struct model *m)
{
	struct vthreads *v = m->vthreads;
	uint32_t most = most_rows(m);
	int err;

	if (!v || m->error)
		return m->error;
	for (uint32_t i = 0; i < v->nr; i++) {
		struct candidate *c = &v->all[i];

		if (c->v.process != NONE && !is_wanted(m, c))
			candidate_drop(c);
	}
	list_compact(m, v, UINT32_MAX);
	while (v->nr > most) {
		candidate_drop(&v->all[--v->nr]);
		m->info.other_vthreads++;
	}
	err = list_make(m, v);
	if (err)
		return err;
	m->vrows = calloc(v->nr + 1ull, sizeof(*m->vrows));
	if (!m->vrows)
		return -ENOMEM;
	for (uint32_t i = 0; i < v->nr; i++)
		m->vrows[i].since = m->info.begin;
	m->info.vthreads = v->list;
	m->info.nr_vthreads = v->nr;
	return 0;
}

void vthreads_fini(struct model *m)
{
	struct vthreads *v = m->vthreads;

	for (uint32_t i = 0; v && v->all && i < v->nr; i++)
		free(v->all[i].name);
	if (v) {
		free(v->all);
		free(v->list);
		free(v->table);
		free(v->seen);
	}
	free(v);
	free(m->vrows);
}

/* The reading before ------------------------------------------------------------------------- */

static void scan_dict(struct model *m, const struct stream_cursor *c, uint32_t process)
{
	uint64_t t = clock_scale_ns(&m->scale, c->time);
	const void *p = c->payload;

	if (c->id == JIS_EV_java_thread_start) {
		const struct jis_ev_java_thread_start *ev = p;

		if (ev->flags & JIS_JTHREAD_VIRTUAL &&
		    vthread_add(m, process, ev->java_tid, ev->name,
				ev->flags & JIS_JTHREAD_RUNNING ? 0 : t))
			m->error = -ENOMEM;
	} else if (c->id == JIS_EV_java_thread_name) {
		const struct jis_ev_java_thread_name *ev = p;

		vthread_renamed(m, process, ev->java_tid, ev->name);
	} else if (c->id == JIS_EV_java_thread_end) {
		const struct jis_ev_java_thread_end *ev = p;

		vthread_died(m, process, ev->java_tid, t);
	} else if (c->id == JIS_EV_string_def) {
		string_ahead(m, process, p);
	} else if (c->id == JIS_EV_class_waited) {
		class_wait_ahead(m, process, p, t);
	} else if (c->id == JIS_EV_futex_name) {
		futex_ahead(m, process, p, t);
	}
}

/* A virtual thread of which nothing but its mounts is known was there before. */
static void scan_user(struct model *m, const struct stream_cursor *c, uint32_t process)
{
	const struct jis_ev_vthread_mount *ev = (const void *)c->payload;

	if (c->id == JIS_EV_vthread_mount && vthread_add(m, process, ev->java_tid, NULL, 0))
		m->error = -ENOMEM;
}

static int scan_stream(struct model *m, const struct trace *trace, const struct stream_cursor *of)
{
	const struct stream_entry *s = &trace->manifest->streams[of - trace->streams];
	uint32_t process = of->trace - 1;
	struct stream_identity identity = {.stream_class = s->stream_class,
					   .instance = s->instance};
	struct stream_cursor c;
	int err;

	memcpy(identity.uuid, trace->manifest->processes[process].uuid, sizeof(identity.uuid));
	err = stream_cursor_open(&c, trace->dirfd, s->path, &identity, NULL);
	if (err) /* that it cannot be read has been told */
		return err == -ENOMEM ? err : 0;
	while (!m->error && stream_cursor_next(&c)) {
		if (s->stream_class == JIS_STREAM_DICT)
			scan_dict(m, &c, process);
		else
			scan_user(m, &c, process);
	}
	stream_cursor_close(&c);
	return m->error;
}

/* Has @process virtual threads, or records older than the names they use, or to be known before? */
static bool wants_dict(const struct trace *trace, uint32_t process)
{
	const struct manifest *man = trace->manifest;

	for (uint32_t i = 0; i < trace->nr_streams; i++) {
		const struct stream_entry *s = &man->streams[i];

		if (trace->streams[i].trace != process + 1)
			continue;
		if (s->stream_class == JIS_STREAM_USER
			    ? s->stored[JIS_EV_safepoint_end]
			    : s->stored[JIS_EV_class_waited] || s->stored[JIS_EV_futex_name])
			return true;
	}
	return man->processes[process].vm_version > 17;
}

/* Dictionaries come first: who is in none of them was there before. */
int vthreads_scan(struct model *m, const struct trace *trace)
{
	int err = 0;

	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < trace->nr_streams && !err; i++) {
			const struct stream_cursor *c = &trace->streams[i];
			const struct stream_entry *s = &trace->manifest->streams[i];

			if (!c->trace || c->trace > m->info.nr_processes || !s->path)
				continue;
			if (pass == 0 && s->stream_class == JIS_STREAM_DICT &&
			    wants_dict(trace, c->trace - 1))
				err = scan_stream(m, trace, c);
			if (pass == 1 && s->stream_class == JIS_STREAM_USER &&
			    s->stored[JIS_EV_vthread_mount])
				err = scan_stream(m, trace, c);
		}
	}
	return err;
}
