/* SPDX-License-Identifier: MIT */
/*
 * backend_ftrace: kernel events from own tracefs instances, for hosts where no module can be
 * loaded. Sets them up, switches events on and off, and removes them; whoever dies before that
 * leaves them to the next session, which knows them by their names. Changes no setting outside of
 * them.
 */
#include "ftrace.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "host.h"
#include "jisctl.h"

/* inode of the first pid namespace (the kernel's PROC_PID_INIT_INO) */
#define INIT_PID_NS 0xEFFFFFFCu

void ft_log(struct backend *b, int level, const char *format, ...)
{
	char text[512];
	va_list args;

	if (!b->config.log)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	b->config.log(b->config.log_ctx, level, text);
}

static void ftrace_close(struct backend *b)
{
	if (!b)
		return;
	ft_rings_close(b);
	ft_outs_close(b);
	ft_tasks_free(b->tasks);
	ft_cgroups_free(b);
	ft_rules_free(b);
	ft_instance_close(b);
	free(b);
}

static struct backend *backend_new(const struct backend_config *config)
{
	struct backend *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->config = *config;
	b->tracefs = b->instance = b->irq_instance = b->epoll = -1;
	b->nr_cpus = host_possible_cpus();
	b->unfiltered = config->all_switches || ft_families_everywhere(config->families);
	return b;
}

static int ftrace_open(const struct backend_config *config, struct backend **out)
{
	struct backend *b;
	char why[256] = "out of memory";
	int err, e;

	b = backend_new(config);
	if (!b)
		return -ENOMEM;
	err = ft_instance_open(b, why, sizeof(why));
	if (!err && config->families & ~ft_families(&b->formats)) {
		snprintf(why, sizeof(why), "it cannot record all of the events asked for here");
		err = -EOPNOTSUPP;
	}
	if (!err)
		err = ft_instance_setup(b, why, sizeof(why));
	if (err)
		goto err_close;
	if (config->syscalls)
		err = ft_syscalls_setup(b);
	if (err) {
		snprintf(why, sizeof(why),
			 "this kernel's events of system calls cannot be used: %s", strerror(-err));
		goto err_close;
	}
	for (e = 0; e < FT_NR_EVENTS; e++)
		if (b->formats.event[e].id)
			b->kind[b->formats.event[e].id] = (uint8_t)(e + 1);
	err = -ENOMEM;
	b->tasks = ft_tasks_new();
	if (b->tasks)
		err = ft_outs_open(b);
	if (!err)
		err = ft_rings_open(b);
	if (!err)
		err = ft_instance_trace(b, true);
	if (err)
		goto err_close;
	*out = b;
	return 0;

err_close:
	ft_log(b, JISCTL_WARNING, "ftrace: %s", why);
	ftrace_close(b);
	return err;
}

static int ftrace_probe(char *why, size_t n)
{
	struct backend_config config = {.clock = JIS_CLOCK_RAW};
	struct backend *b;
	struct stat ns;
	int err;

	if (stat("/proc/self/ns/pid", &ns) == 0 && ns.st_ino != INIT_PID_NS) {
		snprintf(why, n,
			 "in a container: ftrace tells the host's thread numbers, which "
			 "cannot be matched with the ones seen here");
		return -ENODEV;
	}
	b = backend_new(&config);
	if (!b)
		return -ENOMEM;
	err = ft_instance_open(b, why, n);
	ftrace_close(b);
	return err;
}

static uint32_t ftrace_nr_cpus(const struct backend *b)
{
	return b->nr_cpus;
}

int ft_events_enable(struct backend *b, enum ftrace_event first, enum ftrace_event last, bool on)
{
	char path[96];
	int e, err = 0;

	for (e = (int)first; e <= (int)last && !err; e++) {
		bool irq = e >= FT_IRQ_ENTRY && e <= FT_TIMER_EXIT;

		snprintf(path, sizeof(path), "events/%s/enable", ftrace_event_path(e));
		err = tracefs_write(irq ? b->irq_instance : b->instance, path, on ? "1" : "0");
	}
	return err;
}

/* A filter asks for the thread that runs, not for the one that is moved: without one only. */
static int migrations_enable(struct backend *b, bool on)
{
	if (!b->formats.event[FT_MIGRATE].id || (on && !b->unfiltered))
		return 0;
	return ft_events_enable(b, FT_MIGRATE, FT_MIGRATE, on);
}

