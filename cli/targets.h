/* SPDX-License-Identifier: MIT */
/*
 * What `jis record` records beside its command: the options that name processes, threads, cgroups
 * and programs, and what is told when they cannot be had.
 */
#ifndef JIS_CLI_TARGETS_H
#define JIS_CLI_TARGETS_H

#include <stdbool.h>

#include "libjisctl/jisctl.h"

#define TARGETS_MAX 256

struct targets {
	struct jisctl_target list[TARGETS_MAX];
	int nr;
	bool follow_given, follow_fork, follow_exec;
	const char *name; /* of the command, or of the only process; may be NULL */
};

/* For getopt_long(). */
#define TARGETS_OPTIONS                                                                            \
	{"pid", required_argument, NULL, 'p'}, {"tid", required_argument, NULL, 'T'},              \
		{"cgroup", required_argument, NULL, 'G'},                                          \
		{"executable", required_argument, NULL, 'E'}, {"all", no_argument, NULL, 'X'},     \
		{"name", required_argument, NULL, 'n'},                                            \
	{                                                                                          \
		"follow", required_argument, NULL, 'F'                                             \
	}

#define TARGETS_HELP                                                                               \
	"      --tid TID         record this thread only\n"                                        \
	"      --cgroup PATH     record what is in this cgroup, or below it\n"                     \
	"      --executable NAME record processes that run a program of this name\n"               \
	"      --all             record every thread of the machine\n"                             \
	"      --name NAME       what tools are to call COMMAND, or the process of -p\n"           \
	"      --follow LIST     what processes do and still are recorded: fork, exec, none\n"     \
	"                        (default fork,exec for COMMAND, else exec)\n"

/* targets_option - takes one of the options above. Returns 0, or -1 after a message. */
int targets_option(struct targets *t, int opt, const char *value);

/* targets_check - is there something to record, with or without a command? Returns 0 or -1. */
int targets_check(const struct targets *t, bool command);

/* targets_command - the command as a target: process @pid. */
struct jisctl_target targets_command(const struct targets *t, pid_t pid);

/* targets_add - adds them, and process @command (0: none). Returns 0, or -errno after a message. */
int targets_add(const struct targets *t, struct jisctl_session *s, pid_t command);

#endif /* JIS_CLI_TARGETS_H */
