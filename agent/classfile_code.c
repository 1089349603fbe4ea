/* SPDX-License-Identifier: MIT */
/*
 * Rewrites the instructions of one method: finds them, gives each its new place with what is
 * inserted around it, and writes them with branches and switches that lead where they led. Sizes
 * depend on positions only, so one pass is a layout. A 16-bit branch that would get too long, like
 * everything that is not understood, leaves the method as it is.
 */
#include "classfile_internal.h"

#include <string.h>

static const char damaged[] = "its code is damaged";

static int32_t s2_at(const uint8_t *p)
{
	return (int16_t)u2_at(p);
}

static int32_t s4_at(const uint8_t *p)
{
	return (int32_t)((uint32_t)u2_at(p) << 16 | u2_at(p + 2));
}

/* Instructions ------------------------------------------------------------------------------- */

/* Bytes between the opcode of a switch at @pc and its operands. */
static uint32_t switch_padding(uint32_t pc)
{
	return ~pc & 3;
}

static uint32_t switch_length(const uint8_t *code, uint32_t length, uint32_t pc)
{
	uint32_t at = pc + 1 + switch_padding(pc);
	int table = code[pc] == OP_TABLESWITCH;
	uint64_t n;

	if (at + (table ? 12u : 8u) > length)
		return 0;
	if (!table && s4_at(code + at + 4) < 0)
		return 0;
	if (table && s4_at(code + at + 4) > s4_at(code + at + 8))
		return 0;
	n = table ? 12 + 4 * (uint64_t)((int64_t)s4_at(code + at + 8) - s4_at(code + at + 4) + 1)
		  : 8 + 8 * (uint64_t)s4_at(code + at + 4);
	return at + n <= length ? (uint32_t)(at + n - pc) : 0;
}

/* Lengths of all others, from the instruction set; 0: no such instruction. */
static uint32_t plain_length(unsigned int op)
{
	if (op == OP_BIPUSH || op == 18 || (op >= OP_ILOAD && op <= 25) ||
	    (op >= OP_ISTORE && op <= OP_ASTORE) || op == OP_RET || op == 188)
		return 2;
	if (op == OP_SIPUSH || op == OP_LDC_W || op == 20 || op == OP_IINC ||
	    (op >= OP_IFEQ && op <= OP_JSR) || (op >= 178 && op <= OP_INVOKESTATIC) ||
	    op == OP_NEW || op == 189 || op == 192 || op == 193 || op == OP_IFNULL ||
	    op == OP_IFNONNULL)
		return 3;
	if (op == 197)
		return 4;
	if (op == 185 || op == 186 || op == OP_GOTO_W || op == OP_JSR_W)
		return 5;
	return op > OP_JSR_W ? 0 : 1;
}

uint32_t instruction_length(const uint8_t *code, uint32_t length, uint32_t pc)
{
	unsigned int op = code[pc];
	uint32_t n;

	if (op == OP_TABLESWITCH || op == OP_LOOKUPSWITCH)
		return switch_length(code, length, pc);
	if (op == OP_WIDE) {
		op = length - pc > 1 ? code[pc + 1] : 0;
		if (!(op >= OP_ILOAD && op <= 25) && !(op >= OP_ISTORE && op <= OP_ASTORE) &&
		    op != OP_RET && op != OP_IINC)
			return 0;
		n = op == OP_IINC ? 6 : 4;
	} else {
		n = plain_length(op);
	}
	return n <= length - pc ? n : 0;
}

static int is_branch(unsigned int op)
{
	return (op >= OP_IFEQ && op <= OP_JSR) || op == OP_IFNULL || op == OP_IFNONNULL;
}

static int is_return(unsigned int op)
{
	return op >= OP_IRETURN && op <= OP_RETURN;
}

int instruction_ends_flow(unsigned int op)
{
	return is_return(op) || op == OP_ATHROW || op == OP_GOTO || op == OP_GOTO_W ||
	       op == OP_TABLESWITCH || op == OP_LOOKUPSWITCH;
}

