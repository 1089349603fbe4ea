/* SPDX-License-Identifier: MIT */
/* Lists of all sessions behind one another, with the numbers that they have in the merged one. */
#include "merge_tables.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "trace/write.h"

static char *copy(const char *text)
{
	return text ? strdup(text) : NULL;
}

/* Text ---------------------------------------------------------------------------------------- */

/* Adds @text to a list of strings that ends with NULL. */
static int strings_add(char ***list, char *text)
{
	size_t n = 0;
	char **grown;

	while (*list && (*list)[n])
		n++;
	grown = text ? realloc(*list, (n + 2) * sizeof(**list)) : NULL;
	if (!grown) {
		free(text);
		return -ENOMEM;
	}
	grown[n] = text;
	grown[n + 1] = NULL;
	*list = grown;
	return 0;
}

static bool strings_have(char *const *list, const char *text)
{
	for (; list && *list; list++)
		if (!strcmp(*list, text))
			return true;
	return false;
}

/* What of @list is not in *to yet. */
static int strings_unite(char ***to, char *const *list)
{
	int err = 0;

	for (; !err && list && *list; list++)
		if (!strings_have(*to, *list))
			err = strings_add(to, strdup(*list));
	return err;
}

/* All of @list, with whose it is before it. */
static int strings_append(char ***to, char *const *list, const char *whose)
{
	int err = 0;

	for (; !err && list && *list; list++) {
		char *text;

		if (asprintf(&text, "%s: %s", whose, *list) < 0)
			return -ENOMEM;
		err = strings_add(to, text);
	}
	return err;
}

/* Is @text one of those that @list has, with ", " between them? */
static bool text_has(const char *list, const char *text)
{
	size_t n = strlen(text);

	for (const char *at = strstr(list, text); at; at = strstr(at + 1, text))
		if ((at == list || (at > list + 1 && at[-1] == ' ' && at[-2] == ',')) &&
		    (!at[n] || at[n] == ','))
			return true;
	return false;
}

/* What the sessions say, each once: "a, b". */
static int text_unite(char **to, const char *text)
{
	char *joined;

	if (!text || (*to && text_has(*to, text)))
		return 0;
	if (!*to) {
		*to = strdup(text);
		return *to ? 0 : -ENOMEM;
	}
	if (asprintf(&joined, "%s, %s", *to, text) < 0)
		return -ENOMEM;
	free(*to);
	*to = joined;
	return 0;
}

/* The last part of a path, without slashes behind it. */
static char *base_name(const char *path)
{
	size_t end = strlen(path), begin;

	while (end > 1 && path[end - 1] == '/')
		end--;
	for (begin = end; begin && path[begin - 1] != '/';)
		begin--;
	return strndup(path + begin, end - begin);
}

/* Lists -------------------------------------------------------------------------------------- */

static const struct manifest *manifest_of(const struct hosts_merge *m, uint32_t i)
{
	return m->sessions[i].trace->manifest;
}

static bool lists_alloc(const struct hosts_merge *m, struct manifest *to)
{
	uint64_t processes = 1, threads = 1, foreigners = 1, streams = 1;

	for (uint32_t i = 0; i < m->nr; i++) {
		processes += manifest_of(m, i)->nr_processes;
		threads += manifest_of(m, i)->nr_threads;
		foreigners += manifest_of(m, i)->nr_foreigners;
		streams += manifest_of(m, i)->nr_streams;
	}
	to->processes = calloc(processes, sizeof(*to->processes));
	to->threads = calloc(threads, sizeof(*to->threads));
	to->foreigners = calloc(foreigners, sizeof(*to->foreigners));
	to->streams = calloc(streams, sizeof(*to->streams));
	to->hosts = calloc(m->nr, sizeof(*to->hosts));
	return to->processes && to->threads && to->foreigners && to->streams && to->hosts;
}

/* The nearest there is. */
static int64_t difference(int64_t a, int64_t b)
{
	int64_t d;

	if (__builtin_sub_overflow(a, b, &d))
		return b < 0 ? INT64_MAX : INT64_MIN;
	return d;
}

struct manifest *tables_new(const struct hosts_merge *m, const char *version)
{
	const struct manifest *first = manifest_of(m, 0);
	struct manifest *to = manifest_new();

	if (!to)
		return NULL;
	to->complete = true;
	to->all_switches = true;
	to->jis_version = strdup(version);
	to->machine = copy(first->machine);
	to->stop_reason = strdup("merged");
	to->clock = first->clock;
	to->frequency = first->frequency;
	to->base = first->base - (uint64_t)m->shift;
	to->realtime_offset =
		difference(first->realtime_offset, clock_bounded((__int128)m->shift * 1000000000 /
								 (int64_t)first->frequency));
	to->flush_ms = first->flush_ms;
	to->begin = UINT64_MAX;
	if (!lists_alloc(m, to) || getrandom(to->uuid, sizeof(to->uuid), 0) != sizeof(to->uuid) ||
	    getrandom(to->kernel_uuid, sizeof(to->kernel_uuid), 0) != sizeof(to->kernel_uuid)) {
		manifest_free(to);
		return NULL;
	}
	return to;
}

