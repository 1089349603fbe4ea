/* SPDX-License-Identifier: MIT */
/*
 * The socket where agents and marked programs ask for a pool, and their pools. One connection a
 * process, one pool a connection; the process is gone when the connection is. Private to libjisctl.
 */
#ifndef JISCTL_AGENT_SERVER_H
#define JISCTL_AGENT_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "recorder.h"

struct agent_server;

struct agent_server_config {
	struct recorder *recorder;
	uint32_t clock;
	uint64_t base;
	uint64_t pool_bytes;
	/* Memory of pools, see struct pool_config; NULL: they are made here. */
	int (*pool_memory)(void *ctx, uint32_t pid, uint64_t bytes, uint64_t words_offset,
			   uint32_t nr_words);
	uint32_t features;	      /* JIS_FEATURE_* agents are asked for */
	uint64_t stack_threshold_ns;  /* of JIS_FEATURE_STACKS */
	uint64_t allocation_interval; /* of JIS_FEATURE_ALLOCATIONS, in bytes */
	const char *methods; /* rules of the methods to trace; NULL: none; stays the caller's */
	bool methods_dry_run;
	uint32_t methods_budget; /* percent of the process's CPU time they may cost; 0: no limit */
	bool no_vm_states; /* agents do not say where the JVM keeps the states of its threads */
	bool no_uprobes;   /* agents tell safepoints, from the JVM's log */
	/* Is the process (host's thread group id) a target of the session? */
	bool (*is_target)(void *ctx, pid_t pid);
	void (*log)(void *ctx, int level, const char *text); /* enum jisctl_level */
	/* An agent says that it will not record its JVM, and why. May be NULL. */
	void (*failed)(void *ctx, pid_t pid, const char *why);
	void *ctx;
};

/* Returns 0 or -errno. */
int agent_server_open(const struct agent_server_config *config, struct agent_server **out);

/* Path of the socket, for JIS_SOCKET. */
const char *agent_server_path(const struct agent_server *s);

/* Leaves a link to trace directory @target where `jis attach` finds it. */
void agent_server_link(struct agent_server *s, const char *target);

/* Readable when agent_server_run() has something to do. */
int agent_server_fd(const struct agent_server *s);
int agent_server_run(struct agent_server *s);

struct agent_listener;

/**
 * agent_server_listen - takes connections at listening socket @fd too, which stays the caller's.
 * Any thread. Returns 0 or -errno; agent_server_unlisten() ends it (NULL is allowed).
 */
int agent_server_listen(struct agent_server *s, int fd, struct agent_listener **out);
void agent_server_unlisten(struct agent_server *s, struct agent_listener *l);

/**
 * agent_server_methods - has the agent in @pid trace other methods, by rules behind those it has.
 * @asked: enum jis_methods_asked. Returns 0 (it is told); -ENOENT (no agent is ready there);
 * -EBUSY (a change is under way); -EAGAIN (it does not read); -EPIPE (it did not read the end of an
 * earlier one) or what else sendmsg() says.
 */
int agent_server_methods(struct agent_server *s, pid_t pid, const char *rules, uint32_t asked);
/* What came of the last change, with the agent's words in @text: 0; -EINVAL: nothing; -EINPROGRESS;
 * -ENOENT. */
int agent_server_methods_done(const struct agent_server *s, pid_t pid, char *text, size_t n);

enum agent_presence {
	AGENT_NONE,
	AGENT_CONNECTED, /* it has a pool; what was asked for is not all in place yet */
	AGENT_READY,
	AGENT_GONE, /* it has had a pool */
};
/* How far is the agent, or marked program, of process @pid? */
enum agent_presence agent_server_agent(const struct agent_server *s, pid_t pid);

/**
 * agent_server_stop - tells the agent in JVM @pid, or with 0 those in all, to end its recording; it
 * closes its connection when it has done so. Returns how many have been told.
 */
int agent_server_stop(struct agent_server *s, pid_t pid);
/* How many JVMs have an agent that is connected. */
uint32_t agent_server_jvms(const struct agent_server *s);

/* Whether processes may write: follows start, pause, resume. */
void agent_server_enable(struct agent_server *s, bool on);

/* To be called time and again: who could not be accepted for want of descriptors is tried again.
 * Empties all pools: full packets, or with @flush also what open ones hold. Returns how many
 * packets were full, as a share of the pools' in 1/256 (of the fullest pool; of 1024 packets where
 * a pool has more), or -errno. */
int agent_server_drain(struct agent_server *s, bool flush);
/* Lets the rate guards look at what the calls of traced methods cost, as far as pools have been
 * emptied, and switch off those that cost too much. */
void agent_server_guard(struct agent_server *s);

uint32_t agent_server_pools(const struct agent_server *s);
/* Adds what living pools have counted. */
void agent_server_counts(const struct agent_server *s, uint64_t *produced, uint64_t *stored,
			 uint64_t *lost);

/* Finishes all pools and takes no more connections. */
int agent_server_finish(struct agent_server *s);
void agent_server_close(struct agent_server *s);

#endif /* JISCTL_AGENT_SERVER_H */