void instruction_targets(struct job *j, uint32_t pc, target_fn fn)
{
	unsigned int op = j->code[pc];
	uint32_t at, end, step;

	if (is_branch(op)) {
		fn(j, pc, (int64_t)pc + s2_at(j->code + pc + 1));
	} else if (op == OP_GOTO_W) {
		fn(j, pc, (int64_t)pc + s4_at(j->code + pc + 1));
	} else if (op == OP_TABLESWITCH || op == OP_LOOKUPSWITCH) {
		at = pc + 1 + switch_padding(pc);
		end = pc + switch_length(j->code, j->length, pc);
		step = op == OP_TABLESWITCH ? 4 : 8;
		fn(j, pc, (int64_t)pc + s4_at(j->code + at));
		for (at += 12; at < end; at += step)
			fn(j, pc, (int64_t)pc + s4_at(j->code + at));
	}
}

/* Reading ------------------------------------------------------------------------------------ */

/* The local variables that the instruction at @pc stores into; 0: none. */
static unsigned int stored_slots(const uint8_t *code, uint32_t pc, unsigned int *slot)
{
	unsigned int op = code[pc], kind;

	if (op >= OP_ISTORE_0 && op <= OP_ASTORE_3) {
		kind = (op - OP_ISTORE_0) / 4;
		*slot = (op - OP_ISTORE_0) % 4;
		return kind == 1 || kind == 3 ? 2 : 1;
	}
	if (op == OP_WIDE) {
		op = code[pc + 1];
		*slot = u2_at(code + pc + 2);
	} else {
		*slot = (op >= OP_ISTORE && op <= OP_ASTORE) || op == OP_IINC ? code[pc + 1] : 0;
	}
	if (op == OP_IINC)
		return 1;
	if (op < OP_ISTORE || op > OP_ASTORE)
		return 0;
	return op == OP_ISTORE + 1 || op == OP_ISTORE + 3 ? 2 : 1;
}

static void check_store(struct job *j, uint32_t pc)
{
	unsigned int slot = 0, n = stored_slots(j->code, pc, &slot), i;
	const struct needed *needed = j->in->needed;

	if (!n)
		return;
	for (i = 0; i < j->in->nr_needed; i++)
		if (slot < needed[i].slot + type_slots(&needed[i].type) &&
		    needed[i].slot < slot + n)
			j->why = "a parameter to pass on is overwritten";
	if (!slot && j->in->catches && method_is_constructor(j->m))
		j->why = "a constructor overwrites this";
}

static void check_target(struct job *j, uint32_t pc, int64_t target)
{
	if (target < 0 || target >= j->length || !(j->flags[target] & POS_START))
		j->why = damaged;
}

/* Finds the instructions, and what forbids to move them. */
static void code_scan(struct job *j)
{
	uint32_t pc, n;
	unsigned int op;

	for (pc = 0; pc < j->length && !j->why; pc += n) {
		op = j->code[pc];
		n = instruction_length(j->code, j->length, pc);
		j->flags[pc] |= POS_START;
		if (!n)
			j->why = damaged;
		else if (op == OP_JSR || op == OP_JSR_W || op == OP_RET ||
			 (op == OP_WIDE && j->code[pc + 1] == OP_RET))
			j->why = "it has subroutines (jsr)";
		else
			check_store(j, pc);
		if (op == OP_MONITORENTER)
			j->flags[pc + 1] |= POS_AFTER_ENTER;
		j->monitors |= op == OP_MONITORENTER || op == OP_MONITOREXIT;
	}
	for (pc = 0; pc < j->length && !j->why; pc++)
		if (j->flags[pc] & POS_START)
			instruction_targets(j, pc, check_target);
}

/* Layout ------------------------------------------------------------------------------------- */

static const struct jis_bytes *inserted_before(const struct job *j, unsigned int op)
{
	if (op == OP_ARETURN)
		return &j->in->code[FRAGMENT_RETURN_REFERENCE];
	if (is_return(op))
		return &j->in->code[FRAGMENT_RETURN];
	return op == OP_MONITOREXIT ? &j->in->code[FRAGMENT_UNLOCK] : NULL;
}

static void layout(struct job *j)
{
	uint32_t pc, n, pos = (uint32_t)j->in->code[FRAGMENT_ENTRY].size;
	const struct jis_bytes *inserted;
	unsigned int op;

	for (pc = 0; pc < j->length; pc += n) {
		op = j->code[pc];
		n = instruction_length(j->code, j->length, pc);
		inserted = inserted_before(j, op);
		j->before[pc] = pos;
		pos += inserted ? (uint32_t)inserted->size : 0;
		pos += op == OP_MONITORENTER ? j->in->lock_copies : 0;
		j->at[pc] = pos;
		if (op == OP_TABLESWITCH || op == OP_LOOKUPSWITCH)
			pos += switch_padding(pos) - switch_padding(pc);
		pos += n;
		pos += op == OP_MONITORENTER ? (uint32_t)j->in->code[FRAGMENT_LOCKED].size : 0;
	}
	j->before[j->length] = j->at[j->length] = pos;
	j->body_end = pos;
}

