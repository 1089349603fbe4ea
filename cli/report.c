/* SPDX-License-Identifier: MIT */
/*
 * `jis report`: where the time of each thread went, who woke it, how many ran at once.
 */
#include "analysis/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "report_json.h"

static const char usage[] = "jis report [OPTION]... DIR";
static const char help[] =
	"usage: jis report [OPTION]... DIR\n\n"
	"Prints for each thread how long it ran, was ready and was blocked, how often it was "
	"switched\n"
	"out (voluntarily and not) and woken, and by whom most; then totals.\n\n"
	"      --json            as JSON\n"
	"      --sort KEY        run (default), ready, blocked, wakeups or name\n"
	"      --limit N         at most N threads (default 40, 0: all)\n" CLI_READING_HELP;

enum sort_key { SORT_RUN, SORT_READY, SORT_BLOCKED, SORT_WAKEUPS, SORT_NAME };

static const char *const sort_names[] = {"run", "ready", "blocked", "wakeups", "name", NULL};

struct view {
	const struct report *report;
	enum sort_key sort;
	uint32_t limit;
};

static uint64_t blocked(const struct report_times *t)
{
	return t->state[MODEL_BLOCKED_INTERRUPTIBLE] + t->state[MODEL_BLOCKED_UNINTERRUPTIBLE] +
	       t->state[MODEL_STOPPED];
}

static const struct view *sorting; /* qsort() passes no context */

static uint64_t key_of(uint32_t thread)
{
	const struct report_times *t = &sorting->report->threads[thread].times;

	switch (sorting->sort) {
	case SORT_READY:
		return t->state[MODEL_READY];
	case SORT_BLOCKED:
		return blocked(t);
	case SORT_WAKEUPS:
		return t->wakeups;
	default:
		return t->state[MODEL_RUNNING];
	}
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct model_thread *threads = sorting->report->info->threads;
	uint64_t kx = key_of(x), ky = key_of(y);

	if (sorting->sort == SORT_NAME)
		return strcmp(threads[x].entry->name, threads[y].entry->name);
	return kx != ky ? (kx < ky ? 1 : -1) : (x < y ? -1 : 1);
}

/* Selected threads that were there in the window, sorted. */
static uint32_t *order_threads(const struct view *v, uint32_t *n)
{
	const struct model_info *info = v->report->info;
	uint32_t *order = calloc(info->nr_threads + 1, sizeof(*order));

	*n = 0;
	if (!order)
		return NULL;
	for (uint32_t i = 0; i < info->nr_threads; i++) {
		const struct model_thread *t = &info->threads[i];

		if (t->selected && t->birth <= info->end &&
		    (t->death == TIME_NONE || t->death >= info->begin))
			order[(*n)++] = i;
	}
	sorting = v;
	qsort(order, *n, sizeof(*order), compare);
	return order;
}

static double ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

static void waker_text(const struct view *v, const struct report_thread *t, char *text, size_t n)
{
	const struct model_info *info = v->report->info;

	switch (t->waker) {
	case REPORT_WAKER_NONE:
		snprintf(text, n, "-");
		break;
	case REPORT_WAKER_THREAD:
		snprintf(text, n, "%s (%" PRIu64 ")", info->threads[t->waker_index].entry->name,
			 t->waker_count);
		break;
	case REPORT_WAKER_FOREIGN:
		snprintf(text, n, "%s [%u] (%" PRIu64 ")",
			 t->waker_index < info->manifest->nr_foreigners
				 ? info->manifest->foreigners[t->waker_index].comm
				 : "?",
			 t->waker_tid, t->waker_count);
		break;
	case REPORT_WAKER_IDLE:
		snprintf(text, n, "idle task (%" PRIu64 ")", t->waker_count);
		break;
	case REPORT_WAKER_SOFTIRQ:
		snprintf(text, n, "softirq (%" PRIu64 ")", t->waker_count);
		break;
	case REPORT_WAKER_HARDIRQ:
		snprintf(text, n, "interrupt (%" PRIu64 ")", t->waker_count);
		break;
	case REPORT_WAKER_NMI:
		snprintf(text, n, "NMI (%" PRIu64 ")", t->waker_count);
		break;
	}
}

static void print_name(const char *name, uint32_t tid)
{
	putchar(' ');
	putchar(' ');
	cli_print_escaped(stdout, name);
	if (tid)
		printf(" [%u]", tid);
}

static void print_times(const struct report_times *t)
{
	printf("%12.3f %11.3f %12.3f %10.3f %9" PRIu64 " %9" PRIu64 " %9" PRIu64,
	       ms(t->state[MODEL_RUNNING]), ms(t->state[MODEL_READY]), ms(blocked(t)),
	       ms(t->state[MODEL_UNKNOWN]), t->voluntary, t->involuntary, t->wakeups);
}

static int print_threads(const struct view *v)
{
	const struct model_info *info = v->report->info;
	uint32_t n, shown, *order = order_threads(v, &n);
	char waker[256];

	if (!order)
		return -ENOMEM;
	shown = v->limit && v->limit < n ? v->limit : n;
	printf("%12s %11s %12s %10s %9s %9s %9s  %s\n", "running ms", "ready ms", "blocked ms",
	       "unknown ms", "voluntary", "preempted", "wake-ups", "thread [tid]  <- top waker");
	for (uint32_t i = 0; i < shown; i++) {
		const struct report_thread *t = &v->report->threads[order[i]];
		const struct thread_entry *entry = info->threads[order[i]].entry;

		print_times(&t->times);
		print_name(entry->name, entry->tid);
		waker_text(v, t, waker, sizeof(waker));
		if (t->waker != REPORT_WAKER_NONE) {
			fputs("  <- ", stdout);
			cli_print_escaped(stdout, waker);
		}
		putchar('\n');
	}
	if (shown < n)
		printf("%*s... and %u threads more (--limit 0 shows all)\n", 80, "", n - shown);
	free(order);
	return 0;
}

