/* SPDX-License-Identifier: MIT */
/*
 * Class files: read them, append constants, put calls into methods, and make a class of native
 * methods from nothing. Knows nothing of a running JVM.
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

/* The classes of what rewritten methods call: natives, and the same by the JVM's linker. */
#define PROBE_CLASS "java/lang/JProbe$"
#define LINKED_CLASS "java/lang/invoke/JProbe$"

/* A growing byte buffer, big endian. After an allocation failed it swallows everything. */
struct jis_bytes {
	uint8_t *data;
	size_t size;
	size_t capacity;
	int failed;
};

void jis_bytes_put(struct jis_bytes *b, const void *data, size_t size);
/* Entries of a constant pool: a text, and one of @tag that names one or (@second not 0) two others.
 */
void jis_bytes_utf8(struct jis_bytes *b, const char *text);
void jis_bytes_constant(struct jis_bytes *b, unsigned int tag, unsigned int first,
			unsigned int second);
void jis_bytes_u1(struct jis_bytes *b, unsigned int value);
void jis_bytes_u2(struct jis_bytes *b, unsigned int value);
void jis_bytes_u4(struct jis_bytes *b, uint32_t value);
/* Overwrites the u2 or u4 at offset @at, which has been written before. */
void jis_bytes_set_u2(struct jis_bytes *b, size_t at, unsigned int value);
void jis_bytes_set_u4(struct jis_bytes *b, size_t at, uint32_t value);
void jis_bytes_free(struct jis_bytes *b);
/* Makes it @size bytes of zeros, aligned as malloc() does; NULL: no memory. */
void *jis_bytes_zeros(struct jis_bytes *b, size_t size);

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
	size_t constants_end;		      /* offset behind the constant pool */
	unsigned int this_class, super_class; /* Class constants; super_class 0: none */
	size_t interfaces;		      /* offset of interfaces_count */
	size_t methods;			      /* offset of methods_count */
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

/* How many interfaces it names, and the @i-th of them as a Class constant. */
unsigned int jis_class_interfaces(const struct jis_class *c);
unsigned int jis_class_interface(const struct jis_class *c, unsigned int i);

/* Text of Utf8 constant @index, not NUL-terminated; NULL if it is none. */
const char *jis_class_utf8(const struct jis_class *c, unsigned int index, size_t *length);
/* Whether Utf8 constant @index is @text. */
int jis_class_utf8_is(const struct jis_class *c, unsigned int index, const char *text);

/* Text of the name of Class constant @index, likewise. */
const char *jis_class_of(const struct jis_class *c, unsigned int index, size_t *length);
/* Class and name of Methodref @index as Class and Utf8 constants; 0, or -EINVAL if it is none. */
int jis_class_methodref(const struct jis_class *c, unsigned int index, unsigned int *class,
			unsigned int *name);

/* Append a constant; return its index or -ENOSPC when the pool is full. Nothing is looked up. */
int jis_class_add_utf8(struct jis_class *c, const char *text);
int jis_class_add_class(struct jis_class *c, const char *name);
int jis_class_add_integer(struct jis_class *c, int32_t value);
int jis_class_add_methodref(struct jis_class *c, const char *name, const char *method,
			    const char *descriptor);
/* Has the class itself an instance field of that name and type? */
int jis_class_has_field(const struct jis_class *c, const char *field, const char *descriptor);
/* A Fieldref of the class itself. */
int jis_class_add_fieldref(struct jis_class *c, const char *field, const char *descriptor);

/* Calls put into methods ----------------------------------------------------------------------- */

/* Where a call is put; any number of them. */
enum jis_place {
	JIS_AT_ENTRY = 1,
	JIS_AT_RETURN = 2, /* before each return */
	JIS_AT_THROW = 4,  /* before an exception leaves the method */
	JIS_AT_EXIT = JIS_AT_RETURN | JIS_AT_THROW,
	/* Behind each monitorenter; in a synchronized method at entry. */
	JIS_AT_LOCKED = 8,
	/* Before each monitorexit; in a synchronized method at both kinds of exit. */
	JIS_AT_UNLOCK = 16,
};

