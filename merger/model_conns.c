/* SPDX-License-Identifier: MIT */
/*
 * Connections of stream sockets: an object each open end, made when it is accepted, connected or
 * first told of, given to the sinks and forgotten when it is closed. Who polled or accepted it and
 * who reads it next are links.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "jis/abi.h"
#include "model_conn.h"
#include "trace/grow.h"
#include "trace/syscall_name.h"

enum conn_op {
	OP_NONE,
	OP_OTHER, /* is counted, and moves nothing */
	OP_IN,
	OP_OUT,
	OP_SOCKET,
	OP_ACCEPT,
	OP_CONNECT,
	OP_CLOSE,
	OP_DUP_TO,
	OP_EPOLL_CTL,
	OP_EPOLL_WAIT,
	OP_EPOLL,
	OP_EVENTFD,
	OP_TIMERFD,
};

static const struct {
	const char *name;
	uint8_t op;
} known[] = {
	{"read", OP_IN},
	{"readv", OP_IN},
	{"preadv2", OP_IN},
	{"recvfrom", OP_IN},
	{"recvmsg", OP_IN},
	{"splice", OP_IN},
	{"write", OP_OUT},
	{"writev", OP_OUT},
	{"pwritev2", OP_OUT},
	{"sendto", OP_OUT},
	{"sendmsg", OP_OUT},
	{"sendfile", OP_OUT},
	{"sendfile64", OP_OUT},
	{"recvmmsg", OP_OTHER},
	{"recvmmsg_time64", OP_OTHER},
	{"sendmmsg", OP_OTHER},
	{"shutdown", OP_OTHER},
	{"getsockname", OP_OTHER},
	{"getpeername", OP_OTHER},
	{"setsockopt", OP_OTHER},
	{"getsockopt", OP_OTHER},
	{"fcntl", OP_OTHER},
	{"fcntl64", OP_OTHER},
	{"ioctl", OP_OTHER},
	{"socket", OP_SOCKET},
	{"accept", OP_ACCEPT},
	{"accept4", OP_ACCEPT},
	{"connect", OP_CONNECT},
	{"close", OP_CLOSE},
	{"dup2", OP_DUP_TO},
	{"dup3", OP_DUP_TO},
	{"epoll_ctl", OP_EPOLL_CTL},
	{"epoll_wait", OP_EPOLL_WAIT},
	{"epoll_pwait", OP_EPOLL_WAIT},
	{"epoll_pwait2", OP_EPOLL_WAIT},
	{"epoll_create", OP_EPOLL},
	{"epoll_create1", OP_EPOLL},
	{"eventfd", OP_EVENTFD},
	{"eventfd2", OP_EVENTFD},
	{"timerfd_create", OP_TIMERFD},
};

/* Calls -------------------------------------------------------------------------------------- */

static uint8_t op_of_name(const char *name)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!strcmp(known[i].name, name))
			return known[i].op;
	}
	return OP_NONE;
}

static uint8_t op_of(const struct model *m, int32_t nr)
{
	uint32_t index = (uint32_t)nr & ~(uint32_t)JIS_SYSCALL_COMPAT;

	if (nr < 0 || index >= JIS_MAX_SYSCALL)
		return OP_NONE;
	return m->conn_ops[index + ((uint32_t)nr & JIS_SYSCALL_COMPAT ? JIS_MAX_SYSCALL : 0)];
}

/* When the last thread of each process ends. */
static void find_ends(struct model *m)
{
	for (uint32_t i = 0; i < m->info.nr_threads; i++) {
		const struct model_thread *t = &m->threads[i];

		if (t->death > m->runs[t->process].end)
			m->runs[t->process].end = t->death;
	}
}

int conns_init(struct model *m)
{
	m->conns = calloc(1, sizeof(*m->conns));
	m->conn_ops = calloc(2, JIS_MAX_SYSCALL);
	if (!m->conns || !m->conn_ops)
		return -ENOMEM;
	for (uint32_t compat = 0; compat < 2; compat++) {
		const char *const *names = syscall_names(m->info.manifest->machine, compat);

		for (uint32_t i = 0; names && i < JIS_MAX_SYSCALL; i++) {
			if (names[i])
				m->conn_ops[compat * JIS_MAX_SYSCALL + i] = op_of_name(names[i]);
		}
	}
	find_ends(m);
	return 0;
}

