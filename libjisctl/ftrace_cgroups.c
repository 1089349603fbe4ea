/* SPDX-License-Identifier: MIT */
/*
 * Cgroups by ftrace: targets by the cgroup they are in, and which cgroup a thread is in. Who is in
 * one is read below its directory at the begin; later the kernel's event of a move tells, and a
 * child is where its parent is. Cgroups of the unified hierarchy only; its event has number 0 for
 * it.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "ftrace_record.h"
#include "proc.h"

#define CGROUPS_MAX 8u
#define DEPTH_MAX 64

#define TOLD 256u

/* The unified hierarchy as it is mounted here, and whose names were told last. */
struct ft_hierarchy {
	int err; /* of looking for it */
	char mount[PATH_MAX], root[PATH_MAX];
	uint32_t told[TOLD];
};

struct ft_cgroup {
	char path[PATH_MAX]; /* below the hierarchy's root; "" that itself */
};

/* Where the unified hierarchy is mounted, and which part of it that shows. Returns 0 or -ENOENT. */
static int hierarchy_find(char *mount, char *root)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL, *type;
	int err = -ENOENT;
	size_t size = 0;

	while (f && err && getline(&line, &size, f) > 0) {
		type = strstr(line, " - cgroup2 ");
		if (type && sscanf(line, "%*s %*s %*s %4095s %4095s", root, mount) == 2)
			err = 0;
	}
	if (f)
		fclose(f);
	free(line);
	if (!err && strcmp(root, "/") == 0)
		root[0] = 0;
	return err;
}

/* The path of the cgroup whose directory @fd is. Returns 0, -EBADF: it is none, or -errno. */
static int path_of(int fd, char path[PATH_MAX])
{
	char mount[PATH_MAX], root[PATH_MAX], full[PATH_MAX], link[64];
	struct statfs fs;
	ssize_t n;
	int err;

	if (fstatfs(fd, &fs) || fs.f_type != CGROUP2_SUPER_MAGIC)
		return -EBADF;
	err = hierarchy_find(mount, root);
	if (err)
		return err;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, full, sizeof(full) - 1);
	if (n < 0)
		return -errno;
	full[n] = 0;
	n = (ssize_t)strlen(mount);
	if (strncmp(full, mount, (size_t)n) != 0 || (full[n] && full[n] != '/'))
		return -EBADF;
	return snprintf(path, PATH_MAX, "%s%s", root, full + n) >= PATH_MAX ? -ENAMETOOLONG : 0;
}

static struct ft_cgroup *rule_find(const struct backend *b, const char *path)
{
	for (uint32_t i = 0; i < b->nr_cgroups; i++)
		if (strcmp(b->cgroups[i].path, path) == 0)
			return &b->cgroups[i];
	return NULL;
}

/* Is the cgroup with @path a target, or below one? */
static bool is_inside(const struct backend *b, const char *path)
{
	for (uint32_t i = 0; i < b->nr_cgroups; i++) {
		size_t n = strlen(b->cgroups[i].path);

		if (strncmp(path, b->cgroups[i].path, n) == 0 && (!path[n] || path[n] == '/'))
			return true;
	}
	return false;
}

/* One that has ended already: what is left of it is its leader's. */
static struct ft_target *late_add(struct backend *b, uint32_t pid)
{
	struct ft_task *task = ft_task_get(b->tasks, pid);
	struct ft_target *target = task ? ft_target_new(b->tasks, pid, JIS_TARGET_CHILDREN) : NULL;

	if (!target)
		return NULL;
	target->by_cgroup = true;
	ft_task_join(b->tasks, task, target);
	return target;
}

/* A process, or where it is but one of many threads in a threaded cgroup the thread, is a target as
 * long as it is in its cgroup. Returns its target, or NULL. */
static struct ft_target *member_add(struct backend *b, uint32_t tid)
{
	const struct ft_task *task;
	struct proc_status status;
	int err;

	if (proc_status_read((pid_t)tid, &status))
		return NULL;
	if (status.tgid == tid)
		err = ft_target_follow(b, tid, JIS_TARGET_CHILDREN);
	else
		err = ft_thread_follow(b, tid);
	task = ft_task_find(b->tasks, tid);
	if (err || !ft_task_in(task))
		return NULL; /* gone, or one by itself */
	task->target->by_cgroup = true;
	return task->target;
}

