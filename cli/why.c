/* SPDX-License-Identifier: MIT */
/*
 * `jis why`: what an interval really waited for. Reads the trace twice: for the spans, and for what
 * all threads did during those that are looked at.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "trace/grow.h"
#include "why.h"

#define MAX_STEPS (1u << 20)
/* How long after the intervals a wake-up is looked for that ends a last wait, and what the other
 * end says of a remote call that is over. */
#define BEYOND_NS 1000000000ull

static const char usage[] = "jis why [OPTION]... DIR";
static const char help[] =
	"usage: jis why [OPTION]... DIR\n\n"
	"What a span, or an interval of a thread, really waited for: back from wake-up to "
	"wake-up,\n"
	"over all threads. A sentence, a table by reason, and the path itself. Without --span and\n"
	"--thread: the slowest spans there are.\n\n"
	"      --span NAME       all spans of this name, or markers as TYPE or TYPE=VALUE: a "
	"table\n"
	"                        of all, the slowest and the median one in detail\n"
	"      --thread TEXT     the thread whose name contains TEXT, or whose tid it is, from\n"
	"                        --from to --to; with --span: only its spans\n"
	"      --from TIME       begin here (offset from the recording's start: 1.5s, 200ms, "
	"10us)\n"
	"      --to TIME         end here\n"
	"      --process TEXT    only processes whose name contains TEXT, or whose pid it is\n"
	"      --top N           so many of the slowest in detail (default 1)\n"
	"      --depth N         follow at most N waits deep (default 16, at most 64)\n"
	"      --limit N         at most N rows of a table, N / 4 below each, and N lines of a "
	"path\n"
	"                        (default 40, 0: all)\n"
	"      --json            as JSON\n"
	"      --max-virtual N   rows for at most N virtual threads, the first born (default "
	"16384)\n"
	"  -q, --quiet           no progress and no notes\n"
	"  -h, --help            this text\n";

struct asked {
	const char *path, *span, *thread;
	struct model_options model; /* window and process */
	uint32_t top, depth, limit;
	bool json;
};

/* What is to be freed in the end. */
struct work {
	struct asked asked;
	struct why why;
	struct spans_run *spans;
	struct lanes *lanes;
	struct model *model;
};

static int run_model(struct work *w, const struct model_options *options,
		     const struct model_sink *(*sink)(struct work *w))
{
	const struct model_sink *sinks[1];
	int err;

	model_close(w->model);
	w->model = NULL;
	err = model_open(w->asked.path, options, &w->model);
	if (err)
		return cli_trace_error(w->asked.path, err);
	sinks[0] = sink(w);
	err = model_run(w->model, sinks, 1);
	cli_progress_done();
	if (err)
		cli_error("%s: %s", w->asked.path, strerror(-err));
	return err ? CLI_FAILED : CLI_OK;
}

static int no_memory(void)
{
	cli_error("%s", strerror(ENOMEM));
	return CLI_FAILED;
}

/* The thread asked for ----------------------------------------------------------------------- */

static bool is_asked(const struct asked *a, const char *name, uint64_t tid, uint64_t java_tid)
{
	char *end;
	unsigned long long number = strtoull(a->thread, &end, 10);

	if (*a->thread && !*end && (number == tid || (!tid && number == java_tid)))
		return true;
	return name && strstr(name, a->thread);
}

static bool process_asked(const struct asked *a, const struct process_entry *p)
{
	return process_entry_wanted(p, a->model.process);
}

struct found {
	struct path_who who[10];
	uint32_t nr;
	bool exact; /* the first is called just so */
};

static void found_add(struct found *f, struct path_who who, bool exact)
{
	if (exact && !f->exact)
		f->nr = 0;
	if (f->exact && !exact)
		return;
	f->exact = exact;
	if (f->nr < sizeof(f->who) / sizeof(f->who[0]))
		f->who[f->nr] = who;
	f->nr++;
}

