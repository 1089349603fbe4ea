/* SPDX-License-Identifier: MIT */
/*
 * The rings of the instance: reads their sub-buffers, and hands their records and our notes on in
 * one order of time.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "clock.h"
#include "ftrace.h"
#include "trace/grow.h"

/* The dead are kept this long for what is still said of them. */
#define FORGET_NS 5000000000ull

uint64_t ft_now(const struct backend *b)
{
	return clock_now(b->config.clock) - b->config.base;
}

static int ring_open(struct backend *b, uint32_t i)
{
	int instance = i < b->nr_cpus ? b->instance : b->irq_instance;
	uint32_t cpu = i % b->nr_cpus;
	struct ft_ring *r = &b->rings[i];
	struct epoll_event ev = {.events = EPOLLIN};
	char path[64];

	snprintf(path, sizeof(path), "per_cpu/cpu%u/trace_pipe_raw", cpu);
	r->raw_fd = openat(instance, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (r->raw_fd < 0)
		return errno == ENOENT ? 0 : -errno; /* a hole in the numbers of CPUs */
	snprintf(path, sizeof(path), "per_cpu/cpu%u/stats", cpu);
	r->stats_fd = openat(instance, path, O_RDONLY | O_CLOEXEC);
	if (r->stats_fd < 0)
		return -errno;
	if (b->epoll >= 0 && epoll_ctl(b->epoll, EPOLL_CTL_ADD, r->raw_fd, &ev)) {
		close(b->epoll); /* then the recorder looks by time only */
		b->epoll = -1;
	}
	return 0;
}

int ft_rings_open(struct backend *b)
{
	uint32_t i;
	int err = 0;

	b->nr_rings = b->nr_cpus * (b->irq_instance >= 0 ? 2 : 1);
	b->rings = calloc(b->nr_rings, sizeof(*b->rings));
	b->sources = calloc(b->nr_cpus, sizeof(*b->sources));
	if (!b->rings || !b->sources)
		return -ENOMEM;
	b->epoll = epoll_create1(EPOLL_CLOEXEC);
	for (i = 0; i < b->nr_rings; i++)
		b->rings[i].raw_fd = b->rings[i].stats_fd = -1;
	for (i = 0; i < b->nr_rings && !err; i++)
		err = ring_open(b, i);
	return err;
}

void ft_rings_close(struct backend *b)
{
	uint32_t i, j;

	for (i = 0; b->rings && i < b->nr_rings; i++) {
		struct ft_ring *r = &b->rings[i];

		if (r->raw_fd >= 0)
			close(r->raw_fd);
		if (r->stats_fd >= 0)
			close(r->stats_fd);
		for (j = 0; j < r->room; j++)
			free(r->pages[j]);
		free(r->pages);
		free(r->bytes);
	}
	free(b->rings);
	free(b->sources);
	b->rings = NULL;
	b->sources = NULL;
	if (b->epoll >= 0)
		close(b->epoll);
	b->epoll = -1;
	for (; b->notes_first < b->notes_last; b->notes_first++)
		free(b->notes[b->notes_first].cgroup);
	free(b->notes);
	b->notes = NULL;
}

int ft_note_add(struct backend *b, const struct ft_note *note)
{
	size_t at;

	if (b->notes_first == b->notes_last)
		b->notes_first = b->notes_last = 0;
	if (b->notes_last == b->notes_room && !GROW(b->notes, b->notes_room, 256))
		return -ENOMEM;
	at = b->notes_last++;
	for (; at > b->notes_first && b->notes[at - 1].time > note->time; at--)
		b->notes[at] = b->notes[at - 1];
	b->notes[at] = *note;
	return 0;
}

/* Compares the ring's count of lost records with the last one; what is new lies between. */
static void ring_stats(struct backend *b, uint32_t i, bool tail)
{
	uint32_t cpu = i % b->nr_cpus;
	struct ft_ring *r = &b->rings[i];
	struct tracefs_stats st;
	struct ft_note note;

	if (tracefs_stats(r->stats_fd, &st))
		return;
	note = (struct ft_note){.loss = true, .tail = tail, .since = r->stats_time};
	note.ring = i;
	note.cpu = cpu;
	note.time = ft_now(b);
	r->stats_time = note.time;
	if (st.lost <= r->lost)
		return;
	if (i >= b->nr_cpus) /* of interrupts */
		ft_source_gap(&b->sources[cpu], note.since, note.time);
	note.count = st.lost - r->lost;
	if (ft_note_add(b, &note))
		return;
	r->lost = st.lost;
	b->rescan |= i < b->nr_cpus;
}

/* A free page at the end of the ring's list, or NULL. */
static uint8_t *page_room(struct backend *b, struct ft_ring *r)
{
	uint32_t room = r->room ? r->room * 2 : 16, i;
	uint32_t *bytes;
	uint8_t **pages;

	if (r->nr_pages < r->room)
		return r->pages[r->nr_pages];
	pages = realloc(r->pages, room * sizeof(*pages));
	if (!pages)
		return NULL;
	r->pages = pages;
	bytes = realloc(r->bytes, room * sizeof(*bytes));
	if (!bytes)
		return NULL;
	r->bytes = bytes;
	for (i = r->room; i < room; i++) {
		pages[i] = malloc(b->formats.page.page_size);
		if (!pages[i])
			break;
	}
	r->room = i;
	return r->nr_pages < r->room ? r->pages[r->nr_pages] : NULL;
}

/* Moves pages not done with to the front, so that the others are free again. */
static void ring_compact(struct ft_ring *r)
{
	uint32_t i, n = r->nr_pages - r->first;

	for (i = 0; i < n && r->first; i++) {
		uint8_t *page = r->pages[i];

		r->pages[i] = r->pages[r->first + i];
		r->pages[r->first + i] = page;
		r->bytes[i] = r->bytes[r->first + i];
	}
	r->first = 0;
	r->nr_pages = n;
}

/* Reads one sub-buffer to the end of the ring's list. Returns how many, 0: the ring is empty, or
 * -ENOMEM. */
static int page_read(struct backend *b, struct ft_ring *r)
{
	uint8_t *page = page_room(b, r);
	ssize_t n;

	if (!page)
		return -ENOMEM;
	do
		n = read(r->raw_fd, page, b->formats.page.page_size);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return 0;
	r->bytes[r->nr_pages++] = (uint32_t)n;
	return 1;
}

/* Is all of the newest sub-buffer later than @until? Then what is still in the ring is, too. */
static bool page_later(const struct backend *b, const struct ft_ring *r, uint64_t until)
{
	struct ftrace_page page;

	/* The time in its head is that of its first record, or of the one before. */
	return !ftrace_page_begin(&page, &b->formats.page, r->pages[r->nr_pages - 1],
				  r->bytes[r->nr_pages - 1]) &&
	       page.time > b->config.base && page.time - b->config.base > until;
}

/* Reads what was there at @until. Not until it is empty: a reader that is faster than the writer
 * gets a record or two a read, and each read makes some itself where system calls of all are
 * recorded. */
static int ring_read(struct backend *b, uint32_t i, uint64_t until)
{
	bool all = until == UINT64_MAX;
	struct ft_ring *r = &b->rings[i];
	int n = 1;

	if (r->raw_fd < 0)
		return 0;
	ring_stats(b, i, true);
	ring_compact(r);
	r->limited = true;
	while (all || r->nr_pages < FT_PAGES_PER_ROUND) {
		n = page_read(b, r);
		if (n < 0)
			return r->nr_pages ? 0 : n;
		if (!n || page_later(b, r, until)) {
			r->limited = false;
			break;
		}
	}
	ring_stats(b, i, false);
	return 0;
}

/* Records are missing here, nobody knows which. */
static void ring_damaged(struct backend *b, struct ft_ring *r)
{
	r->damaged++;
	ft_source_forget(&b->sources[(uint32_t)(r - b->rings) % b->nr_cpus]);
}

/* Puts the ring's cursor on its next record. */
static void ring_step(struct backend *b, struct ft_ring *r)
{
	while (!r->ready || !ftrace_page_next(&r->page)) {
		if (r->ready) {
			if (r->page.damaged)
				ring_damaged(b, r);
			r->first++;
			r->ready = false;
		}
		if (r->first == r->nr_pages)
			return;
		if (ftrace_page_begin(&r->page, &b->formats.page, r->pages[r->first],
				      r->bytes[r->first])) {
			ring_damaged(b, r);
			r->first++;
			continue;
		}
		r->ready = true;
	}
	r->records++;
}

/* The ring whose record comes next; NULL: none. *wait: one may come before all others. */
static struct ft_ring *rings_first(struct backend *b, bool *wait)
{
	struct ft_ring *best = NULL;
	uint32_t i;

	*wait = false;
	for (i = 0; i < b->nr_rings; i++) {
		struct ft_ring *r = &b->rings[i];

		if (!r->ready)
			*wait |= r->limited;
		else if (!best || r->page.time < best->page.time)
			best = r;
	}
	return best;
}

static void merge(struct backend *b, uint64_t until)
{
	uint64_t base = b->config.base;
	struct ft_ring *r;
	bool wait;

	for (;;) {
		uint64_t time = UINT64_MAX;

		r = rings_first(b, &wait);
		if (wait)
			return;
		if (r)
			time = r->page.time > base ? r->page.time - base : 0;
		while (b->notes_first < b->notes_last && b->notes[b->notes_first].time <= time &&
		       b->notes[b->notes_first].time <= until)
			ft_convert_note(b, &b->notes[b->notes_first++]);
		if (!r || time > until)
			return;
		ft_convert(b, (uint32_t)(r - b->rings) % b->nr_cpus, time, r->page.data,
			   r->page.size);
		r->last = time;
		ring_step(b, r);
	}
}

int ft_round(struct backend *b, bool all)
{
	uint64_t until = all ? UINT64_MAX : ft_now(b);
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	uint32_t i;
	int err = 0;

	b->round++;
	for (i = 0; i < b->nr_rings && !err; i++)
		err = ring_read(b, i, until);
	for (i = 0; i < b->nr_rings; i++)
		if (!b->rings[i].ready)
			ring_step(b, &b->rings[i]);
	merge(b, until);
	if (b->rescan && b->following && !all) {
		b->rescan = false;
		ft_dump_all(b, false);
	}
	if (now_ns > FORGET_NS)
		ft_tasks_forget(b->tasks, now_ns - FORGET_NS);
	return err;
}
