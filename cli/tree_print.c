/* SPDX-License-Identifier: MIT */
/* A call tree as text, or as JSON, a line a record. */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "trace/json_text.h"
#include "tree.h"

#define ENOUGH 1
#define MOST_INDENT 60 /* levels; deeper ones are said by a number */

static const char *const kinds[] = {[JTA_ROOT] = "root",
				    [JTA_JVM] = "jvm",
				    [JTA_METHOD] = "method",
				    [JTA_REMOTE] = "remote",
				    [JTA_SERVED] = "served"};

static const struct {
	uint16_t flag;
	const char *json, *text;
} flags[] = {
	{JTA_PART, "part", "part of it"},
	{JTA_THROWN, "thrown", "thrown"},
	{JTA_FAILED, "failed", "no answer"},
	{JTA_INTERNAL, "internal", "the JDK's own"},
	{JTA_STARTED, "started", "new thread"},
	{JTA_STARTER, "starter", NULL},
	{JTA_DOUBTFUL, "doubtful", "calls around it may be missing"},
	{JTA_UNMATCHED, "unmatched", "other end not known"},
};

#define NR_FLAGS (sizeof(flags) / sizeof(flags[0]))

static const char *kind_name(const struct jta_record *r)
{
	return r->kind < sizeof(kinds) / sizeof(kinds[0]) && kinds[r->kind] ? kinds[r->kind] : "?";
}

/* What is left out ------------------------------------------------------------------------------
 */

static bool text_or_number(const char *wanted, const char *name, uint64_t number)
{
	char *end;

	if (!wanted || strstr(name, wanted))
		return true;
	return strtoull(wanted, &end, 10) == number && !*end && number;
}

static bool jvm_wanted(const struct tree_view *v, uint32_t jvm)
{
	const struct jta_jvm_name *name = jta_jvm_name(v->names, jvm);

	return !v->process || (name && (text_or_number(v->process, name->name, name->pid) ||
					text_or_number(v->process, name->program, name->pid)));
}

static bool thread_wanted(const struct tree_view *v, uint32_t thread)
{
	const struct jta_thread_name *name = jta_thread_name(v->names, thread);

	return text_or_number(v->thread, name ? name->name : "", name ? name->tid : 0);
}

/* First of its thread's calls: in no call, or in the one that started the thread. */
static bool is_first(const struct jta_record *r)
{
	return r->thread && (r->parent & JTA_IN_JVM || r->flags & JTA_STARTED);
}

/* It is left out; what is in it stands in its place: an MBean, which JMX calls, may call in turn.
 */
static bool is_hidden(const struct tree_view *v, uint64_t number, const struct jta_record *r)
{
	return r->flags & JTA_INTERNAL && !v->internal && number != v->open;
}

/* What is below one that is not is left out with it. */
static bool is_within(const struct tree_view *v, const struct jta_record *r)
{
	if (r->kind == JTA_ROOT || r->kind == JTA_JVM)
		return r->kind == JTA_ROOT || jvm_wanted(v, r->jvm);
	if (v->thread && is_first(r))
		return false; /* those are looked for: print_threads() */
	if (v->to && r->begin >= v->to)
		return false;
	/* Threads that were started in it may go on longer. */
	return r->flags & JTA_STARTER || (r->end - r->begin >= v->longer && r->end >= v->from);
}

/* Text ------------------------------------------------------------------------------------------
 */

static void print_place(const struct tree_view *v, const struct jta_record *r)
{
	const struct jta_jvm_name *jvm = jta_jvm_name(v->names, r->jvm);
	const struct jta_thread_name *thread = jta_thread_name(v->names, r->thread);

	printf("  [");
	cli_print_escaped(stdout, jvm ? jvm->name : "?");
	printf(" %" PRIu32 ", ", jvm ? jvm->pid : 0);
	cli_print_escaped(stdout, thread && *thread->name ? thread->name : "?");
	if (thread && thread->tid)
		printf(" %" PRIu32, thread->tid);
	putchar(']');
}

static void print_what(const struct tree_view *v, const struct jta_record *r)
{
	const struct jta_jvm_name *jvm;

	switch (r->kind) {
	case JTA_ROOT:
		printf("(all)");
		return;
	case JTA_JVM:
		jvm = jta_jvm_name(v->names, r->jvm);
		cli_print_escaped(stdout, jvm ? jvm->name : "?");
		printf(" %" PRIu32, jvm ? jvm->pid : 0);
		return;
	case JTA_REMOTE:
		printf("remote call ");
		break;
	case JTA_SERVED:
		printf("served ");
	}
	cli_print_escaped(stdout, jta_method_name(v->names, r->method));
}

