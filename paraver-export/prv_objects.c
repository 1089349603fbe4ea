/* SPDX-License-Identifier: MIT */
/*
 * Which thread is shown in which row. A row each thread, as long as Paraver can count them; beyond
 * that a thread gets the row of one of its process that had ended before it began.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "prv_int.h"

#define PARAVER_MAX_ROWS 65535u
#define PARAVER_MAX_TIME (1ull << 53) /* its times are doubles; below NUMBER_MAX */

struct by_birth {
	uint32_t process, thread; /* thread: as in prv.order */
	bool is_virtual;
	uint64_t birth;
};

static int by_birth_compare(const void *a, const void *b)
{
	const struct by_birth *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->is_virtual != y->is_virtual)
		return x->is_virtual ? 1 : -1;
	if (x->birth != y->birth)
		return x->birth < y->birth ? -1 : 1;
	return x->thread < y->thread ? -1 : 1;
}

static bool has_row(const struct model_info *info, const struct model_thread *t)
{
	return t->selected && t->birth < info->end && t->death > info->begin;
}

struct prv_life life_of(const struct paraver *p, uint32_t index)
{
	const struct model_info *info = p->info;
	const struct model_vthread *v;

	if (index < info->nr_threads)
		return (struct prv_life){info->threads[index].process, info->threads[index].birth,
					 info->threads[index].death};
	v = &info->vthreads[index - info->nr_threads];
	return (struct prv_life){v->process, v->birth, v->death};
}

static uint32_t *row_slot(struct paraver *p, uint32_t index)
{
	uint32_t n = p->info->nr_threads;

	return index < n ? &p->row_of[index] : &p->vrow_of[index - n];
}

/* Rows of one task whose threads may have ended: a heap, earliest end on top. */
struct ends {
	struct end {
		uint64_t death;
		uint32_t row;
	} * heap;
	uint32_t nr;
};

static void ends_down(struct ends *e, uint32_t i)
{
	for (;;) {
		uint32_t least = i;

		for (uint32_t c = 2 * i + 1; c <= 2 * i + 2 && c < e->nr; c++) {
			if (e->heap[c].death < e->heap[least].death)
				least = c;
		}
		if (least == i)
			return;
		struct end swap = e->heap[i];

		e->heap[i] = e->heap[least];
		e->heap[least] = swap;
		i = least;
	}
}

static void ends_push(struct ends *e, uint64_t death, uint32_t row)
{
	uint32_t i = e->nr++;

	while (i && e->heap[(i - 1) / 2].death > death) {
		e->heap[i] = e->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	e->heap[i] = (struct end){death, row};
}

/* Gives each of @n threads, sorted by process and birth, a row. Returns the number of rows. */
static uint32_t assign(struct paraver *p, const struct by_birth *list, uint32_t n,
		       struct ends *ends, bool share)
{
	uint32_t rows = 0;

	p->stats.shared = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct prv_life t = life_of(p, list[i].thread);

		if (i == 0 || list[i].process != list[i - 1].process ||
		    list[i].is_virtual != list[i - 1].is_virtual)
			ends->nr = 0;
		if (share && ends->nr && ends->heap[0].death < t.birth) {
			*row_slot(p, list[i].thread) = ends->heap[0].row;
			ends->heap[0].death = t.death;
			ends_down(ends, 0);
			p->stats.shared++;
			continue;
		}
		*row_slot(p, list[i].thread) = rows;
		if (share)
			ends_push(ends, t.death, rows);
		rows++;
	}
	return rows;
}

static void row_init(struct prv_row *row, uint32_t appl, uint32_t task, uint32_t thread)
{
	row->prefix_len =
		(uint8_t)snprintf(row->prefix, sizeof(row->prefix),
				  "%" PRIu32 ":%" PRIu32 ":%" PRIu32 ":", appl, task, thread);
	row->begin = number_of(0);
	row->owner = NONE;
	row->run = MODEL_RUN; /* until something else is known */
}

