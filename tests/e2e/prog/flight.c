/* SPDX-License-Identifier: MIT */
/*
 * What a flight recorder's buffers soon forget the names of. flight FILE FIFO: opens FILE once and
 * reads from it every millisecond, reads what comes out of FIFO, and has two threads play
 * ping-pong, so that buffers are overwritten; until FILE.end appears. flight feed FIFO: another
 * process, "feeder", that writes a byte into FIFO every ten milliseconds until nobody reads. Both
 * print what must be found: pid, and descriptors.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static int there[2], back[2], fifo;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void *echo(void *arg)
{
	char c;

	while (read(there[0], &c, 1) == 1 && write(back[1], &c, 1) == 1)
		;
	return arg;
}

static void *ping(void *arg)
{
	char c = 'x';

	while (write(there[1], &c, 1) == 1 && read(back[0], &c, 1) == 1)
		usleep(50);
	return arg;
}

static void *listen_fifo(void *arg)
{
	char c;

	while (read(fifo, &c, 1) == 1)
		;
	return arg;
}

static int feed(const char *path)
{
	int fd;

	prctl(PR_SET_NAME, "feeder");
	signal(SIGPIPE, SIG_IGN);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		die(path);
	while (write(fd, "x", 1) == 1)
		usleep(10000);
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	char end[4096], c;
	int file;

	if (argc != 3)
		return 2;
	if (strcmp(argv[1], "feed") == 0)
		return feed(argv[2]);
	file = open(argv[1], O_RDONLY);
	fifo = open(argv[2], O_RDWR); /* never at its end */
	if (file < 0 || fifo < 0 || pipe(there) || pipe(back))
		die(argv[1]);
	printf("pid %d file %d fifo %d pipes %d %d %d %d\n", (int)getpid(), file, fifo, there[0],
	       there[1], back[0], back[1]);
	fflush(stdout);
	if (pthread_create(&thread, NULL, echo, NULL) ||
	    pthread_create(&thread, NULL, ping, NULL) ||
	    pthread_create(&thread, NULL, listen_fifo, NULL))
		die("pthread_create");
	snprintf(end, sizeof(end), "%s.end", argv[1]);
	while (access(end, F_OK)) {
		if (pread(file, &c, 1, 0) < 0)
			die("pread");
		usleep(1000);
	}
	return 0;
}
