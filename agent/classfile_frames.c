/* SPDX-License-Identifier: MIT */
/*
 * Stack maps. Frames are moved, not computed: inserted code leaves stack and locals as it found
 * them, so the frames stay true at their new places, and only the handlers at the end get frames of
 * their own. Reads frames beforehand where that has to be certain: parameters passed on at exits,
 * and the part of a constructor that runs before super() or this(), for which the verifier wants a
 * handler of its own.
 */
#include "classfile_internal.h"

#include <string.h>

static const char damaged[] = "its stack maps are damaged";
static const char lost[] = "a parameter to pass on is not kept by the stack maps";
static const char unclear[] = "where it calls super() or this() is not certain";

#define FRAME_SAME_1_EXTENDED 247u
#define FRAME_SAME_EXTENDED 251u
#define FRAME_FULL 255u

struct frame {
	unsigned int type;
	unsigned int delta;
	int one; /* one operand on the stack, written behind delta */
};

static int frame_read(struct jis_reader *r, struct frame *f)
{
	f->type = jis_read_u1(r);
	f->one = (f->type >= 64 && f->type < 128) || f->type == FRAME_SAME_1_EXTENDED;
	if (f->type >= 128 && f->type < FRAME_SAME_1_EXTENDED)
		r->bad = 1;
	f->delta = f->type < 64 ? f->type : f->type < 128 ? f->type - 64 : jis_read_u2(r);
	return !r->bad;
}

/* Reading beforehand ------------------------------------------------------------------------- */

/* The locals as the frames say: a word each, tag | own << 8 | Class constant << 16. */
#define LOCAL_OWN 0x100u /* still the parameter of the descriptor */

static uint32_t local_read(struct jis_reader *r)
{
	uint32_t tag = jis_read_u1(r);

	if (tag > TYPE_UNINITIALIZED)
		r->bad = 1;
	return tag >= TYPE_OBJECT ? tag | jis_read_u2(r) << 16 : tag;
}

static void locals_push(struct jis_bytes *b, uint32_t local)
{
	jis_bytes_put(b, &local, sizeof(local));
}

static uint32_t tag_of(const struct type *type)
{
	switch (type->letter) {
	case 'I':
		return TYPE_INTEGER;
	case 'F':
		return TYPE_FLOAT;
	case 'J':
		return TYPE_LONG;
	case 'D':
		return TYPE_DOUBLE;
	default:
		return TYPE_OBJECT;
	}
}

/* The implicit frame at the start of a method. */
static void locals_begin(struct job *j)
{
	struct jis_bytes *b = &j->rw->locals;
	size_t length, at = 1;
	const char *d = jis_class_utf8(j->m->class, j->m->descriptor, &length);
	struct type type;

	b->size = 0;
	if (!(j->m->flags & ACC_STATIC))
		locals_push(b, method_is_constructor(j->m) ? TYPE_UNINITIALIZED_THIS
							   : TYPE_OBJECT | LOCAL_OWN);
	while (d && type_next(d, length, &at, &type))
		locals_push(b, tag_of(&type) | LOCAL_OWN);
}

static void locals_apply(struct job *j, struct jis_reader *r, const struct frame *f)
{
	struct jis_bytes *b = &j->rw->locals;
	unsigned int n;

	if (f->one) {
		local_read(r);
	} else if (f->type == FRAME_FULL) {
		b->size = 0;
		for (n = jis_read_u2(r); n && !r->bad; n--)
			locals_push(b, local_read(r));
		for (n = jis_read_u2(r); n && !r->bad; n--)
			local_read(r);
	} else if (f->type > FRAME_SAME_EXTENDED) {
		for (n = f->type - FRAME_SAME_EXTENDED; n && !r->bad; n--)
			locals_push(b, local_read(r));
	} else if (f->type > FRAME_SAME_1_EXTENDED) {
		n = (FRAME_SAME_EXTENDED - f->type) * (unsigned int)sizeof(uint32_t);
		if (n > b->size)
			r->bad = 1;
		else
			b->size -= n;
	}
	/* More than there can be; keeps a hostile table from growing it without bound. */
	if (b->size > sizeof(uint32_t) * (U2_MAX + 1))
		r->bad = 1;
}

