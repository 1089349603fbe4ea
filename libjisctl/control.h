/* SPDX-License-Identifier: MIT */
/*
 * The session's control socket, DIR/.control: one command a message, one reply a command. Its
 * client is jisctl_control() in jisctl.h. Private to libjisctl.
 */
#ifndef JISCTL_CONTROL_H
#define JISCTL_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#include "unix_socket.h"

#define CONTROL_TEXT_MAX 256

struct control_request {
	char command[16];
	uint64_t ns;	 /* snapshot: of how long before now; 0: all there is */
	char path[4096]; /* snapshot: absolute, of the directory to make; methods: rules; target,
			    attach: what the process is called, "": by its executable */
	int32_t pid;	 /* attach, detach, agent, methods, target: of which process */
	uint32_t flags;	 /* attach: ATTACH_*; target: JISCTL_TARGET_* */
};

struct control_reply {
	int32_t error; /* 0 or -errno */
	char text[CONTROL_TEXT_MAX];
};

struct control_server {
	struct unix_listener listener;
	int spare; /* a descriptor kept for a command when there are no others; -1: none */
	/* Does @command; @text: the reply, CONTROL_TEXT_MAX bytes. Returns 0 or -errno. */
	int (*command)(void *ctx, const struct control_request *request, char *text);
	void *ctx;
};

int control_open(struct control_server *s, int dirfd);
/* Takes the connections that wait. */
void control_run(struct control_server *s);
void control_close(struct control_server *s);

#endif /* JISCTL_CONTROL_H */
