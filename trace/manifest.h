/* SPDX-License-Identifier: MIT */
/*
 * The session's manifest: what was recorded, when, where, by whom, with which clock, which streams,
 * what was produced, stored and lost, and the table of processes, threads and CPUs that lets a sink
 * write its header first. JSON (json-c), written by rename; provisional at the start of a recording
 * ("complete": false), complete at stop; `jis recover` rebuilds it from the streams.
 */
#ifndef JIS_TRACE_MANIFEST_H
#define JIS_TRACE_MANIFEST_H

#include <stdbool.h>
#include <stdint.h>

#include "jis/events.h"

#define MANIFEST_FILE "manifest.json"
/* Beside it while the recorder runs: room on the disk for the end, and its control socket. */
#define RESERVE_FILE ".reserve"
#define CONTROL_SOCKET ".control"
#define MANIFEST_FORMAT 1

#define TIME_NONE UINT64_MAX

/* One life of a kernel thread. Times are rebased ticks. */
struct thread_entry {
	uint32_t tid, pid;   /* host's */
	uint32_t ns_tid;     /* in the innermost pid namespace; 0 unknown */
	uint32_t parent_tid; /* 0 unknown */
	uint64_t start_time; /* ns, identity; 0 unknown */
	uint64_t birth;	     /* fork event, or TIME_NONE: alive before the recording */
	uint64_t first_seen; /* first evidence: fork event or state dump */
	uint64_t death; /* last switch-out as dead, else exit or free event; TIME_NONE: alive at the
			   end */
	uint64_t java_tid;   /* 0: no Java thread */
	uint32_t java_flags; /* JIS_JTHREAD_* */
	char *name;	     /* the full Java name where there is one, else comm (last seen) */
	char *comm;	     /* last comm */
	char *group;	     /* Java thread group or NULL */
};

/* A target process. */
struct process_entry {
	uint32_t pid;
	uint32_t ns_pid;
	uint64_t start_time;
	char *name;	 /* comm of its main thread, or the executable's base name after exec */
	char *directory; /* of its user streams, relative to the session; NULL: kernel side only */
	char *vm;	 /* VM name and version or NULL */
	uint32_t vm_version;
	uint8_t uuid[16]; /* of its user trace */
	char *given_name; /* what its user calls it, or NULL */
};

/*
 * Of sessions that were put together (jis merge): one host's part. Threads and processes of host K,
 * from 0 on, have K * MANIFEST_HOST_STRIDE added to their numbers, its CPUs follow those of the
 * hosts before it. A trace of one session has none of these.
 */
#define MANIFEST_HOST_STRIDE 10000000u
#define MANIFEST_HOSTS_MAX 256u

/* By what a host's clock was made the first one's. */
enum host_clock {
	HOST_CLOCK_REFERENCE = 0, /* it is that clock */
	HOST_CLOCK_SAME = 1,	  /* the same machine, since the same boot: exact */
	HOST_CLOCK_CALLS = 2,	  /* calls between it and host @parent */
	HOST_CLOCK_REALTIME = 3,  /* what time of day they had: an error is not known */
	HOST_NR_CLOCKS
};

struct host_entry {
	char *name;	      /* host name */
	char *session;	      /* what the directory of its session was called */
	uint8_t uuid[16];     /* of that session */
	char *kernel_release; /* or NULL */
	char *backend;	      /* or NULL */
	uint32_t first_cpu, nr_cpus;
	uint64_t begin, end; /* ticks of this trace: when it was recorded */
	uint32_t clock;	     /* enum host_clock */
	uint32_t parent;     /* host; of the first one itself */
	uint64_t calls;	     /* HOST_CLOCK_CALLS: matched calls that say how the clocks differ */
	/* Its time of day less the first host's at @begin, ns; what its clock gains on the first's,
	 * parts in 10^9. */
	int64_t offset, drift;
	uint64_t steps; /* times it, or its parent's, was set meanwhile */
};

/* How exactly a host's clock is known in relation to that of another with which it has calls, its
 * parent or a host before it: from this moment to the next of the same two on a straight line
 * between what both say. */
struct host_error_entry {
	uint32_t host;
	uint64_t ticks;
	uint64_t error; /* ns, plus or minus */
	uint32_t other;
};

#define PROCESS_NAME_MAX 63u /* bytes of a given name */

/* A thread outside the targets that touched one. */
struct foreign_entry {
	uint32_t tid, pid;
	uint64_t time; /* of the task_name event */
	char *comm;
};

struct stream_entry {
	char *path; /* relative to the session */
	uint32_t stream_class;
	uint64_t instance;
	uint64_t packets;
	uint64_t next_seq;		     /* packet_seq of the last packet, plus 1 */
	uint64_t produced[JIS_MAX_EVENT_ID]; /* [0]: of a type that is not known */
	uint64_t stored[JIS_MAX_EVENT_ID];
	uint64_t lost[JIS_MAX_EVENT_ID];
	bool clean; /* the counters were read at a clean stop */
	/* What reading has found, see trace/read.h; not in the file. */
	int unread; /* -errno why nothing of it can be read; -EBADMSG: no packet of it is sound */
	uint32_t damages;   /* places */
	const char *damage; /* the first one's reason; static */
};

struct damage_entry {
	char *path;	     /* stream */
	uint64_t begin, end; /* ticks; end TIME_NONE = to the stream's end */
	char *reason;
};

