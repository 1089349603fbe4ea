/* SPDX-License-Identifier: MIT */
/*
 * Tasks of executors: which submission a task that begins is, which pool has how many that wait,
 * and which thread is a worker that has none. A task is known by its class and identity hash: where
 * the same object is submitted several times (or two share a hash), the oldest one begins first.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model_jwait.h"

#define MAX_OPEN 1024u	       /* of a thread; ForkJoinPool's workers run tasks inside of tasks */
#define MAX_POOLS (1u << 20)   /* more are as if not known */
#define MAX_PENDING (1u << 18) /* of a process; the oldest of more will hardly ever begin */
#define NR_REJECTED 64u

struct task_key {
	uint32_t process, class_name, hash; /* class_name: model_name() */
};

/* Submitted, and has not begun. */
struct pending {
	struct pending *next;	       /* in its bucket, oldest first */
	struct pending *older, *newer; /* of its process */
	struct task_key key;
	uint32_t pool, life, vthread, queued;
	uint64_t java_tid, time;
	bool counted;
};

struct pool {
	struct task_key key;
	uint32_t next; /* in its bucket, or NONE */
	uint32_t waiting;
};

struct bucket {
	struct pending *first, **end; /* end: where the next one goes; NULL: nothing was here yet */
};

struct tasks {
	struct bucket *buckets;
	uint32_t mask, nr;
	struct pool *pools;
	uint32_t nr_pools, room_pools;
	uint32_t *pool_table; /* first of each bucket, or NONE */
	uint32_t pool_mask;
	/* The last rejected ones: a pool's owner may have found room for them after all. */
	struct pending rejected[NR_REJECTED];
	uint32_t next_rejected;
	struct submitted {
		uint32_t nr; /* pending */
		struct pending *oldest, *newest;
	} * submitted; /* [process] */
};

/* A task under way. */
struct jtask {
	struct jtask *outer;
	struct model_task told; /* as it began */
};

static uint32_t key_hash(const struct task_key *k)
{
	uint64_t h = ((uint64_t)k->class_name << 32 | k->hash) * 0x9e3779b97f4a7c15ull;

	h ^= k->process * 0xc2b2ae3d27d4eb4full;
	return (uint32_t)(h >> 32);
}

static bool key_equal(const struct task_key *a, const struct task_key *b)
{
	return a->hash == b->hash && a->class_name == b->class_name && a->process == b->process;
}

static struct task_key key_of(const struct model *m, uint32_t process, uint32_t class_id,
			      uint32_t hash)
{
	return (struct task_key){process, string_name(m, process, class_id), hash};
}

static struct tasks *tasks_of(struct model *m)
{
	struct tasks *s = m->tasks;

	if (s)
		return s;
	s = calloc(1, sizeof(*s));
	if (!s)
		goto err;
	s->mask = s->pool_mask = 63;
	s->buckets = calloc(s->mask + 1, sizeof(*s->buckets));
	s->pool_table = malloc((s->pool_mask + 1) * sizeof(uint32_t));
	s->submitted = calloc(m->info.nr_processes + 1ull, sizeof(*s->submitted));
	if (!s->buckets || !s->pool_table || !s->submitted) {
		free(s->buckets);
		free(s->pool_table);
		free(s->submitted);
		free(s);
		goto err;
	}
	memset(s->pool_table, 0xff, (s->pool_mask + 1) * sizeof(uint32_t));
	m->tasks = s;
	return s;
err:
	m->error = -ENOMEM;
	return NULL;
}

/* Pools -------------------------------------------------------------------------------------- */

static uint32_t pool_find(const struct tasks *s, const struct task_key *key)
{
	uint32_t i = s->pool_table[key_hash(key) & s->pool_mask];

	while (i != NONE && !key_equal(&s->pools[i].key, key))
		i = s->pools[i].next;
	return i;
}

static void pool_link(struct tasks *s, uint32_t i)
{
	uint32_t *bucket = &s->pool_table[key_hash(&s->pools[i].key) & s->pool_mask];

	s->pools[i].next = *bucket;
	*bucket = i;
}

static bool pools_grow(struct tasks *s)
{
	uint32_t room = s->room_pools ? s->room_pools * 2 : 64;
	struct pool *pools = realloc(s->pools, room * sizeof(*pools));
	uint32_t *table;

	if (!pools)
		return false;
	s->pools = pools;
	table = realloc(s->pool_table, room * sizeof(*table));
	if (!table)
		return false;
	s->pool_table = table;
	s->pool_mask = room - 1;
	s->room_pools = room;
	memset(table, 0xff, room * sizeof(*table));
	for (uint32_t i = 0; i < s->nr_pools; i++)
		pool_link(s, i);
	return true;
}

