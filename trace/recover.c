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
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "read.h"
#include "write.h"

#define KERNEL_DIRECTORY "kernel"
/* A longer one is nonsense in a packet's time, and manifest_load() would refuse it. */
#define SESSION_TICKS_MAX (UINT64_MAX / 4)

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
	grown += m->nr_processes++;
	grown->directory = strdup(directory);
	grown->name = strdup("?"); /* until an event tells it */
	return grown->directory && grown->name ? grown : NULL;
}

/* Class and instance of a stream by its file's name; false: no name of a stream. */
static bool identity_of_name(const char *name, bool kernel, struct stream_identity *id)
{
	unsigned int n;
	int end = 0;

	id->instance = 0;
	if (!strcmp(name, kernel ? "recorder" : "dict")) {
		id->stream_class = kernel ? JIS_STREAM_RECORDER : JIS_STREAM_DICT;
		return true;
	}
	if (!kernel && sscanf(name, "dict-%9u%n", &n, &end) == 1 && !name[end]) {
		id->stream_class = JIS_STREAM_DICT;
		id->instance = n;
		return true;
	}
	end = 0;
	if (sscanf(name, kernel ? "cpu-%9u%n" : "slot-%9u%n", &n, &end) != 1 || name[end])
		return false;
	id->stream_class = kernel ? JIS_STREAM_KERNEL : JIS_STREAM_USER;
	id->instance = n;
	return true;
}

/* Takes the uuid of the first whole packet of file @name, if there is one. */
static bool uuid_of_stream(int dirfd, const char *name, uint8_t uuid[16])
{
	int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	uint8_t *buffer = fd < 0 ? NULL : calloc(1, PACKET_MAX_BYTES);
	ssize_t n = buffer ? pread(fd, buffer, PACKET_MAX_BYTES, 0) : -1;
	size_t content;
	bool found = n > 0 && packet_check(buffer, (size_t)n, NULL, &content) == PACKET_WHOLE;

	if (found)
		memcpy(uuid, ((struct jis_packet_header *)buffer)->uuid, 16);
	free(buffer);
	if (fd >= 0)
		close(fd);
	return found;
}

/* The uuid of a directory whose manifest entry has none. */
static void find_uuid(int dirfd, struct dirent **list, int n, bool kernel, uint8_t uuid[16])
{
	static const uint8_t none[16];
	struct stream_identity id;

	if (memcmp(uuid, none, sizeof(none)))
		return;
	for (int i = 0; i < n; i++)
		if (identity_of_name(list[i]->d_name, kernel, &id) &&
		    uuid_of_stream(dirfd, list[i]->d_name, uuid))
			return;
}

/* What is no stream would keep every reader of CTF from the whole directory. */
static int put_aside(struct recovery *r, int dirfd, const char *directory, const char *name)
{
	char aside[300];

	recovery_say(r, "%s/%s: holds no packet; moved out of the way", directory, name);
	snprintf(aside, sizeof(aside), ".%.240s.damaged", name);
	return renameat(dirfd, name, dirfd, aside) ? -errno : 0;
}

static int recover_file(struct recovery *r, int dirfd, const char *directory, const char *name,
			const uint8_t uuid[16], uint32_t pid)
{
	struct stream_identity id;
	char path[600];
	int err = -ENODATA;

	memcpy(id.uuid, uuid, sizeof(id.uuid));
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	if (identity_of_name(name, !pid, &id))
		err = recover_stream(r, dirfd, name, path, &id, pid);
	if (err == -ENODATA || err == -EINVAL)
		err = put_aside(r, dirfd, directory, name);
	return err;
}

static int is_stream_file(const struct dirent *e)
{
	return e->d_name[0] != '.' && strcmp(e->d_name, "metadata");
}

static int recover_directory(struct recovery *r, const char *name, uint32_t pid)
{
	int fd = openat(r->dirfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW), err, n;
	struct process_entry *p = pid ? process_of(r, name, pid) : NULL;
	uint8_t *uuid = p ? p->uuid : r->m->kernel_uuid;
	struct dirent **list = NULL;

	if (fd < 0)
		return errno == ENOTDIR || errno == ELOOP ? 0 : -errno;
	/* All names first: recovery itself makes files. */
	n = scandirat(fd, ".", &list, is_stream_file, alphasort);
	err = n < 0 ? -errno : pid && !p ? -ENOMEM : 0;
	if (!err)
		find_uuid(fd, list, n, !pid, uuid);
	for (int i = 0; i < n; i++) {
		if (!err)
			err = recover_file(r, fd, name, list[i]->d_name, uuid, pid);
		free(list[i]);
	}
	free(list);
	close(fd);
	return err;
}

