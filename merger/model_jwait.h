/* SPDX-License-Identifier: MIT */
/*
 * What records of Java threads say of waits, one shape for all kinds, and what becomes of it. The
 * rules are those of model_jwait.c. Inside of merger/ only.
 */
#ifndef JIS_MERGER_MODEL_JWAIT_H
#define JIS_MERGER_MODEL_JWAIT_H

#include "model_int.h"

struct wait_record {
	uint8_t kind; /* enum jwait_kind */
	uint64_t java_tid, owner_java_tid;
	uint32_t class_name, hash, owner_tid; /* class_name: string id */
	int64_t timeout;
	bool timed_out;
	int32_t fd;	 /* JWAIT_DESCRIPTOR: which */
	uint32_t events; /* ... POLLIN, ... */
};

/* The record that @c stands on, of those from monitor_contended_enter to descriptor_end. */
void wait_record_read(const struct stream_cursor *c, struct wait_record *out, bool *begins);

/* A wait of @j, that runs on @life, begins, or ends, as @r says. */
void jwait_begins(struct model *m, struct jthread *j, uint32_t life, const struct wait_record *r,
		  uint64_t t);
void jwait_ends(struct model *m, struct jthread *j, const struct wait_record *r, uint64_t t);
/* How they end is not known: all waits of @j are told as incomplete, to @t. */
void jwaits_drop(struct model *m, struct jthread *j, uint64_t t);
/* Java thread @java_tid has been told of, on @life: who waits for it since before that waits for
 * what is on @life. */
void jwait_owner_is_on(struct model *m, uint32_t process, uint64_t java_tid, uint32_t life);

/* The wait @life is in since before @begin, as its Java threads say; NULL: none. @who: out. */
struct jwait *jwait_of(struct model *m, uint32_t life, uint64_t begin, struct jthread **who);
/* Is each wait of @kind of @j recorded, and would an open one be known? */
bool jwait_told(const struct model *m, const struct jthread *j, enum jwait_kind kind);
/* Puts what is known of @w into @r. The wait whose reason it is: @w, or the join around it. */
struct jwait *jwait_reason(const struct model *m, struct jwait *w, const struct jthread *j,
			   struct model_reason *r);

/* A worker of pool @class_name (model_name()) has no task from @t on, or has one again. */
void jwait_pool_begins(struct model *m, struct jthread *j, uint32_t life, uint32_t class_name,
		       uint32_t hash, uint64_t t);
void jwait_pool_ends(struct model *m, struct jthread *j, uint64_t t);

#endif /* JIS_MERGER_MODEL_JWAIT_H */
