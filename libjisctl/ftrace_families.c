/* SPDX-License-Identifier: MIT */
/*
 * Families of events by ftrace: disks, interrupts, signals, power. Page faults are none of them: no
 * event of the kernel's tells when a fault is over, so that nobody can say whether a thread went
 * off its CPU in it.
 */
#include <errno.h>
#include <stdio.h>

#include "ftrace_record.h"

static const struct {
	uint32_t family;
	enum ftrace_event first, last;
	bool everywhere; /* told of threads, and of CPUs, that are no targets' */
} families[] = {
	{JIS_FAMILY_BLOCK, FT_RQ_ISSUE, FT_RQ_COMPLETE, true},
	{JIS_FAMILY_IRQ, FT_IRQ_ENTRY, FT_SOFTIRQ_EXIT, false}, /* in an instance of its own */
	{JIS_FAMILY_SIGNAL, FT_SIGNAL_GENERATE, FT_SIGNAL_DELIVER, true},
	{JIS_FAMILY_POWER, FT_CPU_FREQUENCY, FT_CPU_IDLE, true},
};

#define NR_FAMILIES (sizeof(families) / sizeof(families[0]))

static bool all_there(const struct ftrace_formats *formats, enum ftrace_event first,
		      enum ftrace_event last)
{
	for (int e = (int)first; e <= (int)last; e++)
		if (!formats->event[e].id)
			return false;
	return true;
}

uint32_t ft_families(const struct ftrace_formats *formats)
{
	uint32_t there = 0;

	for (unsigned int i = 0; i < NR_FAMILIES; i++)
		if (all_there(formats, families[i].first, families[i].last))
			there |= families[i].family;
	return there;
}

bool ft_timers(const struct ftrace_formats *formats)
{
	return all_there(formats, FT_HRTIMER_ENTRY, FT_TIMER_EXIT);
}

bool ft_families_everywhere(uint32_t wanted)
{
	for (unsigned int i = 0; i < NR_FAMILIES; i++)
		if (wanted & families[i].family && families[i].everywhere)
			return true;
	return false;
}

/* They are switched on one after the other, so until now an end may have gone untold. */
static int irq_enable(struct backend *b, bool on)
{
	int err = ft_events_enable(b, FT_IRQ_ENTRY, FT_SOFTIRQ_EXIT, on);

	if (!err && ft_timers(&b->formats))
		err = ft_events_enable(b, FT_HRTIMER_ENTRY, FT_TIMER_EXIT, on);
	for (uint32_t i = 0; i < b->nr_cpus && on; i++)
		ft_source_gap(&b->sources[i], 0, ft_now(b));
	return err;
}

int ft_families_enable(struct backend *b, bool on)
{
	int err = 0;

	for (unsigned int i = 0; i < NR_FAMILIES && !err; i++) {
		if (!(b->config.families & families[i].family))
			continue;
		if (families[i].family == JIS_FAMILY_IRQ)
			err = irq_enable(b, on);
		else
			err = ft_events_enable(b, families[i].first, families[i].last, on);
	}
	return err;
}

/* REQ_OP_* of the letters that ftrace has for it (blk_fill_rwbs() in the kernel); a flush may stand
 * in front. */
static uint32_t block_op(const char *rwbs)
{
	if (rwbs[0] == 'F' && rwbs[1] && strchr("RWD", rwbs[1]))
		rwbs++;
	switch (rwbs[0]) {
	case 'R':
		return 0;
	case 'W':
		return 1;
	case 'F':
		return 2;
	case 'D':
		return rwbs[1] == 'E' ? 5 : 3;
	}
	return UINT32_MAX;
}

static void on_issue(const struct record *r)
{
	struct jis_ev_block_rq_issue ev = {.tid = get_tid(r),
					   .dev = get_u32(r, RQ_DEV),
					   .sector = get_u64(r, RQ_SECTOR),
					   .bytes = get_u32(r, RQ_BYTES)};
	char rwbs[16];

	if (!ev.bytes)
		ev.bytes = get_u32(r, RQ_NR_SECTOR) * 512;
	get_text(r, RQ_RWBS, rwbs, sizeof(rwbs));
	ev.op = block_op(rwbs);
	if (!ft_task_in(ft_task_find(r->b->tasks, ev.tid)))
		foreign_use(r, ev.tid, NULL);
	emit(r, JIS_EV_block_rq_issue, &ev, sizeof(ev), NULL);
}

