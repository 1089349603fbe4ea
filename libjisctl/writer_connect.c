/* SPDX-License-Identifier: MIT */
/*
 * Connects a C program to the recorder. Trusts it no more than it must: who owns the socket, that
 * the pool cannot shrink, and its size are checked.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "jis/agent.h"
#include "writer_client.h"

#define ANSWER_TIMEOUT_S 5

static int connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct timeval timeout = {.tv_sec = ANSWER_TIMEOUT_S};
	struct ucred peer;
	socklen_t len = sizeof(peer);
	int fd, err;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len))
		err = -errno;
	else
		err = peer.uid == 0 || peer.uid == getuid() ? fd : -EPERM;
	if (err < 0)
		close(fd);
	return err;
}

static int say_hello(int fd)
{
	struct jis_agent_message m = {.magic = JIS_AGENT_MAGIC,
				      .protocol = JIS_AGENT_PROTOCOL,
				      .type = JIS_AGENT_HELLO,
				      .kind = JIS_KIND_PROGRAM,
				      .pid = (uint32_t)getpid()};

	snprintf(m.text, sizeof(m.text), "%s", program_invocation_short_name);
	return send(fd, &m, sizeof(m), MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* The answer, and the descriptor that comes with it (-1: none). */
static int take_answer(int fd, struct jis_agent_message *m, int *passed)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = {m, sizeof(*m)};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control.bytes,
			     .msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *c;
	ssize_t n;

	*passed = -1;
	do
		n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(passed, CMSG_DATA(c), sizeof(int));
	if (n != (ssize_t)sizeof(*m) || m->magic != JIS_AGENT_MAGIC ||
	    m->protocol != JIS_AGENT_PROTOCOL)
		return -EPROTO;
	if (m->type == JIS_AGENT_REFUSE)
		return -EACCES;
	return m->type == JIS_AGENT_WELCOME && *passed >= 0 ? 0 : -EPROTO;
}

static int map_pool(int fd, uint64_t size, struct client_pool *out)
{
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS);
	void *m;

	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &st) || !size ||
	    size > (uint64_t)st.st_size)
		return -EPROTO;
	m = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (m == MAP_FAILED)
		return -errno;
	madvise(m, size, MADV_DONTFORK);
	out->memory = m;
	out->size = size;
	return 0;
}

int client_connect(struct client_pool *out)
{
	const char *path = getenv(JIS_SOCKET_ENV), *disable = getenv(JIS_DISABLE_ENV);
	struct jis_agent_message answer;
	int err, passed = -1;

	if (!path || !*path || (disable && strcmp(disable, "1") == 0))
		return -ENOENT;
	out->fd = connect_to(path);
	if (out->fd < 0)
		return out->fd;
	err = say_hello(out->fd);
	if (!err)
		err = take_answer(out->fd, &answer, &passed);
	if (!err)
		err = map_pool(passed, answer.pool_size, out);
	if (passed >= 0)
		close(passed);
	if (err) {
		close(out->fd);
		out->fd = -1;
	}
	return err;
}
