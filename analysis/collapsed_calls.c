/* SPDX-License-Identifier: MIT */
/* Sums of calls' own time by thread, context and, off the CPU, reason. */
#include <errno.h>
#include <stdlib.h>

#include "collapsed_int.h"

static int call_add(struct collapsed *c, const struct model_call *call, uint32_t reason,
		    uint64_t time)
{
	bool is_virtual = call->flags & MODEL_CALL_VIRTUAL;

	return collapsed_add(c,
			     (struct line_key){.thread =
						       is_virtual ? MODEL_NO_THREAD : call->thread,
					       .vthread = call->vthread,
					       .process = call->process,
					       .path = call->context,
					       .kind = reason},
			     time);
}

static int on_call_end(void *ctx, const struct model_call *call)
{
	struct collapsed *c = ctx;
	uint64_t wall = 0;
	int err = 0;

	if (c->options.of == COLLAPSED_CALLS_CPU)
		return call_add(c, call, 0, call->own[MODEL_CALL_CPU]);
	if (c->options.of == COLLAPSED_CALLS_OFF_CPU) {
		for (uint32_t i = 0; call->own_by_reason && !err && i < MODEL_NR_REASONS; i++)
			err = call_add(c, call, i, call->own_by_reason[i]);
		return err;
	}
	for (int i = 0; i < MODEL_NR_CALL_TIMES; i++)
		wall += call->own[i];
	return call_add(c, call, 0, wall);
}

/* How many contexts @context is in, itself included; those of the thread alone, or all. */
static uint32_t path_length(const struct collapsed *c, uint32_t context)
{
	uint32_t n = 0;

	while (context) {
		const struct model_context *e = model_context(c->model, context);

		n++;
		context = e->started && !c->options.together ? 0 : e->parent;
	}
	return n;
}

static int put_path(const struct collapsed *c, const struct line_key *key, FILE *out)
{
	uint32_t context = key->path, n, *path;
	char text[1024];

	if (context == MODEL_NO_CONTEXT) {
		fputs(";(further contexts)", out);
		return 0;
	}
	n = path_length(c, context);
	path = calloc(n + 1ull, sizeof(*path));
	if (!path)
		return -ENOMEM;
	for (uint32_t i = n; i--; context = model_context(c->model, context)->parent)
		path[i] = model_context(c->model, context)->method;
	for (uint32_t i = 0; i < n; i++) {
		model_method_text(c->model, path[i], text, sizeof(text));
		fputc(';', out);
		collapsed_put_text(out, text);
	}
	free(path);
	return 0;
}

void collapsed_calls_init(struct collapsed *c)
{
	c->put_path = put_path;
	c->sink = (struct model_sink){.call_end = on_call_end, .ctx = c};
}
