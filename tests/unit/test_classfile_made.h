/* SPDX-License-Identifier: MIT */
/*
 * Classes with one method, made from bytes in hex, and the method as the rewriter leaves it. For
 * the tests of the rewriter.
 */
#ifndef TEST_CLASSFILE_MADE_H
#define TEST_CLASSFILE_MADE_H

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/classfile.h"

#define U2(v) (unsigned char)((v) >> 8), (unsigned char)(v)

enum { /* constants of the class made by class_begin() */
       C_THIS = 2,
       C_SUPER = 4,
       C_CODE = 5,
       C_FRAMES,
       C_LINES,
       C_TYPES, /* RuntimeVisibleTypeAnnotations */
       C_MARKS, /* RuntimeVisibleAnnotations */
       C_INIT,
       C_NAME,
       C_INIT_TYPE,
       C_INIT_BOTH,
       C_THIS_INIT,
       C_SUPER_INIT,
       C_DESCRIPTOR,
       C_MARK,
       C_END
};

struct made {
	struct jis_bytes class, out;
	struct jis_call calls[JIS_CALLS_MAX];
	unsigned int nr_calls, options;
	const char *why;
	/* of the method in out */
	unsigned int max_stack, max_locals, nr_exceptions, nr_attributes;
	uint32_t length;
	const unsigned char *code, *exceptions;
	struct jis_reader attributes;
};

static void utf8(struct jis_bytes *b, const char *text)
{
	jis_bytes_u1(b, 1);
	jis_bytes_u2(b, (unsigned int)strlen(text));
	jis_bytes_put(b, text, strlen(text));
}

static void pair(struct jis_bytes *b, unsigned int tag, unsigned int first, unsigned int second)
{
	jis_bytes_u1(b, tag);
	jis_bytes_u2(b, first);
	jis_bytes_u2(b, second);
}

/* Bytes from text like "b8 0011 xx": xx is any byte, here 0xee. */
static void hex_put(struct jis_bytes *b, const char *text)
{
	char digits[3] = "";

	for (; text && *text; text += 2 - (*text == ' ')) {
		if (*text == ' ')
			continue;
		memcpy(digits, text, 2);
		jis_bytes_u1(b, *text == 'x' ? 0xee : (unsigned int)strtoul(digits, NULL, 16));
	}
}

static void same_bytes(const void *bytes, size_t size, const char *want)
{
	const unsigned char *p = bytes;
	struct jis_bytes b = {0};
	size_t i;

	hex_put(&b, want);
	ck_assert_uint_eq(size, b.size);
	for (i = 0; i < size; i++)
		if (b.data[i] != 0xee && p[i] != b.data[i])
			ck_abort_msg("byte %zu is %#x, wanted %#x", i, p[i], b.data[i]);
	jis_bytes_free(&b);
}

struct spec {
	unsigned int major, flags;
	const char *class, *super, *descriptor, *mark;
	int constructor;
	int field;	      /* it has one, "method" of type La/Mark;, 2: a static one */
	unsigned int padding; /* Integer constants, to fill the pool */
	/* Bytes in hex. */
	const char *code, *exceptions, *frames, *types;
	/* Or: */
	const unsigned char *long_code;
	uint32_t length;
};

static void attribute(struct jis_bytes *b, unsigned int name, const void *data, size_t size)
{
	jis_bytes_u2(b, name);
	jis_bytes_u4(b, (uint32_t)size);
	jis_bytes_put(b, data, size);
}

