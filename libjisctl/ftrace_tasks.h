/* SPDX-License-Identifier: MIT */
/*
 * Which thread belongs to which process, and which processes are targets, as of the event that is
 * being converted: ftrace's records name threads only. Private to the ftrace backend.
 */
#ifndef JISCTL_FTRACE_TASKS_H
#define JISCTL_FTRACE_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#define FT_COMM_SIZE 16
#define FT_TID_MAX (1u << 22) /* the kernel's PID_MAX_LIMIT */

struct ft_target {
	struct ft_target *next;
	uint32_t pid;
	uint32_t flags;	   /* JIS_TARGET_* */
	uint32_t threads;  /* alive; 0: the process has ended */
	uint32_t refs;	   /* tasks that point here */
	uint32_t thread;   /* 0: the whole process; else only this one of its threads */
	bool by_cgroup;	   /* until it leaves that */
	bool by_all;	   /* because all are */
	bool removed;	   /* by the user: its threads are no longer recorded */
	uint8_t elf_class; /* ELFCLASS* of its program; 0: not looked at since its last exec */
	bool other_ns;	   /* its threads have other numbers in their own pid namespace */
};

struct ft_task {
	struct ft_target *target; /* NULL: not a thread of a target */
	uint32_t tid;
	uint32_t ghosts;     /* former owners of this tid that have yet to leave their CPU */
	uint64_t state_time; /* of the last event that told the state below */
	uint64_t start_time; /* as the trace has said it; 0: not known */
	uint32_t state;	     /* enum jis_task_state and flags */
	uint32_t cpu;
	uint32_t cgroup;     /* number; 0: not known */
	bool exiting;	     /* its exit event was seen */
	bool dead;	     /* it left the CPU for the last time, or left it without our seeing */
	bool named;	     /* not of a target: its task_name is in the trace */
	bool stale;	     /* the same: was, and is to be told again */
	uint64_t stale_time; /* since then, monotonic */
	char comm[FT_COMM_SIZE];
};

struct ft_tasks;

struct ft_tasks *ft_tasks_new(void);
void ft_tasks_free(struct ft_tasks *t);

/* The entry of @tid, or NULL. */
struct ft_task *ft_task_find(const struct ft_tasks *t, uint32_t tid);

/* The entry of @tid, made when there is none; NULL: no memory, or no such tid can be. */
struct ft_task *ft_task_get(struct ft_tasks *t, uint32_t tid);
void ft_task_delete(struct ft_tasks *t, struct ft_task *task);

/* Is @task a living thread of a target that is recorded? */
static inline bool ft_task_in(const struct ft_task *task)
{
	return task && task->target && !task->dead && !task->target->removed;
}

/**
 * ft_task_join - makes @task a new living thread of @target. A former owner of the tid that has
 * exited, but was not seen leaving its CPU, becomes a ghost.
 */
void ft_task_join(struct ft_tasks *t, struct ft_task *task, struct ft_target *target);

/* ft_task_die - it left its CPU for the last time, at @now_ns (monotonic). */
void ft_task_die(struct ft_tasks *t, struct ft_task *task, uint64_t now_ns);

/* ft_tasks_forget - deletes what died before @before_ns and was not freed since. */
void ft_tasks_forget(struct ft_tasks *t, uint64_t before_ns);

/* ft_tasks_rename_foreign - threads that are no targets are to be named anew, from @now_ns
 * (monotonic) on; those that were not for ten seconds are deleted. */
void ft_tasks_rename_foreign(struct ft_tasks *t, uint64_t now_ns);

/* The living target process @pid, or NULL. One of which only threads are targets is none. */
struct ft_target *ft_target_find(const struct ft_tasks *t, uint32_t pid);
struct ft_target *ft_target_new(struct ft_tasks *t, uint32_t pid, uint32_t flags);

/* Calls @f for each living target. @f may add targets (they may or may not be visited). */
void ft_targets_each(struct ft_tasks *t, void (*f)(void *ctx, struct ft_target *target), void *ctx);
uint32_t ft_targets_count(const struct ft_tasks *t);

#endif /* JISCTL_FTRACE_TASKS_H */
