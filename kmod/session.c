// SPDX-License-Identifier: GPL-2.0-only
/*
 * A session's life: set up, running, paused, stopped, gone. Owns its memory and the order in which
 * probes, rings and state change.
 *
 * Invariant: whoever frees a ring, or touches its writer's part, has switched the probes off
 * before; that waits until no probe of this session runs any more.
 */
#include <linux/cpu.h>
#include <linux/math64.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "jis.h"

#define DEFAULT_BYTES (64ull << 20)
#define DEFAULT_PACKETS 16u
#define DEFAULT_PACKET_MAX (256u << 10)
#define SEEN_PAGES (DIV_ROUND_UP(PID_MAX_LIMIT / 8, PAGE_SIZE))

static void session_set_state(struct jis_session *s, u32 state)
{
	smp_store_release(&s->state, state); /* pairs with jis_session_state() */
}

struct jis_session *jis_session_create(void)
{
	struct jis_session *s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);

	if (!s)
		return NULL;
	mutex_init(&s->lock);
	init_waitqueue_head(&s->wait);
	return s;
}

/* All that session_setup made, or as far as it came. */
static void session_free_buffers(struct jis_session *s)
{
	int cpu;

	if (s->rings)
		for_each_possible_cpu(cpu)
			jis_ring_fini(per_cpu_ptr(s->rings, cpu));
	free_percpu(s->rings);
	vfree(s->seen);
	kvfree(s->targets);
	jis_uncharge(s->nr_pages);
	s->rings = NULL;
	s->seen = NULL;
	s->targets = NULL;
	s->nr_pages = 0;
}

/**
 * jis_session_destroy - ends the session, whatever state it is in: when its file is closed.
 */
void jis_session_destroy(struct jis_session *s)
{
	WRITE_ONCE(s->recording, false);
	jis_probe_switches(s, false);
	jis_probe_tasks(s, false);
	session_free_buffers(s);
	kfree(s);
}

/* Bytes of all rings when the caller leaves that to us. */
static u64 default_bytes(void)
{
	u64 bytes = min_t(u64, DEFAULT_BYTES, (u64)totalram_pages() * PAGE_SIZE / 100);

	return max_t(u64, bytes, (u64)num_possible_cpus() * JIS_MIN_PACKETS * PAGE_SIZE);
}

static u32 default_packet_size(u64 ring_bytes)
{
	u64 size = clamp_t(u64, ring_bytes / DEFAULT_PACKETS, PAGE_SIZE, DEFAULT_PACKET_MAX);

	return rounddown_pow_of_two(size);
}

/* Sizes of rings and packets from what the caller wants, each checked before it is used. */
static int session_geometry(struct jis_session *s, struct jis_setup *setup)
{
	u64 total = setup->buffer_bytes ?: default_bytes();
	u64 packets;

	if (total > (u64)jis_max_pages() * PAGE_SIZE)
		return -ERANGE;
	total = div_u64(total, num_possible_cpus());
	s->packet_size = setup->packet_size ?: default_packet_size(total);
	packets = total / s->packet_size;
	if (packets < JIS_MIN_PACKETS)
		return -ERANGE;
	s->packets_per_cpu = min_t(u64, packets, U32_MAX);
	/* Wake the reader while there is still room to write. */
	s->watermark = clamp(setup->watermark, 1u, s->packets_per_cpu / 2);
	s->nr_pages = SEEN_PAGES + (u64)s->packets_per_cpu * num_possible_cpus() *
					   (s->packet_size >> PAGE_SHIFT);
	return 0;
}

static int session_check(const struct jis_setup *setup)
{
	u32 size = setup->packet_size;

	if (setup->abi_version != JIS_ABI_VERSION)
		return -EPROTO;
	if (setup->flags & ~JIS_SETUP_ALL_SWITCHES || setup->base & JIS_TIME_MASK ||
	    memchr_inv(setup->reserved, 0, sizeof(setup->reserved)))
		return -EINVAL;
	if (size && (size < PAGE_SIZE || size > JIS_MAX_PACKET_SIZE || !is_power_of_2(size)))
		return -EINVAL;
	if (setup->clock != JIS_CLOCK_TSC && setup->clock != JIS_CLOCK_RAW)
		return -EINVAL;
	if (setup->clock == JIS_CLOCK_TSC && !compat_has_cycles())
		return -EOPNOTSUPP;
	return 0;
}

static int session_alloc_buffers(struct jis_session *s)
{
	int cpu, err;

	err = jis_charge(s->nr_pages);
	if (err) {
		s->nr_pages = 0;
		return err;
	}
	s->targets = jis_targets_create();
	s->seen = vzalloc(SEEN_PAGES * PAGE_SIZE);
	s->rings = alloc_percpu_gfp(struct jis_ring, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!s->targets || !s->seen || !s->rings)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		err = jis_ring_init(per_cpu_ptr(s->rings, cpu), s, cpu);
		if (err)
			return err;
	}
	return 0;
}

/**
 * jis_session_setup - clock, rings and target set; processes are followed from here on.
 * @setup: in and out.
 *
 * Returns 0; -EPROTO (other ABI version); -EINVAL; -ERANGE (buffer too small or above half of the
 * machine's memory); -EOPNOTSUPP (no such clock); -ENOMEM. After an error it may be tried again.
 */
