/* SPDX-License-Identifier: MIT */
/*
 * System calls by name: the tables against libc's numbers, shapes, presets, and lists of users.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "libjisctl/syscalls.h"

#define NO JIS_ARG_NONE
#define COMPAT(nr) (JIS_SYSCALL_COMPAT | (nr))

static struct jis_syscalls calls;
static char why[256];

static int parse(const char *list)
{
	why[0] = 0;
	return syscalls_parse(list, "x86_64", &calls, why, sizeof(why));
}

static void is(struct jis_syscall_desc how, uint8_t shape, uint8_t a, uint8_t b, uint8_t c)
{
	ck_assert_uint_eq(how.shape, shape);
	ck_assert_uint_eq(how.a, a);
	ck_assert_uint_eq(how.b, b);
	ck_assert_uint_eq(how.c, c);
}

START_TEST(numbers_are_those_of_the_machine)
{
#ifdef __x86_64__
	const char *machine = "x86_64";
#else
	const char *machine = "aarch64";
#endif
	ck_assert_str_eq(syscall_name(machine, SYS_read), "read");
	ck_assert_str_eq(syscall_name(machine, SYS_futex), "futex");
	ck_assert_str_eq(syscall_name(machine, SYS_epoll_pwait), "epoll_pwait");
	ck_assert_str_eq(syscall_name(machine, SYS_newfstatat), "newfstatat");
	ck_assert_str_eq(syscall_name(machine, SYS_statx), "statx");
	ck_assert_str_eq(syscall_name(machine, SYS_exit_group), "exit_group");
}
END_TEST

START_TEST(numbers_of_other_machines_are_known)
{
	ck_assert_str_eq(syscall_name("aarch64", 63), "read");
	ck_assert_str_eq(syscall_name("aarch64", 98), "futex");
	ck_assert_str_eq(syscall_name("aarch64", 222), "mmap");
	ck_assert_str_eq(syscall_name("x86_64", COMPAT(3)), "read");
	ck_assert_str_eq(syscall_name("x86_64", COMPAT(102)), "socketcall");
	ck_assert_str_eq(syscall_name("x86_64", COMPAT(422)), "futex_time64");
}
END_TEST

START_TEST(what_is_no_call_has_no_name)
{
	ck_assert_ptr_null(syscall_name("x86_64", 511));
	ck_assert_ptr_null(syscall_name("x86_64", 512));
	ck_assert_ptr_null(syscall_name("x86_64", JIS_SYSCALL_NONE));
	ck_assert_ptr_null(syscall_name("x86_64", JIS_SYSCALL_UNKNOWN));
	ck_assert_ptr_null(syscall_name("x86_64", INT32_MAX));
	ck_assert_ptr_null(syscall_name("x86_64", 0x40000000));
	ck_assert_ptr_null(syscall_name("aarch64", COMPAT(3)));
	ck_assert_ptr_null(syscall_name("vax", 0));
	ck_assert_ptr_null(syscall_name(NULL, 0));
}
END_TEST

static bool exists(const char *machine, const char *name)
{
	for (int32_t nr = 0; nr < (int32_t)JIS_MAX_SYSCALL; nr++) {
		const char *native = syscall_name(machine, nr);
		const char *compat = syscall_name(machine, COMPAT(nr));

		if ((native && !strcmp(native, name)) || (compat && !strcmp(compat, name)))
			return true;
	}
	return false;
}

/* Newer than the oldest headers we build with. */
static bool is_new(const char *name)
{
	return !strncmp(name, "futex_", 6);
}

START_TEST(every_known_call_exists_and_is_known_once)
{
	const char *name;

	for (uint32_t i = 0; (name = syscall_known(i)); i++) {
		ck_assert_msg(is_new(name) || exists("x86_64", name), "%s", name);
		for (uint32_t k = 0; k < i; k++)
			ck_assert_str_ne(syscall_known(k), name);
	}
}
END_TEST

