// SPDX-License-Identifier: MIT
/*
 * jistakeover: a thread that is not its process's first executes a program, and so takes the
 * process's number.
 *
 *   jistakeover COMMAND [ARG]...
 *
 * Prints "thread TID" of the thread and "ready"; at SIGUSR1 it executes the command.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void *take_over(void *command)
{
	char **argv = command;
	sigset_t set;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	printf("thread %d\nready\n", gettid());
	fflush(stdout);
	sigwait(&set, &sig);
	execvp(argv[0], argv);
	_exit(127);
}

int main(int argc, char **argv)
{
	pthread_t thread;
	sigset_t set;

	if (argc < 2)
		return 2;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (pthread_create(&thread, NULL, take_over, argv + 1))
		return 1;
	for (;;)
		pause();
}
