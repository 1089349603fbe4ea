/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * What kernel module, recorder and writers in other processes agree on: the packet header, the
 * ioctls and mappings of /dev/jis, and the layout of a pool of user packets.
 *
 * Same file for kernel and user space: fixed-width types only, no logic, no pointers. The layout is
 * frozen by tests/unit/test_abi.c; raise JIS_ABI_VERSION when it changes. Each shared field says who
 * writes it and with which order; a field that says nothing is written before the other side
 * sees the memory and never again. Reserved fields of what is told to the kernel must be zero, and
 * are checked.
 */
#ifndef JIS_ABI_H
#define JIS_ABI_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "events.h"

#define JIS_ABI_VERSION 4

/* Packets ------------------------------------------------------------------------------------ */

#define JIS_PACKET_MAGIC 0xC1FC1FC1u /* CTF 1.8 */

/*
 * Start of every packet, in memory and on disk: CTF packet header (first four fields) and context.
 * Times are ticks of the session clock less the session's base; the base is a multiple of 2^27, so
 * the 27 low bits in compact record headers are those of the clock itself.
 * Sizes are bits, header included; content and packet size are multiples of 32.
 * crc32c (Castagnoli polynomial, as in RFC 3720) covers content_size bits with the field itself taken
 * as zero; the recorder writes it, in memory it is 0.
 */
struct jis_packet_header {
	__u32 magic;
	__u8 uuid[16];
	__u32 stream_class;	/* enum jis_stream_class */
	__u64 stream_instance;	/* CPU, or slot number */
	__u64 timestamp_begin;	/* of the first record; the first compact time is relative to it */
	__u64 timestamp_end;	/* of the last record or later, never after the next packet's begin */
	__u64 content_size;
	__u64 packet_size;
	__u64 packet_seq;	/* 0, 1, 2... in each stream; a gap is a lost packet */
	__u64 events_discarded; /* lost records of this stream since its begin, as of the packet's end */
	__u32 crc32c;
	__u32 owner;		/* kernel: CPU; user: tid of the slot's owner at the packet's begin */
	__u32 pid;		/* user: pid as the process itself sees it; kernel: 0 */
	__u32 flags;		/* JIS_PACKET_* */
};

#define JIS_PACKET_HEADER_SIZE 96u
#define JIS_PACKET_RECOVERED 0x1u /* closed by the recorder or by `jis recover`, not by its writer */

/* Clocks */
#define JIS_CLOCK_TSC 1u /* rdtsc on x86, cntvct on arm64 */
#define JIS_CLOCK_RAW 2u /* CLOCK_MONOTONIC_RAW, ns */

/* /dev/jis ----------------------------------------------------------------------------------- */

/*
 * open() makes an empty session, close() of the last descriptor ends it, whoever still maps what.
 * Order: SETUP, then any of TARGET_*, SYSCALLS, POOL_CREATE, START, PAUSE, RESUME, GET_PACKET,
 * FLUSH, FREEZE, THAW, DUMP, STATUS, STOP. poll(): POLLIN when any ring has `watermark` or more
 * closed packets to read; POLLHUP after STOP when all have been read.
 */
#define JIS_DEVICE "/dev/jis"
#define JIS_IOC_MAGIC 'J'

#define JIS_SETUP_ALL_SWITCHES 0x1u
/* A full ring gives up its oldest packet instead of the newest record. Nothing is lost to a reader
 * who comes late but time: packet_seq shows the gap, `lost` counts only what found no packet. */
#define JIS_SETUP_FLIGHT_RECORDER 0x2u

/* Families of events that are off unless asked for. */
#define JIS_FAMILY_FAULT 0x1u  /* page_fault */
#define JIS_FAMILY_BLOCK 0x2u  /* block_rq_*: of the whole machine */
#define JIS_FAMILY_IRQ 0x4u    /* irq_*: those that interrupt targets; with ALL_SWITCHES all */
#define JIS_FAMILY_SIGNAL 0x8u /* signal_* */
#define JIS_FAMILY_POWER 0x10u /* cpu_frequency, cpu_idle: of the whole machine */
#define JIS_FAMILIES 0x1fu

