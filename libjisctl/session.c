/* SPDX-License-Identifier: MIT */
/*
 * Sessions: made, given targets, started, paused, stopped. The loop is in session_run.c.
 */
#include "session.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <jis/agent.h>

#include "host.h"
#include "proc.h"
#include "syscalls.h"

void session_log(struct jisctl_session *s, enum jisctl_level level, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (s->options.log)
		s->options.log(s->options.log_ctx, level, text);
	if (level != JISCTL_INFO && s->recorder)
		recorder_note(s->recorder, text);
}

/* Logs of backend and agent server. */
static void log_line(void *ctx, int level, const char *text)
{
	session_log(ctx, level, "%s", text);
}

/* The agent server has put it among the notes itself, or it is not worth it. */
static void log_agents(void *ctx, int level, const char *text)
{
	struct jisctl_session *s = ctx;

	if (s->options.log)
		s->options.log(s->options.log_ctx, level, text);
}

static bool is_target(void *ctx, pid_t pid)
{
	struct jisctl_session *s = ctx;

	return s->ops->is_target(s->backend, pid);
}

static int pool_memory(void *ctx, uint32_t pid, uint64_t bytes, uint64_t words_offset,
		       uint32_t nr_words)
{
	struct jisctl_session *s = ctx;

	return s->ops->pool_create(s->backend, pid, bytes, words_offset, nr_words);
}

uint64_t session_now(const struct jisctl_session *s)
{
	return clock_now(s->clock) - s->base;
}

void session_mark(struct jisctl_session *s, enum jis_session_mark mark)
{
	struct jis_ev_session_mark ev = {.mark = mark};
	uint64_t now = session_now(s);

	recorder_event(s->recorder, JIS_EV_session_mark, now, &ev, sizeof(ev), NULL);
	if (s->options.flight_recorder)
		session_flight_mark(s, mark, now);
}

static int syscalls_take(struct jisctl_session *s)
{
	struct utsname host;
	char why[256];
	int err;

	if (!s->options.syscalls)
		return 0;
	uname(&host);
	err = syscalls_parse(s->options.syscalls, host.machine, &s->syscalls, why, sizeof(why));
	if (err)
		session_log(s, JISCTL_ERROR, "system calls: %s", why);
	return err;
}

/* Members the caller's struct does not have are zero: defaults. */
static int options_take(struct jisctl_session *s, const struct jisctl_options *o)
{
	uint64_t least = (uint64_t)host_possible_cpus() * 65536u;
	size_t size = o->size < sizeof(s->options) ? o->size : sizeof(s->options);

	if (o->size < offsetof(struct jisctl_options, backend))
		return -EINVAL;
	memcpy(&s->options, o, size);
	o = &s->options;
	if (o->events & ~JIS_FAMILIES || !o->directory || !o->directory[0] ||
	    o->backend > JISCTL_BACKEND_FTRACE || o->clock > JISCTL_CLOCK_RAW)
		return -EINVAL;
	if (o->flush_ms && (o->flush_ms < 10 || o->flush_ms > 60000))
		return -EINVAL;
	if (o->buffer_bytes && (o->buffer_bytes < least || o->buffer_bytes > host_memory() / 2)) {
		session_log(s, JISCTL_ERROR,
			    "kernel buffers must have %llu KiB (64 KiB a CPU) to %llu "
			    "MiB (half of the memory)",
			    (unsigned long long)least / 1024,
			    (unsigned long long)(host_memory() / 2) >> 20);
		return -ERANGE;
	}
	if (o->pool_bytes && (o->pool_bytes < POOL_BYTES_MIN || o->pool_bytes > POOL_BYTES_MAX)) {
		session_log(s, JISCTL_ERROR, "a pool must have 256 KiB to 1 GiB");
		return -ERANGE;
	}
	if (!s->options.flush_ms)
		s->options.flush_ms = SESSION_FLUSH_MS;
	return syscalls_take(s);
}

static int backend_try(struct jisctl_session *s, const struct backend_ops *ops,
		       const struct backend_config *config)
{
	char why[256] = "";
	int err = ops->probe(why, sizeof(why));

	if (!err)
		err = ops->open(config, &s->backend);
	if (err == -EOPNOTSUPP && config->families)
		snprintf(why, sizeof(why), "it cannot record all of the events asked for here");
	if (!err)
		s->ops = ops;
	else if (why[0])
		session_log(s, JISCTL_INFO, "backend %s: %s", ops->name, why);
	return err;
}

