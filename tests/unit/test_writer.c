/* SPDX-License-Identifier: MIT */
/* writer.h: records, packets, loss, slots, as read back by a reader that shares no code with it. */
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test_writer_pool.h"

START_TEST(refuses_what_is_no_pool)
{
	static const size_t u32s[] = {offsetof(struct jis_pool_header, magic),
				      offsetof(struct jis_pool_header, abi_version),
				      offsetof(struct jis_pool_header, schema_version),
				      offsetof(struct jis_pool_header, clock),
				      offsetof(struct jis_pool_header, nr_slots),
				      offsetof(struct jis_pool_header, slot_size),
				      offsetof(struct jis_pool_header, nr_packets),
				      offsetof(struct jis_pool_header, packet_size),
				      offsetof(struct jis_pool_header, slots_offset),
				      offsetof(struct jis_pool_header, states_offset),
				      offsetof(struct jis_pool_header, packets_offset),
				      offsetof(struct jis_pool_header, dict_packets)};
	__u32 bad = 0xfffffff1u;
	struct jis_writer other;
	unsigned char old[4];
	unsigned int i;

	for (i = 0; i < sizeof(u32s) / sizeof(u32s[0]); i++) {
		memcpy(old, pool + u32s[i], 4);
		memcpy(pool + u32s[i], &bad, 4);
		ck_assert_int_eq(jis_writer_init(&other, pool, POOL_SIZE, 1), -EPROTO);
		ck_assert_int_eq(jis_writer_on(&other, JIS_EV_marker), 0);
		memcpy(pool + u32s[i], old, 4);
	}
	ck_assert_int_eq(jis_writer_init(&other, pool, POOL_SIZE - 1, 1), -EPROTO);
	ck_assert_int_eq(jis_writer_init(&other, pool, 8, 1), -EPROTO);
	pool_header()->base = 5;
	ck_assert_int_eq(jis_writer_init(&other, pool, POOL_SIZE, 1), -EPROTO);
}
END_TEST

START_TEST(records_come_back_as_written)
{
	struct jis_slot *s = jis_slot_take(&w, 100);
	struct jis_ev_marker m;
	int i;

	for (i = 0; i < 50; i++)
		write_marker(s, i);
	pool_read(1);
	ck_assert_uint_eq(nr_seen, 50);
	for (i = 0; i < 50; i++) {
		memcpy(&m, seen[i].payload, sizeof(m));
		ck_assert_int_eq(m.value, i);
		ck_assert_uint_eq(seen[i].owner, 100);
	}
	slot_adds_up(1);
}
END_TEST

START_TEST(masked_events_and_an_off_writer_leave_nothing)
{
	struct jis_slot *s = jis_slot_take(&w, 100);

	pool_header()->event_mask = ~(1ull << JIS_EV_marker);
	write_marker(s, 1);
	pool_header()->event_mask = ~0ull;
	jis_writer_off(&w);
	write_marker(s, 2);
	ck_assert_int_eq(jis_dict_write(&w, JIS_EV_vm_info, "", 0, "x", 1), -ENOENT);
	pool_read(1);
	ck_assert_uint_eq(nr_seen, 0);
	ck_assert_uint_eq(s->produced[JIS_EV_marker], 0);
}
END_TEST

START_TEST(long_gaps_get_the_extended_header_and_time_never_steps_back)
{
	struct jis_slot *s = jis_slot_take(&w, 100);
	__u64 last;

	write_marker(s, 1);
	s->last -= 1u << JIS_TIME_BITS; /* as if the first record were that old */
	write_marker(s, 2);
	last = s->last;
	s->last += 1000000000u; /* as if the clock had stepped back by a second */
	write_marker(s, 3);
	ck_assert_uint_eq(s->last, last + 1000000000u);
	ck_assert_uint_eq(s->position % POOL_PACKET % 4, 0);
	ck_assert_uint_eq(s->position, POOL_PACKETS_AT + POOL_DICT * POOL_PACKET +
					       JIS_PACKET_HEADER_SIZE + 16 + 28 + 16);
}
END_TEST

#if defined(__x86_64__) || defined(__aarch64__)
static struct jis_slot *slot_by_counter(void)
{
	pool_header()->clock = JIS_CLOCK_TSC;
	ck_assert_int_eq(jis_writer_init(&w, pool, POOL_SIZE, 4711), 0);
	return jis_slot_take(&w, 100);
}

#define ALL_WORDS (1ull << JIS_EV_method_enter | 1ull << JIS_EV_method_exit)

