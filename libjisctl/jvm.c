/* SPDX-License-Identifier: MIT */
/*
 * What /proc tells of a JVM (proc(5)), and its root directory.
 */
#include "jvm.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define AGENT_PREFIX "/libjisagent"
#define DELETED " (deleted)"
#define PERFDATA_MAX (64u << 10)

/* What a look at all mappings finds. */
struct maps {
	bool hotspot, musl;
	unsigned long long perfdata; /* address of the mapped counters; 0: none */
	size_t perfdata_size;
	char agent[PATH_MAX];
};

static void map_line(struct maps *m, const char *line, const char *path)
{
	const char *base = strrchr(path, '/');
	unsigned long long begin, end;

	if (!base)
		return;
	m->hotspot |= !strncmp(base, "/libjvm.so", 10);
	m->musl |= !strncmp(base, "/ld-musl-", 9);
	if (!m->agent[0] && !strncmp(base, AGENT_PREFIX, strlen(AGENT_PREFIX)))
		snprintf(m->agent, sizeof(m->agent), "%s", path);
	if (strstr(path, "/hsperfdata_") && !m->perfdata &&
	    sscanf(line, "%llx-%llx", &begin, &end) == 2 && end > begin) {
		m->perfdata = begin;
		m->perfdata_size = (size_t)(end - begin);
	}
}

/* Returns 0, -ESRCH or -EACCES. */
static int maps_read(pid_t pid, struct maps *m)
{
	char name[64], *line = NULL, *path;
	size_t size = 0;
	FILE *f;

	memset(m, 0, sizeof(*m));
	snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
	f = fopen(name, "re");
	if (!f)
		return errno == EACCES || errno == EPERM ? -EACCES : -ESRCH;
	while (getline(&line, &size, f) > 0) {
		line[strcspn(line, "\n")] = 0;
		path = strchr(line, '/');
		if (path)
			map_line(m, line, path);
	}
	free(line);
	fclose(f);
	return 0;
}

bool jvm_is(pid_t pid)
{
	struct maps *m = malloc(sizeof(*m));
	bool is = m && maps_read(pid, m) == 0 && m->hotspot;

	free(m);
	return is;
}

void jvm_path(const struct jvm *j, char *path)
{
	char name[64], root[PATH_MAX];
	ssize_t got;
	size_t r;

	snprintf(name, sizeof(name), "/proc/%d/root", (int)j->pid);
	got = readlink(name, root, sizeof(root) - 1);
	if (got <= 1)
		return;
	root[got] = 0;
	r = strlen(root);
	if (!strncmp(path, root, r) && path[r] == '/')
		memmove(path, path + r, strlen(path + r) + 1);
}

static void agent_path(const struct jvm *j, char *path)
{
	size_t n = strlen(path);

	if (n > strlen(DELETED) && !strcmp(path + n - strlen(DELETED), DELETED))
		path[n - strlen(DELETED)] = 0;
	jvm_path(j, path);
}

/* Status ------------------------------------------------------------------------------------- */

static void status_line(struct jvm *j, const char *line)
{
	unsigned int real, effective;
	unsigned long long caught;
	const char *p;
	char *end;

	if (sscanf(line, "Uid: %u %u", &real, &effective) == 2)
		j->uid = effective;
	else if (sscanf(line, "Gid: %u %u", &real, &effective) == 2)
		j->gid = effective;
	else if (sscanf(line, "SigCgt: %llx", &caught) == 1)
		j->handles_quit = caught >> (SIGQUIT - 1) & 1;
	else if (!strncmp(line, "State:", 6))
		j->stopped = strchr(line, '(') && (strstr(line, "T (") || strstr(line, "t ("));
	else if (!strncmp(line, "NSpid:", 6)) /* from our namespace down to its own */
		for (p = line + 6; (real = (unsigned int)strtoul(p, &end, 10)), end != p; p = end)
			j->own_pid = (pid_t)real;
}

static int status_read(struct jvm *j)
{
	char name[64], line[512];
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/status", (int)j->pid);
	f = fopen(name, "re");
	if (!f)
		return -ESRCH;
	j->own_pid = j->pid;
	while (fgets(line, sizeof(line), f))
		status_line(j, line);
	fclose(f);
	return 0;
}

/* Was it told to take no attach? -------------------------------------------------------------- */

/*
 * In HotSpot's counters (hsperfdata): an entry has its length, the offset of its name, four bytes
 * of types and dimensions, and the offset of its value; the first letter of this value is 1 where
 * attaching works. Returns 1, 0, or -1: the JVM keeps no counters.
 */
