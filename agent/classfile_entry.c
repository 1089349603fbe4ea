/* SPDX-License-Identifier: MIT */
/*
 * Puts a call at the start of chosen methods of a class. Nothing else of the class changes: no
 * member is added, existing constants keep their indexes, so retransformation takes the result.
 */
#include "classfile.h"

#include <errno.h>
#include <string.h>

#define ACC_STATIC 0x0008u

enum opcode {
	OP_NOP = 0,
	OP_SIPUSH = 17,
	OP_LDC_W = 19,
	OP_ALOAD = 25,
	OP_ALOAD_0 = 42,
	OP_INVOKESTATIC = 184,
};

struct method {
	unsigned int flags, name, descriptor;
};

struct rewriter {
	struct jis_class class;
	struct jis_entry_hook *hook;
	struct jis_bytes methods;
	int probe; /* Methodref, 0 before its first use */
	int error; /* ends the rewriting of this class */
};

static void refuse(struct jis_entry_hook *hook, const char *why)
{
	hook->refused++;
	hook->why = why;
}

/* Slots of the type at *@at in a descriptor, 0 at its end; moves *@at behind it. */
static unsigned int type_slots(const char *d, size_t length, size_t *at, int *reference)
{
	size_t i = *at;

	*reference = i < length && (d[i] == 'L' || d[i] == '[');
	if (i >= length || d[i] == ')')
		return 0;
	while (i < length && d[i] == '[')
		i++;
	if (i < length && d[i] == 'L')
		while (i < length && d[i] != ';')
			i++;
	*at = i + 1;
	return !*reference && (d[i] == 'J' || d[i] == 'D') ? 2 : 1;
}

/* Whether local variable @local holds an initialized reference when the method begins. */
static int local_is_reference(const struct jis_class *c, const struct method *m, unsigned int local)
{
	unsigned int slot = m->flags & ACC_STATIC ? 0 : 1, slots;
	size_t length, at = 1;
	const char *d = jis_class_utf8(c, m->descriptor, &length);
	int reference;

	if (slot && !local)
		return !jis_class_utf8_is(c, m->name, "<init>");
	while (d && (slots = type_slots(d, length, &at, &reference)) && slot <= local) {
		if (slot == local)
			return reference;
		slot += slots;
	}
	return 0;
}

static int prefix_number(struct rewriter *rw, struct jis_bytes *prefix)
{
	int32_t number = rw->hook->next_number;
	int index;

	if (number >= INT16_MIN && number <= INT16_MAX) {
		jis_bytes_u1(prefix, OP_SIPUSH);
		jis_bytes_u2(prefix, (unsigned int)number & 0xffff);
		return 0;
	}
	index = jis_class_add_integer(&rw->class, number);
	if (index < 0)
		return index;
	jis_bytes_u1(prefix, OP_LDC_W);
	jis_bytes_u2(prefix, (unsigned int)index);
	return 0;
}

/* The call, padded to a multiple of four; 0, or -EINVAL / -ENOSPC after a refusal. */
static int prefix_make(struct rewriter *rw, const struct method *m, struct jis_bytes *prefix)
{
	struct jis_entry_hook *hook = rw->hook;
	unsigned int i;

	for (i = 0; i < hook->nr_locals && i < JIS_HOOK_LOCALS; i++) {
		if (!local_is_reference(&rw->class, m, hook->locals[i])) {
			refuse(hook, "a parameter to pass on is no initialized reference");
			return -EINVAL;
		}
		if (hook->locals[i] < 4) {
			jis_bytes_u1(prefix, OP_ALOAD_0 + hook->locals[i]);
		} else {
			jis_bytes_u1(prefix, OP_ALOAD);
			jis_bytes_u1(prefix, hook->locals[i]);
		}
	}
	if (!rw->probe)
		rw->probe = jis_class_add_methodref(&rw->class, hook->probe_class,
						    hook->probe_method, hook->probe_descriptor);
	if (rw->probe < 0 || (hook->numbered && prefix_number(rw, prefix) < 0)) {
		refuse(hook, "the constant pool is full");
		return -ENOSPC;
	}
	jis_bytes_u1(prefix, OP_INVOKESTATIC);
	jis_bytes_u2(prefix, (unsigned int)rw->probe);
	while (prefix->size % 4)
		jis_bytes_u1(prefix, OP_NOP);
	return 0;
}

