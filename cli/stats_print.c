/* SPDX-License-Identifier: MIT */
/*
 * The figures of `jis stats` as text, CSV and JSON. One table of fields is behind all three, and
 * behind --sort.
 */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "report_reasons.h"
#include "stats.h"
#include "trace/json_text.h"
#include "values.h"

#define NAME_ROOM 1024

/* Fields ------------------------------------------------------------------------------------- */

#define MEMBER(name, member)                                                                       \
	static uint64_t get_##name(const struct stats_line *l)                                     \
	{                                                                                          \
		return l->member;                                                                  \
	}
#define PERCENTILE(name, share)                                                                    \
	static uint64_t get_##name(const struct stats_line *l)                                     \
	{                                                                                          \
		return stats_percentile(l, share);                                                 \
	}

MEMBER(calls, calls)
MEMBER(parts, parts)
MEMBER(thrown, thrown)
MEMBER(repaired, repaired)
MEMBER(doubtful, doubtful)
MEMBER(total, total)
MEMBER(own, own)
MEMBER(min, min)
MEMBER(max, max)
MEMBER(cpu, time[MODEL_CALL_CPU])
MEMBER(ready, time[MODEL_CALL_READY])
MEMBER(blocked, time[MODEL_CALL_BLOCKED])
MEMBER(carrying, time[MODEL_CALL_CARRYING])
MEMBER(unknown, time[MODEL_CALL_UNKNOWN])
MEMBER(own_cpu, own_time[MODEL_CALL_CPU])
MEMBER(own_ready, own_time[MODEL_CALL_READY])
MEMBER(own_blocked, own_time[MODEL_CALL_BLOCKED])
MEMBER(own_carrying, own_time[MODEL_CALL_CARRYING])
MEMBER(own_unknown, own_time[MODEL_CALL_UNKNOWN])
MEMBER(lost, lost)
MEMBER(inside, inside)
PERCENTILE(p50, 0.5)
PERCENTILE(p90, 0.9)
PERCENTILE(p95, 0.95)
PERCENTILE(p99, 0.99)
PERCENTILE(p999, 0.999)

static uint64_t get_mean(const struct stats_line *l)
{
	return (uint64_t)llround(stats_mean(l));
}

static uint64_t get_sd(const struct stats_line *l)
{
	return (uint64_t)llround(stats_deviation(l));
}

struct field {
	const char *name;
	uint64_t (*get)(const struct stats_line *l);
};

#define FIELD(name)                                                                                \
	{                                                                                          \
#name, get_##name                                                                  \
	}

static const struct field fields[] = {
	FIELD(calls),	     FIELD(parts),	 FIELD(thrown),	   FIELD(repaired),
	FIELD(doubtful),     FIELD(total),	 FIELD(own),	   FIELD(min),
	FIELD(mean),	     FIELD(max),	 FIELD(sd),	   FIELD(p50),
	FIELD(p90),	     FIELD(p95),	 FIELD(p99),	   FIELD(p999),
	FIELD(cpu),	     FIELD(ready),	 FIELD(blocked),   FIELD(carrying),
	FIELD(unknown),	     FIELD(own_cpu),	 FIELD(own_ready), FIELD(own_blocked),
	FIELD(own_carrying), FIELD(own_unknown), FIELD(lost),	   FIELD(inside),
};

#define NR_FIELDS (sizeof(fields) / sizeof(fields[0]))

static const struct field *field_of(const char *name)
{
	for (size_t i = 0; i < NR_FIELDS; i++)
		if (!strcmp(fields[i].name, name))
			return &fields[i];
	return NULL;
}

bool stats_sortable(const char *name)
{
	return !strcmp(name, "name") || field_of(name);
}

/* Names -------------------------------------------------------------------------------------- */

static void method_text(const struct stats_view *v, uint32_t method, char *text)
{
	if (method)
		model_method_text(v->model, method, text, NAME_ROOM);
	else
		strcpy(text, "-");
}

