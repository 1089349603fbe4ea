/* SPDX-License-Identifier: MIT */
/*
 * What jiscalls says a call must leave: lines as jisraw writes records, and calls that are made and
 * written down at once. What descriptors are is jiscalls' own.
 */
#ifndef JIS_LAB_JISCALLS_H
#define JIS_LAB_JISCALLS_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_LINES 2000

static char *lines[MAX_LINES];
static int nr_lines, tid;
static bool blind, by_name; /* -f, -n */

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void line(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void line(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (nr_lines == MAX_LINES || vasprintf(&lines[nr_lines++], format, args) < 0)
		abort();
	va_end(args);
}

static const char *call_text(const char *name, long nr)
{
	static char text[4][64];
	static int next;
	char *t = text[next++ % 4];

	if (by_name)
		snprintf(t, 64, "%s", name);
	else
		snprintf(t, 64, "%ld", nr);
	return t;
}

static void line_result(const char *name, long nr, long result)
{
	if (by_name && result < 0)
		line("syscall_exit tid=%d nr=%s result=-%s", tid, call_text(name, nr),
		     strerrorname_np((int)-result));
	else
		line("syscall_exit tid=%d nr=%s result=%ld", tid, call_text(name, nr), result);
}

/* A call by its number, with -errno for an error. */
#define MAKE(call, ...)                                                                            \
	({                                                                                         \
		long made = syscall(SYS_##call, ##__VA_ARGS__);                                    \
		made < 0 ? -(long)errno : made;                                                    \
	})

/* Each makes the call, and writes its entry, what its result is named, and its exit. */
#define DONE(call, ...)                                                                            \
	({                                                                                         \
		long done = MAKE(call, ##__VA_ARGS__);                                             \
		line_result(#call, SYS_##call, done);                                              \
		done;                                                                              \
	})
#define PLAIN(call, ...)                                                                           \
	({                                                                                         \
		line("syscall_enter tid=%d nr=%s", tid, call_text(#call, SYS_##call));             \
		DONE(call, ##__VA_ARGS__);                                                         \
	})
#define IO(call, io_fd, io_size, ...)                                                              \
	({                                                                                         \
		line("syscall_io tid=%d nr=%s fd=%d size=%llu", tid, call_text(#call, SYS_##call), \
		     (int)(io_fd), (unsigned long long)(io_size));                                 \
		DONE(call, ##__VA_ARGS__);                                                         \
	})
#define WAIT(call, wait_fd, wait_count, wait_flags, wait_ns, ...)                                  \
	({                                                                                         \
		line("syscall_wait tid=%d nr=%s fd=%d count=%u flags=0x%x timeout=%lld", tid,      \
		     call_text(#call, SYS_##call), (int)(wait_fd), (unsigned int)(wait_count),     \
		     (unsigned int)(wait_flags), (long long)(wait_ns));                            \
		DONE(call, ##__VA_ARGS__);                                                         \
	})
#define FUTEX(futex_ns, address, op, value, ...)                                                   \
	({                                                                                         \
		line("syscall_futex tid=%d nr=%s op=0x%x value=%u address=0x%llx timeout=%lld",    \
		     tid, call_text("futex", SYS_futex), (unsigned int)(op),                       \
		     (unsigned int)(value), (unsigned long long)(uintptr_t)(address),              \
		     blind ? -1ll : (long long)(futex_ns));                                        \
		DONE(futex, address, op, value, ##__VA_ARGS__);                                    \
	})
#define FUTEX2(call, futex_ns, address, value, flags, ...)                                         \
	({                                                                                         \
		line("syscall_futex tid=%d nr=%s op=0x%x value=%u address=0x%llx timeout=%lld",    \
		     tid, call_text(#call, SYS_##call), (unsigned int)(flags),                     \
		     (unsigned int)(value), (unsigned long long)(uintptr_t)(address),              \
		     blind ? -1ll : (long long)(futex_ns));                                        \
		DONE(call, address, ##__VA_ARGS__);                                                \
	})
#define MEMORY(call, address, size, ...)                                                           \
	({                                                                                         \
		line("syscall_memory tid=%d nr=%s address=0x%llx size=%llu", tid,                  \
		     call_text(#call, SYS_##call), (unsigned long long)(uintptr_t)(address),       \
		     (unsigned long long)(size));                                                  \
		DONE(call, ##__VA_ARGS__);                                                         \
	})
#define PATH(call, path_fd, path_flags, path, ...)                                                 \
	({                                                                                         \
		line("syscall_path tid=%d nr=%s dirfd=%d flags=0x%x path=%s", tid,                 \
		     call_text(#call, SYS_##call), (int)(path_fd), (unsigned int)(path_flags),     \
		     blind ? "" : (path));                                                         \
		DONE(call, ##__VA_ARGS__);                                                         \
	})

/* Calls whose result is a descriptor: it is named between entry and exit. */
#define OPENS(type, name, entry, call, ...)                                                        \
	({                                                                                         \
		long opened;                                                                       \
		entry;                                                                             \
		opened = MAKE(call, ##__VA_ARGS__);                                                \
		if (opened >= 0)                                                                   \
			named((int)opened, type, name);                                            \
		line_result(#call, SYS_##call, opened);                                            \
		(int)opened;                                                                       \
	})
#define ENTRY_PLAIN(call) line("syscall_enter tid=%d nr=%s", tid, call_text(#call, SYS_##call))
#define ENTRY_IO(call, io_fd)                                                                      \
	line("syscall_io tid=%d nr=%s fd=%d size=0", tid, call_text(#call, SYS_##call), io_fd)
#define ENTRY_PATH(call, path_fd, path_flags, path)                                                \
	line("syscall_path tid=%d nr=%s dirfd=%d flags=0x%x path=%s", tid,                         \
	     call_text(#call, SYS_##call), (int)(path_fd), (unsigned int)(path_flags),             \
	     blind ? "" : (path))

#endif /* JIS_LAB_JISCALLS_H */
