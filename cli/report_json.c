/* SPDX-License-Identifier: MIT */
/*
 * `jis report --json`.
 */
#include "report_json.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>

#include "report_doings.h"
#include "report_links.h"
#include "report_places.h"
#include "report_reasons.h"
#include "report_tasks.h"
#include "trace/json_text.h"

static void put(struct json_object *o, const char *name, uint64_t value)
{
	json_object_object_add(o, name, json_object_new_uint64(value));
}

static void put_text(struct json_object *o, const char *name, const char *text)
{
	json_object_object_add(o, name, json_text(text));
}

static void put_times(struct json_object *o, const struct report_times *t)
{
	struct json_object *states = json_object_new_object();

	for (int i = 0; i < MODEL_NR_STATES; i++)
		put(states, model_state_name((enum model_state_kind)i), t->state[i]);
	json_object_object_add(o, "states", states);
	put(o, "preempted", t->preempted);
	put(o, "throttled", t->throttled);
	put(o, "behind_idle", t->behind[MODEL_CPU_IDLE]);
	put(o, "behind_target", t->behind[MODEL_CPU_TARGET]);
	put(o, "behind_foreign", t->behind[MODEL_CPU_FOREIGN]);
	put(o, "stolen", t->stolen);
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
					    "softirq", "hardirq", "nmi",     "timer"};

	return names[waker];
}

static struct json_object *top_object(const struct report *r, const struct report_top *top,
				      const char *unit)
{
	struct json_object *o = json_object_new_object();

	put_text(o, "kind", waker_kind(top->who));
	if (top->who == REPORT_WAKER_THREAD) {
		const struct thread_entry *entry = r->info->threads[top->index].entry;

		put(o, "tid", entry->tid);
		put_text(o, "name", entry->name);
	} else if (top->who == REPORT_WAKER_FOREIGN) {
		put(o, "tid", top->tid);
	}
	put(o, unit, top->count);
	return o;
}

/* What is missing, of the kernel's records and of processes' own. */
static struct json_object *missing_object(const struct report *r)
{
	struct json_object *o = json_object_new_object();

	for (int user = 0; user < 2; user++) {
		const struct report_damage *d = user ? &r->user_damage : &r->damage;
		struct json_object *side = json_object_new_object();

		put(side, "damages", d->intervals);
		put(side, "damaged_time", d->time);
		put(side, "lost",
		    user ? r->counts.lost_user : r->counts.lost - r->counts.lost_user);
		json_object_object_add(o, user ? "processes" : "kernel", side);
	}
	return o;
}

static struct json_object *reason_object(const struct report_reason *sum)
{
	struct json_object *o = json_object_new_object();

	put(o, "time", sum->time);
	put(o, "count", sum->count);
	put(o, "longest", sum->longest);
	put(o, "sampled", sum->sampled);
	return o;
}

/* Only those that occur, by name. */
static struct json_object *reasons_object(const struct report_reason *sums)
{
	struct json_object *o = json_object_new_object();

	for (int i = 1; i < MODEL_NR_REASONS; i++)
		if (sums[i].count)
			json_object_object_add(o, model_reason_name((enum model_reason_kind)i),
					       reason_object(&sums[i]));
	return o;
}

