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
	/* Keep the newest records in the buffers instead of writing all: the directory gets what
	 * they hold at the end, a snapshot what they hold then. */
	int flight_recorder;
	const char *syscalls; /* system calls to record: names and presets, separated by commas,
				 "-NAME" takes one away again; NULL none */
	int no_vm_states;     /* do not look into JVMs for the states of their threads */
	uint32_t events;      /* JISCTL_EVENTS_*: families of events recorded besides */
	/* With set_group: members of @group may read what is made (directories 0750, files 0640,
	 * less the umask). */
	int set_group;
	gid_t group;
	const char *agent;    /* libjisagent.so for JVMs that are attached to; NULL: none are */
	int no_rewrite;	      /* attached agents change no class: JVMTI's own events only */
	const uint32_t *java; /* JIS_FEATURE_* of <jis/agent.h> for JVMs; NULL: the default ones */
	uint64_t stack_threshold_ns;  /* of JIS_FEATURE_STACKS: stacks of longer waits */
	uint64_t allocation_interval; /* of JIS_FEATURE_ALLOCATIONS: bytes a sample */
	const char *methods; /* which methods' calls JVMs record: rules as docs/methods.md has them,
				up to 32768 characters; NULL: none */
	int methods_dry_run; /* only tell which methods those are */
	uint32_t methods_budget; /* percent of a JVM's CPU time that recording their calls may cost,
				    before the ones called most are switched off; 0: no limit */
	int no_uprobes;		 /* set no probes in JVMs: safepoints are told by their logs */
	int no_patch;		 /* attached agents do not patch the JVM's code for their natives */
	int no_link;		 /* nor have its foreign linker call them */
	/* What commands that join the session (jisctl_join()) are to give the agents of their JVMs
	 * as options, up to 63 characters; NULL: they get no agent. */
	const char *agent_options;
};

/* What is recorded only when asked for; the first needs the kernel module. */
#define JISCTL_EVENTS_FAULT 0x1u  /* page faults that wait */
#define JISCTL_EVENTS_BLOCK 0x2u  /* requests to disks, of the whole machine */
#define JISCTL_EVENTS_IRQ 0x4u	  /* interrupts and softirqs while targets have the CPU */
#define JISCTL_EVENTS_SIGNAL 0x8u /* signals sent to targets, and handled */
#define JISCTL_EVENTS_POWER 0x10u /* frequencies and idle states of CPUs */

/**
 * jisctl_session_create - prepares a session: backend, clock, rings, directory, agent socket.
 * Returns 0; -EPERM (not root); -ENODEV (no backend works, or none has the events wanted); -EEXIST
 * (directory not empty); -EINVAL (an option out of its range); -ERANGE (buffer too small or too
 * large); -errno of the directory. The log callback, when given, has said what exactly failed.
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

enum jisctl_target_kind {
	JISCTL_TARGET_PROCESS = 0, /* pid: a thread group id; name: what tools are to call it, up to
				      63 bytes of UTF-8 without control characters, or NULL */
	JISCTL_TARGET_THREAD = 1,  /* pid: a thread id */
	JISCTL_TARGET_CGROUP = 2,  /* name: a directory of the unified hierarchy */
	JISCTL_TARGET_EXECUTABLE = 3, /* name: last component of the path of a program */
	JISCTL_TARGET_ALL = 4,
};

/* Flags of PROCESS and EXECUTABLE, with JISCTL_TARGET_CHILDREN. */
#define JISCTL_TARGET_UNTIL_EXEC 2 /* no longer when it executes another program */
#define JISCTL_TARGET_FIRST_EXEC 4 /* with UNTIL_EXEC: but not at a process's own next one */

struct jisctl_target {
	size_t size; /* sizeof(struct jisctl_target); members beyond it are zero */
	enum jisctl_target_kind kind;
	int flags;
	pid_t pid;
	const char *name;
};

/**
 * jisctl_session_add_target2 - records what @target says from now on. Members of a cgroup and of
 * those below it come and go; of an executable, processes that run it already are added too.
 * Returns 0; -ESRCH (no such process or thread), -ENOENT, -ENOTDIR, -EBADF (no such cgroup);
 * -EEXIST; -ENOSPC (8 cgroups, 8 executables, 2,048 processes or threads); -EINVAL; -EOPNOTSUPP
 * (the ftrace backend knows processes with JISCTL_TARGET_CHILDREN, threads and cgroups only).
 */
int jisctl_session_add_target2(struct jisctl_session *s, const struct jisctl_target *target);

#define JISCTL_ATTACH_NO_REWRITE 1 /* as no_rewrite of the session, for one JVM */

/**
 * jisctl_session_attach - brings the agent (jisctl_options.agent) into running JVM @pid, a target,
 * while jisctl_session_run() runs. What becomes of it is logged: INFO when the JVM has connected,
 * WARNING when it has not been possible.
 * @flags: JISCTL_ATTACH_*. Returns 0 (it is begun); -ESRCH (no target); -ENOEXEC (no HotSpot JVM);
 * -EALREADY (it is under way, or the agent is there); -ENOENT (no agent was given); -EINVAL.
 */
int jisctl_session_attach(struct jisctl_session *s, pid_t pid, int flags);

/* The same for all JVMs that are targets now. Returns how many have been begun, or -errno. */
int jisctl_session_attach_all(struct jisctl_session *s);

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

