/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files about system calls share: the session's table of calls and its memory of named
 * descriptors. Made with the session's first set of calls, gone with its buffers.
 */
#ifndef JIS_SYSCALLS_H
#define JIS_SYSCALLS_H

#include <linux/limits.h>
#include <linux/percpu.h>
#include <linux/sched/task_stack.h>
#include <asm/syscall.h>

#include "jis.h"

/*
 * What a descriptor was when it was last told, and the time when it was first told as that.
 * identity: of the file, its lowest bit clear; that bit set: it is to be told again.
 */
struct jis_fd_named {
	u64 identity;
	u64 since;
};

#define JIS_FD_AGAIN 1ull

/* Descriptors whose names are remembered; two that fall on one entry are named more often. */
#define JIS_FD_BITS 12
#define JIS_FD_SLOTS 4096u /* two to the power of JIS_FD_BITS */

/* One CPU's room for a text, used with preemption off. */
struct jis_scratch {
	char text[PATH_MAX];
};

struct jis_calls {
	/* struct jis_syscall_desc, each one word: a probe sees the old one or the new */
	u32 native[JIS_MAX_SYSCALL];
	u32 compat[JIS_MAX_SYSCALL];
	bool any; /* is one selected? Under the session's lock */
	struct jis_scratch __percpu *scratch;
	/* What was said last of a descriptor, as a hash; 0: nothing. Written after the record. */
	struct jis_fd_named named[JIS_FD_SLOTS];
};

/* fd.c */
void jis_fd_name(struct jis_session *s, int fd);

/* syscalls.c, called as probes */
void jis_sys_enter(void *data, struct pt_regs *regs, long id);
void jis_sys_exit(void *data, struct pt_regs *regs, long result);

/*
 * The call a task that leaves its CPU is in, from the registers it entered the kernel with: no
 * probe needs to have seen it enter. An interrupt or a fault leaves -1 there.
 */
static __always_inline s32 jis_task_syscall(struct task_struct *task)
{
	int nr;

	/* Others of the flags may be changed right where it was interrupted. */
	if (data_race(task->flags) & COMPAT_PF_KERNEL)
		return JIS_SYSCALL_NONE;
	nr = syscall_get_nr(task, task_pt_regs(task));
	if (nr < 0)
		return JIS_SYSCALL_NONE;
	return compat_in_32bit_call(task) ? nr | JIS_SYSCALL_COMPAT : nr;
}

#endif /* JIS_SYSCALLS_H */
