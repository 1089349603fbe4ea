/* SPDX-License-Identifier: MIT */
/*
 * The agent's library where a command's user can read it: as installed, or a copy in a directory
 * made for it. That may lie in /tmp, where others prepare names: nothing there is followed.
 */
#ifndef JIS_CLI_AGENT_COPY_H
#define JIS_CLI_AGENT_COPY_H

#include <limits.h>
#include <stddef.h>

#include "launch.h"

struct agent_copy {
	char path[PATH_MAX]; /* of the library */
	char directory[64];  /* "": there is no copy */
};

/*
 * agent_copy_find - finds the agent's path as @user can read it: beside the tool, in ../lib/jis, or
 * a copy, when the user cannot read it there or the path has a space. Copies that killed recorders
 * have left are removed.
 * Returns 0, or -1 with the reason in @why.
 */
int agent_copy_find(struct agent_copy *c, const struct launch_user *user, char *why, size_t n);

/* agent_installed - the agent as it is installed: beside the tool, or in ../lib/jis. 0 or -1. */
int agent_installed(char path[PATH_MAX]);

/* agent_copy_remove - removes the copy if there is one. */
void agent_copy_remove(struct agent_copy *c);

#endif /* JIS_CLI_AGENT_COPY_H */