static int is_trace_directory(const struct dirent *e)
{
	return directory_pid(e->d_name) || !strcmp(e->d_name, KERNEL_DIRECTORY);
}

static int recover_streams(struct recovery *r)
{
	struct dirent **list = NULL;
	int n = scandirat(r->dirfd, ".", &list, is_trace_directory, alphasort);
	int err = n < 0 ? -errno : 0;

	for (int i = 0; i < n; i++) {
		if (!err)
			err = recover_directory(r, list[i]->d_name, directory_pid(list[i]->d_name));
		free(list[i]);
	}
	free(list);
	return err;
}

/* clock_sync events: the clock's frequency and its place in real time. */
static int read_clocks(struct recovery *r)
{
	struct manifest *m = r->m;
	struct stream_identity identity = {.stream_class = JIS_STREAM_RECORDER};
	struct stream_cursor c;
	int err = 0;

	memcpy(identity.uuid, m->kernel_uuid, sizeof(identity.uuid));
	if (stream_cursor_open(&c, r->dirfd, KERNEL_DIRECTORY "/recorder", &identity, NULL))
		return 0;
	free(m->clocks);
	m->clocks = NULL;
	m->nr_clocks = 0;
	while (!err && stream_cursor_next(&c)) {
		const struct jis_ev_clock_sync *s = (const void *)c.payload;
		struct clock_sample *grown;

		if (c.id != JIS_EV_clock_sync)
			continue;
		if (!m->nr_clocks)
			r->tsc = s->tsc;
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

/* Ticks per second between two samples, or 0 where they do not tell. */
static uint64_t frequency_of(const struct clock_sample *a, const struct clock_sample *b)
{
	double ns, f;

	if (b->ticks <= a->ticks || b->monotonic_raw <= a->monotonic_raw)
		return 0;
	ns = (double)(b->monotonic_raw - a->monotonic_raw);
	f = (double)(b->ticks - a->ticks) * 1e9 / ns;
	return ns < 50e6 || f < 1e6 || f > 1e11 ? 0 : (uint64_t)f;
}

/* Is @ticks @reading less a base, which is a multiple of 2^27? Give or take some microseconds. */
static bool rebased(uint64_t reading, uint64_t ticks)
{
	const uint64_t slack = 1u << 18;

	return ((reading - ticks + slack) & JIS_TIME_MASK) < 2 * slack;
}

/* Which clock it was, and its base, where the manifest that would tell is lost. */
static void find_clock(struct recovery *r)
{
	struct manifest *m = r->m;
	const struct clock_sample *a = m->clocks;
	uint64_t reading;

	if (m->clock == JIS_CLOCK_TSC || m->clock == JIS_CLOCK_RAW)
		return;
	m->clock = JIS_CLOCK_RAW;
	if (!m->nr_clocks) {
		recovery_say(r, "the clock is not known; its ticks are taken for nanoseconds");
		return;
	}
	if (r->tsc && (rebased(r->tsc, a->ticks) || !rebased(a->monotonic_raw, a->ticks)))
		m->clock = JIS_CLOCK_TSC;
	reading = m->clock == JIS_CLOCK_TSC ? r->tsc : a->monotonic_raw;
	if (reading >= a->ticks)
		m->base = (reading - a->ticks + JIS_TIME_MASK / 2) & ~(uint64_t)JIS_TIME_MASK;
}

static void conclude_clock(struct recovery *r)
{
	struct manifest *m = r->m;
	const struct clock_sample *a = m->clocks;
	uint64_t f = m->nr_clocks ? frequency_of(a, &m->clocks[m->nr_clocks - 1]) : 0;
	double ns;

	find_clock(r);
	if (m->clock == JIS_CLOCK_RAW)
		m->frequency = 1000000000;
	else if (f)
		m->frequency = f;
	if (!m->frequency) {
		recovery_say(r, "the clock's frequency is not known; 1 GHz is assumed");
		m->frequency = 1000000000;
	}
	if (!m->nr_clocks)
		return;
	ns = (double)a->ticks * 1e9 / (double)m->frequency;
	if (a->realtime < INT64_MAX / 2 && ns < (double)(INT64_MAX / 2))
		m->realtime_offset = (int64_t)a->realtime - (int64_t)ns;
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
	int fd = openat(r->dirfd, directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW), err;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
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

/* A process of the manifest may have lost its directory. */
static void forget_missing_directories(struct recovery *r)
{
	for (uint32_t i = 0; i < r->m->nr_processes; i++) {
		struct process_entry *p = &r->m->processes[i];

		if (!p->directory || !faccessat(r->dirfd, p->directory, F_OK, 0))
			continue;
		recovery_say(r, "%s: the directory is missing", p->directory);
		free(p->directory);
		p->directory = NULL;
	}
}

static int make_books(struct recovery *r)
{
	struct manifest *m = r->m;
	int err = read_clocks(r);

	if (err)
		return err;
	conclude_clock(r);
	forget_missing_directories(r);
	m->begin = r->begin != TIME_NONE ? r->begin : r->first;
	m->end = r->last > m->begin ? r->last : m->begin;
	if (m->end - m->begin > SESSION_TICKS_MAX)
		m->end = m->begin + SESSION_TICKS_MAX;
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
	/* The killed recorder's; nobody needs the room more than the manifest. */
	unlinkat(r->dirfd, RESERVE_FILE, 0);
	unlinkat(r->dirfd, CONTROL_SOCKET, 0);
	m->complete = m->recovered = true;
	if (!m->stop_reason)
		m->stop_reason = strdup("the recorder was killed");
	return manifest_save(r->dirfd, m);
}

/* Tables the streams will give again. The streams' counters are kept aside. */
static void forget_tables(struct recovery *r)
{
	struct manifest *m = r->m;

	manifest_clear_threads(m);
	for (uint32_t i = 0; i < m->nr_damages; i++) {
		free(m->damages[i].path);
		free(m->damages[i].reason);
	}
	free(m->damages);
	m->damages = NULL;
	m->nr_damages = 0;
	r->known = m->streams;
	r->nr_known = m->nr_streams;
	m->streams = NULL;
	m->nr_streams = 0;
}

static void forget_known(struct recovery *r)
{
	for (uint32_t i = 0; i < r->nr_known; i++)
		free(r->known[i].path);
	free(r->known);
}

/* Streams of which no file is left, or none that has anything of theirs. */
static int tell_missing_streams(struct recovery *r)
{
	struct manifest *m = r->m;
	struct damage_entry *grown;

	for (uint32_t i = 0; i < r->nr_known; i++) {
		bool there = false;

		for (uint32_t k = 0; k < m->nr_streams && !there; k++)
			there = !strcmp(m->streams[k].path, r->known[i].path);
		if (there)
			continue;
		recovery_say(r, "%s: the stream is missing", r->known[i].path);
		grown = realloc(m->damages, (m->nr_damages + 1) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		m->damages = grown;
		grown[m->nr_damages] =
			(struct damage_entry){.path = strdup(r->known[i].path),
					      .end = TIME_NONE,
					      .reason = strdup("the stream is missing")};
		m->nr_damages++;
		if (!grown[m->nr_damages - 1].path || !grown[m->nr_damages - 1].reason)
			return -ENOMEM;
	}
	return 0;
}

static void count_damage(void *ctx, struct stream_cursor *c, uint64_t begin, uint64_t end,
			 uint64_t offset, uint64_t length, const char *reason)
{
	/* What is not there is no damage that could be mended. */
	if (reason != packet_missing_reason)
		(*(uint32_t *)ctx)++;
}

static bool has_metadata(const struct trace *t)
{
	char path[600];

	if (faccessat(t->dirfd, KERNEL_DIRECTORY "/metadata", F_OK, 0) &&
	    !faccessat(t->dirfd, KERNEL_DIRECTORY, F_OK, 0))
		return false;
	for (uint32_t i = 0; i < t->manifest->nr_processes; i++) {
		const char *directory = t->manifest->processes[i].directory;

		snprintf(path, sizeof(path), "%.512s/metadata", directory ? directory : "");
		if (directory && !faccessat(t->dirfd, directory, F_OK, 0) &&
		    faccessat(t->dirfd, path, F_OK, 0))
			return false;
	}
	return true;
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
	if (!has_metadata(t))
		damages++;
	trace_close(t);
	return !damages;
}

static int recover_locked(struct recovery *r)
{
	int err;

	r->threads = thread_table_new();
	if (!r->m || !r->threads)
		return -ENOMEM;
	forget_tables(r);
	err = recover_streams(r);
	if (!err && !r->m->nr_streams)
		err = -ENODATA;
	if (!err)
		err = tell_missing_streams(r);
	return err ? err : make_books(r);
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
	err = recover_locked(&r);
	thread_table_free(r.threads);
	forget_known(&r);
out_free:
	manifest_free(r.m);
out_close:
	close(r.dirfd);
	return err;
}
