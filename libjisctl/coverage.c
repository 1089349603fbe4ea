/* SPDX-License-Identifier: MIT */
/*
 * What each backend records here: the rows of the table in docs/recording.md, from which
 * coverage_rows.h is made, and what each needs in the kernel beyond what a backend needs to work at
 * all. The reasons are the table's; only what this host lacks has words here.
 */
#include "coverage.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "backend.h"
#include "tracefs.h"

static const struct {
	const char *what, *kmod, *ftrace;
} rows_of_table[] = {
#define COVERAGE(what, kmod, ftrace) {what, kmod, ftrace},
#include "coverage_rows.h"
#undef COVERAGE
};

#define NR_ROWS ((int)(sizeof(rows_of_table) / sizeof(rows_of_table[0])))

/* Of the module a feature, of ftrace events from first to last. */
static const struct needs {
	const char *what;
	uint32_t feature;
	enum ftrace_event first, last;
} needs[] = {
	{"switch: cgroup", JIS_FEATURE_CGROUP, FT_ATTACH, FT_ATTACH},
	{"switch: words of registered threads", JIS_FEATURE_WORDS, FT_NR_EVENTS, FT_NR_EVENTS},
	{"waking: interrupt, softirq, timer as its source", JIS_FEATURE_SOURCE, FT_IRQ_ENTRY,
	 FT_TIMER_EXIT},
	{"sched_migrate_task", 0, FT_MIGRATE, FT_MIGRATE},
	{"cgroup_attach, cgroup_name", JIS_FEATURE_CGROUP, FT_ATTACH, FT_ATTACH},
	{"cgroup_throttle", JIS_FEATURE_THROTTLE, FT_NR_EVENTS, FT_NR_EVENTS},
	{"cpu_steal", JIS_FEATURE_STEAL, FT_NR_EVENTS, FT_NR_EVENTS},
	{"system calls", JIS_FEATURE_SYSCALLS, FT_SYS_ENTER, FT_SYS_EXIT},
	{"fd_file, fd_socket", JIS_FEATURE_SYSCALLS, FT_NR_EVENTS, FT_NR_EVENTS},
	{"fault", JIS_FAMILY_FAULT, FT_NR_EVENTS, FT_NR_EVENTS},
	{"block", JIS_FAMILY_BLOCK, FT_RQ_ISSUE, FT_RQ_COMPLETE},
	{"irq", JIS_FAMILY_IRQ, FT_IRQ_ENTRY, FT_SOFTIRQ_EXIT},
	{"signal", JIS_FAMILY_SIGNAL, FT_SIGNAL_GENERATE, FT_SIGNAL_DELIVER},
	{"power", JIS_FAMILY_POWER, FT_CPU_FREQUENCY, FT_CPU_IDLE},
	{"targets: cgroups", JIS_FEATURE_CGROUP, FT_ATTACH, FT_ATTACH},
};

static const struct needs *needs_of(const char *what)
{
	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		if (!strcmp(needs[i].what, what))
			return &needs[i];
	return NULL;
}

/* A cell of the table: "yes", "no" or "in part", and the reason behind : or ; */
static void tell_cell(struct jisctl_recorded *r, const char *cell)
{
	r->records = !strncmp(cell, "yes", 3) ? 1 : !strncmp(cell, "no", 2) ? 0 : -1;
	cell += strcspn(cell, ":;,");
	cell += strspn(cell, ":;, ");
	snprintf(r->reason, sizeof(r->reason), "%s", cell);
}

static void tell_missing(struct jisctl_recorded *r, const char *what, const char *more)
{
	r->records = 0;
	snprintf(r->reason, sizeof(r->reason), "not here: %s%s", what, more);
}

static void tell_kmod(struct jisctl_recorded *r, const struct coverage_host *host,
		      const struct needs *need, const char *cell)
{
	tell_cell(r, cell);
	if (host->kmod_missing)
		tell_missing(r, host->kmod_missing, "");
	else if (need && need->feature && !(host->kmod_features & need->feature))
		tell_missing(r, "the module does not find what it takes in this kernel", "");
}

static void tell_ftrace(struct jisctl_recorded *r, const struct coverage_host *host,
			const struct needs *need, const char *cell)
{
	tell_cell(r, cell);
	if (host->ftrace_missing) {
		tell_missing(r, host->ftrace_missing, "");
		return;
	}
	for (int e = need ? (int)need->first : FT_NR_EVENTS; e < FT_NR_EVENTS; e++) {
		if (e > (int)need->last)
			break;
		if (host->formats->event[e].id)
			continue;
		tell_missing(r, "tracefs does not have, with the fields it takes, events/",
			     ftrace_event_path((enum ftrace_event)e));
		return;
	}
}

int coverage_fill(const struct coverage_host *host, struct jisctl_coverage *rows, int n)
{
	for (int i = 0; i < n && i < NR_ROWS; i++) {
		const struct needs *need = needs_of(rows_of_table[i].what);

		rows[i].what = rows_of_table[i].what;
		tell_kmod(&rows[i].kmod, host, need, rows_of_table[i].kmod);
		tell_ftrace(&rows[i].ftrace, host, need, rows_of_table[i].ftrace);
	}
	return NR_ROWS;
}

/* The events that this kernel has. */
static int formats_load(struct ftrace_formats *formats, char *why, size_t n)
{
	int fd = tracefs_open(why, n), err;

	if (fd < 0)
		return fd;
	err = ftrace_formats_load(fd, formats);
	if (err)
		snprintf(why, n, "its events cannot be read: %s", strerror(-err));
	close(fd);
	return err;
}

int jisctl_coverage(struct jisctl_coverage *rows, int n)
{
	const struct backend_config config = {.clock = JIS_CLOCK_RAW};
	char kmod_why[160], ftrace_why[160];
	struct ftrace_formats formats;
	struct coverage_host host = {.formats = &formats};
	struct backend *b;

	if (backend_kmod.probe(kmod_why, sizeof(kmod_why))) {
		host.kmod_missing = kmod_why;
	} else if (backend_kmod.open(&config, &b)) {
		host.kmod_missing = "the module gives no session";
	} else {
		host.kmod_features = backend_kmod.features(b);
		backend_kmod.close(b);
	}
	if (backend_ftrace.probe(ftrace_why, sizeof(ftrace_why)) ||
	    formats_load(&formats, ftrace_why, sizeof(ftrace_why)))
		host.ftrace_missing = ftrace_why;
	return coverage_fill(&host, rows, n);
}