/* Writes the new content of a Code attribute; 1 when it was changed. */
static int code_rewrite(struct rewriter *rw, const struct method *m, const uint8_t *code,
			size_t size)
{
	struct jis_entry_hook *hook = rw->hook;
	struct jis_bytes prefix = {0};
	int error;

	if (prefix_make(rw, m, &prefix) < 0) {
		jis_bytes_free(&prefix);
		return 0;
	}
	if (prefix.failed) {
		jis_bytes_free(&prefix);
		rw->error = -ENOMEM;
		return 0;
	}
	error = jis_code_prefix(&rw->class, code, size, &prefix, hook->nr_locals + !!hook->numbered,
				&rw->methods);
	jis_bytes_free(&prefix);
	if (error == -E2BIG)
		refuse(hook, "the code would be longer than 65535 bytes");
	else if (error)
		rw->error = error;
	return !error;
}

static int method_wanted(const struct rewriter *rw, const struct method *m)
{
	const struct jis_entry_hook *hook = rw->hook;

	return (!hook->method || jis_class_utf8_is(&rw->class, m->name, hook->method)) &&
	       (!hook->descriptor ||
		jis_class_utf8_is(&rw->class, m->descriptor, hook->descriptor));
}

static void attribute_rewrite(struct rewriter *rw, const struct method *m, struct jis_reader *r)
{
	unsigned int name = jis_read_u2(r);
	uint32_t size = jis_read_u4(r);
	const uint8_t *content = jis_read_bytes(r, size);
	size_t length_at;

	if (r->bad)
		return;
	jis_bytes_u2(&rw->methods, name);
	length_at = rw->methods.size;
	jis_bytes_u4(&rw->methods, size);
	if (jis_class_utf8_is(&rw->class, name, "Code") && method_wanted(rw, m) &&
	    code_rewrite(rw, m, content, size)) {
		jis_bytes_set_u4(&rw->methods, length_at,
				 (uint32_t)(rw->methods.size - length_at - 4));
		rw->hook->hooked++;
		rw->hook->next_number += !!rw->hook->numbered;
		return;
	}
	jis_bytes_put(&rw->methods, content, size);
}

static void methods_rewrite(struct rewriter *rw)
{
	struct jis_class *c = &rw->class;
	struct jis_reader r = {c->bytes, c->methods_end, c->methods, 0};
	unsigned int n = jis_read_u2(&r), attributes;
	struct method m;

	jis_bytes_u2(&rw->methods, n);
	while (n-- && !r.bad && !rw->error) {
		m.flags = jis_read_u2(&r);
		m.name = jis_read_u2(&r);
		m.descriptor = jis_read_u2(&r);
		attributes = jis_read_u2(&r);
		jis_bytes_u2(&rw->methods, m.flags);
		jis_bytes_u2(&rw->methods, m.name);
		jis_bytes_u2(&rw->methods, m.descriptor);
		jis_bytes_u2(&rw->methods, attributes);
		while (attributes-- && !r.bad && !rw->error)
			attribute_rewrite(rw, &m, &r);
	}
	if (r.bad)
		rw->error = -EBADMSG;
}

/* Puts the parts together: the old class with more constants and other methods. */
static int class_write(struct rewriter *rw, struct jis_bytes *out)
{
	const struct jis_class *c = &rw->class;

	jis_bytes_put(out, c->bytes, 8);
	jis_bytes_u2(out, c->nr_constants);
	jis_bytes_put(out, c->bytes + 10, c->constants_end - 10);
	jis_bytes_put(out, c->appended.data, c->appended.size);
	jis_bytes_put(out, c->bytes + c->constants_end, c->methods - c->constants_end);
	jis_bytes_put(out, rw->methods.data, rw->methods.size);
	jis_bytes_put(out, c->bytes + c->methods_end, c->size - c->methods_end);
	if (!out->failed && !c->appended.failed && !rw->methods.failed)
		return 0;
	jis_bytes_free(out);
	return -ENOMEM;
}

int jis_class_hook_entries(const void *bytes, size_t size, struct jis_entry_hook *hook,
			   struct jis_bytes *out)
{
	struct rewriter rw = {.hook = hook};

	hook->hooked = 0;
	hook->refused = 0;
	hook->why = NULL;
	rw.error = jis_class_parse(&rw.class, bytes, size);
	if (!rw.error)
		methods_rewrite(&rw);
	if (!rw.error && hook->hooked)
		rw.error = class_write(&rw, out);
	jis_bytes_free(&rw.methods);
	jis_class_free(&rw.class);
	return rw.error ? rw.error : (int)hook->hooked;
}