static void find_threads(const struct work *w, uint64_t from, uint64_t to, struct found *f)
{
	const struct asked *a = &w->asked;
	const struct model_info *info = model_info(w->model);

	for (uint32_t i = 0; i < info->nr_threads; i++) {
		const struct model_thread *t = &info->threads[i];

		if (t->birth < to && t->death > from &&
		    process_asked(a, &info->processes[t->process]) &&
		    is_asked(a, t->entry->name, t->entry->tid, 0))
			found_add(f, (struct path_who){i, MODEL_NO_THREAD},
				  t->entry->name && !strcmp(t->entry->name, a->thread));
	}
	for (uint32_t i = 0; i < info->nr_vthreads; i++) {
		const struct model_vthread *v = &info->vthreads[i];
		const char *name = model_name(w->model, v->name);

		if (v->birth < to && v->death > from &&
		    process_asked(a, &info->processes[v->process]) &&
		    is_asked(a, name, 0, v->java_tid))
			found_add(f, (struct path_who){MODEL_NO_THREAD, i},
				  !strcmp(name, a->thread));
	}
}

static int one_thread(const struct work *w, uint64_t from, uint64_t to, struct path_who *out)
{
	struct found f = {.nr = 0};
	char list[1024] = "", text[160];

	find_threads(w, from, to, &f);
	if (f.nr == 1) {
		*out = f.who[0];
		return CLI_OK;
	}
	if (!f.nr) {
		cli_error("no thread \"%s\" then: jis report %s lists them", w->asked.thread,
			  w->asked.path);
		return CLI_FAILED;
	}
	for (uint32_t i = 0; i < f.nr && i < sizeof(f.who) / sizeof(f.who[0]); i++) {
		size_t used = strlen(list);

		snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
			 path_who_text(w->model, model_info(w->model), f.who[i], false, text,
				       sizeof(text)));
	}
	cli_error("--thread \"%s\" fits %u threads (%s%s): give a number", w->asked.thread, f.nr,
		  list, f.nr > sizeof(f.who) / sizeof(f.who[0]) ? "..." : "");
	return CLI_FAILED;
}

/* Looking ------------------------------------------------------------------------------------ */

static int keep_step(void *ctx, const struct path_step *step)
{
	struct why_detail *d = ctx;

	if (d->nr_steps == d->room) {
		if (d->nr_steps >= MAX_STEPS) {
			d->cut = true;
			return path_rows_step(d->rows, step);
		}
		if (!GROW(d->steps, d->room, 256))
			return -ENOMEM;
	}
	d->steps[d->nr_steps++] = *step;
	return path_rows_step(d->rows, step);
}

static int look_at(struct work *w, const struct why_interval *i, const char *which)
{
	struct why_detail *d = &w->why.details[w->why.nr_details];

	*d = (struct why_detail){.interval = *i, .which = which};
	d->rows = path_rows_new(w->model, w->lanes, false);
	if (!d->rows)
		return -ENOMEM;
	w->why.nr_details++;
	return path_walk(w->lanes, i->who, i->begin, i->end, w->asked.depth, keep_step, d);
}

static const struct model_sink *lanes_of(struct work *w)
{
	return lanes_sink(w->lanes, w->model);
}

/* Reads the second time. */
static int fill_lanes(struct work *w, const struct lanes_window *windows, uint32_t nr)
{
	struct model_options options = w->asked.model;

	options.thread = options.process = NULL;
	options.from = windows[0].begin;
	options.to = windows[0].end;
	for (uint32_t i = 1; i < nr; i++) {
		if (windows[i].begin < options.from)
			options.from = windows[i].begin;
		if (windows[i].end > options.to)
			options.to = windows[i].end;
	}
	options.to += BEYOND_NS;
	w->lanes = lanes_new(windows, nr);
	if (!w->lanes)
		return no_memory();
	return run_model(w, &options, lanes_of);
}

static void set_results(struct work *w)
{
	w->why.model = w->model;
	w->why.info = model_info(w->model);
	w->why.lanes = w->lanes;
	w->why.limit = w->asked.limit;
}

static int print(struct work *w, int err)
{
	int status = CLI_FAILED;

	if (!err)
		err = w->asked.json ? why_print_json(&w->why) : why_print_text(&w->why);
	if (err)
		cli_error("%s: %s", w->asked.path, strerror(-err));
	else
		status = cli_warn_losses(w->why.info->manifest);
	return status;
}

/* An interval of a thread -------------------------------------------------------------------- */

