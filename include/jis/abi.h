/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * What kernel module, recorder and writers in other processes agree on: the packet header, the
 * ioctls and mappings of /dev/jis, and the layout of a pool of user packets.
 *
 * Same file for kernel and user space: fixed-width types only, no logic, no pointers. The layout is
 * frozen by tests/unit/test_abi.c; raise JIS_ABI_VERSION when it changes. Each shared field says who
 * writes it and with which order; a field that says nothing is written before the other side
 * sees the memory and never again. Reserved fields must be zero, and are checked.
 */
#ifndef JIS_ABI_H
#define JIS_ABI_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "events.h"

#define JIS_ABI_VERSION 1

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
 * Order: SETUP, then any of TARGET_*, START, PAUSE, RESUME, GET_PACKET, FLUSH, STATUS, STOP.
 * poll(): POLLIN when any ring has `watermark` or more closed packets to read; POLLHUP after STOP
 * when all have been read.
 */
#define JIS_DEVICE "/dev/jis"
#define JIS_IOC_MAGIC 'J'

#define JIS_SETUP_ALL_SWITCHES 0x1u

struct jis_setup {
	__u32 size;	      /* sizeof(struct jis_setup) as the caller knows it */
	__u32 abi_version;    /* JIS_ABI_VERSION */
	__u32 flags;	      /* JIS_SETUP_* */
	__u32 clock;	      /* JIS_CLOCK_* */
	__u64 base;	      /* ticks to subtract; a multiple of 2^27, not after now */
	__u64 buffer_bytes;   /* total for all CPUs' rings; 0 = the smaller of 64 MiB and 1 % of RAM */
	__u32 packet_size;    /* bytes, a power of two, one page to 4 MiB; 0 = the module chooses; told back */
	__u32 watermark;      /* closed packets of one ring that wake poll(); 0 = 1; at most half a ring; told back */
	__u8 uuid[16];	      /* goes into each packet header */
	/* out */
	__u32 nr_cpus;	      /* possible CPUs; rings exist for all of them */
	__u32 packets_per_cpu;
	__u64 ring_bytes;     /* size of one CPU's mapping: packets_per_cpu * packet_size */
	__u32 schema_version; /* JIS_SCHEMA_VERSION of the module */
	__u32 reserved[5];
};

/* mmap() offset of a CPU's ring: length ring_bytes, PROT_READ, MAP_SHARED; never writable. */
#define JIS_MMAP_RING(cpu) ((__u64)(cpu) << 40)

#define JIS_TARGET_CHILDREN 0x1u /* processes forked by the target become targets too */

struct jis_target {
	__u32 size;
	__u32 flags; /* JIS_TARGET_* */
	__u32 pid;   /* thread group id, in the caller's pid namespace */
	__u32 reserved;
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
	__u64 memory_bytes;  /* held by this session */
	__u64 clock_steps;   /* times clamped because the clock stepped back */
	__u64 packets_ready; /* closed and not yet got */
	__u64 targets_refused; /* processes that should have become targets when the table was full */
	__u64 reserved[3];
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
	__u32 reserved0;
	/* Recorder writes, writers read (relaxed): bit i set = record events with id i. 0 = paused. */
	__u64 event_mask;
	/* Writers add (atomic, relaxed): records dropped because no slot was free. */
	__u64 no_slot[JIS_MAX_EVENT_ID];
} __attribute__((aligned(64)));

/*
 * A slot: everything but the counters is the writer's own bookkeeping and means nothing to the
 * recorder, save owner and packet. Written by the owning thread with plain stores unless said.
 */
struct jis_slot {
	__u32 owner;	  /* tid, 0 = free; compare-and-exchange (acquire), given back with release */
	__u32 busy;	  /* 1 while a record is being written: a nested writer drops and counts */
	__u64 last;	  /* rebased time of the last record */
	__u64 position;	  /* next free byte, from the pool's start; 0 = no packet */
	__u64 end;	  /* end of the open packet, from the pool's start */
	__u32 packet;	  /* index of the open packet */
	__u32 bound;	  /* tid the last thread_bind or packet header named */
	__u64 sequence;	  /* packet_seq of the next packet */
	__u64 lost_total; /* sum over lost[] */
	/* First and last time, and count by type, of what was lost since the last LOST record was
	 * written; the writer writes one lost_records per type when it opens its next packet. */
	__u64 lost_first;
	__u64 lost_last;
	__u64 lost_told[JIS_MAX_EVENT_ID]; /* lost[] as of the last lost_records */
	__u64 produced[JIS_MAX_EVENT_ID];
	__u64 lost[JIS_MAX_EVENT_ID];
} __attribute__((aligned(64)));

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
