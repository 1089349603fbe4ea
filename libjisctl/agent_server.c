/* SPDX-License-Identifier: MIT */
/*
 * Agents' connections. The socket is open to all users, because a JVM may run as any: who connects
 * is told by the kernel (SO_PEERCRED) and must be a target.
 */
#include "agent_server.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "agent_askers.h"
#include "clock.h"
#include "guard.h"
#include "proc.h"
#include "jis/agent.h"
#include "jisctl.h"
#include "safepoints.h"
#include "unix_socket.h"
#include "uprobes.h"

#define AGENTS_MAX 4096
/* So that no process can take all of the recorder's descriptors; one or two is what it needs. */
#define AGENTS_PER_PROCESS 16
#define NOTES_PER_AGENT 64
#define REFUSALS_TOLD 16
/* So long nobody is accepted after there was no descriptor for it: the socket stays readable. */
#define DEAF_NS 100000000ull
#define MASK_ALL (~1ull) /* bit 0 is no event */
#define GUARD_TEXT_MAX 16384
#define SEND_MS 100
/* A larger pool is emptied as often as one of this size (16 MB), that is while what is in it is in
 * the CPUs' caches still. */
#define DRAIN_PACKETS 1024u

/* What an event of the epoll set is of. */
enum source { SOURCE_LISTENER, SOURCE_AGENT };

struct agent_listener {
	enum source source;
	int fd;
};

struct agent {
	enum source source;
	struct agent *next;
	int fd;
	pid_t pid;
	struct recorder_process *process;
	struct pool *pool; /* NULL: has not said hello yet */
	uint32_t nr_notes;
	bool jvm;	     /* it said so */
	bool ready;	     /* all that was asked of it is in place */
	struct guard *guard; /* NULL: none */
	bool changing;	     /* its methods */
	bool change_failed;
	bool half;     /* it has been told a part of a change, and no more could be sent */
	char *changed; /* what it said of the last change */
	struct safepoints *safepoints; /* NULL: not by probes */
};

