/* SPDX-License-Identifier: MIT */
/*
 * A thread that is not the leader executes the program again, argv[1] times: each time the kernel
 * gives it the leader's number. The others spin or wait until they are killed by that. At
 * last prints the number of the process.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char *program;
static int rounds;

static void *spin(void *unused)
{
	for (volatile unsigned long i = 0;; i++)
		;
	return NULL;
}

static void *wait_long(void *unused)
{
	for (;;)
		sleep(1000);
	return NULL;
}

static void *execute(void *unused)
{
	char left[16];

	usleep(2000); /* the others are at it by now */
	snprintf(left, sizeof(left), "%d", rounds - 1);
	execl(program, program, left, NULL);
	perror("exec");
	exit(1);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc != 2)
		return 2;
	program = argv[0];
	rounds = atoi(argv[1]);
	if (!rounds) {
		printf("%d\n", (int)getpid());
		return 0;
	}
	if (pthread_create(&thread, NULL, spin, NULL) ||
	    pthread_create(&thread, NULL, wait_long, NULL) ||
	    pthread_create(&thread, NULL, execute, NULL))
		return 1;
	/* A leader that runs, and one that waits, when it must die. */
	if (rounds % 2)
		spin(NULL);
	wait_long(NULL);
	return 0;
}
