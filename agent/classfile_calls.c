/* SPDX-License-Identifier: MIT */
/*
 * Makes the code that is inserted into a method: the calls a plan chose, their arguments checked
 * against the method and the called descriptor, so that the verifier finds nothing to complain of.
 */
#include "classfile_internal.h"

#include <string.h>

/* Descriptors -------------------------------------------------------------------------------- */

int type_next(const char *descriptor, size_t length, size_t *at, struct type *type)
{
	size_t i = *at;

	if (i >= length || descriptor[i] == ')')
		return 0;
	while (i < length && descriptor[i] == '[')
		i++;
	if (i < length && descriptor[i] == 'L')
		while (i < length && descriptor[i] != ';')
			i++;
	if (i >= length)
		return 0;
	type->name = descriptor + *at;
	type->length = i + 1 - *at;
	type->letter = *type->name;
	if (!type->letter)
		return 0;
	if (type->letter == 'L') {
		type->name++;
		type->length -= 2;
	} else if (type->letter == '[') {
		type->letter = 'L';
	} else if (strchr("ZBCS", type->letter)) {
		type->letter = 'I';
	} else if (!strchr("IJFD", type->letter)) {
		return 0;
	}
	*at = i + 1;
	return 1;
}

unsigned int type_slots(const struct type *type)
{
	return type->letter == 'J' || type->letter == 'D' ? 2 : 1;
}

int type_same(const struct type *a, const struct type *b)
{
	return a->letter == b->letter &&
	       (a->letter != 'L' ||
		(a->length == b->length && !memcmp(a->name, b->name, a->length)));
}

int type_is_object(const struct type *type)
{
	static const struct type object = {'L', "java/lang/Object", 16};

	return type_same(type, &object);
}

int parameter_at(const struct jis_method *m, unsigned int slot, struct type *type)
{
	unsigned int at_slot = m->flags & ACC_STATIC ? 0 : 1;
	size_t length, at = 1;
	const char *d = jis_class_utf8(m->class, m->descriptor, &length);

	if (!slot && at_slot) {
		type->letter = 'L';
		type->name = jis_class_name(m->class, &type->length);
		return type->name != NULL;
	}
	while (d && at_slot <= slot && type_next(d, length, &at, type)) {
		if (at_slot == slot)
			return 1;
		at_slot += type_slots(type);
	}
	return 0;
}

int method_is_constructor(const struct jis_method *m)
{
	return jis_class_utf8_is(m->class, m->name, "<init>");
}

static int method_returns_reference(const struct jis_method *m)
{
	size_t length;
	const char *d = jis_class_utf8(m->class, m->descriptor, &length);
	const char *end = d ? memchr(d, ')', length) : NULL;

	return end && end + 1 < d + length && (end[1] == 'L' || end[1] == '[');
}

/* Arguments ---------------------------------------------------------------------------------- */

/* Notes that local variable @slot must be what it was at entry, as @type. */
static void need_parameter(struct inserts *in, unsigned int slot, const struct type *type)
{
	unsigned int i;

	for (i = 0; i < in->nr_needed; i++) {
		if (in->needed[i].slot != slot)
			continue;
		if (type_is_object(&in->needed[i].type))
			in->needed[i].type = *type;
		return;
	}
	in->needed[in->nr_needed].slot = slot;
	in->needed[in->nr_needed++].type = *type;
}

static void put_load(struct jis_bytes *b, char letter, unsigned int slot)
{
	unsigned int kind = (unsigned int)(strchr("IJFDL", letter) - "IJFDL");

	if (slot < 4) {
		jis_bytes_u1(b, OP_ILOAD_0 + 4 * kind + slot);
	} else if (slot < 256) {
		jis_bytes_u1(b, OP_ILOAD + kind);
		jis_bytes_u1(b, slot);
	} else {
		jis_bytes_u1(b, OP_WIDE);
		jis_bytes_u1(b, OP_ILOAD + kind);
		jis_bytes_u2(b, slot);
	}
}

static void put_zero(struct jis_bytes *b, char letter)
{
	static const uint8_t zeros[] = {3, 9, 11, 14, OP_ACONST_NULL}; /* iconst_0, lconst_0, ... */

	jis_bytes_u1(b, zeros[strchr("IJFDL", letter) - "IJFDL"]);
}

