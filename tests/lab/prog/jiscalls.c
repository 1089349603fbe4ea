// SPDX-License-Identifier: MIT
/*
 * jiscalls: makes system calls with known arguments on every kind of descriptor, and prints for
 * each the records it must leave, as jisraw writes them (without CPU and time), in order.
 *
 *   jiscalls [-6] [-f] [-n] DIR io|net|lock|time|mem|file|compat
 *     the calls of a preset; DIR: for files
 *     -6 also with the address OWN6, which this machine has
 *     -f as the ftrace backend sees them: nothing is known of what arguments point to
 *     -n calls and errors by name, as `jis dump` shows them
 * What counts lies between two changes of the thread's name, to "begin" and to "end".
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/perf_event.h>
#include <linux/stat.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "call32.h"
#include "jiscalls.h"

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

#define LOCAL4 0x100007full /* 127.0.0.1 */
#define OWN6 "fd12:3456:789a:bcde::1"

/* enum jis_fd_type, written down once more: this is the witness. */
enum {
	FILE_ = 1,
	DIRECTORY,
	CHARACTER,
	BLOCK,
	PIPE,
	SOCKET,
	EVENTFD,
	EPOLL,
	TIMERFD,
	SIGNALFD,
	INOTIFY,
	ANONYMOUS
};

static bool own6;	   /* -6 */
static uint64_t local6[2]; /* the IPv6 address in use, as it lies in memory */
static int pid;
static const char *dir;

/* Text behind "link": what /proc says of the descriptor, filled in at the end. */
static void named(int fd, int type, const char *path)
{
	if (blind)
		return;
	if (path)
		line("fd_file pid=%d fd=%d age=0 type=%d path=%s", pid, fd, type, path);
	else
		line("fd_file pid=%d fd=%d age=0 type=%d path={link:%d}", pid, fd, type, fd);
}

/* Half of the address in use. */
static unsigned long long half_of(bool six, int half)
{
	return six ? local6[half] : half ? 0 : LOCAL4;
}

/* Ports as text: "{port:FD}" is the local one of a socket, filled in at the end. */
static void named_socket(int fd, int family, int type, const char *local, const char *peer)
{
	bool six = family == AF_INET6, bound = strcmp(local, "0") != 0,
	     met = strcmp(peer, "0") != 0;

	if (blind)
		return;
	line("fd_socket pid=%d fd=%d age=0 family=%d type=%d local_port=%s peer_port=%s "
	     "local0=0x%llx "
	     "local1=0x%llx peer0=0x%llx peer1=0x%llx",
	     pid, fd, family, type, local, peer, bound ? half_of(six, 0) : 0,
	     bound ? half_of(six, 1) : 0, met ? half_of(six, 0) : 0, met ? half_of(six, 1) : 0);
}

static void begin(void)
{
	prctl(PR_SET_NAME, "begin");
}

static void end(void)
{
	prctl(PR_SET_NAME, "end");
}

static char *path_of(const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		abort();
	return path;
}

static int file_of(const char *path, int flags)
{
	int fd = open(path, flags, 0600);

	if (fd < 0)
		die(path);
	return fd;
}

/* Anonymous inodes: read without waiting; all say EAGAIN. */
static void io_anonymous(void)
{
	struct itimerspec never = {{0, 0}, {0, 0}};
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK), event = eventfd(3, EFD_NONBLOCK);
	int notify = inotify_init1(IN_NONBLOCK), sig, poller = epoll_create1(0);
	struct epoll_event ev = {.events = EPOLLIN}, got[4];
	struct timespec t = {0, 2000000};
	uint64_t value[20];
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sig = signalfd(-1, &set, SFD_NONBLOCK);
	timerfd_settime(timer, 0, &never, NULL);
	begin();
	named(event, EVENTFD, NULL);
	IO(read, event, 8, event, value, 8);
	IO(read, event, 8, event, value, 8);
	named(timer, TIMERFD, NULL);
	IO(read, timer, 8, timer, value, 8);
	named(sig, SIGNALFD, NULL);
	IO(read, sig, 128, sig, value, 128);
	named(notify, INOTIFY, NULL);
	IO(read, notify, 100, notify, value, 100);
	named(poller, EPOLL, NULL);
	IO(epoll_ctl, poller, (uint64_t)EPOLL_CTL_ADD << 32 | (uint32_t)event, poller,
	   EPOLL_CTL_ADD, event, &ev);
	WAIT(epoll_wait, poller, 4, 0, 0, poller, got, 4, 0);
	WAIT(epoll_pwait, poller, 3, 0, 1000000, poller, got, 3, 1, NULL, 8);
	WAIT(epoll_pwait2, poller, 2, 0, blind ? -1 : 2000000, poller, got, 2, &t, NULL, 8);
	value[0] = 1;
	IO(write, event, 8, event, value, 8);
	WAIT(epoll_wait, poller, 4, 0, -1, poller, got, 4, -1);
	end();
}

