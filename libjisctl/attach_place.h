/* SPDX-License-Identifier: MIT */
/*
 * A directory of ours in a JVM's own file system, with a copy of the agent and a socket where the
 * recorder listens. Private to libjisctl.
 */
#ifndef JISCTL_ATTACH_PLACE_H
#define JISCTL_ATTACH_PLACE_H

#include "jvm.h"

struct attach_place {
	int parent, directory; /* -1: none */
	int listener;	       /* -1: none; closed with it */
	char name[32];
	/* As the JVM sees them. */
	char library[PATH_MAX]; /* the one it has loaded already, where it has */
	char socket[108];
};

/**
 * attach_place_make - makes the place, in the first directory of the JVM's that lets programs be
 * run and that we can write to. @library: the agent as we see it. Returns 0, or -errno with a
 * sentence in @why, JVM_WHY_MAX bytes.
 */
int attach_place_make(struct attach_place *p, const struct jvm *j, const char *library, char *why);

/* Removes it; what the JVM has mapped stays mapped. */
void attach_place_remove(struct attach_place *p);

#endif /* JISCTL_ATTACH_PLACE_H */
