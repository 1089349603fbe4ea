/* SPDX-License-Identifier: MIT */
/*
 * Progress of long work: rate and time left, on one line of a terminal, at most five times a
 * second.
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

static struct {
	double start, shown;
	bool any;
} state;

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int show(void *ctx, uint64_t done, uint64_t total)
{
	double t = now_s(), elapsed = t - state.start, rate;
	char size[32];

	(void)ctx;
	if (elapsed < 0.5 || t - state.shown < 0.2 || !done)
		return 0;
	state.shown = t;
	state.any = true;
	rate = (double)done / elapsed;
	fprintf(stderr, "\rjis %s: %3.0f %%, %s/s, %.0f s left   ", cli_verb,
		total ? 100.0 * (double)done / (double)total : 0,
		cli_format_bytes(size, sizeof(size), (uint64_t)rate),
		total > done ? (double)(total - done) / rate : 0);
	return 0;
}

void cli_progress_enable(struct model_options *options)
{
	if (cli_quiet || !isatty(STDERR_FILENO))
		return;
	state.start = now_s();
	options->progress = show;
}

void cli_progress_done(void)
{
	if (state.any)
		fprintf(stderr, "\r%60s\r", "");
	state.any = false;
}
