// SPDX-License-Identifier: MIT
/*
 * jissleep: threads whose switches are known.
 *
 *   jissleep [-g] THREADS N
 *
 * Prints "thread TID" for each of THREADS threads, or for the first one when THREADS is 0. Then
 * (with -g at SIGUSR1, else at once) each renames itself to "begin", sleeps N times, renames itself
 * to "end" and prints "slept TID VOLUNTARY", the switches the kernel counted between.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static long sleeps;
static int gate[2], there[2];

static long voluntary(void)
{
	struct rusage r;

	getrusage(RUSAGE_THREAD, &r);
	return r.ru_nvcsw;
}

static void sleep_and_tell(void)
{
	const struct timespec t = {0, 1000000};
	long before, n;

	prctl(PR_SET_NAME, "begin");
	before = voluntary();
	for (long i = 0; i < sleeps; i++)
		nanosleep(&t, NULL);
	n = voluntary() - before;
	prctl(PR_SET_NAME, "end");
	printf("slept %d %ld\n", gettid(), n);
	fflush(stdout);
}

static void *run(void *unused)
{
	char c = 0;

	printf("thread %d\n", gettid());
	fflush(stdout);
	if (write(there[1], &c, 1) != 1 || read(gate[0], &c, 1) < 0)
		exit(1);
	sleep_and_tell();
	return unused;
}

int main(int argc, char **argv)
{
	int first = argc > 1 && !strcmp(argv[1], "-g") ? 2 : 1, n, sig;
	pthread_t threads[64];
	sigset_t set;
	char c;

	if (argc < first + 2 || pipe(gate) || pipe(there))
		return 2;
	n = atoi(argv[first]);
	sleeps = atol(argv[first + 1]);
	if (n > 64)
		return 2;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; i < n; i++)
		if (read(there[0], &c, 1) != 1)
			return 1;
	if (!n)
		printf("thread %d\n", gettid());
	printf("ready\n");
	fflush(stdout);
	if (first == 2)
		sigwait(&set, &sig);
	close(gate[1]);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	if (!n)
		sleep_and_tell();
	return 0;
}
