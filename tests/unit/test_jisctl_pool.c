/* SPDX-License-Identifier: MIT */
/*
 * Pools: what an honest writer writes comes out once, in order and whole, whatever its state when
 * the reader looks; what a hostile one writes harms nothing but its own packets.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libjisctl/clock.h"
#include "libjisctl/packet_walk.h"
#include "libjisctl/pool.h"
#include "libjisctl/writer.h"

#define MAX_SLOTS 4096

static struct pool *pool;
static unsigned char *map; /* the process's mapping */
static struct jis_writer w = JIS_WRITER_INITIALIZER(w);

/* What the sink has seen of each slot. */
static struct {
	uint64_t end, seq, discarded, markers, told;
	int64_t next;
	bool any, open;
	uint64_t open_records;
} seen[MAX_SLOTS];
static uint64_t packets, sink_fails_after = UINT64_MAX;
static int sink_error;
static bool ordered; /* marker values must count up */

static void take_markers(uint32_t slot, const struct jis_packet_header *h, uint32_t skip)
{
	const uint8_t *p = (const uint8_t *)h;
	uint32_t at = JIS_PACKET_HEADER_SIZE, end = (uint32_t)(h->content_size / 8);
	struct packet_walk walk;

	packet_walk_begin(&walk, h, UINT64_MAX);
	while (at < end) {
		uint64_t counts[JIS_MAX_EVENT_ID] = {0};
		struct jis_ev_marker m;
		uint32_t word, head, stop = at;

		do { /* one record: the walk ends behind it */
			stop += 4;
			ck_assert_uint_le(stop, end);
		} while (packet_walk_run(&walk, h, stop, counts) || walk.offset != stop);
		memcpy(&word, p + at, 4);
		head = (word & 31) == JIS_ID_EXTENDED ? 16 : 4;
		if (counts[JIS_EV_marker] && at >= JIS_PACKET_HEADER_SIZE + skip) {
			memcpy(&m, p + at + head, sizeof(m));
			if (ordered)
				ck_assert_int_eq(m.value, seen[slot].next);
			seen[slot].next = m.value + 1;
			seen[slot].markers++;
		}
		at = stop;
	}
}

static int sink(void *ctx, uint32_t slot, const struct jis_packet_header *h, uint32_t skip,
		bool open)
{
	struct packet_walk walk;

	if (packets++ >= sink_fails_after)
		return sink_error;
	ck_assert_uint_lt(slot, pool_slots(pool));
	ck_assert_uint_eq(h->stream_instance, slot);
	ck_assert_uint_eq(h->content_size % 32, 0);
	ck_assert_uint_le(JIS_PACKET_HEADER_SIZE + skip, h->content_size / 8);
	ck_assert_uint_ge(h->events_discarded, seen[slot].discarded);
	packet_walk_begin(&walk, h, UINT64_MAX);
	walk.told = NULL;
	ck_assert_int_eq(packet_walk_run(&walk, h, (uint32_t)(h->content_size / 8), NULL), 0);
	ck_assert_uint_eq(walk.offset, h->content_size / 8);
	ck_assert_uint_eq(h->timestamp_end, walk.last);
	if (seen[slot].any && h->packet_seq == seen[slot].seq) {
		ck_assert(seen[slot].open);
	} else {
		ck_assert_uint_gt(h->packet_seq, seen[slot].seq);
		ck_assert_uint_ge(h->timestamp_begin, seen[slot].end);
		ck_assert_uint_eq(skip, 0);
	}
	if (ordered)
		take_markers(slot, h, skip);
	seen[slot].seq = h->packet_seq;
	seen[slot].end = h->timestamp_end;
	seen[slot].discarded = h->events_discarded;
	seen[slot].any = true;
	seen[slot].open = open;
	return 0;
}

static void make_by(uint32_t clock, uint64_t bytes)
{
	struct pool_config config = {
		.bytes = bytes, .clock = clock, .pid = 1, .own_pid = 1, .event_mask = ~1ull};
	struct pool_sink s = {.packet = sink};

	memset(config.uuid, 0x5a, 16);
	config.base = clock_base(clock);
	ck_assert_int_eq(pool_create(&config, &s, &pool), 0);
	ck_assert_uint_le(pool_slots(pool), MAX_SLOTS);
	map = mmap(NULL, pool_bytes(pool), PROT_READ | PROT_WRITE, MAP_SHARED, pool_fd(pool), 0);
	ck_assert_ptr_ne(map, MAP_FAILED);
	ck_assert_int_eq(jis_writer_init(&w, map, pool_bytes(pool), 1), 0);
}

