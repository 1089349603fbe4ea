/* SPDX-License-Identifier: MIT */
/*
 * Where kernel events come from, behind one table of operations: kmod.c (/dev/jis) and ftrace.c (an
 * own tracefs instance). Both hand out packets in the trace's format; the recorder knows no more.
 * Private to libjisctl.
 */
#ifndef JISCTL_BACKEND_H
#define JISCTL_BACKEND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "jis/abi.h"

struct backend;

struct backend_config {
	uint32_t clock; /* JIS_CLOCK_* */
	uint64_t base;
	uint64_t buffer_bytes; /* 0: default */
	bool all_switches;
	uint8_t uuid[16];
	void (*log)(void *ctx, int level, const char *text); /* enum jisctl_level */
	void *log_ctx;
};

/* Totals of one CPU's stream. produced[0]/lost[0]: records whose type is not known. */
struct backend_counts {
	uint64_t produced[JIS_MAX_EVENT_ID];
	uint64_t lost[JIS_MAX_EVENT_ID];
	uint64_t clock_steps;
};

struct backend_ops {
	const char *name;
	/* Can it work here? 0 or -errno; why[] says it in words. */
	int (*probe)(char *why, size_t n);
	int (*open)(const struct backend_config *config, struct backend **out);
	void (*close)(struct backend *b);
	uint32_t (*nr_cpus)(const struct backend *b);
	int (*target_add)(struct backend *b, pid_t pid, uint32_t flags); /* JIS_TARGET_* */
	int (*target_remove)(struct backend *b, pid_t pid);
	int (*start)(struct backend *b);
	int (*pause)(struct backend *b);
	int (*resume)(struct backend *b);
	int (*stop)(struct backend *b); /* afterwards get_packet drains what is left */
	int (*flush)(struct backend *b);
	/* The next closed packet of @cpu, its header complete but for crc32c, valid until the next
	 * call for that CPU. Returns 1, 0 (none) or -errno. */
	int (*get_packet)(struct backend *b, uint32_t cpu, const struct jis_packet_header **packet);
	int (*counts)(struct backend *b, uint32_t cpu, struct backend_counts *out);
	int (*poll_fd)(const struct backend *b); /* readable when get_packet may have some; -1:
						    none, poll by time */
	bool (*is_target)(struct backend *b, pid_t pid); /* pid: host's thread group id */
	/* What cannot be given: NULL-terminated texts for the manifest, static. */
	const char *const *missing;
};

extern const struct backend_ops backend_kmod;
extern const struct backend_ops backend_ftrace;

#endif /* JISCTL_BACKEND_H */
