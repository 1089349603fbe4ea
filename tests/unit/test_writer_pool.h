/* SPDX-License-Identifier: MIT */
/* A pool in plain memory and an own reader of its records, for the tests of writer.h. */
#ifndef TEST_WRITER_POOL_H
#define TEST_WRITER_POOL_H

#include <check.h>
#include <stdlib.h>

#include "libjisctl/writer.h"

#define POOL_SLOTS 6u
#define POOL_PACKET 4096u
#ifndef POOL_PACKETS /* up to 512 */
#define POOL_PACKETS 8u
#endif
#define POOL_DICT 2u
#define POOL_STATES_AT 16384u
#define POOL_WORDS 32u
#define POOL_WORDS_AT 18432u
#define POOL_PACKETS_AT 20480u
#define POOL_SIZE (POOL_PACKETS_AT + POOL_PACKETS * POOL_PACKET)

/* One record as read back. */
struct seen {
	__u32 slot, id, owner;
	__u64 time, packet_seq;
	unsigned char payload[JIS_PAYLOAD_MAX];
	size_t size;
};

#define SEEN_MAX 100000
static struct seen *seen;
static unsigned int nr_seen;
static unsigned char *pool;
static struct jis_writer w = JIS_WRITER_INITIALIZER(w);

static inline struct jis_pool_header *pool_header(void)
{
	return (struct jis_pool_header *)(void *)pool;
}

static inline void pool_make(void)
{
	struct jis_pool_header *h;

	pool = aligned_alloc(4096, POOL_SIZE);
	seen = calloc(SEEN_MAX, sizeof(*seen));
	nr_seen = 0;
	memset(pool, 0, POOL_SIZE);
	h = pool_header();
	h->magic = JIS_POOL_MAGIC;
	h->abi_version = JIS_ABI_VERSION;
	h->schema_version = JIS_SCHEMA_VERSION;
	h->total_size = POOL_SIZE;
	h->clock = JIS_CLOCK_RAW;
	memset(h->uuid, 0xab, sizeof(h->uuid));
	h->nr_slots = POOL_SLOTS;
	h->slot_size = sizeof(struct jis_slot);
	h->nr_packets = POOL_PACKETS;
	h->packet_size = POOL_PACKET;
	h->slots_offset = sizeof(*h);
	h->states_offset = POOL_STATES_AT;
	h->packets_offset = POOL_PACKETS_AT;
	h->dict_packets = POOL_DICT;
	h->nr_words = POOL_WORDS;
	h->words_offset = POOL_WORDS_AT;
	h->event_mask = ~0ull;
	ck_assert_int_eq(jis_writer_init(&w, pool, POOL_SIZE, 4711), 0);
}

static inline void pool_free(void)
{
	free(pool);
	free(seen);
}

