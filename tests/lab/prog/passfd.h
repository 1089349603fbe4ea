/* SPDX-License-Identifier: MIT */
/* A descriptor from process to process, over a Unix socket. */
#ifndef JIS_TESTS_PASSFD_H
#define JIS_TESTS_PASSFD_H

#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* Returns 0, or -1 and errno. */
static inline int send_fd(int to, int fd)
{
	char byte = 0, control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec io = {&byte, 1};
	struct msghdr m = {.msg_iov = &io,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof(control)};
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);

	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(h), &fd, sizeof(int));
	return sendmsg(to, &m, 0) == 1 ? 0 : -1;
}

/* Returns the descriptor, or -1: none came. @message: of @size bytes, or NULL: one byte, for
 * nobody.
 */
static inline int receive_fd(int from, void *message, size_t size)
{
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec io = {message ? message : &byte, message ? size : 1};
	struct msghdr m = {.msg_iov = &io,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof(control)};
	int fd;

	if (recvmsg(from, &m, 0) != (ssize_t)io.iov_len || !CMSG_FIRSTHDR(&m))
		return -1;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(int));
	return fd;
}

#endif /* JIS_TESTS_PASSFD_H */
