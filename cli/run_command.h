/* SPDX-License-Identifier: MIT */
/*
 * The command that `jis record` runs, and the signals meant for it: from when it is forked, and
 * waits, until its exit status is known.
 */
#ifndef JIS_CLI_RUN_COMMAND_H
#define JIS_CLI_RUN_COMMAND_H

#include <stdbool.h>

#include "agent_copy.h"
#include "launch.h"
#include "libjisctl/jisctl.h"

struct run_command {
	char **argv;	       /* NULL: there is no command */
	const char *user_name; /* --user */
	struct launch_user user;
	struct launch child;
	struct agent_copy agent;
	int status; /* its exit status, when it has ended */
	bool ended;
};

/* run_command_check - can it be run, and as whom? Returns CLI_OK, or the status after a message. */
int run_command_check(struct run_command *c);

/*
 * run_command_fork - forks it; it waits. @socket: of the recorder. @agent_options: for the agents
 * of its JVMs, NULL: they get none. Returns CLI_OK, or the status after a message.
 */
int run_command_fork(struct run_command *c, const char *socket, const char *agent_options);

/* run_command_go - lets it run; or run_command_drop() lets it go unrun. Likewise. */
int run_command_go(struct run_command *c);
void run_command_drop(struct run_command *c);

/* run_command_reap - takes its status if it has ended. */
void run_command_reap(struct run_command *c);
/* run_command_wait - until it has ended. */
void run_command_wait(struct run_command *c);

/* Signals that end things are watched from here on; each wakes @s, if there is one. */
void signals_watch(void);
void signals_wake(struct jisctl_session *s);
/* How many there were, and the exit status that the last one means. */
int signals_count(void);
int signals_status(void);
/* Those that came from a process reach only us: the command gets each of them too. */
void signals_forward(const struct run_command *c);

#endif /* JIS_CLI_RUN_COMMAND_H */
