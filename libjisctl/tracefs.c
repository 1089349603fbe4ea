/* SPDX-License-Identifier: MIT */
/*
 * Access to tracefs. Knows files and directories, nothing of what is traced.
 */
#include "tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "proc.h"

#define TRACEFS_MAGIC 0x74726163
#define TRACEFS_MOUNT "/sys/kernel/tracing"
#define TRACEFS_DEBUG "/sys/kernel/debug/tracing"

static int open_if_tracefs(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs fs;

	if (fd < 0)
		return -errno;
	if (fstatfs(fd, &fs) == 0 && fs.f_type == TRACEFS_MAGIC)
		return fd;
	close(fd);
	return -ENODEV;
}

int tracefs_open(char *why, size_t n)
{
	int fd = open_if_tracefs(TRACEFS_MOUNT);

	if (fd < 0 && fd != -EACCES)
		fd = open_if_tracefs(TRACEFS_DEBUG);
	if (fd >= 0)
		return fd;
	if (geteuid() != 0) {
		snprintf(why, n, "tracefs is open to root only");
		return -EPERM;
	}
	if (mount("tracefs", TRACEFS_MOUNT, "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL)) {
		fd = -errno;
		snprintf(why, n, "tracefs is not mounted and cannot be mounted on %s: %s",
			 TRACEFS_MOUNT, strerror(errno));
		return fd;
	}
	fd = open_if_tracefs(TRACEFS_MOUNT);
	if (fd < 0)
		snprintf(why, n, "%s: %s", TRACEFS_MOUNT, strerror(-fd));
	return fd;
}

int tracefs_read(int dirfd, const char *path, char *text, size_t size)
{
	int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t got;

	if (fd < 0)
		return -errno;
	while ((got = read(fd, text + used, size - 1 - used)) > 0)
		used += (size_t)got;
	got = got < 0 ? -errno : used == size - 1 ? -EFBIG : (ssize_t)used;
	text[used] = 0;
	close(fd);
	return (int)got;
}

static int write_file(int dirfd, const char *path, const char *text, int flags)
{
	int fd = openat(dirfd, path, O_WRONLY | O_CLOEXEC | flags);
	size_t len = strlen(text);
	int err = 0;

	if (fd < 0)
		return -errno;
	while (len && !err) {
		ssize_t done = write(fd, text, len);

		if (done > 0) {
			text += done;
			len -= (size_t)done;
		} else if (done == 0 || errno != EINTR) {
			err = done ? -errno : -EIO;
		}
	}
	close(fd);
	return err;
}

int tracefs_write(int dirfd, const char *path, const char *text)
{
	return write_file(dirfd, path, text, O_TRUNC);
}

int tracefs_append(int dirfd, const char *path, const char *text)
{
	return write_file(dirfd, path, text, O_APPEND);
}

int tracefs_instance_create(int tracefs, char *name)
{
	struct proc_stat self;
	char path[TRACEFS_NAME_MAX + 16];
	int err, i, fd;

	err = proc_stat_read(getpid(), getpid(), &self);
	if (err)
		return err;
	for (i = 0; i < 1000; i++) {
		snprintf(name, TRACEFS_NAME_MAX, "jis-%d-%llu-%d", getpid(),
			 (unsigned long long)self.start_ticks, i);
		snprintf(path, sizeof(path), "instances/%s", name);
		if (mkdirat(tracefs, path, 0750) == 0)
			break;
		if (errno != EEXIST)
			return -errno;
	}
	fd = openat(tracefs, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		fd = -errno;
		unlinkat(tracefs, path, AT_REMOVEDIR);
	}
	return fd;
}

int tracefs_instance_remove(int tracefs, const char *name)
{
	char path[TRACEFS_NAME_MAX + 32];
	int i;

	snprintf(path, sizeof(path), "instances/%s/tracing_on", name);
	tracefs_write(tracefs, path, "0");
	snprintf(path, sizeof(path), "instances/%s", name);
	for (i = 0; i < 50; i++) { /* somebody else may be looking into it */
		if (unlinkat(tracefs, path, AT_REMOVEDIR) == 0)
			return 0;
		if (errno != EBUSY)
			return -errno;
		usleep(10000);
	}
	return -EBUSY;
}

/* Is instance @name one of ours whose maker is gone? */
static int is_stale(const char *name)
{
	struct proc_stat st;
	unsigned long long start;
	int pid, n, end = 0;

	if (sscanf(name, "jis-%d-%llu-%d%n", &pid, &start, &n, &end) != 3 || name[end])
		return 0;
	return proc_stat_read(pid, pid, &st) != 0 || st.start_ticks != start;
}

int tracefs_instances_clean(int tracefs)
{
	int fd = openat(tracefs, "instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent *entry;
	int removed = 0;
	DIR *dir;

	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while ((entry = readdir(dir)))
		if (is_stale(entry->d_name))
			removed += tracefs_instance_remove(tracefs, entry->d_name) == 0;
	closedir(dir);
	return removed;
}

/* Value of "NAME: 123" in @text; 0 when it is not there. */
static uint64_t stat_value(const char *text, const char *name)
{
	const char *p = strstr(text, name);

	/* "overrun" is also the end of "commit overrun" */
	while (p && p != text && p[-1] != '\n')
		p = strstr(p + 1, name);
	return p ? strtoull(p + strlen(name) + 1, NULL, 10) : 0;
}

int tracefs_stats(int fd, struct tracefs_stats *out)
{
	char text[1024];
	ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return -EIO;
	text[n] = 0;
	out->lost = stat_value(text, "dropped events") + stat_value(text, "overrun") +
		    stat_value(text, "commit overrun");
	out->read = stat_value(text, "read events");
	out->left = stat_value(text, "entries");
	return 0;
}