static void io_bytes(void)
{
	char *file = path_of("data"), *fifo = path_of("fifo");
	int data = file_of(file, O_RDWR | O_CREAT | O_TRUNC), null = file_of("/dev/null", O_RDWR);
	int folder = file_of(dir, O_RDONLY | O_DIRECTORY), pipes[2], pair[2], queue;
	struct timespec second = {1, 5}, again = second; /* the kernel writes what was left */
	struct timeval most = {2, 7};
	struct pollfd polled;
	struct iovec iov[2];
	char buffer[64] = "";
	fd_set set;

	unlink(fifo);
	if (pipe(pipes) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || mkfifo(fifo, 0600))
		die("io");
	queue = file_of(fifo, O_RDWR);
	polled = (struct pollfd){pipes[0], POLLIN, 0};
	iov[0] = (struct iovec){buffer, 3};
	iov[1] = (struct iovec){buffer, 4};
	FD_ZERO(&set);
	FD_SET(pipes[0], &set);
	begin();
	named(pipes[1], PIPE, NULL);
	IO(write, pipes[1], 10, pipes[1], buffer, 10);
	WAIT(poll, -1, 1, 0, 5000000000ll, &polled, 1, 5000);
	WAIT(poll, -1, 1, 0, -1, &polled, 1, -1);
	WAIT(ppoll, -1, 1, 0, blind ? -1 : 1000000005ll, &polled, 1, &second, NULL, 8);
	WAIT(ppoll, -1, 1, 0, -1, &polled, 1, NULL, NULL, 8);
	WAIT(select, -1, pipes[0] + 1, 0, blind ? -1 : 2000007000ll, pipes[0] + 1, &set, NULL, NULL,
	     &most);
	WAIT(pselect6, -1, pipes[0] + 1, 0, blind ? -1 : 1000000005ll, pipes[0] + 1, &set, NULL,
	     NULL, &again, NULL);
	named(pipes[0], PIPE, NULL);
	IO(read, pipes[0], 64, pipes[0], buffer, 64);
	named(data, FILE_, file);
	IO(writev, data, 2, data, iov, 2);
	IO(pwrite64, data, 5, data, buffer, 5, 100);
	IO(pread64, data, 64, data, buffer, 64, 0);
	named(null, CHARACTER, "/dev/null");
	IO(write, null, 7, null, buffer, 7);
	named(folder, DIRECTORY, dir);
	IO(read, folder, 64, folder, buffer, 64);
	named(queue, PIPE, fifo);
	IO(write, queue, 4, queue, buffer, 4);
	named(pair[0], SOCKET, NULL);
	IO(write, pair[0], 6, pair[0], buffer, 6);
	named(pair[1], SOCKET, NULL);
	IO(readv, pair[1], 2, pair[1], iov, 2);
	IO(sendfile, null, 7, null, data, NULL, 7);
	IO(read, 999, 1, 999, buffer, 1);
	IO(read, -1, 1, -1, buffer, 1);
	IO(fsync, data, 0, data);
	end();
}

