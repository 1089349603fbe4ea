/* SPDX-License-Identifier: MIT */
/*
 * `jis info`: what a trace holds, from its manifest: what, when, where, clock, streams, losses.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "jis/abi.h"
#include "trace/read.h"

static const char usage[] = "jis info [OPTION]... DIR";
static const char help[] =
	"usage: jis info [OPTION]... DIR\n\n"
	"Says what the trace in DIR holds: command, host, time, clock, processes,\n"
	"streams with what was produced, stored and lost, damaged intervals.\n\n"
	"      --json            the manifest with totals, as JSON\n"
	"      --strict          exit status 3 when records were lost or "
	"damaged\n" CLI_READING_HELP;

struct info {
	const struct manifest *m;
	const char *path;
	int dirfd;
	const struct model_options *filter;
};

static double seconds(const struct manifest *m, uint64_t ticks)
{
	if (ticks == TIME_NONE)
		ticks = m->end;
	return ticks < m->begin ? 0 : (double)(ticks - m->begin) / (double)m->frequency;
}

/* Text of the manifest goes to a terminal, and anybody may have written it. */
static void print_text(const char *text, const char *after)
{
	cli_print_escaped(stdout, text ? text : "?");
	fputs(after, stdout);
}

/* The same in a column of @width. */
static void print_column(const char *text, int width)
{
	char *escaped = NULL;
	size_t size;
	FILE *f = open_memstream(&escaped, &size);

	if (f) {
		cli_print_escaped(f, text);
		fclose(f);
	}
	printf("%-*s", width, escaped ? escaped : "?");
	free(escaped);
}

static void print_when(const struct manifest *m)
{
	time_t t = (time_t)(manifest_realtime(m, m->begin) / 1000000000);
	char text[64];
	struct tm tm;

	localtime_r(&t, &tm);
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %z", &tm);
	printf("%-14s %s, %.3f s long, ended: ", "recorded", text, seconds(m, m->end));
	print_text(m->stop_reason ? m->stop_reason : "unknown", "\n");
}

static void print_list(const char *label, char *const *list)
{
	for (; list && *list; list++) {
		printf("%-14s ", label);
		print_text(*list, "\n");
	}
}

static void print_head(const struct info *in)
{
	const struct manifest *m = in->m;

	printf("%-14s %s%s\n", "trace", in->path, m->recovered ? " (recovered)" : "");
	if (m->command) {
		printf("%-14s ", "command");
		print_text(m->command, "\n");
	}
	print_when(m);
	printf("%-14s ", "host");
	print_text(m->hostname, ", Linux ");
	print_text(m->kernel_release, ", ");
	print_text(m->machine, ", ");
	printf("%u CPUs\n%-14s jis ", m->nr_cpus, "recorder");
	print_text(m->jis_version, ", ");
	print_text(m->backend, " backend, ");
	printf("flush every %u ms%s\n", m->flush_ms, m->all_switches ? ", all switches" : "");
	printf("%-14s %s, %.6f MHz, %u samples, %" PRIu64 " steps back\n", "clock",
	       m->clock == JIS_CLOCK_TSC ? "TSC" : "CLOCK_MONOTONIC_RAW",
	       (double)m->frequency / 1e6, m->nr_clocks, m->clock_steps);
	if (m->refused)
		printf("%-14s %" PRIu64 " times a process asked for a pool and got none\n",
		       "refused", m->refused);
	print_list("not recorded", m->missing);
	print_list("note", m->notes);
}

static bool process_selected(const struct info *in, const struct process_entry *p)
{
	char pid[16];

	if (!in->filter->process)
		return true;
	snprintf(pid, sizeof(pid), "%u", p->pid);
	return !strcmp(pid, in->filter->process) ||
	       (p->name && strstr(p->name, in->filter->process));
}

static void print_processes(const struct info *in)
{
	const struct manifest *m = in->m;

	printf("\n%-8s %-16s %7s  %s\n", "process", "name", "threads", "JVM");
	for (uint32_t i = 0; i < m->nr_processes; i++) {
		const struct process_entry *p = &m->processes[i];
		uint32_t threads = 0;

		if (!process_selected(in, p))
			continue;
		for (uint32_t t = 0; t < m->nr_threads; t++)
			threads += m->threads[t].pid == p->pid;
		printf("%-8u ", p->pid);
		print_column(p->name, 16);
		printf(" %7u  ", threads);
		print_text(p->vm ? p->vm : p->directory ? "(marked program)" : "-", "\n");
	}
}

static void print_streams(const struct info *in)
{
	const struct manifest *m = in->m;
	struct loss_totals sum = cli_manifest_totals(m);
	char size[32];
	struct stat st;

	printf("\n%-28s %9s %12s %12s %10s %10s\n", "stream", "packets", "produced", "stored",
	       "lost", "size");
	for (uint32_t i = 0; i < m->nr_streams; i++) {
		const struct stream_entry *s = &m->streams[i];
		struct loss_totals t = cli_stream_totals(s);

		print_column(s->path, 28);
		printf(" %9" PRIu64 " %12" PRIu64 " %12" PRIu64 " %10" PRIu64 " %10s%s\n",
		       s->packets, t.produced, t.stored, t.lost,
		       fstatat(in->dirfd, s->path, &st, 0)
			       ? "missing"
			       : cli_format_bytes(size, sizeof(size), (uint64_t)st.st_size),
		       s->clean ? "" : "  (counters not closed)");
	}
	printf("%-28s %9s %12" PRIu64 " %12" PRIu64 " %10" PRIu64 "\n", "all", "", sum.produced,
	       sum.stored, sum.lost);
}

