/* SPDX-License-Identifier: MIT */
/*
 * The loop of a session: rings and pools to disk, the clock once a second, agents and commands.
 *
 * The kernel wakes us (poll) when a ring has something; nobody wakes us for a pool, whose writers
 * do not enter the kernel: it is looked at by time, the more often the more it held last time.
 */
#include "session.h"

#include <errno.h>
#include <limits.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define CLOCK_EVERY_NS 1000000000ull
#define DRAIN_MS_MIN 5u
#define DRAIN_MS_MAX 100u
/* A pool that was fuller than this (of 256) is looked at sooner, one below the other later. */
#define DRAIN_BUSY 64
#define DRAIN_IDLE 16

enum source {
	SOURCE_WAKE = 1,
	SOURCE_FLUSH,
	SOURCE_DRAIN,
	SOURCE_KERNEL,
	SOURCE_AGENTS,
	SOURCE_CONTROL,
	SOURCE_ATTACH
};

static int watch(struct jisctl_session *s, int fd, enum source source)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.u32 = source};

	if (fd < 0)
		return 0;
	return epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

static int timer_set(int fd, uint32_t ms)
{
	struct itimerspec t;

	t.it_value.tv_sec = t.it_interval.tv_sec = ms / 1000;
	t.it_value.tv_nsec = t.it_interval.tv_nsec = (long)(ms % 1000) * 1000000;
	return timerfd_settime(fd, 0, &t, NULL) ? -errno : 0;
}

int session_loop_open(struct jisctl_session *s)
{
	uint32_t flush = s->options.flush_ms;
	int err;

	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	s->flush_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	s->drain_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (s->epoll < 0 || s->wake_fd < 0 || s->flush_fd < 0 || s->drain_fd < 0)
		return -errno;
	s->drain_ms = DRAIN_MS_MAX < flush ? DRAIN_MS_MAX : flush;
	err = timer_set(s->flush_fd, flush);
	if (!err)
		err = timer_set(s->drain_fd, s->drain_ms);
	if (!err)
		err = watch(s, s->wake_fd, SOURCE_WAKE);
	if (!err)
		err = watch(s, s->flush_fd, SOURCE_FLUSH);
	if (!err)
		err = watch(s, s->drain_fd, SOURCE_DRAIN);
	if (!err)
		err = watch(s, s->ops->poll_fd(s->backend), SOURCE_KERNEL);
	if (!err)
		err = watch(s, agent_server_fd(s->agents), SOURCE_AGENTS);
	if (!err)
		err = watch(s, attach_fd(s->attach), SOURCE_ATTACH);
	if (!err && s->has_control)
		err = watch(s, s->control.listener.fd, SOURCE_CONTROL);
	return err;
}