static int local_fits(const struct job *j, uint32_t local, const struct type *wanted)
{
	struct type type = {'L', NULL, 0};
	uint32_t tag = local & 0xff;

	if (local & LOCAL_OWN)
		return 1;
	if (wanted->letter != 'L' || tag == TYPE_NULL ||
	    (tag == TYPE_OBJECT && type_is_object(wanted)))
		return wanted->letter == 'L' || tag == tag_of(wanted);
	if (tag != TYPE_OBJECT)
		return 0;
	type.name = jis_class_of(j->m->class, local >> 16, &type.length);
	return type.name && type_same(&type, wanted);
}

/* Whether the frame has parameter @needed still in its place. */
static int frame_keeps(const struct job *j, const struct needed *needed)
{
	const struct jis_bytes *b = &j->rw->locals;
	unsigned int slot = 0;
	uint32_t local, tag;
	size_t at;

	for (at = 0; at < b->size && slot <= needed->slot; at += sizeof(local)) {
		memcpy(&local, b->data + at, sizeof(local));
		tag = local & 0xff;
		if (slot == needed->slot)
			return local_fits(j, local, &needed->type) ||
			       (!slot && tag == TYPE_UNINITIALIZED_THIS);
		slot += tag == TYPE_LONG || tag == TYPE_DOUBLE ? 2 : 1;
	}
	return 0;
}

static void frame_check(struct job *j, uint32_t pc)
{
	const struct jis_bytes *b = &j->rw->locals;
	uint32_t local;
	unsigned int i;
	size_t at;
	int early = 0;

	j->flags[pc] |= POS_FRAME;
	for (i = 0; i < j->in->nr_needed; i++)
		if (!frame_keeps(j, &j->in->needed[i]))
			j->flags[pc] |= POS_LOST;
	if (!method_is_constructor(j->m))
		return;
	for (at = 0; at < b->size; at += sizeof(local)) {
		memcpy(&local, b->data + at, sizeof(local));
		if ((local & 0xff) != TYPE_UNINITIALIZED_THIS)
			continue;
		if (at && !early) /* Kotlin keeps copies, but local 0 must be one */
			j->why = unclear;
		early = 1;
	}
	if (early && j->flags[pc] & POS_LOST)
		j->why = lost;
	j->flags[pc] |= early ? POS_KNOWN_EARLY : POS_KNOWN_LATE;
}

static int constructor_matters(const struct job *j)
{
	return method_is_constructor(j->m) && j->changed &&
	       (j->in->catches || j->in->code[FRAGMENT_LOCKED].size ||
		j->in->code[FRAGMENT_UNLOCK].size);
}

/* Content of the StackMapTable; 0: none. */
static int frames_find(const struct job *j, struct jis_reader *content)
{
	struct jis_reader r = j->tables;

	jis_read_bytes(&r, (size_t)jis_read_u2(&r) * 8);
	return j->m->class->major >= MAJOR_STACK_MAPS &&
	       attribute_find(j->m->class, r, "StackMapTable", content);
}

/* Carries POS_LOST on from frame to frame: between them needed parameters do not change. */
static void lost_spread(struct job *j)
{
	unsigned int op, is_lost = 0;
	uint32_t pc;

	for (pc = 0; pc < j->length && !j->why; pc++) {
		if (!(j->flags[pc] & POS_START))
			continue;
		if (j->flags[pc] & POS_FRAME)
			is_lost = j->flags[pc] & POS_LOST;
		j->flags[pc] |= is_lost;
		op = j->code[pc];
		if (is_lost && ((op >= OP_IRETURN && op <= OP_RETURN) || op == OP_MONITORENTER ||
				op == OP_MONITOREXIT))
			j->why = lost;
	}
}

