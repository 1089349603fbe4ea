// SPDX-License-Identifier: MIT
/*
 * jiseach: makes each system call of a preset once, with arguments that tell which is which and
 * that the kernel refuses, and prints for each the records it must leave, as jisraw writes them
 * (without CPU and time), in order. What the arguments of a call are is written down here once
 * more, from its manual page: this is the witness.
 *
 *   jiseach io|net|lock|time|mem|file          the calls of the preset
 *   jiseach io|net|lock|time|mem|file compat   as 32-bit calls
 *   jiseach all [compat]                       those of all presets, and some of none; of the
 * others, whose numbers and names are read, those that can be made with arguments that are
 * nonsense. Says which are "never" made What counts lies between two changes of the thread's name,
 * to "begin" and to "end".
 */
#include <errno.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

/*
 * Presets: i o, n et, l ock, t ime, m em, f ile; - none. Record: - plain, I syscall_io, W
 * syscall_wait, M syscall_memory, P syscall_path, A syscall_address, F syscall_futex. Then what
 * each argument is: d descriptor          s size, vectors or an operation  u upper half of the size
 *   p path                g flags                          a address           l length
 *   n number waited for   m milliseconds                   T struct timespec   V struct timeval
 *   t struct timespec, y struct timeval of 32-bit words    W a futex's operation with a timeout
 *   A struct sockaddr     1 TIMER_ABSTIME                  w the word of a futex, o its operation,
 *   v its value             O flags for one of 32 bits     x an address that is none
 *   _ nothing of all that, 0
 */
struct call {
	const char *name;
	int nr;
	const char *presets;
	char record;
	const char *arguments;
};

#define C(name, presets, record, arguments)                                                        \
	{                                                                                          \
#name, SYS_##name, presets, record, arguments                                      \
	}