/* The method of @l; of a context past the limit there is none. */
static void line_text(const struct stats_view *v, const struct stats_line *l, char *text)
{
	if (v->by == STATS_BY_CONTEXT && l->context == MODEL_NO_CONTEXT)
		strcpy(text, "(further contexts)");
	else
		model_method_text(v->model, l->method, text, NAME_ROOM);
}

static const char *thread_name(const struct stats_view *v, const struct stats_line *l)
{
	const struct model_info *info = model_info(v->model);

	if (l->vthread != MODEL_NO_THREAD)
		return model_name(v->model, info->vthreads[l->vthread].name);
	if (l->thread != MODEL_NO_THREAD)
		return info->threads[l->thread].entry->name;
	return "(other virtual threads)";
}

static uint32_t thread_tid(const struct stats_view *v, const struct stats_line *l)
{
	return l->thread == MODEL_NO_THREAD ? 0
					    : model_info(v->model)->threads[l->thread].entry->tid;
}

static bool text_matches(const char *pattern, const char *text)
{
	if (strpbrk(pattern, "*?"))
		return !fnmatch(pattern, text, 0);
	return strstr(text, pattern);
}

static bool wanted(const struct stats_view *v, const struct stats_line *l)
{
	char text[NAME_ROOM];

	if (!v->method)
		return true;
	line_text(v, l, text);
	if (text_matches(v->method, text))
		return true;
	if (v->by != STATS_BY_PAIR || !l->caller)
		return false;
	method_text(v, l->caller, text);
	return text_matches(v->method, text);
}

/* Order -------------------------------------------------------------------------------------- */

struct order {
	const struct stats_line **line;
	uint32_t nr;
};

static const struct stats_view *sorting; /* qsort() passes no context */
static const struct field *sort_field;

static int compare(const void *a, const void *b)
{
	const struct stats_line *x = *(const struct stats_line *const *)a,
				*y = *(const struct stats_line *const *)b;
	char tx[NAME_ROOM], ty[NAME_ROOM];

	if (sort_field) {
		uint64_t kx = sort_field->get(x), ky = sort_field->get(y);

		if (kx != ky)
			return kx < ky ? 1 : -1;
	} else {
		int c;

		line_text(sorting, x, tx);
		line_text(sorting, y, ty);
		c = strcmp(tx, ty);
		if (c)
			return c;
	}
	return x < y ? -1 : x > y; /* order of first calls */
}

/* Those wanted, sorted; all of them. */
static int order_make(const struct stats_view *v, struct order *o)
{
	uint32_t nr;
	const struct stats_line *lines = stats_lines(v->stats, &nr);

	o->nr = 0;
	o->line = calloc(nr + 1ull, sizeof(const struct stats_line *));
	if (!o->line)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++)
		if (wanted(v, &lines[i]))
			o->line[o->nr++] = &lines[i];
	sorting = v;
	sort_field = field_of(v->sort);
	qsort(o->line, o->nr, sizeof(const struct stats_line *), compare);
	return 0;
}

static uint32_t shown(const struct stats_view *v, const struct order *o)
{
	return v->top && v->top < o->nr ? v->top : o->nr;
}

/* Text --------------------------------------------------------------------------------------- */

static double ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

static double us(uint64_t ns)
{
	return (double)ns / 1e3;
}

/* The reasons most time was blocked for, as far as they are more than a twentieth of it. */
static void print_reasons(const struct stats_line *l)
{
	uint64_t blocked = l->time[MODEL_CALL_BLOCKED];
	const char *before = "  [";
	uint64_t done = 0;

	for (int n = 0; n < 3 && l->by_reason && blocked; n++) {
		uint32_t best = 0;

		for (uint32_t i = MODEL_WAIT_UNKNOWN; i < MODEL_NR_REASONS; i++)
			if (!(done & 1ull << i) && (!best || l->by_reason[i] > l->by_reason[best]))
				best = i;
		if (l->by_reason[best] * 20 < blocked)
			break;
		done |= 1ull << best;
		printf("%s%s %.3f", before, model_reason_name((enum model_reason_kind)best),
		       ms(l->by_reason[best]));
		before = ", ";
	}
	if (done)
		putchar(']');
}

