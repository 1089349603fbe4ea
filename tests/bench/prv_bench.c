/* SPDX-License-Identifier: MIT */
/*
 * Measures the Paraver export of a session: CPU time (user and system) of one core and peak memory,
 * for the merge alone, for merge and model, and for the whole export. Asserts nothing.
 *
 *   prv_bench DIR BASE [-z] [-s] [-a] [-r REPEAT]
 *     DIR   session, e.g. of gentrace      BASE  files to write (BASE.prv...), on a fast file
 * system -z gzip   -s sorted   -a wake-ups of all, with CPU rows   -r best of so many runs (3)
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "merger/merge.h"
#include "merger/model.h"
#include "paraver-export/paraver.h"

struct result {
	double seconds;
	uint64_t events, lines, bytes;
	long peak_kb;
	int err;
};

static double cpu_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec +
	       ((double)u.ru_utime.tv_usec + (double)u.ru_stime.tv_usec) / 1e6;
}

static int merge_only(const char *dir, struct result *r)
{
	struct trace *trace;
	struct merge *merge;
	int err = trace_open(dir, NULL, &trace);

	if (err)
		return err;
	err = merge_open(trace->streams, trace->nr_streams, &merge);
	if (err)
		return err;
	while (merge_next(merge))
		r->events++;
	merge_close(merge);
	trace_close(trace);
	return 0;
}

static int count_end(void *ctx, const struct model_counts *counts)
{
	((struct result *)ctx)->events = counts->events;
	return 0;
}

static int with_model(const char *dir, const struct paraver_options *options, struct result *r)
{
	const struct model_sink counter = {.end = count_end, .ctx = r};
	const struct model_sink *sinks[2] = {&counter};
	struct paraver *p = NULL;
	struct model *m;
	int err = model_open(dir, NULL, &m);

	if (err)
		return err;
	if (options)
		err = paraver_open(m, options, &p);
	if (!err && p)
		sinks[1] = paraver_sink(p);
	if (!err)
		err = model_run(m, sinks, p ? 2 : 1);
	if (p) {
		r->lines = paraver_stats(p)->lines;
		r->bytes = paraver_stats(p)->bytes;
	}
	paraver_close(p);
	model_close(m);
	return err;
}

/* One run in a process of its own, so that peak memory is its own. */
static struct result run(const char *dir, bool model, const struct paraver_options *options)
{
	struct result r = {0};
	struct rusage u;
	int pipes[2], status;
	pid_t pid;

	if (pipe(pipes))
		exit(1);
	pid = fork();
	if (pid == 0) {
		r.err = model ? with_model(dir, options, &r) : merge_only(dir, &r);
		r.seconds = cpu_seconds();
		getrusage(RUSAGE_SELF, &u);
		r.peak_kb = u.ru_maxrss;
		_exit(write(pipes[1], &r, sizeof(r)) == sizeof(r) ? 0 : 1);
	}
	close(pipes[1]);
	if (read(pipes[0], &r, sizeof(r)) != sizeof(r))
		r.err = -1;
	close(pipes[0]);
	waitpid(pid, &status, 0);
	return r;
}

static void measure(const char *what, const char *dir, bool model,
		    const struct paraver_options *options, int repeat)
{
	struct result best = {.seconds = 1e9};

	for (int i = 0; i < repeat; i++) {
		struct result r = run(dir, model, options);

		if (r.err) {
			fprintf(stderr, "prv_bench: %s: %s\n", dir, strerror(-r.err));
			exit(1);
		}
		if (r.seconds < best.seconds)
			best = r;
	}
	printf("%-14s %10" PRIu64 " events %7.2f M/s", what, best.events,
	       (double)best.events / best.seconds / 1e6);
	if (best.lines)
		printf(" %10" PRIu64 " lines %7.2f M/s %6.1f B/line", best.lines,
		       (double)best.lines / best.seconds / 1e6,
		       (double)best.bytes / (double)best.lines);
	printf(" %8.3f s CPU %8ld kB\n", best.seconds, best.peak_kb);
}

int main(int argc, char **argv)
{
	struct paraver_options options = {0};
	int c, repeat = 3;

	while ((c = getopt(argc, argv, "zsar:")) != -1) {
		switch (c) {
		case 'z':
			options.gzip = true;
			break;
		case 's':
			options.sort = true;
			break;
		case 'a':
			options.wakeups = PARAVER_WAKEUPS_ALL;
			break;
		case 'r':
			repeat = atoi(optarg);
			break;
		default:
			return 2;
		}
	}
	if (argc - optind != 2 || repeat < 1) {
		fprintf(stderr, "usage: prv_bench [-zsa] [-r REPEAT] DIR BASE\n");
		return 2;
	}
	options.base = argv[optind + 1];
	measure("merge", argv[optind], false, NULL, repeat);
	measure("merge+model", argv[optind], true, NULL, repeat);
	measure("merge+prv", argv[optind], true, &options, repeat);
	return 0;
}
