/* SPDX-License-Identifier: MIT */
/*
 * The recorder's hands: the session's directory, its streams, what it counted, its manifest. Knows
 * nothing of where packets come from. After the first error it writes no more packets, so that each
 * file ends at a whole one; the manifest is written all the same. Private to libjisctl.
 */
#ifndef JISCTL_RECORDER_H
#define JISCTL_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend.h"
#include "clock.h"
#include "jis/agent.h"
#include "pool.h"

struct recorder;
struct recorder_process;

struct recorder_params {
	const char *directory;
	const char *command; /* may be NULL */
	const char *backend;
	const char *const *missing;
	uint32_t clock;
	uint64_t base;
	uint32_t nr_cpus;
	uint32_t flush_ms;
	bool all_switches;
	uint8_t uuid[16];	 /* session and clock */
	uint8_t kernel_uuid[16]; /* of the kernel's trace */
};

/**
 * recorder_create - makes the directory with a provisional manifest.
 * Returns 0; -EEXIST (it is there and not empty); -EBUSY (somebody records into it); -errno.
 */
int recorder_create(const struct recorder_params *params, struct recorder **out);

int recorder_dirfd(const struct recorder *r);

/* One packet of the kernel's stream of @cpu. Returns 0 or the first error met while writing. */
int recorder_kernel_packet(struct recorder *r, uint32_t cpu,
			   const struct jis_packet_header *packet);

/* One record of the recorder's own stream at rebased @time. */
void recorder_event(struct recorder *r, uint32_t id, uint64_t time, const void *payload,
		    uint32_t len, const char *text);
/* A reading of all clocks: goes into the stream and the manifest. */
void recorder_clock(struct recorder *r, const struct clock_reading *reading);
/* Writes what the recorder's own stream holds. */
int recorder_flush(struct recorder *r);

/* A warning for the manifest. */
void recorder_note(struct recorder *r, const char *text);

/* A process with a pool: its directory. */
struct recorder_process_params {
	uint32_t pid, own_pid;
	enum jis_agent_kind kind;
	const char *vm; /* name and version; NULL for programs */
	uint32_t vm_version;
	const uint8_t *uuid;
};
int recorder_process_add(struct recorder *r, const struct recorder_process_params *params,
			 struct recorder_process **out);
/* Are there so few file descriptors left that processes must not take them? */
bool recorder_descriptors_low(const struct recorder *r);
/* A process asked for a pool and got none: counted for the manifest. */
void recorder_refused(struct recorder *r);
/* Writes the provisional manifest where processes came since, but not too often: to be called time
 * and again. */
void recorder_manifest_due(struct recorder *r);
/* The sink of its pool: ctx is the struct recorder_process. */
int recorder_process_packet(void *ctx, uint32_t slot, const struct jis_packet_header *packet,
			    uint32_t skip, bool open);
/* Takes the final counts of a finished pool and closes its files. */
void recorder_process_end(struct recorder_process *p, const struct pool *pool);

uint64_t recorder_bytes(const struct recorder *r);
/* Records produced by the recorder itself and by ended processes. */
uint64_t recorder_produced(const struct recorder *r);
/* Records stored of the kernel's and the recorder's streams and of ended processes. */
uint64_t recorder_stored(const struct recorder *r);
/* Records lost of ended processes. */
uint64_t recorder_lost(const struct recorder *r);
uint32_t recorder_processes(const struct recorder *r);
int recorder_error(const struct recorder *r);

/* Takes the final counts of @cpu and writes LOST records still owed. */
void recorder_kernel_end(struct recorder *r, uint32_t cpu, const struct backend_counts *counts,
			 uint64_t now);

/**
 * recorder_finish - closes all files, writes metadata and the final manifest.
 * @begin, @end: rebased ticks of start and stop. Returns 0 or the first error of the whole run.
 */
int recorder_finish(struct recorder *r, uint64_t begin, uint64_t end, const char *reason);

/**
 * recorder_discard - removes what this recorder has made: its files, and the directory if it made
 * it and nothing else is in it. For a recording that never began; then comes recorder_close().
 */
void recorder_discard(struct recorder *r);

/* Frees all; what was not finished stays as it is, for `jis recover`. */
void recorder_close(struct recorder *r);

#endif /* JISCTL_RECORDER_H */
