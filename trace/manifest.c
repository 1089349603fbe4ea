/* SPDX-License-Identifier: MIT */
/*
 * The manifest in memory, and its form as JSON. Each struct is described once, by a function that
 * passes over its members; the same pass saves or loads.
 */
#include "manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "manifest_codec.h"
#include "write.h"

/* No list of the manifest may be longer: a bound for hostile files. */
#define LIST_MAX 50000000u
/* Nor the whole file. */
#define FILE_BYTES_MAX (1ll << 30)

/* When loading: members that other code takes for granted. */
static void require(struct codec *c, const char *text)
{
	if (!c->save && !text)
		codec_fail(c);
}

/* A name of one level below the session's directory that is no hidden one. */
static bool is_plain_name(const char *name, size_t n)
{
	return n && name[0] != '.' && !memchr(name, '/', n);
}

/* "DIRECTORY/FILE": what is opened stays below the session's directory. */
static bool is_stream_path(const char *path)
{
	const char *slash = path ? strchr(path, '/') : NULL;

	return slash && is_plain_name(path, (size_t)(slash - path)) &&
	       is_plain_name(slash + 1, strlen(slash + 1));
}

static void thread_codec(struct codec *c, struct json_object *o, void *item)
{
	struct thread_entry *t = item;

	codec_u32(c, o, "tid", &t->tid);
	codec_u32(c, o, "pid", &t->pid);
	codec_u32(c, o, "ns_tid", &t->ns_tid);
	codec_u32(c, o, "parent_tid", &t->parent_tid);
	codec_u64(c, o, "start_time", &t->start_time);
	codec_u64(c, o, "birth", &t->birth);
	codec_u64(c, o, "first_seen", &t->first_seen);
	codec_u64(c, o, "death", &t->death);
	codec_u64(c, o, "java_tid", &t->java_tid);
	codec_u32(c, o, "java_flags", &t->java_flags);
	codec_string(c, o, "name", &t->name);
	codec_string(c, o, "comm", &t->comm);
	codec_string(c, o, "group", &t->group);
	require(c, t->name);
	require(c, t->comm);
}

static void thread_release(void *item)
{
	struct thread_entry *t = item;

	free(t->name);
	free(t->comm);
	free(t->group);
}

static void process_codec(struct codec *c, struct json_object *o, void *item)
{
	struct process_entry *p = item;

	codec_u32(c, o, "pid", &p->pid);
	codec_u32(c, o, "ns_pid", &p->ns_pid);
	codec_u64(c, o, "start_time", &p->start_time);
	codec_string(c, o, "name", &p->name);
	codec_string(c, o, "directory", &p->directory);
	codec_string(c, o, "vm", &p->vm);
	codec_u32(c, o, "vm_version", &p->vm_version);
	codec_uuid(c, o, "uuid", p->uuid);
	codec_string(c, o, "given_name", &p->given_name);
	require(c, p->name);
	if (!c->save && p->directory && !is_plain_name(p->directory, strlen(p->directory)))
		codec_fail(c);
}

static void process_release(void *item)
{
	struct process_entry *p = item;

	free(p->name);
	free(p->directory);
	free(p->vm);
	free(p->given_name);
}

static void foreign_codec(struct codec *c, struct json_object *o, void *item)
{
	struct foreign_entry *f = item;

	codec_u32(c, o, "tid", &f->tid);
	codec_u32(c, o, "pid", &f->pid);
	codec_u64(c, o, "time", &f->time);
	codec_string(c, o, "comm", &f->comm);
	require(c, f->comm);
}

static void foreign_release(void *item)
{
	free(((struct foreign_entry *)item)->comm);
}

static void stream_codec(struct codec *c, struct json_object *o, void *item)
{
	struct stream_entry *s = item;

	codec_string(c, o, "path", &s->path);
	codec_u32(c, o, "class", &s->stream_class);
	codec_u64(c, o, "instance", &s->instance);
	codec_u64(c, o, "packets", &s->packets);
	codec_u64(c, o, "next_seq", &s->next_seq);
	codec_counters(c, o, "produced", s->produced);
	codec_counters(c, o, "stored", s->stored);
	codec_counters(c, o, "lost", s->lost);
	codec_bool(c, o, "clean", &s->clean);
	if (!c->save && (!is_stream_path(s->path) || s->stream_class >= JIS_NR_STREAM_CLASSES))
		codec_fail(c);
}

