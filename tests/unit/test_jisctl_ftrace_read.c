/* SPDX-License-Identifier: MIT */
/*
 * ftrace: what a round takes out of a ring whose writer goes on writing. Pipes are the rings: one
 * that keeps packets apart gives a page each read, as trace_pipe_raw does.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "libjisctl/ftrace.h"

#define PAGE 4096u
#define HEAD 16u
#define HOUR 3600000000000ull
#define RINGS 2u
#define ROOM (128u * PAGE)

static struct backend *b;
static int writers[RINGS];

static void set_up(void)
{
	b = calloc(1, sizeof(*b));
	ck_assert_ptr_nonnull(b);
	b->config.clock = JIS_CLOCK_RAW;
	b->config.base = 1000;
	b->formats.page = (struct ftrace_page_format){.page_size = PAGE,
						      .data_offset = HEAD,
						      .commit_offset = 8,
						      .commit_size = 8};
	b->nr_cpus = b->nr_rings = RINGS;
	b->rings = calloc(RINGS, sizeof(*b->rings));
	b->sources = calloc(RINGS, sizeof(*b->sources));
	b->tasks = ft_tasks_new();
	ck_assert(b->rings && b->sources && b->tasks);
	for (uint32_t i = 0; i < RINGS; i++) {
		int ends[2];

		ck_assert_int_eq(pipe2(ends, O_DIRECT | O_NONBLOCK | O_CLOEXEC), 0);
		ck_assert_int_ge(fcntl(ends[1], F_SETPIPE_SZ, ROOM), (int)ROOM);
		b->rings[i].raw_fd = ends[0];
		b->rings[i].stats_fd = -1;
		writers[i] = ends[1];
	}
	b->epoll = -1;
}

static void tear_down(void)
{
	for (uint32_t i = 0; i < RINGS; i++)
		close(writers[i]);
	ft_rings_close(b);
	ft_tasks_free(b->tasks);
	free(b);
}

/* The ring's writer: a page of @nr records of 4 bytes, @apart ticks from each other; @time: of the
 * first, rebased. */
static void put_page(uint32_t ring, uint64_t time, uint32_t nr, uint32_t apart)
{
	uint64_t commit = nr * 8ull, raw = time + b->config.base;
	uint8_t page[PAGE] = {0};

	memcpy(page, &raw, 8);
	memcpy(page + 8, &commit, 8);
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t word = 1u | (i ? apart : 0) << 5;

		memcpy(page + HEAD + i * 8ull, &word, 4);
	}
	ck_assert_int_eq(write(writers[ring], page, PAGE), PAGE);
}

/* Pages that nobody has read. */
static uint32_t left(uint32_t ring)
{
	int bytes;

	ck_assert_int_eq(ioctl(b->rings[ring].raw_fd, FIONREAD, &bytes), 0);
	return (uint32_t)bytes / PAGE;
}

/* The writer has a record for each read, and more: without end, as far as the reader can tell. */
START_TEST(a_round_reads_what_was_there_when_it_began)
{
	uint64_t now = ft_now(b);
	uint32_t i;

	for (i = 0; i < 3; i++)
		put_page(0, now - 100 + i * 10, 5, 1);
	for (i = 0; i < 100; i++)
		put_page(0, now + HOUR + i, 1, 0);
	put_page(1, now - 50, 1, 0);
	ck_assert_int_eq(ft_round(b, false), 0);
	ck_assert_uint_eq(left(0), 99);
	ck_assert_uint_eq(left(1), 0);
	ck_assert(!b->rings[0].limited);
	/* All that was there is converted; the cursors stand on what came then. */
	ck_assert_uint_eq(b->rings[0].last, now - 100 + 24);
	ck_assert_uint_eq(b->rings[1].last, now - 50);
	ck_assert_uint_eq(b->rings[0].records, 16);
	ck_assert_uint_eq(b->rings[0].page.time, now + HOUR + b->config.base);

	for (i = 0; i < 5; i++) /* one is read a round, to see that no other is older */
		ck_assert_int_eq(ft_round(b, false), 0);
	ck_assert_uint_eq(left(0), 94);
	ck_assert_uint_eq(b->rings[0].records, 16);
}
END_TEST

/* What begins before the round and ends after it has nothing to say of the page behind it: its
 * head may have the time of the record before. */
START_TEST(a_page_in_the_midst_of_which_the_round_began_is_not_the_last)
{
	uint64_t now = ft_now(b);

	put_page(0, now, 500, (1u << 27) - 1); /* a minute */
	put_page(0, now, 1, 0);
	put_page(0, now + HOUR, 1, 0);
	put_page(0, now + HOUR, 1, 0);
	ck_assert_int_eq(ft_round(b, false), 0);
	ck_assert_uint_eq(left(0), 1);
	ck_assert_uint_ge(b->rings[0].last, now);
	ck_assert_uint_lt(b->rings[0].last, now + HOUR);
}
END_TEST

START_TEST(a_page_that_makes_no_sense_is_not_the_last)
{
	uint64_t now = ft_now(b), bad[2] = {now + HOUR + b->config.base, PAGE};
	uint8_t page[PAGE] = {0};

	memcpy(page, bad, sizeof(bad));
	ck_assert_int_eq(write(writers[0], page, PAGE), PAGE);
	put_page(0, now - 10, 1, 0);
	ck_assert_int_eq(ft_round(b, false), 0);
	ck_assert_uint_eq(left(0), 0);
	ck_assert_uint_eq(b->rings[0].damaged, 1);
	ck_assert_uint_eq(b->rings[0].last, now - 10);
}
END_TEST

START_TEST(the_last_round_reads_all)
{
	uint64_t now = ft_now(b);

	for (uint32_t i = 0; i < 100; i++)
		put_page(i % RINGS, now + HOUR + i, 2, 1);
	ck_assert_int_eq(ft_round(b, true), 0);
	for (uint32_t i = 0; i < RINGS; i++) {
		ck_assert_uint_eq(left(i), 0);
		ck_assert_uint_eq(b->rings[i].records, 100);
		ck_assert_uint_eq(b->rings[i].last, now + HOUR + 98 + i + 1);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("jisctl_ftrace_read");
	TCase *tc = tcase_create("rounds");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, a_round_reads_what_was_there_when_it_began);
	tcase_add_test(tc, a_page_in_the_midst_of_which_the_round_began_is_not_the_last);
	tcase_add_test(tc, a_page_that_makes_no_sense_is_not_the_last);
	tcase_add_test(tc, the_last_round_reads_all);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
