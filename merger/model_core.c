/* SPDX-License-Identifier: MIT */
/*
 * A model from its making to its end, whatever feeds it: tables from the manifest, selection and
 * window, dispatch of events, telling the sinks. Opens no file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model_int.h"

static const char *const state_names[MODEL_NR_STATES] = {
	[MODEL_UNKNOWN] = "unknown",
	[MODEL_NOT_CREATED] = "not created",
	[MODEL_RUNNING] = "running",
	[MODEL_READY] = "ready",
	[MODEL_BLOCKED_INTERRUPTIBLE] = "blocked",
	[MODEL_BLOCKED_UNINTERRUPTIBLE] = "blocked uninterruptibly",
	[MODEL_STOPPED] = "stopped",
	[MODEL_EXITED] = "exited",
};

const char *model_state_name(enum model_state_kind kind)
{
	return (unsigned int)kind < MODEL_NR_STATES ? state_names[kind] : "?";
}

const struct model_info *model_info(const struct model *m)
{
	return &m->info;
}

/* Telling the sinks -------------------------------------------------------------------------- */

/* A state that only matters to calls, or to the virtual thread on its carrier. */
static SELDOM void emit_carried(struct model *m, uint32_t life, enum model_state_kind kind,
				uint64_t begin, uint64_t end)
{
	const struct model_state out = {
		.thread = life,
		.kind = kind,
		.cpu = m->lives[life].cpu,
		.begin = begin,
		.end = end,
		.successor = NONE,
		.reason = m->reasons ? reason_of(m, life, kind, begin, end) : NULL,
	};

	if (m->on_vstate.nr && m->whys[life].mounted)
		vthread_carried(m, m->whys[life].mounted, &out);
	if (m->methods)
		methods_state(m, life, kind, begin, end, out.reason);
}

void emit_state(struct model *m, uint32_t life, enum model_state_kind kind, uint64_t begin,
		uint64_t end, uint32_t successor)
{
	const struct life *l = &m->lives[life];
	struct model_state out;

	if (begin < m->info.begin)
		begin = m->info.begin;
	if (end > m->info.end)
		end = m->info.end;
	if (begin >= end)
		return;
	if (!(l->flags & LIFE_SELECTED) || !m->on_state.nr) {
		if ((m->on_vstate.nr && m->whys[life].mounted) || m->methods)
			emit_carried(m, life, kind, begin, end);
		return;
	}
	out.thread = life;
	out.kind = kind;
	out.cpu = l->cpu; /* MODEL_NO_CPU unless it runs */
	out.begin = begin;
	out.end = end;
	/* What comes after the window is told to nobody. */
	out.successor = end < m->info.end ? successor : NONE;
	out.preempted = (l->flags & LIFE_PREEMPTED) != 0; /* kept only while READY */
	out.throttled = (l->flags & LIFE_THROTTLED) != 0; /* likewise */
	out.more = m->runs_on && end < m->info.end;
	out.in_task = m->tasks && tasks_open(m, life);
	out.reason = NULL;
	if (m->reasons)
		out.reason = m->wait_reason = reason_of(m, life, kind, begin, end);
	if (m->on_vstate.nr && m->whys[life].mounted)
		vthread_carried(m, m->whys[life].mounted, &out);
	if (m->methods)
		methods_state(m, life, kind, begin, end, out.reason);
	for (uint32_t i = 0; i < m->on_state.nr; i++) {
		const struct model_sink *s = m->on_state.sinks[i];
		int err = s->state(s->ctx, &out);

		if (__builtin_expect(err, 0) && !m->error)
			m->error = err;
	}
}

void emit_event(struct model *m, struct model_event *event)
{
	event->cpu = MODEL_NO_CPU;
	event->vthread = NONE;
	if (event->thread != NONE)
		event->process = m->threads[event->thread].process;
	if (event->java_tid && m->info.nr_vthreads)
		event->vthread = vthread_row(m, event->process, event->java_tid);
	if (event->thread != NONE) {
		const struct life *l = &m->lives[event->thread];

		if (!(l->flags & LIFE_SELECTED) &&
		    (event->vthread == NONE || !m->info.vthreads[event->vthread].selected))
			return;
		if (l->kind == MODEL_RUNNING) {
			event->cpu = l->cpu;
			m->cpus[l->cpu].told = event->time;
		}
	}
	if (event->time < m->info.begin || event->time > m->info.end || !m->on_event.nr)
		return;
	if (event->text)
		event->name = name_intern(m, event->text, strlen(event->text));
	for (uint32_t i = 0; i < m->on_event.nr; i++) {
		const struct model_sink *s = m->on_event.sinks[i];
		int err = s->event(s->ctx, event);

		if (err && !m->error)
			m->error = err;
	}
}

