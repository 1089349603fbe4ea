/* SPDX-License-Identifier: MIT */
/*
 * What stands behind the instructions of a method and holds positions in them: the exception table,
 * lines, variables, type annotations. The inserted entry calls take over line and variables of the
 * old first instruction. Attributes not known here may hold positions, and are left out of methods
 * that change; the JVM knows none of them.
 */
#include "classfile_internal.h"

/* New position of a range's limit. What is inserted behind monitorenter belongs to what follows, so
 * that its exceptions find the handler that gives the monitor back. */
static unsigned int limit(struct job *j, struct jis_reader *r, unsigned int pc)
{
	if (pc > j->length || (pc < j->length && !(j->flags[pc] & POS_START))) {
		r->bad = 1;
		return 0;
	}
	return j->before[pc] -
	       (j->flags[pc] & POS_AFTER_ENTER ? (uint32_t)j->in->code[FRAGMENT_LOCKED].size : 0);
}

static void exceptions_write(struct job *j)
{
	struct jis_reader *r = &j->tables, ranges = {j->rw->ranges.data, j->rw->ranges.size, 0, 0};
	unsigned int n = jis_read_u2(r), added = (unsigned int)(j->rw->ranges.size / 5), handler;

	if (n + added > U2_MAX) {
		j->why = "its exception table would get too long";
		return;
	}
	jis_bytes_u2(j->out, n + added);
	while (n-- && !r->bad) {
		jis_bytes_u2(j->out, limit(j, r, jis_read_u2(r)));
		jis_bytes_u2(j->out, limit(j, r, jis_read_u2(r)));
		handler = jis_read_u2(r);
		if (handler >= j->length || !(j->flags[handler] & POS_START))
			r->bad = 1;
		else
			jis_bytes_u2(j->out, j->before[handler]);
		jis_bytes_u2(j->out, jis_read_u2(r));
	}
	while (added--) { /* ours last: the method's own come first */
		jis_bytes_u2(j->out, jis_read_u2(&ranges));
		jis_bytes_u2(j->out, jis_read_u2(&ranges));
		jis_bytes_u2(j->out, j->handler[jis_read_u1(&ranges)]);
		jis_bytes_u2(j->out, 0);
	}
}

/* New position of the instruction that holds @pc: lines and variables are not always exact. */
static unsigned int loose(struct job *j, struct jis_reader *r, unsigned int pc)
{
	if (pc > j->length) {
		r->bad = 1;
		return 0;
	}
	while (pc < j->length && pc && !(j->flags[pc] & POS_START))
		pc--;
	return j->before[pc];
}

static void lines_move(struct job *j, struct jis_reader *r)
{
	unsigned int n = jis_read_u2(r), pc;

	jis_bytes_u2(j->out, n);
	while (n-- && !r->bad) {
		pc = jis_read_u2(r);
		jis_bytes_u2(j->out, pc ? loose(j, r, pc) : 0);
		jis_bytes_u2(j->out, jis_read_u2(r));
	}
}

/* A start and a length. */
static void stretch_move(struct job *j, struct jis_reader *r)
{
	unsigned int pc = jis_read_u2(r), end = pc + jis_read_u2(r), start;

	start = pc ? loose(j, r, pc) : 0;
	jis_bytes_u2(j->out, start);
	jis_bytes_u2(j->out, loose(j, r, end) - start);
}

/* LocalVariableTable and LocalVariableTypeTable. */
static void variables_move(struct job *j, struct jis_reader *r)
{
	unsigned int n = jis_read_u2(r);
	const uint8_t *rest;

	jis_bytes_u2(j->out, n);
	while (n-- && !r->bad) {
		stretch_move(j, r);
		rest = jis_read_bytes(r, 6); /* name, descriptor or signature, index */
		jis_bytes_put(j->out, rest, rest ? 6 : 0);
	}
}

/* Annotations -------------------------------------------------------------------------------- */

static void element_skip(struct jis_reader *r, int depth)
{
	unsigned int tag = jis_read_u1(r), n;

	if (depth <= 0) {
		r->bad = 1;
	} else if (tag == 'e') {
		jis_read_u4(r);
	} else if (tag == '@') {
		annotation_skip(r, depth - 1);
	} else if (tag == '[') {
		for (n = jis_read_u2(r); n && !r->bad; n--)
			element_skip(r, depth - 1);
	} else {
		jis_read_u2(r);
	}
}

void annotation_skip(struct jis_reader *r, int depth)
{
	unsigned int n;

	jis_read_u2(r); /* type */
	for (n = jis_read_u2(r); n && !r->bad; n--) {
		jis_read_u2(r);
		element_skip(r, depth);
	}
}

unsigned int annotation_marks(const struct jis_class *c, struct jis_reader *r)
{
#define JDK "Ljdk/internal/vm/annotation/"
	static const struct {
		const char *type;
		unsigned int mark;
	} marks[] = {
		{JDK "IntrinsicCandidate;", JIS_MARK_INTRINSIC},
		{JDK "Hidden;", JIS_MARK_HIDDEN},
		{"Ljava/lang/invoke/LambdaForm$Hidden;", JIS_MARK_HIDDEN},
		{JDK "ReservedStackAccess;", JIS_MARK_RESERVED_STACK},
		{JDK "ChangesCurrentThread;", JIS_MARK_CHANGES_THREAD},
		{JDK "JvmtiMountTransition;", JIS_MARK_MOUNT},
		{JDK "JvmtiHideEvents;", JIS_MARK_MOUNT},
		{"Ljdk/internal/misc/ScopedMemoryAccess$Scoped;", JIS_MARK_SCOPED},
	};
#undef JDK
	unsigned int n = jis_read_u2(r), result = 0, type, i;

	while (n-- && !r->bad) {
		type = jis_read_u2(r);
		for (i = 0; i < sizeof(marks) / sizeof(*marks); i++)
			if (jis_class_utf8_is(c, type, marks[i].type))
				result |= marks[i].mark;
		r->at -= r->bad ? 0 : 2;
		annotation_skip(r, ANNOTATION_DEPTH);
	}
	return result;
}