/* Those listed in file @name of directory @fd. Returns 0 or -errno. */
static int members_read(struct backend *b, int fd, const char *name)
{
	int file = openat(fd, name, O_RDONLY | O_CLOEXEC);
	FILE *f = file < 0 ? NULL : fdopen(file, "re");
	char line[32];
	int err = 0;

	if (!f)
		return -errno;
	errno = 0;
	while (fgets(line, sizeof(line), f))
		if (isdigit((unsigned char)line[0]))
			member_add(b, (uint32_t)strtoul(line, NULL, 10));
	if (ferror(f))
		err = -errno;
	fclose(f);
	return err;
}

/* Members of the cgroup and of those below it. */
static void members_walk(struct backend *b, int fd, int depth)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), below;
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *e;

	if (members_read(b, fd, "cgroup.procs") == -EOPNOTSUPP) /* a threaded one */
		members_read(b, fd, "cgroup.threads");
	while (dir && depth < DEPTH_MAX && (e = readdir(dir))) {
		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		below = openat(fd, e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (below < 0)
			continue;
		members_walk(b, below, depth + 1);
		close(below);
	}
	if (dir)
		closedir(dir);
}

int ft_cgroup_add(struct backend *b, int fd)
{
	char path[PATH_MAX];
	struct ft_cgroup *more;
	int err;

	if (!b->formats.event[FT_ATTACH].id)
		return -EOPNOTSUPP;
	err = path_of(fd, path);
	if (!err && rule_find(b, path))
		err = -EEXIST;
	if (!err && b->nr_cgroups == CGROUPS_MAX)
		err = -ENOSPC;
	if (!err)
		err = ft_unfilter(b);
	if (err)
		return err;
	more = realloc(b->cgroups, (b->nr_cgroups + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	b->cgroups = more;
	memcpy(more[b->nr_cgroups++].path, path, sizeof(path));
	/* Moves and births are told from here on. */
	members_walk(b, fd, 0);
	return 0;
}

int ft_cgroup_remove(struct backend *b, int fd)
{
	char path[PATH_MAX];
	struct ft_cgroup *rule;
	int err = path_of(fd, path);

	if (err)
		return err;
	rule = rule_find(b, path);
	if (!rule)
		return -ESRCH;
	*rule = b->cgroups[--b->nr_cgroups];
	return 0; /* its members go on being recorded until they move or end */
}

void ft_cgroups_free(struct backend *b)
{
	free(b->hierarchy);
	b->hierarchy = NULL;
	free(b->cgroups);
	b->cgroups = NULL;
}

static void attach_emit(struct backend *b, uint32_t cpu, uint64_t time, struct ft_task *task,
			uint32_t number)
{
	struct jis_ev_cgroup_attach ev = {.tid = task->tid,
					  .pid = task->target->pid,
					  .cgroup = number};

	task->cgroup = number;
	ft_emit(b, cpu, JIS_EV_cgroup_attach, time, &ev, sizeof(ev), NULL);
}

/* NULL: there is none here. */
static struct ft_hierarchy *hierarchy_of(struct backend *b)
{
	struct ft_hierarchy *h = b->hierarchy;

	if (!h) {
		h = b->hierarchy = calloc(1, sizeof(*h));
		if (h)
			h->err = hierarchy_find(h->mount, h->root);
	}
	return h && !h->err ? h : NULL;
}

void ft_cgroups_rename(struct backend *b)
{
	if (b->hierarchy)
		memset(b->hierarchy->told, 0, sizeof(b->hierarchy->told));
}

static void name_emit(struct backend *b, uint32_t cpu, uint64_t time, uint32_t number,
		      const char *path)
{
	struct jis_ev_cgroup_name ev = {.cgroup = number};
	struct ft_hierarchy *h = hierarchy_of(b);

	if (!b->recording || (h && h->told[number % TOLD] == number))
		return;
	if (h)
		h->told[number % TOLD] = number;

	ft_emit(b, cpu, JIS_EV_cgroup_name, time, &ev, sizeof(ev) - sizeof(uint32_t),
		path[0] ? path : "/");
}

/* After the move: what it means for who is a target. */
static void move(struct backend *b, uint32_t tid, const char *path)
{
	struct ft_task *task = ft_task_find(b->tasks, tid);
	bool inside = is_inside(b, path);
	struct ft_target *target;

	if (inside && !ft_task_in(task)) {
		target = member_add(b, tid);
		if (!target && !ft_target_find(b->tasks, tid))
			target = late_add(b, tid);
		if (target && b->recording)
			ft_dump_target(b, target, true);
	} else if (!inside && ft_task_in(task) && task->target->by_cgroup) {
		task->target->removed = true;
	}
}

void ft_on_attach(const struct record *r)
{
	uint32_t tid = get_u32(r, ATTACH_PID), number = (uint32_t)get_u64(r, ATTACH_ID), *tids;
	char path[JIS_STRING_MAX];
	struct ft_task *task;
	int n;

	if (get_u32(r, ATTACH_ROOT)) /* another hierarchy */
		return;
	get_text(r, ATTACH_PATH, path, sizeof(path));
	if (strcmp(path, "/") == 0)
		path[0] = 0;
	if (r->b->nr_cgroups)
		move(r->b, tid, path);
	task = ft_task_find(r->b->tasks, tid);
	if (!ft_task_in(task))
		return;
	name_emit(r->b, r->cpu, r->time, number, path);
	attach_emit(r->b, r->cpu, r->time, task, number);
	if (task->target->thread || task->target->pid != tid)
		return;
	/* A process moves with all of its threads. */
	n = proc_threads((pid_t)tid, &tids);
	for (int i = 0; i < n; i++) {
		struct ft_task *t = tids[i] == tid ? NULL : ft_task_find(r->b->tasks, tids[i]);

		if (ft_task_in(t) && t->target == task->target)
			attach_emit(r->b, r->cpu, r->time, t, number);
	}
	if (n > 0)
		free(tids);
}

/* The cgroup of the thread as /proc has it. Returns 0 or -errno. */
static int proc_cgroup(const struct ft_target *target, uint32_t tid, char *path, size_t n)
{
	char file[64], line[JIS_STRING_MAX];
	int err = -ENOENT;
	FILE *f;

	snprintf(file, sizeof(file), "/proc/%u/task/%u/cgroup", target->pid, tid);
	f = fopen(file, "re");
	if (!f)
		return -errno;
	while (err && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "0::/", 4) != 0 || strncmp(line, "0::/..", 6) == 0)
			continue; /* one of another namespace has no name here */
		line[strcspn(line, "\n")] = 0;
		snprintf(path, n, "%.*s", (int)n - 1, line + 3);
		err = 0;
	}
	fclose(f);
	return err;
}

