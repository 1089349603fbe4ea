/* SPDX-License-Identifier: MIT */
/*
 * What users call processes. A name is known before its process has written anything, or even run,
 * and may be all there is of it in a manifest of a recording that goes on; `jis recover` finds it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proc.h"
#include "recorder_private.h"

static struct recorder_name *name_new(struct recorder *r)
{
	struct recorder_name *more = realloc(r->names_given, (r->nr_names + 1) * sizeof(*more));

	if (!more)
		return NULL;
	r->names_given = more;
	return &more[r->nr_names++];
}

static struct recorder_name *name_find(const struct recorder *r, uint32_t pid, uint64_t start_time)
{
	for (uint32_t i = r->nr_names; i--;)
		if (r->names_given[i].pid == pid && r->names_given[i].start_time == start_time)
			return &r->names_given[i];
	return NULL;
}

int recorder_process_name(struct recorder *r, uint32_t pid, const char *name)
{
	struct proc_stat st = {.comm = ""};
	struct recorder_name *n;

	proc_stat_read((pid_t)pid, (pid_t)pid, &st);
	n = name_find(r, pid, st.start_time);
	if (!n)
		n = name_new(r);
	if (!n)
		return -ENOMEM;
	memset(n, 0, sizeof(*n));
	n->pid = pid;
	n->start_time = st.start_time;
	snprintf(n->comm, sizeof(n->comm), "%s", st.comm);
	snprintf(n->name, sizeof(n->name), "%s", name);
	for (struct recorder_process *p = r->processes; p; p = p->next)
		if (p->pid == pid && p->start_time == st.start_time)
			snprintf(p->given_name, sizeof(p->given_name), "%s", name);
	r->manifest_dirty = true;
	return 0;
}

int recorder_names_copy(struct recorder *into, const struct recorder *from)
{
	struct recorder_name *n;

	for (uint32_t i = 0; i < from->nr_names; i++) {
		n = name_new(into);
		if (!n)
			return -ENOMEM;
		*n = from->names_given[i];
	}
	return 0;
}

const char *recorder_name_of(const struct recorder *r, uint32_t pid, uint64_t start_time)
{
	const struct recorder_name *n = name_find(r, pid, start_time);

	return n ? n->name : NULL;
}

/* To the processes without a directory; those with one had their name when they got it. Returns
 * whether the manifest knows the process at all. */
static bool name_give(struct manifest *m, const struct recorder_name *n)
{
	bool known = false;

	for (uint32_t i = 0; i < m->nr_processes; i++) {
		struct process_entry *e = &m->processes[i];

		/* A pid may come again; not all entries tell since when they were. */
		if (e->pid != n->pid ||
		    (e->start_time && n->start_time && e->start_time != n->start_time))
			continue;
		known = true;
		if (!e->directory && !e->given_name)
			e->given_name = strdup(n->name);
	}
	return known;
}

int recorder_names_fill(const struct recorder *r, struct manifest *m, bool complete)
{
	struct process_entry *grown;

	for (uint32_t i = 0; i < r->nr_names; i++) {
		const struct recorder_name *n = &r->names_given[i];

		/* In the end the table of threads has all processes that there were. */
		if (name_give(m, n) || complete)
			continue;
		grown = realloc(m->processes, (m->nr_processes + 1) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		m->processes = grown;
		grown[m->nr_processes++] = (struct process_entry){.pid = n->pid,
								  .start_time = n->start_time,
								  .name = strdup(n->comm),
								  .given_name = strdup(n->name)};
	}
	return 0;
}