void frames_scan(struct job *j)
{
	struct jis_reader r;
	struct frame f;
	unsigned int n, i;
	uint64_t pc = 0;

	if ((!j->in->nr_needed && !constructor_matters(j)) || !frames_find(j, &r))
		return;
	locals_begin(j);
	n = jis_read_u2(&r);
	for (i = 0; i < n && !j->why && frame_read(&r, &f); i++) {
		pc += f.delta + !!i;
		locals_apply(j, &r, &f);
		if (pc >= j->length || !(j->flags[pc] & POS_START))
			r.bad = 1;
		if (!r.bad)
			frame_check(j, (uint32_t)pc);
	}
	if (r.bad && !j->why)
		j->why = damaged;
	lost_spread(j);
}

/* Constructors ------------------------------------------------------------------------------- */

struct constructor {
	struct job *j;
	int early;	      /* super() has not been called */
	int dead;	      /* nothing goes on to here from above */
	unsigned int news[2]; /* objects of this class, of its superclass, not yet initialized */
};

/* 0: this class, 1: its superclass, -1: another one. */
static int class_which(const struct jis_class *c, unsigned int index)
{
	size_t length, other_length;
	const char *name = jis_class_of(c, index, &length), *other;
	int i;

	for (i = 0; i < 2 && name; i++) {
		other = jis_class_of(c, i ? c->super_class : c->this_class, &other_length);
		if (other && length == other_length && !memcmp(name, other, length))
			return i;
	}
	return -1;
}

static unsigned int operand(const struct job *j, uint32_t pc)
{
	return (unsigned int)j->code[pc + 1] << 8 | j->code[pc + 2];
}

static void constructor_call(struct constructor *s, uint32_t pc)
{
	const struct jis_class *c = s->j->m->class;
	unsigned int class, name;
	int which;

	if (jis_class_methodref(c, operand(s->j, pc), &class, &name) < 0 ||
	    !jis_class_utf8_is(c, name, "<init>"))
		return;
	which = class_which(c, class);
	if (which < 0)
		return;
	if (s->news[which]) {
		s->news[which]--;
	} else if (s->early) {
		s->j->flags[pc] |= POS_INIT_CALL;
		s->early = 0;
	} else {
		s->j->why = unclear;
	}
}

/* A branch leads from @pc, which has been seen, to @target. */
static void constructor_target(struct job *j, uint32_t pc, int64_t target)
{
	int early = !!(j->flags[pc] & POS_EARLY);

	if (target > pc)
		j->flags[target] |= early ? POS_KNOWN_EARLY : POS_KNOWN_LATE;
	else if (!!(j->flags[target] & POS_EARLY) != early)
		j->why = unclear;
}

/* The state before the instruction at @pc. */
static void constructor_state(struct constructor *s, uint32_t pc)
{
	struct job *j = s->j;
	unsigned int known = j->flags[pc] & (POS_KNOWN_EARLY | POS_KNOWN_LATE);
	int early = known == POS_KNOWN_EARLY;

	if (known == (POS_KNOWN_EARLY | POS_KNOWN_LATE) || (known && !s->dead && s->early != early))
		j->why = unclear;
	if (known)
		s->early = early;
	else if (s->dead && j->at[pc]) /* a handler: as where its range begins */
		s->early = !!(j->flags[j->at[pc] - 1] & POS_EARLY);
	if (s->early)
		j->flags[pc] |= POS_EARLY;
}

static void constructor_step(struct constructor *s, uint32_t pc)
{
	struct job *j = s->j;
	unsigned int op = j->code[pc];
	int which;

	constructor_state(s, pc);
	instruction_targets(j, pc, constructor_target);
	if (op == OP_NEW) {
		which = class_which(j->m->class, operand(j, pc));
		if (which >= 0)
			s->news[which]++;
	} else if (op == OP_INVOKESPECIAL) {
		constructor_call(s, pc);
	} else if (op == OP_RETURN && s->early) {
		j->why = unclear;
	} else if ((op == OP_MONITORENTER || op == OP_MONITOREXIT) && s->early &&
		   (j->in->code[FRAGMENT_LOCKED].size || j->in->code[FRAGMENT_UNLOCK].size)) {
		j->why = "it has a monitor before super() or this()";
	}
	s->dead = instruction_ends_flow(op);
}