enum jis_arg_kind {
	JIS_ARG_NUMBER, /* the int @value */
	/*
	 * The parameter that begins at local variable @value, of any type. Elsewhere than at entry
	 * the method must nowhere store into it. 0 in an instance method is `this`, which is
	 * refused at the entry of a constructor. Null or 0 where an exception leaves code whose
	 * stack maps no longer know the parameter (in practice dead code).
	 */
	JIS_ARG_LOCAL,
	/* `this`; null in static methods and in constructors that have not called super() yet */
	JIS_ARG_THIS,
	/* First only: at a return the reference returned; elsewhere, or of another type, null */
	JIS_ARG_RESULT,
	/* First only, at LOCKED and UNLOCK: the monitor's object */
	JIS_ARG_OBJECT,
	/* Not of static methods nor constructors: the object in the class's own instance field
	 * @field, null where the method's frames have forgotten `this`; a class that has none of
	 * that @type is refused, or (@optional) null is passed */
	JIS_ARG_FIELD,
};

#define JIS_CALLS_MAX 16
#define JIS_CALL_ARGS 10

struct jis_arg {
	enum jis_arg_kind kind;
	int32_t value;
	const char *field, *type; /* name and descriptor of the field */
	int hash;     /* in place of the object its identity hash, an int; that of null is 0 */
	int optional; /* JIS_ARG_FIELD */
};

/*
 * A call of a static void method that never throws and is visible from everywhere. Each parameter
 * is java.lang.Object or exactly the type passed; boolean to int are all passed as int too. The
 * texts must live as long as the rewriting.
 */
struct jis_call {
	unsigned int places; /* JIS_AT_* */
	const char *class, *method, *descriptor;
	unsigned int nr_args;
	struct jis_arg args[JIS_CALL_ARGS];
};

/* What a method is marked with (annotations of the JDK). */
enum jis_mark {
	JIS_MARK_INTRINSIC = 1, /* IntrinsicCandidate: compiled callers may not run its code */
	JIS_MARK_HIDDEN = 2,
	JIS_MARK_RESERVED_STACK = 4,
	JIS_MARK_CHANGES_THREAD = 8,
	JIS_MARK_MOUNT = 16, /* JvmtiMountTransition, JvmtiHideEvents */
	JIS_MARK_SCOPED = 32,
};

/* A method with code, as a plan sees it. */
struct jis_method {
	const struct jis_class *class;
	unsigned int flags;	       /* access flags */
	unsigned int name, descriptor; /* Utf8 constants */
	unsigned int marks;	       /* JIS_MARK_* */
	uint32_t code_length;	       /* bytes of instructions; 0: damaged */
	size_t attributes;	       /* offset of attributes_count */
};

/* First and last line of the method in its source, -1 where it has no line numbers. */
void jis_method_lines(const struct jis_method *m, int *first, int *last);
/* Name of the class's source file, not NUL-terminated; NULL: not told. */
const char *jis_class_source(const struct jis_class *c, size_t *length);
/* Calls @each with the type ("Lcom/acme/Traced;") of each annotation of the method @m, or of the
 * class where it is NULL; of those the class file keeps. */
void jis_class_annotations(const struct jis_class *c, const struct jis_method *m,
			   void (*each)(void *context, const char *type, size_t length),
			   void *context);

enum jis_plan_option {
	JIS_PLAN_INTRINSICS = 1, /* methods marked IntrinsicCandidate too */
	JIS_PLAN_HUGE = 2,	 /* also where the JVM will no longer compile the method */
	JIS_PLAN_ALL = 4,	 /* takes methods without calls apart as well: for tests */
};

