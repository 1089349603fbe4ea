// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rare records: births, deaths and names of threads. Called by probes, in their context.
 */
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "jis.h"

/**
 * jis_task_state - the kernel's task state bits as enum jis_task_state.
 */
u32 jis_task_state(u32 state)
{
	if (state & (TASK_DEAD | EXIT_DEAD | EXIT_ZOMBIE))
		return JIS_TASK_DEAD;
	if (state & (__TASK_STOPPED | __TASK_TRACED))
		return JIS_TASK_STOPPED;
	if (state & TASK_PARKED)
		return JIS_TASK_PARKED;
	if (state & TASK_INTERRUPTIBLE)
		return JIS_TASK_INTERRUPTIBLE;
	if ((state & TASK_IDLE) == TASK_IDLE)
		return JIS_TASK_IDLE;
	if (state & ~(TASK_WAKEKILL | TASK_WAKING | TASK_NOLOAD | TASK_NEW))
		return JIS_TASK_UNINTERRUPTIBLE; /* and what waits like it: frozen, on an RT lock */
	return JIS_TASK_RUNNING;
}

/* The length word of a string field that holds @text; what is behind its NUL must be zero. */
static u32 text_length(const char *text, u32 size)
{
	return round_up(strnlen(text, size - 1) + 1, 4);
}

/**
 * jis_comm_copy - a thread's name, ended and padded with NULs, and not trusted to hold still.
 * Returns the length of the string field.
 */
u32 jis_comm_copy(char comm[TASK_COMM_LEN], const char *from)
{
	size_t len;

	memcpy(comm, from, TASK_COMM_LEN);
	len = strnlen(comm, TASK_COMM_LEN - 1);
	memset(comm + len, 0, TASK_COMM_LEN - len);
	return text_length(comm, TASK_COMM_LEN);
}

/* The tid as the innermost of its pid namespaces has it; 0 when the thread has been released. */
u32 jis_ns_tid(struct task_struct *task)
{
	struct pid *pid;
	u32 tid = 0;

	rcu_read_lock();
	pid = task_pid(task);
	if (pid)
		tid = pid->numbers[pid->level].nr;
	rcu_read_unlock();
	return tid;
}

/**
 * jis_record_name - says who a thread is that is no target. Its bit is set only when that is in the
 * trace: what was lost is said again. A restricted session is told no name.
 */
notrace void jis_record_name(struct jis_session *s, struct task_struct *task)
{
	static const char nobody[TASK_COMM_LEN] = "";
	struct jis_ev_task_name *ev;
	unsigned long irq;
	char comm[TASK_COMM_LEN];
	u32 len = jis_comm_copy(comm, s->restricted ? nobody : task->comm);

	ev = jis_record_begin(s, JIS_EV_task_name, sizeof(*ev) + len, &irq);
	if (ev) {
		ev->tid = task->pid;
		ev->pid = task->tgid;
		ev->comm_length = len;
		memcpy(ev->comm, comm, len);
		set_bit(task->pid, s->seen);
	}
	jis_record_end(irq);
}

notrace void jis_record_fork(struct jis_session *s, struct task_struct *parent,
			     struct task_struct *child)
{
	struct jis_ev_sched_process_fork *ev;
	unsigned long irq;
	char comm[TASK_COMM_LEN];
	u32 len = jis_comm_copy(comm, child->comm);
	u32 ns_tid = jis_ns_tid(child);

	ev = jis_record_begin(s, JIS_EV_sched_process_fork, sizeof(*ev) + len, &irq);
	if (ev) {
		ev->parent_tid = parent->pid;
		ev->tid = child->pid;
		ev->pid = child->tgid;
		ev->ns_tid = ns_tid;
		ev->start_time = child->start_boottime;
		ev->comm_length = len;
		memcpy(ev->comm, comm, len);
		if (unlikely(READ_ONCE(s->filter)))
			jis_filter_born(s, child);
	}
	jis_record_end(irq);
}

/* Bytes of @path, before a character of UTF-8, that leave room for "..." and a NUL. */
static u32 path_cut(const char *path)
{
	u32 len = JIS_STRING_MAX - sizeof("...");

	while (len && (path[len] & 0xc0) == 0x80)
		len--;
	return len;
}

/**
 * jis_text_fit - how much of a text a string field takes. Nothing may change the text until it is
 * written.
 */
notrace struct jis_text jis_text_fit(const char *text)
{
	struct jis_text t = {.text = text, .len = strnlen(text, JIS_STRING_MAX)};

	t.cut = t.len == JIS_STRING_MAX;
	if (t.cut)
		t.len = path_cut(text);
	t.size = round_up(t.len + (t.cut ? sizeof("...") : 1), 4);
	return t;
}

/**
 * jis_text_write - the text, "..." when it was cut, and NULs up to the field's size.
 */
notrace void jis_text_write(char *to, const struct jis_text *t)
{
	memset(to, 0, t->size);
	memcpy(to, t->text, t->len);
	if (t->cut)
		memcpy(to + t->len, "...", 3);
}

notrace void jis_record_exec(struct jis_session *s, struct task_struct *task, u32 old_tid,
			     const char *filename)
{
	struct jis_text text = jis_text_fit(filename);
	struct jis_ev_sched_process_exec *ev;
	unsigned long irq;

	ev = jis_record_begin(s, JIS_EV_sched_process_exec, sizeof(*ev) + text.size, &irq);
	if (ev) {
		ev->tid = task->pid;
		ev->old_tid = old_tid;
		ev->pid = task->tgid;
		ev->filename_length = text.size;
		jis_text_write(ev->filename, &text);
	}
	jis_record_end(irq);
}

notrace void jis_record_exit(struct jis_session *s, struct task_struct *task)
{
	struct jis_ev_sched_process_exit *ev;
	unsigned long irq;

	ev = jis_record_begin(s, JIS_EV_sched_process_exit, sizeof(*ev), &irq);
	if (ev) {
		ev->tid = task->pid;
		ev->pid = task->tgid;
		ev->exit_code = task->exit_code;
	}
	jis_record_end(irq);
}

notrace void jis_record_free(struct jis_session *s, struct task_struct *task)
{
	struct jis_ev_sched_process_free *ev;
	unsigned long irq;

	ev = jis_record_begin(s, JIS_EV_sched_process_free, sizeof(*ev), &irq);
	if (ev) {
		ev->tid = task->pid;
		ev->pid = task->tgid;
	}
	jis_record_end(irq);
}

notrace void jis_record_rename(struct jis_session *s, struct task_struct *task, const char *name)
{
	struct jis_ev_task_rename *ev;
	unsigned long irq;
	char comm[TASK_COMM_LEN] = "";
	u32 len;

	strscpy(comm, name, sizeof(comm));
	len = text_length(comm, sizeof(comm));
	ev = jis_record_begin(s, JIS_EV_task_rename, sizeof(*ev) + len, &irq);
	if (ev) {
		ev->tid = task->pid;
		ev->pid = task->tgid;
		ev->comm_length = len;
		memcpy(ev->comm, comm, len);
	}
	jis_record_end(irq);
}
