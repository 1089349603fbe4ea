/* SPDX-License-Identifier: MIT */
/*
 * backend_ftrace: kernel events from an own tracefs instance, for hosts where no module can be
 * loaded. Sets the instance up, switches events on and off, and removes it; whoever dies before
 * that leaves it to the next session, which knows it by its name. Changes no setting outside its
 * instance.
 */
#include "ftrace.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Makes the instance and reads its formats. */
static int instance_open(struct backend *b, char *why, size_t n)
{
	int err;

	b->tracefs = tracefs_open(why, n);
	if (b->tracefs < 0)
		return b->tracefs;
	tracefs_instances_clean(b->tracefs);
	b->instance = tracefs_instance_create(b->tracefs, b->name);
	if (b->instance < 0) {
		b->name[0] = 0;
		snprintf(why, n, "no tracefs instance can be made: %s", strerror(-b->instance));
		return b->instance;
	}
	err = ftrace_formats_load(b->instance, &b->formats);
	if (err)
		snprintf(why, n, "this kernel's scheduler events cannot be used: %s",
			 strerror(-err));
	return err;
}

static int clock_set(struct backend *b, char *why, size_t n)
{
	const char *name = b->config.clock == JIS_CLOCK_TSC ? "x86-tsc" : "mono_raw";
	int err = tracefs_write(b->instance, "trace_clock", name);

	if (err)
		snprintf(why, n, "ftrace has no clock %s", name);
	return err == -EINVAL ? -EOPNOTSUPP : err;
}

static int option(struct backend *b, const char *name, const char *value)
{
	char path[64];

	snprintf(path, sizeof(path), "options/%s", name);
	return tracefs_write(b->instance, path, value);
}

static int instance_setup(struct backend *b, char *why, size_t n)
{
	uint64_t bytes = b->config.buffer_bytes ? b->config.buffer_bytes : host_default_buffer();
	char text[32];
	int err;

	tracefs_write(b->instance, "tracing_on", "0");
	err = clock_set(b, why, n);
	if (err)
		return err;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)(bytes / b->nr_cpus / 1024));
	err = tracefs_write(b->instance, "buffer_size_kb", text);
	if (err) {
		snprintf(why, n, "no memory for ring buffers of %s KiB a CPU", text);
		return err;
	}
	err = option(b, "overwrite", "0");
	if (!err)
		err = option(b, "event-fork", "1");
	if (err)
		snprintf(why, n, "an option of the instance cannot be set: %s", strerror(-err));
	option(b, "record-cmd", "0"); /* costs each switch, and we do not read it */
	tracefs_write(b->instance, "buffer_percent", "25"); /* when poll() wakes; else at 50 */
	return err;
}

static void ftrace_close(struct backend *b)
{
	if (!b)
		return;
	ft_rings_close(b);
	ft_outs_close(b);
	ft_tasks_free(b->tasks);
	if (b->instance >= 0)
		close(b->instance);
	if (b->tracefs >= 0 && b->name[0])
		tracefs_instance_remove(b->tracefs, b->name);
	if (b->tracefs >= 0)
		close(b->tracefs);
	free(b);
}

static struct backend *backend_new(const struct backend_config *config)
{
	struct backend *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->config = *config;
	b->tracefs = b->instance = b->epoll = -1;
	b->nr_cpus = host_possible_cpus();
	return b;
}

static int ftrace_open(const struct backend_config *config, struct backend **out)
{
	struct backend *b = backend_new(config);
	char why[256] = "out of memory";
	int err, e;

	if (!b)
		return -ENOMEM;
	err = instance_open(b, why, sizeof(why));
	if (!err)
		err = instance_setup(b, why, sizeof(why));
	if (err)
		goto err_close;
	for (e = 0; e < FT_NR_EVENTS; e++)
		b->kind[b->formats.event[e].id] = (uint8_t)(e + 1);
	err = -ENOMEM;
	b->tasks = ft_tasks_new();
	if (b->tasks)
		err = ft_outs_open(b);
	if (!err)
		err = ft_rings_open(b);
	if (!err)
		err = tracefs_write(b->instance, "tracing_on", "1");
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
	err = instance_open(b, why, n);
	ftrace_close(b);
	return err;
}

static uint32_t ftrace_nr_cpus(const struct backend *b)
{
	return b->nr_cpus;
}

/* Switches on what is wanted now and was not, and off what was. */
static int events_enable(struct backend *b, enum ftrace_event first, enum ftrace_event last,
			 bool on)
{
	char path[96];
	int e, err = 0;

	for (e = (int)first; e <= (int)last && !err; e++) {
		snprintf(path, sizeof(path), "events/%s/enable", ftrace_event_path(e));
		err = tracefs_write(b->instance, path, on ? "1" : "0");
	}
	return err;
}

static int follow(struct backend *b)
{
	int err;

	if (b->following)
		return 0;
	err = events_enable(b, FT_FORK, FT_NEWTASK, true);
	if (!err && b->recording)
		err = events_enable(b, FT_SWITCH, FT_WAKEUP_NEW, true);
	b->following = !err;
	return err;
}

static int ftrace_target_add(struct backend *b, pid_t pid, uint32_t flags)
{
	bool first = !b->following;
	struct ft_target *target;
	int err;

	if (b->stopped)
		return -EINVAL;
	ft_round(b, false); /* it may be a child we are about to hear of */
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

static int recording_begin(struct backend *b)
{
	int err = 0;

	if (b->recording || b->stopped)
		return -EINVAL;
	ft_round(b, false);
	b->since = b->states_since = ft_now(b);
	b->recording = true;
	if (b->config.all_switches && !b->following)
		err = follow(b);
	else if (b->following)
		err = events_enable(b, FT_SWITCH, FT_WAKEUP_NEW, true);
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
	err = b->following ? events_enable(b, FT_SWITCH, FT_WAKEUP_NEW, false) : 0;
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

	for (i = 0; i < b->nr_cpus; i++) {
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
	err = tracefs_write(b->instance, "tracing_on", "0");
	b->stopped = true;
	if (ft_round(b, true) && !err)
		err = -ENOMEM;
	for (i = 0; i < b->nr_cpus; i++)
		ft_out_flush(b, i);
	check_records(b);
	return err;
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
	int i;

	if (cpu >= b->nr_cpus)
		return -EINVAL;
	o = &b->outs[cpu];
	memset(out, 0, sizeof(*out));
	for (i = 1; i < JIS_MAX_EVENT_ID; i++) {
		out->produced[i] = o->builder.stored[i];
		out->lost[i] = o->no_memory[i];
	}
	/* What the kernel's ring dropped; what was noted of it is in b->outs[].lost later. */
	out->produced[0] = out->lost[0] = b->rings[cpu].lost;
	out->clock_steps = o->builder.clock_steps;
	return 0;
}

static int ftrace_poll_fd(const struct backend *b)
{
	return b->epoll;
}

static bool ftrace_is_target(struct backend *b, pid_t pid)
{
	const struct ft_target *target = ft_target_find(b->tasks, (uint32_t)pid);

	if (!target) { /* its birth may not have been read yet */
		ft_round(b, false);
		target = ft_target_find(b->tasks, (uint32_t)pid);
	}
	return target && !target->removed;
}

static const char *const missing[] = {
	"exit codes",
	"start times of threads born during the recording",
	"most sched_process_free events",
	"the types of lost records",
	"the numbers that short-lived threads have in their own pid namespace",
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
	.get_packet = ftrace_get_packet,
	.counts = ftrace_counts,
	.poll_fd = ftrace_poll_fd,
	.is_target = ftrace_is_target,
	.missing = missing,
};
