/* SPDX-License-Identifier: MIT */
/*
 * The recorder: connecting to it, checking it, mapping its pool, and noticing when it is gone. The
 * descriptor of the pool is closed once mapped; all others are close-on-exec.
 */
#include "compat.h"

#include <fcntl.h>
#include <pthread.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent.h"

#define CONNECT_SECONDS 2
#define POOL_MAX (8ull << 30)

static int socket_open(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct timeval limit = {CONNECT_SECONDS, 0};
	int fd;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	/* Both also bound connect() and the wait for the answer. */
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		int error = errno == EAGAIN || errno == EINPROGRESS ? ETIMEDOUT : errno;

		close(fd);
		return -error;
	}
	return fd;
}

/* Only root's or our own user's process may give us memory to write to. */
static int peer_check(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return -errno;
	return peer.uid == 0 || peer.uid == geteuid() ? 0 : -EPERM;
}

static void message_init(struct jis_agent_message *m, unsigned int type)
{
	memset(m, 0, sizeof(*m));
	m->magic = JIS_AGENT_MAGIC;
	m->protocol = JIS_AGENT_PROTOCOL;
	m->type = (__u16)type;
}

static int hello_send(int fd)
{
	struct jis_agent_message m;

	message_init(&m, JIS_AGENT_HELLO);
	m.kind = JIS_KIND_JVM;
	m.pid = (__u32)getpid();
	m.vm_version = agent.vm_version;
	snprintf(m.text, sizeof(m.text), "%s", agent.vm_name);
	return send(fd, &m, sizeof(m), MSG_NOSIGNAL) == (ssize_t)sizeof(m) ? 0 : -errno;
}

static int descriptor_of(struct msghdr *header)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(header);
	int fd;

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
	    c->cmsg_len != CMSG_LEN(sizeof(fd)))
		return -1;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

/* Receives the answer; *pool is its descriptor or -1. */
static int welcome_receive(int fd, struct jis_agent_message *m, int *pool)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
	struct iovec iov = {m, sizeof(*m)};
	struct msghdr header = {.msg_iov = &iov,
				.msg_iovlen = 1,
				.msg_control = control,
				.msg_controllen = sizeof(control)};
	ssize_t n;

	memset(control, 0, sizeof(control));
	do
		n = recvmsg(fd, &header, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	*pool = descriptor_of(&header);
	if (n == 0)
		return -ECONNRESET;
	if (n != (ssize_t)sizeof(*m) || m->magic != JIS_AGENT_MAGIC ||
	    m->protocol != JIS_AGENT_PROTOCOL)
		return -EPROTO;
	m->text[sizeof(m->text) - 1] = 0;
	return 0;
}

/* Maps the pool, if it can never get smaller than what we map. */
static int pool_map(int fd, __u64 size)
{
	int seals = fcntl(fd, F_GET_SEALS);
	off_t real = lseek(fd, 0, SEEK_END);
	void *pool;

	if (size < sizeof(struct jis_pool_header) || size > POOL_MAX || real < 0 ||
	    (__u64)real < size || seals < 0 || !(seals & F_SEAL_SHRINK))
		return -EPROTO;
	/* Page tables now, so that no writer faults later; the pages are the recorder's already. */
	pool = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (pool == MAP_FAILED)
		return -errno;
	madvise(pool, size, MADV_DONTFORK);
	if (jis_writer_init(&agent.writer, pool, size, (__u32)getpid()) < 0) {
		munmap(pool, size);
		return -EPROTO;
	}
	agent.pool = pool;
	agent.pool_size = size;
	return 0;
}

static int handshake(int fd, struct jis_agent_message *m)
{
	int error, pool = -1;

	error = peer_check(fd);
	if (!error)
		error = hello_send(fd);
	if (!error)
		error = welcome_receive(fd, m, &pool);
	if (!error && m->type == JIS_AGENT_REFUSE)
		error = -ECONNREFUSED;
	else if (!error && (m->type != JIS_AGENT_WELCOME || pool < 0))
		error = -EPROTO;
	if (!error)
		error = pool_map(pool, m->pool_size);
	if (pool >= 0)
		close(pool);
	return error;
}

int recorder_connect(const char *path)
{
	struct jis_agent_message m = {0};
	char why[512];
	int fd = socket_open(path), error;

	error = fd < 0 ? fd : handshake(fd, &m);
	if (!error) {
		agent.socket = fd;
		agent.features = m.features;
		return 0;
	}
	if (fd >= 0)
		close(fd);
	snprintf(why, sizeof(why), "no recording: recorder at %s: %s", path,
		 m.type == JIS_AGENT_REFUSE && m.text[0] ? m.text : strerror(-error));
	agent_dormant(why);
	return error;
}

void recorder_note(const char *format, ...)
{
	struct jis_agent_message m;
	va_list args;

	message_init(&m, JIS_AGENT_NOTE);
	m.pid = (__u32)getpid();
	va_start(args, format);
	vsnprintf(m.text, sizeof(m.text), format, args);
	va_end(args);
	agent_debug("note: %s", m.text);
	if (agent.socket >= 0)
		(void)!send(agent.socket, &m, sizeof(m), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Ends when the other side does; what it may say meanwhile is for later protocols. */
static void recorder_wait(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char message[sizeof(struct jis_agent_message)];
	ssize_t n;

	for (;;) {
		if (poll(&p, 1, -1) < 0 && errno != EINTR)
			return;
		n = recv(fd, message, sizeof(message), MSG_DONTWAIT);
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			return;
	}
}

/*
 * The pool's memory is not ours: without its recorder nobody empties it. Writers may be in the
 * middle of a record, so it is not unmapped but replaced; a page of zeros has an event mask of
 * zero.
 */
static void *control_thread(void *unused)
{
	prctl(PR_SET_NAME, "jis-control");
	recorder_wait(agent.socket);
	jis_writer_off(&agent.writer);
	if (mmap(agent.pool, agent.pool_size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED)
		agent_debug("the pool stays mapped: %s", strerror(errno));
	agent_dormant("the recorder is gone: this JVM is no longer recorded");
	return NULL;
}

int recorder_watch(void)
{
	sigset_t all, old;
	pthread_t thread;
	int error;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old); /* on Linux: of this thread */
	error = pthread_create(&thread, NULL, control_thread, NULL);
	sigprocmask(SIG_SETMASK, &old, NULL);
	if (!error)
		pthread_detach(thread);
	return -error;
}
