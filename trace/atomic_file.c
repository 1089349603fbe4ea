/* SPDX-License-Identifier: MIT */
/* Replacing a small file by rename, and writing despite short writes and signals. */
#include "atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "write.h"

int file_write_all(int fd, const void *data, size_t len, uint64_t offset)
{
	const uint8_t *p = data;

	while (len) {
		ssize_t n = pwrite(fd, p, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		p += n;
		len -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

int file_replace(int dirfd, const char *name, const void *data, size_t len)
{
	char temp[NAME_MAX + 1];
	int fd, err;

	if ((size_t)snprintf(temp, sizeof(temp), ".%s.tmp", name) >= sizeof(temp))
		return -ENAMETOOLONG;
	unlinkat(dirfd, temp, 0);
	fd = openat(dirfd, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		    TRACE_FILE_MODE);
	if (fd < 0)
		return -errno;
	err = file_write_all(fd, data, len, 0);
	if (close(fd) && !err)
		err = -errno;
	if (!err && renameat(dirfd, temp, dirfd, name))
		err = -errno;
	if (err)
		unlinkat(dirfd, temp, 0);
	return err;
}