START_TEST(words_are_written_where_there_is_room)
{
	struct jis_slot *s = slot_by_counter();
	unsigned int i, fast = 0;
	__u32 word;

	ck_assert_int_eq(jis_write_word(&w, s, JIS_EV_method_enter, 1), 0); /* no packet yet */
	for (i = 0; i < 1000; i++) {
		if (jis_write_word(&w, s, JIS_EV_method_enter, i))
			fast++;
		else
			jis_write(&w, s, JIS_EV_method_enter, &i, sizeof(i));
		jis_words_open(&w, s, ALL_WORDS);
		if (i == 300) /* in the middle of a packet */
			s->words_until -= 1u << JIS_TIME_BITS;
		if (i % 200 == 0)
			pool_read(0);
	}
	pool_read(1);
	ck_assert_uint_eq(nr_seen, 1000);
	for (i = 0; i < nr_seen; i++) {
		memcpy(&word, seen[i].payload, sizeof(word));
		ck_assert_uint_eq(word, i);
		ck_assert(!i || seen[i].time >= seen[i - 1].time);
	}
	ck_assert_uint_eq(s->produced[JIS_EV_method_enter], 1000);
	/* All but the first of each packet, and what comes when the time is up. */
	ck_assert_uint_gt(fast, 500);
	ck_assert_uint_lt(fast, 1000);
	slot_adds_up(1);
}
END_TEST

/* Neither asks the mask again, nor writes where it was masked out when the slot was to be opened.
 */
START_TEST(words_are_written_while_the_slot_is_open_for_them)
{
	struct jis_slot *s = slot_by_counter();
	__u32 one = 1;

	jis_words_open(&w, s, ALL_WORDS); /* no packet yet */
	ck_assert_int_eq(jis_write_word(&w, s, JIS_EV_method_enter, 2), 0);
	jis_write(&w, s, JIS_EV_method_enter, &one, sizeof(one));
	ck_assert_int_eq(jis_write_word(&w, s, JIS_EV_method_enter, 2), 0);
	pool_header()->event_mask = ~(1ull << JIS_EV_method_exit);
	jis_words_open(&w, s, ALL_WORDS);
	ck_assert_int_eq(jis_write_word(&w, s, JIS_EV_method_enter, 2), 0);
	pool_header()->event_mask = ~0ull;
	jis_words_open(&w, s, ALL_WORDS);
	ck_assert_int_eq(jis_write_word(&w, s, JIS_EV_method_enter, 2), 1);
	jis_words_close(s);
	ck_assert_int_eq(jis_write_word(&w, s, JIS_EV_method_enter, 3), 0);
	jis_words_open(&w, s, ALL_WORDS);
	jis_packet_close(&w, s, jis_ticks(&w));
	ck_assert_int_eq(jis_write_word(&w, s, JIS_EV_method_enter, 3), 0);
	jis_write(&w, s, JIS_EV_method_enter, &one, sizeof(one));
	jis_words_open(&w, s, ALL_WORDS);
	jis_writer_off(&w);
	jis_words_close_all(&w);
	ck_assert_int_eq(jis_write_word(&w, s, JIS_EV_method_enter, 3), 0);
	jis_words_open(&w, s, ALL_WORDS); /* by one who has not seen that it is off */
	ck_assert_int_eq(jis_write_word(&w, s, JIS_EV_method_enter, 3), 0);
	pool_read(1);
	ck_assert_uint_eq(nr_seen, 3);
	ck_assert_uint_eq(s->produced[JIS_EV_method_enter], 3);
}
END_TEST

START_TEST(words_that_need_more_leave_nothing)
{
	struct jis_slot *s = slot_by_counter();
	__u32 one = 1;

	jis_write(&w, s, JIS_EV_method_enter, &one, sizeof(one));
	jis_words_open(&w, s, ALL_WORDS);
	pool_header()->event_mask = ~(1ull << JIS_EV_method_enter);
	ck_assert_int_eq(jis_writer_on_fast(&w, JIS_EV_method_enter), 0);
	ck_assert_int_eq(jis_writer_on_fast(&w, JIS_EV_method_exit), 1);
	pool_header()->event_mask = ~0ull;
	s->words_until -= 1u << JIS_TIME_BITS;
	ck_assert_int_eq(jis_write_word(&w, s, JIS_EV_method_enter, 4), 0);
	jis_writer_off(&w);
	ck_assert_int_eq(jis_writer_on_fast(&w, JIS_EV_method_enter), 0);
	ck_assert_int_eq(jis_writer_on_fast(&w, JIS_EV_method_exit), 0);
	pool_read(1);
	ck_assert_uint_eq(nr_seen, 1);
	ck_assert_uint_eq(s->produced[JIS_EV_method_enter], 1);
}
END_TEST
#endif