START_TEST(a_name_selects_both_abis)
{
	ck_assert_int_eq(parse("read"), 0);
	ck_assert_uint_eq(calls.size, sizeof(calls));
	is(calls.native[0], JIS_SHAPE_IO, 0, 2, NO);
	is(calls.compat[3], JIS_SHAPE_IO, 0, 2, NO);
	for (uint32_t i = 0; i < JIS_MAX_SYSCALL; i++) {
		ck_assert(i == 0 || !calls.native[i].shape);
		ck_assert(i == 3 || !calls.compat[i].shape);
	}
}
END_TEST

START_TEST(times_of_32_bit_calls_are_narrow)
{
	ck_assert_int_eq(parse("futex,futex_time64,nanosleep,epoll_pwait2,ppoll,select,mmap"), 0);
	is(calls.native[202], JIS_SHAPE_FUTEX, 0, 1, 3);
	is(calls.compat[240], JIS_SHAPE_FUTEX32, 0, 1, 3);
	is(calls.compat[422], JIS_SHAPE_FUTEX, 0, 1, 3);
	is(calls.native[35], JIS_SHAPE_SLEEP, NO, NO, 0);
	is(calls.compat[162], JIS_SHAPE_SLEEP32, NO, NO, 0);
	is(calls.native[441], JIS_SHAPE_WAIT_TIMESPEC, 0, 2, 3);
	is(calls.compat[441], JIS_SHAPE_WAIT_TIMESPEC, 0, 2, 3);
	is(calls.compat[309], JIS_SHAPE_WAIT_TIMESPEC32, NO, 1, 2);
	/* their arguments are in memory */
	is(calls.compat[82], JIS_SHAPE_PLAIN, NO, NO, NO);
	is(calls.compat[90], JIS_SHAPE_PLAIN, NO, NO, NO);
	is(calls.native[9], JIS_SHAPE_MEMORY, 0, 1, NO);
}
END_TEST

START_TEST(locks_have_their_operations_and_timeouts)
{
	ck_assert_int_eq(parse("lock"), 0);
	is(calls.native[73], JIS_SHAPE_IO, 0, 1, NO);		  /* flock */
	is(calls.native[72], JIS_SHAPE_IO, 0, 1, NO);		  /* fcntl */
	is(calls.compat[55], JIS_SHAPE_IO, 0, 1, NO);		  /* fcntl */
	is(calls.compat[221], JIS_SHAPE_IO, 0, 1, NO);		  /* fcntl64 */
	is(calls.compat[117], JIS_SHAPE_IO, NO, 0, NO);		  /* ipc */
	is(calls.native[65], JIS_SHAPE_WAIT_MS, NO, 2, NO);	  /* semop */
	is(calls.native[220], JIS_SHAPE_WAIT_TIMESPEC, NO, 2, 3); /* semtimedop */
	is(syscall_shape("futex_wait", false), JIS_SHAPE_FUTEX2, 0, 1, 4);
	is(syscall_shape("futex_wait", true), JIS_SHAPE_FUTEX2, 0, 1, 4);
	is(syscall_shape("futex_wake", false), JIS_SHAPE_FUTEX2, 0, 2, NO);
	is(syscall_shape("futex_waitv", false), JIS_SHAPE_WAIT_TIMESPEC, NO, 1, 3);
	is(syscall_shape("futex_waitv", true), JIS_SHAPE_WAIT_TIMESPEC, NO, 1, 3);
	is(syscall_shape("futex_requeue", false), JIS_SHAPE_MEMORY, 0, 2, NO);
	ck_assert_int_eq(parse("file"), 0);
	is(calls.native[72], JIS_SHAPE_IO, 0, 1, NO);
	ck_assert_int_eq(parse("net"), 0);
	is(calls.native[299], JIS_SHAPE_WAIT_TIMESPEC, 0, 2, 4);   /* recvmmsg */
	is(calls.compat[337], JIS_SHAPE_WAIT_TIMESPEC32, 0, 2, 4); /* recvmmsg */
	is(calls.compat[417], JIS_SHAPE_WAIT_TIMESPEC, 0, 2, 4);   /* recvmmsg_time64 */
	is(calls.compat[102], JIS_SHAPE_IO, NO, 0, NO);		   /* socketcall */
}
END_TEST

