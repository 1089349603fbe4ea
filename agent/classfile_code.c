/* SPDX-License-Identifier: MIT */
/*
 * Puts instructions before the code of a method. Branches are relative and stay; as the prefix is a
 * multiple of four bytes, so do the paddings of tableswitch and lookupswitch. What moves are the
 * absolute positions in the tables behind the code, and the first stack map frame's distance.
 *
 * The prefix takes over line and variables of the old first instruction: entries that began at 0
 * still do. Attributes of the code that are not known here (type annotations among them) hold
 * positions we cannot move, and are left out: the JVM makes no use of them.
 */
#include "classfile.h"

#include <errno.h>

#define CODE_MAX 65535u

struct mover {
	const struct jis_class *c;
	struct jis_bytes *out;
	uint32_t length; /* of the old code */
	uint32_t shift;
};

static unsigned int position(const struct mover *m, struct jis_reader *r)
{
	unsigned int pc = jis_read_u2(r);

	if (pc > m->length)
		r->bad = 1;
	return pc + m->shift;
}

static void move_exceptions(const struct mover *m, struct jis_reader *r)
{
	unsigned int n = jis_read_u2(r);

	jis_bytes_u2(m->out, n);
	while (n-- && !r->bad) {
		jis_bytes_u2(m->out, position(m, r));
		jis_bytes_u2(m->out, position(m, r));
		jis_bytes_u2(m->out, position(m, r));
		jis_bytes_u2(m->out, jis_read_u2(r));
	}
}

static void move_lines(const struct mover *m, struct jis_reader *r)
{
	unsigned int n = jis_read_u2(r), pc;

	jis_bytes_u2(m->out, n);
	while (n-- && !r->bad) {
		pc = position(m, r);
		jis_bytes_u2(m->out, pc == m->shift ? 0 : pc);
		jis_bytes_u2(m->out, jis_read_u2(r));
	}
}

/* LocalVariableTable and LocalVariableTypeTable. */
static void move_variables(const struct mover *m, struct jis_reader *r)
{
	unsigned int n = jis_read_u2(r), pc, length;
	const uint8_t *rest;

	jis_bytes_u2(m->out, n);
	while (n-- && !r->bad) {
		pc = position(m, r);
		length = jis_read_u2(r);
		if (pc - m->shift + length > m->length)
			r->bad = 1;
		jis_bytes_u2(m->out, pc == m->shift ? 0 : pc);
		jis_bytes_u2(m->out, pc == m->shift ? length + m->shift : length);
		rest = jis_read_bytes(r, 6); /* name, descriptor or signature, index */
		jis_bytes_put(m->out, rest, rest ? 6 : 0);
	}
}

/* One verification_type_info. */
static void move_type(const struct mover *m, struct jis_reader *r)
{
	unsigned int tag = jis_read_u1(r);

	jis_bytes_u1(m->out, tag);
	if (tag == 7) /* Object */
		jis_bytes_u2(m->out, jis_read_u2(r));
	else if (tag == 8) /* Uninitialized: the position of its `new` */
		jis_bytes_u2(m->out, position(m, r));
	else if (tag > 8)
		r->bad = 1;
}

static void move_types(const struct mover *m, struct jis_reader *r, unsigned int n)
{
	while (n-- && !r->bad)
		move_type(m, r);
}

/* One stack_map_frame, its distance made longer by @shift (that of the first one only). */
static void move_frame(const struct mover *m, struct jis_reader *r, uint32_t shift)
{
	unsigned int type = jis_read_u1(r), delta, n;
	int one = (type >= 64 && type < 128) || type == 247;

	if (type >= 128 && type < 247) {
		r->bad = 1;
		return;
	}
	delta = type < 64 ? type : type < 128 ? type - 64 : jis_read_u2(r);
	if (delta >= m->length)
		r->bad = 1;
	delta += shift;
	if (type < 128 && delta < 64) { /* same, same_locals_1_stack_item */
		jis_bytes_u1(m->out, one ? 64 + delta : delta);
	} else {
		jis_bytes_u1(m->out, type < 64 ? 251 : type < 128 ? 247 : type);
		jis_bytes_u2(m->out, delta);
	}
	if (one) {
		move_type(m, r);
	} else if (type >= 252 && type < 255) { /* append */
		move_types(m, r, type - 251);
	} else if (type == 255) {
		n = jis_read_u2(r);
		jis_bytes_u2(m->out, n);
		move_types(m, r, n);
		n = jis_read_u2(r);
		jis_bytes_u2(m->out, n);
		move_types(m, r, n);
	}
}

static void move_frames(const struct mover *m, struct jis_reader *r)
{
	unsigned int n = jis_read_u2(r), i;

	jis_bytes_u2(m->out, n);
	for (i = 0; i < n && !r->bad; i++)
		move_frame(m, r, i ? 0 : m->shift);
}

typedef void (*move_fn)(const struct mover *m, struct jis_reader *r);

static move_fn mover_of(const struct jis_class *c, unsigned int name)
{
	if (jis_class_utf8_is(c, name, "StackMapTable"))
		return move_frames;
	if (jis_class_utf8_is(c, name, "LineNumberTable"))
		return move_lines;
	if (jis_class_utf8_is(c, name, "LocalVariableTable") ||
	    jis_class_utf8_is(c, name, "LocalVariableTypeTable"))
		return move_variables;
	return NULL;
}

static void move_attributes(const struct mover *m, struct jis_reader *r)
{
	unsigned int n = jis_read_u2(r), name, kept = 0;
	struct jis_reader content = {NULL, 0, 0, 0};
	size_t count_at = m->out->size, start;
	move_fn move;

	jis_bytes_u2(m->out, 0);
	while (n-- && !r->bad) {
		name = jis_read_u2(r);
		content.size = jis_read_u4(r);
		content.data = jis_read_bytes(r, content.size);
		content.at = 0;
		move = mover_of(m->c, name);
		if (r->bad || !move)
			continue;
		jis_bytes_u2(m->out, name);
		start = m->out->size;
		jis_bytes_u4(m->out, 0);
		move(m, &content);
		if (content.bad || content.at != content.size)
			r->bad = 1;
		jis_bytes_set_u4(m->out, start, (uint32_t)(m->out->size - start - 4));
		kept++;
	}
	jis_bytes_set_u2(m->out, count_at, kept);
}

int jis_code_prefix(const struct jis_class *c, const uint8_t *code, size_t size,
		    const struct jis_bytes *prefix, unsigned int stack, struct jis_bytes *out)
{
	struct jis_reader r = {code, size, 0, 0};
	unsigned int max_stack = jis_read_u2(&r), max_locals = jis_read_u2(&r);
	struct mover m = {c, out, jis_read_u4(&r), (uint32_t)prefix->size};
	const uint8_t *instructions = jis_read_bytes(&r, m.length);
	size_t before = out->size;

	if (r.bad || !m.length || m.length > CODE_MAX)
		return -EBADMSG;
	if (m.length + prefix->size > CODE_MAX)
		return -E2BIG;
	jis_bytes_u2(out, max_stack > stack ? max_stack : stack);
	jis_bytes_u2(out, max_locals);
	jis_bytes_u4(out, m.length + m.shift);
	jis_bytes_put(out, prefix->data, prefix->size);
	jis_bytes_put(out, instructions, m.length);
	move_exceptions(&m, &r);
	move_attributes(&m, &r);
	if (r.bad || r.at != size) {
		out->size = before;
		return -EBADMSG;
	}
	return 0;
}
