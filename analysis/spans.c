/* SPDX-License-Identifier: MIT */
/* Pairs begins with ends. Memory grows with the open spans and the instances asked for. */
#include "spans.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/grow.h"

#define BUCKETS 4096u

#define MARKER_NAMES 1000u

struct open_span {
	struct open_span *next; /* newest first */
	struct span span;
	uint32_t type; /* of a marker */
	int64_t value;
	bool marker;
};

/* What names a span (model_name()), or a marker: its type and, unless it is @any, its value. */
struct name_key {
	int64_t value;
	uint32_t id;
	bool marker, any;
};

struct spans_run {
	struct spans spans;
	struct span_options options;
	struct model_sink sink;
	const struct model *model;
	const struct model_info *info;
	struct open_span *open[BUCKETS];
	uint32_t room, room_names;
	struct name_key *keys; /* of spans.names */
	uint32_t *names;       /* open addressing: index + 1 */
	uint32_t names_mask, nr_markers;
	/* options.name, when it is TYPE or TYPE=VALUE */
	bool wants_marker, wants_value;
	uint32_t wanted_type;
	int64_t wanted_value;
};

/* Who it belongs to is the Java thread, or the kernel thread where there is none. */
static struct open_span **bucket_of(struct spans_run *r, const struct model_event *e)
{
	uint64_t h = (e->java_tid ? e->java_tid ^ (uint64_t)e->process << 40 : e->thread) *
		     0x9e3779b97f4a7c15ull;

	return &r->open[h >> 52];
}

static bool same_owner(const struct span *s, const struct model_event *e)
{
	if (s->java_tid != e->java_tid)
		return false;
	return e->java_tid ? s->process == e->process : s->thread == e->thread;
}

static bool same_key(const struct name_key *a, const struct name_key *b)
{
	return a->marker == b->marker && a->id == b->id && a->any == b->any && a->value == b->value;
}

static uint32_t *name_slot(const struct spans_run *r, const struct name_key *key)
{
	uint64_t h = ((uint64_t)key->value * 0x9e3779b97f4a7c15ull) ^
		     ((uint64_t)key->id << 2 | (uint64_t)key->marker << 1 | key->any);
	uint32_t i = (uint32_t)((h * 0xc2b2ae3d27d4eb4full) >> 32) & r->names_mask;

	while (r->names[i] && !same_key(&r->keys[r->names[i] - 1], key))
		i = (i + 1) & r->names_mask;
	return &r->names[i];
}

static int names_grow(struct spans_run *r)
{
	uint32_t room = r->room_names ? r->room_names * 2 : 16;
	struct span_name *names = realloc(r->spans.names, room * sizeof(*names));
	struct name_key *keys = realloc(r->keys, room * sizeof(*keys));
	uint32_t *table = calloc(room * 2ull, sizeof(*table));

	if (names)
		r->spans.names = names;
	if (keys)
		r->keys = keys;
	if (!names || !keys || !table) {
		free(table);
		return -ENOMEM;
	}
	free(r->names);
	r->names = table;
	r->names_mask = room * 2 - 1;
	r->room_names = room;
	for (uint32_t i = 0; i < r->spans.nr_names; i++)
		*name_slot(r, &r->keys[i]) = i + 1;
	return 0;
}

static int name_find(struct spans_run *r, const struct name_key *key, const char *text,
		     uint32_t *out)
{
	struct spans *s = &r->spans;
	uint32_t *slot;

	if (s->nr_names == r->room_names && names_grow(r))
		return -ENOMEM;
	slot = name_slot(r, key);
	if (!*slot) {
		s->names[s->nr_names] =
			(struct span_name){.text = strdup(text), .marker = key->marker};
		if (!s->names[s->nr_names].text)
			return -ENOMEM;
		r->keys[s->nr_names] = *key;
		r->nr_markers += key->marker;
		*slot = ++s->nr_names;
	}
	*out = *slot - 1;
	return 0;
}

/* Reads TYPE and TYPE=VALUE, the names of markers. */
static void wanted_read(struct spans_run *r)
{
	const char *wanted = r->options.name;
	unsigned long type;
	char *end;

	if (!wanted || *wanted < '0' || *wanted > '9')
		return;
	errno = 0;
	type = strtoul(wanted, &end, 10);
	if (errno || type > UINT32_MAX || (*end && *end != '='))
		return;
	r->wanted_type = (uint32_t)type;
	if (*end) {
		wanted = end + 1;
		r->wanted_value = strtoll(wanted, &end, 10);
		if (errno || end == wanted || *end)
			return;
		r->wants_value = true;
	}
	r->wants_marker = true;
}

/* Is it asked for by name? A marker is, as TYPE and as TYPE=VALUE. */
static bool name_wanted(const struct spans_run *r, const struct open_span *o)
{
	const char *wanted = r->options.name;

	if (!wanted)
		return !o->marker;
	if (!o->marker)
		return !strcmp(wanted, r->spans.names[o->span.name].text);
	return r->wants_marker && o->type == r->wanted_type &&
	       (!r->wants_value || o->value == r->wanted_value);
}

static bool thread_wanted(const struct spans_run *r, const struct model_event *e)
{
	const char *wanted = r->options.thread, *name;
	char *end;
	unsigned long long number;

	if (!wanted)
		return true;
	number = strtoull(wanted, &end, 10);
	if (*wanted && !*end &&
	    (number == r->info->threads[e->thread].entry->tid || number == e->java_tid))
		return true;
	if (e->vthread != MODEL_NO_THREAD)
		name = model_name(r->model, r->info->vthreads[e->vthread].name);
	else
		name = r->info->threads[e->thread].entry->name;
	return name && strstr(name, wanted);
}