static const char *put_number(struct rewriter *rw, struct jis_bytes *b, int32_t number)
{
	int index = rw->integer;

	if (number >= INT8_MIN && number <= INT8_MAX) {
		jis_bytes_u1(b, OP_BIPUSH);
		jis_bytes_u1(b, (unsigned int)number & 0xff);
	} else if (number >= INT16_MIN && number <= INT16_MAX) {
		jis_bytes_u1(b, OP_SIPUSH);
		jis_bytes_u2(b, (unsigned int)number & 0xffff);
	} else {
		if (!index || rw->integer_value != number)
			index = jis_class_add_integer(&rw->class, number);
		if (index < 0)
			return WHY_POOL_FULL;
		rw->integer = index;
		rw->integer_value = number;
		jis_bytes_u1(b, OP_LDC_W);
		jis_bytes_u2(b, (unsigned int)index);
	}
	return NULL;
}

static const char *put_local(struct rewriter *rw, const struct jis_method *m, enum fragment where,
			     const struct jis_arg *arg, const struct type *wanted)
{
	struct jis_bytes *b = &rw->inserts.code[where];
	unsigned int slot = (unsigned int)arg->value;
	struct type type;

	if (arg->value < 0 || !parameter_at(m, slot, &type))
		return "there is no such parameter";
	if (!(wanted->letter == 'L' && type.letter == 'L' && type_is_object(wanted)) &&
	    !type_same(&type, wanted))
		return "a parameter has not the type the probe wants";
	if (where == FRAGMENT_THROW_BARE) {
		put_zero(b, type.letter);
		return NULL;
	}
	if (!slot && !(m->flags & ACC_STATIC) && method_is_constructor(m)) {
		if (where == FRAGMENT_ENTRY)
			return "this is not initialized where a constructor begins";
		if (where == FRAGMENT_THROW_EARLY) {
			jis_bytes_u1(b, OP_ACONST_NULL);
			return NULL;
		}
	}
	put_load(b, type.letter, slot);
	if (where != FRAGMENT_ENTRY)
		need_parameter(&rw->inserts, slot, wanted);
	return NULL;
}

static const char *put_this(struct rewriter *rw, const struct jis_method *m, enum fragment where,
			    const struct type *wanted)
{
	static const struct jis_arg this_local = {.kind = JIS_ARG_LOCAL};

	if (wanted->letter == 'L' &&
	    (m->flags & ACC_STATIC || (where == FRAGMENT_ENTRY && method_is_constructor(m)))) {
		jis_bytes_u1(&rw->inserts.code[where], OP_ACONST_NULL);
		return NULL;
	}
	return put_local(rw, m, where, &this_local, wanted);
}

/* The object whose monitor is taken or given back here. */
static const char *put_object(struct rewriter *rw, const struct jis_method *m, enum fragment where)
{
	static const struct type object = {'L', "java/lang/Object", 16};
	struct jis_bytes *b = &rw->inserts.code[where];

	if (where == FRAGMENT_LOCKED)
		return NULL; /* on the stack since before the instruction */
	if (where == FRAGMENT_UNLOCK) {
		jis_bytes_u1(b, OP_DUP);
		return NULL;
	}
	if (!(m->flags & ACC_SYNCHRONIZED))
		return "there is no monitor to pass on";
	if (!(m->flags & ACC_STATIC))
		return put_this(rw, m, where, &object);
	if (m->class->major < MAJOR_CLASS_CONSTANTS)
		return "a class file this old cannot name its class";
	jis_bytes_u1(b, OP_LDC_W);
	jis_bytes_u2(b, m->class->this_class);
	return NULL;
}

static int probe_index(struct rewriter *rw, const struct jis_call *call)
{
	unsigned int i;
	int index;

	for (i = 0; i < rw->nr_probes; i++)
		if (!strcmp(rw->probes[i].class, call->class) &&
		    !strcmp(rw->probes[i].method, call->method) &&
		    !strcmp(rw->probes[i].descriptor, call->descriptor))
			return rw->probes[i].index;
	index = jis_class_add_methodref(&rw->class, call->class, call->method, call->descriptor);
	if (index >= 0 && rw->nr_probes < PROBES_MAX) {
		rw->probes[rw->nr_probes].class = call->class;
		rw->probes[rw->nr_probes].method = call->method;
		rw->probes[rw->nr_probes].descriptor = call->descriptor;
		rw->probes[rw->nr_probes++].index = index;
	}
	return index;
}