static int why_thread(struct work *w)
{
	const struct model_options *asked = &w->asked.model;
	struct why_interval i = {.begin = asked->from, .end = asked->to ? asked->to : TIME_NONE};
	/* With what comes after it: that ends the wait it may end in. */
	struct lanes_window window = {i.begin, asked->to ? asked->to + BEYOND_NS : TIME_NONE / 4};
	int status = fill_lanes(w, &window, 1);

	if (status)
		return status;
	set_results(w);
	if (i.end > w->why.info->end)
		i.end = w->why.info->end;
	if (i.begin >= i.end) {
		cli_error("--from: the recording is over by then (it lasts %.6f s)",
			  (double)w->why.info->end / 1e9);
		return CLI_FAILED;
	}
	status = one_thread(w, i.begin, i.end, &i.who);
	if (status)
		return status;
	w->why.details = calloc(1, sizeof(*w->why.details));
	if (!w->why.details)
		return no_memory();
	return print(w, look_at(w, &i, ""));
}

/* Spans -------------------------------------------------------------------------------------- */

static const struct model_sink *spans_of(struct work *w)
{
	return spans_sink(w->spans, w->model);
}

static int span_compare(const void *a, const void *b)
{
	const struct span *x = a, *y = b;
	uint64_t lx = x->end - x->begin, ly = y->end - y->begin;

	if (lx != ly)
		return lx < ly ? -1 : 1;
	return (x->begin > y->begin) - (x->begin < y->begin);
}

/* What can be asked of a trace in which nothing of the kind is. */
static int nothing_found(const struct work *w)
{
	const struct spans *s = spans_get(w->spans);
	const struct asked *a = &w->asked;
	char list[512] = "";
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->nr_names && n < 10; i++) {
		size_t used = strlen(list);

		if (!s->names[i].count)
			continue;
		snprintf(list + used, sizeof(list) - used, "%s%s", n++ ? ", " : "",
			 s->names[i].text);
	}
	if (a->span)
		cli_error("%s: no complete span \"%s\"%s; %s%s", a->path, a->span,
			  a->thread ? " of such a thread" : "",
			  n ? "there are: " : "there are no spans and no markers at all", list);
	else if (n)
		cli_error("%s: no spans, but markers: --span TYPE or TYPE=VALUE asks for them; "
			  "there are: "
			  "%s",
			  a->path, list);
	else
		cli_error(
			"%s: no spans and no markers to choose from (docs/markers.md); ask for a "
			"thread: "
			"jis why %s --thread NAME --from TIME --to TIME (jis report %s lists them)",
			a->path, a->path, a->path);
	cli_tell_unread(model_info(w->model)->manifest);
	return a->span ? CLI_FAILED : CLI_USAGE;
}

/* The spans as intervals of the second run, shortest first; what has no row there is left out. */
static int intervals_make(struct work *w, const struct span *list, uint32_t nr)
{
	const struct spans *s = spans_get(w->spans);

	w->why.intervals = calloc(nr + 1ull, sizeof(*w->why.intervals));
	if (!w->why.intervals)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		const struct span *span = &list[i];
		struct why_interval out = {.begin = span->begin,
					   .end = span->end,
					   .who = {span->thread, MODEL_NO_THREAD},
					   .name = s->names[span->name].text,
					   .marker = s->names[span->name].marker};

		if (span->java_tid)
			out.who.vthread = lanes_vthread(w->lanes, span->process, span->java_tid);
		if (out.who.vthread != MODEL_NO_THREAD)
			out.who.thread = MODEL_NO_THREAD;
		else if (span->virtual)
			continue;
		w->why.intervals[w->why.nr_intervals++] = out;
	}
	w->why.left_out = s->strangers + s->too_many + nr - w->why.nr_intervals;
	return 0;
}

static int look_at_all(struct work *w)
{
	struct why *y = &w->why;
	uint32_t top = w->asked.top < y->nr_intervals ? w->asked.top : y->nr_intervals;
	int err = 0;

	y->details = calloc(top + 1ull, sizeof(*y->details));
	if (!y->details)
		return -ENOMEM;
	if (y->span) {
		y->rows = path_rows_new(w->model, w->lanes, true);
		if (!y->rows)
			return -ENOMEM;
	}
	for (uint32_t i = 0; !err && y->rows && i < y->nr_intervals; i++)
		err = path_walk(w->lanes, y->intervals[i].who, y->intervals[i].begin,
				y->intervals[i].end, w->asked.depth, path_rows_step, y->rows);
	for (uint32_t i = 0; !err && i < top; i++)
		err = look_at(w, &y->intervals[y->nr_intervals - 1 - i],
			      i ? "one of the slowest" : "slowest");
	if (!err && y->span && y->nr_intervals > top + 1)
		err = look_at(w, &y->intervals[y->nr_intervals / 2], "median");
	return err;
}

