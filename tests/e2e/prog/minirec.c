/* SPDX-License-Identifier: MIT */
/*
 * The smallest recorder on libjisctl, for tests of the library: minirec [OPTION...] DIR --
 * COMMAND... or minirec [OPTION...] -p PID DIR. Prints one line of counts at the end; its exit
 * status is the command's. -b kmod|ftrace  -c tsc|raw  -B kernel-buffer-bytes  -P pool-bytes  -m
 * max-bytes  -f flush-ms -a all switches  -F flight recorder  -n the command's children are no
 * targets  -t seconds (with -p)
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libjisctl/jisctl.h"

static struct jisctl_session *session;
static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	interrupted |= sig == SIGINT || sig == SIGTERM;
	jisctl_session_wake(session);
}

static void on_log(void *ctx, enum jisctl_level level, const char *text)
{
	static const char *const words[] = {"info", "warning", "error"};

	fprintf(stderr, "minirec: %s: %s\n", words[level], text);
}

static void die(const char *what, int err)
{
	fprintf(stderr, "minirec: %s: %s\n", what, strerror(-err));
	exit(99);
}

static pid_t launch(char **argv, int *go)
{
	int fds[2];
	pid_t pid;
	char c;

	if (pipe(fds))
		die("pipe", -errno);
	pid = fork();
	if (pid < 0)
		die("fork", -errno);
	if (pid == 0) {
		close(fds[1]);
		if (read(fds[0], &c, 1) != 1)
			_exit(98);
		close(fds[0]);
		setenv("JIS_SOCKET", jisctl_session_socket(session), 1);
		execvp(argv[0], argv);
		_exit(127);
	}
	close(fds[0]);
	*go = fds[1];
	return pid;
}

static int take_option(struct jisctl_options *o, int opt, int *children, pid_t *pid, int *seconds)
{
	switch (opt) {
	case 'b':
		o->backend = optarg[0] == 'k' ? JISCTL_BACKEND_KMOD : JISCTL_BACKEND_FTRACE;
		return 0;
	case 'c':
		o->clock = optarg[0] == 't' ? JISCTL_CLOCK_TSC : JISCTL_CLOCK_RAW;
		return 0;
	case 'B':
		o->buffer_bytes = strtoull(optarg, NULL, 0);
		return 0;
	case 'P':
		o->pool_bytes = strtoull(optarg, NULL, 0);
		return 0;
	case 'm':
		o->max_bytes = strtoull(optarg, NULL, 0);
		return 0;
	case 'f':
		o->flush_ms = (uint32_t)atoi(optarg);
		return 0;
	case 'a':
		o->all_switches = 1;
		return 0;
	case 'F':
		o->flight_recorder = 1;
		return 0;
	case 'n':
		*children = 0;
		return 0;
	case 'p':
		*pid = atoi(optarg);
		return 0;
	case 't':
		*seconds = atoi(optarg);
		return 0;
	}
	return -1;
}

static int record(pid_t pid, int go, int seconds)
{
	struct jisctl_counts counts = {.size = sizeof(counts)};
	time_t end = time(NULL) + seconds;
	int status = 0, err = 0;

	if (go >= 0 && write(go, "g", 1) != 1)
		die("go", -errno);
	while (!interrupted && !err) {
		err = jisctl_session_run(session, 100);
		if (go >= 0 && waitpid(pid, &status, WNOHANG) == pid)
			break;
		jisctl_session_counts(session, &counts);
		if (go < 0 && (!counts.targets || (seconds && time(NULL) >= end)))
			break;
	}
	if (err)
		fprintf(stderr, "minirec: run: %d (%s)\n", err, jisctl_session_end_reason(session));
	err = jisctl_session_stop(session, "command ended");
	if (err)
		fprintf(stderr, "minirec: stop: %s\n", strerror(-err));
	jisctl_session_counts(session, &counts);
	printf("produced=%llu stored=%llu lost=%llu bytes=%llu processes=%u\n",
	       (unsigned long long)counts.produced, (unsigned long long)counts.stored,
	       (unsigned long long)counts.lost, (unsigned long long)counts.bytes, counts.processes);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	struct jisctl_options options = {.size = sizeof(options), .log = on_log};
	int opt, err, go = -1, children = 1, seconds = 0, status;
	pid_t pid = 0;

	while ((opt = getopt(argc, argv, "+b:c:B:P:m:f:aFnp:t:")) != -1)
		if (take_option(&options, opt, &children, &pid, &seconds))
			return 2;
	if (optind >= argc)
		return 2;
	options.directory = argv[optind++];
	options.command = optind < argc ? argv[optind] : NULL;
	if (optind < argc && strcmp(argv[optind], "--") == 0)
		options.command = argv[++optind];
	err = jisctl_session_create(&options, &session);
	if (err)
		die("create", err);
	signal(SIGCHLD, on_signal);
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	if (!pid)
		pid = launch(argv + optind, &go);
	err = jisctl_session_add_target(session, pid, children ? JISCTL_TARGET_CHILDREN : 0);
	if (err)
		die("target", err);
	err = jisctl_session_start(session);
	if (err)
		die("start", err);
	status = record(pid, go, seconds);
	jisctl_session_destroy(session);
	return status;
}
