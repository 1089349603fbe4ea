/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * The table of all events: the only place that says which events exist and what is in them.
 *
 * Writers (module, agent, recorder), the reader, the CTF metadata, `jis dump`, the event page of the
 * docs and the exporters are made from the X-macro tables below. A new event is one row here,
 * its field list, and its handler. No logic lives in this file.
 *
 * A stream class has its own id space. Ids 1..30 fit the compact header; id 0 means "no record" and
 * is never used; id 30 is lost_records in every class. Ids are never given a second meaning: a
 * removed event leaves a hole. Changing a row means raising JIS_SCHEMA_VERSION.
 *
 * Record in memory and on disk (CTF 1.8, little endian, everything aligned to 4 bytes):
 *   compact header   u32: bits 0..4 id, bits 5..31 low 27 bits of the time
 *   extended header  u32 = 31, u32 id, u64 full time (16 bytes); for ids above 30 and for records
 *                    2^27 or more clock ticks after their predecessor in the packet
 *   payload          the fields in table order, each aligned to 4 bytes (u64 too)
 * A string field is a u32 length and that many bytes: text, at least one NUL, NULs up to a multiple
 * of four. The length counts all of them. A string is always the last field.
 */
#ifndef JIS_EVENTS_H
#define JIS_EVENTS_H

#include <linux/types.h>

#define JIS_SCHEMA_VERSION 1

/* Stream classes; the numbers are CTF stream ids. */
enum jis_stream_class {
	JIS_STREAM_KERNEL = 0,	 /* one stream a CPU; directory kernel/ */
	JIS_STREAM_RECORDER = 1, /* what the recorder itself notes; directory kernel/ */
	JIS_STREAM_USER = 2,	 /* one stream a slot of a process's pool; directory jvm-PID-START/ */
	JIS_STREAM_DICT = 3,	 /* names, one stream a process, never lossy; directory jvm-PID-START/ */
	JIS_NR_STREAM_CLASSES = 4
};

#define JIS_COMPACT_ID_MAX 30
#define JIS_ID_EXTENDED 31
#define JIS_TIME_BITS 27
#define JIS_TIME_MASK ((1u << JIS_TIME_BITS) - 1)
/* Event ids are below this; counters by type have this many entries. */
#define JIS_MAX_EVENT_ID 64

/* Longest string a record carries, NUL included; longer ones are cut and end in "...". */
#define JIS_STRING_MAX 1024

/*
 * Field lists: F(type, name) with type u32, s32, u64, s64, x32 (shown in hex), x64 or str.
 * S(name) is a str. Field names are those of the kernel's tracepoints where one exists.
 */

/* A switch. prev_state: enum jis_task_state and flags. The last four fields are room for the
 * kernel module's and the threads issue: system call number or JIS_SYSCALL_UNKNOWN, interned cgroup
 * (0 unknown), and two words of the JVM's thread (0 unknown). The CPU is the packet's. */
#define JIS_FIELDS_sched_switch(F, S)                                                              \
	F(u32, prev_tid) F(u32, next_tid) F(x32, prev_state) F(s32, prev_syscall)                  \
	F(u32, prev_cgroup) F(u32, prev_vm_state) F(u32, prev_os_state)
/* tid is about to be woken by the running context. context: enum jis_waker_context; waker_tid is
 * the interrupted task when it is not JIS_WAKER_TASK. */
#define JIS_FIELDS_sched_waking(F, S)                                                              \
	F(u32, tid) F(u32, waker_tid) F(u32, context) F(u32, target_cpu)
/* tid is now runnable on target_cpu. */
#define JIS_FIELDS_sched_wakeup(F, S) F(u32, tid) F(u32, target_cpu)
#define JIS_FIELDS_sched_wakeup_new(F, S) F(u32, tid) F(u32, target_cpu)
/* start_time: ns of CLOCK_BOOTTIME, with the tid the identity of a thread. ns_tid: the tid seen in
 * the innermost pid namespace. */
#define JIS_FIELDS_sched_process_fork(F, S)                                                        \
	F(u32, parent_tid) F(u32, tid) F(u32, pid) F(u32, ns_tid) F(u64, start_time) S(comm)
#define JIS_FIELDS_sched_process_exec(F, S) F(u32, tid) F(u32, old_tid) F(u32, pid) S(filename)
/* exit_code as wait(2) has it: status << 8 | signal. */
#define JIS_FIELDS_sched_process_exit(F, S) F(u32, tid) F(u32, pid) F(s32, exit_code)
#define JIS_FIELDS_sched_process_free(F, S) F(u32, tid) F(u32, pid)
#define JIS_FIELDS_task_rename(F, S) F(u32, tid) F(u32, pid) S(comm)
/* State dump: one for each thread of a target at session start and when a target is added.
 * state: enum jis_task_state; cpu: where it runs or last ran. */
