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
struct flight_names;

/* Of a snapshot: which trace it is of, and what of it was asked for; rebased ticks. */
struct recorder_origin {
	uint8_t uuid[16];
	uint64_t begin; /* of the trace */
	uint64_t from, to;
};

/* A mark of the session, told again in snapshots. */
struct recorder_mark {
	uint64_t time;
	uint32_t mark; /* enum jis_session_mark */
};

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
	bool has_group; /* of the directory, if it is made here */
	gid_t group;
	/* A flight recorder: packets are kept in memory, the newest of them; see
	 * recorder_flight_end(). */
	bool flight;
	uint64_t kernel_history_bytes, process_history_bytes;
	bool snapshot; /* of one: packets are written */
	struct recorder_origin origin;
	const struct recorder_mark *marks; /* with which the recorder's own stream begins */
	uint32_t nr_marks;
	const char *syscalls;	 /* as asked for; may be NULL */
	uint32_t families;	 /* JIS_FAMILY_*: recorded */
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

/* Something that is recorded, as text for the manifest. */
void recorder_filter(struct recorder *r, const char *text);

/* What its user calls process @pid, which lives; the last name counts. Goes into the manifest with
 * the next recorder_filter() or recorder_manifest_due(). Returns 0 or -ENOMEM. */
int recorder_process_name(struct recorder *r, uint32_t pid, const char *name);

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
/* Of its trace. */
const uint8_t *recorder_process_uuid(const struct recorder_process *p);
/* Streams of the process that are the recorder's own: these, from a first slot on that is beyond
 * its pool's. */
enum recorder_slot {
	RECORDER_SLOT_SAFEPOINTS, /* class USER */
	RECORDER_SLOT_NAMES,	  /* class DICT: of what is told there */
	RECORDER_SLOT_FUTEXES,	  /* class DICT: whose locks futexes are */
	RECORDER_SLOTS
};
void recorder_process_own_slots(struct recorder_process *p, uint32_t slot);
/* The instance of such a slot's stream, and its class (enum jis_stream_class). */
uint64_t recorder_process_own_instance(const struct recorder_process *p, uint32_t slot,
				       uint32_t *stream_class);
/* Final counts of one of these, by id; before recorder_process_end(). */
void recorder_process_counts(struct recorder_process *p, uint32_t slot, const uint64_t *produced,
			     const uint64_t *lost);
/* Takes the final counts of a finished pool and closes its files. */
void recorder_process_end(struct recorder_process *p, const struct pool *pool);

/**
 * recorder_snapshot - makes a recorder of a directory of its own for a snapshot of flight recorder
 * @r. @origin: uuid is filled in. @marks: those told in it, in order. Returns as recorder_create().
 * What follows is recorder_flight_names(), recorder_flight_replay(), copies of the kernel
 * packets that the backend kept, recorder_flight_settle(), recorder_finish(), recorder_close().
 */
int recorder_snapshot(const struct recorder *r, const char *directory,
		      const struct recorder_origin *origin, const struct recorder_mark *marks,
		      uint32_t nr_marks, struct recorder **out);
/* Hands out the kernel packets that @r has kept, as history_each() does. */
int recorder_flight_look(const struct recorder *r,
			 int (*packet)(void *ctx, uint32_t cpu,
				       const struct jis_packet_header *packet),
			 void *ctx);
/* What @names says is missing will stand in front of the first packets of the kernel. @names must
 * live until recorder_flight_settle(). */
void recorder_flight_names(struct recorder *r, struct flight_names *names);
/* Writes the packets @r has kept that end at @from or later, and all names, into @into. */
int recorder_flight_replay(struct recorder *r, uint64_t from, struct recorder *into);
/* How much of the kernel's records @r has given up, see backend.h: cycled(). */
uint64_t recorder_flight_cycled(const struct recorder *r);
/* Has the dictionary of a process grown so long that it is to be gone over? */
bool recorder_flight_long(const struct recorder *r);
/* Leaves out of such dictionaries what nothing needs any more: whatever their processes and the
 * kernel have told until now has been handed to @r. @slack: see dict_trim(). */
void recorder_flight_trim(struct recorder *r, uint64_t slack);
/* From now on processes end because the session does: none is forgotten for that. */
void recorder_flight_ending(struct recorder *r);
/* The end of a flight recorder: writes what it has kept, and from now on all packets it gets.
 * Returns 0 or the first error met while writing. */
int recorder_flight_end(struct recorder *r);
/* After the last packet: settles the counters of all streams and closes their files. */
void recorder_flight_settle(struct recorder *r);
/* Rebased time at which the first packet written begins; UINT64_MAX: there is none. */
uint64_t recorder_first(const struct recorder *r);

uint64_t recorder_bytes(const struct recorder *r);
/* Records produced by the recorder itself and by ended processes, and after recorder_kernel_end()
 * or recorder_flight_settle() the kernel's. */
uint64_t recorder_produced(const struct recorder *r);
/* Records stored of the kernel's and the recorder's streams and of ended processes. */
uint64_t recorder_stored(const struct recorder *r);
/* Records lost, as recorder_produced(). */
uint64_t recorder_lost(const struct recorder *r);
/* Processes that have a directory: those a flight recorder has forgotten have none. */
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