static int backend_choose(struct jisctl_session *s, const uint8_t *uuid)
{
	struct backend_config config = {.clock = s->clock,
					.base = s->base,
					.log = log_line,
					.log_ctx = s,
					.buffer_bytes = s->options.buffer_bytes,
					.all_switches = s->options.all_switches != 0,
					.flight_recorder = s->options.flight_recorder != 0,
					.families = s->options.events};
	int err = -ENODEV;

	if (s->options.syscalls)
		config.syscalls = &s->syscalls;
	memcpy(config.uuid, uuid, sizeof(config.uuid));
	if (s->options.backend != JISCTL_BACKEND_FTRACE)
		err = backend_try(s, &backend_kmod, &config);
	if (err && s->options.backend != JISCTL_BACKEND_KMOD)
		err = backend_try(s, &backend_ftrace, &config);
	return err;
}

/* Clock and backend. Where the backend cannot stamp by the TSC, and nobody asked for it, RAW. */
static int sources_open(struct jisctl_session *s, const uint8_t *uuid)
{
	char why[256];
	int err;

	err = clock_choose(s->options.clock, &s->clock, why, sizeof(why));
	if (err) {
		session_log(s, JISCTL_ERROR, "the TSC cannot be the clock: %s", why);
		return err;
	}
	s->base = clock_base(s->clock);
	err = backend_choose(s, uuid);
	if (err == -EOPNOTSUPP && s->options.clock == JISCTL_CLOCK_AUTO &&
	    s->clock == JIS_CLOCK_TSC) {
		s->clock = JIS_CLOCK_RAW;
		s->base = clock_base(s->clock);
		err = backend_choose(s, uuid);
	}
	if (err == -EPERM || err == -EACCES)
		return -EPERM;
	if (err) {
		session_log(s, JISCTL_ERROR, "no source of kernel events works: %s",
			    strerror(-err));
		return err == -ENOMEM ? err : -ENODEV;
	}
	s->nr_cpus = s->ops->nr_cpus(s->backend);
	return 0;
}

static int recorder_open(struct jisctl_session *s, const uint8_t *kernel_uuid)
{
	struct recorder_params params = {
		.directory = s->options.directory,
		.command = s->options.command,
		.backend = s->ops->name,
		.missing = s->ops->missing,
		.clock = s->clock,
		.base = s->base,
		.nr_cpus = s->nr_cpus,
		.flush_ms = s->options.flush_ms,
		.all_switches = s->options.all_switches != 0,
		.has_group = s->options.set_group != 0,
		.group = s->options.group,
		.flight = s->options.flight_recorder != 0,
		.kernel_history_bytes =
			s->options.buffer_bytes ? s->options.buffer_bytes : host_default_buffer(),
		.process_history_bytes =
			s->options.pool_bytes ? s->options.pool_bytes : POOL_BYTES_DEFAULT,
		.syscalls = s->options.syscalls,
		.families = s->options.events,
	};

	if (getrandom(params.uuid, sizeof(params.uuid), 0) != sizeof(params.uuid))
		return -EIO;
	memcpy(params.kernel_uuid, kernel_uuid, sizeof(params.kernel_uuid));
	return recorder_create(&params, &s->recorder);
}

static int sinks_open(struct jisctl_session *s, const uint8_t *kernel_uuid)
{
	struct agent_server_config agents = {.clock = s->clock,
					     .base = s->base,
					     .pool_bytes = s->options.pool_bytes,
					     .no_vm_states = s->options.no_vm_states != 0,
					     .no_uprobes = s->options.no_uprobes != 0,
					     .features = s->options.java ? *s->options.java
									 : JIS_FEATURES_DEFAULT,
					     .stack_threshold_ns = s->options.stack_threshold_ns,
					     .allocation_interval = s->options.allocation_interval,
					     .methods = s->options.methods,
					     .methods_dry_run = s->options.methods_dry_run != 0,
					     .methods_budget = s->options.methods_budget,
					     .is_target = is_target,
					     .log = log_agents,
					     .failed = session_agent_failed,
					     .ctx = s};
	int err = recorder_open(s, kernel_uuid);

	if (err)
		return err;
	agents.recorder = s->recorder;
	if (s->ops->pool_create)
		agents.pool_memory = pool_memory;
	err = agent_server_open(&agents, &s->agents);
	if (err) {
		session_log(s, JISCTL_ERROR, "the agents' socket cannot be made: %s",
			    strerror(-err));
		return err;
	}
	err = session_attach_open(s);
	if (err)
		return err;
	s->control.command = session_command;
	s->control.ctx = s;
	err = control_open(&s->control, recorder_dirfd(s->recorder));
	s->has_control = !err;
	if (err)
		session_log(s, JISCTL_WARNING,
			    "jis pause and resume will not work: no socket can be "
			    "made in %s: %s",
			    s->options.directory, strerror(-err));
	return session_loop_open(s);
}

