/* SPDX-License-Identifier: MIT */
/*
 * The file of a stream, mapped. A file may be a hole for the most part, as a crash of the host or
 * somebody's jest leaves it: who searches it must not touch each page of that.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record.h"

static int map_file(struct stream_bytes *b, int fd)
{
	struct stat st;
	void *map;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (!st.st_size)
		return 0;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED) /* for want of addresses, when it is that long */
		return errno == ENOMEM && st.st_size > 1ll << 40 ? -EFBIG : -errno;
	b->map = map;
	b->size = (size_t)st.st_size;
	return 0;
}

int stream_bytes_map(struct stream_bytes *b, int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW), err;
	off_t hole;

	*b = (struct stream_bytes){.fd = -1};
	if (fd < 0)
		return -errno;
	err = map_file(b, fd);
	hole = b->size ? lseek(fd, 0, SEEK_HOLE) : -1;
	if (!err && hole >= 0 && (size_t)hole < b->size)
		b->fd = fd; /* each file ends in a hole; this one has another */
	else
		close(fd);
	return err;
}

void stream_bytes_unmap(struct stream_bytes *b)
{
	if (b->map)
		munmap((void *)(uintptr_t)b->map, b->size);
	if (b->fd >= 0)
		close(b->fd);
	*b = (struct stream_bytes){.fd = -1};
}

size_t stream_bytes_data(const struct stream_bytes *b, size_t offset)
{
	off_t data;

	if (b->fd < 0 || offset >= b->size)
		return offset;
	data = lseek(b->fd, (off_t)offset, SEEK_DATA);
	if (data < 0)
		return errno == ENXIO ? b->size : offset;
	return (size_t)data < b->size ? (size_t)data : b->size;
}

size_t stream_bytes_hole(const struct stream_bytes *b, size_t offset)
{
	off_t hole;

	if (b->fd < 0 || offset >= b->size)
		return b->size;
	hole = lseek(b->fd, (off_t)offset, SEEK_HOLE);
	return hole >= 0 && (size_t)hole < b->size ? (size_t)hole : b->size;
}
