/* SPDX-License-Identifier: MIT */
/*
 * `jis rmi`: remote calls in numbers: from which JVM to which, how long, and where in between.
 */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/remote.h"
#include "cli.h"
#include "trace/json_text.h"

static const char usage[] = "jis rmi [OPTION]... DIR";
static const char help[] =
	"usage: jis rmi [OPTION]... DIR\n\n"
	"Prints the remote calls (RMI) between the JVMs of a recording: for each method, client "
	"and "
	"server\n"
	"how many and how long, and on average where in between that time went; then those of "
	"which only\n"
	"one end is known, and why.\n\n"
	"      --internal        also calls of the registry, the activator, distributed garbage\n"
	"                        collection and JMX\n"
	"      --top N           at most N lines (default 40, 0: all; --json: all)\n"
	"      --json            all figures, as JSON, in ns\n"
	"      --max-virtual N   rows for at most N virtual threads (default "
	"16384)\n" CLI_READING_HELP;

#define NAME_ROOM 96

/* What lies between a moment and the next, in words and as JSON. */
static const struct {
	const char *text, *json;
} parts[REMOTE_NR_PARTS] = {
	{"connect", "connect"}, {"write", "write"},	 {"request", "request"},
	{"read", "read"},	{"method", "method"},	 {"write", "write_result"},
	{"answer", "answer"},	{"read", "read_result"},
};

struct view {
	struct model *model;
	struct remote *remote;
	struct remote_line *lines; /* by total time */
	uint32_t nr, top;
	bool internal, json, several; /* several: hosts */
};

static int by_total(const void *a, const void *b)
{
	const struct remote_line *x = a, *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	if (x->calls != y->calls)
		return x->calls < y->calls ? 1 : -1;
	if (x->method != y->method)
		return x->method < y->method ? -1 : 1;
	if (x->client != y->client)
		return x->client < y->client ? -1 : 1;
	return x->server < y->server ? -1 : x->server > y->server;
}

static const struct process_entry *process_of(const struct view *v, uint32_t process)
{
	return process == REMOTE_NO_PROCESS ? NULL : &model_info(v->model)->processes[process];
}

/* "java (1234)", or "?" */
static const char *process_text(const struct view *v, uint32_t process, char *text)
{
	const struct process_entry *p = process_of(v, process);
	const char *name = p ? process_entry_name(p) : NULL;

	if (p)
		snprintf(text, NAME_ROOM, "%s (%u)", name ? name : "?", p->pid);
	return p ? text : "?";
}

/* Room for part @i: of several hosts it has an error beside it. */
static int width_of(const struct view *v, int i)
{
	return v->several && remote_part_crosses(i) ? 16 : 8;
}

static uint64_t mean(uint64_t sum, uint64_t n)
{
	return n ? sum / n : 0;
}

static double us(uint64_t ns)
{
	return (double)ns / 1e3;
}

static uint64_t percentile(const struct remote_line *l, double share)
{
	return histogram_percentile(&l->histogram, l->timed, share, l->min, l->max);
}

/* Text --------------------------------------------------------------------------------------- */

static void print_part(const struct view *v, const struct remote_line *l, int i)
{
	uint64_t ns = remote_line_mean(l, i);
	char text[64] = "-";

	if (l->whole && ns == UINT64_MAX)
		strcpy(text, "?");
	else if (l->whole && v->several && remote_part_crosses(i))
		snprintf(text, sizeof(text), "%.1f +-%.1f", us(ns), us(remote_line_error(l)));
	else if (l->whole)
		snprintf(text, sizeof(text), "%.1f", us(ns));
	printf(" %*s", width_of(v, i), text);
}

static void print_line(const struct view *v, const struct remote_line *l)
{
	char client[NAME_ROOM], server[NAME_ROOM];
	const char *name = l->method ? model_name(v->model, l->method) : "(not known)";

	printf("%8" PRIu64 " %6" PRIu64 " %10.3f %9.1f %9.1f %9.1f %9.1f", l->calls,
	       l->thrown + l->failed, (double)l->total / 1e6, us(mean(l->total, l->timed)),
	       us(percentile(l, 0.5)), us(percentile(l, 0.99)), us(l->max));
	for (int i = MODEL_REMOTE_CALL; i < REMOTE_NR_PARTS; i++)
		print_part(v, l, i);
	printf("  %s: %s > %s\n", name, process_text(v, l->client, client),
	       process_text(v, l->server, server));
}

