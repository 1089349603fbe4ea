// SPDX-License-Identifier: MIT
/*
 * jisreuse: process numbers used again at once, before the kernel has told that their last owner
 * is freed.
 *
 *   jisreuse stranger FROM TO   for each number read from FROM, a child with that number, which
 *                               calls itself "stranger"; a line to TO when it has ended
 *   jisreuse FROM TO N          N times: a child, which ends; a stranger with its number (by the
 *                               former, over TO and FROM); another child, which ends, and a child
 *                               with its number in turn, which calls itself "heir" and, when the
 *                               former is long gone, "oldheir"
 *
 * Prints how many of each there were.
 */
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* fork() with a number of our choice. */
static pid_t fork_as(pid_t number)
{
	struct clone_args args = {.exit_signal = SIGCHLD,
				  .set_tid = (uintptr_t)&number,
				  .set_tid_size = 1};

	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

/* Returns whether there was such a child; it has ended. */
static int child_as(pid_t number, const char *name, const char *later)
{
	pid_t pid = fork_as(number);
	int status;

	if (pid == 0) {
		prctl(PR_SET_NAME, name);
		usleep(1000);
		if (later) {
			usleep(100000);
			prctl(PR_SET_NAME, later);
		}
		_exit(0);
	}
	return pid == number && waitpid(pid, &status, 0) == pid;
}

/* A number that has just become free. */
static pid_t ended(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid;
}

static int strangers(FILE *from, FILE *to)
{
	int number, n = 0;

	while (fscanf(from, "%d", &number) == 1) {
		n += child_as(number, "stranger", NULL);
		fprintf(to, "%d\n", n);
		fflush(to);
	}
	printf("strangers %d\n", n);
	return 0;
}

int main(int argc, char **argv)
{
	int stranger = argc == 4 && !strcmp(argv[1], "stranger"), heirs = 0, n, done;
	FILE *from, *to;

	if (argc != 4)
		return 2;
	from = fopen(argv[stranger ? 2 : 1], "r+"); /* fifos: neither waits for the other */
	to = fopen(argv[stranger ? 3 : 2], "r+");
	if (!from || !to) {
		perror("jisreuse");
		return 1;
	}
	if (stranger)
		return strangers(from, to);
	for (n = 0; n < atoi(argv[3]); n++) {
		fprintf(to, "%d\n", ended());
		fflush(to);
		if (fscanf(from, "%d", &done) != 1)
			return 1;
		heirs += child_as(ended(), "heir", "oldheir");
	}
	printf("heirs %d\nstrangers %d\n", heirs, done);
	return 0;
}