/* target_info of an annotation inside code: what it stands at. */
static void annotation_target(struct job *j, struct jis_reader *r)
{
	unsigned int kind = jis_read_u1(r), n, pc;

	jis_bytes_u1(j->out, kind);
	if (kind == 0x40 || kind == 0x41) { /* variables */
		n = jis_read_u2(r);
		jis_bytes_u2(j->out, n);
		while (n-- && !r->bad) {
			stretch_move(j, r);
			jis_bytes_u2(j->out, jis_read_u2(r));
		}
	} else if (kind == 0x42) { /* catch: indexes stay, ours are appended */
		jis_bytes_u2(j->out, jis_read_u2(r));
	} else if (kind >= 0x43 && kind <= 0x4b) { /* instanceof, new, casts, ... */
		pc = jis_read_u2(r);
		if (pc >= j->length)
			r->bad = 1;
		else
			jis_bytes_u2(j->out,
				     j->flags[pc] & POS_START ? j->at[pc] : loose(j, r, pc));
		if (kind >= 0x47)
			jis_bytes_u1(j->out, jis_read_u1(r));
	} else {
		r->bad = 1;
	}
}

static void type_annotations_move(struct job *j, struct jis_reader *r)
{
	unsigned int n = jis_read_u2(r);
	size_t start;

	jis_bytes_u2(j->out, n);
	while (n-- && !r->bad) {
		annotation_target(j, r);
		start = r->at;
		jis_read_bytes(r, 2 * (size_t)jis_read_u1(r)); /* path */
		annotation_skip(r, ANNOTATION_DEPTH);
		if (!r->bad)
			jis_bytes_put(j->out, r->data + start, r->at - start);
	}
}

/* Attributes --------------------------------------------------------------------------------- */

typedef void (*move_fn)(struct job *j, struct jis_reader *r);

static move_fn mover_of(const struct jis_class *c, unsigned int name)
{
	if (c->major >= MAJOR_STACK_MAPS && jis_class_utf8_is(c, name, "StackMapTable"))
		return frames_move;
	if (jis_class_utf8_is(c, name, "LineNumberTable"))
		return lines_move;
	if (jis_class_utf8_is(c, name, "LocalVariableTable") ||
	    jis_class_utf8_is(c, name, "LocalVariableTypeTable"))
		return variables_move;
	if (jis_class_utf8_is(c, name, "RuntimeVisibleTypeAnnotations") ||
	    jis_class_utf8_is(c, name, "RuntimeInvisibleTypeAnnotations"))
		return type_annotations_move;
	return NULL;
}

int attribute_find(const struct jis_class *c, struct jis_reader r, const char *name,
		   struct jis_reader *content)
{
	unsigned int n = jis_read_u2(&r), index;

	while (n-- && !r.bad) {
		index = jis_read_u2(&r);
		content->size = jis_read_u4(&r);
		content->data = jis_read_bytes(&r, content->size);
		content->at = 0;
		content->bad = 0;
		if (!r.bad && jis_class_utf8_is(c, index, name))
			return 1;
	}
	return 0;
}

/* Moves one attribute; 0 when it is left out. */
static int attribute_move(struct job *j, struct jis_reader *r)
{
	struct jis_reader content = {NULL, 0, 0, 0};
	unsigned int name = jis_read_u2(r);
	move_fn move = mover_of(j->m->class, name);
	size_t start;

	content.size = jis_read_u4(r);
	content.data = jis_read_bytes(r, content.size);
	if (r->bad || (!move && j->changed))
		return 0;
	jis_bytes_u2(j->out, name);
	start = j->out->size;
	jis_bytes_u4(j->out, (uint32_t)content.size);
	if (!move) {
		jis_bytes_put(j->out, content.data, content.size);
		return 1;
	}
	move(j, &content);
	if (content.bad || content.at != content.size)
		r->bad = 1;
	jis_bytes_set_u4(j->out, start, (uint32_t)(j->out->size - start - 4));
	return 1;
}

static void attributes_write(struct job *j)
{
	struct jis_reader *r = &j->tables, found;
	int has_frames = attribute_find(j->m->class, *r, "StackMapTable", &found);
	unsigned int n = jis_read_u2(r), kept = 0;
	size_t count_at = j->out->size;

	jis_bytes_u2(j->out, 0);
	while (n-- && !r->bad && !j->why)
		kept += (unsigned int)attribute_move(j, r);
	if (!has_frames && j->rw->ranges.size && j->m->class->major >= MAJOR_STACK_MAPS) {
		frames_make(j);
		kept++;
	}
	if (kept > U2_MAX)
		j->why = "it would have too many attributes";
	jis_bytes_set_u2(j->out, count_at, kept);
}

void tables_write(struct job *j)
{
	if (!j->why)
		exceptions_write(j);
	if (!j->why && !j->tables.bad)
		attributes_write(j);
}
