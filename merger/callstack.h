/* SPDX-License-Identifier: MIT */
/* The stack of a Java thread's calls: between the two files that keep it, and no one else. */
#ifndef JIS_MERGER_CALLSTACK_H
#define JIS_MERGER_CALLSTACK_H

#include "model_int.h"

#define MAX_CALL_DEPTH (1u << 20)

/* ns by reason; a spare one's first word links to the next. */
struct vector {
	union {
		uint64_t ns[MODEL_NR_REASONS];
		struct vector *next;
	};
};

struct values {
	uint32_t id; /* of the method they are for */
	uint32_t nr;
	struct model_value of[MODEL_MAX_VALUES];
	struct values *next; /* of spare ones */
};

struct callframe {
	uint64_t number, begin;
	uint32_t id; /* as recorded; 0: a gap, whose number and context are of what is below */
	uint32_t method, context, flags;
	struct values *values; /* NULL: none */
	struct vector *own_by, *kids_by;
	/* From here on the books' numbers: not even set where calls are told of bare. */
	uint64_t own[MODEL_NR_CALL_TIMES], kids[MODEL_NR_CALL_TIMES];
	uint64_t lost, calls;
};

struct callstack {
	/* The first is what was entered before the first record, or in a loss in no call: a gap. */
	struct callframe *frames;
	uint32_t depth, room;
	uint64_t excess;       /* open calls that have no frame: they are too deep */
	uint64_t cursor;       /* charged until then */
	uint64_t denied;       /* begin of the state that a record has contradicted, TIME_NONE */
	bool lost_outside;     /* records, when it was in no call */
	struct values *values; /* of the call that is entered next; NULL: none */
};

struct methods {
	bool bare;     /* no sink wants the books, contexts or values */
	bool contexts; /* are kept: gaps need them even then */
	struct vector *spare;
	struct values *spare_values;
	uint32_t texts;	    /* of values, that no other had before */
	uint64_t calls;	    /* numbers given */
	uint64_t deep;	    /* calls that were too deep for a frame */
	uint32_t depth_max; /* frames of a stack; the last is for a gap */
};

/* Who is on a kernel thread: a virtual thread, or (NULL) the thread itself. */
struct caller {
	uint32_t life; /* NONE: a virtual one on no carrier */
	struct jthread *j;
	struct callstack *s;
};

static inline struct model_who caller_who(const struct caller *c)
{
	return c->j ? who_writes(c->j) : (struct model_who){c->life, NONE};
}

/* model_values.c: the record of a value of the call that @s enters next. */
void value_add(struct model *m, struct callstack *s, uint32_t process,
	       const struct jis_ev_method_value *ev);
/* What method @id has of the values before it; the others are forgotten. */
struct values *values_take(struct model *m, struct callstack *s, uint32_t id);
void values_free(struct model *m, struct values *v);

static inline struct callframe *callstack_top(const struct callstack *s)
{
	return &s->frames[s->depth - 1];
}

/* A stack on which nothing has been charged before @t. NULL without memory. */
struct callstack *callstack_new(struct model *m, uint64_t t);
/* Is there no room for one more call, and a gap above it? */
static inline bool callstack_full(const struct methods *m, const struct callstack *s)
{
	return s->depth >= m->depth_max - 1;
}

/* Room for one more frame, zeroed; NULL without memory. */
struct callframe *frame_push(struct model *m, struct callstack *s);
/* The thread was @part, for @reason, since it was last charged until @t. */
void charge(struct model *m, struct callstack *s, enum model_call_time part,
	    enum model_reason_kind reason, uint64_t t);
/* The innermost call begins, or ends, at @t. */
void frame_begun(struct model *m, const struct caller *c, uint64_t t);
void frame_pop(struct model *m, const struct caller *c, uint64_t t);
/* All but the first gap. */
void frames_clear(struct model *m, struct callstack *s);
/*
 * All calls above frame @down_to have ended, by @t at the latest; @flags: also of them. One below a
 * gap ended in it, at its begin at the earliest, and what came after is only known to be of frame
 * @down_to. @error: it is one, where nothing was lost.
 */
void frames_drop(struct model *m, const struct caller *c, uint32_t down_to, uint32_t flags,
		 bool error, uint64_t t);
/* Records are missing from here on. @born: the thread's begin was told, so that all it had entered
 * was. */
void gap_push(struct model *m, struct callstack *s, bool born);
/* An exit of a call whose entry was not seen: it began in the gap on top, which goes on. */
void gap_exit(struct model *m, const struct caller *c, uint32_t id, uint32_t flags, uint64_t t);
/*
 * A call right after a gap: when it is known to be made by one further out and not by the one below
 * the gap, that one has ended in the gap.
 */
void gap_heal(struct model *m, const struct caller *c, uint32_t method);

#endif /* JIS_MERGER_CALLSTACK_H */
