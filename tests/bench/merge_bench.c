/* SPDX-License-Identifier: MIT */
/*
 * Decode and merge of a session: CPU time of this one thread, every event's time checked against
 * the one before and every word of every payload added up, so that nothing can be optimized away.
 * The manifest is loaded outside of the measured time; packet checksums are computed within it.
 * Usage: merge_bench DIR [ROUNDS]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "merger/merge.h"

#define MAX_ROUNDS 1000

static uint32_t damages;

static void on_damage(void *ctx, struct stream_cursor *c, uint64_t begin, uint64_t end,
		      uint64_t offset, uint64_t length, const char *reason)
{
	damages++;
}

static void die(const char *what)
{
	fprintf(stderr, "merge_bench: %s\n", what);
	exit(1);
}

static double cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

struct round {
	uint64_t events, sum;
	double seconds;
};

static struct round merge_all(struct trace *t)
{
	struct round r = {0};
	double begin = cpu_seconds();
	struct stream_cursor *c;
	uint64_t last = 0;
	struct merge *m;

	if (merge_open(t->streams, t->nr_streams, &m))
		die("no memory");
	while ((c = merge_next(m))) {
		for (uint32_t i = 0; i < c->payload_size; i += 4) {
			uint32_t word;

			memcpy(&word, c->payload + i, 4);
			r.sum += word;
		}
		if (c->time < last)
			die("time went back");
		last = c->time;
		r.events++;
	}
	merge_close(m);
	r.seconds = cpu_seconds() - begin;
	return r;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int main(int argc, char **argv)
{
	const struct stream_observer observer = {.damage = on_damage};
	int rounds = argc > 2 ? atoi(argv[2]) : 7;
	double seconds[MAX_ROUNDS];
	struct round r = {0};
	uint64_t sum = 0;
	uint32_t streams = 0;
	struct rusage usage;
	struct trace *t;

	if (argc < 2 || rounds < 1 || rounds > MAX_ROUNDS)
		die("usage: merge_bench DIR [ROUNDS]");
	for (int i = 0; i < rounds; i++) {
		if (trace_open(argv[1], &observer, &t))
			die("cannot open the trace");
		r = merge_all(t);
		if (i && r.sum != sum)
			die("the rounds differ");
		sum = r.sum;
		seconds[i] = r.seconds;
		streams = t->nr_streams;
		trace_close(t);
	}
	if (damages)
		die("the trace is damaged");
	qsort(seconds, (size_t)rounds, sizeof(*seconds), by_value);
	getrusage(RUSAGE_SELF, &usage);
	printf("%s: %" PRIu64 " events, %u streams, order verified, sum %016" PRIx64 "\n", argv[1],
	       r.events, streams, r.sum);
	printf("median %.2f M events/s, best %.2f M events/s, %d rounds, peak RSS %ld MiB (mapped "
	       "files included)\n",
	       (double)r.events / seconds[rounds / 2] / 1e6, (double)r.events / seconds[0] / 1e6,
	       rounds, usage.ru_maxrss / 1024);
	return 0;
}
