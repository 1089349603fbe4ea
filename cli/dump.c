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
#include "merger/merge.h"
#include "trace/event_info.h"
#include "trace/read.h"

static const char usage[] = "jis dump [OPTION]... DIR";
static const char help[] = "usage: jis dump [OPTION]... DIR\n\n"
			   "Prints all events of the trace in DIR in time order, one a line:\n"
			   "  TIME STREAM EVENT { FIELD = VALUE, ... }\n"
			   "TIME is in seconds since the recording's start. Damaged intervals are "
			   "lines that begin with #.\n\n"
			   "      --cycles          times as ticks of the session clock\n"
			   "      --stream NAME     only this stream, e.g. kernel/cpu-0\n"
			   "      --event NAME      only events of this name\n"
			   "      --events          the table of all events, as Markdown; needs no "
			   "DIR\n" CLI_READING_HELP;

struct dump {
	struct trace *trace;
	struct clock_scale scale;
	const struct model_options *filter;
	const char *stream, *event;
	bool cycles;
	uint32_t *tids; /* selected by --thread and --process; NULL: all */
	uint32_t nr_tids;
	uint32_t *owner; /* per stream: the thread a user stream's records are of */
};

static const char *stream_name(const struct dump *d, const struct stream_cursor *c)
{
	return d->trace->manifest->streams[c - d->trace->streams].path;
}

static uint32_t read_u32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t read_u64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static void print_field(const struct field_info *f, const uint8_t *payload)
{
	const uint8_t *p = payload + f->offset;

	printf("%s = ", f->name);
	switch (f->type) {
	case FIELD_U32:
		printf("%" PRIu32, read_u32(p));
		break;
	case FIELD_S32:
		printf("%" PRId32, (int32_t)read_u32(p));
		break;
	case FIELD_X32:
		printf("0x%" PRIX32, read_u32(p));
		break;
	case FIELD_U64:
		printf("%" PRIu64, read_u64(p));
		break;
	case FIELD_S64:
		printf("%" PRId64, (int64_t)read_u64(p));
		break;
	case FIELD_X64:
		printf("0x%" PRIX64, read_u64(p));
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
		fputs(i ? ", " : " ", stdout);
		print_field(&info->fields[i], c->payload);
	}
	fputs(" }\n", stdout);
}

static bool tid_selected(const struct dump *d, uint32_t tid)
{
	for (uint32_t i = 0; i < d->nr_tids; i++)
		if (d->tids[i] == tid)
			return true;
	return false;
}

static bool is_tid_field(const char *name)
{
	size_t n = strlen(name);

	return n >= 3 && !strcmp(name + n - 3, "tid") && strcmp(name, "java_tid");
}

/* Does the event touch a selected thread: by a field that names one, or by its slot's owner? */
static bool selected(const struct dump *d, const struct stream_cursor *c,
		     const struct event_info *info)
{
	if (!d->tids)
		return true;
	if (c->stream_class == JIS_STREAM_USER && tid_selected(d, d->owner[c - d->trace->streams]))
		return true;
	for (uint32_t i = 0; i < info->nr_fields; i++)
		if (is_tid_field(info->fields[i].name) &&
		    tid_selected(d, read_u32(c->payload + info->fields[i].offset)))
			return true;
	return false;
}

static void on_packet(void *ctx, struct stream_cursor *c, const struct jis_packet_header *header)
{
	struct dump *d = ctx;

	if (d->owner && c->stream_class == JIS_STREAM_USER)
		d->owner[c - d->trace->streams] = header->owner;
}

static void on_damage(void *ctx, struct stream_cursor *c, uint64_t begin, uint64_t end,
		      uint64_t offset, uint64_t length, const char *reason)
{
	struct dump *d = ctx;

	if (!d->trace)
		return;
	printf("# %s damaged from ", stream_name(d, c));
	print_time(d, begin);
	fputs(" to ", stdout);
	print_time(d, end == TIME_NONE ? d->trace->manifest->end : end);
	printf(": %s (byte %" PRIu64 ", %" PRIu64 " bytes)\n", reason, offset, length);
}