/* A disk of this machine; -1: none. */
static int disk_of(char path[64])
{
	DIR *all = opendir("/sys/class/block");
	struct dirent *e;
	int fd = -1;

	while (all && fd < 0 && (e = readdir(all))) {
		snprintf(path, 64, "/dev/%.50s", e->d_name);
		fd = e->d_name[0] == '.' ? -1 : open(path, O_RDONLY);
	}
	if (all)
		closedir(all);
	return fd;
}

/* Disks, and descriptors of the kernel's that are of no kind told apart. */
static void io_others(void)
{
	struct perf_event_attr nothing = {.type = PERF_TYPE_SOFTWARE,
					  .size = sizeof(nothing),
					  .config = PERF_COUNT_SW_DUMMY};
	int counter = (int)syscall(SYS_perf_event_open, &nothing, 0, -1, -1, 0);
	int process = (int)syscall(SYS_pidfd_open, pid, 0), disk;
	char path[64], buffer[64];

	disk = disk_of(path);
	if (disk < 0 || counter < 0 || process < 0)
		die("a disk, a counter, a pidfd");
	begin();
	named(disk, BLOCK, path);
	IO(pread64, disk, 0, disk, buffer, 0, 0);
	named(counter, ANONYMOUS, NULL);
	IO(read, counter, 64, counter, buffer, 64);
	named(process, ANONYMOUS, NULL);
	IO(read, process, 64, process, buffer, 64);
	end();
}

static void run_io(void)
{
	io_bytes();
	io_anonymous();
	io_others();
}

union end {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
};

static socklen_t end_size(const union end *e)
{
	return e->any.sa_family == AF_INET ? sizeof(e->four) : sizeof(e->six);
}

/* An address and a port there that nobody listens at, for a socket to come. */
static union end free_end(int family, const char *address)
{
	union end e = {.any.sa_family = (sa_family_t)family};
	socklen_t size = end_size(&e);
	int fd = socket(family, SOCK_STREAM, 0);

	if (inet_pton(family, address,
		      family == AF_INET ? (void *)&e.four.sin_addr : &e.six.sin6_addr) != 1 ||
	    bind(fd, &e.any, size) || getsockname(fd, &e.any, &size))
		die(address);
	close(fd);
	if (family == AF_INET6)
		memcpy(local6, &e.six.sin6_addr, sizeof(local6));
	return e;
}

static void line_address(const char *name, long nr, int fd, int family, int port, uint64_t a0,
			 uint64_t a1)
{
	if (blind)
		family = port = 0, a0 = a1 = 0;
	line("syscall_address tid=%d nr=%s fd=%d family=%d port=%d address0=0x%llx address1=0x%llx",
	     tid, call_text(name, nr), fd, family, port, (unsigned long long)a0,
	     (unsigned long long)a1);
}

static int make_socket(int family, int type)
{
	long fd;

	line("syscall_io tid=%d nr=%s fd=-1 size=%llu", tid, call_text("socket", SYS_socket),
	     (unsigned long long)family << 32 | (unsigned int)type);
	fd = MAKE(socket, family, type, 0);
	if (family == AF_UNIX)
		named((int)fd, SOCKET, NULL);
	else
		named_socket((int)fd, family, type, "0", "0");
	line_result("socket", SYS_socket, fd);
	return (int)fd;
}

