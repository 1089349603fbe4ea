/* SPDX-License-Identifier: MIT */
/*
 * `jis why` in words: what each part of a path is called, the answer in one sentence, tables and
 * paths as text. Short steps beside each other are one line; how short depends on the lines there
 * may be.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "why.h"

#define TEXT_SIZE WHY_TEXT_SIZE

static double ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Tables ------------------------------------------------------------------------------------- */

/*
 * Row @i and those after it that are no longer, of the same level, as one; those below a row are in
 * it. Returns the last.
 */
static uint32_t print_rest(const struct path_row *const *list, uint32_t nr, uint32_t i,
			   uint64_t sum)
{
	uint32_t parent = list[i]->key.parent, rows = 0;
	uint64_t time = 0, count = 0;

	for (; i < nr; i++) {
		if (parent != PATH_NO_ROW && list[i]->key.parent != parent)
			break;
		if (list[i]->key.parent != parent)
			continue;
		time += list[i]->time;
		count += list[i]->count;
		rows++;
	}
	printf("%12.3f %7.1f %9" PRIu64 "  %s%u more\n", ms(time), percent(time, sum), count,
	       parent != PATH_NO_ROW ? "  . " : "", rows);
	return i - 1;
}

static int print_rows(const struct why *w, const struct path_rows *rows)
{
	uint32_t nr, tops = 0, belows = 0;
	const struct path_row **list = path_rows_sorted(rows, &nr);
	uint64_t sum = path_rows_sum(rows);
	char text[TEXT_SIZE];

	if (!list)
		return -ENOMEM;
	printf("%12s %7s %9s  %s\n", "ms", "%", "times", "why; below it: what that time went to");
	for (uint32_t i = 0; i < nr; i++) {
		const struct path_row *row = list[i];
		bool below = row->key.parent != PATH_NO_ROW;

		belows = below ? belows + 1 : 0;
		tops += !below;
		if (w->limit &&
		    (row->time < sum / 1000 || tops > w->limit || belows > w->limit / 4 + 1)) {
			i = print_rest(list, nr, i, sum);
			continue;
		}
		printf("%12.3f %7.1f %9" PRIu64 "  %s", ms(row->time), percent(row->time, sum),
		       row->count, below ? "  . " : "");
		if (below && !row->key.others && row->key.who) {
			cli_print_escaped(stdout, path_rows_name(rows, row->key.who));
			fputs(": ", stdout);
		}
		cli_print_escaped(stdout, why_row_text(w, rows, row, text, sizeof(text)));
		putchar('\n');
	}
	printf("%12.3f %7.1f %9s  sum\n", ms(sum), 100.0, "");
	free(list);
	return 0;
}

/* Paths -------------------------------------------------------------------------------------- */

/* Short steps beside each other, of one level. */
struct fold {
	uint64_t begin, end, running, ready, waiting, other;
	uint32_t steps, depth;
	struct path_step first, longest;
};

struct path_printer {
	const struct why *w;
	const struct why_detail *d;
	uint64_t shortest; /* shorter ones are folded */
	uint32_t home;	   /* process of the interval's thread */
	bool counting;	   /* print nothing */
	uint32_t lines;
	struct fold fold;
};

static void print_place(const struct path_printer *p, uint64_t begin, uint64_t end, uint32_t depth)
{
	printf("%14.6f %12.3f  ", ms(begin - p->d->interval.begin), ms(end - begin));
	for (uint32_t i = 0; i < depth; i++)
		fputs(". ", stdout);
}

static void print_whose(const struct path_printer *p, struct path_who who, uint32_t depth)
{
	char text[TEXT_SIZE];

	if (!depth)
		return;
	cli_print_escaped(stdout, path_who_away_text(p->w->model, p->w->info, who, p->home, false,
						     text, sizeof(text)));
	fputs(": ", stdout);
}

static void print_line(const struct path_printer *p, const struct path_step *s)
{
	char text[TEXT_SIZE];

	print_place(p, s->begin, s->end, s->depth);
	print_whose(p, s->who, s->depth);
	cli_print_escaped(stdout, why_step_text(p->w, s, p->home, text, sizeof(text)));
	putchar('\n');
}