static void print_text(const struct tree_view *v, uint64_t number, const struct jta_record *r,
		       uint32_t depth)
{
	const struct jta_record *in = jta_get(v->tree, jta_parent(v->tree, number));
	const char *separator = "  (";

	printf("%10" PRIu64 " %13.6f %13.6f  ", number, (double)r->begin / 1e6,
	       (double)(r->end - r->begin) / 1e6);
	if (depth > MOST_INDENT)
		printf("%*s(%" PRIu32 ") ", MOST_INDENT * 2, "", depth);
	else
		printf("%*s", (int)depth * 2, "");
	print_what(v, r);
	if (r->thread && (!in || in->thread != r->thread || v->find ||
			  (in->flags & JTA_INTERNAL && !v->internal)))
		print_place(v, r);
	for (size_t i = 0; i < NR_FLAGS; i++) {
		if (!(r->flags & flags[i].flag) || !flags[i].text)
			continue;
		printf("%s%s", separator, flags[i].text);
		separator = ", ";
	}
	puts(*separator == ',' ? ")" : "");
}

/* JSON ------------------------------------------------------------------------------------------
 */

static void put(struct json_object *o, const char *name, uint64_t value)
{
	json_object_object_add(o, name, json_object_new_uint64(value));
}

static void print_json(const struct tree_view *v, uint64_t number, const struct jta_record *r,
		       uint32_t depth)
{
	const struct jta_jvm_name *jvm = jta_jvm_name(v->names, r->jvm);
	const struct jta_thread_name *thread = jta_thread_name(v->names, r->thread);
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();

	put(o, "number", number);
	put(o, "parent", jta_parent(v->tree, number));
	put(o, "depth", depth);
	json_object_object_add(o, "kind", json_object_new_string(kind_name(r)));
	if (r->kind != JTA_ROOT) {
		put(o, "jvm", r->jvm);
		put(o, "pid", jvm ? jvm->pid : 0);
		json_object_object_add(o, "jvm_name", json_text(jvm ? jvm->name : ""));
	}
	if (r->thread) {
		put(o, "thread", r->thread);
		put(o, "tid", thread ? thread->tid : 0);
		json_object_object_add(o, "thread_name", json_text(thread ? thread->name : ""));
		json_object_object_add(o, "method",
				       json_text(jta_method_name(v->names, r->method)));
	}
	put(o, "begin", r->begin);
	put(o, "end", r->end);
	put(o, "children", r->children);
	for (size_t i = 0; i < NR_FLAGS; i++)
		if (r->flags & flags[i].flag)
			json_object_array_add(list, json_object_new_string(flags[i].json));
	json_object_object_add(o, "flags", list);
	puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
	json_object_put(o);
}

/* Ends the walk when there are enough: a tree may be larger than anyone wants to wait for. */
static int print_record(struct tree_view *v, uint64_t number, const struct jta_record *r,
			uint32_t depth)
{
	if (v->lines && v->printed == v->lines) {
		v->more = true;
		return ENOUGH;
	}
	v->printed++;
	if (v->json)
		print_json(v, number, r, depth);
	else
		print_text(v, number, r, depth);
	return 0;
}

/* The tree --------------------------------------------------------------------------------------
 */

/* Children of records that are being shown, outermost first. */
struct levels {
	struct jta_children *of;
	bool *hidden; /* the record itself is */
	uint32_t nr, room, nr_hidden;
};

