/* SPDX-License-Identifier: MIT */
/*
 * What `jis record` says when a recording has ended: how much there is, what is missing, and why.
 */
#include "record_summary.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "trace/manifest.h"

/* The launcher's main thread and the one it starts the JVM in: all there is before a JVM is up. */
#define LAUNCHER_THREADS 2u

/* A JVM whose agent did not come. What is known is how far it got: its threads tell. */
static void warn_untold_jvm(const struct manifest *m, const struct process_entry *p)
{
	uint32_t threads = 0, alive = 0;

	for (uint32_t i = 0; i < m->nr_threads; i++) {
		if (m->threads[i].pid != p->pid)
			continue;
		threads++;
		alive += m->threads[i].death == TIME_NONE;
	}
	if (threads > LAUNCHER_THREADS)
		cli_warn("process %u (java) ran without the agent, so its threads have no Java "
			 "names: JAVA_TOOL_OPTIONS did not reach it (cleared environment, raised "
			 "privileges), it joined with --no-agent, JIS_DISABLE=1 is set, or the "
			 "agent has said why it stayed out",
			 p->pid);
	else if (alive)
		cli_warn("process %u (java) was still starting its JVM when the recording ended",
			 p->pid);
	else
		cli_warn("process %u (java) ended before its JVM was up, so nothing of Java could "
			 "be recorded: see its own message, often an option that it does not know",
			 p->pid);
}

/* Returns how many there are. */
static int warn_untold_jvms(const struct manifest *m)
{
	int n = 0;

	for (uint32_t i = 0; i < m->nr_processes; i++) {
		const struct process_entry *p = &m->processes[i];

		if (p->directory || !p->name || strcmp(p->name, "java"))
			continue;
		warn_untold_jvm(m, p);
		n++;
	}
	return n;
}

static void say_size(const struct manifest *m, const char *directory, uint64_t bytes, int jvms)
{
	struct loss_totals totals = cli_manifest_totals(m);
	double ns = (double)(m->end - m->begin) * 1e9 / (double)m->frequency;
	char size[32], time[32];

	cli_note("%s: %s, %" PRIu64
		 " records of %u processes (%d JVMs) and %u threads in %s, %" PRIu64 " lost",
		 directory, cli_format_ns(time, sizeof(time), (uint64_t)ns), totals.stored,
		 m->nr_processes, jvms, m->nr_threads, cli_format_bytes(size, sizeof(size), bytes),
		 totals.lost);
}

void record_summary(const char *directory, const struct jisctl_session *session, bool agents)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC), jvms = 0;
	struct jisctl_counts counts = {.size = sizeof(counts)};
	struct manifest *m;

	if (fd < 0 || manifest_load(fd, &m))
		goto out;
	jisctl_session_counts(session, &counts);
	for (uint32_t i = 0; i < m->nr_processes; i++)
		jvms += m->processes[i].vm_version != 0;
	say_size(m, directory, counts.bytes, jvms);
	if (agents && !warn_untold_jvms(m) && !jvms)
		cli_note("no JVM ran under it: only the kernel side was recorded");
	if (cli_manifest_totals(m).lost)
		cli_warn_losses(m);
	manifest_free(m);
out:
	if (fd >= 0)
		close(fd);
}
