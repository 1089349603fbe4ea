/* SPDX-License-Identifier: MIT */
/*
 * The structure of class files: buffer, reader, constant pool, members. Owns every bounds check on
 * the way to a method's code; the other classfile_*.c do the rewriting.
 */
#include "classfile_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CONSTANTS_MAX 65535u

/* Buffer ------------------------------------------------------------------------------------- */

static int bytes_room(struct jis_bytes *b, size_t size)
{
	size_t capacity = b->capacity ? b->capacity : 1024;
	uint8_t *data;

	if (b->failed)
		return 0;
	if (b->size + size <= b->capacity)
		return 1;
	while (capacity < b->size + size)
		capacity *= 2;
	data = realloc(b->data, capacity);
	if (!data) {
		b->failed = 1;
		return 0;
	}
	b->data = data;
	b->capacity = capacity;
	return 1;
}

void jis_bytes_put(struct jis_bytes *b, const void *data, size_t size)
{
	if (!size || !bytes_room(b, size))
		return;
	memcpy(b->data + b->size, data, size);
	b->size += size;
}

void jis_bytes_utf8(struct jis_bytes *b, const char *text)
{
	jis_bytes_u1(b, 1);
	jis_bytes_u2(b, (unsigned int)strlen(text));
	jis_bytes_put(b, text, strlen(text));
}

void jis_bytes_constant(struct jis_bytes *b, unsigned int tag, unsigned int first,
			unsigned int second)
{
	jis_bytes_u1(b, tag);
	jis_bytes_u2(b, first);
	if (second)
		jis_bytes_u2(b, second);
}

void jis_bytes_u1(struct jis_bytes *b, unsigned int value)
{
	uint8_t v = (uint8_t)value;

	jis_bytes_put(b, &v, 1);
}

void jis_bytes_u2(struct jis_bytes *b, unsigned int value)
{
	uint8_t v[2] = {(uint8_t)(value >> 8), (uint8_t)value};

	jis_bytes_put(b, v, sizeof(v));
}

void jis_bytes_u4(struct jis_bytes *b, uint32_t value)
{
	jis_bytes_u2(b, value >> 16);
	jis_bytes_u2(b, value & 0xffff);
}

void jis_bytes_set_u2(struct jis_bytes *b, size_t at, unsigned int value)
{
	if (b->failed || at + 2 > b->size)
		return;
	b->data[at] = (uint8_t)(value >> 8);
	b->data[at + 1] = (uint8_t)value;
}

void jis_bytes_set_u4(struct jis_bytes *b, size_t at, uint32_t value)
{
	jis_bytes_set_u2(b, at, value >> 16);
	jis_bytes_set_u2(b, at + 2, value & 0xffff);
}

void jis_bytes_free(struct jis_bytes *b)
{
	free(b->data);
	memset(b, 0, sizeof(*b));
}

void *jis_bytes_zeros(struct jis_bytes *b, size_t size)
{
	b->size = 0;
	if (!bytes_room(b, size ? size : 1))
		return NULL;
	memset(b->data, 0, size);
	b->size = size;
	return b->data;
}

/* Reader ------------------------------------------------------------------------------------- */

const uint8_t *jis_read_bytes(struct jis_reader *r, size_t size)
{
	const uint8_t *p = r->data + r->at;

	if (r->bad || size > r->size - r->at) {
		r->bad = 1;
		return NULL;
	}
	r->at += size;
	return p;
}

unsigned int jis_read_u1(struct jis_reader *r)
{
	const uint8_t *p = jis_read_bytes(r, 1);

	return p ? p[0] : 0;
}

unsigned int jis_read_u2(struct jis_reader *r)
{
	const uint8_t *p = jis_read_bytes(r, 2);

	return p ? (unsigned int)p[0] << 8 | p[1] : 0;
}

uint32_t jis_read_u4(struct jis_reader *r)
{
	uint32_t high = jis_read_u2(r);

	return high << 16 | jis_read_u2(r);
}

/* Parsing ------------------------------------------------------------------------------------ */

/* Size of a constant behind its tag; -1: no such tag. */
static int constant_size(unsigned int tag)
{
	switch (tag) {
	case TAG_CLASS:
	case TAG_STRING:
	case TAG_METHOD_TYPE:
	case TAG_MODULE:
	case TAG_PACKAGE:
		return 2;
	case TAG_METHOD_HANDLE:
		return 3;
	case TAG_INTEGER:
	case TAG_FLOAT:
	case TAG_FIELDREF:
	case TAG_METHODREF:
	case TAG_INTERFACE_METHODREF:
	case TAG_NAME_AND_TYPE:
	case TAG_DYNAMIC:
	case TAG_INVOKE_DYNAMIC:
		return 4;
	case TAG_LONG:
	case TAG_DOUBLE:
		return 8;
	default:
		return -1;
	}
}