struct agent_server {
	struct agent_server_config config;
	struct unix_listener listener;
	struct agent_listener first; /* the same, as a source */
	int epoll;
	bool enabled;
	uint32_t nr_agents, nr_pools;
	struct agent *agents;
	struct askers askers;
	uint32_t nr_told;    /* refusals */
	uint32_t nr_deaf;    /* times no descriptor was left */
	uint64_t deaf_until; /* CLOCK_MONOTONIC; 0: the socket is listened to */
	struct safepoints_tried probed;
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
	ev.data.ptr = &s->first;
	s->config = *config;
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	s->listener.fd = -1;
	err = s->epoll < 0 ? -errno : unix_listen_private(&s->listener);
	s->first.fd = s->listener.fd;
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

void agent_server_link(struct agent_server *s, const char *target)
{
	unix_link_session(&s->listener, target);
}

int agent_server_fd(const struct agent_server *s)
{
	return s->epoll;
}

uint32_t agent_server_pools(const struct agent_server *s)
{
	return s->nr_pools;
}

/* Waits a little for a peer that does not read; returns 0 or -errno. */
static int send_message(int fd, struct jis_agent_message *m, int pass)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.bytes = {0}};
	struct iovec iov = {m, sizeof(*m)};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	struct pollfd room = {.fd = fd, .events = POLLOUT};
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
	if (sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
		return 0;
	if (errno != EAGAIN || poll(&room, 1, SEND_MS) != 1)
		return -errno;
	return sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
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

static void safepoints_end(struct agent_server *s, struct agent *a)
{
	char text[128];

	if (!a->safepoints)
		return;
	if (safepoints_waiting(a->safepoints)) {
		snprintf(text, sizeof(text),
			 "process %d: no probes could be set on its VM thread: no safepoints are "
			 "recorded",
			 a->pid);
		recorder_note(s->config.recorder, text);
	}
	safepoints_finish(a->safepoints); /* an error is the recorder's, too */
	safepoints_close(a->safepoints);
	a->safepoints = NULL;
}

static int agent_finish(struct agent_server *s, struct agent *a)
{
	int err = 0;

	if (!a->pool)
		return 0;
	err = pool_finish(a->pool);
	safepoints_end(s, a);
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
	free(a->changed);
	guard_free(a->guard);
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
static void accept_failed(struct agent_server *s, const struct agent_listener *l, int err)
{
	if (err != EMFILE && err != ENFILE && err != ENOBUFS && err != ENOMEM)
		return; /* who asked is gone */
	s->nr_deaf++;
	if (l != &s->first) { /* a JVM that is attached to goes without */
		epoll_ctl(s->epoll, EPOLL_CTL_DEL, l->fd, NULL);
		return;
	}
	s->deaf_until = clock_ns(CLOCK_MONOTONIC) + DEAF_NS;
	epoll_ctl(s->epoll, EPOLL_CTL_DEL, s->listener.fd, NULL);
}

static void listen_again(struct agent_server *s)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = &s->first};

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

static void agent_accept(struct agent_server *s, const struct agent_listener *l)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLRDHUP};
	bool low = recorder_descriptors_low(s->config.recorder);
	struct ucred peer;
	socklen_t len = sizeof(peer);
	struct agent *a;
	int fd = -1;

	errno = EMFILE;
	if (!low)
		fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0) {
		accept_failed(s, l, errno);
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
	a->source = SOURCE_AGENT;
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

static int agent_packet(void *ctx, uint32_t slot, const struct jis_packet_header *packet,
			uint32_t skip, bool open)
{
	struct agent *a = ctx;

	if (a->guard && slot != JIS_POOL_DICT_SLOT)
		guard_packet(a->guard, packet, skip);
	return recorder_process_packet(a->process, slot, packet, skip, open);
}

static int pool_make(struct agent_server *s, struct agent *a, const struct jis_agent_message *m)
{
	struct pool_config config = {.bytes = s->config.pool_bytes,
				     .clock = s->config.clock,
				     .base = s->config.base,
				     .pid = (uint32_t)a->pid,
				     .own_pid = m->pid,
				     .event_mask = s->enabled ? MASK_ALL : 0,
				     .memory = s->config.pool_memory,
				     .memory_ctx = s->config.ctx};
	struct recorder_process_params params = {
		.pid = (uint32_t)a->pid,
		.own_pid = m->pid,
		.kind = m->kind == JIS_KIND_JVM ? JIS_KIND_JVM : JIS_KIND_PROGRAM,
		.vm = m->kind == JIS_KIND_JVM ? m->text : NULL,
		.vm_version = m->kind == JIS_KIND_JVM ? m->vm_version : 0,
		.uuid = config.uuid,
	};
	struct pool_sink sink = {.packet = agent_packet, .ctx = a};
	int err;

	if (getrandom(config.uuid, sizeof(config.uuid), 0) != sizeof(config.uuid))
		return -EIO;
	err = recorder_process_add(s->config.recorder, &params, &a->process);
	if (err)
		return err;
	err = pool_create(&config, &sink, &a->pool);
	if (err)
		return err;
	s->nr_pools++;
	recorder_process_own_slots(a->process, pool_slots(a->pool));
	return 0;
}

/* Sends a list of rules in pieces, to be read as they come. Returns 0 or -errno; @sent: pieces. */
static int methods_send(int fd, const char *rules, uint32_t asked, uint32_t flags,
			unsigned int *sent)
{
	size_t length = strlen(rules), n;
	int err;

	*sent = 0;
	do {
		struct jis_agent_message m = {.type = JIS_AGENT_METHODS, .kind = asked};

		n = length < sizeof(m.text) - 1 ? length : sizeof(m.text) - 1;
		memcpy(m.text, rules, n);
		rules += n;
		length -= n;
		m.features = flags | (length ? JIS_METHODS_MORE : 0);
		err = send_message(fd, &m, -1);
		*sent += !err;
	} while (length && !err);
	return err;
}

/* Safepoints by probes, if they can be set: then the agent need not tell them. */
static void safepoints_begin(struct agent_server *s, struct agent *a,
			     const struct jis_agent_message *m, uint32_t *features)
{
	struct safepoints_config config = {.pid = a->pid,
					   .own_pid = m->pid,
					   .clock = s->config.clock,
					   .base = s->config.base,
					   .process = a->process,
					   .slot = pool_slots(a->pool),
					   .tried = &s->probed};
	char why[128] = "too few file descriptors are left";
	int err = -EMFILE;

	if (s->config.no_uprobes || !a->jvm || !(*features & JIS_FEATURE_SAFEPOINTS))
		return;
	if (!recorder_descriptors_low(s->config.recorder))
		err = safepoints_open(&config, &a->safepoints, why, sizeof(why));
	if (err) {
		say(s, JISCTL_INFO, "process %d: safepoints from the JVM's log: %s", a->pid, why);
		return;
	}
	safepoints_enable(a->safepoints, s->enabled);
	*features &= ~JIS_FEATURE_SAFEPOINTS;
}

static void on_hello(struct agent_server *s, struct agent *a, const struct jis_agent_message *m)
{
	struct jis_agent_message welcome = {.type = JIS_AGENT_WELCOME,
					    .features = s->config.features,
					    .stack_threshold = s->config.stack_threshold_ns,
					    .allocation_interval = s->config.allocation_interval};
	const char *why = askers_deny(&s->askers, a->pid, recorder_processes(s->config.recorder));
	unsigned int sent;
	int err;

	a->jvm = m->kind == JIS_KIND_JVM;
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
	safepoints_begin(s, a, m, &welcome.features);
	if (pool_words_read(a->pool) && !s->config.no_vm_states)
		welcome.features |= JIS_FEATURE_VM_STATES;
	if (s->config.methods && a->jvm)
		welcome.features |= JIS_FEATURE_METHODS;
	send_message(a->fd, &welcome, pool_fd(a->pool));
	if (a->safepoints)
		safepoints_prepare(a->safepoints);
	if (welcome.features & JIS_FEATURE_METHODS && s->config.methods_budget &&
	    !s->config.methods_dry_run)
		a->guard = guard_new(s->config.methods_budget);
	if (welcome.features & JIS_FEATURE_METHODS)
		methods_send(a->fd, s->config.methods, JIS_METHODS_START,
			     s->config.methods_dry_run ? JIS_METHODS_DRY : 0, &sent);
	say(s, JISCTL_INFO, "process %d (%s) writes its own records", a->pid, m->text);
	if (s->config.pool_memory && !pool_words_read(a->pool))
		say(s, JISCTL_INFO, "process %d: the kernel does not see its threads' own states",
		    a->pid);
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

static void on_methods_done(struct agent_server *s, struct agent *a,
			    const struct jis_agent_message *m)
{
	free(a->changed);
	a->changed = strdup(m->text);
	a->changing = false;
	a->change_failed = m->features != 0;
	say(s, JISCTL_INFO, "process %d: %s", a->pid, m->text);
}

/* A JVM that is being started waits for the answer. */
static void on_ready(struct agent *a)
{
	struct jis_agent_message begin = {.type = JIS_AGENT_BEGIN};

	a->ready = true;
	if (a->safepoints) /* its VM thread runs */
		safepoints_drain(a->safepoints, false);
	send_message(a->fd, &begin, -1);
}

/* Text from another process is for a terminal and a file: one line, no control characters. */
static void text_clean(char *text)
{
	for (; *text; text++) {
		/* U+0080 to U+009F are such, too. */
		if ((unsigned char)*text == 0xc2 && (unsigned char)text[1] >= 0x80 &&
		    (unsigned char)text[1] < 0xa0)
			text[0] = text[1] = ' ';
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = ' ';
	}
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
	else if (m.type == JIS_AGENT_READY && a->pool)
		on_ready(a);
	else if (m.type == JIS_AGENT_METHODS_DONE && a->pool && a->changing)
		on_methods_done(s, a, &m);
	else if (m.type == JIS_AGENT_FAILED && !a->pool && s->config.failed)
		s->config.failed(s->config.ctx, a->pid, m.text);
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

		if (a->source == SOURCE_LISTENER) {
			agent_accept(s, events[i].data.ptr);
			continue;
		}
		if (agent_message(s, a))
			continue;
		e = agent_end(s, a);
		err = err ? err : e;
	}
	return err;
}

int agent_server_listen(struct agent_server *s, int fd, struct agent_listener **out)
{
	struct agent_listener *l = calloc(1, sizeof(*l));
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = l};

	if (!l)
		return -ENOMEM;
	l->source = SOURCE_LISTENER;
	l->fd = fd;
	if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &ev)) {
		free(l);
		return -errno;
	}
	*out = l;
	return 0;
}

