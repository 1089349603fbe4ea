/* SPDX-License-Identifier: MIT */
/*
 * What `jis record` has been asked to do. record_options.c fills it; record.c runs a session by it,
 * join.c adds a command to the session of another recorder.
 */
#ifndef JIS_CLI_RECORD_H
#define JIS_CLI_RECORD_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "libjisctl/jisctl.h"
#include "run_command.h"
#include "targets.h"

#define METHODS_BUDGET 15 /* --methods-budget */

struct record {
	struct jisctl_options options;
	struct jisctl_session *session;
	struct targets targets;
	struct run_command command; /* argv NULL: none */
	const char *join;	    /* directory of the recording to join, or NULL */
	bool no_agent, all;
	char agent_library[PATH_MAX]; /* for JVMs that are attached to */
	char agent_options[64];	      /* for those of commands */
	uint64_t duration_ns;
	uint32_t java; /* JIS_FEATURE_* */
	bool stacks;
	char *methods; /* rules */
	const char *argument_strings;
	bool no_jvm_flags;
	bool joined_told; /* that the recording goes on without its command */
	const char *reason;
};

/* record_parse - takes the command line. Returns -1 to go on, or the exit status. */
int record_parse(struct record *r, int argc, char **argv);

/* join_run - runs the command as a target of the recording in r->join. Returns the exit status. */
int join_run(struct record *r);

#endif /* JIS_CLI_RECORD_H */
