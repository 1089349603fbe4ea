/* SPDX-License-Identifier: MIT */
/* Safepoints, heap, classes, exceptions, allocations and compilations as events. */
#include "prv_int.h"

struct doing_type {
	uint32_t type;
	const char *label;
};

/* Values are names. */
static const struct doing_type named[] = {
	{PARAVER_TYPE_SAFEPOINT, "Safepoint: VM operation"},
	{PARAVER_TYPE_CLASS_LOAD, "Class loaded"},
	{PARAVER_TYPE_CLASS_UNLOAD, "Class unloaded"},
	{PARAVER_TYPE_EXCEPTION, "Exception thrown"},
	{PARAVER_TYPE_EXCEPTION_AT, "Method that throws"},
	{PARAVER_TYPE_ALLOCATION, "Class of a sampled allocation"},
	{PARAVER_TYPE_COMPILED, "Method compiled"},
};

/* Values are numbers. */
static const struct doing_type plain[] = {
	{PARAVER_TYPE_HEAP_USED, "Heap in use (bytes)"},
	{PARAVER_TYPE_HEAP_COMMITTED, "Heap committed (bytes)"},
	{PARAVER_TYPE_ALLOCATION_SIZE, "Size of a sampled allocation (bytes)"},
	{PARAVER_TYPE_COMPILED_SIZE, "Size of compiled code (bytes)"},
};

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

static int put(struct paraver *p, const struct prv_row *row, uint32_t cpu, uint64_t time,
	       uint32_t type, int64_t value)
{
	int err = event_line(p, row, cpu, time, type, value);

	p->used_doings[type - PARAVER_TYPE_SAFEPOINT] = true;
	return err ? err : 1;
}

/* Two that belong together. */
static int put_two(struct paraver *p, const struct prv_row *row, uint32_t cpu, uint64_t time,
		   uint32_t type, int64_t value, uint32_t type2, int64_t value2)
{
	int err = put(p, row, cpu, time, type, value);

	return err < 0 ? err : put(p, row, cpu, time, type2, value2);
}

int doing_events(struct paraver *p, const struct prv_row *row, uint32_t cpu, uint64_t time,
		 const struct model_event *e)
{
	switch (e->kind) {
	case MODEL_EVENT_SAFEPOINT_BEGIN:
		return put_two(p, row, cpu, time, PARAVER_TYPE_SAFEPOINT, e->name,
			       PARAVER_TYPE_SAFEPOINT_PHASE, 1);
	case MODEL_EVENT_SAFEPOINT_REACHED:
		return put(p, row, cpu, time, PARAVER_TYPE_SAFEPOINT_PHASE, 2);
	case MODEL_EVENT_SAFEPOINT_END:
	case MODEL_EVENT_SAFEPOINT_LOST:
		return put_two(p, row, cpu, time, PARAVER_TYPE_SAFEPOINT, 0,
			       PARAVER_TYPE_SAFEPOINT_PHASE, 0);
	case MODEL_EVENT_HEAP_USED:
		return put(p, row, cpu, time, PARAVER_TYPE_HEAP_USED, e->value);
	case MODEL_EVENT_HEAP_COMMITTED:
		return put(p, row, cpu, time, PARAVER_TYPE_HEAP_COMMITTED, e->value);
	case MODEL_EVENT_CLASS_LOAD:
		return put(p, row, cpu, time, PARAVER_TYPE_CLASS_LOAD, e->name);
	case MODEL_EVENT_CLASS_UNLOAD:
		return put(p, row, cpu, time, PARAVER_TYPE_CLASS_UNLOAD, e->name);
	case MODEL_EVENT_EXCEPTION:
		return put_two(p, row, cpu, time, PARAVER_TYPE_EXCEPTION, e->name,
			       PARAVER_TYPE_EXCEPTION_AT, e->place);
	case MODEL_EVENT_ALLOCATION:
		return put_two(p, row, cpu, time, PARAVER_TYPE_ALLOCATION, e->name,
			       PARAVER_TYPE_ALLOCATION_SIZE, e->value);
	case MODEL_EVENT_COMPILATION:
		return put_two(p, row, cpu, time, PARAVER_TYPE_COMPILED, e->name,
			       PARAVER_TYPE_COMPILED_SIZE, e->value);
	default:
		return 0;
	}
}

/* Labels ------------------------------------------------------------------------------------- */

static bool is_used(const struct paraver *p, uint32_t type)
{
	return p->used_doings[type - PARAVER_TYPE_SAFEPOINT];
}

bool doings_named(const struct paraver *p)
{
	for (size_t i = 0; i < LENGTH(named); i++)
		if (is_used(p, named[i].type))
			return true;
	return false;
}

void doings_named_types(const struct paraver *p, FILE *f)
{
	for (size_t i = 0; i < LENGTH(named); i++)
		if (is_used(p, named[i].type))
			fprintf(f, "0 %u %s\n", named[i].type, named[i].label);
}

void doings_types(const struct paraver *p, FILE *f)
{
	for (size_t i = 0; i < LENGTH(plain); i++)
		if (is_used(p, plain[i].type))
			fprintf(f, "\nEVENT_TYPE\n0 %u %s\n", plain[i].type, plain[i].label);
	if (is_used(p, PARAVER_TYPE_SAFEPOINT_PHASE))
		fprintf(f,
			"\nEVENT_TYPE\n0 %d Safepoint: phase\nVALUES\n0 none\n"
			"1 asked for, threads are being stopped\n2 reached\n",
			PARAVER_TYPE_SAFEPOINT_PHASE);
}
