/* SPDX-License-Identifier: MIT */
/*
 * The books of a session: CTF metadata and the manifest, from what the recorder knows.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "host.h"
#include "recorder_private.h"

/* The best that is known now; a guess when there is only one reading yet. */
static uint64_t frequency(const struct recorder *r)
{
	struct clock_reading now;
	struct clock_sample last = r->clocks[r->nr_clocks - 1];
	uint64_t f;

	if (last.monotonic_raw < r->clocks[0].monotonic_raw + CLOCK_CALIBRATION_NS) {
		clock_read_all(r->params.clock, r->params.base, &now);
		if (now.sample.monotonic_raw < r->clocks[0].monotonic_raw + 1000000)
			usleep(1000);
		clock_read_all(r->params.clock, r->params.base, &now);
		last = now.sample;
	}
	f = clock_frequency(r->params.clock, &r->clocks[0], &last);
	return f ? f : 1000000000u;
}

static char *copy(const char *text)
{
	return text ? strdup(text) : NULL;
}

static char **copy_strings(const char *const *strings, uint32_t n)
{
	char **all = calloc(n + 1, sizeof(*all));
	uint32_t i;

	for (i = 0; all && i < n; i++)
		all[i] = strdup(strings[i]);
	return all;
}

int recorder_metadata(struct recorder *r, const struct recorder_process *p)
{
	uint64_t f = frequency(r);
	int64_t offset = clock_realtime_offset(&r->clocks[0], f), below = offset % 1000000000;
	int64_t seconds = offset / 1000000000;
	struct metadata_params params = {.kernel = !p, .clock = r->params.clock, .frequency = f};
	struct utsname host;
	int fd, err;

	if (below < 0) {
		below += 1000000000;
		seconds--;
	}
	uname(&host);
	params.offset_s = seconds;
	params.offset = (uint64_t)((unsigned __int128)(uint64_t)below * f / 1000000000u);
	params.hostname = host.nodename;
	params.process = p ? p->name : NULL;
	params.pid = p ? p->pid : 0;
	memcpy(params.uuid, p ? p->uuid : r->params.kernel_uuid, sizeof(params.uuid));
	memcpy(params.clock_uuid, r->params.uuid, sizeof(params.clock_uuid));
	if (!p)
		return metadata_write(r->kernel_fd, &params);
	fd = openat(r->dirfd, p->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = metadata_write(fd, &params);
	close(fd);
	return err;
}

/* Processes may come as fast as they can: the manifest may take a tenth of the time, and no more.
 */
#define MANIFEST_EVERY_NS 100000000ull
#define MANIFEST_SHARE 10u

void recorder_refused(struct recorder *r)
{
	r->refused++;
}

void recorder_manifest_due(struct recorder *r)
{
	uint64_t begin = clock_ns(CLOCK_MONOTONIC), wait;

	if (!r->manifest_dirty || begin < r->manifest_next)
		return;
	if (recorder_manifest(r, false, r->clocks[0].ticks, r->clocks[0].ticks, NULL) == 0)
		r->manifest_dirty = false;
	wait = (clock_ns(CLOCK_MONOTONIC) - begin) * MANIFEST_SHARE;
	r->manifest_next = begin + (wait > MANIFEST_EVERY_NS ? wait : MANIFEST_EVERY_NS);
}

static char **families(uint32_t wanted)
{
	const char *names[32];
	uint32_t n = 0;

	for (uint32_t i = 0; backend_families[i]; i++)
		if (wanted & 1u << i)
			names[n++] = backend_families[i];
	return n ? copy_strings(names, n) : NULL;
}

static void fill_facts(struct recorder *r, struct manifest *m)
{
	const struct recorder_params *p = &r->params;
	struct utsname host;
	uint32_t n = 0;

	uname(&host);
	while (p->missing && p->missing[n])
		n++;
	m->jis_version = strdup(JIS_VERSION);
	memcpy(m->uuid, p->uuid, sizeof(m->uuid));
	memcpy(m->kernel_uuid, p->kernel_uuid, sizeof(m->kernel_uuid));
	host_boot_id(m->boot_id);
	memcpy(m->origin_uuid, p->origin.uuid, sizeof(m->origin_uuid));
	m->origin_begin = p->origin.begin;
	m->origin_from = p->origin.from;
	m->origin_to = p->origin.to;
	m->hostname = strdup(host.nodename);
	m->kernel_release = strdup(host.release);
	m->machine = strdup(host.machine);
	m->command = copy(r->command);
	m->backend = strdup(p->backend);
	m->missing = copy_strings(p->missing, n);
	m->notes = copy_strings((const char *const *)r->notes, r->nr_notes);
	m->filters = copy_strings((const char *const *)r->filters, r->nr_filters);
	m->clock = p->clock;
	m->frequency = frequency(r);
	m->base = p->base;
	m->realtime_offset = clock_realtime_offset(&r->clocks[0], m->frequency);
	m->clock_steps = r->clock_steps + r->builder.clock_steps;
	m->nr_cpus = p->nr_cpus;
	m->flush_ms = p->flush_ms;
	m->all_switches = p->all_switches;
	m->refused = r->refused;
	m->syscalls = copy(r->syscalls);
	m->events = families(p->families);
}

static int fill_lists(struct recorder *r, struct manifest *m)
{
	const struct recorder_process *p;
	struct process_entry *e;

	m->clocks = malloc(r->nr_clocks * sizeof(*m->clocks));
	m->processes = calloc(r->nr_processes ? r->nr_processes : 1, sizeof(*m->processes));
	if (!m->clocks || !m->processes)
		return -ENOMEM;
	memcpy(m->clocks, r->clocks, r->nr_clocks * sizeof(*m->clocks));
	m->nr_clocks = r->nr_clocks;
	for (p = r->processes; p; p = p->next) {
		e = &m->processes[m->nr_processes++];
		e->pid = p->pid;
		e->ns_pid = p->own_pid;
		e->start_time = p->start_time;
		e->name = strdup(p->name);
		e->directory = strdup(p->directory);
		e->given_name = p->given_name[0] ? strdup(p->given_name) : NULL;
		e->vm = p->vm[0] ? strdup(p->vm) : NULL;
		e->vm_version = p->vm_version;
		memcpy(e->uuid, p->uuid, sizeof(e->uuid));
	}
	return 0;
}

static void add_stream(struct manifest *m, const struct recorder_stream *s)
{
	struct stream_entry *e = &m->streams[m->nr_streams];

	if (!s || !s->packets)
		return;
	e->path = strdup(s->path);
	e->stream_class = s->stream_class;
	e->instance = s->instance;
	e->packets = s->packets;
	e->next_seq = s->next_seq;
	memcpy(e->produced, s->produced, sizeof(e->produced));
	memcpy(e->stored, s->stored, sizeof(e->stored));
	memcpy(e->lost, s->lost, sizeof(e->lost));
	e->clean = s->counted;
	m->nr_streams++;
}

static int fill_streams(struct recorder *r, struct manifest *m)
{
	const struct recorder_process *p;
	uint32_t n = r->params.nr_cpus + 1, i;

	for (p = r->processes; p; p = p->next)
		n += p->nr_slots;
	m->streams = calloc(n, sizeof(*m->streams));
	if (!m->streams)
		return -ENOMEM;
	for (i = 0; i < r->params.nr_cpus; i++)
		add_stream(m, &r->cpus[i]);
	add_stream(m, &r->own);
	for (p = r->processes; p; p = p->next)
		for (i = 0; i < p->nr_slots; i++)
			add_stream(m, p->slots[i]);
	return 0;
}

/* A flight recorder saw no dump at its begin: who was not born since was there. */
static void threads_were_there(struct manifest *m)
{
	uint32_t i;

	for (i = 0; i < m->nr_threads; i++)
		if (m->threads[i].birth == TIME_NONE)
			m->threads[i].first_seen = m->begin;
}

int recorder_manifest(struct recorder *r, bool complete, uint64_t begin, uint64_t end,
		      const char *reason)
{
	struct manifest *m = manifest_new();
	int err;

	if (!m)
		return -ENOMEM;
	m->schema_version = JIS_SCHEMA_VERSION;
	m->complete = complete;
	m->begin = begin;
	m->end = end < begin ? begin : end;
	m->stop_reason = copy(reason);
	fill_facts(r, m);
	err = fill_lists(r, m);
	if (!err && complete)
		err = fill_streams(r, m);
	if (!err && complete)
		err = thread_table_fill(r->threads, m);
	if (!err)
		err = recorder_names_fill(r, m, complete);
	if (!err && complete && r->params.flight)
		threads_were_there(m);
	if (!err)
		err = manifest_save(r->dirfd, m);
	manifest_free(m);
	return err;
}
