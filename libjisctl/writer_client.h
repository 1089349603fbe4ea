/* SPDX-License-Identifier: MIT */
/*
 * The traced program's end of the agent socket: asks the recorder for a pool. Private to libjisctl.
 */
#ifndef JISCTL_WRITER_CLIENT_H
#define JISCTL_WRITER_CLIENT_H

#include <stddef.h>

struct client_pool {
	int fd; /* the connection; closing it tells the recorder that we are gone */
	void *memory;
	size_t size;
};

/**
 * client_connect - connects to JIS_SOCKET, maps the pool it is given.
 * Returns 0; -ENOENT (no recorder, or JIS_DISABLE=1); -EPERM (the socket's owner is neither root
 * nor this user); -EACCES (refused: no target); -EPROTO (another version); -errno.
 */
int client_connect(struct client_pool *out);

#endif /* JISCTL_WRITER_CLIENT_H */