/* Where handlers begin, into the still unused map: 1 + start of the first range they cover. */
static void handlers_note(struct job *j)
{
	struct jis_reader r = j->tables;
	unsigned int n = jis_read_u2(&r), start, handler;

	while (n--) {
		start = jis_read_u2(&r);
		jis_read_u2(&r);
		handler = jis_read_u2(&r);
		jis_read_u2(&r);
		if (!r.bad && handler < j->length && start < handler && !j->at[handler])
			j->at[handler] = start + 1;
	}
}

void constructor_scan(struct job *j)
{
	struct constructor s = {.j = j, .early = 1};
	uint32_t pc;

	if (!constructor_matters(j))
		return;
	handlers_note(j);
	for (pc = 0; pc < j->length && !j->why; pc++)
		if (j->flags[pc] & POS_START)
			constructor_step(&s, pc);
}

/* Writing ------------------------------------------------------------------------------------ */

static void type_move(struct job *j, struct jis_reader *r)
{
	unsigned int tag = jis_read_u1(r), value = 0;

	jis_bytes_u1(j->out, tag);
	if (tag >= TYPE_OBJECT)
		value = jis_read_u2(r);
	if (tag == TYPE_OBJECT)
		jis_bytes_u2(j->out, value);
	else if (tag == TYPE_UNINITIALIZED && value < j->length && j->flags[value] & POS_START &&
		 j->code[value] == OP_NEW)
		jis_bytes_u2(j->out, j->at[value]); /* its `new` */
	else if (tag >= TYPE_UNINITIALIZED)
		r->bad = 1;
}

static void types_move(struct job *j, struct jis_reader *r, unsigned int n)
{
	while (n-- && !r->bad)
		type_move(j, r);
}

static void frame_move(struct job *j, struct jis_reader *r, const struct frame *f, uint32_t delta)
{
	unsigned int n;

	if (f->type < 128 && delta < 64) {
		jis_bytes_u1(j->out, f->one ? 64 + delta : delta);
	} else {
		jis_bytes_u1(j->out, f->type < 64    ? FRAME_SAME_EXTENDED
				     : f->type < 128 ? FRAME_SAME_1_EXTENDED
						     : f->type);
		jis_bytes_u2(j->out, delta);
	}
	if (f->one) {
		type_move(j, r);
	} else if (f->type == FRAME_FULL) {
		n = jis_read_u2(r);
		jis_bytes_u2(j->out, n);
		types_move(j, r, n);
		n = jis_read_u2(r);
		jis_bytes_u2(j->out, n);
		types_move(j, r, n);
	} else if (f->type > FRAME_SAME_EXTENDED) {
		types_move(j, r, f->type - FRAME_SAME_EXTENDED);
	}
}

/* A constant made once for the class. */
static unsigned int class_once(struct job *j, int *index, const char *name)
{
	if (!*index)
		*index = jis_class_add_class(&j->rw->class, name);
	if (*index < 0) {
		*index = 0;
		j->why = WHY_POOL_FULL;
	}
	return (unsigned int)*index;
}

static void type_put(struct job *j, const struct type *type)
{
	size_t length;
	const char *own = jis_class_name(j->m->class, &length);
	int index;

	jis_bytes_u1(j->out, tag_of(type));
	if (type->letter != 'L')
		return;
	if (type_is_object(type)) {
		jis_bytes_u2(j->out, class_once(j, &j->rw->object, "java/lang/Object"));
	} else if (own && length == type->length && !memcmp(own, type->name, length)) {
		jis_bytes_u2(j->out, j->m->class->this_class);
	} else {
		index = class_add_class_text(&j->rw->class, type->name, type->length);
		if (index < 0)
			j->why = WHY_POOL_FULL;
		jis_bytes_u2(j->out, (unsigned int)index & U2_MAX);
	}
}

