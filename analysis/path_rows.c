/* SPDX-License-Identifier: MIT */
/* Two hash tables: of rows by their keys, and of names by their texts. */
#include "path_rows.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_LENGTH 256

struct path_rows {
	const struct model *model;
	const struct lanes *lanes;
	bool groups;
	struct path_row *rows;
	uint32_t nr, room;
	uint32_t *table; /* index + 1 */
	uint32_t mask;
	char **names; /* names[0] is "" */
	uint32_t nr_names, room_names;
	uint32_t *name_table;
	uint32_t name_mask;
	uint32_t top;  /* row of the last step of depth 0 */
	uint32_t home; /* process of who that one is of */
	uint64_t sum;
};

/* Texts -------------------------------------------------------------------------------------- */

/* Numbers become one #, so that threads of a pool have one name. */
static void without_numbers(char *text)
{
	char *out = text;

	for (const char *in = text; *in;) {
		if (!isdigit((unsigned char)*in)) {
			*out++ = *in++;
			continue;
		}
		while (isdigit((unsigned char)*in))
			in++;
		*out++ = '#';
	}
	*out = 0;
}

const char *path_who_text(const struct model *m, const struct model_info *info, struct path_who who,
			  bool group, char *text, size_t size)
{
	text[0] = 0;
	if (who.vthread != MODEL_NO_THREAD) {
		const struct model_vthread *v = &info->vthreads[who.vthread];
		const char *name = model_name(m, v->name);

		if (group)
			snprintf(text, size, "%s (virtual)", *name ? name : "?");
		else
			snprintf(text, size, "%s #%" PRIu64, *name ? name : "virtual", v->java_tid);
	} else if (who.thread != MODEL_NO_THREAD) {
		const struct thread_entry *e = info->threads[who.thread].entry;

		if (group)
			snprintf(text, size, "%s", e->name ? e->name : "?");
		else
			snprintf(text, size, "%s [%u]", e->name ? e->name : "?", e->tid);
	}
	if (group)
		without_numbers(text);
	return text;
}

uint32_t path_who_process(const struct model_info *info, struct path_who who)
{
	return who.vthread != MODEL_NO_THREAD ? info->vthreads[who.vthread].process
					      : info->threads[who.thread].process;
}

const char *path_who_away_text(const struct model *m, const struct model_info *info,
			       struct path_who who, uint32_t home, bool group, char *text,
			       size_t size)
{
	const struct process_entry *p;
	uint32_t process;
	size_t used;

	path_who_text(m, info, who, group, text, size);
	if (!*text)
		return text;
	process = path_who_process(info, who);
	if (process == home)
		return text;
	p = &info->processes[process];
	used = strlen(text);
	snprintf(text + used, size - used, " of %s (%u)", p->name ? p->name : "?", p->pid);
	return text;
}

const char *path_foreign_text(const struct model_info *info, uint32_t foreign, uint32_t tid,
			      bool group, char *text, size_t size)
{
	const struct manifest *man = info->manifest;
	const char *comm = foreign < man->nr_foreigners ? man->foreigners[foreign].comm : NULL;

	if (group)
		snprintf(text, size, "%s", comm ? comm : "?");
	else
		snprintf(text, size, "%s [%u]", comm ? comm : "?", tid);
	if (group)
		without_numbers(text);
	return text;
}

/* Names -------------------------------------------------------------------------------------- */

static uint64_t hash_of(const void *key, size_t size)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < size; i++)
		h = (h ^ ((const uint8_t *)key)[i]) * 0x100000001b3ull;
	return h ^ h >> 32;
}

static uint32_t *name_slot(const struct path_rows *r, const char *text)
{
	uint32_t i = (uint32_t)hash_of(text, strlen(text)) & r->name_mask;

	while (r->name_table[i] && strcmp(r->names[r->name_table[i] - 1], text) != 0)
		i = (i + 1) & r->name_mask;
	return &r->name_table[i];
}

static int names_grow(struct path_rows *r)
{
	uint32_t room = r->room_names ? r->room_names * 2 : 64;
	char **grown = realloc(r->names, room * sizeof(*grown));
	uint32_t *table = grown ? calloc(room * 2ull, sizeof(*table)) : NULL;

	if (grown)
		r->names = grown;
	if (!table)
		return -ENOMEM;
	free(r->name_table);
	r->name_table = table;
	r->name_mask = room * 2 - 1;
	r->room_names = room;
	for (uint32_t i = 0; i < r->nr_names; i++)
		*name_slot(r, r->names[i]) = i + 1;
	return 0;
}

static int name_add(struct path_rows *r, const char *text, uint32_t *out)
{
	uint32_t *slot;

	if (r->nr_names == r->room_names && names_grow(r))
		return -ENOMEM;
	slot = name_slot(r, text);
	if (!*slot) {
		char *copy = strdup(text);

		if (!copy)
			return -ENOMEM;
		r->names[r->nr_names++] = copy;
		*slot = r->nr_names;
	}
	*out = *slot - 1;
	return 0;
}

static int name_who(struct path_rows *r, struct path_who who, uint32_t *out)
{
	char text[NAME_MAX_LENGTH];

	if (who.vthread != MODEL_NO_THREAD)
		who.thread = MODEL_NO_THREAD;
	return name_add(r,
			path_who_away_text(r->model, lanes_info(r->lanes), who, r->home, r->groups,
					   text, sizeof(text)),
			out);
}

static int name_by(struct path_rows *r, const struct path_step *s, uint32_t *out)
{
	char text[NAME_MAX_LENGTH];

	if (s->ended != PATH_FOREIGN && s->ended != PATH_BEHIND_FOREIGN)
		return name_who(r, s->by, out);
	return name_add(r,
			path_foreign_text(lanes_info(r->lanes), s->foreign, s->tid, r->groups, text,
					  sizeof(text)),
			out);
}

