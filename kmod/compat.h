/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between kernels and machines behind one name each. Decided by what compiles
 * (jis_config.h, made by Kbuild from configure.c), never by a version number; no logic of the
 * module lives here.
 */
#ifndef JIS_COMPAT_H
#define JIS_COMPAT_H

#include <linux/fs.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/coredump.h>
#include <linux/sched/task.h>
#include <linux/shmem_fs.h>
#include <linux/timex.h>

#include "jis_config.h"

#ifdef HAVE_EXEC_STATE
#include <linux/sched/exec_state.h>
#endif

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

/* Has the thread a CPU? Exact under the lock of its run queue. */
static __always_inline bool compat_on_cpu(const struct task_struct *task)
{
#ifdef CONFIG_SMP
	return READ_ONCE(task->on_cpu);
#else
	return task == current;
#endif
}

/*
 * Does the thread wait for a CPU? One preempted on its way to sleep does, whatever it has set its
 * state to. One that sleeps and is left in the queue until its lag is used up does not.
 */
static __always_inline bool compat_is_queued(const struct task_struct *task)
{
#ifdef HAVE_SCHED_DELAYED
	/* Either under its run queue's lock, or the caller looks twice. */
	if (data_race(task->se.sched_delayed))
		return false;
#endif
	/* As above. */
	return data_race(task->on_rq);
}

#ifdef CONFIG_BLOCK
#ifdef HAVE_QUEUE_DISK
#define compat_rq_disk(rq) ((rq)->q->disk)
#else
#define compat_rq_disk(rq) ((rq)->rq_disk)
#endif
#endif

#ifdef HAVE_GET_KRETPROBE
#define compat_kretprobe(ri) get_kretprobe(ri)
#else
#define compat_kretprobe(ri) ((ri)->rp)
#endif

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

/*
 * For pages that go into mappings of user space: charged to a memory cgroup, but where that gives a
 * page a type of its own, as no mapping takes.
 */
#ifdef HAVE_KMEMCG_PAGE_TYPE
#define COMPAT_GFP_MAPPED GFP_KERNEL
#else
#define COMPAT_GFP_MAPPED GFP_KERNEL_ACCOUNT
#endif

/* The memory cgroup of the current process, with a reference; NULL: none, or it cannot be had. */
static inline struct mem_cgroup *compat_memcg_get(void)
{
#ifdef HAVE_ACTIVE_MEMCG
	return get_mem_cgroup_from_mm(current->mm);
#else
	return NULL;
#endif
}

static inline void compat_memcg_put(struct mem_cgroup *memcg)
{
#ifdef HAVE_ACTIVE_MEMCG
	mem_cgroup_put(memcg);
#endif
}

/*
 * Who is charged for what the current thread allocates from here on; NULL: itself. Returns who was
 * charged before. As set_active_memcg(), which needs a symbol that not all kernels export, for
 * interrupts.
 */
static inline struct mem_cgroup *compat_memcg_use(struct mem_cgroup *memcg)
{
#ifdef HAVE_ACTIVE_MEMCG
	struct mem_cgroup *before = current->active_memcg;

	current->active_memcg = memcg;
	return before;
#else
	return NULL;
#endif
}

/* A file of the kernel's own tmpfs. */
static inline struct file *compat_shmem_file(const char *name, loff_t size)
{
#ifdef HAVE_SHMEM_VMA_FLAGS
	return shmem_file_setup(name, size, EMPTY_VMA_FLAGS);
#else
	return shmem_file_setup(name, size, 0);
#endif
}

/* May a process with the same ids look into this one? No lock is taken when it is current. */
static inline bool compat_dumpable(struct task_struct *task)
{
	bool dumpable;

#ifdef HAVE_EXEC_STATE
	rcu_read_lock();
	dumpable = rcu_dereference(task->exec_state)->dumpable == TASK_DUMPABLE_OWNER;
	rcu_read_unlock();
#else
	if (task == current)
		return task->mm && get_dumpable(task->mm) == SUID_DUMP_USER;
	task_lock(task);
	dumpable = task->mm && get_dumpable(task->mm) == SUID_DUMP_USER;
	task_unlock(task);
#endif
	return dumpable;
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

/* Is the system call the task is in a 32-bit one? Means nothing of one that is in none. */
static __always_inline bool compat_in_32bit_call(struct task_struct *task)
{
#if defined(CONFIG_X86) && defined(CONFIG_IA32_EMULATION)
	return READ_ONCE(task_thread_info(task)->status) & TS_COMPAT;
#elif defined(CONFIG_ARM64) && defined(CONFIG_COMPAT)
	return test_ti_thread_flag(task_thread_info(task), TIF_32BIT);
#else
	return false;
#endif
}

/* Threads that never run in user mode, whatever their registers say. */
#ifdef PF_USER_WORKER
#define COMPAT_PF_KERNEL (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)
#else
#define COMPAT_PF_KERNEL (PF_KTHREAD | PF_IO_WORKER)
#endif

#endif /* JIS_COMPAT_H */
