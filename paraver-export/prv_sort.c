/* SPDX-License-Identifier: MIT */
/*
 * Sorts lines by a key with bounded memory: runs sorted in memory, spilled to an unlinked file
 * beside the output, merged at the end. Lines with equal keys keep their order.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "prv_int.h"
#include "trace/grow.h"

#define MAX_WAYS 128u	 /* runs merged at once */
#define READ_SIZE 65536u /* bytes of a run in memory while merging; above any line */

struct ref {
	uint64_t key;
	uint32_t offset, len;
};

struct run {
	uint64_t at, end; /* in the file */
	char *buffer;
	uint32_t pos, filled;
	uint64_t key; /* of the line it stands on */
	uint32_t len;
};

struct sorter {
	char *text;
	struct ref *refs;
	size_t text_used, text_size;
	uint32_t nr_refs, max_refs;
	int fd, error;
	uint64_t file_end;
	struct run *runs;
	uint32_t nr_runs, room_runs;
	char *write_buffer;
	size_t write_used;
};

static int open_unlinked(const char *beside)
{
	char path[4096];
	int fd;

	if (snprintf(path, sizeof(path), "%s.sort.XXXXXX", beside) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	return fd;
}

int sorter_new(const char *path, uint64_t memory, struct sorter **out)
{
	struct sorter *s = calloc(1, sizeof(*s));
	int err = -ENOMEM;

	if (!s)
		return -ENOMEM;
	if (memory < 1u << 20)
		memory = 1u << 20;
	if (memory > 1ull << 31)
		memory = 1ull << 31;
	s->text_size = memory / 4 * 3;
	s->max_refs = (uint32_t)(memory / 4 / sizeof(*s->refs));
	s->fd = open_unlinked(path);
	if (s->fd < 0) {
		err = s->fd;
		goto err_free;
	}
	s->text = malloc(s->text_size);
	s->refs = malloc(s->max_refs * sizeof(*s->refs));
	s->write_buffer = malloc(READ_SIZE);
	if (!s->text || !s->refs || !s->write_buffer)
		goto err_free;
	*out = s;
	return 0;

err_free:
	sorter_free(s);
	return err;
}

void sorter_free(struct sorter *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	for (uint32_t i = 0; i < s->nr_runs; i++)
		free(s->runs[i].buffer);
	free(s->runs);
	free(s->text);
	free(s->refs);
	free(s->write_buffer);
	free(s);
}

int sorter_error(const struct sorter *s)
{
	return s->error;
}

static int ref_compare(const void *a, const void *b)
{
	const struct ref *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* The spill file ----------------------------------------------------------------------------- */

/* The buffer is empty afterwards, whether or not there was room on the disk. */
static void spill_flush(struct sorter *s)
{
	size_t at = 0, used = s->write_used;

	s->write_used = 0;
	while (at < used && !s->error) {
		ssize_t n = pwrite(s->fd, s->write_buffer + at, used - at, (off_t)s->file_end);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			s->error = n < 0 ? -errno : -EIO;
			return;
		}
		at += (size_t)n;
		s->file_end += (uint64_t)n;
	}
}

static void spill_bytes(struct sorter *s, const void *data, size_t len)
{
	if (s->write_used + len > READ_SIZE)
		spill_flush(s);
	if (s->error)
		return;
	memcpy(s->write_buffer + s->write_used, data, len);
	s->write_used += len;
}

static void spill_line(struct sorter *s, uint64_t key, const char *text, uint32_t len)
{
	spill_bytes(s, &key, sizeof(key));
	spill_bytes(s, &len, sizeof(len));
	spill_bytes(s, text, len);
}

static bool run_add(struct sorter *s, uint64_t at, uint64_t end)
{
	if (s->nr_runs == s->room_runs && !GROW(s->runs, s->room_runs, 64)) {
		s->error = -ENOMEM;
		return false;
	}
	s->runs[s->nr_runs++] = (struct run){.at = at, .end = end};
	return true;
}

static void spill(struct sorter *s)
{
	uint64_t at = s->file_end;

	qsort(s->refs, s->nr_refs, sizeof(*s->refs), ref_compare);
	for (uint32_t i = 0; i < s->nr_refs && !s->error; i++)
		spill_line(s, s->refs[i].key, s->text + s->refs[i].offset, s->refs[i].len);
	spill_flush(s);
	s->nr_refs = 0;
	s->text_used = 0;
	if (!s->error)
		run_add(s, at, s->file_end);
}

char *sorter_line(struct sorter *s, uint64_t key)
{
	if (s->nr_refs == s->max_refs || s->text_used + LINE_ROOM > s->text_size)
		spill(s);
	if (s->error)
		return NULL;
	s->refs[s->nr_refs].key = key;
	s->refs[s->nr_refs].offset = (uint32_t)s->text_used;
	return s->text + s->text_used;
}

void sorter_commit(struct sorter *s, char *end)
{
	struct ref *ref = &s->refs[s->nr_refs++];

	ref->len = (uint32_t)(end - s->text - ref->offset);
	s->text_used = (size_t)(end - s->text);
}

/* Merging ------------------------------------------------------------------------------------ */

static int run_fill(struct sorter *s, struct run *r, uint32_t need)
{
	uint32_t left = r->filled - r->pos;

	if (left >= need)
		return 0;
	memmove(r->buffer, r->buffer + r->pos, left);
	r->pos = 0;
	r->filled = left;
	while (r->filled < need) {
		uint64_t want = r->end - r->at;
		ssize_t n;

		if (want > READ_SIZE - r->filled)
			want = READ_SIZE - r->filled;
		n = pread(s->fd, r->buffer + r->filled, want, (off_t)r->at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		r->filled += (uint32_t)n;
		r->at += (uint64_t)n;
	}
	return 0;
}

/* Steps to the next line. Returns 1, 0 at the end, or -errno. */
static int run_next(struct sorter *s, struct run *r)
{
	const uint32_t head = sizeof(uint64_t) + sizeof(uint32_t);
	int err;

	r->pos += r->len;
	r->len = 0;
	if (r->at == r->end && r->pos == r->filled)
		return 0;
	err = run_fill(s, r, head);
	if (err)
		return err;
	memcpy(&r->key, r->buffer + r->pos, sizeof(r->key));
	memcpy(&r->len, r->buffer + r->pos + sizeof(r->key), sizeof(r->len));
	r->pos += head;
	err = run_fill(s, r, r->len);
	return err ? err : 1;
}

static bool run_before(const struct run *a, const struct run *b)
{
	return a->key < b->key || (a->key == b->key && a < b);
}

static void heap_down(struct run **heap, uint32_t n, uint32_t i)
{
	for (;;) {
		uint32_t least = i;
		struct run *swap;

		for (uint32_t c = 2 * i + 1; c <= 2 * i + 2 && c < n; c++) {
			if (run_before(heap[c], heap[least]))
				least = c;
		}
		if (least == i)
			return;
		swap = heap[i];
		heap[i] = heap[least];
		heap[least] = swap;
		i = least;
	}
}

/* Merges @n runs from @first on, giving each line to @put, or to the spill file where it is NULL.
 */
static int merge_runs(struct sorter *s, uint32_t first, uint32_t n,
		      int (*put)(void *ctx, const char *text, uint32_t len), void *ctx)
{
	struct run *heap[MAX_WAYS];
	uint32_t left = 0;
	int err = 0;

	for (uint32_t i = 0; i < n && !err; i++) {
		struct run *r = &s->runs[first + i];

		r->buffer = malloc(READ_SIZE);
		err = r->buffer ? run_next(s, r) : -ENOMEM;
		if (err > 0) {
			heap[left++] = r;
			err = 0;
		}
	}
	for (uint32_t i = left; i-- > 0;)
		heap_down(heap, left, i);
	while (left && !err) {
		struct run *r = heap[0];

		if (put)
			err = put(ctx, r->buffer + r->pos, r->len);
		else
			spill_line(s, r->key, r->buffer + r->pos, r->len);
		if (!err)
			err = s->error ? s->error : run_next(s, r);
		if (err == 0)
			heap[0] = heap[--left];
		err = err > 0 ? 0 : err;
		heap_down(heap, left, 0);
	}
	for (uint32_t i = 0; i < n; i++) {
		free(s->runs[first + i].buffer);
		s->runs[first + i].buffer = NULL;
	}
	return err;
}

/* Merges neighbouring runs until few enough are left. */
static int reduce_runs(struct sorter *s)
{
	while (s->nr_runs > MAX_WAYS) {
		uint32_t kept = 0;

		for (uint32_t i = 0; i < s->nr_runs; i += MAX_WAYS) {
			uint32_t n = s->nr_runs - i < MAX_WAYS ? s->nr_runs - i : MAX_WAYS;
			uint64_t at = s->file_end;
			int err = merge_runs(s, i, n, NULL, NULL);

			spill_flush(s);
			if (err || s->error)
				return err ? err : s->error;
			s->runs[kept++] = (struct run){.at = at, .end = s->file_end};
		}
		s->nr_runs = kept;
	}
	return 0;
}

int sorter_finish(struct sorter *s, int (*put)(void *ctx, const char *text, uint32_t len),
		  void *ctx)
{
	int err;

	if (s->error)
		return s->error;
	if (!s->nr_runs) {
		qsort(s->refs, s->nr_refs, sizeof(*s->refs), ref_compare);
		for (uint32_t i = 0; i < s->nr_refs; i++) {
			err = put(ctx, s->text + s->refs[i].offset, s->refs[i].len);
			if (err)
				return err;
		}
		return 0;
	}
	spill(s);
	err = s->error ? s->error : reduce_runs(s);
	return err ? err : merge_runs(s, 0, s->nr_runs, put, ctx);
}
