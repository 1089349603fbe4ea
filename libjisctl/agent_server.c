/* SPDX-License-Identifier: MIT */
/*
 * Agents' connections. The socket is open to all users, because a JVM may run as any: who connects
 * is told by the kernel (SO_PEERCRED) and must be a target.
 */
#include "agent_server.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "jis/agent.h"
#include "jisctl.h"
#include "unix_socket.h"

#define AGENTS_MAX 4096
/* So that no process can take all of the recorder's descriptors; one or two is what it needs. */
#define AGENTS_PER_PROCESS 16
#define NOTES_PER_AGENT 64
/* Each pool leaves a directory. A process has one, and one more for each program it executes. */
#define POOLS_PER_PROCESS 64
#define POOLS_PER_SESSION 16384
#define REFUSALS_TOLD 16
/* So long nobody is accepted after there was no descriptor for it: the socket stays readable. */
#define DEAF_NS 100000000ull
#define MASK_ALL (~1ull) /* bit 0 is no event */

struct agent {
	struct agent *next;
	int fd;
	pid_t pid;
	struct recorder_process *process;
	struct pool *pool; /* NULL: has not said hello yet */
	uint32_t nr_notes;
};

/* How many pools a process has had. */
struct asker {
	pid_t pid;
	uint32_t pools;
};

struct agent_server {
	struct agent_server_config config;
	struct unix_listener listener;
	int epoll;
	bool enabled;
	uint32_t nr_agents, nr_pools;
	struct agent *agents;
	struct asker *askers;
	uint32_t nr_askers, nr_pools_ever;
	uint32_t nr_told;    /* refusals */
	uint32_t nr_deaf;    /* times no descriptor was left */
	uint64_t deaf_until; /* CLOCK_MONOTONIC; 0: the socket is listened to */
};

static void say(struct agent_server *s, int level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void say(struct agent_server *s, int level, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (s->config.log)
		s->config.log(s->config.ctx, level, text);
}

int agent_server_open(const struct agent_server_config *config, struct agent_server **out)
{
	struct agent_server *s = calloc(1, sizeof(*s));
	struct epoll_event ev = {.events = EPOLLIN};
	int err;

	if (!s)
		return -ENOMEM;
	s->config = *config;
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	s->listener.fd = -1;
	err = s->epoll < 0 ? -errno : unix_listen_private(&s->listener);
	if (!err && epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->listener.fd, &ev))
		err = -errno;
	if (err)
		agent_server_close(s);
	else
		*out = s;
	return err;
}

const char *agent_server_path(const struct agent_server *s)
{
	return s->listener.path;
}

int agent_server_fd(const struct agent_server *s)
{
	return s->epoll;
}

uint32_t agent_server_pools(const struct agent_server *s)
{
	return s->nr_pools;
}

static void send_message(int fd, struct jis_agent_message *m, int pass)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.bytes = {0}};
	struct iovec iov = {m, sizeof(*m)};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	struct cmsghdr *c;

	m->magic = JIS_AGENT_MAGIC;
	m->protocol = JIS_AGENT_PROTOCOL;
	if (pass >= 0) {
		msg.msg_control = control.bytes;
		msg.msg_controllen = sizeof(control.bytes);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &pass, sizeof(int));
	}
	/* A peer that is gone, or does not read, is its own loss. */
	if (sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return;
}

static void refuse(struct agent_server *s, int fd, pid_t pid, const char *why)
{
	struct jis_agent_message m = {.type = JIS_AGENT_REFUSE};

	snprintf(m.text, sizeof(m.text), "%s", why);
	send_message(fd, &m, -1);
	if (s->nr_told < REFUSALS_TOLD)
		say(s, JISCTL_INFO, "process %d asked for a pool and was refused: %s", pid, why);
	else if (s->nr_told == REFUSALS_TOLD)
		say(s, JISCTL_INFO, "further processes that are refused a pool are left out");
	s->nr_told++;
}

/* Refuses a target because there is too much of something; that is counted. */
static void refuse_excess(struct agent_server *s, int fd, pid_t pid, const char *why)
{
	recorder_refused(s->config.recorder);
	refuse(s, fd, pid, why);
}

static int agent_finish(struct agent_server *s, struct agent *a)
{
	int err = 0;

	if (!a->pool)
		return 0;
	err = pool_finish(a->pool);
	recorder_process_end(a->process, a->pool);
	pool_close(a->pool);
	a->pool = NULL;
	s->nr_pools--;
	return err;
}

/* Ends the connection; the process's records are all written before. */
static int agent_end(struct agent_server *s, struct agent *a)
{
	struct agent **p = &s->agents;
	int err = agent_finish(s, a);

	while (*p != a)
		p = &(*p)->next;
	*p = a->next;
	close(a->fd);
	free(a);
	s->nr_agents--;
	return err;
}

static uint32_t agents_of(const struct agent_server *s, pid_t pid)
{
	const struct agent *a;
	uint32_t n = 0;

	for (a = s->agents; a; a = a->next)
		n += a->pid == pid;
	return n;
}

