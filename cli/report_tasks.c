/* SPDX-License-Identifier: MIT */
/*
 * `jis report`: tasks of executors: how many, how long they waited in the pool's queue, how long
 * they ran, who gave them to whom; and how much of the waiting inside of them is explained.
 */
#include "report_tasks.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli.h"
#include "trace/json_text.h"

static double ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

static double mean(uint64_t sum, uint64_t count)
{
	return count ? (double)sum / (double)count : 0;
}

static void print_pool_name(const struct model *model, uint32_t class_name, uint32_t hash)
{
	if (!class_name) {
		fputs("(in no pool)", stdout);
		return;
	}
	cli_print_escaped(stdout, model_name(model, class_name));
	printf("@%" PRIx32, hash);
}

static const char *thread_text(const struct model *model, uint32_t thread, bool is_virtual)
{
	if (is_virtual)
		return "(virtual threads)";
	return thread == MODEL_NO_THREAD ? "(not known)"
					 : model_info(model)->threads[thread].entry->name;
}

/* Text ---------------------------------------------------------------------------------------- */

static void print_spread(const struct report_spread *s)
{
	printf("%9.3f %9.3f %9.3f %9.3f  ", mean(s->time, s->count) / 1e6, ms(s->half), ms(s->most),
	       ms(s->longest));
}

static void print_pool(const struct model *model, const struct report_pool *p)
{
	printf("%9" PRIu64 " %9" PRIu64 " %6" PRIu64 " %7.2f  ", p->submitted, p->begun,
	       p->queue_longest, mean(p->queue_sum, p->submitted));
	print_spread(&p->wait);
	print_spread(&p->run);
	print_pool_name(model, p->class_name, p->hash);
	if (p->rejected)
		printf("; %" PRIu64 " rejected", p->rejected);
	if (p->idles)
		printf("; idle %.3f ms (%" PRIu64 ")", ms(p->idle), p->idles);
	putchar('\n');
}

static void print_pools(const struct model *model, const struct report *r, uint32_t limit)
{
	if (!r->nr_pools)
		return;
	printf("\n%36s%38s  %38s\n", "", "waited ms: mean, p50, p95, most", "ran ms: the same");
	printf("%9s %9s %6s %7s  %38s  %38s  %s\n", "submitted", "begun", "queue", "mean", "", "",
	       "pool; its workers without a task: ms (times)");
	for (uint32_t i = 0; i < r->nr_pools && (!limit || i < limit); i++)
		print_pool(model, &r->pools[i]);
	if (limit && r->nr_pools > limit)
		printf("... and %u more\n", r->nr_pools - limit);
}

static void print_handovers(const struct model *model, const struct report *r, uint32_t limit)
{
	if (!r->nr_handovers)
		return;
	printf("\n%9s %12s %12s  %s\n", "tasks", "waited ms", "longest ms",
	       "given by -> run by, pool");
	for (uint32_t i = 0; i < r->nr_handovers && (!limit || i < limit); i++) {
		const struct report_handover *h = &r->handovers[i];

		printf("%9" PRIu64 " %12.3f %12.3f  ", h->count, ms(h->wait), ms(h->longest));
		cli_print_escaped(stdout, thread_text(model, h->from, h->from_virtual));
		fputs(" -> ", stdout);
		cli_print_escaped(stdout, thread_text(model, h->to, h->to_virtual));
		fputs(", ", stdout);
		print_pool_name(model, h->pool_class, h->pool_hash);
		putchar('\n');
	}
	if (limit && r->nr_handovers > limit)
		printf("... and %u more\n", r->nr_handovers - limit);
}

/* Of the time inside of tasks of which the thread may not even have been off the CPU. */
static const char *inside_name(int kind)
{
	return kind == MODEL_REASON_NONE ? "nothing known"
					 : model_reason_name((enum model_reason_kind)kind);
}

static void print_kinds(const uint64_t times[MODEL_NR_REASONS], const char *between)
{
	for (int i = 0; i < MODEL_NR_REASONS; i++) {
		if (!times[i])
			continue;
		printf("%s %s %.3f ms", between, inside_name(i), ms(times[i]));
		between = ",";
	}
}

