/* SPDX-License-Identifier: MIT */
/*
 * `jis report`: where in the program threads waited, of waits with a stack, and started others.
 */
#include "report_places.h"

#include <inttypes.h>

#include "cli.h"
#include "report_links.h"
#include "trace/json_text.h"

static int print_starts(const struct model *model, const struct report *r, uint32_t limit)
{
	struct report_start_place *places;
	int n = report_start_places(model, r, &places);

	if (n < 0)
		return n;
	if (n)
		printf("\n%10s  %s\n", "started",
		       "place in the program that started threads; by: threads");
	for (int i = 0; i < n && (!limit || (uint32_t)i < limit); i++) {
		printf("%10" PRIu64 "  ", places[i].count);
		cli_print_escaped(stdout, places[i].place);
		for (int k = 0; k < REPORT_OWNERS && places[i].by[k].count; k++) {
			fputs(k ? ", " : "; by ", stdout);
			link_print_who(model, &places[i].by[k].by);
			printf(" (%" PRIu64 ")", places[i].by[k].count);
		}
		putchar('\n');
	}
	report_start_places_free(places, (uint32_t)n);
	return 0;
}

int report_print_places(const struct model *model, const struct report *r, uint32_t limit)
{
	struct report_place *places;
	int n = report_places(model, r, &places);
	char longest[32];

	if (n < 0)
		return n;
	if (n)
		printf("\n%10s %12s %12s %10s  %s\n", "waits", "in work ms", "time ms", "longest",
		       "place in the program, of waits with a stack");
	for (int i = 0; i < n && (!limit || (uint32_t)i < limit); i++) {
		const struct report_place *p = &places[i];

		printf("%10" PRIu64 " %12.3f %12.3f %10s  %s ", p->count,
		       (double)p->work_time / 1e6, (double)p->time / 1e6,
		       cli_format_ns(longest, sizeof(longest), p->longest),
		       model_reason_name(p->kind));
		if (p->class_name) {
			cli_print_escaped(stdout, model_name(model, p->class_name));
			putchar(' ');
		}
		fputs("in ", stdout);
		cli_print_escaped(stdout, p->place);
		if (p->pinned)
			printf("; pinned %.3f ms", (double)p->pinned / 1e6);
		putchar('\n');
	}
	if (r->counts.stacks_left_out)
		printf("%10" PRIu64
		       " more waits were as long, and have no stack: too many a second\n",
		       r->counts.stacks_left_out);
	report_places_free(places, (uint32_t)n);
	return print_starts(model, r, limit);
}

static struct json_object *place_object(const struct model *model, const struct report_place *p)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "reason", json_text(model_reason_name(p->kind)));
	json_object_object_add(o, "class", json_text(model_name(model, p->class_name)));
	json_object_object_add(o, "place", json_text(p->place));
	json_object_object_add(o, "count", json_object_new_uint64(p->count));
	json_object_object_add(o, "time", json_object_new_uint64(p->time));
	json_object_object_add(o, "work_time", json_object_new_uint64(p->work_time));
	json_object_object_add(o, "pinned", json_object_new_uint64(p->pinned));
	json_object_object_add(o, "longest", json_object_new_uint64(p->longest));
	return o;
}

static void json_starts(struct json_object *root, const struct model *model, const struct report *r)
{
	struct json_object *list = json_object_new_array();
	struct report_start_place *places;
	int n = report_start_places(model, r, &places);

	for (int i = 0; i < n; i++) {
		struct json_object *o = json_object_new_object(), *by = json_object_new_array();

		json_object_object_add(o, "place", json_text(places[i].place));
		json_object_object_add(o, "count", json_object_new_uint64(places[i].count));
		for (int k = 0; k < REPORT_OWNERS && places[i].by[k].count; k++) {
			const struct report_starter *s = &places[i].by[k];
			struct json_object *who = link_who_json(model, &s->by);

			json_object_object_add(who, "count", json_object_new_uint64(s->count));
			json_object_array_add(by, who);
		}
		json_object_object_add(o, "by", by);
		json_object_array_add(list, o);
	}
	report_start_places_free(places, n > 0 ? (uint32_t)n : 0);
	json_object_object_add(root, "starts", list);
}

void report_json_places(struct json_object *root, const struct model *model, const struct report *r)
{
	struct json_object *list = json_object_new_array();
	struct report_place *places;
	int n = report_places(model, r, &places);

	for (int i = 0; i < n; i++)
		json_object_array_add(list, place_object(model, &places[i]));
	report_places_free(places, n > 0 ? (uint32_t)n : 0);
	json_object_object_add(root, "places", list);
	json_starts(root, model, r);
}
