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
};

struct control_reply {
	int32_t error; /* 0 or -errno */
	char text[CONTROL_TEXT_MAX];
};

struct control_server {
	struct unix_listener listener;
	int spare; /* a descriptor kept for a command when there are no others; -1: none */
	/* Does @command; @text: the reply, CONTROL_TEXT_MAX bytes. Returns 0 or -errno. */
	int (*command)(void *ctx, const char *command, char *text);
	void *ctx;
};

int control_open(struct control_server *s, int dirfd);
/* Takes the connections that wait. */
void control_run(struct control_server *s);
void control_close(struct control_server *s);

#endif /* JISCTL_CONTROL_H */
