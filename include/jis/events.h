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

#define JIS_SCHEMA_VERSION 3

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

/* A switch. prev_state: enum jis_task_state and flags. prev_syscall: the system call the thread is
 * in, see JIS_SYSCALL_*. prev_cgroup: see cgroup_name; 0 unknown. prev_vm_state, prev_os_state: two
 * words of the memory of a registered thread (struct jis_thread_words), as its process left them
 * there: never to be trusted; 0 unknown. All four are of targets only. The CPU is the packet's. */
#define JIS_FIELDS_sched_switch(F, S)                                                              \
	F(u32, prev_tid) F(u32, next_tid) F(x32, prev_state) F(s32, prev_syscall)                  \
	F(u32, prev_cgroup) F(u32, prev_vm_state) F(u32, prev_os_state)
/* tid is about to be woken by the running context. context: enum jis_waker_context; waker_tid is
 * the interrupted task when it is not JIS_WAKER_TASK. source: with HARDIRQ the interrupt's number,
 * with SOFTIRQ the vector's, JIS_SOURCE_UNKNOWN where not known; else 0. */
#define JIS_FIELDS_sched_waking(F, S)                                                              \
	F(u32, tid) F(u32, waker_tid) F(u32, context) F(u32, source) F(u32, target_cpu)
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

/* A target is moved from one CPU's run queue to another's, or will be woken on another. */
#define JIS_FIELDS_sched_migrate_task(F, S) F(u32, tid) F(u32, orig_cpu) F(u32, dest_cpu)
/* The hypervisor has taken this CPU away for so many ns in all since boot; told when the kernel's
 * count has grown (it looks at its ticks), before the switch that follows, and before the first. */
#define JIS_FIELDS_cpu_steal(F, S) F(u64, stolen)

/*
 * System calls of targets. nr: JIS_SYSCALL_COMPAT is set in it for 32-bit calls. One record at
 * enter, its kind chosen by the session for each call (struct jis_syscall_desc), and syscall_exit.
 * What the arguments point to is read as the thread could read it, without sleeping: unreadable is
 * 0, -1 or "" as below. A call that was under way when recording began has an exit only, as has the
 * one a new thread comes from; exit, exit_group and rt_sigreturn have an entry only; on x86 the exit
 * of a successful execve or execveat is that of execve, as the new program's ABI numbers it.
 */
#define JIS_FIELDS_syscall_enter(F, S) F(u32, tid) F(s32, nr)
/* fd: -1 none. size: bytes, or vectors where the call takes vectors; of epoll_ctl the descriptor, of
 * socket the type, and above 32 bits EPOLL_CTL_* or AF_*; of fcntl the command, of flock the
 * operation, of ipc and socketcall which call is meant; 0 none. */
#define JIS_FIELDS_syscall_io(F, S) F(u32, tid) F(s32, nr) F(s32, fd) F(u64, size)
/* op and value as given; timeout: ns, -1 none; absolute where op says so. Of futex_wait and
 * futex_wake op are the flags (FUTEX2_*), value what is compared, or how many are woken; there the
 * timeout is absolute. */
#define JIS_FIELDS_syscall_futex(F, S)                                                             \
	F(u32, tid) F(s32, nr) F(x32, op) F(u32, value) F(x64, address) F(s64, timeout)
/* fd: -1 none; count: of descriptors, events, messages, operations of semaphores or futexes; flags:
 * JIS_WAIT_*; timeout: ns, -1 none; a point in time for futex_waitv. */
#define JIS_FIELDS_syscall_wait(F, S)                                                              \
	F(u32, tid) F(s32, nr) F(s32, fd) F(u32, count) F(x32, flags) F(s64, timeout)
/* family: AF_*, 0 unknown; port in host order; address0 and 1: the address's bytes as they lie in
 * memory, zeros behind them. */
#define JIS_FIELDS_syscall_address(F, S)                                                           \
	F(u32, tid)                                                                                \
	F(s32, nr) F(s32, fd) F(u32, family) F(u32, port) F(x64, address0) F(x64, address1)
#define JIS_FIELDS_syscall_memory(F, S) F(u32, tid) F(s32, nr) F(x64, address) F(u64, size)
/* dirfd: -1 none; path: as the thread gives it. */
#define JIS_FIELDS_syscall_path(F, S) F(u32, tid) F(s32, nr) F(s32, dirfd) F(x32, flags) S(path)
/* result: as the call gives it, -errno for an error; -512 to -516 where a signal interrupted it: the
 * thread then gets EINTR, or the call begins again. */