/* Those that are on only while it records. */
static int record_events(struct backend *b, bool on)
{
	int err = ft_events_enable(b, FT_SWITCH, FT_WAKEUP_NEW, on);

	if (!err && b->config.syscalls)
		err = ft_events_enable(b, FT_SYS_ENTER, FT_SYS_EXIT, on);
	if (!err)
		err = ft_families_enable(b, on);
	if (!err)
		err = migrations_enable(b, on);
	return err;
}

static int follow(struct backend *b)
{
	int err;

	if (b->following)
		return 0;
	err = ft_events_enable(b, FT_FORK, FT_NEWTASK, true);
	if (!err && b->formats.event[FT_ATTACH].id)
		err = ft_events_enable(b, FT_ATTACH, FT_ATTACH, true);
	if (!err && b->recording)
		err = record_events(b, true);
	b->following = !err;
	return err;
}

int ft_unfilter(struct backend *b)
{
	int err = b->unfiltered ? 0 : tracefs_write(b->instance, "set_event_pid", " ");

	b->unfiltered |= !err;
	if (!err && b->following && b->recording)
		err = migrations_enable(b, true);
	return err ? err : follow(b);
}

/* Children of what is in the kernel's filter are put there too; not of single threads alone. */
static int filter_children(struct backend *b)
{
	return b->unfiltered ? 0 : ft_instance_option(b, "event-fork", "1");
}

static int ftrace_target_add(struct backend *b, pid_t pid, uint32_t flags)
{
	bool first = !b->following;
	struct ft_target *target;
	int err;

	if (b->stopped)
		return -EINVAL;
	ft_round(b, false); /* it may be a child we are about to hear of */
	target = ft_target_find(b->tasks, (uint32_t)pid);
	if (target && !target->removed && (target->by_cgroup || target->by_all)) {
		target->flags |= flags; /* now for itself */
		target->by_cgroup = target->by_all = false;
		return 0;
	}
	err = filter_children(b);
	if (!err)
		err = ft_target_follow(b, (uint32_t)pid, flags);
	if (err)
		return err;
	err = follow(b);
	target = ft_target_find(b->tasks, (uint32_t)pid);
	if (!target)
		return err ? err : -ESRCH;
	if (first) /* what was born before events were on */
		ft_dump_target(b, target, false);
	if (!err && b->recording)
		ft_dump_target(b, target, true);
	return err;
}

static int ftrace_target_remove(struct backend *b, pid_t pid)
{
	struct ft_target *target;

	ft_round(b, false);
	target = ft_target_find(b->tasks, (uint32_t)pid);
	if (!target || target->removed)
		return -ESRCH;
	target->removed = true;
	return 0;
}

static int thread_add(struct backend *b, uint32_t tid)
{
	const struct ft_task *task;
	int err;

	ft_round(b, false);
	err = ft_thread_follow(b, tid);
	if (err)
		return err;
	err = follow(b);
	task = ft_task_find(b->tasks, tid);
	if (!err && b->recording && ft_task_in(task))
		ft_dump_target(b, task->target, true);
	return err;
}

static int thread_remove(struct backend *b, uint32_t tid)
{
	const struct ft_task *task;

	ft_round(b, false);
	task = ft_task_find(b->tasks, tid);
	if (!ft_task_in(task) || task->target->thread != tid)
		return -ESRCH;
	task->target->removed = true;
	return 0;
}

static int cgroup_target(struct backend *b, bool add, int fd)
{
	int err;

	ft_round(b, false);
	if (!add)
		return ft_cgroup_remove(b, fd);
	err = ft_cgroup_add(b, fd);
	if (!err && b->recording)
		ft_dump_all(b, true);
	return err;
}

static int all_target(struct backend *b, bool add)
{
	int err;

	ft_round(b, false);
	err = add ? ft_all_add(b) : ft_all_remove(b);
	if (!err && add && b->recording)
		ft_dump_all(b, true);
	return err;
}

static bool ftrace_is_target(struct backend *b, pid_t pid);

