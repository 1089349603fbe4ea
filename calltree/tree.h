/* SPDX-License-Identifier: MIT */
/*
 * Builds the call tree of a recording: a sink of the model that writes PREFIX.jta (jis/jta.h) as
 * calls end, and at last PREFIX.mth (names) and PREFIX.stt (statistics). docs/call-trees.md says
 * what a tree holds. Memory grows with calls under way, threads, methods, and calls in which
 * threads were started, not with calls.
 */
#ifndef JIS_CALLTREE_TREE_H
#define JIS_CALLTREE_TREE_H

#include "merger/model.h"

struct calltree;

struct calltree_counts {
	uint64_t methods, remote, served; /* records */
	uint64_t linked;		  /* remote calls whose server is below them */
	uint64_t internal;		  /* of @remote */
	uint64_t late;			  /* calls whose begin was not recorded */
};

/**
 * calltree_new - starts PREFIX.jta, which is replaced.
 * @m: the model the sink will be given to: where names come from.
 * @profiles: also PREFIX.JVM.prf, .clp, .svp and .mrg for each JVM.
 * Returns NULL and -errno in @err. Delete with calltree_delete().
 */
struct calltree *calltree_new(const struct model *m, const char *prefix, bool profiles, int *err);
/* It writes all three files by its end. Its errors are those of writing, and -ENOMEM. */
const struct model_sink *calltree_sink(struct calltree *t);
const struct calltree_counts *calltree_counts(const struct calltree *t);
/* Also ends a file that is not whole: it has no header then, and jta_open() refuses it. */
void calltree_delete(struct calltree *t);

#endif /* JIS_CALLTREE_TREE_H */