static void conn_free(struct conn *c)
{
	free(c->served);
	free(c->sends);
	free(c->receives);
	free(c);
}

void conns_fini(struct model *m)
{
	for (uint32_t i = 0; m->runs && i < m->info.nr_processes; i++) {
		while (m->runs[i].conns) {
			struct conn *c = m->runs[i].conns;

			m->runs[i].conns = c->next;
			conn_free(c);
		}
	}
	if (m->conns)
		free(m->conns->table);
	free(m->conns);
	free(m->conn_ops);
}

/* Begin and end ------------------------------------------------------------------------------ */

static struct conn *conn_new(struct model *m, struct fd *f, enum model_connection_origin origin,
			     uint64_t t)
{
	struct process_run *p = &m->runs[f->process];
	struct conn *c = m->conns->open < MAX_OPEN ? calloc(1, sizeof(*c)) : NULL;

	if (m->conns->open >= MAX_OPEN)
		return NULL;
	if (!c) {
		m->error = -ENOMEM;
		return NULL;
	}
	c->told = (struct model_connection){
		.number = ++m->conns->number,
		.process = f->process,
		.fd = f->fd,
		.origin = origin,
		.opened = t,
		.first_byte = TIME_NONE,
		.last_byte = TIME_NONE,
		.closed = TIME_NONE,
		.complete = origin != MODEL_CONNECTION_BEFORE,
		.opener = {NONE, NONE},
	};
	c->exact = c->told.complete;
	c->epoll = -1;
	c->fresh = true;
	c->last = NONE;
	c->next = p->conns;
	if (p->conns)
		p->conns->former = c;
	p->conns = c;
	f->conn = c;
	m->conns->open++;
	return c;
}

static bool served_selected(const struct model *m, const struct conn *c)
{
	if (!c->told.nr_threads)
		return c->told.opener.thread == NONE ||
		       m->lives[c->told.opener.thread].flags & LIFE_SELECTED;
	for (uint32_t i = 0; i < c->told.nr_threads; i++) {
		if (m->lives[c->served[i].thread].flags & LIFE_SELECTED)
			return true;
	}
	return false;
}

static void use_event(struct model *m, uint32_t life, uint64_t number, uint64_t t)
{
	struct why *w = &m->whys[life];
	struct model_event e = {.thread = life,
				.kind = MODEL_EVENT_CONNECTION,
				.time = t,
				.java_tid = w->mounted ? w->mounted->java_tid : 0,
				.vthread = NONE,
				.left = NONE,
				.value = (int64_t)number};

	w->uses = number;
	w->uses_vthread = w->mounted ? w->mounted->row : NONE;
	emit_event(m, &e);
}

/* Who used it last uses no connection any more. */
static void users_leave(struct model *m, const struct conn *c, uint64_t t)
{
	for (uint32_t i = 0; m->on_event.nr && i < c->told.nr_threads; i++) {
		const struct why *w = &m->whys[c->served[i].thread];

		if (w->uses == c->told.number && !w->mounted && w->uses_vthread == NONE)
			use_event(m, c->served[i].thread, 0, t);
	}
}

/* Tells of @c, which ends at @t, and forgets it. @seen: its closing was. */
static void conn_end(struct model *m, struct conn *c, bool seen, uint64_t t)
{
	struct process_run *p = &m->runs[c->told.process];
	struct fd *f = fd_find(m, c->told.process, c->told.fd);

	c->told.closed = seen ? t : TIME_NONE;
	c->told.threads = c->served;
	conn_parts(m, c);
	users_leave(m, c, t);
	if (t >= m->info.begin && c->told.opened <= m->info.end && served_selected(m, c)) {
		for (uint32_t i = 0; i < m->on_connection.nr; i++) {
			const struct model_sink *s = m->on_connection.sinks[i];
			int err = s->connection(s->ctx, &c->told);

			if (err && !m->error)
				m->error = err;
		}
	}
	if (c->next)
		c->next->former = c->former;
	if (c->former)
		c->former->next = c->next;
	else
		p->conns = c->next;
	if (f && f->conn == c)
		f->conn = NULL;
	m->conns->open--;
	m->conns->marked -= c->sends != NULL;
	conn_free(c);
}

void conn_gone(struct model *m, struct fd *f, uint64_t t)
{
	if (f->conn)
		conn_end(m, f->conn, true, t);
}

