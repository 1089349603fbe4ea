/* SPDX-License-Identifier: MIT */
/*
 * System calls that were recorded, and what descriptors are: what a thread is in, and what that can
 * wait for. Names of calls come from the tables of trace/; no call is known by its number.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "jis/abi.h"
#include "model_int.h"
#include "trace/syscall_name.h"

#define MAX_FDS (1u << 22)

/* Classes ------------------------------------------------------------------------------------ */

/* Others cannot be told apart by what they wait for. */
static const struct {
	const char *name;
	uint8_t class;
} known[] = {
	{"read", CALL_READ},
	{"readv", CALL_READ},
	{"pread64", CALL_READ},
	{"preadv", CALL_READ},
	{"preadv2", CALL_READ},
	{"write", CALL_WRITE},
	{"writev", CALL_WRITE},
	{"pwrite64", CALL_WRITE},
	{"pwritev", CALL_WRITE},
	{"pwritev2", CALL_WRITE},
	{"sendfile", CALL_WRITE},
	{"sendfile64", CALL_WRITE},
	{"splice", CALL_READ},
	{"copy_file_range", CALL_FILE},
	{"recvfrom", CALL_RECEIVE},
	{"recvmsg", CALL_RECEIVE},
	{"recvmmsg", CALL_RECEIVE},
	{"recvmmsg_time64", CALL_RECEIVE},
	{"sendto", CALL_SEND},
	{"sendmsg", CALL_SEND},
	{"sendmmsg", CALL_SEND},
	{"accept", CALL_ACCEPT},
	{"accept4", CALL_ACCEPT},
	{"connect", CALL_CONNECT},
	{"poll", CALL_POLL},
	{"ppoll", CALL_POLL},
	{"ppoll_time64", CALL_POLL},
	{"select", CALL_POLL},
	{"_newselect", CALL_POLL},
	{"pselect6", CALL_POLL},
	{"pselect6_time64", CALL_POLL},
	{"epoll_wait", CALL_POLL},
	{"epoll_pwait", CALL_POLL},
	{"epoll_pwait2", CALL_POLL},
	{"fsync", CALL_FILE},
	{"fdatasync", CALL_FILE},
	{"sync_file_range", CALL_FILE},
	{"sync", CALL_FILE},
	{"syncfs", CALL_FILE},
	{"flock", CALL_FILE},
	{"fcntl", CALL_FILE},
	{"open", CALL_FILE},
	{"openat", CALL_FILE},
	{"openat2", CALL_FILE},
	{"creat", CALL_FILE},
	{"close", CALL_FILE},
	{"getdents", CALL_FILE},
	{"getdents64", CALL_FILE},
	{"ftruncate", CALL_FILE},
	{"truncate", CALL_FILE},
	{"fallocate", CALL_FILE},
	{"stat", CALL_FILE},
	{"lstat", CALL_FILE},
	{"fstat", CALL_FILE},
	{"newfstatat", CALL_FILE},
	{"statx", CALL_FILE},
	{"access", CALL_FILE},
	{"faccessat", CALL_FILE},
	{"faccessat2", CALL_FILE},
	{"readlink", CALL_FILE},
	{"readlinkat", CALL_FILE},
	{"unlink", CALL_FILE},
	{"unlinkat", CALL_FILE},
	{"rename", CALL_FILE},
	{"renameat", CALL_FILE},
	{"renameat2", CALL_FILE},
	{"link", CALL_FILE},
	{"linkat", CALL_FILE},
	{"symlink", CALL_FILE},
	{"symlinkat", CALL_FILE},
	{"mkdir", CALL_FILE},
	{"mkdirat", CALL_FILE},
	{"rmdir", CALL_FILE},
	{"chmod", CALL_FILE},
	{"fchmod", CALL_FILE},
	{"fchmodat", CALL_FILE},
	{"chown", CALL_FILE},
	{"utimensat", CALL_FILE},
	{"futex", CALL_FUTEX},
	{"futex_time64", CALL_FUTEX},
	{"futex_wait", CALL_FUTEX},
	{"futex_waitv", CALL_FUTEX},
	{"sched_yield", CALL_YIELD},
	{"nanosleep", CALL_SLEEP},
	{"clock_nanosleep", CALL_SLEEP},
	{"clock_nanosleep_time64", CALL_SLEEP},
	{"mmap", CALL_MEMORY},
	{"mmap2", CALL_MEMORY},
	{"munmap", CALL_MEMORY},
	{"mremap", CALL_MEMORY},
	{"mprotect", CALL_MEMORY},
	{"pkey_mprotect", CALL_MEMORY},
	{"madvise", CALL_MEMORY},
	{"brk", CALL_MEMORY},
	{"mlock", CALL_MEMORY},
	{"mlock2", CALL_MEMORY},
	{"munlock", CALL_MEMORY},
	{"mbind", CALL_MEMORY},
	{"membarrier", CALL_MEMORY},
	{"msync", CALL_FILE},
	{"wait4", CALL_PROCESS},
	{"waitid", CALL_PROCESS},
	{"waitpid", CALL_PROCESS},
	{"vfork", CALL_PROCESS},
	{"rt_sigtimedwait", CALL_SIGNAL},
	{"rt_sigtimedwait_time64", CALL_SIGNAL},
	{"rt_sigsuspend", CALL_SIGNAL},
	{"pause", CALL_SIGNAL},
	{"execve", CALL_EXEC},
	{"execveat", CALL_EXEC},
	{"exit", CALL_LAST},
	{"exit_group", CALL_LAST},
	{"rt_sigreturn", CALL_LAST},
	{"sigreturn", CALL_LAST},
};

