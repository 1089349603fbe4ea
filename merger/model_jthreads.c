/* SPDX-License-Identifier: MIT */
/*
 * Java threads and what they tell of: where they run, their waits (model_jwait.c), tasks, stacks.
 * A Java thread is a small state machine that refuses illegal transitions: what cannot be is
 * counted as an error of the trace, and the newer record believed. Nothing is an error whose begin
 * may have been missed: before the agent came, or in a loss (jthread.unseen).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model_class_waits.h"
#include "model_futexes.h"
#include "model_jwait.h"

/* Java threads ------------------------------------------------------------------------------- */

static void jthread_forget(struct model *m, struct jthread *j, uint64_t t)
{
	if (j->virtual)
		vthread_lost(m, j, t);
	jwaits_drop(m, j, t);
	j->unseen = UNSEEN_ALL;
	tasks_drop(j);
	remote_dropped(m, j, MODEL_REMOTE_LOST);
	j->pool = 0;
	j->request = 0;
	if (j->virtual && m->methods)
		methods_lost_virtual(m, j, t);
}

static uint32_t epoch_of(const struct model *m, const struct jthread *j)
{
	const struct process_run *p = &m->runs[j->process];

	return p->epoch + (j->virtual ? p->vepoch : 0);
}

void jthread_fresh(struct model *m, struct jthread *j, uint64_t t)
{
	uint32_t epoch = epoch_of(m, j);
	bool once = epoch == j->epoch + 1;

	if (j->epoch == epoch)
		return;
	j->epoch = epoch;
	/* After several losses it is not known any more which of them was the first. */
	if (!once)
		j->state = JTHREAD_UNKNOWN;
	owner_lost(m, j->process, j->java_tid, j->on, t);
	jthread_forget(m, j, once ? m->runs[j->process].lost : t);
}

/* Records of @life are missing: virtual threads that are on other carriers were not on it. */
static void others_kept(struct model *m, uint32_t life)
{
	for (uint32_t i = 0; i < m->info.nr_threads; i++) {
		struct jthread *j = m->whys[i].mounted;

		if (i != life && j && j->process == m->threads[life].process &&
		    j->epoch + 1 == epoch_of(m, j))
			j->epoch++;
	}
}

void jthreads_lost(struct model *m, uint32_t life, uint64_t t)
{
	struct why *w = &m->whys[life];
	struct process_run *p = &m->runs[m->threads[life].process];

	w->losses++;
	p->losses++;
	tasks_lost(m, m->threads[life].process);
	queues_lost(m, m->threads[life].process);
	doings_lost(m, m->threads[life].process, life, t);
	owner_lost(m, m->threads[life].process, 0, life, t);
	if (m->methods)
		methods_lost(m, life, t);
	if (w->java) {
		owner_lost(m, w->java->process, w->java->java_tid, life, t);
		jthread_forget(m, w->java, t);
	}
	/* Which virtual threads it carried meanwhile nobody knows. One may be there without a
	 * mount: as it was when the agent came. */
	if (p->mounts_seen || w->mounted) {
		p->vepoch++;
		p->lost = t;
		others_kept(m, life);
	}
	if (w->mounted)
		jthread_fresh(m, w->mounted, t);
}

void jthreads_lost_all(struct model *m, uint32_t host, uint64_t t)
{
	for (uint32_t i = 0; i < m->info.nr_processes; i++) {
		if (m->runs[i].host != host)
			continue;
		m->runs[i].epoch++;
		m->runs[i].losses++;
		m->runs[i].lost = t;
		tasks_lost(m, i);
		queues_lost(m, i);
		doings_lost(m, i, NONE, t);
	}
	for (uint32_t i = 0; i < m->info.nr_threads; i++) {
		if (m->lives[i].host != host)
			continue;
		m->whys[i].losses++;
		owner_lost(m, m->threads[i].process, 0, i, t);
		if (m->methods)
			methods_lost(m, i, t);
		if (m->whys[i].mounted)
			jthread_fresh(m, m->whys[i].mounted, t);
		if (m->whys[i].java)
			jthread_fresh(m, m->whys[i].java, t);
	}
}

static struct jthread *jthread_new(struct model *m, struct nest *n)
{
	struct jthread *j = calloc(1, sizeof(*j));

