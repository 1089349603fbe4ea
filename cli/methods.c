/* SPDX-License-Identifier: MIT */
/*
 * `jis methods PID --on LIST --off LIST`: changes which methods of a recorded JVM are traced.
 * `jis methods --list DIR`: those of a trace.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "libjisctl/jisctl.h"
#include "methods_list.h"
#include "recordings.h"

#define STEP_MS 50
#define WAIT_MS 120000

static const char usage[] = "jis methods [OPTION]... PID";
static const char help[] =
	"usage: jis methods [OPTION]... PID\n"
	"       jis methods --list DIR\n\n"
	"Changes which Java methods' calls are recorded of a JVM, while a recording that was "
	"begun\n"
	"with --methods is under way; or lists those of a trace, with those that could not be.\n\n"
	"      --on LIST     also these: patterns, presets, @FILE as of jis record --methods\n"
	"      --off LIST    no longer these\n"
	"      --list        list the methods of the trace in DIR\n"
	"  -o, --output DIR  the recording meant, where there are several\n"
	"  -q, --quiet       say only what went wrong\n"
	"  -h, --help        this text";

struct request {
	char *rules;
	const char *directory;
	pid_t pid;
	bool list;
};

static int told(const char *directory, pid_t pid, int err, const char *reply)
{
	if ((err == -ECONNREFUSED || err == -ENOENT) && !reply[0])
		cli_error("%s: no recording is under way there", directory);
	else if ((err == -EACCES || err == -EPERM) && !reply[0])
		cli_error("%s: only root and the user who records may do that", directory);
	else
		cli_error("process %d: %s", (int)pid, reply[0] ? reply : strerror(-err));
	return CLI_FAILED;
}

static int change(const char *directory, const struct request *q)
{
	const struct timespec step = {0, STEP_MS * 1000000};
	char reply[256] = "";
	int err = jisctl_control_methods(directory, q->pid, q->rules, reply, sizeof(reply)), ms;

	for (ms = 0; !err && ms < WAIT_MS; ms += STEP_MS) {
		err = jisctl_control_agent(directory, "methods-done", q->pid, 0, reply,
					   sizeof(reply));
		if (err != -EINPROGRESS)
			break;
		err = 0;
		nanosleep(&step, NULL);
	}
	if (!err && ms >= WAIT_MS)
		err = -ETIMEDOUT;
	if (err)
		return told(directory, q->pid, err, reply);
	cli_note("process %d: %s", (int)q->pid, reply);
	return CLI_OK;
}

/* Returns -1 to go on, or the exit status. */
static int parse(struct request *q, int argc, char **argv)
{
	static const struct option options[] = {{"on", required_argument, NULL, 'n'},
						{"off", required_argument, NULL, 'f'},
						{"list", no_argument, NULL, 'l'},
						{"output", required_argument, NULL, 'o'},
						{"quiet", no_argument, NULL, 'q'},
						{"help", no_argument, NULL, 'h'},
						{NULL, 0, NULL, 0}};
	uint32_t pid;
	int opt;

	while ((opt = cli_getopt(argc, argv, ":o:qh", options)) != -1) {
		if (opt == 'h') {
			puts(help);
			return CLI_OK;
		}
		if ((opt == 'n' && methods_list_add(&q->rules, "--on", optarg, NULL)) ||
		    (opt == 'f' && methods_list_add(&q->rules, "--off", optarg, "!")) ||
		    opt == '?' || opt == ':')
			return CLI_USAGE;
		q->list |= opt == 'l';
		cli_quiet |= opt == 'q';
		if (opt == 'o')
			q->directory = optarg;
	}
	if (q->list && (q->rules || q->directory)) {
		cli_error("--on, --off and --output are of recordings; --list reads a trace");
		return CLI_USAGE;
	}
	if (q->list)
		return -1;
	if (!q->rules) {
		cli_error("what is to change? --on LIST, --off LIST; usage: %s", usage);
		return CLI_USAGE;
	}
	if (optind != argc - 1) {
		cli_error("which process? usage: %s", usage);
		return CLI_USAGE;
	}
	if (cli_parse_u32("PID", argv[optind], 1, INT_MAX, &pid))
		return CLI_USAGE;
	q->pid = (pid_t)pid;
	return -1;
}

int cmd_methods(int argc, char **argv)
{
	struct request q = {.pid = 0};
	struct recordings r = {.nr = 0};
	int status = parse(&q, argc, argv);
	const char *directory;

	if (status < 0 && q.list) {
		directory = cli_directory(argc, argv, "jis methods --list DIR");
		status = directory ? methods_print(directory) : CLI_USAGE;
	} else if (status < 0) {
		directory = q.directory;
		if (!directory) {
			recordings_find(&r);
			directory = recording_choose(&r, q.pid, true);
		}
		status = directory ? change(directory, &q) : CLI_FAILED;
		recordings_free(&r);
	}
	free(q.rules);
	return status;
}
