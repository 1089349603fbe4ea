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
#include "attach.h"
#include "backend.h"
#include "clock.h"
#include "control.h"
#include "jisctl.h"
#include "recorder.h"

#define SESSION_FLUSH_MS 500u

struct session_target {
	pid_t pid;
	uint32_t flags; /* JIS_TARGET_* */
	int pidfd;	/* -1: cannot be had */
	bool thread;
	bool joined;	     /* a command that another process has started */
	uint64_t start_time; /* of a thread: it cannot be polled */
	bool gone;
};

struct jisctl_session {
	struct jisctl_options options; /* pointers in it are not kept */
	struct jis_syscalls syscalls;  /* options.syscalls, when there are some */
	const struct backend_ops *ops;
	struct backend *backend;
	struct recorder *recorder;
	struct agent_server *agents;
	struct attach *attach; /* NULL once the recording ends */
	char *agent_library;
	struct control_server control;
	bool has_control;
	uint32_t clock, nr_cpus;
	uint64_t base;
	struct clock_reading first_clock;
	uint64_t begin; /* rebased: START mark */
	enum jis_session_state state;
	struct session_target *targets;
	uint32_t nr_targets;
	uint32_t nr_rules;	/* cgroups and other targets that do not end */
	const char *end_reason; /* static text; the session wants to end */
	int epoll, wake_fd, flush_fd, drain_fd;
	uint32_t drain_ms;
	uint64_t last_clock_ns; /* monotonic, of the last clock_sync */
	/* A flight recorder's: the last description of all threads, how far buffers had cycled
	 * then; marks for snapshots; when it was paused. */
	uint64_t last_dump_ns, last_dump_cycled;
	struct recorder_mark *marks;
	uint32_t nr_marks, room_marks;
	uint64_t paused_at;
};

/* session_filter.c */
/* Does target @t live? */
bool session_target_alive(const struct jisctl_session *s, struct session_target *t);
int session_target_remember(struct jisctl_session *s, pid_t pid, uint32_t flags, bool thread);

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
int session_command(void *ctx, const struct control_request *request, char *text);

/* session_attach.c */
int session_attach_open(struct jisctl_session *s);
void session_attach_close(struct jisctl_session *s);
void session_agent_failed(void *ctx, pid_t pid, const char *why);
/* Commands of the control socket; -ENOSYS: it is none of these. */
int session_attach_command(struct jisctl_session *s, const struct control_request *request,
			   char *text);
/* session_join.c: likewise. */
int session_join_command(struct jisctl_session *s, const struct control_request *request,
			 char *text);
/* session_methods.c: likewise. */
int session_methods_command(struct jisctl_session *s, const struct control_request *request,
			    char *text);
/* session_attach.c: has all JVMs end their recordings, and stores what they still write. Returns 0
 * or -errno. */
int session_agents_leave(struct jisctl_session *s);

/* session_flight.c: stops a flight recorder and writes what it has kept. */
int session_flight_stop(struct jisctl_session *s);
/* Has threads, names and descriptors told again when that was long ago, or buffers have overwritten
 * much since; @now: in any case. */
void session_flight_describe(struct jisctl_session *s, bool now);
/* Where dictionaries have grown long, leaves out of them what nothing needs any more. Returns 0 or
 * -errno. */
int session_flight_trim(struct jisctl_session *s);
/* Remembers a mark for snapshots. */
void session_flight_mark(struct jisctl_session *s, uint32_t mark, uint64_t time);

#endif /* JISCTL_SESSION_H */