	if (!j) {
		m->error = -ENOMEM;
		return NULL;
	}
	j->java_tid = n->java_tid;
	j->process = n->process;
	j->on = j->row = NONE;
	j->unseen = UNSEEN_ALL;
	j->epoch = epoch_of(m, j);
	n->java = j;
	return j;
}

struct jthread *jthread_get(struct model *m, uint32_t process, uint64_t java_tid)
{
	struct nest *n = nest_get(m, process, java_tid, 0);

	return n ? (n->java ? n->java : jthread_new(m, n)) : NULL;
}

static void jthread_leave(struct model *m, struct jthread *j)
{
	struct why *w = j->on != NONE ? &m->whys[j->on] : NULL;

	if (w && w->java == j)
		w->java = NULL;
	if (w && w->mounted == j)
		w->mounted = NULL;
	j->on = NONE;
}

static void jthread_is_virtual(struct model *m, struct jthread *j)
{
	if (j->virtual)
		return;
	if (j->on != NONE)
		jthread_leave(m, j);
	j->virtual = true;
	j->epoch = epoch_of(m, j);
	j->row = vthread_row(m, j->process, j->java_tid);
}

/* Platform thread @j is on @life. */
static void jthread_binds(struct model *m, struct jthread *j, uint32_t life)
{
	if (j->on == life)
		return;
	jthread_leave(m, j);
	j->on = life;
	if (life == NONE)
		return;
	if (m->whys[life].java)
		jthread_leave(m, m->whys[life].java);
	m->whys[life].java = j;
}

void jthread_start(struct model *m, uint32_t process, const struct jis_ev_java_thread_start *ev,
		   uint32_t life, uint64_t t)
{
	struct nest *n = nest_get(m, process, ev->java_tid, 0);
	struct jthread *j = n ? (n->java ? n->java : jthread_new(m, n)) : NULL;
	bool running = ev->flags & JIS_JTHREAD_RUNNING;

	if (!j)
		return;
	jthread_fresh(m, j, t);
	if (j->started && !running)
		model_error_count(m, MODEL_ERROR_STARTED_TWICE, who_writes(j));
	if (running)
		jwaits_drop(m, j, t);
	/* A virtual thread may be told of after its first mount. */
	if (running || !j->waits)
		j->unseen = running ? UNSEEN_ALL : 0;
	j->started = true;
	j->born = !running;
	if (!(ev->flags & JIS_JTHREAD_VIRTUAL)) {
		jthread_binds(m, j, life);
		jwait_owner_is_on(m, process, ev->java_tid, life);
		return;
	}
	jthread_is_virtual(m, j);
	vthread_began(m, j, !running, t);
	/* Mounted when the agent looked; the mounts of those that start now are told. */
	if (running && life != NONE && j->on == NONE && !m->whys[life].mounted)
		vthread_mount(m, j, life, t);
}

void jthread_end(struct model *m, struct jthread *j, uint64_t t)
{
	jthread_fresh(m, j, t);
	jwait_pool_ends(m, j, t);
	if (j->waits)
		model_error_count(m, MODEL_ERROR_DIED_WAITING, who_writes(j));
	jwaits_drop(m, j, t);
	remote_dropped(m, j, MODEL_REMOTE_UNDER_WAY);
	if (m->methods && j->virtual)
		methods_ended_virtual(m, j, t);
	else if (m->methods && j->on != NONE)
		methods_ended(m, j->on, t);
	if (j->virtual)
		vthread_ended(m, j, t);
	jthread_leave(m, j);
}

void jthread_free(struct model *m, struct jthread *j)
{
	if (!j)
		return;
	tasks_drop(j);
	remote_free(j);
	callstack_free(j->calls);
	while (j->waits) {
		struct jwait *w = j->waits;

		j->waits = w->outer;
		free(w);
	}
	free(j);
}

/* The Java thread that wrote a record of its own: on @life as far as is known. */
static struct jthread *jthread_writes(struct model *m, uint32_t process, uint64_t java_tid,
				      uint32_t life, uint64_t t)
{
	struct why *w = life != NONE ? &m->whys[life] : NULL;
	struct nest *n;
	struct jthread *j;

	if (!java_tid && w && (w->mounted || w->java))
		j = w->mounted ? w->mounted : w->java;
	else if ((n = nest_get(m, process, java_tid, life)))
		j = n->java ? n->java : jthread_new(m, n);
	else
		return NULL;
	if (!j)
		return NULL;
	jthread_fresh(m, j, t);
	if (life == NONE || j->on == life)
		return j;
	if (j->virtual) {
		if (m->runs[process].mounts_seen && !(j->unseen & UNSEEN_MOUNT))
			model_error_count(m, MODEL_ERROR_NOT_MOUNTED,
					  (struct model_who){life, j->row});
	} else if (j->on != NONE) {
		model_error_count(m, MODEL_ERROR_WRONG_THREAD, who_writes(j));
	} else if (!w->java) {
		jthread_binds(m, j, life);
	} else {
		/* The kernel thread has a Java thread, so this one is carried by it. */
		jthread_is_virtual(m, j);
	}
	return j;
}