static void print_inside(const struct report_inside *in)
{
	if (!in->blocked)
		return;
	printf("\ninside of tasks: %.3f ms off the CPU, %.2f %% of it with a reason and its "
	       "object, "
	       "peer or file",
	       ms(in->blocked), 100.0 * (double)in->explained / (double)in->blocked);
	print_kinds(in->known, ":");
	print_kinds(in->rest, "; the rest:");
	printf("; and %.3f ms waiting for a CPU\n", ms(in->ready));
}

void report_print_tasks(const struct model *model, const struct report *r, uint32_t limit)
{
	print_pools(model, r, limit);
	print_handovers(model, r, limit);
	print_inside(r->inside_tasks);
}

/* JSON ---------------------------------------------------------------------------------------- */

static void put(struct json_object *o, const char *name, uint64_t value)
{
	json_object_object_add(o, name, json_object_new_uint64(value));
}

static struct json_object *pool_json(const struct model *model, uint32_t process,
				     uint32_t class_name, uint32_t hash)
{
	struct json_object *o = json_object_new_object();

	put(o, "pid", model_info(model)->processes[process].pid);
	json_object_object_add(o, "class", json_text(model_name(model, class_name)));
	put(o, "hash", hash);
	return o;
}

static struct json_object *spread_json(const struct report_spread *s)
{
	struct json_object *o = json_object_new_object();

	put(o, "count", s->count);
	put(o, "time", s->time);
	put(o, "p50", s->half);
	put(o, "p95", s->most);
	put(o, "longest", s->longest);
	return o;
}

static struct json_object *pools_json(const struct model *model, const struct report *r)
{
	struct json_object *list = json_object_new_array();

	for (uint32_t i = 0; i < r->nr_pools; i++) {
		const struct report_pool *p = &r->pools[i];
		struct json_object *o = pool_json(model, p->process, p->class_name, p->hash);

		put(o, "submitted", p->submitted);
		put(o, "rejected", p->rejected);
		put(o, "begun", p->begun);
		put(o, "linked", p->linked);
		put(o, "ended", p->run.count);
		put(o, "queue_longest", p->queue_longest);
		json_object_object_add(o, "queue_mean",
				       json_object_new_double(mean(p->queue_sum, p->submitted)));
		json_object_object_add(o, "wait", spread_json(&p->wait));
		json_object_object_add(o, "run", spread_json(&p->run));
		put(o, "idle", p->idle);
		put(o, "idles", p->idles);
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *side_json(const struct model *model, uint32_t thread, bool is_virtual)
{
	struct json_object *o = json_object_new_object();

	if (thread != MODEL_NO_THREAD) {
		const struct thread_entry *e = model_info(model)->threads[thread].entry;

		put(o, "tid", e->tid);
		put(o, "java_tid", e->java_tid);
		json_object_object_add(o, "name", json_text(e->name));
	}
	json_object_object_add(o, "virtual", json_object_new_boolean(is_virtual));
	return o;
}

static struct json_object *handovers_json(const struct model *model, const struct report *r)
{
	struct json_object *list = json_object_new_array();

	for (uint32_t i = 0; i < r->nr_handovers; i++) {
		const struct report_handover *h = &r->handovers[i];
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "pool",
				       pool_json(model, h->process, h->pool_class, h->pool_hash));
		json_object_object_add(o, "from", side_json(model, h->from, h->from_virtual));
		json_object_object_add(o, "to", side_json(model, h->to, h->to_virtual));
		put(o, "count", h->count);
		put(o, "wait", h->wait);
		put(o, "longest", h->longest);
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *kinds_json(const uint64_t times[MODEL_NR_REASONS])
{
	struct json_object *o = json_object_new_object();

	for (int i = 0; i < MODEL_NR_REASONS; i++)
		if (times[i])
			put(o, inside_name(i), times[i]);
	return o;
}

static struct json_object *inside_json(const struct report_inside *in)
{
	struct json_object *o = json_object_new_object();

	put(o, "blocked", in->blocked);
	put(o, "explained", in->explained);
	json_object_object_add(o, "known", kinds_json(in->known));
	json_object_object_add(o, "rest", kinds_json(in->rest));
	put(o, "ready", in->ready);
	return o;
}

void report_tasks_json(const struct model *model, const struct report *r, struct json_object *root)
{
	json_object_object_add(root, "pools", pools_json(model, r));
	json_object_object_add(root, "handovers", handovers_json(model, r));
	json_object_object_add(root, "inside_tasks", inside_json(r->inside_tasks));
}