static void print_heading(const struct stats_view *v)
{
	static const char *const what[] = {"method",
					   "caller -> method",
					   "context",
					   "thread [tid] method",
					   "method (arguments)",
					   "method (receiver)"};

	printf("%10s %11s %11s %11s %11s %11s %11s %11s %11s %11s %11s %11s  %s\n", "calls",
	       "total ms", "own ms", "CPU ms", "ready ms", "blocked ms", "min us", "mean us",
	       "p50 us", "p99 us", "max us", "sd us", what[v->by]);
}

static void print_figures(const struct stats_line *l)
{
	printf("%10" PRIu64 " %11.3f %11.3f %11.3f %11.3f %11.3f %11.3f %11.3f %11.3f %11.3f "
	       "%11.3f %11.3f  ",
	       l->calls, ms(l->total), ms(l->own), ms(l->time[MODEL_CALL_CPU]),
	       ms(l->time[MODEL_CALL_READY]), ms(l->time[MODEL_CALL_BLOCKED]), us(l->min),
	       stats_mean(l) / 1e3, us(stats_percentile(l, 0.5)), us(stats_percentile(l, 0.99)),
	       us(l->max), stats_deviation(l) / 1e3);
}

static void print_marks(const struct stats_line *l)
{
	if (l->time[MODEL_CALL_UNKNOWN])
		printf("  unknown %.3f ms", ms(l->time[MODEL_CALL_UNKNOWN]));
	if (l->time[MODEL_CALL_CARRYING])
		printf("  carrying %.3f ms", ms(l->time[MODEL_CALL_CARRYING]));
	if (l->thrown)
		printf("  %" PRIu64 " thrown", l->thrown);
	if (l->parts)
		printf("  %" PRIu64 " not whole", l->parts);
}

static void print_line(const struct stats_view *v, const struct stats_line *l, uint32_t indent)
{
	char text[NAME_ROOM], values[VALUES_ROOM];

	print_figures(l);
	if (v->by == STATS_BY_PAIR) {
		method_text(v, l->caller, text);
		cli_print_escaped(stdout, text);
		fputs(" -> ", stdout);
	} else if (v->by == STATS_BY_THREAD) {
		cli_print_escaped(stdout, thread_name(v, l));
		printf(" [%u] ", thread_tid(v, l));
	}
	printf("%*s", (int)(indent * 2), "");
	if (v->by == STATS_BY_CONTEXT && model_context(v->model, l->context)->started)
		fputs("(started) ", stdout);
	line_text(v, l, text);
	cli_print_escaped(stdout, text);
	if (l->nr_values) {
		values_text(v->model, l->values, l->nr_values, values, sizeof(values));
		printf(" (%s)", values);
	}
	print_reasons(l);
	print_marks(l);
	putchar('\n');
}

/* The tree: each context under the one it is called in, most first. */
struct tree {
	const struct stats_view *v;
	uint32_t *first, *next; /* [context]: child, sibling: positions in order + 1 */
	uint32_t *place;	/* [context]: position in the order + 1, 0: not shown */
	const struct order *o;
};

static void print_tree(const struct tree *t)
{
	uint32_t at = t->first[0], indent = 0;

	while (at) {
		const struct stats_line *l = t->o->line[at - 1];

		print_line(t->v, l, indent);
		if (l->context != MODEL_NO_CONTEXT && t->first[l->context]) {
			at = t->first[l->context];
			indent++;
			continue;
		}
		while (at && !t->next[at]) {
			uint32_t context = t->o->line[at - 1]->context;

			at = context == MODEL_NO_CONTEXT
				     ? 0
				     : t->place[model_context(t->v->model, context)->parent];
			indent -= at != 0;
		}
		at = at ? t->next[at] : 0;
	}
}

