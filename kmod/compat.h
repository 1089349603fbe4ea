/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between kernels and machines behind one name each. Decided by what compiles
 * (jis_config.h, made by Kbuild from configure.c), never by a version number; no logic of the
 * module lives here.
 */
#ifndef JIS_COMPAT_H
#define JIS_COMPAT_H

#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/shmem_fs.h>
#include <linux/timex.h>

#include "jis_config.h"

#ifndef CONFIG_64BIT
#error "jis needs a 64-bit kernel: its positions and counters are read without locks"
#endif

static __always_inline unsigned int compat_task_state(const struct task_struct *task)
{
#ifdef HAVE_TASK___STATE
	return READ_ONCE(task->__state);
#else
	return READ_ONCE(task->state);
#endif
}

static inline void compat_vm_flags(struct vm_area_struct *vma, unsigned long set,
				   unsigned long clear)
{
#ifdef HAVE_VM_FLAGS_CLEAR
	vm_flags_set(vma, set);
	vm_flags_clear(vma, clear);
#else
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
#endif
}

static inline void compat_vma_set_file(struct vm_area_struct *vma, struct file *file)
{
#ifdef HAVE_VMA_SET_FILE
	vma_set_file(vma, file);
#else
	struct file *old = vma->vm_file;

	vma->vm_file = get_file(file);
	fput(old);
#endif
}

/* An empty file of the kernel's own tmpfs. */
static inline struct file *compat_empty_file(const char *name)
{
#ifdef HAVE_SHMEM_VMA_FLAGS
	return shmem_file_setup(name, 0, EMPTY_VMA_FLAGS);
#else
	return shmem_file_setup(name, 0, 0);
#endif
}

#if defined(CONFIG_X86)
#include <asm/cpufeature.h>
#include <asm/msr.h>
#include <asm/tsc.h>

#define compat_cycles() rdtsc()
#define compat_has_cycles() boot_cpu_has(X86_FEATURE_TSC)
#elif defined(CONFIG_ARM64)
#include <asm/sysreg.h>

#define compat_cycles() read_sysreg(cntvct_el0)
#define compat_has_cycles() true
#else
#define compat_cycles() ((u64)get_cycles())
#define compat_has_cycles() false
#endif

#endif /* JIS_COMPAT_H */
