// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes that note, for each CPU, whether it runs a timer's function, an interrupt's handler or a
 * softirq. They record nothing; they are on while a session runs. A beginning overwrites what was
 * noted and an end clears it, so what was missed before the first is set right by the next.
 */
#include <linux/interrupt.h>
#include <linux/tracepoint.h>
#include <trace/events/irq.h>
#include <trace/events/timer.h>

#include "sources.h"

static __always_inline void note_timer(struct jis_session *s, bool runs)
{
	this_cpu_ptr(s->cpus)->timer[jis_at()] = runs;
}

#ifdef HAVE_HRTIMER_NOW_VALUE
static notrace void probe_hrtimer_expire_entry(void *data, struct hrtimer *timer, ktime_t now)
#else
static notrace void probe_hrtimer_expire_entry(void *data, struct hrtimer *timer, ktime_t *now)
#endif
{
	note_timer(data, true);
}

static notrace void probe_hrtimer_expire_exit(void *data, struct hrtimer *timer)
{
	note_timer(data, false);
}

static notrace void probe_timer_expire_entry(void *data, struct timer_list *timer,
					     unsigned long baseclk)
{
	note_timer(data, true);
}

static notrace void probe_timer_expire_exit(void *data, struct timer_list *timer)
{
	note_timer(data, false);
}

static notrace void probe_irq_handler_entry(void *data, int irq, struct irqaction *action)
{
	struct jis_session *s = data;

	this_cpu_ptr(s->cpus)->irq = irq + 1;
}

static notrace void probe_irq_handler_exit(void *data, int irq, struct irqaction *action, int ret)
{
	struct jis_session *s = data;

	this_cpu_ptr(s->cpus)->irq = 0;
}

static notrace void probe_softirq_entry(void *data, unsigned int vector)
{
	struct jis_session *s = data;

	this_cpu_ptr(s->cpus)->softirq = vector + 1;
}

static notrace void probe_softirq_exit(void *data, unsigned int vector)
{
	struct jis_session *s = data;

	this_cpu_ptr(s->cpus)->softirq = 0;
}

/* clang-format off */
#define PROBE(event) { .name = #event, .function = probe_##event }

static struct jis_probe source_probes[] = {
	PROBE(hrtimer_expire_entry),
	PROBE(hrtimer_expire_exit),
	PROBE(timer_expire_entry),
	PROBE(timer_expire_exit),
	PROBE(irq_handler_entry),
	PROBE(irq_handler_exit),
	PROBE(softirq_entry),
	PROBE(softirq_exit),
};

/* clang-format on */

static void __maybe_unused check_probe_types(void)
{
	check_trace_callback_type_hrtimer_expire_entry(probe_hrtimer_expire_entry);
	check_trace_callback_type_hrtimer_expire_exit(probe_hrtimer_expire_exit);
	check_trace_callback_type_timer_expire_entry(probe_timer_expire_entry);
	check_trace_callback_type_timer_expire_exit(probe_timer_expire_exit);
	check_trace_callback_type_irq_handler_entry(probe_irq_handler_entry);
	check_trace_callback_type_irq_handler_exit(probe_irq_handler_exit);
	check_trace_callback_type_softirq_entry(probe_softirq_entry);
	check_trace_callback_type_softirq_exit(probe_softirq_exit);
}

void jis_sources_find(void)
{
	jis_probes_look(source_probes, ARRAY_SIZE(source_probes));
}

u32 jis_sources_features(void)
{
	return jis_probes_found(source_probes, ARRAY_SIZE(source_probes)) ? JIS_FEATURE_SOURCE : 0;
}

/**
 * jis_sources_probe - on or off; all or none of them. Off cannot fail, and does not wait. Under the
 * session's lock.
 */
int jis_sources_probe(struct jis_session *s, bool on)
{
	int err = 0;

	if (on == s->probing_sources || !jis_sources_features())
		return 0;
	if (on)
		err = jis_probes_register(source_probes, ARRAY_SIZE(source_probes), s);
	else
		jis_probes_unregister(source_probes, ARRAY_SIZE(source_probes), s);
	if (!err)
		s->probing_sources = on;
	return err;
}
