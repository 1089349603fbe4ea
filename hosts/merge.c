/* SPDX-License-Identifier: MIT */
/* From sessions to clocks; tables.c and this file's end write what comes of it. */
#include "merge.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ends.h"
#include "merge_tables.h"
#include "rewrite.h"
#include "trace/write.h"

#define CPUS_MAX 65535u

static enum merge_refusal refusal(const struct hosts_merge *m, uint32_t i)
{
	const struct manifest *man = m->sessions[i].trace->manifest;
	const struct manifest *first = m->sessions[0].trace->manifest;

	if (man->nr_hosts)
		return MERGE_ALREADY;
	for (uint32_t k = 0; k < i; k++)
		if (!memcmp(m->sessions[k].trace->manifest->uuid, man->uuid, sizeof(man->uuid)))
			return MERGE_TWICE;
	if (man->machine && first->machine && strcmp(man->machine, first->machine) != 0)
		return MERGE_MACHINE;
	if (man->end > CLOCK_FARTHEST / 2)
		return MERGE_CLOCK;
	return m->sessions[i].first_cpu + man->nr_cpus > CPUS_MAX ? MERGE_CPUS : MERGE_FINE;
}

int hosts_merge_open(struct hosts_merge *m, const char *const *paths, uint32_t nr, uint32_t *failed,
		     enum merge_refusal *why)
{
	uint32_t cpus = 0;

	*why = MERGE_FINE;
	*failed = 0;
	*m = (struct hosts_merge){.nr = nr};
	m->sessions = calloc(nr, sizeof(*m->sessions));
	m->aligned = calloc(nr, sizeof(*m->aligned));
	if (!m->sessions || !m->aligned)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		struct merge_session *s = &m->sessions[i];
		int err;

		*failed = i;
		s->path = paths[i];
		err = trace_open(paths[i], NULL, &s->trace);
		if (err)
			return err;
		s->first_cpu = cpus;
		*why = refusal(m, i);
		if (*why)
			return -EINVAL;
		m->aligned[i].manifest = s->trace->manifest;
		cpus += s->trace->manifest->nr_cpus;
	}
	return 0;
}

/* Its ends of calls, behind those before it. */
static int ends_read(struct hosts_merge *m, uint32_t i, const struct model_options *options,
		     struct call_end **all, size_t *nr)
{
	const struct model_sink *sinks[1];
	struct call_ends ends;
	struct call_end *grown;
	struct model *model;
	int err;

	call_ends_init(&ends, i);
	sinks[0] = &ends.sink;
	err = model_open(m->sessions[i].path, options, &model);
	if (err)
		return err;
	err = model_run(model, sinks, 1);
	model_close(model);
	if (!err && ends.nr) {
		grown = realloc(*all, (*nr + ends.nr) * sizeof(**all));
		err = grown ? 0 : -ENOMEM;
		if (grown) {
			*all = grown;
			memcpy(grown + *nr, ends.ends, ends.nr * sizeof(*grown));
			*nr += ends.nr;
		}
	}
	m->sessions[i].alone = ends.alone;
	m->thin = ends.thin > m->thin ? ends.thin : m->thin;
	call_ends_fini(&ends);
	return err;
}

/* No session begins before tick 0 of the merged one. */
static int shift_make(struct hosts_merge *m, uint32_t *failed)
{
	int64_t least = INT64_MAX;

	for (uint32_t i = 0; i < m->nr; i++) {
		const struct manifest *man = m->sessions[i].trace->manifest;
		int64_t begin = tick_map_at(&m->aligned[i].map, (int64_t)man->begin);
		int64_t end = tick_map_at(&m->aligned[i].map, (int64_t)man->end);

		*failed = i;
		if (begin <= -CLOCK_FARTHEST || end >= CLOCK_FARTHEST || end < begin)
			return -ERANGE;
		/* A dump may be older than the begin, and what it tells of older than it. */
		least = begin < least ? begin : least;
	}
	least -= (int64_t)m->sessions[0].trace->manifest->frequency;
	m->shift = least < 0 ? -least : 0;
	return 0;
}

int hosts_merge_align(struct hosts_merge *m, const struct model_options *options, uint32_t *failed)
{
	struct call_end *ends = NULL;
	size_t nr = 0;
	int err = 0;

	m->thin = 1;
	for (uint32_t i = 0; i < m->nr && !err; i++) {
		*failed = i;
		err = ends_read(m, i, options, &ends, &nr);
	}
	if (!err)
		err = align_sessions(m->aligned, m->nr, ends, nr, m->thin, &m->check);
	if (!err)
		err = shift_make(m, failed);
	free(ends);
	return err;
}

double hosts_merge_seconds(struct hosts_merge *m, uint32_t i, int64_t ns)
{
	const struct manifest *man = m->sessions[i].trace->manifest;
	const struct manifest *first = m->sessions[0].trace->manifest;
	struct tick_map *map = &m->aligned[i].map;
	int64_t begin = INT64_MAX;

	for (uint32_t k = 0; k < m->nr; k++) {
		const struct manifest *other = m->sessions[k].trace->manifest;
		int64_t at = tick_map_at(&m->aligned[k].map, (int64_t)other->begin);

		begin = at < begin ? at : begin;
	}
	return (double)(tick_map_at(map, align_ticks(man, ns)) - begin) / (double)first->frequency;
}

