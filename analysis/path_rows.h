/* SPDX-License-Identifier: MIT */
/*
 * Paths summed up: a row for each thing the threads asked for did or waited for, and below it a row
 * for each thing its time went to in the end. Both kinds sum up to the whole time, exactly.
 */
#ifndef JIS_ANALYSIS_PATH_ROWS_H
#define JIS_ANALYSIS_PATH_ROWS_H

#include <stddef.h>

#include "path.h"

#define PATH_ROWS_MAX 65536u
#define PATH_NO_ROW UINT32_MAX

struct path_key {
	uint32_t parent;      /* row, or PATH_NO_ROW */
	uint32_t why;	      /* lanes_why(), UINT32_MAX: none */
	uint32_t who;	      /* path_rows_name(): whose time it is; 0: of those asked for */
	uint32_t by;	      /* the same: who ended it or had the CPU; 0: nobody */
	struct hop_call call; /* of a wait: the remote call it is in */
	uint8_t state, ended, flags, others; /* flags: SEGMENT_THROTTLED, _TO_MOUNT; others: of any
						kind, after PATH_ROWS_MAX rows */
};

struct path_row {
	struct path_key key;
	uint64_t time, count, longest;
};

struct path_rows;

/**
 * path_rows_new - an empty table.
 * @groups: threads are told apart only by their names without numbers.
 * Returns NULL without memory. Free with path_rows_free().
 */
struct path_rows *path_rows_new(const struct model *m, const struct lanes *l, bool groups);

/* A path_fn; ctx: the struct path_rows. Each step that is a leaf counts twice: in its row, and in
 * that of the step of depth 0 above it. Returns 0 or -ENOMEM. */
int path_rows_step(void *ctx, const struct path_step *step);

/**
 * path_rows_sorted - the rows: each one of depth 0 followed by those below it; longest first.
 * Returns an array of *@nr pointers, which the caller frees, or NULL without memory.
 */
const struct path_row **path_rows_sorted(const struct path_rows *r, uint32_t *nr);
const char *path_rows_name(const struct path_rows *r, uint32_t name);
/* Time of all leaves. */
uint64_t path_rows_sum(const struct path_rows *r);
void path_rows_free(struct path_rows *r);

/* "exec-3 [77]", or "exec-#" with @group; "" for nobody. Returns @text. */
const char *path_who_text(const struct model *m, const struct model_info *info, struct path_who who,
			  bool group, char *text, size_t size);
/* The same, with " of java (76)" for one that is not of process @home. */
const char *path_who_away_text(const struct model *m, const struct model_info *info,
			       struct path_who who, uint32_t home, bool group, char *text,
			       size_t size);
/* Process of @who, who is somebody. */
uint32_t path_who_process(const struct model_info *info, struct path_who who);
/* The same for a thread that was not recorded. */
const char *path_foreign_text(const struct model_info *info, uint32_t foreign, uint32_t tid,
			      bool group, char *text, size_t size);

#endif /* JIS_ANALYSIS_PATH_ROWS_H */
