/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who wakes: the context of a waking and its source, from what probes on timers, interrupts and
 * softirqs noted of this CPU.
 */
#ifndef JIS_SOURCES_H
#define JIS_SOURCES_H

#include <linux/preempt.h>

#include "threads.h"

/* What may interrupt a softirq is told apart from it: each has notes of its own. */
static __always_inline u32 jis_at(void)
{
	return hardirq_count() ? JIS_AT_HARDIRQ : JIS_AT_SOFTIRQ;
}

/**
 * jis_waker - enum jis_waker_context of here and now. *source: as in sched_waking. With interrupts
 * off.
 */
static __always_inline u32 jis_waker(struct jis_session *s, u32 *source)
{
	const struct jis_cpu *c = this_cpu_ptr(s->cpus);
	u32 at = jis_at();

	*source = 0;
	if (at == JIS_AT_SOFTIRQ && !in_serving_softirq())
		return JIS_WAKER_TASK;
	if (c->timer[at])
		return JIS_WAKER_TIMER;
	*source = (at == JIS_AT_HARDIRQ ? c->irq : c->softirq) - 1; /* 0: JIS_SOURCE_UNKNOWN */
	return at == JIS_AT_HARDIRQ ? JIS_WAKER_HARDIRQ : JIS_WAKER_SOFTIRQ;
}

#endif /* JIS_SOURCES_H */
