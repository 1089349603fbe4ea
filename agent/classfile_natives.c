/* SPDX-License-Identifier: MIT */
/*
 * Makes classes of native methods, of which some are called by a method of Java's that passes what
 * compiled code knows at once and a native would have to ask the JVM for: identity hashes.
 */
#include "classfile_internal.h"

#include <stdio.h>
#include <string.h>

#define ACC_PUBLIC_FINAL_SUPER_SYNTHETIC 0x1031u
#define ACC_PUBLIC_STATIC 0x0009u
#define ACC_PUBLIC_STATIC_NATIVE 0x0109u
#define NATIVES_MAJOR 49u /* the last one in which code with branches needs no stack maps */

/* Constants of that class, before those of its methods. */
enum {
	NATIVES_THIS = 2,
	NATIVES_OBJECT = 4,
	NATIVES_CODE,
	NATIVES_HASH = 11,  /* System.identityHashCode() */
	NATIVES_CLASS = 15, /* Object.getClass() */
	NATIVES_FIRST,
	NATIVES_EACH = 6, /* name, descriptor; those of its native, and two to call it */
};

static void natives_begin(struct jis_bytes *out, const char *name, unsigned int nr_methods)
{
	jis_bytes_u4(out, MAGIC);
	jis_bytes_u4(out, NATIVES_MAJOR);
	jis_bytes_u2(out, NATIVES_FIRST + NATIVES_EACH * nr_methods);
	jis_bytes_utf8(out, name); /* 1 */
	jis_bytes_constant(out, TAG_CLASS, 1, 0);
	jis_bytes_utf8(out, "java/lang/Object"); /* 3 */
	jis_bytes_constant(out, TAG_CLASS, 3, 0);
	jis_bytes_utf8(out, "Code"); /* 5 */
	jis_bytes_utf8(out, "java/lang/System");
	jis_bytes_constant(out, TAG_CLASS, 6, 0);
	jis_bytes_utf8(out, "identityHashCode"); /* 8 */
	jis_bytes_utf8(out, "(Ljava/lang/Object;)I");
	jis_bytes_constant(out, TAG_NAME_AND_TYPE, 8, 9); /* 10 */
	jis_bytes_constant(out, TAG_METHODREF, 7, 10);
	jis_bytes_utf8(out, "getClass"); /* 12 */
	jis_bytes_utf8(out, "()Ljava/lang/Class;");
	jis_bytes_constant(out, TAG_NAME_AND_TYPE, 12, 13); /* 14 */
	jis_bytes_constant(out, TAG_METHODREF, NATIVES_OBJECT, 14);
}

/* The constants of method @i; those of its native are there, too, where it is one itself. */
static void native_constants(struct jis_bytes *out, const struct jis_native_method *m,
			     unsigned int i)
{
	unsigned int at = NATIVES_FIRST + NATIVES_EACH * i, n;
	char text[256];
	int length;

	jis_bytes_utf8(out, m->name);
	jis_bytes_utf8(out, m->descriptor);
	length = snprintf(text, sizeof(text), "%sHashed", m->name);
	if (length < 0 || length >= (int)sizeof(text))
		out->failed = 1;
	jis_bytes_utf8(out, text);
	n = m->hashes ? (unsigned int)strlen(m->hashes) / 2 : 0;
	length = snprintf(text, sizeof(text), "%.*s%.*s)V", (int)strcspn(m->descriptor, ")"),
			  m->descriptor, (int)n, "IIIIIIIIIIIIIIII");
	if (length < 0 || length >= (int)sizeof(text) || n > 16)
		out->failed = 1;
	jis_bytes_utf8(out, text);
	jis_bytes_constant(out, TAG_NAME_AND_TYPE, at + 2, at + 3);
	jis_bytes_constant(out, TAG_METHODREF, NATIVES_THIS, at + 4);
}

static void put_call(struct jis_bytes *code, unsigned int opcode, unsigned int method)
{
	jis_bytes_u1(code, opcode);
	jis_bytes_u2(code, method);
}

static void put_reference(struct jis_bytes *code, unsigned int local)
{
	jis_bytes_u1(code, OP_ALOAD);
	jis_bytes_u1(code, local);
}

/* The body of a method that calls its native, as bytes of code. */
static void native_call(struct jis_bytes *code, const struct jis_native_method *m,
			unsigned int nr_objects, unsigned int native)
{
	const char *hash;
	unsigned int i;

	for (i = 0; i < nr_objects; i++)
		put_reference(code, i);
	for (hash = m->hashes; hash[0] && hash[1]; hash += 2) {
		put_reference(code, (unsigned int)(hash[0] - '0'));
		if (hash[1] == 'c') { /* x != null ? identityHashCode(x.getClass()) : 0 */
			put_call(code, OP_IFNULL, 14);
			put_reference(code, (unsigned int)(hash[0] - '0'));
			put_call(code, OP_INVOKEVIRTUAL, NATIVES_CLASS);
		}
		put_call(code, OP_INVOKESTATIC, NATIVES_HASH);
		if (hash[1] == 'c') {
			put_call(code, OP_GOTO, 4);
			jis_bytes_u1(code, OP_ICONST_0);
		}
	}
	put_call(code, OP_INVOKESTATIC, native);
	jis_bytes_u1(code, OP_RETURN);
}