static void make(uint64_t bytes)
{
	make_by(JIS_CLOCK_RAW, bytes);
}

/* Memory from elsewhere: a descriptor the test has made, with what was asked for. */
static struct {
	uint64_t bytes, words_offset;
	uint32_t pid, nr_words;
	int fd;
} asked;

static int memory_given(void *ctx, uint32_t pid, uint64_t bytes, uint64_t words_offset,
			uint32_t nr_words)
{
	asked.bytes = bytes;
	asked.words_offset = words_offset;
	asked.pid = pid;
	asked.nr_words = nr_words;
	if (ctx)
		return -ENOSPC;
	asked.fd = memfd_create("given", 0);
	ck_assert_int_eq(ftruncate(asked.fd, (off_t)bytes), 0);
	return asked.fd;
}

static void check_memory(void *ctx)
{
	struct pool_config config = {.bytes = POOL_BYTES_MIN,
				     .clock = JIS_CLOCK_RAW,
				     .pid = 4711,
				     .memory = memory_given,
				     .memory_ctx = ctx};
	struct pool_sink s = {.packet = sink};
	const struct jis_pool_header *h;
	struct pool *p;

	ck_assert_int_eq(pool_create(&config, &s, &p), 0);
	h = mmap(NULL, pool_bytes(p), PROT_READ, MAP_SHARED, pool_fd(p), 0);
	ck_assert_ptr_ne(h, MAP_FAILED);
	ck_assert_uint_eq(asked.pid, 4711);
	ck_assert_uint_eq(asked.bytes, pool_bytes(p));
	/* Memory whose words nobody reads has none. */
	ck_assert_uint_eq(h->nr_words, ctx ? 0 : asked.nr_words);
	ck_assert_uint_eq(asked.words_offset, h->words_offset);
	ck_assert_uint_eq(asked.nr_words & (asked.nr_words - 1), 0);
	ck_assert_uint_ge(asked.nr_words, h->nr_slots);
	ck_assert(h->words_offset >= h->states_offset + h->nr_packets * 4);
	ck_assert(h->words_offset + asked.nr_words * sizeof(struct jis_thread_words) <=
		  h->packets_offset);
	ck_assert_int_eq(pool_words_read(p), ctx == NULL);
	ck_assert_int_eq(pool_fd(p) == asked.fd, ctx == NULL);
	munmap((void *)(uintptr_t)h, pool_bytes(p));
	pool_close(p);
}

START_TEST(memory_comes_from_whoever_gives_it)
{
	check_memory(NULL);
}
END_TEST

START_TEST(memory_that_is_refused_is_made_here)
{
	asked.fd = -1;
	check_memory(&asked);
}
END_TEST

static void set_up(void)
{
	memset(seen, 0, sizeof(seen));
	packets = 0;
	sink_fails_after = UINT64_MAX;
	sink_error = -ENOSPC;
	ordered = true;
	make(POOL_BYTES_MIN);
}

static void tear_down(void)
{
	munmap(map, pool_bytes(pool));
	pool_close(pool);
}

static void mark(struct jis_slot *s, int64_t value)
{
	struct jis_ev_marker ev = {.type = 1, .value = value};

	jis_write(&w, s, JIS_EV_marker, &ev, sizeof(ev));
}

static void adds_up(uint32_t slot, uint64_t produced)
{
	struct pool_counts c;
	int i;

	pool_counts(pool, slot, &c);
	for (i = 0; i < JIS_MAX_EVENT_ID; i++)
		ck_assert_uint_eq(c.produced[i], c.stored[i] + c.lost[i]);
	ck_assert_uint_eq(c.produced[JIS_EV_marker], produced);
	ck_assert_uint_eq(c.stored[JIS_EV_marker], seen[slot].markers);
}

START_TEST(layouts_of_all_sizes_are_sound)
{
	static const uint64_t sizes[] = {POOL_BYTES_MIN, 300000,   1 << 20,
					 4 << 20,	 16 << 20, 64 << 20};
	unsigned int i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		tear_down();
		make(sizes[i]);
		ck_assert_uint_ge(pool_slots(pool), 8);
		ck_assert_uint_ge(pool_packets(pool), 16);
	}
}
END_TEST

