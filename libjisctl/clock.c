/* SPDX-License-Identifier: MIT */
/*
 * Choice and calibration of the session's clock. The hand-off test lives in clock_handoff.c.
 */
#include "clock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define TRIES 100
#define HANDOFF_ROUNDS 2000

static bool read_word(const char *path, char *word, size_t n)
{
	FILE *f = fopen(path, "re");
	bool ok;

	if (!f)
		return false;
	ok = fgets(word, (int)n, f) != NULL;
	fclose(f);
	if (ok)
		word[strcspn(word, "\n")] = 0;
	return ok;
}

/* Do the flags of the first CPU name @flag as a whole word? */
static bool cpu_has_flag(const char *flag)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[8192], *save, *w;
	bool found = false;

	if (!f)
		return false;
	while (!found && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "flags", 5) != 0)
			continue;
		for (w = strtok_r(line, " \t\n", &save); w; w = strtok_r(NULL, " \t\n", &save))
			found |= strcmp(w, flag) == 0;
		break;
	}
	fclose(f);
	return found;
}

bool clock_tsc_usable(char *why, size_t n)
{
	char source[64] = "unknown";
	int steps;

	if (!clock_has_tsc()) {
		snprintf(why, n, "this machine has no TSC");
		return false;
	}
	read_word(CLOCKSOURCE, source, sizeof(source));
	if (strcmp(source, "tsc") == 0 || strcmp(source, "arch_sys_counter") == 0) {
		snprintf(why, n, "the kernel's clocksource is %s", source);
		return true;
	}
	if (!cpu_has_flag("constant_tsc") || !cpu_has_flag("nonstop_tsc")) {
		snprintf(why, n, "clocksource %s, and the CPU has no constant_tsc and nonstop_tsc",
			 source);
		return false;
	}
	steps = clock_handoff_test(HANDOFF_ROUNDS);
	if (steps != 0) {
		snprintf(why, n, "clocksource %s, and the TSCs of the CPUs differ (%d steps back)",
			 source, steps);
		return false;
	}
	snprintf(why, n, "clocksource %s, but the TSC never stops and no step back was seen",
		 source);
	return true;
}

int clock_choose(enum jisctl_clock want, uint32_t *kind, char *why, size_t n)
{
	*kind = JIS_CLOCK_RAW;
	if (want == JISCTL_CLOCK_RAW) {
		snprintf(why, n, "CLOCK_MONOTONIC_RAW, as asked");
		return 0;
	}
	if (clock_tsc_usable(why, n)) {
		*kind = JIS_CLOCK_TSC;
		return 0;
	}
	return want == JISCTL_CLOCK_TSC ? -EOPNOTSUPP : 0;
}

uint64_t clock_base(uint32_t kind)
{
	return clock_now(kind) & ~(uint64_t)JIS_TIME_MASK;
}

void clock_read_all(uint32_t kind, uint64_t base, struct clock_reading *out)
{
	uint64_t best = UINT64_MAX;
	int i;

	for (i = 0; i < TRIES; i++) {
		struct clock_reading r;
		uint64_t begin, end;

		begin = clock_now(kind);
		r.sample.monotonic = clock_ns(CLOCK_MONOTONIC);
		r.sample.boottime = clock_ns(CLOCK_BOOTTIME);
		r.tsc = clock_tsc();
		r.sample.monotonic_raw = clock_ns(CLOCK_MONOTONIC_RAW);
		r.sample.realtime = clock_ns(CLOCK_REALTIME);
		end = clock_now(kind);
		if (end < begin || end - begin >= best)
			continue;
		best = end - begin;
		r.sample.ticks = begin + best / 2 - base;
		if (kind == JIS_CLOCK_TSC)
			r.tsc = begin + best / 2;
		r.sample.uncertainty = best > UINT32_MAX ? UINT32_MAX : (uint32_t)best;
		*out = r;
	}
	if (best == UINT64_MAX) /* a clock that always steps back: say so by the uncertainty */
		*out = (struct clock_reading){.sample = {.uncertainty = UINT32_MAX}};
}

uint64_t clock_frequency(uint32_t kind, const struct clock_sample *first,
			 const struct clock_sample *last)
{
	uint64_t ns = last->monotonic_raw - first->monotonic_raw;
	uint64_t ticks = last->ticks - first->ticks;

	if (kind == JIS_CLOCK_RAW)
		return 1000000000u;
	if (last->monotonic_raw < first->monotonic_raw + 1000 || last->ticks <= first->ticks)
		return 0;
	return (uint64_t)(((unsigned __int128)ticks * 1000000000u + ns / 2) / ns);
}

int64_t clock_realtime_offset(const struct clock_sample *sample, uint64_t frequency)
{
	uint64_t ns;

	if (!frequency)
		return (int64_t)sample->realtime;
	ns = (uint64_t)((unsigned __int128)sample->ticks * 1000000000u / frequency);
	return (int64_t)(sample->realtime - ns);
}