void emit_running(struct model *m, uint64_t t)
{
	for (uint32_t i = 0; i < m->on_running.nr; i++) {
		const struct model_sink *s = m->on_running.sinks[i];
		int err = s->running(s->ctx, t, m->nr_running);

		if (err && !m->error)
			m->error = err;
	}
}

/* Tables ------------------------------------------------------------------------------------- */

bool name_selected(const char *wanted, const char *name, uint32_t id)
{
	char *end;
	unsigned long number;

	if (!wanted)
		return true;
	number = strtoul(wanted, &end, 10);
	if (*wanted && !*end && id != NONE && number == id)
		return true;
	return name && strstr(name, wanted);
}

/* The process of @e: the last of its pid that began before it. Processes no table names are added.
 */
static uint32_t process_of(struct model *m, const struct thread_entry *e, uint32_t hint)
{
	uint32_t found = NONE;

	if (hint != NONE && m->processes[hint].pid == e->pid &&
	    (hint + 1 == m->info.nr_processes || m->processes[hint + 1].pid != e->pid) &&
	    m->processes[hint].start_time <= e->start_time)
		return hint;
	for (uint32_t i = 0; i < m->info.nr_processes; i++) {
		const struct process_entry *p = &m->processes[i];

		if (p->pid != e->pid)
			continue;
		if (found == NONE || (p->start_time <= e->start_time &&
				      p->start_time >= m->processes[found].start_time))
			found = i;
	}
	if (found == NONE) {
		found = m->info.nr_processes++;
		m->processes[found] = (struct process_entry){.pid = e->pid, .name = e->comm};
	}
	return found;
}

static int tables_init(struct model *m)
{
	const struct manifest *man = m->info.manifest;
	uint32_t process = NONE;

	m->info.nr_processes = man->nr_processes;
	/* Each thread may add one process. */
	m->processes =
		calloc(man->nr_processes + (uint64_t)man->nr_threads + 1, sizeof(*m->processes));
	m->threads = calloc(man->nr_threads + 1ull, sizeof(*m->threads));
	m->lives = calloc(man->nr_threads + 1ull, sizeof(*m->lives));
	m->known = calloc(man->nr_threads + 1ull, sizeof(*m->known));
	m->cpus = calloc(m->info.nr_cpus, sizeof(*m->cpus));
	m->whys = calloc(man->nr_threads + 1ull, sizeof(*m->whys));
	if (!m->processes || !m->threads || !m->lives || !m->known || !m->cpus || !m->whys)
		return -ENOMEM;
	if (man->nr_processes)
		memcpy(m->processes, man->processes, man->nr_processes * sizeof(*m->processes));
	for (uint32_t i = 0; i < man->nr_threads; i++) {
		const struct thread_entry *e = &man->threads[i];
		struct model_thread *t = &m->threads[i];

		process = process_of(m, e, process);
		t->entry = e;
		t->process = process;
		t->birth = e->birth == TIME_NONE ? 0 : clock_scale_ns(&m->scale, e->birth);
		t->death = e->death == TIME_NONE ? TIME_NONE : clock_scale_ns(&m->scale, e->death);
		t->selected =
			name_selected(m->options.thread, e->name ? e->name : e->comm, e->tid) &&
			process_entry_wanted(&m->processes[process], m->options.process);
	}
	m->info.nr_threads = man->nr_threads;
	m->info.threads = m->threads;
	m->info.processes = m->processes;
	return 0;
}

/* Before its first evidence a thread that was forked later does not exist; of others nothing is
 * known. */
static void states_init(struct model *m)
{
	for (uint32_t i = 0; i < m->info.nr_threads; i++) {
		struct life *l = &m->lives[i];

		l->cpu = MODEL_NO_CPU;
		l->queue = l->cgroup = NONE;
		l->kind =
			m->threads[i].entry->birth == TIME_NONE ? MODEL_UNKNOWN : MODEL_NOT_CREATED;
		if (m->threads[i].selected)
			l->flags |= LIFE_SELECTED;
	}
	for (uint32_t i = 0; i < m->info.nr_cpus; i++)
		m->cpus[i].thread = NONE;
	for (uint32_t i = 0; i < m->nr_streams; i++)
		m->streams[i].owner = NONE;
}