#define JIS_FIELDS_syscall_exit(F, S) F(u32, tid) F(s32, nr) F(s64, result)

/* Interrupt handlers and softirqs on this CPU, tid being interrupted (0: idle).
 * kind: JIS_WAKER_HARDIRQ or JIS_WAKER_SOFTIRQ; vector: the interrupt's or softirq's number. */
#define JIS_FIELDS_irq_entry(F, S) F(u32, tid) F(u32, kind) F(u32, vector)
#define JIS_FIELDS_irq_exit(F, S) F(u32, tid) F(u32, kind) F(u32, vector)

/* What a file descriptor of process pid is: told before its first use in a recorded call, and again
 * when it has become something else, or a dump was asked for. age: ticks since it was first told as
 * what it is. type: enum jis_fd_type. path: as /proc/PID/fd shows it. */
#define JIS_FIELDS_fd_file(F, S) F(u32, pid) F(s32, fd) F(u64, age) F(u32, type) S(path)
/* The same for an internet socket. type: SOCK_*; ports in host order; addresses as in
 * syscall_address. No peer: zeros. */
#define JIS_FIELDS_fd_socket(F, S)                                                                 \
	F(u32, pid)                                                                                \
	F(s32, fd) F(u64, age) F(u32, family) F(u32, type) F(u32, local_port) F(u32, peer_port)    \
		F(x64, local0) F(x64, local1) F(x64, peer0) F(x64, peer1)
/* How a target may be scheduled: told first with its state dump, birth or first sight, then after
 * each change, at the latest when it next leaves or takes a CPU. policy: SCHED_*; prio: the
 * kernel's own (0 highest); nr_cpus: on how many CPUs it may run; cpus: the first 64 of them. */
#define JIS_FIELDS_thread_attributes(F, S)                                                         \
	F(u32, tid) F(u32, policy) F(s32, prio) F(s32, nice) F(u32, nr_cpus) F(x64, cpus)
/* A cgroup of the unified hierarchy: the low 32 bits of its inode's number, and its path below the
 * mount point. Told before its first use where the kernel tells it; the recorder tells the others.
 */
#define JIS_FIELDS_cgroup_name(F, S) F(u32, cgroup) S(path)
/* tid is a member of the cgroup from now on; also told with the state dump and at a birth. */
#define JIS_FIELDS_cgroup_attach(F, S) F(u32, tid) F(u32, pid) F(u32, cgroup)
/* The threads of the cgroup, and of those below it, may not run on the CPU: its quota is used up
 * (throttled 1), or they may again (0). */
#define JIS_FIELDS_cgroup_throttle(F, S) F(u32, cgroup) F(u32, cpu) F(u32, throttled)
/* A page fault in user mode after which the thread went off the CPU; told when it does so. error:
 * the processor's error code; since: rebased time of the fault. */
#define JIS_FIELDS_page_fault(F, S)                                                                \
	F(u32, tid) F(x32, error) F(x64, address) F(x64, ip) F(u64, since)
/* A request to a disk; tid: who issued it (not always who caused it). dev: major << 20 | minor;
 * op: REQ_OP_*. A request is known by dev and sector. */
#define JIS_FIELDS_block_rq_issue(F, S)                                                            \
	F(u32, tid) F(u32, dev) F(u64, sector) F(u32, bytes) F(u32, op)
#define JIS_FIELDS_block_rq_complete(F, S) F(u32, dev) F(u64, sector) F(u32, bytes) F(s32, error)
/* sender_tid: the running thread; code: si_code; result: as the tracepoint has it. */
#define JIS_FIELDS_signal_generate(F, S)                                                           \
	F(u32, tid) F(u32, pid) F(u32, signal) F(s32, code) F(u32, sender_tid) F(u32, result)
#define JIS_FIELDS_signal_deliver(F, S) F(u32, tid) F(u32, signal) F(s32, code)
/* kHz. */
#define JIS_FIELDS_cpu_frequency(F, S) F(u32, cpu) F(u32, frequency)
/* state: the idle state entered, -1: left. */
#define JIS_FIELDS_cpu_idle(F, S) F(u32, cpu) F(s32, state)

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
	X(11, task_name)                                                                           \
	X(12, sched_migrate_task)                                                                  \
	X(13, cpu_steal)                                                                           \
	X(14, syscall_enter)                                                                       \
	X(15, syscall_io)                                                                          \
	X(16, syscall_futex)                                                                       \
	X(17, syscall_wait)                                                                        \
	X(18, syscall_address)                                                                     \
	X(19, syscall_memory)                                                                      \
	X(20, syscall_path)                                                                        \
	X(21, syscall_exit)                                                                        \
	X(22, irq_entry)                                                                           \
	X(23, irq_exit)