static struct json_object *owners_array(const struct model *model,
					const struct report_owner *owners)
{
	struct json_object *list = json_object_new_array();
	char buffer[64];

	for (int i = 0; i < REPORT_OWNERS && owners[i].count; i++) {
		struct json_object *o = json_object_new_object();

		put_text(o, "name", owner_text(model, &owners[i], buffer, sizeof(buffer)));
		if (owners[i].thread != MODEL_NO_THREAD)
			put(o, "tid", model_info(model)->threads[owners[i].thread].entry->tid);
		if (owners[i].java_tid)
			put(o, "java_tid", owners[i].java_tid);
		put(o, "count", owners[i].count);
		put(o, "time", owners[i].time);
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *locks_array(const struct model *model, const struct report *r)
{
	struct json_object *list = json_object_new_array();

	for (uint32_t i = 0; i < r->nr_locks; i++) {
		const struct report_lock *l = &r->locks[i];
		struct json_object *o = json_object_new_object();

		put_text(o, "reason", model_reason_name(l->kind));
		put_text(o, "class", model_name(model, l->class_name));
		put(o, "count", l->count);
		put(o, "time", l->time);
		put(o, "blocked", l->blocked);
		put(o, "pinned", l->pinned);
		put(o, "work", l->work);
		put(o, "work_time", l->work_time);
		put(o, "longest", l->longest);
		put(o, "timed_out", l->timed_out);
		put(o, "incomplete", l->incomplete);
		json_object_object_add(o, "owners", owners_array(model, l->owners));
		json_object_object_add(o, "wakers", owners_array(model, l->wakers));
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *peers_array(const struct model *model, const struct report *r)
{
	struct json_object *list = json_object_new_array();

	for (uint32_t i = 0; i < r->nr_peers; i++) {
		struct json_object *o = reason_object(&r->peers[i].waits);

		put_text(o, "reason", model_reason_name(r->peers[i].kind));
		put_text(o, "name", model_name(model, r->peers[i].name));
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *link_object(const struct report_link *l)
{
	struct json_object *o = json_object_new_object();

	put(o, "count", l->count);
	put(o, "time", l->time);
	put(o, "longest", l->longest);
	put(o, "bytes", l->bytes);
	return o;
}

static struct json_object *links_object(const struct model *model, const struct report *r)
{
	struct json_object *root = json_object_new_object(), *kinds = json_object_new_object();
	struct json_object *classes = json_object_new_array(), *pairs = json_object_new_array();

	for (int i = 0; i < MODEL_NR_LINKS; i++)
		json_object_object_add(kinds, model_link_name((enum model_link_kind)i),
				       link_object(&r->links->kinds[i]));
	for (uint32_t i = 0; i < r->links->nr_classes; i++) {
		const struct report_link *l = &r->links->classes[i];
		struct json_object *o = link_object(l);

		put_text(o, "kind", model_link_name(l->kind));
		put_text(o, "class", model_name(model, l->class_name));
		json_object_array_add(classes, o);
	}
	for (uint32_t i = 0; i < r->links->nr_pairs; i++) {
		const struct report_link *l = &r->links->pairs[i];
		struct json_object *o = link_object(l);

		put_text(o, "kind", model_link_name(l->kind));
		json_object_object_add(o, "from", link_who_json(model, &l->from));
		json_object_object_add(o, "to", link_who_json(model, &l->to));
		json_object_array_add(pairs, o);
	}
	json_object_object_add(root, "kinds", kinds);
	json_object_object_add(root, "classes", classes);
	json_object_object_add(root, "pairs", pairs);
	return root;
}

/* Times that were not seen are left out. */
static void put_time(struct json_object *o, const char *name, uint64_t time)
{
	if (time != TIME_NONE)
		put(o, name, time);
}

static struct json_object *connection_object(const struct model *model,
					     const struct report_connection *x)
{
	struct json_object *o = json_object_new_object(), *threads = json_object_new_array();
	const struct model_connection *c = &x->c;
	char text[MODEL_ADDRESS_ROOM];

	put(o, "number", c->number);
	put(o, "pid", model_info(model)->processes[c->process].pid);
	put(o, "fd", (uint64_t)c->fd);
	put_text(o, "origin", model_origin_name(c->origin));
	model_address_text(c, false, text);
	put_text(o, "local", text);
	model_address_text(c, true, text);
	put_text(o, "peer", text);
	put_time(o, "opened", c->opened);
	put_time(o, "first_byte", c->first_byte);
	put_time(o, "last_byte", c->last_byte);
	put_time(o, "closed", c->closed);
	json_object_object_add(o, "complete", json_object_new_boolean(c->complete));
	put(o, "bytes_in", c->bytes_in);
	put(o, "bytes_out", c->bytes_out);
	put(o, "calls", c->calls);
	put(o, "requests", c->requests);
	put(o, "handovers", c->handovers);
	put(o, "kept", c->kept);
	put(o, "messages", c->messages);
	put(o, "other_end", c->other_end);
	if (c->opener.thread != MODEL_NO_THREAD)
		json_object_object_add(o, "opener", link_who_json(model, &c->opener));
	for (uint32_t i = 0; i < c->nr_threads && i < REPORT_SERVED; i++)
		json_object_array_add(threads, link_who_json(model, &x->threads[i]));
	json_object_object_add(o, "threads", threads);
	put(o, "nr_threads", c->nr_threads);
	return o;
}

static struct json_object *connections_object(const struct model *model, const struct report *r)
{
	const struct report_connections *s = r->connections;
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();

	put(o, "count", s->count);
	for (int i = 0; i < MODEL_NR_ORIGINS; i++)
		put(o, model_origin_name((enum model_connection_origin)i), s->origins[i]);
	put(o, "closed", s->closed);
	put(o, "incomplete", s->incomplete);
	put(o, "shared", s->shared);
	put(o, "no_address", s->no_address);
	put(o, "requests", s->requests);
	put(o, "handovers", s->handovers);
	put(o, "kept", s->kept);
	put(o, "answers", s->answers);
	put(o, "bytes_in", s->bytes_in);
	put(o, "bytes_out", s->bytes_out);
	for (uint32_t i = 0; i < s->nr_largest; i++)
		json_object_array_add(list, connection_object(model, &s->largest[i]));
	json_object_object_add(o, "list", list);
	put(o, "not_listed", s->count - s->nr_largest);
	return o;
}

static void put_vthread(struct json_object *o, const struct report_vthread *v)
{
	put(o, "running", v->running);
	put(o, "ready", v->ready);
	put(o, "to_mount", v->to_mount);
	put(o, "waiting", v->waited);
	put(o, "pinned", v->pinned);
	put(o, "unknown", v->unknown);
	put(o, "mounts", v->mounts);
}

static struct json_object *virtual_object(const struct model *model, const struct report *r)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();

	put_vthread(o, &r->virtuals->times);
	put(o, "others", r->virtuals->others);
	json_object_object_add(o, "reasons", reasons_object(r->virtuals->reasons));
	for (uint32_t i = 0; i < r->info->nr_vthreads; i++) {
		const struct model_vthread *v = &r->info->vthreads[i];
		struct json_object *one = json_object_new_object();

		put(one, "java_tid", v->java_tid);
		put(one, "pid", r->info->processes[v->process].pid);
		put_text(one, "name", model_name(model, v->name));
		put_vthread(one, &r->vthreads[i]);
		json_object_object_add(one, "reasons",
				       reasons_object(
					       &r->vthread_reasons[(size_t)i * MODEL_NR_REASONS]));
		json_object_array_add(list, one);
	}
	json_object_object_add(o, "threads", list);
	return o;
}

static struct json_object *thread_object(const struct report *r, uint32_t i)
{
	const struct report_thread *t = &r->threads[i];
	const struct thread_entry *entry = r->info->threads[i].entry;
	struct json_object *o = json_object_new_object();

	put(o, "tid", entry->tid);
	if (entry->java_tid)
		put(o, "java_tid", entry->java_tid);
	put_who(o, entry->pid, entry->name, &t->times);
	json_object_object_add(o, "top_waker", top_object(r, &t->waker, "count"));
	json_object_object_add(o, "top_behind", top_object(r, &t->behind, "time"));
	json_object_object_add(o, "reasons",
			       reasons_object(&r->thread_reasons[(size_t)i * MODEL_NR_REASONS]));
	return o;
}

static struct json_object *process_object(const struct report *r, uint32_t i)
{
	const struct report_process *p = &r->processes[i];
	struct json_object *o = json_object_new_object();

	put_who(o, r->info->processes[i].pid, process_entry_name(&r->info->processes[i]),
		&p->times);
	put(o, "threads", p->nr_threads);
	put(o, "most_threads", p->most_threads);
	put(o, "gc_count", p->gc_count);
	put(o, "gc_time", p->gc_time);
	put(o, "gc_longest", p->gc_longest);
	put(o, "markers", p->markers);
	put(o, "spans", p->spans);
	report_json_process_doings(o, r, i);
	return o;
}

static void put_first(const struct model *model, struct json_object *all, const char *name,
		      uint64_t n, const struct model_first *first)
{
	struct json_object *o;

	if (!n)
		return;
	o = json_object_new_object();
	put(o, "time", first->time);
	if (first->who.thread != MODEL_NO_THREAD || first->who.vthread != MODEL_NO_THREAD)
		json_object_object_add(o, "thread", link_who_json(model, &first->who));
	json_object_object_add(all, name, o);
}

static struct json_object *counts_object(const struct model *model, const struct model_counts *c)
{
	struct json_object *o = json_object_new_object(), *errors = json_object_new_object();
	struct json_object *conflicts = json_object_new_object(), *first = json_object_new_object();
	struct json_object *kinds = json_object_new_object();

	put(o, "events", c->events);
	put(o, "switches", c->switches);
	put(o, "wakeups", c->wakeups);
	put(o, "wakings_on_cpu", c->wakings_on_cpu);
	put(o, "contradictions", c->contradictions);
	put(o, "unseen_switches", c->unseen_switches);
	put(o, "unbalanced_spans", c->unbalanced_spans);
	put(o, "backward_steps", c->backward_steps);
	put(o, "unknown_threads", c->unknown_threads);
	put(o, "forgotten_tasks", c->forgotten_tasks);
	put(o, "stacks_left_out", c->stacks_left_out);
	put(o, "lost", c->lost);
	for (int i = 0; i < MODEL_NR_CONFLICTS; i++) {
		const char *name = model_conflict_name((enum model_conflict)i);

		put(conflicts, name, c->conflicts[i]);
		put_first(model, first, name, c->conflicts[i], &c->first_conflict[i]);
	}
	for (int i = 0; i < MODEL_NR_ERRORS; i++) {
		const char *name = model_error_name((enum model_error)i);

		put(model_error_contradicts((enum model_error)i) ? kinds : errors, name,
		    c->errors[i]);
		put_first(model, first, name, c->errors[i], &c->first_error[i]);
	}
	json_object_object_add(o, "conflicts", conflicts);
	json_object_object_add(o, "contradiction_kinds", kinds);
	json_object_object_add(o, "errors", errors);
	json_object_object_add(o, "first", first);
	return o;
}

int report_print_json(const struct model *model, const struct report *r)
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
	json_object_object_add(root, "reasons", reasons_object(r->reasons));
	json_object_object_add(root, "locks", locks_array(model, r));
	json_object_object_add(root, "peers", peers_array(model, r));
	report_tasks_json(model, r, root);
	report_json_places(root, model, r);
	report_json_doings(root, model, r);
	json_object_object_add(root, "links", links_object(model, r));
	json_object_object_add(root, "connections", connections_object(model, r));
	json_object_object_add(root, "virtual_threads", virtual_object(model, r));
	json_object_object_add(root, "parallelism", json_object_new_double(r->parallelism));
	put(root, "stolen", r->stolen);
	put(root, "damages", r->damage.intervals + r->user_damage.intervals);
	put(root, "damaged_time", r->damage.time + r->user_damage.time);
	json_object_object_add(root, "missing", missing_object(r));
	json_object_object_add(root, "counts", counts_object(model, &r->counts));
	puts(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY |
							  JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(root);
	return ferror(stdout) ? -EIO : 0;
}