/* What this kernel gives beyond the families, told back by SETUP. */
#define JIS_FEATURE_SYSCALLS 0x100u /* SYSCALLS works */
#define JIS_FEATURE_CGROUP 0x200u   /* cgroups in records, and as targets */
#define JIS_FEATURE_THROTTLE 0x400u /* cgroup_throttle */
#define JIS_FEATURE_STEAL 0x800u    /* cpu_steal */
#define JIS_FEATURE_SOURCE 0x1000u  /* wakings by timers told apart, sources known */
#define JIS_FEATURE_WORDS 0x2000u   /* words of registered threads are read */

struct jis_setup {
	__u32 size;	      /* sizeof(struct jis_setup) as the caller knows it */
	__u32 abi_version;    /* JIS_ABI_VERSION */
	__u32 flags;	      /* JIS_SETUP_* */
	__u32 clock;	      /* JIS_CLOCK_* */
	__u64 base;	      /* ticks to subtract; a multiple of 2^27, not after now */
	__u64 buffer_bytes;   /* for the rings of all CPUs online now (one that comes later gets as much as
				 each of them); 0 = the smaller of 64 MiB and 1 % of RAM */
	__u32 packet_size;    /* bytes, a power of two, one page to 4 MiB; 0 = the module chooses; told back */
	__u32 watermark;      /* closed packets of one ring that wake poll(); 0 = 1; at most half a ring; told back */
	__u8 uuid[16];	      /* goes into each packet header */
	/* out */
	__u32 nr_cpus;	      /* numbers of possible CPUs are below this */
	__u32 packets_per_cpu;
	__u64 ring_bytes;     /* size of one CPU's mapping: packets_per_cpu * packet_size */
	__u32 schema_version; /* JIS_SCHEMA_VERSION of the module */
	__u32 families;	      /* in: JIS_FAMILY_* wanted; -EOPNOTSUPP if one cannot be had */
	__u32 features;	      /* out: JIS_FAMILY_* and JIS_FEATURE_* this kernel gives */
	__u32 reserved[7];
};

/*
 * mmap() offset of a CPU's ring: length ring_bytes, PROT_READ, MAP_SHARED; never writable. A CPU
 * that has never been online since SETUP has no ring yet: mmap() and GET_PACKET say -ENXIO.
 */
#define JIS_MMAP_RING(cpu) ((__u64)(cpu) << 40)

#define JIS_TARGET_CHILDREN 0x1u   /* processes forked by the target become targets too */
#define JIS_TARGET_UNTIL_EXEC 0x2u /* a process ceases to be a target when it executes a program */
#define JIS_TARGET_FIRST_EXEC 0x4u /* with UNTIL_EXEC: but not at its next one; children are without */

/* What a target is. A thread is recorded when any of them covers it. */
enum jis_target_kind {
	JIS_TARGET_PROCESS = 0, /* pid: thread group id in the caller's pid namespace */
	JIS_TARGET_THREAD = 1,	/* pid: thread id in the caller's pid namespace; no flags. It stays one
				   when it executes a program, and so has its process's number */
	JIS_TARGET_CGROUP = 2,	/* fd: a directory of the unified hierarchy; those below it too;
				   members come and go; no flags */
	JIS_TARGET_EXECUTABLE = 3, /* name: processes that execute a file of this name from now on */
	JIS_TARGET_ALL = 4,	/* every thread but the idle ones; no flags */
};

#define JIS_TARGET_NAME_MAX 64

struct jis_target {
	__u32 size;
	__u32 flags; /* JIS_TARGET_* */
	__u32 kind;  /* enum jis_target_kind */
	__u32 pid;
	__s32 fd; /* 0 unless CGROUP */
	__u32 reserved;
	char name[JIS_TARGET_NAME_MAX]; /* last component of the path, NUL-terminated; else zeros */
};

/*
 * How a system call is recorded: `shape` is a record kind, a, b and c say which argument (0..5) is
 * what, JIS_ARG_NONE that there is none. Who makes the table knows the calls; the module does not.
 */
