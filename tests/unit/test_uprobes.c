/* SPDX-License-Identifier: MIT */
/* Hits are read from a ring as the kernel writes it: round its end, with losses, and strange ones.
 */
#include <check.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libjisctl/uprobes.h"

#define PAGE 4096u
#define RING (256u << 10) /* as the reader maps it */
#define HITS_MAX 16384

static struct uprobes probes;
static struct perf_event_mmap_page *page;
static struct uprobe_hit hits[HITS_MAX];
static unsigned int nr_hits, lost_before; /* lost_before: hits when a loss was told */
static uint64_t lost;

static void setup(void)
{
	page = calloc(1, PAGE + RING);
	ck_assert_ptr_nonnull(page);
	probes = (struct uprobes){
		.ids = {70, 71}, .nr = 2, .reg = 0, .map = page, .map_bytes = PAGE + RING};
	nr_hits = 0;
	lost = 0;
}

static void teardown(void)
{
	free(page);
}

static void on_hit(void *ctx, const struct uprobe_hit *hit)
{
	ck_assert_uint_lt(nr_hits, HITS_MAX);
	hits[nr_hits++] = *hit;
}

static void on_lost(void *ctx, uint64_t n)
{
	lost += n;
	lost_before = nr_hits;
}

static void take(void)
{
	uprobes_read(&probes, on_hit, on_lost, NULL);
	ck_assert_uint_eq(page->data_tail, page->data_head);
	ck_assert(!uprobes_any(&probes));
}

static void put(const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((uint8_t *)page)[PAGE + (page->data_head + i) % RING] =
			((const uint8_t *)bytes)[i];
	page->data_head += n;
}

/* A record of @n words behind its header; @size: what it says itself. */
static void put_record(uint32_t type, const uint64_t *words, size_t n, size_t size)
{
	struct perf_event_header h = {.type = type, .size = (uint16_t)size};

	put(&h, sizeof(h));
	put(words, n * sizeof(*words));
}

static void put_hit(uint64_t id, uint64_t time, uint64_t value)
{
	uint64_t words[] = {id, 0x4000 + id, time, PERF_SAMPLE_REGS_ABI_64, value};

	put_record(PERF_RECORD_SAMPLE, words, 5, 48);
}

START_TEST(hits_come_in_order_round_the_end)
{
	uint64_t t = 0;

	/* The ring's size is no multiple of a hit's, so that they lie across its end everywhere. */
	for (unsigned int round = 0; round < 100; round++) {
		nr_hits = 0;
		for (unsigned int i = 0; i < 5000; i++, t++)
			put_hit(70 + t % 2, t, ~t);
		ck_assert(uprobes_any(&probes));
		take();
		ck_assert_uint_eq(nr_hits, 5000);
		for (unsigned int i = 0; i < 5000; i++) {
			ck_assert_uint_eq(hits[i].time, t - 5000 + i);
			ck_assert_uint_eq(hits[i].value, ~hits[i].time);
			ck_assert_uint_eq(hits[i].probe, hits[i].time % 2);
			ck_assert_uint_eq(hits[i].address, 0x4046 + hits[i].probe);
		}
	}
}
END_TEST

START_TEST(losses_are_told_where_they_are)
{
	uint64_t words[] = {71, 12};

	put_hit(70, 1, 0);
	put_record(PERF_RECORD_LOST, words, 2, 24);
	put_hit(70, 2, 0);
	take();
	ck_assert_uint_eq(nr_hits, 2);
	ck_assert_uint_eq(lost, 12);
	ck_assert_uint_eq(lost_before, 1);
}
END_TEST

START_TEST(others_are_passed_over)
{
	uint64_t words[6] = {70, 0x9000, 5, PERF_SAMPLE_REGS_ABI_NONE};

	put_hit(99, 1, 0); /* no probe of ours */
	put_record(PERF_RECORD_THROTTLE, words, 3, 32);
	put_record(PERF_RECORD_SAMPLE, words, 2, 24); /* cut short */
	put_record(PERF_RECORD_SAMPLE, words, 4, 40); /* without registers */
	put_record(PERF_RECORD_LOST, words, 1, 16);
	take();
	ck_assert_uint_eq(nr_hits, 1);
	ck_assert_uint_eq(hits[0].address, 0x9000);
	ck_assert_uint_eq(hits[0].value, 0);
	ck_assert_uint_eq(lost, 0);
}
END_TEST

START_TEST(sizes_that_cannot_be_end_the_reading)
{
	uint64_t words[1] = {0};

	put_hit(70, 1, 2);
	put_record(PERF_RECORD_SAMPLE, words, 1, 4);
	take();
	ck_assert_uint_eq(nr_hits, 1);
	put_record(PERF_RECORD_SAMPLE, words, 1, 65535);
	take();
	ck_assert_uint_eq(nr_hits, 1);
	put_hit(71, 3, 4);
	take();
	ck_assert_uint_eq(nr_hits, 2);
}
END_TEST

START_TEST(registers_have_numbers)
{
#if defined(__x86_64__)
	ck_assert_int_eq(uprobes_register("%rax", 4), 0);
	ck_assert_int_ne(uprobes_register("%r12", 4), uprobes_register("%r13", 4));
	ck_assert_int_eq(uprobes_register("%r12x", 4), uprobes_register("%r12", 4));
#endif
	ck_assert_int_eq(uprobes_register("-8(%rbp)", 8), UPROBES_NO_REGISTER);
	ck_assert_int_eq(uprobes_register("$1", 2), UPROBES_NO_REGISTER);
	ck_assert_int_eq(uprobes_register("", 0), UPROBES_NO_REGISTER);
}
END_TEST

START_TEST(one_can_be_set_here_or_it_is_said_why_not)
{
	char why[200] = "?";
	int err = uprobes_try(why, sizeof(why));

	ck_assert_msg((err == 0) == (why[0] == 0), "%d: %s", err, why);
	if (geteuid() != 0)
		ck_assert_int_ne(err, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("uprobes");
	TCase *t = tcase_create("uprobes");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, hits_come_in_order_round_the_end);
	tcase_add_test(t, losses_are_told_where_they_are);
	tcase_add_test(t, others_are_passed_over);
	tcase_add_test(t, sizes_that_cannot_be_end_the_reading);
	tcase_add_test(t, registers_have_numbers);
	tcase_add_test(t, one_can_be_set_here_or_it_is_said_why_not);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
