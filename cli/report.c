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
#include "report_doings.h"
#include "report_json.h"
#include "report_links.h"
#include "report_reasons.h"

static const char usage[] = "jis report [OPTION]... DIR";
static const char help[] =
	"usage: jis report [OPTION]... DIR\n\n"
	"Prints for each thread how long it ran, was ready and was blocked, how often it was "
	"switched\n"
	"out (voluntarily and not) and woken, and by whom most; then totals, and why: by reason,\n"
	"by lock class with owners, by peer or file, by virtual thread; connections, and who "
	"handed\n"
	"locks and connections to whom.\n\n"
	"      --json            as JSON\n"
	"      --sort KEY        run (default), ready, blocked, wakeups or name\n"
	"      --limit N         at most N threads, locks, peers, connections, pairs (default 40, "
	"0: "
	"all)\n"
	"      --max-virtual N   rows for at most N virtual threads, the first born (default "
	"16384)\n" CLI_READING_HELP;

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

/* Who it is, without the count. */
static void who_text(const struct view *v, const struct report_top *top, char *text, size_t n)
{
	static const char *const names[] = {
		[REPORT_WAKER_NONE] = "-",	    [REPORT_WAKER_IDLE] = "idle task",
		[REPORT_WAKER_SOFTIRQ] = "softirq", [REPORT_WAKER_HARDIRQ] = "interrupt",
		[REPORT_WAKER_NMI] = "NMI",	    [REPORT_WAKER_TIMER] = "timer"};
	const struct model_info *info = v->report->info;

	if (top->who == REPORT_WAKER_THREAD)
		snprintf(text, n, "%s", info->threads[top->index].entry->name);
	else if (top->who == REPORT_WAKER_FOREIGN)
		snprintf(text, n, "%s [%u]",
			 top->index < info->manifest->nr_foreigners
				 ? info->manifest->foreigners[top->index].comm
				 : "?",
			 top->tid);
	else
		snprintf(text, n, "%s", names[top->who]);
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
		if (t->waker.who != REPORT_WAKER_NONE) {
			who_text(v, &t->waker, waker, sizeof(waker));
			fputs("  <- ", stdout);
			cli_print_escaped(stdout, waker);
			printf(" (%" PRIu64 ")", t->waker.count);
		}
		putchar('\n');
	}
	if (shown < n)
		printf("%*s... and %u threads more (--limit 0 shows all)\n", 80, "", n - shown);
	free(order);
	return 0;
}

/* Where ready time went: behind whom, and to quotas. Nothing where that was not recorded. */
static int print_waits(const struct view *v)
{
	const struct model_info *info = v->report->info;
	const struct report_times *total = &v->report->total;
	uint32_t n, shown = 0, *order;
	char who[256];

	if (!total->throttled && (!info->waits_known || !total->state[MODEL_READY]))
		return 0;
	order = order_threads(v, &n);
	if (!order)
		return -ENOMEM;
	printf("\n%12s %11s %12s %10s %12s  %s\n", "ready ms", "throttled", "behind traced",
	       "others", "idle CPU", "thread [tid]  waited behind");
	for (uint32_t i = 0; i < n && (!v->limit || shown < v->limit); i++) {
		const struct report_thread *t = &v->report->threads[order[i]];
		const struct thread_entry *entry = info->threads[order[i]].entry;

		if (!t->times.state[MODEL_READY])
			continue;
		shown++;
		printf("%12.3f %11.3f %13.3f %10.3f %12.3f", ms(t->times.state[MODEL_READY]),
		       ms(t->times.throttled), ms(t->times.behind[MODEL_CPU_TARGET]),
		       ms(t->times.behind[MODEL_CPU_FOREIGN]), ms(t->times.behind[MODEL_CPU_IDLE]));
		print_name(entry->name, entry->tid);
		if (t->behind.who != REPORT_WAKER_NONE) {
			who_text(v, &t->behind, who, sizeof(who));
			fputs("  behind ", stdout);
			cli_print_escaped(stdout, who);
			printf(" (%.3f ms)", ms(t->behind.count));
		}
		putchar('\n');
	}
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
		print_name(process_entry_name(&info->processes[i]), info->processes[i].pid);
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

static void print_doubts(const struct model *model, const struct view *v)
{
	const struct model_counts *c = &v->report->counts;
	char time[32];

	if (v->report->stolen)
		printf("stolen by the hypervisor: %s; while traced threads had the CPU at most "
		       "%.3f ms\n",
		       cli_format_ns(time, sizeof(time), v->report->stolen),
		       ms(v->report->total.stolen));
	if (v->report->damage.intervals)
		printf("damaged: %" PRIu64 " intervals of the kernel's records, %s in all; states "
		       "are unknown there\n",
		       v->report->damage.intervals,
		       cli_format_ns(time, sizeof(time), v->report->damage.time));
	if (v->report->user_damage.intervals)
		printf("damaged: %" PRIu64 " intervals of processes' own records, %s in all; what "
		       "their threads did in Java is not known there\n",
		       v->report->user_damage.intervals,
		       cli_format_ns(time, sizeof(time), v->report->user_damage.time));
	if (c->lost)
		printf("lost: %" PRIu64 " records of the kernel, %" PRIu64 " of processes\n",
		       c->lost - c->lost_user, c->lost_user);
	cli_print_doubts(model, c);
}

static int run(const char *path, const struct model_options *options, struct view *v, bool json)
{
	struct report_run *r = report_new();
	const struct model_sink *sinks[1];
	struct model *model;
	int status = CLI_FAILED, err;

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
		err = report_print_json(model, v->report);
	} else if (!err) {
		err = print_threads(v);
		print_processes(v);
		err = err ? err : print_waits(v);
		err = err ? err : report_print_reasons(model, v->report, v->limit);
		report_print_doings(model, v->report, v->limit);
		report_print_links(model, v->report, v->limit);
		print_parallelism(v);
		print_doubts(model, v);
	}
	if (err)
		cli_error("%s: %s", path, strerror(-err));
	else
		status = cli_warn_losses(model_info(model)->manifest);
	report_free(r);
	model_close(model);
	return status;
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
						{"max-virtual", required_argument, NULL, 'v'},
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
		else if (opt == 'v')
			err = cli_parse_u32("max-virtual", optarg, 1, UINT32_MAX,
					    &reading.model.max_vthreads);
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
