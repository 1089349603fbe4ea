/* SPDX-License-Identifier: MIT */
/*
 * `jis why --json`. Times are ns; those of a path are since its interval's begin.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "why.h"
#include "trace/json_text.h"

#define TEXT_SIZE 512

static void put(struct json_object *o, const char *name, uint64_t value)
{
	json_object_object_add(o, name, json_object_new_uint64(value));
}

static void put_text(struct json_object *o, const char *name, const char *text)
{
	json_object_object_add(o, name, json_text(text));
}

static const char *end_name(uint8_t ended)
{
	static const char *const names[PATH_NR_ENDS] = {
		[PATH_NONE] = "",
		[PATH_THREAD] = "thread",
		[PATH_HOLDER] = "holder",
		[PATH_OWNER] = "owner",
		[PATH_SENDER] = "sender",
		[PATH_REMOTE] = "remote",
		[PATH_REQUEST] = "request",
		[PATH_ANSWER] = "answer",
		[PATH_PARENT] = "parent",
		[PATH_TIMER] = "timer",
		[PATH_SOFTIRQ] = "softirq",
		[PATH_HARDIRQ] = "hardirq",
		[PATH_NMI] = "nmi",
		[PATH_FOREIGN] = "foreign",
		[PATH_IDLE] = "idle",
		[PATH_OPEN] = "not known",
		[PATH_DEEP] = "not followed",
		[PATH_CYCLE] = "cycle",
		[PATH_BEHIND_THREAD] = "behind thread",
		[PATH_BEHIND_FOREIGN] = "behind foreign",
		[PATH_BEHIND_IDLE] = "behind idle",
	};

	return ended < PATH_NR_ENDS ? names[ended] : "";
}

static void put_who(struct json_object *o, const struct why *w, const char *name,
		    struct path_who who)
{
	const struct process_entry *p;
	struct json_object *one;
	char text[TEXT_SIZE];

	if (who.thread == MODEL_NO_THREAD && who.vthread == MODEL_NO_THREAD)
		return;
	one = json_object_new_object();
	put_text(one, "name", path_who_text(w->model, w->info, who, false, text, sizeof(text)));
	if (who.vthread != MODEL_NO_THREAD)
		put(one, "java_tid", w->info->vthreads[who.vthread].java_tid);
	if (who.thread != MODEL_NO_THREAD)
		put(one, "tid", w->info->threads[who.thread].entry->tid);
	p = &w->info->processes[path_who_process(w->info, who)];
	put(one, "pid", p->pid);
	put_text(one, "process", p->name ? p->name : "");
	json_object_object_add(o, name, one);
}

/* The remote call a wait is in: "alone" says why who serves it is not known. */
static void put_remote(struct json_object *o, const struct why *w, const struct hop_call *call)
{
	struct json_object *one = json_object_new_object();

	put_text(one, "method", model_name(w->model, call->method));
	json_object_object_add(one, "internal", json_object_new_boolean(call->internal));
	if (call->kind == HOP_ALONE)
		put_text(one, "alone", hop_alone_name(call));
	json_object_object_add(o, "remote", one);
}

/* State, reason with its object, and how it ended. */
static void put_what(struct json_object *o, const struct why *w, const struct why_what *what)
{
	const struct lanes_why *why =
		what->why == UINT32_MAX ? NULL : lanes_why(w->lanes, what->why);
	char text[TEXT_SIZE];

	put_text(o, "state", model_state_name((enum model_state_kind)what->state));
	if (why)
		put_text(o, "reason", model_reason_name((enum model_reason_kind)why->kind));
	if (why && why->class_name)
		put_text(o, "class", model_name(w->model, why->class_name));
	if (why && why->name)
		put_text(o, "object", model_name(w->model, why->name));
	if (what->ended)
		put_text(o, "ended", end_name(what->ended));
	if (what->by && *what->by)
		put_text(o, "by", what->by);
	if (what->call.kind != HOP_NONE)
		put_remote(o, w, &what->call);
	put_text(o, "text", why_what_text(w, what, text, sizeof(text)));
}

static struct json_object *row_object(const struct why *w, const struct path_rows *rows,
				      const struct path_row *row)
{
	struct json_object *o = json_object_new_object();
	const struct why_what what = why_of_row(rows, row);

	if (row->key.others) {
		put_text(o, "text", "all the rest");
	} else {
		if (row->key.who)
			put_text(o, "who", path_rows_name(rows, row->key.who));
		put_what(o, w, &what);
	}
	put(o, "time", row->time);
	put(o, "count", row->count);
	put(o, "longest", row->longest);
	return o;
}

/* Rows of depth 0, with those below them in "below" where there are any. */
static struct json_object *rows_array(const struct why *w, const struct path_rows *rows)
{
	struct json_object *list = json_object_new_array(), *below = NULL;
	uint32_t nr;
	const struct path_row **sorted = path_rows_sorted(rows, &nr);

