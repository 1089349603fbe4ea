/* SPDX-License-Identifier: MIT */
/*
 * Who a tid is: maps kernel tids, tids inside of a process, and foreign tids to lives of threads. A
 * tid is used again and again; each life has the time from which the tid means it. Lookups are O(1)
 * and never allocate. Knows nothing of states.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model_int.h"

struct order {
	uint32_t tid, life;
	uint64_t first;
};

static int order_compare(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->life < y->life ? -1 : x->life > y->life;
}

static uint64_t entry_first(const struct model *m, const struct thread_entry *e)
{
	uint64_t t = e->birth != TIME_NONE ? e->birth : e->first_seen;

	return t == TIME_NONE ? 0 : clock_scale_ns(&m->scale, t);
}

/* The slot of @tid in the paged map, or NULL. */
static uint32_t *tid_slot(struct model *m, uint32_t tid)
{
	const uint32_t page_size = 1u << TID_PAGE_BITS;
	uint32_t page = tid >> TID_PAGE_BITS;

	if (page >= m->nr_tid_pages)
		return NULL;
	if (!m->tid_pages[page]) {
		m->tid_pages[page] = malloc(page_size * sizeof(uint32_t));
		if (!m->tid_pages[page])
			return NULL;
		memset(m->tid_pages[page], 0xff, page_size * sizeof(uint32_t));
	}
	return &m->tid_pages[page][tid & (page_size - 1)];
}

static int tids_init(struct model *m, const struct order *order)
{
	for (uint32_t i = 0; i < m->info.nr_threads; i++) {
		struct life *l = &m->lives[order[i].life];
		bool again = i > 0 && order[i - 1].tid == order[i].tid;
		uint32_t *slot = tid_slot(m, order[i].tid);

		l->next = NONE;
		l->former = again ? order[i - 1].life : NONE;
		l->next_first = TIME_NONE;
		l->first = order[i].first;
		/* Alive before the recording: what comes before its dump is its own too. */
		if (!again && m->threads[order[i].life].entry->birth == TIME_NONE)
			l->first = 0;
		if (again) {
			struct life *former = &m->lives[order[i - 1].life];

			former->next = order[i].life;
			former->next_first = l->first;
		} else if (slot) {
			*slot = order[i].life;
		} else if (order[i].tid >> TID_PAGE_BITS < m->nr_tid_pages) {
			return -ENOMEM;
		}
	}
	return 0;
}

uint32_t thread_advance(struct model *m, uint32_t life, uint64_t t)
{
	uint32_t tid = m->threads[life].entry->tid;

	while (m->lives[life].next_first <= t) {
		const struct life *l = &m->lives[life];
		uint32_t former = life;

		life = l->next;
		/* The tid was given away, so its owner is gone, unless its last switch-out is to
		 * come: under another tid, where an exec has taken this one. */
		if (l->kind != MODEL_EXITED && l->kind != MODEL_RUNNING &&
		    !(l->kind == MODEL_READY && l->flags & LIFE_EXITING && exec_born(m, life)))
			life_set(m, former, MODEL_EXITED, false,
				 m->lives[life].first > l->since ? m->lives[life].first : l->since);
	}
	*tid_slot(m, tid) = life;
	return life;
}

/* Exec of a thread that is not the leader ---------------------------------------------------- */

/*
 * The kernel kills all other threads, waits until the leader has become a zombie, exchanges the two
 * tids (de_thread() in fs/exec.c) and only later, when the new program is loaded, comes to the
 * tracepoint that tells of it, which is where the tables begin a new life. The leader may even then
 * not have left its CPU for the last time.
 */
static bool is_leader(const struct model *m, uint32_t life)
{
	return m->threads[life].entry->tid == m->threads[life].entry->pid;
}

bool exec_born(const struct model *m, uint32_t life)
{
	const struct thread_entry *e = m->threads[life].entry;
	uint32_t former = m->lives[life].former;

	return is_leader(m, life) && e->birth != TIME_NONE && !e->parent_tid && former != NONE &&
	       m->threads[former].entry->pid == e->pid;
}

void exec_swap(struct model *m, uint32_t leader, uint32_t thread)
{
	m->lives[leader].other = thread;
	m->lives[thread].other = leader;
	m->lives[leader].flags |= LIFE_SWAPPED;
	m->lives[thread].flags |= LIFE_SWAPPED;
}

SELDOM void exec_notice(struct model *m, uint32_t here, uint32_t tid, uint64_t t)
{
	uint32_t there = thread_at(m, tid, t), leader = is_leader(m, here) ? here : there, next;

	if (there == NONE || there == here || is_leader(m, here) == is_leader(m, there) ||
	    m->threads[here].entry->pid != m->threads[there].entry->pid)
		return;
	next = m->lives[leader].next;
	if ((m->lives[leader].flags & (LIFE_EXITING | LIFE_SWAPPED)) == LIFE_EXITING &&
	    next != NONE && m->lives[next].first > t && exec_born(m, next))
		exec_swap(m, leader, leader == here ? there : here);
}

