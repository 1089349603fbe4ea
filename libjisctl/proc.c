/* SPDX-License-Identifier: MIT */
/*
 * Reads /proc/PID/task/TID/stat and status (proc(5)).
 */
#include "proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jis/events.h"
#include "trace/grow.h"

#define JIT_LOOK_MAX 1024

static int read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -ESRCH;
	n = read(fd, text, size - 1);
	close(fd);
	if (n <= 0)
		return -ESRCH;
	text[n] = 0;
	return 0;
}

static uint32_t state_of_letter(char c)
{
	switch (c) {
	case 'S':
		return JIS_TASK_INTERRUPTIBLE;
	case 'D':
		return JIS_TASK_UNINTERRUPTIBLE;
	case 'T':
	case 't':
		return JIS_TASK_STOPPED;
	case 'Z':
	case 'X':
	case 'x':
		return JIS_TASK_DEAD;
	case 'I':
		return JIS_TASK_IDLE;
	case 'P':
		return JIS_TASK_PARKED;
	default:
		return JIS_TASK_RUNNING;
	}
}

int proc_stat_read(pid_t pid, pid_t tid, struct proc_stat *out)
{
	char path[64], text[2048], *open, *close, *p, *save;
	long hz = sysconf(_SC_CLK_TCK);
	int field;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	if (read_text(path, text, sizeof(text)))
		return -ESRCH;
	memset(out, 0, sizeof(*out));
	open = strchr(text, '(');
	close = strrchr(text, ')'); /* the name may hold anything, parentheses too */
	if (!open || !close || close < open || close[1] != ' ')
		return -EBADMSG;
	*close = 0;
	snprintf(out->comm, sizeof(out->comm), "%s", open + 1);
	field = 3;
	for (p = strtok_r(close + 2, " ", &save); p; p = strtok_r(NULL, " ", &save), field++) {
		if (field == 3)
			out->state = state_of_letter(*p);
		else if (field == 4)
			out->ppid = (uint32_t)strtoul(p, NULL, 10);
		else if (field == 22)
			out->start_ticks = strtoull(p, NULL, 10);
		else if (field == 39)
			out->cpu = (uint32_t)strtoul(p, NULL, 10);
	}
	out->start_time = out->start_ticks * (1000000000ull / (uint64_t)(hz > 0 ? hz : 100));
	return field > 39 ? 0 : -EBADMSG;
}

/* Value of "Name:\t..." at the begin of a line, or NULL. */
static char *status_value(char *text, const char *name)
{
	size_t n = strlen(name);
	char *line;

	for (line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, n) == 0 && line[n] == ':')
			return line + n + 1 + strspn(line + n + 1, "\t ");
	}
	return NULL;
}

int proc_status_read(pid_t tid, struct proc_status *out)
{
	char path[64], text[4096], *p, *end;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	if (read_text(path, text, sizeof(text)))
		return -ESRCH;
	memset(out, 0, sizeof(*out));
	p = status_value(text, "Tgid");
	out->tgid = p ? (uint32_t)strtoul(p, NULL, 10) : 0;
	p = status_value(text, "PPid");
	out->ppid = p ? (uint32_t)strtoul(p, NULL, 10) : 0;
	out->ns_tid = (uint32_t)tid;
	p = status_value(text, "NSpid");
	while (p && *p && *p != '\n') { /* from our namespace down to the innermost */
		out->ns_tid = (uint32_t)strtoul(p, &end, 10);
		if (end == p)
			break;
		p = end + strspn(end, "\t ");
	}
	p = status_value(text, "Name");
	if (p) {
		p[strcspn(p, "\n")] = 0;
		snprintf(out->comm, sizeof(out->comm), "%s", p);
	}
	return out->tgid ? 0 : -ESRCH;
}

/* How often the thread has left a CPU; UINT64_MAX: not known. */
static uint64_t switches_read(pid_t pid, pid_t tid)
{
	char path[64], text[4096], *voluntary, *other;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	if (read_text(path, text, sizeof(text)))
		return UINT64_MAX;
	voluntary = status_value(text, "voluntary_ctxt_switches");
	other = status_value(text, "nonvoluntary_ctxt_switches");
	if (!voluntary || !other)
		return UINT64_MAX;
	return strtoull(voluntary, NULL, 10) + strtoull(other, NULL, 10);
}

int proc_on_cpu(pid_t pid, pid_t tid)
{
	unsigned long long run, wait, arrivals;
	uint64_t before, after;
	char path[64], text[128];
	int tries;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", pid, tid);
	for (tries = 0; tries < 5; tries++) {
		before = switches_read(pid, tid);
		if (read_text(path, text, sizeof(text)) ||
		    sscanf(text, "%llu %llu %llu", &run, &wait, &arrivals) != 3)
			return -1;
		after = switches_read(pid, tid);
		if (before == UINT64_MAX || arrivals > after + 1)
			return -1;
		if (before == after && arrivals >= after)
			return arrivals > after;
	}
	return -1;
}

int proc_threads(pid_t pid, uint32_t **tids)
{
	uint32_t *list = NULL;
	int n = 0, room = 0;
	struct dirent *e;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	*tids = NULL;
	if (!dir)
		return -ESRCH;
	while ((e = readdir(dir))) {
		if (e->d_name[0] < '0' || e->d_name[0] > '9')
			continue;
		if (n == room && !GROW(list, room, 64)) {
			free(list);
			closedir(dir);
			return -ENOMEM;
		}
		list[n++] = (uint32_t)strtoul(e->d_name, NULL, 10);
	}
	closedir(dir);
	*tids = list;
	return n;
}

static bool is_jit(pid_t pid, uint32_t tid)
{
	static const char *const names[] = {"C1 Compiler", "C2 Compiler", "JVMCI Compiler"};
	char path[64], comm[PROC_COMM_SIZE];
	size_t i;

	snprintf(path, sizeof(path), "/proc/%d/task/%u/comm", pid, tid);
	if (read_text(path, comm, sizeof(comm)))
		return false;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(comm, names[i], strlen(names[i])))
			return true;
	return false;
}

uint64_t proc_jit_time(pid_t pid)
{
	uint32_t *tids = NULL;
	char path[64], text[128];
	uint64_t sum = 0;
	int i, n = proc_threads(pid, &tids);

	for (i = 0; i < n && i < JIT_LOOK_MAX; i++) {
		if (!is_jit(pid, tids[i]))
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%u/schedstat", pid, tids[i]);
		if (!read_text(path, text, sizeof(text)))
			sum += strtoull(text, NULL, 10);
	}
	free(tids);
	return sum;
}

bool proc_in_other_pid_ns(pid_t pid)
{
	struct stat mine, theirs;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", pid);
	if (stat("/proc/self/ns/pid", &mine) || stat(path, &theirs))
		return false;
	return mine.st_ino != theirs.st_ino || mine.st_dev != theirs.st_dev;
}