#define JIS_ARG_NONE 0xffu
enum jis_syscall_shape {
	JIS_SHAPE_OFF = 0,
	JIS_SHAPE_PLAIN = 1,   /* syscall_enter */
	JIS_SHAPE_IO = 2,      /* a fd, b size, c the upper half of size */
	JIS_SHAPE_FUTEX = 3,   /* a address, b op, c timeout (struct timespec *); value is the one
				  behind op */
	JIS_SHAPE_WAIT_MS = 4, /* a fd, b count, c timeout: int, milliseconds, < 0 none */
	JIS_SHAPE_WAIT_TIMESPEC = 5, /* the same; c: struct timespec *, two 64-bit words; NULL none */
	JIS_SHAPE_WAIT_TIMEVAL = 6,
	JIS_SHAPE_WAIT_TIMESPEC32 = 7, /* two 32-bit words; likewise */
	JIS_SHAPE_WAIT_TIMEVAL32 = 8,
	JIS_SHAPE_SLEEP = 9, /* a flags (1: absolute), c: struct timespec * */
	JIS_SHAPE_SLEEP32 = 10,
	JIS_SHAPE_ADDRESS = 11, /* a fd, b struct sockaddr *, c its length */
	JIS_SHAPE_MEMORY = 12,	/* a address, b size */
	JIS_SHAPE_PATH = 13,	/* a dirfd, b path, c flags */
	JIS_SHAPE_FUTEX32 = 14, /* as FUTEX, with 32-bit words in the timeout */
	JIS_SHAPE_FUTEX2 = 15,	/* a address, b value, c timeout (struct timespec *); op is the
				   fourth argument, flags that say nothing of a timeout */
	JIS_NR_SHAPES
};
#define JIS_SHAPE_MASK 0x7fu
#define JIS_SHAPE_RESULT_FD 0x80u /* a result >= 0 is a descriptor: told what it is at the exit */

struct jis_syscall_desc {
	__u8 shape, a, b, c;
};

#define JIS_MAX_SYSCALL 512u

/* The calls to record from now on, instead of those before. Any state but NEW and STOPPED. */
struct jis_syscalls {
	__u32 size;
	__u32 reserved;
	struct jis_syscall_desc native[JIS_MAX_SYSCALL];
	struct jis_syscall_desc compat[JIS_MAX_SYSCALL]; /* 32-bit calls */
};

/*
 * Makes the memory of a pool: a file of its own that nothing can resize, all pages there, charged
 * to the caller. Neither session nor module is held by it, by its mappings or by its descriptor.
 * The caller lays it out (struct jis_pool_header); the module reads struct jis_thread_words from
 * it, and when the session ends sets event_mask to 0.
 */
struct jis_pool_create {
	__u32 size;
	__u32 pid;	    /* thread group id in the caller's pid namespace: a target */
	__u64 bytes;	    /* of the pool; a multiple of the page size */
	__u64 words_offset; /* as in the header; a multiple of 64 */
	__u32 nr_words;	    /* a power of two up to 65536; 0 none */
	__s32 fd;	    /* out: close-on-exec, for mmap() */
	__u32 reserved[4];
};

/*
 * Gives back the packet got before on this CPU and gets the next closed one. -EAGAIN: none closed.
 * The packet's bytes are at ring mapping + index * packet_size and stay until the next call for the
 * same CPU.
 */
struct jis_get_packet {
	__u32 size;
	__u32 cpu;
	__u32 index; /* out */
	__u32 bytes; /* out: content, header included */
	__u64 reserved;
};

/* Counters of one CPU. produced = stored + lost once the ring has been flushed and read: `stored` is
 * the reader's own count. Written by the CPU itself, plain increments; read at any time. */
struct jis_counters {
	__u32 size;
	__u32 cpu;
	__u64 produced[JIS_MAX_EVENT_ID];
	__u64 lost[JIS_MAX_EVENT_ID];
};

enum jis_session_state {
	JIS_SESSION_NEW = 0,
	JIS_SESSION_READY = 1, /* set up, not started */
	JIS_SESSION_RUNNING = 2,
	JIS_SESSION_PAUSED = 3,
	JIS_SESSION_STOPPED = 4,
};

