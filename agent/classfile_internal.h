/* SPDX-License-Identifier: MIT */
/*
 * What the files of the class-file rewriter share: a method being rewritten, the code to insert,
 * and the map from old positions to new ones. classfile_plan.c walks the methods, classfile_calls.c
 * makes the inserted code, classfile_code.c moves the instructions, classfile_tables.c what stands
 * behind them, classfile_frames.c stack maps and the constructors' two states.
 */
#ifndef JIS_AGENT_CLASSFILE_INTERNAL_H
#define JIS_AGENT_CLASSFILE_INTERNAL_H

#include "classfile.h"

#define MAGIC 0xcafebabeu

#define ACC_STATIC 0x0008u
#define ACC_SYNCHRONIZED 0x0020u
#define ACC_NATIVE 0x0100u

#define MAJOR_STACK_MAPS 50u
#define MAJOR_CLASS_CONSTANTS 49u

#define CODE_MAX 65535u
#define U2_MAX 65535u

enum constant_tag {
	TAG_UTF8 = 1,
	TAG_INTEGER = 3,
	TAG_FLOAT = 4,
	TAG_LONG = 5,
	TAG_DOUBLE = 6,
	TAG_CLASS = 7,
	TAG_STRING = 8,
	TAG_FIELDREF = 9,
	TAG_METHODREF = 10,
	TAG_INTERFACE_METHODREF = 11,
	TAG_NAME_AND_TYPE = 12,
	TAG_METHOD_HANDLE = 15,
	TAG_METHOD_TYPE = 16,
	TAG_DYNAMIC = 17,
	TAG_INVOKE_DYNAMIC = 18,
	TAG_MODULE = 19,
	TAG_PACKAGE = 20,
};

enum opcode {
	OP_NOP = 0,
	OP_ACONST_NULL = 1,
	OP_ICONST_0 = 3,
	OP_BIPUSH = 16,
	OP_SIPUSH = 17,
	OP_LDC_W = 19,
	OP_ILOAD = 21, /* then l, f, d, a */
	OP_ALOAD = 25,
	OP_ILOAD_0 = 26,
	OP_ISTORE = 54,
	OP_ASTORE = 58,
	OP_ISTORE_0 = 59,
	OP_ASTORE_3 = 78,
	OP_DUP = 89,
	OP_IINC = 132,
	OP_IFEQ = 153,
	OP_GOTO = 167,
	OP_JSR = 168,
	OP_RET = 169,
	OP_TABLESWITCH = 170,
	OP_LOOKUPSWITCH = 171,
	OP_IRETURN = 172,
	OP_ARETURN = 176,
	OP_RETURN = 177,
	OP_GETFIELD = 180,
	OP_INVOKEVIRTUAL = 182,
	OP_INVOKESPECIAL = 183,
	OP_INVOKESTATIC = 184,
	OP_NEW = 187,
	OP_ATHROW = 191,
	OP_MONITORENTER = 194,
	OP_MONITOREXIT = 195,
	OP_WIDE = 196,
	OP_IFNULL = 198,
	OP_IFNONNULL = 199,
	OP_GOTO_W = 200,
	OP_JSR_W = 201,
};

/* verification_type_info */
enum type_tag {
	TYPE_TOP = 0,
	TYPE_INTEGER = 1,
	TYPE_FLOAT = 2,
	TYPE_DOUBLE = 3,
	TYPE_LONG = 4,
	TYPE_NULL = 5,
	TYPE_UNINITIALIZED_THIS = 6,
	TYPE_OBJECT = 7,
	TYPE_UNINITIALIZED = 8,
};

/* A type of a descriptor: I (all small ones too), J, F, D or L with the class's name. */
struct type {
	char letter;
	const char *name; /* as in a Class constant; arrays as their descriptor */
	size_t length;
};

/* The next type at *@at of a descriptor; 0 at the end of its parameters or when it is damaged. */
int type_next(const char *descriptor, size_t length, size_t *at, struct type *type);
unsigned int type_slots(const struct type *type);
int type_is_object(const struct type *type);
int type_same(const struct type *a, const struct type *b);
/* The parameter (this included) that begins at local variable @slot; 0: none does. */
int parameter_at(const struct jis_method *m, unsigned int slot, struct type *type);
int method_is_constructor(const struct jis_method *m);

/* Where code is inserted. Returns of references have their own, as they may pass it on. */
enum fragment {
	FRAGMENT_ENTRY,
	FRAGMENT_RETURN,
	FRAGMENT_RETURN_REFERENCE,
	FRAGMENT_THROW,
	FRAGMENT_THROW_EARLY, /* in constructors before they have called super() or this() */
	FRAGMENT_THROW_BARE,  /* where the stack maps do not keep the parameters to pass on */
	FRAGMENT_LOCKED,
	FRAGMENT_UNLOCK,
	NR_FRAGMENTS
};

struct needed {
	unsigned int slot;
	struct type type;
};

#define NEEDED_MAX (JIS_CALLS_MAX * JIS_CALL_ARGS)

