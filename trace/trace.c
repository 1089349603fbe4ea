/* SPDX-License-Identifier: MIT */
/*
 * A whole session: its manifest and one cursor for each stream the manifest names, in the order the
 * merge wants them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "read.h"

/* Kernel CPUs, then the recorder, then each process's dictionary before its slots. */
static int stream_order(const void *a, const void *b)
{
	static const int rank[JIS_NR_STREAM_CLASSES] = {[JIS_STREAM_KERNEL] = 0,
							[JIS_STREAM_RECORDER] = 1,
							[JIS_STREAM_DICT] = 2,
							[JIS_STREAM_USER] = 3};
	const struct stream_entry *x = a, *y = b;
	int rx = rank[x->stream_class], ry = rank[y->stream_class];

	if (rx != ry)
		return rx - ry;
	if (x->instance != y->instance)
		return x->instance < y->instance ? -1 : 1;
	return strcmp(x->path, y->path);
}

/* 0 for the kernel's, 1 + process index for a process's; the path's directory tells. */
static int trace_of_stream(const struct manifest *m, const struct stream_entry *s, uint32_t *trace)
{
	size_t n = strcspn(s->path, "/");

	*trace = 0;
	if (s->stream_class == JIS_STREAM_KERNEL || s->stream_class == JIS_STREAM_RECORDER)
		return 0;
	for (uint32_t i = 0; i < m->nr_processes; i++) {
		const char *directory = m->processes[i].directory;

		if (directory && strlen(directory) == n && !memcmp(directory, s->path, n)) {
			*trace = i + 1;
			return 0;
		}
	}
	return -EBADMSG;
}

void trace_note_packet(struct trace *t, const struct stream_cursor *c)
{
	t->manifest->streams[c - t->streams].unread = 0;
}

void trace_note_damage(struct trace *t, const struct stream_cursor *c, const char *reason)
{
	struct stream_entry *s = &t->manifest->streams[c - t->streams];

	if (!s->damages++)
		s->damage = reason;
	/* Until a packet comes that is one. */
	if (!c->packet && !s->unread && stream_entry_next_seq(s))
		s->unread = -EBADMSG;
}

static int open_stream(struct trace *t, uint32_t i, const struct stream_observer *observer)
{
	const struct manifest *m = t->manifest;
	struct stream_entry *s = &m->streams[i];
	struct stream_identity identity = {.stream_class = s->stream_class,
					   .instance = s->instance};
	struct stream_cursor *c = &t->streams[i];
	uint32_t trace;
	int err = trace_of_stream(m, s, &trace);

	if (err)
		return err;
	memcpy(identity.uuid, trace ? m->processes[trace - 1].uuid : m->kernel_uuid,
	       sizeof(identity.uuid));
	err = stream_cursor_open(c, t->dirfd, s->path, &identity, observer);
	c->trace = trace;
	stream_cursor_expect(c, stream_entry_next_seq(s));
	s->unread = err;
	if (err && observer && observer->damage)
		observer->damage(observer->ctx, c, m->begin, m->end, 0, 0,
				 "the stream's file cannot be read");
	return err == -ENOMEM ? err : 0;
}

static int open_streams(struct trace *t, const struct stream_observer *observer)
{
	struct manifest *m = t->manifest;
	int err = 0;

	if (m->nr_streams)
		qsort(m->streams, m->nr_streams, sizeof(*m->streams), stream_order);
	/* Each of its records would come twice. */
	for (uint32_t i = 1; i < m->nr_streams; i++)
		if (!stream_order(&m->streams[i - 1], &m->streams[i]))
			return -EBADMSG;
	t->streams = calloc(m->nr_streams + 1, sizeof(*t->streams));
	if (!t->streams)
		return -ENOMEM;
	t->nr_streams = m->nr_streams;
	for (uint32_t i = 0; i < m->nr_streams && !err; i++)
		err = open_stream(t, i, observer);
	return err;
}

int trace_open(const char *path, const struct stream_observer *observer, struct trace **out)
{
	struct trace *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	t->dirfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (t->dirfd < 0) {
		err = -errno;
		free(t);
		return err;
	}
	err = manifest_load(t->dirfd, &t->manifest);
	if (err == -ENOENT)
		err = -ENODATA;
	if (!err && !t->manifest->complete)
		err = -EUCLEAN;
	/* The observer may look at the trace from the first report on. */
	*out = t;
	if (!err)
		err = open_streams(t, observer);
	if (err) {
		*out = NULL;
		trace_close(t);
	}
	return err;
}

void trace_close(struct trace *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->nr_streams; i++)
		stream_cursor_close(&t->streams[i]);
	free(t->streams);
	manifest_free(t->manifest);
	close(t->dirfd);
	free(t);
}
