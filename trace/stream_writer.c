/* SPDX-License-Identifier: MIT */
/*
 * One stream file. Invariant: whatever fails, the file ends at a whole packet, and what was whole
 * before stays whole. Packets are trusted here: the recorder has checked them.
 */
#include "write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "atomic_file.h"
#include "decode.h"

struct stream_writer {
	int fd;
	int error;	 /* first */
	uint64_t closed; /* bytes of the packets that do not change any more */
	uint64_t tail;	 /* bytes of the packet behind them, 0: none */
	uint64_t tail_sequence;
};

int stream_writer_create(int dirfd, const char *name, struct stream_writer **out)
{
	struct stream_writer *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	w->fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		       TRACE_FILE_MODE);
	if (w->fd < 0) {
		err = -errno;
		free(w);
		return err;
	}
	*out = w;
	return 0;
}

/* The header as it is on disk: no padding behind the content, and the checksum. */
static void seal_header(struct jis_packet_header *h, const struct jis_packet_header *packet)
{
	h->packet_size = h->content_size;
	h->crc32c = 0;
	h->crc32c = crc32c(crc32c(0, h, sizeof(*h)), (const uint8_t *)packet + sizeof(*h),
			   h->content_size / 8 - sizeof(*h));
}

/* Ends the file at its last whole packet; w->tail says how much of the tail is one. */
static int write_failed(struct stream_writer *w, int err)
{
	if (!w->error)
		w->error = err;
	if (ftruncate(w->fd, (off_t)(w->closed + w->tail)))
		return -errno;
	return err;
}

/* A packet in one go, header first: should this process die within it, what got out decodes. */
static int put_new(struct stream_writer *w, struct jis_packet_header *h, const uint8_t *packet,
		   uint64_t bytes)
{
	struct iovec parts[] = {{h, sizeof(*h)},
				{(void *)(packet + sizeof(*h)), bytes - sizeof(*h)}};
	ssize_t n = pwritev(w->fd, parts, 2, (off_t)w->closed);
	uint64_t done = n > 0 ? (uint64_t)n : 0;
	int err;

	if (n < 0 && errno != EINTR)
		return -errno;
	if (done < sizeof(*h)) {
		err = file_write_all(w->fd, (uint8_t *)h + done, sizeof(*h) - done,
				     w->closed + done);
		if (err)
			return err;
		done = sizeof(*h);
	}
	return file_write_all(w->fd, packet + done, bytes - done, w->closed + done);
}

/* Content first, header last: until the header is there the old one describes what is whole. */
static int put_grown(struct stream_writer *w, struct jis_packet_header *h, const uint8_t *packet,
		     uint64_t bytes)
{
	uint64_t from = w->tail;
	int err;

	if (from > bytes) {
		w->tail = 0; /* what was whole is written over */
		from = sizeof(*h);
	}
	err = file_write_all(w->fd, packet + from, bytes - from, w->closed + from);
	if (err)
		return err;
	w->tail = 0;
	err = file_write_all(w->fd, h, sizeof(*h), w->closed);
	if (!err && ftruncate(w->fd, (off_t)(w->closed + bytes)))
		err = -errno;
	return err;
}

static int put_packet(struct stream_writer *w, const struct jis_packet_header *packet)
{
	struct jis_packet_header h;
	uint64_t bytes;
	int err;

	memcpy(&h, packet, sizeof(h)); /* recovery gives packets where they stand in a file */
	bytes = h.content_size / 8;
	if (h.content_size % 32 != 0 || bytes < sizeof(h) || bytes > PACKET_MAX_BYTES)
		return -EINVAL;
	seal_header(&h, packet);
	if (w->tail && h.packet_seq != w->tail_sequence) { /* the tail is complete */
		w->closed += w->tail;
		w->tail = 0;
	}
	err = w->tail ? put_grown(w, &h, (const uint8_t *)packet, bytes)
		      : put_new(w, &h, (const uint8_t *)packet, bytes);
	if (err)
		return write_failed(w, err);
	w->tail = bytes;
	w->tail_sequence = h.packet_seq;
	return 0;
}

int stream_writer_update_tail(struct stream_writer *w, const struct jis_packet_header *packet)
{
	return put_packet(w, packet);
}

int stream_writer_append(struct stream_writer *w, const struct jis_packet_header *packet)
{
	int err = stream_writer_update_tail(w, packet);

	if (!err) {
		w->closed += w->tail;
		w->tail = 0;
	}
	return err;
}

uint64_t stream_writer_bytes(const struct stream_writer *w)
{
	return w->closed + w->tail;
}

int stream_writer_close(struct stream_writer *w)
{
	int err;

	if (!w)
		return 0;
	err = w->error;
	if (close(w->fd) && !err)
		err = -errno;
	free(w);
	return err;
}
