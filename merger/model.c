/* SPDX-License-Identifier: MIT */
/*
 * The model over a session on disk: opens the trace, merges its streams and feeds the model. Knows
 * files and the reading loop; knows nothing of what events mean.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model_int.h"

#define PROGRESS_EVERY (1u << 20)

/* The trace is opened before the model exists. */
struct model_opening {
	struct model *m;
};

static void on_packet(void *ctx, struct stream_cursor *c, const struct jis_packet_header *header)
{
	struct model_opening *o = ctx;
	struct jis_packet_header aligned;

	if (!o->m)
		return;
	/* In the file a packet begins at a multiple of 4 only. */
	memcpy(&aligned, (const void *)header, sizeof(aligned));
	trace_note_packet(o->m->trace, c);
	model_packet(o->m, c, &aligned);
}

static void on_damage(void *ctx, struct stream_cursor *c, uint64_t begin, uint64_t end,
		      uint64_t offset, uint64_t length, const char *reason)
{
	struct model_opening *o = ctx;

	if (!o->m)
		return;
	trace_note_damage(o->m->trace, c, reason);
	loss_add(o->m, c, begin, end, 0, reason);
	o->m->streams[c - o->m->stream_base].damaged = true;
}

/* Streams whose files cannot be opened: all of them is missing. */
static void unread_add(struct model *m, const struct trace *t)
{
	for (uint32_t i = 0; i < t->nr_streams; i++) {
		if (t->manifest->streams[i].unread)
			loss_add(m, &t->streams[i], t->manifest->begin, t->manifest->end, 0,
				 "the stream's file cannot be read");
	}
}

static uint64_t bytes_of(const struct trace *t)
{
	uint64_t total = 0;
	struct stat st;

	for (uint32_t i = 0; i < t->manifest->nr_streams; i++) {
		if (t->manifest->streams[i].path &&
		    !fstatat(t->dirfd, t->manifest->streams[i].path, &st, AT_SYMLINK_NOFOLLOW))
			total += (uint64_t)st.st_size;
	}
	return total;
}

int model_open(const char *path, const struct model_options *options, struct model **out)
{
	struct model_opening *o = calloc(1, sizeof(*o));
	const struct stream_observer observer = {.packet = on_packet,
						 .damage = on_damage,
						 .ctx = o};
	struct trace *trace;
	struct model *m;
	int err;

	if (!o)
		return -ENOMEM;
	err = trace_open(path, &observer, &trace);
	if (err)
		goto err_free;
	err = model_new(trace->manifest, options, trace->streams, trace->nr_streams, &m);
	if (err)
		goto err_close;
	err = vthreads_scan(m, trace);
	if (err)
		goto err_model;
	unread_add(m, trace);
	o->m = m;
	m->opening = o;
	m->trace = trace;
	m->bytes_total = bytes_of(trace);
	*out = m;
	return 0;

err_model:
	model_free(m);
err_close:
	trace_close(trace);
err_free:
	free(o);
	return err;
}

void model_close(struct model *m)
{
	if (!m)
		return;
	if (m->trace)
		trace_close(m->trace);
	free(m->opening);
	model_free(m);
}

static int progress(struct model *m)
{
	if (!m->options.progress)
		return 0;
	if (m->bytes_done > m->bytes_total)
		m->bytes_total = m->bytes_done;
	return m->options.progress(m->options.progress_ctx, m->bytes_done, m->bytes_total) ? -EINTR
											   : 0;
}

/* Feeds the model until the end of trace or window. */
static int feed_all(struct model *m, struct merge *merge)
{
	struct stream_cursor *c;

	while ((c = merge_next(merge))) {
		int err = model_feed(m, c);

		if (!err && m->counts.events % PROGRESS_EVERY == 0)
			err = progress(m);
		if (err)
			return err;
		if (m->to_given && m->now >= m->info.end) {
			losses_behind(m);
			break;
		}
	}
	return 0;
}

int model_run(struct model *m, const struct model_sink *const *sinks, uint32_t nr_sinks)
{
	struct merge *merge;
	int err = model_begin(m, sinks, nr_sinks);

	if (err)
		return err;
	err = merge_open(m->trace->streams, m->trace->nr_streams, &merge);
	if (err)
		return err;
	err = feed_all(m, merge);
	m->counts.backward_steps = merge_backward_steps(merge);
	if (!err)
		err = model_finish(m);
	if (!err)
		err = progress(m);
	merge_close(merge);
	return err;
}