static int counters_say(const struct jvm *j, const struct maps *m)
{
	static const char name[] = "sun.rt.jvmCapabilities";
	size_t size = m->perfdata_size < PERFDATA_MAX ? m->perfdata_size : PERFDATA_MAX;
	char *copy = m->perfdata ? malloc(size) : NULL, *found;
	struct iovec to = {copy, size}, from = {(void *)(uintptr_t)m->perfdata, size};
	uint32_t value = 0;
	int says = -1;

	if (!copy)
		return -1;
	found = process_vm_readv(j->pid, &to, 1, &from, 1, 0) == (ssize_t)size
			? memmem(copy, size, name, sizeof(name))
			: NULL;
	if (found && found - copy >= 20) {
		memcpy(&value, found - 4, sizeof(value)); /* data_offset, the header's last word */
		found -= 20;
		if (value < size - (size_t)(found - copy))
			says = found[value] == '1';
	}
	free(copy);
	return says;
}

/* Has file @name of the process the word that forbids it? */
static bool file_forbids(const struct jvm *j, const char *name)
{
	static const char word[] = "-XX:+DisableAttachMechanism";
	char path[64], text[65536];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)j->pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text));
	close(fd);
	return n > 0 && memmem(text, (size_t)n, word, sizeof(word) - 1);
}

static bool attach_forbidden(const struct jvm *j, const struct maps *m)
{
	int says = counters_say(j, m);

	return says >= 0 ? !says : file_forbids(j, "cmdline") || file_forbids(j, "environ");
}

/* Opening ------------------------------------------------------------------------------------ */

static int say(char *why, int err, const char *text)
{
	snprintf(why, JVM_WHY_MAX, "%s", text);
	return err;
}

static int inspect(struct jvm *j, struct maps *m, char *why)
{
	char name[64];
	int err;

	j->pidfd = (int)syscall(SYS_pidfd_open, j->pid, 0);
	if (j->pidfd < 0)
		return say(why, -ESRCH, "there is no such process");
	err = maps_read(j->pid, m);
	if (!err)
		err = status_read(j);
	if (err == -EACCES)
		return say(why, err, "that is another user's process");
	if (err)
		return say(why, -ESRCH, "there is no such process");
	if (!m->hotspot)
		return say(why, -ENOEXEC, "it is no HotSpot JVM (it has no libjvm.so)");
	if (m->musl)
		return say(why, -ENOEXEC, "its JVM is made for musl libc, the agent for glibc");
	if (attach_forbidden(j, m))
		return say(
			why, -EOPNOTSUPP,
			"it was started with -XX:+DisableAttachMechanism and lets nobody attach");
	snprintf(name, sizeof(name), "/proc/%d/root", (int)j->pid);
	j->root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (j->root < 0)
		return say(why, -EACCES, "its root directory cannot be looked into");
	if (m->agent[0]) {
		agent_path(j, m->agent);
		memcpy(j->agent, m->agent, sizeof(j->agent));
	}
	return 0;
}

int jvm_open(pid_t pid, struct jvm *out, char *why)
{
	struct maps *m = malloc(sizeof(*m));
	int err;

	memset(out, 0, sizeof(*out));
	out->pid = pid;
	out->pidfd = out->root = -1;
	if (!m)
		return say(why, -ENOMEM, strerror(ENOMEM));
	err = inspect(out, m, why);
	free(m);
	return err;
}

void jvm_close(struct jvm *j)
{
	if (j->pidfd >= 0)
		close(j->pidfd);
	if (j->root >= 0)
		close(j->root);
	j->pidfd = j->root = -1;
}

/* A link of the target's making would lead elsewhere in our own root without RESOLVE_IN_ROOT. */
int jvm_directory(const struct jvm *j, const char *path)
{
	struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	int fd = (int)syscall(SYS_openat2, j->root, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

/*
 * By system call and not by libc, which would do it to all threads. The group first, as it takes
 * the right to do so.
 */
int jvm_user_become(const struct jvm *j)
{
	if (geteuid() == j->uid && getegid() == j->gid)
		return 0;
	if (syscall(SYS_setresgid, -1, j->gid, -1) || syscall(SYS_setresuid, -1, j->uid, -1)) {
		int err = -errno;

		jvm_user_restore();
		return err;
	}
	return 0;
}

/* The real ones are those of before. */
void jvm_user_restore(void)
{
	if (syscall(SYS_setresuid, -1, getuid(), -1) || syscall(SYS_setresgid, -1, getgid(), -1))
		return; /* we were never another */
}
