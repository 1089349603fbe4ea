/* SPDX-License-Identifier: MIT */
/*
 * What a session records: targets of all kinds, added and watched. What the backend's kernel part
 * cannot do is done here: paths of cgroups, and the processes that run a program already.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proc.h"
#include "session.h"
#include "trace/manifest.h"

static const struct {
	const char *name;
	uint32_t flags;
	bool pid;
} kinds[] = {
	[JISCTL_TARGET_PROCESS] = {"process",
				   JIS_TARGET_CHILDREN | JIS_TARGET_UNTIL_EXEC |
					   JIS_TARGET_FIRST_EXEC,
				   true},
	[JISCTL_TARGET_THREAD] = {"thread", 0, true},
	[JISCTL_TARGET_CGROUP] = {"cgroup", 0, false},
	[JISCTL_TARGET_EXECUTABLE] = {"executable", JIS_TARGET_CHILDREN | JIS_TARGET_UNTIL_EXEC,
				      false},
	[JISCTL_TARGET_ALL] = {"all", 0, false},
};

bool session_target_alive(const struct jisctl_session *s, struct session_target *t)
{
	struct pollfd p = {.fd = t->pidfd, .events = POLLIN};
	struct proc_stat st;

	if (t->thread)
		return proc_stat_read(t->pid, t->pid, &st) == 0 && st.start_time == t->start_time;
	return t->pidfd < 0 ? s->ops->is_target(s->backend, t->pid) : poll(&p, 1, 0) <= 0;
}

int session_target_remember(struct jisctl_session *s, pid_t pid, uint32_t flags, bool thread)
{
	struct session_target *more, *t;
	struct proc_stat st = {.start_time = 0};

	more = realloc(s->targets, (s->nr_targets + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	s->targets = more;
	t = &more[s->nr_targets++];
	*t = (struct session_target){.pid = pid, .flags = flags, .pidfd = -1, .thread = thread};
	if (!thread) {
		t->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	} else {
		proc_stat_read(pid, pid, &st);
		t->start_time = st.start_time;
	}
	return 0;
}

/* As the manifest has it: "process 12, children", "cgroup /sys/fs/cgroup/web". */
static void filter_note(struct jisctl_session *s, const struct jisctl_target *t)
{
	char what[512] = "", text[640];

	if (kinds[t->kind].pid)
		snprintf(what, sizeof(what), t->name ? " %d (%s)" : " %d", (int)t->pid, t->name);
	else if (t->name)
		snprintf(what, sizeof(what), " %s", t->name);
	snprintf(text, sizeof(text), "%s%s%s%s", kinds[t->kind].name, what,
		 t->flags & JIS_TARGET_CHILDREN ? ", children" : "",
		 t->flags & JIS_TARGET_UNTIL_EXEC ? ", until exec" : "");
	recorder_filter(s->recorder, text);
}

/* The struct as the caller's library knew it, with zeros behind; -EINVAL: it makes no sense. */
static int target_take(const struct jisctl_target *from, struct jisctl_target *to)
{
	size_t size = from->size < sizeof(*to) ? from->size : sizeof(*to);
	bool process, named;

	if (from->size < offsetof(struct jisctl_target, pid))
		return -EINVAL;
	memset(to, 0, sizeof(*to));
	memcpy(to, from, size);
	process = to->kind == JISCTL_TARGET_PROCESS;
	named = to->kind == JISCTL_TARGET_CGROUP || to->kind == JISCTL_TARGET_EXECUTABLE;
	if ((unsigned int)to->kind > JISCTL_TARGET_ALL ||
	    (uint32_t)to->flags & ~kinds[to->kind].flags)
		return -EINVAL;
	if (process ? to->name && process_name_wrong(to->name) : named != (to->name && to->name[0]))
		return -EINVAL;
	if (kinds[to->kind].pid)
		return to->pid > 0 ? 0 : -ESRCH;
	return to->pid ? -EINVAL : 0;
}

static void tell_added(struct jisctl_session *s, pid_t pid, uint32_t flags)
{
	struct jis_ev_target_added ev = {.pid = (uint32_t)pid, .flags = flags};
	struct proc_stat st = {.comm = ""};

	proc_stat_read(pid, pid, &st);
	recorder_event(s->recorder, JIS_EV_target_added, session_now(s), &ev,
		       sizeof(ev) - sizeof(uint32_t), st.comm);
}

