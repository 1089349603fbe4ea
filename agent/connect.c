/* SPDX-License-Identifier: MIT */
/*
 * The recorder: connecting to it, checking it, mapping its pool, and hearing it. The descriptor of
 * the pool is closed once mapped; all others are close-on-exec.
 */
#include "compat.h"

#include <fcntl.h>
#include <pthread.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"
#include "methods.h"
#include "vmlog.h"

/* A JVM that starts does not wait for long; in one that runs nobody waits but who attaches. */
#define CONNECT_SECONDS 2
#define ATTACH_SECONDS 8
#define POOL_MAX (8ull << 30)
#define DONE_MS 1000
#define BEGIN_SECONDS 1
#define DONE_STEP_MS 10

static pthread_mutex_t socket_lock = PTHREAD_MUTEX_INITIALIZER;
static int recorder_socket = -1; /* closed and used by notes under the lock */
static pthread_cond_t begin_heard = PTHREAD_COND_INITIALIZER;
static int begin_awaited; /* the answer to READY; under the lock */
static char recorder_path[512];

static int socket_open(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct timeval limit = {agent.attached ? ATTACH_SECONDS : CONNECT_SECONDS, 0};
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

/* Others may look whether the writer is on at any time: it stays off until it is whole. */
static int writer_begin(void *pool, size_t size)
{
	struct jis_writer fresh;
	const __u64 *mask;

	if (jis_writer_init(&fresh, pool, size, (__u32)getpid()) < 0)
		return -EPROTO;
	mask = fresh.mask;
	fresh.mask = &agent.writer.zero;
	agent.writer = fresh;
	__atomic_store_n(&agent.writer.mask, mask, __ATOMIC_RELEASE);
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
	pool = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (pool == MAP_FAILED)
		return -errno;
	madvise(pool, size, MADV_DONTFORK);
	if (writer_begin(pool, size) < 0) {
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

/* Appends a piece to the list in *@text. Returns 1: there is more to come, 0, or -errno. */
static int methods_append(char **text, const struct jis_agent_message *m)
{
	size_t used = *text ? strlen(*text) : 0, length = strnlen(m->text, sizeof(m->text));
	char *longer;

	if (used + length > JIS_METHODS_TEXT_MAX)
		return -EMSGSIZE;
	longer = realloc(*text, used + length + 1);
	if (!longer)
		return -ENOMEM;
	memcpy(longer + used, m->text, length);
	longer[used + length] = 0;
	*text = longer;
	return (m->features & JIS_METHODS_MORE) != 0;
}

/* The list of methods, which comes behind the welcome. */
static int methods_receive(int fd)
{
	struct jis_agent_message m;
	int more = 1, none;

	free(agent.methods);
	agent.methods = NULL;
	while (more > 0) {
		more = welcome_receive(fd, &m, &none);
		if (!more && m.type != JIS_AGENT_METHODS)
			more = -EPROTO;
		if (!more)
			more = methods_append(&agent.methods, &m);
		agent.methods_dry = (m.features & JIS_METHODS_DRY) != 0;
	}
	return more;
}

int recorder_connect(const char *path, char *why, size_t n)
{
	struct jis_agent_message m = {0};
	int fd = socket_open(path), error;

	error = fd < 0 ? fd : handshake(fd, &m);
	if (!error && m.features & JIS_FEATURE_METHODS && methods_receive(fd) < 0)
		m.features &= ~JIS_FEATURE_METHODS;
	if (!error) {
		snprintf(recorder_path, sizeof(recorder_path), "%s", path);
		agent.features = m.features;
		agent.stack_threshold = m.stack_threshold;
		agent.allocation_interval = m.allocation_interval;
		pthread_mutex_lock(&socket_lock);
		recorder_socket = fd;
		pthread_mutex_unlock(&socket_lock);
		return 0;
	}
	if (fd >= 0)
		close(fd);
	snprintf(why, n, "recorder at %s: %s", path,
		 m.type == JIS_AGENT_REFUSE && m.text[0] ? m.text : strerror(-error));
	return error;
}

int recorder_is(const char *path)
{
	return recorder_socket >= 0 && !strcmp(path, recorder_path);
}

static void message_send(int fd, unsigned int type, const char *text)
{
	struct jis_agent_message m;

	message_init(&m, type);
	m.kind = JIS_KIND_JVM;
	m.pid = (__u32)getpid();
	m.vm_version = agent.vm_version;
	snprintf(m.text, sizeof(m.text), "%s", text);
	(void)!send(fd, &m, sizeof(m), MSG_NOSIGNAL | MSG_DONTWAIT);
}

int recorder_tell_failure(const char *path, const char *why)
{
	int fd = socket_open(path);

	if (fd < 0)
		return fd;
	message_send(fd, JIS_AGENT_FAILED, why);
	close(fd);
	return 0;
}

void recorder_note(const char *format, ...)
{
	char text[JIS_AGENT_TEXT_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	agent_debug("note: %s", text);
	pthread_mutex_lock(&socket_lock);
	if (recorder_socket >= 0)
		message_send(recorder_socket, JIS_AGENT_NOTE, text);
	pthread_mutex_unlock(&socket_lock);
}

void recorder_ready(void)
{
	pthread_mutex_lock(&socket_lock);
	if (recorder_socket >= 0)
		message_send(recorder_socket, JIS_AGENT_READY, "");
	begin_awaited = recorder_socket >= 0;
	pthread_mutex_unlock(&socket_lock);
}

void recorder_begin_wait(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += BEGIN_SECONDS;
	pthread_mutex_lock(&socket_lock);
	while (begin_awaited && !pthread_cond_timedwait(&begin_heard, &socket_lock, &until))
		;
	pthread_mutex_unlock(&socket_lock);
}

void recorder_begin_over(void)
{
	pthread_mutex_lock(&socket_lock);
	begin_awaited = 0;
	pthread_cond_broadcast(&begin_heard);
	pthread_mutex_unlock(&socket_lock);
}

void recorder_methods_done(int failed, const char *text)
{
	const struct timespec step = {0, DONE_STEP_MS * 1000000};
	struct jis_agent_message m;
	int ms, full = 1;

	message_init(&m, JIS_AGENT_METHODS_DONE);
	m.features = failed != 0;
	snprintf(m.text, sizeof(m.text), "%s", text);
	/* It waits for this one, so it is not left out for want of room at once. */
	for (ms = 0; full && ms < DONE_MS; ms += DONE_STEP_MS) {
		if (ms)
			nanosleep(&step, NULL);
		pthread_mutex_lock(&socket_lock);
		full = recorder_socket >= 0 &&
		       send(recorder_socket, &m, sizeof(m), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
		       errno == EAGAIN;
		pthread_mutex_unlock(&socket_lock);
	}
}

/* A piece of a later list; when it is whole it is applied. */
static void methods_hear(const struct jis_agent_message *m)
{
	static char *text; /* of the control thread, of which there is one */
	int more = methods_append(&text, m);

	if (more > 0)
		return;
	if (more < 0)
		recorder_methods_done(1, strerror(-more));
	else
		life_methods(m->kind, text);
	free(text);
	text = NULL;
}

/* What the recorder may say that we do not know is for later protocols. */
int recorder_wait(void)
{
	struct pollfd p[3] = {{.fd = recorder_socket, .events = POLLIN},
			      {.events = POLLIN},
			      {.fd = -1, .events = POLLIN}};
	struct jis_agent_message m;
	ssize_t n;

	if (agent.features & JIS_FEATURE_METHODS)
		p[2].fd = methods_later_fd();
	for (;;) {
		int timeout = vmlogs_timeout(&p[1].fd);

		p[2].revents = 0;
		if (poll(p, 3, timeout) < 0 && errno != EINTR)
			return 0;
		vmlogs_read();
		if (p[2].revents & POLLIN)
			life_methods_later();
		n = recv(p[0].fd, &m, sizeof(m), MSG_DONTWAIT);
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			return 0;
		if (n != (ssize_t)sizeof(m) || m.magic != JIS_AGENT_MAGIC)
			continue;
		if (m.type == JIS_AGENT_STOP)
			return 1;
		if (m.type == JIS_AGENT_METHODS)
			methods_hear(&m);
		if (m.type == JIS_AGENT_BEGIN)
			recorder_begin_over();
	}
}

void recorder_close(void)
{
	pthread_mutex_lock(&socket_lock);
	if (recorder_socket >= 0)
		close(recorder_socket);
	recorder_socket = -1;
	pthread_mutex_unlock(&socket_lock);
}
