/* SPDX-License-Identifier: MIT */
/*
 * `jis dump --calls`: each call of a traced method with where its time went, in order of their
 * ends.
 */
#include "dump_calls.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli.h"
#include "values.h"

static void print_time(uint64_t ns)
{
	printf("%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
}

static void print_thread(const struct model *m, const struct model_call *call)
{
	const struct model_info *info = model_info(m);
	const char *name = "";

	if (call->vthread != MODEL_NO_THREAD)
		name = model_name(m, info->vthreads[call->vthread].name);
	else if (call->flags & MODEL_CALL_VIRTUAL)
		name = "virtual";
	else if (call->thread != MODEL_NO_THREAD)
		name = info->threads[call->thread].entry->name;
	putchar('"');
	cli_print_escaped(stdout, name);
	printf("\" [%u]",
	       call->thread == MODEL_NO_THREAD ? 0 : info->threads[call->thread].entry->tid);
}

static void print_parts(const struct model_call *call)
{
	static const char *const names[] = {"cpu", "ready", "blocked", "carrying", "unknown"};

	for (int i = 0; i < MODEL_NR_CALL_TIMES; i++)
		printf(", %s = %" PRIu64 ", own_%s = %" PRIu64, names[i], call->time[i], names[i],
		       call->own[i]);
	printf(", lost = %" PRIu64 ", calls = %" PRIu64 " }", call->lost, call->calls);
	for (uint32_t i = 0; call->by_reason && i < MODEL_NR_REASONS; i++)
		if (call->by_reason[i])
			printf(" [%s %" PRIu64 "]", model_reason_name((enum model_reason_kind)i),
			       call->by_reason[i]);
}

static int on_call_end(void *ctx, const struct model_call *call)
{
	static const struct {
		enum model_call_flag flag;
		const char *name;
	} marks[] = {
		{MODEL_CALL_UNSEEN, "entry-not-seen"},
		{MODEL_CALL_OPEN, "goes-on"},
		{MODEL_CALL_CUT, "cut"},
		{MODEL_CALL_UNWOUND, "unwound"},
		{MODEL_CALL_REPAIRED, "repaired"},
		{MODEL_CALL_GAP, "gap"},
		{MODEL_CALL_DOUBTFUL, "doubtful"},
		{MODEL_CALL_STARTED, "started"},
		{MODEL_CALL_VIRTUAL, "virtual"},
	};
	const struct model *m = ctx;
	char text[1024], values[VALUES_ROOM];

	print_time(call->begin);
	putchar(' ');
	print_time(call->end);
	putchar(' ');
	print_thread(m, call);
	model_method_text(m, call->method, text, sizeof(text));
	printf(" #%" PRIu64 " in #%" PRIu64 " depth %u ", call->number, call->caller, call->depth);
	cli_print_escaped(stdout, text);
	printf(" { wall = %" PRIu64, call->end - call->begin);
	print_parts(call);
	if (call->nr_values) {
		values_text(m, call->values, call->nr_values, values, sizeof(values));
		printf(" (%s)", values);
	}
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (call->flags & marks[i].flag)
			printf(" %s", marks[i].name);
	putchar('\n');
	return ferror(stdout) ? -EIO : 0;
}

int dump_calls(const char *path, const struct model_options *options)
{
	struct model *model;
	struct model_sink sink = {.call_end = on_call_end};
	const struct model_sink *const sinks[] = {&sink};
	int status = CLI_FAILED, err = model_open(path, options, &model);

	if (err)
		return cli_trace_error(path, err);
	sink.ctx = model;
	err = model_run(model, sinks, 1);
	if (err) {
		cli_error("%s: %s", path, strerror(-err));
	} else {
		cli_warn_deep(model);
		status = cli_warn_losses(model_info(model)->manifest);
	}
	model_close(model);
	return status;
}