static uint8_t class_of(const char *name)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!strcmp(known[i].name, name))
			return known[i].class;
	}
	return CALL_OTHER;
}

enum call_class call_class(const struct model *m, int32_t nr)
{
	uint32_t index = (uint32_t)nr & ~(uint32_t)JIS_SYSCALL_COMPAT;

	if (nr == JIS_SYSCALL_NONE)
		return CALL_NONE;
	if (nr < 0 || index >= JIS_MAX_SYSCALL)
		return CALL_UNKNOWN;
	if ((uint32_t)nr & JIS_SYSCALL_COMPAT)
		index += JIS_MAX_SYSCALL;
	return (enum call_class)m->call_classes[index];
}

const char *model_syscall_name(const struct model *m, int32_t nr)
{
	return syscall_name(m->info.manifest->machine, nr);
}

/* Descriptors -------------------------------------------------------------------------------- */

struct fds {
	struct fd *table; /* open addressing, at most half full */
	uint32_t nr, mask;
};

int calls_init(struct model *m)
{
	const char *machine = m->info.manifest->machine;

	m->fds = calloc(1, sizeof(*m->fds));
	m->call_classes = calloc(2, JIS_MAX_SYSCALL);
	if (!m->fds || !m->call_classes)
		return -ENOMEM;
	memset(m->call_classes, CALL_UNKNOWN, 2 * (size_t)JIS_MAX_SYSCALL);
	for (uint32_t compat = 0; compat < 2; compat++) {
		const char *const *names = syscall_names(machine, compat);

		for (uint32_t i = 0; names && i < JIS_MAX_SYSCALL; i++) {
			if (names[i])
				m->call_classes[compat * JIS_MAX_SYSCALL + i] = class_of(names[i]);
		}
	}
	return 0;
}

void calls_fini(struct model *m)
{
	if (m->fds)
		free(m->fds->table);
	free(m->fds);
	free(m->call_classes);
}

static struct fd *fd_slot(const struct fds *f, uint32_t process, int32_t fd)
{
	uint64_t h = ((uint64_t)process << 32 | (uint32_t)fd) * 0x9e3779b97f4a7c15ull;
	uint32_t i = (uint32_t)(h >> 32) & f->mask;

	while (f->table[i].process != NONE &&
	       (f->table[i].process != process || f->table[i].fd != fd))
		i = (i + 1) & f->mask;
	return &f->table[i];
}

/* Those of processes that have ended are left behind. */
static bool fds_grow(const struct model *m, struct fds *f)
{
	struct fds grown = {.mask = f->table ? f->mask * 2 + 1 : 255};

	grown.table = malloc((grown.mask + 1ull) * sizeof(*grown.table));
	if (!grown.table)
		return false;
	for (uint32_t i = 0; i <= grown.mask; i++)
		grown.table[i].process = NONE;
	for (uint32_t i = 0; f->table && i <= f->mask; i++) {
		const struct fd *from = &f->table[i];

		if (from->process == NONE || (!from->conn && m->runs[from->process].end < m->now))
			continue;
		*fd_slot(&grown, from->process, from->fd) = *from;
		grown.nr++;
	}
	free(f->table);
	*f = grown;
	return true;
}

