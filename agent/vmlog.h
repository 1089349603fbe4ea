/* SPDX-License-Identifier: MIT */
/*
 * What the JVM itself writes into its log, as records: the log of chosen tags goes into a file in
 * memory, which the control thread reads from time to time while something comes. The JVM stamps
 * each line when it writes it, so records have the times of what they tell of, not of their
 * reading, and each log has a slot of its own. The JVM never waits for us: a regular file takes
 * whatever comes.
 */
#ifndef JIS_AGENT_VMLOG_H
#define JIS_AGENT_VMLOG_H

#include "agent.h"

#define VMLOG_PERIOD_MS 100

struct vmlog_clocks {
	__u64 ticks;	 /* of the session's clock */
	__u64 monotonic; /* ns; the log's clock */
};

struct vmlog {
	const char *what; /* as -Xlog has it: "safepoint=info" */
	/* Tells of a line, without its decorations; @time: ns of the log's clock. */
	void (*line)(struct vmlog *log, __u64 time, const char *text);

	/* vmlog.c */
	int open;
	int fd;
	char path[32];
	__u64 at;		    /* bytes read */
	struct vmlog_clocks before; /* when it was read last */
	struct vmlog_clocks now;
	struct jis_slot *slot;
	size_t kept; /* bytes of a line whose end has not been read */
	char text[4096];
	struct vmlog *next;
};

/**
 * vmlog_begin - has the JVM write what @log wants. Returns 0, or -errno with a note that "@wanted
 * are not recorded" and why.
 */
int vmlog_begin(JNIEnv *env, struct vmlog *log, const char *wanted);
/* Undoes it; @env NULL: the JVM is about to end. */
void vmlog_end(JNIEnv *env, struct vmlog *log);
/* Writes a record with the log's time @time; from its line(). */
void vmlog_write(struct vmlog *log, __u64 time, unsigned int id, const void *payload, size_t size);

/* Reads what the JVM has written into all logs. Any thread. */
void vmlogs_read(void);
/*
 * How long to wait for something else, in ms as poll() has it, and for @fd with it: -1, or readable
 * when there is something to read again. While the JVM writes nothing nobody is woken.
 */
int vmlogs_timeout(int *fd);

/* dcmd.c */
/**
 * dcmd_execute - has the JVM execute diagnostic command @command, as jcmd does.
 * @answer: what it prints, @n bytes. Returns 0 or -errno; an exception of the JVM's is cleared.
 */
int dcmd_execute(JNIEnv *env, const char *command, char *answer, size_t n);

/* safepoints.c, heap.c */
int safepoints_enable(JNIEnv *env);
void safepoints_disable(JNIEnv *env);
int heap_enable(JNIEnv *env);
void heap_disable(JNIEnv *env);

#endif /* JIS_AGENT_VMLOG_H */
