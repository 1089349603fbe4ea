/* SPDX-License-Identifier: MIT */
/*
 * Listening Unix sockets (SOCK_SEQPACKET) in the file system, and their removal. Private to
 * libjisctl.
 */
#ifndef JISCTL_UNIX_SOCKET_H
#define JISCTL_UNIX_SOCKET_H

/* Where recorders have a directory each: their socket, and a link to the trace directory. */
#define UNIX_RUN_DIRECTORY "/run/jis"
#define UNIX_RUN_SESSION "session"

struct unix_listener {
	int fd;		    /* -1: none */
	char directory[96]; /* ours, removed with it; "" when it is another's */
	char path[108];
};

/**
 * unix_listen_private - listens in a new directory of our own (mode 0711) below /run/jis, or where
 * that cannot be, $TMPDIR or /tmp. Any user may connect.
 */
int unix_listen_private(struct unix_listener *l);

/* unix_listen_at - listens as @name in directory @dirfd; only our own user and root may connect. */
int unix_listen_at(struct unix_listener *l, int dirfd, const char *name);

/* Connects to @name in @dirfd. Returns a descriptor or -errno. */
int unix_connect_at(int dirfd, const char *name);

/* Leaves a link to @target beside the socket of a listener in UNIX_RUN_DIRECTORY. */
void unix_link_session(struct unix_listener *l, const char *target);

/* Closes it and removes what was made. */
void unix_unlisten(struct unix_listener *l);

#endif /* JISCTL_UNIX_SOCKET_H */
