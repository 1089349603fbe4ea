/* SPDX-License-Identifier: MIT */
/*
 * Why a thread that is ready does not run: who has the CPU in whose run queue it is, or that its
 * cgroup's quota is used up. Each CPU has a list of the threads known to be ready there. While it
 * is not empty the module records every switch of that CPU, so the first one after a thread came
 * tells who had the CPU since.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model_int.h"
#include "trace/grow.h"

void waits_init(struct model *m)
{
	const struct manifest *man = m->info.manifest;

	for (uint32_t i = 0; i < m->info.nr_cpus; i++) {
		struct cpu_run *c = &m->cpus[i];
		const char *backend = man->nr_hosts ? man->hosts[c->host].backend : man->backend;

		c->queue = NONE;
		c->waits_known = man->all_switches || (backend && strcmp(backend, "kmod") == 0);
		m->info.waits_known |= c->waits_known;
	}
}

void waits_fini(struct model *m)
{
	for (uint32_t i = 0; i < m->nr_groups; i++) {
		free(m->groups[i].path);
		free(m->groups[i].throttled);
	}
	free(m->groups);
}

/* Telling ------------------------------------------------------------------------------------ */

/* @life waited behind @who since this was told last, until @t. */
static void wait_emit(struct model *m, uint32_t life, const struct cpu_run *who, uint64_t t)
{
	struct life *l = &m->lives[life];
	struct model_wait out = {
		.thread = life,
		.cpu = l->queue,
		.occupant = who->occupant,
		.occupant_index = who->thread,
		.tid = who->tid,
		.throttled = (l->flags & LIFE_THROTTLED) != 0,
		.begin = l->waited > who->since ? l->waited : who->since,
		.end = t,
	};

	if (t > l->waited)
		l->waited = t;
	if (out.begin < m->info.begin)
		out.begin = m->info.begin;
	if (out.end > m->info.end)
		out.end = m->info.end;
	if (out.begin >= out.end || !(l->flags & LIFE_SELECTED))
		return;
	for (uint32_t i = 0; i < m->on_wait.nr; i++) {
		const struct model_sink *s = m->on_wait.sinks[i];
		int err = s->wait(s->ctx, &out);

		if (err && !m->error)
			m->error = err;
	}
}

/* While a CPU's occupant is not known nothing is told of those who wait: the next switch may. */
void waits_until(struct model *m, uint32_t cpu, uint64_t t)
{
	const struct cpu_run *c = &m->cpus[cpu];

	if (c->occupant == MODEL_CPU_UNKNOWN || !m->on_wait.nr || !c->waits_known)
		return;
	for (uint32_t i = c->queue; i != NONE; i = m->lives[i].queue_next)
		wait_emit(m, i, c, t);
}

void waits_learn(struct model *m, uint32_t cpu, uint32_t tid, uint64_t t)
{
	struct cpu_run *c = &m->cpus[cpu];
	uint64_t since = c->queued > c->since ? c->queued : c->since;
	uint32_t life = thread_at(m, tid, t);
	const struct cpu_run who = {
		.since = since,
		.occupant = life != NONE ? MODEL_CPU_TARGET
			    : tid	 ? MODEL_CPU_FOREIGN
					 : MODEL_CPU_IDLE,
		.thread = life != NONE ? life
			  : tid	       ? foreign_at(m, tid, t)
				       : NONE,
		.tid = tid,
	};

	if (host_paused(m, c->host) || host_doubted(m, c->host, t))
		return;
	for (uint32_t i = c->queue; i != NONE; i = m->lives[i].queue_next)
		wait_emit(m, i, &who, t);
	/* That a target runs is for its own switch to tell. */
	if (life == NONE)
		cpu_set(m, cpu, who.occupant, who.thread, tid, since);
}

/* The queues --------------------------------------------------------------------------------- */

