/* SPDX-License-Identifier: MIT */
/*
 * `jis record`: runs a command, or watches running processes, and records them into a directory.
 * Owns the life of the session: duration, the command's end and that of others which have joined,
 * and what is said about it.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <jis/agent.h>

#include "cli.h"
#include "methods_list.h"
#include "record.h"
#include "record_summary.h"

static void on_log(void *ctx, enum jisctl_level level, const char *text)
{
	if (level == JISCTL_ERROR)
		cli_error("%s", text);
	else if (level == JISCTL_WARNING)
		cli_warn("%s", text);
	else
		cli_note("%s", text);
}

static char *command_line(char **argv)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	for (int i = 0; argv[i]; i++)
		fprintf(f, "%s%s", i ? " " : "", argv[i]);
	fclose(f);
	return text;
}

static int start_command(struct record *r)
{
	int err = run_command_fork(&r->command, jisctl_session_socket(r->session),
				   r->options.agent_options);

	if (err)
		return err;
	err = targets_add(&r->targets, r->session, r->command.child.pid);
	if (!err) {
		err = jisctl_session_start(r->session);
		if (err)
			cli_error("cannot start recording: %s", strerror(-err));
	}
	if (err) {
		run_command_drop(&r->command);
		return CLI_FAILED;
	}
	return run_command_go(&r->command);
}

static int start_pids(struct record *r)
{
	int err;

	if (targets_add(&r->targets, r->session, 0))
		return CLI_FAILED;
	err = jisctl_session_start(r->session);
	if (err)
		cli_error("cannot start recording: %s", strerror(-err));
	return err ? CLI_FAILED : CLI_OK;
}

/*
 * To JVMs that run already, and are recorded as somebody has named them; not to each JVM of the
 * machine.
 */
