/* SPDX-License-Identifier: MIT */
/*
 * `jis export FORMAT DIR`: writes a trace for another tool. Formats: paraver, collapsed.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "export_collapsed.h"
#include "paraver-export/paraver.h"

static const char usage[] = "jis export paraver [OPTION]... DIR -o FILE.prv";
static const char help[] =
	"usage: jis export paraver [OPTION]... DIR -o FILE.prv\n"
	"       jis export collapsed --off-cpu [OPTION]... DIR [-o FILE]\n"
	"       jis export collapsed --calls TIME [OPTION]... DIR [-o FILE]\n\n"
	"paraver writes the trace in DIR as FILE.prv, FILE.pcf and FILE.row for Paraver.\n"
	"collapsed writes time off the CPU in ns by thread, Java stack and reason, for flame\n"
	"graphs, to FILE or standard output; with --calls the own time of traced methods.\n\n"
	"  -o, --output FILE     ends in .prv, or in .prv.gz to compress it\n"
	"      --wakeups WHICH   wake-ups as communications: all, targets (default), none\n"
	"      --cpu-rows        a row for each CPU too: what held it\n"
	"      --off-cpu         collapsed: time off the CPU\n"
	"      --calls TIME      collapsed: calls, by wall time (wall), cpu or off-cpu\n"
	"      --by-reason       collapsed: all threads together\n"
	"      --max-virtual N   rows for at most N virtual threads (default 16384)\n"
	"      --sort            records in order of begin over all threads (Paraver needs no such "
	"order)\n" CLI_READING_HELP;

struct export
{
	struct paraver_options options;
	char base[PATH_MAX];
	const char *output;
	bool off_cpu, calls, wakeups;
	struct collapsed_options collapsed;
};

static int take_wakeups(struct export *e, const char *value)
{
	e->wakeups = true;
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
	int status = CLI_FAILED, err = model_open(path, options, &model);

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
		cli_warn_deep(model);
		status = cli_warn_losses(model_info(model)->manifest);
	}
	paraver_close(paraver);
	model_close(model);
	return status;
}

static int take_calls(struct export *e, const char *value)
{
	static const struct {
		const char *name;
		enum collapsed_of of;
	} times[] = {{"wall", COLLAPSED_CALLS_WALL},
		     {"cpu", COLLAPSED_CALLS_CPU},
		     {"off-cpu", COLLAPSED_CALLS_OFF_CPU}};

	e->calls = true;
	for (int i = 0; i < 3; i++) {
		if (!strcmp(value, times[i].name)) {
			e->collapsed.of = times[i].of;
			return 0;
		}
	}
	cli_error("--calls: \"%s\" is none of wall, cpu, off-cpu", value);
	return -1;
}

/* Are the options those of the format? */
static bool fits_format(const struct export *e, bool collapsed)
{
	if (collapsed ? e->off_cpu == e->calls : e->off_cpu || e->calls) {
		cli_error(collapsed ? "collapsed: of what? There is --off-cpu, or --calls"
				    : "--off-cpu and --calls are for the format collapsed");
		return false;
	}
	if (!collapsed && e->collapsed.together) {
		cli_error("--by-reason is for the format collapsed");
		return false;
	}
	if (collapsed && (e->wakeups || e->options.cpu_rows || e->options.sort)) {
		cli_error("--wakeups, --cpu-rows and --sort are for the format paraver");
		return false;
	}
	return true;
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
	case 'O':
		e->off_cpu = true;
		return 0;
	case 'C':
		return take_calls(e, optarg);
	case 'R':
		e->collapsed.together = true;
		return 0;
	case 'v':
		return cli_parse_u32("max-virtual", optarg, 1, UINT32_MAX,
				     &reading->model.max_vthreads);
	}
	return reading_option(reading, opt, optarg) == 1 ? 0 : -1;
}

int cmd_export(int argc, char **argv)
{
	static const struct option options[] = {{"output", required_argument, NULL, 'o'},
						{"wakeups", required_argument, NULL, 'w'},
						{"cpu-rows", no_argument, NULL, 'c'},
						{"sort", no_argument, NULL, 's'},
						{"off-cpu", no_argument, NULL, 'O'},
						{"by-reason", no_argument, NULL, 'R'},
						{"calls", required_argument, NULL, 'C'},
						{"max-virtual", required_argument, NULL, 'v'},
						CLI_READING_OPTIONS,
						{NULL, 0, NULL, 0}};
	struct reading_options reading = {0};
	struct export e = {0};
	const char *path;
	bool collapsed;
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
	collapsed = !strcmp(argv[optind], "collapsed");
	if (!collapsed && strcmp(argv[optind], "paraver")) {
		cli_error("there is no format \"%s\"; there are: paraver, collapsed", argv[optind]);
		return CLI_USAGE;
	}
	if (!fits_format(&e, collapsed))
		return CLI_USAGE;
	optind++;
	path = cli_directory(argc, argv, usage);
	if (!path || !reading_window_valid(&reading) || (!collapsed && take_output(&e)))
		return CLI_USAGE;
	cli_progress_enable(&reading.model);
	if (collapsed)
		return export_collapsed(path, &reading.model, &e.collapsed, e.output);
	return export_run(&e, path, &reading.model);
}
