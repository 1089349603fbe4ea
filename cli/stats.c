/* SPDX-License-Identifier: MIT */
/*
 * `jis stats`: calls of traced methods in numbers: how many, how long, and where their time went.
 */
#include "stats.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli.h"

static const char usage[] = "jis stats [OPTION]... DIR";
static const char help[] =
	"usage: jis stats [OPTION]... DIR\n\n"
	"Prints for each traced method how often it was called, how long the calls took, in all, "
	"without\n"
	"the calls in them, at least, on average, at most, and what that time went to: CPU, "
	"waiting "
	"for\n"
	"one, blocked, and why.\n\n"
	"      --by WHAT         method (default), pair (caller and callee), context (the tree of "
	"calls),\n"
	"                        thread, receiver, argument (of calls of which values are told),\n"
	"                        argument:N (by that one alone)\n"
	"      --sort FIELD      any column of --csv, or name (default own; by context: total)\n"
	"      --top N           at most N lines (default 40, 0: all; --csv, --json: all)\n"
	"      --method TEXT     only methods whose name contains TEXT, or matches it (with * or "
	"?)\n"
	"      --csv             all figures, as comma-separated values, in ns\n"
	"      --json            the same as JSON\n"
	"      --max-contexts N  tell at most N ways to call a method apart (default 1048576)\n"
	"      --max-virtual N   rows for at most N virtual threads (default "
	"16384)\n" CLI_READING_HELP;

static int print(const struct stats_view *v, enum stats_format format)
{
	switch (format) {
	case STATS_CSV:
		return stats_print_csv(v);
	case STATS_JSON:
		return stats_print_json(v);
	default:
		return stats_print_text(v);
	}
}

static int run(const char *path, const struct model_options *options, struct stats_view *v,
	       enum stats_format format)
{
	const struct model_sink *sinks[1];
	struct model *model;
	int status = CLI_FAILED, err = model_open(path, options, &model);

	if (err)
		return cli_trace_error(path, err);
	v->model = model;
	v->stats = stats_new(model, v->by, v->argument);
	err = v->stats ? 0 : -ENOMEM;
	if (!err) {
		sinks[0] = stats_sink(v->stats);
		err = model_run(model, sinks, 1);
		cli_progress_done();
	}
	if (!err)
		err = print(v, format);
	if (err) {
		cli_error("%s: %s", path, strerror(-err));
	} else {
		if (!stats_summary(v->stats)->calls)
			cli_warn("%s: no calls were recorded; jis record --methods chooses some",
				 path);
		else if (!stats_summary(v->stats)->told)
			cli_warn("%s: no call tells such a value; jis record --arguments chooses "
				 "some",
				 path);
		if (stats_summary(v->stats)->no_context)
			cli_warn("%s: %" PRIu64 " calls were made in other ways than the first %u:"
				 " they have no context; --max-contexts allows more",
				 path, stats_summary(v->stats)->no_context,
				 model_nr_contexts(model));
		cli_warn_deep(model);
		status = cli_warn_losses(model_info(model)->manifest);
	}
	stats_free(v->stats);
	model_close(model);
	return status;
}

static int take_by(struct stats_view *v, const char *value)
{
	static const char *const names[] = {"method", "pair",	  "context",
					    "thread", "argument", "receiver"};

	v->argument = -1;
	if (!strncmp(value, "argument:", 9)) {
		uint32_t n;

		v->by = STATS_BY_ARGUMENT;
		if (cli_parse_u32("by argument", value + 9, 0, 254, &n))
			return -1;
		v->argument = (int32_t)n;
		return 0;
	}
	for (int i = 0; i < 6; i++) {
		if (!strcmp(value, names[i])) {
			v->by = (enum stats_by)i;
			return 0;
		}
	}
	cli_error("--by: \"%s\" is none of method, pair, context, thread, receiver, "
		  "argument, argument:N",
		  value);
	return -1;
}

static int take_sort(struct stats_view *v, const char *value)
{
	v->sort = value;
	if (stats_sortable(value))
		return 0;
	cli_error("--sort: there is no field \"%s\"; jis stats --csv shows them", value);
	return -1;
}

static int take_option(struct stats_view *v, struct reading_options *reading,
		       enum stats_format *format, int opt)
{
	switch (opt) {
	case 'b':
		return take_by(v, optarg);
	case 's':
		return take_sort(v, optarg);
	case 't':
		return cli_parse_u32("top", optarg, 0, UINT32_MAX, &v->top);
	case 'm':
		v->method = optarg;
		return 0;
	case 'c':
		*format = STATS_CSV;
		return 0;
	case 'j':
		*format = STATS_JSON;
		return 0;
	case 'x':
		return cli_parse_u32("max-contexts", optarg, 1, UINT32_MAX / 4,
				     &reading->model.max_contexts);
	case 'v':
		return cli_parse_u32("max-virtual", optarg, 1, UINT32_MAX,
				     &reading->model.max_vthreads);
	}
	return reading_option(reading, opt, optarg) == 1 ? 0 : -1;
}

int cmd_stats(int argc, char **argv)
{
	static const struct option options[] = {{"by", required_argument, NULL, 'b'},
						{"sort", required_argument, NULL, 's'},
						{"top", required_argument, NULL, 't'},
						{"method", required_argument, NULL, 'm'},
						{"csv", no_argument, NULL, 'c'},
						{"json", no_argument, NULL, 'j'},
						{"max-contexts", required_argument, NULL, 'x'},
						{"max-virtual", required_argument, NULL, 'v'},
						CLI_READING_OPTIONS,
						{NULL, 0, NULL, 0}};
	struct stats_view v = {.top = UINT32_MAX};
	struct reading_options reading = {0};
	enum stats_format format = STATS_TEXT;
	const char *path;
	int opt;

	while ((opt = cli_getopt(argc, argv, ":qh", options)) != -1) {
		if (opt == 'h') {
			fputs(help, stdout);
			return CLI_OK;
		}
		if (take_option(&v, &reading, &format, opt))
			return CLI_USAGE;
	}
	path = cli_directory(argc, argv, usage);
	if (!path || !reading_window_valid(&reading))
		return CLI_USAGE;
	if (v.top == UINT32_MAX)
		v.top = format == STATS_TEXT ? 40 : 0;
	if (!v.sort)
		v.sort = v.by == STATS_BY_CONTEXT ? "total" : "own";
	cli_progress_enable(&reading.model);
	return run(path, &reading.model, &v, format);
}
