/* SPDX-License-Identifier: MIT */
/*
 * Bringing the agent into JVMs that run already. Each attach is a job on a thread of its own, since
 * a JVM may take its time: the library and a socket of the recorder's are put where the JVM can see
 * them, it is asked to load the one with the path of the other, and both are removed again. What
 * became of it is kept by process. Private to libjisctl.
 */
#ifndef JISCTL_ATTACH_H
#define JISCTL_ATTACH_H

#include <stdbool.h>
#include <sys/types.h>

#include "agent_server.h"
#include "jvm.h"

struct attach;

struct attach_config {
	struct agent_server *server; /* outlives it */
	const char *library;	     /* the agent, as we see it; not copied */
	void (*log)(void *ctx, int level, const char *text);
	void *ctx;
};

#define ATTACH_NO_REWRITE 0x1 /* with JVMTI's events only: no class is changed */
#define ATTACH_NO_VM_STATES 0x2
#define ATTACH_NO_PATCH 0x4
#define ATTACH_NO_LINK 0x8

/* Returns 0 or -errno. */
int attach_open(const struct attach_config *config, struct attach **out);

/* Readable when attach_run() has something to do. It returns as agent_server_run() does. */
int attach_fd(const struct attach *a);
int attach_run(struct attach *a);

/**
 * attach_start - begins to attach to process @pid, which must be a target already.
 * @timeout_ms: for the JVM's part of it. Returns 0; -EALREADY (it is under way, or the process has
 * an agent); -ENOENT (there is no library); -ENOMEM, -EAGAIN (no thread).
 */
int attach_start(struct attach *a, pid_t pid, unsigned int flags, int timeout_ms);

/**
 * attach_state - what became of it.
 * Returns 0 (the agent has all in place); -EINPROGRESS; -ENOENT (nothing of the kind is known);
 * -ECONNABORTED (there was an agent, and it is gone); or why it failed, with a sentence in @why,
 * JVM_WHY_MAX bytes.
 */
int attach_state(const struct attach *a, pid_t pid, char *why);

/* The agent in @pid says itself that it will not record, and why. */
void attach_failed(struct attach *a, pid_t pid, const char *why);

/* Ends jobs under way. NULL is allowed. */
void attach_close(struct attach *a);

#endif /* JISCTL_ATTACH_H */
