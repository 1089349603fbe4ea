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
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent.h"

static jfieldID eetop;
static long osthread_offset = -1, thread_id_offset = -1;
/* States: JavaThread._thread_state, OSThread._state. */
static long vm_state_offset = -1, os_state_offset = -1;
static int states_known; /* the two were tried */

void *vm_symbol(const char *name)
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
		else if (!strcmp(type, "JavaThread") && !strcmp(field, "_thread_state"))
			vm_state_offset = *(const long *)(const void *)(entry + offset_at);
		else if (!strcmp(type, "OSThread") && !strcmp(field, "_state"))
			os_state_offset = *(const long *)(const void *)(entry + offset_at);
	}
}

/* A constant of HotSpot's, from its other table; -1: it has none of that name. */
static int vm_constant(const char *wanted)
{
	char **table = vm_symbol("gHotSpotVMIntConstants");
	__u64 name_at = vm_number("gHotSpotVMIntConstantEntryNameOffset");
	__u64 value_at = vm_number("gHotSpotVMIntConstantEntryValueOffset");
	__u64 stride = vm_number("gHotSpotVMIntConstantEntryArrayStride");
	const char *entry, *name;

	if (!table || !*table || !value_at || !stride)
		return -1;
	for (entry = *table;; entry += stride) {
		name = *(const char *const *)(const void *)(entry + name_at);
		if (!name)
			return -1;
		if (!strcmp(name, wanted))
			return *(const int *)(const void *)(entry + value_at);
	}
}

/*
 * Where process_vm_readv() is not to be had, by the kernel's configuration or a container's list of
 * system calls: the process's memory as a file, opened once.
 */
