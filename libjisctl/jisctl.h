/* SPDX-License-Identifier: MIT */
/*
 * libjisctl: record what the kernel does with the threads of chosen processes, and what marked
 * programs and JVMs under the agent say themselves, into a trace directory.
 *
 * Public header. Handles are opaque; every function returns 0 or a count, or -errno; nothing is
 * printed. Functions of one session must not be called from two threads at once, save those that
 * say so.
 */
#ifndef JISCTL_H
#define JISCTL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct jisctl_session;

enum jisctl_backend { JISCTL_BACKEND_AUTO = 0, JISCTL_BACKEND_KMOD = 1, JISCTL_BACKEND_FTRACE = 2 };
enum jisctl_clock { JISCTL_CLOCK_AUTO = 0, JISCTL_CLOCK_TSC = 1, JISCTL_CLOCK_RAW = 2 };

/* Message levels of the log callback. */
enum jisctl_level { JISCTL_INFO = 0, JISCTL_WARNING = 1, JISCTL_ERROR = 2 };

struct jisctl_options {
	size_t size;	       /* sizeof(struct jisctl_options); members beyond it are defaults */
	const char *directory; /* of the trace; must not exist or be empty */
	enum jisctl_backend backend;
	enum jisctl_clock clock;
	uint64_t buffer_bytes; /* kernel rings in all; 0 = smaller of 64 MiB and 1 % of RAM; else 64
				  KiB a CPU to half of RAM */
	uint64_t pool_bytes;   /* user pool of each process; 0 = 16 MiB; 256 KiB to 1 GiB */
	uint64_t max_bytes;    /* stop when the trace is this large; 0 = no limit */
	uint32_t flush_ms;     /* 0 = 500; 10 to 60000 */
	int all_switches;      /* record each switch of each CPU */
	const char *command;   /* for the manifest; may be NULL */
	void (*log)(void *ctx, enum jisctl_level level, const char *text);
	void *log_ctx;
};

/**
 * jisctl_session_create - prepares a session: backend, clock, rings, directory, agent socket.
 * Returns 0; -EPERM (not root); -ENODEV (neither backend works); -EEXIST (directory not empty);
 * -EINVAL (an option out of its range); -ERANGE (buffer too small or too large); -errno of the
 * directory. The log callback, when given, has said what exactly failed.
 */
int jisctl_session_create(const struct jisctl_options *options, struct jisctl_session **out);

/* Path of the socket agents and marked programs must find in JIS_SOCKET. */
const char *jisctl_session_socket(const struct jisctl_session *s);

/* "kmod" or "ftrace". */
const char *jisctl_session_backend(const struct jisctl_session *s);

#define JISCTL_TARGET_CHILDREN 1 /* its children become targets too */

/**
 * jisctl_session_add_target - records process @pid (a thread group id) from now on.
 * Returns 0; -ESRCH; -EEXIST (is one already).
 */
int jisctl_session_add_target(struct jisctl_session *s, pid_t pid, int flags);
int jisctl_session_remove_target(struct jisctl_session *s, pid_t pid);

int jisctl_session_start(struct jisctl_session *s);
int jisctl_session_pause(struct jisctl_session *s);
int jisctl_session_resume(struct jisctl_session *s);

/**
 * jisctl_session_run - moves records from the buffers to disk until @timeout_ms is over (-1: no
 * limit), jisctl_session_wake() is called, or the recording must end.
 * Returns 0 (timeout or woken), 1 (must end: size limit, or `jis stop`; see
 * jisctl_session_end_reason()), or -errno (-ENOSPC...: must end).
 */
int jisctl_session_run(struct jisctl_session *s, int timeout_ms);

/* Ends a run() under way; async-signal-safe, any thread. */
void jisctl_session_wake(struct jisctl_session *s);

/**
 * jisctl_session_stop - stops recording, writes what the buffers still hold and the manifest.
 * @reason: for the manifest, e.g. "command ended".
 * Returns 0 or the first error met; what could be written is on disk either way.
 */
int jisctl_session_stop(struct jisctl_session *s, const char *reason);

/**
 * jisctl_session_discard - instead of stop(), when nothing was recorded after all: removes what the
 * session has made in its directory, and the directory if the session made it and nothing else is
 * in it.
 * Returns 0, or -EINVAL when the session has been stopped.
 */
int jisctl_session_discard(struct jisctl_session *s);

struct jisctl_counts {
	size_t size;
	uint64_t produced, stored, lost; /* records; produced as last read */
	uint64_t bytes;			 /* of the trace */
	uint32_t targets;		 /* living */
	uint32_t processes;		 /* with a pool */
};
int jisctl_session_counts(const struct jisctl_session *s, struct jisctl_counts *out);

/**
 * jisctl_session_end_reason - why the session itself wants to end or has ended: "max-size", "disk
 * full", "write error", "stopped by jis"; NULL while it does not. It goes before the reason given
 * to stop().
 */
const char *jisctl_session_end_reason(const struct jisctl_session *s);

/* Ends the recording if it was not stopped, and frees all. NULL is allowed. */
void jisctl_session_destroy(struct jisctl_session *s);

/**
 * jisctl_control - asks the recorder that writes into @directory, in another process.
 * @command: "pause", "resume", "status" or "stop".
 * @reply: at most @n bytes of text for people, also after an error.
 * Returns 0; -ENOENT or -ECONNREFUSED (no recording is under way there); -EACCES; -EINVAL (no such
 * command); -EALREADY (it is paused, or is not); -ETIMEDOUT (no answer within 10 seconds).
 */
int jisctl_control(const char *directory, const char *command, char *reply, size_t n);

/* What works on this host, for `jis doctor`. */
struct jisctl_check {
	const char *name; /* short, stable: "root", "module", "tracefs", "clock", ... */
	int ok;		  /* 1 works, 0 does not, -1 works with limits */
	char detail[256];
	char remedy[256]; /* empty when ok */
};
/* Fills up to @n checks, returns how many there are. */
int jisctl_doctor(struct jisctl_check *checks, int n);

const char *jisctl_version(void);

/* Writing from a C program: see writer.h for the inline fast path. --------------------------- */

struct jis_writer;

/**
 * jisctl_writer_open - connects this process to the recorder named by JIS_SOCKET.
 * Returns 0; -ENOENT (not under `jis record`, or JIS_DISABLE=1): *out is then a writer that does
 * nothing and costs a load and a branch, so the result may be ignored; -EPROTO, -ECONNREFUSED...
 */
int jisctl_writer_open(struct jis_writer **out);
void jisctl_writer_close(struct jis_writer *w);

/* Marker @type with @value on the calling thread, now. */
void jisctl_event(struct jis_writer *w, uint32_t type, int64_t value);

/* Interns a span name; returns its id, 0 when it cannot be. */
uint32_t jisctl_name(struct jis_writer *w, const char *name);
void jisctl_begin(struct jis_writer *w, uint32_t name);
void jisctl_end(struct jis_writer *w, uint32_t name);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif /* JISCTL_H */
