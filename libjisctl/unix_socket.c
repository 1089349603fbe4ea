/* SPDX-License-Identifier: MIT */
/*
 * Unix sockets by path. One in a directory with a long path is reached through /proc/self/fd,
 * because the path of a socket has 107 bytes at most.
 */
#include "unix_socket.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "proc.h"

#define BACKLOG 64
#define RUN_DIRECTORY UNIX_RUN_DIRECTORY

static int listen_at(struct unix_listener *l, const char *path, mode_t mode)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int err;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path) + 1);
	l->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd < 0)
		return -errno;
	if (bind(l->fd, (struct sockaddr *)&address, sizeof(address)))
		goto err_close;
	if (chmod(path, mode) || listen(l->fd, BACKLOG))
		goto err_unlink;
	snprintf(l->path, sizeof(l->path), "%s", path);
	return 0;

err_unlink:
	err = -errno;
	unlink(path);
	errno = -err;
err_close:
	err = -errno;
	close(l->fd);
	l->fd = -1;
	return err;
}

/* Removes what recorders that were killed have left in RUN_DIRECTORY. */
static void clean_stale(void)
{
	DIR *dir = opendir(RUN_DIRECTORY);
	struct dirent *e;
	struct proc_stat st;
	unsigned long long start;
	char path[sizeof(RUN_DIRECTORY) + 280];
	int pid;

	while (dir && (e = readdir(dir))) {
		if (sscanf(e->d_name, "%d-%llu-", &pid, &start) != 2)
			continue;
		if (proc_stat_read(pid, pid, &st) == 0 && st.start_ticks == start)
			continue;
		snprintf(path, sizeof(path), RUN_DIRECTORY "/%s/agent", e->d_name);
		unlink(path);
		snprintf(path, sizeof(path), RUN_DIRECTORY "/%s/" UNIX_RUN_SESSION, e->d_name);
		unlink(path);
		*strrchr(path, '/') = 0;
		rmdir(path);
	}
	if (dir)
		closedir(dir);
}

int unix_listen_private(struct unix_listener *l)
{
	struct proc_stat self = {.start_ticks = 0};
	const char *tmp = getenv("TMPDIR");
	char path[128];
	int err;

	memset(l, 0, sizeof(*l));
	l->fd = -1;
	mkdir(RUN_DIRECTORY, 0711);
	clean_stale();
	proc_stat_read(getpid(), getpid(), &self);
	snprintf(l->directory, sizeof(l->directory), RUN_DIRECTORY "/%d-%llu-XXXXXX", getpid(),
		 (unsigned long long)self.start_ticks);
	if (!mkdtemp(l->directory)) {
		if (!tmp || strlen(tmp) > sizeof(l->directory) - 16)
			tmp = "/tmp";
		snprintf(l->directory, sizeof(l->directory), "%.75s/jis-XXXXXX", tmp);
		if (!mkdtemp(l->directory))
			l->directory[0] = 0;
	}
	if (!l->directory[0])
		return -errno;
	snprintf(path, sizeof(path), "%s/agent", l->directory);
	err = chmod(l->directory, 0711) ? -errno : listen_at(l, path, 0666);
	if (err)
		unix_unlisten(l);
	return err;
}

int unix_listen_at(struct unix_listener *l, int dirfd, const char *name)
{
	char path[64];
	mode_t mask;
	int err;

	memset(l, 0, sizeof(*l));
	l->fd = -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d/%.32s", dirfd, name);
	mask = umask(0177);
	err = listen_at(l, path, 0600);
	umask(mask);
	return err;
}

int unix_connect_at(int dirfd, const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return -errno;
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%.32s", dirfd, name);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	err = -errno;
	close(fd);
	return err;
}

void unix_link_session(struct unix_listener *l, const char *target)
{
	char path[sizeof(l->directory) + 16];

	if (strncmp(l->directory, RUN_DIRECTORY "/", strlen(RUN_DIRECTORY "/")))
		return;
	snprintf(path, sizeof(path), "%s/" UNIX_RUN_SESSION, l->directory);
	if (symlink(target, path))
		return; /* who wants it says the directory instead */
}

void unix_unlisten(struct unix_listener *l)
{
	char path[sizeof(l->directory) + 16];

	if (l->fd >= 0) {
		close(l->fd);
		unlink(l->path);
	}
	if (l->directory[0]) {
		snprintf(path, sizeof(path), "%s/" UNIX_RUN_SESSION, l->directory);
		unlink(path);
		rmdir(l->directory);
	}
	l->fd = -1;
	l->directory[0] = 0;
}