struct damage_list {
	const struct manifest *m;
	uint32_t shown;
};

static void print_damage_line(struct damage_list *list, const char *path, double begin, double end,
			      const char *reason)
{
	if (!list->shown++)
		printf("\n%-28s %14s %14s  %s\n", "damaged interval", "from [s]", "to [s]",
		       "reason");
	print_column(path, 28);
	printf(" %14.9f %14.9f  ", begin, end);
	print_text(reason, "\n");
}

static int on_damage(void *ctx, const struct model_damage *d)
{
	struct damage_list *list = ctx;
	char path[64], reason[128];

	if (d->cpu != MODEL_NO_CPU)
		snprintf(path, sizeof(path), "kernel/cpu-%u", d->cpu);
	else if (d->process != UINT32_MAX && list->m->processes[d->process].directory)
		snprintf(path, sizeof(path), "%s", list->m->processes[d->process].directory);
	else
		snprintf(path, sizeof(path), "session");
	snprintf(reason, sizeof(reason), "%s", d->reason);
	if (d->lost)
		snprintf(reason, sizeof(reason), "%" PRIu64 " records lost", d->lost);
	print_damage_line(list, path, (double)d->begin / 1e9, (double)d->end / 1e9, reason);
	return 0;
}

/* Damages are found by reading, not only by what the recorder knew. */
static int print_damages(const struct info *in)
{
	struct damage_list list = {.m = in->m};
	struct model_sink sink = {.damage = on_damage, .ctx = &list};
	const struct model_sink *sinks[] = {&sink};
	struct model *model;
	int err;

	for (uint32_t i = 0; i < in->m->nr_damages; i++) {
		const struct damage_entry *d = &in->m->damages[i];

		print_damage_line(&list, d->path, seconds(in->m, d->begin), seconds(in->m, d->end),
				  d->reason);
	}
	err = model_open(in->path, in->filter, &model);
	if (err)
		return err;
	err = model_run(model, sinks, 1);
	cli_progress_done();
	model_close(model);
	if (!err && !list.shown)
		printf("\nno damaged interval\n");
	return err;
}

static int print_json(const struct info *in)
{
	struct loss_totals t = cli_manifest_totals(in->m);
	struct json_object *root, *totals = json_object_new_object();
	int fd = openat(in->dirfd, MANIFEST_FILE, O_RDONLY | O_CLOEXEC);

	root = fd < 0 ? NULL : json_object_from_fd(fd);
	if (fd >= 0)
		close(fd);
	if (!root) {
		json_object_put(totals);
		return -EBADMSG;
	}
	json_object_object_add(totals, "produced", json_object_new_uint64(t.produced));
	json_object_object_add(totals, "stored", json_object_new_uint64(t.stored));
	json_object_object_add(totals, "lost", json_object_new_uint64(t.lost));
	json_object_object_add(totals, "seconds",
			       json_object_new_double(seconds(in->m, in->m->end)));
	json_object_object_add(root, "totals", totals);
	puts(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY |
							  JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(root);
	return 0;
}

static int info_run(const char *path, const struct model_options *filter, bool json, bool strict)
{
	struct info in = {.path = path, .filter = filter};
	struct loss_totals totals;
	struct trace *trace;
	int err = trace_open(path, NULL, &trace);

	if (err)
		return cli_trace_error(path, err);
	in.m = trace->manifest;
	in.dirfd = trace->dirfd;
	totals = cli_manifest_totals(in.m);
	if (json) {
		err = print_json(&in);
	} else {
		print_head(&in);
		print_processes(&in);
		print_streams(&in);
		err = print_damages(&in);
	}
	strict = strict && (totals.lost || in.m->nr_damages);
	trace_close(trace);
	if (err)
		return cli_trace_error(path, err);
	return strict ? CLI_INCOMPLETE : CLI_OK;
}

int cmd_info(int argc, char **argv)
{
	static const struct option options[] = {{"json", no_argument, NULL, 'j'},
						{"strict", no_argument, NULL, 's'},
						CLI_READING_OPTIONS,
						{NULL, 0, NULL, 0}};
	struct reading_options reading = {0};
	bool json = false, strict = false;
	const char *path;
	int opt;

	while ((opt = cli_getopt(argc, argv, ":qh", options)) != -1) {
		int taken = reading_option(&reading, opt, optarg);

		if (opt == 'h') {
			fputs(help, stdout);
			return CLI_OK;
		}
		if (opt == 'j')
			json = true;
		else if (opt == 's')
			strict = true;
		else if (taken != 1)
			return CLI_USAGE;
	}
	path = cli_directory(argc, argv, usage);
	if (!path || !reading_window_valid(&reading))
		return CLI_USAGE;
	cli_progress_enable(&reading.model);
	return info_run(path, &reading.model, json, strict);
}
