/* SPDX-License-Identifier: MIT */
/*
 * Memory is used again: of what is told of an address the last before a wait's end holds; where
 * nothing was told before, the recorder was late, and the first holds.
 */
#include "model_futexes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/grow.h"

struct futexes {
	struct model_futex *futexes;
	size_t nr, room;
	bool sorted;
};

void futex_ahead(struct model *m, uint32_t process, const struct jis_ev_futex_name *ev, uint64_t t)
{
	struct futexes *v = m->futexes;

	if (!v)
		v = m->futexes = calloc(1, sizeof(*v));
	if (!v || (v->nr == v->room && !GROW(v->futexes, v->room, 64))) {
		m->error = -ENOMEM;
		return;
	}
	v->futexes[v->nr++] =
		(struct model_futex){.address = ev->address,
				     .time = t,
				     .process = process,
				     .from = ev->from,
				     .name = name_intern(m, ev->name, strlen(ev->name))};
	v->sorted = false;
}

static int futex_compare(const void *a, const void *b)
{
	const struct model_futex *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->time < y->time ? -1 : x->time > y->time;
}

static bool same_futex(const struct model_futex *x, const struct model_futex *y)
{
	return x->process == y->process && x->address == y->address;
}

const struct model_futex *futex_of(struct model *m, uint32_t process, uint64_t address,
				   uint64_t end)
{
	const struct model_futex key = {.address = address, .time = end, .process = process};
	struct futexes *v = m->futexes;
	size_t low = 0, high = v ? v->nr : 0;

	if (v && !v->sorted) {
		qsort(v->futexes, v->nr, sizeof(*v->futexes), futex_compare);
		v->sorted = true;
	}
	while (low < high) { /* the first that is told of after @end */
		size_t middle = low + (high - low) / 2;

		if (futex_compare(&v->futexes[middle], &key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (v && low > 0 && same_futex(&v->futexes[low - 1], &key))
		return &v->futexes[low - 1];
	return v && low < v->nr && same_futex(&v->futexes[low], &key) ? &v->futexes[low] : NULL;
}

void futexes_fini(struct model *m)
{
	if (m->futexes)
		free(m->futexes->futexes);
	free(m->futexes);
}
