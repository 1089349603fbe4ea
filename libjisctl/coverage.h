/* SPDX-License-Identifier: MIT */
/*
 * What each backend records, row by row of the table in docs/recording.md, and what of it a host
 * lacks. Private to libjisctl; jisctl_coverage() is the public side.
 */
#ifndef JISCTL_COVERAGE_H
#define JISCTL_COVERAGE_H

#include "ftrace_format.h"
#include "jisctl.h"

/* What the host has. */
struct coverage_host {
	const char *kmod_missing, *ftrace_missing; /* why not at all; NULL: it works */
	uint32_t kmod_features;			   /* JIS_FAMILY_* and JIS_FEATURE_* */
	const struct ftrace_formats *formats;	   /* of the events there are; for ftrace */
};

/* coverage_fill - as jisctl_coverage(), for @host. */
int coverage_fill(const struct coverage_host *host, struct jisctl_coverage *rows, int n);

#endif /* JISCTL_COVERAGE_H */