static int why_spans(struct work *w)
{
	const struct span_options options = {.name = w->asked.span, .thread = w->asked.thread};
	const struct span *list;
	struct lanes_window *windows;
	const struct spans *s;
	uint32_t nr;
	int status;

	w->spans = spans_new(&options);
	if (!w->spans)
		return no_memory();
	status = run_model(w, &w->asked.model, spans_of);
	if (status)
		return status;
	s = spans_get(w->spans);
	if (!s->nr)
		return nothing_found(w);
	qsort(s->list, s->nr, sizeof(*s->list), span_compare);
	/* Of those that were not asked for by name only the slowest are looked at. */
	nr = w->asked.span || s->nr < w->asked.top ? s->nr : w->asked.top;
	list = s->list + (s->nr - nr);
	windows = calloc(nr, sizeof(*windows));
	if (!windows)
		return no_memory();
	for (uint32_t i = 0; i < nr; i++)
		windows[i] = (struct lanes_window){list[i].begin, list[i].end};
	status = fill_lanes(w, windows, nr);
	free(windows);
	if (status)
		return status;
	set_results(w);
	w->why.spans = s;
	w->why.span = w->asked.span;
	status = intervals_make(w, list, nr);
	return print(w, status ? status : look_at_all(w));
}

static void work_fini(struct work *w)
{
	for (uint32_t i = 0; i < w->why.nr_details; i++) {
		path_rows_free(w->why.details[i].rows);
		free(w->why.details[i].steps);
	}
	free(w->why.details);
	free(w->why.intervals);
	path_rows_free(w->why.rows);
	lanes_free(w->lanes);
	spans_free(w->spans);
	model_close(w->model);
}

/* The command line --------------------------------------------------------------------------- */

static int take_option(struct asked *a, struct reading_options *reading, int opt)
{
	switch (opt) {
	case 'S':
		a->span = optarg;
		return 0;
	case 'j':
		a->json = true;
		return 0;
	case 'n':
		return cli_parse_u32("top", optarg, 1, 1000, &a->top);
	case 'd':
		return cli_parse_u32("depth", optarg, 0, PATH_DEPTH_MAX, &a->depth);
	case 'l':
		return cli_parse_u32("limit", optarg, 0, UINT32_MAX, &a->limit);
	case 'v':
		return cli_parse_u32("max-virtual", optarg, 1, UINT32_MAX,
				     &reading->model.max_vthreads);
	}
	return reading_option(reading, opt, optarg) != 1;
}

int cmd_why(int argc, char **argv)
{
	static const struct option options[] = {{"span", required_argument, NULL, 'S'},
						{"json", no_argument, NULL, 'j'},
						{"top", required_argument, NULL, 'n'},
						{"depth", required_argument, NULL, 'd'},
						{"limit", required_argument, NULL, 'l'},
						{"max-virtual", required_argument, NULL, 'v'},
						CLI_READING_OPTIONS,
						{NULL, 0, NULL, 0}};
	struct reading_options reading = {0};
	struct work w = {.asked = {.top = 1, .depth = 16, .limit = 40}};
	int opt, status;

	while ((opt = cli_getopt(argc, argv, ":qh", options)) != -1) {
		if (opt == 'h') {
			fputs(help, stdout);
			return CLI_OK;
		}
		if (take_option(&w.asked, &reading, opt))
			return CLI_USAGE;
	}
	w.asked.path = cli_directory(argc, argv, usage);
	if (!w.asked.path || !reading_window_valid(&reading))
		return CLI_USAGE;
	cli_progress_enable(&reading.model);
	w.asked.thread = reading.model.thread;
	reading.model.thread = NULL;
	w.asked.model = reading.model;
	status = w.asked.thread && !w.asked.span ? why_thread(&w) : why_spans(&w);
	work_fini(&w);
	return status;
}
