/* SPDX-License-Identifier: MIT */
/*
 * Room for what must be kept: memory up to a limit, then a file without a name in $TMPDIR, or
 * /var/tmp. Nothing is given back before the end.
 */
#ifndef JIS_ANALYSIS_SPILL_H
#define JIS_ANALYSIS_SPILL_H

#include <stddef.h>
#include <stdint.h>

struct spill {
	uint64_t limit, used; /* bytes; used: of blocks */
	int fd;		      /* -1: all in memory */
	uint64_t file;	      /* bytes of the file */
	void **blocks;
	uint32_t nr, room;
	size_t at; /* in the last block */
};

/* spill_init - @limit: bytes of memory, in whole blocks of 1 MiB. */
void spill_init(struct spill *s, uint64_t limit);

/**
 * spill_take - @size bytes, at most 64 KiB, aligned to 16, of any content.
 * Returns 0, -ENOMEM, or what making the file longer ended with (-ENOSPC...).
 */
int spill_take(struct spill *s, size_t size, void **out);
void spill_fini(struct spill *s);

#endif /* JIS_ANALYSIS_SPILL_H */