/* The first @n of the order, and what they are called in. */
static int print_contexts(const struct stats_view *v, const struct order *o, uint32_t n)
{
	uint32_t nr = model_nr_contexts(v->model);
	struct tree t = {.v = v, .o = o};
	uint32_t *where = calloc(nr + 1ull, sizeof(*where));
	int err = -ENOMEM;

	t.first = calloc(nr + 1ull, sizeof(*t.first));
	t.place = calloc(nr + 1ull, sizeof(*t.place));
	t.next = calloc(o->nr + 1ull, sizeof(*t.next));
	if (!t.first || !t.place || !t.next || !where)
		goto out;
	for (uint32_t i = 0; i < o->nr; i++)
		if (o->line[i]->context != MODEL_NO_CONTEXT)
			where[o->line[i]->context] = i + 1;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t c = o->line[i]->context;

		for (; c && c != MODEL_NO_CONTEXT && !t.place[c] && where[c];
		     c = model_context(v->model, c)->parent)
			t.place[c] = where[c];
	}
	/* From the last to the first, so that each list begins with the most. */
	for (uint32_t i = o->nr; i--;) {
		uint32_t c = o->line[i]->context, parent;

		if (c == MODEL_NO_CONTEXT ? i >= n : !t.place[c])
			continue;
		parent = c == MODEL_NO_CONTEXT ? 0 : model_context(v->model, c)->parent;
		/* Filtered out, or its own calls have not ended: a root. */
		if (parent && !t.place[parent])
			parent = 0;
		t.next[i + 1] = t.first[parent];
		t.first[parent] = i + 1;
	}
	print_tree(&t);
	err = 0;
out:
	free(t.first);
	free(t.place);
	free(t.next);
	free(where);
	return err;
}

/* The lines from @n on as one. */
static void print_rest(const struct order *o, uint32_t n)
{
	struct stats_line rest = {.min = UINT64_MAX};

	for (uint32_t i = n; i < o->nr; i++) {
		const struct stats_line *l = o->line[i];

		rest.calls += l->calls;
		rest.parts += l->parts;
		rest.total += l->total;
		rest.own += l->own;
		for (int k = 0; k < MODEL_NR_CALL_TIMES; k++)
			rest.time[k] += l->time[k];
		if (l->calls > l->parts && l->min < rest.min)
			rest.min = l->min;
		if (l->max > rest.max)
			rest.max = l->max;
		rest.sum += l->sum;
		rest.squares += l->squares;
	}
	printf("%10" PRIu64 " %11.3f %11.3f %11.3f %11.3f %11.3f %11.3f %11.3f %11s %11s %11.3f "
	       "%11.3f  the rest: %u lines\n",
	       rest.calls, ms(rest.total), ms(rest.own), ms(rest.time[MODEL_CALL_CPU]),
	       ms(rest.time[MODEL_CALL_READY]), ms(rest.time[MODEL_CALL_BLOCKED]),
	       us(rest.min == UINT64_MAX ? 0 : rest.min), stats_mean(&rest) / 1e3, "-", "-",
	       us(rest.max), stats_deviation(&rest) / 1e3, o->nr - n);
}

static void print_summary(const struct stats_view *v)
{
	const struct stats_summary *s = stats_summary(v->stats);
	char time[32];

	printf("\n%" PRIu64 " calls of %u methods in %u contexts", s->calls,
	       model_nr_methods(v->model), model_nr_contexts(v->model));
	if (s->changes)
		printf("; methods were chosen %" PRIu64 " times, which took %s", s->changes,
		       cli_format_ns(time, sizeof(time), s->pause));
	if (v->by >= STATS_BY_ARGUMENT)
		printf("; of %" PRIu64 " calls such values are told", s->told);
	putchar('\n');
	if (s->probe)
		printf("recording a call costs %.1f ns, which is in these times: %s in all\n",
		       (double)s->probe / 1e3,
		       cli_format_ns(time, sizeof(time),
				     (uint64_t)((double)s->probe / 1e3 * (double)s->calls)));
	cli_print_doubts(v->model, &s->counts);
}