/* Its number, or NONE: no pool, or no room. */
static uint32_t pool_get(struct model *m, struct tasks *s, const struct task_key *key)
{
	uint32_t i;

	if (!key->class_name)
		return NONE;
	i = pool_find(s, key);
	if (i != NONE || s->nr_pools == MAX_POOLS)
		return i;
	if (s->nr_pools == s->room_pools && !pools_grow(s)) {
		m->error = -ENOMEM;
		return NONE;
	}
	s->pools[s->nr_pools] = (struct pool){.key = *key};
	pool_link(s, s->nr_pools);
	return s->nr_pools++;
}

bool tasks_pool_known(const struct model *m, uint32_t process, uint32_t class_name, uint32_t hash)
{
	const struct task_key key = {process, class_name, hash};

	if (!class_name)
		return false;
	/* Its workers park for it even where no task was told. */
	if (!strcmp(model_name(m, class_name), "java.util.concurrent.ForkJoinPool"))
		return true;
	return m->tasks && pool_find(m->tasks, &key) != NONE;
}

/* Submissions -------------------------------------------------------------------------------- */

static void bucket_add(struct bucket *b, struct pending *p)
{
	if (!b->end)
		b->end = &b->first;
	p->next = NULL;
	*b->end = p;
	b->end = &p->next;
}

static bool pending_grow(struct tasks *s)
{
	uint32_t mask = s->mask * 2 + 1;
	struct bucket *buckets = calloc(mask + 1ull, sizeof(*buckets));

	if (!buckets)
		return false;
	for (uint32_t i = 0; i <= s->mask; i++) {
		struct pending *p = s->buckets[i].first;

		while (p) {
			struct pending *next = p->next;

			bucket_add(&buckets[key_hash(&p->key) & mask], p);
			p = next;
		}
	}
	free(s->buckets);
	s->buckets = buckets;
	s->mask = mask;
	return true;
}

static void age_add(struct submitted *of, struct pending *p)
{
	p->newer = NULL;
	p->older = of->newest;
	*(p->older ? &p->older->newer : &of->oldest) = p;
	of->newest = p;
	of->nr++;
}

static void age_remove(struct submitted *of, struct pending *p)
{
	*(p->older ? &p->older->newer : &of->oldest) = p->newer;
	*(p->newer ? &p->newer->older : &of->newest) = p->older;
	of->nr--;
}

static bool pending_add(struct tasks *s, const struct pending *what)
{
	struct pending *p;

	if (s->nr > s->mask && !pending_grow(s))
		return false;
	p = malloc(sizeof(*p));
	if (!p)
		return false;
	*p = *what;
	bucket_add(&s->buckets[key_hash(&p->key) & s->mask], p);
	s->nr++;
	age_add(&s->submitted[p->key.process], p);
	if (p->pool != NONE)
		s->pools[p->pool].waiting++;
	return true;
}

/* Takes out the one at @at. */
static void pending_remove(struct tasks *s, struct pending **at)
{
	struct pending *p = *at;
	struct bucket *b = &s->buckets[key_hash(&p->key) & s->mask];

	*at = p->next;
	if (b->end == &p->next)
		b->end = at;
	s->nr--;
	age_remove(&s->submitted[p->key.process], p);
	if (p->pool != NONE)
		s->pools[p->pool].waiting--;
	free(p);
}

/* The oldest of @key, or the newest, in pool @pool (NONE: any); NULL: none. */
static struct pending **pending_find(struct tasks *s, const struct task_key *key, uint32_t pool,
				     bool newest)
{
	struct pending **at = &s->buckets[key_hash(key) & s->mask].first, **found = NULL;

	for (; *at; at = &(*at)->next) {
		if (!key_equal(&(*at)->key, key) || (pool != NONE && (*at)->pool != pool))
			continue;
		if (!newest)
			return at;
		found = at;
	}
	return found;
}

bool tasks_pending(const struct model *m, uint32_t process, uint32_t class_name, uint32_t hash)
{
	const struct task_key key = {process, class_name, hash};

	return m->tasks && pending_find(m->tasks, &key, NONE, false);
}

/* The submission of a task that begins, taken out; false: it was not seen. */
static bool pending_take(struct tasks *s, const struct task_key *key, uint32_t pool,
			 struct pending *out)
{
	struct pending **at = pending_find(s, key, pool, false);

