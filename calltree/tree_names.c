/* SPDX-License-Identifier: MIT */
/* PREFIX.mth: what JVMs, threads and methods are called; PREFIX.stt: methods in numbers. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/grow.h"
#include "tree_int.h"

#define NAME_ROOM 1024

static FILE *file_open(const struct calltree *t, const char *suffix)
{
	char *path;
	FILE *f;

	if (asprintf(&path, "%s.%s", t->prefix, suffix) < 0)
		return NULL;
	f = fopen(path, "we");
	free(path);
	return f;
}

int tree_file_ended(FILE *f)
{
	int err = ferror(f) ? -EIO : 0;

	if (fclose(f) && !err)
		err = -errno;
	return err;
}

void tree_put_field(FILE *f, const char *text)
{
	putc('\t', f);
	for (; *text; text++) {
		if (*text == '\t')
			fputs("\\t", f);
		else if (*text == '\n')
			fputs("\\n", f);
		else if (*text == '\\')
			fputs("\\\\", f);
		else
			putc(*text, f);
	}
}

static const char *method_text(const struct calltree *t, uint32_t method, char *text)
{
	if (method & JTA_REMOTE_METHOD)
		return model_name(t->model, method & ~JTA_REMOTE_METHOD);
	if (!method)
		return "?";
	model_method_text(t->model, method, text, NAME_ROOM);
	return text;
}

static const char *thread_text(const struct calltree *t, const struct tree_thread *th,
			       uint32_t *tid)
{
	const char *name = "";

	*tid = 0;
	if (th->vthread != MODEL_NO_THREAD && th->vthread < t->info->nr_vthreads)
		return model_name(t->model, t->info->vthreads[th->vthread].name);
	if (th->thread != MODEL_NO_THREAD && th->thread < t->info->nr_threads) {
		const struct thread_entry *e = t->info->threads[th->thread].entry;

		*tid = e->tid;
		name = e->name;
	}
	return name ? name : "";
}

static void put_remote_methods(const struct calltree *t, FILE *f)
{
	struct map64 told = {0};

	for (uint32_t i = 0; i < t->nr_stats; i++) {
		uint32_t method = t->stats[i].method;

		if (!(method & JTA_REMOTE_METHOD) || map64_get(&told, method) ||
		    map64_put(&told, method, 1))
			continue;
		fprintf(f, "method\t%" PRIu32, method);
		tree_put_field(f, method_text(t, method, NULL));
		putc('\n', f);
	}
	map64_free(&told);
}

int tree_names_write(const struct calltree *t)
{
	FILE *f = file_open(t, "mth");
	char text[NAME_ROOM];
	uint32_t tid;

	if (!f)
		return -errno;
	for (uint32_t i = 0; i < t->info->nr_processes; i++) {
		const struct process_entry *p = &t->info->processes[i];
		const char *name = process_entry_name(p);

		fprintf(f, "jvm\t%" PRIu32 "\t%" PRIu32, i, p->pid);
		tree_put_field(f, name ? name : "");
		tree_put_field(f, p->name ? p->name : "");
		putc('\n', f);
	}
	for (uint32_t i = 0; i < t->nr_threads; i++) {
		const struct tree_thread *th = &t->threads[i];
		const char *name = thread_text(t, th, &tid);

		fprintf(f, "thread\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu64, i + 1,
			th->process, tid, th->java_tid);
		tree_put_field(f, name);
		putc('\n', f);
	}
	for (uint32_t i = 1; i <= model_nr_methods(t->model); i++) {
		fprintf(f, "method\t%" PRIu32, i);
		tree_put_field(f, method_text(t, i, text));
		putc('\n', f);
	}
	put_remote_methods(t, f);
	return tree_file_ended(f);
}

/* Statistics --------------------------------------------------------------------------------- */

static struct tree_stat *stat_get(struct calltree *t, uint32_t process, const struct jta_record *r)
{
	uint64_t key = ((uint64_t)process << 36 | (uint64_t)r->kind << 32 | r->method) + 1;
	uint64_t *index = map64_get(&t->by_method, key);

	if (index)
		return &t->stats[*index];
	if (t->nr_stats == t->room_stats && !GROW(t->stats, t->room_stats, 256))
		return NULL;
	if (map64_put(&t->by_method, key, t->nr_stats))
		return NULL;
	t->stats[t->nr_stats] = (struct tree_stat){.process = process,
						   .method = r->method,
						   .kind = r->kind,
						   .min = UINT64_MAX};
	return &t->stats[t->nr_stats++];
}

int tree_stat_add(struct calltree *t, uint32_t process, const struct jta_record *r)
{
	struct tree_stat *s = stat_get(t, process, r);
	uint64_t time = r->end - r->begin;

	if (!s)
		return -ENOMEM;
	s->calls++;
	if (r->flags & JTA_PART) {
		s->parts++;
		return 0;
	}
	s->total += time;
	s->min = time < s->min ? time : s->min;
	s->max = time > s->max ? time : s->max;
	s->squares += (unsigned __int128)time * time;
	return 0;
}

/* Standard deviation of the whole ones, to the mean's 2^-31: the sums are exact, and a long double
 * has 64 bits at least. */
static double deviation(const struct tree_stat *s)
{
	long double n = (long double)(s->calls - s->parts), mean = (long double)s->total / n;
	long double variance = (long double)s->squares / n - mean * mean;

	return variance > 0 ? (double)sqrtl(variance) : 0;
}

static int by_total(const void *a, const void *b)
{
	const struct tree_stat *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return x->method < y->method ? -1 : x->method > y->method;
}

int tree_stats_write(const struct calltree *t)
{
	static const char *const kinds[] = {
		[JTA_METHOD] = "method", [JTA_REMOTE] = "remote", [JTA_SERVED] = "served"};
	FILE *f = file_open(t, "stt");
	char text[NAME_ROOM];

	if (!f)
		return -errno;
	fputs("#jvm\tkind\tcalls\tparts\ttotal_ns\tmin_ns\tmax_ns\tmean_ns\tdeviation_ns\tmethod\n",
	      f);
	if (t->nr_stats)
		qsort(t->stats, t->nr_stats, sizeof(*t->stats), by_total);
	for (uint32_t i = 0; i < t->nr_stats; i++) {
		const struct tree_stat *s = &t->stats[i];
		uint64_t whole = s->calls - s->parts;

		fprintf(f,
			"%" PRIu32 "\t%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
			"\t%" PRIu64 "\t%.0f\t%.0f",
			s->process, kinds[s->kind], s->calls, s->parts, s->total,
			whole ? s->min : 0, s->max, whole ? (double)s->total / (double)whole : 0.0,
			whole ? deviation(s) : 0.0);
		tree_put_field(f, method_text(t, s->method, text));
		putc('\n', f);
	}
	return tree_file_ended(f);
}
