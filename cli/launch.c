/* SPDX-License-Identifier: MIT */
/*
 * Starting the command of `jis record`. The child is forked first and waits on a pipe, so that it
 * is a target of the session before its first instruction; it gives up root before it execs.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli.h"
#include "jis/agent.h"
#include "launch.h"

int launch_user_find(const char *name, struct launch_user *user)
{
	const char *sudo_uid = getenv("SUDO_UID");
	const struct passwd *pw;
	unsigned long number;
	char *end = NULL;
	uid_t uid;

	if (name) {
		pw = getpwnam(name);
		number = strtoul(name, &end, 10);
		if (!pw && isdigit((unsigned char)name[0]) && !*end && number < UINT32_MAX)
			pw = getpwuid((uid_t)number);
		if (!pw) {
			cli_error("--user: there is no user \"%s\" here", name);
			return -1;
		}
	} else {
		uid = sudo_uid && geteuid() == 0 ? (uid_t)strtoul(sudo_uid, NULL, 10) : getuid();
		pw = getpwuid(uid);
	}
	memset(user, 0, sizeof(*user));
	if (!pw) { /* a uid without an entry, as in containers */
		user->uid = uid;
		user->gid = getgid();
		snprintf(user->home, sizeof(user->home), "/");
		return 0;
	}
	user->uid = pw->pw_uid;
	user->gid = pw->pw_gid;
	snprintf(user->name, sizeof(user->name), "%s", pw->pw_name);
	snprintf(user->home, sizeof(user->home), "%s", pw->pw_dir);
	return 0;
}

int launch_find(const char *command, char path[PATH_MAX])
{
	const char *dirs = getenv("PATH"), *next;
	int saved = ENOENT;

	if (strchr(command, '/')) {
		snprintf(path, PATH_MAX, "%s", command);
		return access(path, X_OK);
	}
	if (!dirs)
		dirs = "/usr/local/bin:/usr/bin:/bin";
	for (; *dirs; dirs = *next ? next + 1 : next) {
		next = strchrnul(dirs, ':');
		snprintf(path, PATH_MAX, "%.*s/%s", (int)(next - dirs), dirs, command);
		if (!access(path, X_OK))
			return 0;
		if (errno == EACCES)
			saved = EACCES;
	}
	errno = saved;
	return -1;
}

int launch_become(const struct launch_user *user)
{
	if (user->uid == geteuid() && user->gid == getegid())
		return 0;
	if (user->name[0] ? initgroups(user->name, user->gid) : setgroups(0, NULL))
		return -1;
	if (setresgid(user->gid, user->gid, user->gid) ||
	    setresuid(user->uid, user->uid, user->uid))
		return -1;
	return 0;
}

static void set_environment(const struct launch_user *user, const struct launch_env *env)
{
	const char *old = getenv("JAVA_TOOL_OPTIONS");
	char *value = NULL;

	setenv(JIS_SOCKET_ENV, env->socket, 1);
	if (user->uid != geteuid() && user->name[0]) {
		setenv("HOME", user->home, 1);
		setenv("USER", user->name, 1);
		setenv("LOGNAME", user->name, 1);
	}
	if (!env->agent)
		return;
	if (asprintf(&value, "%s%s-agentpath:%s%s%s", old ? old : "", old && *old ? " " : "",
		     env->agent, *env->agent_options ? "=" : "", env->agent_options) < 0)
		return;
	setenv("JAVA_TOOL_OPTIONS", value, 1);
	free(value);
}

static struct rlimit files_before;

/*
 * Each process and each of its slots takes a descriptor, and 1024 are few for a large server. Not
 * for the command: a program that uses select() must not see higher ones than it is used to.
 */
void launch_raise_files(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files))
		return;
	files_before = files;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

static void run_child(char **argv, const struct launch_user *user, const struct launch_env *env,
		      int go_fd, int error_fd)
{
	char go;
	int err;

	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	if (read(go_fd, &go, 1) != 1)
		_exit(CLI_FAILED);
	if (files_before.rlim_max)
		setrlimit(RLIMIT_NOFILE, &files_before);
	set_environment(user, env);
	if (!launch_become(user))
		execvp(argv[0], argv);
	err = errno;
	if (write(error_fd, &err, sizeof(err)) != sizeof(err))
		_exit(CLI_FAILED);
	_exit(CLI_NOT_FOUND);
}

int launch_fork(struct launch *l, char **argv, const struct launch_user *user,
		const struct launch_env *env)
{
	int go[2], error[2], err;

	if (pipe2(go, O_CLOEXEC))
		return -errno;
	if (pipe2(error, O_CLOEXEC)) {
		err = -errno;
		goto err_close_go;
	}
	fflush(NULL);
	l->pid = fork();
	if (l->pid < 0) {
		err = -errno;
		goto err_close_error;
	}
	if (l->pid == 0) {
		close(go[1]);
		close(error[0]);
		run_child(argv, user, env, go[0], error[1]);
	}
	close(go[0]);
	close(error[1]);
	l->go_fd = go[1];
	l->error_fd = error[0];
	return 0;

err_close_error:
	close(error[0]);
	close(error[1]);
err_close_go:
	close(go[0]);
	close(go[1]);
	return err;
}

int launch_go(struct launch *l)
{
	int err = 0;
	ssize_t n = write(l->go_fd, "g", 1);

	close(l->go_fd);
	if (n == 1)
		n = read(l->error_fd, &err, sizeof(err));
	close(l->error_fd);
	return n == (ssize_t)sizeof(err) ? -err : 0;
}
