/* SPDX-License-Identifier: MIT */
/*
 * `jis report`: safepoints, the heap around collections, classes, exceptions, allocations,
 * compilations, and monitors of which every enter is told.
 */
#include "report_doings.h"

#include <inttypes.h>

#include "cli.h"
#include "trace/json_text.h"

/* Heap and classes --------------------------------------------------------------------------- */

static double mib(uint64_t bytes)
{
	return (double)bytes / (1 << 20);
}

static void print_processes(const struct report *r)
{
	for (uint32_t i = 0; i < r->info->nr_processes; i++) {
		const struct report_heap *h = &r->heaps[i];
		const struct report_classes *c = &r->classes[i];

		if (!h->count && !c->loaded && !c->unloaded)
			continue;
		fputs("\n", stdout);
		cli_print_escaped(stdout, process_entry_name(&r->info->processes[i]));
		printf(" [%" PRIu32 "]:", r->info->processes[i].pid);
		if (h->count)
			printf(" heap in use at most %.1f MiB before and %.1f MiB after a "
			       "collection, %.1f MiB after the last of %" PRIu64
			       ", %.1f MiB committed, %.1f MiB freed;",
			       mib(h->most_before), mib(h->most_after), mib(h->after), h->count,
			       mib(h->committed), mib(h->freed));
		if (c->loaded || c->unloaded)
			printf(" %" PRIu64 " classes loaded, %" PRIu64 " unloaded", c->loaded,
			       c->unloaded);
		putchar('\n');
	}
}

/* Tables ------------------------------------------------------------------------------------- */

static void print_name(const struct model *model, uint32_t name)
{
	fputs("  ", stdout);
	cli_print_escaped(stdout, name ? model_name(model, name) : "not known");
}

static void print_line(const struct model *model, const struct report_doing *d)
{
	char longest[32], reaching[32];

	switch (d->kind) {
	case REPORT_SAFEPOINT:
		printf("%12.3f %10" PRIu64 " %10s %12.3f %10s", (double)d->amount / 1e6, d->count,
		       cli_format_ns(longest, sizeof(longest), d->longest),
		       (double)d->reaching / 1e6,
		       cli_format_ns(reaching, sizeof(reaching), d->longest_reaching));
		break;
	case REPORT_EXCEPTION:
		printf("%12" PRIu64 " %10" PRIu64, d->count, d->caught);
		break;
	case REPORT_MONITOR:
		printf("%12" PRIu64 " %10" PRIu64 " %8.3f %% %12.3f %10s", d->count, d->contended,
		       d->count ? 100.0 * (double)(d->count - d->contended) / (double)d->count : 0,
		       (double)d->amount / 1e6,
		       cli_format_ns(longest, sizeof(longest), d->longest));
		break;
	default:
		printf("%12" PRIu64 " %10" PRIu64, d->amount, d->count);
		break;
	}
	print_name(model, d->name);
	if (d->place) {
		fputs(" at ", stdout);
		cli_print_escaped(stdout, model_name(model, d->place));
		if (d->line > 0)
			printf(":%" PRId32, d->line);
	}
	putchar('\n');
}

static void print_head(enum report_doing_kind kind)
{
	switch (kind) {
	case REPORT_SAFEPOINT:
		printf("\n%12s %10s %10s %12s %10s  %s\n", "time ms", "count", "longest",
		       "reaching ms", "longest", "safepoints by VM operation");
		break;
	case REPORT_EXCEPTION:
		printf("\n%12s %10s  %s\n", "exceptions", "caught", "class and place");
		break;
	case REPORT_ALLOCATION:
		printf("\n%12s %10s  %s\n", "bytes", "samples", "class of sampled allocations");
		break;
	case REPORT_COMPILATION:
		printf("\n%12s %10s  %s\n", "bytes", "compiled", "method");
		break;
	case REPORT_MONITOR:
		printf("\n%12s %10s %10s %12s %10s  %s\n", "enters", "contended", "at once",
		       "held ms", "longest", "class of monitor");
		break;
	}
}

void report_print_doings(const struct model *model, const struct report *r, uint32_t limit)
{
	uint32_t of_kind = 0;

	print_processes(r);
	for (uint32_t i = 0; i < r->nr_doings; i++) {
		const struct report_doing *d = &r->doings[i];

		if (!i || d->kind != d[-1].kind) {
			of_kind = 0;
			print_head(d->kind);
		}
		if (!limit || of_kind++ < limit)
			print_line(model, d);
		else if (of_kind == limit + 1)
			printf("%*s... and more (--limit 0 shows all)\n", 24, "");
	}
}

/* JSON --------------------------------------------------------------------------------------- */

static void put(struct json_object *o, const char *name, uint64_t value)
{
	json_object_object_add(o, name, json_object_new_uint64(value));
}

static struct json_object *doing_object(const struct model *model, const struct report_doing *d)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "name", json_text(model_name(model, d->name)));
	put(o, "count", d->count);
	switch (d->kind) {
	case REPORT_SAFEPOINT:
		put(o, "time", d->amount);
		put(o, "longest", d->longest);
		put(o, "reaching", d->reaching);
		put(o, "longest_reaching", d->longest_reaching);
		break;
	case REPORT_MONITOR:
		put(o, "contended", d->contended);
		put(o, "held", d->amount);
		put(o, "longest", d->longest);
		break;
	case REPORT_EXCEPTION:
		put(o, "caught", d->caught);
		json_object_object_add(o, "method", json_text(model_name(model, d->place)));
		json_object_object_add(o, "line", json_object_new_int(d->line));
		break;
	default:
		put(o, "bytes", d->amount);
		break;
	}
	return o;
}

void report_json_doings(struct json_object *root, const struct model *model, const struct report *r)
{
	static const char *const names[] = {"safepoints", "exceptions", "allocations",
					    "compilations", "monitors"};
	struct json_object *lists[5];

	for (int i = 0; i < 5; i++) {
		lists[i] = json_object_new_array();
		json_object_object_add(root, names[i], lists[i]);
	}
	for (uint32_t i = 0; i < r->nr_doings; i++)
		json_object_array_add(lists[r->doings[i].kind], doing_object(model, &r->doings[i]));
}

void report_json_process_doings(struct json_object *process, const struct report *r, uint32_t i)
{
	const struct report_heap *h = &r->heaps[i];
	struct json_object *heap = json_object_new_object();

	put(heap, "collections", h->count);
	put(heap, "most_before", h->most_before);
	put(heap, "most_after", h->most_after);
	put(heap, "last_after", h->after);
	put(heap, "committed", h->committed);
	put(heap, "freed", h->freed);
	json_object_object_add(process, "heap", heap);
	put(process, "classes_loaded", r->classes[i].loaded);
	put(process, "classes_unloaded", r->classes[i].unloaded);
}
