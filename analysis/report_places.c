/* SPDX-License-Identifier: MIT */
/*
 * Sums of waits by place: only waits with a stack have one (--stacks); and of threads started,
 * which all have one. They are counted by stack while the trace is read, because a stack's text is
 * known to the model alone; report_places() makes places of them.
 */
#include "report_places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FRAMES 64

struct stack_key {
	uint32_t process, stack, kind, class_name;
};

struct stack_sum {
	struct stack_key key;
	struct report_stack sum;
};

struct start_key {
	struct model_who by;
	uint32_t process, stack;
};

struct start_sum {
	struct start_key key;
	uint64_t count;
};

void places_begin(struct places_run *r)
{
	r->stacks = (struct tally){.size = sizeof(struct stack_sum),
				   .key_size = sizeof(struct stack_key)};
	r->starts = (struct tally){.size = sizeof(struct start_sum),
				   .key_size = sizeof(struct start_key)};
}

int places_start(struct places_run *r, const struct model_event *e)
{
	/* A virtual thread's carrier says nothing. */
	uint32_t thread = e->type ? MODEL_NO_THREAD : e->thread;
	struct start_key key = {{thread, e->vthread}, e->process, (uint32_t)e->value};
	struct start_sum *s = tally_get(&r->starts, &key);

	if (!s)
		return -ENOMEM;
	s->count++;
	return 0;
}

int places_java_wait(struct places_run *r, const struct model_java_wait *w)
{
	uint64_t time = w->end - w->begin;
	struct stack_key key = {.process = w->process,
				.stack = w->stack,
				.kind = w->reason->kind,
				.class_name = w->reason->class_name};
	struct stack_sum *s;

	if (!w->stack || w->inside || w->reason->kind == MODEL_WAIT_POOL)
		return 0;
	s = tally_get(&r->stacks, &key);
	if (!s)
		return -ENOMEM;
	s->sum.count++;
	s->sum.time += time;
	s->sum.pinned += w->pinned;
	s->sum.work_time += w->in_work ? time : 0;
	if (time > s->sum.longest)
		s->sum.longest = time;
	return 0;
}

int places_end(struct places_run *r, struct report *report)
{
	struct stack_sum *from = r->stacks.items;
	struct report_stack *out = calloc(r->stacks.nr + 1ull, sizeof(*out));
	const struct start_sum *starts = r->starts.items;

	r->out = out;
	r->out_starts = calloc(r->starts.nr + 1ull, sizeof(*r->out_starts));
	if (!out || !r->out_starts)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->stacks.nr; i++) {
		out[i] = from[i].sum;
		out[i].process = from[i].key.process;
		out[i].stack = from[i].key.stack;
		out[i].kind = (enum model_reason_kind)from[i].key.kind;
		out[i].class_name = from[i].key.class_name;
	}
	report->stacks = out;
	report->nr_stacks = r->stacks.nr;
	for (uint32_t i = 0; i < r->starts.nr; i++)
		r->out_starts[i] = (struct report_start){starts[i].key.by, starts[i].key.process,
							 starts[i].key.stack, starts[i].count};
	report->starts = r->out_starts;
	report->nr_starts = r->starts.nr;
	return 0;
}

void places_fini(struct places_run *r)
{
	tally_fini(&r->stacks);
	tally_fini(&r->starts);
	free(r->out);
	free(r->out_starts);
}

/* Places ------------------------------------------------------------------------------------- */

static bool is_jdk(const char *class_name)
{
	static const char *const own[] = {"java.", "javax.", "jdk.", "sun.", "com.sun."};

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		if (!strncmp(class_name, own[i], strlen(own[i])))
			return true;
	}
	return false;
}

/* Every thread's outermost frames say nothing of what it does. */
static bool is_thread(const char *class_name)
{
	return !strcmp(class_name, "java.lang.Thread") ||
	       !strcmp(class_name, "java.lang.VirtualThread") ||
	       !strcmp(class_name, "jdk.internal.misc.InnocuousThread");
}

/* The innermost frame of the program's own; of the JDK's the outermost; NULL: none is known. */
static const struct model_frame *place_of(const struct model_frame *frames, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!is_jdk(frames[i].class_name))
			return &frames[i];
	}
	while (n > 1 && is_thread(frames[n - 1].class_name))
		n--;
	return n ? &frames[n - 1] : NULL;
}

static int by_text(const void *a, const void *b)
{
	const struct report_place *x = a, *y = b;
	int order = strcmp(x->place, y->place);

	if (order)
		return order;
	return x->kind != y->kind
		       ? (int)x->kind - (int)y->kind
		       : (x->class_name > y->class_name) - (x->class_name < y->class_name);
}

static int by_time(const void *a, const void *b)
{
	const struct report_place *x = a, *y = b;

	if (x->work_time != y->work_time)
		return x->work_time > y->work_time ? -1 : 1;
	if (x->time != y->time)
		return x->time > y->time ? -1 : 1;
	return by_text(a, b);
}