static void stream_release(void *item)
{
	free(((struct stream_entry *)item)->path);
}

static void damage_codec(struct codec *c, struct json_object *o, void *item)
{
	struct damage_entry *d = item;

	codec_string(c, o, "path", &d->path);
	codec_u64(c, o, "begin", &d->begin);
	codec_u64(c, o, "end", &d->end);
	codec_string(c, o, "reason", &d->reason);
	require(c, d->path);
	require(c, d->reason);
}

static void damage_release(void *item)
{
	struct damage_entry *d = item;

	free(d->path);
	free(d->reason);
}

static void clock_codec(struct codec *c, struct json_object *o, void *item)
{
	struct clock_sample *s = item;

	codec_u64(c, o, "ticks", &s->ticks);
	codec_u64(c, o, "monotonic_raw", &s->monotonic_raw);
	codec_u64(c, o, "monotonic", &s->monotonic);
	codec_u64(c, o, "boottime", &s->boottime);
	codec_u64(c, o, "realtime", &s->realtime);
	codec_u32(c, o, "uncertainty", &s->uncertainty);
}

static void host_codec(struct codec *c, struct json_object *o, void *item)
{
	struct host_entry *h = item;

	codec_string(c, o, "name", &h->name);
	codec_string(c, o, "session", &h->session);
	codec_uuid(c, o, "uuid", h->uuid);
	codec_string(c, o, "kernel_release", &h->kernel_release);
	codec_string(c, o, "backend", &h->backend);
	codec_u32(c, o, "first_cpu", &h->first_cpu);
	codec_u32(c, o, "cpus", &h->nr_cpus);
	codec_u64(c, o, "begin", &h->begin);
	codec_u64(c, o, "end", &h->end);
	codec_u32(c, o, "clock", &h->clock);
	codec_u32(c, o, "parent", &h->parent);
	codec_u64(c, o, "calls", &h->calls);
	codec_s64(c, o, "offset", &h->offset);
	codec_s64(c, o, "drift", &h->drift);
	codec_u64(c, o, "steps", &h->steps);
	require(c, h->name);
	require(c, h->session);
}

static void host_release(void *item)
{
	struct host_entry *h = item;

	free(h->name);
	free(h->session);
	free(h->kernel_release);
	free(h->backend);
}

static void host_error_codec(struct codec *c, struct json_object *o, void *item)
{
	struct host_error_entry *e = item;

	codec_u32(c, o, "host", &e->host);
	codec_u64(c, o, "ticks", &e->ticks);
	codec_u64(c, o, "error", &e->error);
	codec_u32(c, o, "other", &e->other);
}

/* The lists of a manifest, for the codec and for freeing. */
struct list {
	const char *name;
	void **items;
	uint32_t *count;
	size_t size;
	void (*codec)(struct codec *c, struct json_object *o, void *item);
	void (*release)(void *item);
};

#define NR_LISTS 8
#define LIST(manifest, member, kind, release)                                                      \
	{                                                                                          \
#member, (void **)&(manifest)->member, &(manifest)->nr_##member,                   \
			sizeof(*(manifest)->member), kind##_codec, release                         \
	}

static void lists_of(struct manifest *m, struct list lists[NR_LISTS])
{
	const struct list all[NR_LISTS] = {
		LIST(m, clocks, clock, NULL),
		LIST(m, processes, process, process_release),
		LIST(m, threads, thread, thread_release),
		LIST(m, foreigners, foreign, foreign_release),
		LIST(m, streams, stream, stream_release),
		LIST(m, damages, damage, damage_release),
		LIST(m, hosts, host, host_release),
		LIST(m, host_errors, host_error, NULL),
	};

	memcpy(lists, all, sizeof(all));
}

static void list_load(struct codec *c, struct json_object *root, const struct list *list)
{
	struct json_object *array;
	size_t n;

	if (!json_object_object_get_ex(root, list->name, &array))
		return;
	if (!json_object_is_type(array, json_type_array)) {
		codec_fail(c);
		return;
	}
	n = json_object_array_length(array);
	if (!n || n > LIST_MAX) {
		if (n)
			codec_fail(c);
		return;
	}
	*list->items = calloc(n, list->size);
	if (!*list->items) {
		c->error = -ENOMEM;
		return;
	}
	*list->count = (uint32_t)n;
	for (size_t i = 0; i < n && !c->error; i++) {
		struct json_object *o = json_object_array_get_idx(array, i);

		if (json_object_is_type(o, json_type_object))
			list->codec(c, o, (char *)*list->items + i * list->size);
		else
			codec_fail(c);
	}
}