/* Rare ones: ids from 32 on, always with an extended header. */
#define JIS_EVENTS_KERNEL_RARE(X)                                                                  \
	X(32, fd_file)                                                                             \
	X(33, fd_socket)                                                                           \
	X(34, thread_attributes)                                                                   \
	X(35, cgroup_name)                                                                         \
	X(36, cgroup_attach)                                                                       \
	X(37, cgroup_throttle)                                                                     \
	X(38, page_fault)                                                                          \
	X(39, block_rq_issue)                                                                      \
	X(40, block_rq_complete)                                                                   \
	X(41, signal_generate)                                                                     \
	X(42, signal_deliver)                                                                      \
	X(43, cpu_frequency)                                                                       \
	X(44, cpu_idle)

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

/*
 * Why a Java thread waits. java_tid is Thread.getId() of the thread itself, virtual or not; 0 not
 * known. class_name, hash: the object's class (a string_def id of its binary name) and identity hash;
 * two objects may share a hash; both 0: none or not known. owner_tid, owner_java_tid: who held the
 * object when the wait began, a snapshot that may be late: kernel thread and Java thread as far as
 * known, else 0. timeout: ns, -1 none.
 *
 * JVMTI's contended enter: only enters that have to wait. */
#define JIS_FIELDS_monitor_contended_enter(F, S)                                                   \
	F(u64, java_tid)                                                                           \
	F(u32, class_name) F(x32, hash) F(u32, owner_tid) F(u64, owner_java_tid)
#define JIS_FIELDS_monitor_contended_entered(F, S) F(u64, java_tid) F(u32, class_name) F(x32, hash)
/* Object.wait(). Before it returns the thread may have to enter the monitor again: the contended
 * enter of that is not told by JVMTI, so the wait lasts until monitor_waited. */
#define JIS_FIELDS_monitor_wait(F, S) F(u64, java_tid) F(u32, class_name) F(x32, hash) F(s64, timeout)
#define JIS_FIELDS_monitor_waited(F, S)                                                            \
	F(u64, java_tid) F(u32, class_name) F(x32, hash) F(u32, timed_out)
/* LockSupport.park and its kin; the object is the blocker. A park may return at once. */
#define JIS_FIELDS_park_begin(F, S)                                                                \
	F(u64, java_tid)                                                                           \
	F(u32, class_name) F(x32, hash) F(u32, owner_tid) F(u64, owner_java_tid) F(s64, timeout)
#define JIS_FIELDS_park_end(F, S) F(u64, java_tid)
/* java_tid calls LockSupport.unpark(target). */
#define JIS_FIELDS_unpark(F, S) F(u64, java_tid) F(u64, target_java_tid)
#define JIS_FIELDS_sleep_begin(F, S) F(u64, java_tid) F(s64, timeout)
#define JIS_FIELDS_sleep_end(F, S) F(u64, java_tid)
/* Thread.join on thread target_java_tid; what it waits in (Object.wait, a park) lies inside. */
#define JIS_FIELDS_join_begin(F, S) F(u64, java_tid) F(u64, target_java_tid) F(s64, timeout)
#define JIS_FIELDS_join_end(F, S) F(u64, java_tid)
/* A virtual thread waits until its descriptor is ready: the JDK parks it meanwhile. events: POLLIN,
 * POLLOUT, ... */
#define JIS_FIELDS_descriptor_begin(F, S) F(u64, java_tid) F(s32, fd) F(x32, events) F(s64, timeout)
#define JIS_FIELDS_descriptor_end(F, S) F(u64, java_tid)
/* Virtual thread java_tid is on this carrier from now on, or leaves it. */
#define JIS_FIELDS_vthread_mount(F, S) F(u64, java_tid)
#define JIS_FIELDS_vthread_unmount(F, S) F(u64, java_tid)
/* A task is given to a pool, and run by it. class_name, hash: of the task; pool_class, pool_hash: of the
 * executor; queued: tasks that wait in its queue, -1 not known. */
#define JIS_FIELDS_task_submit(F, S)                                                               \
	F(u64, java_tid)                                                                           \
	F(u32, class_name) F(x32, hash) F(u32, pool_class) F(x32, pool_hash) F(s32, queued)
#define JIS_FIELDS_task_begin(F, S)                                                                \
	F(u64, java_tid)                                                                           \
	F(u32, class_name) F(x32, hash) F(u32, pool_class) F(x32, pool_hash) F(s32, queued)