static void print_table(const struct view *v)
{
	uint32_t shown = v->top && v->top < v->nr ? v->top : v->nr;

	if (!v->nr)
		return;
	printf("\n%8s %6s %10s %9s %9s %9s %9s  %s\n", "calls", "failed", "total ms", "mean us",
	       "50 %", "99 %", "max", "of that, on average, us:");
	printf("%67s", "");
	for (int i = MODEL_REMOTE_CALL; i < REMOTE_NR_PARTS; i++)
		printf(" %*s", width_of(v, i), parts[i].text);
	printf("  method: client > server\n");
	for (uint32_t i = 0; i < shown; i++)
		print_line(v, &v->lines[i]);
	if (shown < v->nr)
		printf("and %u lines more (--top 0)\n", v->nr - shown);
}

static void print_text(const struct view *v)
{
	const struct remote_summary *s = remote_summary(v->remote);
	const char *separator = "";

	printf("%" PRIu64 " remote calls, %" PRIu64 " of them the JDK's own%s: ", s->calls,
	       s->internal, v->internal || !s->internal ? "" : " (--internal shows them)");
	for (int i = 0; i < MODEL_NR_REMOTE_MATCHES; i++) {
		if (!s->matches[i])
			continue;
		printf("%s%" PRIu64 " %s%s", separator, s->matches[i],
		       i <= MODEL_REMOTE_BY_CONNECTION ? "linked by " : "",
		       model_remote_match_name((enum model_remote_match)i));
		separator = ", ";
	}
	printf("\n");
	print_table(v);
}

/* JSON --------------------------------------------------------------------------------------- */

static void put(struct json_object *o, const char *name, uint64_t value)
{
	json_object_object_add(o, name, json_object_new_uint64(value));
}

/* UINT64_MAX: null. */
static void put_known(struct json_object *o, const char *name, uint64_t value)
{
	json_object_object_add(o, name, value == UINT64_MAX ? NULL : json_object_new_uint64(value));
}

static struct json_object *json_matches(const uint64_t *matches)
{
	struct json_object *o = json_object_new_object();

	for (int i = 0; i < MODEL_NR_REMOTE_MATCHES; i++)
		put(o, model_remote_match_name((enum model_remote_match)i), matches[i]);
	return o;
}

static struct json_object *json_process(const struct view *v, uint32_t process)
{
	const struct process_entry *p = process_of(v, process);
	struct json_object *o;
	const char *name;

	if (!p)
		return NULL;
	name = process_entry_name(p);
	o = json_object_new_object();
	put(o, "pid", p->pid);
	json_object_object_add(o, "name", json_text(name ? name : ""));
	return o;
}

static struct json_object *json_line(const struct view *v, const struct remote_line *l)
{
	struct json_object *o = json_object_new_object(), *p = json_object_new_object();

	json_object_object_add(o, "method", json_text(model_name(v->model, l->method)));
	json_object_object_add(o, "client", json_process(v, l->client));
	json_object_object_add(o, "server", json_process(v, l->server));
	json_object_object_add(o, "internal", json_object_new_boolean(l->internal));
	put(o, "calls", l->calls);
	put(o, "thrown", l->thrown);
	put(o, "failed", l->failed);
	put(o, "timed", l->timed);
	put(o, "total", l->total);
	put(o, "min", l->min);
	put(o, "max", l->max);
	put(o, "p50", percentile(l, 0.5));
	put(o, "p90", percentile(l, 0.9));
	put(o, "p99", percentile(l, 0.99));
	put(o, "whole", l->whole);
	for (int i = 0; i < REMOTE_NR_PARTS; i++)
		put_known(p, parts[i].json,
			  l->whole && remote_line_mean(l, i) == UINT64_MAX ? UINT64_MAX
									   : l->part[i]);
	json_object_object_add(o, "parts", p);
	put_known(o, "error", l->whole ? remote_line_error(l) : 0);
	json_object_object_add(o, "matches", json_matches(l->matches));
	return o;
}

