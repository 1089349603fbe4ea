/* SPDX-License-Identifier: MIT */
/*
 * Why a thread is in its state: a state value each reason of waiting, and events that name the
 * object, its owner, the peer, the system call. What is the same for many states (what a thread
 * runs) is written when it changes only.
 */
#include <inttypes.h>

#include "prv_int.h"

#define NR_CALLS 512u /* of one kind, in values: own calls, then 32-bit ones */

/* Colours by what is waited for: locks red, the VM violet, network blue, files brown, other green.
 */
static const char *const colours[MODEL_NR_REASONS] = {
	[MODEL_WAIT_MONITOR] = "{220,0,0}",	   [MODEL_WAIT_OBJECT] = "{255,130,130}",
	[MODEL_WAIT_PARK] = "{255,0,140}",	   [MODEL_WAIT_SLEEP] = "{190,220,190}",
	[MODEL_WAIT_JOIN] = "{200,100,100}",	   [MODEL_WAIT_SOCKET_READ] = "{0,190,200}",
	[MODEL_WAIT_SOCKET_WRITE] = "{0,130,160}", [MODEL_WAIT_ACCEPT] = "{130,220,230}",
	[MODEL_WAIT_CONNECT] = "{0,90,130}",	   [MODEL_WAIT_POLL] = "{90,200,170}",
	[MODEL_WAIT_FILE] = "{172,174,41}",	   [MODEL_WAIT_PIPE] = "{140,170,90}",
	[MODEL_WAIT_EVENTFD] = "{120,190,120}",	   [MODEL_WAIT_DISK] = "{150,100,30}",
	[MODEL_WAIT_PAGE_FAULT] = "{110,60,20}",   [MODEL_WAIT_MEMORY] = "{180,140,90}",
	[MODEL_WAIT_TIMER] = "{170,210,170}",	   [MODEL_WAIT_PROCESS] = "{100,140,100}",
	[MODEL_WAIT_SIGNAL] = "{60,110,60}",	   [MODEL_WAIT_GC] = "{150,0,255}",
	[MODEL_WAIT_SAFEPOINT] = "{190,110,255}",  [MODEL_WAIT_VM] = "{110,40,170}",
	[MODEL_WAIT_VM_IDLE] = "{225,210,245}",	   [MODEL_WAIT_FUTEX] = "{255,160,60}",
	[MODEL_WAIT_STOPPED] = "{60,60,60}",	   [MODEL_WAIT_EXIT] = "{230,230,230}",
	[MODEL_WAIT_SYSCALL] = "{0,120,60}",	   [MODEL_WAIT_UNMOUNTED] = "{150,200,150}",
	[MODEL_WAIT_POOL] = "{205,225,205}",
};

int64_t call_value(struct paraver *p, int32_t nr)
{
	uint32_t index = (uint32_t)nr & ~(uint32_t)JIS_SYSCALL_COMPAT;

	p->used_call = true;
	if (nr < 0 || index >= NR_CALLS)
		return 2 * NR_CALLS + 1;
	if ((uint32_t)nr & JIS_SYSCALL_COMPAT)
		index += NR_CALLS;
	p->calls[index / 8] |= (uint8_t)(1u << index % 8);
	return index + 1;
}

/* An event at @begin, and its end. */
static int pair(struct paraver *p, const struct prv_row *row, uint32_t type, int64_t value,
		uint64_t begin, uint64_t end)
{
	int err = event_line(p, row, 0, begin, type, value);

	return err ? err : event_line(p, row, 0, end, type, 0);
}

/* The row of who had the object, from 1; one more than there are: it has none. */
static int64_t owner_value(const struct paraver *p, const struct model_reason *r)
{
	uint32_t row = NONE;

	if (r->owner_vthread != MODEL_NO_THREAD)
		row = p->vrow_of[r->owner_vthread];
	else if (r->owner != MODEL_NO_THREAD)
		row = p->row_of[r->owner];
	else if (!r->owner_java_tid)
		return 0;
	return row == NONE ? p->nr_rows + 1 : row + 1;
}

int reason_events(struct paraver *p, struct prv_row *row, const struct model_reason *r,
		  uint64_t begin, uint64_t end)
{
	int64_t owner;
	int err = 0;

	if (end <= begin)
		return 0;
	if (r->class_name) {
		p->used_object = true;
		err = pair(p, row, PARAVER_TYPE_OBJECT, r->class_name, begin, end);
		if (!err)
			err = pair(p, row, PARAVER_TYPE_HASH, r->hash, begin, end);
	}
	owner = r->from_java ? owner_value(p, r) : 0;
	if (owner && !err) {
		p->used_owner = true;
		err = pair(p, row, PARAVER_TYPE_OWNER, owner, begin, end);
	}
	if (r->name && !err) {
		p->used_peer = true;
		err = pair(p, row, PARAVER_TYPE_PEER, r->name, begin, end);
	}
	if (r->pinned && !err) {
		p->used_pinned = true;
		err = pair(p, row, PARAVER_TYPE_PINNED, 1, begin, end);
	}
	return err;
}

int prv_wait(void *ctx, const struct model_wait *w)
{
	struct paraver *p = ctx;
	uint64_t begin = w->begin < p->info->begin ? p->info->begin : w->begin;
	uint64_t end = w->end > p->info->end ? p->info->end : w->end;
	uint32_t row = p->row_of[w->thread], other = NONE;
	int64_t value;

	/* A CPU that is about to leave idle is behind nobody: that is most wake-ups. */
	if (row == NONE || end <= begin || w->occupant == MODEL_CPU_IDLE)
		return 0;
	if (w->occupant == MODEL_CPU_TARGET)
		other = p->row_of[w->occupant_index];
	value = other == NONE ? p->nr_rows + 1ll : other + 1ll;
	p->used_behind = true;
	return pair(p, &p->rows[row], PARAVER_TYPE_BEHIND, value, begin - p->info->begin,
		    end - p->info->begin);
}