#define JIS_FIELDS_task_end(F, S) F(u64, java_tid) F(u32, class_name) F(x32, hash)
/* The pool has not taken a task that was given to it, or has let it go: as its policy has it. */
#define JIS_FIELDS_task_reject(F, S)                                                               \
	F(u64, java_tid) F(u32, class_name) F(x32, hash) F(u32, pool_class) F(x32, pool_hash)
/* java_tid is a worker of this pool until it ends: outside of tasks it waits for one. Told once. */
#define JIS_FIELDS_pool_worker(F, S) F(u64, java_tid) F(u32, pool_class) F(x32, pool_hash)
/* An object is put into a queue, and taken out of it, by java_tid; class_name, hash: of the object;
 * queue_class, queue_hash: of the queue. In before out: both are told inside of the queue's lock. */
#define JIS_FIELDS_queue_put(F, S)                                                                 \
	F(u64, java_tid) F(u32, class_name) F(x32, hash) F(u32, queue_class) F(x32, queue_hash)
#define JIS_FIELDS_queue_take(F, S)                                                                \
	F(u64, java_tid) F(u32, class_name) F(x32, hash) F(u32, queue_class) F(x32, queue_hash)
/* Where the thread is, taken by itself inside of the wait told last; stack: a stack_def id, 0 left
 * out: there were too many that second, or too many different ones. */
#define JIS_FIELDS_wait_stack(F, S) F(u64, java_tid) F(u32, stack)
/* java_tid calls Thread.start of thread child_java_tid; stack: where, a stack_def id, 0 not taken.
 */
#define JIS_FIELDS_thread_start_call(F, S) F(u64, java_tid) F(u64, child_java_tid) F(u32, stack)
/* Every enter and exit of a monitor, on request. The enter is told when the thread has it. */
#define JIS_FIELDS_monitor_enter(F, S) F(u64, java_tid) F(u32, class_name) F(x32, hash)
#define JIS_FIELDS_monitor_exit(F, S) F(u64, java_tid) F(u32, class_name) F(x32, hash)
/* A class became usable (JVMTI's prepare). */
#define JIS_FIELDS_class_prepare(F, S) F(u64, java_tid) F(u32, class_name)
/* A class is gone: JVMTI tells no more than its name. */
#define JIS_FIELDS_class_unload(F, S) F(u32, class_name)
/* Bytes of heap in use and committed, after=0 before a collection, 1 after it. number: of the
 * collection, as the JVM's own log counts them, GC(n): a concurrent one is one. */
#define JIS_FIELDS_heap(F, S) F(u32, number) F(u32, after) F(u64, used) F(u64, committed)
#define JIS_FIELDS_exception(F, S)                                                                 \
	F(u64, java_tid) F(u32, class_name) F(u32, method) F(s32, line) F(u32, caught)
/* One of JVMTI's samples; size: of the object. */
#define JIS_FIELDS_allocation(F, S) F(u64, java_tid) F(u32, class_name) F(u64, size) F(u32, stack)
/* The JIT compiler has finished method, into size bytes at address. */
#define JIS_FIELDS_compiled_method(F, S) F(u32, method) F(u32, size) F(x64, address)
/* A safepoint is asked for; all threads have stopped; it is over. operation: the VM operation it is
 * for, a string_def id, 0 not known; source: enum jis_safepoint_source. */
#define JIS_FIELDS_safepoint_begin(F, S) F(u32, operation) F(u32, source)
#define JIS_FIELDS_safepoint_reached(F, S) F(u32, operation) F(u32, source)
#define JIS_FIELDS_safepoint_end(F, S) F(u32, operation) F(u32, source)

/*
 * Remote method invocation (JRMP), each call at both of its ends. java_tid as above. connection: an
 * rmi_connection's id; call: counts the calls of this connection at this end from 1 on, in the order
 * in which they are on the wire. object, space_*: the ObjID that is called, its number and the UID of
 * the JVM that made it (all 0: a well-known one, JIS_RMI_*). uid_*: the UID that the server makes for
 * the call and the client reads with its answer: the same at both ends, and of no other call; all 0
 * where there is none. method: a method_def id, 0 not known.
 *
 * Client: a call through a stub begins, before there is a connection for it. */
#define JIS_FIELDS_rmi_invoke(F, S) F(u64, java_tid) F(u32, method)
/* It has got a connection; what it passes is written from now on. operation: -1, or the number of the
 * method in an old stub; hash: of the method, or of that stub. */
