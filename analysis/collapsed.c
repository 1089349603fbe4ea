/* SPDX-License-Identifier: MIT */
/* Sums of time by thread, stack and reason, and the lines they make. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "collapsed_int.h"

static struct line *line_slot(const struct collapsed *c, const struct line_key *key)
{
	uint64_t h = 0xcbf29ce484222325ull;
	uint32_t i;

	for (size_t k = 0; k < sizeof(*key); k++)
		h = (h ^ ((const uint8_t *)key)[k]) * 0x100000001b3ull;
	i = (uint32_t)(h ^ h >> 32) & c->mask;
	while (c->table[i].time && memcmp(&c->table[i].key, key, sizeof(*key)) != 0)
		i = (i + 1) & c->mask;
	return &c->table[i];
}

static int lines_grow(struct collapsed *c)
{
	struct collapsed grown = {.mask = c->table ? c->mask * 2 + 1 : 1023};

	grown.table = calloc(grown.mask + 1ull, sizeof(*grown.table));
	if (!grown.table)
		return -ENOMEM;
	for (uint32_t i = 0; c->table && i <= c->mask; i++) {
		if (c->table[i].time)
			*line_slot(&grown, &c->table[i].key) = c->table[i];
	}
	free(c->table);
	c->table = grown.table;
	c->mask = grown.mask;
	return 0;
}

int collapsed_add(struct collapsed *c, struct line_key key, uint64_t time)
{
	struct line *l;

	if (!time)
		return 0;
	if (c->options.together)
		key.thread = key.vthread = MODEL_NO_THREAD;
	if ((!c->table || c->nr > c->mask / 2) && lines_grow(c))
		return -ENOMEM;
	l = line_slot(c, &key);
	if (!l->time) {
		l->key = key;
		c->nr++;
	}
	l->time += time;
	return 0;
}

void collapsed_put_text(FILE *out, const char *text)
{
	for (; *text; text++)
		fputc(*text == ';' || (unsigned char)*text < ' ' ? '_' : *text, out);
}

static void put_thread(const struct collapsed *c, const struct line_key *key, FILE *out)
{
	const struct model_info *info = model_info(c->model);
	const char *name = process_entry_name(&info->processes[key->process]);

	if (key->vthread != MODEL_NO_THREAD)
		collapsed_put_text(out, model_name(c->model, info->vthreads[key->vthread].name));
	else if (key->thread != MODEL_NO_THREAD)
		collapsed_put_text(out, info->threads[key->thread].entry->name);
	else
		collapsed_put_text(out, name ? name : "process");
}

static int put_line(const struct collapsed *c, const struct line *l, FILE *out)
{
	int err;

	put_thread(c, &l->key, out);
	err = c->put_path(c, &l->key, out);
	if (l->key.kind) {
		fprintf(out, ";[%s", model_reason_name((enum model_reason_kind)l->key.kind));
		if (l->key.name) {
			fputs(": ", out);
			collapsed_put_text(out, model_name(c->model, l->key.name));
		}
		fputc(']', out);
	}
	fprintf(out, " %" PRIu64 "\n", l->time);
	return err;
}

static int line_compare(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->time != y->time)
		return x->time > y->time ? -1 : 1;
	return memcmp(&x->key, &y->key, sizeof(x->key));
}

int64_t collapsed_write(const struct collapsed *c, FILE *out)
{
	struct line *lines = calloc(c->nr + 1ull, sizeof(*lines));
	uint32_t n = 0;
	int err = 0;

	if (!lines)
		return -ENOMEM;
	for (uint32_t i = 0; c->table && i <= c->mask; i++)
		if (c->table[i].time)
			lines[n++] = c->table[i];
	qsort(lines, n, sizeof(*lines), line_compare);
	for (uint32_t i = 0; !err && i < n; i++)
		err = put_line(c, &lines[i], out);
	free(lines);
	if (!err && (fflush(out) || ferror(out)))
		err = -EIO;
	return err ? err : (int64_t)n;
}

struct collapsed *collapsed_new(const struct model *model, const struct collapsed_options *options)
{
	struct collapsed *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->model = model;
	c->options = *options;
	if (options->of == COLLAPSED_WAITS)
		collapsed_waits_init(c);
	else
		collapsed_calls_init(c);
	return c;
}

const struct model_sink *collapsed_sink(const struct collapsed *c)
{
	return &c->sink;
}

void collapsed_free(struct collapsed *c)
{
	if (!c)
		return;
	free(c->table);
	free(c);
}
