/* SPDX-License-Identifier: MIT */
/*
 * Safepoints of one JVM, by uprobes in its libjvm.so: on HotSpot's own probes (SystemTap's notes)
 * and a function. Writes two streams into the process's directory, beside those of its pool: the
 * safepoints, and the names of their VM operations. Private to libjisctl.
 */
#ifndef JISCTL_SAFEPOINTS_H
#define JISCTL_SAFEPOINTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct recorder_process;
struct safepoints;

/* The library whose code took a probe last: one try a library is enough. */
struct safepoints_tried {
	dev_t device;
	ino_t inode; /* 0: none yet */
};

struct safepoints_config {
	pid_t pid;
	uint32_t own_pid; /* as it sees itself */
	uint32_t clock;	  /* JIS_CLOCK_* */
	uint64_t base;
	struct recorder_process *process; /* with recorder_process_own_slots() */
	uint32_t slot;			  /* the first of its own slots */
	struct safepoints_tried *tried;	  /* kept from one JVM to the next */
};

/**
 * safepoints_open - finds the probes of the JVM and tries one, which takes some tens of
 * milliseconds, if those of its library have not been tried before.
 * safepoints_drain() sets them, once the JVM's VM thread runs.
 * Returns 0, or -errno with the reason in @why: then the JVM's safepoints are to be had otherwise.
 */
int safepoints_open(const struct safepoints_config *config, struct safepoints **out, char *why,
		    size_t n);

/* Whether they are recorded: follows pause and resume. */
void safepoints_enable(struct safepoints *s, bool on);

/* Does what takes longer than the JVM shall wait for: looks for a function without probe. */
void safepoints_prepare(struct safepoints *s);

/**
 * safepoints_drain - to be called time and again: takes what came, with @flush to the file.
 * Returns 0 or the first error met while writing.
 */
int safepoints_drain(struct safepoints *s, bool flush);

/* Were the probes never set, as there was no VM thread? */
bool safepoints_waiting(const struct safepoints *s);

/* Adds what it has counted. */
void safepoints_counts(const struct safepoints *s, uint64_t *produced, uint64_t *stored,
		       uint64_t *lost);

/**
 * safepoints_finish - removes the probes, writes all there is and settles the counters of both
 * streams; before recorder_process_end(). Returns as safepoints_drain().
 */
int safepoints_finish(struct safepoints *s);

/* Frees all; NULL is allowed. */
void safepoints_close(struct safepoints *s);

#endif /* JISCTL_SAFEPOINTS_H */
