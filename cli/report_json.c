/* SPDX-License-Identifier: MIT */
/*
 * `jis report --json`.
 */
#include "report_json.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>

static void put(struct json_object *o, const char *name, uint64_t value)
{
	json_object_object_add(o, name, json_object_new_uint64(value));
}

static void put_text(struct json_object *o, const char *name, const char *text)
{
	json_object_object_add(o, name, json_object_new_string(text));
}

static void put_times(struct json_object *o, const struct report_times *t)
{
	struct json_object *states = json_object_new_object();

	for (int i = 0; i < MODEL_NR_STATES; i++)
		put(states, model_state_name((enum model_state_kind)i), t->state[i]);
	json_object_object_add(o, "states", states);
	put(o, "preempted", t->preempted);
	put(o, "voluntary", t->voluntary);
	put(o, "involuntary", t->involuntary);
	put(o, "wakeups", t->wakeups);
	put(o, "woke", t->woke);
	put(o, "wake_time", t->wake_time);
}

/* What threads and processes have in common. */
static void put_who(struct json_object *o, uint32_t pid, const char *name,
		    const struct report_times *times)
{
	put(o, "pid", pid);
	put_text(o, "name", name);
	put_times(o, times);
}

static const char *waker_kind(enum report_waker waker)
{
	static const char *const names[] = {"none",    "thread",  "foreign", "idle",
					    "softirq", "hardirq", "nmi"};

	return names[waker];
}

static struct json_object *thread_object(const struct report *r, uint32_t i)
{
	const struct report_thread *t = &r->threads[i];
	const struct thread_entry *entry = r->info->threads[i].entry;
	struct json_object *o = json_object_new_object(), *waker = json_object_new_object();

	put(o, "tid", entry->tid);
	put_who(o, entry->pid, entry->name, &t->times);
	put_text(waker, "kind", waker_kind(t->waker));
	if (t->waker == REPORT_WAKER_THREAD) {
		put(waker, "tid", r->info->threads[t->waker_index].entry->tid);
		put_text(waker, "name", r->info->threads[t->waker_index].entry->name);
	} else if (t->waker == REPORT_WAKER_FOREIGN) {
		put(waker, "tid", t->waker_tid);
	}
	put(waker, "count", t->waker_count);
	json_object_object_add(o, "top_waker", waker);
	return o;
}

static struct json_object *process_object(const struct report *r, uint32_t i)
{
	const struct report_process *p = &r->processes[i];
	struct json_object *o = json_object_new_object();

	put_who(o, r->info->processes[i].pid, r->info->processes[i].name, &p->times);
	put(o, "threads", p->nr_threads);
	put(o, "most_threads", p->most_threads);
	put(o, "gc_count", p->gc_count);
	put(o, "gc_time", p->gc_time);
	put(o, "gc_longest", p->gc_longest);
	put(o, "markers", p->markers);
	put(o, "spans", p->spans);
	return o;
}

static struct json_object *counts_object(const struct model_counts *c)
{
	struct json_object *o = json_object_new_object();

	put(o, "events", c->events);
	put(o, "switches", c->switches);
	put(o, "wakeups", c->wakeups);
	put(o, "wakings_on_cpu", c->wakings_on_cpu);
	put(o, "contradictions", c->contradictions);
	put(o, "unbalanced_spans", c->unbalanced_spans);
	put(o, "backward_steps", c->backward_steps);
	put(o, "unknown_threads", c->unknown_threads);
	put(o, "lost", c->lost);
	return o;
}

int report_print_json(const struct report *r)
{
	struct json_object *root = json_object_new_object(), *threads = json_object_new_array();
	struct json_object *processes = json_object_new_array(), *total = json_object_new_object();
	struct json_object *at_once = json_object_new_array();

	put(root, "begin", r->info->begin);
	put(root, "end", r->info->end);
	for (uint32_t i = 0; i < r->info->nr_threads; i++)
		if (r->info->threads[i].selected)
			json_object_array_add(threads, thread_object(r, i));
	json_object_object_add(root, "threads", threads);
	for (uint32_t i = 0; i < r->info->nr_processes; i++)
		if (r->processes[i].nr_threads)
			json_object_array_add(processes, process_object(r, i));
	json_object_object_add(root, "processes", processes);
	put_times(total, &r->total);
	json_object_object_add(root, "total", total);
	for (uint32_t i = 0; i < r->nr_at_once; i++)
		json_object_array_add(at_once, json_object_new_uint64(r->at_once[i]));
	json_object_object_add(root, "at_once", at_once);
	json_object_object_add(root, "parallelism", json_object_new_double(r->parallelism));
	put(root, "damages", r->damages);
	put(root, "damaged_time", r->damaged_time);
	json_object_object_add(root, "counts", counts_object(&r->counts));
	puts(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY |
							  JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(root);
	return ferror(stdout) ? -EIO : 0;
}