static void native_method(struct jis_bytes *out, const struct jis_native_method *m, unsigned int i)
{
	unsigned int at = NATIVES_FIRST + NATIVES_EACH * i, nr_objects = 0;
	struct jis_bytes code = {0};
	struct type type;
	size_t place = 1;

	if (m->hashes) {
		while (type_next(m->descriptor, strlen(m->descriptor), &place, &type)) {
			nr_objects++;
			if (type.letter != 'L')
				out->failed = 1;
		}
		native_call(&code, m, nr_objects, at + 5);
		jis_bytes_u2(out, ACC_PUBLIC_STATIC);
		jis_bytes_u2(out, at);
		jis_bytes_u2(out, at + 1);
		jis_bytes_u2(out, 1);
		jis_bytes_u2(out, NATIVES_CODE);
		jis_bytes_u4(out, 12 + (unsigned int)code.size);
		jis_bytes_u2(out, nr_objects + (unsigned int)strlen(m->hashes) / 2); /* stack */
		jis_bytes_u2(out, nr_objects);					     /* locals */
		jis_bytes_u4(out, (unsigned int)code.size);
		jis_bytes_put(out, code.data, code.size);
		jis_bytes_u4(out, 0); /* handlers, attributes */
		out->failed |= code.failed;
		jis_bytes_free(&code);
		at += 2;
	}
	jis_bytes_u2(out, ACC_PUBLIC_STATIC_NATIVE);
	jis_bytes_u2(out, at);
	jis_bytes_u2(out, at + 1);
	jis_bytes_u2(out, 0);
}

void jis_class_of_natives(struct jis_bytes *out, const char *name,
			  const struct jis_native_method *methods, unsigned int nr_methods)
{
	unsigned int i, n = nr_methods;

	natives_begin(out, name, nr_methods);
	for (i = 0; i < nr_methods; i++) {
		native_constants(out, &methods[i], i);
		n += methods[i].hashes != NULL;
	}
	jis_bytes_u2(out, ACC_PUBLIC_FINAL_SUPER_SYNTHETIC);
	jis_bytes_u2(out, NATIVES_THIS);
	jis_bytes_u2(out, NATIVES_OBJECT);
	jis_bytes_u4(out, 0); /* interfaces, fields */
	jis_bytes_u2(out, n);
	for (i = 0; i < nr_methods; i++)
		native_method(out, &methods[i], i);
	jis_bytes_u2(out, 0);
}

void jis_class_calling_native(struct jis_bytes *out, const char *name, const char *method,
			      const char *native)
{
	jis_bytes_u4(out, MAGIC);
	jis_bytes_u4(out, NATIVES_MAJOR);
	jis_bytes_u2(out, 11);
	jis_bytes_utf8(out, name); /* 1 */
	jis_bytes_constant(out, TAG_CLASS, 1, 0);
	jis_bytes_utf8(out, "java/lang/Object"); /* 3 */
	jis_bytes_constant(out, TAG_CLASS, 3, 0);
	jis_bytes_utf8(out, method); /* 5 */
	jis_bytes_utf8(out, "()V");
	jis_bytes_utf8(out, native); /* 7 */
	jis_bytes_constant(out, TAG_NAME_AND_TYPE, 7, 6);
	jis_bytes_constant(out, TAG_METHODREF, 2, 8); /* 9: @native */
	jis_bytes_utf8(out, "Code");
	jis_bytes_u2(out, ACC_PUBLIC_FINAL_SUPER_SYNTHETIC);
	jis_bytes_u2(out, 2);
	jis_bytes_u2(out, 4);
	jis_bytes_u4(out, 0); /* interfaces, fields */
	jis_bytes_u2(out, 2);
	jis_bytes_u2(out, ACC_STATIC);
	jis_bytes_u2(out, 5);
	jis_bytes_u2(out, 6);
	jis_bytes_u2(out, 1);
	jis_bytes_u2(out, 10);
	jis_bytes_u4(out, 16);
	jis_bytes_u4(out, 0); /* stack, locals */
	jis_bytes_u4(out, 4);
	jis_bytes_u1(out, OP_INVOKESTATIC);
	jis_bytes_u2(out, 9);
	jis_bytes_u1(out, OP_RETURN);
	jis_bytes_u4(out, 0); /* handlers, attributes */
	jis_bytes_u2(out, ACC_STATIC | ACC_NATIVE);
	jis_bytes_u2(out, 7);
	jis_bytes_u2(out, 6);
	jis_bytes_u4(out, 0); /* attributes; of the class too */
}
