/* SPDX-License-Identifier: MIT */
/* The Paraver export as a whole: opens the files, is the sink, closes or removes what it made. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "prv_int.h"

static const char *prv_ending(const struct paraver *p)
{
	return p->options.gzip ? ".prv.gz" : ".prv";
}

/* Files have this behind their names until all of them are whole. */
#define PART ".part"

/* BASE + ending + suffix, to be freed. */
static char *path_of(const struct paraver *p, const char *ending, const char *suffix)
{
	size_t len = strlen(p->base) + strlen(ending) + strlen(suffix) + 1;
	char *path = malloc(len);

	if (path)
		snprintf(path, len, "%s%s%s", p->base, ending, suffix);
	return path;
}

/* Gives the three files their names (@keep), or removes them. Returns 0 or the first error. */
static int parts_end(const struct paraver *p, bool keep)
{
	const char *const endings[] = {prv_ending(p), ".pcf", ".row"};
	int err = 0;

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		char *part = path_of(p, endings[i], PART), *path = path_of(p, endings[i], "");

		if (!part || !path)
			err = -ENOMEM;
		else if (keep && rename(part, path) && !err)
			err = -errno;
		else if (!keep)
			unlink(part);
		free(part);
		free(path);
	}
	return err;
}

static int on_begin(void *ctx, const struct model_info *info)
{
	struct paraver *p = ctx;
	char *header;
	int err;

	p->info = info;
	err = objects_init(p);
	if (err)
		return err;
	header = objects_header(p);
	if (!header)
		return -ENOMEM;
	err = out_text(p->out, header, strlen(header));
	free(header);
	return err;
}

static int write_file(const struct paraver *p, const char *ending,
		      int (*writer)(const struct paraver *p, FILE *f))
{
	char *path = path_of(p, ending, PART);
	FILE *f = path ? fopen(path, "we") : NULL;
	int err = path ? 0 : -ENOMEM;

	if (path && !f)
		err = -errno;
	free(path);
	if (err)
		return err;
	err = writer(p, f);
	if (fclose(f) && !err)
		err = -errno;
	return err;
}

static int on_end(void *ctx, const struct model_counts *counts)
{
	struct paraver *p = ctx;
	int err;

	p->stats.lines = out_lines(p->out) + 1;
	err = out_finish(p->out);
	p->stats.bytes = out_bytes(p->out);
	if (!err)
		err = write_file(p, ".pcf", pcf_write);
	if (!err)
		err = write_file(p, ".row", row_write);
	if (!err)
		err = parts_end(p, true);
	p->complete = !err;
	return err;
}

static void sink_init(struct paraver *p)
{
	p->sink.begin = on_begin;
	p->sink.state = prv_state;
	p->sink.wait = prv_wait;
	p->sink.steal = prv_steal;
	p->sink.event = prv_event;
	p->sink.vstate = prv_vstate;
	p->sink.task = prv_task;
	p->sink.remote_end = prv_remote;
	p->sink.link = prv_link;
	p->sink.call_begin = prv_call_begin;
	p->sink.call_end = prv_call_end;
	p->sink.wants_reasons = true;
	p->sink.end = on_end;
	if (p->options.wakeups != PARAVER_WAKEUPS_NONE)
		p->sink.wakeup = prv_wakeup;
	if (p->options.cpu_rows || p->options.wakeups == PARAVER_WAKEUPS_ALL)
		p->sink.cpu = prv_cpu;
	p->sink.ctx = p;
}

int paraver_open(const struct model *model, const struct paraver_options *options,
		 struct paraver **out)
{
	struct paraver *p = calloc(1, sizeof(*p));
	uint64_t memory = options->sort_memory ? options->sort_memory : 64u << 20;
	char *path = NULL;
	int err = -ENOMEM;

	if (!p)
		return -ENOMEM;
	p->options = *options;
	p->model = model;
	p->upper = UINT64_MAX / 2; /* no time is near: the first one sets it */
	p->base = strdup(options->base);
	if (!p->base || markers_init(p))
		goto err_free;
	path = path_of(p, prv_ending(p), PART);
	if (!path)
		goto err_free;
	err = out_open(path, options->gzip, options->sort ? memory : 0, &p->out);
	if (err)
		goto err_free;
	free(path);
	sink_init(p);
	*out = p;
	return 0;

err_free:
	free(path);
	markers_fini(p);
	free(p->base);
	free(p);
	return err;
}

const struct model_sink *paraver_sink(const struct paraver *p)
{
	return &p->sink;
}

const struct paraver_stats *paraver_stats(const struct paraver *p)
{
	return &p->stats;
}

void paraver_close(struct paraver *p)
{
	if (!p)
		return;
	if (!p->complete)
		parts_end(p, false);
	out_close(p->out);
	objects_fini(p);
	markers_fini(p);
	free(p->base);
	free(p);
}
