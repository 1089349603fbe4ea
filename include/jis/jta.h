/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * The file of a call tree, X.jta: records of one size, each a call, written when it was over, so that
 * those which are made in a call stand before it and the root is last. All numbers are little-endian. A record's
 * number is its place in the file: number n begins at byte n * JTA_RECORD_BYTES; at 0 is the
 * header. So any record is one read away, however large the file. What calls and threads are called
 * stands in X.mth. docs/call-trees.md says what is in a tree; calltree/jta_read.h reads it.
 */
#ifndef JIS_JTA_H
#define JIS_JTA_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
#endif

#define JTA_MAGIC 0x3141544a53494aull /* "JISJTA1" */
#define JTA_VERSION 1
#define JTA_RECORD_BYTES 80

/* What a record is. */
enum jta_kind {
	JTA_ROOT = 1,	/* the virtual root: what no call of any thread is around */
	JTA_JVM = 2,	/* a JVM: calls that its threads did not make in a call */
	JTA_METHOD = 3, /* a call of a traced method */
	JTA_REMOTE = 4, /* a remote call, as its client has it: from the stub's begin to its end */
	/* The same as its server has it, from the request's first byte to the answer. In a JTA_REMOTE
	 * where the client is known, else in the root. */
	JTA_SERVED = 5,
};

enum jta_flag {
	JTA_PART = 1,	   /* begin, end or what is between were not recorded: it is longer than it says, or ended sooner */
	JTA_THROWN = 2,	   /* an exception ended it */
	JTA_FAILED = 4,	   /* JTA_REMOTE: without an answer */
	JTA_INTERNAL = 8,  /* of the registry, the activator, distributed garbage collection or JMX */
	JTA_STARTED = 16,  /* first call of a thread, in the call that started the thread */
	JTA_STARTER = 32,  /* threads were started in it: children may be later than it */
	JTA_DOUBTFUL = 64, /* records are missing: calls between it and the one around may be, too */
	JTA_UNMATCHED = 128, /* JTA_REMOTE, JTA_SERVED: the other end is not known */
};

/* jta_record.parent of what is in a JVM, or in the root, but in no call: + number of the JVM. */
#define JTA_IN_JVM (1ull << 63)
#define JTA_IN_ROOT (JTA_IN_JVM | 0xffffffffull)

/* jta_record.method: below this, of X.mth's traced methods; from here on, of its remote ones. */
#define JTA_REMOTE_METHOD 0x80000000u

/* Numbers of records: 0 is none. Children are in the order in which they ended. */
struct jta_record {
	uint64_t parent;
	uint64_t first_child, last_child;
	uint64_t previous, next; /* siblings */
	uint64_t children;
	uint64_t begin, end;	 /* ns since the recording's begin */
	uint32_t method;	 /* 0: not known */
	uint32_t thread;	 /* of X.mth; 0 none */
	uint32_t jvm;		 /* of X.mth, from 0 */
	uint16_t kind, flags;
};

struct jta_header {
	uint64_t magic;
	uint32_t version, record_bytes;
	uint64_t records;   /* numbers are 1 to this */
	uint64_t root;	    /* the last one */
	uint64_t first_jvm; /* number of JVM 0; the others follow it */
	uint32_t jvms, threads;
	uint64_t begin, end; /* the recording's, as in records */
	uint64_t reserved[2];
};

#endif /* JIS_JTA_H */
