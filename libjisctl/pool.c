/* SPDX-License-Identifier: MIT */
/*
 * Pools: memory, layout, and the accounts at the end. Reading packets is in pool_drain.c.
 */
#include "pool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clock.h"
#include "host.h"
#include "lost.h"
#include "pool_private.h"
#include "trace/write.h"

#define PAGE 4096u
#define SLOTS_MAX 16384u
#define LOST_PACKET 8192u /* room for a LOST record of each type */

static uint64_t align(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

/* Twice as many entries as there may be threads with a slot, so that a window is hardly ever full.
 */
static uint32_t words_for(uint32_t slots)
{
	uint32_t n = JIS_WORDS_WINDOW;

	while (n < slots * 2)
		n *= 2;
	return n;
}

/* Everything before the packets, for @packets of them. */
static void layout_head(struct pool *p, uint64_t packets)
{
	uint64_t dict = packets / 16 < 2 ? 2 : packets / 16, slots;

	dict = dict > 64 ? 64 : dict;
	slots = packets - dict + 1;
	if (p->packet_size < 4 * sizeof(struct jis_slot)) /* small pools are for few threads */
		slots = slots / 2 + 1;
	p->nr_packets = (uint32_t)packets;
	p->dict_packets = (uint32_t)dict;
	p->nr_slots = (uint32_t)(slots > SLOTS_MAX ? SLOTS_MAX : slots);
	p->slots_offset = align(sizeof(struct jis_pool_header), 64);
	p->states_offset = align(p->slots_offset + p->nr_slots * sizeof(struct jis_slot), 64);
	p->nr_words = words_for(p->nr_slots);
	p->words_offset = align(p->states_offset + packets * sizeof(uint32_t), 64);
	p->packets_offset =
		align(p->words_offset + p->nr_words * sizeof(struct jis_thread_words), PAGE);
}

/* As many packets as fit into config.bytes. */
static int layout(struct pool *p)
{
	uint64_t bytes = p->config.bytes ? p->config.bytes : POOL_BYTES_DEFAULT, packets;

	if (bytes < POOL_BYTES_MIN || bytes > POOL_BYTES_MAX)
		return -EINVAL;
	p->total = align(bytes, PAGE);
	p->packet_size = bytes < (4u << 20) ? 4096 : 16384;
	for (packets = p->total / p->packet_size; packets > 8; packets--) {
		layout_head(p, packets);
		if (p->packets_offset + packets * p->packet_size <= p->total)
			return 0;
	}
	return -EINVAL;
}

static void header_write(struct pool *p)
{
	struct jis_pool_header *h = pool_header(p);

	h->magic = JIS_POOL_MAGIC;
	h->abi_version = JIS_ABI_VERSION;
	h->schema_version = JIS_SCHEMA_VERSION;
	h->total_size = p->total;
	h->clock = p->config.clock;
	h->pid = p->config.pid;
	h->base = p->config.base;
	memcpy(h->uuid, p->config.uuid, sizeof(h->uuid));
	h->nr_slots = p->nr_slots;
	h->slot_size = sizeof(struct jis_slot);
	h->nr_packets = p->nr_packets;
	h->packet_size = p->packet_size;
	h->slots_offset = p->slots_offset;
	h->states_offset = p->states_offset;
	h->packets_offset = p->packets_offset;
	h->dict_packets = p->dict_packets;
	h->nr_words = p->words_read ? p->nr_words : 0; /* nobody would look there */
	h->words_offset = p->words_offset;
	h->event_mask = p->config.event_mask;
}

/* A file that can neither grow nor shrink, with all of its pages. */
static int file_make(struct pool *p)
{
	int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL, err;

	p->fd = memfd_create("jis-pool", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (p->fd < 0)
		return -errno;
	err = posix_fallocate(p->fd, 0, (off_t)p->total);
	if (err)
		return -err;
	return fcntl(p->fd, F_ADD_SEALS, seals) ? -errno : 0;
}

/*
 * Memory of its own, allocated now: the traced process neither pays for it nor faults on it. From
 * the backend where it gives it, so that the kernel reads the words in it.
 */
static int memory_make(struct pool *p)
{
	void *m;
	int err;

	if (p->config.memory)
		p->fd = p->config.memory(p->config.memory_ctx, p->config.pid, p->total,
					 p->words_offset, p->nr_words);
	p->words_read = p->fd >= 0;
	err = p->fd < 0 ? file_make(p) : 0;
	if (err)
		return err;
	/* No page tables yet: most of it is read seldom, and the JVM waits for its welcome. */
	m = mmap(NULL, p->total, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
	if (m == MAP_FAILED)
		return -errno;
	p->memory = m;
	/* A child of the recorder has no business in it. */
	madvise(m, p->total, MADV_DONTFORK);
	return 0;
}

int pool_create(const struct pool_config *config, const struct pool_sink *sink, struct pool **out)
{
	struct pool *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	p->config = *config;
	p->sink = *sink;
	p->fd = -1;
	p->begin = clock_ns(CLOCK_MONOTONIC);
	err = layout(p);
	if (err)
		goto err_close;
	err = -ENOMEM;
	p->slots = calloc(p->nr_slots, sizeof(*p->slots));
	p->full = calloc(p->nr_packets, sizeof(*p->full));
	p->copy = aligned_alloc(64, p->packet_size);
	if (!p->slots || !p->full || !p->copy)
		goto err_close;
	err = memory_make(p);
	if (err)
		goto err_close;
	header_write(p);
	*out = p;
	return 0;

err_close:
	pool_close(p);
	return err;
}

void pool_close(struct pool *p)
{
	if (!p)
		return;
	if (p->memory)
		munmap(p->memory, p->total);
	if (p->fd >= 0)
		close(p->fd);
	free(p->slots);
	free(p->full);
	free(p->copy);
	free(p);
}

int pool_fd(const struct pool *p)
{
	return p->fd;
}

uint64_t pool_bytes(const struct pool *p)
{
	return p->total;
}

bool pool_words_read(const struct pool *p)
{
	return p->words_read;
}

uint32_t pool_slots(const struct pool *p)
{
	return p->nr_slots;
}

uint32_t pool_packets(const struct pool *p)
{
	return p->nr_packets;
}

void pool_mask_set(struct pool *p, uint64_t mask)
{
	uint32_t i;

	__atomic_store_n(&pool_header(p)->event_mask, mask, __ATOMIC_RELAXED);
	/* Probes do not look at it: those of records that are wanted no more are told so. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (i = 0; i < p->nr_slots; i++)
		__atomic_store_n(&pool_shared_slot(p, i)->words_until, 0, __ATOMIC_RELAXED);
}

/* So many more are let pass, so that nobody is in doubt who has just begun. */
#define PLAUSIBLE_SLACK 1000000u

uint64_t pool_plausible(const struct pool *p)
{
	return clock_ns(CLOCK_MONOTONIC) - p->begin + PLAUSIBLE_SLACK;
}

int pool_no_slot(const struct pool *p, uint32_t id, uint64_t *n)
{
	uint64_t many = __atomic_load_n(&pool_header(p)->no_slot[id], __ATOMIC_RELAXED);

	*n = 0;
	if (many && many / host_possible_cpus() > pool_plausible(p))
		return -ERANGE;
	*n = many;
	return 0;
}

/* What the writer says of type @id. Returns false, and nothing, when that cannot be. */
static bool counters_read(const struct pool *p, uint32_t slot, int id, uint64_t *produced,
			  uint64_t *lost)
{
	const struct jis_slot *shared = pool_shared_slot(p, slot);
	uint64_t most = pool_plausible(p);

	*lost = __atomic_load_n(&shared->lost[id], __ATOMIC_RELAXED);
	*produced = __atomic_load_n(&shared->produced[id], __ATOMIC_ACQUIRE);
	/* It may have been killed between the two. */
	if (*produced <= most && *lost <= *produced + 1)
		return true;
	*produced = *lost = 0;
	return false;
}

int pool_flush(struct pool *p)
{
	int n = pool_drain(p);

	return n < 0 ? n : pool_store_open(p);
}

void pool_counts(const struct pool *p, uint32_t slot, struct pool_counts *out)
{
	const struct pool_slot *s = &p->slots[slot];
	int i;

	memset(out, 0, sizeof(*out));
	out->damaged = s->damaged;
	out->used = s->used;
	out->counters_damaged = s->counters_damaged;
	memcpy(out->stored, s->stored, sizeof(out->stored));
	for (i = 1; i < JIS_MAX_EVENT_ID; i++) {
		if (s->settled) {
			out->produced[i] = s->produced[i];
			out->lost[i] = s->lost[i];
		} else {
			counters_read(p, slot, i, &out->produced[i], &out->lost[i]);
		}
	}
}

/*
 * Makes produced = stored + lost true. A writer that was killed between a record and its count has
 * one record more or less than it says; packets we refused are lost too.
 */
static void slot_settle(struct pool *p, uint32_t slot)
{
	struct pool_slot *s = &p->slots[slot];
	int i;

	for (i = 1; i < JIS_MAX_EVENT_ID; i++) {
		uint64_t produced, lost;

		if (!counters_read(p, slot, i, &produced, &lost))
			s->counters_damaged = true;
		if (produced > s->stored[i] + lost)
			lost = produced - s->stored[i];
		s->lost[i] = lost;
		s->produced[i] = s->stored[i] + lost;
	}
	s->settled = true;
}

/* Writes the LOST records that no packet of the writer carries. */
static int slot_tell_lost(struct pool *p, uint32_t slot, struct packet_builder *b)
{
	struct pool_slot *s = &p->slots[slot];
	const struct jis_slot *shared = pool_shared_slot(p, slot);
	uint64_t now = clock_now(p->config.clock) - p->config.base;
	uint64_t first = __atomic_load_n(&shared->lost_first, __ATOMIC_RELAXED);
	uint64_t told[JIS_MAX_EVENT_ID];
	struct jis_packet_header *packet;
	uint32_t i, added;
	int err;

	for (i = 0; i < JIS_MAX_EVENT_ID; i++)
		told[i] = __atomic_load_n(&shared->lost_told[i], __ATOMIC_RELAXED);
	if (!first || first > now)
		first = s->end < now ? s->end : now;
	added = lost_tell(b, s->lost, told, first, now, s->discarded);
	packet = packet_builder_close(b, 0);
	if (!packet)
		return 0;
	packet->flags |= JIS_PACKET_RECOVERED;
	err = p->sink.packet(p->sink.ctx, slot, packet, 0, false);
	if (err)
		return err == -EMFILE ? 0 : err;
	s->used = true;
	s->stored[JIS_EV_lost_records] += added;
	s->produced[JIS_EV_lost_records] += added;
	return 0;
}

static int slot_finish(struct pool *p, uint32_t slot)
{
	uint32_t class = slot == JIS_POOL_DICT_SLOT ? JIS_STREAM_DICT : JIS_STREAM_USER;
	struct pool_slot *s = &p->slots[slot];
	struct packet_builder b;
	int err;

	pool_open_commit(s);
	slot_settle(p, slot);
	err = packet_builder_init(&b, LOST_PACKET, class, slot, p->config.uuid);
	if (err)
		return err;
	b.proto.pid = p->config.own_pid;
	b.sequence = s->next_seq + 1;
	b.last = s->end;
	err = slot_tell_lost(p, slot, &b);
	packet_builder_fini(&b);
	return err;
}

int pool_finish(struct pool *p)
{
	uint32_t i;
	int err, e;

	pool_mask_set(p, 0);
	usleep(1000); /* a record under way when the mask fell takes less; if not, it counts as lost
		       */
	pool_drain(p); /* holds gaps back */
	p->final = true;
	err = pool_drain(p);
	e = pool_store_open(p);
	if (err >= 0)
		err = e;
	for (i = 0; i < p->nr_slots; i++) {
		e = slot_finish(p, i);
		if (!err)
			err = e;
	}
	return err;
}
