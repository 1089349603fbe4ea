/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the module share: the session, its target set, and the functions between them.
 *
 * A session belongs to one open file. Its ioctls that change something take @lock; probes take
 * nothing but the target set's spinlock, and that only when a process is born or dies.
 */
#ifndef JIS_JIS_H
#define JIS_JIS_H

#include <linux/bitops.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "ring.h"

/* The longest payload: an exec's path. */
#define JIS_MAX_PAYLOAD (sizeof(struct jis_ev_sched_process_exec) + JIS_STRING_MAX)

/* Target processes: a hash of thread group ids, read without locks. */
#define JIS_TARGET_BITS 12
#define JIS_TARGET_SLOTS 4096u /* two to the power of JIS_TARGET_BITS */
#define JIS_TARGET_MAX (JIS_TARGET_SLOTS / 2)

struct jis_targets {
	raw_spinlock_t lock; /* all changes */
	u32 count;
	u32 used;    /* slots that are not empty: entries and tombstones */
	u32 refused; /* processes there was no room for */
	u8 flags[JIS_TARGET_SLOTS];
	/* Empty 0, tombstone, or a thread group id. Written under lock, read by anyone. */
	u32 tgid[JIS_TARGET_SLOTS];
};

struct jis_session {
	/* Read by probes; fixed before they are registered, but for recording */
	struct jis_ring __percpu *rings;
	struct jis_targets *targets;
	unsigned long *seen; /* bit per pid: its task_name is in the trace */
	u64 base;
	u32 clock;
	bool all_switches;
	/*
	 * Write records. Probes come and go one by one, over milliseconds: this makes them begin
	 * and end together, so that no wake-up is missing between two switches.
	 */
	bool recording;

	struct mutex lock ____cacheline_aligned; /* set-up, targets, state */
	u32 state; /* enum jis_session_state; written under lock with release */
	bool probing_tasks, probing_switches;
	u32 packet_size, packets_per_cpu, watermark;
	u8 uuid[16];
	unsigned long nr_pages; /* charged by jis_charge() */
	wait_queue_head_t wait;
};

/* Rebased ticks of the session's clock. May be read anywhere, NMI included. */
static __always_inline u64 jis_now(const struct jis_session *s)
{
	u64 ticks = likely(s->clock == JIS_CLOCK_TSC) ? compat_cycles() : ktime_get_raw_fast_ns();

	return ticks - s->base;
}

static __always_inline u32 jis_target_slot(u32 tgid)
{
	return (tgid * 0x9e3779b1u) >> (32 - JIS_TARGET_BITS);
}

/* Is the process a target? A few instructions; ends because half of the slots are empty. */
static __always_inline bool jis_is_target(const struct jis_session *s, u32 tgid)
{
	const u32 *table = s->targets->tgid;
	u32 i = jis_target_slot(tgid);
	u32 found;

	while ((found = READ_ONCE(table[i])) != 0) {
		if (found == tgid)
			return true;
		i = (i + 1) % JIS_TARGET_SLOTS;
	}
	return false;
}

/**
 * jis_record_begin - reserves one record, stamped now, on this CPU's ring; interrupts are off from
 * here to jis_record_end(), which must follow whatever this returns.
 * @payload: bytes, see jis_ring_reserve().
 *
 * Returns where the payload goes, or NULL: the record is lost, and counted.
 */
static __always_inline void *jis_record_begin(struct jis_session *s, u32 id, u32 payload,
					      unsigned long *irq)
{
	local_irq_save(*irq);
	return jis_ring_reserve(this_cpu_ptr(s->rings), id, payload, jis_now(s));
}

static __always_inline void jis_record_end(unsigned long irq)
{
	local_irq_restore(irq);
}

/* main.c: the memory all sessions may hold together */
int jis_charge(unsigned long pages);
void jis_uncharge(unsigned long pages);
unsigned long jis_max_pages(void);
extern struct file *jis_map_file;

/* session.c */
struct jis_session *jis_session_create(void);
void jis_session_destroy(struct jis_session *s);
int jis_session_setup(struct jis_session *s, struct jis_setup *setup);
int jis_session_start(struct jis_session *s);
int jis_session_pause(struct jis_session *s);
int jis_session_resume(struct jis_session *s);
int jis_session_stop(struct jis_session *s);
int jis_session_flush(struct jis_session *s);
void jis_session_status(struct jis_session *s, struct jis_status *status);

/* Is the session at least set up, so that its rings may be used? */
static inline u32 jis_session_state(const struct jis_session *s)
{
	/* Pairs with the release in session.c: who sees the state sees what it promises. */
	return smp_load_acquire(&s->state);
}

/* ioctl.c */
long jis_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

/* targets.c */
struct jis_targets *jis_targets_create(void);
int jis_targets_add(struct jis_targets *t, u32 tgid, u32 flags);
bool jis_targets_remove(struct jis_targets *t, u32 tgid);
bool jis_targets_inherit(struct jis_targets *t, u32 parent, u32 child);
int jis_target_add(struct jis_session *s, u32 pid, u32 flags);
int jis_target_remove(struct jis_session *s, u32 pid);
int jis_target_test(struct jis_session *s, u32 pid);

/* probes.c: all of the kernel's tracepoints this module uses */
int jis_probes_find(void);
int jis_probe_switches(struct jis_session *s, bool on);
int jis_probe_tasks(struct jis_session *s, bool on);

/* record.c: the rare records, and the names of foreign threads */
u32 jis_task_state(u32 state);
void jis_record_name(struct jis_session *s, struct task_struct *task);
void jis_record_fork(struct jis_session *s, struct task_struct *parent, struct task_struct *child);
void jis_record_exec(struct jis_session *s, struct task_struct *task, u32 old_tid,
		     const char *filename);
void jis_record_exit(struct jis_session *s, struct task_struct *task);
void jis_record_free(struct jis_session *s, struct task_struct *task);
void jis_record_rename(struct jis_session *s, struct task_struct *task, const char *comm);
u32 jis_comm_copy(char comm[TASK_COMM_LEN], const char *from);
u32 jis_ns_tid(struct task_struct *task);

/* dump.c */
void jis_dump_process(struct jis_session *s, u32 tgid);
void jis_dump_targets(struct jis_session *s);

#endif /* JIS_JIS_H */