static int ftrace_filter(struct backend *b, unsigned long request, const struct jis_target *target)
{
	bool add = request == JIS_IOC_TARGET_ADD;

	if (b->stopped)
		return -EINVAL;
	switch (target->kind) {
	case JIS_TARGET_PROCESS:
		if (request == JIS_IOC_TARGET_TEST)
			return ftrace_is_target(b, (pid_t)target->pid) ? 0 : -ESRCH;
		return add ? ftrace_target_add(b, (pid_t)target->pid, target->flags)
			   : ftrace_target_remove(b, (pid_t)target->pid);
	case JIS_TARGET_THREAD:
		if (request == JIS_IOC_TARGET_TEST)
			return -EOPNOTSUPP;
		return add ? thread_add(b, target->pid) : thread_remove(b, target->pid);
	case JIS_TARGET_CGROUP:
		if (request == JIS_IOC_TARGET_TEST)
			return -EOPNOTSUPP;
		return cgroup_target(b, add, target->fd);
	case JIS_TARGET_EXECUTABLE:
		if (request == JIS_IOC_TARGET_TEST)
			return -EOPNOTSUPP;
		ft_round(b, false);
		return add ? ft_executable_add(b, target->name, target->flags)
			   : ft_executable_remove(b, target->name);
	case JIS_TARGET_ALL:
		if (request == JIS_IOC_TARGET_TEST)
			return -EOPNOTSUPP;
		return all_target(b, add);
	}
	return -EOPNOTSUPP;
}

static int recording_begin(struct backend *b)
{
	int err = 0;

	if (b->recording || b->stopped)
		return -EINVAL;
	ft_round(b, false);
	b->recording = true;
	if (b->config.all_switches && !b->following)
		err = follow(b);
	else if (b->following)
		err = record_events(b, true);
	/* Events are switched on one after the other: some were told before all of them were. */
	b->since = b->states_since = ft_now(b);
	if (!err)
		ft_dump_all(b, true);
	return err;
}

static int ftrace_start(struct backend *b)
{
	uint64_t now = ft_now(b);
	uint32_t i;

	for (i = 0; i < b->nr_cpus; i++)
		ft_out_begin(b, i, now);
	return recording_begin(b);
}

static int ftrace_flush(struct backend *b)
{
	int err = ft_round(b, false);
	uint32_t i;

	for (i = 0; i < b->nr_cpus; i++)
		ft_out_flush(b, i);
	return err;
}

/* Births and deaths are followed on, but not written: threads are known when it goes on. */
static int ftrace_pause(struct backend *b)
{
	int err;

	if (!b->recording)
		return -EINVAL;
	err = b->following ? record_events(b, false) : 0;
	ftrace_flush(b);
	b->recording = false;
	return err;
}

/* The kernel's count of what it handed out must be ours; else we misread its pages. */
static void check_records(struct backend *b)
{
	uint64_t ours = 0, kernels = 0, damaged = 0;
	struct tracefs_stats st;
	uint32_t i;

	for (i = 0; i < b->nr_rings; i++) {
		if (tracefs_stats(b->rings[i].stats_fd, &st))
			continue;
		kernels += st.read;
		ours += b->rings[i].records;
		damaged += b->rings[i].damaged;
	}
	if (ours != kernels || damaged)
		ft_log(b, JISCTL_WARNING,
		       "ftrace: of %llu records read from the kernel %llu were understood "
		       "(%llu damaged sub-buffers)",
		       (unsigned long long)kernels, (unsigned long long)ours,
		       (unsigned long long)damaged);
}

static int ftrace_stop(struct backend *b)
{
	uint32_t i;
	int err;

	if (b->stopped)
		return 0;
	err = ft_instance_trace(b, false);
	b->stopped = true;
	if (ft_round(b, true) && !err)
		err = -ENOMEM;
	for (i = 0; i < b->nr_cpus; i++)
		ft_out_flush(b, i);
	check_records(b);
	return err;
}

/* A flight recorder's: names that were told once may be gone. */
static int ftrace_dump(struct backend *b)
{
	ft_round(b, false);
	ft_tasks_rename_foreign(b->tasks, clock_ns(CLOCK_MONOTONIC));
	ft_cgroups_rename(b);
	ft_dump_all(b, true);
	return 0;
}

