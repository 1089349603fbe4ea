/* SPDX-License-Identifier: MIT */
/*
 * What each CPU is at, from the records of interrupts, softirqs and timers. Never guesses: what
 * was missed leaves it not known until the next beginning tells.
 */
#include "ftrace_sources.h"

#include "jis/events.h"

static void forget(struct ft_source *s, enum ft_at at)
{
	s->number[at] = 0;
	s->timer[at] = false;
}

void ft_source_gap(struct ft_source *s, uint64_t from, uint64_t to)
{
	if (!s->gap_to || from < s->gap_from)
		s->gap_from = from;
	if (to > s->gap_to)
		s->gap_to = to;
}

void ft_source_forget(struct ft_source *s)
{
	forget(s, FT_AT_SOFTIRQ);
	forget(s, FT_AT_HARDIRQ);
}

void ft_source_pass(struct ft_source *s, uint64_t time, uint32_t flags)
{
	bool gap = s->gap_to && time >= s->gap_from;

	if (gap || !(flags & (FT_FLAG_HARDIRQ | FT_FLAG_NMI)))
		forget(s, FT_AT_HARDIRQ);
	if (gap || !(flags & (FT_FLAG_HARDIRQ | FT_FLAG_SOFTIRQ | FT_FLAG_NMI)))
		forget(s, FT_AT_SOFTIRQ);
	if (gap && time > s->gap_to)
		s->gap_from = s->gap_to = 0;
}

void ft_source_note(struct ft_source *s, enum ftrace_event e, uint32_t flags, uint32_t number)
{
	enum ft_at at = flags & FT_FLAG_HARDIRQ ? FT_AT_HARDIRQ : FT_AT_SOFTIRQ;

	switch (e) {
	case FT_IRQ_ENTRY:
		s->number[FT_AT_HARDIRQ] = number + 1;
		break;
	case FT_IRQ_EXIT:
		s->number[FT_AT_HARDIRQ] = 0;
		break;
	case FT_SOFTIRQ_ENTRY:
		s->number[FT_AT_SOFTIRQ] = number + 1;
		break;
	case FT_SOFTIRQ_EXIT:
		s->number[FT_AT_SOFTIRQ] = 0;
		break;
	case FT_HRTIMER_ENTRY:
	case FT_TIMER_ENTRY:
		s->timer[at] = true;
		break;
	case FT_HRTIMER_EXIT:
	case FT_TIMER_EXIT:
		s->timer[at] = false;
		break;
	default:
		break;
	}
}

uint32_t ft_source_waker(const struct ft_source *s, uint32_t flags, uint32_t *source)
{
	enum ft_at at = flags & FT_FLAG_HARDIRQ ? FT_AT_HARDIRQ : FT_AT_SOFTIRQ;

	*source = 0;
	if (flags & FT_FLAG_NMI) {
		*source = JIS_SOURCE_UNKNOWN;
		return JIS_WAKER_NMI;
	}
	if (!(flags & (FT_FLAG_HARDIRQ | FT_FLAG_SOFTIRQ)))
		return JIS_WAKER_TASK;
	if (s->timer[at])
		return JIS_WAKER_TIMER;
	*source = s->number[at] - 1; /* 0: JIS_SOURCE_UNKNOWN */
	return at == FT_AT_HARDIRQ ? JIS_WAKER_HARDIRQ : JIS_WAKER_SOFTIRQ;
}
