// SPDX-License-Identifier: GPL-2.0-only
/*
 * Questions to the kernel's headers: Kbuild compiles this file once for each JIS_TRY_<feature>;
 * what compiles, the kernel has (HAVE_<feature> in jis_config.h). Never linked into the module.
 * A new difference between kernels is one more section here and its use in compat.h.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/shmem_fs.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>

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

#ifdef JIS_TRY_SHMEM_VMA_FLAGS
static struct file *__maybe_unused jis_try(void)
{
	return shmem_file_setup("jis", 0, EMPTY_VMA_FLAGS);
}
#endif

#ifdef JIS_TRY_TASK___STATE
static unsigned int __maybe_unused jis_try(struct task_struct *task)
{
	return READ_ONCE(task->__state);
}
#endif