START_TEST(records_come_out_once_however_often_one_looks)
{
	struct jis_slot *s = jis_slot_take(&w, 7);
	int i;

	for (i = 0; i < 5000; i++) {
		mark(s, i);
		if (i % 7 == 0)
			ck_assert_int_eq(pool_flush(pool), 0);
		else if (i % 31 == 0)
			ck_assert_int_ge(pool_drain(pool), 0);
	}
	ck_assert_int_eq(pool_finish(pool), 0);
	ck_assert_uint_eq(seen[1].markers, 5000);
	adds_up(1, 5000);
}
END_TEST

START_TEST(a_flush_without_news_stores_nothing)
{
	struct jis_slot *s = jis_slot_take(&w, 7);
	uint64_t before;

	mark(s, 0);
	ck_assert_int_eq(pool_flush(pool), 0);
	before = packets;
	ck_assert_int_eq(pool_flush(pool), 0);
	ck_assert_uint_eq(packets, before);
	mark(s, 1);
	ck_assert_int_eq(pool_flush(pool), 0);
	ck_assert_uint_eq(packets, before + 1);
}
END_TEST

START_TEST(loss_is_told_and_adds_up)
{
	struct jis_slot *s = jis_slot_take(&w, 7);
	struct pool_counts c;
	int i;

	ordered = false;
	for (i = 0; i < 100000; i++)
		mark(s, i);
	ck_assert_int_eq(pool_finish(pool), 0);
	pool_counts(pool, 1, &c);
	ck_assert_uint_eq(c.produced[JIS_EV_marker], 100000);
	ck_assert_uint_gt(c.lost[JIS_EV_marker], 0);
	ck_assert_uint_eq(c.stored[JIS_EV_marker] + c.lost[JIS_EV_marker], 100000);
	ck_assert_uint_eq(c.stored[JIS_EV_lost_records], 1); /* by the recorder, at the end */
	ck_assert_uint_eq(seen[1].discarded, c.lost[JIS_EV_marker]);
}
END_TEST

/* A writer killed between a record and its count, and one killed between the count of a lost record
 * and what it would have stored. */
START_TEST(counts_of_a_killed_writer_are_settled)
{
	struct jis_slot *s = jis_slot_take(&w, 7);
	struct pool_counts c;

	mark(s, 0);
	mark(s, 1);
	s->produced[JIS_EV_marker]--;
	s->produced[JIS_EV_span_begin]++;
	ck_assert_int_eq(pool_finish(pool), 0);
	pool_counts(pool, 1, &c);
	ck_assert_uint_eq(c.produced[JIS_EV_marker], 2);
	ck_assert_uint_eq(c.stored[JIS_EV_marker], 2);
	ck_assert_uint_eq(c.lost[JIS_EV_marker], 0);
	ck_assert_uint_eq(c.lost[JIS_EV_span_begin], 1);
}
END_TEST

START_TEST(a_torn_record_is_not_stored)
{
	struct jis_slot *s = jis_slot_take(&w, 7);
	struct jis_ev_marker ev = {.type = 1, .value = 99};

	mark(s, 0);
	memcpy(map + s->position + 4, &ev, sizeof(ev)); /* payload there, header word not */
	ck_assert_int_eq(pool_finish(pool), 0);
	ck_assert_uint_eq(seen[1].markers, 1);
	adds_up(1, 1);
}
END_TEST

START_TEST(dictionary_records_have_their_own_packets)
{
	uint32_t id = 1;
	struct pool_counts c;

	ordered = false;
	ck_assert_int_eq(jis_dict_write(&w, JIS_EV_string_def, &id, 4, "main", 4), 0);
	ck_assert_int_eq(pool_flush(pool), 0);
	ck_assert(seen[0].any);
	pool_counts(pool, 0, &c);
	ck_assert_uint_eq(c.stored[JIS_EV_string_def], 1);
}
END_TEST

START_TEST(an_error_of_the_sink_is_loss_not_success)
{
	struct jis_slot *s = jis_slot_take(&w, 7);
	struct pool_counts c;
	int i;

	ordered = false;
	sink_fails_after = 3;
	for (i = 0; i < 3000; i++)
		mark(s, i);
	ck_assert_int_eq(pool_finish(pool), -ENOSPC);
	pool_counts(pool, 1, &c);
	ck_assert_uint_eq(c.produced[JIS_EV_marker], 3000);
	ck_assert_uint_lt(c.stored[JIS_EV_marker], 3000);
	ck_assert_uint_eq(c.stored[JIS_EV_marker] + c.lost[JIS_EV_marker], 3000);
}
END_TEST