/* One stretch of new code for a handler, joined to the last one where they meet. */
static void range_add(struct job *j, uint32_t start, uint32_t end, enum handler handler)
{
	struct jis_bytes *b = &j->rw->ranges;
	const uint8_t *last = b->size ? b->data + b->size - 5 : NULL;

	if (last && last[4] == handler && u2_at(last + 2) == start) {
		jis_bytes_set_u2(b, b->size - 3, end);
		return;
	}
	jis_bytes_u2(b, start);
	jis_bytes_u2(b, end);
	jis_bytes_u1(b, handler);
}

/*
 * What the handlers cover: all but the inserted entry and exit calls, the returns (C2 crashes when
 * it compiles a handler over a return), and the call of super() or this(), which the verifier lets
 * no handler cover.
 */
static void ranges_make(struct job *j)
{
	uint32_t pc, n, pos = j->body_end;
	int used[NR_HANDLERS] = {0};
	enum handler handler;
	unsigned int h;

	for (pc = 0; pc < j->length; pc += n) {
		n = instruction_length(j->code, j->length, pc);
		if (is_return(j->code[pc]) || j->flags[pc] & POS_INIT_CALL)
			continue;
		handler = j->flags[pc] & POS_EARLY  ? HANDLER_EARLY
			  : j->flags[pc] & POS_LOST ? HANDLER_BARE
						    : HANDLER_LATE;
		used[handler] = 1;
		range_add(j, j->before[pc], j->before[pc + n], handler);
	}
	for (h = 0; h < NR_HANDLERS; h++) {
		if (!used[h])
			continue;
		j->handler[h] = pos;
		pos += 1 + (uint32_t)j->in->code[FRAGMENT_OF_HANDLER(h)].size;
	}
	j->new_length = pos;
}

static void check_size(struct job *j)
{
	if (j->new_length > CODE_MAX)
		j->why = "the code would be longer than 65535 bytes";
	else if (j->new_length > JIS_CODE_COMPILED_MAX && j->length <= JIS_CODE_COMPILED_MAX &&
		 !(j->rw->plan->options & JIS_PLAN_HUGE))
		j->why = "the JVM would no longer compile it (more than 8000 bytecodes)";
}

/* Writing ------------------------------------------------------------------------------------ */

static uint32_t distance(const struct job *j, uint32_t pc, int32_t old)
{
	return j->before[(int64_t)pc + old] - j->at[pc];
}

static void emit_branch(struct job *j, uint32_t pc)
{
	int32_t d = (int32_t)distance(j, pc, s2_at(j->code + pc + 1));

	if (d < INT16_MIN || d > INT16_MAX)
		j->why = "a branch would get too long";
	jis_bytes_u1(j->out, j->code[pc]);
	jis_bytes_u2(j->out, (unsigned int)d & 0xffff);
}

static void emit_switch(struct job *j, uint32_t pc, uint32_t n)
{
	uint32_t at = pc + 1 + switch_padding(pc), end = pc + n;
	int table = j->code[pc] == OP_TABLESWITCH;

	jis_bytes_u1(j->out, j->code[pc]);
	jis_bytes_put(j->out, "\0\0\0", switch_padding(j->at[pc]));
	jis_bytes_u4(j->out, distance(j, pc, s4_at(j->code + at)));
	jis_bytes_put(j->out, j->code + at + 4, table ? 8 : 4);
	for (at += table ? 12 : 8; at < end; at += 4) {
		if (!table) {
			jis_bytes_put(j->out, j->code + at, 4);
			at += 4;
		}
		jis_bytes_u4(j->out, distance(j, pc, s4_at(j->code + at)));
	}
}

static void emit_instruction(struct job *j, uint32_t pc, uint32_t n)
{
	unsigned int op = j->code[pc];

	if (is_branch(op)) {
		emit_branch(j, pc);
	} else if (op == OP_GOTO_W) {
		jis_bytes_u1(j->out, op);
		jis_bytes_u4(j->out, distance(j, pc, s4_at(j->code + pc + 1)));
	} else if (op == OP_TABLESWITCH || op == OP_LOOKUPSWITCH) {
		emit_switch(j, pc, n);
	} else {
		jis_bytes_put(j->out, j->code + pc, n);
	}
}

