// SPDX-License-Identifier: MIT
/*
 * jisuring: has the kernel make it a worker of io_uring, a thread that is not forked, and prints
 * "worker TID" for it. Status 77 where there is no io_uring.
 */
#include <dirent.h>
#include <linux/io_uring.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	struct io_uring_params params = {.flags = IORING_SETUP_SQPOLL, .sq_thread_idle = 50};
	int fd = (int)syscall(SYS_io_uring_setup, 4, &params);
	struct dirent *e;
	DIR *dir;

	if (fd < 0) {
		perror("io_uring_setup");
		return 77;
	}
	usleep(200000);
	dir = opendir("/proc/self/task");
	while (dir && (e = readdir(dir)))
		if (atoi(e->d_name) > 0 && atoi(e->d_name) != getpid())
			printf("worker %s\n", e->d_name);
	return 0;
}