static const struct call calls[] = {
	C(read, "i", 'I', "dxs"),
	C(write, "i", 'I', "dxs"),
	C(readv, "i", 'I', "dxs"),
	C(writev, "i", 'I', "dxs"),
	C(pread64, "i", 'I', "dxs_"),
	C(pwrite64, "i", 'I', "dxs_"),
	C(preadv, "i", 'I', "dxs_"),
	C(pwritev, "i", 'I', "dxs_"),
	C(preadv2, "i", 'I', "dxs__"),
	C(pwritev2, "i", 'I', "dxs__"),
	C(sendfile, "i", 'I', "d__s"),
	C(splice, "i", 'I', "d___s_"),
	C(tee, "i", 'I', "d_s_"),
	C(vmsplice, "i", 'I', "dxs_"),
	C(copy_file_range, "i", 'I', "d___s_"),
	C(fsync, "if", 'I', "d"),
	C(fdatasync, "if", 'I', "d"),
	C(sync_file_range, "if", 'I', "d___"),
	C(ioctl, "i", 'I', "d__"),
	C(io_submit, "i", '-', "___"),
	C(io_getevents, "i", 'W', "__nxT"),
	C(io_pgetevents, "i", 'W', "__nxT_"),
	C(io_uring_enter, "i", 'I', "ds____"),
	C(poll, "i", 'W', "xnm"),
	C(ppoll, "i", 'W', "xnT__"),
	C(select, "i", 'W', "nxxxV"),
	C(pselect6, "i", 'W', "nxxxT_"),
	C(epoll_wait, "i", 'W', "dxnm"),
	C(epoll_pwait, "i", 'W', "dxnm__"),
	C(epoll_pwait2, "i", 'W', "dxnT__"),
	C(epoll_ctl, "i", 'I', "dusx"),
	C(restart_syscall, "ilt", '-', ""),
	C(socket, "n", 'I', "us_"),
	C(socketpair, "n", '-', "___x"),
	C(bind, "n", 'A', "dA"),
	C(connect, "n", 'A', "dA"),
	C(listen, "n", 'I', "d_"),
	C(accept, "n", 'I', "d__"),
	C(accept4, "n", 'I', "d___"),
	C(sendto, "n", 'I', "dxs___"),
	C(recvfrom, "n", 'I', "dxs___"),
	C(sendmsg, "n", 'I', "dx_"),
	C(recvmsg, "n", 'I', "dx_"),
	C(sendmmsg, "n", 'I', "dxs_"),
	C(recvmmsg, "n", 'W', "dxn_T"),
	C(shutdown, "n", 'I', "d_"),
	C(getsockname, "n", 'I', "dxx"),
	C(getpeername, "n", 'I', "dxx"),
	C(setsockopt, "n", 'I', "d__x_"),
	C(getsockopt, "n", 'I', "d__xx"),
	C(close, "nf", 'I', "d"),
	C(dup2, "nf", 'I', "d_"),
	C(dup3, "nf", 'I', "d__"),
	C(futex, "l", 'F', "wov"),
#ifdef SYS_futex_wake /* what Debian 12 has no number of, its kernel does not have */
	C(futex_wait, "l", 'F', "wv_OT_"),
	C(futex_wake, "l", 'F', "w_vO"),
	C(futex_requeue, "l", 'M', "a_l_"),
#endif
	C(futex_waitv, "l", 'W', "xn_T_"),
	C(flock, "l", 'I', "ds"),
	C(semop, "l", 'W', "__n"),
	C(semtimedop, "l", 'W', "__nT"),
	C(sched_yield, "l", '-', ""),
	C(nanosleep, "t", 'W', "T_"),
	C(clock_nanosleep, "t", 'W', "_1T_"),
	C(rt_sigtimedwait, "t", 'W', "x_T_"),
	C(pause, "t", '-', ""),
	C(rt_sigsuspend, "t", '-', "x_"),
	C(timer_settime, "t", '-', "__x_"),
	C(setitimer, "t", '-', "x__"),
	C(alarm, "t", '-', "_"),
	C(timerfd_settime, "t", 'I', "d_x_"),
	C(mmap, "m", 'M', "al____"),
	C(munmap, "m", 'M', "al"),
	C(mremap, "m", 'M', "al___"),
	C(mprotect, "m", 'M', "al_"),
	C(pkey_mprotect, "m", 'M', "al__"),
	C(madvise, "m", 'M', "al_"),
	C(mlock, "m", 'M', "al"),
	C(mlock2, "m", 'M', "al_"),
	C(munlock, "m", 'M', "al"),
	C(msync, "m", 'M', "al_"),
	C(mincore, "m", 'M', "al_"),
	C(mbind, "m", 'M', "al____"),
	C(brk, "m", 'M', "a"),
	C(mlockall, "m", '-', "_"),
	C(munlockall, "m", '-', ""),
	C(membarrier, "m", '-', "x__"),
	C(open, "f", 'P', "pg_"),
	C(openat, "f", 'P', "dpg_"),
	C(openat2, "f", 'P', "dpx_"),
	C(creat, "f", 'P', "p_"),
	C(close_range, "f", '-', "xxx"),
	C(dup, "f", 'I', "d"),
	C(pipe, "f", '-', "x"),
	C(pipe2, "f", '-', "x_"),
	C(eventfd, "f", '-', "_"),
	C(eventfd2, "f", '-', "__"),
	C(epoll_create, "f", '-', "x"),
	C(epoll_create1, "f", '-', "_"),
	C(timerfd_create, "f", '-', "__"),
	C(signalfd, "f", 'I', "dx_"),
	C(signalfd4, "f", 'I', "dx__"),
	C(inotify_init, "f", '-', ""),
	C(inotify_init1, "f", '-', "_"),
	C(inotify_add_watch, "f", 'P', "dpg"),
	C(memfd_create, "fm", '-', "x_"),
	C(fcntl, "fl", 'I', "ds_"),
	C(lseek, "f", 'I', "d__"),
	C(fstat, "f", 'I', "dx"),
	C(fstatfs, "f", 'I', "dx"),
	C(ftruncate, "f", 'I', "ds"),
	C(fallocate, "f", 'I', "d___"),
	C(getdents, "f", 'I', "dxs"),
	C(getdents64, "f", 'I', "dxs"),
	C(fchdir, "f", 'I', "d"),
	C(fchmod, "f", 'I', "d_"),
	C(fchown, "f", 'I', "d__"),
	C(stat, "f", 'P', "px"),
	C(lstat, "f", 'P', "px"),
	C(newfstatat, "f", 'P', "dpxg"),
	C(statx, "f", 'P', "dpg_x"),
	C(statfs, "f", 'P', "px"),
	C(access, "f", 'P', "p_"),
	C(faccessat, "f", 'P', "dp_"),
	C(faccessat2, "f", 'P', "dp_g"),
	C(readlink, "f", 'P', "px_"),
	C(readlinkat, "f", 'P', "dpx_"),
	C(truncate, "f", 'P', "p_"),
	C(unlink, "f", 'P', "p"),
	C(unlinkat, "f", 'P', "dpg"),
	C(rename, "f", 'P', "px"),
	C(renameat, "f", 'P', "dp_x"),
	C(renameat2, "f", 'P', "dp_xg"),
	C(link, "f", 'P', "px"),
	C(linkat, "f", 'P', "dp_xg"),
	C(symlink, "f", 'P', "xp"),
	C(symlinkat, "f", 'P', "xdp"),
	C(mkdir, "f", 'P', "p_"),
	C(mkdirat, "f", 'P', "dp_"),
	C(rmdir, "f", 'P', "p"),
	C(mknod, "f", 'P', "p__"),
	C(mknodat, "f", 'P', "dp__"),
	C(chmod, "f", 'P', "p_"),
	C(fchmodat, "f", 'P', "dp_"),
	C(chown, "f", 'P', "p__"),
	C(lchown, "f", 'P', "p__"),
	C(fchownat, "f", 'P', "dp__g"),
	C(utimensat, "f", 'P', "dp_g"),
	C(chdir, "f", 'P', "p"),
	C(chroot, "f", 'P', "p"),
	C(execve, "f", 'P', "p__"),
	C(execveat, "f", 'P', "dp__g"),
	C(getcwd, "f", '-', "x_"),
	C(getuid, "-", '-', ""),
	C(getpriority, "-", '-', "__"),
	C(sched_getscheduler, "-", '-', "_"),
	C(umask, "-", '-', "_"),
};

