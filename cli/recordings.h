/* SPDX-License-Identifier: MIT */
/*
 * The recordings under way on this host. attach.c has the code.
 */
#ifndef JIS_CLI_RECORDINGS_H
#define JIS_CLI_RECORDINGS_H

#include <stdbool.h>
#include <sys/types.h>

#define RECORDINGS_MAX 64

struct recordings {
	char *directory[RECORDINGS_MAX];
	int nr;
};

void recordings_find(struct recordings *r);
void recordings_free(struct recordings *r);
/* The recording meant: the only one, or, @has_agent, the one that has the JVM. NULL after a
 * message. */
const char *recording_choose(const struct recordings *r, pid_t pid, bool has_agent);

#endif /* JIS_CLI_RECORDINGS_H */
