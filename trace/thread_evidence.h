/* SPDX-License-Identifier: MIT */
/*
 * What the packets said of threads, as gathered by thread_table.c; and the lives and processes that
 * thread_lives.c concludes from what the kernel said and thread_java.c from what the JVM said.
 * Private to trace/.
 */
#ifndef JIS_TRACE_THREAD_EVIDENCE_H
#define JIS_TRACE_THREAD_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "manifest.h"

enum evidence_kind {
	EVIDENCE_TARGET,
	EVIDENCE_FORK,
	EVIDENCE_DUMP,
	EVIDENCE_EXEC,
	EVIDENCE_EXIT,
	EVIDENCE_FREE,
	EVIDENCE_DEAD_SWITCH,
	EVIDENCE_RENAME,
	EVIDENCE_FOREIGN,
	EVIDENCE_STRING, /* from here on: names of Java; pid is the process, concluded last */
	EVIDENCE_VM,
	EVIDENCE_JAVA_START,
	EVIDENCE_JAVA_NAME,
	EVIDENCE_JAVA_END,
};

struct evidence {
	uint64_t time;
	uint32_t order; /* of arrival, for equal times of one stream */
	enum evidence_kind kind;
	uint32_t tid, pid;
	uint32_t other_tid; /* FORK: parent; EXEC: tid before */
	uint32_t ns_tid;
	uint32_t flags; /* TARGET: JIS_TARGET_*; JAVA_START: JIS_JTHREAD_* */
	uint32_t id;	/* STRING: id; JAVA_START: group; VM: version */
	uint64_t start_time, java_tid;
	char *text;
};

/* Names of one kernel thread that are kept side by side. */
#define NAMES_KEPT 16u

struct tid_names {
	uint32_t tid;
	uint32_t last; /* index of the last RENAME */
	uint32_t kept; /* since the tid's last birth or end; 0: last means nothing */
	bool used;
};

struct thread_table {
	struct evidence *items;
	uint32_t nr, room;
	uint32_t
		*names; /* open hash of the JAVA_NAME items, index + 1: only the last name counts */
	uint32_t nr_names, names_mask;
	struct tid_names *tids; /* open hash */
	uint32_t nr_tids, tids_mask;
	uint64_t names_dropped;
};

#define NO_LIFE UINT32_MAX
#define LIFE_BUCKETS 65536u

struct life {
	struct thread_entry entry;
	uint32_t older; /* next in the bucket of its tid, newest first */
	uint64_t exit_time, free_time, dead_switch; /* TIME_NONE: not seen */
	bool renamed;				    /* has a Java name */
	/* Chains of the Java index: lives by the tid their process knows, and by Java tid. */
	uint32_t next_own_tid, next_java_tid;
};

struct process {
	struct process_entry entry;
	uint32_t next;	 /* in the bucket of its pid */
	uint32_t flags;	 /* JIS_TARGET_* */
	char *exec_name; /* base name of the last program it executed */
};

struct java_index;

struct builder {
	struct life *lives;
	uint32_t nr_lives, room_lives;
	struct process *processes;
	uint32_t nr_processes, room_processes;
	struct foreign_entry *foreigners;
	uint32_t nr_foreigners, room_foreigners;
	uint32_t buckets[LIFE_BUCKETS]; /* lives by tid */
	uint32_t by_pid[LIFE_BUCKETS];	/* processes by pid */
	struct java_index *java;
	const struct manifest *manifest; /* for its clocks */
	int error;
};

/* The process with @pid; the first makes it where there is none. NULL: no memory, or no such one.
 */
struct process *builder_process(struct builder *b, uint32_t pid);
struct process *builder_find_process(const struct builder *b, uint32_t pid);

/* Puts a copy of @text into *where. */
void builder_text(struct builder *b, char **where, const char *text);

/* Concludes from one piece of Java evidence; all of the kernel's must have been concluded before.
 */
void java_conclude(struct builder *b, const struct evidence *e, const struct thread_table *t);
void java_fini(struct builder *b);

#endif /* JIS_TRACE_THREAD_EVIDENCE_H */
