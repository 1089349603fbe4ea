/* SPDX-License-Identifier: MIT */
/*
 * ticker [FILE]: every millisecond ten markers of type 5 with value 0, 1, 2..., and after them a
 * line "VALUE NS" of the last one (CLOCK_REALTIME) in FILE. Ends when FILE.end appears.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "libjisctl/jisctl.h"

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "ticks";
	struct jis_writer *writer;
	struct timespec now;
	char end[4096];
	FILE *f = fopen(path, "w");
	int64_t i;

	if (!f || jisctl_writer_open(&writer)) {
		fprintf(stderr, "ticker: no file, or no recorder\n");
		return 1;
	}
	snprintf(end, sizeof(end), "%s.end", path);
	for (i = 0; access(end, F_OK); i += 10) {
		for (int n = 0; n < 10; n++)
			jisctl_event(writer, 5, i + n);
		clock_gettime(CLOCK_REALTIME, &now);
		fprintf(f, "%lld %lld\n", (long long)i + 9,
			now.tv_sec * 1000000000ll + now.tv_nsec);
		fflush(f);
		usleep(1000);
	}
	jisctl_writer_close(writer);
	return 0;
}
