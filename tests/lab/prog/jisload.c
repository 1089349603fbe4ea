// SPDX-License-Identifier: MIT
/*
 * jisload: loads whose scheduling is known, and what the kernel itself counted of it.
 *
 * - jisload getppid N, jisload read N: so many calls; prints ns each
 * - jisload pingpong N: two threads on one CPU wake each other N times over pipes. For each,
 *   between its renames to "begin" and "end": its voluntary and involuntary switches (getrusage)
 *   and times on a CPU (schedstat)
 * - jisload cross N: the same on two CPUs
 * - jisload threads N: N threads that sleep until standard input ends; prints their tids
 * - jisload family: forks a child that makes a thread, forks a grandchild and execs true
 * - jisload rate N: N round trips of two processes on CPU 0; prints ns each (for measurements),
 *   and for each process what pingpong prints
 * - jisload burn SECONDS: one thread for each of two CPUs, and two more to preempt them
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct party {
	int in, out, rounds, cpu, leads;
};

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* Times this thread was put on a CPU. */
static long arrivals(void)
{
	long run, wait, n = -1;
	FILE *f = fopen("/proc/thread-self/schedstat", "r");

	if (f && fscanf(f, "%ld %ld %ld", &run, &wait, &n) != 3)
		n = -1;
	if (f)
		fclose(f);
	return n;
}

static void pass(const struct party *p)
{
	char c = 0;

	for (int i = 0; i < p->rounds; i++) {
		if (p->leads && write(p->out, &c, 1) != 1)
			exit(3);
		if (read(p->in, &c, 1) != 1)
			exit(3);
		if (!p->leads && write(p->out, &c, 1) != 1)
			exit(3);
	}
}

/*
 * Plays its part; ns of all rounds but the first, in which the other side may still be getting
 * ready. Says what the kernel counted meanwhile.
 */
static double play(const struct party *p)
{
	struct party first = *p, rest = *p;
	struct timespec begin, end;
	struct rusage a, b;
	long before, after;

	first.rounds = 1;
	rest.rounds--;
	pin(p->cpu);
	before = arrivals();
	prctl(PR_SET_NAME, "begin");
	getrusage(RUSAGE_THREAD, &a);
	pass(&first);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	pass(&rest);
	clock_gettime(CLOCK_MONOTONIC, &end);
	getrusage(RUSAGE_THREAD, &b);
	prctl(PR_SET_NAME, "end");
	after = arrivals();
	printf("thread %d voluntary %ld involuntary %ld arrivals %ld\n", gettid(),
	       b.ru_nvcsw - a.ru_nvcsw, b.ru_nivcsw - a.ru_nivcsw, after - before);
	fflush(stdout);
	return (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
}

static void *party(void *arg)
{
	play(arg);
	return NULL;
}

static int pingpong(int rounds, int cpu)
{
	struct party a, b;
	pthread_t thread;
	int there[2], back[2];

	if (pipe(there) || pipe(back))
		return 3;
	a = (struct party){back[0], there[1], rounds, 0, 1};
	b = (struct party){there[0], back[1], rounds, cpu, 0};
	pthread_create(&thread, NULL, party, &b);
	party(&a);
	pthread_join(thread, NULL);
	return 0;
}

static void *sleeper(void *arg)
{
	printf("%d\n", gettid());
	fflush(stdout);
	for (;;)
		pause();
	return arg;
}

static int threads(int n)
{
	pthread_t thread;
	char c;

	printf("%d\n", gettid());
	for (int i = 0; i < n; i++)
		if (pthread_create(&thread, NULL, sleeper, NULL))
			return 3;
	while (read(0, &c, 1) > 0)
		;
	return 0;
}

static void *nothing(void *arg)
{
	usleep(1000);
	return arg;
}

static int family(void)
{
	pthread_t thread;
	pid_t child = fork(), grandchild;

	if (child == 0) {
		pthread_create(&thread, NULL, nothing, NULL);
		pthread_join(thread, NULL);
		grandchild = fork();
		if (grandchild == 0)
			execlp("true", "true", NULL);
		printf("grandchild %d\n", grandchild);
		fflush(stdout);
		waitpid(grandchild, NULL, 0);
		_exit(7);
	}
	printf("parent %d\nchild %d\n", getpid(), child);
	fflush(stdout);
	waitpid(child, NULL, 0);
	return 0;
}

/* Calls without a pause; prints ns each. */
static int calls(int n, int reads)
{
	struct timespec before, after;
	int zero = open("/dev/zero", O_RDONLY), i;
	char c[8];

	pin(0);
	for (i = -100; i < n; i++) {
		if (!i)
			clock_gettime(CLOCK_MONOTONIC, &before);
		if (!reads)
			syscall(SYS_getppid);
		else if (syscall(SYS_read, zero, c, sizeof(c)) != sizeof(c))
			return 1;
	}
	clock_gettime(CLOCK_MONOTONIC, &after);
	printf("%ld\n",
	       ((after.tv_sec - before.tv_sec) * 1000000000l + after.tv_nsec - before.tv_nsec) / n);
	return 0;
}

static int rate(int rounds)
{
	struct party p;
	int there[2], back[2];
	double ns;

	if (pipe(there) || pipe(back))
		return 3;
	pin(0);
	if (fork() == 0) {
		p = (struct party){there[0], back[1], rounds, 0, 0};
		play(&p);
		_exit(0);
	}
	p = (struct party){back[0], there[1], rounds, 0, 1};
	ns = play(&p);
	wait(NULL);
	printf("%.0f\n", ns / (rounds - 1));
	return 0;
}

static void *burner(void *arg)
{
	time_t end = time(NULL) + (long)arg;

	while (time(NULL) < end)
		;
	return NULL;
}

static int burn(long seconds)
{
	pthread_t thread[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, burner, (void *)seconds);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 1000;
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "pingpong"))
		return pingpong(n, 0);
	if (!strcmp(what, "cross"))
		return pingpong(n, 1);
	if (!strcmp(what, "threads"))
		return threads(n);
	if (!strcmp(what, "family"))
		return family();
	if (!strcmp(what, "rate"))
		return rate(n);
	if (!strcmp(what, "getppid") || !strcmp(what, "read"))
		return calls(n, what[0] == 'r');
	if (!strcmp(what, "burn"))
		return burn(n);
	return 2;
}
