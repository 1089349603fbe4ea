/* SPDX-License-Identifier: MIT */
/*
 * `jis report`: connections with who served them; hand-overs of locks by class; who handed
 * connections, locks and bytes to whom.
 */
#include "report_links.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli.h"
#include "trace/json_text.h"

#define SHOWN_THREADS 4

static double ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

const char *link_who_text(const struct model *model, const struct model_who *who)
{
	const struct model_info *info = model_info(model);

	if (who->vthread != MODEL_NO_THREAD)
		return model_name(model, info->vthreads[who->vthread].name);
	return who->thread != MODEL_NO_THREAD ? info->threads[who->thread].entry->name : "?";
}

static void print_who(const struct model *model, const struct model_who *who)
{
	cli_print_escaped(stdout, link_who_text(model, who));
}

void link_print_who(const struct model *model, const struct model_who *who)
{
	print_who(model, who);
	if (who->vthread == MODEL_NO_THREAD && who->thread != MODEL_NO_THREAD)
		printf(" [%u]", model_info(model)->threads[who->thread].entry->tid);
}

struct json_object *link_who_json(const struct model *model, const struct model_who *who)
{
	const struct model_info *info = model_info(model);
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "name", json_text(link_who_text(model, who)));
	if (who->thread != MODEL_NO_THREAD)
		json_object_object_add(o, "tid",
				       json_object_new_uint64(
					       info->threads[who->thread].entry->tid));
	if (who->vthread != MODEL_NO_THREAD)
		json_object_object_add(o, "java_tid",
				       json_object_new_uint64(
					       info->vthreads[who->vthread].java_tid));
	return o;
}

/* Connections -------------------------------------------------------------------------------- */

static void print_sums(const struct report_connections *s)
{
	printf("\nconnections: %" PRIu64 " (%" PRIu64 " accepted, %" PRIu64 " connected, %" PRIu64
	       " there before), %" PRIu64 " closed; %" PRIu64 " bytes in, %" PRIu64 " out\n",
	       s->count, s->origins[MODEL_CONNECTION_ACCEPTED],
	       s->origins[MODEL_CONNECTION_CONNECTED], s->origins[MODEL_CONNECTION_BEFORE],
	       s->closed, s->bytes_in, s->bytes_out);
	printf("requests: %" PRIu64 ", %" PRIu64 " hand-overs to another thread, %" PRIu64
	       " requests without; answers read: %" PRIu64 "; used by several threads: %" PRIu64
	       "\n",
	       s->requests, s->handovers, s->kept, s->answers, s->shared);
	if (s->no_address)
		printf("addresses of %" PRIu64 " are not known: the backend tells none\n",
		       s->no_address);
	if (s->incomplete)
		printf("%" PRIu64
		       " are not complete: records were lost, or they were there before\n",
		       s->incomplete);
}

/* From @from to @to, "-" where either was not seen. */
static void print_span(uint64_t from, uint64_t to)
{
	if (from == TIME_NONE || to == TIME_NONE || to < from)
		printf(" %10s", "-");
	else
		printf(" %10.3f", ms(to - from));
}

static void print_connection(const struct model *model, const struct report_connection *x)
{
	const struct model_connection *c = &x->c;
	const struct process_entry *process = &model_info(model)->processes[c->process];
	char local[MODEL_ADDRESS_ROOM], peer[MODEL_ADDRESS_ROOM];

	model_address_text(c, false, local);
	model_address_text(c, true, peer);
	printf("%12.3f", ms(c->opened));
	print_span(c->opened, c->first_byte);
	print_span(c->opened, c->last_byte);
	print_span(c->opened, c->closed);
	printf(" %10" PRIu64 " %10" PRIu64 " %8" PRIu64 " %8" PRIu64 " %6" PRIu64 "  #%" PRIu64
	       " %s ",
	       c->bytes_in, c->bytes_out, c->calls, c->requests, c->handovers, c->number,
	       model_origin_name(c->origin));
	if (c->family)
		printf("%s %s %s", local, c->origin == MODEL_CONNECTION_CONNECTED ? "->" : "<-",
		       peer);
	else
		printf("descriptor %d", c->fd);
	printf(" [%u]", process->pid);
	if (c->other_end)
		printf(", other end #%" PRIu64, c->other_end);
	for (uint32_t i = 0; i < c->nr_threads && i < SHOWN_THREADS; i++) {
		fputs(i ? ", " : "; by ", stdout);
		print_who(model, &x->threads[i]);
	}
	if (c->nr_threads > SHOWN_THREADS)
		printf(" and %u more", c->nr_threads - SHOWN_THREADS);
	putchar('\n');
}

