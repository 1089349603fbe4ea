/* SPDX-License-Identifier: MIT */
/* Room in memory, then in a file: what was put there stays, wherever it is. */
#include "analysis/spill.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PIECE 3000u
#define PIECES 2000u /* six blocks */

static void fill(struct spill *s, void **pieces)
{
	for (uint32_t i = 0; i < PIECES; i++) {
		ck_assert_int_eq(spill_take(s, PIECE, &pieces[i]), 0);
		ck_assert_uint_eq((uintptr_t)pieces[i] % 16, 0);
		memset(pieces[i], (int)(i % 251), PIECE);
	}
}

static void check(void **pieces)
{
	unsigned char expected[PIECE];

	for (uint32_t i = 0; i < PIECES; i++) {
		memset(expected, (int)(i % 251), PIECE);
		ck_assert_mem_eq(pieces[i], expected, PIECE);
	}
}

START_TEST(it_goes_to_a_file_beyond_the_limit)
{
	static void *pieces[PIECES];
	struct spill s;

	spill_init(&s, 2 << 20);
	fill(&s, pieces);
	check(pieces);
	ck_assert_int_ge(s.fd, 0);
	ck_assert_uint_eq(s.file, s.used - (2 << 20));
	spill_fini(&s);
}
END_TEST

START_TEST(it_needs_no_file_within_it)
{
	static void *pieces[PIECES];
	struct spill s;

	setenv("TMPDIR", "/nonexistent", 1);
	spill_init(&s, 64 << 20);
	fill(&s, pieces);
	check(pieces);
	ck_assert_int_eq(s.fd, -1);
	spill_fini(&s);
}
END_TEST

START_TEST(no_file_is_an_error)
{
	struct spill s;
	void *piece;

	setenv("TMPDIR", "/nonexistent", 1);
	spill_init(&s, 0);
	ck_assert_int_eq(spill_take(&s, 16, &piece), -ENOENT);
	ck_assert_int_eq(spill_take(&s, 16, &piece), -ENOENT);
	spill_fini(&s);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("spill");
	TCase *t = tcase_create("spill");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_test(t, it_goes_to_a_file_beyond_the_limit);
	tcase_add_test(t, it_needs_no_file_within_it);
	tcase_add_test(t, no_file_is_an_error);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