START_TEST(packets_follow_each_other)
{
	struct jis_slot *s = jis_slot_take(&w, 100);
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		write_marker(s, i);
		if (i % 200 == 0)
			pool_read(0);
	}
	pool_read(1);
	ck_assert_uint_eq(nr_seen, 1000);
	ck_assert_uint_eq(s->lost_total, 0);
	for (i = 1; i < nr_seen; i++) {
		ck_assert_uint_ge(seen[i].time, seen[i - 1].time);
		ck_assert_uint_le(seen[i].packet_seq - seen[i - 1].packet_seq, 1);
	}
	slot_adds_up(1);
}
END_TEST

START_TEST(a_full_pool_drops_the_newest_and_says_so)
{
	struct jis_slot *s = jis_slot_take(&w, 100);
	unsigned int i, before;
	struct jis_ev_lost_records lost;

	for (i = 0; i < 5000; i++)
		write_marker(s, i);
	ck_assert_uint_gt(s->lost[JIS_EV_marker], 0);
	ck_assert_uint_eq(s->lost_total, s->lost[JIS_EV_marker]);
	pool_read(0);
	before = nr_seen;
	ck_assert_uint_eq(before + s->lost_total, 5000);
	while (jis_ticks(&w) - s->lost_last < JIS_WRITER_RETRY_AFTER)
		;
	write_marker(s, 5000);
	pool_read(1);
	ck_assert_uint_eq(nr_seen, before + 2);
	ck_assert_uint_eq(seen[before].id, JIS_EV_lost_records);
	memcpy(&lost, seen[before].payload, sizeof(lost));
	ck_assert_uint_eq(lost.type, JIS_EV_marker);
	ck_assert_uint_eq(lost.count, s->lost_total);
	ck_assert_uint_ge(lost.first, seen[before - 1].time);
	ck_assert_uint_le(lost.last, seen[before].time);
	ck_assert_uint_le(lost.first, lost.last);
	slot_adds_up(1);
}
END_TEST

START_TEST(a_nested_write_is_dropped_and_counted)
{
	struct jis_slot *s = jis_slot_take(&w, 100);

	write_marker(s, 1);
	s->busy = 1;
	write_marker(s, 2);
	s->busy = 0;
	write_marker(s, 3);
	pool_read(1);
	ck_assert_uint_eq(count_seen(JIS_EV_marker), 2);
	ck_assert_uint_eq(s->lost[JIS_EV_marker], 1);
	slot_adds_up(1);
}
END_TEST

START_TEST(a_slot_is_handed_over_with_its_packet)
{
	struct jis_slot *a = jis_slot_take(&w, 100), *b;

	write_marker(a, 1);
	jis_slot_give(&w, a);
	b = jis_slot_take(&w, 200);
	ck_assert_ptr_eq(a, b);
	write_marker(b, 2);
	jis_slot_give(&w, b);
	b = jis_slot_take(&w, 200); /* the same thread again: nothing to say */
	write_marker(b, 3);
	pool_read(1);
	ck_assert_uint_eq(nr_seen, 4);
	ck_assert_uint_eq(seen[0].owner, 100);
	ck_assert_uint_eq(seen[1].id, JIS_EV_thread_bind);
	ck_assert_uint_eq(seen[2].owner, 200);
	ck_assert_uint_eq(seen[3].owner, 200);
	ck_assert_uint_eq(seen[3].packet_seq, seen[0].packet_seq);
	slot_adds_up(1);
}
END_TEST

START_TEST(a_packet_too_full_for_a_bind_is_closed)
{
	struct jis_slot *s = jis_slot_take(&w, 100);

	while (s->end - s->position >= 20 || !s->position)
		write_marker(s, 1);
	jis_slot_give(&w, s);
	ck_assert_ptr_eq(jis_slot_take(&w, 200), s);
	write_marker(s, 2);
	pool_read(1);
	ck_assert_uint_eq(count_seen(JIS_EV_thread_bind), 0);
	ck_assert_uint_eq(seen[nr_seen - 1].owner, 200);
	ck_assert_uint_eq(seen[nr_seen - 2].owner, 100);
	slot_adds_up(1);
}
END_TEST

