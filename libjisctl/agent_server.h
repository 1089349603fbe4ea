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
	/* Is the process (host's thread group id) a target of the session? */
	bool (*is_target)(void *ctx, pid_t pid);
	void (*log)(void *ctx, int level, const char *text); /* enum jisctl_level */
	void *ctx;
};

/* Returns 0 or -errno. */
int agent_server_open(const struct agent_server_config *config, struct agent_server **out);

/* Path of the socket, for JIS_SOCKET. */
const char *agent_server_path(const struct agent_server *s);

/* Readable when agent_server_run() has something to do. */
int agent_server_fd(const struct agent_server *s);
int agent_server_run(struct agent_server *s);

/* Whether processes may write: follows start, pause, resume. */
void agent_server_enable(struct agent_server *s, bool on);

/* To be called time and again: who could not be accepted for want of descriptors is tried again.
 * Empties all pools: full packets, or with @flush also what open ones hold. Returns how many
 * packets were full, as a share of the pools' in 1/256 (of the fullest pool), or -errno. */
int agent_server_drain(struct agent_server *s, bool flush);

uint32_t agent_server_pools(const struct agent_server *s);
/* Adds what living pools have counted. */
void agent_server_counts(const struct agent_server *s, uint64_t *produced, uint64_t *stored,
			 uint64_t *lost);

/* Finishes all pools and takes no more connections. */
int agent_server_finish(struct agent_server *s);
void agent_server_close(struct agent_server *s);

#endif /* JISCTL_AGENT_SERVER_H */