	if (at) {
		*out = **at;
		pending_remove(s, at);
		return true;
	}
	for (uint32_t i = 0; i < NR_REJECTED; i++) {
		struct pending *r =
			&s->rejected[(s->next_rejected + NR_REJECTED - 1 - i) % NR_REJECTED];

		if (!r->key.class_name || !key_equal(&r->key, key) ||
		    (pool != NONE && r->pool != pool))
			continue;
		*out = *r;
		r->key.class_name = 0;
		return true;
	}
	return false;
}

static void pending_forget(struct tasks *s, const struct pending *p)
{
	struct pending **at = &s->buckets[key_hash(&p->key) & s->mask].first;

	while (*at != p)
		at = &(*at)->next;
	pending_remove(s, at);
}

void tasks_lost(struct model *m, uint32_t process)
{
	struct tasks *s = m->tasks;

	while (s && s->submitted[process].oldest)
		pending_forget(s, s->submitted[process].oldest);
}

/* Telling ------------------------------------------------------------------------------------ */

static bool is_selected(const struct model *m, uint32_t life, uint32_t vthread)
{
	if (vthread != NONE)
		return m->info.vthreads[vthread].selected;
	return life != NONE && m->lives[life].flags & LIFE_SELECTED;
}

static void task_emit(struct model *m, const struct model_task *task)
{
	if (task->time < m->info.begin || task->time > m->info.end ||
	    (!is_selected(m, task->submitter, task->submitter_vthread) &&
	     !is_selected(m, task->worker, task->worker_vthread)))
		return;
	for (uint32_t i = 0; i < m->on_task.nr; i++) {
		const struct model_sink *s = m->on_task.sinks[i];
		int err = s->task(s->ctx, task);

		if (err && !m->error)
			m->error = err;
	}
}

static struct model_task task_blank(enum model_task_phase phase, const struct task_key *key,
				    uint32_t pool, uint64_t t)
{
	return (struct model_task){.phase = phase,
				   .process = key->process,
				   .pool = pool,
				   .class_name = key->class_name,
				   .hash = key->hash,
				   .submitter = NONE,
				   .submitter_vthread = NONE,
				   .worker = NONE,
				   .worker_vthread = NONE,
				   .time = t,
				   .submit = TIME_NONE,
				   .begin = TIME_NONE};
}

static void task_of_pool(const struct tasks *s, struct model_task *task)
{
	if (task->pool == NONE)
		return;
	task->pool_class = s->pools[task->pool].key.class_name;
	task->pool_hash = s->pools[task->pool].key.hash;
}

static void task_of_submission(struct model_task *task, const struct pending *p)
{
	task->submitter = p->life;
	task->submitter_vthread = p->vthread;
	task->submitter_java_tid = p->java_tid;
	task->submit = p->time;
	task->queued = p->queued;
	task->counted = p->counted;
	if (task->pool == NONE)
		task->pool = p->pool;
}

/* Events ------------------------------------------------------------------------------------- */

static void submitted(struct model *m, struct tasks *s, const struct jis_ev_task_submit *ev,
		      const struct jthread *j, uint32_t life, uint64_t t)
{
	struct task_key key = key_of(m, j->process, ev->class_name, ev->hash);
	const struct task_key pool = key_of(m, j->process, ev->pool_class, ev->pool_hash);
	struct pending p = {.key = key,
			    .pool = pool_get(m, s, &pool),
			    .life = life,
			    .vthread = j->row,
			    .java_tid = j->java_tid,
			    .time = t,
			    .counted = ev->queued < 0};
	struct model_task task = task_blank(MODEL_TASK_SUBMITTED, &key, p.pool, t);

	if (ev->queued >= 0)
		p.queued = (uint32_t)ev->queued;
	else if (p.pool != NONE)
		p.queued = s->pools[p.pool].waiting;
	if (!key.class_name)
		return;
	if (!pending_add(s, &p)) {
		m->error = -ENOMEM;
		return;
	}
	/* Cancelled, or run in a way that is not told: it would be taken for another one later. */
	if (s->submitted[j->process].nr > MAX_PENDING) {
		pending_forget(s, s->submitted[j->process].oldest);
		m->counts.forgotten_tasks++;
	}
	task_of_submission(&task, &p);
	task_of_pool(s, &task);
	task_emit(m, &task);
}

static void rejected(struct model *m, struct tasks *s, const struct jis_ev_task_reject *ev,
		     const struct jthread *j, uint64_t t)
{
	struct task_key key = key_of(m, j->process, ev->class_name, ev->hash);
	const struct task_key pool_key = key_of(m, j->process, ev->pool_class, ev->pool_hash);
	uint32_t pool = pool_get(m, s, &pool_key);
	struct pending **at = pending_find(s, &key, pool, true);
	struct model_task task = task_blank(MODEL_TASK_REJECTED, &key, pool, t);

	if (!at)
		return;
	s->rejected[s->next_rejected++ % NR_REJECTED] = **at;
	task_of_submission(&task, *at);
	pending_remove(s, at);
	task_of_pool(s, &task);
	task_emit(m, &task);
}

