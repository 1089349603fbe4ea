/* SPDX-License-Identifier: MIT */
/*
 * How many pools processes have had: each leaves a directory, so none may have them without end.
 * Private to libjisctl.
 */
#ifndef JISCTL_AGENT_ASKERS_H
#define JISCTL_AGENT_ASKERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct asker;

struct askers {
	struct asker *list;
	uint32_t nr, room, clean_at;
};

/**
 * askers_deny - why process @pid may have no further pool, or NULL: it may, and that is written
 * down.
 * @processes: that have a directory in the trace now.
 */
const char *askers_deny(struct askers *a, pid_t pid, uint32_t processes);
/* Whether process @pid has had a pool. */
bool askers_have(const struct askers *a, pid_t pid);
void askers_fini(struct askers *a);

#endif /* JISCTL_AGENT_ASKERS_H */