int jisctl_session_create(const struct jisctl_options *options, struct jisctl_session **out)
{
	struct jisctl_session *s = calloc(1, sizeof(*s));
	uint8_t kernel_uuid[16];
	int err;

	if (!s)
		return -ENOMEM;
	s->epoll = s->wake_fd = s->flush_fd = s->drain_fd = -1;
	s->control.listener.fd = -1;
	err = options_take(s, options);
	if (err)
		goto err_free;
	err = -EPERM;
	if (geteuid() != 0 && access(JIS_DEVICE, R_OK | W_OK)) {
		session_log(s, JISCTL_ERROR, "recording needs root, or access to %s", JIS_DEVICE);
		goto err_free;
	}
	err = -EIO;
	if (getrandom(kernel_uuid, sizeof(kernel_uuid), 0) != sizeof(kernel_uuid))
		goto err_free;
	err = sources_open(s, kernel_uuid);
	if (!err)
		err = sinks_open(s, kernel_uuid);
	if (err)
		goto err_free;
	clock_read_all(s->clock, s->base, &s->first_clock);
	s->state = JIS_SESSION_READY;
	*out = s;
	return 0;

err_free:
	if (s->recorder && s->has_control)
		control_close(&s->control);
	s->has_control = false;
	if (s->recorder)
		recorder_discard(s->recorder);
	s->state = JIS_SESSION_STOPPED; /* nothing to write */
	jisctl_session_destroy(s);
	return err;
}

const char *jisctl_session_socket(const struct jisctl_session *s)
{
	return agent_server_path(s->agents);
}

const char *jisctl_session_backend(const struct jisctl_session *s)
{
	return s->ops->name;
}

static struct session_target *target_find(struct jisctl_session *s, pid_t pid)
{
	uint32_t i;

	for (i = 0; i < s->nr_targets; i++)
		if (s->targets[i].pid == pid && !s->targets[i].thread && !s->targets[i].gone)
			return &s->targets[i];
	return NULL;
}

int jisctl_session_remove_target(struct jisctl_session *s, pid_t pid)
{
	struct jis_ev_target_removed ev = {.pid = (uint32_t)pid};
	struct session_target *t = target_find(s, pid);
	int err;

	if (s->state == JIS_SESSION_STOPPED)
		return -EINVAL;
	err = s->ops->target_remove(s->backend, pid);
	if (err)
		return err;
	if (t)
		t->gone = true;
	recorder_event(s->recorder, JIS_EV_target_removed, session_now(s), &ev, sizeof(ev), NULL);
	return 0;
}

int jisctl_session_start(struct jisctl_session *s)
{
	int err;

	if (s->state != JIS_SESSION_READY)
		return -EINVAL;
	session_clock(s);
	s->begin = session_now(s);
	session_mark(s, JIS_MARK_START);
	err = s->ops->start(s->backend);
	if (err) {
		session_log(s, JISCTL_ERROR, "the %s backend cannot start: %s", s->ops->name,
			    strerror(-err));
		return err;
	}
	s->state = JIS_SESSION_RUNNING;
	agent_server_enable(s->agents, true);
	return 0;
}

int jisctl_session_pause(struct jisctl_session *s)
{
	int err;

	if (s->state != JIS_SESSION_RUNNING)
		return -EALREADY;
	if (s->options.flight_recorder) /* for snapshots of what was before */
		session_flight_describe(s, true);
	agent_server_enable(s->agents, false);
	err = s->ops->pause(s->backend);
	s->paused_at = session_now(s);
	session_mark(s, JIS_MARK_PAUSE);
	s->state = JIS_SESSION_PAUSED;
	session_flush(s);
	return err;
}

