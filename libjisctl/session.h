/* SPDX-License-Identifier: MIT */
/*
 * What session.c (life of a session) and session_run.c (moving records) share. Private to
 * libjisctl.
 */
#ifndef JISCTL_SESSION_H
#define JISCTL_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "agent_server.h"
#include "backend.h"
#include "clock.h"
#include "control.h"
#include "jisctl.h"
#include "recorder.h"

#define SESSION_FLUSH_MS 500u

struct session_target {
	pid_t pid;
	int pidfd; /* -1: cannot be had */
	bool gone;
};

struct jisctl_session {
	struct jisctl_options options; /* pointers in it are not kept */
	const struct backend_ops *ops;
	struct backend *backend;
	struct recorder *recorder;
	struct agent_server *agents;
	struct control_server control;
	bool has_control;
	uint32_t clock, nr_cpus;
	uint64_t base;
	struct clock_reading first_clock;
	uint64_t begin; /* rebased: START mark */
	enum jis_session_state state;
	struct session_target *targets;
	uint32_t nr_targets;
	const char *end_reason; /* static text; the session wants to end */
	int epoll, wake_fd, flush_fd, drain_fd;
	uint32_t drain_ms;
	uint64_t last_clock_ns; /* monotonic, of the last clock_sync */
};

/* session_run.c */
int session_loop_open(struct jisctl_session *s);
void session_loop_close(struct jisctl_session *s);
/* Stores packets that are closed: @all of them (once the backend has stopped), or so many a CPU. */
int session_drain_kernel(struct jisctl_session *s, bool all);
/* Closes and stores what is part-filled too. */
int session_flush(struct jisctl_session *s);
void session_clock(struct jisctl_session *s);
/* Remembers why the recording must end; the first reason counts. */
int session_fail(struct jisctl_session *s, int err);

/* session.c */
void session_log(struct jisctl_session *s, enum jisctl_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
uint64_t session_now(const struct jisctl_session *s);
void session_mark(struct jisctl_session *s, enum jis_session_mark mark);
/* The commands of the control socket. */
int session_command(void *ctx, const char *command, char *text);

#endif /* JISCTL_SESSION_H */
