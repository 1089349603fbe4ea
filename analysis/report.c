/* SPDX-License-Identifier: MIT */
/*
 * Counts what the model tells. Pairs of waker and woken are kept in a hash table; all else is one
 * entry a thread, process or CPU. Never prints.
 */
#include <errno.h>
#include <stdlib.h>

#include "report.h"
#include "report_doings.h"
#include "report_links.h"
#include "report_pairs.h"
#include "report_places.h"
#include "report_reasons.h"
#include "report_tasks.h"

struct run_thread {
	enum model_state_kind last; /* kind of the last state told */
	uint64_t last_end;
};

struct run_process {
	uint64_t gc_begin;
	int64_t gc_number;
	bool in_gc;
	bool gc_lost; /* its end may be among missing records */
};

struct report_run {
	struct report report;
	struct model_sink sink;
	struct report_thread *threads;
	struct report_process *processes;
	struct model_cpu_time *cpus;
	uint64_t *at_once;
	struct run_thread *run_threads;
	struct run_process *run_processes;
	struct pairs wakers, behind;
	struct reasons_run reasons;
	struct places_run places;
	struct tasks_run tasks;
	struct doings_run doings;
	struct links_run links;
	uint64_t running_since;
	uint32_t running;
};

/* Begin and end ------------------------------------------------------------------------------ */

struct life_change {
	uint64_t time;
	int step;
};

static int change_compare(const void *a, const void *b)
{
	const struct life_change *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->step - y->step;
}

/* Counts the threads of process @index and how many lived at once. @list has room for all. */
static void count_threads(struct report_run *r, uint32_t index, const uint32_t *threads, uint32_t n,
			  struct life_change *list)
{
	const struct model_info *info = r->report.info;
	struct report_process *p = &r->processes[index];
	uint32_t changes = 0, now = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct model_thread *t = &info->threads[threads[i]];

		if (!t->selected || t->birth >= info->end || t->death <= info->begin)
			continue;
		p->nr_threads++;
		list[changes++] = (struct life_change){t->birth, 1};
		list[changes++] = (struct life_change){t->death, -1};
	}
	qsort(list, changes, sizeof(*list), change_compare);
	for (uint32_t i = 0; i < changes; i++) {
		now = (uint32_t)((int64_t)now + list[i].step);
		if (now > p->most_threads)
			p->most_threads = now;
	}
}

/* Groups the threads by process and counts each group. */
static int count_processes(struct report_run *r)
{
	const struct model_info *info = r->report.info;
	uint32_t *start = calloc(info->nr_processes + 2ull, sizeof(*start));
	uint32_t *list = calloc(info->nr_threads + 1ull, sizeof(*list));
	struct life_change *changes = calloc(info->nr_threads * 2ull + 1, sizeof(*changes));
	int err = start && list && changes ? 0 : -ENOMEM;

	if (err)
		goto out;
	for (uint32_t i = 0; i < info->nr_threads; i++)
		start[info->threads[i].process + 2]++;
	for (uint32_t i = 2; i < info->nr_processes + 2; i++)
		start[i] += start[i - 1];
	for (uint32_t i = 0; i < info->nr_threads; i++)
		list[start[info->threads[i].process + 1]++] = i;
	for (uint32_t i = 0; i < info->nr_processes; i++)
		count_threads(r, i, list + start[i], start[i + 1] - start[i], changes);
out:
	free(start);
	free(list);
	free(changes);
	return err;
}

