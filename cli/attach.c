/* SPDX-License-Identifier: MIT */
/*
 * `jis attach PID` and `jis detach PID`: ask the recorder of a recording under way to bring the
 * agent into a running JVM, or to take it out again, and wait until it has.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "libjisctl/jisctl.h"
#include "libjisctl/unix_socket.h"
#include "recordings.h"
#include "trace/manifest.h"

#define STEP_MS 50
#define WAIT_MS 60000

struct request {
	const char *directory; /* -o */
	const char *name;      /* --name */
	pid_t pid;
	int flags;
};

/* Recordings under way, from the links their recorders leave beside their sockets. */
void recordings_find(struct recordings *r)
{
	char link[PATH_MAX], target[PATH_MAX], reply[256];
	DIR *dir = opendir(UNIX_RUN_DIRECTORY);
	struct dirent *e;
	ssize_t n;

	memset(r, 0, sizeof(*r));
	while (dir && (e = readdir(dir)) && r->nr < RECORDINGS_MAX) {
		snprintf(link, sizeof(link), UNIX_RUN_DIRECTORY "/%s/" UNIX_RUN_SESSION, e->d_name);
		n = readlink(link, target, sizeof(target) - 1);
		if (n <= 0)
			continue;
		target[n] = 0;
		if (jisctl_control(target, "status", reply, sizeof(reply)) == 0)
			r->directory[r->nr++] = strdup(target);
	}
	if (dir)
		closedir(dir);
}

void recordings_free(struct recordings *r)
{
	while (r->nr)
		free(r->directory[--r->nr]);
}

/* How far the agent in the JVM is: see jisctl_control_agent(). */
static int agent_state(const char *directory, pid_t pid, char reply[256])
{
	return jisctl_control_agent(directory, "agent", pid, 0, reply, 256);
}

static bool has_agent(const char *directory, pid_t pid)
{
	char reply[256];
	int err = agent_state(directory, pid, reply);

	return !err || err == -EINPROGRESS;
}

const char *recording_choose(const struct recordings *r, pid_t pid, bool detach)
{
	int i;

	for (i = 0; detach && i < r->nr; i++)
		if (has_agent(r->directory[i], pid))
			return r->directory[i];
	if (r->nr == 1)
		return r->directory[0];
	if (!r->nr)
		cli_error("no recording is under way; %s",
			  detach ? "a JVM's agent leaves by itself when its recording ends"
				 : "jis record -p PID begins one and attaches");
	else if (detach)
		cli_error("no recording under way has an agent in process %d", (int)pid);
	else
		cli_error("%d recordings are under way: say into which with -o DIR", r->nr);
	for (i = 0; i < r->nr; i++)
		cli_error("  %s", r->directory[i]);
	return NULL;
}

static int told(const char *directory, pid_t pid, int err, const char *reply)
{
	if (err == -ECONNREFUSED && !reply[0])
		err = -ENOENT;
	if (err == -ENOENT && !reply[0])
		cli_error("%s: no recording is under way there", directory);
	else if ((err == -EACCES || err == -EPERM) && !reply[0])
		cli_error("%s: only root and the user who records may do that", directory);
	else
		cli_error("process %d: %s", (int)pid, reply[0] ? reply : strerror(-err));
	return CLI_FAILED;
}

/* Until the agent is there, or has gone; returns its state, -EINPROGRESS when it takes too long. */
static int agent_wait(const char *directory, pid_t pid, bool leaving, char reply[256])
{
	const struct timespec step = {0, STEP_MS * 1000000};
	int ms = 0, err;

	for (;;) {
		err = agent_state(directory, pid, reply);
		if (err != -EINPROGRESS && !(leaving && !err))
			return err;
		if (ms > WAIT_MS)
			return -EINPROGRESS;
		nanosleep(&step, NULL);
		ms += STEP_MS;
	}
}

static int attach_to(const char *directory, const struct request *q)
{
	char reply[256] = "";
	int err = jisctl_control_attach(directory, q->pid, q->flags, q->name, reply, sizeof(reply));

	if (err && err != -EALREADY)
		return told(directory, q->pid, err, reply);
	if (err)
		cli_note("process %d: %s", (int)q->pid, reply);
	err = agent_wait(directory, q->pid, false, reply);
	if (err == -EINPROGRESS)
		snprintf(reply, sizeof(reply), "the agent is loaded, and not ready after %d s",
			 WAIT_MS / 1000);
	if (err)
		return told(directory, q->pid, err, reply);
	cli_note("process %d is attached; it is recorded into %s", (int)q->pid, directory);
	return CLI_OK;
}

