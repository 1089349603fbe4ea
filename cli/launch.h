/* SPDX-License-Identifier: MIT */
/*
 * Starting the command of `jis record`: as which user, with which environment, held until the
 * session knows it.
 */
#ifndef JIS_CLI_LAUNCH_H
#define JIS_CLI_LAUNCH_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct launch_user {
	uid_t uid;
	gid_t gid;
	char name[256];
	char home[PATH_MAX];
};

/*
 * launch_user_find - whom the command runs as: @name (a user name or uid), or when NULL the user
 * who called sudo, or else the caller. Returns 0 or -1 after a message.
 */
int launch_user_find(const char *name, struct launch_user *user);

/* A command that has been forked and waits for launch_go(). */
struct launch {
	pid_t pid;
	int go_fd;    /* written: exec now; closed: give up */
	int error_fd; /* read: errno of a failed exec; end of file: exec done */
};

struct launch_env {
	const char *socket;	   /* for JIS_SOCKET */
	const char *agent;	   /* path of the agent, or NULL: without */
	const char *agent_options; /* its options, "": none */
};

/* launch_find - the file execvp() would run, into @path. Returns 0 or -1 (errno set). */
int launch_find(const char *command, char path[PATH_MAX]);

/* launch_become - gives up root for @user. Returns 0 or -1 (errno set). */
int launch_become(const struct launch_user *user);

/* launch_raise_files - as many open files as the host allows, for us and not for the command. */
void launch_raise_files(void);

/* launch_fork - forks the command; the child waits. Returns 0 or -errno. */
int launch_fork(struct launch *l, char **argv, const struct launch_user *user,
		const struct launch_env *env);

/* launch_go - lets it exec. Returns 0 or the negative errno exec gave. */
int launch_go(struct launch *l);

#endif /* JIS_CLI_LAUNCH_H */
