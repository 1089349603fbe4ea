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
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "ring.h"

/* For all that is charged to who records. He is told that there is no room: the log need not be. */
#define JIS_GFP (GFP_KERNEL_ACCOUNT | __GFP_NOWARN)

/* The longest payload: a system call's path. */
#define JIS_MAX_PAYLOAD (sizeof(struct jis_ev_syscall_path) + JIS_STRING_MAX)

/* A count that its owner changes by plain increments, read from beside. */
#define jis_count(n) data_race(READ_ONCE(n))

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
	u64 start[JIS_TARGET_SLOTS]; /* start_boottime: which of the processes that had the id */
	/* Empty 0, tombstone, or a thread group id. Written under lock, read by anyone. */
	u32 tgid[JIS_TARGET_SLOTS];
};

struct jis_calls;

struct jis_session {
	/* Read by probes; fixed before they are registered, but for recording */
	struct jis_ring __percpu *rings;
	struct jis_targets *targets;
	struct jis_calls *calls;       /* NULL until some are selected */
	struct jis_filter *filter;     /* what is recorded beyond processes; NULL: nothing */
	struct jis_pools *pools;       /* NULL: none was made yet */
	unsigned long *seen;	       /* bit per pid: its task_name is in the trace */
	struct jis_threads *threads;   /* notes of targets: threads.h */
	struct jis_cpu __percpu *cpus; /* and of CPUs */
	struct jis_cgroups *cgroups;   /* whose names are in the trace */
	struct jis_throttle *throttle; /* probes of the CPU's quota, or NULL: throttle.c */
	u64 base;
	u32 clock;
	bool all_switches;
	bool flight; /* a flight recorder */
	u32 families;	      /* JIS_FAMILY_*: wanted */
	u32 probing_families; /* those whose probes are on; under lock */
	/*
	 * Write records. Probes come and go one by one, over milliseconds: this makes them begin
	 * and end together, so that no wake-up is missing between two switches. No bool: where a
	 * compiler checks those (UBSAN_BOOL), READ_ONCE() of one is a plain read.
	 */
	u8 recording;
	bool restricted; /* shows nothing but what belongs to the user of cred */

	struct list_head member;		 /* of the restricted sessions */
	const struct cred *cred;		 /* of who opened it */
	struct mutex lock ____cacheline_aligned; /* set-up, targets, state */
	u32 state; /* enum jis_session_state; written under lock with release */
	bool probed; /* probes are on, or were and may still run */
	bool probing_tasks, probing_switches, probing_sources, probing_cgroups, probing_syscalls;
	u32 packet_size, packets_per_cpu, watermark;
	u8 uuid[16];
	unsigned long nr_pages; /* charged by jis_charge(), beside the rings' */
	struct mem_cgroup *memcg; /* of who set it up, with a reference: rings that come later */
	struct list_head node;	/* among all that have rings */
	bool begun;		/* each ring has its first packet; under that list's lock */
	wait_queue_head_t wait;
};

/* Rebased ticks of the session's clock. May be read anywhere, NMI included. */
static __always_inline u64 jis_now(const struct jis_session *s)
{
	u64 ticks = likely(s->clock == JIS_CLOCK_TSC) ? compat_cycles() : ktime_get_raw_fast_ns();

	/* One that began anew, after a suspend or on a new CPU, is before the base. */
	return likely((s64)(ticks - s->base) >= 0) ? ticks - s->base : 0;
}

static __always_inline u32 jis_target_slot(u32 tgid)
{
	return (tgid * 0x9e3779b1u) >> (32 - JIS_TARGET_BITS);
}

/* Is the id in the set? A few instructions; ends because half of the slots are empty. */
static __always_inline bool jis_targets_have(const struct jis_targets *t, u32 tgid)
{
	u32 i = jis_target_slot(tgid);
	u32 found;

	while ((found = READ_ONCE(t->tgid[i])) != 0) {
		if (found == tgid)
			return true;
		i = (i + 1) % JIS_TARGET_SLOTS;
	}
	return false;
}

bool jis_filter_match(const struct jis_filter *f, struct task_struct *task);
void jis_filter_introduce(struct jis_session *s, struct task_struct *task, u32 state);
void jis_filter_meet(struct jis_session *s, struct task_struct *task, u32 state);
void jis_filter_part(struct jis_session *s, struct task_struct *task);

/* Is the thread recorded? */
static __always_inline bool jis_is_target(const struct jis_session *s, struct task_struct *task)
{
	const struct jis_filter *f;

	if (jis_targets_have(s->targets, task->tgid))
		return true;
	f = READ_ONCE(s->filter);
	return unlikely(f) && jis_filter_match(f, task);
}

/* Look at the thread: it is not known from the event what it is. */
#define JIS_MEET_LOOK 0xffffffffu

/*
 * Before a record of target @task, which is in @state now: a thread that became a target without
 * our being told, by a move to another cgroup, is introduced first.
 */
static __always_inline void jis_meet(struct jis_session *s, struct task_struct *task, u32 state)
{
	if (unlikely(READ_ONCE(s->filter)))
		jis_filter_meet(s, task, state);
}