void conn_told(struct model *m, struct fd *f, const struct jis_ev_fd_socket *ev, uint64_t since,
	       uint64_t t)
{
	struct model_connection now = {0};
	struct conn *c = f->conn;

	if (ev->type != SOCK_STREAM) {
		conn_gone(m, f, t);
		return;
	}
	/* A socket that is no more connected has no peer. */
	if (!ev->peer_port)
		return;
	addresses_take(&now, ev);
	if (c && c->told.family) {
		if (same_addresses(&c->told, &now))
			return;
		conn_end(m, c, true, t);
		c = NULL;
	}
	if (!c)
		c = conn_new(m, f, MODEL_CONNECTION_BEFORE, since > m->info.begin ? since : t);
	if (!c)
		return;
	addresses_take(&c->told, ev);
	conn_meets(m, c);
}

void conns_lost(struct model *m, uint32_t host)
{
	for (uint32_t i = 0; i < m->info.nr_processes; i++) {
		if (m->runs[i].host != host)
			continue;
		for (struct conn *c = m->runs[i].conns; c; c = c->next) {
			c->told.complete = c->exact = false;
			c->sending = 0;
			c->accepted = c->polled = c->armed = 0;
		}
	}
}

void conns_exit(struct model *m, uint32_t life, uint64_t t)
{
	struct process_run *p = &m->runs[m->threads[life].process];

	if (p->end == TIME_NONE || m->threads[life].death != p->end)
		return;
	while (p->conns)
		conn_end(m, p->conns, true, t);
}

void conns_stop(struct model *m, uint32_t host, uint64_t t)
{
	for (uint32_t i = 0; i < m->info.nr_processes; i++) {
		while (m->runs[i].host == host && m->runs[i].conns)
			conn_end(m, m->runs[i].conns, false, t);
	}
}

void conns_finish(struct model *m)
{
	for (uint32_t i = 0; i < m->info.nr_processes; i++) {
		while (m->runs[i].conns)
			conn_end(m, m->runs[i].conns, false, m->info.end);
	}
}

/* Hand-overs --------------------------------------------------------------------------------- */

static bool same_who(const struct model_who *a, const struct model_who *b)
{
	return a->vthread == b->vthread && (a->vthread != NONE || a->thread == b->thread);
}

/*
 * Who has it to hand over to a thread that began to read at @t: the one that polled it; else who
 * accepted it. Returns when it got it, 0: nobody.
 */
static uint64_t giver(const struct model *m, const struct conn *c, uint64_t t, bool request,
		      struct model_who *who)
{
	const struct fd *e = c->armed ? fd_find(m, c->told.process, c->epoll) : NULL;

	if (c->polled) {
		*who = c->poller;
		return c->polled;
	}
	/* One that stays registered is handed over once a request. */
	if (e && e->polled > c->armed && e->polled <= t &&
	    (!c->taken || (request && e->polled > c->taken_at))) {
		*who = e->poller;
		return e->polled;
	}
	*who = c->acceptor;
	return c->accepted;
}

static void conn_read(struct model *m, struct conn *c, uint32_t life, uint64_t bytes, bool request)
{
	struct model_link link = {.kind = MODEL_LINK_SOCKET,
				  .process = c->told.process,
				  .to = who_is(m, life),
				  .end = m->whys[life].entered,
				  .connection = c->told.number,
				  .bytes = bytes};
	const struct fd *f = fd_find(m, c->told.process, c->told.fd);

	link.name = f ? f->name : 0;
	link.begin = giver(m, c, link.end, request, &link.from);
	if (link.begin && link.begin <= link.end && !same_who(&link.from, &link.to)) {
		c->told.handovers++;
		link_emit(m, &link);
	} else if (request) {
		c->told.kept++;
	}
	c->accepted = c->polled = 0;
	c->taken = true;
	c->taken_at = link.end;
}

/* Calls on a connection ---------------------------------------------------------------------- */

static struct conn *conn_at(const struct model *m, uint32_t life)
{
	const struct why *w = &m->whys[life];
	const struct fd *f = w->fd >= 0 ? fd_find(m, m->threads[life].process, w->fd) : NULL;

	return f ? f->conn : NULL;
}

/* The Java thread that runs on @life, or NULL. */
static struct jthread *java_on(const struct model *m, uint32_t life)
{
	const struct why *w = &m->whys[life];

	return w->mounted ? w->mounted : w->java;
}