struct fd *fd_find(const struct model *m, uint32_t process, int32_t fd)
{
	struct fd *f = m->fds->table && fd >= 0 ? fd_slot(m->fds, process, fd) : NULL;

	return f && f->process != NONE ? f : NULL;
}

/* More than any host has open are not kept: what they are is then not known. */
struct fd *fd_get(struct model *m, uint32_t process, int32_t fd)
{
	struct fds *f = m->fds;
	struct fd *slot = fd_find(m, process, fd);

	if (slot || fd < 0 || f->nr >= MAX_FDS)
		return slot;
	if ((!f->table || f->nr > f->mask / 2) && !fds_grow(m, f)) {
		m->error = -ENOMEM;
		return NULL;
	}
	slot = fd_slot(f, process, fd);
	f->nr++;
	*slot = (struct fd){.process = process, .fd = fd};
	return slot;
}

enum model_reason_kind fd_kind(const struct fd *f, bool reads)
{
	if (f->inet)
		return reads ? MODEL_WAIT_SOCKET_READ : MODEL_WAIT_SOCKET_WRITE;
	switch (f->type) {
	case JIS_FD_SOCKET:
		return reads ? MODEL_WAIT_SOCKET_READ : MODEL_WAIT_SOCKET_WRITE;
	case JIS_FD_FILE:
	case JIS_FD_DIRECTORY:
	case JIS_FD_CHARACTER_DEVICE:
	case JIS_FD_BLOCK_DEVICE:
		return MODEL_WAIT_FILE;
	case JIS_FD_PIPE:
		return MODEL_WAIT_PIPE;
	case JIS_FD_EVENTFD:
	case JIS_FD_TIMERFD:
	case JIS_FD_SIGNALFD:
	case JIS_FD_INOTIFY:
		return MODEL_WAIT_EVENTFD;
	case JIS_FD_EPOLL:
		return MODEL_WAIT_POLL;
	}
	return MODEL_WAIT_UNKNOWN;
}

/* It has tried before: what it waits for is what that call could not do. */
enum model_reason_kind fd_wait(const struct model *m, uint32_t process, int32_t fd, uint32_t events,
			       uint32_t *name)
{
	const struct fd *f = fd_find(m, process, fd);
	bool reads = events & POLLIN;
	enum model_reason_kind kind;

	if (!f)
		return MODEL_WAIT_POLL;
	*name = f->name;
	kind = fd_kind(f, reads);
	if (kind == MODEL_WAIT_SOCKET_READ && f->call == CALL_ACCEPT)
		return MODEL_WAIT_ACCEPT;
	if (kind == MODEL_WAIT_SOCKET_WRITE && f->call == CALL_CONNECT) {
		/* What it will be named by is not told before it is connected. */
		*name = f->tried ? f->tried : f->name;
		return MODEL_WAIT_CONNECT;
	}
	return kind != MODEL_WAIT_UNKNOWN ? kind : MODEL_WAIT_POLL;
}

/* The process of host pid @pid that runs now: the last one that began. */
static uint32_t process_at(struct model *m, uint32_t pid, uint64_t t)
{
	uint32_t life = thread_at(m, pid, t);

	return life != NONE ? m->threads[life].process : NONE;
}

/* Since when a descriptor told of at @t, @age ticks old, is what it is. */
static uint64_t fd_since(const struct model *m, uint64_t age, uint64_t t)
{
	uint64_t ns = age ? clock_scale_ns(&m->scale, m->info.manifest->begin + age) : 0;

	return ns < t ? t - ns : 0;
}

static SELDOM void fd_file(struct model *m, const struct jis_ev_fd_file *ev, uint64_t t)
{
	uint32_t process = process_at(m, ev->pid, t);
	struct fd *fd = process != NONE ? fd_get(m, process, ev->fd) : NULL;

	if (!fd)
		return;
	conn_gone(m, fd, t);
	if (fd->type != ev->type)
		fd->polled = 0;
	fd->told = true;
	fd->type = ev->type;
	fd->sock = fd->family = 0;
	fd->inet = false;
	fd->since = fd_since(m, ev->age, t);
	fd->name = name_intern(m, ev->path, strlen(ev->path));
}

