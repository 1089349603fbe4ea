/* SPDX-License-Identifier: MIT */
/*
 * `jis report`: why threads were in their states: by reason, thread by thread, by lock, by peer, by
 * virtual thread; and which records did not fit.
 */
#include "report_reasons.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "cli.h"
#include "report_links.h"
#include "report_places.h"
#include "report_tasks.h"

#define TOP_REASONS 4

static double ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

struct ranked {
	uint32_t index;
	uint64_t time;
};

static int ranked_compare(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->time != y->time)
		return x->time > y->time ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static bool is_wait(uint32_t kind)
{
	return kind >= MODEL_WAIT_UNKNOWN;
}

/* By reason ---------------------------------------------------------------------------------- */

/* Reasons from @from on that have time, longest first. Returns how many. */
static uint32_t rank_reasons(const struct report_reason *sums, uint32_t from, struct ranked *order)
{
	uint32_t n = 0;

	for (uint32_t i = from; i < MODEL_NR_REASONS; i++) {
		if (sums[i].count)
			order[n++] = (struct ranked){i, sums[i].time};
	}
	qsort(order, n, sizeof(*order), ranked_compare);
	return n;
}

static void print_by_reason(const struct report *r)
{
	struct ranked order[MODEL_NR_REASONS];
	uint32_t n = rank_reasons(r->reasons, 1, order);
	uint64_t blocked = 0;
	char longest[32];

	for (uint32_t i = 0; i < n; i++)
		blocked += is_wait(order[i].index) ? order[i].time : 0;
	if (!n)
		return;
	printf("\n%12s %8s %10s %10s  %s\n", "time ms", "blocked", "count", "longest",
	       "reason of running, ready, blocked");
	for (uint32_t i = 0; i < n; i++) {
		const struct report_reason *sum = &r->reasons[order[i].index];

		printf("%12.3f ", ms(sum->time));
		if (is_wait(order[i].index) && blocked)
			printf("%6.1f %% ", 100.0 * (double)sum->time / (double)blocked);
		else
			printf("%8s ", "");
		printf("%10" PRIu64 " %10s  %s%s", sum->count,
		       cli_format_ns(longest, sizeof(longest), sum->longest),
		       is_wait(order[i].index)		     ? ""
		       : order[i].index >= MODEL_READY_WOKEN ? "ready: "
							     : "running: ",
		       model_reason_name((enum model_reason_kind)order[i].index));
		if (sum->sampled == sum->time)
			puts(" (sampled)");
		else if (sum->sampled)
			printf(" (%.1f %% sampled)\n",
			       100.0 * (double)sum->sampled / (double)sum->time);
		else
			putchar('\n');
	}
}

/* The longest of the waits @sums from @from on, and the end of the line. */
static void print_top(const struct report_reason *sums, uint32_t from)
{
	struct ranked top[MODEL_NR_REASONS];
	uint32_t nr = rank_reasons(sums, from, top);

	for (uint32_t k = 0; k < nr && k < TOP_REASONS; k++)
		printf("%s %s %.3f (%" PRIu64 ")", k ? "," : "",
		       model_reason_name((enum model_reason_kind)top[k].index), ms(top[k].time),
		       sums[top[k].index].count);
	puts(nr > TOP_REASONS ? ", ..." : "");
}

/* Thread by thread what it was blocked for, the longest reasons first. */
static int print_threads(const struct report *r, uint32_t limit)
{
	const struct model_info *info = r->info;
	struct ranked *order = calloc(info->nr_threads + 1ull, sizeof(*order));
	uint32_t n = 0;

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < info->nr_threads; i++) {
		uint64_t blocked = 0;

		for (uint32_t k = MODEL_WAIT_UNKNOWN; k < MODEL_NR_REASONS; k++)
			blocked += r->thread_reasons[(size_t)i * MODEL_NR_REASONS + k].time;
		if (blocked)
			order[n++] = (struct ranked){i, blocked};
	}
	qsort(order, n, sizeof(*order), ranked_compare);
	if (n)
		printf("\n%12s  %s\n", "blocked ms", "thread [tid]: reason ms (count), ...");
	for (uint32_t i = 0; i < n && (!limit || i < limit); i++) {
		const struct thread_entry *e = info->threads[order[i].index].entry;

		printf("%12.3f  ", ms(order[i].time));
		cli_print_escaped(stdout, e->name);
		printf(" [%u]:", e->tid);
		print_top(&r->thread_reasons[(size_t)order[i].index * MODEL_NR_REASONS],
			  MODEL_WAIT_UNKNOWN);
	}
	free(order);
	return 0;
}

