/* SPDX-License-Identifier: MIT */
/*
 * What works on this host, and what to do about what does not: written for somebody who has a
 * server in trouble and no time. Changes nothing, but for mounting tracefs as a recording would.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "backend.h"
#include "clock.h"
#include "host.h"
#include "jisctl.h"
#include "uprobes.h"

struct doctor {
	struct jisctl_check *checks;
	int room, n;
};

static void tell(struct doctor *d, const char *name, int ok, const char *remedy, const char *format,
		 ...) __attribute__((format(printf, 5, 6)));

static void tell(struct doctor *d, const char *name, int ok, const char *remedy, const char *format,
		 ...)
{
	struct jisctl_check *c = d->n < d->room ? &d->checks[d->n] : NULL;
	va_list args;

	d->n++;
	if (!c)
		return;
	c->name = name;
	c->ok = ok;
	va_start(args, format);
	vsnprintf(c->detail, sizeof(c->detail), format, args);
	va_end(args);
	snprintf(c->remedy, sizeof(c->remedy), "%s", ok == 1 ? "" : remedy);
}

static bool read_line(const char *path, char *line, size_t n)
{
	FILE *f = fopen(path, "re");
	bool ok;

	if (!f)
		return false;
	ok = fgets(line, (int)n, f) != NULL;
	fclose(f);
	if (ok)
		line[strcspn(line, "\n")] = 0;
	return ok;
}

static void check_root(struct doctor *d)
{
	int root = geteuid() == 0;

	tell(d, "root", root, "run it as root: sudo jis ... (the command still runs as you)",
	     root ? "running as root" : "running as user %d", (int)geteuid());
}

static void check_kernel(struct doctor *d)
{
	struct utsname u;
	int major = 0, minor = 0, ok;

	uname(&u);
	sscanf(u.release, "%d.%d", &major, &minor);
	ok = major > 5 || (major == 5 && minor >= 10);
	tell(d, "kernel", ok ? 1 : -1,
	     "kernels from 5.10 on are tested; this one may lack something",
	     "Linux %s on %s, %u CPUs", u.release, u.machine, host_possible_cpus());
}

static void check_module(struct doctor *d)
{
	char why[200], line[128];
	int err = backend_kmod.probe(why, sizeof(why));
	const char *remedy = "modprobe jis (built by: make kmod); without it the ftrace backend is "
			     "used";

	if (err == -ENOENT && read_line("/sys/kernel/security/lockdown", line, sizeof(line)) &&
	    !strstr(line, "[none]"))
		remedy = "the kernel is locked down and loads signed modules only: sign jis.ko "
			 "with a "
			 "key it trusts (mokutil), or use the ftrace backend";
	tell(d, "module", err == 0, remedy, "%s", err ? why : "/dev/jis works");
}

/* What the module finds in this kernel beyond switches and wake-ups. */
static void check_events(struct doctor *d)
{
	const struct backend_config config = {.clock = JIS_CLOCK_RAW};
	struct backend *b;
	char text[200];
	uint32_t features;

	if (backend_kmod.open(&config, &b)) {
		tell(d, "events", -1,
		     "load the module; what there is without is in the table below",
		     "without the module: not why threads wait, and no page faults");
		return;
	}
	features = backend_kmod.features(b);
	backend_kmod.close(b);
	backend_features_text(features, text, sizeof(text));
	tell(d, "events", strchr(text, ';') ? -1 : 1,
	     "a kernel with CONFIG_KPROBES, CONFIG_CGROUPS and all tracepoints tells more",
	     "for --events: %s; targets: all kinds", text);
}

/* The same of ftrace, and what may be a target. */
static void check_ftrace_events(struct doctor *d)
{
	const struct backend_config config = {.clock = JIS_CLOCK_RAW};
	uint32_t features;
	struct backend *b;
	char text[200];

	if (backend_ftrace.probe(text, sizeof(text)) || backend_ftrace.open(&config, &b)) {
		tell(d, "ftrace-events", -1, "see ftrace", "without tracefs: none");
		return;
	}
	features = backend_ftrace.features(b);
	backend_ftrace.close(b);
	backend_families_text(features, text, sizeof(text));
	tell(d, "ftrace-events", -1, "load the module for the rest: the table below has what it is",
	     "for --events: %s; system calls: %s; targets: processes, threads%s, programs, all",
	     text, features & JIS_FEATURE_SYSCALLS ? "in part" : "no",
	     features & JIS_FEATURE_CGROUP ? ", cgroups" : "");
}

static void check_ftrace(struct doctor *d)
{
	char why[200] = "an instance of its own can be made in tracefs";
	int err = backend_ftrace.probe(why, sizeof(why));
	const char *remedy =
		"mount -t tracefs tracefs /sys/kernel/tracing; when that fails the kernel "
		"has no CONFIG_FTRACE or lockdown forbids tracefs: use the module";

	if (err == -EPERM && geteuid() != 0)
		remedy = "run it as root";
	else if (err == -EPERM)
		remedy = "in a container: make it privileged, or run jis on the host; on a host "
			 "lockdown forbids tracefs: use the module";
	else if (err == -ENODEV)
		remedy = "run jis on the host, not in a container; its processes can be targets "
			 "with -p";
	tell(d, "ftrace", err == 0, remedy, "%s", why);
}

