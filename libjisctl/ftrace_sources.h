/* SPDX-License-Identifier: MIT */
/*
 * What each CPU is at, by ftrace: which interrupt, softirq or timer, so that a waking has a source.
 * Told by records in the order of time; the twin of kmod/sources.c. Private to the ftrace backend.
 */
#ifndef JISCTL_FTRACE_SOURCES_H
#define JISCTL_FTRACE_SOURCES_H

#include <stdbool.h>
#include <stdint.h>

#include "ftrace_format.h"

/* Bits of common_flags. */
#define FT_FLAG_HARDIRQ 0x08u
#define FT_FLAG_SOFTIRQ 0x10u
#define FT_FLAG_NMI 0x40u

/* What may interrupt a softirq is noted apart from it. */
enum ft_at { FT_AT_SOFTIRQ, FT_AT_HARDIRQ, FT_NR_AT };

/* One CPU. All zero: nothing is known, which is right at any time. */
struct ft_source {
	uint32_t number[FT_NR_AT]; /* of the softirq's vector, the interrupt, + 1; 0: not known */
	bool timer[FT_NR_AT];	   /* it is in a timer's function */
	uint64_t gap_from, gap_to; /* records are missing somewhere in there */
};

/**
 * ft_source_gap - somewhere from @from to @to records of interrupts are missing. What is noted in
 * there does not hold, neither in there nor behind. To be called before records of that time are
 * converted.
 */
void ft_source_gap(struct ft_source *s, uint64_t from, uint64_t to);

/* What is noted does not hold any more: records are missing here. */
void ft_source_forget(struct ft_source *s);

/**
 * ft_source_pass - any record of the CPU, before it is converted. @flags: its common_flags. One
 * that was made outside of interrupts, or of softirqs, tells that there is none under way any more.
 */
void ft_source_pass(struct ft_source *s, uint64_t time, uint32_t flags);

/* ft_source_note - a record of FT_IRQ_ENTRY to FT_TIMER_EXIT. @number: of the interrupt, vector. */
void ft_source_note(struct ft_source *s, enum ftrace_event e, uint32_t flags, uint32_t number);

/**
 * ft_source_waker - enum jis_waker_context of a waking with @flags, *source as in sched_waking:
 * JIS_SOURCE_UNKNOWN where it is not known.
 */
uint32_t ft_source_waker(const struct ft_source *s, uint32_t flags, uint32_t *source);

#endif /* JISCTL_FTRACE_SOURCES_H */