/* @plain: by accept, not accept4. */
static void net_family(const union end *e, bool plain)
{
	int family = e->any.sa_family, port = ntohs(e->four.sin_port), server, client;
	uint64_t a0 = half_of(family == AF_INET6, 0), a1 = half_of(family == AF_INET6, 1);
	char ours[32], local[32], buffer[100] = "";
	socklen_t size = end_size(e);
	long got;

	snprintf(ours, sizeof(ours), "%d", port);
	server = make_socket(family, SOCK_STREAM);
	line_address("bind", SYS_bind, server, family, port, a0, a1);
	DONE(bind, server, e, size);
	named_socket(server, family, SOCK_STREAM, ours, "0");
	IO(listen, server, 0, server, 5);
	client = make_socket(family, SOCK_STREAM);
	line_address("connect", SYS_connect, client, family, port, a0, a1);
	DONE(connect, client, e, size);
	snprintf(local, sizeof(local), "{port:%d}", client);
	if (plain)
		ENTRY_IO(accept, server);
	else
		ENTRY_IO(accept4, server);
	got = plain ? MAKE(accept, server, NULL, NULL) : MAKE(accept4, server, NULL, NULL, 0);
	named_socket((int)got, family, SOCK_STREAM, ours, local);
	if (plain)
		line_result("accept", SYS_accept, got);
	else
		line_result("accept4", SYS_accept4, got);
	named_socket(client, family, SOCK_STREAM, local, ours);
	IO(sendto, client, 5, client, buffer, 5, 0, NULL, 0);
	IO(recvfrom, got, 100, got, buffer, 100, 0, NULL, NULL);
	IO(shutdown, client, 0, client, SHUT_WR);
	IO(recvfrom, got, 100, got, buffer, 100, 0, NULL, NULL);
}

static void net_datagrams(const union end *to)
{
	int family = to->any.sa_family, port = ntohs(to->four.sin_port);
	int fd = make_socket(family, SOCK_DGRAM);
	struct timespec soon = {0, 2000003};
	struct mmsghdr two[2] = {};
	char ours[32], local[32];

	line_address("connect", SYS_connect, fd, family, port, half_of(family == AF_INET6, 0),
		     half_of(family == AF_INET6, 1));
	DONE(connect, fd, to, end_size(to));
	snprintf(local, sizeof(local), "{port:%d}", fd);
	snprintf(ours, sizeof(ours), "%d", port);
	named_socket(fd, family, SOCK_DGRAM, local, ours);
	IO(sendto, fd, 3, fd, "abc", 3, 0, NULL, 0);
	/* nobody listens there */
	WAIT(recvmmsg, fd, 2, 0, blind ? -1 : 2000003, fd, two, 2, MSG_DONTWAIT, &soon);
}

/* Descriptors of unix sockets: nameless, with a name of their own, of whom they are connected to,
 * or both. */
static void net_unix(int type, const struct sockaddr_un *at, socklen_t size, const char *name)
{
	char *own = path_of("own"), *both, *back;
	struct sockaddr_un client_at = {.sun_family = AF_UNIX};
	int server, client;
	long got;

	snprintf(client_at.sun_path, sizeof(client_at.sun_path), "%.90s", own);
	unlink(own);
	if (asprintf(&both, "unix:%s_->_%s", own, name + 5) < 0 ||
	    asprintf(&back, "%s_->_%s", name, own) < 0)
		die("memory");
	server = make_socket(AF_UNIX, type);
	line_address("bind", SYS_bind, server, AF_UNIX, 0, 0, 0);
	DONE(bind, server, at, size);
	named(server, SOCKET, name);
	IO(listen, server, 0, server, 5);
	client = make_socket(AF_UNIX, type);
	line_address("connect", SYS_connect, client, AF_UNIX, 0, 0, 0);
	DONE(connect, client, at, size);
	ENTRY_IO(accept4, server);
	got = MAKE(accept4, server, NULL, NULL, 0);
	named((int)got, SOCKET, name);
	line_result("accept4", SYS_accept4, got);
	named(client, SOCKET, name);
	IO(sendto, client, 3, client, "abc", 3, 0, NULL, 0);
	line_address("bind", SYS_bind, client, AF_UNIX, 0, 0, 0);
	DONE(bind, client, &client_at, sizeof(client_at));
	named(client, SOCKET, both);
	IO(shutdown, client, 0, client, SHUT_WR);
	named((int)got, SOCKET, back);
	IO(shutdown, (int)got, 0, (int)got, SHUT_WR);
}