static bool wanted(const struct dump *d, const char *text, const char *name, uint32_t number)
{
	char buffer[16];

	if (!text)
		return true;
	snprintf(buffer, sizeof(buffer), "%u", number);
	return !strcmp(buffer, text) || (name && strstr(name, text));
}

static const char *process_name(const struct manifest *m, uint32_t pid)
{
	for (uint32_t i = 0; i < m->nr_processes; i++)
		if (m->processes[i].pid == pid)
			return m->processes[i].name;
	return NULL;
}

static int select_threads(struct dump *d)
{
	const struct manifest *m = d->trace->manifest;

	d->owner = calloc(d->trace->nr_streams + 1, sizeof(*d->owner));
	if (!d->owner)
		return -ENOMEM;
	if (!d->filter->thread && !d->filter->process)
		return 0;
	d->tids = calloc(m->nr_threads + 1, sizeof(*d->tids));
	if (!d->tids)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->nr_threads; i++) {
		const struct thread_entry *t = &m->threads[i];

		if (wanted(d, d->filter->thread, t->name, t->tid) &&
		    wanted(d, d->filter->process, process_name(m, t->pid), t->pid))
			d->tids[d->nr_tids++] = t->tid;
	}
	return 0;
}

static void dump_one(struct dump *d, const struct stream_cursor *c)
{
	const struct event_info *info = event_info_get(c->stream_class, c->id);
	uint64_t ns = clock_scale_ns(&d->scale, c->time);

	if (c->stream_class == JIS_STREAM_USER && c->id == JIS_EV_thread_bind)
		d->owner[c - d->trace->streams] = read_u32(c->payload);
	if (!info || ns < d->filter->from || (d->filter->to && ns > d->filter->to))
		return;
	if (d->event && strcmp(d->event, info->name))
		return;
	if (selected(d, c, info))
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

static int dump_run(struct dump *d, const char *path)
{
	struct stream_observer observer = {.packet = on_packet, .damage = on_damage, .ctx = d};
	int err = trace_open(path, &observer, &d->trace);

	if (err)
		return cli_trace_error(path, err);
	clock_scale_init(&d->scale, d->trace->manifest->frequency, d->trace->manifest->begin);
	err = select_threads(d);
	if (!err)
		err = dump_events(d);
	if (err == -ESRCH)
		cli_error("%s: there is no stream \"%s\" (jis info lists them)", path, d->stream);
	else if (err)
		cli_error("%s: %s", path, strerror(-err));
	else
		cli_warn_losses(d->trace->manifest);
	trace_close(d->trace);
	free(d->owner);
	free(d->tids);
	return err ? CLI_FAILED : CLI_OK;
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

int cmd_dump(int argc, char **argv)
{
	static const struct option options[] = {{"cycles", no_argument, NULL, 'c'},
						{"stream", required_argument, NULL, 's'},
						{"event", required_argument, NULL, 'e'},
						{"events", no_argument, NULL, 'E'},
						CLI_READING_OPTIONS,
						{NULL, 0, NULL, 0}};
	struct reading_options reading = {0};
	struct dump d = {.filter = &reading.model};
	const char *path;
	int opt;

	while ((opt = cli_getopt(argc, argv, ":qh", options)) != -1) {
		if (opt == 'h') {
			fputs(help, stdout);
			return CLI_OK;
		}
		if (opt == 'E')
			return print_event_table();
		if (opt == 'c')
			d.cycles = true;
		else if (opt == 's')
			d.stream = optarg;
		else if (opt == 'e')
			d.event = optarg;
		else if (reading_option(&reading, opt, optarg) != 1)
			return CLI_USAGE;
	}
	path = cli_directory(argc, argv, usage);
	return path && reading_window_valid(&reading) ? dump_run(&d, path) : CLI_USAGE;
}