#define JIS_FIELDS_rmi_call(F, S)                                                                  \
	F(u64, java_tid)                                                                           \
	F(u32, connection) F(u32, call) F(s32, operation) F(x64, hash) F(s64, object)              \
		F(s32, space_unique) F(s64, space_time) F(s32, space_count)
/* All is written, and is sent now. remote_call: identity hash of the object that the call is. */
#define JIS_FIELDS_rmi_send(F, S)                                                                  \
	F(u64, java_tid) F(u32, connection) F(u32, call) F(x32, remote_call)
/* The first byte of the answer is there. */
#define JIS_FIELDS_rmi_reply(F, S) F(u64, java_tid) F(u32, connection) F(u32, call)
/* The answer is read; the connection may serve another call already. result: enum jis_rmi_result. */
#define JIS_FIELDS_rmi_return(F, S)                                                                \
	F(u64, java_tid)                                                                           \
	F(x32, remote_call) F(u32, result) F(s32, uid_unique) F(s64, uid_time) F(s32, uid_count)
/* Server: the first byte of a call is there. */
#define JIS_FIELDS_rmi_serve(F, S) F(u64, java_tid) F(u32, connection) F(u32, call)
/* What it passed is read, and the method is called now. operation: of an old skeleton instead of a
 * method, a string_def id. */
#define JIS_FIELDS_rmi_dispatch(F, S)                                                              \
	F(u64, java_tid)                                                                           \
	F(u32, method) F(u32, operation) F(s64, object) F(s32, space_unique) F(s64, space_time)    \
		F(s32, space_count)
/* The method is over. result: enum jis_rmi_result. */
#define JIS_FIELDS_rmi_result(F, S) F(u64, java_tid) F(u32, result)
/* The answer is written, and is sent now. */
#define JIS_FIELDS_rmi_answer(F, S)                                                                \
	F(u64, java_tid)                                                                           \
	F(u32, connection) F(u32, call) F(s32, uid_unique) F(s64, uid_time) F(s32, uid_count)

/* The thread is in traced method (its traced_method id) from now on, or leaves it; bit 31 of the
 * exit's, JIS_METHOD_UNWOUND: by an exception. The thread is the one the carrier's mount records
 * say. An exit may be missing, where the exception comes from a constructor's own call of super()
 * or this(): an exit ends all calls inside of its own. */
#define JIS_FIELDS_method_enter(F, S) F(u32, method)
#define JIS_FIELDS_method_exit(F, S) F(u32, method)
/* How methods are recorded in this JVM: way, enum jis_method_way; pair: what an enter and its exit
 * cost together, in picoseconds, as measured at start. */
#define JIS_FIELDS_method_probe(F, S) F(u32, way) F(u64, pair)

/* A value of the call that the thread's next method_enter of this method begins; one record for
 * each that was asked for. argument: from 0 on, JIS_VALUE_RECEIVER; kind: enum jis_value_kind, which
 * says what class_name (a string_def id), length and value are; text: of a string, as much as was
 * asked for, "" else. */
#define JIS_FIELDS_method_value(F, S)                                                              \
	F(u32, method)                                                                             \
	F(s32, argument) F(u32, kind) F(u32, class_name) F(u32, length) F(x64, value) S(text)

#define JIS_EVENTS_USER(X)                                                                         \
	X(1, method_enter)                                                                         \
	X(2, method_exit)                                                                          \
	X(3, thread_bind)                                                                          \
	X(4, marker)                                                                               \
	X(5, java_marker)                                                                          \
	X(6, span_begin)                                                                           \
	X(7, span_end)                                                                             \
	X(8, gc_start)                                                                             \
	X(9, gc_finish)                                                                            \
	X(10, vm_phase)                                                                            \
	X(11, monitor_contended_enter)                                                             \
	X(12, monitor_contended_entered)                                                           \
	X(13, monitor_wait)                                                                        \
	X(14, monitor_waited)                                                                      \
	X(15, park_begin)                                                                          \
	X(16, park_end)                                                                            \
	X(17, unpark)                                                                              \
	X(18, sleep_begin)                                                                         \
	X(19, sleep_end)                                                                           \
	X(20, join_begin)                                                                          \
	X(21, join_end)                                                                            \
	X(22, vthread_mount)                                                                       \
	X(23, vthread_unmount)                                                                     \
	X(24, task_submit)                                                                         \
	X(25, task_begin)                                                                          \
	X(26, task_end)                                                                            \
	X(27, wait_stack)                                                                          \
	X(28, monitor_enter)                                                                       \
	X(29, monitor_exit)