static int process_add(struct jisctl_session *s, pid_t pid, uint32_t flags)
{
	struct jis_target target = {.size = sizeof(target),
				    .kind = JIS_TARGET_PROCESS,
				    .flags = flags,
				    .pid = (uint32_t)pid};
	struct proc_stat st;
	int err;

	if (proc_stat_read(pid, pid, &st))
		return -ESRCH;
	if (s->ops->filter)
		err = s->ops->filter(s->backend, JIS_IOC_TARGET_ADD, &target);
	else if (flags & ~JIS_TARGET_CHILDREN)
		err = -EOPNOTSUPP;
	else
		err = s->ops->target_add(s->backend, pid, flags);
	if (err)
		return err;
	tell_added(s, pid, flags);
	return session_target_remember(s, pid, flags, false);
}

/* Does process @pid run a program of that name: by its file, or as it was called? */
static bool process_runs(pid_t pid, const char *name)
{
	char path[64], file[4096], *slash;
	ssize_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, file, sizeof(file) - 1);
	if (n > 0) {
		file[n] = 0;
		slash = strrchr(file, '/');
		if (slash && strcmp(slash + 1, name) == 0)
			return true;
	}
	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = (ssize_t)fread(file, 1, sizeof(file) - 1, f);
	fclose(f);
	file[n] = 0;
	slash = strrchr(file, '/');
	return n > 0 && strcmp(slash ? slash + 1 : file, name) == 0;
}

/* Processes that run it already; those that come meanwhile the rule has seen. */
static int running_add(struct jisctl_session *s, const struct jisctl_target *t)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;
	int err = 0;

	if (!proc)
		return -errno;
	while (!err && (e = readdir(proc))) {
		pid_t pid = isdigit((unsigned char)e->d_name[0]) ? atoi(e->d_name) : 0;

		if (pid <= 0 || pid == getpid() || !process_runs(pid, t->name))
			continue;
		err = process_add(s, pid, (uint32_t)t->flags);
		if (err == -ESRCH || err == -EEXIST)
			err = 0;
	}
	closedir(proc);
	return err;
}

/* Everything but processes: rules in the kernel. */
static int rule_add(struct jisctl_session *s, const struct jisctl_target *t)
{
	struct jis_target target = {.size = sizeof(target),
				    .kind = (uint32_t)t->kind,
				    .flags = (uint32_t)t->flags,
				    .pid = (uint32_t)t->pid};
	int err;

	if (!s->ops->filter)
		return -EOPNOTSUPP;
	if (t->kind == JISCTL_TARGET_EXECUTABLE) {
		if (strlen(t->name) >= sizeof(target.name) || strchr(t->name, '/'))
			return -EINVAL;
		memcpy(target.name, t->name, strlen(t->name));
	}
	if (t->kind == JISCTL_TARGET_CGROUP) {
		target.fd = open(t->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (target.fd < 0)
			return -errno;
	}
	err = s->ops->filter(s->backend, JIS_IOC_TARGET_ADD, &target);
	if (t->kind == JISCTL_TARGET_CGROUP)
		close(target.fd);
	if (err)
		return err;
	if (t->kind == JISCTL_TARGET_THREAD)
		return session_target_remember(s, t->pid, 0, true);
	if (t->kind == JISCTL_TARGET_EXECUTABLE) {
		err = running_add(s, t);
		if (err) {
			s->ops->filter(s->backend, JIS_IOC_TARGET_REMOVE, &target);
			return err;
		}
	}
	s->nr_rules++;
	return 0;
}

int jisctl_session_add_target2(struct jisctl_session *s, const struct jisctl_target *target)
{
	struct jisctl_target t;
	int err = target_take(target, &t);

	if (err)
		return err;
	if (s->state == JIS_SESSION_STOPPED)
		return -EINVAL;
	if (t.kind == JISCTL_TARGET_PROCESS)
		err = process_add(s, t.pid, (uint32_t)t.flags);
	else
		err = rule_add(s, &t);
	if (err)
		return err;
	if (t.kind == JISCTL_TARGET_PROCESS && t.name)
		err = recorder_process_name(s->recorder, (uint32_t)t.pid, t.name);
	filter_note(s, &t);
	return err;
}

int jisctl_session_add_target(struct jisctl_session *s, pid_t pid, int flags)
{
	struct jisctl_target target = {.size = sizeof(target),
				       .kind = JISCTL_TARGET_PROCESS,
				       .flags = flags,
				       .pid = pid};

	if (flags & ~JISCTL_TARGET_CHILDREN)
		return -EINVAL;
	return jisctl_session_add_target2(s, &target);
}
