/* SPDX-License-Identifier: MIT */
/*
 * Where kernel events come from, behind one table of operations: kmod.c (/dev/jis) and ftrace.c (an
 * own tracefs instance). Both hand out packets in the trace's format; the recorder knows no more.
 * Private to libjisctl.
 */
#ifndef JISCTL_BACKEND_H
#define JISCTL_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "jis/abi.h"

struct backend;

struct backend_config {
	uint32_t clock; /* JIS_CLOCK_* */
	uint64_t base;
	uint64_t buffer_bytes; /* 0: default */
	bool all_switches;
	bool flight_recorder; /* keep the newest, until freeze() */
	uint32_t families;    /* JIS_FAMILY_* wanted; open(): -EOPNOTSUPP if one cannot be had */
	uint8_t uuid[16];
	const struct jis_syscalls *syscalls; /* to record; NULL: none; the caller's until close() */
	void (*log)(void *ctx, int level, const char *text); /* enum jisctl_level */
	void *log_ctx;
};

/* Totals of one CPU's stream. produced[0]/lost[0]: records whose type is not known. */
struct backend_counts {
	uint64_t produced[JIS_MAX_EVENT_ID];
	uint64_t lost[JIS_MAX_EVENT_ID];
	uint64_t clock_steps;
	uint64_t threads_refused, queues_refused; /* as in struct jis_status */
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
	/* Flight recorder: what there is holds still for get_packet (which else has none), or goes
	 * on being overwritten. NULL: this backend is none. */
	int (*freeze)(struct backend *b, bool freeze);
	int (*dump)(struct backend *b); /* thread_state of all targets' threads once more */
	/* With freeze(): how much flight recorders' rings have overwritten since the start, in
	 * 1/256 of one CPU's ring. */
	uint64_t (*cycled)(struct backend *b);
	/* The next closed packet of @cpu, its header complete but for crc32c, valid until the next
	 * call for that CPU. Returns 1, 0 (none) or -errno. */
	int (*get_packet)(struct backend *b, uint32_t cpu, const struct jis_packet_header **packet);
	int (*counts)(struct backend *b, uint32_t cpu, struct backend_counts *out);
	int (*poll_fd)(const struct backend *b); /* readable when get_packet may have some; -1:
						    none, poll by time */
	bool (*is_target)(struct backend *b, pid_t pid); /* pid: host's thread group id */
	/* Optional. The memory of a pool of target @pid, see struct pool_config. */
	int (*pool_create)(struct backend *b, uint32_t pid, uint64_t bytes, uint64_t words_offset,
			   uint32_t nr_words);
	/* Optional. Targets of any kind; @target->size is set. Without it, and for what it does not
	 * know: -EOPNOTSUPP. JIS_IOC_TARGET_ADD, _REMOVE, _TEST. */
	int (*filter)(struct backend *b, unsigned long request, const struct jis_target *target);
	/* JIS_FAMILY_* and JIS_FEATURE_* that can be had here. */
	uint32_t (*features)(const struct backend *b);
	/* What cannot be given: NULL-terminated texts for the manifest, static. */
	const char *const *missing;
};

/* Names of families, by bit: "fault", "block", "irq", "signal", "power", NULL. */
extern const char *const backend_families[];
/* Names of those among @features, "none" if there are none; at most @n bytes. */
void backend_families_text(uint32_t features, char *text, size_t n);
/* Their names, and what is missing of the features, as one line each; at most @n bytes. */
void backend_features_text(uint32_t features, char *text, size_t n);

extern const struct backend_ops backend_kmod;
extern const struct backend_ops backend_ftrace;

#endif /* JISCTL_BACKEND_H */