static void constants(struct jis_bytes *b, const struct spec *s)
{
	unsigned int i;

	jis_bytes_u2(b, C_END + s->padding);
	utf8(b, s->class ? s->class : "t/C");
	jis_bytes_put(b, "\7\0\1", 3);
	utf8(b, s->super ? s->super : "java/lang/Object");
	jis_bytes_put(b, "\7\0\3", 3);
	utf8(b, "Code");
	utf8(b, "StackMapTable");
	utf8(b, "LineNumberTable");
	utf8(b, "RuntimeVisibleTypeAnnotations");
	utf8(b, "RuntimeVisibleAnnotations");
	utf8(b, "<init>");
	utf8(b, "method");
	utf8(b, "()V");
	pair(b, 12, C_INIT, C_INIT_TYPE);
	pair(b, 10, C_THIS, C_INIT_BOTH);
	pair(b, 10, C_SUPER, C_INIT_BOTH);
	utf8(b, s->descriptor ? s->descriptor : "()V");
	utf8(b, s->mark ? s->mark : "La/Mark;");
	for (i = 0; i < s->padding; i++)
		pair(b, 3, 0, i & 0xffff);
}

static void hex_attribute(struct jis_bytes *b, unsigned int name, const char *text)
{
	struct jis_bytes content = {0};

	hex_put(&content, text);
	if (text)
		attribute(b, name, content.data, content.size);
	jis_bytes_free(&content);
}

static void code_attribute(struct jis_bytes *b, const struct spec *s)
{
	struct jis_bytes c = {0}, code = {0}, exceptions = {0};

	hex_put(&code, s->code);
	jis_bytes_put(&code, s->long_code, s->length);
	hex_put(&exceptions, s->exceptions);
	jis_bytes_u2(&c, 3);
	jis_bytes_u2(&c, 6);
	jis_bytes_u4(&c, (uint32_t)code.size);
	jis_bytes_put(&c, code.data, code.size);
	jis_bytes_u2(&c, (unsigned int)(exceptions.size / 8));
	jis_bytes_put(&c, exceptions.data, exceptions.size);
	jis_bytes_u2(&c, !!s->frames + !!s->types);
	hex_attribute(&c, C_FRAMES, s->frames);
	hex_attribute(&c, C_TYPES, s->types);
	attribute(b, C_CODE, c.data, c.size);
	jis_bytes_free(&c);
	jis_bytes_free(&code);
	jis_bytes_free(&exceptions);
}

static void class_make(struct jis_bytes *b, const struct spec *s)
{
	static const unsigned char marks[] = {U2(1), U2(C_MARK), U2(1), U2(C_NAME), '[',
					      U2(1), 'e',	 U2(1), U2(1)};

	jis_bytes_u4(b, 0xcafebabe);
	jis_bytes_u2(b, s->major == 45 ? 3 : 0);
	jis_bytes_u2(b, s->major ? s->major : 61);
	constants(b, s);
	jis_bytes_u2(b, 0x21);
	jis_bytes_u2(b, C_THIS);
	jis_bytes_u2(b, C_SUPER);
	jis_bytes_u2(b, 0);
	jis_bytes_u2(b, s->field != 0);
	if (s->field) {
		jis_bytes_u2(b, s->field == 2 ? 8 : 0);
		jis_bytes_u2(b, C_NAME);
		jis_bytes_u2(b, C_MARK);
		jis_bytes_u2(b, 0);
	}
	jis_bytes_u2(b, 1);
	jis_bytes_u2(b, s->flags);
	jis_bytes_u2(b, s->constructor ? C_INIT : C_NAME);
	jis_bytes_u2(b, C_DESCRIPTOR);
	jis_bytes_u2(b, 2);
	code_attribute(b, s);
	attribute(b, C_MARKS, marks, sizeof(marks));
	jis_bytes_u2(b, 0);
}

static unsigned int choose(void *context, const struct jis_method *m, struct jis_call *calls)
{
	struct made *made = context;

	memcpy(calls, made->calls, made->nr_calls * sizeof(*calls));
	return made->nr_calls;
}

static void refused(void *context, const struct jis_method *m, const char *why)
{
	((struct made *)context)->why = why;
}

