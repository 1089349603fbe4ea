/* SPDX-License-Identifier: MIT */
/*
 * Class files: read them, append constants, put a call at the start of methods, and make a class of
 * native methods from nothing. Knows nothing of a running JVM.
 *
 * Input is hostile: every length and index is checked, and what is not understood is refused, so
 * that the JVM sees the bytes it would have seen without us.
 */
#ifndef JIS_AGENT_CLASSFILE_H
#define JIS_AGENT_CLASSFILE_H

#include <stddef.h>
#include <stdint.h>

#define JIS_CLASS_MAJOR_MIN 45
#define JIS_CLASS_MAJOR_MAX 69 /* Java 25 */

/* A growing byte buffer, big endian. After an allocation failed it swallows everything. */
struct jis_bytes {
	uint8_t *data;
	size_t size;
	size_t capacity;
	int failed;
};

void jis_bytes_put(struct jis_bytes *b, const void *data, size_t size);
void jis_bytes_u1(struct jis_bytes *b, unsigned int value);
void jis_bytes_u2(struct jis_bytes *b, unsigned int value);
void jis_bytes_u4(struct jis_bytes *b, uint32_t value);
/* Overwrites the u2 or u4 at offset @at, which has been written before. */
void jis_bytes_set_u2(struct jis_bytes *b, size_t at, unsigned int value);
void jis_bytes_set_u4(struct jis_bytes *b, size_t at, uint32_t value);
void jis_bytes_free(struct jis_bytes *b);

/* Reads big-endian numbers from [data, data + size); past the end it gives 0 and sets bad. */
struct jis_reader {
	const uint8_t *data;
	size_t size;
	size_t at;
	int bad;
};

unsigned int jis_read_u1(struct jis_reader *r);
unsigned int jis_read_u2(struct jis_reader *r);
uint32_t jis_read_u4(struct jis_reader *r);
/* The next @size bytes, or NULL. */
const uint8_t *jis_read_bytes(struct jis_reader *r, size_t size);

/* A parsed class file; points into the bytes given, which must outlive it. */
struct jis_class {
	const uint8_t *bytes;
	size_t size;
	unsigned int major;
	uint32_t *constants;	   /* offset of each entry's tag; 0: no entry */
	unsigned int nr_constants; /* constant_pool_count, with those appended */
	unsigned int nr_original;
	size_t constants_end; /* offset behind the constant pool */
	size_t methods;	      /* offset of methods_count */
	size_t methods_end;
	struct jis_bytes appended; /* constants added behind the original ones */
};

/**
 * jis_class_parse - checks the structure of a class file and finds its parts.
 * Returns 0; -EBADMSG (damaged); -ENOTSUP (version out of 45..69); -ENOMEM. jis_class_free()
 * always.
 */
int jis_class_parse(struct jis_class *c, const void *bytes, size_t size);
void jis_class_free(struct jis_class *c);

/* Text of Utf8 constant @index, not NUL-terminated; NULL if it is none. */
const char *jis_class_utf8(const struct jis_class *c, unsigned int index, size_t *length);
/* Whether Utf8 constant @index is @text. */
int jis_class_utf8_is(const struct jis_class *c, unsigned int index, const char *text);

/* Append a constant; return its index or -ENOSPC when the pool is full. Nothing is looked up. */
int jis_class_add_utf8(struct jis_class *c, const char *text);
int jis_class_add_class(struct jis_class *c, const char *name);
int jis_class_add_integer(struct jis_class *c, int32_t value);
int jis_class_add_methodref(struct jis_class *c, const char *name, const char *method,
			    const char *descriptor);

/* Hooks at method entry ---------------------------------------------------------------------- */

#define JIS_HOOK_LOCALS 4

/*
 * What to call at the start of which methods: a static void method, with the reference parameters
 * in the given local variables, then (numbered) an int that counts up from one method to the next.
 */
struct jis_entry_hook {
	const char *method;	/* name of the methods to change; NULL: all that have code */
	const char *descriptor; /* NULL: any */
	const char *probe_class;
	const char *probe_method;
	const char *probe_descriptor;
	unsigned int nr_locals;
	uint8_t locals[JIS_HOOK_LOCALS];
	int numbered;
	int32_t next_number; /* in: of the first method; out: of the next one */
	/* out */
	unsigned int hooked;
	unsigned int refused; /* methods left as they are */
	const char *why;      /* of the last refusal */
};

/**
 * jis_class_hook_entries - rewrites a class file so that its chosen methods call the hook first.
 * @out: an empty buffer; gets the new class file when any method was changed. The caller frees it.
 * Returns the number of methods changed; 0 leaves @out empty. -errno as jis_class_parse().
 */
int jis_class_hook_entries(const void *bytes, size_t size, struct jis_entry_hook *hook,
			   struct jis_bytes *out);

/**
 * jis_code_prefix - writes @code, the content of a Code attribute, with instructions put before it.
 * @prefix: straight-line code, a multiple of four bytes long, that leaves stack and locals as at
 * entry.
 * @stack: operand stack it needs.
 * Returns 0; -EBADMSG; -E2BIG when the method would get longer than 65535 bytes (nothing written).
 */
int jis_code_prefix(const struct jis_class *c, const uint8_t *code, size_t size,
		    const struct jis_bytes *prefix, unsigned int stack, struct jis_bytes *out);

/* A class of native methods ------------------------------------------------------------------- */

struct jis_native_method {
	const char *name;
	const char *descriptor;
};

/* Writes a public final synthetic class @name (internal form) of public static native methods. */
void jis_class_of_natives(struct jis_bytes *out, const char *name,
			  const struct jis_native_method *methods, unsigned int nr_methods);

#endif /* JIS_AGENT_CLASSFILE_H */
