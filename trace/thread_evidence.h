/* SPDX-License-Identifier: MIT */
/*
 * What the packets said of threads, as gathered by thread_table.c and concluded by thread_lives.c.
 * Private to trace/.
 */
#ifndef JIS_TRACE_THREAD_EVIDENCE_H
#define JIS_TRACE_THREAD_EVIDENCE_H

#include <stdint.h>

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

struct thread_table {
	struct evidence *items;
	uint32_t nr, room;
};

#endif /* JIS_TRACE_THREAD_EVIDENCE_H */