bool ft_cgroup_covers(const struct backend *b, const struct ft_target *target)
{
	char path[JIS_STRING_MAX];

	if (!b->nr_cgroups || proc_cgroup(target, target->pid, path, sizeof(path)))
		return false;
	return is_inside(b, strcmp(path, "/") == 0 ? "" : path);
}

void ft_cgroup_note(struct backend *b, const struct ft_target *target, uint32_t tid, uint64_t time)
{
	char path[JIS_STRING_MAX], full[PATH_MAX + JIS_STRING_MAX];
	const struct ft_hierarchy *h = hierarchy_of(b);
	struct ft_note note = {.tid = tid, .time = time};
	struct stat st;
	size_t n;

	if (!h || proc_cgroup(target, tid, path, sizeof(path)))
		return;
	n = strlen(h->root);
	if (strncmp(path, h->root, n) != 0)
		return;
	snprintf(full, sizeof(full), "%s%s", h->mount, path + n);
	if (stat(full, &st))
		return;
	note.state = (uint32_t)st.st_ino;
	note.cgroup = strdup(strcmp(path, "/") == 0 ? "" : path);
	if (!note.cgroup || ft_note_add(b, &note))
		free(note.cgroup);
}

void ft_cgroup_emit(struct backend *b, const struct ft_note *note)
{
	struct ft_task *task = ft_task_find(b->tasks, note->tid);

	if (ft_task_in(task)) {
		name_emit(b, 0, note->time, note->state, note->cgroup);
		attach_emit(b, 0, note->time, task, note->state);
	}
	free(note->cgroup);
}