/* Writing ------------------------------------------------------------------------------------ */

/* Where damage of a stream goes. */
struct damage_sink {
	struct hosts_merge *m;
	struct manifest *to;
	struct renumber *r;
	const char *path;
	int err;
};

static void on_damage(void *ctx, uint64_t begin, uint64_t end, const char *reason)
{
	struct damage_sink *d = ctx;
	int err;

	d->m->damages++;
	err = tables_damage(d->to, d->path, renumber_time(d->r, begin), renumber_time(d->r, end),
			    reason);
	d->err = d->err ? d->err : err;
}

static int directory_open(int dirfd, const char *path, int *out)
{
	char name[NAME_MAX + 1];
	size_t n = strcspn(path, "/");

	if (n > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(name, path, n);
	name[n] = '\0';
	if (mkdirat(dirfd, name, TRACE_DIRECTORY_MODE) && errno != EEXIST)
		return -errno;
	*out = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return *out < 0 ? -errno : 0;
}

/* Why stream @in cannot be there, or NULL: its CPU would be one of the next session. */
static const char *misplaced(const struct trace *t, const struct stream_entry *in)
{
	return in->stream_class == JIS_STREAM_KERNEL && in->instance >= t->manifest->nr_cpus
		       ? "the stream is of a CPU that its host has not"
		       : NULL;
}

/* What is written of stream @in of @t, whose entry is the last one of @to. */
static int stream_copy(const struct trace *t, uint32_t trace, const struct stream_entry *in,
		       struct damage_sink *sink, int dirfd, bool *written)
{
	const uint8_t *uuid = trace ? t->manifest->processes[trace - 1].uuid : NULL;
	struct stream_entry *entry = &sink->to->streams[sink->to->nr_streams - 1];
	int fd = -1, err = directory_open(dirfd, entry->path, &fd);

	if (err)
		return err;
	err = rewrite_stream(sink->r, t->dirfd, in, uuid ? uuid : t->manifest->kernel_uuid, fd,
			     entry, uuid ? uuid : sink->to->kernel_uuid, on_damage, sink, written);
	close(fd);
	return err;
}

/* Stream @k of session @i, into the entry that the table has for it. */
static int stream_write(struct hosts_merge *m, uint32_t i, uint32_t k, struct renumber *r,
			struct manifest *to, int dirfd, bool *written)
{
	const struct trace *t = m->sessions[i].trace;
	const struct stream_entry *in = &t->manifest->streams[k];
	struct stream_entry *entry = &to->streams[to->nr_streams];
	struct damage_sink sink = {.m = m, .to = to, .r = r};
	const char *why = misplaced(t, in);
	int err;

	*written = true;
	err = tables_stream(m, i, in, entry);
	if (err)
		return err;
	to->nr_streams++;
	sink.path = entry->path;
	if (!why) {
		err = stream_copy(t, t->streams[k].trace, in, &sink, dirfd, written);
		if (err == -EEXIST)
			why = "another stream has its name";
		else if (err && !*written && err != -ENOMEM)
			why = "the stream's file cannot be read";
	}
	if (why) {
		/* All of it is missing. */
		on_damage(&sink, t->manifest->begin, t->manifest->end, why);
		to->nr_streams--;
		free(entry->path);
		memset(entry, 0, sizeof(*entry));
		err = 0;
	}
	return err ? err : sink.err;
}

static int session_write(struct hosts_merge *m, uint32_t i, struct map64 *cgroups,
			 struct manifest *to, int dirfd, uint32_t *failed)
{
	const struct trace *t = m->sessions[i].trace;
	struct renumber r = {.host = i,
			     .first_cpu = m->sessions[i].first_cpu,
			     .nr_cpus = t->manifest->nr_cpus,
			     .map = &m->aligned[i].map,
			     .shift = m->shift,
			     .cgroups = cgroups};
	bool written = true;
	int err = tables_add(m, i, &r, to);

	for (uint32_t k = 0; k < t->nr_streams && !err; k++)
		err = stream_write(m, i, k, &r, to, dirfd, &written);
	m->before += r.before;
	*failed = written ? m->nr : i;
	return err;
}

int hosts_merge_write(struct hosts_merge *m, int dirfd, const char *version, uint32_t *failed)
{
	struct manifest *to = tables_new(m, version);
	struct map64 cgroups = {0};
	int err = to ? 0 : -ENOMEM;

	*failed = m->nr;
	for (uint32_t i = 0; i < m->nr && !err; i++)
		err = session_write(m, i, &cgroups, to, dirfd, failed);
	if (!err) {
		*failed = m->nr;
		err = tables_finish(m, to);
	}
	if (!err)
		err = tables_metadata(to, dirfd);
	if (!err)
		err = manifest_save(dirfd, to);
	map64_free(&cgroups);
	manifest_free(to);
	return err;
}

void hosts_merge_close(struct hosts_merge *m)
{
	for (uint32_t i = 0; m->sessions && i < m->nr; i++)
		trace_close(m->sessions[i].trace);
	if (m->aligned)
		align_fini(m->aligned, m->nr, &m->check);
	free(m->sessions);
	free(m->aligned);
	memset(m, 0, sizeof(*m));
}