static void print_processes(const struct view *v)
{
	const struct model_info *info = v->report->info;

	putchar('\n');
	for (uint32_t i = 0; i < info->nr_processes; i++) {
		const struct report_process *p = &v->report->processes[i];
		char longest[32];

		if (!p->nr_threads)
			continue;
		print_times(&p->times);
		print_name(info->processes[i].name, info->processes[i].pid);
		printf(": %u threads, at most %u at once", p->nr_threads, p->most_threads);
		if (p->gc_count)
			printf("; %" PRIu64 " collections, %.3f ms, longest %s", p->gc_count,
			       ms(p->gc_time),
			       cli_format_ns(longest, sizeof(longest), p->gc_longest));
		if (p->markers || p->spans)
			printf("; %" PRIu64 " markers, %" PRIu64 " span records", p->markers,
			       p->spans);
		putchar('\n');
	}
	print_times(&v->report->total);
	puts("  all");
}

static void print_parallelism(const struct view *v)
{
	const struct report *r = v->report;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < r->nr_at_once; i++)
		sum += r->at_once[i];
	printf("\nparallelism: %.3f threads ran at once on average over %.3f s, %u CPUs;",
	       r->parallelism, (double)(r->info->end - r->info->begin) / 1e9, r->info->nr_cpus);
	for (uint32_t i = 0; sum && i < r->nr_at_once; i++)
		if (r->at_once[i])
			printf(" %u: %.1f %%", i, 100.0 * (double)r->at_once[i] / (double)sum);
	putchar('\n');
}

static void print_doubts(const struct view *v)
{
	const struct model_counts *c = &v->report->counts;
	char time[32];

	if (v->report->damages)
		printf("damaged: %" PRIu64 " intervals, %s in all; states are unknown there\n",
		       v->report->damages,
		       cli_format_ns(time, sizeof(time), v->report->damaged_time));
	if (c->lost)
		printf("lost: %" PRIu64 " records\n", c->lost);
	if (c->contradictions || c->unbalanced_spans || c->backward_steps || c->unknown_threads)
		printf("did not fit: %" PRIu64 " contradictions, %" PRIu64
		       " unbalanced spans, %" PRIu64 " backward steps, %" PRIu64
		       " records of unknown threads\n",
		       c->contradictions, c->unbalanced_spans, c->backward_steps,
		       c->unknown_threads);
}

static int run(const char *path, const struct model_options *options, struct view *v, bool json)
{
	struct report_run *r = report_new();
	const struct model_sink *sinks[1];
	struct model *model;
	int err;

	if (!r) {
		cli_error("%s", strerror(ENOMEM));
		return CLI_FAILED;
	}
	err = model_open(path, options, &model);
	if (err) {
		report_free(r);
		return cli_trace_error(path, err);
	}
	sinks[0] = report_sink(r);
	err = model_run(model, sinks, 1);
	cli_progress_done();
	v->report = report_get(r);
	if (!err && json) {
		err = report_print_json(v->report);
	} else if (!err) {
		err = print_threads(v);
		print_processes(v);
		print_parallelism(v);
		print_doubts(v);
	}
	if (err)
		cli_error("%s: %s", path, strerror(-err));
	else
		cli_warn_losses(model_info(model)->manifest);
	report_free(r);
	model_close(model);
	return err ? CLI_FAILED : CLI_OK;
}

static int take_sort(struct view *v, const char *value)
{
	for (int i = 0; sort_names[i]; i++) {
		if (!strcmp(value, sort_names[i])) {
			v->sort = (enum sort_key)i;
			return 0;
		}
	}
	cli_error("--sort: \"%s\" is none of run, ready, blocked, wakeups, name", value);
	return -1;
}

int cmd_report(int argc, char **argv)
{
	static const struct option options[] = {{"json", no_argument, NULL, 'j'},
						{"sort", required_argument, NULL, 's'},
						{"limit", required_argument, NULL, 'l'},
						CLI_READING_OPTIONS,
						{NULL, 0, NULL, 0}};
	struct reading_options reading = {0};
	struct view v = {.sort = SORT_RUN, .limit = 40};
	bool json = false;
	const char *path;
	int opt, err;

	while ((opt = cli_getopt(argc, argv, ":qh", options)) != -1) {
		err = 0;
		if (opt == 'h') {
			fputs(help, stdout);
			return CLI_OK;
		}
		if (opt == 'j')
			json = true;
		else if (opt == 's')
			err = take_sort(&v, optarg);
		else if (opt == 'l')
			err = cli_parse_u32("limit", optarg, 0, UINT32_MAX, &v.limit);
		else
			err = reading_option(&reading, opt, optarg) != 1;
		if (err)
			return CLI_USAGE;
	}
	path = cli_directory(argc, argv, usage);
	if (!path || !reading_window_valid(&reading))
		return CLI_USAGE;
	cli_progress_enable(&reading.model);
	return run(path, &reading.model, &v, json);
}
