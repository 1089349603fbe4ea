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

#include "families.h"
#include "pool.h"
#include "throttle.h"

#define DEFAULT_BYTES (64ull << 20)
#define DEFAULT_PACKETS 16u
#define DEFAULT_PACKET_MAX (256u << 10)
#define SEEN_PAGES (DIV_ROUND_UP(PID_MAX_LIMIT / 8, PAGE_SIZE))

/* All sessions that have rings: what must be done to them when a CPU comes online. */
static DEFINE_MUTEX(sessions_lock);
static LIST_HEAD(sessions);
static int cpu_state; /* the hotplug state we were given */

static void session_set_state(struct jis_session *s, u32 state)
{
	smp_store_release(&s->state, state); /* pairs with jis_session_state() */
}

struct jis_session *jis_session_create(void)
{
	struct jis_session *s = kzalloc(sizeof(*s), JIS_GFP);

	if (!s)
		return NULL;
	mutex_init(&s->lock);
	INIT_LIST_HEAD(&s->node);
	INIT_LIST_HEAD(&s->member);
	init_waitqueue_head(&s->wait);
	return s;
}

/* All that session_setup made, or as far as it came. */
static void session_free_buffers(struct jis_session *s)
{
	int cpu;

	mutex_lock(&sessions_lock);
	list_del_init(&s->node);
	mutex_unlock(&sessions_lock);
	if (s->rings)
		for_each_possible_cpu(cpu)
			jis_ring_fini(per_cpu_ptr(s->rings, cpu));
	free_percpu(s->rings);
	jis_syscalls_free(s);
	jis_filter_destroy(s);
	kvfree(s->seen);
	jis_threads_free(s);
	jis_cgroups_free(s);
	jis_throttle_free(s);
	kvfree(s->targets);
	compat_memcg_put(s->memcg);
	jis_uncharge(s->nr_pages);
	s->rings = NULL;
	s->seen = NULL;
	s->targets = NULL;
	s->memcg = NULL;
	s->nr_pages = 0;
}

/*
 * All probes off, or all but those that follow processes; when it returns none of them runs any
 * more, and none of the others that saw @recording as it was before. Waiting for that is what takes
 * time, so it is done once for all of them. May be repeated.
 */
static void session_probes_off(struct jis_session *s, bool tasks_too)
{
	if (!s->probed)
		return;
	jis_throttle_probe(s, false);
	jis_sources_probe(s, false);
	jis_cgroups_probe(s, false);
	jis_families_probe(s, false);
	jis_probe_switches(s, false);
	jis_probe_syscalls(s, false);
	if (tasks_too)
		jis_probe_tasks(s, false);
	jis_probes_wait();
	s->probed = s->probing_tasks;
}

/* All probes but those that follow processes; after an error none of them. */
static int session_probes_on(struct jis_session *s)
{
	int err = jis_sources_probe(s, true);

	err = err ?: jis_cgroups_probe(s, true);
	err = err ?: jis_throttle_probe(s, true);
	err = err ?: jis_families_probe(s, true);
	err = err ?: jis_probe_switches(s, true);
	err = err ?: jis_syscalls_start(s);
	if (err)
		session_probes_off(s, false);
	return err;
}

/**
 * jis_session_destroy - ends the session, whatever state it is in: when its file is closed.
 */
void jis_session_destroy(struct jis_session *s)
{
	WRITE_ONCE(s->recording, 0);
	session_probes_off(s, true);
	jis_pools_destroy(s);
	session_free_buffers(s);
	jis_rights_close(s);
	kfree(s);
}

/* Bytes of all rings when the caller leaves that to us. */
static u64 default_bytes(void)
{
	u64 bytes = min_t(u64, DEFAULT_BYTES, (u64)totalram_pages() * PAGE_SIZE / 100);

	return max_t(u64, bytes, (u64)num_online_cpus() * JIS_MIN_PACKETS * PAGE_SIZE);
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
	total = div_u64(total, num_online_cpus());
	s->packet_size = setup->packet_size ?: default_packet_size(total);
	packets = total / s->packet_size;
	if (packets < JIS_MIN_PACKETS)
		return -ERANGE;
	s->packets_per_cpu = min_t(u64, packets, U32_MAX);
	/* Wake the reader while there is still room to write. */
	s->watermark = clamp(setup->watermark, 1u, s->packets_per_cpu / 2);
	s->nr_pages = SEEN_PAGES + jis_threads_pages(setup->families & JIS_FAMILY_FAULT) +
		      jis_throttle_pages();
	return 0;
}

/* JIS_FAMILY_* and JIS_FEATURE_* of this kernel. */
static u32 session_features(void)
{
	return jis_sources_features() | jis_cgroups_features() | jis_throttle_features() |
	       jis_families_features() | jis_filter_features() | jis_pool_features() |
	       (jis_syscalls_supported() ? JIS_FEATURE_SYSCALLS : 0) | JIS_FEATURE_STEAL;
}

