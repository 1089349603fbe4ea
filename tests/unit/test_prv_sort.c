/* SPDX-License-Identifier: MIT */
/* The sorter of .prv lines when its disk is full: it says so, and writes nowhere else. */
#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

/* The inside of it: how full the buffer is. */
#include "paraver-export/prv_sort.c"

static int put(void *ctx, const char *text, uint32_t len)
{
	(void)text;
	*(uint64_t *)ctx += len;
	return 0;
}

/* Sorts 17 MB of lines; a file may grow to @room bytes. What fills the buffer does not divide it.
 */
static void fill(uint64_t room)
{
	char path[] = "/tmp/test_prv_sort";
	struct rlimit old, limit;
	uint64_t bytes = 0;
	size_t most = 0;
	struct sorter *s;
	int err;

	ck_assert_int_eq(sorter_new(path, 1u << 20, &s), 0);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = (struct rlimit){room, old.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	/* Check itself writes files: nothing is asserted until it may again. */
	for (uint32_t i = 0; i < 200000; i++) {
		uint32_t len = 60 + i % 50;
		char *line = sorter_line(s, 200000 - i);

		most = s->write_used > most ? s->write_used : most;
		if (!line)
			break;
		memset(line, 'a', len);
		sorter_commit(s, line + len);
	}
	err = sorter_finish(s, put, &bytes);
	most = s->write_used > most ? s->write_used : most;
	setrlimit(RLIMIT_FSIZE, &old);
	ck_assert_int_eq(err, -EFBIG);
	ck_assert_int_eq(sorter_error(s), -EFBIG);
	ck_assert_uint_le(most, READ_SIZE);
	ck_assert_uint_eq(bytes, 0);
	sorter_free(s);
}

START_TEST(a_full_disk_is_an_error_and_no_overflow)
{
	fill(0);
}
END_TEST

START_TEST(a_disk_that_fills_up_is_an_error_and_no_overflow)
{
	fill(5u << 20);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("prv_sort");
	TCase *t = tcase_create("prv_sort");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_test(t, a_full_disk_is_an_error_and_no_overflow);
	tcase_add_test(t, a_disk_that_fills_up_is_an_error_and_no_overflow);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