/* Rows --------------------------------------------------------------------------------------- */

static uint32_t *row_slot(const struct path_rows *r, const struct path_key *key)
{
	uint32_t i = (uint32_t)hash_of(key, sizeof(*key)) & r->mask;

	while (r->table[i] && memcmp(&r->rows[r->table[i] - 1].key, key, sizeof(*key)) != 0)
		i = (i + 1) & r->mask;
	return &r->table[i];
}

static int rows_grow(struct path_rows *r)
{
	uint32_t room = r->room ? r->room * 2 : 128;
	struct path_row *grown = realloc(r->rows, room * sizeof(*grown));
	uint32_t *table = grown ? calloc(room * 2ull, sizeof(*table)) : NULL;

	if (grown)
		r->rows = grown;
	if (!table)
		return -ENOMEM;
	free(r->table);
	r->table = table;
	r->mask = room * 2 - 1;
	r->room = room;
	for (uint32_t i = 0; i < r->nr; i++)
		*row_slot(r, &r->rows[i].key) = i + 1;
	return 0;
}

/* Beyond the most rows there may be, all that is new is one row more for each of depth 0. */
static int row_get(struct path_rows *r, struct path_key key, uint32_t *out)
{
	uint32_t *slot;

	if (r->nr == r->room && rows_grow(r))
		return -ENOMEM;
	slot = row_slot(r, &key);
	if (!*slot && r->nr >= PATH_ROWS_MAX && !key.others) {
		const struct path_key others = {.parent = key.parent,
						.why = UINT32_MAX,
						.state = MODEL_UNKNOWN,
						.others = 1};

		return row_get(r, others, out);
	}
	if (!*slot) {
		r->rows[r->nr++] = (struct path_row){.key = key};
		*slot = r->nr;
	}
	*out = *slot - 1;
	return 0;
}

static void row_add(struct path_row *row, uint64_t time)
{
	row->time += time;
	row->count++;
	if (time > row->longest)
		row->longest = time;
}

static int key_of(struct path_rows *r, const struct path_step *s, struct path_key *key)
{
	int err = s->depth ? name_who(r, s->who, &key->who) : 0;

	/* One that is followed has rows of its own; the lock is told with it all the same. */
	if (!err && s->ended != PATH_NONE)
		err = name_by(r, s, &key->by);
	key->why = s->why;
	key->state = s->state;
	key->ended = s->ended;
	key->flags = s->flags & (SEGMENT_THROTTLED | SEGMENT_TO_MOUNT);
	key->call = s->call;
	if (s->call.kind == HOP_FOLLOWED)
		key->call.match = 0; /* by what its ends are known is no difference here */
	return err;
}

int path_rows_step(void *ctx, const struct path_step *s)
{
	struct path_rows *r = ctx;
	struct path_key key = {.parent = PATH_NO_ROW};
	uint32_t row;
	int err;

	if (s->depth == 0) {
		r->home = path_who_process(lanes_info(r->lanes), s->who);
		err = key_of(r, s, &key);
		if (!err)
			err = row_get(r, key, &r->top);
		if (err)
			return err;
		row_add(&r->rows[r->top], s->end - s->begin);
	}
	if (!s->leaf)
		return 0;
	r->sum += s->end - s->begin;
	if (s->depth == 0)
		return 0;
	key = (struct path_key){.parent = r->top};
	err = key_of(r, s, &key);
	if (!err)
		err = row_get(r, key, &row);
	if (!err)
		row_add(&r->rows[row], s->end - s->begin);
	return err;
}

static const struct path_rows *sorting; /* qsort() passes no context */

static int row_compare(const void *a, const void *b)
{
	const struct path_row *x = *(const struct path_row *const *)a;
	const struct path_row *y = *(const struct path_row *const *)b;
	const struct path_row *px =
		x->key.parent == PATH_NO_ROW ? x : &sorting->rows[x->key.parent];
	const struct path_row *py =
		y->key.parent == PATH_NO_ROW ? y : &sorting->rows[y->key.parent];

	if (px != py) {
		if (px->time != py->time)
			return px->time > py->time ? -1 : 1;
		return px < py ? -1 : 1;
	}
	if ((x == px) != (y == py))
		return x == px ? -1 : 1;
	if (x->time != y->time)
		return x->time > y->time ? -1 : 1;
	return x < y ? -1 : x > y;
}

const struct path_row **path_rows_sorted(const struct path_rows *r, uint32_t *nr)
{
	const struct path_row **list = calloc(r->nr + 1ull, sizeof(*list));

	*nr = list ? r->nr : 0;
	for (uint32_t i = 0; i < *nr; i++)
		list[i] = &r->rows[i];
	sorting = r;
	if (list)
		qsort(list, *nr, sizeof(*list), row_compare);
	return list;
}

const char *path_rows_name(const struct path_rows *r, uint32_t name)
{
	return name < r->nr_names ? r->names[name] : "";
}

uint64_t path_rows_sum(const struct path_rows *r)
{
	return r->sum;
}

struct path_rows *path_rows_new(const struct model *m, const struct lanes *l, bool groups)
{
	struct path_rows *r = calloc(1, sizeof(*r));
	uint32_t none;

	if (!r)
		return NULL;
	r->model = m;
	r->lanes = l;
	r->groups = groups;
	if (name_add(r, "", &none)) {
		path_rows_free(r);
		return NULL;
	}
	return r;
}

void path_rows_free(struct path_rows *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->nr_names; i++)
		free(r->names[i]);
	free(r->names);
	free(r->name_table);
	free(r->rows);
	free(r->table);
	free(r);
}