static const struct needed *needed_at(const struct job *j, unsigned int slot)
{
	unsigned int i;

	for (i = 0; i < j->in->nr_needed; i++)
		if (j->in->needed[i].slot == slot)
			return &j->in->needed[i];
	return NULL;
}

/* Locals of a handler's frame: what its calls load, and nothing else. */
static void handler_locals(struct job *j, enum handler handler)
{
	size_t count_at = j->out->size;
	unsigned int slot = 0, early = handler == HANDLER_EARLY, end = early, i, count = 0;
	const struct needed *needed;

	for (i = 0; i < j->in->nr_needed && handler != HANDLER_BARE; i++)
		if (end <= j->in->needed[i].slot)
			end = j->in->needed[i].slot + 1;
	jis_bytes_u2(j->out, 0);
	for (; slot < end; count++) {
		needed = needed_at(j, slot);
		if (early && !slot) {
			jis_bytes_u1(j->out, TYPE_UNINITIALIZED_THIS);
			slot++;
		} else if (needed) {
			type_put(j, &needed->type);
			slot += type_slots(&needed->type);
		} else {
			jis_bytes_u1(j->out, TYPE_TOP);
			slot++;
		}
	}
	jis_bytes_set_u2(j->out, count_at, count);
}

/* Frames of the handlers, behind @n others of which the last is at @last; returns their number. */
static unsigned int handler_frames(struct job *j, unsigned int n, uint32_t last)
{
	unsigned int h;

	for (h = 0; h < NR_HANDLERS; h++) {
		if (!j->handler[h])
			continue;
		jis_bytes_u1(j->out, FRAME_FULL);
		jis_bytes_u2(j->out, j->handler[h] - last - !!n++);
		handler_locals(j, (enum handler)h);
		jis_bytes_u2(j->out, 1);
		jis_bytes_u1(j->out, TYPE_OBJECT);
		jis_bytes_u2(j->out, class_once(j, &j->rw->throwable, "java/lang/Throwable"));
		last = j->handler[h];
	}
	if (n > U2_MAX)
		j->why = "it would have too many stack maps";
	return n;
}

void frames_move(struct job *j, struct jis_reader *r)
{
	size_t count_at = j->out->size;
	unsigned int n = jis_read_u2(r), i;
	uint32_t last = 0;
	uint64_t pc = 0;
	struct frame f;

	jis_bytes_u2(j->out, n);
	for (i = 0; i < n && frame_read(r, &f); i++) {
		pc += f.delta + !!i;
		if (pc >= j->length || !(j->flags[pc] & POS_START)) {
			r->bad = 1;
			break;
		}
		frame_move(j, r, &f, j->before[pc] - last - !!i);
		last = j->before[pc];
	}
	if (!r->bad)
		jis_bytes_set_u2(j->out, count_at, handler_frames(j, n, last));
}

void frames_make(struct job *j)
{
	size_t length_at;

	if (!j->rw->stack_map_name)
		j->rw->stack_map_name = jis_class_add_utf8(&j->rw->class, "StackMapTable");
	if (j->rw->stack_map_name < 0) {
		j->rw->stack_map_name = 0;
		j->why = WHY_POOL_FULL;
	}
	jis_bytes_u2(j->out, (unsigned int)j->rw->stack_map_name);
	length_at = j->out->size;
	jis_bytes_u4(j->out, 0);
	jis_bytes_u2(j->out, 0);
	jis_bytes_set_u2(j->out, length_at + 4, handler_frames(j, 0, 0));
	jis_bytes_set_u4(j->out, length_at, (uint32_t)(j->out->size - length_at - 4));
}