#define JIS_EVENTS_USER_RARE(X)                                                                    \
	X(32, thread_start_call)                                                                   \
	X(33, class_prepare)                                                                       \
	X(34, heap)                                                                                \
	X(35, exception)                                                                           \
	X(36, allocation)                                                                          \
	X(37, compiled_method)                                                                     \
	X(38, safepoint_begin)                                                                     \
	X(39, safepoint_reached)                                                                   \
	X(40, safepoint_end)                                                                       \
	X(41, class_unload)                                                                        \
	X(42, rmi_call)                                                                            \
	X(43, rmi_send)                                                                            \
	X(44, rmi_reply)                                                                           \
	X(45, rmi_return)                                                                          \
	X(46, rmi_serve)                                                                           \
	X(47, rmi_dispatch)                                                                        \
	X(48, task_reject)                                                                         \
	X(49, pool_worker)                                                                         \
	X(50, rmi_result)                                                                          \
	X(51, rmi_answer)                                                                          \
	X(52, method_probe)                                                                        \
	X(53, rmi_invoke)                                                                          \
	X(54, descriptor_begin)                                                                    \
	X(55, descriptor_end)                                                                      \
	X(56, queue_put)                                                                           \
	X(57, queue_take)                                                                          \
	X(58, method_value)

/* Strings that other records name by id; ids are per process, from 1 up; 0 is "none". Those from
 * JIS_STRING_RECORDER up are the recorder's own, in a dictionary stream beside the process's. */
#define JIS_FIELDS_string_def(F, S) F(u32, id) S(text)
/* A Java thread starts on kernel thread tid (0: not on one), or was running when the agent came: a
 * virtual one on its carrier's, from which its next vthread_unmount takes it.
 * flags: JIS_JTHREAD_*; group: a string_def id. */
#define JIS_FIELDS_java_thread_start(F, S)                                                         \
	F(u64, java_tid) F(u32, tid) F(x32, flags) F(u32, group) S(name)
#define JIS_FIELDS_java_thread_end(F, S) F(u64, java_tid) F(u32, tid)
/* Thread.setName: by_tid is the kernel thread that called it. */
#define JIS_FIELDS_java_thread_name(F, S) F(u64, java_tid) F(u32, by_tid) S(name)
/* Once a JVM: its specification version (17, 21, 25) and its name and version as it prints them. */
#define JIS_FIELDS_vm_info(F, S) F(u32, pid) F(u32, version) S(text)

/* A method: name, descriptor and source file are string_def ids; the text is its class's binary
 * name. Redefined classes' methods get new ids. */
#define JIS_FIELDS_method_def(F, S) F(u32, id) F(u32, name) F(u32, descriptor) F(u32, file) S(class_name)
/* A frame of a stack, below which caller (another stack_def id, 0: none, or not taken) lies. line:
 * -1 not known, -2 a native method. */
#define JIS_FIELDS_stack_def(F, S) F(u32, id) F(u32, caller) F(u32, method) F(s32, line)

/* A method whose calls are recorded, under number id; told before its first call, and again where its
 * flags have become others: those hold from then on. The number stays
 * the same while the recording lasts, however often its class is redefined. method: its method_def;
 * loader: the name of its class's loader, a string_def id, 0: the boot loader; flags:
 * JIS_METHOD_*; code_bytes: its bytecode; lines: the first and last it has, -1 not known. */
#define JIS_FIELDS_traced_method(F, S)                                                             \
	F(u32, id)                                                                                 \
	F(u32, method) F(u32, loader) F(x32, flags) F(u32, code_bytes) F(s32, first_line)          \
		F(s32, last_line)
/* A chosen method that is left as it is: its calls are not recorded. method: its method_def; why: a
 * string_def id. */
#define JIS_FIELDS_method_refused(F, S) F(u32, method) F(u32, why)

/* Traced methods were chosen anew, in pause ns that end with this record: enabled of them came to
 * those traced, disabled left, by rewriting classes classes at once. asked: enum jis_methods_asked.
 * Of calls under way, those of methods that came are not told, those of methods that left still
 * have their exit. */
#define JIS_FIELDS_methods_changed(F, S)                                                           \
	F(u32, asked) F(u32, enabled) F(u32, disabled) F(u32, classes) F(u64, pause)
/* Traced method is no longer traced from the methods_changed on that follows. asked: as there;
 * calls: those of it in window ns that made the guard do so, else 0. */
#define JIS_FIELDS_method_off(F, S) F(u32, method) F(u32, asked) F(u64, calls) F(u64, window)