static void on_complete(const struct record *r)
{
	struct jis_ev_block_rq_complete ev = {.dev = get_u32(r, RQ_DEV),
					      .sector = get_u64(r, RQ_SECTOR),
					      .bytes = get_u32(r, RQ_NR_SECTOR) * 512,
					      .error = (int32_t)get_u32(r, RQ_ERROR)};

	emit(r, JIS_EV_block_rq_complete, &ev, sizeof(ev), NULL);
}

/* An exit is told when its entry was. */
static void on_irq(const struct record *r, enum ftrace_event e)
{
	uint32_t kind = e <= FT_IRQ_EXIT ? JIS_WAKER_HARDIRQ : JIS_WAKER_SOFTIRQ;
	bool entry = e == FT_IRQ_ENTRY || e == FT_SOFTIRQ_ENTRY;
	struct jis_ev_irq_entry ev = {.tid = get_tid(r),
				      .kind = kind,
				      .vector = get_u32(r, IRQ_NUMBER)};
	bool *told = &r->b->outs[r->cpu].irq_told[kind == JIS_WAKER_HARDIRQ];
	bool target = ft_task_in(ft_task_find(r->b->tasks, ev.tid));

	ft_source_note(&r->b->sources[r->cpu], e, get_flags(r), ev.vector);
	if (entry)
		*told = r->b->recording && (target || r->b->config.all_switches);
	if (!*told)
		return;
	*told = entry;
	if (entry && !target)
		foreign_use(r, ev.tid, NULL);
	emit(r, entry ? JIS_EV_irq_entry : JIS_EV_irq_exit, &ev, sizeof(ev), NULL);
}

static void on_generate(const struct record *r)
{
	struct jis_ev_signal_generate ev = {.tid = get_u32(r, SIGNAL_PID),
					    .signal = get_u32(r, SIGNAL_NUMBER),
					    .code = (int32_t)get_u32(r, SIGNAL_CODE),
					    .sender_tid = get_tid(r),
					    .result = get_u32(r, SIGNAL_RESULT)};
	const struct ft_task *task = ft_task_find(r->b->tasks, ev.tid);

	if (!ft_task_in(task))
		return;
	ev.pid = task->target->pid;
	if (!ft_task_in(ft_task_find(r->b->tasks, ev.sender_tid)))
		foreign_use(r, ev.sender_tid, NULL);
	emit(r, JIS_EV_signal_generate, &ev, sizeof(ev), NULL);
}

static void on_deliver(const struct record *r)
{
	struct jis_ev_signal_deliver ev = {.tid = get_tid(r),
					   .signal = get_u32(r, SIGNAL_NUMBER),
					   .code = (int32_t)get_u32(r, SIGNAL_CODE)};

	if (ft_task_in(ft_task_find(r->b->tasks, ev.tid)))
		emit(r, JIS_EV_signal_deliver, &ev, sizeof(ev), NULL);
}

static void on_power(const struct record *r, uint32_t id)
{
	struct jis_ev_cpu_frequency f = {.cpu = get_u32(r, POWER_CPU),
					 .frequency = get_u32(r, POWER_STATE)};
	struct jis_ev_cpu_idle idle = {.cpu = f.cpu, .state = (int32_t)f.frequency};

	if (id == JIS_EV_cpu_idle)
		emit(r, id, &idle, sizeof(idle), NULL);
	else
		emit(r, id, &f, sizeof(f), NULL);
}

void ft_on_family(const struct record *r, enum ftrace_event e)
{
	switch (e) {
	case FT_RQ_ISSUE:
		on_issue(r);
		break;
	case FT_RQ_COMPLETE:
		on_complete(r);
		break;
	case FT_IRQ_ENTRY:
	case FT_IRQ_EXIT:
	case FT_SOFTIRQ_ENTRY:
	case FT_SOFTIRQ_EXIT:
		on_irq(r, e);
		break;
	case FT_HRTIMER_ENTRY:
	case FT_HRTIMER_EXIT:
	case FT_TIMER_ENTRY:
	case FT_TIMER_EXIT:
		ft_source_note(&r->b->sources[r->cpu], e, get_flags(r), 0);
		break;
	case FT_SIGNAL_GENERATE:
		on_generate(r);
		break;
	case FT_SIGNAL_DELIVER:
		on_deliver(r);
		break;
	case FT_CPU_FREQUENCY:
		on_power(r, JIS_EV_cpu_frequency);
		break;
	case FT_CPU_IDLE:
		on_power(r, JIS_EV_cpu_idle);
		break;
	default:
		break;
	}
}
