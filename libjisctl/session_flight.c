/* SPDX-License-Identifier: MIT */
/*
 * Sessions that keep the newest records: snapshots, and the end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flight_names.h"
#include "history.h"
#include "proc.h"
#include "session.h"

/* All is described again after so long, or when an eighth of a ring is overwritten, but not all the
 * time. */
#define DESCRIBE_EVERY_NS 10000000000ull
#define DESCRIBE_LEAST_NS 400000000ull
#define DESCRIBE_CYCLED 32u
#define MARKS_MAX 4096u
/* For how long a thread may be in records after it has said that it ends. */
#define ENDING_NS 1000000000ull

static uint64_t cycled(const struct jisctl_session *s)
{
	return s->ops->cycled ? s->ops->cycled(s->backend) : recorder_flight_cycled(s->recorder);
}

static bool describe_due(const struct jisctl_session *s, uint64_t now)
{
	uint64_t since = now - s->last_dump_ns;

	return since >= DESCRIBE_EVERY_NS ||
	       (since >= DESCRIBE_LEAST_NS && cycled(s) - s->last_dump_cycled >= DESCRIBE_CYCLED);
}

void session_flight_describe(struct jisctl_session *s, bool at_once)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (s->state != JIS_SESSION_RUNNING || !s->ops->dump || (!at_once && !describe_due(s, now)))
		return;
	if (s->last_dump_ns || at_once) /* the start described all */
		s->ops->dump(s->backend);
	s->last_dump_ns = now;
	s->last_dump_cycled = cycled(s);
}

void session_flight_mark(struct jisctl_session *s, uint32_t mark, uint64_t time)
{
	struct recorder_mark *more;

	if (s->nr_marks == MARKS_MAX) { /* the older half goes */
		s->nr_marks /= 2;
		memmove(s->marks, s->marks + s->nr_marks, s->nr_marks * sizeof(*s->marks));
	}
	if (s->nr_marks == s->room_marks) {
		more = realloc(s->marks, (s->room_marks * 2 + 16) * sizeof(*more));
		if (!more)
			return;
		s->marks = more;
		s->room_marks = s->room_marks * 2 + 16;
	}
	s->marks[s->nr_marks++] = (struct recorder_mark){.time = time, .mark = mark};
}

/* Ticks of the session's clock in @ns, as well as is known now. */
static uint64_t ticks(const struct jisctl_session *s, const struct clock_reading *now, uint64_t ns)
{
	uint64_t f = clock_frequency(s->clock, &s->first_clock.sample, &now->sample);

	return f ? (uint64_t)((unsigned __int128)ns * f / 1000000000u) : ns;
}

/* Copies of the packets that the backend has kept, so that they can be read twice while it goes on.
 */
static int kernel_copy(struct jisctl_session *s, struct history *copy)
{
	const struct jis_packet_header *packet;
	uint32_t cpu;
	int n, err = 0;

	for (cpu = 0; cpu < s->nr_cpus && !err; cpu++) {
		while (!err && (n = s->ops->get_packet(s->backend, cpu, &packet)) > 0)
			err = history_add(copy, cpu, packet, false, false);
		if (!err && n < 0)
			err = n;
	}
	return err;
}

static int kernel_frozen_copy(struct jisctl_session *s, struct history *copy)
{
	int err = s->ops->freeze(s->backend, true), e;

	if (!err)
		err = kernel_copy(s, copy);
	e = s->ops->freeze(s->backend, false);
	return err ? err : e;
}

struct look {
	struct flight_names *names;
	uint64_t from;
};

static int look_packet(void *ctx, uint32_t cpu, const struct jis_packet_header *packet)
{
	const struct look *look = ctx;

	return flight_names_look(look->names, packet, packet->timestamp_end >= look->from);
}

static int write_packet(void *into, uint32_t cpu, const struct jis_packet_header *packet)
{
	return recorder_kernel_packet(into, cpu, packet);
}

/* Which names are missing in what there is since @from, in the recorder's hands and in @copy (NULL
 * is allowed). All have been told anew just now, as far as they still are. NULL: no memory. */
static struct flight_names *names_gather(struct jisctl_session *s, uint64_t from,
					 const struct history *copy)
{
	struct look look = {.from = from};
	struct clock_reading now;
	int err;

	clock_read_all(s->clock, s->base, &now);
	look.names = flight_names_new(&now.sample, clock_frequency(s->clock, &s->first_clock.sample,
								   &now.sample));
	if (!look.names)
		return NULL;
	err = recorder_flight_look(s->recorder, look_packet, &look);
	if (!err && copy)
		err = history_each(copy, 0, look_packet, &look);
	if (!err)
		return look.names;
	flight_names_free(look.names);
	return NULL;
}

/* All that is still in the writers' hands goes to where the snapshot is taken from. */
static int gather(struct jisctl_session *s)
{
	int err = 0, e;

	if (!s->ops->freeze) { /* what waits to be read, then what is part-filled */
		err = session_drain_kernel(s, true);
		e = s->ops->flush(s->backend);
		err = err ? err : e;
		e = session_drain_kernel(s, true);
		err = err ? err : e;
	}
	e = agent_server_drain(s->agents, true);
	return err || e > 0 ? err : e;
}

