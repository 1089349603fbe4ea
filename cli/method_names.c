/* SPDX-License-Identifier: MIT */
#include "method_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jis/events.h"

#define IDS_MAX (1u << 24) /* what is above in a damaged trace is not believed */

/* What belongs to each id. */
struct table {
	void **entries;
	uint32_t room;
};

struct definition {
	uint32_t descriptor;
	char text[];
};

struct dictionary {
	struct table strings, definitions;
	uint32_t *traced; /* method_def of each number */
	uint32_t nr_traced;
};

struct method_names {
	uint32_t nr;
	struct dictionary of[];
};

static void *table_get(const struct table *t, uint32_t id)
{
	return id < t->room ? t->entries[id] : NULL;
}

/* Takes @value, which is freed where there is no room. */
static bool table_set(struct table *t, uint32_t id, void *value)
{
	uint32_t room = t->room ? t->room : 256;
	void **entries;

	while (value && room <= id && room < IDS_MAX)
		room *= 2;
	if (!value || room <= id) {
		free(value);
		return value != NULL;
	}
	if (room != t->room) {
		entries = realloc(t->entries, room * sizeof(*entries));
		if (!entries) {
			free(value);
			return false;
		}
		memset(entries + t->room, 0, (room - t->room) * sizeof(*entries));
		t->entries = entries;
		t->room = room;
	}
	free(t->entries[id]);
	t->entries[id] = value;
	return true;
}

static void table_free(struct table *t)
{
	uint32_t i;

	for (i = 0; i < t->room; i++)
		free(t->entries[i]);
	free(t->entries);
}

struct method_names *method_names_new(uint32_t nr_traces)
{
	struct method_names *n = calloc(1, sizeof(*n) + nr_traces * sizeof(n->of[0]));

	if (n)
		n->nr = nr_traces;
	return n;
}

void method_names_free(struct method_names *n)
{
	uint32_t i;

	for (i = 0; n && i < n->nr; i++) {
		table_free(&n->of[i].strings);
		table_free(&n->of[i].definitions);
		free(n->of[i].traced);
	}
	free(n);
}

static bool definition_add(struct dictionary *d, const struct jis_ev_method_def *ev)
{
	const char *name = table_get(&d->strings, ev->name);
	size_t length = strlen(ev->class_name) + 2 + (name ? strlen(name) : 1);
	struct definition *new = malloc(sizeof(*new) + length);

	if (!new)
		return false;
	new->descriptor = ev->descriptor;
	snprintf(new->text, length, "%s.%s", ev->class_name, name ? name : "?");
	return table_set(&d->definitions, ev->id, new);
}

static bool traced_add(struct dictionary *d, uint32_t number, uint32_t method)
{
	uint32_t room = d->nr_traced ? d->nr_traced : 256, *traced;

	if (number >= IDS_MAX)
		return true;
	while (room <= number)
		room *= 2;
	if (room != d->nr_traced) {
		traced = realloc(d->traced, room * sizeof(*traced));
		if (!traced)
			return false;
		memset(traced + d->nr_traced, 0, (room - d->nr_traced) * sizeof(*traced));
		d->traced = traced;
		d->nr_traced = room;
	}
	d->traced[number] = method;
	return true;
}

bool method_names_add(struct method_names *n, const struct stream_cursor *c)
{
	const void *p = c->payload;
	const struct jis_ev_string_def *string = p;
	const struct jis_ev_traced_method *traced = p;
	struct dictionary *d;

	if (c->stream_class != JIS_STREAM_DICT || c->trace >= n->nr)
		return true;
	d = &n->of[c->trace];
	switch (c->id) {
	case JIS_EV_string_def:
		return table_set(&d->strings, string->id, strdup(string->text));
	case JIS_EV_method_def:
		return definition_add(d, p);
	case JIS_EV_traced_method:
		return traced_add(d, traced->id, traced->method);
	default:
		return true;
	}
}

const char *method_names_string(const struct method_names *n, uint32_t trace, uint32_t id)
{
	return trace < n->nr ? table_get(&n->of[trace].strings, id) : NULL;
}

const char *method_names_def(const struct method_names *n, uint32_t trace, uint32_t id)
{
	const struct definition *d =
		trace < n->nr ? table_get(&n->of[trace].definitions, id) : NULL;

	return d ? d->text : NULL;
}

const char *method_names_descriptor(const struct method_names *n, uint32_t trace, uint32_t id)
{
	const struct definition *d =
		trace < n->nr ? table_get(&n->of[trace].definitions, id) : NULL;

	return d ? method_names_string(n, trace, d->descriptor) : NULL;
}

uint32_t method_names_method(const struct method_names *n, uint32_t trace, uint32_t number)
{
	if (trace >= n->nr || number >= n->of[trace].nr_traced)
		return 0;
	return n->of[trace].traced[number];
}

const char *method_names_traced(const struct method_names *n, uint32_t trace, uint32_t number)
{
	return method_names_def(n, trace, method_names_method(n, trace, number));
}
