// SPDX-License-Identifier: MIT
/*
 * jisblock: threads whose place in or out of the kernel is known.
 *
 *   jisblock block    blocks in one call after the other; prints "thread TID" and "call NR" of each
 *   jisblock spin MS  runs in user mode, two threads on one CPU; prints "thread TID" of each;
 *                     this and "within" go on until preempted 20 times, for a minute at most
 *   jisblock within MS  long reads of /dev/zero beside one that spins on the same CPU; prints
 *                     "thread TID preempted N" of the reader, as the kernel counted
 *   jisblock nest N   N wake-ups by a timer while another thread of the same CPU makes calls
 *                     (dup3), each with two descriptors that have become another file's;
 *                     prints "caller TID calls N" and "sleeper TID voluntary N"
 *
 * What counts lies between two changes of the thread's name, to "begin" and to "end".
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "call32.h"

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void begin(void)
{
	prctl(PR_SET_NAME, "begin");
}

static void end(void)
{
	prctl(PR_SET_NAME, "end");
}

/* Blocking ----------------------------------------------------------------------------------- */

static int blocked_pipe[2], poller;
static uint32_t blocked_word;
static volatile int sleeper_tid;
static long result32; /* of the sleep by a 32-bit call */

static void *sleeper(void *unused)
{
	/* Long enough that a slow kernel is asleep before it is over. */
	struct timespec t = {0, 500000000};
	struct epoll_event ev;
	char c[4];
#ifdef __x86_64__
	struct low *low = low_memory();
#endif

	sleeper_tid = (int)syscall(SYS_gettid);
	prctl(PR_SET_NAME, "begin");
	syscall(SYS_read, blocked_pipe[0], c, 1);
	syscall(SYS_futex, &blocked_word, FUTEX_WAIT_PRIVATE, 0, NULL);
	syscall(SYS_epoll_wait, poller, &ev, 1, -1);
	syscall(SYS_read, blocked_pipe[0], c, 1);
	syscall(SYS_nanosleep, &t, NULL);
#ifdef __x86_64__
	low->time64[1] = 500000000;
	result32 = call32(CLOCK_NANOSLEEP32, CLOCK_MONOTONIC, 0, (long)low->time64, 0);
	call32(READ32, blocked_pipe[0], (long)low->path, 1, 0);
#endif
	prctl(PR_SET_NAME, "end");
	return NULL;
}

/* Until the thread sleeps in call @nr of its own or of the 32-bit ABI: /proc/PID/syscall's word. */
static void wait_blocked(int nr)
{
	char path[64], text[64];
	FILE *f;
	int got = -1;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", sleeper_tid);
	while (got != nr) {
		f = fopen(path, "r");
		got = -1;
		if (f && fgets(text, sizeof(text), f) && text[0] >= '0' && text[0] <= '9')
			got = atoi(text);
		if (f)
			fclose(f);
		sched_yield();
	}
}

static int run_block(void)
{
	struct epoll_event ev = {.events = EPOLLIN};
	pthread_t t;

	poller = epoll_create1(0);
	if (pipe(blocked_pipe))
		die("pipe");
	epoll_ctl(poller, EPOLL_CTL_ADD, blocked_pipe[0], &ev);
	pthread_create(&t, NULL, sleeper, NULL);
	while (!sleeper_tid)
		sched_yield();
	printf("thread %d\n", sleeper_tid);
	wait_blocked(SYS_read);
	printf("call %d\n", SYS_read);
	if (write(blocked_pipe[1], "x", 1) != 1)
		die("write");
	wait_blocked(SYS_futex);
	printf("call %d\n", SYS_futex);
	blocked_word = 1;
	syscall(SYS_futex, &blocked_word, FUTEX_WAKE_PRIVATE, 1);
	wait_blocked(SYS_epoll_wait);
	printf("call %d\n", SYS_epoll_wait);
	if (write(blocked_pipe[1], "x", 1) != 1)
		die("write");
	printf("call %d\n", SYS_nanosleep);
#ifdef __x86_64__
	printf("call %d\n", CLOCK_NANOSLEEP32 | COMPAT);
	wait_blocked(READ32);
	printf("call %d\n", READ32 | COMPAT);
	if (write(blocked_pipe[1], "x", 1) != 1)
		die("write");
#endif
	pthread_join(t, NULL);
	if (result32) {
		fprintf(stderr, "the 32-bit nanosleep gave %ld\n", result32);
		return 3;
	}
	return 0;
}

/* Running in user mode ------------------------------------------------------------------------ */