/* "host1-jvm-12-34"; of the first host as it is. */
static char *directory_of(uint32_t host, const char *name, size_t n)
{
	char *text;

	if (!host)
		return strndup(name, n);
	return asprintf(&text, "host%u-%.*s", host, (int)n, name) < 0 ? NULL : text;
}

static int processes_add(const struct hosts_merge *m, uint32_t i, const struct renumber *r,
			 struct manifest *to)
{
	const struct manifest *from = manifest_of(m, i);

	for (uint32_t k = 0; k < from->nr_processes; k++) {
		const struct process_entry *p = &from->processes[k];
		struct process_entry *out = &to->processes[to->nr_processes++];

		*out = *p;
		out->pid = renumber_tid(r, p->pid);
		out->ns_pid = p->ns_pid ? p->ns_pid : p->pid;
		out->name = copy(p->name);
		out->vm = copy(p->vm);
		out->given_name = copy(p->given_name);
		out->directory =
			p->directory ? directory_of(i, p->directory, strlen(p->directory)) : NULL;
		if (!out->name || (p->directory && !out->directory))
			return -ENOMEM;
	}
	return 0;
}

static int threads_add(const struct hosts_merge *m, uint32_t i, struct renumber *r,
		       struct manifest *to)
{
	const struct manifest *from = manifest_of(m, i);

	for (uint32_t k = 0; k < from->nr_threads; k++) {
		const struct thread_entry *t = &from->threads[k];
		struct thread_entry *out = &to->threads[to->nr_threads++];

		*out = *t;
		out->tid = renumber_tid(r, t->tid);
		out->pid = renumber_tid(r, t->pid);
		out->parent_tid = renumber_tid(r, t->parent_tid);
		/* Its process calls it as it did. */
		out->ns_tid = t->ns_tid ? t->ns_tid : t->tid;
		out->birth = renumber_time(r, t->birth);
		out->first_seen = renumber_time(r, t->first_seen);
		out->death = renumber_time(r, t->death);
		out->name = copy(t->name);
		out->comm = copy(t->comm);
		out->group = copy(t->group);
		if (!out->name || !out->comm)
			return -ENOMEM;
	}
	for (uint32_t k = 0; k < from->nr_foreigners; k++) {
		const struct foreign_entry *f = &from->foreigners[k];
		struct foreign_entry *out = &to->foreigners[to->nr_foreigners++];

		*out = (struct foreign_entry){renumber_tid(r, f->tid), renumber_tid(r, f->pid),
					      renumber_time(r, f->time), copy(f->comm)};
		if (!out->comm)
			return -ENOMEM;
	}
	return 0;
}

/* Of the first only: what the others' say is of their clocks. */
static int clocks_add(struct renumber *r, const struct manifest *from, struct manifest *to)
{
	if (r->host || !from->nr_clocks)
		return 0;
	to->clocks = calloc(from->nr_clocks, sizeof(*to->clocks));
	if (!to->clocks)
		return -ENOMEM;
	for (uint32_t k = 0; k < from->nr_clocks; k++) {
		to->clocks[k] = from->clocks[k];
		to->clocks[k].ticks = renumber_time(r, from->clocks[k].ticks);
	}
	to->nr_clocks = from->nr_clocks;
	return 0;
}

static int64_t offset_of(const struct hosts_merge *m, uint32_t i, uint64_t begin,
			 const struct manifest *to)
{
	const struct manifest *from = manifest_of(m, i);

	return difference(manifest_realtime(from, from->begin), manifest_realtime(to, begin));
}

static int host_add(struct hosts_merge *m, uint32_t i, struct renumber *r, struct manifest *to)
{
	const struct manifest *from = manifest_of(m, i);
	const struct aligned *a = &m->aligned[i];
	struct host_entry *h = &to->hosts[to->nr_hosts++];

	h->name = strdup(from->hostname && *from->hostname ? from->hostname : "?");
	h->session = base_name(m->sessions[i].path);
	h->kernel_release = copy(from->kernel_release);
	h->backend = copy(from->backend);
	memcpy(h->uuid, from->uuid, sizeof(h->uuid));
	h->first_cpu = r->first_cpu;
	h->nr_cpus = from->nr_cpus;
	h->begin = renumber_time(r, from->begin);
	h->end = renumber_time(r, from->end);
	h->clock = a->clock;
	h->parent = a->parent;
	h->calls = a->calls;
	h->offset = offset_of(m, i, h->begin, to);
	h->drift = llround(a->fit.drift * 1e9);
	h->steps = a->fit.nr_steps;
	to->begin = h->begin < to->begin ? h->begin : to->begin;
	to->end = h->end > to->end ? h->end : to->end;
	to->nr_cpus += from->nr_cpus;
	return h->name && h->session ? 0 : -ENOMEM;
}