static void window_init(struct model *m)
{
	const struct manifest *man = m->info.manifest;
	uint64_t end = clock_scale_ns(&m->scale, man->end);

	if (end > TIME_MAX)
		end = TIME_MAX;
	m->to_given = m->options.to && m->options.to < end;
	m->info.end = m->to_given ? m->options.to : end;
	m->info.begin = m->options.from < m->info.end ? m->options.from : m->info.end;
}

/* Threads of hosts after the first have numbers above the kernel's. */
static uint32_t tid_pages(const struct manifest *man)
{
	uint64_t hosts = man->nr_hosts < MANIFEST_HOSTS_MAX ? man->nr_hosts : MANIFEST_HOSTS_MAX;
	uint64_t top = MAX_TID + (hosts ? hosts - 1 : 0) * MANIFEST_HOST_STRIDE;

	return (uint32_t)((top + (1u << TID_PAGE_BITS) - 1) >> TID_PAGE_BITS);
}

int model_new(const struct manifest *manifest, const struct model_options *options,
	      const struct stream_cursor *streams, uint32_t nr, struct model **out)
{
	struct model *m;
	uint32_t pages;
	int err = -ENOMEM;

	if (!manifest->frequency)
		return -EINVAL;
	pages = tid_pages(manifest);
	m = calloc(1, sizeof(*m) + pages * sizeof(m->tid_pages[0]));
	if (!m)
		return -ENOMEM;
	m->nr_tid_pages = pages;
	if (options)
		m->options = *options;
	m->info.manifest = manifest;
	m->info.nr_cpus = manifest->nr_cpus > MAX_CPUS ? MAX_CPUS : manifest->nr_cpus;
	if (!m->info.nr_cpus)
		m->info.nr_cpus = 1;
	m->next_due = TIME_NONE;
	m->stream_base = streams;
	m->nr_streams = nr;
	clock_scale_init(&m->scale, manifest->frequency, manifest->begin);
	window_init(m);
	m->streams = calloc(nr + 1ull, sizeof(*m->streams));
	if (!m->streams)
		goto err_free;
	err = tables_init(m);
	if (err)
		goto err_free;
	m->strings = calloc(2 * (m->info.nr_processes + 1ull), sizeof(*m->strings));
	m->runs = calloc(m->info.nr_processes + 1ull, sizeof(*m->runs));
	err = m->strings && m->runs ? model_threads_init(m) : -ENOMEM;
	if (!err)
		err = hosts_init(m);
	if (!err)
		err = calls_init(m);
	if (!err)
		err = conns_init(m);
	if (err)
		goto err_free;
	states_init(m);
	reasons_init(m);
	waits_init(m);
	err = loss_manifest(m);
	if (err)
		goto err_free;
	*out = m;
	return 0;

err_free:
	model_free(m);
	return err;
}

void model_free(struct model *m)
{
	if (!m)
		return;
	conns_fini(m); /* before what they hang on */
	model_threads_fini(m);
	methods_fini(m);
	contexts_fini(m);
	model_java_fini(m);
	jthreads_fini(m);
	vthreads_fini(m);
	calls_fini(m);
	model_names_fini(&m->names);
	waits_fini(m);
	hosts_fini(m);
	free(m->lives);
	free(m->whys);
	free(m->known);
	free(m->cpus);
	free(m->threads);
	free(m->processes);
	free(m->streams);
	free(m->losses);
	free(m);
}

/* Running ------------------------------------------------------------------------------------ */

#define MAX_SINKS (sizeof(((struct callbacks *)0)->sinks) / sizeof(void *))

static void callback_add(struct callbacks *c, const struct model_sink *sink, bool wanted)
{
	if (wanted)
		c->sinks[c->nr++] = sink;
}