int stats_print_text(const struct stats_view *v)
{
	struct order o;
	int err = order_make(v, &o);
	uint32_t n;

	if (err)
		return err;
	n = shown(v, &o);
	print_heading(v);
	if (v->by == STATS_BY_CONTEXT)
		err = print_contexts(v, &o, n);
	for (uint32_t i = 0; v->by != STATS_BY_CONTEXT && i < n; i++)
		print_line(v, o.line[i], 0);
	if (n < o.nr && v->by >= STATS_BY_ARGUMENT)
		print_rest(&o, n);
	else if (n < o.nr)
		printf("%10s ... and %u lines more (--top 0 shows all)\n", "", o.nr - n);
	print_summary(v);
	free(o.line);
	return err;
}

/* CSV ---------------------------------------------------------------------------------------- */

static void csv_text(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '"')
			putchar('"');
		putchar((unsigned char)*text < ' ' ? ' ' : *text);
	}
	putchar('"');
}

static void csv_path(const struct stats_view *v, uint32_t context)
{
	uint32_t path[256], n = 0;
	char text[NAME_ROOM];

	for (; context && n < 256; context = model_context(v->model, context)->parent)
		path[n++] = context;
	putchar('"');
	if (context)
		fputs("...", stdout);
	while (n--) {
		model_method_text(v->model, model_context(v->model, path[n])->method, text,
				  sizeof(text));
		for (char *c = text; *c; c++)
			putchar(*c == '"' || (unsigned char)*c < ' ' ? '_' : *c);
		if (n)
			fputs(model_context(v->model, path[n - 1])->started ? " => " : " > ",
			      stdout);
	}
	putchar('"');
}

static void csv_line(const struct stats_view *v, const struct stats_line *l)
{
	char text[NAME_ROOM], values[VALUES_ROOM];

	if (v->by == STATS_BY_THREAD) {
		csv_text(thread_name(v, l));
		printf(",%u,%u,", thread_tid(v, l),
		       model_info(v->model)->processes[l->process].pid);
	} else if (v->by == STATS_BY_PAIR) {
		method_text(v, l->caller, text);
		csv_text(text);
		putchar(',');
	} else if (v->by == STATS_BY_CONTEXT) {
		if (l->context == MODEL_NO_CONTEXT)
			fputs("\"\"", stdout);
		else
			csv_path(v, l->context);
		putchar(',');
	}
	line_text(v, l, text);
	csv_text(text);
	if (v->by >= STATS_BY_ARGUMENT) {
		values_text(v->model, l->values, l->nr_values, values, sizeof(values));
		putchar(',');
		csv_text(values);
	}
	for (size_t i = 0; i < NR_FIELDS; i++)
		printf(",%" PRIu64, fields[i].get(l));
	for (uint32_t i = MODEL_READY_WOKEN; i < MODEL_NR_REASONS; i++)
		printf(",%" PRIu64 ",%" PRIu64, l->by_reason ? l->by_reason[i] : 0,
		       l->own_by_reason ? l->own_by_reason[i] : 0);
	putchar('\n');
}