#ifdef __x86_64__
#include "jiseach32.h"
#endif

#define NR(array) (sizeof(array) / sizeof((array)[0]))
#define BAD 8ul /* no address of ours */

static char text[1 << 18];
static size_t text_size;
static int tid;

/* Never made with nonsense: they make processes, end this one, wait for ever or hang up. */
static const char *const never[] = {
	"fork",		"vfork",     "clone", "clone3",	    "exit",    "exit_group",
	"rt_sigreturn", "sigreturn", "pause", "sigsuspend", "vhangup", "uretprobe",
};

static void add(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void add(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text_size += (size_t)vsnprintf(text + text_size, sizeof(text) - text_size, format, args);
	va_end(args);
	if (text_size >= sizeof(text))
		abort();
}

/* What a call is given, and what of that its record has. */
struct given {
	unsigned long arguments[6];
	struct timespec timespec;
	int32_t narrow[2];
	struct timeval timeval;
	struct sockaddr_in address;
	char path[64];
	uint32_t word;
	/* expected */
	int fd;
	unsigned long long size, length;
	unsigned int flags, count;
	long long timeout;
};

static struct given *low; /* where a 32-bit call's arguments can point to */

static unsigned long given_one(struct given *g, char what, unsigned long n)
{
	switch (what) {
	case 'd':
		return (unsigned long)(g->fd = 900 + (int)n);
	case 's':
		g->size |= 4000 + n;
		return 4000 + n;
	case 'u':
		g->size |= (7000ull + n) << 32;
		return 7000 + n;
	case 'p':
		return (unsigned long)g->path;
	case 'g':
		return g->flags = 0x100;
	case 'a':
		return 0x12345001;
	case 'l':
		return g->length = 0x5000 + n;
	case 'n':
		return g->count = 3 + (unsigned int)n % 50;
	case 'm':
		g->timeout = 8000000;
		return 8;
	case 'T':
		g->timeout = g->timespec.tv_nsec = 1000 + (long)n;
		return (unsigned long)&g->timespec;
	case 'V':
		g->timeout = 3000;
		g->timeval.tv_usec = 3;
		return (unsigned long)&g->timeval;
	case 't':
		g->timeout = g->narrow[1] = 1000 + (int)n;
		return (unsigned long)g->narrow;
	case 'y':
		g->timeout = 3000;
		g->narrow[1] = 3;
		return (unsigned long)g->narrow;
	case 'A':
		return (unsigned long)&g->address;
	case '1':
		return g->flags = TIMER_ABSTIME;
	case 'w':
		return (unsigned long)&g->word;
	case 'o':
		return g->flags = FUTEX_WAKE_PRIVATE;
	case 'W':
		return g->flags = FUTEX_WAIT_PRIVATE;
	case 'O':
		return g->flags = 2 | FUTEX_PRIVATE_FLAG; /* FUTEX2_SIZE_U32 */
	case 'v':
		return 33;
	case 'x':
		return BAD;
	default:
		return 0;
	}
}

static void expect(const struct call *c, const struct given *g)
{
	switch (c->record) {
	case '-':
		add("syscall_enter tid=%d nr=%d\n", tid, c->nr);
		break;
	case 'I':
		add("syscall_io tid=%d nr=%d fd=%d size=%llu\n", tid, c->nr, g->fd, g->size);
		break;
	case 'W':
		add("syscall_wait tid=%d nr=%d fd=%d count=%u flags=0x%x timeout=%lld\n", tid,
		    c->nr, g->fd, g->count, g->flags, g->timeout);
		break;
	case 'M':
		add("syscall_memory tid=%d nr=%d address=0x12345001 size=%llu\n", tid, c->nr,
		    g->length);
		break;
	case 'P':
		add("syscall_path tid=%d nr=%d dirfd=%d flags=0x%x path=%s\n", tid, c->nr, g->fd,
		    g->flags, g->path);
		break;
	case 'A':
		add("syscall_address tid=%d nr=%d fd=%d family=2 port=77 address0=0x100007f "
		    "address1=0x0\n",
		    tid, c->nr, g->fd);
		break;
	case 'F':
		add("syscall_futex tid=%d nr=%d op=0x%x value=33 address=0x%llx timeout=%lld\n",
		    tid, c->nr, g->flags, (unsigned long long)(uintptr_t)&g->word, g->timeout);
		break;
	}
}

/* The call's result, an error as -errno. */
static long result_of(int nr, const unsigned long a[6])
{
	long result;

#ifdef __x86_64__
	if (nr & COMPAT)
		return call32_of_6(nr & ~COMPAT, a);
#endif
	result = syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	return result < 0 ? -(long)errno : result;
}

static void make(const struct call *c, unsigned long n)
{
	struct given *g = low;
	unsigned long *a = g->arguments;
	long result;

	*g = (struct given){.fd = -1, .timeout = -1};
	snprintf(g->path, sizeof(g->path), "/none/%s", c->name);
	g->address = (struct sockaddr_in){.sin_family = AF_INET,
					  .sin_port = htons(77),
					  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	for (size_t i = 0; c->arguments[i]; i++)
		a[i] = given_one(g, c->arguments[i], n);
	if (c->record == 'A')
		a[2] = sizeof(g->address);
	expect(c, g);
	result = result_of(c->nr, a);
	if (!strcmp(c->name, "brk")) /* of which a 32-bit call gets the lower half */
		result = (long)sbrk(0);
	add("syscall_exit tid=%d nr=%d result=%ld\n", tid, c->nr, result);
}

static bool has_ldt; /* the kernel has modify_ldt */

/* A call of which only is known that it has no arguments like these. */
static void make_nonsense(int nr)
{
	const unsigned long a[6] = {~0ul, ~0ul, ~0ul, ~0ul, ~0ul, ~0ul};
	const int modify_ldt = 123 | 0x20000000; /* gives its result to all programs without sign */
	long result = result_of(nr, a);

	if (nr == modify_ldt && has_ldt)
		result = (long)(uint32_t)result;
	add("syscall_enter tid=%d nr=%d\nsyscall_exit tid=%d nr=%d result=%ld\n", tid, nr, tid, nr,
	    result);
}

static void on_alarm(int signal)
{
	(void)signal;
}

static void timer(long us)
{
	const struct itimerval t = {{0, us}, {0, us}};

	add("syscall_enter tid=%d nr=%d\nsyscall_exit tid=%d nr=%d result=0\n", tid, SYS_setitimer,
	    tid, SYS_setitimer);
	syscall(SYS_setitimer, ITIMER_REAL, &t, NULL);
}

static bool is_pause(const char *name)
{
	return !strcmp(name, "pause") || !strcmp(name, "sigsuspend");
}

/* It ends by a signal; its exit tells that as the kernel does inside, ERESTARTNOHAND. */
static void make_pause(int nr)
{
	const unsigned long none[6] = {0};

	timer(50000);
	add("syscall_enter tid=%d nr=%d\nsyscall_exit tid=%d nr=%d result=-514\n", tid, nr, tid,
	    nr);
	result_of(nr, none);
	timer(0);
}

static bool is_never(const char *name)
{
	for (size_t i = 0; i < NR(never); i++)
		if (!strcmp(never[i], name))
			return true;
	return false;
}

static bool is_known(const struct call *table, size_t n, int nr)
{
	for (size_t i = 0; i < n; i++)
		if (table[i].nr == nr)
			return true;
	return false;
}

struct other {
	int nr;
	bool made;
};

/* The calls that no table has, from lines "NUMBER NAME". */
static size_t read_others(struct other *to, size_t most, const struct call *table, size_t n,
			  int bit)
{
	char name[64];
	size_t found = 0;
	int nr;

	while (found < most && scanf("%d %63s", &nr, name) == 2)
		if (!is_known(table, n, nr | bit) || is_pause(name))
			to[found++] = (struct other){nr | bit, !is_never(name)};
	return found;
}

int main(int argc, char **argv)
{
	const struct rlimit none = {0, 0};
	const char *preset = argc == 2 || argc == 3 ? argv[1] : "";
	bool all = !strcmp(preset, "all"), compat = argc == 3 && !strcmp(argv[2], "compat");
	static struct other others[600];
	const struct call *table = calls;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	size_t n = NR(calls), nr_others = 0;

	if (!*preset || (argc == 3 && !compat))
		return 2;
#ifdef __x86_64__
	if (compat) {
		table = calls32;
		n = NR(calls32);
	}
	flags |= MAP_32BIT;
	has_ldt = !syscall(SYS_modify_ldt, 0, NULL, 0);
#endif
	low = mmap(NULL, sizeof(*low), PROT_READ | PROT_WRITE, flags, -1, 0);
	if (low == MAP_FAILED)
		return 1;
	if (all)
		nr_others = read_others(others, NR(others), table, n, compat ? 0x20000000 : 0);
	sbrk(0); /* which asks once where it is */
	tid = (int)syscall(SYS_gettid);
	signal(SIGALRM, on_alarm);
	setvbuf(stdout, NULL, _IOFBF, sizeof(text));
	/* No descriptor is made: that those are named is for jiscalls to show. */
	if (setrlimit(RLIMIT_NOFILE, &none))
		return 1;
	prctl(PR_SET_NAME, "begin");
	for (size_t i = 0; i < n; i++) {
		if (!all && !strchr(table[i].presets, *preset))
			continue;
		if (!is_pause(table[i].name))
			make(&table[i], i);
		else if (!all) /* its signal's return is a call, too */
			make_pause(table[i].nr);
	}
	for (size_t i = 0; i < nr_others; i++)
		if (others[i].made)
			make_nonsense(others[i].nr);
	prctl(PR_SET_NAME, "end");
	fwrite(text, 1, text_size, stdout);
	for (size_t i = 0; i < nr_others; i++)
		if (!others[i].made)
			printf("never %d\n", others[i].nr);
	return 0;
}
