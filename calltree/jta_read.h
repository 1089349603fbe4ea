/* SPDX-License-Identifier: MIT */
/*
 * Reads the call tree in X.jta, whatever its size: nothing is read but what is asked for. What
 * records say is not trusted: a file that is damaged ends what is asked with an error, or early,
 * never in an endless loop. Names are X.mth's: struct jta_names.
 */
#ifndef JIS_CALLTREE_JTA_READ_H
#define JIS_CALLTREE_JTA_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jis/jta.h"

struct jta;

/**
 * jta_open - opens the tree in file @path. Close with jta_close().
 * Returns 0; -errno of open(2), or -EBADMSG: it is none, -EPROTONOSUPPORT: of a later version,
 * -ENODATA: it is cut off, or whoever wrote it has not ended.
 */
int jta_open(const char *path, struct jta **out);
void jta_close(struct jta *t);

const struct jta_header *jta_header(const struct jta *t);
/* Record @number, valid until jta_close(); NULL: there is none such. */
const struct jta_record *jta_get(const struct jta *t, uint64_t number);
/* Number of JVM @jvm's record, 0: there is none such. */
uint64_t jta_jvm(const struct jta *t, uint32_t jvm);
/* Number of what @number is in; 0 for the root, or where the file is damaged. */
uint64_t jta_parent(const struct jta *t, uint64_t number);

/**
 * jta_path - numbers of the records from @number to the root, both included, innermost first.
 * Returns how many there are, of which up to @room are stored; -EBADMSG when the file is damaged.
 */
int64_t jta_path(const struct jta *t, uint64_t number, uint64_t *path, size_t room);

/* Children of a record, in the order in which they ended, or in which they began. */
struct jta_children {
	const struct jta *tree;
	uint64_t next, left;
	uint64_t *sorted; /* by begin; NULL: by end */
	uint64_t at, nr;
};

/**
 * jta_children_begin - @c goes over the children of @number; end with jta_children_end().
 * @by_begin: needs memory for all their numbers, the other order none.
 * Returns 0, -ENOMEM, -EINVAL: no such record.
 */
int jta_children_begin(const struct jta *t, uint64_t number, bool by_begin, struct jta_children *c);
/* The next one's number, 0: no more. */
uint64_t jta_children_next(struct jta_children *c);
void jta_children_end(struct jta_children *c);

/* What a search is for: all that is given must be so. */
struct jta_query {
	/* Those methods; NULL: any. Returns whether @method is meant. */
	bool (*method)(void *ctx, uint32_t method);
	void *ctx;
	uint32_t kinds;	       /* 1 << enum jta_kind, of several; 0: any */
	uint32_t thread, jvm;  /* UINT32_MAX: any */
	uint64_t from, to;     /* under way in [from, to); to 0: to the end */
	uint64_t longer_than;  /* ns */
	uint64_t shorter_than; /* 0: any */
};

enum jta_order { JTA_DEPTH_FIRST, JTA_BREADTH_FIRST };

/**
 * jta_search - tells @found of each record below @from (itself included) that @query means.
 * @from: a number; 0: the root. Depth first each is told before what is in it; breadth first level
 * by level, and within a level as depth first.
 * @found: returns 0 to go on; else the search ends and returns that.
 * Returns 0, -EINVAL, -EBADMSG when the file is damaged, -ENOMEM. Memory: depth first none, breadth
 * first 8 bytes a record of a level.
 */
int jta_search(const struct jta *t, uint64_t from, enum jta_order order,
	       const struct jta_query *query,
	       int (*found)(void *ctx, uint64_t number, const struct jta_record *r, uint32_t depth),
	       void *ctx);

/* Does @r fit @query? */
bool jta_fits(const struct jta_record *r, const struct jta_query *query);

#endif /* JIS_CALLTREE_JTA_READ_H */
