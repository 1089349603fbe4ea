/* SPDX-License-Identifier: MIT */
/* The file is mapped, and told to the kernel as read here and there: a record costs one page. */
#include "jta_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/grow.h"

_Static_assert(sizeof(struct jta_record) == JTA_RECORD_BYTES, "a record's size");
_Static_assert(sizeof(struct jta_header) == JTA_RECORD_BYTES, "the header is as long as a record");

struct jta {
	const unsigned char *bytes;
	size_t size;
	struct jta_header header;
};

static int header_check(const struct jta *t, uint64_t size)
{
	const struct jta_header *h = &t->header;

	if (!h->magic)
		return -ENODATA;
	if (h->magic != JTA_MAGIC)
		return -EBADMSG;
	if (h->version != JTA_VERSION || h->record_bytes != JTA_RECORD_BYTES)
		return -EPROTONOSUPPORT;
	if (!h->records || size / JTA_RECORD_BYTES - 1 < h->records)
		return -ENODATA;
	if (h->root != h->records || h->first_jvm > h->root || h->root - h->first_jvm != h->jvms)
		return -EBADMSG;
	return 0;
}

int jta_open(const char *path, struct jta **out)
{
	struct jta *t = calloc(1, sizeof(*t));
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = fd < 0 ? -errno : 0;
	struct stat st;
	void *m;

	if (!err && fstat(fd, &st))
		err = -errno;
	if (!err && !S_ISREG(st.st_mode))
		err = S_ISDIR(st.st_mode) ? -EISDIR : -EBADMSG;
	if (!err && st.st_size < JTA_RECORD_BYTES)
		err = st.st_size ? -EBADMSG : -ENODATA;
	if (!t)
		err = -ENOMEM;
	if (!err) {
		m = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
		if (m == MAP_FAILED) {
			err = -errno;
		} else {
			t->bytes = m;
			t->size = (size_t)st.st_size;
			madvise(m, t->size, MADV_RANDOM);
			memcpy(&t->header, m, sizeof(t->header));
			err = header_check(t, t->size);
		}
	}
	if (fd >= 0)
		close(fd);
	if (err) {
		jta_close(t);
		return err;
	}
	*out = t;
	return 0;
}

void jta_close(struct jta *t)
{
	if (t && t->bytes)
		munmap((void *)t->bytes, t->size);
	free(t);
}

const struct jta_header *jta_header(const struct jta *t)
{
	return &t->header;
}

const struct jta_record *jta_get(const struct jta *t, uint64_t number)
{
	if (!number || number > t->header.records)
		return NULL;
	return (const void *)(t->bytes + number * JTA_RECORD_BYTES);
}

uint64_t jta_jvm(const struct jta *t, uint32_t jvm)
{
	return jvm < t->header.jvms ? t->header.first_jvm + jvm : 0;
}

uint64_t jta_parent(const struct jta *t, uint64_t number)
{
	const struct jta_record *r = jta_get(t, number);

	if (!r || number == t->header.root)
		return 0;
	if (r->parent == JTA_IN_ROOT)
		return t->header.root;
	if (r->parent & JTA_IN_JVM)
		return r->parent - JTA_IN_JVM < t->header.jvms
			       ? t->header.first_jvm + (r->parent - JTA_IN_JVM)
			       : 0;
	return r->parent <= t->header.records ? r->parent : 0;
}

int64_t jta_path(const struct jta *t, uint64_t number, uint64_t *path, size_t room)
{
	uint64_t n = 0;

	if (!jta_get(t, number))
		return -EBADMSG;
	for (; number; number = jta_parent(t, number)) {
		if (n == t->header.records)
			return -EBADMSG; /* in a circle */
		if (n < room)
			path[n] = number;
		n++;
		if (number == t->header.root)
			return (int64_t)n;
	}
	return -EBADMSG;
}

/* Children ----------------------------------------------------------------------------------- */

struct by_begin {
	uint64_t begin, number;
};

static int by_begin_order(const void *a, const void *b)
{
	const struct by_begin *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static uint64_t children_step(struct jta_children *c)
{
	uint64_t number = c->next;
	const struct jta_record *r = c->left ? jta_get(c->tree, number) : NULL;

	if (!r)
		return 0;
	c->left--;
	c->next = r->next;
	return number;
}

/* All of them, which are put into the order of their begins. */
static int children_sort(struct jta_children *c)
{
	uint64_t room = 0, nr = 0, number;
	struct by_begin *all = NULL;

	while ((number = children_step(c))) {
		if (nr == room && !GROW(all, room, 64)) {
			free(all);
			return -ENOMEM;
		}
		all[nr++] = (struct by_begin){jta_get(c->tree, number)->begin, number};
	}
	if (nr)
		qsort(all, nr, sizeof(*all), by_begin_order);
	c->sorted = malloc((nr + 1) * sizeof(*c->sorted));
	for (uint64_t i = 0; c->sorted && i < nr; i++)
		c->sorted[i] = all[i].number;
	c->nr = nr;
	free(all);
	return c->sorted ? 0 : -ENOMEM;
}

int jta_children_begin(const struct jta *t, uint64_t number, bool by_begin, struct jta_children *c)
{
	const struct jta_record *r = jta_get(t, number);

	if (!r)
		return -EINVAL;
	*c = (struct jta_children){.tree = t, .next = r->first_child, .left = r->children};
	if (c->left > t->header.records)
		c->left = t->header.records;
	return by_begin ? children_sort(c) : 0;
}

uint64_t jta_children_next(struct jta_children *c)
{
	if (c->sorted)
		return c->at < c->nr ? c->sorted[c->at++] : 0;
	return children_step(c);
}

void jta_children_end(struct jta_children *c)
{
	free(c->sorted);
	c->sorted = NULL;
}
