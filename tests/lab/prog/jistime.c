// SPDX-License-Identifier: MIT
/*
 * jistime: how long the calls take that begin and end a session.
 *
 *   jistime N [FAMILIES]
 *
 * Makes N sessions one after the other and prints, for each call, the least and the mean of the ms
 * it took.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "jis/abi.h"

enum { SETUP, START, PAUSE, RESUME, STOP, CLOSE, CLOSE_RUNNING, NR };
static const char *const names[NR] = {
	"SETUP", "START", "PAUSE", "RESUME", "STOP", "close", "close while it runs"};
static double least[NR], sum[NR];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void took(int what, double since, int result)
{
	double ms = now() - since;

	if (result) {
		perror(names[what]);
		exit(1);
	}
	sum[what] += ms;
	if (!least[what] || ms < least[what])
		least[what] = ms;
}

static void session(unsigned int families, int stop)
{
	struct jis_setup setup = {.size = sizeof(setup),
				  .abi_version = JIS_ABI_VERSION,
				  .clock = JIS_CLOCK_RAW,
				  .buffer_bytes = 1u << 20,
				  .families = families};
	struct jis_target t = {.size = sizeof(t), .pid = (unsigned int)getpid()};
	int fd = open(JIS_DEVICE, O_RDWR | O_CLOEXEC);
	double since = now();

	took(SETUP, since, ioctl(fd, JIS_IOC_SETUP, &setup));
	ioctl(fd, JIS_IOC_TARGET_ADD, &t);
	since = now();
	took(START, since, ioctl(fd, JIS_IOC_START, NULL));
	if (stop) {
		since = now();
		took(PAUSE, since, ioctl(fd, JIS_IOC_PAUSE, NULL));
		since = now();
		took(RESUME, since, ioctl(fd, JIS_IOC_RESUME, NULL));
		since = now();
		took(STOP, since, ioctl(fd, JIS_IOC_STOP, NULL));
	}
	since = now();
	took(stop ? CLOSE : CLOSE_RUNNING, since, close(fd));
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10;
	unsigned int families = argc > 2 ? (unsigned int)strtoul(argv[2], NULL, 0) : 0;

	for (int i = 0; i < 2 * n; i++)
		session(families, i % 2);
	for (int i = 0; i < NR; i++)
		printf("%-20s %8.2f %8.2f ms\n", names[i], least[i],
		       sum[i] / (i == SETUP || i == START ? 2 * n : n));
	return 0;
}