static void net_units(void)
{
	struct sockaddr_un file = {.sun_family = AF_UNIX}, none = {.sun_family = AF_UNIX},
			   to = file;
	char *path = path_of("unix"), *name, *own = path_of("datagrams");
	int fd;

	snprintf(file.sun_path, sizeof(file.sun_path), "%.90s", path);
	unlink(path);
	/* of no file system, with a zero byte in it */
	snprintf(none.sun_path, sizeof(none.sun_path), "%cjis_%d%cname", 0, (int)getpid(), 0);
	if (asprintf(&name, "unix:@jis_%d@name", (int)getpid()) < 0)
		die("memory");
	begin();
	net_unix(SOCK_SEQPACKET, &none,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name + 5)), name);
	if (asprintf(&name, "unix:%s", path) < 0)
		die("memory");
	net_unix(SOCK_STREAM, &file, sizeof(file), name);
	/* Whom datagrams go to may change at any moment: it is not in their name. */
	snprintf(to.sun_path, sizeof(to.sun_path), "%.90s", own);
	unlink(own);
	fd = make_socket(AF_UNIX, SOCK_DGRAM);
	line_address("bind", SYS_bind, fd, AF_UNIX, 0, 0, 0);
	DONE(bind, fd, &to, sizeof(to));
	if (asprintf(&name, "unix:%s", own) < 0)
		die("memory");
	named(fd, SOCKET, name);
	line_address("connect", SYS_connect, fd, AF_UNIX, 0, 0, 0);
	DONE(connect, fd, &to, sizeof(to));
	IO(sendto, fd, 3, fd, "abc", 3, 0, NULL, 0);
	end();
}

static void net_errors(const struct sockaddr_in *nobody, int port)
{
	struct sockaddr_un here = {.sun_family = AF_UNIX};
	char *name;
	int fd;

	snprintf(here.sun_path, sizeof(here.sun_path), "%.90s/socket", dir);
	unlink(here.sun_path);
	begin();
	fd = make_socket(AF_INET, SOCK_STREAM);
	line_address("connect", SYS_connect, fd, AF_INET, port, LOCAL4, 0);
	DONE(connect, fd, nobody, sizeof(*nobody));
	fd = make_socket(AF_UNIX, SOCK_STREAM);
	line_address("bind", SYS_bind, fd, AF_UNIX, 0, 0, 0);
	DONE(bind, fd, &here, sizeof(here));
	if (asprintf(&name, "unix:%s", here.sun_path) < 0)
		die("memory");
	named(fd, SOCKET, name);
	line_address("connect", SYS_connect, fd, 0, 0, 0, 0);
	DONE(connect, fd, (void *)8, 16);
	line_address("connect", SYS_connect, fd, 0, 0, 0, 0);
	DONE(connect, fd, nobody, 4);
	IO(accept, -1, 0, -1, NULL, NULL);
	end();
}

/* Connections and datagrams over IPv6, which may be IPv4 below. */
static void net_six(const char *address, bool plain)
{
	union end e = free_end(AF_INET6, address), nobody = free_end(AF_INET6, address);

	begin();
	net_family(&e, plain);
	net_datagrams(&nobody);
	end();
}

static void run_net(void)
{
	union end four = free_end(AF_INET, "127.0.0.1"), nobody = free_end(AF_INET, "127.0.0.1");

	begin();
	net_family(&four, false);
	net_datagrams(&nobody);
	end();
	net_six("::1", false);
	net_six("::ffff:127.0.0.1", false);
	if (own6)
		net_six(OWN6, true);
	net_units();
	net_errors(&nobody.four, ntohs(nobody.four.sin_port));
}

struct waited { /* struct futex_waitv */
	uint64_t value, address;
	uint32_t flags, reserved;
};

