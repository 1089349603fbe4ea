/* SPDX-License-Identifier: MIT */
/*
 * Tasks of executors: an arrow from who submitted a task to who begins it, and on the worker's row
 * the class of its task and of its pool.
 */
#include "prv_int.h"

static const struct prv_row *row_of(const struct paraver *p, uint32_t thread, uint32_t vthread)
{
	uint32_t row = NONE;

	if (vthread != MODEL_NO_THREAD)
		row = p->vrow_of[vthread];
	else if (thread != MODEL_NO_THREAD)
		row = p->row_of[thread];
	return row == NONE ? NULL : &p->rows[row];
}

/* Its size is the number of tasks that waited before it. */
static int handover_line(struct paraver *p, const struct model_task *t, const struct prv_row *to)
{
	const struct prv_row *from = row_of(p, t->submitter, t->submitter_vthread);
	char *line, *at;

	if (!from || t->submit == TIME_NONE || t->submit < p->info->begin)
		return 0;
	line = out_line(p->out, t->submit - p->info->begin);
	if (!line)
		return out_error(p->out);
	memcpy(line, "3:0:", 4);
	at = put_prefix(line + 4, from);
	at = put_u64(at, t->submit - p->info->begin);
	*at++ = ':';
	at = put_u64(at, t->submit - p->info->begin);
	memcpy(at, ":0:", 3);
	at = put_prefix(at + 3, to);
	at = put_u64(at, t->begin - p->info->begin);
	*at++ = ':';
	at = put_u64(at, t->begin - p->info->begin);
	*at++ = ':';
	at = put_u64(at, t->queued);
	*at++ = ':';
	at = put_small(at, PARAVER_TAG_TASK);
	*at++ = '\n';
	out_commit(p->out, at);
	return 0;
}

int prv_task(void *ctx, const struct model_task *t)
{
	struct paraver *p = ctx;
	const struct prv_row *row = row_of(p, t->worker, t->worker_vthread);
	bool begins = t->phase == MODEL_TASK_BEGUN;
	uint64_t time = t->time - p->info->begin;
	int err;

	if (!row || (!begins && t->phase != MODEL_TASK_ENDED))
		return 0;
	p->used_task = true;
	err = event_line(p, row, 0, time, PARAVER_TYPE_TASK, begins ? t->class_name : t->outer);
	if (!err)
		err = event_line(p, row, 0, time, PARAVER_TYPE_POOL,
				 begins ? t->pool_class : t->outer_pool);
	return err || !begins ? err : handover_line(p, t, row);
}
