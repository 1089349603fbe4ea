/* SPDX-License-Identifier: MIT */
/* Copies Paraver views (.cfg) to where a trace is. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "prv_int.h"

static int copy_file(int from_dir, int to_dir, const char *name)
{
	int in = openat(from_dir, name, O_RDONLY | O_CLOEXEC), out, err = 0;
	ssize_t n;

	if (in < 0)
		return -errno;
	out = openat(to_dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (out < 0) {
		err = -errno;
		goto out_in;
	}
	do {
		n = sendfile(out, in, NULL, 1 << 20);
	} while (n > 0 || (n < 0 && errno == EINTR));
	if (n < 0)
		err = -errno;
	if (close(out) && !err)
		err = -errno;
out_in:
	close(in);
	return err;
}

static bool is_view(const char *name)
{
	size_t len = strlen(name);

	return name[0] != '.' && len > 4 && !strcmp(name + len - 4, ".cfg");
}

int paraver_copy_views(const char *from, const char *to)
{
	DIR *dir = opendir(from);
	struct dirent *entry;
	int to_fd, copied = 0, err = 0;

	if (!dir)
		return -errno;
	if (mkdir(to, 0755) && errno != EEXIST) {
		err = -errno;
		goto out_dir;
	}
	to_fd = open(to, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	if (to_fd < 0) {
		err = -errno;
		goto out_dir;
	}
	while (!err && (entry = readdir(dir))) {
		if (is_view(entry->d_name))
			err = copy_file(dirfd(dir), to_fd, entry->d_name);
		copied += is_view(entry->d_name) && !err;
	}
	close(to_fd);
out_dir:
	closedir(dir);
	return err ? err : copied;
}
