/* SPDX-License-Identifier: MIT */
/*
 * `jis recover`: makes the trace of a killed recorder, or a damaged one, readable.
 */
#include <errno.h>

#include "cli.h"
#include "trace/read.h"

static const char usage[] = "jis recover DIR";
static const char help[] =
	"usage: jis recover DIR\n\n"
	"Makes a trace readable that its recorder could not close, or that was damaged: cuts the\n"
	"streams to whole packets (what is cut off stays beside them as .NAME.damaged) and "
	"rebuilds\n"
	"metadata and manifest. Nothing before a damage is lost. A whole trace is left as it "
	"is.\n\n"
	"  -q, --quiet   say nothing of what is done\n"
	"  -h, --help    this text\n";

static void tell(void *ctx, const char *line)
{
	(void)ctx;
	cli_note("%s", line);
}

int cmd_recover(int argc, char **argv)
{
	static const struct option options[] = {{"quiet", no_argument, NULL, 'q'},
						{"help", no_argument, NULL, 'h'},
						{NULL, 0, NULL, 0}};
	const char *path;
	int opt, err;

	while ((opt = cli_getopt(argc, argv, ":qh", options)) != -1) {
		switch (opt) {
		case 'q':
			cli_quiet = true;
			break;
		case 'h':
			fputs(help, stdout);
			return CLI_OK;
		default:
			return CLI_USAGE;
		}
	}
	path = cli_directory(argc, argv, usage);
	if (!path)
		return CLI_USAGE;
	err = trace_recover(path, tell, NULL);
	if (err == -EALREADY) {
		cli_note("%s: whole, nothing to do", path);
		return CLI_OK;
	}
	if (err == -EBUSY) {
		cli_error("%s: its recorder still runs; stop it first", path);
		return CLI_FAILED;
	}
	if (err == -ENODATA || err == -EUCLEAN) {
		cli_error("%s: no stream of a trace in it", path);
		return CLI_FAILED;
	}
	if (err)
		return cli_trace_error(path, err);
	cli_note("%s: readable again", path);
	return CLI_OK;
}