/* @life used it: a served one, by a read or write. */
static void conn_used(struct model *m, struct conn *c, uint32_t life, uint64_t t)
{
	const struct model_who who = who_is(m, life);
	const struct why *w = &m->whys[life];

	if (m->on_event.nr && (w->uses != c->told.number || w->uses_vthread != who.vthread))
		use_event(m, life, c->told.number, t);
	if (c->last != NONE && same_who(&c->served[c->last], &who))
		return;
	for (c->last = 0; c->last < c->told.nr_threads; c->last++) {
		if (same_who(&c->served[c->last], &who))
			return;
	}
	c->last = NONE;
	if (c->told.nr_threads == MODEL_CONNECTION_THREADS) {
		c->told.more_threads = true;
		return;
	}
	if (c->told.nr_threads == c->room && !GROW(c->served, c->room, 2)) {
		m->error = -ENOMEM;
		return;
	}
	c->last = c->told.nr_threads;
	c->served[c->told.nr_threads++] = who;
}

static void conn_moved(struct model *m, struct conn *c, uint32_t life, bool in, uint64_t bytes,
		       uint64_t t)
{
	bool request = in && (c->went_out || c->told.first_byte == TIME_NONE), shown;
	struct jthread *j = java_on(m, life);

	shown = t >= m->info.begin && t <= m->info.end;
	conn_used(m, c, life, t);
	if (c->told.first_byte == TIME_NONE)
		c->told.first_byte = t;
	c->told.last_byte = t;
	c->went_out = !in;
	/* From here on it serves what it has read. */
	if (in && j && c->told.origin != MODEL_CONNECTION_CONNECTED)
		j->request = c->told.number;
	if (in) {
		c->told.requests += request && shown;
		c->told.bytes_in += shown ? bytes : 0;
		conn_read(m, c, life, bytes, request);
		conn_received(m, c, life, bytes, t);
	} else {
		c->told.bytes_out += shown ? bytes : 0;
		conn_sent(m, c, life, bytes);
	}
}

static void moved(struct model *m, uint32_t life, uint8_t op, int64_t result, uint64_t t)
{
	struct conn *c = conn_at(m, life);

	/* Not the one the call began on: that was closed meanwhile. */
	if (!c || m->whys[life].connection != c->told.number)
		return;
	c->fresh = false;
	if (op == OP_OUT && c->sending)
		c->sending--;
	if (t >= m->info.begin && t <= m->info.end)
		c->told.calls++;
	if (op == OP_IN && result == 0) { /* the peer sends no more: who was to be told has been */
		c->accepted = c->polled = 0;
		c->taken = true;
		c->taken_at = m->whys[life].entered;
	}
	if (result > 0 && op != OP_OTHER)
		conn_moved(m, c, life, op == OP_IN, (uint64_t)result, t);
}

/* Calls that make, change and close ---------------------------------------------------------- */

static struct fd *result_fd(struct model *m, uint32_t life, int64_t result)
{
	if (result < 0 || result > INT32_MAX)
		return NULL;
	return fd_get(m, m->threads[life].process, (int32_t)result);
}

/* Where the kernel tells what descriptors are it has done so between the call's begin and end. */
static void becomes(struct fd *f, uint32_t type, uint64_t t)
{
	if (f->told || f->type == type)
		return;
	f->type = type;
	f->name = 0;
	f->inet = false;
	f->sock = 0;
	f->family = 0;
	f->since = t;
	f->polled = 0;
}

static void socket_made(struct model *m, uint32_t life, int64_t result, uint64_t t)
{
	struct fd *f = result_fd(m, life, result);
	const struct why *w = &m->whys[life];

	if (!f)
		return;
	conn_gone(m, f, t);
	becomes(f, JIS_FD_SOCKET, t);
	if (!w->size)
		return;
	f->sock = w->size & 0xf;
	f->family = (uint16_t)(w->size >> 32);
	f->inet = f->family == AF_INET || f->family == AF_INET6;
}

/* Is what was made from it a connection? Of one whose making was not seen it may be. */
static bool may_connect(const struct fd *f)
{
	bool inet = f->inet || !f->family;

	/* The module tells of sockets of the internet; another is none. */
	if (f->type == JIS_FD_SOCKET && f->name && !f->inet)
		return false;
	return inet && (!f->sock || f->sock == SOCK_STREAM);
}

