/* SPDX-License-Identifier: MIT */
/*
 * Makes small sessions whose every event is known, for the tests of reading, merging and recovery
 * and for the fuzzer. Aborts on errors of its own.
 */
#ifndef TEST_TRACE_GEN_H
#define TEST_TRACE_GEN_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/read.h"
#include "trace/thread_table.h"
#include "trace/write.h"

#define GEN_STREAMS 6
#define GEN_MAX_EVENTS 2000
#define GEN_DIRECTORY "jvm-77-5"
#define GEN_PID 77u

#define GEN_CHECK(x)                                                                               \
	do {                                                                                       \
		if (!(x)) {                                                                        \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x);                    \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

struct gen_event {
	uint64_t time;
	uint32_t id, size, stream;
	size_t end;    /* offset in the stream's file behind the record */
	size_t packet; /* offset of its packet */
	uint32_t sum;
};

struct gen_stream {
	char path[64];
	struct stream_identity id;
	struct packet_builder b;
	struct stream_writer *w;
	size_t base; /* file offset of the open packet */
	uint64_t packets;
	struct gen_event events[GEN_MAX_EVENTS];
	uint32_t nr;
};

struct gen {
	char path[64];
	int dirfd;
	struct gen_stream s[GEN_STREAMS];
	struct thread_table *table;
	uint64_t now, random;
};

static inline uint32_t gen_random(uint64_t *state, uint32_t n)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (uint32_t)(((*state * 0x2545f4914f6cdd1dull >> 32) * n) >> 32);
}

static inline uint32_t gen_sum(const uint8_t *p, size_t n)
{
	return crc32c(0, p, n);
}

static inline void gen_flush(struct gen *g, struct gen_stream *s)
{
	struct jis_packet_header *p = packet_builder_close(&s->b, 0);

	if (!p)
		return;
	s->base += p->content_size / 8;
	s->packets++;
	GEN_CHECK(!stream_writer_append(s->w, p));
	GEN_CHECK(!thread_table_add_packet(g->table, GEN_PID, p, 0));
}

/* One event at g->now; the expectation is taken from the packet's memory. */
static inline void gen_emit(struct gen *g, uint32_t stream, uint32_t id, const void *payload,
			    uint32_t len, const char *text)
{
	struct gen_stream *s = &g->s[stream];
	struct gen_event *e = &s->events[s->nr++];
	const struct event_info *info = event_info_get(s->id.stream_class, id);
	size_t before = s->b.used ? s->b.used : JIS_PACKET_HEADER_SIZE;
	uint64_t last = s->b.used ? s->b.last : g->now;
	size_t header = g->now - last > JIS_TIME_MASK ? 16 : 4;

	GEN_CHECK(s->nr <= GEN_MAX_EVENTS && info);
	GEN_CHECK(!packet_builder_add(&s->b, id, g->now, payload, len, text));
	e->time = g->now;
	e->id = id;
	e->stream = stream;
	e->end = s->base + s->b.used;
	e->packet = s->base;
	e->size = (uint32_t)(s->b.used - before - header);
	e->sum = gen_sum(s->b.buffer + before + header, e->size);
}

#define GEN_EMIT(g, stream, event, string, ...)                                                    \
	do {                                                                                       \
		const struct jis_ev_##event payload_ = {__VA_ARGS__};                              \
		const char *text_ = (string);                                                      \
                                                                                                   \
		gen_emit(g, stream, JIS_EV_##event, &payload_, sizeof(payload_) - (text_ ? 4 : 0), \
			 text_);                                                                   \
	} while (0)

enum { GEN_CPU0, GEN_CPU1, GEN_RECORDER, GEN_DICT, GEN_SLOT1, GEN_SLOT2 };

static inline void gen_stream_open(struct gen *g, uint32_t i, uint32_t stream_class,
				   uint64_t instance, const char *path)
{
	struct gen_stream *s = &g->s[i];

	snprintf(s->path, sizeof(s->path), "%s", path);
	s->id.stream_class = stream_class;
	s->id.instance = instance;
	memcpy(s->id.uuid, i <= GEN_RECORDER ? "gen-kernel-uuid-" : "gen-user---uuid-", 16);
	GEN_CHECK(!stream_writer_create(g->dirfd, path, &s->w));
	GEN_CHECK(!packet_builder_init(&s->b, 8192, stream_class, instance, s->id.uuid));
	s->b.proto.pid = i <= GEN_RECORDER ? 0 : GEN_PID;
	s->b.proto.owner = i <= GEN_RECORDER ? (uint32_t)instance : GEN_PID + 1;
	GEN_CHECK(!packet_builder_open(&s->b, g->now));
	gen_flush(g, s);
}