/* Without a descriptor nobody can be accepted, nor told why: they wait, and so do we. */
static void accept_failed(struct agent_server *s, int err)
{
	if (err != EMFILE && err != ENFILE && err != ENOBUFS && err != ENOMEM)
		return; /* who asked is gone */
	s->nr_deaf++;
	s->deaf_until = clock_ns(CLOCK_MONOTONIC) + DEAF_NS;
	epoll_ctl(s->epoll, EPOLL_CTL_DEL, s->listener.fd, NULL);
}

static void listen_again(struct agent_server *s)
{
	struct epoll_event ev = {.events = EPOLLIN};

	if (!s->deaf_until || clock_ns(CLOCK_MONOTONIC) < s->deaf_until)
		return;
	if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->listener.fd, &ev) == 0)
		s->deaf_until = 0;
}

static void tell_deaf(struct agent_server *s)
{
	char text[256];

	if (!s->nr_deaf)
		return;
	snprintf(text, sizeof(text),
		 "%u times no file descriptor was left for processes that asked for a pool: they "
		 "waited, or went without; allow the recorder more (ulimit -n)",
		 s->nr_deaf);
	recorder_note(s->config.recorder, text);
	say(s, JISCTL_WARNING, "%s", text);
	s->nr_deaf = 0;
}

static void agent_accept(struct agent_server *s)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLRDHUP};
	bool low = recorder_descriptors_low(s->config.recorder);
	struct ucred peer;
	socklen_t len = sizeof(peer);
	struct agent *a;
	int fd = -1;

	errno = EMFILE;
	if (!low)
		fd = accept4(s->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0) {
		accept_failed(s, errno);
		return;
	}
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len))
		peer.pid = 0;
	if (!peer.pid || !s->config.is_target(s->config.ctx, peer.pid)) {
		refuse(s, fd, peer.pid, "it is no target of this recording");
		goto out_close;
	}
	if (s->nr_agents == AGENTS_MAX) {
		refuse_excess(s, fd, peer.pid, "too many processes have a pool");
		goto out_close;
	}
	if (agents_of(s, peer.pid) == AGENTS_PER_PROCESS) {
		refuse_excess(s, fd, peer.pid, "it has too many connections");
		goto out_close;
	}
	a = calloc(1, sizeof(*a));
	if (!a)
		goto out_close;
	a->fd = fd;
	a->pid = peer.pid;
	ev.data.ptr = a;
	if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &ev)) {
		free(a);
		goto out_close;
	}
	a->next = s->agents;
	s->agents = a;
	s->nr_agents++;
	return;

out_close:
	close(fd);
}

static int pool_make(struct agent_server *s, struct agent *a, const struct jis_agent_message *m)
{
	struct pool_config config = {.bytes = s->config.pool_bytes,
				     .clock = s->config.clock,
				     .base = s->config.base,
				     .pid = (uint32_t)a->pid,
				     .own_pid = m->pid,
				     .event_mask = s->enabled ? MASK_ALL : 0};
	struct recorder_process_params params = {
		.pid = (uint32_t)a->pid,
		.own_pid = m->pid,
		.kind = m->kind == JIS_KIND_JVM ? JIS_KIND_JVM : JIS_KIND_PROGRAM,
		.vm = m->kind == JIS_KIND_JVM ? m->text : NULL,
		.vm_version = m->kind == JIS_KIND_JVM ? m->vm_version : 0,
		.uuid = config.uuid,
	};
	struct pool_sink sink = {.packet = recorder_process_packet};
	int err;

	if (getrandom(config.uuid, sizeof(config.uuid), 0) != sizeof(config.uuid))
		return -EIO;
	err = recorder_process_add(s->config.recorder, &params, &a->process);
	if (err)
		return err;
	sink.ctx = a->process;
	err = pool_create(&config, &sink, &a->pool);
	if (!err)
		s->nr_pools++;
	return err;
}

/* The books of process @pid, made when it is new; NULL: no memory. */
static struct asker *asker_of(struct agent_server *s, pid_t pid)
{
	struct asker *more;
	uint32_t i;

	for (i = 0; i < s->nr_askers; i++)
		if (s->askers[i].pid == pid)
			return &s->askers[i];
	more = realloc(s->askers, (s->nr_askers + 1) * sizeof(*more));
	if (!more)
		return NULL;
	s->askers = more;
	more[s->nr_askers] = (struct asker){.pid = pid};
	return &more[s->nr_askers++];
}

/* Why process @pid may have no further pool, or NULL: it may, and that is written down. */
static const char *pool_denied(struct agent_server *s, pid_t pid)
{
	struct asker *asker;

	if (s->nr_pools_ever == POOLS_PER_SESSION)
		return "too many processes have had a pool";
	asker = asker_of(s, pid);
	if (!asker)
		return strerror(ENOMEM);
	if (asker->pools == POOLS_PER_PROCESS)
		return "it has had too many pools";
	asker->pools++;
	s->nr_pools_ever++;
	return NULL;
}