int model_begin(struct model *m, const struct model_sink *const *sinks, uint32_t nr_sinks)
{
	bool bare = true;

	if (nr_sinks > MAX_SINKS || m->ran)
		return -EINVAL;
	m->ran = true;
	m->sinks = sinks;
	m->nr_sinks = nr_sinks;
	m->error = vthreads_ready(m);
	for (uint32_t i = 0; i < nr_sinks; i++) {
		const struct model_sink *s = sinks[i];
		int err = s->begin ? s->begin(s->ctx, &m->info) : 0;

		if (err)
			return err;
		callback_add(&m->on_state, s, s->state);
		callback_add(&m->on_cpu, s, s->cpu);
		callback_add(&m->on_wakeup, s, s->wakeup);
		callback_add(&m->on_event, s, s->event);
		callback_add(&m->on_running, s, s->running);
		callback_add(&m->on_damage, s, s->damage);
		callback_add(&m->on_wait, s, s->wait);
		callback_add(&m->on_steal, s, s->steal);
		callback_add(&m->on_vstate, s, s->vstate);
		callback_add(&m->on_java_wait, s, s->java_wait);
		callback_add(&m->on_task, s, s->task);
		callback_add(&m->on_link, s, s->link);
		callback_add(&m->on_connection, s, s->connection);
		callback_add(&m->on_call_begin, s, s->call_begin);
		callback_add(&m->on_call_end, s, s->call_end);
		callback_add(&m->on_remote, s, s->remote);
		callback_add(&m->on_remote_begin, s, s->remote_begin);
		callback_add(&m->on_remote_end, s, s->remote_end);
		m->reasons |= s->wants_reasons || (s->call_end && !s->bare_calls);
		bare &= s->bare_calls || (!s->call_begin && !s->call_end);
	}
	if (m->on_call_begin.nr || m->on_call_end.nr)
		return methods_init(m, bare);
	return m->error;
}

void model_packet(struct model *m, const struct stream_cursor *c,
		  const struct jis_packet_header *header)
{
	m->bytes_done += header->content_size / 8;
	loss_packet(m, c, header);
	if (c->stream_class == JIS_STREAM_USER)
		user_packet(m, c, header);
}

int model_feed(struct model *m, const struct stream_cursor *c)
{
	uint64_t t = clock_scale_ns(&m->scale, c->time);

	if (t < m->now)
		t = m->now;
	if (t >= m->next_due)
		loss_due(m, t);
	m->now = t;
	m->counts.events++;
	switch (c->stream_class) {
	case JIS_STREAM_KERNEL:
		kernel_event(m, c, t);
		break;
	case JIS_STREAM_USER:
		user_event(m, c, t);
		break;
	case JIS_STREAM_DICT:
		dict_event(m, c, t);
		break;
	case JIS_STREAM_RECORDER:
		model_recorder_event(m, c, t);
		break;
	}
	return m->error;
}

/* All that was lost of the kernel's streams, or (@user) of processes' own: what the manifest
 * counts, or what the packets told where that is more. Of a window: what its losses told. */
static uint64_t lost_of(const struct model *m, bool user)
{
	const struct manifest *man = m->info.manifest;
	uint64_t counted = 0, told = 0;

	if (m->info.begin || m->to_given)
		return m->window_lost[user];
	for (uint32_t i = 0; i < man->nr_streams; i++) {
		if ((man->streams[i].stream_class >= JIS_STREAM_USER) != user)
			continue;
		for (uint32_t type = 0; type < JIS_MAX_EVENT_ID; type++)
			counted += man->streams[i].lost[type];
	}
	for (uint32_t i = 0; i < m->nr_streams; i++) {
		if ((m->stream_base[i].stream_class >= JIS_STREAM_USER) == user)
			told += m->streams[i].discarded;
	}
	return counted > told ? counted : told;
}

int model_finish(struct model *m)
{
	if (m->error)
		return m->error;
	loss_due(m, m->info.end);
	for (uint32_t i = 0; i < m->info.nr_cpus; i++)
		waits_until(m, i, m->info.end);
	lives_finish(m);
	cpus_finish(m);
	vthreads_finish(m);
	if (m->methods)
		methods_finish(m);
	if (m->now < m->info.end)
		m->now = m->info.end;
	jthreads_finish(m);
	conns_finish(m);
	for (uint32_t i = 0; m->nests.table && i <= m->nests.mask; i++) {
		if (m->nests.table[i].process != NONE)
			m->counts.unbalanced_spans += m->nests.table[i].depth;
	}
	m->counts.lost_user = lost_of(m, true);
	m->counts.lost = lost_of(m, false) + m->counts.lost_user;
	for (uint32_t i = 0; !m->error && i < m->nr_sinks; i++) {
		if (m->sinks[i]->end)
			m->error = m->sinks[i]->end(m->sinks[i]->ctx, &m->counts);
	}
	return m->error;
}