/* By lock and peer --------------------------------------------------------------------------- */

static const char *vthread_text(const struct model *model, uint32_t process, uint64_t java_tid)
{
	const struct model_info *info = model_info(model);

	for (uint32_t i = 0; i < info->nr_vthreads; i++) {
		if (info->vthreads[i].process == process && info->vthreads[i].java_tid == java_tid)
			return model_name(model, info->vthreads[i].name);
	}
	return NULL;
}

const char *owner_text(const struct model *model, const struct report_owner *owner, char *buffer,
		       size_t n)
{
	const struct model_info *info = model_info(model);
	const char *name = NULL;

	/* A virtual thread's kernel thread is only its carrier. */
	if (owner->java_tid)
		name = vthread_text(model, owner->process, owner->java_tid);
	if (!name && owner->thread != MODEL_NO_THREAD)
		name = info->threads[owner->thread].entry->name;
	if (name)
		return name;
	snprintf(buffer, n, "Java thread %" PRIu64, owner->java_tid);
	return buffer;
}

static void print_owners(const struct model *model, const struct report_owner *owners,
			 const char *what)
{
	char buffer[64];

	for (uint32_t i = 0; i < REPORT_OWNERS && owners[i].count; i++) {
		fputs(i ? ", " : what, stdout);
		cli_print_escaped(stdout, owner_text(model, &owners[i], buffer, sizeof(buffer)));
		printf(" %.3f (%" PRIu64 ")", ms(owners[i].time), owners[i].count);
	}
}

static void print_locks(const struct model *model, const struct report *r, uint32_t limit)
{
	char longest[32];

	if (!r->nr_locks)
		return;
	printf("\n%10s %12s %12s %12s %10s %10s  %s\n", "waits", "in work ms", "time ms",
	       "blocked ms", "longest", "timed out",
	       "lock, by class; held by and woken by: ms (waits)");
	for (uint32_t i = 0; i < r->nr_locks && (!limit || i < limit); i++) {
		const struct report_lock *l = &r->locks[i];

		printf("%10" PRIu64 " %12.3f %12.3f %12.3f %10s %10" PRIu64 "  %s ", l->count,
		       ms(l->work_time), ms(l->time), ms(l->blocked),
		       cli_format_ns(longest, sizeof(longest), l->longest), l->timed_out,
		       model_reason_name(l->kind));
		cli_print_escaped(stdout,
				  l->class_name ? model_name(model, l->class_name) : "(no object)");
		if (l->pinned)
			printf("; pinned %.3f ms", ms(l->pinned));
		print_owners(model, l->owners, "; held by ");
		print_owners(model, l->wakers, "; woken by ");
		if (l->incomplete)
			printf("; %" PRIu64 " without end", l->incomplete);
		putchar('\n');
	}
}

static void print_peers(const struct model *model, const struct report *r, uint32_t limit)
{
	char longest[32];

	if (!r->nr_peers)
		return;
	printf("\n%10s %12s %10s  %s\n", "waits", "time ms", "longest", "for peer or file");
	for (uint32_t i = 0; i < r->nr_peers && (!limit || i < limit); i++) {
		const struct report_peer *p = &r->peers[i];

		printf("%10" PRIu64 " %12.3f %10s  %s ", p->waits.count, ms(p->waits.time),
		       cli_format_ns(longest, sizeof(longest), p->waits.longest),
		       model_reason_name(p->kind));
		cli_print_escaped(stdout, model_name(model, p->name));
		putchar('\n');
	}
	if (limit && r->nr_peers > limit)
		printf("%*s... and %u more\n", 35, "", r->nr_peers - limit);
}

/* Virtual threads ---------------------------------------------------------------------------- */

static void print_vthread(const struct report_vthread *v, const char *name)
{
	printf("%12.3f %11.3f %12.3f %12.3f %11.3f %9" PRIu64 "  ", ms(v->running), ms(v->ready),
	       ms(v->to_mount), ms(v->waited), ms(v->pinned), v->mounts);
	cli_print_escaped(stdout, name);
}