/* Class.method, to be freed; NULL: no memory. */
static char *place_text(const struct model *m, uint32_t process, uint32_t stack)
{
	struct model_frame frames[MAX_FRAMES];
	uint32_t n = stack ? model_stack(m, process, stack, frames, MAX_FRAMES) : 0;
	const struct model_frame *f = place_of(frames, n);
	char *text;

	if (!f)
		return strdup("(not known)");
	text = malloc(strlen(f->class_name) + strlen(f->method) + 2);
	if (text)
		stpcpy(stpcpy(stpcpy(text, f->class_name), "."), f->method);
	return text;
}

static int place_make(const struct model *m, const struct report_stack *s,
		      struct report_place *place)
{
	*place = (struct report_place){.kind = s->kind,
				       .class_name = s->class_name,
				       .count = s->count,
				       .time = s->time,
				       .work_time = s->work_time,
				       .pinned = s->pinned,
				       .longest = s->longest};
	place->place = place_text(m, s->process, s->stack);
	return place->place ? 0 : -ENOMEM;
}

static void place_add(struct report_place *to, struct report_place *from)
{
	to->count += from->count;
	to->time += from->time;
	to->work_time += from->work_time;
	to->pinned += from->pinned;
	if (from->longest > to->longest)
		to->longest = from->longest;
	free(from->place);
}

static uint32_t places_fold(struct report_place *p, uint32_t n)
{
	uint32_t kept = 0;

	qsort(p, n, sizeof(*p), by_text);
	for (uint32_t i = 0; i < n; i++) {
		if (kept && !by_text(&p[kept - 1], &p[i]))
			place_add(&p[kept - 1], &p[i]);
		else
			p[kept++] = p[i];
	}
	qsort(p, kept, sizeof(*p), by_time);
	return kept;
}

int report_places(const struct model *m, const struct report *r, struct report_place **out)
{
	struct report_place *p = calloc(r->nr_stacks + 1ull, sizeof(*p));

	*out = NULL;
	if (!p)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->nr_stacks; i++) {
		if (place_make(m, &r->stacks[i], &p[i])) {
			report_places_free(p, i);
			return -ENOMEM;
		}
	}
	*out = p;
	return (int)places_fold(p, r->nr_stacks);
}

void report_places_free(struct report_place *places, uint32_t nr)
{
	for (uint32_t i = 0; places && i < nr; i++)
		free(places[i].place);
	free(places);
}

/* Starts of threads --------------------------------------------------------------------------- */

struct start_row {
	char *place;
	struct model_who by;
	uint64_t count;
};

static int who_compare(const struct model_who *x, const struct model_who *y)
{
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->vthread > y->vthread) - (x->vthread < y->vthread);
}

static int by_place(const void *a, const void *b)
{
	const struct start_row *x = a, *y = b;
	int order = strcmp(x->place, y->place);

	return order ? order : who_compare(&x->by, &y->by);
}

static int by_count(const void *a, const void *b)
{
	const struct report_start_place *x = a, *y = b;

	return x->count != y->count ? (x->count > y->count ? -1 : 1) : strcmp(x->place, y->place);
}

/* Puts @s among the starters of @p, if it is one of those with the most. */
static void starter_add(struct report_start_place *p, struct report_starter s)
{
	for (uint32_t i = 0; i < REPORT_OWNERS && s.count; i++) {
		struct report_starter moved = p->by[i];

		if (moved.count >= s.count)
			continue;
		p->by[i] = s;
		s = moved;
	}
}

/* Makes places of @n sorted rows, whose texts it takes. Returns how many. */
static uint32_t starts_fold(struct start_row *rows, uint32_t n, struct report_start_place *out)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct start_row *row = &rows[i];

		/* The same thread, from another line or by another way. */
		while (i + 1 < n && !by_place(row, &rows[i + 1])) {
			row->count += rows[++i].count;
			free(rows[i].place);
		}
		if (!nr || strcmp(out[nr - 1].place, row->place) != 0)
			out[nr++].place = row->place;
		else
			free(row->place);
		out[nr - 1].count += row->count;
		starter_add(&out[nr - 1], (struct report_starter){row->by, row->count});
	}
	qsort(out, nr, sizeof(*out), by_count);
	return nr;
}

int report_start_places(const struct model *m, const struct report *r,
			struct report_start_place **out)
{
	struct report_start_place *places = calloc(r->nr_starts + 1ull, sizeof(*places));
	struct start_row *rows = calloc(r->nr_starts + 1ull, sizeof(*rows));
	uint32_t n = 0;
	int err = -ENOMEM;

	*out = NULL;
	if (!places || !rows)
		goto out;
	for (; n < r->nr_starts; n++) {
		const struct report_start *s = &r->starts[n];

		rows[n] = (struct start_row){place_text(m, s->process, s->stack), s->by, s->count};
		if (!rows[n].place)
			goto out;
	}
	qsort(rows, n, sizeof(*rows), by_place);
	err = (int)starts_fold(rows, n, places);
	*out = places;
	free(rows);
	return err;
out:
	while (n)
		free(rows[--n].place);
	free(rows);
	free(places);
	return err;
}

void report_start_places_free(struct report_start_place *places, uint32_t nr)
{
	for (uint32_t i = 0; places && i < nr; i++)
		free(places[i].place);
	free(places);
}