/* What holds for all of them, and what for one. */
static int facts_add(const struct hosts_merge *m, uint32_t i, struct manifest *to)
{
	const struct manifest *from = manifest_of(m, i);
	const char *host = to->hosts[i].session;
	int err;

	to->recovered |= from->recovered;
	to->all_switches &= from->all_switches;
	to->clock_steps += from->clock_steps;
	to->refused += from->refused;
	err = text_unite(&to->hostname, from->hostname);
	err = err ? err : text_unite(&to->kernel_release, from->kernel_release);
	err = err ? err : text_unite(&to->backend, from->backend);
	err = err ? err : text_unite(&to->syscalls, from->syscalls);
	err = err ? err : strings_unite(&to->missing, from->missing);
	err = err ? err : strings_unite(&to->events, from->events);
	err = err ? err : strings_append(&to->filters, from->filters, host);
	return err ? err : strings_append(&to->notes, from->notes, host);
}

int tables_damage(struct manifest *to, const char *path, uint64_t begin, uint64_t end,
		  const char *reason)
{
	struct damage_entry *grown =
		realloc(to->damages, (to->nr_damages + 1ull) * sizeof(*to->damages));

	if (!grown)
		return -ENOMEM;
	to->damages = grown;
	grown[to->nr_damages] = (struct damage_entry){strdup(path), begin, end, strdup(reason)};
	if (!grown[to->nr_damages].path || !grown[to->nr_damages].reason) {
		free(grown[to->nr_damages].path);
		free(grown[to->nr_damages].reason);
		return -ENOMEM;
	}
	to->nr_damages++;
	return 0;
}

/* The path that stream @path of host @i has. */
static char *path_of(const struct hosts_merge *m, uint32_t i, const char *path,
		     uint32_t stream_class, uint64_t instance)
{
	size_t n = strcspn(path, "/");
	char *directory, *text = NULL;
	int len;

	if (stream_class == JIS_STREAM_KERNEL) {
		len = asprintf(&text, "kernel/cpu-%llu",
			       (unsigned long long)instance + m->sessions[i].first_cpu);
		return len < 0 ? NULL : text;
	}
	if (stream_class == JIS_STREAM_RECORDER) {
		len = i ? asprintf(&text, "%s-%u", path, i) : asprintf(&text, "%s", path);
		return len < 0 ? NULL : text;
	}
	directory = directory_of(i, path, n);
	len = directory ? asprintf(&text, "%s%s", directory, path + n) : -1;
	free(directory);
	return len < 0 ? NULL : text;
}

int tables_stream(const struct hosts_merge *m, uint32_t i, const struct stream_entry *in,
		  struct stream_entry *out)
{
	*out = *in;
	out->packets = out->next_seq = 0;
	out->unread = 0;
	out->damages = 0;
	out->damage = NULL;
	if (in->stream_class == JIS_STREAM_KERNEL)
		out->instance = in->instance + m->sessions[i].first_cpu;
	else if (in->stream_class == JIS_STREAM_RECORDER)
		out->instance = i;
	out->path = path_of(m, i, in->path, in->stream_class, in->instance);
	return out->path ? 0 : -ENOMEM;
}

static int damages_add(const struct hosts_merge *m, uint32_t i, struct renumber *r,
		       struct manifest *to)
{
	const struct manifest *from = manifest_of(m, i);
	int err = 0;

	for (uint32_t k = 0; k < from->nr_damages && !err; k++) {
		const struct damage_entry *d = &from->damages[k];
		const struct stream_entry *of = NULL;
		char *path;

		for (uint32_t s = 0; s < from->nr_streams && !of; s++)
			if (!strcmp(from->streams[s].path, d->path))
				of = &from->streams[s];
		path = of ? path_of(m, i, d->path, of->stream_class, of->instance)
			  : strdup(d->path);
		err = path ? tables_damage(to, path, renumber_time(r, d->begin),
					   renumber_time(r, d->end), d->reason)
			   : -ENOMEM;
		free(path);
	}
	return err;
}

int tables_add(struct hosts_merge *m, uint32_t i, struct renumber *r, struct manifest *to)
{
	const struct manifest *from = manifest_of(m, i);
	int err = host_add(m, i, r, to);

	err = err ? err : facts_add(m, i, to);
	err = err ? err : processes_add(m, i, r, to);
	err = err ? err : threads_add(m, i, r, to);
	err = err ? err : clocks_add(r, from, to);
	return err ? err : damages_add(m, i, r, to);
}

