/* SPDX-License-Identifier: MIT */
/*
 * The traced methods of a trace, from its dictionaries: chosen ones, and those that were left as
 * they are with the reason; how they were recorded, and what was switched on and off meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "jis/events.h"
#include "method_names.h"
#include "methods_list.h"
#include "probe_ways.h"
#include "trace/read.h"

typedef void (*each_fn)(FILE *out, const struct method_names *n, const struct stream_cursor *c);

static void print_name(FILE *out, const struct method_names *n, uint32_t trace, uint32_t method)
{
	const char *name = method_names_def(n, trace, method);
	const char *descriptor = method_names_descriptor(n, trace, method);

	cli_print_escaped(out, name ? name : "?");
	cli_print_escaped(out, descriptor ? descriptor : "");
}

static void print_traced(FILE *out, const struct method_names *n, const struct stream_cursor *c)
{
	const struct jis_ev_traced_method *m = (const void *)c->payload;

	print_name(out, n, c->trace, m->method);
	fprintf(out, "  number %u, %u bytes", m->id, m->code_bytes);
	if (m->first_line >= 0)
		fprintf(out, ", lines %d-%d", m->first_line, m->last_line);
	if (m->flags & JIS_METHOD_LIBRARY)
		fputs(", top level", out);
	if (m->flags & JIS_METHOD_MARK)
		fputs(", mark", out);
	if (m->flags & JIS_METHOD_INTRINSIC)
		fputs(", interpreter only", out);
	putc('\n', out);
}

static void print_refused(FILE *out, const struct method_names *n, const struct stream_cursor *c)
{
	const struct jis_ev_method_refused *m = (const void *)c->payload;
	const char *why = method_names_string(n, c->trace, m->why);

	print_name(out, n, c->trace, m->method);
	fputs("  not traced: ", out);
	cli_print_escaped(out, why ? why : "?");
	putc('\n', out);
}

static void print_probe(FILE *out, const struct stream_cursor *c)
{
	const struct jis_ev_method_probe *m = (const void *)c->payload;

	fprintf(out, "# recorded by %s, %" PRIu64 ".%" PRIu64 " ns a call\n",
		probe_way_text(m->way), (uint64_t)m->pair / 1000, (uint64_t)m->pair % 1000 / 100);
}

static void print_changed(FILE *out, const struct stream_cursor *c)
{
	static const char *const asked[] = {
		[JIS_METHODS_START] = "the start",
		[JIS_METHODS_USER] = "jis methods",
		[JIS_METHODS_GUARD] = "the guard",
	};
	const struct jis_ev_methods_changed *m = (const void *)c->payload;
	const char *who = m->asked < sizeof(asked) / sizeof(asked[0]) ? asked[m->asked] : NULL;

	fprintf(out, "# by %s: %u on, %u off, in %u loaded classes, within %" PRIu64 " us\n",
		who ? who : "others", m->enabled, m->disabled, m->classes,
		(uint64_t)m->pause / 1000);
}

static void each_printed(FILE *out, const struct method_names *n, const struct stream_cursor *c)
{
	if (c->stream_class == JIS_STREAM_DICT && c->id == JIS_EV_traced_method)
		print_traced(out, n, c);
	else if (c->stream_class == JIS_STREAM_DICT && c->id == JIS_EV_method_refused)
		print_refused(out, n, c);
	else if (c->stream_class == JIS_STREAM_USER && c->id == JIS_EV_method_probe)
		print_probe(out, c);
	else if (c->stream_class == JIS_STREAM_DICT && c->id == JIS_EV_methods_changed)
		print_changed(out, c);
}

/* As a rule for the next recording. */
static void each_off(FILE *out, const struct method_names *n, const struct stream_cursor *c)
{
	const struct jis_ev_method_off *m = (const void *)c->payload;
	const char *name, *descriptor;
	uint32_t method;

	if (c->stream_class != JIS_STREAM_DICT || c->id != JIS_EV_method_off ||
	    m->asked != JIS_METHODS_GUARD)
		return;
	method = method_names_method(n, c->trace, m->method);
	if (!method)
		return;
	name = method_names_def(n, c->trace, method);
	if (!name)
		return;
	descriptor = method_names_descriptor(n, c->trace, method);
	methods_rule_not(out, name, descriptor ? descriptor : "");
	fprintf(out, " # %" PRIu64 " calls in %" PRIu64 " ms\n", (uint64_t)m->calls,
		(uint64_t)m->window / 1000000);
}

/* Dictionaries first, so that the names are there. */
static int events_each(struct trace *t, struct method_names *names, FILE *out, each_fn each)
{
	static const uint32_t classes[] = {JIS_STREAM_DICT, JIS_STREAM_USER};
	struct stream_cursor *c;
	uint32_t i, k;

	for (k = 0; k < 2; k++)
		for (i = 0; i < t->nr_streams; i++) {
			c = &t->streams[i];
			while (c->stream_class == classes[k] && stream_cursor_next(c)) {
				if (!method_names_add(names, c))
					return -ENOMEM;
				each(out, names, c);
			}
		}
	return 0;
}

static int trace_each(const char *directory, FILE *out, each_fn each)
{
	struct method_names *names;
	struct trace *t;
	int status = CLI_FAILED, err = trace_open(directory, NULL, &t);

	if (err)
		return cli_trace_error(directory, err);
	names = method_names_new(1 + t->manifest->nr_processes);
	err = names ? events_each(t, names, out, each) : -ENOMEM;
	if (err)
		cli_error("%s: %s", directory, strerror(-err));
	else
		status = cli_tell_unread(t->manifest);
	method_names_free(names);
	trace_close(t);
	return status;
}

int methods_print(const char *directory)
{
	return trace_each(directory, stdout, each_printed);
}

void methods_save(const char *directory)
{
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size), *f = NULL;
	int dir = -1, fd = -1;

	if (!memory)
		return;
	trace_each(directory, memory, each_off);
	fclose(memory);
	if (size)
		dir = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir >= 0)
		fd = openat(dir, "methods.off", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	if (fd >= 0)
		f = fdopen(fd, "w");
	if (f) {
		fputs(text, f);
		if (fclose(f) == 0)
			cli_note("--methods ...,@%s/methods.off begins without the methods that "
				 "were switched off",
				 directory);
	} else if (fd >= 0) {
		close(fd);
	}
	if (dir >= 0)
		close(dir);
	free(text);
}
