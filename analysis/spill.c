/* SPDX-License-Identifier: MIT */
/* Blocks of memory, then of a file that is mapped: the kernel may write those out and drop them. */
#include "spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/grow.h"

#define BLOCK ((size_t)1 << 20)

void spill_init(struct spill *s, uint64_t limit)
{
	*s = (struct spill){.limit = limit, .fd = -1, .at = BLOCK};
}

static int file_open(void)
{
	const char *dir = getenv("TMPDIR");
	int fd = open(dir && *dir ? dir : "/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : fd;
}

/* Its blocks are there before they are written to: a full disk is an error and no signal. */
static int file_block(struct spill *s, void **out)
{
	int err;

	if (s->fd < 0) {
		s->fd = file_open();
		if (s->fd < 0) {
			err = s->fd;
			s->fd = -1;
			return err;
		}
	}
	err = posix_fallocate(s->fd, (off_t)s->file, (off_t)BLOCK);
	if (err)
		return -err;
	*out = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, (off_t)s->file);
	if (*out == MAP_FAILED)
		return -errno;
	s->file += BLOCK;
	return 0;
}

static int memory_block(void **out)
{
	*out = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return *out == MAP_FAILED ? -ENOMEM : 0;
}

static int block_add(struct spill *s)
{
	void *block;
	int err;

	if (s->nr == s->room && !GROW(s->blocks, s->room, 64))
		return -ENOMEM;
	err = s->used + BLOCK > s->limit ? file_block(s, &block) : memory_block(&block);
	if (err)
		return err;
	s->blocks[s->nr++] = block;
	s->used += BLOCK;
	s->at = 0;
	return 0;
}

int spill_take(struct spill *s, size_t size, void **out)
{
	size = (size + 15) & ~(size_t)15;
	if (s->at + size > BLOCK) {
		int err = block_add(s);

		if (err)
			return err;
	}
	*out = (char *)s->blocks[s->nr - 1] + s->at;
	s->at += size;
	return 0;
}

void spill_fini(struct spill *s)
{
	for (uint32_t i = 0; i < s->nr; i++)
		munmap(s->blocks[i], BLOCK);
	free(s->blocks);
	if (s->fd >= 0)
		close(s->fd);
}
