// SPDX-License-Identifier: GPL-2.0-only
/*
 * The families of events that are off unless asked for, each with its probes, on while a session
 * runs that wants them. A family that this kernel does not have all tracepoints of does not exist.
 */
#include <linux/blkdev.h>
#include <linux/interrupt.h>
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/signal.h>
#include <linux/tracepoint.h>
#include <asm/syscall.h>
#ifdef CONFIG_BLOCK
#include <trace/events/block.h>
#endif
#include <trace/events/irq.h>
#include <trace/events/power.h>
#include <trace/events/signal.h>

#include "families.h"
#include "sources.h"

/* FAULT: a note at each fault in user mode, a record when one turns out to wait. */

static notrace void probe_page_fault_user(void *data, unsigned long address, struct pt_regs *regs,
					  unsigned long error)
{
	struct jis_session *s = data;
	struct jis_fault *fault;
	struct jis_thread *n;

	if (!jis_is_target(s, current) || !READ_ONCE(s->recording))
		return;
	n = jis_thread_find(s, current);
	if (!n)
		return;
	fault = jis_thread_fault(s, n);
	fault->since = jis_now(s);
	fault->address = address;
	fault->ip = instruction_pointer(regs);
	fault->error = error;
	fault->pending = true;
}

/**
 * jis_record_fault - @task, which has a fault noted, goes to sleep. It sleeps in that fault if it
 * came into the kernel by one at the same place, and not by a system call.
 */
notrace void jis_record_fault(struct jis_session *s, struct jis_thread *n, struct task_struct *task)
{
	struct jis_fault *fault = jis_thread_fault(s, n);
	struct pt_regs *regs = task_pt_regs(task);
	struct jis_ev_page_fault *ev;
	unsigned long irq;

	fault->pending = false;
	if (syscall_get_nr(task, regs) >= 0 || instruction_pointer(regs) != fault->ip)
		return;
	ev = jis_record_begin(s, JIS_EV_page_fault, sizeof(*ev), &irq);
	if (ev) {
		ev->tid = task->pid;
		ev->error = fault->error;
		ev->address = fault->address;
		ev->ip = fault->ip;
		ev->since = fault->since;
	}
	jis_record_end(irq);
}

/* BLOCK */

#ifdef CONFIG_BLOCK
static notrace void probe_block_rq_issue(void *data, struct request *rq)
{
	struct jis_session *s = data;
	struct jis_ev_block_rq_issue *ev;
	unsigned long irq;

	if (!READ_ONCE(s->recording))
		return;
	jis_use_current(s);
	ev = jis_record_begin(s, JIS_EV_block_rq_issue, sizeof(*ev), &irq);
	if (ev) {
		ev->tid = current->pid;
		ev->dev = compat_rq_disk(rq) ? disk_devt(compat_rq_disk(rq)) : 0;
		ev->sector = blk_rq_pos(rq);
		ev->bytes = blk_rq_bytes(rq);
		ev->op = (__force u32)req_op(rq);
	}
	jis_record_end(irq);
}

static __always_inline void block_complete(struct jis_session *s, struct request *rq, int error,
					   unsigned int bytes)
{
	struct jis_ev_block_rq_complete *ev;
	unsigned long irq;

	if (!READ_ONCE(s->recording))
		return;
	ev = jis_record_begin(s, JIS_EV_block_rq_complete, sizeof(*ev), &irq);
	if (ev) {
		ev->dev = compat_rq_disk(rq) ? disk_devt(compat_rq_disk(rq)) : 0;
		ev->sector = blk_rq_pos(rq);
		ev->bytes = bytes;
		ev->error = error;
	}
	jis_record_end(irq);
}

#ifdef HAVE_BLOCK_COMPLETE_STATUS
static notrace void probe_block_rq_complete(void *data, struct request *rq, blk_status_t error,
					    unsigned int bytes)
{
	block_complete(data, rq, blk_status_to_errno(error), bytes);
}
#else
static notrace void probe_block_rq_complete(void *data, struct request *rq, int error,
					    unsigned int bytes)
{
	block_complete(data, rq, error, bytes);
}
#endif
#endif

/* IRQ: what runs on a CPU in a target's stead; with all switches, in anybody's. */

static __always_inline void irq_record(struct jis_session *s, u32 id, u32 kind, u32 vector)
{
	struct jis_ev_irq_entry *ev;
	unsigned long irq;

	ev = jis_record_begin(s, id, sizeof(*ev), &irq);
	if (ev) {
		ev->tid = current->pid;
		ev->kind = kind;
		ev->vector = vector;
	}
	jis_record_end(irq);
}