START_TEST(presets_and_removals_from_left_to_right)
{
	ck_assert_int_eq(parse("io,-read,^write"), 0);
	ck_assert_uint_eq(calls.native[0].shape, JIS_SHAPE_OFF);
	ck_assert_uint_eq(calls.native[1].shape, JIS_SHAPE_OFF);
	is(calls.native[7], JIS_SHAPE_WAIT_MS, NO, 1, 2);
	ck_assert_uint_eq(calls.native[41].shape, JIS_SHAPE_OFF);
	ck_assert_int_eq(parse("-read,read"), 0);
	ck_assert_uint_eq(calls.native[0].shape, JIS_SHAPE_IO);
	ck_assert_int_eq(parse("all,-io"), 0);
	ck_assert_uint_eq(calls.native[0].shape, JIS_SHAPE_OFF);
	is(calls.native[39], JIS_SHAPE_PLAIN, NO, NO, NO);		      /* getpid */
	is(calls.native[41], JIS_SHAPE_IO | JIS_SHAPE_RESULT_FD, NO, 1, 0);   /* socket */
	is(calls.native[257], JIS_SHAPE_PATH | JIS_SHAPE_RESULT_FD, 0, 1, 2); /* openat */
}
END_TEST

START_TEST(each_preset_selects_something)
{
	for (uint32_t i = 0; syscall_presets[i]; i++)
		ck_assert_int_eq(parse(syscall_presets[i]), 0);
}
END_TEST

START_TEST(a_wrong_name_is_told_with_the_nearest)
{
	static const struct {
		const char *list, *near;
	} wrong[] = {{"futx", "\"futex\""},
		     {"io,raed", "\"read\""},
		     {"nett", "\"net\""},
		     {"epol_wait", "\"epoll_wait\""},
		     {"-opennat", "\"openat\""}};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ck_assert_int_eq(parse(wrong[i].list), -EINVAL);
		ck_assert_msg(strstr(why, wrong[i].near), "%s: %s", wrong[i].list, why);
	}
}
END_TEST

START_TEST(lists_that_are_none_are_refused)
{
	static const char *const wrong[] = {
		"",
		",",
		"read,",
		",read",
		"read,,write",
		"-",
		"read ",
		"READ",
		"-read",
		"io,-all",
		"a_name_that_is_longer_than_that_of_any_call_there_is_or_ever_will_be",
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ck_assert_msg(parse(wrong[i]) == -EINVAL, "\"%s\"", wrong[i]);
		ck_assert_msg(why[0], "\"%s\"", wrong[i]);
	}
	ck_assert_int_eq(syscalls_parse("read", "vax", &calls, why, sizeof(why)), -EOPNOTSUPP);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("syscalls");
	TCase *t = tcase_create("all");
	SRunner *r;
	int failed;

	tcase_add_test(t, numbers_are_those_of_the_machine);
	tcase_add_test(t, numbers_of_other_machines_are_known);
	tcase_add_test(t, what_is_no_call_has_no_name);
	tcase_add_test(t, every_known_call_exists_and_is_known_once);
	tcase_add_test(t, a_name_selects_both_abis);
	tcase_add_test(t, times_of_32_bit_calls_are_narrow);
	tcase_add_test(t, locks_have_their_operations_and_timeouts);
	tcase_add_test(t, presets_and_removals_from_left_to_right);
	tcase_add_test(t, each_preset_selects_something);
	tcase_add_test(t, a_wrong_name_is_told_with_the_nearest);
	tcase_add_test(t, lists_that_are_none_are_refused);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