static void list_save(struct codec *c, struct json_object *root, const struct list *list)
{
	struct json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < *list->count; i++) {
		struct json_object *o = json_object_new_object();

		list->codec(c, o, (char *)*list->items + i * list->size);
		json_object_array_add(array, o);
	}
	json_object_object_add(root, list->name, array);
}

static void origin_codec(struct codec *c, struct json_object *o, struct manifest *m)
{
	if (c->save && !manifest_is_snapshot(m))
		return;
	codec_uuid(c, o, "origin_uuid", m->origin_uuid);
	codec_u64(c, o, "origin_begin", &m->origin_begin);
	codec_u64(c, o, "origin_from", &m->origin_from);
	codec_u64(c, o, "origin_to", &m->origin_to);
}

static void manifest_codec(struct codec *c, struct json_object *o, struct manifest *m)
{
	struct list lists[NR_LISTS];

	codec_u32(c, o, "schema", &m->schema_version);
	codec_bool(c, o, "complete", &m->complete);
	codec_bool(c, o, "recovered", &m->recovered);
	codec_string(c, o, "jis_version", &m->jis_version);
	codec_uuid(c, o, "uuid", m->uuid);
	codec_uuid(c, o, "kernel_uuid", m->kernel_uuid);
	codec_uuid(c, o, "boot_id", m->boot_id);
	origin_codec(c, o, m);
	codec_string(c, o, "hostname", &m->hostname);
	codec_string(c, o, "kernel_release", &m->kernel_release);
	codec_string(c, o, "machine", &m->machine);
	codec_string(c, o, "command", &m->command);
	codec_string(c, o, "backend", &m->backend);
	codec_strings(c, o, "missing", &m->missing);
	codec_strings(c, o, "notes", &m->notes);
	codec_strings(c, o, "filters", &m->filters);
	codec_string(c, o, "stop_reason", &m->stop_reason);
	codec_u32(c, o, "clock", &m->clock);
	codec_u64(c, o, "frequency", &m->frequency);
	codec_u64(c, o, "base", &m->base);
	codec_u64(c, o, "begin", &m->begin);
	codec_u64(c, o, "end", &m->end);
	codec_s64(c, o, "realtime_offset", &m->realtime_offset);
	codec_u64(c, o, "clock_steps", &m->clock_steps);
	codec_u32(c, o, "cpus", &m->nr_cpus);
	codec_u32(c, o, "flush_ms", &m->flush_ms);
	codec_bool(c, o, "all_switches", &m->all_switches);
	codec_u64(c, o, "refused", &m->refused);
	codec_string(c, o, "syscalls", &m->syscalls);
	codec_strings(c, o, "events", &m->events);
	lists_of(m, lists);
	for (int i = 0; i < NR_LISTS && !c->error; i++)
		(c->save ? list_save : list_load)(c, o, &lists[i]);
}

struct manifest *manifest_new(void)
{
	struct manifest *m = calloc(1, sizeof(*m));

	if (m)
		m->schema_version = JIS_SCHEMA_VERSION;
	return m;
}

static void strings_free(char **strings)
{
	for (char **s = strings; s && *s; s++)
		free(*s);
	free(strings);
}

void manifest_free(struct manifest *m)
{
	struct list lists[NR_LISTS];

	if (!m)
		return;
	lists_of(m, lists);
	for (int i = 0; i < NR_LISTS; i++) {
		for (uint32_t k = 0; lists[i].release && k < *lists[i].count; k++)
			lists[i].release((char *)*lists[i].items + k * lists[i].size);
		free(*lists[i].items);
	}
	free(m->jis_version);
	free(m->hostname);
	free(m->kernel_release);
	free(m->machine);
	free(m->command);
	free(m->backend);
	free(m->stop_reason);
	free(m->syscalls);
	strings_free(m->missing);
	strings_free(m->events);
	strings_free(m->notes);
	strings_free(m->filters);
	free(m);
}

bool manifest_is_snapshot(const struct manifest *m)
{
	for (unsigned int i = 0; i < sizeof(m->origin_uuid); i++)
		if (m->origin_uuid[i])
			return true;
	return false;
}

