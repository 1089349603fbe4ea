/* SPDX-License-Identifier: MIT */
/*
 * Taking back what a recorder has made, when there was nothing to record. Removes no file that this
 * recorder did not make.
 */
#include <stdio.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder_private.h"

static void stream_remove(struct recorder *r, struct recorder_stream *s)
{
	recorder_stream_close(r, s);
	if (s->path[0])
		unlinkat(r->dirfd, s->path, 0);
}

static void process_remove(struct recorder *r, struct recorder_process *p)
{
	char path[sizeof(p->directory) + sizeof("/" METADATA_FILE)];
	uint32_t i;

	for (i = 0; i < p->nr_slots; i++)
		if (p->slots[i])
			stream_remove(r, p->slots[i]);
	snprintf(path, sizeof(path), "%s/" METADATA_FILE, p->directory);
	unlinkat(r->dirfd, path, 0);
	unlinkat(r->dirfd, p->directory, AT_REMOVEDIR);
}

/* Is what has the directory's name still what we made? Nobody else's is removed. */
static bool directory_is_ours(const struct recorder *r)
{
	struct stat ours, there;

	return r->made_directory && fstat(r->dirfd, &ours) == 0 &&
	       lstat(r->directory, &there) == 0 && ours.st_dev == there.st_dev &&
	       ours.st_ino == there.st_ino;
}

void recorder_discard(struct recorder *r)
{
	struct recorder_process *p;
	uint32_t i;

	if (!r->made_kernel) { /* the directory, if it is there, is another's, or empty */
		if (r->dirfd >= 0 && directory_is_ours(r))
			rmdir(r->directory);
		return;
	}
	for (i = 0; i < r->params.nr_cpus; i++)
		stream_remove(r, &r->cpus[i]);
	stream_remove(r, &r->own);
	for (p = r->processes; p; p = p->next)
		process_remove(r, p);
	recorder_reserve_drop(r);
	unlinkat(r->dirfd, "kernel/" METADATA_FILE, 0);
	unlinkat(r->dirfd, "kernel", AT_REMOVEDIR);
	unlinkat(r->dirfd, MANIFEST_FILE, 0);
	if (directory_is_ours(r))
		rmdir(r->directory);
}
