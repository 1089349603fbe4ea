/* SPDX-License-Identifier: MIT */
/*
 * System calls of the ftrace backend, from the two events of raw_syscalls. They tell the number and
 * the arguments, not what those point to: that is unreadable here. Nor do they tell a 32-bit call,
 * whose number would be taken for another's: threads of 32-bit programs are left out. (A 64-bit
 * program that makes 32-bit calls is not told apart.)
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ftrace.h"

/* The kernel takes no longer filters than a page. */
#define FILTER_MAX 4000

static bool wanted(const struct backend *b, int64_t nr)
{
	return nr >= 0 && nr < (int64_t)JIS_MAX_SYSCALL && b->config.syscalls->native[nr].shape;
}

/* "id>=0&&id<=3||id==17": each stretch of numbers that are wanted. 0 or -E2BIG. */
static int filter_text(const struct backend *b, char *text, size_t n)
{
	size_t at = 0;

	text[0] = 0;
	for (int first = 0, last; first < (int)JIS_MAX_SYSCALL; first = last + 1) {
		last = first;
		if (!wanted(b, first))
			continue;
		while (wanted(b, last + 1))
			last++;
		if (first == last)
			at += (size_t)snprintf(text + at, n - at, "%sid==%d", at ? "||" : "",
					       first);
		else
			at += (size_t)snprintf(text + at, n - at, "%s(id>=%d&&id<=%d)",
					       at ? "||" : "", first, last);
		if (at >= n)
			return -E2BIG;
	}
	return at ? 0 : -EINVAL;
}

int ft_syscalls_setup(struct backend *b)
{
	char filter[FILTER_MAX], path[96];
	int err;

	if (!b->formats.event[FT_SYS_ENTER].id || !b->formats.event[FT_SYS_EXIT].id)
		return -EOPNOTSUPP;
	err = filter_text(b, filter, sizeof(filter));
	if (err == -E2BIG) /* then it is done here alone */
		return 0;
	for (int e = FT_SYS_ENTER; e <= FT_SYS_EXIT && !err; e++) {
		snprintf(path, sizeof(path), "events/%s/filter", ftrace_event_path(e));
		err = tracefs_write(b->instance, path, filter);
	}
	return err;
}

/* Of a process that has gone already nothing can be found out any more: most are 64-bit ones. */
static bool is_32bit(struct ft_target *target)
{
	char path[32];
	uint8_t ident[EI_CLASS + 1] = {0};
	int fd;

	if (target->elf_class)
		return target->elf_class == ELFCLASS32;
	target->elf_class = ELFCLASS64;
	snprintf(path, sizeof(path), "/proc/%u/exe", target->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, ident, sizeof(ident)) == sizeof(ident) &&
	    !memcmp(ident, ELFMAG, SELFMAG))
		target->elf_class = ident[EI_CLASS];
	if (fd >= 0)
		close(fd);
	return target->elf_class == ELFCLASS32;
}

static uint64_t arg(const uint64_t args[6], uint8_t index)
{
	return index < 6 ? args[index] : 0;
}

static int32_t arg_fd(const uint64_t args[6], uint8_t index)
{
	return index < 6 ? (int32_t)args[index] : -1;
}

static uint64_t io_size(const uint64_t args[6], const struct jis_syscall_desc *how)
{
	uint64_t size = arg(args, how->b);

	return how->c < 6 ? (uint32_t)size | args[how->c] << 32 : size;
}

/* The one timeout that is no pointer. */
static int64_t timeout_ms(const uint64_t args[6], const struct jis_syscall_desc *how)
{
	int32_t ms = (int32_t)arg(args, how->c);

	if ((how->shape & JIS_SHAPE_MASK) != JIS_SHAPE_WAIT_MS || how->c > 5 || ms < 0)
		return -1;
	return (int64_t)ms * 1000000;
}

static bool is_sleep(const struct jis_syscall_desc *how)
{
	uint8_t shape = how->shape & JIS_SHAPE_MASK;

	return shape == JIS_SHAPE_SLEEP || shape == JIS_SHAPE_SLEEP32;
}

void ft_syscall_enter(struct backend *b, uint32_t cpu, uint64_t time, const struct ft_task *task,
		      int64_t number, const uint64_t args[6])
{
	int32_t nr = (int32_t)number;
	uint32_t tid = task->tid;
	struct jis_syscall_desc how;

	if (!wanted(b, number) || is_32bit(task->target))
		return;
	how = b->config.syscalls->native[nr];

#define EMIT(event, ...)                                                                           \
	do {                                                                                       \
		struct jis_ev_##event ev = {.tid = tid, .nr = nr, __VA_ARGS__};                    \
		ft_emit(b, cpu, JIS_EV_##event, time, &ev, sizeof(ev), NULL);                      \
	} while (0)

	switch (how.shape & JIS_SHAPE_MASK) {
	case JIS_SHAPE_PLAIN:
		EMIT(syscall_enter);
		break;
	case JIS_SHAPE_IO:
		EMIT(syscall_io, .fd = arg_fd(args, how.a), .size = io_size(args, &how));
		break;
	case JIS_SHAPE_FUTEX:
	case JIS_SHAPE_FUTEX32:
		EMIT(syscall_futex, .op = (uint32_t)arg(args, how.b),
		     .value = (uint32_t)arg(args, how.b + 1), .address = arg(args, how.a),
		     .timeout = -1);
		break;
	case JIS_SHAPE_FUTEX2:
		EMIT(syscall_futex, .op = (uint32_t)args[3], .value = (uint32_t)arg(args, how.b),
		     .address = arg(args, how.a), .timeout = -1);
		break;
	case JIS_SHAPE_ADDRESS:
		EMIT(syscall_address, .fd = arg_fd(args, how.a));
		break;
	case JIS_SHAPE_MEMORY:
		EMIT(syscall_memory, .address = arg(args, how.a), .size = arg(args, how.b));
		break;
	case JIS_SHAPE_PATH: {
		struct jis_ev_syscall_path ev = {.tid = tid,
						 .nr = nr,
						 .dirfd = arg_fd(args, how.a),
						 .flags = (uint32_t)arg(args, how.c)};

		ft_emit(b, cpu, JIS_EV_syscall_path, time, &ev, sizeof(ev) - sizeof(uint32_t), "");
		break;
	}
	default:
		EMIT(syscall_wait, .fd = is_sleep(&how) ? -1 : arg_fd(args, how.a),
		     .count = (uint32_t)arg(args, how.b),
		     .flags = is_sleep(&how) ? (uint32_t)arg(args, how.a) & JIS_WAIT_ABSOLUTE : 0,
		     .timeout = timeout_ms(args, &how));
	}
#undef EMIT
}

void ft_syscall_exit(struct backend *b, uint32_t cpu, uint64_t time, const struct ft_task *task,
		     int64_t nr, int64_t result)
{
	struct jis_ev_syscall_exit ev = {.tid = task->tid, .nr = (int32_t)nr, .result = result};

	if (wanted(b, nr) && !is_32bit(task->target))
		ft_emit(b, cpu, JIS_EV_syscall_exit, time, &ev, sizeof(ev), NULL);
}
