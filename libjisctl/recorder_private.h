/* SPDX-License-Identifier: MIT */
/*
 * What recorder.c (streams) and recorder_manifest.c (books) share.
 */
#ifndef JISCTL_RECORDER_PRIVATE_H
#define JISCTL_RECORDER_PRIVATE_H

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
};

struct recorder_process {
	struct recorder *r;
	struct recorder_process *next;
	int dirfd;
	char directory[64];
	char name[64];
	char vm[JIS_AGENT_TEXT_MAX];
	uint32_t pid, own_pid, vm_version;
	uint64_t start_time;
	uint8_t uuid[16];
	struct recorder_stream **slots; /* by slot, NULL: nothing was written */
	uint32_t nr_slots;
	bool ended;
};

struct recorder {
	struct recorder_params params;
	char *directory, *command;
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
	uint64_t bytes, produced, stored, lost, clock_steps;
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
/* Gives back the room kept for the end. */
void recorder_reserve_drop(struct recorder *r);

/* Writes the manifest; @complete: the last one, with the tables. */
int recorder_manifest(struct recorder *r, bool complete, uint64_t begin, uint64_t end,
		      const char *reason);
/* Writes the metadata of the kernel's trace (@p NULL) or of a process's. */
int recorder_metadata(struct recorder *r, const struct recorder_process *p);

#endif /* JISCTL_RECORDER_PRIVATE_H */