/* All clocks at one instant. */
struct clock_sample {
	uint64_t ticks;					       /* session clock, rebased */
	uint64_t monotonic_raw, monotonic, boottime, realtime; /* ns */
	uint32_t uncertainty;				       /* ticks */
};

struct manifest {
	bool complete; /* stopped cleanly or recovered */
	bool recovered;
	uint32_t schema_version;
	char *jis_version;
	uint8_t uuid[16]; /* session; also the clock's */
	uint8_t kernel_uuid[16];
	uint8_t boot_id[16]; /* of the host, as its kernel has it; zeros: not known */
	/* Of a snapshot: the uuid of the recording it is of (else zeros), when that began, and from
	 * when to when the snapshot was asked for; rebased ticks, of the same clock. */
	uint8_t origin_uuid[16];
	uint64_t origin_begin, origin_from, origin_to;
	char *hostname, *kernel_release, *machine;
	char *command;	   /* as given, or NULL with -p */
	char *backend;	   /* "kmod" or "ftrace" */
	char **missing;	   /* what this backend or host cannot give, NULL-terminated, may be NULL */
	char **notes;	   /* warnings of the run, NULL-terminated, may be NULL */
	char **filters;	   /* what was recorded: "process 12, children", "cgroup /a/b"; as notes */
	char *stop_reason; /* "command ended", "interrupted", "duration", "max-size", "disk full",
			      ... */
	uint32_t clock;	   /* JIS_CLOCK_* */
	uint64_t frequency;	 /* ticks per second, measured */
	uint64_t base;		 /* raw ticks of rebased 0 */
	uint64_t begin, end;	 /* rebased ticks of start and stop */
	int64_t realtime_offset; /* ns: CLOCK_REALTIME at rebased tick 0 */
	uint64_t clock_steps;
	uint32_t nr_cpus; /* possible CPUs */
	uint32_t flush_ms;
	bool all_switches;
	uint64_t refused; /* times a process asked for a pool and got none */
	char *syscalls;	  /* those recorded, as they were asked for; NULL none */
	char **events;	  /* families of events recorded besides ("fault"...), or NULL */
	struct clock_sample *clocks;
	uint32_t nr_clocks;
	struct process_entry *processes;
	uint32_t nr_processes;
	struct thread_entry *threads; /* of targets, ordered by pid, then birth */
	uint32_t nr_threads;
	struct foreign_entry *foreigners;
	uint32_t nr_foreigners;
	struct stream_entry *streams;
	uint32_t nr_streams;
	struct damage_entry *damages;
	uint32_t nr_damages;
	struct host_entry *hosts; /* none, or two and more */
	uint32_t nr_hosts;
	struct host_error_entry *host_errors; /* by host, other, time */
	uint32_t nr_host_errors;
};

/**
 * manifest_load - reads the manifest of session directory @dirfd.
 * Returns 0; -ENOENT; -EBADMSG (no JSON, or fields missing or out of range); -EPROTONOSUPPORT
 * (another format or schema version); -ENOMEM. *out is the caller's: manifest_free().
 * In the file, what is 64 bits wide is a JSON integer; uuids are hex strings.
 */
int manifest_load(int dirfd, struct manifest **out);

/* manifest_save - writes it by rename. Returns 0 or -errno. */
int manifest_save(int dirfd, const struct manifest *m);

/* stream_entry_next_seq - next_seq, or what traces that lack it tell: numbers begin with 0. */
static inline uint64_t stream_entry_next_seq(const struct stream_entry *s)
{
	return s->next_seq > s->packets ? s->next_seq : s->packets;
}

/* process_entry_name - what tools call a process: as its user does, else its name; NULL: none. */
const char *process_entry_name(const struct process_entry *p);

/* process_entry_wanted - is it one that --process @text chooses: by its pid, or a part of what its
 * user calls it, or of its name? NULL chooses all. */
bool process_entry_wanted(const struct process_entry *p, const char *text);

/* process_name_wrong - why @name cannot be given to a process, in words; NULL: it can. */
const char *process_name_wrong(const char *name);

/* manifest_host_of_tid, _of_cpu - of which host thread or process @tid is, or @cpu; 0 where there
 * is one, or where it is none's. */
uint32_t manifest_host_of_tid(const struct manifest *m, uint32_t tid);
uint32_t manifest_host_of_cpu(const struct manifest *m, uint32_t cpu);

/* manifest_host_error - how many ns times of hosts @a and @b at @ticks may be wrong in relation to
 * each other, plus or minus; UINT64_MAX: not known. */
uint64_t manifest_host_error(const struct manifest *m, uint32_t a, uint32_t b, uint64_t ticks);

/* host_clock_name - "reference", "same clock", "calls", "time of day". */
const char *host_clock_name(uint32_t clock);

/* manifest_is_snapshot - is it of a snapshot? */
bool manifest_is_snapshot(const struct manifest *m);

/* manifest_clear_threads - empties the lists of threads and foreigners. */
void manifest_clear_threads(struct manifest *m);

/* manifest_realtime - CLOCK_REALTIME in ns at rebased tick @ticks; the nearest there is when the
 * manifest's numbers are beyond int64_t. */
int64_t manifest_realtime(const struct manifest *m, uint64_t ticks);

struct manifest *manifest_new(void); /* NULL: no memory */
void manifest_free(struct manifest *m);

#endif /* JIS_TRACE_MANIFEST_H */