static bool group_is_throttled(const struct model *m, uint32_t group, uint32_t cpu)
{
	while (group != NONE) {
		const struct group *g = &m->groups[group];

		if (g->throttled && g->throttled[cpu / 8] & 1u << cpu % 8)
			return true;
		group = g->above;
	}
	return false;
}

/* Is it throttled where it waits? When that has changed, a new state of the same kind begins. */
static void wait_judge(struct model *m, uint32_t life, uint64_t t)
{
	struct life *l = &m->lives[life];
	bool was = l->flags & LIFE_THROTTLED;
	bool is = group_is_throttled(m, l->cgroup, l->queue);
	const struct cpu_run *c = &m->cpus[l->queue];

	if (was == is)
		return;
	if (t > l->since) {
		if (c->occupant != MODEL_CPU_UNKNOWN && c->waits_known)
			wait_emit(m, life, c, t);
		emit_state(m, life, MODEL_READY, l->since, t, NONE);
		l->since = t;
	}
	l->flags ^= LIFE_THROTTLED;
}

void wait_begin(struct model *m, uint32_t life, uint64_t t)
{
	struct life *l = &m->lives[life];
	struct cpu_run *c = &m->cpus[l->queue];

	l->flags |= LIFE_QUEUED;
	l->waited = t;
	l->queue_former = NONE;
	l->queue_next = c->queue;
	if (c->queue == NONE)
		c->queued = t;
	else
		m->lives[c->queue].queue_former = life;
	c->queue = life;
	if (m->throttles)
		wait_judge(m, life, t);
}

void wait_end(struct model *m, uint32_t life, uint64_t t)
{
	struct life *l = &m->lives[life];
	uint32_t cpu = l->queue;
	struct cpu_run *c = &m->cpus[cpu];

	if (c->occupant != MODEL_CPU_UNKNOWN && c->waits_known)
		wait_emit(m, life, c, t);
	l->flags &= ~(LIFE_QUEUED | LIFE_THROTTLED);
	if (l->queue_former == NONE)
		c->queue = l->queue_next;
	else
		m->lives[l->queue_former].queue_next = l->queue_next;
	if (l->queue_next != NONE)
		m->lives[l->queue_next].queue_former = l->queue_former;
	/* From here on switches between others are not recorded. */
	if (c->queue == NONE && !m->info.manifest->all_switches &&
	    (c->occupant == MODEL_CPU_FOREIGN || c->occupant == MODEL_CPU_IDLE))
		cpu_set(m, cpu, MODEL_CPU_UNKNOWN, NONE, c->tid, t > c->since ? t : c->since);
}

void wait_migrate(struct model *m, const struct jis_ev_sched_migrate_task *ev, uint64_t t)
{
	uint32_t life = thread_at(m, ev->tid, t);
	bool queued;

	if (life == NONE) {
		m->counts.unknown_threads++;
		return;
	}
	if (ev->dest_cpu >= m->info.nr_cpus)
		return;
	queued = m->lives[life].flags & LIFE_QUEUED;
	/* The state goes on; whether it is throttled is another question there. */
	if (queued && m->lives[life].flags & LIFE_THROTTLED) {
		emit_state(m, life, MODEL_READY, m->lives[life].since, t, NONE);
		m->lives[life].since = t;
	}
	if (queued)
		wait_end(m, life, t);
	m->lives[life].queue = ev->dest_cpu;
	if (queued)
		wait_begin(m, life, t);
}

/* Cgroups ------------------------------------------------------------------------------------ */

/* Index of the cgroup, new if it has to be; NONE: no memory. */
static uint32_t group_get(struct model *m, uint32_t number)
{
	for (uint32_t i = 0; i < m->nr_groups; i++) {
		if (m->groups[i].number == number)
			return i;
	}
	if (m->nr_groups == m->room_groups && !GROW(m->groups, m->room_groups, 16)) {
		m->error = -ENOMEM;
		return NONE;
	}
	m->groups[m->nr_groups] = (struct group){.number = number, .above = NONE};
	return m->nr_groups++;
}

