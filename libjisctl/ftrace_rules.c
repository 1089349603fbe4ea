/* SPDX-License-Identifier: MIT */
/*
 * Targets by rule: whoever executes a program of some name, until it executes another, and
 * everybody. Who runs is read from /proc once the kernel tells of all threads; births and execs do
 * the rest. Of a script the kernel's record has the script's name, not its interpreter's: that is
 * looked up in /proc, where it is in vain once the process has ended.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ftrace_record.h"
#include "proc.h"

#define RULES_MAX 8u /* as the module has */

struct ft_rule {
	char name[JIS_TARGET_NAME_MAX];
	uint32_t flags;
};

static struct ft_rule *rule_find(const struct backend *b, const char *name)
{
	for (uint32_t i = 0; i < b->nr_rules; i++)
		if (strcmp(b->rules[i].name, name) == 0)
			return &b->rules[i];
	return NULL;
}

int ft_executable_add(struct backend *b, const char *name, uint32_t flags)
{
	struct ft_rule *more;
	int err;

	if (rule_find(b, name))
		return -EEXIST;
	if (b->nr_rules == RULES_MAX)
		return -ENOSPC;
	err = ft_unfilter(b);
	if (err)
		return err;
	more = realloc(b->rules, (b->nr_rules + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	b->rules = more;
	snprintf(more[b->nr_rules].name, sizeof(more->name), "%s", name);
	more[b->nr_rules++].flags = flags;
	return 0;
}

int ft_executable_remove(struct backend *b, const char *name)
{
	struct ft_rule *rule = rule_find(b, name);

	if (!rule)
		return -ESRCH;
	*rule = b->rules[--b->nr_rules];
	return 0; /* those it has found go on being recorded */
}

void ft_rules_free(struct backend *b)
{
	free(b->rules);
	b->rules = NULL;
}

/* What the interpreter of the script that @pid executes was called as; "": it is no script, or has
 * ended. @filename: as the process named the script. */
static void interpreter_of(uint32_t pid, const char *filename, char *name, size_t n)
{
	char path[JIS_STRING_MAX + 64], line[JIS_STRING_MAX];
	const char *slash;
	struct stat script, program;
	ssize_t length = -1;
	int fd;

	name[0] = 0;
	snprintf(path, sizeof(path), "/proc/%u/%s/%s", pid, filename[0] == '/' ? "root" : "cwd",
		 filename);
	if (stat(path, &script))
		return;
	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	if (stat(path, &program) ||
	    (script.st_ino == program.st_ino && script.st_dev == program.st_dev))
		return;
	snprintf(path, sizeof(path), "/proc/%u/cmdline", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		length = read(fd, line, sizeof(line) - 1);
		close(fd);
	}
	if (length <= 0)
		return;
	line[length] = 0;
	slash = strrchr(line, '/');
	snprintf(name, n, "%.*s", (int)n - 1, slash ? slash + 1 : line);
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The rule for what process @pid has become, or NULL. */
static const struct ft_rule *rule_for(const struct backend *b, uint32_t pid, const char *filename)
{
	char name[JIS_TARGET_NAME_MAX];
	const struct ft_rule *rule;

	if (!b->nr_rules)
		return NULL;
	rule = rule_find(b, base_of(filename));
	if (rule)
		return rule;
	interpreter_of(pid, filename, name, sizeof(name));
	return name[0] ? rule_find(b, name) : NULL;
}

/* Says who it is: it runs, and is called as its program. */
static void introduce(const struct record *r, const struct ft_target *target, const char *filename)
{
	struct jis_ev_thread_state ev = {.tid = target->pid,
					 .pid = target->pid,
					 .ns_tid = target->other_ns ? 0 : target->pid,
					 .state = JIS_TASK_RUNNING,
					 .cpu = r->cpu};
	struct proc_status status;
	struct proc_stat st;
	char comm[FT_COMM_SIZE];

	if (!r->b->recording)
		return; /* it will be dumped */
	if (target->other_ns && proc_status_read((pid_t)target->pid, &status) == 0)
		ev.ns_tid = status.ns_tid;
	if (proc_stat_read((pid_t)target->pid, (pid_t)target->pid, &st) == 0)
		ev.start_time = st.start_time;
	snprintf(comm, sizeof(comm), "%.15s", base_of(filename));
	emit(r, JIS_EV_thread_state, &ev, sizeof(ev) - sizeof(uint32_t), comm);
}

bool ft_rules_exec(const struct record *r, uint32_t pid, const char *filename)
{
	const struct ft_rule *rule = rule_for(r->b, pid, filename);
	struct ft_target *target;
	struct ft_task *task;

	if (!rule && !r->b->all)
		return false;
	task = ft_task_get(r->b->tasks, pid);
	target = task ? ft_target_new(r->b->tasks, pid, rule ? rule->flags : 0) : NULL;
	if (!target)
		return false;
	target->by_all = !rule;
	target->other_ns = proc_in_other_pid_ns((pid_t)pid);
	ft_task_join(r->b->tasks, task, target);
	task->state = JIS_TASK_RUNNING;
	task->state_time = r->time;
	task->cpu = r->cpu;
	introduce(r, target, filename);
	return true;
}

void ft_rules_exec_target(const struct record *r, struct ft_target *target, const char *filename)
{
	const struct ft_rule *rule;

	if (target->flags & JIS_TARGET_FIRST_EXEC) {
		target->flags &= ~JIS_TARGET_FIRST_EXEC;
		return;
	}
	if (!(target->flags & JIS_TARGET_UNTIL_EXEC))
		return;
	rule = rule_for(r->b, target->pid, filename);
	if (rule) {
		target->flags = rule->flags;
	} else if (r->b->all) {
		target->flags = 0;
		target->by_all = true;
	} else if (ft_cgroup_covers(r->b, target)) {
		target->flags = JIS_TARGET_CHILDREN;
		target->by_cgroup = true;
	} else {
		target->removed = true;
	}
}

struct ft_target *ft_all_owner(struct backend *b, uint32_t pid)
{
	struct ft_target *target = ft_target_find(b->tasks, pid);

	if (!target) {
		target = ft_target_new(b->tasks, pid, 0);
		if (!target)
			return NULL;
		target->other_ns = proc_in_other_pid_ns((pid_t)pid);
		target->by_all = true;
	} else if (target->removed) {
		target->removed = false;
		target->by_all = true;
	}
	return target;
}

int ft_all_add(struct backend *b)
{
	struct dirent *e;
	DIR *proc;
	int err;

	if (b->all)
		return -EEXIST;
	err = ft_unfilter(b);
	if (err)
		return err;
	proc = opendir("/proc");
	if (!proc)
		return -errno;
	b->all = true;
	while ((e = readdir(proc))) {
		uint32_t pid = (uint32_t)strtoul(e->d_name, NULL, 10);

		if (!isdigit((unsigned char)e->d_name[0]) || ft_target_follow(b, pid, 0))
			continue; /* one already, or ended meanwhile */
		ft_target_find(b->tasks, pid)->by_all = true;
	}
	closedir(proc);
	return 0;
}

static void all_end(void *ctx, struct ft_target *target)
{
	target->removed |= target->by_all;
}

int ft_all_remove(struct backend *b)
{
	if (!b->all)
		return -ESRCH;
	b->all = false;
	ft_targets_each(b->tasks, all_end, NULL);
	return 0;
}