static void accepted(struct model *m, uint32_t life, int64_t result, uint64_t t)
{
	const struct why *w = &m->whys[life];
	struct fd *f = result_fd(m, life, result), *from;
	struct model_connection addresses = {0};
	struct conn *c;

	if (!f)
		return;
	from = fd_find(m, f->process, w->fd);
	if ((from && !may_connect(from)) || (f->type == JIS_FD_SOCKET && f->name && !f->inet))
		return;
	becomes(f, JIS_FD_SOCKET, t);
	f->inet = true;
	c = f->conn;
	/* The module has told of it just now. */
	if (c && (!c->fresh || c->told.origin != MODEL_CONNECTION_BEFORE)) {
		addresses = c->told;
		conn_end(m, c, true, t);
		c = NULL;
	}
	if (!c)
		c = conn_new(m, f, MODEL_CONNECTION_ACCEPTED, t);
	if (!c)
		return;
	c->told.origin = MODEL_CONNECTION_ACCEPTED;
	c->told.opened = t;
	conn_is_exact(m, c);
	c->told.opener = c->acceptor = who_is(m, life);
	c->accepted = t;
	c->fresh = false;
	if (addresses.family && f->since >= w->entered) {
		c->told.family = addresses.family;
		c->told.local_port = addresses.local_port;
		c->told.peer_port = addresses.peer_port;
		memcpy(c->told.local, addresses.local, 16);
		memcpy(c->told.peer, addresses.peer, 16);
		conn_meets(m, c);
	}
}

static void connected(struct model *m, uint32_t life, int64_t result, uint64_t t)
{
	uint32_t process = m->threads[life].process;
	struct fd *f = fd_get(m, process, m->whys[life].fd);
	struct conn *c;

	if (!f || (result != 0 && result != -EINPROGRESS) || !may_connect(f))
		return;
	/* A second call asks whether the first has succeeded. */
	if (f->conn && f->conn->told.origin == MODEL_CONNECTION_CONNECTED)
		return;
	conn_gone(m, f, t);
	c = conn_new(m, f, MODEL_CONNECTION_CONNECTED, t);
	if (!c)
		return;
	c->told.opener = who_is(m, life);
	c->fresh = false;
	if (f->type != JIS_FD_SOCKET)
		becomes(f, JIS_FD_SOCKET, t);
	f->inet = true;
}

static void closed(struct model *m, struct fd *f, uint64_t t)
{
	if (f->conn)
		conn_end(m, f->conn, true, t);
	becomes(f, JIS_FD_UNKNOWN, t);
	f->polled = 0;
	f->call = CALL_NONE;
	f->tried = 0;
}

static void closes(struct model *m, uint32_t life, int64_t result, uint64_t t)
{
	struct fd *f = fd_find(m, m->threads[life].process, m->whys[life].fd);

	if (!f || result == -EBADF)
		return;
	if (f->conn && m->whys[life].connection == f->conn->told.number)
		f->conn->told.calls += t >= m->info.begin && t <= m->info.end;
	/* Made anew by another thread before this one told of its closing. */
	if (f->conn && f->conn->told.opened > m->whys[life].entered)
		return;
	closed(m, f, t);
}

static void replaced(struct model *m, uint32_t life, int64_t result, uint64_t t)
{
	struct fd *f = result >= 0 && result <= INT32_MAX
			       ? fd_find(m, m->threads[life].process, (int32_t)result)
			       : NULL;

	if (f && result != m->whys[life].fd)
		closed(m, f, t);
}

static void epoll_changed(struct model *m, uint32_t life, int64_t result)
{
	const struct why *w = &m->whys[life];
	uint32_t process = m->threads[life].process, op = (uint32_t)(w->size >> 32);
	struct fd *f = fd_find(m, process, (int32_t)(uint32_t)w->size), *e;
	struct conn *c = f ? f->conn : NULL;

	if (!c || result)
		return;
	c->fresh = false;
	if (op == EPOLL_CTL_ADD || op == EPOLL_CTL_MOD) {
		c->epoll = w->fd;
		c->armed = w->entered;
		c->polled = 0;
		c->taken = false;
		return;
	}
	/* Who takes it out has been told that it is ready. When it was given back before it was
	 * taken out, it stayed in; then it has been read since. */
	e = fd_find(m, process, c->epoll);
	if (op == EPOLL_CTL_DEL && c->armed && e && e->polled > c->armed &&
	    (!c->taken || e->polled > c->taken_at)) {
		c->polled = e->polled;
		c->poller = e->poller;
	}
	c->armed = 0;
}

