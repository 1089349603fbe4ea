/* SPDX-License-Identifier: MIT */
/*
 * Sessions of several hosts, or several sessions of one, put together into one session directory,
 * which is read as any other. What is in the sessions is copied, and they are left as they are.
 */
#ifndef JIS_HOSTS_MERGE_H
#define JIS_HOSTS_MERGE_H

#include "align.h"
#include "trace/read.h"

struct merge_session {
	const char *path; /* as given */
	struct trace *trace;
	uint32_t first_cpu;
	uint64_t alone; /* ends of remote calls without another end in it */
};

struct hosts_merge {
	struct merge_session *sessions;
	struct aligned *aligned; /* of each session */
	uint32_t nr;
	struct align_check check;
	uint64_t thin; /* of calls between hosts one in so many was looked at */
	int64_t shift; /* ticks from the first session's to those of the merged one */
	uint64_t damages;
	uint64_t before; /* times that would lie before its first tick, and are that now */
};

/* What cannot be put together, beside errors of reading and writing. */
enum merge_refusal {
	MERGE_FINE = 0,
	MERGE_ALREADY, /* a session that is merged itself */
	MERGE_TWICE,   /* the same session twice */
	MERGE_MACHINE, /* machines of different kinds: system calls have other numbers */
	MERGE_CPUS,    /* too many in all */
	MERGE_CLOCK,   /* its times are none that a clock could have */
};

/**
 * hosts_merge_open - opens the sessions, of which the first is the reference of the clocks.
 * @paths: of at least 2, at most MANIFEST_HOSTS_MAX; kept, not copied.
 * @failed: out, the index of the session that an error, or a refusal, is of.
 * Returns 0, the errors of trace_open(), or -EINVAL with *why. Free with hosts_merge_close().
 */
int hosts_merge_open(struct hosts_merge *m, const char *const *paths, uint32_t nr, uint32_t *failed,
		     enum merge_refusal *why);

/**
 * hosts_merge_align - reads all sessions for their remote calls and finds their clocks.
 * @options: progress; may be NULL. Returns 0 or -errno (-ERANGE: its clock is too far from the
 * first one's); @failed as above.
 */
int hosts_merge_align(struct hosts_merge *m, const struct model_options *options, uint32_t *failed);

/**
 * hosts_merge_write - writes the merged session.
 * @dirfd: an empty directory. @version: of the tool.
 * Returns 0 or -errno; *failed: the session that could not be read, or m->nr: writing failed.
 * The directory is no session before all is written.
 */
int hosts_merge_write(struct hosts_merge *m, int dirfd, const char *version, uint32_t *failed);

void hosts_merge_close(struct hosts_merge *m);

/* hosts_merge_seconds - seconds since the merged session's begin, of ns of session @i's own. */
double hosts_merge_seconds(struct hosts_merge *m, uint32_t i, int64_t ns);

#endif /* JIS_HOSTS_MERGE_H */