/* One event of any kind in any stream. */
static inline void gen_any(struct gen *g)
{
	uint32_t dice = gen_random(&g->random, 100), cpu = dice % 2;

	g->now += 1 + gen_random(&g->random, dice < 3 ? 1u << 29 : 4000);
	if (dice < 30)
		GEN_EMIT(g, cpu, sched_switch, NULL, .prev_tid = dice, .next_tid = 78,
			 .prev_state = JIS_TASK_INTERRUPTIBLE);
	else if (dice < 50)
		GEN_EMIT(g, cpu, sched_waking, NULL, .tid = 77 + cpu, .waker_tid = dice);
	else if (dice < 55)
		GEN_EMIT(g, cpu, task_rename, "renamed", .tid = 78, .pid = GEN_PID);
	else if (dice < 60)
		GEN_EMIT(g, GEN_DICT, string_def, "a longer string", .id = dice);
	else if (dice < 80)
		GEN_EMIT(g, GEN_SLOT1, marker, NULL, .type = dice, .value = -1);
	else if (dice < 97)
		GEN_EMIT(g, GEN_SLOT2, java_marker, NULL, .java_tid = 9, .type = dice);
	else
		GEN_EMIT(g, GEN_RECORDER, clock_sync, NULL, .tsc = g->now, .monotonic_raw = g->now,
			 .monotonic = 2, .boottime = 3,
			 .realtime = 1700000000000000000ull + g->now);
}

static inline void gen_metadata(struct gen *g, bool kernel)
{
	struct metadata_params p = {.kernel = kernel,
				    .clock = JIS_CLOCK_RAW,
				    .frequency = 1000000000,
				    .offset_s = 1700000000,
				    .hostname = "gen \"host\"",
				    .process = kernel ? NULL : "java",
				    .pid = kernel ? 0 : GEN_PID};
	int fd = openat(g->dirfd, kernel ? "kernel" : GEN_DIRECTORY, O_RDONLY | O_DIRECTORY);

	memcpy(p.uuid, g->s[kernel ? 0 : GEN_DICT].id.uuid, 16);
	memcpy(p.clock_uuid, "gen-session-uuid", 16);
	GEN_CHECK(!metadata_write(fd, &p));
	close(fd);
}

static inline struct manifest *gen_manifest(struct gen *g, bool complete)
{
	struct manifest *m = manifest_new();

	GEN_CHECK(m);
	m->complete = complete;
	m->jis_version = strdup("0");
	m->hostname = strdup("gen \"host\"");
	m->backend = strdup("kmod");
	memcpy(m->uuid, "gen-session-uuid", 16);
	memcpy(m->kernel_uuid, g->s[0].id.uuid, 16);
	m->clock = JIS_CLOCK_RAW;
	m->frequency = 1000000000;
	m->begin = 1000;
	m->end = g->now;
	m->nr_cpus = 2;
	m->processes = calloc(1, sizeof(*m->processes));
	m->nr_processes = 1;
	m->processes[0].pid = GEN_PID;
	m->processes[0].name = strdup("java");
	m->processes[0].directory = strdup(GEN_DIRECTORY);
	memcpy(m->processes[0].uuid, g->s[GEN_DICT].id.uuid, 16);
	if (!complete)
		return m;
	m->streams = calloc(GEN_STREAMS, sizeof(*m->streams));
	for (uint32_t i = 0; i < GEN_STREAMS; i++) {
		struct stream_entry *e = &m->streams[m->nr_streams++];

		e->path = strdup(g->s[i].path);
		e->stream_class = g->s[i].id.stream_class;
		e->instance = g->s[i].id.instance;
		e->packets = g->s[i].packets;
		e->clean = true;
		memcpy(e->stored, g->s[i].b.stored, sizeof(e->stored));
		memcpy(e->produced, g->s[i].b.stored, sizeof(e->produced));
	}
	GEN_CHECK(!thread_table_fill(g->table, m));
	return m;
}

