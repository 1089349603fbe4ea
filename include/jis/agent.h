/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * Messages between the recorder and an agent (or a marked C program) in a traced process.
 *
 * Transport: a SOCK_SEQPACKET Unix socket the recorder listens on, one message a packet. Its path is
 * in the environment variable JIS_SOCKET of every process under `jis record`. Both sides check each
 * other by SO_PEERCRED: the recorder takes only targets of its session, the agent only a recorder
 * that runs as root or as its own user. End of file on the agent's side means the recorder is gone:
 * it then lays anonymous memory over the pool and goes dormant.
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
};

enum jis_agent_kind { JIS_KIND_JVM = 1, JIS_KIND_PROGRAM = 2 };

/* Families of agent events; the recorder asks, the agent asks the JVM only for their capabilities. */
#define JIS_FEATURE_THREADS 0x1u
#define JIS_FEATURE_THREAD_NAMES 0x2u /* hook on Thread.setName */
#define JIS_FEATURE_GC 0x4u
#define JIS_FEATURE_MARKERS 0x8u
#define JIS_FEATURES_DEFAULT 0xfu

struct jis_agent_message {
	__u32 magic;
	__u16 protocol;
	__u16 type;	 /* enum jis_agent_message_type */
	__u32 kind;	 /* HELLO: enum jis_agent_kind */
	__u32 pid;	 /* HELLO: getpid() as the process sees it */
	__u32 vm_version; /* HELLO: 17, 21, 25; 0 for programs */
	__u32 features;	 /* WELCOME: JIS_FEATURE_* */
	__u64 pool_size; /* WELCOME: bytes to map */
	__u64 reserved[2];
	char text[JIS_AGENT_TEXT_MAX]; /* HELLO: VM name or program; REFUSE, NOTE: text; NUL at the end */
};

#endif /* JIS_AGENT_H */