struct jis_status {
	__u32 size;
	__u32 state;	     /* enum jis_session_state */
	__u32 nr_targets;
	__u32 nr_cpus;
	__u64 produced;	     /* all types, all CPUs */
	__u64 lost;
	__u64 memory_bytes;  /* of its rings and tables; pools and filters are beside it */
	__u64 clock_steps;   /* times clamped because the clock stepped back */
	__u64 packets_ready; /* closed and not yet got */
	__u64 targets_refused; /* processes that should have become targets when the table was full */
	__u64 threads_refused; /* threads the module had no room to keep notes of: what is known of them
				  is less: attributes, and behind whom they waited */
	__u64 overwritten;     /* packets a flight recorder wrote over, read during a FREEZE or not */
	__u64 queues_refused;  /* times the module had no room to note a run queue of a cgroup: that
				  its quota keeps threads from a CPU is not told */
	__u64 reserved[4];
};

#define JIS_IOC_SETUP _IOWR(JIS_IOC_MAGIC, 1, struct jis_setup)
#define JIS_IOC_TARGET_ADD _IOW(JIS_IOC_MAGIC, 2, struct jis_target)
#define JIS_IOC_TARGET_REMOVE _IOW(JIS_IOC_MAGIC, 3, struct jis_target)
#define JIS_IOC_START _IO(JIS_IOC_MAGIC, 4)
#define JIS_IOC_PAUSE _IO(JIS_IOC_MAGIC, 5)
#define JIS_IOC_RESUME _IO(JIS_IOC_MAGIC, 6)
#define JIS_IOC_STOP _IO(JIS_IOC_MAGIC, 7)	 /* also closes all open packets */
#define JIS_IOC_FLUSH _IO(JIS_IOC_MAGIC, 8)	 /* closes open packets that hold a record */
#define JIS_IOC_GET_PACKET _IOWR(JIS_IOC_MAGIC, 9, struct jis_get_packet)
#define JIS_IOC_STATUS _IOWR(JIS_IOC_MAGIC, 10, struct jis_status)
#define JIS_IOC_COUNTERS _IOWR(JIS_IOC_MAGIC, 11, struct jis_counters)
#define JIS_IOC_TARGET_TEST _IOW(JIS_IOC_MAGIC, 12, struct jis_target) /* 0: is one; -ESRCH: is none */
#define JIS_IOC_SYSCALLS _IOW(JIS_IOC_MAGIC, 13, struct jis_syscalls)
/* Flight recorder: from FREEZE to THAW nothing is overwritten that was closed by FREEZE, but for the
 * oldest eighth of a ring, which makes room to go on; a full ring then drops the newest. */
#define JIS_IOC_FREEZE _IO(JIS_IOC_MAGIC, 14)
#define JIS_IOC_THAW _IO(JIS_IOC_MAGIC, 15)
#define JIS_IOC_DUMP _IO(JIS_IOC_MAGIC, 16) /* the state dump of all targets once more */
#define JIS_IOC_POOL_CREATE _IOWR(JIS_IOC_MAGIC, 17, struct jis_pool_create)

/* Pools of user packets ---------------------------------------------------------------------- */

/*
 * One shared memory a traced process: header, slots, packet states, packets. Made by the recorder,
 * written by the process's threads, read by the recorder, which trusts nothing in it: neither side
 * stores a pointer here, and the recorder checks every number it reads against its own copy.
 *
 * A thread takes a slot (owner 0 -> tid, compare-and-exchange) at its first record and gives it back
 * at its end. A slot has at most one open packet. A part-filled packet stays with the slot for its next
 * owner, whose first record is thread_bind.
 */
#define JIS_POOL_MAGIC 0x4c4f4f504a495331ull /* "1SIJPOOL" */

#define JIS_POOL_DICT_SLOT 0u /* slot 0 is the dictionary's, one writer lock in the process */

struct jis_pool_header {
	__u64 magic;
	__u32 abi_version;
	__u32 schema_version;
	__u64 total_size;
	__u32 clock;	       /* JIS_CLOCK_* */
	__u32 pid;	       /* the process, as the recorder sees it */
	__u64 base;
	__u8 uuid[16];
	__u32 nr_slots;
	__u32 slot_size;       /* sizeof(struct jis_slot) */
	__u32 nr_packets;
	__u32 packet_size;     /* bytes */
	__u64 slots_offset;    /* bytes from the pool's start, all three */
	__u64 states_offset;   /* __u32 packet_state[nr_packets] */
	__u64 packets_offset;
	__u32 dict_packets;    /* the first this many packets are only for the dictionary */
	__u32 nr_words;	       /* entries of struct jis_thread_words, a power of two; 0: none */
	__u64 words_offset;
	/* Recorder writes, writers read (relaxed): bit i set = record events with id i. 0 = paused. */
	__u64 event_mask;
	/* Writers add (atomic, relaxed): records dropped because no slot was free. */
	__u64 no_slot[JIS_MAX_EVENT_ID];
} __attribute__((aligned(64)));

