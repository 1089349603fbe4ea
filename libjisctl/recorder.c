/* SPDX-License-Identifier: MIT */
/*
 * The session's directory and its streams of packets.
 */
#include "recorder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lost.h"
#include "packet_walk.h"
#include "proc.h"
#include "recorder_private.h"

#define OWN_PACKET 8192u
#define RESERVE_BYTES (64u << 10)
#define NOTES_MAX 1000u

static bool directory_empty(int fd)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *e;
	bool empty = true;

	if (!dir) {
		if (copy >= 0)
			close(copy);
		return false;
	}
	while ((e = readdir(dir)))
		empty &= strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
	closedir(dir);
	return empty;
}

/* To the group that may read it; what comes into the directory inherits the group. Only of one that
 * we have made, and no reason not to record. */
static void directory_share(const struct recorder *r)
{
	struct stat st;

	if (!r->params.has_group || !r->made_directory || fstat(r->dirfd, &st))
		return;
	if (fchown(r->dirfd, (uid_t)-1, r->params.group) ||
	    fchmod(r->dirfd, (st.st_mode & 07777) | S_ISGID))
		return; /* it stays root's alone */
}

static int directory_make(struct recorder *r)
{
	r->made_directory = mkdir(r->directory, TRACE_DIRECTORY_MODE) == 0;
	if (!r->made_directory && errno != EEXIST)
		return -errno;
	r->dirfd = open(r->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r->dirfd < 0)
		return -errno;
	/* `jis recover` keeps off as long as we live. */
	if (flock(r->dirfd, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	if (!directory_empty(r->dirfd))
		return -EEXIST;
	directory_share(r);
	if (mkdirat(r->dirfd, "kernel", TRACE_DIRECTORY_MODE))
		return -errno;
	r->made_kernel = true;
	r->kernel_fd = openat(r->dirfd, "kernel", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return r->kernel_fd < 0 ? -errno : 0;
}

/* What the manifest and the metadata may need, from above: they have a row for each thread... */
static uint64_t reserve_wanted(const struct recorder *r)
{
	uint64_t threads = 0, foreign = 0;
	uint32_t i;

	for (i = 0; i < r->params.nr_cpus; i++) {
		const uint64_t *stored = r->cpus[i].stored;

		threads += stored[JIS_EV_sched_process_fork] + stored[JIS_EV_thread_state];
		foreign += stored[JIS_EV_task_name];
	}
	return RESERVE_BYTES + threads * 800 + foreign * 200 + r->params.nr_cpus * 1000ull +
	       r->nr_processes * 32768ull;
}

/* Keeps room on the disk for the end. Returns 0 or -errno. */
static int reserve_grow(struct recorder *r)
{
	uint64_t wanted = reserve_wanted(r);
	int err;

	if (r->reserve_fd < 0 || wanted <= r->reserved)
		return 0;
	err = posix_fallocate(r->reserve_fd, (off_t)r->reserved, (off_t)(wanted - r->reserved));
	if (err == ENOSPC || err == EDQUOT)
		return -err;
	r->reserved = wanted; /* where blocks cannot be had beforehand there is no reserve */
	return 0;
}

static int reserve_make(struct recorder *r)
{
	r->reserve_fd =
		openat(r->dirfd, RESERVE_FILE, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return r->reserve_fd < 0 ? -errno : reserve_grow(r);
}

void recorder_reserve_drop(struct recorder *r)
{
	if (r->reserve_fd < 0)
		return;
	unlinkat(r->dirfd, RESERVE_FILE, 0);
	close(r->reserve_fd);
	r->reserve_fd = -1;
}

int recorder_fail(struct recorder *r, int err)
{
	if (err && !r->error)
		r->error = err;
	return err;
}

int recorder_stream_make(struct recorder *r, struct recorder_stream *s, int dirfd,
			 const char *directory, const char *name)
{
	int err;

	if (s->writer)
		return 0;
	err = stream_writer_create(dirfd, name, &s->writer);
	if (!err)
		snprintf(s->path, sizeof(s->path), "%s/%s", directory, name);
	return err;
}

/* Writes @packet; counts packets and bytes, not records. */
int recorder_stream_put(struct recorder *r, struct recorder_stream *s,
			const struct jis_packet_header *packet, bool open)
{
	int err = open ? stream_writer_update_tail(s->writer, packet)
		       : stream_writer_append(s->writer, packet);
	uint64_t bytes = stream_writer_bytes(s->writer);

	r->bytes += bytes - s->bytes;
	s->bytes = bytes;
	if (err)
		return recorder_fail(r, err);
	if (packet->packet_seq + 1 != s->next_seq || !s->packets)
		s->packets++;
	s->next_seq = packet->packet_seq + 1;
	s->end = packet->timestamp_end;
	s->discarded = packet->events_discarded;
	return 0;
}

/* Adds the packet's records to what the stream has stored. Does any concern the thread table? */
static bool stream_count(struct recorder *r, struct recorder_stream *s,
			 const struct jis_packet_header *packet)
{
	struct packet_walk walk;
	int err;

	packet_walk_begin(&walk, packet, UINT64_MAX);
	walk.told = s->told;
	if (s->stream_class == JIS_STREAM_KERNEL)
		recorder_futexes_look(r, &walk);
	err = packet_walk_run(&walk, packet, (uint32_t)(packet->content_size / 8), s->stored);
	r->stored += walk.records;
	return err || walk.lives;
}

static int stream_put_counted(struct recorder *r, struct recorder_stream *s,
			      const struct jis_packet_header *packet)
{
	int err = recorder_stream_put(r, s, packet, false);

	if (err)
		return err;
	if (stream_count(r, s, packet))
		recorder_fail(r, thread_table_add_packet(r->threads, 0, packet, 0));
	return 0;
}

static int stream_packet(struct recorder *r, struct recorder_stream *s,
			 const struct jis_packet_header *packet)
{
	return r->error ? r->error : stream_put_counted(r, s, packet);
}

void recorder_stream_close(struct recorder *r, struct recorder_stream *s)
{
	if (s->writer)
		recorder_fail(r, stream_writer_close(s->writer));
	s->writer = NULL;
}

/* A snapshot's begins with the marks of the session, else it begins now. */
static int own_stream_begin(struct recorder *r)
{
	const struct recorder_mark *marks = r->params.marks;
	uint64_t begin = clock_now(r->params.clock) - r->params.base;
	struct recorder_stream *s = &r->own;
	uint32_t i;
	int err;

	s->stream_class = JIS_STREAM_RECORDER;
	err = packet_builder_init(&r->builder, OWN_PACKET, JIS_STREAM_RECORDER, 0,
				  r->params.kernel_uuid);
	if (!err)
		err = recorder_stream_make(r, s, r->kernel_fd, "kernel", "recorder");
	if (!err)
		err = packet_builder_open(&r->builder, r->params.nr_marks ? marks->time : begin);
	if (!err)
		err = recorder_flush(r);
	for (i = 0; !err && i < r->params.nr_marks; i++) {
		struct jis_ev_session_mark ev = {.mark = marks[i].mark};

		recorder_event(r, JIS_EV_session_mark, marks[i].time, &ev, sizeof(ev), NULL);
	}
	return err;
}

static int recorder_init(struct recorder *r, const struct recorder_params *params)
{
	uint32_t i;

	r->params = *params;
	r->dirfd = r->kernel_fd = r->reserve_fd = -1;
	r->last_process = &r->processes;
	r->first = UINT64_MAX;
	r->directory = strdup(params->directory);
	r->command = params->command ? strdup(params->command) : NULL;
	r->syscalls = params->syscalls ? strdup(params->syscalls) : NULL;
	r->cpus = calloc(params->nr_cpus, sizeof(*r->cpus));
	r->threads = thread_table_new();
	if (!r->directory || (params->command && !r->command) ||
	    (params->syscalls && !r->syscalls) || !r->cpus || !r->threads)
		return -ENOMEM;
	for (i = 0; i < params->nr_cpus; i++) {
		r->cpus[i].stream_class = JIS_STREAM_KERNEL;
		r->cpus[i].instance = i;
	}
	return recorder_flight_init(r);
}

int recorder_create(const struct recorder_params *params, struct recorder **out)
{
	struct recorder *r = calloc(1, sizeof(*r));
	struct clock_reading first;
	int err;

	if (!r)
		return -ENOMEM;
	err = recorder_init(r, params);
	if (!err)
		err = directory_make(r);
	if (err)
		goto err_close;
	err = reserve_make(r);
	if (!err)
		err = own_stream_begin(r);
	if (err)
		goto err_close;
	clock_read_all(params->clock, params->base, &first);
	recorder_clock(r, &first);
	err = recorder_metadata(r, NULL);
	if (!err)
		err = recorder_manifest(r, false, first.sample.ticks, first.sample.ticks, NULL);
	if (err)
		goto err_close;
	*out = r;
	return 0;

err_close:
	recorder_discard(r);
	recorder_close(r);
	return err;
}

int recorder_dirfd(const struct recorder *r)
{
	return r->dirfd;
}

int recorder_kernel_packet(struct recorder *r, uint32_t cpu, const struct jis_packet_header *packet)
{
	struct recorder_stream *s = &r->cpus[cpu];
	char name[32];
	int err;

	if (r->error)
		return r->error;
	if (r->keeping) {
		history_add(r->kernel_history, cpu, packet, false, false);
		return 0;
	}
	snprintf(name, sizeof(name), "cpu-%u", cpu);
	err = recorder_stream_make(r, s, r->kernel_fd, "kernel", name);
	if (err)
		return recorder_fail(r, err);
	if (!r->params.flight)
		return stream_packet(r, s, packet);
	err = recorder_flight_put(r, NULL, s, packet);
	return err ? err : recorder_fail(r, thread_table_add_packet(r->threads, 0, packet, 0));
}

int recorder_flush(struct recorder *r)
{
	struct jis_packet_header *packet;
	struct packet_walk walk;
	int err;

	if (r->error && !r->finishing)
		return r->error; /* it waits for the room the reserve gives back */
	packet = packet_builder_close(&r->builder, 0);
	err = packet ? stream_put_counted(r, &r->own, packet) : 0;
	if (!err) {
		err = recorder_futexes_flush(r);
		if (!err && !r->error)
			err = recorder_fail(r, reserve_grow(r));
		return r->error ? r->error : err;
	}
	packet_walk_begin(&walk, packet, UINT64_MAX);
	packet_walk_run(&walk, packet, (uint32_t)(packet->content_size / 8), r->own.lost);
	return err;
}

void recorder_event(struct recorder *r, uint32_t id, uint64_t time, const void *payload,
		    uint32_t len, const char *text)
{
	int err = packet_builder_add(&r->builder, id, time, payload, len, text);

	if (err == -ENOSPC) {
		recorder_flush(r);
		err = packet_builder_add(&r->builder, id, time, payload, len, text);
	}
	r->own.produced[id]++;
	r->own.lost[id] += err != 0;
	r->produced++;
}

/* Half of the readings between first and last go when there is no more room. */
static void clocks_thin(struct recorder *r)
{
	uint32_t i, n = 1;

	for (i = 2; i < r->nr_clocks; i += 2)
		r->clocks[n++] = r->clocks[i];
	r->nr_clocks = n;
}

void recorder_clock(struct recorder *r, const struct clock_reading *reading)
{
	const struct clock_sample *s = &reading->sample;
	struct jis_ev_clock_sync ev = {
		.tsc = reading->tsc,
		.monotonic_raw = s->monotonic_raw,
		.monotonic = s->monotonic,
		.boottime = s->boottime,
		.realtime = s->realtime,
		.uncertainty = s->uncertainty,
	};

	recorder_event(r, JIS_EV_clock_sync, s->ticks, &ev, sizeof(ev), NULL);
	if (r->nr_clocks == CLOCKS_MAX)
		clocks_thin(r);
	r->clocks[r->nr_clocks++] = *s;
}

static void list_add(char ***list, uint32_t *nr, const char *text)
{
	char **more;

	if (*nr >= NOTES_MAX)
		return;
	more = realloc(*list, (*nr + 1) * sizeof(*more));
	if (!more)
		return;
	*list = more;
	more[*nr] = strdup(text);
	*nr += more[*nr] != NULL;
}

static void list_free(char **list, uint32_t nr)
{
	uint32_t i;

	for (i = 0; i < nr; i++)
		free(list[i]);
	free(list);
}

void recorder_note(struct recorder *r, const char *text)
{
	list_add(&r->notes, &r->nr_notes, text);
}

void recorder_filter(struct recorder *r, const char *text)
{
	list_add(&r->filters, &r->nr_filters, text);
	/* So that `jis recover` knows it. */
	recorder_manifest(r, false, r->clocks[0].ticks, r->clocks[0].ticks, NULL);
}

/* LOST records for what no packet of the stream has told. */
static void stream_tell_lost(struct recorder *r, struct recorder_stream *s, uint64_t now)
{
	struct jis_packet_header *packet;
	struct packet_builder b;

	if (r->error || !s->writer ||
	    packet_builder_init(&b, OWN_PACKET, s->stream_class, s->instance,
				r->params.kernel_uuid))
		return;
	b.sequence = s->next_seq;
	b.last = s->end;
	b.proto.flags = JIS_PACKET_RECOVERED;
	s->produced[JIS_EV_lost_records] +=
		lost_tell(&b, s->lost, s->told, s->end, now, s->discarded);
	packet = packet_builder_close(&b, 0);
	if (packet)
		stream_packet(r, s, packet);
	packet_builder_fini(&b);
}

/* What the module had no room to note, told with the first CPU. */
static void refusals_tell(struct recorder *r, const struct backend_counts *counts)
{
	char text[256];

	if (counts->threads_refused) {
		snprintf(text, sizeof(text),
			 "the module had no room to keep notes of %llu threads: what is known of "
			 "them is less",
			 (unsigned long long)counts->threads_refused);
		recorder_note(r, text);
	}
	if (counts->queues_refused) {
		snprintf(text, sizeof(text),
			 "the module had %llu times no room to note a run queue of a cgroup: that "
			 "a quota kept its threads from a CPU is not in the trace",
			 (unsigned long long)counts->queues_refused);
		recorder_note(r, text);
	}
}

void recorder_kernel_end(struct recorder *r, uint32_t cpu, const struct backend_counts *counts,
			 uint64_t now)
{
	struct recorder_stream *s = &r->cpus[cpu];
	uint64_t missing = 0, odd = 0;
	char text[256];
	uint32_t i;

	refusals_tell(r, counts);
	if (r->params.flight) { /* only what is in the trace counts */
		r->clock_steps += counts->clock_steps;
		return;
	}
	memcpy(s->produced, counts->produced, sizeof(s->produced));
	memcpy(s->lost, counts->lost, sizeof(s->lost));
	r->clock_steps += counts->clock_steps;
	stream_tell_lost(r, s, now);
	for (i = 0; i < JIS_MAX_EVENT_ID; i++) {
		uint64_t accounted = s->stored[i] + s->lost[i];

		if (s->produced[i] > accounted)
			missing += s->produced[i] - accounted;
		else
			odd += accounted - s->produced[i];
		if (r->error && s->produced[i] > accounted) /* could not be written */
			s->lost[i] += s->produced[i] - accounted;
		r->produced += s->produced[i];
		r->lost += s->lost[i];
	}
	if ((missing && !r->error) || odd) {
		snprintf(
			text, sizeof(text),
			"kernel/cpu-%u: the counters do not add up: %llu records are missing, %llu "
			"are too many",
			cpu, (unsigned long long)missing, (unsigned long long)odd);
		recorder_note(r, text);
	}
	s->counted = true;
}

uint64_t recorder_bytes(const struct recorder *r)
{
	return r->bytes;
}

uint64_t recorder_produced(const struct recorder *r)
{
	return r->produced;
}

uint64_t recorder_stored(const struct recorder *r)
{
	return r->stored;
}

uint64_t recorder_lost(const struct recorder *r)
{
	return r->lost;
}

uint32_t recorder_processes(const struct recorder *r)
{
	return r->nr_processes;
}

int recorder_error(const struct recorder *r)
{
	return r->error;
}

int recorder_finish(struct recorder *r, uint64_t begin, uint64_t end, const char *reason)
{
	const struct recorder_process *p;
	uint32_t i;
	int err;

	recorder_reserve_drop(r);
	r->finishing = true;
	recorder_flush(r);
	for (i = 0; i < r->params.nr_cpus; i++)
		recorder_stream_close(r, &r->cpus[i]);
	recorder_stream_close(r, &r->own);
	r->own.counted = true;
	for (i = 0; i < JIS_MAX_EVENT_ID; i++)
		r->lost += r->own.lost[i];
	err = recorder_metadata(r, NULL);
	for (p = r->processes; p; p = p->next) {
		int e = recorder_metadata(r, p);

		err = err ? err : e;
	}
	recorder_fail(r, err);
	recorder_fail(r, recorder_manifest(r, true, begin, end, reason));
	return r->error;
}

void recorder_close(struct recorder *r)
{
	uint32_t i;

	if (!r)
		return;
	for (i = 0; r->cpus && i < r->params.nr_cpus; i++)
		recorder_stream_close(r, &r->cpus[i]);
	recorder_stream_close(r, &r->own);
	while (r->processes) {
		struct recorder_process *p = r->processes;

		r->processes = p->next;
		recorder_process_free(p);
	}
	packet_builder_fini(&r->builder);
	recorder_flight_fini(r);
	free(r->names_given);
	free(r->seen);
	thread_table_free(r->threads);
	list_free(r->notes, r->nr_notes);
	list_free(r->filters, r->nr_filters);
	free(r->cpus);
	free(r->directory);
	free(r->command);
	free(r->syscalls);
	if (r->kernel_fd >= 0)
		close(r->kernel_fd);
	recorder_reserve_drop(r);
	if (r->dirfd >= 0)
		close(r->dirfd);
	free(r);
}