static int on_begin(void *ctx, const struct model_info *info)
{
	struct report_run *r = ctx;

	r->report.info = info;
	r->threads = calloc(info->nr_threads + 1ull, sizeof(*r->threads));
	r->run_threads = calloc(info->nr_threads + 1ull, sizeof(*r->run_threads));
	r->processes = calloc(info->nr_processes + 1ull, sizeof(*r->processes));
	r->run_processes = calloc(info->nr_processes + 1ull, sizeof(*r->run_processes));
	r->cpus = calloc(info->nr_cpus, sizeof(*r->cpus));
	r->at_once = calloc(info->nr_cpus + 1ull, sizeof(*r->at_once));
	if (!r->threads || !r->run_threads || !r->processes || !r->run_processes || !r->cpus ||
	    !r->at_once)
		return -ENOMEM;
	r->report.threads = r->threads;
	r->report.processes = r->processes;
	r->report.cpus = r->cpus;
	r->report.at_once = r->at_once;
	r->report.nr_at_once = info->nr_cpus + 1;
	r->running_since = info->begin;
	pools_begin(&r->tasks, info);
	links_begin(&r->links);
	places_begin(&r->places);
	if (reasons_begin(&r->reasons, info) || doings_begin(&r->doings, info))
		return -ENOMEM;
	return count_processes(r);
}

static void times_add(struct report_times *to, const struct report_times *from)
{
	for (int i = 0; i < MODEL_NR_STATES; i++)
		to->state[i] += from->state[i];
	to->preempted += from->preempted;
	to->throttled += from->throttled;
	for (int i = 0; i < 4; i++)
		to->behind[i] += from->behind[i];
	to->stolen += from->stolen;
	to->voluntary += from->voluntary;
	to->involuntary += from->involuntary;
	to->wakeups += from->wakeups;
	to->woke += from->woke;
	to->wake_time += from->wake_time;
}

/* [running_since, t) with the same number of threads running. */
static void at_once_until(struct report_run *r, uint64_t t)
{
	const struct model_info *info = r->report.info;

	if (t > info->end)
		t = info->end;
	if (t <= r->running_since)
		return;
	if (r->running < r->report.nr_at_once)
		r->at_once[r->running] += t - r->running_since;
	r->running_since = t;
}

static void gc_close(struct report_run *r, uint32_t process, uint64_t t)
{
	struct run_process *run = &r->run_processes[process];
	struct report_process *p = &r->processes[process];
	uint64_t length = t - run->gc_begin;

	p->gc_time += length;
	if (length > p->gc_longest)
		p->gc_longest = length;
	run->in_gc = false;
}

static int on_end(void *ctx, const struct model_counts *counts)
{
	struct report_run *r = ctx;
	const struct model_info *info = r->report.info;

	at_once_until(r, info->end);
	for (uint32_t i = 0; i < info->nr_threads; i++) {
		times_add(&r->processes[info->threads[i].process].times, &r->threads[i].times);
		times_add(&r->report.total, &r->threads[i].times);
	}
	for (uint32_t i = 0; i < info->nr_processes; i++) {
		if (r->run_processes[i].in_gc && r->run_processes[i].gc_lost)
			r->processes[i].gc_unpaired++;
		else if (r->run_processes[i].in_gc)
			gc_close(r, i, info->end);
	}
	if (info->end > info->begin)
		r->report.parallelism = (double)r->report.total.state[MODEL_RUNNING] /
					(double)(info->end - info->begin);
	r->report.counts = *counts;
	pairs_top_wakers(&r->wakers, r->threads);
	pairs_top_behind(&r->behind, r->threads);
	if (doings_end(&r->doings, &r->report) || links_end(&r->links, &r->report) ||
	    places_end(&r->places, &r->report))
		return -ENOMEM;
	return reasons_end(&r->reasons, &r->report) || pools_end(&r->tasks, &r->report) ? -ENOMEM
											: 0;
}

/* Events ------------------------------------------------------------------------------------- */

static int on_state(void *ctx, const struct model_state *s)
{
	struct report_run *r = ctx;
	struct report_times *times = &r->threads[s->thread].times;
	struct run_thread *run = &r->run_threads[s->thread];

	times->state[s->kind] += s->end - s->begin;
	if (s->kind == MODEL_READY && s->preempted)
		times->preempted += s->end - s->begin;
	if (s->kind == MODEL_READY && s->throttled)
		times->throttled += s->end - s->begin;
	if (run->last == MODEL_RUNNING && run->last_end == s->begin) {
		if (s->kind == MODEL_READY)
			times->involuntary++;
		else if (s->kind >= MODEL_BLOCKED_INTERRUPTIBLE)
			times->voluntary++;
	}
	run->last = s->kind;
	run->last_end = s->end;
	pools_state(&r->tasks, s);
	return reasons_state(&r->reasons, s);
}