/*
 * A slot: everything but the counters is the writer's own bookkeeping and means nothing to the
 * recorder, save owner, packet and words_until. Written by the owning thread with plain stores
 * unless said.
 */
struct jis_slot {
	__u32 owner;	  /* tid, 0 = free; compare-and-exchange (acquire), given back with release */
	/* 1 while a record is being written: a nested writer drops and counts. Not for those of an
	 * agent's probes, who keep others off by their own means. */
	__u32 busy;
	__u64 last;	  /* time of the last record but words after it, base and all */
	__u64 position;	  /* next free byte, from the pool's start; 0 = no packet */
	__u64 end;	  /* end of the open packet, from the pool's start */
	__u32 packet;	  /* index of the open packet */
	__u32 bound;	  /* tid the last thread_bind or packet header named */
	__u64 sequence;	  /* packet_seq of the next packet */
	__u64 lost_total; /* sum over lost[] */
	/* Until then, base and all, an agent's probes may write words (jis_write_word(), not those of
	 * struct jis_thread_words) without a look at event_mask; 0: not at all. Who takes a bit from event_mask or ends the process' part writes 0 after
	 * that (relaxed); the module, when a session ends, does not. */
	__u64 words_until;
	__u64 words_were; /* 1 once words may have been written: last may be before the last record */
	/* First and last time, and count by type, of what was lost since the last LOST record was
	 * written; the writer writes one lost_records per type when it opens its next packet. */
	__u64 lost_first;
	__u64 lost_last;
	__u64 lost_told[JIS_MAX_EVENT_ID]; /* lost[] as of the last lost_records */
	__u64 produced[JIS_MAX_EVENT_ID];
	__u64 lost[JIS_MAX_EVENT_ID];
} __attribute__((aligned(64)));

/*
 * Where in its own memory a thread of the process keeps two 32-bit words that are to be read
 * whenever it leaves a CPU (prev_vm_state, prev_os_state). One entry a thread, in any of the
 * JIS_WORDS_WINDOW entries from JIS_WORDS_HASH(tid) on (modulo nr_words). The process takes an
 * entry (tid 0 -> tid, compare-and-exchange), writes the addresses before with tid JIS_WORDS_BUSY,
 * and sets tid to 0 before the memory goes. The kernel reads tid (acquire), then the addresses, and
 * through them only what the thread itself could read.
 */
struct jis_thread_words {
	__u32 tid; /* as the process itself sees it; 0 free */
	__u32 reserved;
	__u64 vm_state; /* address; 0: none */
	__u64 os_state;
	__u64 reserved1;
};
#define JIS_WORDS_BUSY 0xffffffffu
#define JIS_WORDS_WINDOW 16u
#define JIS_WORDS_HASH(tid) ((__u32)(tid)*0x9e3779b1u >> 16)

/*
 * packet_state[i]: state in bits 0..1, slot number from bit 2.
 *   FREE -> OPEN    writer, compare-and-exchange, acquire; then it writes header and records
 *   OPEN -> FULL    writer, release, after timestamp_end, content_size and events_discarded
 *   FULL -> FREE    recorder, release, after it has copied and zeroed the packet
 * In an OPEN packet the header (all but the three fields above) is written before the first record's
 * header word; a record's payload is written before its header word (release); what follows the last
 * record is zero. So the recorder finds the end of an OPEN packet at the first zero header word.
 */
#define JIS_PACKET_FREE 0u
#define JIS_PACKET_OPEN 1u
#define JIS_PACKET_FULL 2u
#define JIS_PACKET_STATE(s) ((s) & 3u)
#define JIS_PACKET_SLOT(s) ((s) >> 2)

#endif /* JIS_ABI_H */