static int session_check(const struct jis_setup *setup)
{
	u32 size = setup->packet_size;

	if (setup->abi_version != JIS_ABI_VERSION)
		return -EPROTO;
	if (setup->flags & ~(JIS_SETUP_ALL_SWITCHES | JIS_SETUP_FLIGHT_RECORDER) ||
	    setup->base & JIS_TIME_MASK ||
	    memchr_inv(setup->reserved, 0, sizeof(setup->reserved)))
		return -EINVAL;
	if (setup->families & ~JIS_FAMILIES)
		return -EINVAL;
	if (setup->families & ~session_features())
		return -EOPNOTSUPP;
	if (size && (size < PAGE_SIZE || size > JIS_MAX_PACKET_SIZE || !is_power_of_2(size)))
		return -EINVAL;
	if (setup->clock != JIS_CLOCK_TSC && setup->clock != JIS_CLOCK_RAW)
		return -EINVAL;
	if (setup->clock == JIS_CLOCK_TSC && !compat_has_cycles())
		return -EOPNOTSUPP;
	return 0;
}

/* Rings for the CPUs that are there; from now on one that comes gets its own first. */
static int session_alloc_rings(struct jis_session *s)
{
	int cpu, err = 0;

	for_each_possible_cpu(cpu)
		jis_ring_init(per_cpu_ptr(s->rings, cpu), s, cpu);
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		err = jis_ring_alloc(per_cpu_ptr(s->rings, cpu));
		if (err)
			break;
	}
	mutex_lock(&sessions_lock);
	if (!err)
		list_add(&s->node, &sessions);
	mutex_unlock(&sessions_lock);
	cpus_read_unlock();
	return err;
}

static int session_alloc_buffers(struct jis_session *s)
{
	int err;

	err = jis_charge(s, s->nr_pages);
	if (err) {
		s->nr_pages = 0;
		return err;
	}
	s->memcg = compat_memcg_get();
	s->targets = jis_targets_create();
	s->seen = kvzalloc(SEEN_PAGES * PAGE_SIZE, JIS_GFP);
	s->rings = alloc_percpu_gfp(struct jis_ring, JIS_GFP | __GFP_ZERO);
	if (!s->targets || !s->seen || !s->rings)
		return -ENOMEM;
	err = jis_threads_create(s, s->families & JIS_FAMILY_FAULT) ?: jis_cgroups_create(s) ?:
	      jis_throttle_create(s);
	return err ?: session_alloc_rings(s);
}

/**
 * jis_session_setup - clock, rings and target set; processes are followed from here on.
 * @setup: in and out.
 *
 * Returns 0; -EPROTO (other ABI version); -EINVAL; -ERANGE (buffer too small or above half of the
 * machine's memory); -EOPNOTSUPP (no such clock); -ENOMEM. After these it may be tried again.
 */
int jis_session_setup(struct jis_session *s, struct jis_setup *setup)
{
	int err = session_check(setup);

	if (!err)
		err = jis_rights_setup(s, setup);
	if (err)
		return err;
	s->clock = setup->clock;
	s->base = 0;
	if (setup->base > jis_now(s))
		return -EINVAL;
	s->base = setup->base;
	s->all_switches = setup->flags & JIS_SETUP_ALL_SWITCHES;
	s->flight = setup->flags & JIS_SETUP_FLIGHT_RECORDER;
	s->families = setup->families;
	memcpy(s->uuid, setup->uuid, sizeof(s->uuid));
	err = session_geometry(s, setup);
	if (err) {
		s->nr_pages = 0;
		return err;
	}
	err = session_alloc_buffers(s);
	if (!err) {
		s->probed = true;
		err = jis_probe_tasks(s, true);
	}
	if (err) {
		session_probes_off(s, true);
		session_free_buffers(s);
		return err;
	}
	setup->nr_cpus = nr_cpu_ids;
	setup->packets_per_cpu = s->packets_per_cpu;
	setup->packet_size = s->packet_size;
	setup->watermark = s->watermark;
	setup->ring_bytes = (u64)s->packets_per_cpu * s->packet_size;
	setup->schema_version = JIS_SCHEMA_VERSION;
	setup->features = session_features();
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
	int err;

	jis_threads_begin(s);
	jis_filter_forget(s);
	err = session_probes_on(s);
	if (err)
		return err;
	WRITE_ONCE(s->recording, 1);
	on_each_cpu(session_nothing, NULL, 1);
	jis_dump_targets(s, false);
	session_set_state(s, JIS_SESSION_RUNNING);
	return 0;
}

int jis_session_start(struct jis_session *s)
{
	u64 now = jis_now(s);
	int cpu;

	mutex_lock(&sessions_lock);
	s->begun = true;
	for_each_possible_cpu(cpu)
		jis_ring_begin(per_cpu_ptr(s->rings, cpu), now);
	mutex_unlock(&sessions_lock);
	return session_record(s);
}

/* Charged to who set the session up, not to who switches the CPU on. */
static int session_alloc_late(struct jis_session *s, struct jis_ring *r)
{
	struct mem_cgroup *before = compat_memcg_use(s->memcg);
	int err = jis_ring_alloc(r);

	compat_memcg_use(before);
	return err;
}

