/* SPDX-License-Identifier: MIT */
/*
 * For CallsBench: the least that recording a call can cost, two clock reads and two stores of 8
 * bytes each, the clock that all is measured by, and what the core has to give.
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#include <jni.h>
#pragma GCC diagnostic pop
#include <stdint.h>
#include <time.h>

#define RING 4096u

static uint64_t ring[RING];

JNIEXPORT jlong JNICALL Java_CallsBench_cpu(JNIEnv *env, jclass class);
JNIEXPORT void JNICALL Java_CallsBench_limit(JNIEnv *env, jclass class, jint pairs);
JNIEXPORT void JNICALL Java_CallsBench_additions(JNIEnv *env, jclass class, jint n);

static inline uint64_t clock_read(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
#endif
}

JNIEXPORT jlong JNICALL Java_CallsBench_cpu(JNIEnv *env, jclass class)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

JNIEXPORT void JNICALL Java_CallsBench_limit(JNIEnv *env, jclass class, jint pairs)
{
	uint32_t i;

	for (i = 0; i < 2 * (uint32_t)pairs; i++)
		__atomic_store_n(&ring[i % RING], clock_read(), __ATOMIC_RELAXED);
}

/* None waits for another: as many at a time as the core has to give. */
JNIEXPORT void JNICALL Java_CallsBench_additions(JNIEnv *env, jclass class, jint n)
{
	unsigned int a = 0, b = 0, c = 0, d = 0, i;

	for (i = 0; i < (unsigned int)n; i += 16) {
		a++, b++, c++, d++;
		__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
		a++, b++, c++, d++;
		__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
		a++, b++, c++, d++;
		__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
		a++, b++, c++, d++;
		__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
	}
}
