/* SPDX-License-Identifier: MIT */
/*
 * What recorder.c (streams) and recorder_manifest.c (books) share.
 */
#ifndef JISCTL_RECORDER_PRIVATE_H
#define JISCTL_RECORDER_PRIVATE_H

#include "flight_names.h"
#include "history.h"
#include "recorder.h"
#include "trace/manifest.h"
#include "trace/thread_table.h"
#include "trace/write.h"

#define CLOCKS_MAX 1024u

struct recorder_stream {
	struct stream_writer *writer; /* NULL: not made yet, or closed */
	char path[96];		      /* relative to the session */
	uint32_t stream_class;
	uint64_t instance;
	uint64_t packets, next_seq;
	uint64_t bytes;
	uint64_t end; /* timestamp_end of the last packet */
	uint64_t discarded;
	uint64_t produced[JIS_MAX_EVENT_ID];
	uint64_t stored[JIS_MAX_EVENT_ID];
	uint64_t lost[JIS_MAX_EVENT_ID];
	uint64_t told[JIS_MAX_EVENT_ID]; /* by lost_records in the stream */
	bool counted;			 /* produced and lost are final */
	/* A flight recorder's: of the first packet written, as its writer counted. */
	bool begun;
	uint64_t seq_before, discarded_before;
};

struct recorder_process {
	struct recorder *r;
	struct recorder_process *next;
	int dirfd;
	char directory[64];
	char name[64];
	char given_name[PROCESS_NAME_MAX + 1]; /* "": none */
	char vm[JIS_AGENT_TEXT_MAX];
	uint32_t pid, own_pid, vm_version;
	uint64_t start_time;
	uint8_t uuid[16];
	struct recorder_stream **slots; /* by slot, NULL: nothing was written */
	uint32_t nr_slots;
	uint32_t own_slot;		 /* the first that the recorder itself writes; 0: none */
	struct process_futexes *futexes; /* NULL: none met */
	struct history *history;	 /* of a flight recorder that keeps packets */
	uint64_t trim_at; /* how long its dictionary may grow before it is gone over */
	bool ended;
	uint64_t end_time, end_order; /* of a flight recorder: rebased ticks; the how manieth */
};

/* What a user calls a process. */
struct recorder_name {
	uint32_t pid;
	uint64_t start_time;
	char comm[64];
	char name[PROCESS_NAME_MAX + 1];
};

struct recorder {
	struct recorder_params params;
	char *directory, *command, *syscalls;
	int dirfd, kernel_fd, reserve_fd;
	bool made_directory, made_kernel; /* by us, so they are ours to remove */
	uint64_t reserved;		  /* bytes kept for the end */
	struct recorder_stream *cpus;	  /* params.nr_cpus */
	struct recorder_stream own;
	struct packet_builder builder; /* of the own stream */
	struct recorder_process *processes, **last_process;
	uint32_t nr_processes;
	uint64_t refused;	/* times a process asked for a pool and got none */
	bool manifest_dirty;	/* processes came since the manifest was written */
	uint64_t manifest_next; /* CLOCK_MONOTONIC: not to be written before */
	struct thread_table *threads;
	struct clock_sample clocks[CLOCKS_MAX];
	uint32_t nr_clocks;
	char **notes;
	uint32_t nr_notes;
	char **filters; /* what is recorded */
	uint32_t nr_filters;
	struct recorder_name *names_given;
	uint32_t nr_names;
	struct futexes_seen *seen; /* NULL: none yet */
	bool jvms;		   /* there was one */
	uint64_t bytes, produced, stored, lost, clock_steps;
	bool keeping; /* a flight recorder's packets go to the histories */
	bool ending;  /* no process is forgotten any more */
	uint32_t nr_ended;
	uint64_t ended_bytes, end_order; /* histories of processes that have ended */
	struct flight_names *names;
	struct history *kernel_history;
	uint8_t *scratch; /* a packet that is changed before it is written */
	size_t scratch_size;
	uint64_t first; /* when the first packet begins that a flight recorder wrote */
	int error;	/* the first one met while writing */
	bool finishing; /* the last records of our own stream are tried even after an error */
};

/* Remembers the first error; returns @err. */
int recorder_fail(struct recorder *r, int err);
/* Makes the stream's file, once. */
int recorder_stream_make(struct recorder *r, struct recorder_stream *s, int dirfd,
			 const char *directory, const char *name);
/* Writes @packet; counts packets and bytes, not records. @open: it may come again, grown. */
int recorder_stream_put(struct recorder *r, struct recorder_stream *s,
			const struct jis_packet_header *packet, bool open);
void recorder_stream_close(struct recorder *r, struct recorder_stream *s);
void recorder_process_free(struct recorder_process *p);
/* The same process in another recorder's directory. */
int recorder_process_copy(struct recorder *into, const struct recorder_process *from,
			  struct recorder_process **out);

/* recorder_names.c */
/* The name given to process @pid that began at @start_time (ns, from /proc), or NULL. */
const char *recorder_name_of(const struct recorder *r, uint32_t pid, uint64_t start_time);
/* Gives their names to the processes of @m that have no directory, and until the manifest is
 * @complete adds those that it does not know yet. Returns 0 or -ENOMEM. */
int recorder_names_fill(const struct recorder *r, struct manifest *m, bool complete);
int recorder_names_copy(struct recorder *into, const struct recorder *from);

/* recorder_futexes.c */
struct packet_walk;
/* The walk that follows, over a packet of the kernel, looks for waits on futexes. */
void recorder_futexes_look(struct recorder *r, struct packet_walk *walk);
/* All waits are looked up once more: there is another process. */
void recorder_futexes_forget(struct recorder *r);
/* Writes what is not told yet of @p, or of all processes. Returns 0 or -errno. */
int recorder_futexes_tell(struct recorder_process *p);
int recorder_futexes_flush(struct recorder *r);
/* Writes the rest, and has the counts. */
void recorder_futexes_end(struct recorder_process *p);
void recorder_futexes_free(struct recorder_process *p);

/* recorder_flight.c */
int recorder_flight_init(struct recorder *r);
void recorder_flight_fini(struct recorder *r);
int recorder_flight_process(struct recorder_process *p);
/* A process has ended: its descriptors are given back, and those that ended first are forgotten
 * where too much is kept. */
void recorder_flight_process_end(struct recorder_process *p);
/* The process's directory, opened again where need be. Returns 0 or -errno. */
int recorder_process_open(struct recorder_process *p);
/* Writes @packet into the stream of @p (NULL: of the kernel), whose file is made, numbered anew,
 * and counts its records. */
int recorder_flight_put(struct recorder *r, struct recorder_process *p, struct recorder_stream *s,
			const struct jis_packet_header *packet);
/* Gives back the room kept for the end. */
void recorder_reserve_drop(struct recorder *r);

/* Writes the manifest; @complete: the last one, with the tables. */
int recorder_manifest(struct recorder *r, bool complete, uint64_t begin, uint64_t end,
		      const char *reason);
/* Writes the metadata of the kernel's trace (@p NULL) or of a process's. */
int recorder_metadata(struct recorder *r, const struct recorder_process *p);

#endif /* JISCTL_RECORDER_PRIVATE_H */
