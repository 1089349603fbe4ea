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
#include "info_hosts.h"
#include "jis/abi.h"
#include "known_damages.h"
#include "probe_ways.h"
#include "report_reasons.h"
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
	char *escaped = cli_escaped(text ? text : "?");

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

static void print_uuid(const uint8_t uuid[16])
{
	for (int i = 0; i < 16; i++)
		printf("%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

/* Ticks since the begin of the recording that a snapshot is of, in seconds. */
static double origin_seconds(const struct manifest *m, uint64_t ticks)
{
	return ticks < m->origin_begin ? 0
				       : (double)(ticks - m->origin_begin) / (double)m->frequency;
}

static void print_identity(const struct manifest *m)
{
	printf("%-14s ", "uuid");
	print_uuid(m->uuid);
	putchar('\n');
	if (!manifest_is_snapshot(m))
		return;
	printf("%-14s ", "snapshot of");
	print_uuid(m->origin_uuid);
	printf(", from %.3f s to %.3f s after its start\n", origin_seconds(m, m->origin_from),
	       origin_seconds(m, m->origin_to));
}

static void print_host(const struct manifest *m)
{
	printf("%-14s ", m->nr_hosts ? "hosts" : "host");
	if (m->nr_hosts) {
		info_hosts_names(stdout, m);
		fputs(", ", stdout);
	} else {
		print_text(m->hostname, ", Linux ");
		print_text(m->kernel_release, ", ");
	}
	print_text(m->machine, ", ");
	printf("%u CPUs\n", m->nr_cpus);
}

static void print_head(const struct info *in)
{
	const struct manifest *m = in->m;

	printf("%-14s %s%s\n", "trace", in->path, m->recovered ? " (recovered)" : "");
	print_identity(m);
	if (m->command) {
		printf("%-14s ", "command");
		print_text(m->command, "\n");
	}
	print_when(m);
	print_host(m);
	printf("%-14s jis ", "recorder");
	print_text(m->jis_version, ", ");
	print_text(m->backend, " backend, ");
	printf("flush every %u ms%s\n", m->flush_ms, m->all_switches ? ", all switches" : "");
	printf("%-14s %s, %.6f MHz, %u samples, %" PRIu64 " steps back\n", "clock",
	       m->clock == JIS_CLOCK_TSC ? "TSC" : "CLOCK_MONOTONIC_RAW",
	       (double)m->frequency / 1e6, m->nr_clocks, m->clock_steps);
	if (m->refused)
		printf("%-14s %" PRIu64 " times a process asked for a pool and got none\n",
		       "refused", m->refused);
	if (m->syscalls) {
		printf("%-14s ", "system calls");
		print_text(m->syscalls, "\n");
	}
	print_list("recorded of", m->filters);
	print_list("events", m->events);
	print_list("not recorded", m->missing);
	print_list("note", m->notes);
}

static bool process_selected(const struct info *in, const struct process_entry *p)
{
	return process_entry_wanted(p, in->filter->process);
}

static void print_processes(const struct info *in)
{
	const struct manifest *m = in->m;

	printf("\n%-8s %-16s %7s  ", "process", "name", "threads");
	printf(m->nr_hosts ? "%-20s %s\n" : "%s%s\n", m->nr_hosts ? "host" : "", "JVM");
	for (uint32_t i = 0; i < m->nr_processes; i++) {
		const struct process_entry *p = &m->processes[i];
		uint32_t threads = 0;

		if (!process_selected(in, p))
			continue;
		for (uint32_t t = 0; t < m->nr_threads; t++)
			threads += m->threads[t].pid == p->pid;
		printf("%-8u ", p->pid);
		print_column(process_entry_name(p), 16);
		printf(" %7u  ", threads);
		if (m->nr_hosts) {
			print_column(m->hosts[manifest_host_of_tid(m, p->pid)].name, 20);
			putchar(' ');
		}
		print_text(p->vm ? p->vm : p->directory ? "(marked program)" : "-", "\n");
	}
}

static void print_probe(void *context, const struct probe_way *p)
{
	const struct info *in = context;

	if (p->process < in->m->nr_processes && process_selected(in, &in->m->processes[p->process]))
		printf("methods   process %u: calls recorded by %s, %.1f ns a call\n",
		       in->m->processes[p->process].pid, probe_way_text(p->way),
		       (double)p->pair / 1e3);
}

static void totals_add(struct loss_totals *to, const struct loss_totals *from)
{
	to->produced += from->produced;
	to->stored += from->stored;
	to->lost += from->lost;
}

static void print_totals(const char *label, const struct loss_totals *t)
{
	printf("%-28s %9s %12" PRIu64 " %12" PRIu64 " %10" PRIu64 "\n", label, "", t->produced,
	       t->stored, t->lost);
}

/* The size of a stream's file. */
static const char *file_text(const struct info *in, const struct stream_entry *s, char *text,
			     size_t n)
{
	struct stat st;

	if (s->unread == -ENOENT)
		return "missing";
	if (s->unread || fstatat(in->dirfd, s->path, &st, AT_SYMLINK_NOFOLLOW))
		return "unreadable";
	return cli_format_bytes(text, n, (uint64_t)st.st_size);
}

static void print_streams(const struct info *in)
{
	const struct manifest *m = in->m;
	struct loss_totals sum = {0}, of_side[2] = {{0}};
	char size[32];

	printf("\n%-28s %9s %12s %12s %10s %10s\n", "stream", "packets", "produced", "stored",
	       "lost", "size");
	for (uint32_t i = 0; i < m->nr_streams; i++) {
		const struct stream_entry *s = &m->streams[i];
		struct loss_totals t = cli_stream_totals(s);

		totals_add(&of_side[s->stream_class >= JIS_STREAM_USER], &t);
		print_column(s->path, 28);
		printf(" %9" PRIu64 " %12" PRIu64 " %12" PRIu64 " %10" PRIu64 " %10s%s\n",
		       s->packets, t.produced, t.stored, t.lost,
		       file_text(in, s, size, sizeof(size)),
		       s->clean ? "" : "  (counters not closed)");
	}
	for (int user = 0; user < 2; user++) {
		totals_add(&sum, &of_side[user]);
		print_totals(user ? "of processes" : "of the kernel", &of_side[user]);
	}
	print_totals("all", &sum);
}

struct damage_list {
	const struct manifest *m;
	struct known_damages *known;
	uint32_t shown;
	bool quiet;
	struct model_counts counts;
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

/* Where damage @d is, as the paths of the manifest begin. */
static void damage_place(const struct manifest *m, const struct model_damage *d, char *path,
			 size_t n)
{
	if (d->cpu != MODEL_NO_CPU)
		snprintf(path, n, "kernel/cpu-%u", d->cpu);
	else if (d->process != UINT32_MAX && m->processes[d->process].directory)
		snprintf(path, n, "%s", m->processes[d->process].directory);
	else
		snprintf(path, n, "session");
}

/* Has the manifest told it? The same gap is found again by reading. */
static bool damage_known(const struct damage_list *list, const struct model_damage *d,
			 const char *place)
{
	double begin = (double)d->begin / 1e9, end = (double)d->end / 1e9;
	bool known = d->known, session = !strcmp(place, "session");
	char recorder[32] = "kernel/recorder";

	for (uint32_t i = 0; i <= list->m->nr_hosts && !known; i++) {
		if (i)
			snprintf(recorder, sizeof(recorder), "kernel/recorder-%u", i);
		known = known_damages_cover(list->known, session ? recorder : place, begin, end);
	}
	return known;
}

static int on_damage(void *ctx, const struct model_damage *d)
{
	struct damage_list *list = ctx;
	char path[64], reason[128];

	damage_place(list->m, d, path, sizeof(path));
	if (damage_known(list, d, path))
		return 0;
	if (list->quiet) {
		list->shown++;
		return 0;
	}
	snprintf(reason, sizeof(reason), "%s", d->reason);
	if (d->lost)
		snprintf(reason, sizeof(reason), "%" PRIu64 " records lost", d->lost);
	print_damage_line(list, path, (double)d->begin / 1e9, (double)d->end / 1e9, reason);
	return 0;
}

/* One of the manifest's, cut to the window. Returns whether it touches that. */
static bool known_damage(const struct info *in, struct damage_list *list,
			 const struct damage_entry *d)
{
	double begin = seconds(in->m, d->begin), end = seconds(in->m, d->end);
	double from = (double)in->filter->from / 1e9;
	double to = in->filter->to ? (double)in->filter->to / 1e9 : seconds(in->m, in->m->end);

	if (end < from || (end == from && begin < end) ||
	    (in->filter->to && (begin > to || (begin == to && begin < end))))
		return false;
	if (begin > to) /* behind what the manifest knows of */
		begin = to;
	if (!list->quiet)
		print_damage_line(list, d->path, begin > from ? begin : from, end < to ? end : to,
				  d->reason);
	return true;
}

/* Only so that contradictions between Java and the kernel are looked for. */
static int on_state(void *ctx, const struct model_state *s)
{
	return 0;
}

static int on_end(void *ctx, const struct model_counts *counts)
{
	((struct damage_list *)ctx)->counts = *counts;
	return 0;
}

/* Damages are found by reading, not only by what the recorder knew. Returns -errno, or whether
 * there is one; @quiet: that only. @status: CLI_FAILED when a stream cannot be read. */
static int find_damages(const struct info *in, bool quiet, int *status)
{
	struct damage_list list = {.m = in->m, .quiet = quiet};
	struct model_sink sink = {.damage = on_damage,
				  .state = on_state,
				  .end = on_end,
				  .ctx = &list,
				  .wants_reasons = true};
	const struct model_sink *sinks[] = {&sink};
	struct model *model;
	int err, known = 0;

	list.known = known_damages_new(in->m);
	if (!list.known)
		return -ENOMEM;
	for (uint32_t i = 0; i < in->m->nr_damages; i++)
		known += known_damage(in, &list, &in->m->damages[i]);
	err = model_open(in->path, in->filter, &model);
	if (err) {
		known_damages_free(list.known);
		return err;
	}
	err = model_run(model, sinks, 1);
	cli_progress_done();
	known_damages_free(list.known);
	if (!err)
		*status = cli_tell_unread(model_info(model)->manifest);
	if (!err && !list.shown && !quiet)
		printf("\nno damaged interval\n");
	if (!err && !quiet)
		cli_print_doubts(model, &list.counts);
	model_close(model);
	return err ? err : list.shown || known;
}

struct json_probes {
	const struct info *in;
	struct json_object *list;
};

static void json_probe(void *context, const struct probe_way *p)
{
	static const char *const names[] = {
		[JIS_METHOD_WAY_JNI] = "jni",		[JIS_METHOD_WAY_BARRIER] = "barrier",
		[JIS_METHOD_WAY_CRITICAL] = "critical", [JIS_METHOD_WAY_PATCH] = "patch",
		[JIS_METHOD_WAY_LINK] = "link",
	};
	const struct json_probes *to = context;
	struct json_object *o;

	if (p->process >= to->in->m->nr_processes)
		return;
	o = json_object_new_object();
	json_object_object_add(o, "pid",
			       json_object_new_int64(to->in->m->processes[p->process].pid));
	if (p->way < sizeof(names) / sizeof(names[0]) && names[p->way])
		json_object_object_add(o, "way", json_object_new_string(names[p->way]));
	json_object_object_add(o, "pair_picoseconds", json_object_new_uint64(p->pair));
	json_object_array_add(to->list, o);
}

static int print_json(const struct info *in, struct trace *trace)
{
	struct loss_totals t = cli_manifest_totals(in->m);
	struct json_object *root, *totals = json_object_new_object();
	struct json_probes probes = {.in = in};
	int fd = openat(in->dirfd, MANIFEST_FILE, O_RDONLY | O_CLOEXEC);

	root = fd < 0 ? NULL : json_object_from_fd(fd);
	if (fd >= 0)
		close(fd);
	if (!root) {
		json_object_put(totals);
		return -EBADMSG;
	}
	probes.list = json_object_new_array();
	json_object_object_add(totals, "produced", json_object_new_uint64(t.produced));
	json_object_object_add(totals, "stored", json_object_new_uint64(t.stored));
	json_object_object_add(totals, "lost", json_object_new_uint64(t.lost));
	json_object_object_add(totals, "seconds",
			       json_object_new_double(seconds(in->m, in->m->end)));
	json_object_object_add(root, "totals", totals);
	json_object_object_add(root, "method_probes", probes.list);
	probe_ways_each(trace, json_probe, &probes);
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
	int damaged = 0, status = CLI_OK, err = trace_open(path, NULL, &trace);

	if (err)
		return cli_trace_error(path, err);
	in.m = trace->manifest;
	in.dirfd = trace->dirfd;
	totals = cli_manifest_totals(in.m);
	if (json) {
		err = print_json(&in, trace);
		if (!err && strict)
			damaged = find_damages(&in, true, &status);
		else if (!err)
			status = cli_tell_unread(in.m);
	} else {
		print_head(&in);
		info_hosts_print(stdout, in.m);
		print_processes(&in);
		probe_ways_each(trace, print_probe, &in);
		print_streams(&in);
		damaged = find_damages(&in, false, &status);
	}
	err = damaged < 0 ? damaged : err;
	/* What was lost in a window has left a damaged interval there. */
	if (filter->from || filter->to)
		totals.lost = 0;
	strict = strict && (totals.lost || damaged > 0);
	trace_close(trace);
	if (err)
		return cli_trace_error(path, err);
	return strict ? CLI_INCOMPLETE : status;
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
