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
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "jis/agent.h"
#include "launch.h"

#define AGENT_NAME "libjisagent.so"

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

static int become(const struct launch_user *user)
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

/* Can @user read @path? Asked by a child that has become the user: modes, ACLs and mounts all
 * count. */
static bool readable_as(const struct launch_user *user, const char *path)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return false;
	if (pid == 0) {
		int fd = become(user) ? -1 : open(path, O_RDONLY);

		_exit(fd < 0);
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int copy_file(const char *from, const char *to)
{
	struct stat st;
	off_t offset = 0;
	int in = open(from, O_RDONLY | O_CLOEXEC), out = -1, err = -1;

	if (in < 0 || fstat(in, &st))
		goto out;
	unlink(to);
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	if (out < 0)
		goto out;
	while (offset < st.st_size)
		if (sendfile(out, in, &offset, (size_t)(st.st_size - offset)) <= 0)
			goto out;
	err = fchmod(out, 0755);
out:
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return err;
}

static int agent_installed(char path[PATH_MAX])
{
	static const char *const places[] = {"/" AGENT_NAME, "/../lib/jis/" AGENT_NAME};
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (n < 0)
		return -1;
	self[n] = '\0';
	slash = strrchr(self, '/');
	*slash = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (snprintf(path, PATH_MAX, "%s%s", self, places[i]) < PATH_MAX &&
		    !access(path, R_OK))
			return 0;
	}
	return -1;
}

int launch_agent_path(const struct launch_user *user, const char *directory, char path[PATH_MAX],
		      char *why, size_t n)
{
	char installed[PATH_MAX];

	if (agent_installed(installed)) {
		snprintf(why, n, AGENT_NAME " is neither beside the jis program nor in ../lib/jis");
		return -1;
	}
	snprintf(path, PATH_MAX, "%s", installed);
	if (!strpbrk(path, " \t\"'") && readable_as(user, path))
		return 0;
	if (mkdir(directory, 0755) || chmod(directory, 0755) ||
	    snprintf(path, PATH_MAX, "%s/" AGENT_NAME, directory) >= PATH_MAX ||
	    copy_file(installed, path)) {
		snprintf(why, n, "cannot copy %.200s to %.200s: %s", installed, directory,
			 strerror(errno));
		return -1;
	}
	if (!readable_as(user, path)) {
		snprintf(why, n, "user %.60s can read neither %.200s nor a copy in %.200s",
			 user->name, installed, directory);
		unlink(path);
		return -1;
	}
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
	if (asprintf(&value, "%s%s-agentpath:%s", old ? old : "", old && *old ? " " : "",
		     env->agent) < 0)
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
	if (!become(user))
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