/* Tids inside of processes ------------------------------------------------------------------- */

static uint32_t inside_tid(const struct thread_entry *e)
{
	return e->ns_tid ? e->ns_tid : e->tid;
}

static uint32_t ns_hash(uint32_t process, uint32_t tid)
{
	uint64_t h = ((uint64_t)process << 32 | tid) * 0x9e3779b97f4a7c15ull;

	return (uint32_t)(h >> 32);
}

static uint32_t *ns_slot(struct model *m, uint32_t process, uint32_t tid)
{
	uint32_t i = ns_hash(process, tid) & m->ns_mask;

	while (m->ns_table[i] != NONE) {
		const struct model_thread *t = &m->threads[m->ns_table[i]];

		if (t->process == process && inside_tid(t->entry) == tid)
			break;
		i = (i + 1) & m->ns_mask;
	}
	return &m->ns_table[i];
}

/* Later lives go to the front of their chain. */
static int inside_init(struct model *m, const struct order *order)
{
	uint32_t size = 16;

	while (size < m->info.nr_threads * 2ull && size < 1u << 31)
		size *= 2;
	m->ns_mask = size - 1;
	m->ns_table = malloc(size * sizeof(*m->ns_table));
	if (!m->ns_table)
		return -ENOMEM;
	memset(m->ns_table, 0xff, size * sizeof(*m->ns_table));
	for (uint32_t i = 0; i < m->info.nr_threads; i++) {
		const struct model_thread *t = &m->threads[order[i].life];
		uint32_t *slot = ns_slot(m, t->process, inside_tid(t->entry));

		m->lives[order[i].life].next_ns = *slot;
		*slot = order[i].life;
	}
	return 0;
}

uint32_t thread_inside(struct model *m, uint32_t process, uint32_t tid, uint64_t t)
{
	uint32_t life = *ns_slot(m, process, tid);

	while (life != NONE && m->lives[life].first > t)
		life = m->lives[life].next_ns;
	return life;
}

/* Foreigners --------------------------------------------------------------------------------- */

static int foreign_compare(const void *a, const void *b, void *ctx)
{
	const struct foreign_entry *f = ctx;
	const struct foreign_entry *x = &f[*(const uint32_t *)a], *y = &f[*(const uint32_t *)b];

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->time < y->time ? -1 : x->time > y->time;
}

static int foreigners_init(struct model *m)
{
	const struct manifest *man = m->info.manifest;

	m->foreign_of = calloc(man->nr_foreigners + 1ull, sizeof(*m->foreign_of));
	if (!m->foreign_of)
		return -ENOMEM;
	for (uint32_t i = 0; i < man->nr_foreigners; i++)
		m->foreign_of[i] = i;
	qsort_r(m->foreign_of, man->nr_foreigners, sizeof(*m->foreign_of), foreign_compare,
		man->foreigners);
	return 0;
}

/* The last entry of @tid not after @t; where all are later, the first (it is named as it is used).
 */
uint32_t foreign_at(const struct model *m, uint32_t tid, uint64_t t)
{
	const struct foreign_entry *f = m->info.manifest->foreigners;
	uint32_t low = 0, high = m->info.manifest->nr_foreigners, found;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (f[m->foreign_of[middle]].tid < tid)
			low = middle + 1;
		else
			high = middle;
	}
	if (low >= m->info.manifest->nr_foreigners || f[m->foreign_of[low]].tid != tid)
		return NONE;
	found = m->foreign_of[low];
	while (++low < m->info.manifest->nr_foreigners && f[m->foreign_of[low]].tid == tid &&
	       clock_scale_ns(&m->scale, f[m->foreign_of[low]].time) <= t)
		found = m->foreign_of[low];
	return found;
}

int model_threads_init(struct model *m)
{
	struct order *order = calloc(m->info.nr_threads + 1ull, sizeof(*order));
	int err;

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->info.nr_threads; i++) {
		const struct thread_entry *e = m->threads[i].entry;

		order[i] = (struct order){.tid = e->tid, .life = i, .first = entry_first(m, e)};
	}
	qsort(order, m->info.nr_threads, sizeof(*order), order_compare);
	err = tids_init(m, order);
	if (!err)
		err = inside_init(m, order);
	if (!err)
		err = foreigners_init(m);
	free(order);
	return err;
}

void model_threads_fini(struct model *m)
{
	for (uint32_t i = 0; i < m->nr_tid_pages; i++)
		free(m->tid_pages[i]);
	free(m->ns_table);
	free(m->foreign_of);
}
