/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * Messages between the recorder and an agent (or a marked C program) in a traced process.
 *
 * Transport: a SOCK_SEQPACKET Unix socket the recorder listens on, one message a packet. Its path is
 * in the environment variable JIS_SOCKET of every process under `jis record`. Both sides check each
 * other by SO_PEERCRED: the recorder takes only targets of its session, the agent only a recorder
 * that runs as root or as its own user. End of file on the agent's side means the recorder is gone:
 * the agent then ends the recording by itself, as it does when it is told to STOP, and gives every
 * class its own bytes back. Its end of file tells that it has done so.
 */
#ifndef JIS_AGENT_H
#define JIS_AGENT_H

#include <linux/types.h>

#define JIS_AGENT_PROTOCOL 1
#define JIS_AGENT_MAGIC 0x4a495341u /* "ASIJ" */
#define JIS_AGENT_TEXT_MAX 256
#define JIS_SOCKET_ENV "JIS_SOCKET"
#define JIS_DISABLE_ENV "JIS_DISABLE" /* "1": agent and writers do nothing */

enum jis_agent_message_type {
	JIS_AGENT_HELLO = 1,   /* agent -> recorder, first message */
	JIS_AGENT_WELCOME = 2, /* recorder -> agent, with the pool's descriptor (SCM_RIGHTS) */
	JIS_AGENT_REFUSE = 3,  /* recorder -> agent: text says why; the connection ends */
	JIS_AGENT_NOTE = 4,    /* agent -> recorder: a warning for the manifest and the user */
	JIS_AGENT_STOP = 5,    /* recorder -> agent: end the recording, then close the connection */
	JIS_AGENT_READY = 6,   /* agent -> recorder: all that was asked for is in place */
	JIS_AGENT_FAILED = 7,  /* agent -> recorder, instead of HELLO: text says why there will be none */
	JIS_AGENT_METHODS = 8, /* recorder -> agent: which methods to trace, a piece of the list */
	JIS_AGENT_METHODS_DONE = 9, /* agent -> recorder: they are, text says how many; features not 0:
				       they are not, and why */
	JIS_AGENT_BEGIN = 10, /* recorder -> agent, after READY: what it does by itself is in place, too */
};

/*
 * METHODS: text is a piece of the list of rules (docs/methods.md) that is appended to the one before;
 * kind: enum jis_methods_asked; features: JIS_METHODS_*. The first list follows WELCOME, if that has
 * JIS_FEATURE_METHODS; later ones may come at any time after READY.
 */
#define JIS_METHODS_MORE 0x1u /* a further piece of this list follows */
#define JIS_METHODS_DRY 0x2u  /* tell which methods it would be, and rewrite none */
#define JIS_METHODS_TEXT_MAX 32768u

enum jis_agent_kind { JIS_KIND_JVM = 1, JIS_KIND_PROGRAM = 2 };

/* Families of agent events; the recorder asks, the agent asks the JVM only for their capabilities. */
#define JIS_FEATURE_THREADS 0x1u
#define JIS_FEATURE_THREAD_NAMES 0x2u /* hook on Thread.setName */
#define JIS_FEATURE_GC 0x4u
#define JIS_FEATURE_MARKERS 0x8u
#define JIS_FEATURE_VM_STATES 0x10u /* where threads keep their states: struct jis_thread_words */

#define JIS_FEATURE_MONITORS 0x20u    /* contended enters, Object.wait */
#define JIS_FEATURE_PARKS 0x40u	      /* LockSupport, with blockers and owners */
#define JIS_FEATURE_SLEEPS 0x80u      /* Thread.sleep, Thread.join */
#define JIS_FEATURE_VTHREADS 0x100u   /* virtual threads: start, end, mount, unmount */
#define JIS_FEATURE_TASKS 0x200u      /* tasks of executors */
#define JIS_FEATURE_STARTS 0x400u     /* Thread.start: parent and place */
#define JIS_FEATURE_ALL_MONITORS 0x800u /* every enter and exit */
#define JIS_FEATURE_CLASSES 0x1000u
#define JIS_FEATURE_HEAP 0x2000u /* heap before and after collections */
#define JIS_FEATURE_JIT 0x4000u
#define JIS_FEATURE_EXCEPTIONS 0x8000u
#define JIS_FEATURE_ALLOCATIONS 0x10000u
#define JIS_FEATURE_STACKS 0x20000u /* stacks of waits longer than stack_threshold */
#define JIS_FEATURE_SAFEPOINTS 0x40000u
#define JIS_FEATURE_METHODS 0x80000u /* calls of the methods that METHODS chooses */
#define JIS_FEATURE_RMI 0x100000u /* calls to and from other JVMs, both ends */
#define JIS_FEATURE_QUEUES 0x400000u /* objects put into and taken out of queues */
#define JIS_FEATURE_FORKS 0x1000000u /* tasks that tasks of a ForkJoinPool fork */
/* What is recorded unless something else is asked for; VM_STATES besides where the kernel reads them. */
#define JIS_FEATURES_DEFAULT                                                                       \
	(JIS_FEATURE_THREADS | JIS_FEATURE_THREAD_NAMES | JIS_FEATURE_GC | JIS_FEATURE_MARKERS |   \
	 JIS_FEATURE_MONITORS | JIS_FEATURE_PARKS | JIS_FEATURE_SLEEPS | JIS_FEATURE_VTHREADS |    \
	 JIS_FEATURE_STARTS | JIS_FEATURE_TASKS | JIS_FEATURE_SAFEPOINTS | JIS_FEATURE_HEAP |       \
	 JIS_FEATURE_RMI)

struct jis_agent_message {
	__u32 magic;
	__u16 protocol;
	__u16 type;	 /* enum jis_agent_message_type */
	__u32 kind;	 /* HELLO: enum jis_agent_kind */
	__u32 pid;	 /* HELLO: getpid() as the process sees it */
	__u32 vm_version; /* HELLO: 17, 21, 25; 0 for programs */
	__u32 features;	 /* WELCOME: JIS_FEATURE_* */
	__u64 pool_size; /* WELCOME: bytes to map */
	__u64 stack_threshold; /* WELCOME: ns; JIS_FEATURE_STACKS */
	__u64 allocation_interval; /* WELCOME: bytes a sample; JIS_FEATURE_ALLOCATIONS */
	char text[JIS_AGENT_TEXT_MAX]; /* HELLO: VM name or program; REFUSE, NOTE: text; NUL at the end */
};

#endif /* JIS_AGENT_H */