uint32_t nodes_count(const struct paraver *p)
{
	return p->info->manifest->nr_hosts ? p->info->manifest->nr_hosts : 1;
}

struct prv_node node_of(const struct paraver *p, uint32_t host)
{
	const struct manifest *man = p->info->manifest;
	struct prv_node node = {man->hostname, 0, p->info->nr_cpus};

	if (man->nr_hosts) {
		const struct host_entry *h = &man->hosts[host];

		node = (struct prv_node){h->name, h->first_cpu, h->nr_cpus};
		/* A file may tell of more than the model takes. */
		if (node.first_cpu > p->info->nr_cpus)
			node.first_cpu = p->info->nr_cpus;
		if (node.nr_cpus > p->info->nr_cpus - node.first_cpu)
			node.nr_cpus = p->info->nr_cpus - node.first_cpu;
	}
	if (!node.name || !*node.name)
		node.name = "node";
	return node;
}

/* Numbers tasks and rows, and lists for each row its threads. */
static int number_rows(struct paraver *p, const struct by_birth *list, uint32_t n)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t row = *row_slot(p, list[i].thread);
		struct prv_task *task = &p->tasks[p->nr_tasks - 1];

		if (i == 0 || list[i].process != list[i - 1].process) {
			task = &p->tasks[p->nr_tasks++];
			task->process = list[i].process;
			task->first_row = row;
		}
		if (p->rows[row].nr++ == 0) {
			task->nr_rows++;
			row_init(&p->rows[row], 1, p->nr_tasks, task->nr_rows);
		}
	}
	for (uint32_t i = 0; i < p->nr_rows; i++) {
		p->rows[i].first = at;
		at += p->rows[i].nr;
		p->rows[i].nr = 0;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct prv_row *row = &p->rows[*row_slot(p, list[i].thread)];

		p->order[row->first + row->nr++] = list[i].thread;
	}
	for (uint32_t i = 0; i < nodes_count(p); i++) {
		const struct prv_node node = node_of(p, i);

		for (uint32_t cpu = 0; p->nr_cpu_rows && cpu < node.nr_cpus; cpu++)
			row_init(&p->rows[p->nr_rows + node.first_cpu + cpu], 2, i + 1, cpu + 1);
	}
	return 0;
}

static uint32_t list_threads(struct paraver *p, struct by_birth *list)
{
	const struct model_info *info = p->info;
	uint32_t n = 0;

	p->row_of[info->nr_threads] = NONE;
	for (uint32_t i = 0; i < info->nr_threads; i++) {
		const struct model_thread *t = &info->threads[i];

		p->row_of[i] = NONE;
		if (has_row(info, t))
			list[n++] = (struct by_birth){t->process, i, false, t->birth};
	}
	for (uint32_t i = 0; i < info->nr_vthreads; i++) {
		const struct model_vthread *v = &info->vthreads[i];

		p->vrow_of[i] = NONE;
		if (v->selected)
			list[n++] =
				(struct by_birth){v->process, info->nr_threads + i, true, v->birth};
	}
	qsort(list, n, sizeof(*list), by_birth_compare);
	return n;
}

static int objects_alloc(struct paraver *p, uint32_t n)
{
	p->rows = calloc((size_t)p->nr_rows + p->nr_cpu_rows, sizeof(*p->rows));
	p->tasks = calloc(p->info->nr_processes + 1ull, sizeof(*p->tasks));
	p->order = calloc(n, sizeof(*p->order));
	p->cpu_tid = calloc(p->info->nr_cpus, sizeof(*p->cpu_tid));
	return p->rows && p->tasks && p->order && p->cpu_tid ? 0 : -ENOMEM;
}