START_TEST(without_a_slot_records_are_counted)
{
	struct jis_slot *s[POOL_SLOTS];
	__u32 i;

	for (i = 1; i < POOL_SLOTS; i++) {
		s[i] = jis_slot_take(&w, 100 + i);
		ck_assert_ptr_nonnull(s[i]);
	}
	for (i = 0; i < 3; i++) {
		ck_assert_ptr_null(jis_slot_take(&w, 200));
		jis_slot_missing(&w, JIS_EV_marker);
	}
	ck_assert_uint_eq(pool_header()->no_slot[JIS_EV_marker], 3);
	jis_slot_give(&w, s[3]);
	ck_assert_ptr_eq(jis_slot_take(&w, 200), s[3]);
}
END_TEST

/* Threads and signals ------------------------------------------------------------------------ */

#define THREADS 4
#define ROUNDS 300
#define PER_ROUND 20

static void *take_write_give(void *arg)
{
	__u32 tid = (__u32)syscall(SYS_gettid);
	struct jis_slot *s;
	int i, k;

	for (i = 0; i < ROUNDS; i++) {
		do
			s = jis_slot_take(&w, tid);
		while (!s);
		for (k = 0; k < PER_ROUND; k++)
			write_marker(s, k);
		jis_slot_give(&w, s);
	}
	return NULL;
}

START_TEST(threads_share_slots_and_packets)
{
	__u64 lost = 0, records = THREADS * ROUNDS * PER_ROUND;
	pthread_t threads[THREADS];
	unsigned int i;

	for (i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, take_write_give, NULL), 0);
	for (i = 0; i < 2000; i++)
		pool_read(0);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pool_read(1);
	for (i = 1; i < POOL_SLOTS; i++) {
		slot_adds_up(i);
		lost += w.slots[i].lost[JIS_EV_marker];
		ck_assert_uint_eq(w.slots[i].owner, 0);
	}
	ck_assert_uint_eq(count_seen(JIS_EV_marker) + lost, records);
}
END_TEST

static struct jis_slot *signal_slot;
static volatile sig_atomic_t signals;

static void on_signal(int sig)
{
	signals++;
	write_marker(signal_slot, -1);
}

/* What the kernel would read for @tid: the entry by the rules of abi.h, found by our own search. */
static const struct jis_thread_words *words_found(__u32 tid)
{
	const struct jis_thread_words *table = (const void *)(pool + POOL_WORDS_AT);
	__u32 at = (__u32)(tid * 0x9e3779b1u) >> 16, i;

	for (i = 0; i < 16; i++)
		if (table[(at + i) % POOL_WORDS].tid == tid)
			return &table[(at + i) % POOL_WORDS];
	return NULL;
}

START_TEST(words_are_where_the_kernel_looks)
{
	static __u32 vm[40], os[40];
	__u32 tid;

	for (tid = 1; tid <= 8; tid++)
		ck_assert_int_eq(jis_words_set(&w, tid, &vm[tid], &os[tid]), 0);
	for (tid = 1; tid <= 8; tid++) {
		ck_assert_ptr_nonnull(words_found(tid));
		ck_assert_uint_eq(words_found(tid)->vm_state, (__u64)(uintptr_t)&vm[tid]);
		ck_assert_uint_eq(words_found(tid)->os_state, (__u64)(uintptr_t)&os[tid]);
	}
	/* again: in place of the old ones, and not beside them */
	ck_assert_int_eq(jis_words_set(&w, 3, &vm[30], NULL), 0);
	ck_assert_uint_eq(words_found(3)->vm_state, (__u64)(uintptr_t)&vm[30]);
	ck_assert_uint_eq(words_found(3)->os_state, 0);
	ck_assert_int_eq(jis_words_clear(&w, 3), 0);
	ck_assert_ptr_null(words_found(3));
	ck_assert_int_eq(jis_words_clear(&w, 3), -ENOENT);
	ck_assert_ptr_nonnull(words_found(4));
}
END_TEST