static void on_hello(struct agent_server *s, struct agent *a, const struct jis_agent_message *m)
{
	struct jis_agent_message welcome = {.type = JIS_AGENT_WELCOME,
					    .features = JIS_FEATURES_DEFAULT};
	const char *why = pool_denied(s, a->pid);
	int err;

	if (why) {
		refuse_excess(s, a->fd, a->pid, why);
		return;
	}
	err = pool_make(s, a, m);
	if (err) {
		if (s->nr_told < REFUSALS_TOLD)
			say(s, JISCTL_WARNING, "process %d gets no pool: %s", a->pid,
			    strerror(-err));
		refuse_excess(s, a->fd, a->pid, strerror(-err));
		return;
	}
	welcome.pool_size = pool_bytes(a->pool);
	send_message(a->fd, &welcome, pool_fd(a->pool));
	say(s, JISCTL_INFO, "process %d (%s) writes its own records", a->pid, m->text);
}

static void on_note(struct agent_server *s, struct agent *a, const struct jis_agent_message *m)
{
	char text[JIS_AGENT_TEXT_MAX + 32];

	if (a->nr_notes > NOTES_PER_AGENT)
		return;
	snprintf(text, sizeof(text), "process %d: %s", a->pid,
		 a->nr_notes++ < NOTES_PER_AGENT ? m->text : "its further notes are left out");
	recorder_note(s->config.recorder, text);
	say(s, JISCTL_WARNING, "%s", text);
}

/* Text from another process is for a terminal and a file: one line, no control characters. */
static void text_clean(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = ' ';
}

/* Returns whether the connection goes on. */
static bool agent_message(struct agent_server *s, struct agent *a)
{
	struct jis_agent_message m;
	ssize_t n = recv(a->fd, &m, sizeof(m), MSG_DONTWAIT | MSG_TRUNC);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n != (ssize_t)sizeof(m) || m.magic != JIS_AGENT_MAGIC)
		return false;
	m.text[sizeof(m.text) - 1] = 0;
	text_clean(m.text);
	if (m.protocol != JIS_AGENT_PROTOCOL) {
		refuse(s, a->fd, a->pid, "its version of JIS is another");
		return false;
	}
	if (m.type == JIS_AGENT_HELLO && !a->pool && !a->process)
		on_hello(s, a, &m);
	else if (m.type == JIS_AGENT_NOTE && a->pool)
		on_note(s, a, &m);
	else
		return false;
	return a->pool != NULL;
}

int agent_server_run(struct agent_server *s)
{
	struct epoll_event events[16];
	int n = epoll_wait(s->epoll, events, 16, 0), i, err = 0, e;

	for (i = 0; i < n; i++) {
		struct agent *a = events[i].data.ptr;

		if (!a) {
			agent_accept(s);
			continue;
		}
		if (agent_message(s, a))
			continue;
		e = agent_end(s, a);
		err = err ? err : e;
	}
	return err;
}

void agent_server_enable(struct agent_server *s, bool on)
{
	struct agent *a;

	s->enabled = on;
	for (a = s->agents; a; a = a->next)
		if (a->pool)
			pool_mask_set(a->pool, on ? MASK_ALL : 0);
}

int agent_server_drain(struct agent_server *s, bool flush)
{
	int fullest = 0, n, err = 0;
	struct agent *a;

	listen_again(s);
	for (a = s->agents; a; a = a->next) {
		if (!a->pool)
			continue;
		n = pool_drain(a->pool);
		if (n < 0 || (flush && pool_flush(a->pool) < 0)) {
			err = recorder_error(s->config.recorder);
			continue;
		}
		n = (int)((uint64_t)n * 256 / pool_packets(a->pool));
		fullest = n > fullest ? n : fullest;
	}
	return err ? err : fullest;
}

void agent_server_counts(const struct agent_server *s, uint64_t *produced, uint64_t *stored,
			 uint64_t *lost)
{
	struct pool_counts c;
	const struct agent *a;
	uint32_t slot, i;

	for (a = s->agents; a; a = a->next) {
		for (slot = 0; a->pool && slot < pool_slots(a->pool); slot++) {
			pool_counts(a->pool, slot, &c);
			for (i = 1; i < JIS_MAX_EVENT_ID; i++) {
				*produced += c.produced[i];
				*stored += c.stored[i];
				*lost += c.lost[i];
			}
		}
	}
}

int agent_server_finish(struct agent_server *s)
{
	int err = 0, e;

	unix_unlisten(&s->listener);
	tell_deaf(s);
	while (s->agents) {
		e = agent_end(s, s->agents);
		err = err ? err : e;
	}
	return err;
}

void agent_server_close(struct agent_server *s)
{
	if (!s)
		return;
	agent_server_finish(s);
	if (s->epoll >= 0)
		close(s->epoll);
	free(s->askers);
	free(s);
}