int jisctl_session_resume(struct jisctl_session *s)
{
	int err;

	if (s->state != JIS_SESSION_PAUSED)
		return -EALREADY;
	session_mark(s, JIS_MARK_RESUME);
	err = s->ops->resume(s->backend);
	if (err)
		return err;
	agent_server_enable(s->agents, true);
	s->state = JIS_SESSION_RUNNING;
	return 0;
}

/* The clock's frequency needs two readings some time apart. */
static void calibrate(struct jisctl_session *s)
{
	struct clock_reading now;
	uint64_t since;

	clock_read_all(s->clock, s->base, &now);
	since = now.sample.monotonic_raw - s->first_clock.sample.monotonic_raw;
	if (s->clock == JIS_CLOCK_TSC && since < CLOCK_CALIBRATION_NS)
		usleep((useconds_t)((CLOCK_CALIBRATION_NS - since) / 1000) + 1000);
	session_clock(s);
}

static void end_mark(struct jisctl_session *s)
{
	const char *why = s->end_reason;

	if (why && strcmp(why, "max-size") == 0)
		session_mark(s, JIS_MARK_MAX_SIZE);
	else if (why && (strcmp(why, "disk full") == 0 || strcmp(why, "write error") == 0))
		session_mark(s, JIS_MARK_DISK_FULL);
	else
		session_mark(s, JIS_MARK_STOP);
}

static int kernel_stop(struct jisctl_session *s)
{
	struct backend_counts counts;
	uint32_t cpu;
	int err, e;

	err = s->ops->stop(s->backend);
	e = session_drain_kernel(s, true);
	err = err ? err : e;
	for (cpu = 0; cpu < s->nr_cpus; cpu++)
		if (s->ops->counts(s->backend, cpu, &counts) == 0)
			recorder_kernel_end(s->recorder, cpu, &counts, session_now(s));
	return err;
}

int jisctl_session_stop(struct jisctl_session *s, const char *reason)
{
	uint64_t end;
	int err, e;

	if (s->state == JIS_SESSION_STOPPED)
		return -EINVAL;
	if (s->has_control)
		control_close(&s->control);
	s->has_control = false;
	if (s->options.flight_recorder)
		recorder_flight_ending(s->recorder); /* first: agents that leave end processes */
	err = session_agents_leave(s);
	if (s->options.flight_recorder) {
		e = session_flight_stop(s);
		err = err ? err : e;
	} else {
		e = kernel_stop(s);
		err = err ? err : e;
		e = agent_server_finish(s->agents);
		err = err ? err : e;
	}
	session_fail(s, err);
	end_mark(s);
	end = session_now(s);
	calibrate(s);
	if (recorder_first(s->recorder) != UINT64_MAX)
		s->begin = recorder_first(s->recorder);
	e = recorder_finish(s->recorder, s->begin ? s->begin : end, end,
			    s->end_reason ? s->end_reason : reason);
	s->state = JIS_SESSION_STOPPED;
	return err ? err : e;
}

int jisctl_session_discard(struct jisctl_session *s)
{
	if (s->state == JIS_SESSION_STOPPED)
		return -EINVAL;
	if (s->has_control)
		control_close(&s->control);
	s->has_control = false;
	session_agents_leave(s);
	s->ops->stop(s->backend);
	agent_server_finish(s->agents);
	recorder_discard(s->recorder);
	s->state = JIS_SESSION_STOPPED;
	return 0;
}

const char *jisctl_session_end_reason(const struct jisctl_session *s)
{
	return s->end_reason;
}

void jisctl_session_destroy(struct jisctl_session *s)
{
	uint32_t i;

	if (!s)
		return;
	if (s->state != JIS_SESSION_STOPPED)
		jisctl_session_stop(s, "the recorder gave up");
	if (s->has_control)
		control_close(&s->control);
	session_loop_close(s);
	session_attach_close(s);
	agent_server_close(s->agents);
	if (s->backend)
		s->ops->close(s->backend);
	recorder_close(s->recorder);
	for (i = 0; i < s->nr_targets; i++)
		if (s->targets[i].pidfd >= 0)
			close(s->targets[i].pidfd);
	free(s->targets);
	free(s->marks);
	free(s);
}

const char *jisctl_version(void)
{
	return JIS_VERSION;
}
