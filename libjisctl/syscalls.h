/* SPDX-License-Identifier: MIT */
/*
 * System calls by name: what a call's arguments are, the presets, and the lists a user gives. The
 * only place that knows any of this (names and numbers are trace/syscall_name.h's); kernel module
 * and backends get a struct jis_syscalls. Private to libjisctl, cli and tests.
 */
#ifndef JISCTL_SYSCALLS_H
#define JISCTL_SYSCALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jis/abi.h"
#include "trace/syscall_name.h"

/**
 * syscall_shape - how call @name is recorded; JIS_SHAPE_PLAIN for one of which no more is known.
 * @compat: as a 32-bit call.
 */
struct jis_syscall_desc syscall_shape(const char *name, bool compat);

/* syscall_known - name number @i, from 0, of the calls whose arguments are known; NULL: no more. */
const char *syscall_known(uint32_t i);

/**
 * syscalls_parse - a list of names of calls and presets (io, net, lock, time, mem, file, all),
 * separated by commas; "-NAME" takes away again what stands before it. From left to right.
 * @machine: whose calls, as uname(2) tells it.
 * @out: size and tables filled in; a call that exists as a 32-bit one too is in both.
 * @why: when it fails, what is wrong, in words, with the nearest name there is.
 *
 * Returns 0, -EINVAL (a name that is none, or nothing selected), or -EOPNOTSUPP (a machine whose
 * calls are not known).
 */
int syscalls_parse(const char *list, const char *machine, struct jis_syscalls *out, char *why,
		   size_t n);

/* Names of the presets, NULL-terminated. */
extern const char *const syscall_presets[];

#endif /* JISCTL_SYSCALLS_H */