void session_loop_close(struct jisctl_session *s)
{
	int fds[] = {s->epoll, s->wake_fd, s->flush_fd, s->drain_fd};
	unsigned int i;

	for (i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	s->epoll = s->wake_fd = s->flush_fd = s->drain_fd = -1;
}

int session_fail(struct jisctl_session *s, int err)
{
	if (err < 0 && !s->end_reason)
		s->end_reason = err == -ENOSPC || err == -EDQUOT ? "disk full" : "write error";
	return err < 0 ? err : 0;
}

/* Of one CPU before the others and the agents have their turn: it may fill packets as fast as we
 * read. */
#define PACKETS_A_PASS 64

int session_drain_kernel(struct jisctl_session *s, bool all)
{
	const struct jis_packet_header *packet;
	uint32_t cpu, taken;
	int n = 0, err;

	for (cpu = 0; cpu < s->nr_cpus; cpu++) {
		for (taken = 0; all || taken < PACKETS_A_PASS; taken++) {
			n = s->ops->get_packet(s->backend, cpu, &packet);
			if (n <= 0)
				break;
			err = recorder_kernel_packet(s->recorder, cpu, packet);
			if (err)
				return session_fail(s, err);
		}
		if (n < 0)
			return session_fail(s, n);
	}
	return 0;
}

int session_flush(struct jisctl_session *s)
{
	int err, e;

	if (s->options.flight_recorder) { /* part-filled packets stay where they are */
		session_flight_describe(s, false);
		agent_server_guard(s->agents);
		/* Whoever joins has the backend read all that its rings have, so that these may
		 * never be full enough to wake us. */
		err = s->ops->freeze ? 0 : session_drain_kernel(s, false);
		e = session_flight_trim(s);
		err = err ? err : e;
		e = recorder_flush(s->recorder);
		return session_fail(s, err ? err : e);
	}
	err = s->ops->flush(s->backend);

	e = session_drain_kernel(s, false);
	err = err ? err : e;
	e = agent_server_drain(s->agents, true);
	err = err || e > 0 ? err : e;
	agent_server_guard(s->agents);
	e = recorder_flush(s->recorder);
	return session_fail(s, err ? err : e);
}

void session_clock(struct jisctl_session *s)
{
	struct clock_reading now;

	clock_read_all(s->clock, s->base, &now);
	recorder_clock(s->recorder, &now);
	s->last_clock_ns = clock_ns(CLOCK_MONOTONIC);
}

static void timer_take(int fd)
{
	uint64_t n;

	if (read(fd, &n, sizeof(n)) < 0)
		return; /* taken already */
}

static int on_flush(struct jisctl_session *s)
{
	timer_take(s->flush_fd);
	if (clock_ns(CLOCK_MONOTONIC) - s->last_clock_ns >= CLOCK_EVERY_NS)
		session_clock(s);
	return session_flush(s);
}

static int on_drain(struct jisctl_session *s)
{
	uint32_t ms = s->drain_ms, most = DRAIN_MS_MAX;
	int fullest = agent_server_drain(s->agents, false);

	timer_take(s->drain_fd);
	recorder_manifest_due(s->recorder);
	if (fullest < 0)
		return session_fail(s, fullest);
	if (most > s->options.flush_ms)
		most = s->options.flush_ms;
	if (fullest > DRAIN_BUSY)
		ms = ms / 2 < DRAIN_MS_MIN ? DRAIN_MS_MIN : ms / 2;
	else if (fullest < DRAIN_IDLE)
		ms = ms * 2 > most ? most : ms * 2;
	if (ms != s->drain_ms)
		timer_set(s->drain_fd, ms);
	s->drain_ms = ms;
	if (s->ops->poll_fd(s->backend) < 0)
		return session_drain_kernel(s, false);
	return 0;
}

/* Returns 0, 1 (woken) or -errno. */
static int dispatch(struct jisctl_session *s, enum source source)
{
	switch (source) {
	case SOURCE_WAKE:
		timer_take(s->wake_fd);
		return 1;
	case SOURCE_FLUSH:
		return on_flush(s);
	case SOURCE_DRAIN:
		return on_drain(s);
	case SOURCE_KERNEL:
		return session_drain_kernel(s, false);
	case SOURCE_AGENTS:
		return session_fail(s, agent_server_run(s->agents));
	case SOURCE_CONTROL:
		control_run(&s->control);
		return 0;
	case SOURCE_ATTACH:
		return session_fail(s, attach_run(s->attach));
	}
	return 0;
}

/* Must the recording end? Returns what jisctl_session_run() then returns, else 0. */
static int ending(struct jisctl_session *s)
{
	int err = recorder_error(s->recorder);

	if (err)
		return session_fail(s, err);
	if (s->options.max_bytes && recorder_bytes(s->recorder) >= s->options.max_bytes &&
	    !s->end_reason)
		s->end_reason = "max-size";
	return s->end_reason ? 1 : 0;
}

/* Milliseconds from now until @deadline_ns, -1 for no deadline. */
static int wait_ms(uint64_t deadline_ns)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), ms;

	if (deadline_ns == UINT64_MAX)
		return -1;
	if (now >= deadline_ns)
		return 0;
	ms = (deadline_ns - now + 999999) / 1000000;
	return ms > INT_MAX ? INT_MAX : (int)ms;
}

int jisctl_session_run(struct jisctl_session *s, int timeout_ms)
{
	uint64_t deadline = UINT64_MAX;
	struct epoll_event events[8];
	int n, i, err = 0, end;

	if (s->state == JIS_SESSION_STOPPED)
		return -EINVAL;
	if (timeout_ms >= 0)
		deadline = clock_ns(CLOCK_MONOTONIC) + (uint64_t)timeout_ms * 1000000u;
	for (;;) {
		end = ending(s);
		if (end)
			return end;
		n = epoll_wait(s->epoll, events, 8, wait_ms(deadline));
		if (n < 0 && errno != EINTR)
			return -errno;
		for (i = 0; i < n && err >= 0; i++) {
			int e = dispatch(s, events[i].data.u32);

			err = e ? e : err;
		}
		if (err < 0)
			return err;
		if (err > 0 || n < 0 || !wait_ms(deadline))
			return ending(s);
	}
}

void jisctl_session_wake(struct jisctl_session *s)
{
	uint64_t one = 1;
	int saved = errno;

	if (write(s->wake_fd, &one, sizeof(one)) < 0)
		errno = saved; /* it is set already */
	errno = saved;
}