static int memory_file(void)
{
	static int file = -1;
	int fd = __atomic_load_n(&file, __ATOMIC_ACQUIRE), none = -1;

	if (fd >= 0)
		return fd;
	fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	if (fd < 0 ||
	    __atomic_compare_exchange_n(&file, &none, fd, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return fd;
	close(fd);
	return none;
}

/* Returns the number of bytes read from the first pieces on; it ends at one that is not there. */
static ssize_t pieces_read(const struct iovec *local, const struct iovec *remote, unsigned int n)
{
	ssize_t got = process_vm_readv(getpid(), local, n, remote, n, 0), all = 0;
	unsigned int i;
	int fd;

	if (got >= 0 || errno == EFAULT)
		return got;
	fd = memory_file();
	for (i = 0; fd >= 0 && i < n; i++) {
		got = pread(fd, local[i].iov_base, local[i].iov_len,
			    (off_t)(uintptr_t)remote[i].iov_base);
		if (got > 0)
			all += got;
		if (got != (ssize_t)local[i].iov_len)
			break;
	}
	return all ? all : -1;
}

int vm_read(__u64 address, void *out, size_t size)
{
	struct iovec to = {out, size};
	struct iovec from = {(void *)(uintptr_t)address, size};

	return pieces_read(&to, &from, 1) == (ssize_t)size ? 0 : -EFAULT;
}

void vm_read_each(struct iovec *local, const struct iovec *remote, unsigned int n)
{
	unsigned int i = 0;
	ssize_t got;

	while (i < n) {
		got = pieces_read(local + i, remote + i, n - i);
		for (; i < n && got >= (ssize_t)local[i].iov_len; i++)
			got -= (ssize_t)local[i].iov_len;
		if (i < n)
			local[i++].iov_len = 0; /* it stopped there: the others go on */
	}
}

__u64 vm_thread_read(JNIEnv *env, jthread thread)
{
	return eetop ? (__u64)(*env)->GetLongField(env, thread, eetop) : 0;
}

const void *vm_field(const char *wanted_type, const char *wanted_field, long *offset)
{
	char **table = vm_symbol("gHotSpotVMStructs");
	__u64 type_at = vm_number("gHotSpotVMStructEntryTypeNameOffset");
	__u64 field_at = vm_number("gHotSpotVMStructEntryFieldNameOffset");
	__u64 offset_at = vm_number("gHotSpotVMStructEntryOffsetOffset");
	__u64 address_at = vm_number("gHotSpotVMStructEntryAddressOffset");
	__u64 stride = vm_number("gHotSpotVMStructEntryArrayStride");
	const char *entry, *type, *field;

	*offset = -1;
	if (!table || !*table || !field_at || !offset_at || !address_at || !stride)
		return NULL;
	for (entry = *table;; entry += stride) {
		type = *(const char *const *)(const void *)(entry + type_at);
		field = *(const char *const *)(const void *)(entry + field_at);
		if (!type || !field)
			return NULL;
		if (strcmp(type, wanted_type) || strcmp(field, wanted_field))
			continue;
		*offset = *(const long *)(const void *)(entry + offset_at);
		return *(const void *const *)(const void *)(entry + address_at);
	}
}

__u64 vm_type_size(const char *wanted)
{
	char **table = vm_symbol("gHotSpotVMTypes");
	__u64 name_at = vm_number("gHotSpotVMTypeEntryTypeNameOffset");
	__u64 size_at = vm_number("gHotSpotVMTypeEntrySizeOffset");
	__u64 stride = vm_number("gHotSpotVMTypeEntryArrayStride");
	const char *entry, *name;

	if (!table || !*table || !size_at || !stride)
		return 0;
	for (entry = *table;; entry += stride) {
		name = *(const char *const *)(const void *)(entry + name_at);
		if (!name)
			return 0;
		if (!strcmp(name, wanted))
			return *(const __u64 *)(const void *)(entry + size_at);
	}
}

/* The flags: an array of structures with a name and the address of the value. */
struct flags {
	char *copy;
	__u64 number, size;
	long name_offset, value_offset;
};

static int flags_copy(struct flags *f)
{
	const void *flags_at, *number_at;
	long unused;

	f->size = vm_type_size("JVMFlag");
	flags_at = vm_field("JVMFlag", "flags", &unused);
	number_at = vm_field("JVMFlag", "numFlags", &unused);
	vm_field("JVMFlag", "_name", &f->name_offset);
	vm_field("JVMFlag", "_addr", &f->value_offset);
	if (!flags_at || !number_at || f->name_offset < 0 || f->value_offset < 0 ||
	    f->size < (__u64)f->name_offset + 8 || f->size < (__u64)f->value_offset + 8)
		return -ENOENT;
	f->number = *(const __u64 *)number_at;
	if (f->size > 4096 || f->number > 65536)
		return -ENOENT;
	f->copy = malloc(f->size * f->number);
	if (!f->copy)
		return -ENOMEM;
	return vm_read(*(const __u64 *)flags_at, f->copy, f->size * f->number);
}

static __u64 flag_word(const struct flags *f, __u64 i, long offset)
{
	__u64 word;

	memcpy(&word, f->copy + i * f->size + offset, sizeof(word));
	return word;
}

#define FLAGS_AT_ONCE 256

/* Where the value of a flag is; there are more than a thousand names to be read. */
static __u64 flag_look(const struct flags *f, const char *wanted)
{
	struct iovec local[FLAGS_AT_ONCE], remote[FLAGS_AT_ONCE];
	char names[FLAGS_AT_ONCE][64];
	size_t length = strlen(wanted) + 1;
	__u64 first;
	unsigned int i, n;

	for (first = 0; first < f->number; first += n) {
		n = f->number - first < FLAGS_AT_ONCE ? (unsigned int)(f->number - first)
						      : FLAGS_AT_ONCE;
		for (i = 0; i < n; i++) {
			local[i] = (struct iovec){names[i], length};
			remote[i].iov_base =
				(void *)(uintptr_t)flag_word(f, first + i, f->name_offset);
			remote[i].iov_len = length;
		}
		vm_read_each(local, remote, n);
		for (i = 0; i < n; i++)
			if (local[i].iov_len && !memcmp(names[i], wanted, length))
				return flag_word(f, first + i, f->value_offset);
	}
	return 0;
}

static unsigned char *flag_find(const char *wanted)
{
	struct flags f = {0};
	__u64 value = flags_copy(&f) < 0 ? 0 : flag_look(&f, wanted);

	free(f.copy);
	return (unsigned char *)(uintptr_t)value;
}

int vm_flag(const char *wanted)
{
	const unsigned char *flag = flag_find(wanted);

	return flag ? *flag : -1;
}

int vm_flag_set(const char *wanted)
{
	unsigned char *flag = flag_find(wanted);

	if (!flag || *flag > 1)
		return -ENOENT;
	*flag = 1;
	return 0;
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

/* Where the states of a live platform thread are. Returns 0, or -ESRCH. */
static int states_find(JNIEnv *env, jthread thread, struct vm_states *out)
{
	__u64 java_thread = (__u64)(*env)->GetLongField(env, thread, eetop), os_thread;

	if (!java_thread || vm_read(java_thread + (__u64)osthread_offset, &os_thread, 8) < 0 ||
	    !os_thread)
		return -ESRCH;
	out->vm = (const __u32 *)(uintptr_t)(java_thread + (__u64)vm_state_offset);
	out->os = (const __u32 *)(uintptr_t)(os_thread + (__u64)os_state_offset);
	return 0;
}

/* The calling thread is in native code, and it runs: does it say so? */
static int states_try(JNIEnv *env, jthread current)
{
	struct vm_states states;
	int vm = -1, os = -1;

	if (vm_state_offset < 0 || os_state_offset < 0 || states_find(env, current, &states) < 0)
		return -ENOENT;
	if (vm_read((__u64)(uintptr_t)states.vm, &vm, sizeof(vm)) < 0 ||
	    vm_read((__u64)(uintptr_t)states.os, &os, sizeof(os)) < 0)
		return -EFAULT;
	return vm >= 0 && os >= 0 && vm == vm_constant("_thread_in_native") &&
			       os == vm_constant("RUNNABLE")
		       ? 0
		       : -ENOENT;
}

int vmstructs_states(JNIEnv *env, jthread thread, struct vm_states *out)
{
	if (!__atomic_load_n(&states_known, __ATOMIC_ACQUIRE))
		return -ENOENT;
	return states_find(env, thread, out);
}

static void states_init(JNIEnv *env, jthread current)
{
	if (!(agent.features & JIS_FEATURE_VM_STATES))
		return;
	if (eetop && states_try(env, current) == 0) {
		__atomic_store_n(&states_known, 1, __ATOMIC_RELEASE);
		return;
	}
	agent.features &= ~JIS_FEATURE_VM_STATES;
	recorder_note("the JVM's states of its threads are not recorded: "
		      "unknown layout of this JVM");
}

static void tids_init(JNIEnv *env, jthread current)
{
	jclass class;

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

void vmstructs_init(JNIEnv *env, jthread current)
{
	if (agent.hotspot)
		tids_init(env, current);
	states_init(env, current);
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