static const char *put_field(struct rewriter *rw, const struct jis_method *m, enum fragment where,
			     const struct jis_arg *arg, const struct type *wanted)
{
	struct jis_bytes *b = &rw->inserts.code[where];
	struct type type, this;
	size_t at = 0;
	int index;

	if (m->flags & ACC_STATIC || method_is_constructor(m) || !parameter_at(m, 0, &this))
		return "there is no object whose field could be passed";
	if (!type_next(arg->type, strlen(arg->type), &at, &type) || type.letter != 'L' ||
	    (!type_is_object(wanted) && !type_same(&type, wanted)))
		return "a field has not the type the probe wants";
	if (!jis_class_has_field(m->class, arg->field, arg->type) && !arg->optional)
		return "the class has not the field that is passed";
	if (!jis_class_has_field(m->class, arg->field, arg->type) || where == FRAGMENT_THROW_BARE) {
		jis_bytes_u1(b, OP_ACONST_NULL);
		return NULL;
	}
	index = jis_class_add_fieldref(&rw->class, arg->field, arg->type);
	if (index < 0)
		return WHY_POOL_FULL;
	put_load(b, 'L', 0);
	jis_bytes_u1(b, OP_GETFIELD);
	jis_bytes_u2(b, (unsigned int)index);
	if (where != FRAGMENT_ENTRY)
		need_parameter(&rw->inserts, 0, &this);
	return NULL;
}

static const char *put_arg(struct rewriter *rw, const struct jis_method *m, enum fragment where,
			   const struct jis_call *call, unsigned int index,
			   const struct type *wanted);

/* The identity hash of what would be passed. */
static const char *put_hash(struct rewriter *rw, const struct jis_method *m, enum fragment where,
			    const struct jis_call *call, unsigned int arg,
			    const struct type *wanted)
{
	static const struct jis_call hash = {.class = "java/lang/System",
					     .method = "identityHashCode",
					     .descriptor = "(Ljava/lang/Object;)I"};
	static const struct type object = {'L', "java/lang/Object", 16};
	struct jis_call plain = *call;
	const char *why;
	int index;

	if (wanted->letter != 'I')
		return "a hash is no int for the probe";
	plain.args[arg].hash = 0;
	why = put_arg(rw, m, where, &plain, arg, &object);
	if (why)
		return why;
	index = probe_index(rw, &hash);
	if (index < 0)
		return WHY_POOL_FULL;
	jis_bytes_u1(&rw->inserts.code[where], OP_INVOKESTATIC);
	jis_bytes_u2(&rw->inserts.code[where], (unsigned int)index);
	return NULL;
}

static const char *put_arg(struct rewriter *rw, const struct jis_method *m, enum fragment where,
			   const struct jis_call *call, unsigned int index,
			   const struct type *wanted)
{
	const struct jis_arg *arg = &call->args[index];
	struct jis_bytes *b = &rw->inserts.code[where];

	if (arg->hash)
		return put_hash(rw, m, where, call, index, wanted);
	switch (arg->kind) {
	case JIS_ARG_NUMBER:
		return wanted->letter == 'I' ? put_number(rw, b, arg->value)
					     : "a number is no int for the probe";
	case JIS_ARG_LOCAL:
		return put_local(rw, m, where, arg, wanted);
	case JIS_ARG_THIS:
		return put_this(rw, m, where, wanted);
	case JIS_ARG_FIELD:
		return put_field(rw, m, where, arg, wanted);
	case JIS_ARG_RESULT:
	case JIS_ARG_OBJECT:
		if (index || !type_is_object(wanted))
			return "that argument can only be the first, an Object";
		if (arg->kind == JIS_ARG_OBJECT)
			return put_object(rw, m, where);
		jis_bytes_u1(b, where == FRAGMENT_RETURN_REFERENCE ? OP_DUP : OP_ACONST_NULL);
		return NULL;
	default:
		return "there is no such argument";
	}
}