void manifest_clear_threads(struct manifest *m)
{
	for (uint32_t i = 0; i < m->nr_threads; i++)
		thread_release(&m->threads[i]);
	for (uint32_t i = 0; i < m->nr_foreigners; i++)
		foreign_release(&m->foreigners[i]);
	free(m->threads);
	free(m->foreigners);
	m->threads = NULL;
	m->foreigners = NULL;
	m->nr_threads = m->nr_foreigners = 0;
}

int manifest_save(int dirfd, const struct manifest *m)
{
	struct codec c = {.save = true};
	struct json_object *root = json_object_new_object();
	int fd, err = 0;

	if (!root)
		return -ENOMEM;
	json_object_object_add(root, "format", json_object_new_int(MANIFEST_FORMAT));
	manifest_codec(&c, root, (struct manifest *)(uintptr_t)m);
	fd = openat(dirfd, MANIFEST_FILE ".new",
		    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, TRACE_FILE_MODE);
	if (fd < 0) {
		err = -errno;
		goto out;
	}
	if (json_object_to_fd(fd, root, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE))
		err = errno ? -errno : -EIO;
	if (close(fd) && !err)
		err = -errno;
	if (!err && renameat(dirfd, MANIFEST_FILE ".new", dirfd, MANIFEST_FILE))
		err = -errno;
	if (err)
		unlinkat(dirfd, MANIFEST_FILE ".new", 0);
out:
	json_object_put(root);
	return err ? err : c.error;
}

int64_t manifest_realtime(const struct manifest *m, uint64_t ticks)
{
	double ns = (double)ticks * 1e9 / (double)m->frequency;
	int64_t sum;

	if (ns >= (double)INT64_MAX ||
	    __builtin_add_overflow(m->realtime_offset, (int64_t)ns, &sum))
		return INT64_MAX;
	return sum;
}

static bool is_before(const struct host_error_entry *a, const struct host_error_entry *b)
{
	if (a->host != b->host)
		return a->host < b->host;
	return a->other != b->other ? a->other < b->other : a->ticks < b->ticks;
}

/* Hosts whose CPUs follow one another, and whose parents are such. */
static bool hosts_plausible(const struct manifest *m)
{
	uint64_t cpus = 0;

	if (m->nr_hosts == 1 || m->nr_hosts > MANIFEST_HOSTS_MAX)
		return false;
	for (uint32_t i = 0; i < m->nr_hosts; i++) {
		const struct host_entry *h = &m->hosts[i];

		if (h->first_cpu != cpus || h->begin > h->end || h->parent >= m->nr_hosts ||
		    h->clock >= HOST_NR_CLOCKS)
			return false;
		cpus += h->nr_cpus;
	}
	for (uint32_t i = 0; i < m->nr_host_errors; i++) {
		const struct host_error_entry *e = &m->host_errors[i];

		if (e->host >= m->nr_hosts || e->other >= m->nr_hosts || (i && is_before(e, e - 1)))
			return false;
	}
	return !m->nr_hosts || cpus == m->nr_cpus;
}

/* Numbers that other code divides or indexes by. */
static bool plausible(const struct manifest *m)
{
	return hosts_plausible(m) && m->frequency && m->frequency < 1000000000000u &&
	       m->begin <= m->end && m->nr_cpus <= 65536 && m->end - m->begin < UINT64_MAX / 2;
}

static int manifest_parse(struct json_object *root, struct manifest *m)
{
	struct codec c = {.save = false};
	struct json_object *format;

	if (!json_object_is_type(root, json_type_object) ||
	    !json_object_object_get_ex(root, "format", &format) ||
	    !json_object_is_type(format, json_type_int))
		return -EBADMSG;
	if (json_object_get_int64(format) != MANIFEST_FORMAT)
		return -EPROTONOSUPPORT;
	manifest_codec(&c, root, m);
	if (c.error)
		return c.error;
	if (m->schema_version != JIS_SCHEMA_VERSION)
		return -EPROTONOSUPPORT;
	return plausible(m) ? 0 : -EBADMSG;
}

int manifest_load(int dirfd, struct manifest **out)
{
	int fd = openat(dirfd, MANIFEST_FILE, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err;
	struct json_object *root = NULL;
	struct manifest *m;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= FILE_BYTES_MAX)
		root = json_object_from_fd(fd);
	close(fd);
	if (!root)
		return -EBADMSG;
	m = manifest_new();
	err = m ? manifest_parse(root, m) : -ENOMEM;
	json_object_put(root);
	if (err)
		manifest_free(m);
	else
		*out = m;
	return err;
}
