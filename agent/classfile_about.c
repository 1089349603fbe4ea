/* SPDX-License-Identifier: MIT */
/*
 * What a class file tells of its methods besides their code: lines, source file, annotations.
 */
#include "classfile_internal.h"

static struct jis_reader reader_at(const struct jis_class *c, size_t at)
{
	return (struct jis_reader){c->bytes, c->size, at, 0};
}

static void lines_read(struct jis_reader *r, int *first, int *last)
{
	unsigned int n = jis_read_u2(r);
	int line;

	while (n--) {
		jis_read_u2(r);
		line = (int)jis_read_u2(r);
		if (r->bad)
			return;
		if (*first < 0 || line < *first)
			*first = line;
		if (line > *last)
			*last = line;
	}
}

void jis_method_lines(const struct jis_method *m, int *first, int *last)
{
	struct jis_reader code, table;

	*first = *last = -1;
	if (!attribute_find(m->class, reader_at(m->class, m->attributes), "Code", &code))
		return;
	jis_read_u4(&code);
	jis_read_bytes(&code, jis_read_u4(&code));
	jis_read_bytes(&code, 8 * (size_t)jis_read_u2(&code));
	if (!code.bad && attribute_find(m->class, code, "LineNumberTable", &table))
		lines_read(&table, first, last);
}

const char *jis_class_source(const struct jis_class *c, size_t *length)
{
	struct jis_reader r;

	if (!attribute_find(c, reader_at(c, c->methods_end), "SourceFile", &r))
		return NULL;
	return jis_class_utf8(c, jis_read_u2(&r), length);
}

void jis_class_annotations(const struct jis_class *c, const struct jis_method *m,
			   void (*each)(void *context, const char *type, size_t length),
			   void *context)
{
	static const char *const tables[] = {"RuntimeVisibleAnnotations",
					     "RuntimeInvisibleAnnotations"};
	size_t at = m ? m->attributes : c->methods_end, length;
	unsigned int i, n;
	struct jis_reader r;
	const char *type;

	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		if (!attribute_find(c, reader_at(c, at), tables[i], &r))
			continue;
		n = jis_read_u2(&r);
		while (n-- && !r.bad) {
			type = jis_class_utf8(c, jis_read_u2(&r), &length);
			if (type && !r.bad)
				each(context, type, length);
			r.at -= r.bad ? 0 : 2;
			annotation_skip(&r, ANNOTATION_DEPTH);
		}
	}
}