static void print_fold_times(const struct fold *f)
{
	static const char *const names[] = {"running", "ready", "waiting", "not known"};
	const uint64_t times[] = {f->running, f->ready, f->waiting, f->other};
	bool any = false;

	for (int i = 0; i < 4; i++) {
		if (times[i])
			printf("%s %s %.3f", any ? "," : "", names[i], ms(times[i]));
		any |= times[i] != 0;
	}
}

static void fold_end(struct path_printer *p)
{
	struct fold *f = &p->fold;

	if (!f->steps)
		return;
	p->lines++;
	if (!p->counting && f->steps == 1) {
		print_line(p, &f->first);
	} else if (!p->counting) {
		print_place(p, f->begin, f->end, f->depth);
		print_whose(p, f->longest.who, f->depth);
		printf("%u short steps:", f->steps);
		print_fold_times(f);
		putchar('\n');
	}
	f->steps = 0;
}

static void fold_add(struct path_printer *p, const struct path_step *s)
{
	struct fold *f = &p->fold;
	uint64_t time = s->end - s->begin;

	if (f->steps && (f->end != s->begin || f->depth != s->depth))
		fold_end(p);
	if (!f->steps)
		*f = (struct fold){.begin = s->begin,
				   .depth = s->depth,
				   .first = *s,
				   .longest = *s};
	if (time > f->longest.end - f->longest.begin)
		f->longest = *s;
	f->end = s->end;
	f->steps++;
	if (s->state == MODEL_RUNNING)
		f->running += time;
	else if (s->state == MODEL_READY)
		f->ready += time;
	else if (why_is_wait(s->state))
		f->waiting += time;
	else
		f->other += time;
}

static bool same_step(const struct path_step *a, const struct path_step *b)
{
	return a->leaf && b->leaf && a->depth == b->depth && a->end == b->begin &&
	       a->state == b->state && a->why == b->why && a->ended == b->ended &&
	       a->flags == b->flags && a->who.thread == b->who.thread &&
	       a->who.vthread == b->who.vthread && a->by.thread == b->by.thread &&
	       a->by.vthread == b->by.vthread && a->foreign == b->foreign &&
	       !memcmp(&a->call, &b->call, sizeof(a->call));
}

static void print_step(struct path_printer *p, const struct path_step *s)
{
	fold_end(p);
	p->lines++;
	if (!p->counting)
		print_line(p, s);
}

/* Those below a short step are in it. */
static void print_steps(struct path_printer *p)
{
	const struct why_detail *d = p->d;
	uint32_t i = 0;

	p->lines = 0;
	p->fold.steps = 0;
	while (i < d->nr_steps) {
		struct path_step s = d->steps[i++];

		while (i < d->nr_steps && same_step(&s, &d->steps[i]))
			s.end = d->steps[i++].end;
		if (s.end - s.begin >= p->shortest) {
			print_step(p, &s);
			continue;
		}
		fold_add(p, &s);
		while (i < d->nr_steps && d->steps[i].depth > s.depth)
			i++;
	}
	fold_end(p);
}

/* As much of the path as fits in the lines there may be. */
static void print_path(const struct why *w, const struct why_detail *d)
{
	uint64_t whole = d->interval.end - d->interval.begin;
	struct path_printer p = {.w = w,
				 .d = d,
				 .home = path_who_process(w->info, d->interval.who),
				 .counting = true,
				 .shortest = w->limit ? whole / 1000 + 1 : 0};

	printf("\n%14s %12s  %s\n", "from ms", "for ms", "the path");
	for (print_steps(&p); w->limit && p.lines > w->limit && p.shortest < whole; print_steps(&p))
		p.shortest += p.shortest / 8 + 1;
	p.counting = false;
	print_steps(&p);
	if (p.shortest)
		printf("%14s %12s  (steps shorter than %.3f ms put together; --limit 0 shows "
		       "all)\n",
		       "", "", ms(p.shortest));
	if (d->cut)
		printf("%14s %12s  ... and more, not kept\n", "", "");
}

static int print_detail(const struct why *w, const struct why_detail *d)
{
	int err;

	if (*d->which)
		printf("\n%s: ", d->which);
	why_title(w, &d->interval, stdout);
	printf(", from %.6f to %.6f s\n", (double)d->interval.begin / 1e9,
	       (double)d->interval.end / 1e9);
	why_answer(w, d->rows, stdout);
	puts("\n");
	err = print_rows(w, d->rows);
	if (!err)
		print_path(w, d);
	return err;
}

/* Statistics --------------------------------------------------------------------------------- */

