/* SPDX-License-Identifier: MIT */
/*
 * Threads in a two-level table by tid, targets in a hash by pid. No thread outlives its entry:
 * those of the dead are kept for a while, for what is still said of them, then forgotten.
 */
#include "ftrace_tasks.h"

#include <stdlib.h>
#include <string.h>

#include "trace/grow.h"

#define LEAF_BITS 10
#define LEAF_SIZE (1u << LEAF_BITS)
#define HASH_SIZE 1024u
#define KEEP_NS 10000000000ull /* who has ended and is told of later had that name */

struct grave {
	uint64_t time;
	uint32_t tid;
};

struct ft_tasks {
	struct ft_task **leaf[FT_TID_MAX / LEAF_SIZE];
	struct ft_target *target[HASH_SIZE];
	struct grave *graves; /* in time order, first..last of room */
	size_t first, last, room;
};

struct ft_tasks *ft_tasks_new(void)
{
	return calloc(1, sizeof(struct ft_tasks));
}

void ft_tasks_free(struct ft_tasks *t)
{
	uint32_t i, j;

	if (!t)
		return;
	for (i = 0; i < FT_TID_MAX / LEAF_SIZE; i++) {
		for (j = 0; t->leaf[i] && j < LEAF_SIZE; j++)
			free(t->leaf[i][j]);
		free(t->leaf[i]);
	}
	for (i = 0; i < HASH_SIZE; i++) {
		while (t->target[i]) {
			struct ft_target *next = t->target[i]->next;

			free(t->target[i]);
			t->target[i] = next;
		}
	}
	free(t->graves);
	free(t);
}

struct ft_task *ft_task_find(const struct ft_tasks *t, uint32_t tid)
{
	struct ft_task **leaf = tid < FT_TID_MAX ? t->leaf[tid >> LEAF_BITS] : NULL;

	return leaf ? leaf[tid & (LEAF_SIZE - 1)] : NULL;
}

struct ft_task *ft_task_get(struct ft_tasks *t, uint32_t tid)
{
	struct ft_task ***leaf, **slot;

	if (tid >= FT_TID_MAX)
		return NULL;
	leaf = &t->leaf[tid >> LEAF_BITS];
	if (!*leaf)
		*leaf = calloc(LEAF_SIZE, sizeof(**leaf));
	if (!*leaf)
		return NULL;
	slot = &(*leaf)[tid & (LEAF_SIZE - 1)];
	if (!*slot) {
		*slot = calloc(1, sizeof(**slot));
		if (*slot)
			(*slot)->tid = tid;
	}
	return *slot;
}

static void target_unlink(struct ft_tasks *t, struct ft_target *target)
{
	struct ft_target **p = &t->target[target->pid % HASH_SIZE];

	while (*p && *p != target)
		p = &(*p)->next;
	if (*p)
		*p = target->next;
	free(target);
}

static void task_leave(struct ft_tasks *t, struct ft_task *task)
{
	struct ft_target *target = task->target;

	if (!target)
		return;
	task->target = NULL;
	if (!task->dead)
		target->threads--;
	if (--target->refs == 0)
		target_unlink(t, target);
}

void ft_task_delete(struct ft_tasks *t, struct ft_task *task)
{
	task_leave(t, task);
	t->leaf[task->tid >> LEAF_BITS][task->tid & (LEAF_SIZE - 1)] = NULL;
	free(task);
}

void ft_task_join(struct ft_tasks *t, struct ft_task *task, struct ft_target *target)
{
	uint32_t ghosts = task->ghosts + (task->target && task->exiting && !task->dead);

	target->refs++; /* first: the former owner may have been the target's last */
	target->threads++;
	task_leave(t, task);
	*task = (struct ft_task){.tid = task->tid, .target = target, .ghosts = ghosts};
}

void ft_task_die(struct ft_tasks *t, struct ft_task *task, uint64_t now_ns)
{
	if (task->dead || !task->target)
		return;
	task->dead = true;
	task->target->threads--;
	if (t->first > t->room / 2 && t->last == t->room) {
		memmove(t->graves, t->graves + t->first, (t->last - t->first) * sizeof(*t->graves));
		t->last -= t->first;
		t->first = 0;
	}
	if (t->last == t->room && !GROW(t->graves, t->room, 256))
		return; /* the entry stays until its tid is used again */
	t->graves[t->last++] = (struct grave){now_ns, task->tid};
}

void ft_tasks_forget(struct ft_tasks *t, uint64_t before_ns)
{
	while (t->first < t->last && t->graves[t->first].time < before_ns) {
		struct ft_task *task = ft_task_find(t, t->graves[t->first++].tid);

		if (task && task->dead)
			ft_task_delete(t, task);
	}
}

void ft_tasks_rename_foreign(struct ft_tasks *t, uint64_t now_ns)
{
	uint32_t i, j;

	for (i = 0; i < FT_TID_MAX / LEAF_SIZE; i++) {
		for (j = 0; t->leaf[i] && j < LEAF_SIZE; j++) {
			struct ft_task *task = t->leaf[i][j];

			if (!task || task->target)
				continue;
			if (task->named) {
				task->named = false;
				task->stale = true;
				task->stale_time = now_ns;
			} else if (now_ns - task->stale_time > KEEP_NS) {
				ft_task_delete(t, task);
			}
		}
	}
}

struct ft_target *ft_target_find(const struct ft_tasks *t, uint32_t pid)
{
	struct ft_target *target = t->target[pid % HASH_SIZE];

	while (target && (target->pid != pid || !target->threads || target->thread))
		target = target->next;
	return target;
}

struct ft_target *ft_target_new(struct ft_tasks *t, uint32_t pid, uint32_t flags)
{
	struct ft_target *target = calloc(1, sizeof(*target));

	if (!target)
		return NULL;
	target->pid = pid;
	target->flags = flags;
	target->next = t->target[pid % HASH_SIZE];
	t->target[pid % HASH_SIZE] = target;
	return target;
}

void ft_targets_each(struct ft_tasks *t, void (*f)(void *ctx, struct ft_target *target), void *ctx)
{
	struct ft_target *target;
	uint32_t i;

	for (i = 0; i < HASH_SIZE; i++)
		for (target = t->target[i]; target; target = target->next)
			if (target->threads && !target->removed)
				f(ctx, target);
}

static void count_one(void *ctx, struct ft_target *target)
{
	++*(uint32_t *)ctx;
}

uint32_t ft_targets_count(const struct ft_tasks *t)
{
	uint32_t n = 0;

	ft_targets_each((struct ft_tasks *)t, count_one, &n);
	return n;
}