/* Is the cgroup at @above the next one above that at @path? */
static bool path_above(const char *above, const char *path)
{
	size_t len = strlen(above);

	if (!strcmp(above, path))
		return false;
	if (!strcmp(above, "/"))
		return path[0] == '/' && !strchr(path + 1, '/');
	return strncmp(above, path, len) == 0 && path[len] == '/' && !strchr(path + len + 1, '/');
}

/* Hosts have cgroups of the same paths: one is above another of its own host. */
void group_name(struct model *m, uint32_t cpu, const struct jis_ev_cgroup_name *ev)
{
	uint32_t group = group_get(m, ev->cgroup);
	char *path;

	if (group == NONE)
		return;
	path = strdup(ev->path);
	if (!path) {
		m->error = -ENOMEM;
		return;
	}
	free(m->groups[group].path);
	m->groups[group].path = path;
	m->groups[group].host = m->cpus[cpu].host;
	/* Its places by its former name are no more: links never go in a circle. */
	m->groups[group].above = NONE;
	for (uint32_t i = 0; i < m->nr_groups; i++) {
		if (m->groups[i].above == group)
			m->groups[i].above = NONE;
	}
	for (uint32_t i = 0; i < m->nr_groups; i++) {
		struct group *g = &m->groups[i];

		if (i == group || !g->path || g->host != m->groups[group].host)
			continue;
		if (path_above(path, g->path))
			g->above = group;
		else if (path_above(g->path, path))
			m->groups[group].above = i;
	}
}

void group_attach(struct model *m, uint32_t life, uint32_t number, uint64_t t)
{
	struct life *l = &m->lives[life];
	uint32_t group;

	if (l->cgroup != NONE && m->groups[l->cgroup].number == number)
		return;
	group = group_get(m, number);
	if (group == NONE)
		return;
	l->cgroup = group;
	if (l->flags & LIFE_QUEUED && m->throttles)
		wait_judge(m, life, t);
}

void group_throttle(struct model *m, const struct jis_ev_cgroup_throttle *ev, uint64_t t)
{
	uint32_t group, next;
	struct group *g;

	if (ev->cpu >= m->info.nr_cpus)
		return;
	group = group_get(m, ev->cgroup);
	if (group == NONE)
		return;
	g = &m->groups[group];
	if (!g->throttled)
		g->throttled = calloc(m->info.nr_cpus / 8 + 1, 1);
	if (!g->throttled) {
		m->error = -ENOMEM;
		return;
	}
	m->throttles = true;
	if (ev->throttled)
		g->throttled[ev->cpu / 8] |= (uint8_t)(1u << ev->cpu % 8);
	else
		g->throttled[ev->cpu / 8] &= (uint8_t) ~(1u << ev->cpu % 8);
	for (uint32_t i = m->cpus[ev->cpu].queue; i != NONE; i = next) {
		next = m->lives[i].queue_next;
		wait_judge(m, i, t);
	}
}

/* Stolen time -------------------------------------------------------------------------------- */

/* The first record of a CPU says where its counter stands. */
void cpu_stolen(struct model *m, uint32_t cpu, uint64_t stolen, uint64_t t)
{
	struct cpu_run *c = &m->cpus[cpu];
	struct model_steal out = {
		.cpu = cpu,
		.thread = c->occupant == MODEL_CPU_TARGET ? c->thread : NONE,
		.time = t,
		.stolen = stolen > c->stolen ? stolen - c->stolen : 0,
	};
	bool first = !c->steal_told;

	c->stolen = stolen;
	c->steal_told = true;
	if (first || !out.stolen || t < m->info.begin || t > m->info.end)
		return;
	for (uint32_t i = 0; i < m->on_steal.nr; i++) {
		const struct model_sink *s = m->on_steal.sinks[i];
		int err = s->steal(s->ctx, &out);

		if (err && !m->error)
			m->error = err;
	}
}