static volatile int writing;

static void *write_much(void *arg)
{
	struct jis_slot *s = jis_slot_take(&w, (uint32_t)(uintptr_t)arg);
	int i;

	for (i = 0; i < 200000; i++) {
		while (!jis_writer_on(&w, JIS_EV_marker))
			;
		mark(s, i);
	}
	__atomic_fetch_sub(&writing, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* The reader races with writers; whatever is not lost is sound, and the accounts are right. */
START_TEST(a_packet_for_which_there_is_no_file_is_lost_and_no_more)
{
	struct jis_slot *s = jis_slot_take(&w, 7);
	struct pool_counts c;
	int i;

	ordered = false;
	sink_error = -EMFILE;
	sink_fails_after = 0;
	for (i = 0; i < 2000; i++) { /* some full packets, and an open one time and again */
		mark(s, i);
		if (i % 100 == 0)
			ck_assert_int_eq(pool_flush(pool), 0);
	}
	pool_counts(pool, 1, &c);
	ck_assert_uint_eq(c.stored[JIS_EV_marker], 0);
	sink_fails_after = UINT64_MAX;
	for (i = 0; i < 10; i++)
		mark(s, i);
	ck_assert_int_eq(pool_finish(pool), 0);
	pool_counts(pool, 1, &c);
	ck_assert_uint_eq(c.produced[JIS_EV_marker], 2010);
	ck_assert_uint_ge(c.stored[JIS_EV_marker], 10);
	ck_assert_uint_gt(c.lost[JIS_EV_marker], 0);
	ck_assert_uint_eq(c.stored[JIS_EV_marker] + c.lost[JIS_EV_marker], 2010);
	ck_assert(!c.counters_damaged);
}
END_TEST

START_TEST(a_racing_reader_sees_whole_records)
{
	struct pool_counts c;
	pthread_t t[3];
	int i;

	ordered = false;
	writing = 3;
	for (i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, write_much, (void *)(uintptr_t)(100 + i));
	while (__atomic_load_n(&writing, __ATOMIC_ACQUIRE))
		ck_assert_int_eq(pool_flush(pool), 0);
	for (i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	ck_assert_int_eq(pool_finish(pool), 0);
	for (i = 1; i <= 3; i++) {
		pool_counts(pool, (uint32_t)i, &c);
		ck_assert_uint_eq(c.damaged, 0);
		ck_assert_uint_eq(c.produced[JIS_EV_marker], 200000);
		ck_assert_uint_eq(c.stored[JIS_EV_marker] + c.lost[JIS_EV_marker], 200000);
	}
}
END_TEST

#if defined(__x86_64__) || defined(__aarch64__)
static uint64_t laps;

/* As an agent's probe does: words as long as it may, else the long way, after which it asks. */
static void *write_words(void *arg)
{
	struct jis_slot *s = arg;
	uint32_t i;

	for (i = 0; __atomic_load_n(&writing, __ATOMIC_ACQUIRE); i++) {
		if (!jis_write_word(&w, s, JIS_EV_method_enter, i)) {
			if (jis_writer_on(&w, JIS_EV_method_enter))
				jis_write(&w, s, JIS_EV_method_enter, &i, sizeof(i));
			jis_words_open(&w, s, 1ull << JIS_EV_method_enter);
		}
		__atomic_store_n(&laps, i, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void laps_pass(uint64_t n)
{
	uint64_t from = __atomic_load_n(&laps, __ATOMIC_ACQUIRE);

	while (__atomic_load_n(&laps, __ATOMIC_ACQUIRE) - from < n)
		sched_yield();
}

/* The owner that opens its slot and the recorder that closes it, at the same time. */
START_TEST(a_paused_pool_stays_closed_to_words)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + 300000000, produced, rounds = 0;
	struct pool_counts c;
	struct jis_slot *s;
	pthread_t t;

	tear_down();
	make_by(JIS_CLOCK_TSC, 4 << 20);
	ordered = false;
	s = jis_slot_take(&w, 100);
	ck_assert_ptr_nonnull(s);
	writing = 1;
	pthread_create(&t, NULL, write_words, s);
	do {
		laps_pass(rounds % 3);
		pool_mask_set(pool, 0);
		laps_pass(2); /* the one under way, and one that began after it */
		produced = __atomic_load_n(&s->produced[JIS_EV_method_enter], __ATOMIC_RELAXED);
		laps_pass(2);
		ck_assert_uint_eq(__atomic_load_n(&s->produced[JIS_EV_method_enter],
						  __ATOMIC_RELAXED),
				  produced);
		pool_mask_set(pool, ~1ull);
		laps_pass(2);
		ck_assert_uint_gt(__atomic_load_n(&s->produced[JIS_EV_method_enter],
						  __ATOMIC_RELAXED),
				  produced);
		ck_assert_int_eq(pool_flush(pool), 0);
		rounds++;
	} while (clock_ns(CLOCK_MONOTONIC) < until);
	__atomic_store_n(&writing, 0, __ATOMIC_RELEASE);
	pthread_join(t, NULL);
	ck_assert_int_eq(pool_finish(pool), 0);
	pool_counts(pool, 1, &c);
	ck_assert_uint_eq(c.damaged, 0);
	ck_assert_uint_gt(c.stored[JIS_EV_method_enter], rounds);
	ck_assert_uint_eq(c.stored[JIS_EV_method_enter] + c.lost[JIS_EV_method_enter],
			  c.produced[JIS_EV_method_enter]);
}
END_TEST
#endif

static uint32_t rng = 12345;

static uint32_t random_word(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 17;
	return rng ^= rng << 5;
}

/* Random bytes everywhere, the pool's header included. */
START_TEST(random_bytes_harm_nobody)
{
	uint64_t i, bytes = pool_bytes(pool);
	int round;

	ordered = false;
	for (round = 0; round < 40; round++) {
		for (i = 0; i < bytes; i += 4) {
			uint32_t word = random_word();

			memcpy(map + i, &word, 4);
		}
		ck_assert_int_ge(pool_drain(pool), 0);
		ck_assert_int_eq(pool_flush(pool), 0);
	}
	ck_assert_int_eq(pool_finish(pool), 0);
}
END_TEST

/* Packets that look right from outside: sound headers, states and sequence, anything in them. */
static void forge_packet(uint32_t index, uint32_t slot, uint64_t seq, uint32_t state)
{
	struct jis_pool_header *h = (void *)map;
	uint8_t *at = map + h->packets_offset + (uint64_t)index * h->packet_size;
	struct jis_packet_header *p = (void *)at;
	uint32_t i, *states = (void *)(map + h->states_offset);

	for (i = 0; i < h->packet_size; i += 4) {
		uint32_t word = random_word() & (random_word() & 1 ? 0x7u : 0xffffffffu);

		memcpy(at + i, &word, 4);
	}
	p->magic = JIS_PACKET_MAGIC;
	memset(p->uuid, 0x5a, 16);
	p->stream_class = slot ? JIS_STREAM_USER : JIS_STREAM_DICT;
	p->stream_instance = slot;
	p->timestamp_begin = random_word() & 3 ? 0 : random_word();
	p->content_size = random_word() & 1 ? h->packet_size * 8 : random_word();
	p->packet_seq = seq;
	__atomic_store_n(&states[index], state | slot << 2, __ATOMIC_RELEASE);
}

START_TEST(forged_packets_harm_nobody)
{
	struct jis_pool_header *h = (void *)map;
	uint32_t i;
	int round;

	ordered = false;
	for (round = 0; round < 400; round++) {
		for (i = 0; i < h->nr_packets; i++)
			forge_packet(i, i < h->dict_packets ? 0 : random_word() % (h->nr_slots + 2),
				     random_word() % 4 + (uint64_t)round, 1 + random_word() % 2);
		ck_assert_int_ge(pool_drain(pool), 0);
		ck_assert_int_eq(pool_flush(pool), 0);
	}
	ck_assert_int_eq(pool_finish(pool), 0);
}
END_TEST

START_TEST(absurd_counters_are_not_believed)
{
	static const uint64_t absurd[] = {1ull << 40, 1ull << 55, 1ull << 63, UINT64_MAX};
	struct jis_ev_lost_records lost = {.type = JIS_EV_marker, .count = 1ull << 62};
	struct jis_pool_header *h = (void *)map;
	struct jis_slot *s = jis_slot_take(&w, 7), *other = jis_slot_take(&w, 8);
	struct pool_counts c;
	uint64_t n;

	h->no_slot[JIS_EV_marker] = 1ull << 50;
	mark(s, 0);
	jis_write(&w, s, JIS_EV_lost_records, &lost, sizeof(lost));
	mark(other, 0);
	other->lost[JIS_EV_marker] = 5; /* more than it says to have produced */
	for (unsigned int i = 0; i < sizeof(absurd) / sizeof(absurd[0]); i++) {
		s->lost[JIS_EV_marker] = s->produced[JIS_EV_marker] = absurd[i];
		pool_counts(pool, 1, &c);
		ck_assert_uint_eq(c.lost[JIS_EV_marker], 0);
		ck_assert_uint_eq(c.produced[JIS_EV_marker], 0);
		ck_assert_int_eq(pool_flush(pool), 0);
	}
	ck_assert_int_eq(pool_no_slot(pool, JIS_EV_marker, &n), -ERANGE);
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(pool_finish(pool), 0);
	pool_counts(pool, 1, &c);
	ck_assert(c.counters_damaged);
	ck_assert_uint_eq(c.lost[JIS_EV_marker], 0);
	ck_assert_uint_eq(c.stored[JIS_EV_marker], 1);
	ck_assert_uint_eq(c.lost[JIS_EV_lost_records], 1); /* the one that told of 2^62 */
	adds_up(1, 1);
	pool_counts(pool, 2, &c);
	ck_assert(c.counters_damaged);
	ck_assert_uint_eq(c.lost[JIS_EV_marker], 0);
	ck_assert_uint_eq(seen[1].discarded, 1);
}
END_TEST

static volatile int scribbling;

static void *scribble(void *arg)
{
	struct jis_pool_header *h = (void *)map;
	uint32_t nr = h->nr_packets;

	while (__atomic_load_n(&scribbling, __ATOMIC_RELAXED)) {
		forge_packet(random_word() % nr, random_word() % 8, random_word() % 1000,
			     1 + random_word() % 2);
		h->nr_packets = h->nr_slots = random_word();
		h->packets_offset = random_word();
		h->packet_size = random_word();
		h->nr_packets = nr;
		h->packets_offset = *(uint64_t *)arg;
		h->packet_size = 4096;
	}
	return NULL;
}

START_TEST(a_scribbling_writer_harms_nobody)
{
	uint64_t offset = ((struct jis_pool_header *)(void *)map)->packets_offset;
	pthread_t t;
	int i;

	ordered = false;
	scribbling = 1;
	pthread_create(&t, NULL, scribble, &offset);
	for (i = 0; i < 3000; i++) {
		ck_assert_int_ge(pool_drain(pool), 0);
		ck_assert_int_eq(pool_flush(pool), 0);
	}
	ck_assert_int_eq(pool_finish(pool), 0);
	scribbling = 0;
	pthread_join(t, NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("jisctl_pool");
	TCase *tc = tcase_create("pool");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, memory_comes_from_whoever_gives_it);
	tcase_add_test(tc, memory_that_is_refused_is_made_here);
	tcase_add_test(tc, layouts_of_all_sizes_are_sound);
	tcase_add_test(tc, records_come_out_once_however_often_one_looks);
	tcase_add_test(tc, a_flush_without_news_stores_nothing);
	tcase_add_test(tc, loss_is_told_and_adds_up);
	tcase_add_test(tc, counts_of_a_killed_writer_are_settled);
	tcase_add_test(tc, a_torn_record_is_not_stored);
	tcase_add_test(tc, dictionary_records_have_their_own_packets);
	tcase_add_test(tc, an_error_of_the_sink_is_loss_not_success);
	tcase_add_test(tc, a_packet_for_which_there_is_no_file_is_lost_and_no_more);
	tcase_add_test(tc, a_racing_reader_sees_whole_records);
#if defined(__x86_64__) || defined(__aarch64__)
	tcase_add_test(tc, a_paused_pool_stays_closed_to_words);
#endif
	tcase_add_test(tc, random_bytes_harm_nobody);
	tcase_add_test(tc, forged_packets_harm_nobody);
	tcase_add_test(tc, absurd_counters_are_not_believed);
	tcase_add_test(tc, a_scribbling_writer_harms_nobody);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