static int detach_from(const char *directory, const struct request *q)
{
	char reply[256] = "";
	int err = jisctl_control_agent(directory, "detach", q->pid, 0, reply, sizeof(reply));

	if (err)
		return told(directory, q->pid, err, reply);
	err = agent_wait(directory, q->pid, true, reply);
	if (err == -EINPROGRESS)
		snprintf(reply, sizeof(reply), "the agent has not left after %d s", WAIT_MS / 1000);
	if (err != -ECONNABORTED && err != -ENOENT)
		return told(directory, q->pid, err, reply);
	cli_note("process %d: the agent has left", (int)q->pid);
	return CLI_OK;
}

/* Those of attach only. */
static int take_attach_option(struct request *q, int opt, const char *value)
{
	const char *why = opt == 'n' ? process_name_wrong(value) : NULL;

	if (opt == 'W')
		q->flags |= JISCTL_ATTACH_NO_REWRITE;
	else
		q->name = value;
	if (why)
		cli_error("--name: %s", why);
	return why ? -1 : 0;
}

/* Returns -1 to go on, or the exit status. */
static int parse(struct request *q, int argc, char **argv, const char *usage, const char *what)
{
	static const struct option options[] = {{"output", required_argument, NULL, 'o'},
						{"no-rewrite", no_argument, NULL, 'W'},
						{"name", required_argument, NULL, 'n'},
						{"quiet", no_argument, NULL, 'q'},
						{"help", no_argument, NULL, 'h'},
						{NULL, 0, NULL, 0}};
	bool attach = !strcmp(argv[0], "attach");
	uint32_t pid;
	int opt;

	while ((opt = cli_getopt(argc, argv, ":o:qh", options)) != -1) {
		if (opt == 'o') {
			q->directory = optarg;
		} else if ((opt == 'W' || opt == 'n') && attach) {
			if (take_attach_option(q, opt, optarg))
				return CLI_USAGE;
		} else if (opt == 'q') {
			cli_quiet = true;
		} else if (opt == 'h') {
			printf("usage: %s\n\n%s\n", usage, what);
			return CLI_OK;
		} else {
			if (opt == 'W' || opt == 'n')
				cli_error("unknown option --%s; see jis %s --help",
					  opt == 'W' ? "no-rewrite" : "name", cli_verb);
			return CLI_USAGE;
		}
	}
	if (optind != argc - 1) {
		cli_error("%s usage: %s",
			  optind < argc ? "one process at a time:" : "which process?", usage);
		return CLI_USAGE;
	}
	if (cli_parse_u32("PID", argv[optind], 1, INT_MAX, &pid))
		return CLI_USAGE;
	q->pid = (pid_t)pid;
	return -1;
}

static int run(const struct request *q, bool detach)
{
	const char *directory = q->directory;
	struct recordings r = {.nr = 0};
	int status = CLI_FAILED;

	if (!directory) {
		recordings_find(&r);
		directory = recording_choose(&r, q->pid, detach);
	}
	if (directory)
		status = detach ? detach_from(directory, q) : attach_to(directory, q);
	recordings_free(&r);
	return status;
}

int cmd_attach(int argc, char **argv)
{
	struct request q = {.pid = 0};
	int status = parse(
		&q, argc, argv, "jis attach [OPTION]... PID",
		"Brings the agent into a JVM that runs, for the recording under way: names of its\n"
		"threads, collections, markers. Its kernel side is recorded from then on too.\n\n"
		"  -o, --output DIR  the recording meant, where there are several\n"
		"      --name NAME   what tools are to call this JVM, instead of java\n"
		"      --no-rewrite  change no class of the JVM: JVMTI's own events only\n"
		"  -q, --quiet       say only what went wrong\n"
		"  -h, --help        this text");

	return status >= 0 ? status : run(&q, false);
}

int cmd_detach(int argc, char **argv)
{
	struct request q = {.pid = 0};
	int status = parse(
		&q, argc, argv, "jis detach [OPTION]... PID",
		"Has the agent leave a JVM: all of its classes get their own bytes back. The\n"
		"kernel side is recorded on.\n\n"
		"  -o, --output DIR  the recording meant, where there are several\n"
		"  -q, --quiet       say only what went wrong\n"
		"  -h, --help        this text");

	return status >= 0 ? status : run(&q, true);
}
