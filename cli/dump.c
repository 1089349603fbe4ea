/* SPDX-License-Identifier: MIT */
/*
 * `jis dump`: every event of a trace in time order, one line each, fields by name; or one stream in
 * file order. Needs no model, so it also shows what the model would not believe.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "dump_calls.h"
#include "dump_fields.h"
#include "dump_select.h"
#include "merger/merge.h"
#include "method_names.h"
#include "trace/event_info.h"
#include "trace/read.h"

static const char usage[] = "jis dump [OPTION]... DIR";
static const char help[] =
	"usage: jis dump [OPTION]... DIR\n\n"
	"Prints all events of the trace in DIR in time order, one a line:\n"
	"  TIME STREAM EVENT { FIELD = VALUE, ... }\n"
	"TIME is in seconds since the recording's start. Damaged intervals are "
	"lines that begin with #.\n\n"
	"      --cycles          times as ticks of the session clock\n"
	"      --raw             numbers as they are recorded, without names\n"
	"      --stream NAME     only this stream, e.g. kernel/cpu-0\n"
	"      --event NAMES     only events of these names, separated by commas\n"
	"      --calls           calls of traced methods, with where their "
	"time went, in place of events\n"
	"      --events          the table of all events, as Markdown; needs no "
	"DIR\n" CLI_READING_HELP;

struct dump {
	struct trace *trace;
	struct clock_scale scale;
	const struct model_options *filter;
	const char *stream;
	bool choosing, chosen[JIS_NR_STREAM_CLASSES][JIS_MAX_EVENT_ID]; /* by --event */
	bool cycles, raw, opened;
	struct dump_select *select;
	struct method_names *names;
	uint32_t *owner; /* per stream: the thread a user stream's records are of */
};

static const char *stream_name(const struct dump *d, const struct stream_cursor *c)
{
	return d->trace->manifest->streams[c - d->trace->streams].path;
}

/* The method of a call, by its number and its name. */
static bool print_method(const struct dump *d, const struct stream_cursor *c,
			 const struct event_info *info, const struct field_info *f)
{
	uint32_t value = field_u32(c->payload + f->offset), number = value & ~JIS_METHOD_UNWOUND;
	const char *name = NULL;

	if (strcmp(f->name, "method"))
		return false;
	if (c->stream_class == JIS_STREAM_USER &&
	    (info->id == JIS_EV_method_enter || info->id == JIS_EV_method_exit ||
	     info->id == JIS_EV_method_value))
		name = method_names_traced(d->names, c->trace, number);
	else if (c->stream_class == JIS_STREAM_DICT && info->id == JIS_EV_method_off)
		name = method_names_traced(d->names, c->trace, number);
	else if (c->stream_class == JIS_STREAM_DICT &&
		 (info->id == JIS_EV_traced_method || info->id == JIS_EV_method_refused))
		name = method_names_def(d->names, c->trace, number);
	else
		return false;
	printf("%" PRIu32, number);
	if (name) {
		fputs(" (", stdout);
		cli_print_escaped(stdout, name);
		putchar(')');
	}
	if (value != number)
		fputs(" unwound", stdout);
	return true;
}

static void print_field(const struct dump *d, const struct stream_cursor *c,
			const struct event_info *info, const struct field_info *f)
{
	const uint8_t *payload = c->payload, *p = payload + f->offset;

	printf("%s = ", f->name);
	if (!d->raw && print_method(d, c, info, f))
		return;
	if (!d->raw && dump_field_print(d->trace->manifest->machine, info, f, payload))
		return;
	switch (f->type) {
	case FIELD_U32:
		printf("%" PRIu32, field_u32(p));
		break;
	case FIELD_S32:
		printf("%" PRId32, (int32_t)field_u32(p));
		break;
	case FIELD_X32:
		printf("0x%" PRIX32, field_u32(p));
		break;
	case FIELD_U64:
		printf("%" PRIu64, field_u64(p));
		break;
	case FIELD_S64:
		printf("%" PRId64, (int64_t)field_u64(p));
		break;
	case FIELD_X64:
		printf("0x%" PRIX64, field_u64(p));
		break;
	case FIELD_STR:
		putchar('"');
		cli_print_escaped(stdout, (const char *)p + sizeof(uint32_t));
		putchar('"');
		break;
	}
}