int prv_steal(void *ctx, const struct model_steal *s)
{
	struct paraver *p = ctx;
	uint32_t row = s->thread != MODEL_NO_THREAD ? p->row_of[s->thread] : NONE;

	if (row == NONE || !s->stolen || s->time < p->info->begin || s->time > p->info->end)
		return 0;
	p->used_stolen = true;
	return event_line(p, &p->rows[row], s->cpu + 1, s->time - p->info->begin,
			  PARAVER_TYPE_STOLEN, (int64_t)s->stolen);
}

int run_event(struct paraver *p, struct prv_row *row, enum model_reason_kind kind, uint64_t begin)
{
	/* System calls have events of their own. */
	if (kind == MODEL_RUN_SYSCALL)
		return 0;
	row->run = (uint8_t)kind;
	p->used_run = true;
	return event_line(p, row, 0, begin, PARAVER_TYPE_RUN, kind);
}

/* Labels ------------------------------------------------------------------------------------- */

void reasons_states(const struct paraver *p, FILE *f, bool colour)
{
	if (p->info->nr_vthreads) {
		fprintf(f, "%d %s\n", PARAVER_TO_MOUNT,
			colour ? "{255,220,120}" : "Virtual, ready to be mounted");
		fprintf(f, "%d %s\n", PARAVER_CARRIED,
			colour ? "{60,120,255}" : "Virtual, runs on its carrier");
		fprintf(f, "%d %s\n", PARAVER_CARRIER_READY,
			colour ? "{255,170,60}" : "Virtual, its carrier waits for a CPU");
	}
	for (int i = MODEL_WAIT_UNKNOWN + 1; i < MODEL_NR_REASONS; i++) {
		if (!p->used_reasons[i])
			continue;
		fprintf(f, "%d ", PARAVER_WAIT + i - MODEL_WAIT_UNKNOWN);
		if (colour)
			fprintf(f, "%s\n", colours[i]);
		else
			fprintf(f, "Blocked: %s\n", model_reason_name((enum model_reason_kind)i));
	}
}

static void write_rows(const struct paraver *p, FILE *f)
{
	if (!p->used_owner && !p->used_mounted && !p->used_socket_taken && !p->used_behind)
		return;
	fputs("\nEVENT_TYPE\n", f);
	if (p->used_owner)
		fprintf(f, "0 %d Owner when the wait began\n", PARAVER_TYPE_OWNER);
	if (p->used_mounted)
		fprintf(f, "0 %d Virtual thread on this carrier\n", PARAVER_TYPE_MOUNTED);
	if (p->used_socket_taken)
		fprintf(f, "0 %d Connection being taken over from\n", PARAVER_TYPE_SOCKET_FROM);
	if (p->used_behind)
		fprintf(f, "0 %d Has the CPU it waits for\n", PARAVER_TYPE_BEHIND);
	fputs("VALUES\n0 none\n", f);
	for (uint32_t i = 0; i < p->nr_rows; i++) {
		fprintf(f, "%" PRIu32 " ", i + 1);
		row_label(p, i, f);
		fputc('\n', f);
	}
	fprintf(f, "%" PRIu32 " a thread that has no row\n", p->nr_rows + 1);
}

static void write_calls(const struct paraver *p, FILE *f)
{
	if (!p->used_call)
		return;
	fprintf(f, "\nEVENT_TYPE\n0 %d System call\nVALUES\n0 none\n", PARAVER_TYPE_SYSCALL);
	for (uint32_t i = 0; i < 2 * NR_CALLS; i++) {
		int32_t nr = (int32_t)(i % NR_CALLS) | (i >= NR_CALLS ? JIS_SYSCALL_COMPAT : 0);
		const char *name;

		if (!(p->calls[i / 8] & 1u << i % 8))
			continue;
		name = model_syscall_name(p->model, nr);
		fprintf(f, "%" PRIu32 " ", i + 1);
		if (name)
			fprintf(f, "%s%s\n", name, i >= NR_CALLS ? " (32-bit)" : "");
		else
			fprintf(f, "call %" PRIu32 "\n", i % NR_CALLS);
	}
	fprintf(f, "%u another\n", 2 * NR_CALLS + 1);
}

void reasons_types(const struct paraver *p, FILE *f)
{
	if (p->used_run) {
		fprintf(f, "\nEVENT_TYPE\n0 %d What it runs\nVALUES\n", PARAVER_TYPE_RUN);
		for (int i = MODEL_RUN; i <= MODEL_RUN_VM_OTHER; i++)
			fprintf(f, "%d %s%s\n", i, model_reason_name((enum model_reason_kind)i),
				i >= MODEL_RUN_JAVA && i <= MODEL_RUN_VM ? " (sampled)" : "");
	}
	if (p->used_object)
		fprintf(f, "\nEVENT_TYPE\n0 %d Identity hash of the object waited for\n",
			PARAVER_TYPE_HASH);
	if (p->used_pinned)
		fprintf(f,
			"\nEVENT_TYPE\n0 %d Pinned\nVALUES\n0 no\n"
			"1 a virtual thread waits and keeps its carrier\n",
			PARAVER_TYPE_PINNED);
	if (p->used_stolen)
		fprintf(f, "\nEVENT_TYPE\n0 %d Taken by the hypervisor, ns\n", PARAVER_TYPE_STOLEN);
	write_rows(p, f);
	write_calls(p, f);
}
