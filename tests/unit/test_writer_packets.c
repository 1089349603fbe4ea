/* SPDX-License-Identifier: MIT */
/* Which packets a writer takes, and how often it looks for one where there is none. */
#define POOL_PACKETS 402u
#include "test_writer_pool.h"

#define EVENT_PACKETS (POOL_PACKETS - POOL_DICT)
#define RECORDS_A_PACKET                                                                           \
	((POOL_PACKET - JIS_PACKET_HEADER_SIZE) / (4 + sizeof(struct jis_ev_marker)))

static void write_records(struct jis_slot *s, unsigned int n)
{
	struct jis_ev_marker marker = {0};

	while (n--)
		jis_write(&w, s, JIS_EV_marker, &marker, sizeof(marker));
}

/* Frees what is full, as the recorder does. */
static void drain(void)
{
	__u32 i;

	for (i = 0; i < POOL_PACKETS; i++) {
		if (JIS_PACKET_STATE(w.states[i]) != JIS_PACKET_FULL)
			continue;
		memset(pool + POOL_PACKETS_AT + i * POOL_PACKET, 0, POOL_PACKET);
		w.states[i] = JIS_PACKET_FREE;
	}
}

/* What is written between two drains, twice, and the packet that is open. */
#define WORKING_SET (2 * 4 + 1)

/* Fills @n packets, four between two drains; how many different ones of the last @watched it took.
 */
static unsigned int packets_used(struct jis_slot *s, unsigned int n, unsigned int watched)
{
	unsigned char used[POOL_PACKETS] = {0};
	unsigned int i, different = 0;

	for (i = 0; i < n; i++) {
		write_records(s, RECORDS_A_PACKET);
		if (i + watched >= n)
			different += !used[s->packet]++;
		if (i % 4 == 3)
			drain();
	}
	ck_assert_uint_eq(s->lost_total, 0);
	return different;
}

START_TEST(packets_read_are_used_again_first)
{
	struct jis_slot *s = jis_slot_take(&w, 100);

	ck_assert_uint_le(packets_used(s, 4 * EVENT_PACKETS, 4 * EVENT_PACKETS), WORKING_SET);
}
END_TEST

/* Threads that write nothing any more hold the first packets, each apart. */
START_TEST(packets_held_for_long_are_passed_by)
{
	struct jis_slot *s = jis_slot_take(&w, 100), *idle[3];
	unsigned int i;

	for (i = 0; i < 3; i++) {
		idle[i] = jis_slot_take(&w, 200 + i);
		write_records(idle[i], 1);
	}
	packets_used(s, EVENT_PACKETS, 1);
	ck_assert_uint_le(packets_used(s, EVENT_PACKETS, EVENT_PACKETS), WORKING_SET);
	for (i = 0; i < 3; i++)
		ck_assert_uint_eq(w.states[idle[i]->packet] & 3, JIS_PACKET_OPEN);
}
END_TEST

START_TEST(each_packet_is_used_before_any_record_is_lost)
{
	struct jis_slot *s = jis_slot_take(&w, 100), *idle = jis_slot_take(&w, 200);

	write_records(idle, 1);
	packets_used(s, 7, 1); /* begins somewhere in the middle */
	drain();
	write_records(s, (unsigned int)(RECORDS_A_PACKET * EVENT_PACKETS));
	ck_assert_uint_gt(s->lost_total, 0);
	ck_assert_uint_le(s->lost_total, 2 * RECORDS_A_PACKET);
}
END_TEST

/* Each slot that was used has a packet: threads that come and go must not use them all. */
START_TEST(slots_given_back_are_used_again_first)
{
	struct jis_slot *s[POOL_SLOTS - 1], *latest;
	unsigned int i, k;

	for (i = 0; i < 1000; i++) {
		for (k = 0; k < 2 + i % 2; k++)
			s[k] = jis_slot_take(&w, 100 + k);
		latest = s[--k];
		ck_assert_uint_le(jis_slot_number(&w, latest), 3);
		/* in either order */
		jis_slot_give(&w, i % 3 ? s[0] : s[1]);
		jis_slot_give(&w, i % 3 ? s[1] : s[0]);
		if (k == 2)
			jis_slot_give(&w, latest);
	}
}
END_TEST

static struct jis_slot *in_a_full_pool(void)
{
	struct jis_slot *s = jis_slot_take(&w, 100);

	while (!s->lost_total)
		write_records(s, 1);
	return s;
}

START_TEST(who_loses_many_soon_looks_again)
{
	struct jis_slot *s = in_a_full_pool();
	__u64 lost = s->lost_total;

	drain();
	write_records(s, 2 * JIS_WRITER_RETRY_EACH);
	ck_assert_uint_lt(s->lost_total - lost, JIS_WRITER_RETRY_EACH);
	ck_assert_uint_ne(s->position, 0);
}
END_TEST

START_TEST(who_loses_few_looks_each_time)
{
	struct jis_slot *s = in_a_full_pool();
	__u64 lost;

	write_records(s, 1);
	lost = s->lost_total;
	ck_assert_uint_ne(lost % JIS_WRITER_RETRY_EACH, 0);
	drain();
	while (jis_ticks(&w) - s->lost_last < JIS_WRITER_RETRY_AFTER)
		;
	write_records(s, 1);
	ck_assert_uint_eq(s->lost_total, lost);
	ck_assert_uint_ne(s->position, 0);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("packets");

	tcase_add_checked_fixture(tc, pool_make, pool_free);
	tcase_add_test(tc, packets_read_are_used_again_first);
	tcase_add_test(tc, packets_held_for_long_are_passed_by);
	tcase_add_test(tc, each_packet_is_used_before_any_record_is_lost);
	tcase_add_test(tc, slots_given_back_are_used_again_first);
	tcase_add_test(tc, who_loses_many_soon_looks_again);
	tcase_add_test(tc, who_loses_few_looks_each_time);
	return run_tcase("writer packets", tc);
}