static int ftrace_get_packet(struct backend *b, uint32_t cpu,
			     const struct jis_packet_header **packet)
{
	int err = 0;

	if (cpu >= b->nr_cpus)
		return -EINVAL;
	/* One round for each time the recorder goes through all CPUs. */
	if (!b->outs[cpu].first && b->outs[cpu].round == b->round && !b->stopped)
		err = ft_round(b, false);
	*packet = ft_out_get(b, cpu);
	if (*packet)
		return 1;
	b->outs[cpu].round = b->round;
	return err;
}

static int ftrace_counts(struct backend *b, uint32_t cpu, struct backend_counts *out)
{
	const struct ft_out *o;
	uint32_t ring;
	int i;

	if (cpu >= b->nr_cpus)
		return -EINVAL;
	o = &b->outs[cpu];
	memset(out, 0, sizeof(*out));
	for (i = 1; i < JIS_MAX_EVENT_ID; i++) {
		out->produced[i] = o->builder.stored[i];
		out->lost[i] = o->no_memory[i];
	}
	/* What the kernel's rings dropped; what was noted of it is in b->outs[].lost later. */
	for (ring = cpu; ring < b->nr_rings; ring += b->nr_cpus)
		out->lost[0] += b->rings[ring].lost;
	out->produced[0] = out->lost[0];
	out->clock_steps = o->builder.clock_steps;
	return 0;
}

/* Who comes into a cgroup, or is a script, is looked up in /proc, so it must be read of soon. */
static int ftrace_poll_fd(const struct backend *b)
{
	return b->nr_cgroups || b->nr_rules ? -1 : b->epoll;
}

/* Was more in the rings than a round takes? */
static bool ftrace_behind(const struct backend *b)
{
	for (uint32_t i = 0; i < b->nr_rings; i++)
		if (b->rings[i].limited)
			return true;
	return false;
}

/* Who asks waits for as many rounds at most, each of FT_PAGES_PER_ROUND pages of each ring. */
#define ROUNDS_MAX 256u

static bool ftrace_is_target(struct backend *b, pid_t pid)
{
	const struct ft_target *target = ft_target_find(b->tasks, (uint32_t)pid);
	uint32_t rounds = 0;

	while (!target && rounds++ < ROUNDS_MAX) { /* its birth may not have been read yet */
		if (ft_round(b, false))
			break;
		target = ft_target_find(b->tasks, (uint32_t)pid);
		if (!ftrace_behind(b))
			break;
	}
	return target && !target->removed;
}

static uint32_t ftrace_features(const struct backend *b)
{
	uint32_t features = ft_families(&b->formats);

	if (b->formats.event[FT_ATTACH].id)
		features |= JIS_FEATURE_CGROUP;
	if (b->formats.event[FT_SYS_ENTER].id && b->formats.event[FT_SYS_EXIT].id)
		features |= JIS_FEATURE_SYSCALLS;
	if (features & JIS_FAMILY_IRQ && ft_timers(&b->formats))
		features |= JIS_FEATURE_SOURCE;
	return features;
}

static const char *const missing[] = {
	"why threads wait: behind whom, quotas, I/O, attributes, stolen time",
	"what timer or interrupt woke threads, unless interrupts are recorded",
	"migrations and moves between cgroups, unless all, a cgroup or an executable is recorded, "
	"or events of the "
	"whole machine are",
	"exit codes",
	"start times of threads born during the recording",
	"most sched_process_free events",
	"the types of lost records",
	"the numbers that short-lived threads have in their own pid namespace",
	"what the arguments of system calls point to, what file descriptors are, 32-bit calls, and "
	"the call a thread leaves its CPU in",
	NULL,
};

const struct backend_ops backend_ftrace = {
	.name = "ftrace",
	.probe = ftrace_probe,
	.open = ftrace_open,
	.close = ftrace_close,
	.nr_cpus = ftrace_nr_cpus,
	.target_add = ftrace_target_add,
	.target_remove = ftrace_target_remove,
	.start = ftrace_start,
	.pause = ftrace_pause,
	.resume = recording_begin,
	.stop = ftrace_stop,
	.flush = ftrace_flush,
	.dump = ftrace_dump,
	.get_packet = ftrace_get_packet,
	.counts = ftrace_counts,
	.poll_fd = ftrace_poll_fd,
	.is_target = ftrace_is_target,
	.filter = ftrace_filter,
	.features = ftrace_features,
	.missing = missing,
};