static void print_connections(const struct model *model, const struct report *r, uint32_t limit)
{
	const struct report_connections *s = r->connections;
	uint32_t shown = limit && limit < s->nr_largest ? limit : s->nr_largest;

	if (!s->count)
		return;
	print_sums(s);
	printf("\n%12s %10s %10s %10s %10s %10s %8s %8s %6s  %s\n", "opened ms", "first byte",
	       "last byte", "closed", "bytes in", "bytes out", "calls", "requests", "handed",
	       "connection (times since it was opened); threads");
	for (uint32_t i = 0; i < shown; i++)
		print_connection(model, &s->largest[i]);
	if (shown < s->count)
		printf("%*s... and %" PRIu64 " more, with fewer bytes\n", 96, "", s->count - shown);
}

/* Links -------------------------------------------------------------------------------------- */

static void print_link(const struct report_link *l)
{
	char mean[32], longest[32];

	printf("%10" PRIu64 " %10s %10s ", l->count,
	       cli_format_ns(mean, sizeof(mean), l->count ? l->time / l->count : 0),
	       cli_format_ns(longest, sizeof(longest), l->longest));
	if (l->kind == MODEL_LINK_SOCKET || l->kind == MODEL_LINK_MESSAGE)
		printf("%12" PRIu64, l->bytes);
	else
		printf("%12s", "");
	printf("  %s ", model_link_name(l->kind));
}

static void print_classes(const struct model *model, const struct report *r, uint32_t limit)
{
	const struct report_links *s = r->links;

	if (!s->nr_classes)
		return;
	printf("\n%10s %10s %10s %12s  %s\n", "hand-overs", "mean", "longest", "",
	       "from the release, or into a queue, to the next owner, by class");
	for (uint32_t i = 0; i < s->nr_classes && (!limit || i < limit); i++) {
		print_link(&s->classes[i]);
		cli_print_escaped(stdout, model_name(model, s->classes[i].class_name));
		putchar('\n');
	}
	if (limit && s->nr_classes > limit)
		printf("%*s... and %u more\n", 47, "", s->nr_classes - limit);
}

/* The most frequent of each kind. */
static void print_pairs(const struct model *model, const struct report *r, uint32_t limit)
{
	const struct report_links *s = r->links;
	uint32_t of_kind = 0;

	if (!s->nr_pairs)
		return;
	printf("\n%10s %10s %10s %12s  %s\n", "links", "mean", "longest", "bytes",
	       "from thread to thread");
	for (uint32_t i = 0; i < s->nr_pairs; i++) {
		const struct report_link *l = &s->pairs[i];

		of_kind = i && s->pairs[i - 1].kind == l->kind ? of_kind + 1 : 0;
		if (limit && of_kind >= limit)
			continue;
		print_link(l);
		link_print_who(model, &l->from);
		fputs(" -> ", stdout);
		link_print_who(model, &l->to);
		putchar('\n');
	}
}

void report_print_links(const struct model *model, const struct report *r, uint32_t limit)
{
	print_connections(model, r, limit);
	print_classes(model, r, limit);
	print_pairs(model, r, limit);
}
