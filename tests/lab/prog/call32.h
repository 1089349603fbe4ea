/* SPDX-License-Identifier: MIT */
/*
 * 32-bit system calls of 64-bit programs, which need no 32-bit library.
 */
#ifndef JIS_LAB_CALL32_H
#define JIS_LAB_CALL32_H

#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define COMPAT 0x20000000 /* JIS_SYSCALL_COMPAT, written down once more */

#ifdef __x86_64__
/* A 32-bit call of a 64-bit program; what its arguments point to must lie below 4 GiB. */
static inline long call32_of_6(long nr, const unsigned long a[6])
{
	register unsigned long sixth asm("r13") = a[5]; /* of RBP, which holds the frame */
	long result;

	asm volatile("mov %%rbp, %%r12\n\t"
		     "mov %%r13, %%rbp\n\t"
		     "int $0x80\n\t"
		     "mov %%r12, %%rbp"
		     : "=a"(result)
		     : "a"(nr), "b"(a[0]), "c"(a[1]), "d"(a[2]), "S"(a[3]), "D"(a[4]), "r"(sixth)
		     : "memory", "r8", "r9", "r10", "r11", "r12");
	return (int)result;
}

static inline long call32(long nr, long a, long b, long c, long d)
{
	const unsigned long arguments[6] = {(unsigned long)a, (unsigned long)b, (unsigned long)c,
					    (unsigned long)d};

	return call32_of_6(nr, arguments);
}

enum {
	READ32 = 3,
	WRITE32 = 4,
	GETPID32 = 20,
	NANOSLEEP32 = 162,
	POLL32 = 168,
	FUTEX32 = 240,
	OPENAT32 = 295,
	CLOCK_NANOSLEEP32 = 407, /* with 64-bit times, which every kernel has */
	CLOSE32 = 6
};

struct low {
	int32_t time[2];
	int64_t time64[2];
	uint32_t word;
	struct pollfd polled;
	char path[256];
};

static inline struct low *low_memory(void)
{
	struct low *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	if (low == MAP_FAILED)
		abort();
	memset(low, 0, sizeof(*low));
	return low;
}
#endif

#endif /* JIS_LAB_CALL32_H */