/* Internet addresses ------------------------------------------------------------------------- */

/* The ports Linux gives to sockets that asked for none, by its default. */
static bool port_is_ephemeral(uint32_t port)
{
	return port >= 32768 && port <= 60999;
}

int address_text(char *text, size_t n, uint32_t family, uint64_t a0, uint64_t a1)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	uint8_t bytes[16];

	memcpy(bytes, &a0, 8);
	memcpy(bytes + 8, &a1, 8);
	if (family == AF_INET6 && !memcmp(bytes, mapped, sizeof(mapped))) {
		family = AF_INET;
		memmove(bytes, bytes + 12, 4);
	}
	if ((family != AF_INET && family != AF_INET6) ||
	    !inet_ntop((int)family, bytes, text, (socklen_t)n))
		return snprintf(text, n, "?");
	return (int)strlen(text);
}

/*
 * A peer that came to a port of ours from any port of its own is one peer, however often it comes:
 * "10.0.0.1 to port 80". Else it is "10.0.0.1:80".
 */
static uint32_t peer_name(struct model *m, const struct jis_ev_fd_socket *ev)
{
	char text[INET6_ADDRSTRLEN + 40];
	int n;

	if (!ev->peer_port) {
		n = snprintf(text, sizeof(text), "port %u", ev->local_port);
		return name_intern(m, text, (size_t)n);
	}
	n = address_text(text, sizeof(text), ev->family, ev->peer0, ev->peer1);
	if (port_is_ephemeral(ev->peer_port) && !port_is_ephemeral(ev->local_port))
		n += snprintf(text + n, sizeof(text) - (size_t)n, " to port %u", ev->local_port);
	else
		n += snprintf(text + n, sizeof(text) - (size_t)n, ":%u", ev->peer_port);
	return name_intern(m, text, (size_t)n);
}

static SELDOM void fd_socket(struct model *m, const struct jis_ev_fd_socket *ev, uint64_t t)
{
	uint32_t process = process_at(m, ev->pid, t);
	struct fd *fd = process != NONE ? fd_get(m, process, ev->fd) : NULL;

	if (!fd)
		return;
	fd->told = fd->inet = true;
	fd->type = JIS_FD_SOCKET;
	fd->sock = (uint8_t)ev->type;
	fd->family = (uint16_t)ev->family;
	fd->since = fd_since(m, ev->age, t);
	fd->name = peer_name(m, ev);
	conn_told(m, fd, ev, fd->since, t);
}

/* Calls -------------------------------------------------------------------------------------- */

static void tell_call(struct model *m, uint32_t life, enum model_event_kind kind, int32_t nr,
		      uint32_t name, uint64_t t)
{
	struct model_event e = {.thread = life,
				.kind = kind,
				.time = t,
				.vthread = NONE,
				.left = NONE,
				.value = nr,
				.name = name};

	emit_event(m, &e);
}

static void enter(struct model *m, uint32_t cpu, uint32_t tid, int32_t nr, int32_t fd,
		  uint64_t size, uint32_t name, uint64_t t)
{
	uint32_t life = thread_on_cpu(m, cpu, tid, t);
	struct fd *f;
	struct why *w;

	if (life == NONE) {
		m->counts.unknown_threads++;
		return;
	}
	life_seen(m, life, cpu, t);
	w = &m->whys[life];
	if (w->call >= 0 && call_class(m, w->call) != CALL_LAST)
		model_error_count(m, MODEL_ERROR_CALL_ENTER, who_is(m, life));
	if (m->reasons)
		life_pass(m, life, t);
	f = fd_find(m, m->threads[life].process, fd);
	if (f && call_class(m, nr) != CALL_OTHER) {
		f->call = (uint8_t)call_class(m, nr);
		f->tried = name;
	}
	if (f && !name)
		name = f->name;
	w->call = nr < 0 ? JIS_SYSCALL_NONE : nr;
	w->fd = fd;
	w->name = name;
	w->entered = t;
	w->size = size;
	conn_enter(m, life, f);
	if (m->on_event.nr)
		tell_call(m, life, MODEL_EVENT_SYSCALL_ENTER, nr, name, t);
}

