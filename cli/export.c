/* SPDX-License-Identifier: MIT */
/*
 * `jis export FORMAT DIR`: writes a trace for another tool. Formats: paraver.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "paraver-export/paraver.h"

static const char usage[] = "jis export paraver [OPTION]... DIR -o FILE.prv";
static const char help[] =
	"usage: jis export paraver [OPTION]... DIR -o FILE.prv\n\n"
	"Writes the trace in DIR as FILE.prv, FILE.pcf and FILE.row for Paraver.\n\n"
	"  -o, --output FILE     ends in .prv, or in .prv.gz to compress it\n"
	"      --wakeups WHICH   wake-ups as communications: all, targets (default), none\n"
	"      --cpu-rows        a row for each CPU too: what held it\n"
	"      --sort            records in order of begin over all threads (Paraver needs no such "
	"order)\n" CLI_READING_HELP;

struct export
{
	struct paraver_options options;
	char base[PATH_MAX];
	const char *output;
};

static int take_wakeups(struct export *e, const char *value)
{
	if (!strcmp(value, "all")) {
		e->options.wakeups = PARAVER_WAKEUPS_ALL;
	} else if (!strcmp(value, "targets")) {
		e->options.wakeups = PARAVER_WAKEUPS_TARGETS;
	} else if (!strcmp(value, "none")) {
		e->options.wakeups = PARAVER_WAKEUPS_NONE;
	} else {
		cli_error("--wakeups: \"%s\" is none of all, targets, none", value);
		return -1;
	}
	return 0;
}

/* FILE.prv or FILE.prv.gz into the base name and the choice of compression. */
static int take_output(struct export *e)
{
	size_t n = e->output ? strlen(e->output) : 0;

	if (!e->output) {
		cli_error("where to? usage: %s", usage);
		return -1;
	}
	if (n > 7 && !strcmp(e->output + n - 7, ".prv.gz")) {
		e->options.gzip = true;
		n -= 7;
	} else if (n > 4 && !strcmp(e->output + n - 4, ".prv")) {
		n -= 4;
	} else {
		cli_error("-o %s: Paraver loads only files that end in .prv or .prv.gz", e->output);
		return -1;
	}
	if (n >= sizeof(e->base)) {
		cli_error("-o: the name is too long");
		return -1;
	}
	memcpy(e->base, e->output, n);
	e->options.base = e->base;
	return 0;
}

static void say_error(const char *path, const struct export *e, int err)
{
	switch (err) {
	case -ENODATA:
		cli_error("%s: no thread lives in the window or passes --thread and --process",
			  path);
		break;
	case -E2BIG:
		cli_error("%s: more than 65535 threads live at once, and Paraver loads no more; "
			  "choose some with --process or --thread",
			  path);
		break;
	default:
		cli_error("%s: cannot write %s: %s", path, e->output, strerror(-err));
	}
}

static int export_run(struct export *e, const char *path, const struct model_options *options)
{
	const struct model_sink *sinks[1];
	const struct paraver_stats *stats;
	struct paraver *paraver;
	struct model *model;
	char size[32];
	int err = model_open(path, options, &model);

	if (err)
		return cli_trace_error(path, err);
	err = paraver_open(model, &e->options, &paraver);
	if (err) {
		say_error(path, e, err);
		model_close(model);
		return CLI_FAILED;
	}
	sinks[0] = paraver_sink(paraver);
	err = model_run(model, sinks, 1);
	cli_progress_done();
	if (err) {
		say_error(path, e, err);
	} else {
		stats = paraver_stats(paraver);
		cli_note("%s: %" PRIu64 " lines, %s, %u rows in %u processes", e->output,
			 stats->lines, cli_format_bytes(size, sizeof(size), stats->bytes),
			 stats->rows, stats->tasks);
		if (stats->shared)
			cli_warn("%u threads share the row of one that had ended before (see the "
				 ".row file): "
				 "Paraver loads at most 65535 rows",
				 stats->shared);
		cli_warn_losses(model_info(model)->manifest);
	}
	paraver_close(paraver);
	model_close(model);
	return err ? CLI_FAILED : CLI_OK;
}

static int take_option(struct export *e, struct reading_options *reading, int opt)
{
	switch (opt) {
	case 'o':
		e->output = optarg;
		return 0;
	case 'w':
		return take_wakeups(e, optarg);
	case 'c':
		e->options.cpu_rows = true;
		return 0;
	case 's':
		e->options.sort = true;
		return 0;
	}
	return reading_option(reading, opt, optarg) == 1 ? 0 : -1;
}

int cmd_export(int argc, char **argv)
{
	static const struct option options[] = {{"output", required_argument, NULL, 'o'},
						{"wakeups", required_argument, NULL, 'w'},
						{"cpu-rows", no_argument, NULL, 'c'},
						{"sort", no_argument, NULL, 's'},
						CLI_READING_OPTIONS,
						{NULL, 0, NULL, 0}};
	struct reading_options reading = {0};
	struct export e = {0};
	const char *path;
	int opt;

	while ((opt = cli_getopt(argc, argv, ":o:qh", options)) != -1) {
		if (opt == 'h') {
			fputs(help, stdout);
			return CLI_OK;
		}
		if (take_option(&e, &reading, opt))
			return CLI_USAGE;
	}
	if (optind >= argc) {
		cli_error("which format? usage: %s", usage);
		return CLI_USAGE;
	}
	if (strcmp(argv[optind], "paraver")) {
		cli_error("there is no format \"%s\"; there is: paraver", argv[optind]);
		return CLI_USAGE;
	}
	optind++;
	path = cli_directory(argc, argv, usage);
	if (!path || !reading_window_valid(&reading) || take_output(&e))
		return CLI_USAGE;
	cli_progress_enable(&reading.model);
	return export_run(&e, path, &reading.model);
}