#define JIS_FIELDS_thread_state(F, S)                                                              \
	F(u32, tid) F(u32, pid) F(u32, ns_tid) F(u32, state) F(u32, cpu) F(u64, start_time) S(comm)
/* A thread that is no target and touched one: said once, before its first use on this session. */
#define JIS_FIELDS_task_name(F, S) F(u32, tid) F(u32, pid) S(comm)
/* count records of this type were lost in this stream between first and last (both rebased ticks).
 * type 0: of any type (the ftrace backend knows the number only). */
#define JIS_FIELDS_lost_records(F, S) F(u32, type) F(u64, count) F(u64, first) F(u64, last)

/* X(id, name): JIS_EV_<name> becomes the id, struct jis_ev_<name> the payload. */
#define JIS_EVENTS_KERNEL(X)                                                                       \
	X(1, sched_switch)                                                                         \
	X(2, sched_waking)                                                                         \
	X(3, sched_wakeup)                                                                         \
	X(4, sched_wakeup_new)                                                                     \
	X(5, sched_process_fork)                                                                   \
	X(6, sched_process_exec)                                                                   \
	X(7, sched_process_exit)                                                                   \
	X(8, sched_process_free)                                                                   \
	X(9, task_rename)                                                                          \
	X(10, thread_state)                                                                        \
	X(11, task_name)

/* One reading of all clocks at one instant: raw ticks of the session clock's TSC (0 where there is
 * none) and ns of the others. uncertainty: ticks between the two TSC reads around the others. */
#define JIS_FIELDS_clock_sync(F, S)                                                                \
	F(u64, tsc) F(u64, monotonic_raw) F(u64, monotonic) F(u64, boottime) F(u64, realtime)      \
	F(u32, uncertainty)
/* mark: enum jis_session_mark. */
#define JIS_FIELDS_session_mark(F, S) F(u32, mark)
/* A process became a target (flags: JIS_TARGET_*) or ceased to be one. */
#define JIS_FIELDS_target_added(F, S) F(u32, pid) F(x32, flags) S(comm)
#define JIS_FIELDS_target_removed(F, S) F(u32, pid)

#define JIS_EVENTS_RECORDER(X)                                                                     \
	X(1, clock_sync)                                                                           \
	X(2, session_mark)                                                                         \
	X(3, target_added)                                                                         \
	X(4, target_removed)

/* From here on the slot's records are those of thread tid (as gettid() tells it in the process). */
#define JIS_FIELDS_thread_bind(F, S) F(u32, tid)
/* A marker of a C program: any type and value the program likes. */
#define JIS_FIELDS_marker(F, S) F(u32, type) F(s64, value)
/* The same from Java; java_tid is Thread.getId() of the calling thread, virtual or not. */
#define JIS_FIELDS_java_marker(F, S) F(u64, java_tid) F(u32, type) F(s64, value)
/* A named span begins or ends; name: a string_def id; java_tid 0 in C programs. */
#define JIS_FIELDS_span_begin(F, S) F(u64, java_tid) F(u32, name)
#define JIS_FIELDS_span_end(F, S) F(u64, java_tid) F(u32, name)
/* Stop-the-world collection number `number` of this JVM begins or is over. */
#define JIS_FIELDS_gc_start(F, S) F(u32, number)
#define JIS_FIELDS_gc_finish(F, S) F(u32, number)
/* phase: enum jis_vm_phase. */
#define JIS_FIELDS_vm_phase(F, S) F(u32, phase)

/* Ids 1 and 2 are kept for method entry and exit. */
#define JIS_EVENTS_USER(X)                                                                         \
	X(3, thread_bind)                                                                          \
	X(4, marker)                                                                               \
	X(5, java_marker)                                                                          \
	X(6, span_begin)                                                                           \
	X(7, span_end)                                                                             \
	X(8, gc_start)                                                                             \
	X(9, gc_finish)                                                                            \
	X(10, vm_phase)

/* Strings that other records name by id; ids are per process, from 1 up; 0 is "none". */
#define JIS_FIELDS_string_def(F, S) F(u32, id) S(text)
/* A Java thread starts on kernel thread tid (0: not on one), or was running when the agent came.
 * flags: JIS_JTHREAD_*; group: a string_def id. */