	for (uint32_t i = 0; i < nr; i++) {
		struct json_object *o = row_object(w, rows, sorted[i]);

		if (sorted[i]->key.parent != PATH_NO_ROW) {
			json_object_array_add(below, o);
			continue;
		}
		json_object_array_add(list, o);
		if (i + 1 < nr && sorted[i + 1]->key.parent != PATH_NO_ROW) {
			below = json_object_new_array();
			json_object_object_add(o, "below", below);
		}
	}
	free(sorted);
	return list;
}

static void put_answer(struct json_object *o, const struct why *w, const struct path_rows *rows)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	why_answer(w, rows, out);
	if (!fclose(out))
		put_text(o, "answer", text);
	free(text);
}

static struct json_object *step_object(const struct why *w, const struct why_detail *d,
				       const struct path_step *s)
{
	struct json_object *o = json_object_new_object();
	const struct why_what what = {.why = s->why,
				      .state = s->state,
				      .ended = s->ended,
				      .flags = s->flags,
				      .call = s->call};
	char by[TEXT_SIZE];

	put(o, "from", s->begin - d->interval.begin);
	put(o, "time", s->end - s->begin);
	put(o, "depth", s->depth);
	json_object_object_add(o, "leaf", json_object_new_boolean(s->leaf));
	put_who(o, w, "thread", s->who);
	put_what(o, w, &what);
	put_text(o, "text",
		 why_step_text(w, s, path_who_process(w->info, d->interval.who), by, sizeof(by)));
	if (s->hash)
		put(o, "hash", s->hash);
	put_who(o, w, "owner", s->owner);
	put_who(o, w, "by", s->by);
	if (s->ended == PATH_FOREIGN || s->ended == PATH_BEHIND_FOREIGN)
		put_text(o, "foreign",
			 path_foreign_text(w->info, s->foreign, s->tid, false, by, sizeof(by)));
	return o;
}

static void put_interval(struct json_object *o, const struct why *w, const struct why_interval *i)
{
	if (i->name)
		put_text(o, i->marker ? "marker" : "span", i->name);
	put_who(o, w, "thread", i->who);
	put(o, "begin", i->begin);
	put(o, "end", i->end);
}

static struct json_object *detail_object(const struct why *w, const struct why_detail *d)
{
	struct json_object *o = json_object_new_object(), *path = json_object_new_array();

	put_interval(o, w, &d->interval);
	if (*d->which)
		put_text(o, "which", d->which);
	put_answer(o, w, d->rows);
	put(o, "sum", path_rows_sum(d->rows));
	json_object_object_add(o, "reasons", rows_array(w, d->rows));
	for (uint32_t i = 0; i < d->nr_steps; i++)
		json_object_array_add(path, step_object(w, d, &d->steps[i]));
	json_object_object_add(o, "path", path);
	json_object_object_add(o, "path_cut", json_object_new_boolean(d->cut));
	return o;
}

static struct json_object *names_array(const struct spans *s)
{
	struct json_object *list = json_object_new_array();

	for (uint32_t i = 0; i < s->nr_names; i++) {
		struct json_object *o = json_object_new_object();

		put_text(o, s->names[i].marker ? "marker" : "span", s->names[i].text);
		put(o, "count", s->names[i].count);
		put(o, "total", s->names[i].total);
		put(o, "longest", s->names[i].longest);
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *all_object(const struct why *w)
{
	struct json_object *o = json_object_new_object(), *lengths = json_object_new_array();

	put_text(o, "name", w->span);
	put(o, "count", w->nr_intervals);
	put(o, "left_out", w->left_out);
	put_answer(o, w, w->rows);
	put(o, "sum", path_rows_sum(w->rows));
	for (uint32_t i = 0; i < w->nr_intervals; i++)
		json_object_array_add(lengths, json_object_new_uint64(w->intervals[i].end -
								      w->intervals[i].begin));
	json_object_object_add(o, "lengths", lengths);
	json_object_object_add(o, "reasons", rows_array(w, w->rows));
	return o;
}

int why_print_json(const struct why *w)
{
	struct json_object *root = json_object_new_object(), *details = json_object_new_array();

	if (w->spans)
		json_object_object_add(root, "names", names_array(w->spans));
	if (w->spans)
		put(root, "without_end", w->spans->lost);
	if (w->rows)
		json_object_object_add(root, "all", all_object(w));
	for (uint32_t i = 0; i < w->nr_details; i++)
		json_object_array_add(details, detail_object(w, &w->details[i]));
	json_object_object_add(root, "intervals", details);
	puts(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY |
							  JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(root);
	return ferror(stdout) ? -EIO : 0;
}