/* Size of the payload of a record at @p; strings by their own length. */
static inline size_t payload_size(__u32 class, __u32 id, const unsigned char *p)
{
	__u32 length = 0;
	size_t fixed = 0;

#define SIZE(number, name)                                                                         \
	case number:                                                                               \
		fixed = sizeof(struct jis_ev_##name);                                              \
		break;
	if (class == JIS_STREAM_USER) {
		switch (id) {
			JIS_EVENTS_USER(SIZE)
			JIS_EVENTS_USER_RARE(SIZE)
			JIS_EVENTS_COMMON(SIZE)
		}
		return fixed;
	}
	switch (id) {
		JIS_EVENTS_DICT(SIZE)
		JIS_EVENTS_COMMON(SIZE)
	}
#undef SIZE
	if (id == JIS_EV_java_thread_end || id == JIS_EV_lost_records)
		return fixed;
	memcpy(&length, p + fixed - 4, 4);
	return fixed + length;
}

/* ck_assert() tells the parent process about each success, which is too slow for each record. */
#define REQUIRE(condition)                                                                         \
	do {                                                                                       \
		if (!(condition))                                                                  \
			ck_abort_msg(#condition);                                                  \
	} while (0)

static inline void packet_read(const unsigned char *p)
{
	const struct jis_packet_header *h = (const void *)p;
	size_t at = JIS_PACKET_HEADER_SIZE;
	__u64 time = h->timestamp_begin;
	__u32 word, owner = h->owner;
	struct seen *s;

	REQUIRE(h->magic == JIS_PACKET_MAGIC);
	REQUIRE(h->pid == 4711);
	REQUIRE(h->packet_size == POOL_PACKET * 8);
	for (; at + 4 <= POOL_PACKET; at += s->size) {
		memcpy(&word, p + at, 4);
		if (!word)
			break;
		REQUIRE(nr_seen < SEEN_MAX);
		s = &seen[nr_seen++];
		s->id = word & 31;
		at += 4;
		if (s->id == JIS_ID_EXTENDED) {
			memcpy(&s->id, p + at, 4);
			memcpy(&s->time, p + at + 4, 8);
			at += 12;
		} else {
			s->time = time + (((word >> 5) - (__u32)time) & JIS_TIME_MASK);
		}
		REQUIRE(s->time >= time);
		time = s->time;
		s->slot = (__u32)h->stream_instance;
		s->packet_seq = h->packet_seq;
		s->size = payload_size(h->stream_class, s->id, p + at);
		REQUIRE(at + s->size <= POOL_PACKET);
		memcpy(s->payload, p + at, s->size);
		if (s->id == JIS_EV_thread_bind && h->stream_class == JIS_STREAM_USER)
			memcpy(&owner, s->payload, 4);
		s->owner = owner;
	}
	if (h->content_size) {
		REQUIRE(h->content_size == at * 8);
		/* Of words nobody keeps when the last one was. */
		REQUIRE(w.slots[h->stream_instance].words_were ? h->timestamp_end >= time
							       : h->timestamp_end == time);
		REQUIRE(h->timestamp_end <= jis_ticks(&w));
	}
}

/* Reads and frees the packets that are FULL (and, at the end, OPEN), in order of their sequence. */
static inline void pool_read(int end)
{
	__u64 want, best;
	__u32 i, k, state;

	for (;;) {
		best = ~0ull;
		k = 0;
		for (i = 0; i < POOL_PACKETS; i++) {
			state = __atomic_load_n(&w.states[i], __ATOMIC_ACQUIRE) & 3;
			if (state != JIS_PACKET_FULL && !(end && state == JIS_PACKET_OPEN))
				continue;
			want = ((struct jis_packet_header *)(void *)(pool + POOL_PACKETS_AT +
								     i * POOL_PACKET))
				       ->packet_seq;
			if (want < best) {
				best = want;
				k = i;
			}
		}
		if (best == ~0ull)
			return;
		packet_read(pool + POOL_PACKETS_AT + k * POOL_PACKET);
		memset(pool + POOL_PACKETS_AT + k * POOL_PACKET, 0, POOL_PACKET);
		__atomic_store_n(&w.states[k], JIS_PACKET_FREE, __ATOMIC_RELEASE);
	}
}

static inline __u64 count_seen(__u32 id)
{
	__u64 n = 0;
	unsigned int i;

	for (i = 0; i < nr_seen; i++)
		n += seen[i].id == id;
	return n;
}

/* produced = stored + lost, for each type; slot numbers as given. */
static inline void slot_adds_up(__u32 slot)
{
	__u64 stored[JIS_MAX_EVENT_ID] = {0};
	unsigned int i;

	for (i = 0; i < nr_seen; i++)
		if (seen[i].slot == slot)
			stored[seen[i].id]++;
	for (i = 0; i < JIS_MAX_EVENT_ID; i++)
		ck_assert_uint_eq(w.slots[slot].produced[i], stored[i] + w.slots[slot].lost[i]);
}

static inline void write_marker(struct jis_slot *s, __s64 value)
{
	struct jis_ev_marker m = {1, value};

	jis_write(&w, s, JIS_EV_marker, &m, sizeof(m));
}

static inline int run_tcase(const char *name, TCase *tc)
{
	Suite *suite = suite_create(name);
	SRunner *runner;
	int failed;

	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif /* TEST_WRITER_POOL_H */
