/* SPDX-License-Identifier: MIT */
/*
 * Recovery of a session: makes its streams whole, then makes metadata, clock, tables and manifest
 * again from what the streams hold. What the recorder had noted in a provisional manifest is kept.
 */
#include "recover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "read.h"
#include "write.h"

#define KERNEL_DIRECTORY "kernel"

void recovery_say(struct recovery *r, const char *format, ...)
{
	char line[512];
	va_list args;

	if (!r->report)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	r->report(r->ctx, line);
}

/* The pid in "jvm-PID-START" or "process-PID-START", 0 for other names. */
static uint32_t directory_pid(const char *name)
{
	unsigned int pid;
	unsigned long long start;

	if (sscanf(name, "jvm-%u-%llu", &pid, &start) == 2 ||
	    sscanf(name, "process-%u-%llu", &pid, &start) == 2)
		return pid;
	return 0;
}

static struct process_entry *process_of(struct recovery *r, const char *directory, uint32_t pid)
{
	struct manifest *m = r->m;
	struct process_entry *grown;

	for (uint32_t i = 0; i < m->nr_processes; i++)
		if (m->processes[i].directory && !strcmp(m->processes[i].directory, directory))
			return &m->processes[i];
	for (uint32_t i = 0; i < m->nr_processes; i++)
		if (m->processes[i].pid == pid && !m->processes[i].directory) {
			m->processes[i].directory = strdup(directory);
			return m->processes[i].directory ? &m->processes[i] : NULL;
		}
	grown = realloc(m->processes, (m->nr_processes + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	m->processes = grown;
	memset(&grown[m->nr_processes], 0, sizeof(*grown));
	grown[m->nr_processes].pid = pid;
	grown[m->nr_processes].directory = strdup(directory);
	return grown[m->nr_processes].directory ? &grown[m->nr_processes++] : NULL;
}

/* The uuid in the first packet of a stream, which the metadata must carry. */
static void take_uuid(struct recovery *r, const char *path, uint8_t uuid[16])
{
	struct jis_packet_header h;
	int fd = openat(r->dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return;
	if (pread(fd, &h, sizeof(h), 0) == (ssize_t)sizeof(h) && h.magic == JIS_PACKET_MAGIC)
		memcpy(uuid, h.uuid, sizeof(h.uuid));
	close(fd);
}

static int recover_directory(struct recovery *r, const char *name, uint32_t pid)
{
	int fd = openat(r->dirfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	struct process_entry *p = pid ? process_of(r, name, pid) : NULL;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	char path[600];
	struct dirent *e;

	if (!d || (pid && !p)) {
		if (d)
			closedir(d);
		return d ? -ENOMEM : -errno;
	}
	while (!err && (e = readdir(d))) {
		if (e->d_name[0] == '.' || !strcmp(e->d_name, "metadata"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", name, e->d_name);
		take_uuid(r, path, p ? p->uuid : r->m->kernel_uuid);
		err = recover_stream(r, path, pid);
		if (err == -ENODATA || err == -EINVAL) {
			recovery_say(r, "%s: holds no packet; moved out of the way", path);
			snprintf(path, sizeof(path), ".%.250s.damaged", e->d_name);
			err = renameat(dirfd(d), e->d_name, dirfd(d), path) ? -errno : 0;
		}
	}
	closedir(d);
	return err;
}

static int recover_streams(struct recovery *r)
{
	int fd = openat(r->dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d)
		return -errno;
	while (!err && (e = readdir(d))) {
		uint32_t pid = directory_pid(e->d_name);

		if (pid || !strcmp(e->d_name, KERNEL_DIRECTORY))
			err = recover_directory(r, e->d_name, pid);
	}
	closedir(d);
	return err;
}

/* clock_sync events: the clock's frequency and its place in real time. */
static int read_clocks(struct recovery *r)
{
	struct manifest *m = r->m;
	struct stream_cursor c;
	int err = stream_cursor_open(&c, r->dirfd, KERNEL_DIRECTORY "/recorder", NULL, NULL);

	if (err)
		return 0;
	free(m->clocks);
	m->clocks = NULL;
	m->nr_clocks = 0;
	while (!err && stream_cursor_next(&c)) {
		const struct jis_ev_clock_sync *s = (const void *)c.payload;
		struct clock_sample *grown;

		if (c.stream_class != JIS_STREAM_RECORDER || c.id != JIS_EV_clock_sync)
			continue;
		grown = realloc(m->clocks, (m->nr_clocks + 1) * sizeof(*grown));
		if (!grown) {
			err = -ENOMEM;
			break;
		}
		m->clocks = grown;
		grown[m->nr_clocks++] = (struct clock_sample){.ticks = c.time,
							      .monotonic_raw = s->monotonic_raw,
							      .monotonic = s->monotonic,
							      .boottime = s->boottime,
							      .realtime = s->realtime,
							      .uncertainty = s->uncertainty};
	}
	stream_cursor_close(&c);
	return err;
}

static void conclude_clock(struct manifest *m)
{
	const struct clock_sample *a = m->clocks,
				  *b = m->nr_clocks ? &m->clocks[m->nr_clocks - 1] : NULL;

	if (!m->clock)
		m->clock = JIS_CLOCK_RAW;
	if (m->clock == JIS_CLOCK_RAW)
		m->frequency = 1000000000;
	else if (m->nr_clocks > 1 && b->monotonic_raw > a->monotonic_raw + 50000000)
		m->frequency = (uint64_t)((double)(b->ticks - a->ticks) * 1e9 /
					  (double)(b->monotonic_raw - a->monotonic_raw));
	if (!m->frequency)
		m->frequency = 1000000000;
	if (m->nr_clocks)
		m->realtime_offset = (int64_t)a->realtime -
				     (int64_t)((double)a->ticks * 1e9 / (double)m->frequency);
}

static int write_metadata(struct recovery *r, const char *directory, const struct process_entry *p)
{
	const struct manifest *m = r->m;
	int64_t offset_s = m->realtime_offset / 1000000000, rest = m->realtime_offset % 1000000000;
	struct metadata_params params = {.kernel = !p,
					 .clock = m->clock,
					 .frequency = m->frequency,
					 .hostname = m->hostname,
					 .process = p ? p->name : NULL,
					 .pid = p ? p->pid : 0};
	int fd = openat(r->dirfd, directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	if (rest < 0) {
		rest += 1000000000;
		offset_s--;
	}
	params.offset_s = offset_s;
	params.offset = (uint64_t)((double)rest * (double)m->frequency / 1e9);
	memcpy(params.uuid, p ? p->uuid : m->kernel_uuid, sizeof(params.uuid));
	memcpy(params.clock_uuid, m->uuid, sizeof(params.clock_uuid));
	err = metadata_write(fd, &params);
	close(fd);
	return err;
}

static int make_books(struct recovery *r)
{
	struct manifest *m = r->m;
	int err = read_clocks(r);

	if (err)
		return err;
	conclude_clock(m);
	m->begin = r->begin != TIME_NONE ? r->begin : r->first;
	m->end = r->last > m->begin ? r->last : m->begin;
	err = thread_table_fill(r->threads, m);
	for (uint32_t i = 0; i < m->nr_streams; i++)
		if (m->streams[i].stream_class == JIS_STREAM_KERNEL &&
		    m->streams[i].instance < 65536 && m->streams[i].instance >= m->nr_cpus)
			m->nr_cpus = (uint32_t)m->streams[i].instance + 1;
	if (!err)
		err = write_metadata(r, KERNEL_DIRECTORY, NULL);
	for (uint32_t i = 0; i < m->nr_processes && !err; i++)
		if (m->processes[i].directory)
			err = write_metadata(r, m->processes[i].directory, &m->processes[i]);
	if (err)
		return err;
	m->complete = m->recovered = true;
	if (!m->stop_reason)
		m->stop_reason = strdup("the recorder was killed");
	return manifest_save(r->dirfd, m);
}

/* Tables the streams will give again. */
static void forget_tables(struct manifest *m)
{
	for (uint32_t i = 0; i < m->nr_threads; i++) {
		free(m->threads[i].name);
		free(m->threads[i].comm);
		free(m->threads[i].group);
	}
	free(m->threads);
	for (uint32_t i = 0; i < m->nr_foreigners; i++)
		free(m->foreigners[i].comm);
	free(m->foreigners);
	for (uint32_t i = 0; i < m->nr_streams; i++)
		free(m->streams[i].path);
	free(m->streams);
	for (uint32_t i = 0; i < m->nr_damages; i++) {
		free(m->damages[i].path);
		free(m->damages[i].reason);
	}
	free(m->damages);
	m->threads = NULL;
	m->foreigners = NULL;
	m->streams = NULL;
	m->damages = NULL;
	m->nr_threads = m->nr_foreigners = m->nr_streams = m->nr_damages = 0;
}

static void count_damage(void *ctx, struct stream_cursor *c, uint64_t begin, uint64_t end,
			 uint64_t offset, uint64_t length, const char *reason)
{
	(*(uint32_t *)ctx)++;
}

/* Is there anything to do? Reads it all. */
static bool is_whole(const char *path)
{
	uint32_t damages = 0;
	struct stream_observer observer = {.damage = count_damage, .ctx = &damages};
	struct trace *t;

	if (trace_open(path, &observer, &t))
		return false;
	for (uint32_t i = 0; i < t->nr_streams; i++)
		while (stream_cursor_next(&t->streams[i]))
			;
	trace_close(t);
	return !damages;
}

int trace_recover(const char *path, void (*report)(void *ctx, const char *line), void *ctx)
{
	struct recovery r = {.report = report, .ctx = ctx, .first = TIME_NONE, .begin = TIME_NONE};
	int err;

	r.dirfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r.dirfd < 0)
		return -errno;
	/* The recorder holds this lock as long as it lives. */
	if (flock(r.dirfd, LOCK_EX | LOCK_NB)) {
		err = errno == EWOULDBLOCK ? -EBUSY : -errno;
		goto out_close;
	}
	err = manifest_load(r.dirfd, &r.m);
	if (err == -EPROTONOSUPPORT || err == -ENOMEM)
		goto out_close;
	if (!err && is_whole(path)) {
		err = -EALREADY;
		goto out_free;
	}
	if (err) {
		recovery_say(&r, "manifest: %s; made anew", err == -ENOENT ? "missing" : "damaged");
		r.m = manifest_new();
	}
	r.threads = thread_table_new();
	err = r.m && r.threads ? 0 : -ENOMEM;
	if (!err) {
		forget_tables(r.m);
		err = recover_streams(&r);
	}
	if (!err && !r.m->nr_streams)
		err = -ENODATA;
	if (!err)
		err = make_books(&r);
	thread_table_free(r.threads);
out_free:
	manifest_free(r.m);
out_close:
	close(r.dirfd);
	return err;
}
