/* SPDX-License-Identifier: MIT */
/*
 * Targets of `jis record`: options in, targets of the session out.
 */
#include "targets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "trace/manifest.h"

#define CGROUP_ROOT "/sys/fs/cgroup/"

static struct jisctl_target *target_new(struct targets *t, enum jisctl_target_kind kind)
{
	struct jisctl_target *target = &t->list[t->nr];

	if (t->nr == TARGETS_MAX) {
		cli_error("at most %d targets", TARGETS_MAX);
		return NULL;
	}
	*target = (struct jisctl_target){.size = sizeof(*target), .kind = kind};
	t->nr++;
	return target;
}

static int take_number(struct targets *t, enum jisctl_target_kind kind, const char *option,
		       const char *text)
{
	struct jisctl_target *target;
	uint32_t pid;

	if (cli_parse_u32(option, text, 1, INT32_MAX, &pid))
		return -1;
	target = target_new(t, kind);
	if (!target)
		return -1;
	target->pid = (pid_t)pid;
	return 0;
}

static int take_name(struct targets *t, enum jisctl_target_kind kind, const char *option,
		     const char *text)
{
	struct jisctl_target *target;
	char *path = NULL;

	if (!*text) {
		cli_error("--%s: the name is empty", option);
		return -1;
	}
	target = target_new(t, kind);
	if (!target)
		return -1;
	target->name = text;
	if (kind == JISCTL_TARGET_CGROUP && *text != '/') {
		if (asprintf(&path, CGROUP_ROOT "%s", text) < 0)
			return -1;
		target->name = path; /* for good */
	}
	return 0;
}

static int take_follow(struct targets *t, const char *text)
{
	bool none = strcmp(text, "none") == 0;

	t->follow_given = true;
	t->follow_fork =
		!strcmp(text, "fork") || !strcmp(text, "fork,exec") || !strcmp(text, "exec,fork");
	t->follow_exec = strstr(text, "exec") != NULL;
	if (none || t->follow_fork || strcmp(text, "exec") == 0)
		return 0;
	cli_error("--follow: \"%s\" is none of fork, exec, \"fork,exec\" and none", text);
	return -1;
}

static int take_given_name(struct targets *t, const char *text)
{
	const char *why = process_name_wrong(text);

	if (why)
		cli_error("--name: %s", why);
	t->name = text;
	return why ? -1 : 0;
}

int targets_option(struct targets *t, int opt, const char *value)
{
	switch (opt) {
	case 'p':
		return take_number(t, JISCTL_TARGET_PROCESS, "pid", value);
	case 'T':
		return take_number(t, JISCTL_TARGET_THREAD, "tid", value);
	case 'G':
		return take_name(t, JISCTL_TARGET_CGROUP, "cgroup", value);
	case 'E':
		return take_name(t, JISCTL_TARGET_EXECUTABLE, "executable", value);
	case 'X':
		return target_new(t, JISCTL_TARGET_ALL) ? 0 : -1;
	case 'F':
		return take_follow(t, value);
	case 'n':
		return take_given_name(t, value);
	}
	return -1;
}

/* A name is for one process. */
static int name_check(const struct targets *t, bool command)
{
	int n = 0;

	for (int i = 0; i < t->nr; i++)
		n += t->list[i].kind == JISCTL_TARGET_PROCESS;
	if (!t->name || command || n == 1)
		return 0;
	cli_error("--name: it is for -- COMMAND or the process of a single -p PID; %s",
		  n ? "there are several: leave it out, and give each JVM its own by jis attach "
		      "--name"
		    : "there is neither");
	return -1;
}

int targets_check(const struct targets *t, bool command)
{
	int i;

	if (!command && !t->nr) {
		cli_error("record what? give -- COMMAND or -p PID (jis record --help)");
		return -1;
	}
	for (i = 0; command && i < t->nr; i++) {
		if (t->list[i].kind > JISCTL_TARGET_THREAD)
			continue;
		cli_error("either -- COMMAND or -p PID, not both");
		return -1;
	}
	return name_check(t, command);
}

static int flags_of(const struct targets *t, bool command)
{
	bool fork = t->follow_given ? t->follow_fork : command;
	bool exec = !t->follow_given || t->follow_exec;
	int flags = fork ? JISCTL_TARGET_CHILDREN : 0;

	if (!exec)
		flags |= JISCTL_TARGET_UNTIL_EXEC | (command ? JISCTL_TARGET_FIRST_EXEC : 0);
	return flags;
}

static void explain(const struct jisctl_target *target, bool command, int err)
{
	static const char *const options[] = {"-p", "--tid", "--cgroup", "--executable", "--all"};
	char what[512] = "";

	if (command)
		snprintf(what, sizeof(what), " COMMAND");
	else if (target->kind <= JISCTL_TARGET_THREAD)
		snprintf(what, sizeof(what), " %d", (int)target->pid);
	else if (target->name)
		snprintf(what, sizeof(what), " %s", target->name);
	cli_error("%s%s: %s", command ? "--" : options[target->kind], what,
		  err == -EOPNOTSUPP
			  ? "the ftrace backend cannot do that, the kernel module (jis.ko) can"
		  : err == -ESRCH
			  ? (target->kind == JISCTL_TARGET_THREAD ? "there is no such thread"
								  : "there is no such process")
		  : err == -EBADF ? "that is no cgroup of the unified hierarchy (cgroup2)"
				  : strerror(-err));
}

static int target_add(struct jisctl_session *s, const struct jisctl_target *target, bool command)
{
	int err = jisctl_session_add_target2(s, target);

	if (err == -EEXIST)
		return 0;
	if (err)
		explain(target, command, err);
	return err;
}

struct jisctl_target targets_command(const struct targets *t, pid_t pid)
{
	return (struct jisctl_target){.size = sizeof(struct jisctl_target),
				      .kind = JISCTL_TARGET_PROCESS,
				      .pid = pid,
				      .flags = flags_of(t, true),
				      .name = t->name};
}

int targets_add(const struct targets *t, struct jisctl_session *s, pid_t command)
{
	struct jisctl_target target = targets_command(t, command);
	int i, err = command ? target_add(s, &target, true) : 0;

	for (i = 0; i < t->nr && !err; i++) {
		target = t->list[i];
		if (target.kind == JISCTL_TARGET_PROCESS || target.kind == JISCTL_TARGET_EXECUTABLE)
			target.flags = flags_of(t, false);
		if (target.kind == JISCTL_TARGET_PROCESS)
			target.name = t->name;
		err = target_add(s, &target, false);
	}
	return err;
}