static_assert(sizeof(struct jis_ev_irq_entry) == sizeof(struct jis_ev_irq_exit));

static __always_inline void irq_begins(struct jis_session *s, u32 at, u32 kind, u32 vector)
{
	struct jis_cpu *c = this_cpu_ptr(s->cpus);

	c->told[at] = READ_ONCE(s->recording) && (s->all_switches || jis_is_target(s, current));
	if (!c->told[at])
		return;
	jis_use_current(s);
	irq_record(s, JIS_EV_irq_entry, kind, vector);
}

static __always_inline void irq_ends(struct jis_session *s, u32 at, u32 kind, u32 vector)
{
	struct jis_cpu *c = this_cpu_ptr(s->cpus);

	if (c->told[at] && READ_ONCE(s->recording))
		irq_record(s, JIS_EV_irq_exit, kind, vector);
	c->told[at] = false;
}

static notrace void probe_irq_handler_entry(void *data, int irq, struct irqaction *action)
{
	irq_begins(data, JIS_AT_HARDIRQ, JIS_WAKER_HARDIRQ, irq);
}

static notrace void probe_irq_handler_exit(void *data, int irq, struct irqaction *action, int ret)
{
	irq_ends(data, JIS_AT_HARDIRQ, JIS_WAKER_HARDIRQ, irq);
}

static notrace void probe_softirq_entry(void *data, unsigned int vector)
{
	irq_begins(data, JIS_AT_SOFTIRQ, JIS_WAKER_SOFTIRQ, vector);
}

static notrace void probe_softirq_exit(void *data, unsigned int vector)
{
	irq_ends(data, JIS_AT_SOFTIRQ, JIS_WAKER_SOFTIRQ, vector);
}

/* SIGNAL: those sent to targets, and those targets handle or die of. */

static __always_inline s32 signal_code(const struct kernel_siginfo *info)
{
	if (info == SEND_SIG_NOINFO)
		return SI_USER;
	return info == SEND_SIG_PRIV ? SI_KERNEL : info->si_code;
}

static notrace void probe_signal_generate(void *data, int signal, struct kernel_siginfo *info,
					  struct task_struct *task, int group, int result)
{
	struct jis_session *s = data;
	struct jis_ev_signal_generate *ev;
	unsigned long irq;

	if (!jis_is_target(s, task) || !READ_ONCE(s->recording))
		return;
	jis_meet(s, task, JIS_MEET_LOOK);
	jis_use_current(s);
	ev = jis_record_begin(s, JIS_EV_signal_generate, sizeof(*ev), &irq);
	if (ev) {
		ev->tid = task->pid;
		ev->pid = task->tgid;
		ev->signal = signal;
		ev->code = signal_code(info);
		ev->sender_tid = current->pid;
		ev->result = result;
	}
	jis_record_end(irq);
}

static notrace void probe_signal_deliver(void *data, int signal, struct kernel_siginfo *info,
					 struct k_sigaction *action)
{
	struct jis_session *s = data;
	struct jis_ev_signal_deliver *ev;
	unsigned long irq;

	if (!jis_is_target(s, current) || !READ_ONCE(s->recording))
		return;
	jis_meet(s, current, JIS_TASK_RUNNING);
	ev = jis_record_begin(s, JIS_EV_signal_deliver, sizeof(*ev), &irq);
	if (ev) {
		ev->tid = current->pid;
		ev->signal = signal;
		ev->code = signal_code(info);
	}
	jis_record_end(irq);
}

/* POWER: of the whole machine. */

static notrace void probe_cpu_frequency(void *data, unsigned int frequency, unsigned int cpu)
{
	struct jis_session *s = data;
	struct jis_ev_cpu_frequency *ev;
	unsigned long irq;

	if (!READ_ONCE(s->recording))
		return;
	ev = jis_record_begin(s, JIS_EV_cpu_frequency, sizeof(*ev), &irq);
	if (ev) {
		ev->cpu = cpu;
		ev->frequency = frequency;
	}
	jis_record_end(irq);
}