int session_flight_trim(struct jisctl_session *s)
{
	struct clock_reading now;
	int err;

	if (!recorder_flight_long(s->recorder))
		return 0;
	err = gather(s); /* records of threads that have ended are among it */
	if (err)
		return err;
	clock_read_all(s->clock, s->base, &now);
	recorder_flight_trim(s->recorder, ticks(s, &now, ENDING_NS));
	return 0;
}

/* The processes that are targets by themselves, as the trace of the whole would tell them. */
static void targets_tell(struct jisctl_session *s, struct recorder *r)
{
	struct jis_ev_target_added ev = {.pid = 0};
	struct proc_stat st;
	uint32_t i;

	for (i = 0; i < s->nr_targets; i++) {
		ev.pid = (uint32_t)s->targets[i].pid;
		ev.flags = s->targets[i].flags;
		if (s->targets[i].gone || s->targets[i].thread ||
		    proc_stat_read((pid_t)ev.pid, (pid_t)ev.pid, &st))
			continue;
		recorder_event(r, JIS_EV_target_added, session_now(s), &ev,
			       sizeof(ev) - sizeof(uint32_t), st.comm);
	}
}

static int snapshot_write(struct jisctl_session *s, struct recorder *r, uint64_t from,
			  const struct history *copy)
{
	struct jis_ev_session_mark mark = {.mark = JIS_MARK_STOP};
	struct flight_names *names = names_gather(s, from, copy);
	struct clock_reading now;
	uint64_t end, first;
	int err, e;

	if (!names)
		return -ENOMEM;
	targets_tell(s, r);
	recorder_flight_names(r, names);
	err = recorder_flight_replay(s->recorder, from, r);
	if (!err && copy)
		err = history_each(copy, from, write_packet, r);
	clock_read_all(s->clock, s->base, &now);
	recorder_clock(r, &now);
	end = session_now(s);
	recorder_event(r, JIS_EV_session_mark, end, &mark, sizeof(mark), NULL);
	recorder_flight_settle(r);
	first = recorder_first(r);
	if (s->state == JIS_SESSION_PAUSED)
		recorder_note(r, "taken while the recording was paused");
	e = recorder_finish(r, first < end ? first : end, end, "snapshot");
	flight_names_free(names);
	return err ? err : e;
}

/* Marks from the last one before @from on. */
static uint32_t marks_since(const struct jisctl_session *s, uint64_t from)
{
	uint32_t i = s->nr_marks;

	while (i && s->marks[i - 1].time >= from)
		i--;
	return i ? i - 1 : 0;
}

int jisctl_session_snapshot(struct jisctl_session *s, const char *directory, uint64_t last_ns)
{
	struct recorder_origin origin = {.begin = s->begin};
	struct clock_reading now;
	struct history *copy = NULL;
	struct recorder *r;
	uint64_t last;
	uint32_t first;
	int err;

	if (!s->options.flight_recorder)
		return -EOPNOTSUPP;
	if (s->state != JIS_SESSION_RUNNING && s->state != JIS_SESSION_PAUSED)
		return -EINVAL;
	clock_read_all(s->clock, s->base, &now);
	origin.to = s->state == JIS_SESSION_PAUSED ? s->paused_at : now.sample.ticks;
	last = last_ns ? ticks(s, &now, last_ns) : origin.to;
	origin.from = last < origin.to ? origin.to - last : 0;
	if (origin.from < s->begin)
		origin.from = s->begin;
	first = marks_since(s, origin.from);
	err = recorder_snapshot(s->recorder, directory, &origin, s->marks + first,
				s->nr_marks - first, &r);
	if (err)
		return err;
	if (s->ops->dump && s->state == JIS_SESSION_RUNNING)
		err = s->ops->dump(s->backend);
	if (!err)
		err = gather(s);
	if (!err && s->ops->freeze) {
		copy = history_new(UINT64_MAX);
		err = copy ? kernel_frozen_copy(s, copy) : -ENOMEM;
	}
	if (!err)
		err = snapshot_write(s, r, origin.from, copy);
	if (err)
		recorder_discard(r);
	recorder_close(r);
	history_free(copy);
	return err;
}

int session_flight_stop(struct jisctl_session *s)
{
	struct flight_names *names;
	struct backend_counts counts;
	struct history *copy = NULL;
	uint32_t cpu;
	int err, e;

	session_flight_describe(s, true); /* the names of those who live */
	err = agent_server_finish(s->agents);
	e = s->ops->stop(s->backend);
	err = err ? err : e;
	if (s->ops->freeze) {
		copy = history_new(UINT64_MAX);
		e = copy ? kernel_copy(s, copy) : -ENOMEM;
	} else {
		e = session_drain_kernel(s, true);
	}
	err = err ? err : e;
	names = names_gather(s, 0, copy);
	recorder_flight_names(s->recorder, names);
	e = recorder_flight_end(s->recorder);
	err = err ? err : e;
	if (copy) {
		e = history_each(copy, 0, write_packet, s->recorder);
		err = err ? err : e;
	}
	if (s->ops->freeze) { /* what there was no memory to copy */
		e = session_drain_kernel(s, true);
		err = err ? err : e;
	}
	for (cpu = 0; cpu < s->nr_cpus; cpu++)
		if (s->ops->counts(s->backend, cpu, &counts) == 0)
			recorder_kernel_end(s->recorder, cpu, &counts, session_now(s));
	recorder_flight_settle(s->recorder);
	flight_names_free(names);
	history_free(copy);
	return err;
}
