/* SPDX-License-Identifier: MIT */
/*
 * Copies of the agent, "jis-agent-PID" in /run or /tmp. Each step goes by descriptors and follows
 * no link, and a directory of another user is none of ours, whatever its name.
 */
#include "agent_copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define AGENT_NAME "libjisagent.so"
#define PREFIX "jis-agent-"
#define NAMES_TRIED 100

/* Can @user read @path? Asked by a child that has become the user: modes, ACLs and mounts all
 * count. */
static bool readable_as(const struct launch_user *user, const char *path)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return false;
	if (pid == 0) {
		int fd = launch_become(user) ? -1 : open(path, O_RDONLY);

		_exit(fd < 0);
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int agent_installed(char path[PATH_MAX])
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

/* The directory that copies are made in. */
static int parent_open(const char **path)
{
	*path = access("/run", W_OK) ? "/tmp" : "/run";
	return open(*path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Opens directory @name in @parent if it is one, and nobody else's; else -1. */
static int ours_open(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || st.st_uid != geteuid())) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static void directory_remove(int parent, const char *name)
{
	int fd = ours_open(parent, name);

	if (fd < 0)
		return;
	unlinkat(fd, AGENT_NAME, 0);
	close(fd);
	unlinkat(parent, name, AT_REMOVEDIR);
}

/* Copies that killed recorders have left. */
static void stale_remove(int parent)
{
	int fd = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		pid_t pid;

		if (strncmp(e->d_name, PREFIX, strlen(PREFIX)))
			continue;
		pid = (pid_t)atoi(e->d_name + strlen(PREFIX));
		if (pid > 0 && kill(pid, 0) && errno == ESRCH)
			directory_remove(parent, e->d_name);
	}
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
}

/* Makes a directory of our own; another name where somebody has taken the first. */
static int directory_make(int parent, char name[32])
{
	int i, fd;

	for (i = 0; i < NAMES_TRIED; i++) {
		snprintf(name, 32, i ? PREFIX "%d.%d" : PREFIX "%d", (int)getpid(), i);
		if (mkdirat(parent, name, 0755) == 0)
			break;
		if (errno != EEXIST)
			return -1;
	}
	fd = i < NAMES_TRIED ? ours_open(parent, name) : -1;
	if (fd >= 0 && fchmod(fd, 0755)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int copy_file(const char *from, int directory)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), out = -1, err = -1;
	struct stat st;
	off_t offset = 0;

	if (in < 0 || fstat(in, &st))
		goto out;
	out = openat(directory, AGENT_NAME, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		     0755);
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

static int copy_make(struct agent_copy *c, int parent, const char *path, const char *installed)
{
	char name[32] = "";
	int fd = directory_make(parent, name), err, saved;

	if (fd < 0)
		return -1;
	snprintf(c->directory, sizeof(c->directory), "%s/%s", path, name);
	snprintf(c->path, sizeof(c->path), "%s/" AGENT_NAME, c->directory);
	err = copy_file(installed, fd);
	saved = errno;
	close(fd);
	errno = saved;
	return err;
}

/* Returns 0, or -1 with the reason in @why. */
static int copy_find(struct agent_copy *c, const struct launch_user *user, int parent,
		     const char *path, char *why, size_t n)
{
	char installed[PATH_MAX];

	if (agent_installed(installed)) {
		snprintf(why, n, AGENT_NAME " is neither beside the jis program nor in ../lib/jis");
		return -1;
	}
	snprintf(c->path, sizeof(c->path), "%s", installed);
	if (!strpbrk(c->path, " \t\"'") && readable_as(user, c->path))
		return 0;
	if (copy_make(c, parent, path, installed)) {
		snprintf(why, n, "cannot copy %.200s to %s: %s", installed, path, strerror(errno));
		return -1;
	}
	if (!readable_as(user, c->path)) {
		snprintf(why, n, "user %.60s can read neither %.200s nor a copy in %.200s",
			 user->name, installed, c->directory);
		return -1;
	}
	return 0;
}

int agent_copy_find(struct agent_copy *c, const struct launch_user *user, char *why, size_t n)
{
	const char *path;
	int parent = parent_open(&path), err;

	if (parent < 0) {
		snprintf(why, n, "%s: %s", path, strerror(errno));
		return -1;
	}
	stale_remove(parent);
	err = copy_find(c, user, parent, path, why, n);
	close(parent);
	return err;
}

void agent_copy_remove(struct agent_copy *c)
{
	const char *path, *name = strrchr(c->directory, '/');
	int parent = name ? parent_open(&path) : -1;

	if (parent < 0)
		return;
	directory_remove(parent, name + 1);
	close(parent);
	c->directory[0] = 0;
}