/* Transitions -------------------------------------------------------------------------------- */

/* A record of a thread whose last switch left it blocked, and nobody has woken since. */
static void check_on_cpu(struct model *m, uint32_t life)
{
	enum model_state_kind kind;

	if (!m->reasons || life == NONE)
		return;
	kind = (enum model_state_kind)m->lives[life].kind;
	if ((kind == MODEL_BLOCKED_INTERRUPTIBLE || kind == MODEL_BLOCKED_UNINTERRUPTIBLE) &&
	    !life_waking(&m->lives[life]))
		model_conflict_count(m, MODEL_CONFLICT_OFF_CPU, who_is(m, life));
}

static void wait_event(struct model *m, const struct stream_cursor *c, uint32_t life, uint64_t t)
{
	uint32_t process = c->trace - 1;
	bool begins;
	struct wait_record r;
	struct jthread *j;

	wait_record_read(c, &r, &begins);
	j = jthread_writes(m, process, r.java_tid, life, t);
	if (!j)
		return;
	check_on_cpu(m, life);
	m->runs[process].told |= (uint16_t)(1u << r.kind);
	if (begins)
		jwait_begins(m, j, life, &r, t);
	else
		jwait_ends(m, j, &r, t);
}

/* Mounts, unparks, tasks, stacks ------------------------------------------------------------- */

static void mount_event(struct model *m, uint32_t process, uint64_t java_tid, uint32_t life,
			uint64_t t)
{
	struct nest *n = life != NONE ? nest_get(m, process, java_tid, 0) : NULL;
	struct jthread *j = n ? (n->java ? n->java : jthread_new(m, n)) : NULL;
	struct jthread *other;

	if (!j)
		return;
	m->runs[process].mounts_seen = true;
	jthread_is_virtual(m, j);
	jthread_fresh(m, j, t);
	if (j->on != NONE && !(j->unseen & UNSEEN_MOUNT))
		model_error_count(m, MODEL_ERROR_MOUNTED_TWICE, who_writes(j));
	other = m->whys[life].mounted;
	if (other && other != j) {
		jthread_fresh(m, other, t);
		if (other->on == life && !(other->unseen & UNSEEN_MOUNT))
			model_error_count(m, MODEL_ERROR_CARRIER_TAKEN,
					  (struct model_who){life, j->row});
		jthread_forget(m, other, t);
		jthread_leave(m, other);
	}
	vthread_mount(m, j, life, t);
	j->unseen &= (uint16_t)~UNSEEN_MOUNT;
}

static void unmount_event(struct model *m, uint32_t process, uint64_t java_tid, uint32_t life,
			  uint64_t t)
{
	struct nest *n = life != NONE ? nest_find(m, process, java_tid, 0) : NULL;
	struct jthread *j = n ? n->java : NULL;

	if (life == NONE)
		return;
	m->runs[process].mounts_seen = true;
	if (!j) {
		/* Its end may be told before. */
		if (m->whys[life].ended != java_tid)
			model_error_count(m, MODEL_ERROR_NOT_MOUNTED, who_is(m, life));
		m->whys[life].ended = 0;
		return;
	}
	jthread_is_virtual(m, j);
	jthread_fresh(m, j, t);
	if (j->on != life && !(j->unseen & UNSEEN_MOUNT))
		model_error_count(m, MODEL_ERROR_NOT_MOUNTED, (struct model_who){life, j->row});
	if (j->on != life && m->methods)
		methods_disown(m, life, t);
	vthread_unmount(m, j, t);
	j->unseen &= (uint16_t)~UNSEEN_MOUNT;
}

static void unpark_event(struct model *m, uint32_t process, const struct jis_ev_unpark *ev,
			 uint32_t life, uint64_t t)
{
	const struct nest *n = nest_find(m, process, ev->target_java_tid, 0);

	if (n && n->java && n->java->virtual) {
		jthread_fresh(m, n->java, t);
		vthread_unparked(m, n->java, life, ev->java_tid, t);
	}
}