static int parse_constants(struct jis_class *c, struct jis_reader *r)
{
	unsigned int i, tag;
	int size;

	c->nr_constants = c->nr_original = jis_read_u2(r);
	if (r->bad || !c->nr_constants)
		return -EBADMSG;
	c->constants = calloc(c->nr_constants, sizeof(*c->constants));
	if (!c->constants)
		return -ENOMEM;
	for (i = 1; i < c->nr_constants && !r->bad; i++) {
		c->constants[i] = (uint32_t)r->at;
		tag = jis_read_u1(r);
		size = tag == TAG_UTF8 ? (int)jis_read_u2(r) : constant_size(tag);
		if (size < 0)
			return -EBADMSG;
		jis_read_bytes(r, (size_t)size);
		if (tag == TAG_LONG || tag == TAG_DOUBLE)
			i++;
	}
	c->constants_end = r->at;
	return r->bad ? -EBADMSG : 0;
}

static void skip_attributes(struct jis_reader *r)
{
	unsigned int n = jis_read_u2(r);

	while (n-- && !r->bad) {
		jis_read_u2(r);
		jis_read_bytes(r, jis_read_u4(r));
	}
}

static void skip_members(struct jis_reader *r)
{
	unsigned int n = jis_read_u2(r);

	while (n-- && !r->bad) {
		jis_read_bytes(r, 6);
		skip_attributes(r);
	}
}

int jis_class_parse(struct jis_class *c, const void *bytes, size_t size)
{
	struct jis_reader r = {bytes, size, 0, 0};
	int error;

	memset(c, 0, sizeof(*c));
	c->bytes = bytes;
	c->size = size;
	if (size > UINT32_MAX || jis_read_u4(&r) != MAGIC)
		return -EBADMSG;
	jis_read_u2(&r);
	c->major = jis_read_u2(&r);
	if (r.bad)
		return -EBADMSG;
	if (c->major < JIS_CLASS_MAJOR_MIN || c->major > JIS_CLASS_MAJOR_MAX)
		return -ENOTSUP;
	error = parse_constants(c, &r);
	if (error)
		return error;
	jis_read_u2(&r);
	c->this_class = jis_read_u2(&r);
	c->super_class = jis_read_u2(&r);
	c->interfaces = r.at;
	jis_read_bytes(&r, (size_t)jis_read_u2(&r) * 2);
	skip_members(&r);
	c->methods = r.at;
	skip_members(&r);
	c->methods_end = r.at;
	skip_attributes(&r);
	return r.bad || r.at != size ? -EBADMSG : 0;
}

unsigned int jis_class_interfaces(const struct jis_class *c)
{
	const uint8_t *p = c->bytes + c->interfaces;

	return (unsigned int)p[0] << 8 | p[1];
}

unsigned int jis_class_interface(const struct jis_class *c, unsigned int i)
{
	const uint8_t *p = c->bytes + c->interfaces + 2 + 2 * (size_t)i;

	return (unsigned int)p[0] << 8 | p[1];
}

void jis_class_free(struct jis_class *c)
{
	free(c->constants);
	jis_bytes_free(&c->appended);
	memset(c, 0, sizeof(*c));
}

const char *jis_class_utf8(const struct jis_class *c, unsigned int index, size_t *length)
{
	const uint8_t *p;

	if (!index || index >= c->nr_original || !c->constants[index])
		return NULL;
	p = c->bytes + c->constants[index];
	if (p[0] != TAG_UTF8)
		return NULL;
	*length = (size_t)p[1] << 8 | p[2];
	return (const char *)p + 3;
}

int jis_class_utf8_is(const struct jis_class *c, unsigned int index, const char *text)
{
	size_t length;
	const char *utf8 = jis_class_utf8(c, index, &length);

	return utf8 && length == strlen(text) && !memcmp(utf8, text, length);
}

/* Constant @index behind its tag; NULL if it has another one. */
static const uint8_t *constant_of(const struct jis_class *c, unsigned int index, unsigned int tag)
{
	const uint8_t *p;

	if (!index || index >= c->nr_original || !c->constants[index])
		return NULL;
	p = c->bytes + c->constants[index];
	return p[0] == tag ? p + 1 : NULL;
}

