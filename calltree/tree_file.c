/* SPDX-License-Identifier: MIT */
/* The tree's file while it grows. Its room is had from the disk before it is written to. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tree_int.h"

#define FIRST_ROOM (1u << 14)
#define STEP_ROOM (1u << 20) /* 80 MiB */

static int room_get(struct tree_file *f, uint64_t room)
{
	size_t old = f->room * JTA_RECORD_BYTES, size = room * JTA_RECORD_BYTES;
	int err = posix_fallocate(f->fd, 0, (off_t)size);
	void *m;

	if (err)
		return -err;
	m = f->bytes ? mremap(f->bytes, old, size, MREMAP_MAYMOVE)
		     : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, 0);
	if (m == MAP_FAILED)
		return -errno;
	f->bytes = m;
	f->room = room;
	return 0;
}

int tree_file_open(struct tree_file *f, const char *path)
{
	*f = (struct tree_file){.fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
	if (f->fd < 0)
		return -errno;
	return room_get(f, FIRST_ROOM);
}

uint64_t tree_file_add(struct tree_file *f)
{
	if (f->nr + 1 == f->room) {
		uint64_t more = f->room < STEP_ROOM ? f->room : STEP_ROOM;
		int err = room_get(f, f->room + more);

		if (err) {
			errno = -err;
			return 0;
		}
	}
	return ++f->nr;
}

int tree_file_finish(struct tree_file *f, const struct jta_header *header)
{
	memcpy(f->bytes, header, sizeof(*header));
	if (ftruncate(f->fd, (off_t)((f->nr + 1) * JTA_RECORD_BYTES)))
		return -errno;
	return 0;
}

void tree_file_close(struct tree_file *f)
{
	if (f->bytes)
		munmap(f->bytes, f->room * JTA_RECORD_BYTES);
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