static volatile bool stop;
static volatile int watched; /* thread that is to be preempted; 0: it has not begun */

static long preempted(int tid)
{
	static const char key[] = "nonvoluntary_ctxt_switches:";
	char path[64], line[256];
	long n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	f = fopen(path, "r");
	if (!f)
		die(path);
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)))
			n = atol(line + strlen(key));
	fclose(f);
	return n;
}

/* Until @ms are over and the thread has been preempted often enough to tell: a slow CPU takes
 * seconds. */
static void run_for(int ms)
{
	const struct timespec t = {0, 100000000};
	int slept = 0;

	while (slept < ms || (slept < 60000 && (!watched || preempted(watched) < 20))) {
		nanosleep(&t, NULL);
		slept += 100;
	}
	stop = true;
}

static void pin(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

static void *spinner(void *unused)
{
	pin();
	watched = (int)syscall(SYS_gettid);
	printf("thread %d\n", watched);
	begin();
	while (!stop)
		;
	end();
	return NULL;
}

static int run_spin(int ms)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, spinner, NULL);
	run_for(ms);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* Running in a system call --------------------------------------------------------------------- */

#define LONG (32ul << 20)

static void *reads_long(void *unused)
{
	int zero = open("/dev/zero", O_RDONLY);
	char *to = aligned_alloc(4096, LONG);
	struct rusage before, after;

	if (zero < 0 || !to)
		die("/dev/zero");
	memset(to, 1, LONG);
	pin();
	watched = (int)syscall(SYS_gettid);
	begin();
	getrusage(RUSAGE_THREAD, &before);
	while (!stop)
		if (read(zero, to, LONG) != (ssize_t)LONG)
			die("read");
	getrusage(RUSAGE_THREAD, &after);
	end();
	printf("thread %d preempted %ld\n", (int)syscall(SYS_gettid),
	       after.ru_nivcsw - before.ru_nivcsw);
	free(to);
	close(zero);
	return NULL;
}

static void *spins(void *unused)
{
	pin();
	while (!stop)
		;
	return NULL;
}

static int run_within(int ms)
{
	pthread_t reader, other;

	pthread_create(&reader, NULL, reads_long, NULL);
	pthread_create(&other, NULL, spins, NULL);
	run_for(ms);
	pthread_join(reader, NULL);
	pthread_join(other, NULL);
	return 0;
}

/* Interrupts that wake while probes run ---------------------------------------------------------
 */

static int wakeups;

static void *timer_sleeper(void *unused)
{
	struct sched_param first = {.sched_priority = 10};
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	/* Long enough that it sleeps by then, and the other thread has the CPU. */
	struct itimerspec soon = {.it_value = {0, 150000}};
	struct rusage before, after;
	uint64_t expired;

	pin();
	if (fd < 0 || sched_setscheduler(0, SCHED_FIFO, &first))
		die("a thread that goes first");
	begin();
	getrusage(RUSAGE_THREAD, &before);
	for (int i = 0; i < wakeups; i++) {
		timerfd_settime(fd, 0, &soon, NULL);
		if (read(fd, &expired, sizeof(expired)) != sizeof(expired))
			die("timerfd");
	}
	getrusage(RUSAGE_THREAD, &after);
	end();
	stop = true;
	printf("sleeper %d voluntary %ld\n", (int)syscall(SYS_gettid),
	       after.ru_nvcsw - before.ru_nvcsw);
	return NULL;
}

/*
 * The old descriptor has become another file's before the call, the new one does so by it: the
 * probe at the call's entry has to tell the one, that at its exit the other.
 */
static int run_nest(int n)
{
	int files[] = {open("/dev/null", O_RDONLY), open("/dev/zero", O_RDONLY)};
	int from = dup(0), to = dup(0);
	unsigned long calls = 0;
	pthread_t t;

	if (files[0] < 0 || files[1] < 0 || from < 0 || to < 0)
		die("descriptors");
	wakeups = n;
	pin();
	pthread_create(&t, NULL, timer_sleeper, NULL);
	for (; !stop; calls++)
		if (dup2(files[calls % 2], from) != from || syscall(SYS_dup3, from, to, 0) != to)
			die("dup3");
	pthread_join(t, NULL);
	printf("caller %d calls %lu\n", (int)syscall(SYS_gettid), calls);
	return 0;
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 1000;
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "block"))
		return run_block();
	if (!strcmp(what, "spin"))
		return run_spin(n);
	if (!strcmp(what, "within"))
		return run_within(n);
	if (!strcmp(what, "nest"))
		return run_nest(n);
	return 2;
}