static uint64_t length_of(const struct why *w, uint32_t i)
{
	return w->intervals[i].end - w->intervals[i].begin;
}

static uint64_t quantile(const struct why *w, uint32_t percents)
{
	return length_of(w, (uint32_t)((uint64_t)(w->nr_intervals - 1) * percents / 100));
}

static void print_all(const struct why *w)
{
	uint32_t n = w->nr_intervals;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += length_of(w, i);
	printf("%s \"", w->intervals[0].marker ? "marker" : "span");
	cli_print_escaped(stdout, w->span);
	printf("\": %u times, %.3f ms in all; shortest %.3f, median %.3f, 90 %% below %.3f, 99 %% "
	       "below "
	       "%.3f, longest %.3f ms\n",
	       n, ms(sum), ms(length_of(w, 0)), ms(quantile(w, 50)), ms(quantile(w, 90)),
	       ms(quantile(w, 99)), ms(length_of(w, n - 1)));
	if (w->left_out)
		printf("%" PRIu64
		       " more are left out: too many, or of virtual threads without a row "
		       "(--max-virtual)\n",
		       w->left_out);
}

static int name_compare(const void *a, const void *b)
{
	const struct span_name *x = *(const struct span_name *const *)a;
	const struct span_name *y = *(const struct span_name *const *)b;

	return x->longest != y->longest ? (x->longest > y->longest ? -1 : 1)
					: strcmp(x->text, y->text);
}

static int print_names(const struct why *w)
{
	const struct spans *s = w->spans;
	const struct span_name **list = calloc(s->nr_names + 1ull, sizeof(*list));
	uint32_t n = 0;

	if (!list)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->nr_names; i++)
		if (s->names[i].count)
			list[n++] = &s->names[i];
	qsort(list, n, sizeof(*list), name_compare);
	printf("%12s %12s %12s  %s\n", "longest ms", "mean ms", "times", "span (--span NAME)");
	for (uint32_t i = 0; i < n && (!w->limit || i < w->limit); i++) {
		printf("%12.3f %12.3f %12" PRIu64 "  %s", ms(list[i]->longest),
		       ms(list[i]->total) / (double)list[i]->count, list[i]->count,
		       list[i]->marker ? "marker " : "");
		cli_print_escaped(stdout, list[i]->text);
		putchar('\n');
	}
	free(list);
	if (s->folded)
		printf("%" PRIu64
		       " more markers are listed by type alone: there are too many values; "
		       "--span TYPE=VALUE finds them\n",
		       s->folded);
	if (s->lost)
		printf("%" PRIu64 " more have no known end: records of their threads are missing\n",
		       s->lost);
	return 0;
}

/* Time of waits of which the kernel's side is not known, where that could have been recorded. */
static uint64_t not_known(const struct why *w, const struct path_rows *rows)
{
	uint32_t nr;
	const struct path_row **list = path_rows_sorted(rows, &nr);
	uint64_t time = 0;

	for (uint32_t i = 0; i < nr; i++) {
		bool leaf = list[i]->key.parent != PATH_NO_ROW || i + 1 == nr ||
			    list[i + 1]->key.parent == PATH_NO_ROW;

		if (leaf && why_is_wait(list[i]->key.state) &&
		    lanes_why(w->lanes, list[i]->key.why)->kind == MODEL_WAIT_UNKNOWN)
			time += list[i]->time;
	}
	free(list);
	return time;
}

static void print_advice(const struct why *w)
{
	for (uint32_t i = 0; !w->info->manifest->syscalls && i < w->nr_details; i++) {
		const struct path_rows *rows = w->details[i].rows;

		if (not_known(w, rows) <= path_rows_sum(rows) / 10)
			continue;
		cli_note("waits are \"not known why\": jis record --syscalls io,net,futex tells "
			 "what calls wait for");
		return;
	}
}

int why_print_text(const struct why *w)
{
	int err = 0;

	if (w->spans && !w->span)
		err = print_names(w);
	if (!err && w->rows && w->nr_intervals) {
		print_all(w);
		if (w->nr_intervals > 1) {
			fputs("all together ", stdout);
			why_answer(w, w->rows, stdout);
			puts("\n");
			err = print_rows(w, w->rows);
		}
	}
	for (uint32_t i = 0; !err && i < w->nr_details; i++)
		err = print_detail(w, &w->details[i]);
	if (!err)
		print_advice(w);
	return err;
}