/* The end ------------------------------------------------------------------------------------- */

/* How exactly clocks are known, in ticks of the merged session. */
static int errors_add(struct hosts_merge *m, struct manifest *to)
{
	uint64_t nr = 1;

	for (uint32_t i = 0; i < m->check.nr_edges; i++)
		nr += m->check.edges[i].nr;
	to->host_errors = calloc(nr, sizeof(*to->host_errors));
	if (!to->host_errors)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->check.nr_edges; i++) {
		const struct align_edge *e = &m->check.edges[i];
		const struct manifest *from = manifest_of(m, e->a);

		for (uint32_t k = 0; k < e->nr; k++) {
			int64_t ticks = align_ticks(from, e->knots[k].x);
			int64_t at = tick_map_at(&m->aligned[e->a].map, ticks) + m->shift;

			to->host_errors[to->nr_host_errors++] =
				(struct host_error_entry){.host = e->a,
							  .ticks = at < 0 ? 0 : (uint64_t)at,
							  .error = e->knots[k].error,
							  .other = e->b};
		}
	}
	return 0;
}

/* Of more steps of a clock than this it is said how many they are. */
#define STEPS_MAX 100u

/* Where it is not known when a clock was set, in words. */
static int steps_add(struct hosts_merge *m, uint32_t i, struct manifest *to)
{
	const struct clock_fit *fit = &m->aligned[i].fit;
	int err = 0;

	for (uint32_t k = 0; k < fit->nr_steps && k < STEPS_MAX && !err; k++) {
		const struct clock_step *s = &fit->steps[k];
		char *text;

		if (asprintf(&text,
			     "%s: its clock, or that of %s, was set: it went %.6f ms (+-%.6f) %s "
			     "between %.6f s and %.6f s",
			     to->hosts[i].session, to->hosts[to->hosts[i].parent].session,
			     fabs((double)s->by) / 1e6, (double)s->error / 1e6,
			     s->by < 0 ? "back" : "forward", hosts_merge_seconds(m, i, s->from),
			     hosts_merge_seconds(m, i, s->to)) < 0)
			return -ENOMEM;
		err = strings_add(&to->notes, text);
	}
	if (fit->nr_steps > STEPS_MAX && !err) {
		char *text;

		if (asprintf(&text, "%s: its clock, or that of %s, was set %u times more",
			     to->hosts[i].session, to->hosts[to->hosts[i].parent].session,
			     fit->nr_steps - STEPS_MAX) < 0)
			return -ENOMEM;
		err = strings_add(&to->notes, text);
	}
	return err;
}

static int by_pid(const void *a, const void *b)
{
	const struct thread_entry *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->birth != y->birth)
		return x->birth + 1 < y->birth + 1 ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

int tables_finish(struct hosts_merge *m, struct manifest *to)
{
	int err = errors_add(m, to);

	for (uint32_t i = 0; i < m->nr && !err; i++)
		err = steps_add(m, i, to);
	if (to->nr_threads)
		qsort(to->threads, to->nr_threads, sizeof(*to->threads), by_pid);
	return err;
}

static int metadata_of(const struct manifest *to, const struct process_entry *p,
		       const struct host_entry *host, int dirfd)
{
	int64_t seconds = to->realtime_offset / 1000000000;
	int64_t below = to->realtime_offset % 1000000000;
	const char *name = p ? p->directory : "kernel";
	struct metadata_params params = {.kernel = !p,
					 .clock = to->clock,
					 .frequency = to->frequency,
					 .hostname = host ? host->name : to->hostname,
					 .process = p ? p->name : NULL,
					 .pid = p ? p->pid : 0};
	int fd, err;

	if (below < 0) {
		below += 1000000000;
		seconds--;
	}
	params.offset_s = seconds;
	params.offset =
		(uint64_t)((unsigned __int128)(uint64_t)below * to->frequency / 1000000000u);
	memcpy(params.uuid, p ? p->uuid : to->kernel_uuid, sizeof(params.uuid));
	memcpy(params.clock_uuid, to->uuid, sizeof(params.clock_uuid));
	fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno; /* no stream of it */
	err = metadata_write(fd, &params);
	close(fd);
	return err;
}

int tables_metadata(const struct manifest *to, int dirfd)
{
	int err = metadata_of(to, NULL, NULL, dirfd);

	for (uint32_t i = 0; i < to->nr_processes && !err; i++) {
		const struct process_entry *p = &to->processes[i];

		if (p->directory)
			err = metadata_of(to, p, &to->hosts[manifest_host_of_tid(to, p->pid)],
					  dirfd);
	}
	return err;
}
