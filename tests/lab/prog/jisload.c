// SPDX-License-Identifier: MIT
/*
 * jisload: loads whose scheduling is known, and what the kernel itself counted of it.
 *
 *   jisload pingpong N      two threads on one CPU wake each other N times over pipes. For each,
 * between its renames to "begin" and "end": its voluntary and involuntary switches (getrusage) and
 * times on a CPU (schedstat) jisload cross N         the same on two CPUs jisload threads N       N
 * threads that sleep until standard input ends; prints their tids jisload family          forks a
 * child that makes a thread, forks a grandchild and execs true jisload rate N          N round
 * trips of two processes on CPU 0; prints ns each (for measurements) jisload burn SECONDS    one
 * thread for each of two CPUs, and two more to preempt them
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
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

static void *party(void *arg)
{
	const struct party *p = arg;
	struct rusage a, b;
	long before, after;

	pin(p->cpu);
	before = arrivals();
	prctl(PR_SET_NAME, "begin");
	getrusage(RUSAGE_THREAD, &a);
	pass(p);
	getrusage(RUSAGE_THREAD, &b);
	prctl(PR_SET_NAME, "end");
	after = arrivals();
	printf("thread %d voluntary %ld involuntary %ld arrivals %ld\n", gettid(),
	       b.ru_nvcsw - a.ru_nvcsw, b.ru_nivcsw - a.ru_nivcsw, after - before);
	fflush(stdout);
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

static int rate(int rounds)
{
	struct timespec a, b;
	struct party p;
	int there[2], back[2];

	if (pipe(there) || pipe(back))
		return 3;
	pin(0);
	if (fork() == 0) {
		p = (struct party){there[0], back[1], rounds, 0, 0};
		pass(&p);
		_exit(0);
	}
	p = (struct party){back[0], there[1], rounds, 0, 1};
	clock_gettime(CLOCK_MONOTONIC, &a);
	pass(&p);
	clock_gettime(CLOCK_MONOTONIC, &b);
	wait(NULL);
	printf("%.0f\n", ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec)) / rounds);
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
	if (!strcmp(what, "burn"))
		return burn(n);
	return 2;
}
