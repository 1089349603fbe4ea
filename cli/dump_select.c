/* SPDX-License-Identifier: MIT */
/*
 * A thread has up to three numbers. Records of the kernel and of the recorder name it by the host's
 * tid, those of a process by its tid inside of that process's pid namespace, or by its Java number.
 * Each is a member of one set, with where it counts: so the same number in two containers is two
 * members.
 */
#include "dump_select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a number counts: on the host, or in the trace of a process, for its kernel or Java threads.
 */
#define ON_HOST 0u
#define INSIDE(trace) (2 * (uint64_t)(trace))
#define IN_JAVA(trace) (2 * (uint64_t)(trace) + 1)

struct member {
	uint64_t place, number; /* number 0: an empty place */
};

/* A field that names a thread. */
struct naming {
	uint32_t offset;
	bool java; /* 64 bits */
};

#define NAMING_MAX 6u

struct namings {
	struct naming of[NAMING_MAX];
	uint32_t nr;
};

struct dump_select {
	bool all;
	struct member *members; /* open addressing */
	uint64_t mask, nr;
	bool *whole; /* by trace: of this process all that its own streams have; NULL: of none */
	uint32_t nr_traces;
	struct namings namings[JIS_NR_STREAM_CLASSES][JIS_MAX_EVENT_ID];
};

/* Members ------------------------------------------------------------------------------------ */

static struct member *member_place(const struct dump_select *s, uint64_t place, uint64_t number)
{
	uint64_t h = (number ^ place << 40) * 0x9e3779b97f4a7c15ull;
	uint64_t i = (h ^ h >> 32) & s->mask;

	while (s->members[i].number &&
	       (s->members[i].number != number || s->members[i].place != place))
		i = (i + 1) & s->mask;
	return &s->members[i];
}

static bool is_member(const struct dump_select *s, uint64_t place, uint64_t number)
{
	return number && member_place(s, place, number)->number;
}

static bool members_grow(struct dump_select *s)
{
	struct dump_select grown = {.mask = s->members ? s->mask * 2 + 1 : 255};

	grown.members = calloc(grown.mask + 1, sizeof(*grown.members));
	if (!grown.members)
		return false;
	for (uint64_t i = 0; s->members && i <= s->mask; i++)
		if (s->members[i].number)
			*member_place(&grown, s->members[i].place, s->members[i].number) =
				s->members[i];
	free(s->members);
	s->members = grown.members;
	s->mask = grown.mask;
	return true;
}

static bool member_add(struct dump_select *s, uint64_t place, uint64_t number)
{
	struct member *at;

	if (!number)
		return true;
	if ((!s->members || 2 * s->nr >= s->mask) && !members_grow(s))
		return false;
	at = member_place(s, place, number);
	s->nr += !at->number;
	*at = (struct member){place, number};
	return true;
}

/* Threads ------------------------------------------------------------------------------------ */

static bool is_wanted(const char *text, const char *name, uint32_t number)
{
	char buffer[16];

	if (!text)
		return true;
	snprintf(buffer, sizeof(buffer), "%u", number);
	return !strcmp(buffer, text) || (name && strstr(name, text));
}

