/* SPDX-License-Identifier: MIT */
/*
 * The .prv as a stream of lines: plain or gzip, as they come or sorted. Owns the file; after the
 * first error nothing more is written.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "prv_int.h"

int out_open(const char *path, bool gzip, uint64_t sort_memory, struct prv_out **out)
{
	struct prv_out *o = calloc(1, sizeof(*o));
	int err = -ENOMEM;

	if (!o)
		return -ENOMEM;
	o->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (o->fd < 0) {
		err = -errno;
		goto err_free;
	}
	o->buffer = malloc(OUT_BUFFER);
	if (!o->buffer)
		goto err_close;
	if (gzip) {
		o->gz = gzdopen(o->fd, "wb3");
		if (!o->gz)
			goto err_close;
		o->fd = -1;
	}
	if (sort_memory)
		err = sorter_new(path, sort_memory, &o->sorter);
	if (sort_memory && err)
		goto err_close;
	*out = o;
	return 0;

err_close:
	if (o->gz)
		gzclose(o->gz);
	else
		close(o->fd);
err_free:
	free(o->buffer);
	free(o);
	return err;
}

static void flush_gz(struct prv_out *o)
{
	int gz_err;

	if (gzwrite(o->gz, o->buffer, (unsigned int)o->used) == (int)o->used)
		return;
	gzerror(o->gz, &gz_err);
	o->error = gz_err == Z_ERRNO && errno ? -errno : -EIO;
}

static void flush_plain(struct prv_out *o)
{
	size_t at = 0;

	while (at < o->used) {
		ssize_t n = write(o->fd, o->buffer + at, o->used - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			o->error = n < 0 ? -errno : -EIO;
			return;
		}
		at += (size_t)n;
	}
}

static void flush(struct prv_out *o)
{
	if (!o->error && o->used) {
		if (o->gz)
			flush_gz(o);
		else
			flush_plain(o);
	}
	o->bytes += o->used;
	o->used = 0;
}

char *out_line_slow(struct prv_out *o, uint64_t key)
{
	if (o->sorter)
		return sorter_line(o->sorter, key);
	if (o->used + LINE_ROOM > OUT_BUFFER)
		flush(o);
	return o->error ? NULL : o->buffer + o->used;
}

void out_commit_sorted(struct prv_out *o, char *end)
{
	sorter_commit(o->sorter, end);
}

int out_text(struct prv_out *o, const char *text, size_t len)
{
	while (len && !o->error) {
		size_t part = OUT_BUFFER - o->used < len ? OUT_BUFFER - o->used : len;

		memcpy(o->buffer + o->used, text, part);
		o->used += part;
		text += part;
		len -= part;
		if (o->used == OUT_BUFFER)
			flush(o);
	}
	return o->error;
}

static int put_sorted(void *ctx, const char *text, uint32_t len)
{
	return out_text(ctx, text, len);
}

int out_finish(struct prv_out *o)
{
	if (o->sorter && !o->error)
		o->error = sorter_finish(o->sorter, put_sorted, o);
	flush(o);
	if (o->gz) {
		int err = gzclose(o->gz);

		o->gz = NULL;
		if (err != Z_OK && !o->error)
			o->error = err == Z_ERRNO && errno ? -errno : -EIO;
	} else if (o->fd >= 0) {
		if (close(o->fd) && !o->error)
			o->error = -errno;
		o->fd = -1;
	}
	return o->error;
}

void out_close(struct prv_out *o)
{
	if (!o)
		return;
	if (o->gz)
		gzclose(o->gz);
	if (o->fd >= 0)
		close(o->fd);
	sorter_free(o->sorter);
	free(o->buffer);
	free(o);
}

int out_error(const struct prv_out *o)
{
	return o->sorter && !o->error ? sorter_error(o->sorter) : o->error;
}

uint64_t out_lines(const struct prv_out *o)
{
	return o->lines;
}

uint64_t out_bytes(const struct prv_out *o)
{
	return o->bytes + o->used;
}
