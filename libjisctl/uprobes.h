/* SPDX-License-Identifier: MIT */
/*
 * The kernel's probes in the code of one thread (uprobes), by perf events: they have a ring of
 * their own, and are gone with their descriptors, whatever becomes of us. Private to libjisctl.
 */
#ifndef JISCTL_UPROBES_H
#define JISCTL_UPROBES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define UPROBES_MAX 8
#define UPROBES_NO_REGISTER (-1)

struct uprobes_config {
	pid_t tid;
	int file; /* whose code it is: an open file */
	uint32_t nr;
	const uint64_t *offsets; /* in the file; must be that of an instruction */
	/* A register whose value is told with each hit, as uprobes_register() says. */
	int reg;
	int unheard; /* nobody reads them: they are only tried */
};

struct uprobes {
	int fds[UPROBES_MAX];
	uint64_t ids[UPROBES_MAX];
	uint32_t nr;
	int reg;
	void *map;
	size_t map_bytes;
};

struct uprobe_hit {
	uint32_t probe;	  /* index into offsets */
	uint64_t time;	  /* ns of CLOCK_MONOTONIC_RAW */
	uint64_t address; /* of the instruction, in the process */
	uint64_t value;	  /* the register's; 0 without one */
};

/* Number of the register that "%r12" (x86), "x19" (arm) stands for; UPROBES_NO_REGISTER: of none.
 */
int uprobes_register(const char *name, size_t n);

/**
 * uprobes_open - puts probes into code of thread @config->tid, one after the other.
 * Returns 0 or -errno: -ENODEV: the kernel has no such probes; -EACCES: we have not the right;
 * -ESRCH. On failure there is nothing to close.
 */
int uprobes_open(struct uprobes *u, const struct uprobes_config *config);
/* Removes them; a kernel may take a tenth of a second for each, so a thread of its own waits. */
void uprobes_close(struct uprobes *u);
/* Until all those threads are through. Before the process ends: who is being killed, as threads are
 * by exit(), cannot write another's code, and the kernel leaves its breakpoints there. */
void uprobes_settle(void);

/* Pauses them, the last one first, or lets them go on. */
void uprobes_enable(const struct uprobes *u, int on);

/* Is there anything to read? */
int uprobes_any(const struct uprobes *u);

/**
 * uprobes_read - hands out the hits until now, in their order.
 * @lost: called where hits are missing, with their number.
 */
void uprobes_read(struct uprobes *u, void (*hit)(void *ctx, const struct uprobe_hit *hit),
		  void (*lost)(void *ctx, uint64_t n), void *ctx);

/**
 * uprobes_try - puts a probe into a function of this program and calls it.
 * Returns 0: it was hit; or -errno, with the reason in @why.
 */
int uprobes_try(char *why, size_t n);

#endif /* JISCTL_UPROBES_H */