/*
 * A CPU is about to come online: its rings come first. Where there is no memory for one the CPU
 * comes all the same, and what happens on it is lost and counted.
 */
static int session_cpu_prepare(unsigned int cpu)
{
	struct jis_session *s;

	mutex_lock(&sessions_lock);
	list_for_each_entry(s, &sessions, node) {
		struct jis_ring *r = per_cpu_ptr(s->rings, cpu);

		if (!jis_ring_exists(r) && !session_alloc_late(s, r) && s->begun)
			jis_ring_begin(r, jis_now(s));
	}
	mutex_unlock(&sessions_lock);
	return 0;
}

/**
 * jis_sessions_init - once, when the module is loaded. Returns 0 or -errno.
 */
int jis_sessions_init(void)
{
	int err = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "jis:prepare",
					    session_cpu_prepare, NULL);

	if (err < 0)
		return err;
	cpu_state = err;
	return 0;
}

void jis_sessions_exit(void)
{
	cpuhp_remove_state_nocalls(cpu_state);
}

/**
 * jis_session_pause - nothing is recorded once this has returned; targets are still followed.
 */
int jis_session_pause(struct jis_session *s)
{
	WRITE_ONCE(s->recording, 0);
	session_probes_off(s, false);
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

	WRITE_ONCE(s->recording, 0);
	session_probes_off(s, true);
	mutex_lock(&sessions_lock); /* CPUs that come from now on have nothing to tell */
	list_del_init(&s->node);
	mutex_unlock(&sessions_lock);
	for_each_possible_cpu(cpu) {
		struct jis_ring *r = per_cpu_ptr(s->rings, cpu);

		if (!jis_ring_exists(r))
			continue;
		mutex_lock(&r->lock);
		jis_ring_finish(r, jis_now(s));
		if (s->flight)
			jis_ring_settle(r);
		mutex_unlock(&r->lock);
	}
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

static void session_freeze_ring(void *ring)
{
	struct jis_ring *r = ring;
	unsigned long flags;

	local_irq_save(flags);
	jis_ring_freeze(r, jis_now(r->session));
	local_irq_restore(flags);
}

static void session_thaw_ring(void *ring)
{
	unsigned long flags;

	local_irq_save(flags);
	jis_ring_thaw(ring);
	local_irq_restore(flags);
}

/*
 * On the CPU itself; for one that is offline, and stays so meanwhile, here. The caller has
 * cpus_read_lock().
 */
static void session_on_ring(struct jis_ring *r, smp_call_func_t call)
{
	if (cpu_online(r->cpu))
		smp_call_function_single(r->cpu, call, r, 1);
	else
		call(r);
}

/**
 * jis_session_flush - closes the open packet of each CPU that holds a record. CPUs without an open
 * packet are left alone.
 */
int jis_session_flush(struct jis_session *s)
{
	int cpu;

	cpus_read_lock();
	for_each_possible_cpu(cpu) {
		struct jis_ring *r = per_cpu_ptr(s->rings, cpu);

		if (READ_ONCE(r->open) || READ_ONCE(r->owed))
			session_on_ring(r, session_flush_ring);
	}
	cpus_read_unlock();
	return 0;
}

/**
 * jis_session_freeze - a flight recorder's packets hold still for the reader, or go on cycling.
 * Returns 0; -EINVAL: it is no flight recorder.
 */
int jis_session_freeze(struct jis_session *s, bool freeze)
{
	int cpu;

	if (!s->flight)
		return -EINVAL;
	cpus_read_lock();
	for_each_possible_cpu(cpu) {
		struct jis_ring *r = per_cpu_ptr(s->rings, cpu);

		mutex_lock(&r->lock);
		session_on_ring(r, freeze ? session_freeze_ring : session_thaw_ring);
		mutex_unlock(&r->lock);
	}
	cpus_read_unlock();
	if (freeze)
		wake_up_interruptible_poll(&s->wait, EPOLLIN | EPOLLRDNORM);
	return 0;
}

/* Its CPU counts on, by plain increments. */
static void status_add_ring(struct jis_status *status, struct jis_ring *r)
{
	int i;

	for (i = 0; i < JIS_MAX_EVENT_ID; i++)
		status->produced += jis_count(r->produced[i]);
	status->lost += jis_count(r->lost_total);
	status->clock_steps += jis_count(r->clock_steps);
	status->overwritten += jis_count(r->overwritten);
	status->packets_ready += jis_ring_ready(r);
	status->memory_bytes += (u64)READ_ONCE(r->nr_pages) * PAGE_SIZE;
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
	status->nr_targets = jis_count(s->targets->count) + jis_filter_count(s);
	status->targets_refused = jis_count(s->targets->refused);
	status->threads_refused = jis_count(s->threads->refused);
	status->queues_refused = jis_throttle_refused(s);
	status->nr_cpus = nr_cpu_ids;
	status->memory_bytes = (u64)s->nr_pages * PAGE_SIZE + sizeof(*s) + sizeof(*s->targets) +
			       num_possible_cpus() * sizeof(struct jis_ring);
	for_each_possible_cpu(cpu)
		status_add_ring(status, per_cpu_ptr(s->rings, cpu));
}
