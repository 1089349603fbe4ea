/* SPDX-License-Identifier: MIT */
/* The names of each machine's system calls, by the numbers that traces have. */
#ifndef JIS_TRACE_SYSCALL_NAME_H
#define JIS_TRACE_SYSCALL_NAME_H

#include <stdbool.h>
#include <stdint.h>

/**
 * syscall_name - name of call @nr (JIS_SYSCALL_COMPAT in it for a 32-bit one) on @machine, as
 * uname(2) tells it. NULL: not known.
 */
const char *syscall_name(const char *machine, int32_t nr);

/**
 * syscall_names - the names of all calls of @machine by number, JIS_MAX_SYSCALL of them, NULL where
 * there is none. @compat: those of 32-bit programs. NULL: a machine whose calls are not known.
 */
const char *const *syscall_names(const char *machine, bool compat);

#endif /* JIS_TRACE_SYSCALL_NAME_H */
