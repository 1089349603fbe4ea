/* SPDX-License-Identifier: MIT */
/*
 * Traced methods of all processes, and the contexts they were called in. Both grow with what is
 * different, never with calls.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model_int.h"

#define DEFAULT_CONTEXTS (1u << 20)

struct contexts {
	struct model_method *methods; /* [1..nr] */
	uint32_t nr_methods, room_methods;
	uint32_t *by_text; /* open addressing: class, name, descriptor -> index, 0: empty */
	uint32_t *by_name; /* class, name -> the first of them */
	uint32_t text_mask;
	struct model_context *list; /* [1..nr] */
	uint32_t nr, room;
	struct slot {
		uint32_t parent, call, index; /* call: method * 2 + started; index 0: empty */
	} * table;
	uint32_t mask;
};

static struct contexts *contexts_get(struct model *m)
{
	if (!m->contexts) {
		m->contexts = calloc(1, sizeof(*m->contexts));
		if (!m->contexts)
			m->error = -ENOMEM;
	}
	return m->contexts;
}

static uint32_t mix(uint64_t h)
{
	h *= 0x9e3779b97f4a7c15ull;
	return (uint32_t)(h ^ h >> 32);
}

/* Methods ------------------------------------------------------------------------------------ */

static uint32_t *method_slot(const struct contexts *c, const struct model_method *key)
{
	uint32_t i = mix(((uint64_t)key->class_name << 40 ^ (uint64_t)key->name << 20) ^
			 key->descriptor) &
		     c->text_mask;

	while (c->by_text[i]) {
		const struct model_method *e = &c->methods[c->by_text[i]];

		if (e->class_name == key->class_name && e->name == key->name &&
		    e->descriptor == key->descriptor)
			break;
		i = (i + 1) & c->text_mask;
	}
	return &c->by_text[i];
}

/* Two of one class and name need their parameters to be told apart. */
static void mark_overloads(struct contexts *c, uint32_t index)
{
	struct model_method *new = &c->methods[index];
	uint32_t i = mix((uint64_t) new->class_name << 32 ^ new->name) & c->text_mask;

	for (; c->by_name[i]; i = (i + 1) & c->text_mask) {
		struct model_method *e = &c->methods[c->by_name[i]];

		if (e->class_name == new->class_name && e->name == new->name) {
			e->overloaded = new->overloaded = true;
			return;
		}
	}
	c->by_name[i] = index;
}

static bool methods_grow(struct contexts *c)
{
	uint32_t room = c->room_methods ? c->room_methods * 2 : 256;
	struct model_method *grown = realloc(c->methods, (room + 1ull) * sizeof(*grown));
	uint32_t *by_text = calloc(room * 2ull, sizeof(*by_text));
	uint32_t *by_name = calloc(room * 2ull, sizeof(*by_name));

	if (grown)
		c->methods = grown;
	if (!grown || !by_text || !by_name) {
		free(by_text);
		free(by_name);
		return false;
	}
	free(c->by_text);
	free(c->by_name);
	c->by_text = by_text;
	c->by_name = by_name;
	c->text_mask = room * 2 - 1;
	c->room_methods = room;
	for (uint32_t i = 1; i <= c->nr_methods; i++) {
		*method_slot(c, &c->methods[i]) = i;
		mark_overloads(c, i);
	}
	return true;
}

/* The index of a method such as @key; 0 without memory. */
static uint32_t method_get(struct model *m, const struct model_method *key)
{
	struct contexts *c = contexts_get(m);
	uint32_t *slot;

	if (!c)
		return 0;
	if (c->nr_methods == c->room_methods && !methods_grow(c)) {
		m->error = -ENOMEM;
		return 0;
	}
	slot = method_slot(c, key);
	if (!*slot) {
		*slot = ++c->nr_methods;
		c->methods[*slot] = *key;
		mark_overloads(c, *slot);
	}
	return *slot;
}

