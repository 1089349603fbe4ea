/* SPDX-License-Identifier: MIT */
/*
 * The heap before and after collections, from the JVM's log: what each collector prints of itself
 * then, summed up over its generations. Inside of a collection neither JNI nor JVMTI could be
 * asked.
 */
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#include "vmlog.h"
#include "waits.h"

/* What is being read: from "Heap before GC" to the last generation's line, of one collection. */
static struct {
	int inside;
	__u64 time;
	struct jis_ev_heap record;
} block;

/*
 * The first words of a line that tells how much of a generation, or of the whole heap, is used:
 *   def new generation   total 19648K, used 349K [...        Serial, Parallel, G1
 *   garbage-first heap   total reserved 65536K, committed 8192K, used 5K [...   G1 of JDK 25
 *   ZHeap           used 2M, capacity 64M, max capacity 64M
 */
static const struct {
	const char *name;
	int last; /* of its heap */
} generations[] = {
	{"def new generation ", 0}, {"DefNew ", 0},  {"PSYoungGen ", 0},
	{"tenured generation ", 1}, {"Tenured ", 1}, {"ParOldGen ", 1},
	{"garbage-first heap ", 1}, {"ZHeap ", 1},
};

/* "123K" or "123M" behind @key in bytes; -1: there is none. */
static __s64 bytes_after(const char *text, const char *key)
{
	const char *p = strstr(text, key);
	char *end;
	__s64 n;

	if (!p)
		return -1;
	p += strlen(key);
	n = strtoll(p, &end, 10);
	if (end == p || n < 0 || n > INT64_MAX >> 30)
		return -1;
	switch (*end) {
	case 'K':
		return n << 10;
	case 'M':
		return n << 20;
	case 'G':
		return n << 30;
	}
	return -1;
}

/* Adds up a line of a generation; returns 1 when it is the heap's last, -1: it cannot be read. */
static int generation_add(const char *text, int last)
{
	__s64 used = bytes_after(text, "used "), committed = bytes_after(text, " committed ");

	if (committed < 0)
		committed = bytes_after(text, " total ");
	if (committed < 0)
		committed = bytes_after(text, " capacity ");
	if (committed < 0 || used < 0)
		return -1;
	block.record.used += (__u64)used;
	block.record.committed += (__u64)committed;
	return last;
}

/* The same for any line of the block: 0 where it is of no generation, or more are to come. */
static int block_add(const char *text)
{
	unsigned int i;
	size_t n;

	for (i = 0; i < sizeof(generations) / sizeof(generations[0]); i++) {
		n = strlen(generations[i].name);
		if (!strncmp(text, generations[i].name, n))
			return generation_add(text + n - 1, generations[i].last);
	}
	return 0;
}

static void block_begin(__u64 time, __u32 number, int after)
{
	memset(&block, 0, sizeof(block));
	block.inside = 1;
	block.time = time;
	block.record.number = number;
	block.record.after = (__u32)after;
}

/* "GC(n) text", or "GC(n) Y: text" where generations are collected apart. */
static void heap_line(struct vmlog *log, __u64 time, const char *text)
{
	__u32 number;
	char *p;
	int done;

	if (strncmp(text, "GC(", 3))
		return;
	number = (__u32)strtoul(text + 3, &p, 10);
	if (p[0] != ')' || p[1] != ' ')
		return;
	p += 2;
	if (p[0] && p[1] == ':')
		p += 2;
	p += strspn(p, " ");
	if (!strncasecmp(p, "Heap before GC ", 15) || !strncasecmp(p, "Heap after GC ", 14)) {
		block_begin(time, number, p[5] == 'a' || p[5] == 'A');
	} else if (block.inside && block.record.number == number) {
		done = block_add(p);
		block.inside = !done;
		if (done > 0)
			vmlog_write(log, block.time, JIS_EV_heap, &block.record,
				    sizeof(block.record));
	}
}

static struct vmlog heap_log = {.what = "gc+heap=debug", .line = heap_line};

int heap_enable(JNIEnv *env)
{
	if (vm_flag("UseShenandoahGC") == 1 || vm_flag("UseEpsilonGC") == 1) {
		recorder_note("this collector does not say how full the heap is: the heap before "
			      "and after collections is not recorded");
		return -ENOTSUP;
	}
	memset(&block, 0, sizeof(block));
	return vmlog_begin(env, &heap_log, "the heap before and after collections");
}

void heap_disable(JNIEnv *env)
{
	vmlog_end(env, &heap_log);
}