static void begun(struct model *m, struct tasks *s, const struct jis_ev_task_begin *ev,
		  struct jthread *j, uint32_t life, uint64_t t)
{
	struct task_key key = key_of(m, j->process, ev->class_name, ev->hash);
	const struct task_key pool_key = key_of(m, j->process, ev->pool_class, ev->pool_hash);
	struct model_task task = task_blank(MODEL_TASK_BEGUN, &key, pool_get(m, s, &pool_key), t);
	struct jtask *open = malloc(sizeof(*open));
	struct pending p;
	uint32_t depth = 0;

	if (!open) {
		m->error = -ENOMEM;
		return;
	}
	jwait_pool_ends(m, j, t);
	if (pending_take(s, &key, task.pool, &p))
		task_of_submission(&task, &p);
	task_of_pool(s, &task);
	task.worker = life;
	task.worker_vthread = j->row;
	task.worker_java_tid = j->java_tid;
	task.begin = t;
	for (const struct jtask *o = j->tasks; o; o = o->outer)
		depth++;
	if (life != NONE)
		life_pass_unknown(m, life, t);
	if (depth >= MAX_OPEN)
		tasks_drop(j);
	*open = (struct jtask){j->tasks, task};
	j->tasks = open;
	task_emit(m, &task);
}

static void ended(struct model *m, const struct jis_ev_task_end *ev, struct jthread *j,
		  uint32_t life, uint64_t t)
{
	struct task_key key = key_of(m, j->process, ev->class_name, ev->hash);
	struct jtask *open = j->tasks;

	while (open && (open->told.class_name != key.class_name || open->told.hash != key.hash))
		open = open->outer;
	if (!open) {
		if (!(j->unseen & UNSEEN_TASK))
			model_error_count(m, MODEL_ERROR_TASK_END, who_writes(j));
		return;
	}
	if (life != NONE)
		life_pass_unknown(m, life, t);
	/* Those inside of it that never ended are none. */
	while (j->tasks != open) {
		struct jtask *inner = j->tasks;

		model_error_count(m, MODEL_ERROR_TASK_END, who_writes(j));
		j->tasks = inner->outer;
		free(inner);
	}
	j->tasks = open->outer;
	if (j->tasks) {
		open->told.outer = j->tasks->told.class_name;
		open->told.outer_pool = j->tasks->told.pool_class;
	}
	open->told.phase = MODEL_TASK_ENDED;
	open->told.time = t;
	open->told.worker = life;
	task_emit(m, &open->told);
	free(open);
}

/* A worker that has no task waits for one. */
static void idles(struct model *m, struct jthread *j, uint32_t life, uint64_t t)
{
	const struct pool *pool;

	if (j->tasks || !j->pool)
		return;
	pool = &m->tasks->pools[j->pool - 1];
	jwait_pool_begins(m, j, life, pool->key.class_name, pool->key.hash, t);
}

void task_event(struct model *m, const struct stream_cursor *c, struct jthread *j, uint32_t life,
		uint64_t t)
{
	struct tasks *s = tasks_of(m);
	const void *p = c->payload;

	if (!s)
		return;
	switch (c->id) {
	case JIS_EV_task_submit:
		submitted(m, s, p, j, life, t);
		break;
	case JIS_EV_task_reject:
		rejected(m, s, p, j, t);
		break;
	case JIS_EV_task_begin:
		begun(m, s, p, j, life, t);
		break;
	case JIS_EV_task_end:
		ended(m, p, j, life, t);
		idles(m, j, life, t);
		break;
	case JIS_EV_pool_worker: {
		const struct jis_ev_pool_worker *ev = p;
		const struct task_key key = key_of(m, j->process, ev->pool_class, ev->pool_hash);

		j->pool = pool_get(m, s, &key) + 1; /* NONE becomes 0 */
		idles(m, j, life, t);
		break;
	}
	}
}

void tasks_drop(struct jthread *j)
{
	while (j->tasks) {
		struct jtask *open = j->tasks;

		j->tasks = open->outer;
		free(open);
	}
}

void tasks_fini(struct model *m)
{
	struct tasks *s = m->tasks;

	for (uint32_t i = 0; s && i < m->info.nr_processes; i++)
		tasks_lost(m, i);
	if (!s)
		return;
	free(s->buckets);
	free(s->pools);
	free(s->pool_table);
	free(s->submitted);
	free(s);
	m->tasks = NULL;
}