static void attach_running(struct record *r)
{
	if (r->no_agent || r->all || r->command.argv)
		return;
	if (!r->options.agent)
		cli_warn("running JVMs are not attached to, so only their kernel side is recorded: "
			 "libjisagent.so is neither beside the jis program nor in ../lib/jis");
	else
		jisctl_session_attach_all(r->session);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The command has ended. Others that have joined it may go on, unless somebody wants an end. */
static const char *command_end_reason(struct record *r, uint32_t joined)
{
	if (!joined)
		return "command ended";
	if (signals_count())
		return r->joined_told ? "interrupted" : "command ended";
	if (!r->joined_told)
		cli_note("the command has ended; the recording goes on for %" PRIu32
			 " that joined it (Ctrl-C ends it)",
			 joined);
	r->joined_told = true;
	return NULL;
}

/* What ends the recording now, or NULL. */
static const char *end_reason(struct record *r, uint64_t deadline)
{
	struct jisctl_counts counts = {.size = sizeof(counts)};
	const char *reason = NULL;

	run_command_reap(&r->command);
	if (r->command.ended || !r->command.argv)
		jisctl_session_counts(r->session, &counts);
	if (r->command.ended)
		reason = command_end_reason(r, counts.joined);
	else if (signals_count() > (r->command.argv ? 1 : 0))
		reason = "interrupted";
	if (reason)
		return reason;
	if (!r->command.ended)
		signals_forward(&r->command);
	if (deadline && now_ns() >= deadline)
		return "duration";
	return r->command.argv || counts.targets ? NULL : "processes ended";
}

static int record_loop(struct record *r)
{
	uint64_t deadline = r->duration_ns ? now_ns() + r->duration_ns : 0, now;
	int timeout, err;

	for (;;) {
		r->reason = end_reason(r, deadline);
		if (r->reason)
			return 0;
		timeout = 250;
		now = now_ns();
		if (deadline && deadline > now && deadline - now < 250000000u)
			timeout = (int)((deadline - now) / 1000000u) + 1;
		err = jisctl_session_run(r->session, timeout);
		if (err == 1) {
			r->reason = jisctl_session_end_reason(r->session);
			if (!r->reason)
				r->reason = "ended by the session";
			if (!strcmp(r->reason, "max-size"))
				cli_warn("--max-size reached: the recording ends here");
			return 0;
		}
		if (err) {
			r->reason = err == -ENOSPC ? "disk full" : "write error";
			cli_error("%s: cannot write: %s; what was recorded until now is kept",
				  r->options.directory, strerror(-err));
			return err;
		}
	}
}

/* After the recording: wait for a command that still runs. */
static void wait_command(struct record *r)
{
	if (!r->command.argv || r->command.ended)
		return;
	if (!strcmp(r->reason, "interrupted")) {
		kill(r->command.child.pid, SIGTERM);
		cli_note("the command was sent SIGTERM and is left to itself");
		r->command.status = 130;
		return;
	}
	cli_note("the recording has ended; waiting for the command (Ctrl-C ends it)");
	run_command_wait(&r->command);
}

static int record_session(struct record *r)
{
	int err, stop_err, status;

	if (signals_count()) {
		cli_error("interrupted before the recording began");
		status = signals_status();
	} else {
		status = r->command.argv ? start_command(r) : start_pids(r);
	}
	if (!status)
		attach_running(r);
	if (status) { /* nothing was run: nothing is left behind */
		jisctl_session_discard(r->session);
		return status;
	}
	cli_note("recording into %s with the %s backend%s", r->options.directory,
		 jisctl_session_backend(r->session), r->command.argv ? "" : "; Ctrl-C ends it");
	err = record_loop(r);
	stop_err = jisctl_session_stop(r->session, r->reason);
	if (stop_err && !err)
		cli_error("%s: the trace could not be completed: %s", r->options.directory,
			  strerror(-stop_err));
	record_summary(r->options.directory, r->session, r->command.argv && !r->no_agent);
	if (r->methods && !err && !stop_err)
		methods_save(r->options.directory);
	if (r->options.methods_dry_run && !err && !stop_err)
		methods_print(r->options.directory);
	wait_command(r);
	if (err || stop_err)
		return CLI_FAILED;
	return r->command.argv ? r->command.status : CLI_OK;
}

/* Who called sudo may read what is recorded for him. */
static void share_with_caller(struct record *r)
{
	const char *gid = getenv("SUDO_GID");
	char *end = NULL;
	unsigned long number = gid ? strtoul(gid, &end, 10) : 0;

	if (geteuid() != 0 || !gid || !*gid || *end || number >= UINT32_MAX)
		return;
	r->options.set_group = 1;
	r->options.group = (gid_t)number;
}

static int create_error(const struct record *r, int err)
{
	cli_error("cannot record into %s: %s%s", r->options.directory,
		  err == -EEXIST  ? "it exists and is not empty"
		  : err == -EBUSY ? "another recording is under way there"
				  : strerror(-err),
		  err == -EEXIST   ? "; choose another with -o"
		  : err == -EBUSY  ? "; choose another with -o, or take part in it with --join"
		  : err == -ENODEV ? "; jis doctor says what is missing"
				   : "");
	return CLI_FAILED;
}

/* A recording of our own. */
static int record_run(struct record *r)
{
	char *text = r->command.argv ? command_line(r->command.argv) : NULL;
	int err, status;

	r->options.command = text;
	share_with_caller(r);
	if (!agent_installed(r->agent_library))
		r->options.agent = r->agent_library;
	launch_raise_files();
	signals_watch(); /* from here on there is something to clean up */
	err = jisctl_session_create(&r->options, &r->session);
	if (err) {
		free(text);
		return create_error(r, err);
	}
	signals_wake(r->session);
	status = record_session(r);
	signals_wake(NULL);
	jisctl_session_destroy(r->session);
	agent_copy_remove(&r->command.agent);
	free(text);
	return status;
}

int cmd_record(int argc, char **argv)
{
	struct record r = {
		.options = {.size = sizeof(r.options),
			    .directory = "jis-trace",
			    .log = on_log,
			    .methods_budget = METHODS_BUDGET},
		.java = JIS_FEATURES_DEFAULT,
	};
	int status;

	r.options.java = &r.java;
	status = record_parse(&r, argc, argv);
	if (status >= 0)
		return status;
	status = run_command_check(&r.command);
	if (status)
		return status;
	if (geteuid() != 0 && access("/dev/jis", R_OK | W_OK)) {
		cli_error("needs root to see what the kernel does with threads; use sudo (the "
			  "command "
			  "still runs as you)");
		return CLI_FAILED;
	}
	status = r.join ? join_run(&r) : record_run(&r);
	free(r.methods);
	return status;
}