static void print_virtual_reasons(const struct report_virtual *v)
{
	struct ranked order[MODEL_NR_REASONS];
	uint32_t n = rank_reasons(v->reasons, MODEL_READY_TO_MOUNT, order);

	for (uint32_t i = 0; i < n; i++)
		printf("%s%s %.3f ms (%" PRIu64 ")", i ? ", " : "virtual threads waited: ",
		       model_reason_name((enum model_reason_kind)order[i].index), ms(order[i].time),
		       v->reasons[order[i].index].count);
	if (n)
		putchar('\n');
}

static int print_vthreads(const struct model *model, const struct report *r, uint32_t limit)
{
	const struct model_info *info = r->info;
	struct ranked *order;

	if (!info->nr_vthreads)
		return 0;
	order = calloc(info->nr_vthreads, sizeof(*order));
	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < info->nr_vthreads; i++)
		order[i] = (struct ranked){i, r->vthreads[i].running};
	qsort(order, info->nr_vthreads, sizeof(*order), ranked_compare);
	printf("\n%12s %11s %12s %12s %11s %9s  %s\n", "running ms", "ready ms", "to mount ms",
	       "waiting ms", "pinned ms", "mounts",
	       "virtual thread: reason of waiting ms (count), ...");
	for (uint32_t i = 0; i < info->nr_vthreads && (!limit || i < limit); i++) {
		size_t v = order[i].index;

		print_vthread(&r->vthreads[v], model_name(model, info->vthreads[v].name));
		putchar(':');
		print_top(&r->vthread_reasons[v * MODEL_NR_REASONS], MODEL_WAIT_UNKNOWN);
	}
	free(order);
	print_vthread(&r->virtuals->times, "all");
	putchar('\n');
	print_virtual_reasons(r->virtuals);
	if (r->virtuals->others)
		printf("%" PRIu64 " virtual threads more are not shown (--max-virtual)\n",
		       r->virtuals->others);
	return 0;
}

int report_print_reasons(const struct model *model, const struct report *r, uint32_t limit)
{
	int err;

	print_by_reason(r);
	err = print_threads(r, limit);
	print_locks(model, r, limit);
	err = err ? err : report_print_places(model, r, limit);
	print_peers(model, r, limit);
	report_print_tasks(model, r, limit);
	return err ? err : print_vthreads(model, r, limit);
}

/* What did not fit --------------------------------------------------------------------------- */

static void print_doubt(const struct model *model, const char *what, uint64_t n, const char *name,
			const struct model_first *first)
{
	if (!n)
		return;
	printf("%s: %" PRIu64 " times: %s; first at %.6f s", what, n, name,
	       (double)first->time / 1e9);
	if (first->who.thread != MODEL_NO_THREAD || first->who.vthread != MODEL_NO_THREAD) {
		printf(", ");
		link_print_who(model, &first->who);
	}
	putchar('\n');
}

void cli_print_doubts(const struct model *model, const struct model_counts *c)
{
	if (c->contradictions || c->unbalanced_spans || c->backward_steps || c->unknown_threads)
		printf("did not fit: %" PRIu64 " contradictions, %" PRIu64
		       " unbalanced spans, %" PRIu64 " backward steps, %" PRIu64
		       " records of unknown threads\n",
		       c->contradictions, c->unbalanced_spans, c->backward_steps,
		       c->unknown_threads);
	if (c->unseen_switches)
		printf("switches the kernel did not tell of: at least %" PRIu64
		       ", to threads that were ready; unknown until they are seen at work\n",
		       c->unseen_switches);
	if (c->forgotten_tasks)
		printf("tasks submitted that had not begun, and were forgotten as too many: "
		       "%" PRIu64 "\n",
		       c->forgotten_tasks);
	for (int i = 0; i < MODEL_NR_CONFLICTS; i++)
		print_doubt(model, "contradiction", c->conflicts[i],
			    model_conflict_name((enum model_conflict)i), &c->first_conflict[i]);
	for (int i = 0; i < MODEL_NR_ERRORS; i++)
		print_doubt(model,
			    model_error_contradicts((enum model_error)i) ? "contradiction"
									 : "impossible order",
			    c->errors[i], model_error_name((enum model_error)i),
			    &c->first_error[i]);
}
