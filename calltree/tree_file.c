/* SPDX-License-Identifier: MIT */
/*
 * The tree's file while it grows. What is mapped has been written before, so that it has its place
 * on the disk: a full one is an error of write(2).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tree_int.h"

uint64_t tree_file_window = 1ull << 18; /* 20 MiB */

static int write_at(int fd, const void *bytes, size_t size, off_t at)
{
	const char *from = bytes;

	while (size) {
		ssize_t n = pwrite(fd, from, size, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		from += n;
		size -= (size_t)n;
		at += n;
	}
	return 0;
}

int tree_file_open(struct tree_file *f, const char *path)
{
	*f = (struct tree_file){.fd = -1, .room = tree_file_window};
	if (unlink(path) && errno != ENOENT)
		return -errno;
	f->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (f->fd < 0)
		return -errno;
	f->window = calloc(f->room, JTA_RECORD_BYTES);
	return f->window ? 0 : -ENOMEM;
}

/* Makes room in memory. Written ones that were touched meanwhile are left to the kernel. */
static int window_move(struct tree_file *f)
{
	size_t old = f->base * JTA_RECORD_BYTES, size = old + f->room * JTA_RECORD_BYTES;
	int err = write_at(f->fd, f->window, f->room * JTA_RECORD_BYTES, (off_t)old);
	void *m;

	if (err)
		return err;
	m = f->mapped ? mremap(f->mapped, old, size, MREMAP_MAYMOVE)
		      : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, 0);
	if (m == MAP_FAILED)
		return -errno;
	f->mapped = m;
	f->base += f->room;
	madvise(m, size, MADV_DONTNEED);
	return 0;
}

uint64_t tree_file_add(struct tree_file *f)
{
	if (f->nr + 1 == f->base + f->room) {
		int err = window_move(f);

		if (err) {
			errno = -err;
			return 0;
		}
	}
	return ++f->nr;
}

int tree_file_finish(struct tree_file *f, const struct jta_header *header)
{
	size_t size = (f->nr + 1 - f->base) * JTA_RECORD_BYTES;
	int err;

	if (!f->base)
		memset(f->window, 0, JTA_RECORD_BYTES); /* the header comes last */
	err = write_at(f->fd, f->window, size, (off_t)(f->base * JTA_RECORD_BYTES));
	return err ? err : write_at(f->fd, header, sizeof(*header), 0);
}

void tree_file_close(struct tree_file *f)
{
	if (f->mapped)
		munmap(f->mapped, f->base * JTA_RECORD_BYTES);
	free(f->window);
	if (f->fd >= 0)
		close(f->fd);
	*f = (struct tree_file){.fd = -1};
}

void chain_add(const struct tree_file *f, struct chain *c, uint64_t number)
{
	tree_record(f, number)->previous = c->last;
	tree_record(f, number)->next = 0;
	if (c->last)
		tree_record(f, c->last)->next = number;
	else
		c->first = number;
	c->last = number;
	c->nr++;
}
