/* SPDX-License-Identifier: MIT */
/*
 * brood N [FIRST]: N processes, one after another, each of which connects to the recorder, writes
 * one marker of type 6 with value FIRST, FIRST + 1..., and ends. Fails when one gets no pool.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libjisctl/jisctl.h"

static void child(int64_t value)
{
	struct jis_writer *writer;

	if (jisctl_writer_open(&writer))
		_exit(1);
	jisctl_event(writer, 6, value);
	jisctl_writer_close(writer);
	_exit(0);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1, first = argc > 2 ? atoi(argv[2]) : 0, status;

	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0)
			child(first + i);
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status) {
			fprintf(stderr, "brood: process %d failed\n", first + i);
			return 1;
		}
	}
	return 0;
}
