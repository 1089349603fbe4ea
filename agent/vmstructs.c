/* SPDX-License-Identifier: MIT */
/*
 * Kernel threads of running Java threads, from HotSpot's own tables: Thread.eetop -> JavaThread
 * ._osthread -> OSThread._thread_id. Offsets come from gHotSpotVMStructs, which HotSpot exports for
 * debuggers; they are tried on the calling thread, whose number is known, and not used if the
 * answer is wrong. Memory is read by system call, so that a thread that ends meanwhile is an error,
 * no fault.
 */
#include "compat.h"

#include <dlfcn.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

#include "agent.h"

static jfieldID eetop;
static long osthread_offset = -1, thread_id_offset = -1;

static void *vm_symbol(const char *name)
{
	void *symbol = dlsym(RTLD_DEFAULT, name), *vm;

	if (symbol)
		return symbol;
	vm = dlopen("libjvm.so", RTLD_NOLOAD | RTLD_LAZY);
	return vm ? dlsym(vm, name) : NULL;
}

static __u64 vm_number(const char *name)
{
	__u64 *number = vm_symbol(name);

	return number ? *number : 0;
}

int vmstructs_present(void)
{
	return vm_symbol("gHotSpotVMStructs") != NULL;
}

/* Walks the exported table, whose own layout HotSpot exports too. */
static void offsets_find(void)
{
	char **table = vm_symbol("gHotSpotVMStructs");
	__u64 type_at = vm_number("gHotSpotVMStructEntryTypeNameOffset");
	__u64 field_at = vm_number("gHotSpotVMStructEntryFieldNameOffset");
	__u64 offset_at = vm_number("gHotSpotVMStructEntryOffsetOffset");
	__u64 stride = vm_number("gHotSpotVMStructEntryArrayStride");
	const char *entry, *type, *field;

	if (!table || !*table || !field_at || !offset_at || !stride)
		return;
	for (entry = *table;; entry += stride) {
		type = *(const char *const *)(const void *)(entry + type_at);
		field = *(const char *const *)(const void *)(entry + field_at);
		if (!type || !field)
			return;
		/* The field is JavaThread's in 17 and 21, Thread's in 25. */
		if (!strcmp(field, "_osthread"))
			osthread_offset = *(const long *)(const void *)(entry + offset_at);
		else if (!strcmp(type, "OSThread") && !strcmp(field, "_thread_id"))
			thread_id_offset = *(const long *)(const void *)(entry + offset_at);
	}
}

static int vm_read(__u64 address, void *out, size_t size)
{
	struct iovec to = {out, size};
	struct iovec from = {(void *)(uintptr_t)address, size};

	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)size ? 0 : -EFAULT;
}

static __u32 tid_read(JNIEnv *env, jthread thread)
{
	__u64 java_thread = (__u64)(*env)->GetLongField(env, thread, eetop), os_thread;
	int tid;

	if (!java_thread || vm_read(java_thread + (__u64)osthread_offset, &os_thread, 8) < 0 ||
	    !os_thread || vm_read(os_thread + (__u64)thread_id_offset, &tid, sizeof(tid)) < 0)
		return 0;
	return tid > 0 ? (__u32)tid : 0;
}

void vmstructs_init(JNIEnv *env, jthread current)
{
	jclass class;

	if (!agent.hotspot)
		return;
	class = (*env)->FindClass(env, "java/lang/Thread");
	if (class)
		eetop = (*env)->GetFieldID(env, class, "eetop", "J");
	if ((*env)->ExceptionCheck(env))
		(*env)->ExceptionClear(env);
	offsets_find();
	if (eetop && osthread_offset >= 0 && thread_id_offset >= 0 &&
	    tid_read(env, current) == agent_tid())
		return;
	eetop = NULL;
	recorder_note("kernel threads of Java threads already running are not known: "
		      "unknown layout of this JVM");
}

__u32 vmstructs_tid(JNIEnv *env, jthread thread)
{
	char path[64];
	__u32 tid = eetop ? tid_read(env, thread) : 0;

	if (!tid)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/task/%u", tid);
	return access(path, F_OK) == 0 ? tid : 0;
}
