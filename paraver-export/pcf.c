/* SPDX-License-Identifier: MIT */
/*
 * X.pcf: labels and colours of states and events, and the map from marker types to Paraver's. Only
 * types that occur are listed, all with small numbers: Paraver reads them as 32 bit signed.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "prv_int.h"

static const struct {
	int value;
	const char *label, *colour;
} states[] = {
	{PARAVER_IDLE, "Idle", "{117,195,255}"},
	{PARAVER_RUNNING, "Running", "{0,0,255}"},
	{PARAVER_NOT_CREATED, "Not created or exited", "{255,255,255}"},
	{PARAVER_READY, "Ready, waits for a CPU", "{255,255,0}"},
	{PARAVER_BLOCKED, "Blocked", "{0,162,0}"},
	{PARAVER_UNKNOWN, "Unknown", "{128,128,128}"},
	{PARAVER_CPU_OTHER, "CPU held by a thread that was not traced", "{210,180,140}"},
	{PARAVER_CPU_TARGET, "CPU held by a traced thread", "{70,70,200}"},
	{PARAVER_THROTTLED, "Ready, but the cgroup's CPU quota is used up", "{255,105,0}"},
};

int markers_init(struct paraver *p)
{
	p->low_used = calloc(LOW_TYPES / 8 + 1, 1);
	p->marker_types = calloc(HIGH_TYPES, sizeof(*p->marker_types));
	p->marker_table = calloc(1u << HIGH_TABLE_BITS, sizeof(*p->marker_table));
	return p->low_used && p->marker_types && p->marker_table ? 0 : -ENOMEM;
}

void markers_fini(struct paraver *p)
{
	free(p->low_used);
	free(p->marker_types);
	free(p->marker_table);
}

uint32_t marker_type(struct paraver *p, uint32_t type)
{
	uint32_t slot;

	if (type < LOW_TYPES) {
		p->low_used[type / 8] |= 1u << type % 8;
		return PARAVER_TYPE_MARKER + type;
	}
	slot = type * 0x9e3779b1u >> (32 - HIGH_TABLE_BITS);
	while (p->marker_table[slot]) {
		if (p->marker_types[p->marker_table[slot] - 1] == type)
			return PARAVER_TYPE_MARKER_HIGH + p->marker_table[slot] - 1;
		slot = (slot + 1) & ((1u << HIGH_TABLE_BITS) - 1);
	}
	if (p->nr_high == HIGH_TYPES) {
		p->rest_used = true;
		return PARAVER_TYPE_MARKER_REST;
	}
	p->marker_types[p->nr_high] = type;
	p->marker_table[slot] = p->nr_high + 1;
	return PARAVER_TYPE_MARKER_HIGH + p->nr_high++;
}

static void event_type(FILE *f, uint32_t type, const char *label)
{
	fprintf(f, "\nEVENT_TYPE\n0 %" PRIu32 " %s\n", type, label);
}

static void value(FILE *f, uint32_t number, const char *label)
{
	fprintf(f, "%" PRIu32 " ", number);
	label_write(f, label && *label ? label : "(no text)");
	fputc('\n', f);
}

static void write_names(const struct paraver *p, FILE *f)
{
	if (!p->used_span && !p->used_name && !p->used_exec && !p->used_object && !p->used_peer &&
	    !p->used_task && !doings_named(p) && !p->used_lock_taken && !p->used_remote)
		return;
	fputs("\nEVENT_TYPE\n", f);
	if (p->used_span)
		fprintf(f, "0 %d Span\n", PARAVER_TYPE_SPAN);
	if (p->used_name)
		fprintf(f, "0 %d Name of the thread\n", PARAVER_TYPE_NAME);
	if (p->used_exec)
		fprintf(f, "0 %d Program executed\n", PARAVER_TYPE_EXEC);
	if (p->used_object)
		fprintf(f, "0 %d Class of the object waited for\n", PARAVER_TYPE_OBJECT);
	if (p->used_peer)
		fprintf(f, "0 %d Peer or file waited for, VM operation of a stop\n",
			PARAVER_TYPE_PEER);
	if (p->used_task)
		fprintf(f, "0 %d Task of an executor\n0 %d Pool of the task\n", PARAVER_TYPE_TASK,
			PARAVER_TYPE_POOL);
	if (p->used_remote)
		fprintf(f, "0 %d Remote method called\n0 %d Remote method served\n",
			PARAVER_TYPE_REMOTE_CALL, PARAVER_TYPE_REMOTE_SERVED);
	doings_named_types(p, f);
	if (p->used_lock_taken)
		fprintf(f, "0 %d Class of the lock or signal being taken over\n",
			PARAVER_TYPE_LOCK_TAKEN);
	fputs("VALUES\n0 none\n", f);
	for (uint32_t i = 1; i <= model_nr_names(p->model); i++)
		value(f, i, model_name(p->model, i));
}

static void write_cpu_threads(const struct paraver *p, FILE *f)
{
	const struct manifest *man = p->info->manifest;

	if (!p->nr_cpu_rows || !p->info->waits_known)
		return;
	event_type(f, PARAVER_TYPE_CPU_THREAD, "Thread on this CPU (tid)");
	fputs("VALUES\n0 none, or not known\n", f);
	for (uint32_t i = 0; i < man->nr_foreigners; i++) {
		if (man->foreigners[i].tid <= INT32_MAX)
			value(f, man->foreigners[i].tid, man->foreigners[i].comm);
	}
	for (uint32_t i = 0; i < man->nr_threads; i++) {
		const struct thread_entry *e = &man->threads[i];

		if (e->tid <= INT32_MAX)
			value(f, e->tid, e->name ? e->name : e->comm);
	}
}

static void write_markers(const struct paraver *p, FILE *f)
{
	for (uint32_t i = 0; i < LOW_TYPES; i++) {
		if (p->low_used[i / 8] & 1u << i % 8)
			fprintf(f, "\nEVENT_TYPE\n0 %" PRIu32 " Marker %" PRIu32 "\n",
				PARAVER_TYPE_MARKER + i, i);
	}
	for (uint32_t i = 0; i < p->nr_high; i++)
		fprintf(f, "\nEVENT_TYPE\n0 %" PRIu32 " Marker %" PRIu32 "\n",
			PARAVER_TYPE_MARKER_HIGH + i, p->marker_types[i]);
	if (p->rest_used)
		event_type(f, PARAVER_TYPE_MARKER_REST, "Markers of all other types");
}

int pcf_write(const struct paraver *p, FILE *f)
{
	fputs("DEFAULT_OPTIONS\n\nLEVEL THREAD\nUNITS NANOSEC\nLOOK_BACK 100\nSPEED 1\n"
	      "FLAG_ICONS ENABLED\nNUM_OF_STATE_COLORS 1000\nYMAX_SCALE 37\n\n"
	      "DEFAULT_SEMANTIC\n\nTHREAD_FUNC State As Is\n\nSTATES\n",
	      f);
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		fprintf(f, "%d %s\n", states[i].value, states[i].label);
	reasons_states(p, f, false);
	fputs("\nSTATES_COLOR\n", f);
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		fprintf(f, "%d %s\n", states[i].value, states[i].colour);
	reasons_states(p, f, true);
	event_type(f, PARAVER_TYPE_BLOCKED, "Kind of wait");
	fputs("VALUES\n0 none, or interruptible\n2 uninterruptible\n3 stopped\n", f);
	event_type(f, PARAVER_TYPE_GC, "Garbage collection");
	fputs("VALUES\n0 none\n1 collection, the JVM stands still\n", f);
	if (p->used_phase) {
		event_type(f, PARAVER_TYPE_VM_PHASE, "Phase of the JVM");
		fputs("VALUES\n1 started\n2 initialised\n3 ended\n", f);
	}
	reasons_types(p, f);
	doings_types(p, f);
	links_types(p, f);
	calls_types(p, f);
	write_names(p, f);
	write_cpu_threads(p, f);
	write_markers(p, f);
	return ferror(f) ? -EIO : 0;
}