static void put_fragment(struct job *j, enum fragment fragment)
{
	jis_bytes_put(j->out, j->in->code[fragment].data, j->in->code[fragment].size);
}

static void emit(struct job *j)
{
	const struct jis_bytes *inserted;
	size_t base = j->out->size;
	unsigned int op, i;
	uint32_t pc, n;

	put_fragment(j, FRAGMENT_ENTRY);
	for (pc = 0; pc < j->length && !j->why; pc += n) {
		op = j->code[pc];
		n = instruction_length(j->code, j->length, pc);
		inserted = inserted_before(j, op);
		if (inserted)
			jis_bytes_put(j->out, inserted->data, inserted->size);
		for (i = 0; op == OP_MONITORENTER && i < j->in->lock_copies; i++)
			jis_bytes_u1(j->out, OP_DUP);
		emit_instruction(j, pc, n);
		if (op == OP_MONITORENTER)
			put_fragment(j, FRAGMENT_LOCKED);
	}
	for (i = 0; i < NR_HANDLERS; i++) {
		if (!j->handler[i])
			continue;
		put_fragment(j, FRAGMENT_OF_HANDLER(i));
		jis_bytes_u1(j->out, OP_ATHROW);
	}
	if (!j->why && !j->out->failed && j->out->size - base != j->new_length)
		j->why = "its layout came out wrong"; /* a bug here; the method stays whole */
}

static unsigned int new_max_stack(const struct job *j)
{
	unsigned int i, n, max = j->max_stack;

	for (i = 0; i < NR_FRAGMENTS; i++) {
		if (!j->in->code[i].size)
			continue;
		n = j->in->stack[i];
		if (i == FRAGMENT_LOCKED)
			n += j->in->lock_copies;
		if (i >= FRAGMENT_THROW && i <= FRAGMENT_THROW_BARE)
			n += 1;
		else if (i != FRAGMENT_ENTRY)
			n += j->max_stack;
		max = n > max ? n : max;
	}
	return max;
}

/* The whole ---------------------------------------------------------------------------------- */

static int job_begin(struct job *j, const uint8_t *data, size_t size)
{
	struct jis_reader r = {data, size, 0, 0};

	j->max_stack = jis_read_u2(&r);
	j->max_locals = jis_read_u2(&r);
	j->length = jis_read_u4(&r);
	j->code = jis_read_bytes(&r, j->length);
	j->tables = r;
	if (r.bad || !j->length || j->length > CODE_MAX) {
		j->why = damaged;
		return 0;
	}
	j->rw->ranges.size = 0;
	j->before = jis_bytes_zeros(&j->rw->map, 2 * sizeof(uint32_t) * (j->length + 1));
	j->flags = jis_bytes_zeros(&j->rw->flags, j->length + 1);
	if (!j->before || !j->flags) {
		j->why = "no memory"; /* which ends the whole class */
		return 0;
	}
	j->at = j->before + j->length + 1;
	return 1;
}

static void job_plan(struct job *j)
{
	code_scan(j);
	if (!j->why && j->changed && !j->monitors && !inserts_any(j->in, FRAGMENT_LOCKED))
		j->why = WHY_NOTHING;
	if (!j->why)
		frames_scan(j);
	if (!j->why && method_is_constructor(j->m))
		constructor_scan(j);
	if (j->why)
		return;
	layout(j);
	j->new_length = j->body_end;
	if (j->in->catches && j->body_end <= CODE_MAX)
		ranges_make(j);
	check_size(j);
	if (new_max_stack(j) > U2_MAX)
		j->why = "it would need too large an operand stack";
}

const char *code_rewrite(struct rewriter *rw, const struct jis_method *m, const uint8_t *code,
			 size_t size, struct jis_bytes *out)
{
	struct job j = {.rw = rw, .m = m, .in = &rw->inserts, .out = out};
	size_t before = out->size;

	j.changed = inserts_any(j.in, NR_FRAGMENTS);
	if (job_begin(&j, code, size))
		job_plan(&j);
	if (!j.why) {
		jis_bytes_u2(out, new_max_stack(&j));
		jis_bytes_u2(out, j.max_locals);
		jis_bytes_u4(out, j.new_length);
		emit(&j);
		tables_write(&j);
	}
	if (!j.why && (j.tables.bad || j.tables.at != size))
		j.why = damaged;
	if (j.why)
		out->size = before;
	return j.why;
}
