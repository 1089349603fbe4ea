/* SPDX-License-Identifier: MIT */
/*
 * The hosts of a trace of several: whose lives, CPUs and processes are whose, and what it means for
 * one that its recording pauses or ends while others go on. A trace of one session has one host,
 * which all is of. Knows nothing of clocks but how far they may be wrong.
 */
#include <errno.h>
#include <stdlib.h>

#include "model_int.h"

/* Hosts' ends do not depend on their streams: those of one may be lost, or end without a mark. */
static void ends_note(struct model *m)
{
	const struct manifest *man = m->info.manifest;

	for (uint32_t i = 0; i < man->nr_hosts && i < m->nr_hosts; i++) {
		if (man->hosts[i].end < man->end)
			loss_host_end(m, i, man->hosts[i].end);
	}
}

/* Sessions with one clock are of one machine. */
static void machines_find(struct model *m)
{
	const struct manifest *man = m->info.manifest;

	for (uint32_t i = 0; i < m->nr_hosts; i++) {
		uint32_t at = i, steps = 0;

		while (man->hosts[at].clock == HOST_CLOCK_SAME && steps++ < m->nr_hosts)
			at = man->hosts[at].parent;
		m->hosts[i].machine = at;
	}
}

int hosts_init(struct model *m)
{
	const struct manifest *man = m->info.manifest;

	m->nr_hosts = man->nr_hosts < MANIFEST_HOSTS_MAX ? man->nr_hosts : MANIFEST_HOSTS_MAX;
	if (!m->nr_hosts)
		m->nr_hosts = 1;
	m->hosts = calloc(m->nr_hosts, sizeof(*m->hosts));
	if (!m->hosts)
		return -ENOMEM;
	if (m->nr_hosts == 1)
		return 0;
	for (uint32_t i = 0; i < m->info.nr_cpus; i++)
		m->cpus[i].host = (uint8_t)manifest_host_of_cpu(man, i);
	for (uint32_t i = 0; i < m->info.nr_threads; i++)
		m->lives[i].host = (uint8_t)manifest_host_of_tid(man, m->threads[i].entry->tid);
	for (uint32_t i = 0; i < m->info.nr_processes; i++)
		m->runs[i].host = (uint8_t)manifest_host_of_tid(man, m->processes[i].pid);
	machines_find(m);
	ends_note(m);
	return m->error;
}

void hosts_fini(struct model *m)
{
	free(m->hosts);
}

void host_doubt(struct model *m, uint32_t host, uint64_t until)
{
	if (until > m->hosts[host].doubt_until)
		m->hosts[host].doubt_until = until;
	if (until > m->doubt_until)
		m->doubt_until = until;
}

/* Nothing is known any more of what has a state. */
static void kernel_lost(struct model *m, uint32_t host, uint64_t t)
{
	lives_unknown(m, host, MODEL_NO_CPU, t);
	for (uint32_t i = 0; i < m->info.nr_cpus; i++) {
		if (m->cpus[i].host != host)
			continue;
		cpu_set(m, i, MODEL_CPU_UNKNOWN, NONE, 0, t);
		m->cpus[i].steal_told = false;
	}
}

/*
 * The kernel stops recording somewhere around the marks, so nothing between them is believed; what
 * is known afterwards comes from the dump that follows the resume, and from switches.
 */
void host_pause(struct model *m, uint32_t host, uint64_t t)
{
	if (m->hosts[host].paused)
		return;
	kernel_lost(m, host, t);
	jthreads_lost_all(m, host, t);
	m->hosts[host].paused = true;
	m->paused = true;
}

void host_resume(struct model *m, uint32_t host)
{
	if (m->hosts[host].stopped)
		return;
	m->hosts[host].paused = false;
	m->paused = false;
	for (uint32_t i = 0; i < m->nr_hosts; i++)
		m->paused |= m->hosts[i].paused;
}

/* The Java thread of place @i among the nests, if it is one of @host. */
static struct jthread *jthread_of(const struct model *m, uint32_t host, uint32_t i)
{
	const struct nest *n = &m->nests.table[i];

	return n->process != NONE && m->runs[n->process].host == host ? n->java : NULL;
}

static void remotes_stop(struct model *m, uint32_t host)
{
	for (uint32_t i = 0; m->nests.table && i <= m->nests.mask; i++) {
		struct jthread *j = jthread_of(m, host, i);

		if (j)
			remote_dropped(m, j, MODEL_REMOTE_UNDER_WAY);
	}
}

/* Also those of which no more is heard: what they do ends here, too. */
static void java_stop(struct model *m, uint32_t host, uint64_t t)
{
	jthreads_lost_all(m, host, t);
	for (uint32_t i = 0; m->nests.table && i <= m->nests.mask; i++) {
		struct jthread *j = jthread_of(m, host, i);

		if (j)
			jthread_fresh(m, j, t);
	}
}

/* As at the end of a recording, but for others it goes on. */
void host_stop(struct model *m, uint32_t host, uint64_t t)
{
	struct host_run *h = &m->hosts[host];

	if (h->stopped || m->nr_hosts == 1)
		return;
	h->stopped = true;
	if (t > m->now)
		m->now = t;
	remotes_stop(m, host);
	conns_stop(m, host, t);
	if (!h->paused)
		kernel_lost(m, host, t);
	if (m->methods)
		methods_stop(m, host, t);
	java_stop(m, host, t);
	h->paused = m->paused = true;
}

/* Ticks of time @t in ns, the other way round than clock_scale_ns(). */
static uint64_t ticks_of(const struct manifest *man, uint64_t t)
{
	unsigned __int128 ticks = (unsigned __int128)t * man->frequency / 1000000000 + man->begin;

	return ticks < TIME_NONE ? (uint64_t)ticks : TIME_NONE - 1;
}

uint32_t machine_of(const struct model *m, uint32_t process)
{
	return m->hosts[m->runs[process].host].machine;
}

uint64_t hosts_error(const struct model *m, uint32_t process, uint32_t other, uint64_t t)
{
	uint32_t a = m->runs[process].host, b = m->runs[other].host;

	return a == b ? 0
		      : manifest_host_error(m->info.manifest, a, b, ticks_of(m->info.manifest, t));
}