static void run_lock(void)
{
	static uint32_t word = 5, other;
	struct timespec soon = {0, 1000000}, past = {1, 2};
	int data = file_of(path_of("lock"), O_RDWR | O_CREAT);
	struct sembuf change[] = {{0, 1, 0}, {0, -1, 0}};
	struct flock whole = {.l_type = F_WRLCK};
	struct waited vector = {5, (uintptr_t)&word, 2 /* 32 bits */, 0};
	int set = semget(IPC_PRIVATE, 1, 0600);
	char *name = path_of("lock");

	begin();
	FUTEX(-1, &word, FUTEX_WAKE_PRIVATE, 1, NULL);
	FUTEX(1000000, &word, FUTEX_WAIT_PRIVATE, 4, &soon);
	FUTEX(1000000, &word, FUTEX_WAIT, 5, &soon);
	FUTEX(1000000002ll, &word, FUTEX_WAIT_BITSET_PRIVATE, 5, &past, NULL, ~0u);
	FUTEX(-1, &word, FUTEX_WAIT, 4, NULL);
	FUTEX(-1, &word, FUTEX_CMP_REQUEUE_PRIVATE, 1, 7, &other, 5);
	FUTEX(-1, &word, FUTEX_WAIT, 5, (void *)8);
	FUTEX(-1, (void *)4, FUTEX_WAKE, 3, NULL);
	PLAIN(sched_yield);
	named(data, FILE_, name);
	IO(flock, data, LOCK_EX, data, LOCK_EX);
	IO(fcntl, data, F_SETLKW, data, F_SETLKW, &whole);
	IO(fcntl, data, F_GETLK, data, F_GETLK, &whole);
	WAIT(semop, -1, 2, 0, -1, set, change, 2);
	WAIT(semtimedop, -1, 1, 0, blind ? -1 : 1000000, set, change, 1, &soon);
	WAIT(futex_waitv, -1, 1, 0, blind ? -1 : 1000000002ll, &vector, 1, 0, &past,
	     CLOCK_MONOTONIC);
#ifdef SYS_futex_wait /* Debian 12's headers have no number of it */
	FUTEX2(futex_wait, 1000000002, &word, 5, 0x82, 5l, ~0u, 0x82, &past, CLOCK_MONOTONIC);
	FUTEX2(futex_wait, -1, &word, 4, 0x82, 4l, ~0u, 0x82, NULL, CLOCK_MONOTONIC);
	FUTEX2(futex_wake, -1, &word, 3, 2, ~0u, 3, 2);
#endif
	end();
	semctl(set, 0, IPC_RMID);
}

static void run_time(void)
{
	struct timespec t = {0, 1000001}, past = {3, 4}, bad = {0, 2000000000};

	begin();
	WAIT(nanosleep, -1, 0, 0, blind ? -1 : 1000001, &t, NULL);
	WAIT(clock_nanosleep, -1, 0, 0, blind ? -1 : 1000001, CLOCK_MONOTONIC, 0, &t, NULL);
	WAIT(clock_nanosleep, -1, 0, 1, blind ? -1 : 3000000004ll, CLOCK_MONOTONIC, 1, &past, NULL);
	WAIT(nanosleep, -1, 0, 0, -1, NULL, NULL);
	WAIT(nanosleep, -1, 0, 0, -1, &bad, NULL);
	PLAIN(alarm, 0);
	end();
}

