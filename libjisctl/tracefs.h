/* SPDX-License-Identifier: MIT */
/*
 * tracefs: where it is, an instance of our own, its small text files. Leaves nothing behind: an
 * instance is removed by its maker, or by the next session when its maker was killed. Private to
 * libjisctl.
 */
#ifndef JISCTL_TRACEFS_H
#define JISCTL_TRACEFS_H

#include <stddef.h>
#include <stdint.h>

/**
 * tracefs_open - opens tracefs, mounting it on /sys/kernel/tracing when it is nowhere and we may.
 * Returns a descriptor (O_PATH-like directory) or -errno; @why says in words what failed.
 */
int tracefs_open(char *why, size_t n);

/* tracefs_read - a whole small file as text. Returns its length or -errno (-EFBIG: larger). */
int tracefs_read(int dirfd, const char *path, char *text, size_t size);

/* tracefs_write - writes text to an existing file, truncating it first. Returns 0 or -errno. */
int tracefs_write(int dirfd, const char *path, const char *text);

/* tracefs_append - the same without truncation: set_event_pid adds what is written. */
int tracefs_append(int dirfd, const char *path, const char *text);

/**
 * tracefs_instance_create - makes instances/jis-PID-START-N.
 * @name: receives the name, at least TRACEFS_NAME_MAX bytes.
 * Returns a descriptor of its directory or -errno.
 */
#define TRACEFS_NAME_MAX 64
int tracefs_instance_create(int tracefs, char *name);

/* Stops and removes instance @name. Its files must be closed. Returns 0 or -errno. */
int tracefs_instance_remove(int tracefs, const char *name);

/* Removes the instances whose makers are dead. Returns how many. */
int tracefs_instances_clean(int tracefs);

/* Counters of one CPU's ring since it was made. */
struct tracefs_stats {
	uint64_t lost; /* dropped (no room), commit overruns, overruns */
	uint64_t read; /* events handed out */
	uint64_t left; /* events in the ring */
};
/* @fd: per_cpu/cpuN/stats, open for reading. */
int tracefs_stats(int fd, struct tracefs_stats *out);

#endif /* JISCTL_TRACEFS_H */