int jis_session_setup(struct jis_session *s, struct jis_setup *setup)
{
	int err = session_check(setup);

	if (err)
		return err;
	s->clock = setup->clock;
	s->base = 0;
	if (setup->base > jis_now(s))
		return -EINVAL;
	s->base = setup->base;
	s->all_switches = setup->flags & JIS_SETUP_ALL_SWITCHES;
	memcpy(s->uuid, setup->uuid, sizeof(s->uuid));
	err = session_geometry(s, setup);
	if (err) {
		s->nr_pages = 0;
		return err;
	}
	err = session_alloc_buffers(s);
	if (!err)
		err = jis_probe_tasks(s, true);
	if (err) {
		session_free_buffers(s);
		return err;
	}
	setup->nr_cpus = nr_cpu_ids;
	setup->packets_per_cpu = s->packets_per_cpu;
	setup->packet_size = s->packet_size;
	setup->watermark = s->watermark;
	setup->ring_bytes = (u64)s->packets_per_cpu * s->packet_size;
	setup->schema_version = JIS_SCHEMA_VERSION;
	session_set_state(s, JIS_SESSION_READY);
	return 0;
}

static void session_nothing(void *unused)
{
}

/*
 * Records begin, then follows what the targets are now: so no change between is missed. A CPU that
 * has taken the interrupt has left any probe that did not see @recording set.
 */
static int session_record(struct jis_session *s)
{
	int err = jis_probe_switches(s, true);

	if (err)
		return err;
	WRITE_ONCE(s->recording, true);
	on_each_cpu(session_nothing, NULL, 1);
	jis_dump_targets(s);
	session_set_state(s, JIS_SESSION_RUNNING);
	return 0;
}

int jis_session_start(struct jis_session *s)
{
	u64 now = jis_now(s);
	int cpu;

	for_each_possible_cpu(cpu)
		jis_ring_begin(per_cpu_ptr(s->rings, cpu), now);
	return session_record(s);
}

/**
 * jis_session_pause - nothing is recorded once this has returned; targets are still followed.
 */
int jis_session_pause(struct jis_session *s)
{
	WRITE_ONCE(s->recording, false);
	jis_probe_switches(s, false);
	session_set_state(s, JIS_SESSION_PAUSED);
	return 0;
}

/**
 * jis_session_resume - records again, beginning with a dump: threads have changed meanwhile.
 */
int jis_session_resume(struct jis_session *s)
{
	return session_record(s);
}

/**
 * jis_session_stop - nothing is recorded any more, and all packets are closed.
 */
int jis_session_stop(struct jis_session *s)
{
	int cpu;

	WRITE_ONCE(s->recording, false);
	jis_probe_switches(s, false);
	jis_probe_tasks(s, false);
	for_each_possible_cpu(cpu)
		jis_ring_finish(per_cpu_ptr(s->rings, cpu), jis_now(s));
	session_set_state(s, JIS_SESSION_STOPPED);
	wake_up_interruptible_poll(&s->wait, EPOLLIN | EPOLLRDNORM | EPOLLHUP);
	return 0;
}

static void session_flush_ring(void *ring)
{
	struct jis_ring *r = ring;
	unsigned long flags;

	local_irq_save(flags);
	jis_ring_flush(r, jis_now(r->session));
	local_irq_restore(flags);
}

/**
 * jis_session_flush - closes the open packet of each CPU that holds a record. On the CPU itself;
 * for one that is offline, and stays so meanwhile, here. CPUs without an open packet are left
 * alone.
 */
int jis_session_flush(struct jis_session *s)
{
	int cpu;

	cpus_read_lock();
	for_each_possible_cpu(cpu) {
		struct jis_ring *r = per_cpu_ptr(s->rings, cpu);

		if (!READ_ONCE(r->open) && !READ_ONCE(r->owed))
			continue;
		if (cpu_online(cpu))
			smp_call_function_single(cpu, session_flush_ring, r, 1);
		else
			session_flush_ring(r);
	}
	cpus_read_unlock();
	return 0;
}

static void status_add_ring(struct jis_status *status, struct jis_ring *r)
{
	int i;

	for (i = 0; i < JIS_MAX_EVENT_ID; i++)
		status->produced += READ_ONCE(r->produced[i]);
	status->lost += READ_ONCE(r->lost_total);
	status->clock_steps += READ_ONCE(r->clock_steps);
	status->packets_ready += jis_ring_ready(r);
}

/**
 * jis_session_status - counters and state; exact when the session does not run.
 */
void jis_session_status(struct jis_session *s, struct jis_status *status)
{
	int cpu;

	status->state = jis_session_state(s);
	if (status->state == JIS_SESSION_NEW)
		return;
	status->nr_targets = READ_ONCE(s->targets->count);
	status->targets_refused = READ_ONCE(s->targets->refused);
	status->nr_cpus = nr_cpu_ids;
	status->memory_bytes = (u64)s->nr_pages * PAGE_SIZE + sizeof(*s) + sizeof(*s->targets) +
			       num_possible_cpus() * sizeof(struct jis_ring);
	for_each_possible_cpu(cpu)
		status_add_ring(status, per_cpu_ptr(s->rings, cpu));
}