static void stack_event(struct model *m, struct jthread *j, uint32_t stack, uint64_t t)
{
	m->counts.stacks_left_out += !stack && t >= m->info.begin && t <= m->info.end;
	if (j->waits)
		j->waits->stack = stack;
	else if (!(j->unseen & ((1u << NR_JWAITS) - 1)))
		model_error_count(m, MODEL_ERROR_STACK, who_writes(j));
}

void jthread_event(struct model *m, const struct stream_cursor *c, uint64_t t)
{
	uint32_t life = m->streams[c - m->stream_base].owner, process = c->trace - 1;
	const void *p = c->payload;
	struct jthread *j;

	switch (c->id) {
	case JIS_EV_monitor_contended_enter:
	case JIS_EV_monitor_contended_entered:
	case JIS_EV_monitor_wait:
	case JIS_EV_monitor_waited:
	case JIS_EV_park_begin:
	case JIS_EV_park_end:
	case JIS_EV_sleep_begin:
	case JIS_EV_sleep_end:
	case JIS_EV_join_begin:
	case JIS_EV_join_end:
	case JIS_EV_descriptor_begin:
	case JIS_EV_descriptor_end:
		wait_event(m, c, life, t);
		break;
	case JIS_EV_vthread_mount:
		mount_event(m, process, ((const struct jis_ev_vthread_mount *)p)->java_tid, life,
			    t);
		break;
	case JIS_EV_vthread_unmount:
		unmount_event(m, process, ((const struct jis_ev_vthread_unmount *)p)->java_tid,
			      life, t);
		break;
	case JIS_EV_unpark:
		unpark_event(m, process, p, life, t);
		break;
	case JIS_EV_task_submit:
	case JIS_EV_task_begin:
	case JIS_EV_task_end:
	case JIS_EV_task_reject:
	case JIS_EV_pool_worker:
		/* All begin with it. */
		j = jthread_writes(m, process, ((const struct jis_ev_task_end *)p)->java_tid, life,
				   t);
		if (j)
			task_event(m, c, j, life, t);
		break;
	case JIS_EV_queue_put:
	case JIS_EV_queue_take:
		j = jthread_writes(m, process, ((const struct jis_ev_queue_put *)p)->java_tid, life,
				   t);
		if (j)
			queue_event(m, c, life, t);
		break;
	case JIS_EV_rmi_invoke:
	case JIS_EV_rmi_call:
	case JIS_EV_rmi_send:
	case JIS_EV_rmi_reply:
	case JIS_EV_rmi_return:
	case JIS_EV_rmi_serve:
	case JIS_EV_rmi_dispatch:
	case JIS_EV_rmi_result:
	case JIS_EV_rmi_answer:
		/* All begin with it. */
		j = jthread_writes(m, process, ((const struct jis_ev_rmi_reply *)p)->java_tid, life,
				   t);
		if (j && remotes_wanted(m))
			remote_event(m, c, j, life, t);
		break;
	case JIS_EV_wait_stack: {
		const struct jis_ev_wait_stack *ev = p;

		j = jthread_writes(m, process, ev->java_tid, life, t);
		if (j)
			stack_event(m, j, ev->stack, t);
		break;
	}
	}
}

/* Waits that go on at the end of the window are told, too. */
void jthreads_finish(struct model *m)
{
	for (uint32_t i = 0; m->nests.table && i <= m->nests.mask; i++) {
		const struct nest *n = &m->nests.table[i];

		if (n->process != NONE && n->java)
			jwaits_drop(m, n->java, m->info.end);
		if (n->process != NONE && n->java)
			remote_dropped(m, n->java, MODEL_REMOTE_UNDER_WAY);
	}
	remotes_finish(m);
}

void jthreads_fini(struct model *m)
{
	while (m->free_waits) {
		struct jwait *w = m->free_waits;

		m->free_waits = w->outer;
		free(w);
	}
	for (uint32_t i = 0; m->runs && i < m->info.nr_processes; i++) {
		free(m->runs[i].stacks);
		free(m->runs[i].methods);
	}
	free(m->runs);
	tasks_fini(m);
	queues_fini(m);
	remotes_fini(m);
	class_waits_fini(m);
	futexes_fini(m);
	holds_fini(m);
}