START_TEST(words_without_room_are_refused)
{
	static __u32 word;
	__u32 tid, set = 0, first_refused = 0;

	ck_assert_int_eq(jis_words_set(&w, 0, &word, &word), -EINVAL);
	ck_assert_int_eq(jis_words_set(&w, JIS_WORDS_BUSY, &word, &word), -EINVAL);
	for (tid = 1; tid <= 1000; tid++) {
		int err = jis_words_set(&w, tid, &word, NULL);

		ck_assert(err == 0 || err == -ENOSPC);
		set += !err;
		first_refused = err && !first_refused ? tid : first_refused;
	}
	ck_assert_uint_eq(set, POOL_WORDS); /* each entry is in some thread's window */
	for (tid = 1; tid <= 1000; tid++)
		if (words_found(tid))
			ck_assert_int_eq(jis_words_clear(&w, tid), 0);
	ck_assert_int_eq(jis_words_set(&w, first_refused, &word, NULL), 0);
	jis_writer_off(&w);
	ck_assert_int_eq(jis_words_set(&w, 5, &word, NULL), -ENOENT);
	ck_assert_int_eq(jis_words_clear(&w, first_refused), -ENOENT);
}
END_TEST

START_TEST(a_bad_table_of_words_is_no_pool)
{
	struct jis_pool_header *h = pool_header();

	h->nr_words = 24;
	ck_assert_int_eq(jis_writer_init(&w, pool, POOL_SIZE, 1), -EPROTO);
	h->nr_words = 1u << 20;
	ck_assert_int_eq(jis_writer_init(&w, pool, POOL_SIZE, 1), -EPROTO);
	h->nr_words = POOL_WORDS;
	h->words_offset = POOL_WORDS_AT + 4;
	ck_assert_int_eq(jis_writer_init(&w, pool, POOL_SIZE, 1), -EPROTO);
	h->words_offset = POOL_SIZE - 64;
	ck_assert_int_eq(jis_writer_init(&w, pool, POOL_SIZE, 1), -EPROTO);
	h->words_offset = ~0ull - 63;
	ck_assert_int_eq(jis_writer_init(&w, pool, POOL_SIZE, 1), -EPROTO);
	h->nr_words = 0;
	ck_assert_int_eq(jis_writer_init(&w, pool, POOL_SIZE, 1), 0);
	ck_assert_int_eq(jis_words_set(&w, 5, &h->nr_words, NULL), -ENOENT);
}
END_TEST

START_TEST(signal_handlers_may_write)
{
	struct sigaction sa = {.sa_handler = on_signal};
	struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
	struct itimerspec each = {{0, 20000}, {0, 20000}};
	timer_t timer;
	sigset_t alarm;
	__s64 written = 0;

	signal_slot = jis_slot_take(&w, 100);
	sigaction(SIGALRM, &sa, NULL);
	ck_assert_int_eq(timer_create(CLOCK_MONOTONIC, &ev, &timer), 0);
	timer_settime(timer, 0, &each, NULL);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	while (signals < 500) {
		write_marker(signal_slot, written++);
		if (nr_seen > SEEN_MAX / 2 || written % 100)
			continue;
		sigprocmask(SIG_BLOCK, &alarm, NULL);
		pool_read(0);
		sigprocmask(SIG_UNBLOCK, &alarm, NULL);
	}
	timer_delete(timer);
	pool_read(1);
	ck_assert_uint_eq(signal_slot->produced[JIS_EV_marker], (__u64)written + (__u64)signals);
	slot_adds_up(1);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("writer");

	tcase_add_checked_fixture(tc, pool_make, pool_free);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, refuses_what_is_no_pool);
	tcase_add_test(tc, records_come_back_as_written);
	tcase_add_test(tc, masked_events_and_an_off_writer_leave_nothing);
	tcase_add_test(tc, long_gaps_get_the_extended_header_and_time_never_steps_back);
#if defined(__x86_64__) || defined(__aarch64__)
	tcase_add_test(tc, words_are_written_where_there_is_room);
	tcase_add_test(tc, words_are_written_while_the_slot_is_open_for_them);
	tcase_add_test(tc, words_that_need_more_leave_nothing);
#endif
	tcase_add_test(tc, packets_follow_each_other);
	tcase_add_test(tc, a_full_pool_drops_the_newest_and_says_so);
	tcase_add_test(tc, a_nested_write_is_dropped_and_counted);
	tcase_add_test(tc, a_slot_is_handed_over_with_its_packet);
	tcase_add_test(tc, a_packet_too_full_for_a_bind_is_closed);
	tcase_add_test(tc, without_a_slot_records_are_counted);
	tcase_add_test(tc, threads_share_slots_and_packets);
	tcase_add_test(tc, signal_handlers_may_write);
	tcase_add_test(tc, words_are_where_the_kernel_looks);
	tcase_add_test(tc, words_without_room_are_refused);
	tcase_add_test(tc, a_bad_table_of_words_is_no_pool);
	return run_tcase("writer", tc);
}