void agent_server_unlisten(struct agent_server *s, struct agent_listener *l)
{
	if (!l)
		return;
	epoll_ctl(s->epoll, EPOLL_CTL_DEL, l->fd, NULL);
	free(l);
}

enum agent_presence agent_server_agent(const struct agent_server *s, pid_t pid)
{
	const struct agent *a;

	for (a = s->agents; a; a = a->next)
		if (a->pid == pid && a->pool)
			return a->ready ? AGENT_READY : AGENT_CONNECTED;
	return askers_have(&s->askers, pid) ? AGENT_GONE : AGENT_NONE;
}

static struct agent *jvm_find(const struct agent_server *s, pid_t pid)
{
	struct agent *a;

	for (a = s->agents; a; a = a->next)
		if (a->pid == pid && a->pool && a->jvm && a->ready)
			return a;
	return NULL;
}

int agent_server_methods(struct agent_server *s, pid_t pid, const char *rules, uint32_t asked)
{
	struct agent *a = jvm_find(s, pid);
	unsigned int sent;
	int err;

	if (!a)
		return -ENOENT;
	if (a->changing)
		return -EBUSY;
	if (a->half) /* it would take what comes for the rest of that */
		return -EPIPE;
	err = methods_send(a->fd, rules, asked, 0, &sent);
	a->changing = !err;
	a->half = err && sent;
	return err;
}