/**
 * jisctl_session_snapshot - writes what a flight recorder holds into a trace directory of its own,
 * while recording goes on.
 * @directory: is made, or empty. @last_ns: from how long before now; 0: all there is.
 * Returns 0; -EOPNOTSUPP (the session is no flight recorder); -EINVAL (it is not running or
 * paused); -EEXIST; -errno of the directory.
 */
int jisctl_session_snapshot(struct jisctl_session *s, const char *directory, uint64_t last_ns);

struct jisctl_counts {
	size_t size;
	uint64_t produced, stored, lost; /* records; produced as last read */
	uint64_t bytes;			 /* of the trace */
	uint32_t targets;		 /* living */
	uint32_t processes;		 /* with a pool */
	uint32_t joined;		 /* targets that are commands that have joined; living */
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

/**
 * jisctl_control_agent - asks the recorder of @directory, in another process, about JVM @pid.
 * @command: "attach" (which makes the JVM a target), "detach", or "agent": how far it is.
 * Returns 0 (begun; "agent": all is in place); -EINPROGRESS ("agent": not yet); -EALREADY
 * ("attach": it is there); -ENOENT (it has no agent); -ECONNABORTED ("agent": it is gone); -ENOEXEC
 * (no HotSpot JVM); or as jisctl_control(). @reply says it in words.
 */
int jisctl_control_agent(const char *directory, const char *command, pid_t pid, int flags,
			 char *reply, size_t n);

/**
 * jisctl_control_attach - the "attach" of jisctl_control_agent(), with what the JVM is to be
 * called.
 * @name: as in struct jisctl_target; NULL: as before. A JVM that is recorded already, or that has
 * the agent already (-EALREADY), gets the name too, in place of the one it may have.
 */
int jisctl_control_attach(const char *directory, pid_t pid, int flags, const char *name,
			  char *reply, size_t n);

/* What a command needs that joins a session. */
struct jisctl_join {
	size_t size;		/* sizeof(struct jisctl_join) */
	char socket[128];	/* for JIS_SOCKET */
	int agent;		/* its JVMs are to get the agent, ... */
	char agent_options[64]; /* ... with these options, "" for none */
};

/**
 * jisctl_join - asks the recorder of @directory, in another process, what the environment of a
 * command must have that is to be recorded there too. Fork one that waits, jisctl_join_target() it,
 * and let it go on.
 * Returns 0; -EPROTONOSUPPORT (that recorder is another version of JIS, named in @reply where it
 * says so); -EINVAL (@join's size); or as jisctl_control().
 */
int jisctl_join(const char *directory, struct jisctl_join *join, char *reply, size_t n);

/**
 * jisctl_join_target - has the recorder of @directory, in another process, record @target, a
 * process. A session that was started with a command goes on until it has ended, too.
 * Returns 0 (it is recorded from now on) or as jisctl_session_add_target2() or jisctl_control();
 * @reply says it in words.
 */
int jisctl_join_target(const char *directory, const struct jisctl_target *target, char *reply,
		       size_t n);

/**
 * jisctl_control_methods - asks the recorder of @directory, in another process, to trace other
 * methods of JVM @pid, by rules (docs/methods.md, less than 4096 bytes) that come behind those
 * there are. jisctl_control_agent() with "methods-done" tells when it is done, and what came of it.
 * Returns 0 (begun); -ENOENT (no agent in it); -EOPNOTSUPP (no methods are traced in this
 * recording); -EBUSY; -ENAMETOOLONG; or as jisctl_control().
 */
int jisctl_control_methods(const char *directory, pid_t pid, const char *rules, char *reply,
			   size_t n);

/**
 * jisctl_snapshot - asks the flight recorder of @directory, in another process, for a snapshot.
 * @output: absolute path. Otherwise as jisctl_session_snapshot() and jisctl_control().
 */
int jisctl_snapshot(const char *directory, const char *output, uint64_t last_ns, char *reply,
		    size_t n);

/* What works on this host, for `jis doctor`. */
struct jisctl_check {
	const char *name; /* short, stable: "root", "module", "tracefs", "clock", ... */
	int ok;		  /* 1 works, 0 does not, -1 works with limits */
	char detail[256];
	char remedy[256]; /* empty when ok */
};
/* Fills up to @n checks, returns how many there are. */
int jisctl_doctor(struct jisctl_check *checks, int n);

/* What a backend records of something here. */
struct jisctl_recorded {
	int records;	  /* 1 yes, 0 no, -1 in part */
	char reason[400]; /* why not, or what not; may be empty */
};
/* A row of the table in docs/recording.md. */
struct jisctl_coverage {
	const char *what; /* static */
	struct jisctl_recorded kmod, ftrace;
};
/* Fills up to @n rows, returns how many there are. */
int jisctl_coverage(struct jisctl_coverage *rows, int n);

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

/**
 * jisctl_thread_words - says where thread @tid of this process (gettid(); 0: the calling one) keeps
 * two 32-bit words that are recorded whenever it leaves a CPU, as prev_vm_state and prev_os_state.
 * Both NULL: no longer. The calling thread's are taken back at its end; another's must be before
 * the memory goes.
 * Returns 0; -ENOENT (not recorded, or with a backend that cannot); -EINVAL; -ENOSPC.
 */
int jisctl_thread_words(struct jis_writer *w, pid_t tid, const uint32_t *vm_state,
			const uint32_t *os_state);

/* Interns a span name; returns its id, 0 when it cannot be. */
uint32_t jisctl_name(struct jis_writer *w, const char *name);
void jisctl_begin(struct jis_writer *w, uint32_t name);
void jisctl_end(struct jis_writer *w, uint32_t name);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif /* JISCTL_H */