static int on_java_wait(void *ctx, const struct model_java_wait *w)
{
	struct report_run *r = ctx;
	int err = reasons_java_wait(&r->reasons, w);

	err = err ? err : places_java_wait(&r->places, w);
	return err ? err : pools_java_wait(&r->tasks, w);
}

static int on_task(void *ctx, const struct model_task *t)
{
	return pools_task(&((struct report_run *)ctx)->tasks, t);
}

static int on_vstate(void *ctx, const struct model_vstate *s)
{
	return reasons_vstate(&((struct report_run *)ctx)->reasons, s);
}

static int on_link(void *ctx, const struct model_link *l)
{
	return links_add(&((struct report_run *)ctx)->links, l);
}

static int on_connection(void *ctx, const struct model_connection *c)
{
	return links_connection(&((struct report_run *)ctx)->links, c);
}

static int on_cpu(void *ctx, const struct model_cpu *c)
{
	struct report_run *r = ctx;

	r->cpus[c->cpu].occupant[c->occupant] += c->end - c->begin;
	return 0;
}

static int on_wakeup(void *ctx, const struct model_wakeup *w)
{
	struct report_run *r = ctx;
	struct report_times *times = &r->threads[w->thread].times;
	struct pair key = {.thread = w->thread, .waker_index = MODEL_NO_THREAD};

	times->wakeups++;
	times->wake_time += w->ready - w->waking;
	if (reasons_wakeup(&r->reasons, w))
		return -ENOMEM;
	if (w->context == JIS_WAKER_SOFTIRQ) {
		key.waker = REPORT_WAKER_SOFTIRQ;
	} else if (w->context == JIS_WAKER_HARDIRQ) {
		key.waker = REPORT_WAKER_HARDIRQ;
	} else if (w->context == JIS_WAKER_NMI) {
		key.waker = REPORT_WAKER_NMI;
	} else if (w->context == JIS_WAKER_TIMER) {
		key.waker = REPORT_WAKER_TIMER;
	} else if (w->waker != MODEL_NO_THREAD) {
		key.waker = REPORT_WAKER_THREAD;
		key.waker_index = w->waker;
		if (r->report.info->threads[w->waker].selected)
			r->threads[w->waker].times.woke++;
	} else if (!w->waker_tid) {
		key.waker = REPORT_WAKER_IDLE;
	} else {
		key.waker = REPORT_WAKER_FOREIGN;
		key.waker_index = w->waker_foreign;
		key.waker_tid = w->waker_tid;
	}
	return pairs_add(&r->wakers, &key, 1);
}

static int on_wait(void *ctx, const struct model_wait *w)
{
	struct report_run *r = ctx;
	struct pair key = {.thread = w->thread, .waker_index = MODEL_NO_THREAD};

	/* While it is throttled it is not who has the CPU that keeps it from there. */
	if (w->throttled)
		return 0;
	r->threads[w->thread].times.behind[w->occupant] += w->end - w->begin;
	if (w->occupant == MODEL_CPU_IDLE) {
		key.waker = REPORT_WAKER_IDLE;
	} else if (w->occupant == MODEL_CPU_TARGET) {
		key.waker = REPORT_WAKER_THREAD;
		key.waker_index = w->occupant_index;
	} else {
		key.waker = REPORT_WAKER_FOREIGN;
		key.waker_index = w->occupant_index;
		key.waker_tid = w->tid;
	}
	return pairs_add(&r->behind, &key, w->end - w->begin);
}