static void print_json(const struct view *v)
{
	const struct remote_summary *s = remote_summary(v->remote);
	struct json_object *o = json_object_new_object(), *lines = json_object_new_array();

	put(o, "calls", s->calls);
	put(o, "internal", s->internal);
	put(o, "disagreements", s->disagreements);
	put(o, "backward", s->backward);
	put(o, "clockless", s->clockless);
	json_object_object_add(o, "matches", json_matches(s->matches));
	for (uint32_t i = 0; i < v->nr; i++)
		json_object_array_add(lines, json_line(v, &v->lines[i]));
	json_object_object_add(o, "lines", lines);
	puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY));
	json_object_put(o);
}

/* The command -------------------------------------------------------------------------------- */

static int tell(const char *path, const struct view *v)
{
	const struct remote_summary *s = remote_summary(v->remote);

	if (v->json)
		print_json(v);
	else
		print_text(v);
	if (!s->calls)
		cli_warn(
			"%s: no remote calls were recorded; jis record --java rmi does, by default",
			path);
	if (s->disagreements)
		cli_warn("%s: of %" PRIu64 " calls the UID and the connection say different things",
			 path, s->disagreements);
	if (s->backward)
		cli_warn("%s: %" PRIu64 " parts of calls would end before they begin, and count as "
			 "0: %s",
			 path, s->backward,
			 v->several ? "clocks of the hosts differ by more than jis info says"
				    : "the clocks of the JVMs differ");
	if (s->clockless)
		cli_warn("%s: of %" PRIu64
			 " calls request and answer are not told: of their hosts' "
			 "clocks only the time of day is known",
			 path, s->clockless);
	return cli_warn_losses(model_info(v->model)->manifest);
}

static int run(const char *path, const struct model_options *options, struct view *v)
{
	const struct model_sink *sinks[1];
	int status = CLI_FAILED, err = model_open(path, options, &v->model);

	if (err)
		return cli_trace_error(path, err);
	v->several = model_info(v->model)->manifest->nr_hosts > 1;
	v->remote = remote_new(v->internal);
	err = v->remote ? 0 : -ENOMEM;
	if (!err) {
		sinks[0] = remote_sink(v->remote);
		err = model_run(v->model, sinks, 1);
		cli_progress_done();
	}
	if (err) {
		cli_error("%s: %s", path, strerror(-err));
	} else {
		v->lines = remote_lines(v->remote, &v->nr);
		if (v->nr)
			qsort(v->lines, v->nr, sizeof(*v->lines), by_total);
		status = tell(path, v);
	}
	remote_delete(v->remote);
	model_close(v->model);
	return status;
}

static int take_option(struct view *v, struct reading_options *reading, int opt)
{
	switch (opt) {
	case 'i':
		v->internal = true;
		return 0;
	case 't':
		return cli_parse_u32("top", optarg, 0, UINT32_MAX, &v->top);
	case 'j':
		v->json = true;
		return 0;
	case 'v':
		return cli_parse_u32("max-virtual", optarg, 1, UINT32_MAX,
				     &reading->model.max_vthreads);
	}
	return reading_option(reading, opt, optarg) == 1 ? 0 : -1;
}

int cmd_rmi(int argc, char **argv)
{
	static const struct option options[] = {{"internal", no_argument, NULL, 'i'},
						{"top", required_argument, NULL, 't'},
						{"json", no_argument, NULL, 'j'},
						{"max-virtual", required_argument, NULL, 'v'},
						CLI_READING_OPTIONS,
						{NULL, 0, NULL, 0}};
	struct view v = {.top = 40};
	struct reading_options reading = {0};
	const char *path;
	int opt;

	while ((opt = cli_getopt(argc, argv, ":qh", options)) != -1) {
		if (opt == 'h') {
			fputs(help, stdout);
			return CLI_OK;
		}
		if (take_option(&v, &reading, opt))
			return CLI_USAGE;
	}
	path = cli_directory(argc, argv, usage);
	if (!path || !reading_window_valid(&reading))
		return CLI_USAGE;
	cli_progress_enable(&reading.model);
	return run(path, &reading.model, &v);
}
