/* SPDX-License-Identifier: MIT */
/* Sums over calls. A line is found by what it is of, then each call costs a few additions. */
#include "stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct stats {
	const struct model *model;
	enum stats_by by;
	int32_t argument;
	struct model_sink sink;
	struct stats_line *lines;
	uint32_t nr, room;
	uint32_t *table; /* open addressing: index + 1 */
	uint32_t mask;
	struct stats_summary summary;
	struct stats_line key;
};

/* Durations ---------------------------------------------------------------------------------- */

uint64_t stats_percentile(const struct stats_line *line, double share)
{
	return histogram_percentile(&line->histogram, line->calls - line->parts, share, line->min,
				    line->max);
}

double stats_mean(const struct stats_line *line)
{
	uint64_t n = line->calls - line->parts;

	return n ? (double)line->sum / (double)n : 0;
}

/*
 * n * variance = squares - sum^2 / n, in whole numbers but for a rest below n. squares fits: 10^5 s
 * in ns, squared, times 10^9 calls is below 2^127.
 */
double stats_deviation(const struct stats_line *line)
{
	unsigned __int128 n = line->calls - line->parts, mean, rest, around;

	if (!n)
		return 0;
	mean = line->sum / n;
	rest = line->sum % n;
	around = line->squares - mean * mean * n - 2 * mean * rest;
	return sqrt(((double)around - (double)(rest * rest) / (double)n) / (double)n);
}

/* Lines -------------------------------------------------------------------------------------- */

static void values_of(const struct stats *s, const struct model_call *call, struct stats_line *key)
{
	for (uint32_t i = 0; i < call->nr_values; i++) {
		const struct model_value *v = &call->values[i];
		bool receiver = v->argument == JIS_VALUE_RECEIVER;

		if (receiver != (s->by == STATS_BY_RECEIVER) ||
		    (!receiver && s->argument >= 0 && v->argument != s->argument))
			continue;
		key->values[key->nr_values].argument = v->argument;
		key->values[key->nr_values++].text = v->text;
	}
}

/* What tells lines apart; the rest of s->key is of a line that has no call yet, and stays so. */
static const struct stats_line *key_of(struct stats *s, const struct model_call *call)
{
	struct stats_line *key = &s->key;

	key->method = call->method;
	key->thread = key->vthread = MODEL_NO_THREAD;
	key->nr_values = 0;
	switch (s->by) {
	case STATS_BY_METHOD:
		break;
	case STATS_BY_PAIR:
		key->caller = call->outer;
		break;
	case STATS_BY_CONTEXT:
		key->context = call->context;
		if (call->context == MODEL_NO_CONTEXT)
			key->method = 0;
		break;
	case STATS_BY_THREAD:
		key->process = call->process;
		key->vthread = call->vthread;
		if (call->vthread == MODEL_NO_THREAD && !(call->flags & MODEL_CALL_VIRTUAL))
			key->thread = call->thread;
		break;
	case STATS_BY_ARGUMENT:
	case STATS_BY_RECEIVER:
		values_of(s, call, key);
		break;
	}
	return key;
}

static uint32_t *line_slot(const struct stats *s, const struct stats_line *key)
{
	uint64_t h =
		((uint64_t)key->method << 32 ^ key->caller ^ key->context) * 0x9e3779b97f4a7c15ull;
	uint32_t i;

	h ^= ((uint64_t)key->thread << 32 ^ key->vthread ^ key->process) * 0xc2b2ae3d27d4eb4full;
	for (i = 0; i < key->nr_values; i++)
		h = (h ^ key->values[i].text ^ (uint64_t)(uint32_t)key->values[i].argument << 32) *
		    0x9e3779b97f4a7c15ull;
	i = (uint32_t)(h ^ h >> 32) & s->mask;
	for (; s->table[i]; i = (i + 1) & s->mask) {
		const struct stats_line *l = &s->lines[s->table[i] - 1];

		if (l->method == key->method && l->caller == key->caller &&
		    l->context == key->context && l->thread == key->thread &&
		    l->vthread == key->vthread && l->process == key->process &&
		    l->nr_values == key->nr_values &&
		    !memcmp(l->values, key->values, key->nr_values * sizeof(key->values[0])))
			break;
	}
	return &s->table[i];
}

static int lines_grow(struct stats *s)
{
	uint32_t room = s->room ? s->room * 2 : 256;
	struct stats_line *grown = realloc(s->lines, room * sizeof(*grown));
	uint32_t *table = calloc(room * 2ull, sizeof(*table));

	if (grown)
		s->lines = grown;
	if (!grown || !table) {
		free(table);
		return -ENOMEM;
	}
	free(s->table);
	s->table = table;
	s->mask = room * 2 - 1;
	s->room = room;
	for (uint32_t i = 0; i < s->nr; i++)
		*line_slot(s, &s->lines[i]) = i + 1;
	return 0;
}