int objects_init(struct paraver *p)
{
	uint32_t limit = p->options.max_rows ? p->options.max_rows : PARAVER_MAX_ROWS;
	size_t nr_threads = p->info->nr_threads, nr = nr_threads + p->info->nr_vthreads;
	struct by_birth *list = calloc(nr + 1, sizeof(*list));
	struct ends ends = {calloc(nr + 1, sizeof(*ends.heap)), 0};
	uint32_t n;
	int err = -ENOMEM;

	p->row_of = calloc(nr_threads + 1, sizeof(*p->row_of));
	p->vrow_of = calloc(p->info->nr_vthreads + 1ull, sizeof(*p->vrow_of));
	if (!list || !ends.heap || !p->row_of || !p->vrow_of)
		goto out;
	n = list_threads(p, list);
	err = -ENODATA;
	if (!n)
		goto out;
	err = -EOVERFLOW;
	if (p->info->end - p->info->begin > PARAVER_MAX_TIME)
		goto out;
	if (p->options.cpu_rows || p->options.wakeups == PARAVER_WAKEUPS_ALL)
		p->nr_cpu_rows = p->info->nr_cpus;
	p->nr_rows = assign(p, list, n, &ends, false);
	if ((uint64_t)p->nr_rows + p->nr_cpu_rows > limit)
		p->nr_rows = assign(p, list, n, &ends, true);
	err = -E2BIG;
	if ((uint64_t)p->nr_rows + p->nr_cpu_rows > limit)
		goto out;
	err = objects_alloc(p, n);
	if (!err)
		err = number_rows(p, list, n);
	p->stats.rows = p->nr_rows;
	p->stats.tasks = p->nr_tasks;
out:
	free(list);
	free(ends.heap);
	return err;
}

void objects_fini(struct paraver *p)
{
	free(p->rows);
	free(p->tasks);
	free(p->order);
	free(p->row_of);
	free(p->vrow_of);
	free(p->cpu_tid);
}

/* Nodes, applications, tasks: "2(4,8):2:1(3:2):2(4:1,8:2)" */
static void header_objects(const struct paraver *p, FILE *f)
{
	const struct manifest *man = p->info->manifest;

	fprintf(f, "%" PRIu32 "(", nodes_count(p));
	for (uint32_t i = 0; i < nodes_count(p); i++)
		fprintf(f, "%s%" PRIu32, i ? "," : "", node_of(p, i).nr_cpus);
	fprintf(f, "):%d:%" PRIu32 "(", p->nr_cpu_rows ? 2 : 1, p->nr_tasks);
	for (uint32_t i = 0; i < p->nr_tasks; i++) {
		uint32_t pid = p->info->processes[p->tasks[i].process].pid;

		fprintf(f, "%s%" PRIu32 ":%" PRIu32, i ? "," : "", p->tasks[i].nr_rows,
			manifest_host_of_tid(man, pid) + 1);
	}
	fputc(')', f);
	if (p->nr_cpu_rows)
		fprintf(f, ":%" PRIu32 "(", nodes_count(p));
	for (uint32_t i = 0; p->nr_cpu_rows && i < nodes_count(p); i++)
		fprintf(f, "%s%" PRIu32 ":%" PRIu32, i ? "," : "", node_of(p, i).nr_cpus, i + 1);
	fputs(p->nr_cpu_rows ? ")\n" : "\n", f);
}

/* The date is that of the window's begin, in UTC, so that the same trace always gives the same
 * file. */
char *objects_header(const struct paraver *p)
{
	const struct manifest *man = p->info->manifest;
	/* Each in seconds, which cannot overflow in the sum; their parts of a second are kept. */
	int64_t begin = manifest_realtime(man, man->begin), window = (int64_t)p->info->begin;
	time_t when = (time_t)(begin / 1000000000 + window / 1000000000 +
			       (begin % 1000000000 + window % 1000000000) / 1000000000);
	char date[64] = "01/01/1970 at 00:00";
	char *text = NULL;
	size_t size;
	struct tm tm;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	if (gmtime_r(&when, &tm))
		strftime(date, sizeof(date), "%d/%m/%Y at %H:%M", &tm);
	fprintf(f, "#Paraver (%s):%" PRIu64 "_ns:", date, p->info->end - p->info->begin);
	header_objects(p, f);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}