struct jis_plan {
	/*
	 * Fills @calls (room for JIS_CALLS_MAX) with what to put into method @m; returns how many,
	 * 0 to leave it alone. At entry and LOCKED calls run in their order, at exits and UNLOCK in
	 * the opposite one, so that they nest.
	 */
	unsigned int (*choose)(void *context, const struct jis_method *m, struct jis_call *calls);
	/* A method chosen and left as it is; @why is constant text. May be NULL. */
	void (*refused)(void *context, const struct jis_method *m, const char *why);
	void *context;
	unsigned int options; /* JIS_PLAN_* */
	/* out */
	unsigned int nr_rewritten;
	unsigned int nr_refused;
};

/* HotSpot compiles no method with more bytecodes (HugeMethodLimit). */
#define JIS_CODE_COMPILED_MAX 8000

/**
 * jis_class_rewrite - rewrites a class file as a plan says.
 * No member is added and constants keep their indexes, so that retransformation takes the result.
 * Method by method: what cannot be rewritten safely is left as it is and told to plan->refused, and
 * so are java.lang.Object, JProbe$, VirtualThread, Continuation and the methods marked (see enum
 * jis_mark). Exits by exception are seen by a handler at the end of the method, which covers
 * neither the inserted exit calls and returns nor a constructor's call of super() or this().
 * @out: an empty buffer; gets the new class file when any method was changed. The caller frees it.
 * Returns the number of methods changed; 0 leaves @out empty. -errno as jis_class_parse().
 */
int jis_class_rewrite(const void *bytes, size_t size, struct jis_plan *plan, struct jis_bytes *out);

/* The class's own name, in internal form and not NUL-terminated; NULL if damaged. */
const char *jis_class_name(const struct jis_class *c, size_t *length);

/* Hooks at method entry ---------------------------------------------------------------------- */

#define JIS_HOOK_LOCALS 4
#define JIS_HOOK_MORE 4

/*
 * The short form for one call: what to call at the start (or at other places) of which methods: a
 * static void method, with the parameters in the given local variables, then what else is passed,
 * then (numbered) an int that counts up from one method to the next.
 */
struct jis_entry_hook {
	const char *method;	/* name of the methods to change; NULL: all that have code */
	const char *descriptor; /* NULL: any */
	const char *probe_class;
	const char *probe_method;
	const char *probe_descriptor;
	unsigned int places; /* JIS_AT_*; 0: at entry */
	unsigned int nr_locals;
	uint8_t locals[JIS_HOOK_LOCALS];
	unsigned int nr_more;
	struct jis_arg more[JIS_HOOK_MORE];
	int result; /* JIS_ARG_RESULT comes before them */
	int numbered;
	int32_t next_number; /* in: of the first method; out: of the next one */
	/* out */
	unsigned int hooked;
	unsigned int refused; /* methods left as they are */
	const char *why;      /* of the last refusal */
};

/* jis_class_hook_entries - jis_class_rewrite() with that one call. */
int jis_class_hook_entries(const void *bytes, size_t size, struct jis_entry_hook *hook,
			   struct jis_bytes *out);

/* A class of native methods ------------------------------------------------------------------- */

struct jis_native_method {
	const char *name;
	const char *descriptor;
	/*
	 * NULL, or what the native is to know of its objects without asking for it: then the method
	 * is Java code that calls the native "<name>Hashed" with its own parameters, all of them
	 * objects, and an int for each two characters here: the index of one, and 'h' for its
	 * identity hash or 'c' for that of its class, both 0 where it is null.
	 */
	const char *hashes;
};

/* Writes a public final synthetic class @name (internal form) of public static native methods, and
 * of those that call one. */
void jis_class_of_natives(struct jis_bytes *out, const char *name,
			  const struct jis_native_method *methods, unsigned int nr_methods);
/* Writes a public final synthetic class @name of a static method @method, which calls the static
 * native @native of the same class and no more; neither takes or returns anything. */
void jis_class_calling_native(struct jis_bytes *out, const char *name, const char *method,
			      const char *native);

#endif /* JIS_AGENT_CLASSFILE_H */