static struct stats_line *line_get(struct stats *s, const struct stats_line *key)
{
	uint32_t *slot;

	if (s->nr == s->room && lines_grow(s))
		return NULL;
	slot = line_slot(s, key);
	if (!*slot) {
		s->lines[s->nr++] = *key;
		*slot = s->nr;
	}
	return &s->lines[*slot - 1];
}

static int reasons_add(uint64_t **to, const uint64_t *from)
{
	if (!from)
		return 0;
	if (!*to)
		*to = calloc(MODEL_NR_REASONS, sizeof(**to));
	if (!*to)
		return -ENOMEM;
	for (uint32_t i = 0; i < MODEL_NR_REASONS; i++)
		(*to)[i] += from[i];
	return 0;
}

/* The callbacks ------------------------------------------------------------------------------ */

/* Is it in another call of the line, whose time has it already? */
static bool counted_outside(const struct stats *s, const struct model_call *call)
{
	const struct model_context *c = model_context(s->model, call->context);

	if (call->context == MODEL_NO_CONTEXT)
		return call->flags & (s->by == STATS_BY_PAIR	  ? MODEL_CALL_PAIR_RECURSIVE
				      : s->by == STATS_BY_CONTEXT ? MODEL_CALL_IN_NONE
								  : MODEL_CALL_RECURSIVE);
	switch (s->by) {
	case STATS_BY_PAIR:
		return c->pair_recursive;
	case STATS_BY_CONTEXT:
		return false;
	default:
		return c->recursive;
	}
}

static int add_duration(struct stats_line *l, uint64_t ns)
{
	if (l->calls - l->parts == 1 || ns < l->min)
		l->min = ns;
	if (ns > l->max)
		l->max = ns;
	l->sum += ns;
	l->squares += (unsigned __int128)ns * ns;
	return histogram_add(&l->histogram, ns);
}

static int on_call_end(void *ctx, const struct model_call *call)
{
	struct stats *s = ctx;
	const struct stats_line *key = key_of(s, call);
	uint64_t wall = call->end - call->begin;
	struct stats_line *l;

	s->summary.calls++;
	if (s->by >= STATS_BY_ARGUMENT && !key->nr_values)
		return 0;
	l = line_get(s, key);
	if (!l)
		return -ENOMEM;
	s->summary.told++;
	s->summary.no_context += call->context == MODEL_NO_CONTEXT;
	l->calls++;
	l->thrown += (call->flags & MODEL_CALL_UNWOUND) != 0;
	l->repaired += (call->flags & MODEL_CALL_REPAIRED) != 0;
	l->doubtful += (call->flags & MODEL_CALL_DOUBTFUL) != 0;
	l->lost += call->lost;
	for (int i = 0; i < MODEL_NR_CALL_TIMES; i++) {
		l->own += call->own[i];
		l->own_time[i] += call->own[i];
	}
	if (reasons_add(&l->own_by_reason, call->own_by_reason))
		return -ENOMEM;
	if (!counted_outside(s, call)) {
		l->total += wall;
		l->inside += call->calls;
		for (int i = 0; i < MODEL_NR_CALL_TIMES; i++)
			l->time[i] += call->time[i];
		if (reasons_add(&l->by_reason, call->by_reason))
			return -ENOMEM;
	}
	if (call->flags & MODEL_CALL_PART) {
		l->parts++;
		return 0;
	}
	return add_duration(l, wall);
}

static int on_event(void *ctx, const struct model_event *e)
{
	struct stats *s = ctx;

	if (e->kind == MODEL_EVENT_PROBE) {
		s->summary.probe = (uint64_t)e->value;
	} else if (e->kind == MODEL_EVENT_METHODS) {
		s->summary.changes++;
		s->summary.pause += (uint64_t)e->value;
	}
	return 0;
}

static int on_end(void *ctx, const struct model_counts *counts)
{
	((struct stats *)ctx)->summary.counts = *counts;
	return 0;
}

struct stats *stats_new(const struct model *model, enum stats_by by, int32_t argument)
{
	struct stats *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->model = model;
	s->by = by;
	s->argument = argument;
	s->sink = (struct model_sink){.call_end = on_call_end,
				      .event = on_event,
				      .end = on_end,
				      .ctx = s};
	return s;
}

const struct model_sink *stats_sink(const struct stats *s)
{
	return &s->sink;
}

struct stats_line *stats_lines(struct stats *s, uint32_t *nr)
{
	*nr = s->nr;
	return s->lines;
}

const struct stats_summary *stats_summary(const struct stats *s)
{
	return &s->summary;
}

void stats_free(struct stats *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->nr; i++) {
		free(s->lines[i].by_reason);
		free(s->lines[i].own_by_reason);
		histogram_free(&s->lines[i].histogram);
	}
	free(s->lines);
	free(s->table);
	free(s);
}