static void call(struct made *m, unsigned int places, const char *method, const char *descriptor)
{
	struct jis_call *c = &m->calls[m->nr_calls++];

	*c = (struct jis_call){.places = places,
			       .class = "p/P",
			       .method = method,
			       .descriptor = descriptor};
}

static void arg(struct made *m, enum jis_arg_kind kind, int32_t value)
{
	struct jis_call *c = &m->calls[m->nr_calls - 1];

	c->args[c->nr_args++] = (struct jis_arg){.kind = kind, .value = value};
}

static inline void field(struct made *m, const char *name, const char *type, int hash)
{
	struct jis_call *c = &m->calls[m->nr_calls - 1];

	c->args[c->nr_args++] =
		(struct jis_arg){.kind = JIS_ARG_FIELD, .field = name, .type = type, .hash = hash};
}

/* enter(7) and exit(7): `bipush 7; invokestatic`, five bytes each. */
static inline void calls_both(struct made *m)
{
	call(m, JIS_AT_ENTRY, "enter", "(I)V");
	arg(m, JIS_ARG_NUMBER, 7);
	call(m, JIS_AT_EXIT, "exit", "(I)V");
	arg(m, JIS_ARG_NUMBER, 7);
}

static void method_find(struct made *m)
{
	struct jis_class c;
	struct jis_reader r = {m->out.data, m->out.size, 0, 0};

	ck_assert_int_eq(jis_class_parse(&c, m->out.data, m->out.size), 0);
	r.at = c.methods + 2 + 6 + 2 + 2 + 4; /* counts, method, name and length of Code */
	jis_class_free(&c);
	m->max_stack = jis_read_u2(&r);
	m->max_locals = jis_read_u2(&r);
	m->length = jis_read_u4(&r);
	m->code = jis_read_bytes(&r, m->length);
	m->nr_exceptions = jis_read_u2(&r);
	m->exceptions = jis_read_bytes(&r, 8 * (size_t)m->nr_exceptions);
	m->nr_attributes = jis_read_u2(&r);
	m->attributes = r;
	ck_assert(!r.bad);
}

static int rewrite(struct made *m, const struct spec *s)
{
	struct jis_plan plan = {.choose = choose,
				.refused = refused,
				.context = m,
				.options = m->options};
	int n;

	m->class.size = 0;
	jis_bytes_free(&m->out);
	m->why = NULL;
	class_make(&m->class, s);
	n = jis_class_rewrite(m->class.data, m->class.size, &plan, &m->out);
	ck_assert_uint_eq(plan.nr_refused, m->why ? 1 : 0);
	if (n == 1)
		method_find(m);
	else
		ck_assert_uint_eq(m->out.size, 0);
	return n;
}

static void made_free(struct made *m)
{
	jis_bytes_free(&m->class);
	jis_bytes_free(&m->out);
}

static inline void must_refuse(struct made *m, const struct spec *s, const char *why)
{
	ck_assert_int_eq(rewrite(m, s), 0);
	if (!m->why || !strstr(m->why, why))
		ck_abort_msg("the reason is: %s", m->why ? m->why : "none");
}

/* New constants have indexes that are not compared: xxxx. */
static inline void same_code(const struct made *m, const char *want)
{
	same_bytes(m->code, m->length, want);
}

static inline void same_exceptions(const struct made *m, const char *want)
{
	same_bytes(m->exceptions, 8 * (size_t)m->nr_exceptions, want);
}

/* Content of the StackMapTable, the first attribute. */
static inline void same_frames(const struct made *m, const char *want)
{
	struct jis_reader r = m->attributes;
	size_t size;

	jis_read_u2(&r);
	size = jis_read_u4(&r);
	same_bytes(jis_read_bytes(&r, size), size, want);
	ck_assert_ptr_nonnull(memmem(m->out.data, m->out.size, "java/lang/Throwable",
				     strlen("java/lang/Throwable")));
}

#endif /* TEST_CLASSFILE_MADE_H */