int stats_print_csv(const struct stats_view *v)
{
	static const char *const first[] = {"method",		"caller,method",
					    "context,method",	"thread,tid,pid,method",
					    "method,arguments", "method,receiver"};
	struct order o;
	int err = order_make(v, &o);

	if (err)
		return err;
	fputs(first[v->by], stdout);
	for (size_t i = 0; i < NR_FIELDS; i++)
		printf(",%s", fields[i].name);
	for (uint32_t i = MODEL_READY_WOKEN; i < MODEL_NR_REASONS; i++) {
		const char *name = model_reason_name((enum model_reason_kind)i);

		printf(",%s,own %s", name, name);
	}
	putchar('\n');
	for (uint32_t i = 0; i < shown(v, &o); i++)
		csv_line(v, o.line[i]);
	free(o.line);
	return 0;
}

/* JSON --------------------------------------------------------------------------------------- */

static void put(struct json_object *o, const char *name, uint64_t value)
{
	json_object_object_add(o, name, json_object_new_uint64(value));
}

static void put_text(struct json_object *o, const char *name, const char *text)
{
	json_object_object_add(o, name, json_text(text));
}

static void put_reasons(struct json_object *o, const char *name, const uint64_t *by_reason)
{
	struct json_object *r = json_object_new_object();

	for (uint32_t i = 0; by_reason && i < MODEL_NR_REASONS; i++)
		if (by_reason[i])
			put(r, model_reason_name((enum model_reason_kind)i), by_reason[i]);
	json_object_object_add(o, name, r);
}

static void put_arguments(const struct stats_view *v, struct json_object *o,
			  const struct stats_line *l)
{
	struct json_object *all = json_object_new_array();

	for (uint32_t i = 0; i < l->nr_values; i++) {
		struct json_object *one = json_object_new_object();

		put(one, "argument", (uint64_t)l->values[i].argument);
		put_text(one, "value", model_name(v->model, l->values[i].text));
		json_object_array_add(all, one);
	}
	json_object_object_add(o, "arguments", all);
}

static struct json_object *json_line(const struct stats_view *v, const struct stats_line *l)
{
	struct json_object *o = json_object_new_object();
	const struct model_context *c = model_context(v->model, l->context);
	char text[NAME_ROOM];

	line_text(v, l, text);
	put_text(o, "method", text);
	if (v->by == STATS_BY_PAIR) {
		method_text(v, l->caller, text);
		put_text(o, "caller", l->caller ? text : "");
	} else if (v->by == STATS_BY_CONTEXT && l->context != MODEL_NO_CONTEXT) {
		put(o, "context", l->context);
		put(o, "parent", c->parent);
		json_object_object_add(o, "started", json_object_new_boolean(c->started));
	} else if (v->by == STATS_BY_THREAD) {
		put_text(o, "thread", thread_name(v, l));
		put(o, "tid", thread_tid(v, l));
		put(o, "pid", model_info(v->model)->processes[l->process].pid);
	}
	if (v->by == STATS_BY_RECEIVER)
		put_text(o, "receiver", model_name(v->model, l->values[0].text));
	else if (v->by == STATS_BY_ARGUMENT)
		put_arguments(v, o, l);
	for (size_t i = 0; i < NR_FIELDS; i++)
		put(o, fields[i].name, fields[i].get(l));
	put_reasons(o, "by_reason", l->by_reason);
	put_reasons(o, "own_by_reason", l->own_by_reason);
	return o;
}

int stats_print_json(const struct stats_view *v)
{
	const struct stats_summary *s = stats_summary(v->stats);
	struct json_object *o, *lines;
	struct order order;
	int err = order_make(v, &order);

	if (err)
		return err;
	o = json_object_new_object();
	lines = json_object_new_array();
	put(o, "calls", s->calls);
	put(o, "methods", model_nr_methods(v->model));
	put(o, "contexts", model_nr_contexts(v->model));
	put(o, "probe_ps", s->probe);
	put(o, "changes", s->changes);
	put(o, "pause", s->pause);
	for (uint32_t i = 0; i < shown(v, &order); i++)
		json_object_array_add(lines, json_line(v, order.line[i]));
	json_object_object_add(o, "lines", lines);
	puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY));
	json_object_put(o);
	free(order.line);
	return 0;
}
