/* SPDX-License-Identifier: MIT */
/*
 * A running JVM from outside: what /proc tells of it, and HotSpot's attach protocol. Works into
 * other mount, pid and user namespaces. What is in the target's file system is its users' to make:
 * nothing there is followed out of its root. Private to libjisctl.
 */
#ifndef JISCTL_JVM_H
#define JISCTL_JVM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define JVM_WHY_MAX 512

struct jvm {
	pid_t pid;
	pid_t own_pid; /* as it sees itself */
	uid_t uid;     /* effective ones, as we see them */
	gid_t gid;
	int pidfd;	      /* so that no other process is meant by the number; -1 */
	int root;	      /* its root directory; -1 */
	bool stopped;	      /* by a signal */
	bool handles_quit;    /* SIGQUIT would not end it */
	bool musl;	      /* its libc is not ours */
	char agent[PATH_MAX]; /* path of the agent it has loaded, as it sees it; "": none */
	const int *cancel;    /* not 0: wait no longer; may be NULL */
};

/* Does @pid run HotSpot? Asked of what it has mapped. */
bool jvm_is(pid_t pid);

/**
 * jvm_open - learns what is to be known of @pid. jvm_close() in any case.
 * Returns 0; -ESRCH (no such process); -ENOEXEC (no HotSpot JVM); -EACCES; -EOPNOTSUPP (it was told
 * to take no attach); each with a sentence in @why, JVM_WHY_MAX bytes.
 */
int jvm_open(pid_t pid, struct jvm *out, char *why);
void jvm_close(struct jvm *j);

/* Opens directory @path (relative, "tmp") in the JVM's root, never outside; O_PATH. -errno. */
int jvm_directory(const struct jvm *j, const char *path);

/* Turns a path that the kernel told us, of a file in the JVM's root, into the JVM's own. */
void jvm_path(const struct jvm *j, char *path);

/* Makes the calling thread act as the JVM's user, and back. Returns 0 or -errno. */
int jvm_user_become(const struct jvm *j);
void jvm_user_restore(void);

/**
 * jvm_attach_load - has the JVM load agent library @path (as it sees it) with @options.
 * Waits up to @timeout_ms for it to listen and to have started, and ten seconds longer for its
 * answer. Returns 0, or -errno with a sentence in @why, JVM_WHY_MAX bytes.
 */
int jvm_attach_load(const struct jvm *j, const char *path, const char *options, int timeout_ms,
		    char *why);

#endif /* JISCTL_JVM_H */