static int on_steal(void *ctx, const struct model_steal *s)
{
	struct report_run *r = ctx;

	r->report.stolen += s->stolen;
	if (s->thread != MODEL_NO_THREAD && r->report.info->threads[s->thread].selected)
		r->threads[s->thread].times.stolen += s->stolen;
	return 0;
}

static void on_gc(struct report_run *r, const struct model_event *e)
{
	struct run_process *run = &r->run_processes[e->process];
	struct report_process *p = &r->processes[e->process];

	if (e->kind == MODEL_EVENT_GC_FINISH && run->in_gc && run->gc_number == e->value) {
		gc_close(r, e->process, e->time);
		return;
	}
	/* The end of the former is missing: how long it took is not known. */
	if (run->in_gc)
		p->gc_unpaired++;
	run->in_gc = e->kind == MODEL_EVENT_GC_START;
	if (!run->in_gc) {
		p->gc_unpaired++;
		return;
	}
	p->gc_count++;
	run->gc_begin = e->time;
	run->gc_number = e->value;
	run->gc_lost = false;
}

static int on_event(void *ctx, const struct model_event *e)
{
	struct report_run *r = ctx;

	if (e->process >= r->report.info->nr_processes)
		return 0;
	switch (e->kind) {
	case MODEL_EVENT_GC_START:
	case MODEL_EVENT_GC_FINISH:
		on_gc(r, e);
		break;
	case MODEL_EVENT_GC_LOST:
		r->run_processes[e->process].gc_lost = true;
		break;
	case MODEL_EVENT_MARKER:
		r->processes[e->process].markers++;
		break;
	case MODEL_EVENT_SPAN_BEGIN:
		r->processes[e->process].spans++;
		break;
	case MODEL_EVENT_MOUNT:
		if (e->vthread != MODEL_NO_THREAD)
			r->reasons.vthreads[e->vthread].mounts++;
		r->reasons.virtuals.times.mounts++;
		break;
	case MODEL_EVENT_THREAD_START:
		return places_start(&r->places, e);
	default:
		return doings_event(&r->doings, e);
	}
	return 0;
}

static int on_running(void *ctx, uint64_t time, uint32_t nr)
{
	struct report_run *r = ctx;

	at_once_until(r, time);
	r->running = nr;
	return 0;
}

static int on_damage(void *ctx, const struct model_damage *d)
{
	struct report_run *r = ctx;
	struct report_damage *to =
		d->process == UINT32_MAX ? &r->report.damage : &r->report.user_damage;

	to->intervals++;
	if (d->end > d->begin)
		to->time += d->end - d->begin;
	return 0;
}

struct report_run *report_new(void)
{
	struct report_run *r = calloc(1, sizeof(*r));

	if (r)
		r->sink = (struct model_sink){.begin = on_begin,
					      .state = on_state,
					      .cpu = on_cpu,
					      .wakeup = on_wakeup,
					      .wait = on_wait,
					      .steal = on_steal,
					      .event = on_event,
					      .running = on_running,
					      .damage = on_damage,
					      .vstate = on_vstate,
					      .java_wait = on_java_wait,
					      .task = on_task,
					      .link = on_link,
					      .connection = on_connection,
					      .end = on_end,
					      .ctx = r,
					      .wants_reasons = true};
	return r;
}

const struct model_sink *report_sink(const struct report_run *r)
{
	return &r->sink;
}

const struct report *report_get(const struct report_run *r)
{
	return &r->report;
}

void report_free(struct report_run *r)
{
	if (!r)
		return;
	free(r->threads);
	free(r->run_threads);
	free(r->processes);
	free(r->run_processes);
	free(r->cpus);
	free(r->at_once);
	pairs_fini(&r->wakers);
	pairs_fini(&r->behind);
	reasons_fini(&r->reasons);
	places_fini(&r->places);
	pools_fini(&r->tasks);
	doings_fini(&r->doings);
	free((void *)r->report.doings);
	links_fini(&r->links);
	free((void *)r->report.locks);
	free((void *)r->report.peers);
	free((void *)r->report.pools);
	free((void *)r->report.handovers);
	free(r);
}