/* java_tid, on kernel thread tid, has waited until now for another thread to initialise a class: the
 * same wait as a monitor_waited of the class's lock, an int[], that follows. */
#define JIS_FIELDS_class_waited(F, S) F(u64, java_tid) F(u32, tid) F(u32, class_name)
/* Whose lock threads wait for that wait on the futex at this address of the process; from: enum
 * jis_futex_of; name: of a lock of HotSpot's as it has it there. The recorder tells it once it has met
 * such a wait, and again where it is another. */
#define JIS_FIELDS_futex_name(F, S) F(x64, address) F(u32, from) S(name)

/* A connection that calls use. server: this JVM serves the calls. family: AF_*, 0 where the socket's
 * addresses are not to be had; *0, *1: the address's bytes as they lie in memory, zeros behind them.
 * socket: the name of its socket's class, a string_def id; endpoint: the other end as the JVM knows
 * it, "host:port". */
#define JIS_FIELDS_rmi_connection(F, S)                                                            \
	F(u32, id)                                                                                 \
	F(u32, server) F(u32, family) F(u32, local_port) F(x64, local0) F(x64, local1)             \
		F(u32, peer_port) F(x64, peer0) F(x64, peer1) F(u32, socket) S(endpoint)

#define JIS_EVENTS_DICT(X)                                                                         \
	X(1, string_def)                                                                           \
	X(2, java_thread_start)                                                                    \
	X(3, java_thread_end)                                                                      \
	X(4, java_thread_name)                                                                     \
	X(5, vm_info)                                                                              \
	X(6, method_def)                                                                           \
	X(7, stack_def)                                                                            \
	X(8, traced_method)                                                                        \
	X(9, method_refused)                                                                       \
	X(10, methods_changed)                                                                     \
	X(11, method_off)                                                                          \
	X(12, class_waited)                                                                        \
	X(13, rmi_connection)                                                                      \
	X(14, futex_name)

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
#define JIS_TASK_PREEMPTED 0x100u /* taken off the CPU against its will, or it yielded */
#define JIS_TASK_IOWAIT 0x200u	  /* waits for I/O, as /proc/stat's iowait counts it */

enum jis_waker_context {
	JIS_WAKER_TASK = 0,
	JIS_WAKER_SOFTIRQ = 1,
	JIS_WAKER_HARDIRQ = 2,
	JIS_WAKER_NMI = 3,
	JIS_WAKER_TIMER = 4, /* a timer ran out, whether its interrupt or its softirq found it */
};
#define JIS_SOURCE_UNKNOWN 0xffffffffu

enum jis_session_mark {
	JIS_MARK_START = 1,
	JIS_MARK_PAUSE = 2,
	JIS_MARK_RESUME = 3,
	JIS_MARK_STOP = 4,
	JIS_MARK_MAX_SIZE = 5,	/* stopped: --max-size reached */
	JIS_MARK_DISK_FULL = 6, /* stopped: the output could not be written */
};

enum jis_vm_phase { JIS_VM_START = 1, JIS_VM_INIT = 2, JIS_VM_DEATH = 3 };

/* Where a record of a safepoint is from. */
enum jis_safepoint_source {
	JIS_SAFEPOINT_LOG = 1,	 /* a line of the JVM's own log, written at the safepoint's end */
	JIS_SAFEPOINT_PROBE = 2, /* a probe in the JVM */
	/* Of safepoint_reached: a probe where the operation began, somewhat later, as the JVM has
	 * no symbols. */
	JIS_SAFEPOINT_OPERATION = 3,
};

#define JIS_STRING_RECORDER 0x80000000u

#define JIS_JTHREAD_DAEMON 0x1u
#define JIS_JTHREAD_RUNNING 0x2u /* ran already when the agent looked, or began meanwhile */
#define JIS_JTHREAD_VIRTUAL 0x4u

/* In method_exit's method: an exception leaves the method. */
#define JIS_METHOD_UNWOUND 0x80000000u

/* Flags of a traced method. */
#define JIS_METHOD_STATIC 0x1u
#define JIS_METHOD_SYNCHRONIZED 0x2u
#define JIS_METHOD_CONSTRUCTOR 0x4u
#define JIS_METHOD_INITIALIZER 0x8u /* of a class, <clinit> */
#define JIS_METHOD_SYNTHETIC 0x10u  /* made by the compiler: a bridge, a lambda's body... */
#define JIS_METHOD_LIBRARY 0x20u    /* recorded only where no other such is under way */
#define JIS_METHOD_INTRINSIC 0x40u  /* compiled callers may not run it: only what is interpreted */
#define JIS_METHOD_MARK 0x80u	    /* chosen by --mark: its calls are spans too */
#define JIS_METHOD_VALUES 0x100u    /* method_value records tell values of its calls */

