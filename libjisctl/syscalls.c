/* SPDX-License-Identifier: MIT */
/*
 * System calls by name, their arguments, the presets, and lists of them.
 */
#include "syscalls.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NO JIS_ARG_NONE
#define NAME_MAX_LENGTH 40

/* The presets a call belongs to. */
enum { IO = 1, NET = 2, LOCK = 4, TIME = 8, MEM = 16, FILES = 32 };

/* How the same call differs as a 32-bit one. */
enum {
	TIME64 = 1, /* not: its times have 64-bit words there too */
	PLAIN32 = 2 /* its arguments are in memory there */
};

struct known_call {
	const char *name;
	struct jis_syscall_desc how;
	uint8_t presets, compat;
};

/* Shapes, with the arguments that the table of JIS_SHAPE_* names; FD: the result is a descriptor.
 */
#define FD(shape) (JIS_SHAPE_##shape | JIS_SHAPE_RESULT_FD)
#define CALL(name, shape, a, b, c, presets)                                                        \
	{                                                                                          \
		name, {JIS_SHAPE_##shape, a, b, c}, presets, 0                                     \
	}
#define MAKES(name, shape, a, b, c, presets)                                                       \
	{                                                                                          \
		name, {FD(shape), a, b, c}, presets, 0                                             \
	}
#define PLAIN(name, presets) CALL(name, PLAIN, NO, NO, NO, presets)
#define OPENS(name, presets) MAKES(name, PLAIN, NO, NO, NO, presets)
#define OLD32(name, shape, a, b, c, presets)                                                       \
	{                                                                                          \
		name, {JIS_SHAPE_##shape, a, b, c}, presets, PLAIN32                               \
	}
#define WIDE(name, shape, a, b, c, presets)                                                        \
	{                                                                                          \
		name, {JIS_SHAPE_##shape, a, b, c}, presets, TIME64                                \
	}

static const struct known_call known[] = {
	/* Bytes through descriptors, and waiting for them */
	CALL("read", IO, 0, 2, NO, IO),
	CALL("write", IO, 0, 2, NO, IO),
	CALL("readv", IO, 0, 2, NO, IO),
	CALL("writev", IO, 0, 2, NO, IO),
	CALL("pread64", IO, 0, 2, NO, IO),
	CALL("pwrite64", IO, 0, 2, NO, IO),
	CALL("preadv", IO, 0, 2, NO, IO),
	CALL("pwritev", IO, 0, 2, NO, IO),
	CALL("preadv2", IO, 0, 2, NO, IO),
	CALL("pwritev2", IO, 0, 2, NO, IO),
	CALL("sendfile", IO, 0, 3, NO, IO),
	CALL("sendfile64", IO, 0, 3, NO, IO),
	CALL("splice", IO, 0, 4, NO, IO),
	CALL("tee", IO, 0, 2, NO, IO),
	CALL("vmsplice", IO, 0, 2, NO, IO),
	CALL("copy_file_range", IO, 0, 4, NO, IO),
	CALL("fsync", IO, 0, NO, NO, IO | FILES),
	CALL("fdatasync", IO, 0, NO, NO, IO | FILES),
	CALL("sync_file_range", IO, 0, NO, NO, IO | FILES),
	CALL("ioctl", IO, 0, NO, NO, IO),
	CALL("io_submit", PLAIN, NO, NO, NO, IO),
	CALL("io_getevents", WAIT_TIMESPEC, NO, 2, 4, IO),
	CALL("io_pgetevents", WAIT_TIMESPEC, NO, 2, 4, IO),
	WIDE("io_pgetevents_time64", WAIT_TIMESPEC, NO, 2, 4, IO),
	CALL("io_uring_enter", IO, 0, 1, NO, IO),
	CALL("poll", WAIT_MS, NO, 1, 2, IO),
	CALL("ppoll", WAIT_TIMESPEC, NO, 1, 2, IO),
	WIDE("ppoll_time64", WAIT_TIMESPEC, NO, 1, 2, IO),
	OLD32("select", WAIT_TIMEVAL, NO, 0, 4, IO),
	CALL("_newselect", WAIT_TIMEVAL, NO, 0, 4, IO),
	CALL("pselect6", WAIT_TIMESPEC, NO, 0, 4, IO),
	WIDE("pselect6_time64", WAIT_TIMESPEC, NO, 0, 4, IO),
	CALL("epoll_wait", WAIT_MS, 0, 2, 3, IO),
	CALL("epoll_pwait", WAIT_MS, 0, 2, 3, IO),
	WIDE("epoll_pwait2", WAIT_TIMESPEC, 0, 2, 3, IO),
	CALL("epoll_ctl", IO, 0, 2, 1, IO),
	PLAIN("restart_syscall", IO | LOCK | TIME),
	/* Sockets */
	MAKES("socket", IO, NO, 1, 0, NET),
	PLAIN("socketpair", NET),
	CALL("socketcall", IO, NO, 0, NO, NET),
	CALL("bind", ADDRESS, 0, 1, 2, NET),
	CALL("connect", ADDRESS, 0, 1, 2, NET),
	CALL("listen", IO, 0, NO, NO, NET),
	MAKES("accept", IO, 0, NO, NO, NET),
	MAKES("accept4", IO, 0, NO, NO, NET),
	CALL("sendto", IO, 0, 2, NO, NET),
	CALL("recvfrom", IO, 0, 2, NO, NET),
	CALL("sendmsg", IO, 0, NO, NO, NET),
	CALL("recvmsg", IO, 0, NO, NO, NET),
	CALL("sendmmsg", IO, 0, 2, NO, NET),
	CALL("recvmmsg", WAIT_TIMESPEC, 0, 2, 4, NET),
	WIDE("recvmmsg_time64", WAIT_TIMESPEC, 0, 2, 4, NET),
	CALL("shutdown", IO, 0, NO, NO, NET),
	CALL("getsockname", IO, 0, NO, NO, NET),
	CALL("getpeername", IO, 0, NO, NO, NET),
	CALL("setsockopt", IO, 0, NO, NO, NET),
	CALL("getsockopt", IO, 0, NO, NO, NET),
	/* Locks */
	CALL("futex", FUTEX, 0, 1, 3, LOCK),
	WIDE("futex_time64", FUTEX, 0, 1, 3, LOCK),
	CALL("futex_wait", FUTEX2, 0, 1, 4, LOCK),
	CALL("futex_wake", FUTEX2, 0, 2, NO, LOCK),
	CALL("futex_requeue", MEMORY, 0, 2, NO, LOCK),
	WIDE("futex_waitv", WAIT_TIMESPEC, NO, 1, 3, LOCK),
	CALL("flock", IO, 0, 1, NO, LOCK),
	CALL("fcntl", IO, 0, 1, NO, FILES | LOCK),
	CALL("fcntl64", IO, 0, 1, NO, FILES | LOCK),
	CALL("semop", WAIT_MS, NO, 2, NO, LOCK),
	CALL("semtimedop", WAIT_TIMESPEC, NO, 2, 3, LOCK),
	WIDE("semtimedop_time64", WAIT_TIMESPEC, NO, 2, 3, LOCK),
	CALL("ipc", IO, NO, 0, NO, LOCK),
	PLAIN("sched_yield", LOCK),
	/* Time */
	CALL("nanosleep", SLEEP, NO, NO, 0, TIME),
	CALL("clock_nanosleep", SLEEP, 1, NO, 2, TIME),
	WIDE("clock_nanosleep_time64", SLEEP, 1, NO, 2, TIME),
	CALL("rt_sigtimedwait", WAIT_TIMESPEC, NO, NO, 2, TIME),
	WIDE("rt_sigtimedwait_time64", WAIT_TIMESPEC, NO, NO, 2, TIME),
	PLAIN("pause", TIME),
	PLAIN("sigsuspend", TIME),
	PLAIN("rt_sigsuspend", TIME),
	PLAIN("timer_settime", TIME),
	PLAIN("timer_settime64", TIME),
	PLAIN("setitimer", TIME),
	PLAIN("alarm", TIME),
	CALL("timerfd_settime", IO, 0, NO, NO, TIME),
	CALL("timerfd_settime64", IO, 0, NO, NO, TIME),
	/* Memory */
	OLD32("mmap", MEMORY, 0, 1, NO, MEM),
	CALL("mmap2", MEMORY, 0, 1, NO, MEM),
	CALL("munmap", MEMORY, 0, 1, NO, MEM),
	CALL("mremap", MEMORY, 0, 1, NO, MEM),
	CALL("mprotect", MEMORY, 0, 1, NO, MEM),
	CALL("pkey_mprotect", MEMORY, 0, 1, NO, MEM),
	CALL("madvise", MEMORY, 0, 1, NO, MEM),
	CALL("mlock", MEMORY, 0, 1, NO, MEM),
	CALL("mlock2", MEMORY, 0, 1, NO, MEM),
	CALL("munlock", MEMORY, 0, 1, NO, MEM),
	CALL("msync", MEMORY, 0, 1, NO, MEM),
	CALL("mincore", MEMORY, 0, 1, NO, MEM),
	CALL("mbind", MEMORY, 0, 1, NO, MEM),
	CALL("brk", MEMORY, 0, NO, NO, MEM),
	PLAIN("mlockall", MEM),
	PLAIN("munlockall", MEM),
	PLAIN("membarrier", MEM),
	/* Files and their names */
	MAKES("open", PATH, NO, 0, 1, FILES),
	MAKES("openat", PATH, 0, 1, 2, FILES),
	MAKES("openat2", PATH, 0, 1, NO, FILES),
	MAKES("creat", PATH, NO, 0, NO, FILES),
	CALL("close", IO, 0, NO, NO, FILES | NET),
	PLAIN("close_range", FILES),
	MAKES("dup", IO, 0, NO, NO, FILES),
	MAKES("dup2", IO, 0, NO, NO, FILES | NET),
	MAKES("dup3", IO, 0, NO, NO, FILES | NET),
	PLAIN("pipe", FILES),
	PLAIN("pipe2", FILES),
	OPENS("eventfd", FILES),
	OPENS("eventfd2", FILES),
	OPENS("epoll_create", FILES),
	OPENS("epoll_create1", FILES),
	OPENS("timerfd_create", FILES),
	MAKES("signalfd", IO, 0, NO, NO, FILES),
	MAKES("signalfd4", IO, 0, NO, NO, FILES),
	OPENS("inotify_init", FILES),
	OPENS("inotify_init1", FILES),
	CALL("inotify_add_watch", PATH, 0, 1, 2, FILES),
	OPENS("memfd_create", FILES | MEM),
	CALL("lseek", IO, 0, NO, NO, FILES),
	CALL("_llseek", IO, 0, NO, NO, FILES),
	CALL("fstat", IO, 0, NO, NO, FILES),
	CALL("fstat64", IO, 0, NO, NO, FILES),
	CALL("fstatfs", IO, 0, NO, NO, FILES),
	CALL("fstatfs64", IO, 0, NO, NO, FILES),
	CALL("ftruncate", IO, 0, 1, NO, FILES),
	CALL("ftruncate64", IO, 0, NO, NO, FILES),
	CALL("fallocate", IO, 0, NO, NO, FILES),
	CALL("getdents", IO, 0, 2, NO, FILES),
	CALL("getdents64", IO, 0, 2, NO, FILES),
	CALL("fchdir", IO, 0, NO, NO, FILES),
	CALL("fchmod", IO, 0, NO, NO, FILES),
	CALL("fchown", IO, 0, NO, NO, FILES),
	CALL("fchown32", IO, 0, NO, NO, FILES),
	CALL("stat", PATH, NO, 0, NO, FILES),
	CALL("stat64", PATH, NO, 0, NO, FILES),
	CALL("lstat", PATH, NO, 0, NO, FILES),
	CALL("lstat64", PATH, NO, 0, NO, FILES),
	CALL("newfstatat", PATH, 0, 1, 3, FILES),
	CALL("fstatat64", PATH, 0, 1, 3, FILES),
	CALL("statx", PATH, 0, 1, 2, FILES),
	CALL("statfs", PATH, NO, 0, NO, FILES),
	CALL("statfs64", PATH, NO, 0, NO, FILES),
	CALL("access", PATH, NO, 0, NO, FILES),
	CALL("faccessat", PATH, 0, 1, NO, FILES),
	CALL("faccessat2", PATH, 0, 1, 3, FILES),
	CALL("readlink", PATH, NO, 0, NO, FILES),
	CALL("readlinkat", PATH, 0, 1, NO, FILES),
	CALL("truncate", PATH, NO, 0, NO, FILES),
	CALL("truncate64", PATH, NO, 0, NO, FILES),
	CALL("unlink", PATH, NO, 0, NO, FILES),
	CALL("unlinkat", PATH, 0, 1, 2, FILES),
	CALL("rename", PATH, NO, 0, NO, FILES),
	CALL("renameat", PATH, 0, 1, NO, FILES),
	CALL("renameat2", PATH, 0, 1, 4, FILES),
	CALL("link", PATH, NO, 0, NO, FILES),
	CALL("linkat", PATH, 0, 1, 4, FILES),
	CALL("symlink", PATH, NO, 1, NO, FILES),
	CALL("symlinkat", PATH, 1, 2, NO, FILES),
	CALL("mkdir", PATH, NO, 0, NO, FILES),
	CALL("mkdirat", PATH, 0, 1, NO, FILES),
	CALL("rmdir", PATH, NO, 0, NO, FILES),
	CALL("mknod", PATH, NO, 0, NO, FILES),
	CALL("mknodat", PATH, 0, 1, NO, FILES),
	CALL("chmod", PATH, NO, 0, NO, FILES),
	CALL("fchmodat", PATH, 0, 1, NO, FILES),
	CALL("chown", PATH, NO, 0, NO, FILES),
	CALL("chown32", PATH, NO, 0, NO, FILES),
	CALL("lchown", PATH, NO, 0, NO, FILES),
	CALL("lchown32", PATH, NO, 0, NO, FILES),
	CALL("fchownat", PATH, 0, 1, 4, FILES),
	CALL("utimensat", PATH, 0, 1, 3, FILES),
	CALL("utimensat_time64", PATH, 0, 1, 3, FILES),
	CALL("chdir", PATH, NO, 0, NO, FILES),
	CALL("chroot", PATH, NO, 0, NO, FILES),
	CALL("execve", PATH, NO, 0, NO, FILES),
	CALL("execveat", PATH, 0, 1, 4, FILES),
	PLAIN("getcwd", FILES),
};

const char *const syscall_presets[] = {"io", "net", "lock", "time", "mem", "file", "all", NULL};
#define PRESET_ALL 0xff

struct machine {
	const char *name;
	const char *const *native, *const *compat; /* compat: NULL, not known */
};

static const struct machine *machine_find(struct machine *m, const char *name)
{
	*m = (struct machine){name, syscall_names(name, false), syscall_names(name, true)};
	return m->native ? m : NULL;
}

static const struct known_call *known_find(const char *name)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(known[i].name, name))
			return &known[i];
	return NULL;
}

const char *syscall_known(uint32_t i)
{
	return i < sizeof(known) / sizeof(known[0]) ? known[i].name : NULL;
}

/* The same arguments, whose times have 32-bit words. */
static uint8_t shape32(uint8_t shape)
{
	static const uint8_t narrow[JIS_NR_SHAPES] = {
		[JIS_SHAPE_FUTEX] = JIS_SHAPE_FUTEX32,
		[JIS_SHAPE_WAIT_TIMESPEC] = JIS_SHAPE_WAIT_TIMESPEC32,
		[JIS_SHAPE_WAIT_TIMEVAL] = JIS_SHAPE_WAIT_TIMEVAL32,
		[JIS_SHAPE_SLEEP] = JIS_SHAPE_SLEEP32,
	};
	uint8_t other = narrow[shape & JIS_SHAPE_MASK];

	return other ? (uint8_t)(other | (shape & JIS_SHAPE_RESULT_FD)) : shape;
}

struct jis_syscall_desc syscall_shape(const char *name, bool compat)
{
	struct jis_syscall_desc how = {JIS_SHAPE_PLAIN, NO, NO, NO};
	const struct known_call *k = known_find(name);

	if (!k || (compat && k->compat & PLAIN32))
		return how;
	how = k->how;
	if (compat && !(k->compat & TIME64))
		how.shape = shape32(how.shape);
	return how;
}

static uint32_t preset_mask(const char *name)
{
	for (uint32_t i = 0; syscall_presets[i]; i++)
		if (!strcmp(syscall_presets[i], name))
			return syscall_presets[i + 1] ? 1u << i : PRESET_ALL;
	return 0;
}

/* Is call @name meant by @item, which is its name or, with a mask, a preset it belongs to? */
static bool item_means(const char *item, uint32_t mask, const char *name)
{
	const struct known_call *k;

	if (!mask)
		return !strcmp(item, name);
	k = mask == PRESET_ALL ? NULL : known_find(name);
	return mask == PRESET_ALL || (k && k->presets & mask);
}

/* Returns how many calls of the table were meant. */
static int table_apply(struct jis_syscall_desc *table, const char *const *names, bool compat,
		       const char *item, uint32_t mask, bool remove)
{
	static const struct jis_syscall_desc off;
	int n = 0;

	for (uint32_t i = 0; names && i < JIS_MAX_SYSCALL; i++) {
		if (!names[i] || !item_means(item, mask, names[i]))
			continue;
		table[i] = remove ? off : syscall_shape(names[i], compat);
		n++;
	}
	return n;
}

/* Levenshtein's distance: how many characters must change. */
static size_t distance(const char *a, const char *b)
{
	size_t row[NAME_MAX_LENGTH + 1], n = strlen(b);

	if (n > NAME_MAX_LENGTH)
		return SIZE_MAX;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t corner = row[0];

		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t replaced = corner + (a[i - 1] != b[j - 1]);
			size_t least = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;

			corner = row[j];
			row[j] = replaced < least ? replaced : least;
		}
	}
	return row[n];
}

