/* SPDX-License-Identifier: MIT */
/*
 * The session's clock: which one can be trusted here, reading it, readings of all clocks at one
 * instant, and how many ticks a second has. Owns no state. Private to libjisctl.
 */
#ifndef JISCTL_CLOCK_H
#define JISCTL_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "jis/abi.h"
#include "jisctl.h"
#include "trace/manifest.h"

/* Sessions shorter than this are stretched by a calibration at their end. */
#define CLOCK_CALIBRATION_NS 50000000ull

static inline bool clock_has_tsc(void)
{
#if defined(__x86_64__) || defined(__aarch64__)
	return true;
#else
	return false;
#endif
}

/* The counter itself, never read before what precedes it in the program. */
static inline uint64_t clock_tsc(void)
{
#if defined(__x86_64__)
	uint32_t lo, hi;

	__asm__ volatile("lfence; rdtsc" : "=a"(lo), "=d"(hi) : : "memory");
	return (uint64_t)hi << 32 | lo;
#elif defined(__aarch64__)
	uint64_t t;

	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(t) : : "memory");
	return t;
#else
	return 0;
#endif
}

static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Raw (not rebased) ticks of clock @kind: JIS_CLOCK_*. */
static inline uint64_t clock_now(uint32_t kind)
{
	return kind == JIS_CLOCK_TSC ? clock_tsc() : clock_ns(CLOCK_MONOTONIC_RAW);
}

/**
 * clock_tsc_usable - is the TSC one clock for all CPUs?
 * Yes where the kernel's clocksource is tsc (arm64: arch_sys_counter), or the CPU says that it is
 * constant and never stops and the hand-off test sees no step back. @why says it in words.
 */
bool clock_tsc_usable(char *why, size_t n);

#define CLOCK_HANDOFF_SECONDS 1

/**
 * clock_handoff_test - hands a token round all CPUs this process may use, @rounds times; each
 * holder reads the TSC and compares with its predecessor's. At real-time priority where that is
 * allowed: until it is over, nothing else of lower priority runs on these CPUs. After
 * CLOCK_HANDOFF_SECONDS it ends with what has been seen until then. Returns the number of steps
 * back seen, or -errno.
 */
int clock_handoff_test(unsigned int rounds);

/**
 * clock_choose - JIS_CLOCK_* for what the user wants.
 * Returns 0; -EOPNOTSUPP: the TSC was asked for and cannot be used. @why says what was found.
 */
int clock_choose(enum jisctl_clock want, uint32_t *kind, char *why, size_t n);

/* Now, rounded down to a multiple of 2^27 ticks: the base of a session that begins now. */
uint64_t clock_base(uint32_t kind);

/* One reading of all clocks, the tightest of 100 tries. */
struct clock_reading {
	uint64_t tsc; /* 0: none */
	struct clock_sample sample;
};
void clock_read_all(uint32_t kind, uint64_t base, struct clock_reading *out);

/**
 * clock_frequency - ticks per second from two readings; 1e9 for JIS_CLOCK_RAW.
 * Returns 0 when the two are less than a microsecond apart.
 */
uint64_t clock_frequency(uint32_t kind, const struct clock_sample *first,
			 const struct clock_sample *last);

/* CLOCK_REALTIME (ns) at rebased tick 0, from @sample. */
int64_t clock_realtime_offset(const struct clock_sample *sample, uint64_t frequency);

#endif /* JISCTL_CLOCK_H */
