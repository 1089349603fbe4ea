/* SPDX-License-Identifier: MIT */
/* Replacing a small file at once, so that a reader sees the old or the new one. Private to trace/.
 */
#ifndef JIS_TRACE_ATOMIC_FILE_H
#define JIS_TRACE_ATOMIC_FILE_H

#include <stddef.h>
#include <stdint.h>

/**
 * file_replace - writes @name in @dirfd by way of ".NAME.tmp" and rename.
 * Returns 0 or -errno; after an error the old file is as it was.
 */
int file_replace(int dirfd, const char *name, const void *data, size_t len);

/* file_write_all - writes @len bytes at @offset, whatever it takes. Returns 0 or -errno. */
int file_write_all(int fd, const void *data, size_t len, uint64_t offset);

#endif /* JIS_TRACE_ATOMIC_FILE_H */