enum jis_methods_asked {
	JIS_METHODS_START = 1, /* what the recording was begun with */
	JIS_METHODS_USER = 2,  /* jis methods */
	JIS_METHODS_GUARD = 3, /* its rate is above the budget */
};

enum jis_method_way {
	JIS_METHOD_WAY_JNI = 1,	     /* natives as JNI has them */
	JIS_METHOD_WAY_BARRIER = 2,  /* the same, with UseSystemMemoryBarrier */
	JIS_METHOD_WAY_CRITICAL = 3, /* critical natives (JDK 17) */
	JIS_METHOD_WAY_PATCH = 4,    /* jumps in the JVM's wrapper of the natives */
	JIS_METHOD_WAY_LINK = 5,     /* the JVM's foreign linker calls them */
};

/* Numbers of well-known objects, which no user's object has without a space. */
#define JIS_RMI_REGISTRY 0
#define JIS_RMI_ACTIVATOR 1
#define JIS_RMI_DGC 2

enum jis_rmi_result {
	JIS_RMI_RETURNED = 0,
	JIS_RMI_THROWN = 1, /* the method, or the server for it, has thrown an exception */
	JIS_RMI_FAILED = 2, /* the client has not got an answer that it could read */
};

enum jis_futex_of {
	JIS_FUTEX_VM = 1,     /* HotSpot's own */
	JIS_FUTEX_AGENT = 2,  /* JIS's own agent's */
	JIS_FUTEX_MEMORY = 3, /* the C library's: of an arena of malloc, or in its data */
};

#define JIS_VALUE_RECEIVER (-1)

/* What a method_value is. Numbers are sign-extended; reals are their bits. */
enum jis_value_kind {
	JIS_VALUE_BOOLEAN = 1,
	JIS_VALUE_BYTE = 2,
	JIS_VALUE_CHAR = 3,
	JIS_VALUE_SHORT = 4,
	JIS_VALUE_INT = 5,
	JIS_VALUE_LONG = 6,
	JIS_VALUE_FLOAT = 7,
	JIS_VALUE_DOUBLE = 8,
	JIS_VALUE_NULL = 9,
	JIS_VALUE_OBJECT = 10, /* value: its identity hash */
	JIS_VALUE_ARRAY = 11,  /* the same, and its length */
	/* length: in UTF-16 units; value: SipHash-2-4 of the first 65536 of them, of which the key is
	 * the agent's secret: one tells equal ones of a recording and a JVM, and no more. */
	JIS_VALUE_STRING = 12,
};

/* System call numbers are those of the machine's own ABI, save with JIS_SYSCALL_COMPAT. */
#define JIS_SYSCALL_UNKNOWN (-2)      /* not looked at */
#define JIS_SYSCALL_NONE (-1)	      /* not in a system call */
#define JIS_SYSCALL_COMPAT 0x20000000 /* a 32-bit call, numbered as those are */

#define JIS_WAIT_ABSOLUTE 0x1u /* the timeout is a point in time of the call's clock */

enum jis_fd_type {
	JIS_FD_UNKNOWN = 0,
	JIS_FD_FILE = 1,
	JIS_FD_DIRECTORY = 2,
	JIS_FD_CHARACTER_DEVICE = 3,
	JIS_FD_BLOCK_DEVICE = 4,
	JIS_FD_PIPE = 5,   /* or a named one */
	JIS_FD_SOCKET = 6, /* not of the internet: netlink...; a unix one by its addresses, "unix:OWN -> PEER" */
	JIS_FD_EVENTFD = 7,
	JIS_FD_EPOLL = 8,
	JIS_FD_TIMERFD = 9,
	JIS_FD_SIGNALFD = 10,
	JIS_FD_INOTIFY = 11,
	JIS_FD_ANONYMOUS = 12, /* another of the kernel's anonymous inodes */
};

/* Generated from the tables ------------------------------------------------------------------ */

#define JIS_ALL_EVENTS(X)                                                                          \
	JIS_EVENTS_KERNEL(X)                                                                       \
	JIS_EVENTS_KERNEL_RARE(X)                                                                  \
	JIS_EVENTS_RECORDER(X)                                                                     \
	JIS_EVENTS_USER(X)                                                                         \
	JIS_EVENTS_USER_RARE(X)                                                                    \
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