const char *jis_class_of(const struct jis_class *c, unsigned int index, size_t *length)
{
	const uint8_t *p = constant_of(c, index, TAG_CLASS);

	return p ? jis_class_utf8(c, u2_at(p), length) : NULL;
}

const char *jis_class_name(const struct jis_class *c, size_t *length)
{
	return jis_class_of(c, c->this_class, length);
}

int jis_class_methodref(const struct jis_class *c, unsigned int index, unsigned int *class,
			unsigned int *name)
{
	const uint8_t *p = constant_of(c, index, TAG_METHODREF), *both;

	if (!p)
		return -EINVAL;
	both = constant_of(c, u2_at(p + 2), TAG_NAME_AND_TYPE);
	if (!both)
		return -EINVAL;
	*class = u2_at(p);
	*name = u2_at(both);
	return 0;
}

/* Appending constants ------------------------------------------------------------------------ */

static int constant_new(struct jis_class *c, unsigned int tag)
{
	if (c->nr_constants >= CONSTANTS_MAX)
		return -ENOSPC;
	jis_bytes_u1(&c->appended, tag);
	return (int)c->nr_constants++;
}

static void utf8_put(struct jis_bytes *b, const char *text, size_t length)
{
	jis_bytes_u2(b, (unsigned int)length);
	jis_bytes_put(b, text, length);
}

static int utf8_add(struct jis_class *c, const char *text, size_t length)
{
	int index = length > UINT16_MAX ? -ENOSPC : constant_new(c, TAG_UTF8);

	if (index >= 0)
		utf8_put(&c->appended, text, length);
	return index;
}

int jis_class_add_utf8(struct jis_class *c, const char *text)
{
	return utf8_add(c, text, strlen(text));
}

/* A constant that is one or two indexes; a negative one is an error to hand on. */
static int constant_add(struct jis_class *c, unsigned int tag, int first, int second, int both)
{
	int index;

	if (first < 0 || second < 0)
		return -ENOSPC;
	index = constant_new(c, tag);
	if (index < 0)
		return index;
	jis_bytes_u2(&c->appended, (unsigned int)first);
	if (both)
		jis_bytes_u2(&c->appended, (unsigned int)second);
	return index;
}

int class_add_class_text(struct jis_class *c, const char *name, size_t length)
{
	return constant_add(c, TAG_CLASS, utf8_add(c, name, length), 0, 0);
}

int jis_class_add_class(struct jis_class *c, const char *name)
{
	return class_add_class_text(c, name, strlen(name));
}

int jis_class_add_integer(struct jis_class *c, int32_t value)
{
	int index = constant_new(c, TAG_INTEGER);

	if (index >= 0)
		jis_bytes_u4(&c->appended, (uint32_t)value);
	return index;
}

int jis_class_add_methodref(struct jis_class *c, const char *name, const char *method,
			    const char *descriptor)
{
	int class_index = jis_class_add_class(c, name);
	int name_index = jis_class_add_utf8(c, method);
	int type_index = jis_class_add_utf8(c, descriptor);
	int both = constant_add(c, TAG_NAME_AND_TYPE, name_index, type_index, 1);

	return constant_add(c, TAG_METHODREF, class_index, both, 1);
}

int jis_class_has_field(const struct jis_class *c, const char *field, const char *descriptor)
{
	struct jis_reader r = {c->bytes, c->methods, c->interfaces, 0};
	unsigned int n, flags, name, type;

	jis_read_bytes(&r, (size_t)jis_read_u2(&r) * 2);
	for (n = jis_read_u2(&r); n-- && !r.bad; skip_attributes(&r)) {
		flags = jis_read_u2(&r);
		name = jis_read_u2(&r);
		type = jis_read_u2(&r);
		if (!(flags & ACC_STATIC) && jis_class_utf8_is(c, name, field) &&
		    jis_class_utf8_is(c, type, descriptor))
			return 1;
	}
	return 0;
}

int jis_class_add_fieldref(struct jis_class *c, const char *field, const char *descriptor)
{
	int name_index = jis_class_add_utf8(c, field);
	int type_index = jis_class_add_utf8(c, descriptor);
	int both = constant_add(c, TAG_NAME_AND_TYPE, name_index, type_index, 1);

	return constant_add(c, TAG_FIELDREF, (int)c->this_class, both, 1);
}