static void epoll_returned(struct model *m, uint32_t life, int64_t result, uint64_t t)
{
	struct fd *f = fd_get(m, m->threads[life].process, m->whys[life].fd);

	if (!f)
		return;
	if (f->type != JIS_FD_EPOLL)
		becomes(f, JIS_FD_EPOLL, t);
	if (result > 0) {
		f->polled = t;
		f->poller = who_is(m, life);
	}
}

static void made(struct model *m, uint32_t life, uint8_t op, int64_t result, uint64_t t)
{
	struct fd *f = result_fd(m, life, result);

	if (!f)
		return;
	conn_gone(m, f, t);
	f->polled = 0;
	becomes(f,
		op == OP_EPOLL	   ? JIS_FD_EPOLL
		: op == OP_EVENTFD ? JIS_FD_EVENTFD
				   : JIS_FD_TIMERFD,
		t);
}

/* Who ended a poll ---------------------------------------------------------------------------- */

/* What a thread in call @w sends or ends on a connection arrives at the other end within it. */
static const struct conn *sent_to(const struct model *m, uint32_t life)
{
	const struct why *w = &m->whys[life];
	uint8_t op = op_of(m, w->call);
	const struct conn *c =
		op == OP_OUT || op == OP_CLOSE || op == OP_OTHER ? conn_at(m, life) : NULL;

	return c ? c->other : NULL;
}

uint32_t conn_ended_poll(const struct model *m, uint32_t life, int32_t epoll)
{
	const struct waking *by = &m->lives[life].waking;
	const struct conn *c;
	const struct fd *f;

	if (!(m->lives[life].flags & LIFE_WAKING) || by->waker == NONE ||
	    (by->context != JIS_WAKER_TASK && by->context != JIS_WAKER_SOFTIRQ))
		return 0;
	c = sent_to(m, by->waker);
	if (!c || c->told.process != m->threads[life].process ||
	    (epoll >= 0 && (c->epoll != epoll || !c->armed)))
		return 0;
	f = fd_find(m, c->told.process, c->told.fd);
	return f && f->conn == c ? f->name : 0;
}

/* Calls -------------------------------------------------------------------------------------- */

void conn_enter(struct model *m, uint32_t life, const struct fd *f)
{
	struct why *w = &m->whys[life];
	struct jthread *j = java_on(m, life);
	uint8_t op;

	w->connection = 0;
	op = (f && f->conn) || (j && j->request) ? op_of(m, w->call) : OP_NONE;
	/* Who looks for the next one has done with its request. */
	if (j && (op == OP_ACCEPT || op == OP_EPOLL_WAIT))
		j->request = 0;
	if (op == OP_NONE || op == OP_ACCEPT || !f || !f->conn)
		return;
	w->connection = f->conn->told.number;
	if (j && j->request == w->connection && (op == OP_IN || op == OP_CLOSE))
		j->request = 0;
	f->conn->sending += op == OP_OUT;
}

void conn_leave(struct model *m, uint32_t life, int32_t nr, int64_t result, uint64_t t)
{
	uint8_t op = op_of(m, nr);

	/* What the call was made on is known from its begin only; but a server that waits for its
	 * next connection when the recording begins gets it. */
	if (op == OP_NONE || (m->whys[life].call != nr &&
			      (op != OP_ACCEPT || m->whys[life].call != JIS_SYSCALL_NONE)))
		return;
	switch (op) {
	case OP_SOCKET:
		socket_made(m, life, result, t);
		break;
	case OP_ACCEPT:
		accepted(m, life, result, t);
		break;
	case OP_CONNECT:
		connected(m, life, result, t);
		break;
	case OP_CLOSE:
		closes(m, life, result, t);
		break;
	case OP_DUP_TO:
		replaced(m, life, result, t);
		break;
	case OP_EPOLL_CTL:
		epoll_changed(m, life, result);
		break;
	case OP_EPOLL_WAIT:
		epoll_returned(m, life, result, t);
		break;
	case OP_EPOLL:
	case OP_EVENTFD:
	case OP_TIMERFD:
		made(m, life, op, result, t);
		break;
	default:
		moved(m, life, op, result, t);
	}
}
