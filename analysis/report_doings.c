/* SPDX-License-Identifier: MIT */
/*
 * Sums over safepoints by operation, exceptions by class and place, allocation samples by class,
 * compilations by method, monitors by class; the heap and classes by process.
 */
#include "report_doings.h"

#include <errno.h>
#include <stdlib.h>

struct doing {
	struct doing_key {
		uint32_t kind, name, place, line;
	} key;
	struct report_doing sum;
};

int doings_begin(struct doings_run *r, const struct model_info *info)
{
	r->info = info;
	r->tally =
		(struct tally){.size = sizeof(struct doing), .key_size = sizeof(struct doing_key)};
	r->open = calloc(info->nr_processes + 1ull, sizeof(*r->open));
	r->heaps = calloc(info->nr_processes + 1ull, sizeof(*r->heaps));
	r->classes = calloc(info->nr_processes + 1ull, sizeof(*r->classes));
	return r->open && r->heaps && r->classes ? 0 : -ENOMEM;
}

static struct report_doing *doing_get(struct doings_run *r, enum report_doing_kind kind,
				      uint32_t name, uint32_t place, int32_t line)
{
	struct doing_key key = {kind, name, place, (uint32_t)line};
	struct doing *d = tally_get(&r->tally, &key);

	return d ? &d->sum : NULL;
}

static int on_safepoint(struct doings_run *r, const struct model_event *e)
{
	struct doings_open *open = &r->open[e->process];
	struct report_doing *d;
	uint64_t time, reach;

	if (e->kind == MODEL_EVENT_SAFEPOINT_BEGIN) {
		*open = (struct doings_open){true, e->name, e->time, e->time};
		return 0;
	}
	if (!open->open)
		return 0;
	if (e->kind == MODEL_EVENT_SAFEPOINT_REACHED) {
		open->reached = e->time;
		return 0;
	}
	open->open = false;
	if (e->kind == MODEL_EVENT_SAFEPOINT_LOST)
		return 0;
	d = doing_get(r, REPORT_SAFEPOINT, open->name, 0, 0);
	if (!d)
		return -ENOMEM;
	time = e->time - open->begin;
	reach = open->reached - open->begin;
	d->count++;
	d->amount += time;
	d->reaching += reach;
	if (time > d->longest)
		d->longest = time;
	if (reach > d->longest_reaching)
		d->longest_reaching = reach;
	return 0;
}

static void on_heap(struct report_heap *h, const struct model_event *e)
{
	uint64_t bytes = (uint64_t)e->value;

	if (e->kind == MODEL_EVENT_HEAP_COMMITTED) {
		h->committed = bytes;
		return;
	}
	if (e->type) {
		h->after = bytes;
		h->count++;
		if (h->before > bytes)
			h->freed += h->before - bytes;
		if (bytes > h->most_after)
			h->most_after = bytes;
		return;
	}
	h->before = bytes;
	if (bytes > h->most_before)
		h->most_before = bytes;
}

static int on_counted(struct doings_run *r, enum report_doing_kind kind,
		      const struct model_event *e)
{
	bool thrown = kind == REPORT_EXCEPTION;
	struct report_doing *d =
		doing_get(r, kind, e->name, thrown ? e->place : 0, thrown ? (int32_t)e->value : 0);

	if (!d)
		return -ENOMEM;
	d->count++;
	if (thrown)
		d->caught += e->type != 0;
	else
		d->amount += (uint64_t)e->value;
	return 0;
}

static int on_monitor(struct doings_run *r, const struct model_event *e)
{
	struct report_doing *d = doing_get(r, REPORT_MONITOR, e->name, 0, 0);

	if (!d)
		return -ENOMEM;
	if (e->kind == MODEL_EVENT_MONITOR_ENTER) {
		d->count++;
		d->contended += e->type;
		return 0;
	}
	d->amount += (uint64_t)e->value;
	if ((uint64_t)e->value > d->longest)
		d->longest = (uint64_t)e->value;
	return 0;
}

int doings_event(struct doings_run *r, const struct model_event *e)
{
	switch (e->kind) {
	case MODEL_EVENT_SAFEPOINT_BEGIN:
	case MODEL_EVENT_SAFEPOINT_REACHED:
	case MODEL_EVENT_SAFEPOINT_END:
	case MODEL_EVENT_SAFEPOINT_LOST:
		return on_safepoint(r, e);
	case MODEL_EVENT_HEAP_USED:
	case MODEL_EVENT_HEAP_COMMITTED:
		on_heap(&r->heaps[e->process], e);
		return 0;
	case MODEL_EVENT_CLASS_LOAD:
		r->classes[e->process].loaded++;
		return 0;
	case MODEL_EVENT_CLASS_UNLOAD:
		r->classes[e->process].unloaded++;
		return 0;
	case MODEL_EVENT_EXCEPTION:
		return on_counted(r, REPORT_EXCEPTION, e);
	case MODEL_EVENT_ALLOCATION:
		return on_counted(r, REPORT_ALLOCATION, e);
	case MODEL_EVENT_MONITOR_ENTER:
	case MODEL_EVENT_MONITOR_EXIT:
		return on_monitor(r, e);
	case MODEL_EVENT_COMPILATION:
		return on_counted(r, REPORT_COMPILATION, e);
	default:
		return 0;
	}
}

/* By kind; safepoints and monitors by time, allocations and code by bytes, exceptions by number. */
static int compare(const void *a, const void *b)
{
	const struct report_doing *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->amount != y->amount)
		return x->amount > y->amount ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

int doings_end(struct doings_run *r, struct report *report)
{
	const struct doing *items = r->tally.items;
	struct report_doing *out = calloc(r->tally.nr + 1ull, sizeof(*out));

	report->heaps = r->heaps;
	report->classes = r->classes;
	report->doings = out;
	if (!out)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->tally.nr; i++) {
		out[i] = items[i].sum;
		out[i].kind = (enum report_doing_kind)items[i].key.kind;
		out[i].name = items[i].key.name;
		out[i].place = items[i].key.place;
		out[i].line = (int32_t)items[i].key.line;
	}
	qsort(out, r->tally.nr, sizeof(*out), compare);
	report->nr_doings = r->tally.nr;
	return 0;
}

void doings_fini(struct doings_run *r)
{
	tally_fini(&r->tally);
	free(r->open);
	free(r->heaps);
	free(r->classes);
}
