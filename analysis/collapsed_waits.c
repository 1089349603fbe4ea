/* SPDX-License-Identifier: MIT */
/*
 * Sums of time off the CPU by thread, stack and reason. A Java wait is counted when it ends, by
 * what of it was spent off the CPU: its stack is known only then. The blocked states that it
 * explains are left out, so no time is counted twice.
 */
#include <errno.h>
#include <stdlib.h>

#include "collapsed_int.h"

#define MAX_FRAMES 1024

static uint32_t process_of(const struct collapsed *c, uint32_t thread)
{
	return model_info(c->model)->threads[thread].process;
}

static int on_state(void *ctx, const struct model_state *s)
{
	struct collapsed *c = ctx;
	const struct model_reason *r = s->reason;

	/* from_java: it is in its wait. */
	if (r->kind < MODEL_WAIT_UNKNOWN || r->from_java)
		return 0;
	return collapsed_add(c,
			     (struct line_key){.thread = s->thread,
					       .vthread = MODEL_NO_THREAD,
					       .process = process_of(c, s->thread),
					       .kind = r->kind,
					       .name = r->name},
			     s->end - s->begin);
}

/* What a virtual thread does on its carrier is in the carrier's states. */
static int on_vstate(void *ctx, const struct model_vstate *s)
{
	struct collapsed *c = ctx;
	const struct model_reason *r = s->reason;

	if (s->carrier != MODEL_NO_THREAD || !r || r->kind < MODEL_WAIT_UNKNOWN || r->from_java)
		return 0;
	return collapsed_add(
		c,
		(struct line_key){.thread = MODEL_NO_THREAD,
				  .vthread = s->vthread,
				  .process = model_info(c->model)->vthreads[s->vthread].process,
				  .kind = r->kind,
				  .name = r->name},
		s->end - s->begin);
}

static int on_java_wait(void *ctx, const struct model_java_wait *w)
{
	return collapsed_add(ctx,
			     (struct line_key){.thread = w->vthread == MODEL_NO_THREAD
								 ? w->thread
								 : MODEL_NO_THREAD,
					       .vthread = w->vthread,
					       .process = w->process,
					       .path = w->stack,
					       .kind = w->reason->kind,
					       .name = w->reason->class_name ? w->reason->class_name
									     : w->reason->name},
			     w->blocked);
}

static int put_stack(const struct collapsed *c, const struct line_key *key, FILE *out)
{
	struct model_frame *frames = calloc(MAX_FRAMES, sizeof(*frames));
	uint32_t n;

	if (!frames)
		return -ENOMEM;
	n = model_stack(c->model, key->process, key->path, frames, MAX_FRAMES);
	while (n--) {
		fputc(';', out);
		collapsed_put_text(out, *frames[n].class_name ? frames[n].class_name : "?");
		fputc('.', out);
		collapsed_put_text(out, *frames[n].method ? frames[n].method : "?");
	}
	free(frames);
	return 0;
}

void collapsed_waits_init(struct collapsed *c)
{
	c->put_path = put_stack;
	c->sink = (struct model_sink){.state = on_state,
				      .vstate = on_vstate,
				      .java_wait = on_java_wait,
				      .ctx = c,
				      .wants_reasons = true};
}