static int by_pid(const void *a, const void *b)
{
	const struct process_entry *const *x = a, *const *y = b;

	if ((*x)->pid != (*y)->pid)
		return (*x)->pid < (*y)->pid ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

/* The first of @sorted that has @pid, or the one behind all with smaller ones. */
static uint32_t pid_first(const struct process_entry **sorted, uint32_t nr, uint32_t pid)
{
	uint32_t low = 0, high = nr;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (sorted[middle]->pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Adds thread @t of processes sorted[@first..], if they are wanted. */
static bool thread_add(struct dump_select *s, const struct manifest *m,
		       const struct process_entry **sorted, uint32_t first,
		       const struct thread_entry *t, const char *process)
{
	uint32_t i = first;

	if (i == m->nr_processes || sorted[i]->pid != t->pid)
		return !is_wanted(process, NULL, t->pid) || member_add(s, ON_HOST, t->tid);
	for (; i < m->nr_processes && sorted[i]->pid == t->pid; i++) {
		uint64_t trace = 1 + (uint64_t)(sorted[i] - m->processes);

		if (!process_entry_wanted(sorted[i], process))
			continue;
		if (!member_add(s, ON_HOST, t->tid) ||
		    !member_add(s, INSIDE(trace), t->ns_tid ? t->ns_tid : t->tid) ||
		    !member_add(s, IN_JAVA(trace), t->java_tid))
			return false;
	}
	return true;
}

static bool threads_add(struct dump_select *s, const struct manifest *m, const char *thread,
			const char *process)
{
	const struct process_entry **sorted = calloc(m->nr_processes + 1ull, sizeof(*sorted));
	bool done = sorted && members_grow(s);

	for (uint32_t i = 0; done && i < m->nr_processes; i++)
		sorted[i] = &m->processes[i];
	if (done)
		qsort(sorted, m->nr_processes, sizeof(*sorted), by_pid);
	for (uint32_t i = 0; done && i < m->nr_threads; i++) {
		const struct thread_entry *t = &m->threads[i];

		if (is_wanted(thread, t->name, t->tid))
			done = thread_add(s, m, sorted, pid_first(sorted, m->nr_processes, t->pid),
					  t, process);
	}
	free(sorted);
	return done;
}

/* Processes ---------------------------------------------------------------------------------- */

/* Without a thread asked for, a process's own streams are its altogether: also what names no
 * thread, as its dictionary, and what threads wrote of which the manifest has nothing. */
static bool processes_add(struct dump_select *s, const struct manifest *m, const char *process)
{
	s->whole = calloc(m->nr_processes + 1ull, sizeof(*s->whole));
	if (!s->whole)
		return false;
	s->nr_traces = m->nr_processes + 1;
	for (uint32_t i = 0; i < m->nr_processes; i++)
		s->whole[1 + i] = process_entry_wanted(&m->processes[i], process);
	return true;
}

/* Fields ------------------------------------------------------------------------------------- */

static bool ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), k = strlen(end);

	return n >= k && !strcmp(name + n - k, end);
}

static void namings_find(struct namings *to, const struct event_info *info)
{
	for (uint32_t i = 0; i < info->nr_fields && to->nr < NAMING_MAX; i++) {
		const struct field_info *f = &info->fields[i];
		bool java = ends_in(f->name, "java_tid");

		/* ns_tid says what the number is inside, and is named beside the host's. */
		if (!ends_in(f->name, "tid") || !strcmp(f->name, "ns_tid") ||
		    f->type != (java ? FIELD_U64 : FIELD_U32))
			continue;
		to->of[to->nr++] = (struct naming){f->offset, java};
	}
}

struct dump_select *dump_select_new(const struct manifest *m, const char *thread,
				    const char *process)
{
	struct dump_select *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->all = !thread && !process;
	if (s->all)
		return s;
	for (uint32_t class = 0; class < JIS_NR_STREAM_CLASSES; class ++) {
		for (uint32_t id = 0; id < JIS_MAX_EVENT_ID; id++) {
			const struct event_info *info = event_info_get(class, id);

			if (info)
				namings_find(&s->namings[class][id], info);
		}
	}
	if (threads_add(s, m, thread, process) && (thread || processes_add(s, m, process)))
		return s;
	dump_select_free(s);
	return NULL;
}

void dump_select_free(struct dump_select *s)
{
	if (s) {
		free(s->members);
		free(s->whole);
	}
	free(s);
}

bool dump_select_has(const struct dump_select *s, const struct stream_cursor *c, uint32_t owner)
{
	bool inside = c->stream_class == JIS_STREAM_USER || c->stream_class == JIS_STREAM_DICT;
	const struct namings *fields;

	if (s->all)
		return true;
	if (s->whole && inside && c->trace < s->nr_traces && s->whole[c->trace])
		return true;
	if (c->stream_class == JIS_STREAM_USER && is_member(s, INSIDE(c->trace), owner))
		return true;
	if (c->stream_class >= JIS_NR_STREAM_CLASSES || c->id >= JIS_MAX_EVENT_ID)
		return false;
	fields = &s->namings[c->stream_class][c->id];
	for (uint32_t i = 0; i < fields->nr; i++) {
		const uint8_t *p = c->payload + fields->of[i].offset;
		uint64_t number = 0, place = inside ? INSIDE(c->trace) : ON_HOST;

		memcpy(&number, p, fields->of[i].java ? sizeof(uint64_t) : sizeof(uint32_t));
		if (fields->of[i].java)
			place = IN_JAVA(c->trace);
		if (is_member(s, place, number))
			return true;
	}
	return false;
}