static int instance_add(struct spans_run *r, const struct span *span)
{
	struct spans *s = &r->spans;

	if (s->nr == SPANS_MAX) {
		s->too_many++;
		return 0;
	}
	if (s->nr == r->room && !GROW(s->list, r->room, 256))
		return -ENOMEM;
	s->list[s->nr++] = *span;
	return 0;
}

static int span_ends(struct spans_run *r, struct open_span *o, const struct model_event *e)
{
	struct span *span = &o->span;
	struct span_name *name = &r->spans.names[span->name];
	uint64_t length = e->time - span->begin;

	span->end = e->time;
	span->virtual |= e->vthread != MODEL_NO_THREAD;
	name->count++;
	name->total += length;
	if (length > name->longest)
		name->longest = length;
	if (!length || !name_wanted(r, o) || !thread_wanted(r, e))
		return 0;
	if (!span->virtual && span->thread != e->thread) {
		r->spans.strangers++;
		return 0;
	}
	return instance_add(r, span);
}

/* Takes the newest open one of @e's thread out: a span by name, a marker by type. */
static struct open_span *open_take(struct spans_run *r, const struct model_event *e, bool marker,
				   uint32_t key)
{
	for (struct open_span **at = bucket_of(r, e); *at; at = &(*at)->next) {
		struct open_span *o = *at;

		if (o->marker == marker && (marker ? o->type : o->span.name) == key &&
		    same_owner(&o->span, e)) {
			*at = o->next;
			r->spans.open--;
			return o;
		}
	}
	return NULL;
}

static int open_add(struct spans_run *r, const struct model_event *e, bool marker, uint32_t name)
{
	struct open_span **at = bucket_of(r, e), *o = calloc(1, sizeof(*o));

	if (!o)
		return -ENOMEM;
	o->next = *at;
	o->marker = marker;
	o->type = e->type;
	o->value = e->value;
	o->span = (struct span){.begin = e->time,
				.java_tid = e->java_tid,
				.thread = e->thread,
				.process = e->process,
				.name = name,
				.virtual = e->vthread != MODEL_NO_THREAD};
	*at = o;
	r->spans.open++;
	return 0;
}

static int end_open(struct spans_run *r, const struct model_event *e, bool marker, uint32_t key)
{
	struct open_span *o = open_take(r, e, marker, key);
	int err = o ? span_ends(r, o, e) : 0;

	free(o);
	return err;
}

static int on_marker(struct spans_run *r, const struct model_event *e)
{
	struct name_key key = {.marker = true, .id = e->type, .value = e->value};
	char text[64];
	uint32_t name;
	int err = end_open(r, e, true, e->type);

	if (err || !e->value)
		return err;
	snprintf(text, sizeof(text), "%u=%lld", e->type, (long long)e->value);
	/* Values of any number would be names of any number. */
	if (r->nr_markers >= MARKER_NAMES && !*name_slot(r, &key)) {
		key.value = 0;
		key.any = true;
		snprintf(text, sizeof(text), "%u", e->type);
		r->spans.folded++;
	}
	err = name_find(r, &key, text, &name);
	return err ? err : open_add(r, e, true, name);
}

/* Records of @e's thread are missing: an end that comes may be that of another one. */
static void on_lost(struct spans_run *r, const struct model_event *e)
{
	struct open_span **at = bucket_of(r, e);

	while (*at) {
		struct open_span *o = *at;

		if (!same_owner(&o->span, e)) {
			at = &o->next;
			continue;
		}
		*at = o->next;
		free(o);
		r->spans.open--;
		r->spans.lost++;
	}
}

static int on_event(void *ctx, const struct model_event *e)
{
	struct spans_run *r = ctx;
	const struct name_key key = {.id = e->name};
	uint32_t name;
	int err;

	if (e->kind == MODEL_EVENT_SPANS_LOST)
		on_lost(r, e);
	if (e->thread == MODEL_NO_THREAD)
		return 0;
	if (e->kind == MODEL_EVENT_MARKER)
		return on_marker(r, e);
	if (e->kind != MODEL_EVENT_SPAN_BEGIN && e->kind != MODEL_EVENT_SPAN_END)
		return 0;
	err = name_find(r, &key, model_name(r->model, e->name), &name);
	if (err)
		return err;
	if (e->kind == MODEL_EVENT_SPAN_BEGIN)
		return open_add(r, e, false, name);
	return end_open(r, e, false, name);
}

static int on_begin(void *ctx, const struct model_info *info)
{
	((struct spans_run *)ctx)->info = info;
	return 0;
}

struct spans_run *spans_new(const struct span_options *options)
{
	struct spans_run *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	if (options)
		r->options = *options;
	wanted_read(r);
	r->sink = (struct model_sink){.begin = on_begin, .event = on_event, .ctx = r};
	return r;
}

const struct model_sink *spans_sink(struct spans_run *r, const struct model *m)
{
	r->model = m;
	return &r->sink;
}

const struct spans *spans_get(const struct spans_run *r)
{
	return &r->spans;
}

void spans_free(struct spans_run *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < BUCKETS; i++) {
		while (r->open[i]) {
			struct open_span *next = r->open[i]->next;

			free(r->open[i]);
			r->open[i] = next;
		}
	}
	for (uint32_t i = 0; i < r->spans.nr_names; i++)
		free(r->spans.names[i].text);
	free(r->spans.names);
	free(r->keys);
	free(r->names);
	free(r->spans.list);
	free(r);
}