static void check_clock(struct doctor *d)
{
	char why[200];
	bool tsc = clock_tsc_usable(why, sizeof(why));

	tell(d, "clock", tsc ? 1 : -1,
	     "CLOCK_MONOTONIC_RAW is used: right, but a reading costs more where it is a system "
	     "call; "
	     "booting with tsc=reliable makes the kernel keep the TSC on hosts known to be sound",
	     "%s: %s", tsc ? "TSC" : "no TSC", why);
}

static void check_uprobes(struct doctor *d)
{
	char why[200];
	int err = uprobes_try(why, sizeof(why));

	tell(d, "uprobes", err == 0 ? 1 : -1,
	     err == -ENODEV
		     ? "a kernel with CONFIG_UPROBE_EVENTS and CONFIG_PERF_EVENTS has them; "
		       "without, safepoints are told by the JVM's log"
		     : "run it as root on the host (CAP_PERFMON); without them safepoints are "
		       "told by the JVM's log",
	     "%s", err ? why : "for safepoints: probes can be set");
}

static void check_memory(struct doctor *d)
{
	int fd = memfd_create("jis-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int ok = fd >= 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0;

	tell(d, "memfd", ok,
	     "the kernel must have CONFIG_MEMFD_CREATE; without it only the kernel side "
	     "of a recording works",
	     "%s", ok ? "sealed shared memory works" : strerror(errno));
	if (fd >= 0)
		close(fd);
	tell(d, "memory", host_memory() >= (512ull << 20) ? 1 : -1,
	     "use --buffer and --pool to make the buffers smaller",
	     "%llu MiB; kernel buffers take "
	     "%llu MiB, each JVM 16 MiB",
	     (unsigned long long)host_memory() >> 20,
	     (unsigned long long)host_default_buffer() >> 20);
}

static void check_disk(struct doctor *d)
{
	char where[200];
	struct statvfs fs;
	unsigned long long mib;

	if (!getcwd(where, sizeof(where)) || statvfs(".", &fs))
		return;
	mib = (unsigned long long)fs.f_bavail * fs.f_frsize >> 20;
	tell(d, "disk",
	     mib >= 1024 ? 1
	     : mib >= 64 ? -1
			 : 0,
	     "record to another file system with -o, or set --max-size",
	     "%llu MiB free in %s (a busy server fills some MiB a second)", mib, where);
}

/* Looks for @name beside the program and where it is installed. */
static bool find_beside(const char *name, char *path, size_t n)
{
	static const char *const places[] = {"", "/../lib/jis", "/../lib"};
	char self[200];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	unsigned int i;

	if (len <= 0)
		return false;
	self[len] = 0;
	*strrchr(self, '/') = 0;
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, n, "%s%s/%s", self, places[i], name);
		if (access(path, R_OK) == 0)
			return true;
	}
	return false;
}

static void check_agent(struct doctor *d)
{
	char path[256] = "";
	bool found = find_beside("libjisagent.so", path, sizeof(path));
	const char *disable = getenv("JIS_DISABLE");

	if (disable && strcmp(disable, "1") == 0)
		tell(d, "agent", -1, "unset JIS_DISABLE", "JIS_DISABLE=1 switches it off");
	else
		tell(d, "agent", found ? 1 : -1,
		     "build it (make) or install it (make install); without "
		     "it JVMs show their kernel side only, and no Java names",
		     "%s", found ? path : "libjisagent.so is neither beside jis nor in ../lib/jis");
}

static void check_run(struct doctor *d)
{
	const char *tmp = getenv("TMPDIR");
	int ok = access("/run", W_OK) == 0 || access(tmp ? tmp : "/tmp", W_OK) == 0;

	tell(d, "socket", ok,
	     "make /run or $TMPDIR writable: agents connect through a socket there", "%s",
	     ok ? "agents' socket can be made" : "neither /run nor $TMPDIR can be written");
}

static void check_proc(struct doctor *d)
{
	char line[64] = "";
	bool ok = read_line("/proc/sys/kernel/pid_max", line, sizeof(line));

	tell(d, "proc", ok, "mount -t proc proc /proc", "%s",
	     ok ? "/proc is mounted" : "/proc is not mounted");
}

int jisctl_doctor(struct jisctl_check *checks, int n)
{
	struct doctor d = {checks, n, 0};

	check_root(&d);
	check_kernel(&d);
	check_proc(&d);
	check_module(&d);
	check_events(&d);
	check_ftrace(&d);
	check_ftrace_events(&d);
	check_clock(&d);
	check_uprobes(&d);
	check_memory(&d);
	check_disk(&d);
	check_agent(&d);
	check_run(&d);
	return d.n;
}