static void leave(struct model *m, uint32_t cpu, const struct jis_ev_syscall_exit *ev, uint64_t t)
{
	uint32_t life = thread_on_cpu(m, cpu, ev->tid, t);
	struct why *w;

	if (life == NONE) {
		m->counts.unknown_threads++;
		return;
	}
	life_seen(m, life, cpu, t);
	w = &m->whys[life];
	if (w->call >= 0 && w->call != ev->nr && call_class(m, w->call) != CALL_EXEC)
		model_error_count(m, MODEL_ERROR_CALL_EXIT, who_is(m, life));
	if (m->reasons)
		life_pass(m, life, t);
	conn_leave(m, life, ev->nr, ev->result, t);
	w->call = JIS_SYSCALL_NONE;
	w->fd = -1;
	w->name = 0;
	if (m->on_event.nr)
		tell_call(m, life, MODEL_EVENT_SYSCALL_EXIT, ev->nr, 0, t);
}

static void enter_address(struct model *m, uint32_t cpu, const struct jis_ev_syscall_address *ev,
			  uint64_t t)
{
	char text[INET6_ADDRSTRLEN + 16];
	uint32_t name = 0;
	int n;

	if (ev->family == AF_INET || ev->family == AF_INET6) {
		n = address_text(text, sizeof(text), ev->family, ev->address0, ev->address1);
		n += snprintf(text + n, sizeof(text) - (size_t)n, ":%u", ev->port);
		name = name_intern(m, text, (size_t)n);
	}
	enter(m, cpu, ev->tid, ev->nr, ev->fd, 0, name, t);
}

/* It leaves its CPU next. */
static SELDOM void fault(struct model *m, const struct jis_ev_page_fault *ev, uint64_t t)
{
	uint32_t life = thread_at(m, ev->tid, t);

	if (life == NONE) {
		m->counts.unknown_threads++;
		return;
	}
	m->whys[life].flags |= WHY_FAULTED;
	m->whys[life].address = ev->address;
}

static SELDOM void disk(struct model *m, const struct jis_ev_block_rq_issue *ev, uint64_t t)
{
	uint32_t life = thread_at(m, ev->tid, t);

	if (life == NONE)
		return;
	m->whys[life].flags |= WHY_DISK;
	m->whys[life].dev = ev->dev;
}

static SELDOM void rare_event(struct model *m, const struct stream_cursor *c, uint64_t t)
{
	const void *p = c->payload;

	switch (c->id) {
	case JIS_EV_fd_file:
		fd_file(m, p, t);
		break;
	case JIS_EV_fd_socket:
		fd_socket(m, p, t);
		break;
	case JIS_EV_page_fault:
		fault(m, p, t);
		break;
	case JIS_EV_block_rq_issue:
		disk(m, p, t);
		break;
	}
}

void call_event(struct model *m, uint32_t cpu, const struct stream_cursor *c, uint64_t t)
{
	const void *p = c->payload;

	switch (c->id) {
	case JIS_EV_syscall_enter: {
		const struct jis_ev_syscall_enter *ev = p;

		enter(m, cpu, ev->tid, ev->nr, -1, 0, 0, t);
		break;
	}
	case JIS_EV_syscall_io: {
		const struct jis_ev_syscall_io *ev = p;

		enter(m, cpu, ev->tid, ev->nr, ev->fd, ev->size, 0, t);
		break;
	}
	case JIS_EV_syscall_wait: {
		const struct jis_ev_syscall_wait *ev = p;

		enter(m, cpu, ev->tid, ev->nr, ev->fd, 0, 0, t);
		break;
	}
	case JIS_EV_syscall_futex: {
		const struct jis_ev_syscall_futex *ev = p;

		enter(m, cpu, ev->tid, ev->nr, -1, ev->address, 0, t);
		break;
	}
	case JIS_EV_syscall_memory: {
		const struct jis_ev_syscall_memory *ev = p;

		enter(m, cpu, ev->tid, ev->nr, -1, 0, 0, t);
		break;
	}
	case JIS_EV_syscall_address:
		enter_address(m, cpu, p, t);
		break;
	case JIS_EV_syscall_path: {
		const struct jis_ev_syscall_path *ev = p;

		enter(m, cpu, ev->tid, ev->nr, -1, 0, name_intern(m, ev->path, strlen(ev->path)),
		      t);
		break;
	}
	case JIS_EV_syscall_exit:
		leave(m, cpu, p, t);
		break;
	default:
		rare_event(m, c, t);
	}
}
