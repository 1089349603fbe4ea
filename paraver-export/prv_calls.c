/* SPDX-License-Identifier: MIT */
/*
 * Calls of methods as events: the method's number where one begins, 0 where it ends, as Extrae
 * writes them; Paraver's "Stacked Val" makes the nest of it. Of calls whose begin is not told
 * nothing is written.
 */
#include "prv_int.h"

static const struct prv_row *call_row(struct paraver *p, const struct model_call *call)
{
	uint32_t row = NONE;

	if (call->vthread != MODEL_NO_THREAD)
		row = p->vrow_of[call->vthread];
	else if (call->thread != MODEL_NO_THREAD && !(call->flags & MODEL_CALL_VIRTUAL))
		row = p->row_of[call->thread];
	if (row == NONE) {
		p->stats.no_row++;
		return NULL;
	}
	return &p->rows[row];
}

/* A CPU is named in rows of threads alone, and not for what was found out later. */
static uint32_t cpu_of(const struct model_call *call)
{
	if (call->cpu == MODEL_NO_CPU || call->vthread != MODEL_NO_THREAD ||
	    call->flags & MODEL_CALL_REPAIRED)
		return 0;
	return call->cpu + 1;
}

int prv_call_begin(void *ctx, const struct model_call *call)
{
	struct paraver *p = ctx;
	const struct prv_row *row = call_row(p, call);

	if (!row)
		return 0;
	p->used_method = true;
	return event_line(p, row, cpu_of(call), call->begin - p->info->begin, PARAVER_TYPE_METHOD,
			  call->method ? call->method : PARAVER_METHOD_UNKNOWN);
}

int prv_call_end(void *ctx, const struct model_call *call)
{
	struct paraver *p = ctx;
	const struct prv_row *row;

	if (call->flags & (MODEL_CALL_UNSEEN | MODEL_CALL_CUT | MODEL_CALL_OPEN))
		return 0;
	row = call_row(p, call);
	if (!row)
		return 0;
	return event_line(p, row, cpu_of(call), call->end - p->info->begin, PARAVER_TYPE_METHOD, 0);
}

void calls_types(const struct paraver *p, FILE *f)
{
	char text[1024];

	if (!p->used_method)
		return;
	fprintf(f, "\nEVENT_TYPE\n0 %d Method\nVALUES\n0 End\n", PARAVER_TYPE_METHOD);
	for (uint32_t i = 1; i <= model_nr_methods(p->model); i++) {
		model_method_text(p->model, i, text, sizeof(text));
		fprintf(f, "%u ", i);
		label_write(f, text);
		fputc('\n', f);
	}
	fprintf(f, "%d (not known)\n", PARAVER_METHOD_UNKNOWN);
}
