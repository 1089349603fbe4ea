// SPDX-License-Identifier: GPL-2.0-only
/*
 * Questions to the kernel's headers: Kbuild compiles this file once for each JIS_TRY_<feature>;
 * what compiles, the kernel has (HAVE_<feature> in jis_config.h). Never linked into the module.
 * A new difference between kernels is one more section here and its use in compat.h.
 */
#include <linux/cgroup.h>
#include <linux/fcntl.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/shmem_fs.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>
#include <trace/events/timer.h>

#ifdef JIS_TRY_SWITCH_PREV_STATE
static void probe(void *data, bool preempt, struct task_struct *prev, struct task_struct *next,
		  unsigned int prev_state)
{
}

static void __maybe_unused jis_try(void)
{
	check_trace_callback_type_sched_switch(probe);
}
#endif

#ifdef JIS_TRY_EXIT_GROUP_DEAD
static void probe(void *data, struct task_struct *task, bool group_dead)
{
}

static void __maybe_unused jis_try(void)
{
	check_trace_callback_type_sched_process_exit(probe);
}
#endif

#ifdef JIS_TRY_VM_FLAGS_CLEAR
static void __maybe_unused jis_try(struct vm_area_struct *vma)
{
	vm_flags_clear(vma, VM_MAYWRITE);
}
#endif

#ifdef JIS_TRY_VMA_SET_FILE
static void __maybe_unused jis_try(struct vm_area_struct *vma, struct file *file)
{
	vma_set_file(vma, file);
}
#endif

#ifdef JIS_TRY_SCHED_DELAYED
static bool __maybe_unused jis_try(const struct task_struct *task)
{
	return task->se.sched_delayed;
}
#endif

#ifdef JIS_TRY_SHMEM_VMA_FLAGS
static struct file *__maybe_unused jis_try(void)
{
	return shmem_file_setup("jis", 0, EMPTY_VMA_FLAGS);
}
#endif

#ifdef JIS_TRY_EXEC_STATE
#include <linux/sched/exec_state.h>

static bool __maybe_unused jis_try(struct task_struct *task)
{
	return rcu_dereference(task->exec_state)->dumpable == TASK_DUMPABLE_OWNER;
}
#endif

#ifdef JIS_TRY_SHMEM_SEALS
static void __maybe_unused jis_try(struct inode *inode)
{
	SHMEM_I(inode)->seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
}
#endif

#ifdef JIS_TRY_CGROUPS
static bool __maybe_unused jis_try(struct task_struct *task, struct cgroup *above)
{
	return above->root == &cgrp_dfl_root &&
	       cgroup_is_descendant(rcu_dereference_raw(task->cgroups)->dfl_cgrp, above);
}
#endif

#ifdef JIS_TRY_KMEMCG_PAGE_TYPE
static int __maybe_unused jis_try(struct page *page)
{
	return PageKmemcg(page);
}
#endif

#ifdef JIS_TRY_ACTIVE_MEMCG
static void __maybe_unused jis_try(void)
{
	current->active_memcg = get_mem_cgroup_from_mm(current->mm);
	mem_cgroup_put(current->active_memcg);
}
#endif

#ifdef JIS_TRY_TASK___STATE
static unsigned int __maybe_unused jis_try(struct task_struct *task)
{
	return READ_ONCE(task->__state);
}
#endif

#ifdef JIS_TRY_HRTIMER_NOW_VALUE
static void probe(void *data, struct hrtimer *timer, ktime_t now)
{
}

static void __maybe_unused jis_try(void)
{
	check_trace_callback_type_hrtimer_expire_entry(probe);
}
#endif

#ifdef JIS_TRY_BLOCK_COMPLETE_STATUS
#include <trace/events/block.h>

static void probe(void *data, struct request *rq, blk_status_t error, unsigned int bytes)
{
}

static void __maybe_unused jis_try(void)
{
	check_trace_callback_type_block_rq_complete(probe);
}
#endif

#ifdef JIS_TRY_QUEUE_DISK
#include <linux/blkdev.h>

static void *__maybe_unused jis_try(struct request_queue *q)
{
	return q->disk;
}
#endif

#ifdef JIS_TRY_GET_KRETPROBE
#include <linux/kprobes.h>

static void *__maybe_unused jis_try(struct kretprobe_instance *ri)
{
	return get_kretprobe(ri);
}
#endif

#ifdef JIS_TRY_PAGE_FAULT_HEADER
#include <trace/events/exceptions.h>

static void *__maybe_unused jis_try(void)
{
	return check_trace_callback_type_page_fault_user;
}
#endif

#ifdef JIS_TRY_PAGE_FAULT_ASM_HEADER
#include <asm/trace/exceptions.h>

static void *__maybe_unused jis_try(void)
{
	return check_trace_callback_type_page_fault_user;
}
#endif