#define JIS_FIELDS_java_thread_start(F, S)                                                         \
	F(u64, java_tid) F(u32, tid) F(x32, flags) F(u32, group) S(name)
#define JIS_FIELDS_java_thread_end(F, S) F(u64, java_tid) F(u32, tid)
/* Thread.setName: by_tid is the kernel thread that called it. */
#define JIS_FIELDS_java_thread_name(F, S) F(u64, java_tid) F(u32, by_tid) S(name)
/* Once a JVM: its specification version (17, 21, 25) and its name and version as it prints them. */
#define JIS_FIELDS_vm_info(F, S) F(u32, pid) F(u32, version) S(text)

#define JIS_EVENTS_DICT(X)                                                                         \
	X(1, string_def)                                                                           \
	X(2, java_thread_start)                                                                    \
	X(3, java_thread_end)                                                                      \
	X(4, java_thread_name)                                                                     \
	X(5, vm_info)

/* In every class. */
#define JIS_EVENTS_COMMON(X) X(30, lost_records)

/* enum values ------------------------------------------------------------------------------ */

/* Task states, the same for all kernels and backends. */
enum jis_task_state {
	JIS_TASK_RUNNING = 0, /* runnable: at a switch it was preempted or yielded */
	JIS_TASK_INTERRUPTIBLE = 1,
	JIS_TASK_UNINTERRUPTIBLE = 2,
	JIS_TASK_STOPPED = 3, /* stopped or traced */
	JIS_TASK_DEAD = 4,
	JIS_TASK_IDLE = 5, /* uninterruptible without load: kernel threads */
	JIS_TASK_PARKED = 6,
};
#define JIS_TASK_STATE_MASK 0xffu
#define JIS_TASK_PREEMPTED 0x100u /* taken off the CPU against its will */

enum jis_waker_context {
	JIS_WAKER_TASK = 0,
	JIS_WAKER_SOFTIRQ = 1,
	JIS_WAKER_HARDIRQ = 2,
	JIS_WAKER_NMI = 3,
};

enum jis_session_mark {
	JIS_MARK_START = 1,
	JIS_MARK_PAUSE = 2,
	JIS_MARK_RESUME = 3,
	JIS_MARK_STOP = 4,
	JIS_MARK_MAX_SIZE = 5,	/* stopped: --max-size reached */
	JIS_MARK_DISK_FULL = 6, /* stopped: the output could not be written */
};

enum jis_vm_phase { JIS_VM_START = 1, JIS_VM_INIT = 2, JIS_VM_DEATH = 3 };

#define JIS_JTHREAD_DAEMON 0x1u
#define JIS_JTHREAD_RUNNING 0x2u /* ran already when the agent looked */
#define JIS_JTHREAD_VIRTUAL 0x4u

#define JIS_SYSCALL_UNKNOWN (-2) /* not looked at */
#define JIS_SYSCALL_NONE (-1)	 /* not in a system call */

/* Generated from the tables ------------------------------------------------------------------ */

#define JIS_ALL_EVENTS(X)                                                                          \
	JIS_EVENTS_KERNEL(X)                                                                       \
	JIS_EVENTS_RECORDER(X)                                                                     \
	JIS_EVENTS_USER(X)                                                                         \
	JIS_EVENTS_DICT(X)                                                                         \
	JIS_EVENTS_COMMON(X)

#define JIS_DEF_ID(id, name) JIS_EV_##name = id,
enum jis_event_id { JIS_ALL_EVENTS(JIS_DEF_ID) };
#undef JIS_DEF_ID

typedef __u32 jis_u32;
typedef __s32 jis_s32;
typedef __u32 jis_x32;
typedef __u64 jis_u64;
typedef __s64 jis_s64;
typedef __u64 jis_x64;

#define JIS_DEF_FIELD(type, name) jis_##type name;
#define JIS_DEF_STR(name)                                                                          \
	__u32 name##_length;                                                                       \
	char name[];
#define JIS_DEF_STRUCT(id, name)                                                                   \
	struct jis_ev_##name {                                                                     \
		JIS_FIELDS_##name(JIS_DEF_FIELD, JIS_DEF_STR)                                      \
	} __attribute__((packed, aligned(4)));
JIS_ALL_EVENTS(JIS_DEF_STRUCT)
#undef JIS_DEF_STRUCT
#undef JIS_DEF_STR
#undef JIS_DEF_FIELD

#endif /* JIS_EVENTS_H */