int agent_server_methods_done(const struct agent_server *s, pid_t pid, char *text, size_t n)
{
	const struct agent *a = jvm_find(s, pid);

	snprintf(text, n, "%s", a && a->changed ? a->changed : "");
	if (!a)
		return -ENOENT;
	if (a->changing)
		return -EINPROGRESS;
	return a->change_failed ? -EINVAL : 0;
}

int agent_server_stop(struct agent_server *s, pid_t pid)
{
	struct jis_agent_message m = {.type = JIS_AGENT_STOP};
	const struct agent *a;
	int n = 0;

	for (a = s->agents; a; a = a->next) {
		if (!a->jvm || !a->pool || (pid && a->pid != pid))
			continue;
		send_message(a->fd, &m, -1);
		n++;
	}
	return n;
}

uint32_t agent_server_jvms(const struct agent_server *s)
{
	const struct agent *a;
	uint32_t n = 0;

	for (a = s->agents; a; a = a->next)
		n += a->jvm && a->pool;
	return n;
}

void agent_server_enable(struct agent_server *s, bool on)
{
	struct agent *a;

	s->enabled = on;
	for (a = s->agents; a; a = a->next) {
		if (a->pool)
			pool_mask_set(a->pool, on ? MASK_ALL : 0);
		if (a->safepoints)
			safepoints_enable(a->safepoints, on);
	}
}

/* Lets the guard look at what the calls of its methods cost. */
static void agent_guard(struct agent_server *s, struct agent *a)
{
	struct guard_now now = {.time = clock_ns(CLOCK_MONOTONIC)};
	char text[GUARD_TEXT_MAX];
	struct pool_counts c;
	uint32_t slot, share;
	unsigned int n;
	clockid_t cpu;

	if (a->changing || !a->ready || !guard_due(a->guard, now.time) ||
	    clock_getcpuclockid(a->pid, &cpu))
		return;
	now.jit = proc_jit_time(a->pid);
	now.cpu = clock_ns(cpu);
	for (slot = 0; slot < pool_slots(a->pool); slot++) {
		pool_counts(a->pool, slot, &c);
		now.lost += c.lost[JIS_EV_method_enter];
	}
	n = guard_decide(a->guard, &now, text, sizeof(text), &share);
	if (!n)
		return;
	say(s, JISCTL_WARNING,
	    "process %d: calls of methods may add %u %% to its CPU time, the budget is %u %%: "
	    "the %u called most are switched off (jis dump --event method_off)",
	    a->pid, share, s->config.methods_budget, n);
	agent_server_methods(s, a->pid, text, JIS_METHODS_GUARD);
}

void agent_server_guard(struct agent_server *s)
{
	struct agent *a;

	for (a = s->agents; a; a = a->next)
		if (a->pool && a->guard)
			agent_guard(s, a);
}

int agent_server_drain(struct agent_server *s, bool flush)
{
	int fullest = 0, n, err = 0;
	uint32_t packets;
	struct agent *a;

	listen_again(s);
	for (a = s->agents; a; a = a->next) {
		if (!a->pool)
			continue;
		n = pool_drain(a->pool);
		if (a->safepoints && safepoints_drain(a->safepoints, flush))
			n = -EIO;
		if (n < 0 || (flush && pool_flush(a->pool) < 0)) {
			err = recorder_error(s->config.recorder);
			continue;
		}
		packets = pool_packets(a->pool);
		n = (int)((uint64_t)n * 256 / (packets < DRAIN_PACKETS ? packets : DRAIN_PACKETS));
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
		if (a->safepoints)
			safepoints_counts(a->safepoints, produced, stored, lost);
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
	askers_fini(&s->askers);
	free(s);
	uprobes_settle();
}