static bool traced_room(struct model *m, struct process_run *p, uint32_t id)
{
	uint32_t room = p->room_traced ? p->room_traced : 256;
	uint32_t *grown;

	if (!id_plausible(id, &p->told_traced))
		return false;
	if (id < p->room_traced)
		return true;
	while (room <= id)
		room *= 2;
	grown = realloc(p->traced, room * sizeof(*grown));
	if (!grown) {
		m->error = -ENOMEM;
		return false;
	}
	memset(grown + p->room_traced, 0, (room - p->room_traced) * sizeof(*grown));
	p->traced = grown;
	p->room_traced = room;
	return true;
}

void traced_method_def(struct model *m, uint32_t process, const struct jis_ev_traced_method *ev)
{
	struct process_run *p = &m->runs[process];
	const struct method *def = ev->method < p->room_methods ? &p->methods[ev->method] : NULL;
	struct model_method key = {
		.loader = string_name(m, process, ev->loader),
		.flags = ev->flags,
		.code_bytes = ev->code_bytes,
		.first_line = ev->first_line,
		.last_line = ev->last_line,
	};

	if (!ev->id || !def || !def->name || !traced_room(m, p, ev->id))
		return;
	key.class_name = def->class_name;
	key.name = def->name;
	key.descriptor = def->descriptor;
	key.file = def->file;
	p->traced[ev->id] = method_get(m, &key);
}

const struct model_method *model_method(const struct model *m, uint32_t method)
{
	static const struct model_method none = {.first_line = -1, .last_line = -1};

	return m->contexts && method && method <= m->contexts->nr_methods
		       ? &m->contexts->methods[method]
		       : &none;
}

uint32_t model_nr_methods(const struct model *m)
{
	return m->contexts ? m->contexts->nr_methods : 0;
}

/* Text --------------------------------------------------------------------------------------- */

struct text {
	char *at;
	size_t room, len; /* len: of all there would be */
};

static __attribute__((format(printf, 2, 3))) void text_add(struct text *t, const char *format, ...)
{
	size_t left = t->len < t->room ? t->room - t->len : 0;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(left ? t->at + t->len : NULL, left, format, args);
	va_end(args);
	t->len += n > 0 ? (size_t)n : 0;
}

static const char *primitive_name(char c)
{
	static const char letters[] = "BCDFIJSZV";
	static const char *const names[] = {"byte", "char",  "double",	"float", "int",
					    "long", "short", "boolean", "void"};
	const char *found = c ? strchr(letters, c) : NULL;

	return found ? names[found - letters] : NULL;
}

/* One type of descriptor @d, without its package. Returns what follows it, or NULL. */
static const char *text_type(struct text *t, const char *d)
{
	const char *name, *end;
	unsigned int dimensions = 0;

	for (; *d == '['; d++)
		dimensions++;
	name = primitive_name(*d);
	end = *d == 'L' ? strchr(d, ';') : NULL;
	if (!name && !end)
		return NULL;
	if (name) {
		text_add(t, "%s", name);
		end = d;
	} else {
		const char *simple = d + 1;

		for (const char *c = simple; c < end; c++)
			if (*c == '/' || *c == '.')
				simple = c + 1;
		text_add(t, "%.*s", (int)(end - simple), simple);
	}
	while (dimensions--)
		text_add(t, "[]");
	return end + 1;
}

static void text_parameters(struct text *t, const char *descriptor)
{
	const char *d = *descriptor == '(' ? descriptor + 1 : NULL;
	bool first = true;

	text_add(t, "(");
	while (d && *d && *d != ')') {
		if (!first)
			text_add(t, ", ");
		first = false;
		d = text_type(t, d);
	}
	text_add(t, ")");
}

size_t model_method_text(const struct model *m, uint32_t method, char *text, size_t room)
{
	const struct model_method *e = model_method(m, method);
	struct text t = {text, room, 0};

	if (room)
		*text = 0;
	if (!e->name) {
		text_add(&t, "?");
		return t.len;
	}
	text_add(&t, "%s.%s", e->class_name ? model_name(m, e->class_name) : "?",
		 model_name(m, e->name));
	if (e->overloaded)
		text_parameters(&t, model_name(m, e->descriptor));
	return t.len;
}

/* Contexts ----------------------------------------------------------------------------------- */