static int level_push(struct tree_view *v, struct levels *l, uint64_t number, bool hidden)
{
	if (l->nr == l->room) {
		uint32_t room = l->room ? l->room * 2 : 32;
		struct jta_children *grown = realloc(l->of, room * sizeof(*grown));
		bool *more;

		if (!grown)
			return -ENOMEM;
		l->of = grown;
		more = realloc(l->hidden, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		l->hidden = more;
		l->room = room;
	}
	l->hidden[l->nr] = hidden;
	l->nr_hidden += hidden;
	return jta_children_begin(v->tree, number, v->by_begin, &l->of[l->nr++]);
}

static void level_pop(struct levels *l)
{
	jta_children_end(&l->of[--l->nr]);
	l->nr_hidden -= l->hidden[l->nr];
}

static int print_below(struct tree_view *v, uint64_t from, uint32_t depth);

static int print_served(void *ctx, uint64_t number, const struct jta_record *r, uint32_t depth)
{
	struct tree_view *v = ctx;
	int err;

	(void)r;
	(void)depth;
	v->incoming = false; /* not again where it leads to a JVM, as in a file that is damaged */
	err = print_below(v, number, 2);
	v->incoming = true;
	return err;
}

/* Calls that a JVM served, which are in its clients' calls. */
static int print_incoming(struct tree_view *v, uint32_t jvm)
{
	const struct jta_query query = {.kinds = 1u << JTA_SERVED,
					.jvm = jvm,
					.thread = UINT32_MAX,
					.from = v->from,
					.to = v->to,
					.longer_than = v->longer};

	return jta_search(v->tree, 0, JTA_DEPTH_FIRST, &query, print_served, v);
}

static bool is_deep_enough(const struct tree_view *v, uint32_t depth)
{
	return v->depth && depth >= v->depth;
}

static int print_one(struct tree_view *v, struct levels *l, uint64_t number,
		     const struct jta_record *r, uint32_t depth)
{
	uint32_t level = l->nr - l->nr_hidden;
	bool hidden = is_hidden(v, number, r);
	int err = hidden ? 0 : print_record(v, number, r, depth + level);

	if (!err && r->kind == JTA_JVM && v->incoming)
		err = print_incoming(v, r->jvm);
	if (!err && r->first_child && (hidden || !is_deep_enough(v, level)))
		err = level_push(v, l, number, hidden);
	return err;
}

static int print_below(struct tree_view *v, uint64_t from, uint32_t depth)
{
	uint64_t left = jta_header(v->tree)->records, number = from;
	struct levels l = {0};
	int err = 0;

	for (;;) {
		const struct jta_record *r = jta_get(v->tree, number);

		if (!r || !left--) {
			err = -EBADMSG;
			break;
		}
		if (number == from || is_within(v, r))
			err = print_one(v, &l, number, r, depth);
		if (err)
			break;
		while (l.nr && !(number = jta_children_next(&l.of[l.nr - 1])))
			level_pop(&l);
		if (!l.nr)
			break;
	}
	while (l.nr)
		level_pop(&l);
	free(l.of);
	free(l.hidden);
	return err;
}

static int print_path(struct tree_view *v)
{
	int64_t nr = jta_path(v->tree, v->path, NULL, 0);
	uint64_t *path = nr > 0 ? calloc((size_t)nr, sizeof(*path)) : NULL;

	if (nr < 0)
		return (int)nr;
	if (!path)
		return -ENOMEM;
	jta_path(v->tree, v->path, path, (size_t)nr);
	for (int64_t i = nr; i--;)
		(void)print_record(v, path[i], jta_get(v->tree, path[i]), (uint32_t)(nr - 1 - i));
	free(path);
	return 0;
}

static bool name_has(void *ctx, uint32_t method)
{
	const struct tree_view *v = ctx;

	return method && strstr(jta_method_name(v->names, method), v->find);
}

static int print_found(void *ctx, uint64_t number, const struct jta_record *r, uint32_t depth)
{
	struct tree_view *v = ctx;

	(void)depth;
	if ((!(r->flags & JTA_INTERNAL) || v->internal) && jvm_wanted(v, r->jvm) &&
	    thread_wanted(v, r->thread))
		return print_record(v, number, r, 0);
	return 0;
}

/* Is it in a call of a chosen thread, and told of there? */
static bool is_told_in_another(const struct tree_view *v, const struct jta_record *r)
{
	uint64_t left = jta_header(v->tree)->records;

	while (!(r->parent & JTA_IN_JVM) && left--) {
		r = jta_get(v->tree, r->parent);
		if (!r)
			return false;
		if (r->thread && jvm_wanted(v, r->jvm) && thread_wanted(v, r->thread))
			return true;
	}
	return false;
}

/* The first calls of chosen threads, what they served for others, and what is in them. */
static int print_first(void *ctx, uint64_t number, const struct jta_record *r, uint32_t depth)
{
	struct tree_view *v = ctx;

	(void)depth;
	if (!jvm_wanted(v, r->jvm) || !thread_wanted(v, r->thread))
		return 0;
	if (!is_first(r) && (r->kind != JTA_SERVED || is_told_in_another(v, r)))
		return 0;
	return print_below(v, number, 0);
}

static int print_threads(struct tree_view *v)
{
	const struct jta_query query = {.thread = UINT32_MAX,
					.jvm = UINT32_MAX,
					.from = v->from,
					.to = v->to,
					.longer_than = v->longer};

	return jta_search(v->tree, v->open, JTA_DEPTH_FIRST, &query, print_first, v);
}

static int print_search(struct tree_view *v)
{
	const struct jta_query query = {.method = name_has,
					.ctx = v,
					.kinds = 1u << JTA_METHOD | 1u << JTA_REMOTE |
						 1u << JTA_SERVED,
					.thread = UINT32_MAX,
					.jvm = UINT32_MAX,
					.from = v->from,
					.to = v->to,
					.longer_than = v->longer};

	return jta_search(v->tree, v->open, v->breadth ? JTA_BREADTH_FIRST : JTA_DEPTH_FIRST,
			  &query, print_found, v);
}

static int print_all(struct tree_view *v)
{
	if (v->path)
		return print_path(v);
	if (v->find)
		return print_search(v);
	if (v->thread)
		return print_threads(v);
	return print_below(v, v->open ? v->open : jta_header(v->tree)->root, 0);
}

int tree_print(struct tree_view *v)
{
	int err;

	if ((v->open && !jta_get(v->tree, v->open)) || (v->path && !jta_get(v->tree, v->path)))
		return -ENOENT;
	if (!v->json)
		printf("%10s %13s %13s  %s\n", "number", "begin ms", "time ms", "call");
	err = print_all(v);
	return err == ENOUGH ? 0 : err;
}