/* Calls -------------------------------------------------------------------------------------- */

static const char *put_call(struct rewriter *rw, const struct jis_method *m, enum fragment where,
			    const struct jis_call *call)
{
	static const char mismatch[] = "the probe's descriptor does not fit its arguments";
	struct jis_bytes *b = &rw->inserts.code[where];
	unsigned int i, stack = 0;
	size_t length = strlen(call->descriptor), at = 1;
	struct type wanted;
	const char *why;
	int index;

	for (i = 0; i < call->nr_args; i++) {
		if (i >= JIS_CALL_ARGS || !type_next(call->descriptor, length, &at, &wanted))
			return mismatch;
		stack += type_slots(&wanted);
		why = put_arg(rw, m, where, call, i, &wanted);
		if (why)
			return why;
	}
	if (length < at || strcmp(call->descriptor + at, ")V") != 0)
		return mismatch;
	if (rw->inserts.stack[where] < stack)
		rw->inserts.stack[where] = stack;
	index = probe_index(rw, call);
	if (index < 0)
		return WHY_POOL_FULL;
	jis_bytes_u1(b, OP_INVOKESTATIC);
	jis_bytes_u2(b, (unsigned int)index);
	return NULL;
}

/* Where in the code of method @m a call for @places goes; a mask of fragments. */
static unsigned int fragments_of(const struct jis_method *m, unsigned int places)
{
	unsigned int mask = 0;

	if (m->flags & ACC_SYNCHRONIZED) {
		places |= places & JIS_AT_LOCKED ? JIS_AT_ENTRY : 0;
		places |= places & JIS_AT_UNLOCK ? JIS_AT_EXIT : 0;
	}
	if (places & JIS_AT_ENTRY)
		mask |= 1u << FRAGMENT_ENTRY;
	if (places & JIS_AT_RETURN)
		mask |= 1u << (method_returns_reference(m) ? FRAGMENT_RETURN_REFERENCE
							   : FRAGMENT_RETURN);
	if (places & JIS_AT_THROW)
		mask |= 1u << FRAGMENT_THROW | 1u << FRAGMENT_THROW_BARE;
	if (places & JIS_AT_THROW && method_is_constructor(m))
		mask |= 1u << FRAGMENT_THROW_EARLY;
	if (places & JIS_AT_LOCKED)
		mask |= 1u << FRAGMENT_LOCKED;
	if (places & JIS_AT_UNLOCK)
		mask |= 1u << FRAGMENT_UNLOCK;
	return mask;
}

static int takes_object(const struct jis_call *call)
{
	return call->nr_args && call->args[0].kind == JIS_ARG_OBJECT;
}

static const char *fragment_make(struct rewriter *rw, const struct jis_method *m,
				 enum fragment where, const struct jis_call *calls, unsigned int n)
{
	int forward = where == FRAGMENT_ENTRY || where == FRAGMENT_LOCKED;
	const struct jis_call *call;
	const char *why;
	unsigned int i;

	for (i = 0; i < n; i++) {
		call = &calls[forward ? i : n - 1 - i];
		if (!(fragments_of(m, call->places) & 1u << where))
			continue;
		why = put_call(rw, m, where, call);
		if (why)
			return why;
		if (where == FRAGMENT_LOCKED && takes_object(call))
			rw->inserts.lock_copies++;
	}
	return NULL;
}

const char *inserts_make(struct rewriter *rw, const struct jis_method *m,
			 const struct jis_call *calls, unsigned int nr_calls)
{
	struct inserts *in = &rw->inserts;
	const char *why = NULL;
	unsigned int i;

	in->lock_copies = in->nr_needed = 0;
	for (i = 0; i < NR_FRAGMENTS; i++)
		in->code[i].size = in->stack[i] = 0;
	for (i = 0; i < NR_FRAGMENTS && !why; i++)
		why = fragment_make(rw, m, (enum fragment)i, calls, nr_calls);
	in->catches = in->code[FRAGMENT_THROW].size != 0;
	return why;
}

int inserts_any(const struct inserts *in, unsigned int end)
{
	unsigned int i;

	for (i = 0; i < end; i++)
		if (in->code[i].size)
			return 1;
	return 0;
}
