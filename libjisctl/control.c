/* SPDX-License-Identifier: MIT */
/*
 * Both ends of the control socket. A connection is one command: it is served when it is accepted,
 * and one that does not send at once is dropped, so nobody can hold the recorder up.
 */
#include "control.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "attach.h"
#include "jisctl.h"
#include "trace/manifest.h"

#define CLIENT_TIMEOUT_S 10
#define SNAPSHOT_TIMEOUT_S 120
#define REQUEST_TIMEOUT_MS 200
#define REQUEST_TRIES 20

static int spare_open(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int control_open(struct control_server *s, int dirfd)
{
	s->spare = spare_open();
	return unix_listen_at(&s->listener, dirfd, CONTROL_SOCKET);
}

static bool peer_allowed(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
	       (peer.uid == 0 || peer.uid == geteuid());
}

static void serve(struct control_server *s, int fd)
{
	struct control_reply reply = {.error = -EACCES};
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct control_request request;

	if (poll(&p, 1, REQUEST_TIMEOUT_MS) != 1 ||
	    recv(fd, &request, sizeof(request), MSG_DONTWAIT) != (ssize_t)sizeof(request))
		return;
	request.command[sizeof(request.command) - 1] = 0;
	request.path[sizeof(request.path) - 1] = 0;
	if (peer_allowed(fd))
		reply.error = s->command(s->ctx, &request, reply.text);
	if (send(fd, &reply, sizeof(reply), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return; /* who asked is gone */
}

/* Takes a connection. Where no descriptor is left, the spare one's place is for it. */
static int take(struct control_server *s)
{
	int fd = accept4(s->listener.fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd >= 0 || (errno != EMFILE && errno != ENFILE) || s->spare < 0)
		return fd;
	close(s->spare);
	s->spare = -1;
	return accept4(s->listener.fd, NULL, NULL, SOCK_CLOEXEC);
}

void control_run(struct control_server *s)
{
	int fd;

	while ((fd = take(s)) >= 0) {
		serve(s, fd);
		close(fd);
		if (s->spare < 0)
			s->spare = spare_open();
	}
}

void control_close(struct control_server *s)
{
	unix_unlisten(&s->listener);
	if (s->spare >= 0)
		close(s->spare);
	s->spare = -1;
}

static int ask(int fd, const struct control_request *request, struct control_reply *reply)
{
	struct timeval timeout = {.tv_sec =
					  request->path[0] ? SNAPSHOT_TIMEOUT_S : CLIENT_TIMEOUT_S};
	ssize_t n;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	if (send(fd, request, sizeof(*request), MSG_NOSIGNAL) < 0)
		return -errno;
	n = recv(fd, reply, sizeof(*reply), 0);
	if (n < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	return n == (ssize_t)sizeof(*reply) ? 0 : -ECONNREFUSED;
}

static int request_send(const char *directory, const struct control_request *request, char *reply,
			size_t n)
{
	int dirfd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd, err;
	int tries = REQUEST_TRIES;
	struct control_reply answer = {.text = ""};

	if (n)
		reply[0] = 0;
	if (dirfd < 0)
		return -errno;
	do {
		fd = unix_connect_at(dirfd, CONTROL_SOCKET);
		err = fd < 0 ? fd : ask(fd, request, &answer);
		if (fd >= 0)
			close(fd);
	} while (err == -EPIPE && --tries); /* we were too slow: it has heard nothing */
	close(dirfd);
	if (err)
		return err;
	answer.text[sizeof(answer.text) - 1] = 0;
	if (n)
		snprintf(reply, n, "%s", answer.text);
	return answer.error;
}

int jisctl_control(const char *directory, const char *command, char *reply, size_t n)
{
	struct control_request request = {.command = ""};

	snprintf(request.command, sizeof(request.command), "%s", command);
	return request_send(directory, &request, reply, n);
}

int jisctl_control_agent(const char *directory, const char *command, pid_t pid, int flags,
			 char *reply, size_t n)
{
	struct control_request request = {.command = "", .pid = pid};

	snprintf(request.command, sizeof(request.command), "%s", command);
	if (flags & JISCTL_ATTACH_NO_REWRITE)
		request.flags = ATTACH_NO_REWRITE;
	return request_send(directory, &request, reply, n);
}

int jisctl_control_attach(const char *directory, pid_t pid, int flags, const char *name,
			  char *reply, size_t n)
{
	struct control_request request = {.command = "attach", .pid = pid};

	if (n)
		reply[0] = 0;
	if (name && process_name_wrong(name))
		return -EINVAL;
	snprintf(request.path, sizeof(request.path), "%s", name ? name : "");
	if (flags & JISCTL_ATTACH_NO_REWRITE)
		request.flags = ATTACH_NO_REWRITE;
	return request_send(directory, &request, reply, n);
}

int jisctl_join_target(const char *directory, const struct jisctl_target *target, char *reply,
		       size_t n)
{
	struct control_request request = {.command = "target",
					  .pid = target->pid,
					  .flags = (uint32_t)target->flags};
	const char *name = target->name ? target->name : "";

	if (n)
		reply[0] = 0;
	if (target->kind != JISCTL_TARGET_PROCESS)
		return -EINVAL;
	if (strlen(name) >= sizeof(request.path))
		return -ENAMETOOLONG;
	snprintf(request.path, sizeof(request.path), "%s", name);
	return request_send(directory, &request, reply, n);
}

int jisctl_control_methods(const char *directory, pid_t pid, const char *rules, char *reply,
			   size_t n)
{
	struct control_request request = {.command = "methods", .pid = pid};

	if (n)
		reply[0] = 0;
	if (strlen(rules) >= sizeof(request.path))
		return -ENAMETOOLONG;
	snprintf(request.path, sizeof(request.path), "%s", rules);
	return request_send(directory, &request, reply, n);
}

int jisctl_snapshot(const char *directory, const char *output, uint64_t last_ns, char *reply,
		    size_t n)
{
	struct control_request request = {.command = "snapshot", .ns = last_ns};

	if (n)
		reply[0] = 0;
	if (output[0] != '/')
		return -EINVAL;
	if (strlen(output) >= sizeof(request.path))
		return -ENAMETOOLONG;
	snprintf(request.path, sizeof(request.path), "%s", output);
	return request_send(directory, &request, reply, n);
}