static void print_time(const struct dump *d, uint64_t ticks)
{
	uint64_t ns;

	if (d->cycles) {
		printf("%020" PRIu64, ticks);
		return;
	}
	ns = clock_scale_ns(&d->scale, ticks);
	printf("%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
}

static void print_event(const struct dump *d, const struct stream_cursor *c,
			const struct event_info *info)
{
	print_time(d, c->time);
	printf(" %s %s {", stream_name(d, c), info->name);
	for (uint32_t i = 0; i < info->nr_fields; i++) {
		if (!d->raw && dump_field_hidden(info, &info->fields[i], c->payload))
			continue;
		fputs(i ? ", " : " ", stdout);
		print_field(d, c, info, &info->fields[i]);
	}
	fputs(" }\n", stdout);
}

static void on_packet(void *ctx, struct stream_cursor *c, const struct jis_packet_header *header)
{
	struct dump *d = ctx;

	trace_note_packet(d->trace, c);
	if (d->owner && c->stream_class == JIS_STREAM_USER)
		d->owner[c - d->trace->streams] = header->owner;
}

static void on_damage(void *ctx, struct stream_cursor *c, uint64_t begin, uint64_t end,
		      uint64_t offset, uint64_t length, const char *reason)
{
	struct dump *d = ctx;

	/* Files that cannot be opened are told when all others are. */
	if (!d->opened)
		return;
	trace_note_damage(d->trace, c, reason);
	printf("# %s damaged from ", stream_name(d, c));
	print_time(d, begin);
	fputs(" to ", stdout);
	print_time(d, end == TIME_NONE ? d->trace->manifest->end : end);
	printf(": %s (byte %" PRIu64 ", %" PRIu64 " bytes)\n", reason, offset, length);
}

static void dump_one(struct dump *d, const struct stream_cursor *c)
{
	const struct event_info *info = event_info_get(c->stream_class, c->id);
	uint64_t ns = clock_scale_ns(&d->scale, c->time);

	if (c->stream_class == JIS_STREAM_USER && c->id == JIS_EV_thread_bind)
		d->owner[c - d->trace->streams] = field_u32(c->payload);
	method_names_add(d->names, c); /* without memory there is no name */
	if (!info || ns < d->filter->from || (d->filter->to && ns > d->filter->to))
		return;
	if (d->choosing && !d->chosen[c->stream_class][c->id])
		return;
	if (dump_select_has(d->select, c, d->owner[c - d->trace->streams]))
		print_event(d, c, info);
}

static int dump_events(struct dump *d)
{
	struct stream_cursor *c;
	struct merge *merge;
	int err;

	for (uint32_t i = 0; d->stream && i < d->trace->nr_streams; i++) {
		c = &d->trace->streams[i];
		if (strcmp(stream_name(d, c), d->stream))
			continue;
		while (stream_cursor_next(c) && !ferror(stdout))
			dump_one(d, c);
		return 0;
	}
	if (d->stream)
		return -ESRCH;
	err = merge_open(d->trace->streams, d->trace->nr_streams, &merge);
	if (err)
		return err;
	while ((c = merge_next(merge)) && !ferror(stdout))
		dump_one(d, c);
	merge_close(merge);
	return 0;
}

/* Streams of which there will be no line. */
static void print_unread(const struct dump *d)
{
	for (uint32_t i = 0; i < d->trace->nr_streams; i++) {
		struct stream_entry *s = &d->trace->manifest->streams[i];

		if (d->stream && strcmp(d->stream, s->path))
			s->unread = 0; /* not asked for */
		if (!s->unread)
			continue;
		fputs("# ", stdout);
		cli_print_escaped(stdout, s->path);
		printf(" cannot be read: %s\n", cli_unread_reason(s));
	}
}

static int dump_run(struct dump *d, const char *path)
{
	struct stream_observer observer = {.packet = on_packet, .damage = on_damage, .ctx = d};
	int status = CLI_FAILED, err = trace_open(path, &observer, &d->trace);

	if (err)
		return cli_trace_error(path, err);
	d->opened = true;
	clock_scale_init(&d->scale, d->trace->manifest->frequency, d->trace->manifest->begin);
	d->names = method_names_new(1 + d->trace->manifest->nr_processes);
	d->owner = calloc(d->trace->nr_streams + 1ull, sizeof(*d->owner));
	d->select = dump_select_new(d->trace->manifest, d->filter->thread, d->filter->process);
	err = d->names && d->owner && d->select ? 0 : -ENOMEM;
	print_unread(d);
	if (!err)
		err = dump_events(d);
	if (err == -ESRCH)
		cli_error("%s: there is no stream \"%s\" (jis info lists them)", path, d->stream);
	else if (err)
		cli_error("%s: %s", path, strerror(-err));
	else
		status = cli_warn_losses(d->trace->manifest);
	method_names_free(d->names);
	trace_close(d->trace);
	free(d->owner);
	dump_select_free(d->select);
	return status;
}

static const char *field_type_name(enum field_type type)
{
	static const char *const names[] = {"u32", "s32", "x32", "u64", "s64", "x64", "string"};

	return names[type];
}

static int print_event_table(void)
{
	static const char *const classes[] = {"kernel", "recorder", "user", "dictionary"};

	puts("| stream class | id | event | fields |\n|---|---|---|---|");
	for (uint32_t class = 0; class < JIS_NR_STREAM_CLASSES; class ++) {
		for (uint32_t id = 1; id < JIS_MAX_EVENT_ID; id++) {
			const struct event_info *info = event_info_get(class, id);

			if (!info)
				continue;
			printf("| %s | %u | `%s` |", classes[class], id, info->name);
			for (uint32_t i = 0; i < info->nr_fields; i++)
				printf("%s %s `%s`", i ? "," : "",
				       field_type_name(info->fields[i].type), info->fields[i].name);
			puts(" |");
		}
	}
	return CLI_OK;
}

/* Events of the names in @list, separated by commas, are chosen, with those chosen before. False:
 * there is none of a name. */
static bool choose_events(struct dump *d, char *list)
{
	char *save = NULL;

	d->choosing = true;
	if (!list[strspn(list, ",")]) {
		cli_error("--event: no event is named (jis dump --events lists them)");
		return false;
	}
	for (char *name = strtok_r(list, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
		bool found = false;

		for (uint32_t class = 0; class < JIS_NR_STREAM_CLASSES; class ++) {
			for (uint32_t id = 1; id < JIS_MAX_EVENT_ID; id++) {
				const struct event_info *info = event_info_get(class, id);

				if (info && !strcmp(info->name, name))
					found = d->chosen[class][id] = true;
			}
		}
		if (!found) {
			cli_error(
				"--event %s: there is no such event (jis dump --events lists them)",
				name);
			return false;
		}
	}
	return true;
}

int cmd_dump(int argc, char **argv)
{
	static const struct option options[] = {{"cycles", no_argument, NULL, 'c'},
						{"raw", no_argument, NULL, 'r'},
						{"stream", required_argument, NULL, 's'},
						{"event", required_argument, NULL, 'e'},
						{"events", no_argument, NULL, 'E'},
						{"calls", no_argument, NULL, 'C'},
						CLI_READING_OPTIONS,
						{NULL, 0, NULL, 0}};
	struct reading_options reading = {0};
	struct dump d = {.filter = &reading.model};
	const char *path;
	bool calls = false;
	int opt;

	while ((opt = cli_getopt(argc, argv, ":qh", options)) != -1) {
		if (opt == 'h') {
			fputs(help, stdout);
			return CLI_OK;
		}
		if (opt == 'E')
			return print_event_table();
		if (opt == 'C')
			calls = true;
		else if (opt == 'c')
			d.cycles = true;
		else if (opt == 'r')
			d.raw = true;
		else if (opt == 's')
			d.stream = optarg;
		else if (opt == 'e') {
			if (!choose_events(&d, optarg))
				return CLI_USAGE;
		} else if (reading_option(&reading, opt, optarg) != 1)
			return CLI_USAGE;
	}
	path = cli_directory(argc, argv, usage);
	if (!path || !reading_window_valid(&reading))
		return CLI_USAGE;
	if (calls && (d.cycles || d.raw || d.stream || d.choosing)) {
		cli_error(
			"--cycles, --raw, --stream and --event are of events; --calls prints none");
		return CLI_USAGE;
	}
	return calls ? dump_calls(path, &reading.model) : dump_run(&d, path);
}