/* The other way: @task is seen, and is no target. */
static __always_inline void jis_part(struct jis_session *s, struct task_struct *task)
{
	if (unlikely(READ_ONCE(s->filter)))
		jis_filter_part(s, task);
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

/* record.c */
void jis_record_name(struct jis_session *s, struct task_struct *task);

/* Of a thread that is no target: its name must be in the trace before its first use. Two uses of
 * one thread never race: each is on the CPU the thread holds, gets or leaves.
 */
static __always_inline void jis_foreign_use(struct jis_session *s, struct task_struct *task)
{
	u32 pid = task->pid;

	jis_part(s, task);
	if (pid && !(READ_ONCE(s->seen[BIT_WORD(pid)]) & BIT_MASK(pid)))
		jis_record_name(s, task);
}

/* Before a record that names the current thread, be it a target or not. */
static __always_inline void jis_use_current(struct jis_session *s)
{
	if (jis_is_target(s, current))
		jis_meet(s, current, JIS_TASK_RUNNING);
	else
		jis_foreign_use(s, current);
}

/* main.c: the memory all sessions may hold together */
int jis_charge(const struct jis_session *s, unsigned long pages);
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
int jis_session_freeze(struct jis_session *s, bool freeze);
int jis_sessions_init(void);
void jis_sessions_exit(void);
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
int jis_targets_add(struct jis_targets *t, u32 tgid, u64 start, u32 flags);
bool jis_targets_remove(struct jis_targets *t, u32 tgid, u64 start);
void jis_targets_new_owner(struct jis_targets *t, u32 tgid, u64 start);
bool jis_targets_is(struct jis_targets *t, u32 tgid, u64 start);
bool jis_targets_inherit(struct jis_targets *t, u32 parent, u32 child, u64 start);
bool jis_targets_exec(struct jis_targets *t, u32 tgid);
int jis_target_add(struct jis_session *s, u32 pid, u32 flags);
int jis_target_remove(struct jis_session *s, u32 pid);
int jis_target_test(struct jis_session *s, u32 pid);
int jis_target_find(struct jis_session *s, u32 nr, struct pid **pid, u32 *tgid);

/* filter.c: kinds of targets beside processes */
struct linux_binprm;
int jis_filter_check(const struct jis_target *target, bool add);
int jis_filter_add(struct jis_session *s, const struct jis_target *target);
int jis_filter_remove(struct jis_session *s, const struct jis_target *target);
int jis_filter_test(struct jis_session *s, const struct jis_target *target);
u32 jis_filter_features(void);
u32 jis_filter_count(const struct jis_session *s);
void jis_filter_born(struct jis_session *s, struct task_struct *task);
void jis_filter_forget(struct jis_session *s);
void jis_filter_free(struct jis_session *s, struct task_struct *task);
void jis_filter_exec(struct jis_session *s, struct task_struct *task, u32 old_tid,
		     const struct linux_binprm *bprm);
bool jis_filter_met(const struct jis_session *s, const struct task_struct *task);
void jis_filter_destroy(struct jis_session *s);

/* rights.c */
int jis_rights_open(struct jis_session *s);
void jis_rights_close(struct jis_session *s);
int jis_rights_check(const struct jis_session *s);
int jis_rights_setup(const struct jis_session *s, const struct jis_setup *setup);
bool jis_rights_task(const struct jis_session *s, struct task_struct *task);

/* probes.c: probes on the kernel's tracepoints */
struct jis_probe {
	const char *name;
	void *function;
	struct tracepoint *tracepoint; /* found by name: the kernel exports none of them */
};

void jis_probes_look(struct jis_probe *probes, size_t n);
bool jis_probes_found(const struct jis_probe *probes, size_t n);
int jis_probes_register(const struct jis_probe *probes, size_t n, void *data);
void jis_probes_unregister(const struct jis_probe *probes, size_t n, void *data);
void jis_probes_wait(void);
int jis_probes_find(void);
int jis_probe_switches(struct jis_session *s, bool on);
int jis_probe_tasks(struct jis_session *s, bool on);
int jis_probe_syscalls(struct jis_session *s, bool on);
bool jis_syscalls_supported(void);

/* syscalls.c, fd.c */
int jis_syscalls_set(struct jis_session *s, const struct jis_syscalls *set);
int jis_syscalls_start(struct jis_session *s);
void jis_syscalls_free(struct jis_session *s);
void jis_fds_forget(struct jis_session *s);

/* record.c: the rare records, and the names of foreign threads */
u32 jis_task_state(u32 state);
void jis_record_fork(struct jis_session *s, struct task_struct *parent, struct task_struct *child);
void jis_record_exec(struct jis_session *s, struct task_struct *task, u32 old_tid,
		     const char *filename);
void jis_record_exit(struct jis_session *s, struct task_struct *task);
void jis_record_free(struct jis_session *s, struct task_struct *task);
void jis_record_rename(struct jis_session *s, struct task_struct *task, const char *comm);
struct jis_text {
	const char *text;
	u32 len;  /* bytes of it that fit */
	u32 size; /* of the field */
	bool cut;
};

struct jis_text jis_text_fit(const char *text);
void jis_text_write(char *to, const struct jis_text *text);
u32 jis_comm_copy(char comm[TASK_COMM_LEN], const char *from);
u32 jis_ns_tid(struct task_struct *task);

/* sources.c: which timer or interrupt the CPU is at */
void jis_sources_find(void);
u32 jis_sources_features(void);
int jis_sources_probe(struct jis_session *s, bool on);

/* cgroups.c */
void jis_cgroups_find(void);
u32 jis_cgroups_features(void);
int jis_cgroups_create(struct jis_session *s);
void jis_cgroups_free(struct jis_session *s);
void jis_cgroups_forget(struct jis_session *s);
int jis_cgroups_probe(struct jis_session *s, bool on);
void jis_record_cgroup(struct jis_session *s, struct task_struct *task);

/* dump.c */
void jis_dump_process(struct jis_session *s, u32 tgid);
void jis_dump_targets(struct jis_session *s, bool again);
void jis_dump_filtered(struct jis_session *s, bool again);
void jis_dump_thread(struct jis_session *s, struct task_struct *task);

#endif /* JIS_JIS_H */