static void nearer(const char *name, const char *candidate, const char **best, size_t *least)
{
	size_t d = candidate ? distance(name, candidate) : SIZE_MAX;

	if (d >= *least)
		return;
	*least = d;
	*best = candidate;
}

static const char *nearest(const struct machine *m, const char *name)
{
	size_t least = SIZE_MAX;
	const char *best = "";

	for (uint32_t i = 0; syscall_presets[i]; i++)
		nearer(name, syscall_presets[i], &best, &least);
	for (uint32_t i = 0; i < JIS_MAX_SYSCALL; i++) {
		nearer(name, m->native[i], &best, &least);
		nearer(name, m->compat ? m->compat[i] : NULL, &best, &least);
	}
	return best;
}

static int item_apply(const struct machine *m, const char *item, struct jis_syscalls *out,
		      char *why, size_t n)
{
	bool remove = item[0] == '-' || item[0] == '^';
	const char *name = item + remove;
	uint32_t mask = preset_mask(name);
	int found;

	found = table_apply(out->native, m->native, false, name, mask, remove);
	found += table_apply(out->compat, m->compat, true, name, mask, remove);
	if (found)
		return 0;
	snprintf(why, n, "\"%s\" is neither a system call of %s nor a preset; did you mean \"%s\"?",
		 name, m->name, nearest(m, name));
	return -EINVAL;
}

static bool selects_any(const struct jis_syscalls *s)
{
	for (uint32_t i = 0; i < JIS_MAX_SYSCALL; i++)
		if (s->native[i].shape || s->compat[i].shape)
			return true;
	return false;
}

int syscalls_parse(const char *list, const char *machine, struct jis_syscalls *out, char *why,
		   size_t n)
{
	struct machine found;
	const struct machine *m = machine_find(&found, machine);
	char item[NAME_MAX_LENGTH];
	int err;

	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	if (!m) {
		snprintf(why, n, "the system calls of %s are not known", machine);
		return -EOPNOTSUPP;
	}
	for (;;) {
		size_t length = strcspn(list, ",");

		if (!length || length >= sizeof(item)) {
			snprintf(why, n, "\"%.*s\" is no name of a system call", (int)length, list);
			return -EINVAL;
		}
		memcpy(item, list, length);
		item[length] = 0;
		err = item_apply(m, item, out, why, n);
		if (err)
			return err;
		if (!list[length])
			break;
		list += length + 1;
	}
	if (selects_any(out))
		return 0;
	snprintf(why, n, "no system call is left of the list");
	return -EINVAL;
}
