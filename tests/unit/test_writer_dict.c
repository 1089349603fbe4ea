/* SPDX-License-Identifier: MIT */
/* writer.h: the dictionary stream and its strings. */
#include "test_writer_pool.h"

static const char *text_of(const struct seen *s, size_t fixed)
{
	return (const char *)s->payload + fixed + 4;
}

static int name_put(__u32 id, const char *text, size_t length)
{
	return jis_dict_write(&w, JIS_EV_string_def, &id, sizeof(id), text, length);
}

START_TEST(strings_are_padded_with_nul)
{
	static const char *const texts[] = {"", "a", "abc", "abcd", "abcdefg"};
	static const __u32 lengths[] = {4, 4, 4, 8, 8};
	__u32 length;
	unsigned int i;

	for (i = 0; i < 5; i++)
		ck_assert_int_eq(name_put(i, texts[i], strlen(texts[i])), 0);
	pool_read(1);
	ck_assert_uint_eq(nr_seen, 5);
	for (i = 0; i < 5; i++) {
		memcpy(&length, seen[i].payload + 4, 4);
		ck_assert_uint_eq(length, lengths[i]);
		ck_assert_str_eq(text_of(&seen[i], 4), texts[i]);
		ck_assert_uint_eq(seen[i].slot, JIS_POOL_DICT_SLOT);
		ck_assert_uint_eq(seen[i].owner, 4711);
	}
	slot_adds_up(0);
}
END_TEST

START_TEST(long_strings_are_cut_between_characters)
{
	char text[3000], want[JIS_STRING_MAX];
	unsigned int i;

	memset(text, 'x', sizeof(text));
	ck_assert_int_eq(name_put(1, text, JIS_STRING_MAX - 1), 0);
	ck_assert_int_eq(name_put(2, text, JIS_STRING_MAX), 0);
	for (i = 0; i < 1000; i++)
		memcpy(text + 3 * i, "\xe2\x82\xac", 3);
	ck_assert_int_eq(name_put(3, text + 3, 2997), 0); /* 1020 is a boundary */
	ck_assert_int_eq(name_put(4, text + 1, 2999), 0); /* it is not */
	pool_read(1);
	ck_assert_uint_eq(strlen(text_of(&seen[0], 4)), JIS_STRING_MAX - 1);
	ck_assert_uint_eq(strlen(text_of(&seen[1], 4)), JIS_STRING_MAX - 1);
	ck_assert_str_eq(text_of(&seen[1], 4) + JIS_STRING_MAX - 4, "...");
	memcpy(want, text, 1020);
	memcpy(want + 1020, "...", 4);
	ck_assert_str_eq(text_of(&seen[2], 4), want);
	memcpy(want, text + 1, 1019);
	i = 1019;
	while ((want[i - 1] & 0xc0) == 0x80 && i > 1017 + 2)
		i--;
	ck_assert_str_eq(text_of(&seen[3], 4) + strlen(text_of(&seen[3], 4)) - 3, "...");
	ck_assert_uint_le(strlen(text_of(&seen[3], 4)), JIS_STRING_MAX - 1);
}
END_TEST

START_TEST(records_without_a_string_have_none)
{
	struct jis_ev_java_thread_end end = {7, 8};

	ck_assert_int_eq(jis_dict_write(&w, JIS_EV_java_thread_end, &end, sizeof(end), NULL, 0), 0);
	pool_read(1);
	ck_assert_uint_eq(nr_seen, 1);
	ck_assert_uint_eq(seen[0].size, sizeof(end));
	ck_assert_mem_eq(seen[0].payload, &end, sizeof(end));
}
END_TEST

/* The dictionary has its own packets: a pool full of events does not hurt it, and the reverse. */
START_TEST(dictionary_and_events_do_not_take_each_others_packets)
{
	struct jis_slot *s = jis_slot_take(&w, 100);
	char text[1000];
	unsigned int i;

	while (!s->lost_total)
		write_marker(s, 1);
	memset(text, 'y', sizeof(text));
	for (i = 0; i < 6; i++)
		ck_assert_int_eq(name_put(i, text, sizeof(text)), 0);
	pool_read(1);
	ck_assert_uint_eq(count_seen(JIS_EV_string_def), 6);
	slot_adds_up(0);
	slot_adds_up(1);
}
END_TEST

START_TEST(a_full_dictionary_waits_once_then_counts_loss)
{
	char text[1000] = "z";
	__u64 before = jis_ticks(&w), waited;
	__u32 i = 0;

	while (name_put(i, text, sizeof(text)) == 0)
		i++;
	waited = jis_ticks(&w) - before;
	ck_assert_uint_ge(waited, JIS_DICT_WAIT_MS * 1000000ull);
	before = jis_ticks(&w);
	ck_assert_int_eq(name_put(i, text, sizeof(text)), -ENOBUFS);
	ck_assert_uint_lt(jis_ticks(&w) - before, JIS_DICT_WAIT_MS * 1000000ull);
	ck_assert_uint_eq(w.slots[0].lost[JIS_EV_string_def], 2);
	pool_read(0);
	ck_assert_int_eq(name_put(i, text, sizeof(text)), 0);
	pool_read(1);
	ck_assert_uint_eq(count_seen(JIS_EV_lost_records), 1);
	slot_adds_up(0);
}
END_TEST

/* Who asks before never waits in the write itself, whatever the length, and loses nothing. */
START_TEST(a_dictionary_with_room_does_not_wait)
{
	char text[1000] = "z";
	__u32 i = 0;

	while (jis_dict_ready(&w, sizeof(i) + (i * 37) % sizeof(text)) == 0) {
		ck_assert_int_eq(name_put(i, text, (i * 37) % sizeof(text)), 0);
		i++;
	}
	ck_assert_uint_gt(i, 8);
	ck_assert_int_eq(jis_dict_ready(&w, sizeof(text)), -EAGAIN);
	ck_assert_uint_eq(w.slots[0].lost[JIS_EV_string_def], 0);
	pool_read(0);
	ck_assert_int_eq(jis_dict_ready(&w, sizeof(text)), 0);
	ck_assert_int_eq(name_put(i++, text, sizeof(text)), 0);
	ck_assert_uint_eq(w.dict_full, 0); /* no write has waited */
	pool_read(1);
	ck_assert_uint_eq(count_seen(JIS_EV_string_def), i);
	slot_adds_up(0);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("dictionary");

	tcase_add_checked_fixture(tc, pool_make, pool_free);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, strings_are_padded_with_nul);
	tcase_add_test(tc, long_strings_are_cut_between_characters);
	tcase_add_test(tc, records_without_a_string_have_none);
	tcase_add_test(tc, dictionary_and_events_do_not_take_each_others_packets);
	tcase_add_test(tc, a_dictionary_with_room_does_not_wait);
	tcase_add_test(tc, a_full_dictionary_waits_once_then_counts_loss);
	return run_tcase("writer dictionary", tc);
}
