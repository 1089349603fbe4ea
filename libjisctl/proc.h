/* SPDX-License-Identifier: MIT */
/*
 * What /proc says about a thread. Private to libjisctl.
 */
#ifndef JISCTL_PROC_H
#define JISCTL_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROC_COMM_SIZE                                                                             \
	64 /* as ftrace and /proc give it: 15 characters; kernel workers have more                 \
	    */

struct proc_stat {
	char comm[PROC_COMM_SIZE];
	uint32_t state; /* enum jis_task_state */
	uint32_t ppid;
	uint64_t start_ticks; /* since boot, in USER_HZ */
	uint64_t start_time;  /* the same in ns */
	uint32_t cpu;
};

/* /proc/PID/task/TID/stat. Returns 0, -ESRCH or -EBADMSG. */
int proc_stat_read(pid_t pid, pid_t tid, struct proc_stat *out);

struct proc_status {
	char comm[PROC_COMM_SIZE];
	uint32_t tgid;
	uint32_t ppid;
	uint32_t ns_tid; /* innermost; = tid in our own namespace */
};

/* /proc/TID/status, also for a TID that is no process. Returns 0 or -ESRCH. */
int proc_status_read(pid_t tid, struct proc_status *out);

/**
 * proc_threads - the threads of @pid.
 * Returns how many, or -ESRCH, -ENOMEM; *tids is to be freed.
 */
int proc_threads(pid_t pid, uint32_t **tids);

/**
 * proc_on_cpu - does a runnable thread run, or wait in a run queue?
 * From how often it got a CPU (schedstat) and how often it left one (status), which differ by one
 * while it has it. Returns 1, 0, or -1 when the two do not tell.
 */
int proc_on_cpu(pid_t pid, pid_t tid);

/**
 * proc_jit_time - CPU time of the threads of JVM @pid in which HotSpot compiles, as it names them,
 * ns. Of its first thousand threads: they are among the oldest. 0 when there are none.
 */
uint64_t proc_jit_time(pid_t pid);

/* Is @pid in another pid namespace than this process? false when it cannot be told. */
bool proc_in_other_pid_ns(pid_t pid);

#endif /* JISCTL_PROC_H */