static notrace void probe_cpu_idle(void *data, unsigned int state, unsigned int cpu)
{
	struct jis_session *s = data;
	struct jis_ev_cpu_idle *ev;
	unsigned long irq;

	if (!READ_ONCE(s->recording))
		return;
	ev = jis_record_begin(s, JIS_EV_cpu_idle, sizeof(*ev), &irq);
	if (ev) {
		ev->cpu = cpu;
		ev->state = (s32)state;
	}
	jis_record_end(irq);
}

/* clang-format off */
#define PROBE(event) { .name = #event, .function = probe_##event }

static struct jis_probe fault_probes[] = {
	{ .name = "page_fault_user", .function = probe_page_fault_user },
};

#ifdef CONFIG_BLOCK
static struct jis_probe block_probes[] = {
	PROBE(block_rq_issue),
	PROBE(block_rq_complete),
};
#endif

static struct jis_probe irq_probes[] = {
	PROBE(irq_handler_entry),
	PROBE(irq_handler_exit),
	PROBE(softirq_entry),
	PROBE(softirq_exit),
};

static struct jis_probe signal_probes[] = {
	PROBE(signal_generate),
	PROBE(signal_deliver),
};

static struct jis_probe power_probes[] = {
	PROBE(cpu_frequency),
	PROBE(cpu_idle),
};

static const struct family {
	u32 flag;
	struct jis_probe *probes;
	size_t n;
} families[] = {
	{ JIS_FAMILY_FAULT, fault_probes, ARRAY_SIZE(fault_probes) },
#ifdef CONFIG_BLOCK
	{ JIS_FAMILY_BLOCK, block_probes, ARRAY_SIZE(block_probes) },
#endif
	{ JIS_FAMILY_IRQ, irq_probes, ARRAY_SIZE(irq_probes) },
	{ JIS_FAMILY_SIGNAL, signal_probes, ARRAY_SIZE(signal_probes) },
	{ JIS_FAMILY_POWER, power_probes, ARRAY_SIZE(power_probes) },
};

/* clang-format on */

/* The headers of page_fault_user are not where all kernels have them. */
#if defined(HAVE_PAGE_FAULT_HEADER)
#include <trace/events/exceptions.h>
#elif defined(HAVE_PAGE_FAULT_ASM_HEADER)
#include <asm/trace/exceptions.h>
#endif

static void __maybe_unused check_probe_types(void)
{
#if defined(HAVE_PAGE_FAULT_HEADER) || defined(HAVE_PAGE_FAULT_ASM_HEADER)
	check_trace_callback_type_page_fault_user(probe_page_fault_user);
#endif
#ifdef CONFIG_BLOCK
	check_trace_callback_type_block_rq_issue(probe_block_rq_issue);
	check_trace_callback_type_block_rq_complete(probe_block_rq_complete);
#endif
	check_trace_callback_type_irq_handler_entry(probe_irq_handler_entry);
	check_trace_callback_type_irq_handler_exit(probe_irq_handler_exit);
	check_trace_callback_type_softirq_entry(probe_softirq_entry);
	check_trace_callback_type_softirq_exit(probe_softirq_exit);
	check_trace_callback_type_signal_generate(probe_signal_generate);
	check_trace_callback_type_signal_deliver(probe_signal_deliver);
	check_trace_callback_type_cpu_frequency(probe_cpu_frequency);
	check_trace_callback_type_cpu_idle(probe_cpu_idle);
}

/* Without its header nobody can say that the probe fits the tracepoint. */
static bool family_known(const struct family *f)
{
#if !defined(HAVE_PAGE_FAULT_HEADER) && !defined(HAVE_PAGE_FAULT_ASM_HEADER)
	if (f->flag == JIS_FAMILY_FAULT)
		return false;
#endif
	return jis_probes_found(f->probes, f->n);
}

void jis_families_find(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(families); i++)
		jis_probes_look(families[i].probes, families[i].n);
}

u32 jis_families_features(void)
{
	u32 features = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(families); i++)
		if (family_known(&families[i]))
			features |= families[i].flag;
	return features;
}

/**
 * jis_families_probe - the session's families on, or off: that cannot fail, may be repeated, and
 * does not wait.
 */
int jis_families_probe(struct jis_session *s, bool on)
{
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(families); i++) {
		const struct family *f = &families[i];

		if (!(s->families & f->flag) || on == !!(s->probing_families & f->flag))
			continue;
		if (on) {
			err = jis_probes_register(f->probes, f->n, s);
			if (err)
				return err;
		} else {
			jis_probes_unregister(f->probes, f->n, s);
		}
		s->probing_families ^= f->flag;
	}
	return 0;
}