/* Begins a session in directory @path, new or empty; its streams are open. */
static inline struct gen *gen_begin(const char *path, uint64_t seed)
{
	struct gen *g = calloc(1, sizeof(*g));

	GEN_CHECK(g && snprintf(g->path, sizeof(g->path), "%s", path) < (int)sizeof(g->path));
	GEN_CHECK(!mkdir(path, 0700) || errno == EEXIST);
	g->dirfd = open(g->path, O_RDONLY | O_DIRECTORY);
	GEN_CHECK(!mkdirat(g->dirfd, "kernel", 0755) && !mkdirat(g->dirfd, GEN_DIRECTORY, 0755));
	g->table = thread_table_new();
	g->now = 1000;
	g->random = seed * 2 + 1;
	gen_stream_open(g, GEN_CPU0, JIS_STREAM_KERNEL, 0, "kernel/cpu-0");
	gen_stream_open(g, GEN_CPU1, JIS_STREAM_KERNEL, 1, "kernel/cpu-1");
	gen_stream_open(g, GEN_RECORDER, JIS_STREAM_RECORDER, 0, "kernel/recorder");
	gen_stream_open(g, GEN_DICT, JIS_STREAM_DICT, 0, GEN_DIRECTORY "/dict");
	gen_stream_open(g, GEN_SLOT1, JIS_STREAM_USER, 1, GEN_DIRECTORY "/slot-1");
	gen_stream_open(g, GEN_SLOT2, JIS_STREAM_USER, 2, GEN_DIRECTORY "/slot-2");
	GEN_EMIT(g, GEN_RECORDER, session_mark, NULL, .mark = JIS_MARK_START);
	GEN_EMIT(g, GEN_RECORDER, target_added, "java", .pid = GEN_PID);
	return g;
}

/* All streams are complete, with their metadata; the manifest is to be saved. */
static inline void gen_end(struct gen *g)
{
	for (uint32_t i = 0; i < GEN_STREAMS; i++) {
		gen_flush(g, &g->s[i]);
		GEN_CHECK(!stream_writer_close(g->s[i].w));
	}
	gen_metadata(g, true);
	gen_metadata(g, false);
}

/* A session of @events events in packets of about @per_packet, complete on disk. Use gen_free(). */
static inline struct gen *gen_new(uint32_t events, uint32_t per_packet, uint64_t seed)
{
	char path[] = "/tmp/jis-gen-XXXXXX";
	struct manifest *m;
	struct gen *g;

	GEN_CHECK(mkdtemp(path));
	g = gen_begin(path, seed);
	for (uint32_t i = 0; i < 2; i++) {
		g->now += 10;
		GEN_EMIT(g, GEN_CPU0, thread_state, "java", .tid = 77 + i, .pid = GEN_PID,
			 .ns_tid = 77 + i, .state = 1, .start_time = 5 + i);
		GEN_EMIT(g, GEN_DICT, java_thread_start, "worker", .java_tid = 8 + i, .tid = 77 + i,
			 .group = 0);
	}
	for (uint32_t i = 0; i < events; i++) {
		struct gen_stream *s = &g->s[gen_random(&g->random, GEN_STREAMS)];

		gen_any(g);
		if (s->nr && s->nr % per_packet == 0)
			gen_flush(g, s);
	}
	gen_end(g);
	m = gen_manifest(g, true);
	GEN_CHECK(!manifest_save(g->dirfd, m));
	manifest_free(m);
	return g;
}

static inline void gen_remove(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") && unlinkat(fd, e->d_name, 0))
			gen_remove(fd, e->d_name);
	if (d)
		closedir(d);
	unlinkat(dirfd, name, AT_REMOVEDIR);
}

/* Leaves the files. */
static inline void gen_drop(struct gen *g)
{
	for (uint32_t i = 0; i < GEN_STREAMS; i++)
		packet_builder_fini(&g->s[i].b);
	thread_table_free(g->table);
	close(g->dirfd);
	free(g);
}

static inline void gen_free(struct gen *g)
{
	gen_remove(AT_FDCWD, g->path);
	gen_drop(g);
}

/* The bytes of a file; to be freed. */
static inline uint8_t *gen_load(const struct gen *g, const char *path, size_t *size)
{
	int fd = openat(g->dirfd, path, O_RDONLY);
	struct stat st;
	uint8_t *bytes;

	GEN_CHECK(fd >= 0 && !fstat(fd, &st));
	*size = (size_t)st.st_size;
	bytes = malloc(*size + 1);
	GEN_CHECK(bytes && read(fd, bytes, *size) == (ssize_t)*size);
	close(fd);
	return bytes;
}

static inline void gen_store(const struct gen *g, const char *path, const uint8_t *bytes,
			     size_t size)
{
	int fd = openat(g->dirfd, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	GEN_CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	close(fd);
}

#endif /* TEST_TRACE_GEN_H */
