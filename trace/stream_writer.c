/* SPDX-License-Identifier: MIT */
/*
 * One stream file that always ends at a whole packet: content goes first and the header last, and
 * what could not be written whole is cut off again.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "write.h"

struct stream_writer {
	int fd;
	int error;	     /* first one met */
	bool tail_open;	     /* the packet at `tail` may be written again */
	uint64_t tail, size; /* begin of the last packet; end of the file */
	uint64_t tail_seq;
};

int stream_writer_create(int dirfd, const char *name, struct stream_writer **out)
{
	struct stream_writer *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	w->fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (w->fd < 0) {
		err = -errno;
		free(w);
		return err;
	}
	*out = w;
	return 0;
}

static int write_all(int fd, const void *data, size_t n, uint64_t offset)
{
	const uint8_t *p = data;

	while (n) {
		ssize_t done = pwrite(fd, p, n, (off_t)offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done ? -errno : -EIO;
		p += done;
		offset += (uint64_t)done;
		n -= (size_t)done;
	}
	return 0;
}

static int write_packet(struct stream_writer *w, const struct jis_packet_header *packet,
			uint64_t at)
{
	struct jis_packet_header header = *packet;
	size_t bytes = packet->content_size / 8;
	int err;

	if (packet->content_size % 32 || bytes < JIS_PACKET_HEADER_SIZE)
		return -EINVAL;
	header.packet_size = header.content_size;
	header.crc32c = 0;
	header.crc32c = crc32c(0, &header, sizeof(header));
	header.crc32c = crc32c(header.crc32c, packet + 1, bytes - sizeof(header));
	err = write_all(w->fd, packet + 1, bytes - sizeof(header), at + sizeof(header));
	return err ? err : write_all(w->fd, &header, sizeof(header), at);
}

static int write_last(struct stream_writer *w, const struct jis_packet_header *packet, bool open)
{
	uint64_t at = w->size;
	int err;

	if (w->tail_open && w->tail_seq == packet->packet_seq)
		at = w->tail;
	err = write_packet(w, packet, at);
	if (err) {
		if (!w->error)
			w->error = err;
		/* A tail that was whole before is damaged only where its new content was written.
		 */
		if (at == w->size && ftruncate(w->fd, (off_t)w->size) && !w->error)
			w->error = -errno;
		return err;
	}
	w->tail = at;
	w->tail_seq = packet->packet_seq;
	w->tail_open = open;
	w->size = at + packet->content_size / 8;
	return 0;
}

int stream_writer_append(struct stream_writer *w, const struct jis_packet_header *packet)
{
	return write_last(w, packet, false);
}

int stream_writer_update_tail(struct stream_writer *w, const struct jis_packet_header *packet)
{
	return write_last(w, packet, true);
}

uint64_t stream_writer_bytes(const struct stream_writer *w)
{
	return w->size;
}

int stream_writer_close(struct stream_writer *w)
{
	int err = w->error;

	/* A failed update may have left bytes behind the last whole packet. */
	if (err && ftruncate(w->fd, (off_t)w->size))
		err = -errno;
	if (close(w->fd) && !err)
		err = -errno;
	free(w);
	return err;
}