static void run_mem(void)
{
	long area;

	begin();
	area = MEMORY(mmap, 0, 8192, NULL, 8192, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MEMORY(mprotect, area, 4096, area, 4096, PROT_READ);
	MEMORY(madvise, area, 8192, area, 8192, MADV_DONTNEED);
	MEMORY(munmap, area, 8192, area, 8192);
	MEMORY(munmap, 1, 4096, 1, 4096);
	MEMORY(brk, 0, 0, 0);
	end();
}

/* Descriptors that become something else. */
static void file_reuse(void)
{
	char *one = path_of("one"), *two = path_of("two");
	int fd, copy;

	close(file_of(one, O_RDWR | O_CREAT));
	close(file_of(two, O_RDWR | O_CREAT));
	begin();
	fd = OPENS(FILE_, one, ENTRY_PATH(openat, AT_FDCWD, O_RDONLY, one), openat, AT_FDCWD, one,
		   O_RDONLY);
	IO(lseek, fd, 0, fd, 0, SEEK_SET);
	IO(lseek, fd, 0, fd, 0, SEEK_SET);
	IO(close, fd, 0, fd);
	fd = OPENS(FILE_, two, ENTRY_PATH(openat, AT_FDCWD, O_RDONLY, two), openat, AT_FDCWD, two,
		   O_RDONLY);
	IO(lseek, fd, 0, fd, 0, SEEK_SET);
	IO(close, fd, 0, fd);
	fd = OPENS(EVENTFD, NULL, ENTRY_PLAIN(eventfd2), eventfd2, 0, 0);
	IO(fcntl, fd, F_GETFD, fd, F_GETFD);
	copy = OPENS(EVENTFD, NULL, ENTRY_IO(dup, fd), dup, fd);
	IO(close, 1000, 0, 1000);
	OPENS(FILE_, one, ENTRY_PATH(open, -1, O_RDONLY, one), open, one, O_RDONLY);
	IO(lseek, copy, 0, copy, 0, SEEK_SET);
	end();
}

static void file_kinds(void)
{
	static char longer[2000];
	char cut[1100];
	char *gone = path_of("there is none"), *shown = path_of("there_is_none");
	char rest[] = "one";
	struct stat st;
	sigset_t set;
	int folder, notify;

	memset(longer, 'x', sizeof(longer) - 1);
	memcpy(longer, "/tmp/", 5);
	snprintf(cut, sizeof(cut), "%.1020s...", longer);
	sigemptyset(&set);
	begin();
	folder = OPENS(DIRECTORY, dir, ENTRY_PATH(openat, AT_FDCWD, O_DIRECTORY, dir), openat,
		       AT_FDCWD, dir, O_DIRECTORY);
	PATH(newfstatat, folder, 0x100, "one", folder, rest, &st, 0x100);
	PATH(openat, AT_FDCWD, O_RDONLY, shown, AT_FDCWD, gone, O_RDONLY);
	PATH(openat, AT_FDCWD, O_RDONLY, cut, AT_FDCWD, longer, O_RDONLY);
	PATH(openat, AT_FDCWD, O_RDONLY, "", AT_FDCWD, (void *)8, O_RDONLY);
	PATH(unlinkat, 77, 0, "one", 77, rest, 0);
	PATH(execve, -1, 0, shown, gone, NULL, NULL);
	OPENS(TIMERFD, NULL, ENTRY_PLAIN(timerfd_create), timerfd_create, CLOCK_MONOTONIC, 0);
	OPENS(SIGNALFD, NULL, ENTRY_IO(signalfd4, -1), signalfd4, -1, &set, 8, 0);
	notify = OPENS(INOTIFY, NULL, ENTRY_PLAIN(inotify_init1), inotify_init1, 0);
	PATH(inotify_add_watch, notify, IN_CREATE, dir, notify, dir, IN_CREATE);
	OPENS(EPOLL, NULL, ENTRY_PLAIN(epoll_create1), epoll_create1, 0);
	OPENS(FILE_, NULL, ENTRY_PLAIN(memfd_create), memfd_create, "memory", 0);
	OPENS(CHARACTER, "/dev/null", ENTRY_PATH(openat, AT_FDCWD, O_WRONLY, "/dev/null"), openat,
	      AT_FDCWD, strdup("/dev/null"), O_WRONLY);
	end();
}

static void run_file(void)
{
	file_reuse();
	file_kinds();
}

#ifdef __x86_64__
static long exit32(int nr, long result)
{
	line("syscall_exit tid=%d nr=%d result=%ld", tid, nr | COMPAT, result);
	return result;
}

static void run_compat(void)
{
	struct low *low = low_memory();
	char *file = path_of("data32");
	int pipes[2];
	long fd, result;

	if (pipe(pipes))
		die("pipe");
	snprintf(low->path, sizeof(low->path), "%s", file);
	close((int)syscall(SYS_creat, file, 0600));
	low->time[1] = 1000002;
	low->word = 6;
	low->polled = (struct pollfd){pipes[0], POLLIN, 0};
	begin();
	line("syscall_enter tid=%d nr=%d", tid, GETPID32 | COMPAT);
	exit32(GETPID32, call32(GETPID32, 0, 0, 0, 0));
	named(pipes[1], PIPE, NULL);
	line("syscall_io tid=%d nr=%d fd=%d size=4", tid, WRITE32 | COMPAT, pipes[1]);
	exit32(WRITE32, call32(WRITE32, pipes[1], (long)low->path, 4, 0));
	line("syscall_wait tid=%d nr=%d fd=-1 count=1 flags=0x0 timeout=7000000", tid,
	     POLL32 | COMPAT);
	exit32(POLL32, call32(POLL32, (long)&low->polled, 1, 7, 0));
	named(pipes[0], PIPE, NULL);
	line("syscall_io tid=%d nr=%d fd=%d size=3", tid, READ32 | COMPAT, pipes[0]);
	exit32(READ32, call32(READ32, pipes[0], (long)low->path + 300, 3, 0));
	line("syscall_wait tid=%d nr=%d fd=-1 count=0 flags=0x0 timeout=1000002", tid,
	     NANOSLEEP32 | COMPAT);
	exit32(NANOSLEEP32, call32(NANOSLEEP32, (long)low->time, 0, 0, 0));
	line("syscall_futex tid=%d nr=%d op=0x0 value=5 address=0x%llx timeout=1000002", tid,
	     FUTEX32 | COMPAT, (unsigned long long)(uintptr_t)&low->word);
	exit32(FUTEX32, call32(FUTEX32, (long)&low->word, FUTEX_WAIT, 5, (long)low->time));
	line("syscall_path tid=%d nr=%d dirfd=-100 flags=0x0 path=%s", tid, OPENAT32 | COMPAT,
	     file);
	result = fd = call32(OPENAT32, AT_FDCWD, (long)low->path, O_RDONLY, 0);
	named((int)fd, FILE_, file);
	exit32(OPENAT32, result);
	line("syscall_io tid=%d nr=%d fd=-5 size=1", tid, READ32 | COMPAT);
	exit32(READ32, call32(READ32, -5, (long)low->path, 1, 0));
	end();
}
#endif

/* The lines, with what is known only now filled in --------------------------------------------- */

static int local_port(int fd)
{
	struct sockaddr_storage got;
	socklen_t size = sizeof(got);

	if (getsockname(fd, (struct sockaddr *)&got, &size))
		die("getsockname");
	return ntohs(((struct sockaddr_in *)&got)->sin_port);
}

static void print_link(int fd)
{
	char path[64], link[1024] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (readlink(path, link, sizeof(link) - 1) < 0)
		die(path);
	for (char *c = link; *c; c++)
		putchar(*c == ' ' ? '_' : *c);
}

static void print_line(const char *text)
{
	int fd, length;

	while (*text) {
		if (sscanf(text, "{link:%d}%n", &fd, &length) == 1) {
			print_link(fd);
			text += length;
		} else if (sscanf(text, "{port:%d}%n", &fd, &length) == 1) {
			printf("%d", local_port(fd));
			text += length;
		} else {
			putchar(*text++);
		}
	}
	putchar('\n');
}

static int run_preset(const char *name)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} presets[] = {
		{"io", run_io},		{"net", run_net}, {"lock", run_lock},
		{"time", run_time},	{"mem", run_mem}, {"file", run_file},
#ifdef __x86_64__
		{"compat", run_compat},
#endif
	};

	for (size_t i = 0; i < sizeof(presets) / sizeof(presets[0]); i++) {
		if (strcmp(presets[i].name, name))
			continue;
		presets[i].run();
		for (int l = 0; l < nr_lines; l++)
			print_line(lines[l]);
		return 0;
	}
	return 2;
}

int main(int argc, char **argv)
{
	static char resolved[4096];
	int opt;

	tid = (int)syscall(SYS_gettid);
	pid = getpid();
	while ((opt = getopt(argc, argv, "6fn")) != -1) {
		blind |= opt == 'f';
		by_name |= opt == 'n';
		own6 |= opt == '6';
	}
	argv += optind;
	argc -= optind;
	setvbuf(stdout, NULL, _IOFBF, 1 << 20);
	if (argc != 2 || !realpath(argv[0], resolved))
		return 2;
	dir = resolved;
	return run_preset(argv[1]);
}