/* All that is inserted into one method. */
struct inserts {
	struct jis_bytes code[NR_FRAGMENTS];
	unsigned int stack[NR_FRAGMENTS]; /* operands it pushes */
	unsigned int lock_copies;	  /* dups before each monitorenter */
	int catches;			  /* there is a handler */
	/* Parameters that are passed on elsewhere than at entry: must keep value and type. */
	struct needed needed[NEEDED_MAX];
	unsigned int nr_needed;
};

/* Flags of a position of the old code. */
enum position_flag {
	POS_START = 1,	     /* an instruction begins */
	POS_AFTER_ENTER = 2, /* the one before is monitorenter */
	POS_INIT_CALL = 4,   /* calls super() or this() */
	POS_KNOWN_EARLY = 8, /* a frame or branch says: before that call */
	POS_KNOWN_LATE = 16, /* ... after it */
	POS_EARLY = 32,	     /* the state found */
	POS_FRAME = 64,	     /* a stack map frame is for it */
	POS_LOST = 128,	     /* a needed parameter is not known to be there */
};

/* A handler for each of the places an exception can come from. */
enum handler { HANDLER_LATE, HANDLER_EARLY, HANDLER_BARE, NR_HANDLERS };

#define FRAGMENT_OF_HANDLER(h) ((enum fragment)(FRAGMENT_THROW + (h)))

#define PROBES_MAX 16

struct rewriter {
	struct jis_class class;
	struct jis_plan *plan;
	struct jis_bytes methods; /* the new methods */
	struct inserts inserts;
	struct jis_bytes map, flags, locals,
		ranges; /* work space, kept from one method to the next */
	/* Methodrefs made so far. */
	struct {
		const char *class, *method, *descriptor;
		int index;
	} probes[PROBES_MAX];
	unsigned int nr_probes;
	int throwable, object, stack_map_name; /* constants, 0: not yet made */
	int integer;			       /* ... and the newest Integer, of value: */
	int32_t integer_value;
	int error; /* ends the rewriting of this class */
};

/* One method's code on its way. */
struct job {
	struct rewriter *rw;
	const struct jis_method *m;
	const struct inserts *in;
	const uint8_t *code;
	uint32_t length;
	unsigned int max_stack, max_locals;
	struct jis_reader tables; /* exception table and attributes */
	uint32_t *before;	  /* new position by old one, of what is inserted before it */
	uint32_t *at;		  /* ... of the instruction itself */
	uint8_t *flags;
	uint32_t new_length;
	uint32_t body_end;	       /* behind it the handlers */
	uint32_t handler[NR_HANDLERS]; /* new positions; 0: none */
	int changed;		       /* something is inserted */
	int monitors;		       /* it has monitor instructions */
	struct jis_bytes *out;
	const char *why; /* set: refused */
};

/* Reasons several files give. */
#define WHY_POOL_FULL "the constant pool is full"
#define WHY_NOTHING "" /* no refusal: there is no place for any of the calls */

static inline unsigned int u2_at(const uint8_t *p)
{
	return (unsigned int)p[0] << 8 | p[1];
}

/* classfile.c: a Class constant with that name, which need not end in NUL. */
int class_add_class_text(struct jis_class *c, const char *name, size_t length);

/* classfile_calls.c: makes the code to insert. NULL, or why it cannot be. */
const char *inserts_make(struct rewriter *rw, const struct jis_method *m,
			 const struct jis_call *calls, unsigned int nr_calls);
/* Is there code among the fragments before @end? */
int inserts_any(const struct inserts *in, unsigned int end);

/* classfile_code.c */
/* Length of the instruction at @pc; 0: damaged or unknown. */
uint32_t instruction_length(const uint8_t *code, uint32_t length, uint32_t pc);
/* Calls @fn with each branch target of the instruction at @pc. Needs a checked instruction. */
typedef void (*target_fn)(struct job *j, uint32_t pc, int64_t target);
void instruction_targets(struct job *j, uint32_t pc, target_fn fn);
/* Whether control never goes on from it to the next instruction. */
int instruction_ends_flow(unsigned int op);
/* Writes the new content of a Code attribute to @out; NULL, or why it is left as it is. */
const char *code_rewrite(struct rewriter *rw, const struct jis_method *m, const uint8_t *code,
			 size_t size, struct jis_bytes *out);

/* classfile_tables.c: exception table and attributes of the code. */
void tables_write(struct job *j);
/* Finds an attribute behind @r, which stands at the number of attributes; 0 when there is none. */
int attribute_find(const struct jis_class *c, struct jis_reader r, const char *name,
		   struct jis_reader *content);
/* JIS_MARK_* of the content of a RuntimeVisibleAnnotations attribute. */
unsigned int annotation_marks(const struct jis_class *c, struct jis_reader *r);
/* Reads one annotation, those in it no deeper than @depth. */
#define ANNOTATION_DEPTH 32
void annotation_skip(struct jis_reader *r, int depth);

/* classfile_frames.c */
/* Reads the frames before anything is laid out: are the needed parameters kept, and where has a
 * constructor not called super() yet. */
void frames_scan(struct job *j);
/* Finds a constructor's calls of super() or this(), and what lies before them. */
void constructor_scan(struct job *j);
void frames_move(struct job *j, struct jis_reader *r);
/* A StackMapTable for a method that had none. */
void frames_make(struct job *j);

#endif /* JIS_AGENT_CLASSFILE_INTERNAL_H */