static struct slot *context_slot(const struct contexts *c, uint32_t parent, uint32_t method,
				 bool started)
{
	uint32_t call = method << 1 | started;
	uint32_t i = mix((uint64_t)parent << 33 ^ call) & c->mask;

	while (c->table[i].index && (c->table[i].parent != parent || c->table[i].call != call))
		i = (i + 1) & c->mask;
	return &c->table[i];
}

static void slot_fill(const struct contexts *c, uint32_t index)
{
	const struct model_context *e = &c->list[index];

	*context_slot(c, e->parent, e->method, e->started) =
		(struct slot){e->parent, e->method << 1 | e->started, index};
}

static bool contexts_grow(struct contexts *c)
{
	uint32_t room = c->room ? c->room * 2 : 512;
	struct model_context *grown = realloc(c->list, (room + 1ull) * sizeof(*grown));
	struct slot *table = calloc(room * 2ull, sizeof(*table));

	if (grown)
		c->list = grown;
	if (!grown || !table) {
		free(table);
		return false;
	}
	free(c->table);
	c->table = table;
	c->mask = room * 2 - 1;
	c->room = room;
	for (uint32_t i = 1; i <= c->nr; i++)
		slot_fill(c, i);
	return true;
}

static struct model_context context_made(const struct contexts *c, uint32_t parent, uint32_t method,
					 bool started)
{
	struct model_context new = {.parent = parent, .method = method, .started = started};
	uint32_t caller = started || !parent ? 0 : c->list[parent].method, i = parent;

	new.depth = 1;
	if (started || !parent)
		return new;
	new.depth = c->list[parent].depth + 1;
	for (; i; i = c->list[i].parent) {
		const struct model_context *e = &c->list[i];
		uint32_t above = e->started || !e->parent ? 0 : c->list[e->parent].method;

		new.recursive |= e->method == method;
		new.pair_recursive |= e->method == method &&above == caller;
		if (e->started || new.pair_recursive)
			break;
	}
	return new;
}

uint32_t context_find(const struct model *m, uint32_t parent, uint32_t method, bool started)
{
	const struct contexts *c = m->contexts;

	if (parent == MODEL_NO_CONTEXT || !c || !c->table)
		return 0;
	return context_slot(c, parent, method, started)->index;
}

void context_sure(struct model *m, uint32_t context)
{
	if (context != MODEL_NO_CONTEXT)
		m->contexts->list[context].sure = true;
}

uint32_t context_child(struct model *m, uint32_t parent, uint32_t method, bool started)
{
	uint32_t most = m->options.max_contexts ? m->options.max_contexts : DEFAULT_CONTEXTS;
	struct contexts *c = contexts_get(m);
	uint32_t found;

	if (!c || parent == MODEL_NO_CONTEXT)
		return MODEL_NO_CONTEXT;
	if (!c->table && !contexts_grow(c)) {
		m->error = -ENOMEM;
		return MODEL_NO_CONTEXT;
	}
	found = context_slot(c, parent, method, started)->index;
	if (found)
		return found;
	if (c->nr >= most)
		return MODEL_NO_CONTEXT;
	if (c->nr == c->room && !contexts_grow(c)) {
		m->error = -ENOMEM;
		return MODEL_NO_CONTEXT;
	}
	c->nr++;
	c->list[c->nr] = context_made(c, parent, method, started);
	slot_fill(c, c->nr);
	return c->nr;
}

const struct model_context *model_context(const struct model *m, uint32_t context)
{
	static const struct model_context none = {0};

	return m->contexts && context && context <= m->contexts->nr ? &m->contexts->list[context]
								    : &none;
}

uint32_t model_nr_contexts(const struct model *m)
{
	return m->contexts ? m->contexts->nr : 0;
}

void contexts_fini(struct model *m)
{
	for (uint32_t i = 0; m->runs && i < m->info.nr_processes; i++)
		free(m->runs[i].traced);
	if (!m->contexts)
		return;
	free(m->contexts->methods);
	free(m->contexts->by_text);
	free(m->contexts->by_name);
	free(m->contexts->list);
	free(m->contexts->table);
	free(m->contexts);
}
